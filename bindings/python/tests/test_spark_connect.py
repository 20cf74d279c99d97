"""Tests of the paths of sets where Spark has no JVM, as Spark Connect's client."""

import sys

import pytest

from portcullis_robots import spark


@pytest.mark.parametrize("has_pyspark", [True, False])
def test_paths_without_spark_files(monkeypatch, set_path, has_pyspark):
    if not has_pyspark:
        monkeypatch.setitem(sys.modules, "pyspark", None)
    assert spark._path(str(set_path)) == str(set_path)
    with pytest.raises(FileNotFoundError, match="nothing.pcs: no such file on this worker"):
        spark._path("nothing.pcs")
