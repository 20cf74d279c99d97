"""Runs the README's Python snippets, in order, in a folder with the files that they name."""

import os
import pathlib
import re
import shutil
import sys

import pytest
from conftest import SAMPLE

README = pathlib.Path(__file__).resolve().parents[1] / "README.md"
SNIPPETS = re.findall(r"^## ([^\n]+)$|```python\n(.*?)```", README.read_text(), re.MULTILINE | re.DOTALL)


def snippets():
    heading = ""
    for number, (title, code) in enumerate(SNIPPETS):
        heading = title or heading
        if code:
            yield pytest.param(code, id=f"{number}-{heading}")


@pytest.mark.parametrize("code", list(snippets()))
def test_snippet(code, set_path, urls, tmp_path, monkeypatch):
    for module in re.findall(r"^(?:import|from) (\w+)", code, re.MULTILINE):
        pytest.importorskip(module)
    if "pyspark" in code and not os.environ.get("PORTCULLIS_SPARK"):
        pytest.skip("Spark takes minutes: set PORTCULLIS_SPARK=1")
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    monkeypatch.chdir(tmp_path)
    shutil.copy(set_path, "policies.pcs")
    shutil.copytree(SAMPLE / "robots", "robots")
    listed = [url for url in urls if url.strip()]
    pathlib.Path("urls.txt").write_text("\n".join(listed), encoding="utf-8")
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq

        pages = pa.table({"url": listed})
        pq.write_table(pages, "pages.parquet")
        pathlib.Path("crawl").mkdir()
        pq.write_table(pages.append_column("text", pages["url"]), "crawl/0.parquet")
        for name in ("captures", "parts"):
            pathlib.Path(name).mkdir()
        for number, host in enumerate(sorted(os.listdir("robots"))[:4]):
            capture = {"url": f"https://{host}/robots.txt", "status": 200, "body": "Disallow:"}
            pq.write_table(pa.Table.from_pylist([capture]), f"captures/{number}.parquet")
    except ImportError:
        pass
    names = {"__name__": "__main__"}
    exec(compile(code, "README.md", "exec"), names)
    if "pyspark" in code:
        names["spark"].stop()


def test_there_are_snippets():
    assert sum(bool(code) for _, code in SNIPPETS) >= 6
