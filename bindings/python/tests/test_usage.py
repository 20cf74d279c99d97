"""Tests of usage preferences, without any other library."""

import itertools
import json
import subprocess

import pytest

from portcullis_robots import PolicySet, RobotsTxt

LABELS = ["train-ai", "ai-use", "search"]
FILES = {
    "news.example": "User-agent: *\nContent-Signal: search=yes, ai-train=no\nAllow: /\n",
    "open.example": "License: https://open.example/license\nUser-agent: *\nContent-Usage: train-ai=y\n"
    "Content-Usage: /art/ train-ai=n\nDisallow: /private\nUser-agent: GPTBot\nDisallow: /art\n",
    "silent.example": "User-agent: *\nDisallow: /cgi-bin/\n",
}
URLS = [
    "https://news.example/1",
    "https://open.example/a",
    "https://open.example/art/b",
    "https://open.example/private",
    "https://silent.example/",
    "https://nobody.example/",
    "no url",
]
AGENTS = ["CCBot", "GPTBot"]


@pytest.fixture(scope="module")
def stated(tmp_path_factory):
    folder = tmp_path_factory.mktemp("usage")
    (folder / "robots").mkdir()
    for host, text in FILES.items():
        (folder / "robots" / host).write_text(text)
    (folder / "urls.txt").write_text("\n".join(URLS) + "\n")
    PolicySet.compile(folder / "robots", output=folder / "usage.pcs")
    return folder


@pytest.fixture(scope="module")
def classifier(stated):
    return PolicySet.open(stated / "usage.pcs").for_agents(AGENTS)


def test_letters(classifier):
    table = classifier.classify(URLS, columns=(), usage=["train-ai", "search"])
    assert table.column_names == ["CCBot_train-ai", "CCBot_search", "GPTBot_train-ai", "GPTBot_search"]
    letters = {name: "".join(table[name].to_pylist()) for name in table.column_names}
    assert letters == {
        "CCBot_train-ai": "nyn-?--",
        "CCBot_search": "y??-?--",
        # Its own group has no statement.
        "GPTBot_train-ai": "n?-??--",
        "GPTBot_search": "y?-??--",
    }
    named = classifier.classify([], columns="", usage=LABELS, prefix="r_")
    assert named.column_names[:3] == [f"r_CCBot_{label}" for label in LABELS]


def test_columns_are_those_of_the_command_line(classifier, stated, program):
    command = [program, "classify", "-p", stated / "usage.pcs", "-a", ",".join(AGENTS), "--summary", "none"]
    command += ["--columns", "verdict,line", "--usage", ",".join(LABELS), "--header", stated / "urls.txt"]
    written = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    header, *lines = [line.split("\t")[:-1] for line in written.splitlines()]
    table = classifier.classify(URLS, columns="verdict,line", usage=LABELS, threads=2)
    assert table.column_names == header
    columns = [table[name].to_pylist() for name in header]
    rows = [["" if value is None else str(value) for value in row] for row in zip(*columns, strict=True)]
    assert rows == lines


def test_one_file_says_what_the_command_line_says(stated, program):
    command = [program, "classify", "-p", stated / "usage.pcs", "-a", ",".join(AGENTS), "--summary", "none"]
    labels = [*LABELS, "use"]
    command += ["--usage", ",".join(labels), "--long", "--format", "jsonl", stated / "urls.txt"]
    written = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    compared = 0
    for line in map(json.loads, written.splitlines()):
        host = line["url"].split("/")[2] if "/" in line["url"] else None
        if host in FILES:
            found = RobotsTxt(FILES[host]).usage(line["agent"], line["url"])
            assert found.pop("licenses") == line["licenses"]
            for member, end in ("usage", ""), ("usage_line", "_line"), ("usage_rule", "_rule"), ("usage_source", "_source"):
                assert found.pop(member) == {label: line[label + end] for label in labels}
            assert not found
            compared += 1
    assert compared == 10


def test_one_file():
    robots = RobotsTxt(FILES["open.example"])
    found = robots.usage("CCBot", "/art/x")
    assert found["usage"] == {"train-ai": "n", "ai-use": "?", "search": "?", "use": "?"}
    assert (found["usage_line"]["train-ai"], found["usage_line"]["search"]) == (4, None)
    assert found["usage_rule"]["train-ai"] == "/art/ train-ai=n"
    assert found["usage_source"]["train-ai"] == "content-usage"
    assert found["licenses"] == ["https://open.example/license"]
    for url in ("/private", "mailto:a@b.example"):
        refused = robots.usage("Mozilla/5.0 (compatible; CCBot/2.0)", url)
        assert (set(refused["usage"].values()), refused["licenses"]) == ({"-"}, [])


def test_allowed_for_a_purpose(classifier, stated, program):
    for mode, unstated, label in itertools.product(["all", "any"], ["keep", "drop"], LABELS):
        command = [program, "filter", "-p", stated / "usage.pcs", "-a", ",".join(AGENTS)]
        command += ["--any"] if mode == "any" else []
        command += ["--purpose", label, "--unstated", unstated, "--summary", "none", stated / "urls.txt"]
        kept = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
        allowed = classifier.allowed(URLS, mode=mode, purpose=label, unstated=unstated).to_pylist()
        assert list(itertools.compress(URLS, allowed)) == kept, (mode, unstated, label)


def test_silence_is_no_consent(classifier):
    plain = classifier.allowed(URLS).to_pylist()
    assert plain == [True, True, False, False, True, False, False]
    kept = classifier.allowed(URLS, purpose="train-ai", unstated="keep").to_pylist()
    assert kept == [False, True, False, False, True, False, False]
    dropped = classifier.allowed(URLS, mode="any", purpose="train-ai", unstated="drop").to_pylist()
    assert dropped == [False, True, False, False, False, False, False]


def test_arguments_that_make_no_sense(classifier):
    for call, error, message in [
        (lambda: classifier.classify(URLS, usage=["training"]), ValueError, "the labels are train-ai, ai-use, search"),
        (lambda: classifier.classify(URLS, usage=["genai"]), ValueError, "earlier draft"),
        (lambda: classifier.classify(URLS, columns=[]), ValueError, "column"),
        (lambda: classifier.classify(URLS, usage=["search", "search"]), ValueError, "the name 'CCBot_search'"),
        (lambda: classifier.classify(URLS, usage=5), TypeError, "one str"),
        (lambda: classifier.allowed(URLS, purpose="search"), ValueError, "unstated='keep' or 'drop'"),
        (lambda: classifier.allowed(URLS, unstated="keep"), ValueError, "a purpose"),
        (lambda: classifier.allowed(URLS, purpose="search", unstated="maybe"), ValueError, "use one of keep, drop"),
    ]:
        with pytest.raises(error, match=message):
            call()
