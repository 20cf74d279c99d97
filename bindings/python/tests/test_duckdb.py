"""Tests of the functions for DuckDB: the values of the classifier."""

import pytest
from conftest import AGENTS

duckdb = pytest.importorskip("duckdb")
pa = pytest.importorskip("pyarrow")

from portcullis_robots.duckdb import register, register_filter  # noqa: E402


@pytest.fixture
def con(urls):
    """A connection with a view of the sample, longer than what DuckDB passes at once."""
    con = duckdb.connect()
    listed = [*urls, None]
    con.register("pages", pa.table({"url": listed * (10_000 // len(listed) + 1)}))
    return con


def listed(con):
    return con.sql("SELECT url FROM pages").to_arrow_table()["url"]


def test_values_are_those_of_the_classifier(con, policies):
    gptbot, classifier = policies.for_agents("GPTBot"), policies.for_agents(AGENTS)
    asked = {"columns": "verdict,reason,line,rule,delay", "usage": ["train-ai"]}
    purpose = {"mode": "any", "purpose": "train-ai", "unstated": "keep"}
    register(con, gptbot, "gptbot")
    register(con, classifier, "robots", **asked)
    register_filter(con, classifier, "may_train", **purpose)
    urls = listed(con)
    verdicts = [row for (row,) in con.sql("SELECT gptbot(url) FROM pages").fetchall()]
    assert verdicts == gptbot.classify(urls)["GPTBot"].to_pylist()
    rows = [row for (row,) in con.sql("SELECT robots(url) FROM pages").fetchall()]
    assert rows == classifier.classify(urls, **asked).to_pylist()
    kept = con.sql("SELECT url FROM pages WHERE may_train(url)").to_arrow_table()["url"]
    allowed = pa.array(classifier.allowed(urls, **purpose))
    assert kept.to_pylist() == urls.filter(allowed).to_pylist()
    assert 0 < len(kept) < len(urls)


def test_sql_that_one_would_write(con, policies):
    register(con, policies.for_agents(AGENTS))
    register_filter(con, policies.for_agents("@ai-training"))
    counts = con.sql("SELECT robots(url).CCBot AS verdict, count(*) FROM pages GROUP BY ALL").fetchall()
    assert {verdict for verdict, _ in counts} == {"allow", "disallow", "unknown", "invalid"}
    one = "SELECT robots('https://shop.example/cart/').GPTBot, robots_allowed('https://nobody.example/')"
    assert con.sql(one).fetchall() == [("disallow", False)]
    assert con.sql("SELECT robots(NULL).GPTBot, robots_allowed(NULL)").fetchall() == [("invalid", False)]


def test_wrong_arguments_fail_before_a_query(con, policies):
    with pytest.raises(ValueError, match="the columns are"):
        register(con, policies.for_agents("GPTBot"), columns="verdicts")
    with pytest.raises(ValueError, match="unstated"):
        register_filter(con, policies.for_agents("GPTBot"), purpose="train-ai")
