"""Tests of the expressions of Polars: the columns of the classifier, in eager and in lazy frames."""

from datetime import datetime

import pytest
from conftest import AGENTS, ROOT

pl = pytest.importorskip("polars")

import portcullis_robots.polars  # noqa: E402, F401
from portcullis_robots import PolicySet  # noqa: E402

MONTHS = ROOT / "tests" / "cli" / "docs" / "recipes" / "months"


@pytest.fixture(scope="module")
def pages(urls):
    return pl.DataFrame({"url": [*urls, None], "number": range(len(urls) + 1)})


@pytest.mark.parametrize("engine", ["in-memory", "streaming"])
def test_columns_are_those_of_the_classifier(policies, pages, engine):
    classifier, gptbot = policies.for_agents(AGENTS), policies.for_agents("GPTBot")
    asked = {"columns": "verdict,reason,line,rule", "usage": ["train-ai"], "prefix": "robots_"}
    purpose = {"purpose": "train-ai", "unstated": "keep"}
    url = pl.col("url").robots
    lazy = pages.lazy().with_columns(
        url.verdict(gptbot),
        url.allowed(classifier, mode="any", **purpose),
        url.classify(classifier, **asked).struct.unnest(),
    )
    table = classifier.classify(pages["url"], **asked)
    found = lazy.collect(engine=engine).sort("number")
    assert found.schema == lazy.collect_schema()
    assert found.columns == ["url", "number", "GPTBot", "allowed", *table.column_names]
    assert found["GPTBot"].to_list() == gptbot.classify(pages["url"])["GPTBot"].to_pylist()
    expected = classifier.allowed(pages["url"], mode="any", **purpose).to_pylist()
    assert found["allowed"].to_list() == expected
    assert found.select(table.column_names).to_dicts() == table.to_pylist()
    kept = pages.lazy().filter(url.allowed(gptbot)).collect(engine=engine)
    assert set(kept["url"]) == set(found.filter(pl.col("GPTBot") == "allow")["url"])
    assert 0 < kept.height < pages.height


def test_eager_frames_and_groups(policies, pages):
    verdict = pl.col("url").robots.verdict(policies.for_agents("GPTBot"))
    counts = dict(pages.group_by(verdict).len().iter_rows())
    assert counts == dict(pages.select(verdict).group_by("GPTBot").len().iter_rows())
    assert counts.keys() == {"allow", "disallow", "unknown", "invalid"}
    assert pages.head(0).select(verdict).schema == pages.select(verdict).schema


def test_times():
    policies = PolicySet.compile(sorted(MONTHS.glob("*.warc.gz")), history=True)
    classifier = policies.for_agents("CCBot")
    times = [datetime(2023, 4, 1), datetime(2024, 1, 1), None]
    pages = pl.DataFrame({"url": ["https://news.example/story"] * 3, "day": times})
    url = pl.col("url").robots
    found = pages.lazy().select(
        url.verdict(classifier, at=pl.col("day")),
        url.allowed(classifier, at=pl.col("day"), before_first="oldest"),
        url.classify(classifier, at="2023-04-01", columns="reason").struct.unnest(),
    )
    assert found.collect().rows() == [
        ("allow", True, "no-rule"),
        ("disallow", False, "no-rule"),
        ("unknown", False, "no-rule"),
    ]


def test_wrong_arguments_fail_before_a_frame_is_read(policies):
    url, classifier = pl.col("url").robots, policies.for_agents(AGENTS)
    for call, message in [
        (lambda: url.verdict(classifier), "verdict needs one agent, not GPTBot, Googlebot, CCBot"),
        (lambda: url.classify(classifier, columns="verdicts"), "the columns are"),
        (lambda: url.allowed(classifier, purpose="train-ai"), "unstated"),
        (lambda: url.allowed(classifier, at=pl.col("day")), "without history"),
    ]:
        with pytest.raises(ValueError, match=message):
            call()
