"""Tests of the datatrove filter in a pipeline."""

import json
import pickle
from datetime import datetime

import pytest
from conftest import AGENTS

pytest.importorskip("datatrove")

from datatrove.data import Document  # noqa: E402
from datatrove.executor import LocalPipelineExecutor  # noqa: E402
from datatrove.pipeline.readers import JsonlReader  # noqa: E402
from datatrove.pipeline.writers import JsonlWriter  # noqa: E402

from portcullis_robots import PolicySet  # noqa: E402
from portcullis_robots.datatrove import RobotsFilter  # noqa: E402


def documents(urls):
    return [Document(text="", id=str(place), metadata={"url": url}) for place, url in enumerate(urls)]


@pytest.mark.parametrize("mode", ["all", "any"])
def test_documents_that_are_kept(policies, set_path, urls, mode):
    step = RobotsFilter(set_path, AGENTS, mode=mode, batch_size=100)
    kept = [document.metadata["url"] for document in step.run(documents(urls))]
    allowed = policies.for_agents(AGENTS).allowed(urls, mode=mode).to_pylist()
    assert kept == [url for url, is_allowed in zip(urls, allowed, strict=True) if is_allowed]


def test_reasons_are_statistics(policies, set_path, urls):
    step = RobotsFilter(set_path, ["GPTBot"])
    total = len(list(step.run(documents(urls))))
    table = policies.for_agents(["GPTBot"]).classify(urls, columns="verdict,reason")
    rows = table.to_pylist()
    stats = {name: stat.total for name, stat in step.stats.stats.items()}
    assert stats["forwarded"] == total
    for reason in ("rule", "no-policy", "bad-url"):
        dropped = [row for row in rows if row["GPTBot"] != "allow" and row["GPTBot_reason"] == reason]
        assert stats[f"dropped_{reason}"] == len(dropped) > 0
    assert stats["total"] == len(urls)


def test_unknown_and_missing_urls(set_path):
    kept = RobotsFilter(set_path, ["GPTBot"], keep_unknown=True)
    document = Document(text="", id="1", metadata={"url": "https://nobody.example/"})
    assert kept.filter(document) is True
    assert RobotsFilter(set_path, ["GPTBot"]).filter(document) == (False, "no-policy")
    for metadata in ({}, {"url": None}, {"url": 5}):
        document = Document(text="", id="1", metadata=metadata)
        assert kept.filter(document) == (False, "bad-url")


def test_purposes(tmp_path):
    (tmp_path / "robots").mkdir()
    for host, text in [("no.example", "train-ai=n"), ("yes.example", "train-ai=y"), ("silent.example", "")]:
        (tmp_path / "robots" / host).write_text(f"User-agent: *\nContent-Usage: {text}\nAllow: /\n")
    PolicySet.compile(tmp_path / "robots", output=tmp_path / "set.pcs")
    urls = [f"https://{host}.example/" for host in ("no", "yes", "silent", "nobody")]
    for unstated, expected in [
        ("drop", [(False, "train-ai=n"), True, (False, "train-ai=?"), (False, "no-policy")]),
        ("keep", [(False, "train-ai=n"), True, True, (False, "no-policy")]),
    ]:
        step = RobotsFilter(tmp_path / "set.pcs", AGENTS, purpose="train-ai", unstated=unstated)
        assert step.filter_batch(documents(urls)) == expected
    with pytest.raises(ValueError, match="unstated"):
        RobotsFilter(tmp_path / "set.pcs", AGENTS, purpose="train-ai")


def test_times(tmp_path):
    answer = {"url": "https://a.example/robots.txt", "status": 200}
    rules = [("2023-01-01", "Allow: /"), ("2024-01-01", "Disallow: /")]
    captures = [{**answer, "fetched_at": f"{day}T00:00:00Z", "body": f"User-agent: *\n{rule}"} for day, rule in rules]
    (tmp_path / "captures.jsonl").write_text("\n".join(map(json.dumps, captures)))
    PolicySet.compile(tmp_path / "captures.jsonl", history=True, output=tmp_path / "set.pcs")
    times = ["2023-06-01T12:00:00Z", datetime(2024, 6, 1), "2022-06-01", "yesterday", 20230601, None]
    batch = documents(["https://a.example/"] * len(times))
    for document, time in zip(batch, times, strict=True):
        document.metadata["date"] = time
    step = RobotsFilter(tmp_path / "set.pcs", AGENTS, at_key="date")
    no_time = [(False, "no-time")] * 3
    assert step.filter_batch(batch) == [True, (False, "rule"), (False, "before-first"), *no_time]
    step = RobotsFilter(tmp_path / "set.pcs", AGENTS, at_key="date", before_first="oldest")
    assert step.filter_batch(batch) == [True, (False, "rule"), True, *no_time]
    with pytest.raises(ValueError, match="needs times"):
        RobotsFilter(tmp_path / "set.pcs", AGENTS, before_first="oldest")


def test_a_filter_is_pickled_without_its_set(set_path):
    step = RobotsFilter(set_path, ["GPTBot"])
    document = Document(text="", id="1", metadata={"url": "https://shop.example/cart/"})
    first = step.filter(document)
    assert pickle.loads(pickle.dumps(step)).filter(document) == first
    with pytest.raises(ValueError, match="use one of all, any"):
        RobotsFilter(set_path, ["GPTBot"], mode="some")


def test_a_pipeline_of_several_tasks(policies, set_path, urls, tmp_path):
    (tmp_path / "in").mkdir()
    writer = JsonlWriter(str(tmp_path / "in"), output_filename="${rank}.jsonl", compression=None)
    with writer:
        for place, document in enumerate(documents([url for url in urls if url.strip()])):
            document.text = "text"
            writer.write(document, rank=place % 2)
    LocalPipelineExecutor(
        pipeline=[
            JsonlReader(str(tmp_path / "in")),
            RobotsFilter(set_path, ["GPTBot"]),
            JsonlWriter(str(tmp_path / "out"), output_filename="${rank}.jsonl", compression=None),
        ],
        tasks=2,
        workers=2,
        logging_dir=str(tmp_path / "logs"),
    ).run()
    lines = sum(len(path.read_text().splitlines()) for path in (tmp_path / "out").iterdir())
    listed = [url for url in urls if url.strip()]
    allowed = policies.for_agents(["GPTBot"]).allowed(listed).to_pylist()
    assert lines == sum(allowed) > 0
