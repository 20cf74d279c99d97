"""Tests of sets with history, asked as of times in every form."""

import json
import pickle
import random
from datetime import UTC, date, datetime, timedelta, timezone

import pytest

from portcullis_robots import Error, PolicySet

AGENTS = ["GPTBot", "CCBot"]
HOSTS = ["a.example", "b.example", "c.example"]
BODIES = [
    "User-agent: *\nDisallow: /x\n",
    "User-agent: *\nDisallow: /\n\nUser-agent: CCBot\nDisallow: /x\n",
    "User-agent: GPTBot\nContent-Usage: train-ai=n\nAllow: /\n",
    None,
]
FIRST = datetime(2023, 1, 1, tzinfo=UTC)


def capture(host, time, body):
    answer = {"url": f"https://{host}/robots.txt", "fetched_at": time.isoformat()}
    return json.dumps({**answer, **({"status": 404} if body is None else {"status": 200, "body": body})})


@pytest.fixture(scope="module")
def captures():
    """Some captures of each host, with their times, in order."""
    chance = random.Random(7)
    days = [(day, host) for host in HOSTS for day in chance.sample(range(10, 300), 6)]
    times = [(FIRST + timedelta(days=day, hours=7), host) for day, host in sorted(days)]
    return [(time, capture(host, time, chance.choice(BODIES))) for time, host in times]


@pytest.fixture(scope="module")
def policies(captures, tmp_path_factory):
    folder = tmp_path_factory.mktemp("history")
    (folder / "captures.jsonl").write_text("\n".join(line for _, line in captures))
    path = folder / "set.pcs"
    assert PolicySet.compile(folder / "captures.jsonl", history=True, output=path).has_history
    return PolicySet.open(path)


@pytest.fixture(scope="module")
def classifier(policies):
    return policies.for_agents(AGENTS)


@pytest.fixture(scope="module")
def rows(captures):
    """URLs and their times, some on and beside the captures."""
    chance = random.Random(8)
    rows = []
    for _ in range(700):
        near = chance.choice(captures)[0] + timedelta(seconds=chance.choice([-1, 0, 1]))
        far = FIRST + timedelta(seconds=chance.randrange(400 * 86400))
        host = chance.choice([*HOSTS, "nobody.example"])
        url = chance.choice([f"https://{host}/x", f"https://{host}/y", "no url", None])
        rows.append((url, chance.choice([near, far, None])))
    return [url for url, _ in rows], [time for _, time in rows]


@pytest.fixture(scope="module")
def expected(classifier, rows):
    """Each row alone."""
    return [decided(classifier, [url], at=[None] if time is None else time)[0]
            for url, time in zip(*rows, strict=True)]


def decided(classifier, urls, **asked):
    return classifier.classify(urls, columns="verdict,reason,line,rule,group,state", **asked).to_pylist()


def test_each_row_is_decided_as_of_its_time(classifier, rows, expected):
    urls, times = rows
    reasons = {row["GPTBot_reason"] for row in expected}
    assert reasons >= {"rule", "no-rule", "unavailable", "before-first", "no-time", "no-policy", "bad-url"}
    assert decided(classifier, urls, at=times) == expected
    verdicts = [[row[agent] for agent in AGENTS] for row in expected]
    for mode, quantifier in (("all", all), ("any", any)):
        allowed = [quantifier(verdict == "allow" for verdict in row) for row in verdicts]
        assert classifier.allowed(urls, at=times, mode=mode).to_pylist() == allowed
    usage = classifier.classify(urls, columns=(), usage="train-ai", at=times).to_pylist()
    alone = [classifier.classify([url], columns=(), usage="train-ai", at=[time]).to_pylist()[0]
             for url, time in zip(urls, times, strict=True)]
    assert usage == alone and {row["GPTBot_train-ai"] for row in usage} == {"n", "?", "-"}
    kept = classifier.allowed(urls, at=times, mode="any", purpose="train-ai", unstated="keep").to_pylist()
    assert kept == [any(it in "y?" for it in row.values()) and "unknown" not in verdict
                    for row, verdict in zip(usage, verdicts, strict=True)]


def test_a_time_is_that_of_the_captures_up_to_it(classifier, captures, tmp_path):
    urls = [f"https://{host}/{path}" for host in HOSTS for path in "xy"]
    for time, _ in captures[:-1:3]:
        known = tmp_path / "known.jsonl"
        known.write_text("\n".join(line for at, line in captures if at <= time))
        then = decided(PolicySet.compile(known).for_agents(AGENTS), urls)
        for row in then:
            for agent in AGENTS:
                if row[f"{agent}_reason"] == "no-policy":
                    row[f"{agent}_reason"] = "before-first"
        assert decided(classifier, urls, at=time) == then
    now = decided(classifier, urls)
    assert decided(classifier, urls, at=captures[-1][0]) == now


def forms():
    pa = pytest.importorskip("pyarrow")
    zone = pa.timestamp("us", "America/New_York")
    for unit in ("s", "ms", "us", "ns"):
        yield f"timestamp {unit}", lambda times, unit=unit: pa.array(times, pa.timestamp(unit, "UTC"))
    yield "no zone", lambda times: pa.array([time and naive(time) for time in times], pa.timestamp("us"))
    yield "another zone", lambda times: pa.array(times, zone)
    yield "chunks", lambda times: pa.chunked_array([times[:5], [], times[5:]], zone)
    yield "table", lambda times: pa.table({"fetch_time": pa.array(times, zone)})
    yield "texts", lambda times: pa.array(texts(times))
    yield "large texts", lambda times: pa.array(texts(times), pa.large_string())
    yield "views", lambda times: pa.array(texts(times), pa.string_view())
    yield "dictionary", lambda times: pa.array(texts(times)).dictionary_encode()
    yield "digits", lambda times: pa.array([time and f"{time:%Y%m%d%H%M%S}" for time in times])
    yield "unreadable", lambda times: [text or "yesterday" for text in texts(times)]
    yield "naive datetimes", lambda times: (time and naive(time) for time in times)
    yield "pandas", lambda times: pytest.importorskip("pandas").Series(times)
    yield "pandas objects", lambda times: pytest.importorskip("pandas").Series(times, dtype=object)
    yield "pandas NA", lambda times: [time or pytest.importorskip("pandas").NA for time in times]
    yield "NaN", lambda times: [time or float("nan") for time in texts(times)]
    for unit in ("s", "ms", "us", "ns"):
        yield f"datetime64 {unit}", lambda times, unit=unit: datetime64(times, unit)
    yield "polars", lambda times: pytest.importorskip("polars").Series(times)
    yield "polars texts", lambda times: pytest.importorskip("polars").Series(texts(times))


def datetime64(times, unit):
    numpy = pytest.importorskip("numpy")
    return numpy.array([time and naive(time) for time in times], f"datetime64[{unit}]")


def naive(time):
    return time.replace(tzinfo=None)


def texts(times):
    return [time and time.isoformat() for time in times]


@pytest.mark.parametrize("form", [pytest.param(form, id=name) for name, form in forms()])
@pytest.mark.parametrize("threads", [1, 3])
def test_every_form_of_times(classifier, rows, expected, form, threads):
    pa = pytest.importorskip("pyarrow")
    urls, times = rows
    chunks = pa.chunked_array([urls[:300], urls[300:301], urls[301:]], pa.string())
    for urls in (urls, pa.array(urls), chunks):
        assert decided(classifier, urls, at=form(times), threads=threads) == expected


def test_one_time_for_all(classifier, captures):
    time = captures[9][0]
    assert time.hour == 7
    expected = decided(classifier, ["https://a.example/x"] * 3, at=[time] * 3)
    east = time.astimezone(timezone(timedelta(hours=5, minutes=30)))
    for at in (time, east, naive(time), time.isoformat(), f"{time:%Y%m%d%H%M%S}", time + timedelta(microseconds=9)):
        assert decided(classifier, ["https://a.example/x"] * 3, at=at) == expected
    midnight = datetime(2023, 7, 1, tzinfo=UTC)
    for day in (date(2023, 7, 1), "2023-07-01", "20230701", b"20230701"):
        for urls in (["https://b.example/y"], ["https://c.example/x"]):
            assert decided(classifier, urls, at=day) == decided(classifier, urls, at=[midnight])


def test_days(classifier):
    pa = pytest.importorskip("pyarrow")
    days = [date(2023, month, 15) for month in range(1, 13)]
    urls = ["https://b.example/x"] * len(days)
    expected = decided(classifier, urls, at=[datetime(2023, it.month, 15, tzinfo=UTC) for it in days])
    assert len({json.dumps(row) for row in expected}) > 2
    for at in (days, pa.array(days), pa.array(days, pa.date64()), pa.array(map(str, days))):
        assert decided(classifier, urls, at=at) == expected


def test_before_the_first_capture(classifier, captures):
    urls = [f"https://{host}/x" for host in HOSTS]
    early = decided(classifier, urls, at=FIRST)
    assert {(row["CCBot"], row["CCBot_reason"]) for row in early} == {("unknown", "before-first")}
    firsts = [next(time for time, line in captures if host in line) for host in HOSTS]
    expected = decided(classifier, urls, at=firsts)
    assert decided(classifier, urls, at=FIRST, before_first="oldest") == expected
    assert decided(classifier, urls, at=FIRST) == early
    verdicts = [row["CCBot"] == "allow" for row in expected]
    allowed = classifier.allowed(urls, at=FIRST, before_first="oldest", mode="any")
    assert [it or row["GPTBot"] == "allow" for it, row in zip(verdicts, expected, strict=True)] == allowed.to_pylist()
    told = classifier.explain(urls[0], "CCBot", at=FIRST, before_first="oldest")
    assert told["verdict"] == expected[0]["CCBot"]


def test_columns_of_the_period(classifier, captures):
    urls, times = zip(*((json.loads(line)["url"], time) for time, line in captures), strict=True)
    table = classifier.classify(urls, at=times, columns="verdict,captured,since,until", prefix="r_")
    assert table.column_names[-3:] == ["r_captured", "r_since", "r_until"]
    captured, since, until = (table[name].to_pylist() for name in table.column_names[-3:])
    assert captured == list(times)
    assert all(begin <= time < (end or datetime.max.replace(tzinfo=UTC))
               for begin, time, end in zip(since, times, until, strict=True))
    assert until.count(None) == len(HOSTS) and set(since) < set(times) and set(until) <= {*since, None}
    unknown = classifier.classify(["https://nobody.example/", "x"], at=FIRST, columns="since,until,captured")
    assert unknown.to_pylist() == [dict.fromkeys(["since", "until", "captured"])] * 2
    pa = pytest.importorskip("pyarrow")
    assert pa.table(table)["r_since"].to_pylist() == since
    assert pa.table(table).schema.field("r_until").type == pa.timestamp("ms", "UTC")


def test_explanations(classifier, rows, expected):
    for url, time, row in list(zip(*rows, expected, strict=True))[:200]:
        if url and time:
            told = classifier.explain(url, "GPTBot", at=time)
            assert (told["verdict"], told["reason"]) == (row["GPTBot"], row["GPTBot_reason"])


def test_merging_keeps_the_history(captures, policies, tmp_path):
    parts = []
    for number, share in enumerate([captures[:7], captures[7:]]):
        (tmp_path / f"{number}.jsonl").write_text("\n".join(line for _, line in share))
        path = tmp_path / f"{number}.pcs"
        parts.append(PolicySet.compile(tmp_path / f"{number}.jsonl", history=True, output=path).name)
    merged = PolicySet.compile(parts, output=tmp_path / "all.pcs")
    both = PolicySet.compile([tmp_path / "0.jsonl", tmp_path / "1.jsonl"], history=True)
    assert merged.has_history and merged.hash == both.hash


def test_arguments_that_make_no_sense(classifier):
    pa = pytest.importorskip("pyarrow")
    plain = PolicySet.compile({"https://a.example/robots.txt": ""})
    assert not plain.has_history
    urls = ["https://a.example/"] * 3
    stream = pa.chunked_array([urls[:1], urls[1:]])
    times = pa.array([FIRST] * 4)
    broken = pa.DictionaryArray.from_arrays(pa.array([0, 9, 0]), pa.array(["2023"]), safe=False)

    def ask(at, urls=urls):
        return classifier.classify(urls, at=at)

    for call, error, message in [
        (lambda: plain.for_agents(AGENTS).classify(urls, at=FIRST), ValueError, "history=True.*compile --history"),
        (lambda: plain.for_agents(AGENTS).explain("x", "GPTBot", at=FIRST), ValueError, "history=True"),
        (lambda: ask(times), ValueError, "more times than urls has rows, 3;"),
        (lambda: ask(times, stream), ValueError, "more times than urls has rows, 3;"),
        (lambda: ask(times[:2]), ValueError, "at has 2 times, and urls has more rows"),
        (lambda: ask(times[:2], stream), ValueError, "at has 2 times, and urls has more rows"),
        (lambda: ask(pa.chunked_array([times[:1], times[:1]]), stream), ValueError, "at has 2 times"),
        (lambda: ask([FIRST]), ValueError, "at has 1 time, and urls"),
        (lambda: ask("yesterday"), ValueError, "'yesterday' is not a time"),
        (lambda: ask("2023-02-30"), ValueError, "is not a time"),
        (lambda: ask(1_700_000_000), TypeError, "pass a datetime"),
        (lambda: ask([1_700_000_000] * 3), TypeError, "pass a datetime or a text"),
        (lambda: ask(pa.array([1, 2, 3])), TypeError, "Int64; pass a column of timestamps, dates or strings"),
        (lambda: ask(pa.table({"a": times, "b": times})), TypeError, "2 columns; pass one"),
        (lambda: ask(broken), Error, "at is not valid Arrow"),
        (lambda: classifier.explain("x", "GPTBot", at=[FIRST]), TypeError, "several times"),
        (lambda: classifier.classify(urls, columns="until"), ValueError, "need times; pass at"),
        (lambda: classifier.classify(urls, before_first="oldest"), ValueError, "needs times"),
        (lambda: classifier.classify(urls, at=FIRST, before_first="first"), ValueError, "use one of unknown, oldest"),
        (lambda: PolicySet.compile({}, history=True), ValueError, "need captures in files"),
    ]:
        with pytest.raises(error, match=message):
            call()


def test_a_set_as_of_a_time(policies, rows):
    urls, _ = rows
    for time in (FIRST - timedelta(days=1), FIRST + timedelta(days=100)):
        text = time.isoformat()
        opened = PolicySet.open(f"{policies.name}@{text}")
        for again in (opened, pickle.loads(pickle.dumps(opened))):
            asked = again.for_agents(AGENTS)
            expected = policies.for_agents(AGENTS)
            columns = "verdict,reason,line,since"
            assert (asked.classify(urls, columns=columns, before_first="oldest").to_pylist()
                    == expected.classify(urls, columns=columns, at=time, before_first="oldest").to_pylist())
            assert asked.allowed(urls).to_pylist() == expected.allowed(urls, at=time).to_pylist()
            assert asked.account(urls).to_dict() == expected.account(urls, at=time).to_dict()
            assert asked.explain(urls[0], "CCBot") == expected.explain(urls[0], "CCBot", at=time)
        with pytest.raises(ValueError, match="SET@TIME names the time"):
            opened.for_agents(AGENTS).classify(urls, at=time)
        with pytest.raises(ValueError, match="omit @TIME"):
            opened.survey(AGENTS, history=True)


def test_functions_of_duckdb_ask_as_of_a_time(classifier, captures):
    duckdb = pytest.importorskip("duckdb")
    pytest.importorskip("pyarrow")
    from portcullis_robots.duckdb import register, register_filter

    time = captures[len(captures) // 2][0]
    con = duckdb.connect()
    register(con, classifier, "verdict_then", at=time)
    register_filter(con, classifier, "allowed_then", mode="any", at=time)
    urls = [f"https://{host}/{path}" for host in HOSTS for path in "xy"]
    found = [con.execute("SELECT verdict_then(?), allowed_then(?)", [url, url]).fetchone() for url in urls]
    expected = classifier.classify(urls, columns="verdict", at=time).to_pylist()
    allowed = classifier.allowed(urls, mode="any", at=time).to_pylist()
    assert found == list(zip(expected, allowed, strict=True))
