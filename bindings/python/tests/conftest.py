"""Shared fixtures: the sample corpus, and a set compiled from it."""

import os
import pathlib
import shutil

import pytest

from portcullis_robots import PolicySet

ROOT = pathlib.Path(__file__).resolve().parents[3]
SAMPLE = ROOT / "corpora" / "sample"
AGENTS = ["GPTBot", "Googlebot", "CCBot"]


@pytest.fixture(scope="session")
def urls():
    """The records of the sample, some of which are not URLs."""
    return (SAMPLE / "urls.txt").read_text(encoding="utf-8", errors="replace").splitlines()


@pytest.fixture(scope="session")
def set_path(tmp_path_factory):
    """A set of the sample's files."""
    path = tmp_path_factory.mktemp("set") / "sample.pcs"
    PolicySet.compile(SAMPLE / "robots", output=path)
    return path


@pytest.fixture(scope="session")
def policies(set_path):
    return PolicySet.open(set_path)


@pytest.fixture(scope="session")
def program():
    """The command line program, if it was built."""
    named = os.environ.get("PORTCULLIS_BIN") or shutil.which("portcullis")
    if not named:
        pytest.skip("no portcullis program: set PORTCULLIS_BIN to compare with it")
    return named


@pytest.fixture(scope="session")
def real_files():
    """A folder of real robots.txt files by host, and URLs on those hosts."""
    folder = pathlib.Path(os.environ.get("PORTCULLIS_REAL_FILES", "/nonexistent"))
    if not (folder / "robots").is_dir():
        pytest.skip("no real files: set PORTCULLIS_REAL_FILES to a folder with robots/ and urls.txt")
    return folder
