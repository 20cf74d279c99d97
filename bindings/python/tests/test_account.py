"""Tests of accounts: the figures of the command line's, and sums that must hold."""

import json
import pickle
import subprocess

import pytest
from conftest import AGENTS

from portcullis_robots import PolicySet
from portcullis_robots.agents import agent_list

TEXT = """User-agent: *
Content-Usage: train-ai=n
Content-Usage: /open/ train-ai=y
Disallow: /private
"""


@pytest.fixture(scope="module")
def usage(tmp_path_factory):
    """A set with preferences."""
    folder = tmp_path_factory.mktemp("usage")
    (folder / "robots").mkdir()
    for host, text in [("no.example", TEXT), ("silent.example", "User-agent: GPTBot\nDisallow: /x\n")]:
        (folder / "robots" / host).write_text(text)
    return PolicySet.compile(folder / "robots", output=folder / "set.pcs")


def written(program, policies, agents, flags, urls, tmp_path):
    """The account that the program writes as JSON and as Markdown."""
    listed = tmp_path / "urls.txt"
    listed.write_text("\n".join(urls) + "\n", encoding="utf-8")
    command = [program, "filter", "-p", policies.name, "-a", agents, *flags, "--summary", "none", "-q"]
    for form in ("json", "md"):
        command_line = [*command, "--summary", tmp_path / f"account.{form}", listed]
        subprocess.run(command_line, check=True, capture_output=True)
    card = (tmp_path / "account.md").read_text(encoding="utf-8").splitlines(keepends=True)
    own = ("- Command: ", "- Date: ", "- Inputs: ")
    markdown = "".join(line for line in card if not line.startswith(own))
    return json.loads((tmp_path / "account.json").read_bytes()), markdown


@pytest.mark.parametrize("threads", [1, 3])
def test_figures_are_those_of_the_command_line(policies, urls, program, tmp_path, threads):
    clean = [url for url in urls if url and url == url.strip()]
    for agents, named in [(AGENTS, ",".join(AGENTS)), ("@ai-training", "@ai-training")]:
        expected, markdown = written(program, policies, named, ["--any"], clean, tmp_path)
        account = policies.for_agents(agents).account(clean, mode="any", threads=threads)
        members = account.to_dict()
        assert members == {name: expected[name] for name in members}
        assert expected.keys() - members.keys() == {
            "bytes", "invalid", "notes", "permitted_for_training", "reserved_from_training", "time", "unnamed_agents",
        }
        assert account.to_markdown() == markdown


def test_causes_add_up(usage, program, tmp_path):
    urls = [f"https://{page}" for page in (
        "no.example/", "no.example/1", "no.example/open/", "no.example/private", "silent.example/",
        "silent.example/x", "gone.example/", "gone.example/2",
    )]
    classifier = usage.for_agents(["GPTBot", "CCBot"])
    for mode, unstated, expected in [
        ("all", "drop", [2, 2, 1, 2]), ("all", "keep", [2, 2, 0, 2]), ("any", "drop", [1, 2, 2, 2]),
    ]:
        asked = {"mode": mode, "purpose": "train-ai", "unstated": unstated}
        account = classifier.account(urls, **asked).to_dict()
        dropped = account["dropped"]
        names = ["disallowed", "not-permitted", "not-stated", "unknown"]
        assert [dropped[name] for name in names] == expected
        assert sum(dropped.values()) + account["kept"] == account["records"] == len(urls)
        assert account["kept"] == sum(classifier.allowed(urls, **asked).to_pylist())
    flags = ["--purpose", "train-ai", "--unstated", "drop", "--any"]
    expected, markdown = written(program, usage, "GPTBot,CCBot", flags, urls, tmp_path)
    assert account == {name: expected[name] for name in account}
    assert classifier.account(urls, **asked).to_markdown() == markdown
    used = classifier.classify(urls, columns=(), usage="train-ai")["GPTBot_train-ai"].to_pylist()
    assert account["per_agent"][0]["usage"]["train-ai"] == {it: used.count(it) for it in "-yn?"}


def test_lists_and_their_dates_survive_pickling(policies):
    classifier = policies.for_agents(["GPTBot", "@ai-training"])
    described = classifier.account([]).to_dict()["agent_lists"]
    again = pickle.loads(pickle.dumps(classifier))
    assert again.agents == classifier.agents
    assert again.account([]).to_dict()["agent_lists"] == described
    assert described[0]["name"] == "@ai-training"
    assert described[0]["agents"] == len(agent_list("ai-training")) - 1
    assert "20" in described[0]["source"]


def test_null_and_streams(policies, urls):
    pa = pytest.importorskip("pyarrow")
    classifier = policies.for_agents(AGENTS)
    chunks = pa.chunked_array([pa.array(urls[place : place + 7]) for place in range(0, len(urls), 7)])
    whole = classifier.account(urls).to_dict()
    assert classifier.account(chunks).to_dict() == whole
    assert classifier.account([None, None]).to_dict()["dropped"]["invalid"] == 2
    with pytest.raises(ValueError, match="use one of all, any"):
        classifier.account(urls, mode="some")
