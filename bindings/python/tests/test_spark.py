"""Tests of real Spark: a driver and two executors in separate processes (local-cluster)."""

import collections
import itertools
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from datetime import datetime

import pytest
from conftest import AGENTS, SAMPLE

if not os.environ.get("PORTCULLIS_SPARK"):
    pytest.skip("Spark takes minutes: set PORTCULLIS_SPARK=1", allow_module_level=True)
if not shutil.which("java"):
    pytest.skip("Spark needs Java 17", allow_module_level=True)
pytest.importorskip("pyspark")

import pyarrow as pa  # noqa: E402
import pyarrow.parquet as pq  # noqa: E402
from pyspark.sql import SparkSession  # noqa: E402

from portcullis_robots import PolicySet  # noqa: E402
from portcullis_robots import spark as robots  # noqa: E402
from portcullis_robots.spark import __main__ as job  # noqa: E402

FILES = 8
MIB = 1 << 20


@pytest.fixture(scope="module")
def session():
    os.environ.update(PYSPARK_PYTHON=sys.executable, SPARK_LOCAL_IP="127.0.0.1")
    builder = SparkSession.builder.master("local-cluster[2,1,1024]").appName("portcullis tests")
    builder = builder.config("spark.ui.enabled", "false").config("spark.log.level", "ERROR")
    # Small splits: every file is a task.
    session = builder.config("spark.sql.files.openCostInBytes", str(128 << 20)).getOrCreate()
    yield session
    session.stop()


@pytest.fixture(scope="module")
def pages(tmp_path_factory, urls):
    folder = tmp_path_factory.mktemp("pages")
    rows = [(place, url) for place, url in enumerate(urls) if url and url == url.strip()]
    for number in range(FILES):
        share = rows[number::FILES]
        table = pa.table({"id": [it[0] for it in share], "url": [it[1] for it in share]})
        pq.write_table(table, folder / f"{number}.parquet")
    return folder


@pytest.fixture(scope="module")
def distributed(session, set_path):
    session.sparkContext.addFile(str(set_path))
    return set_path.name


def rows(frame):
    return {row["id"]: tuple(row[agent] for agent in AGENTS) for row in frame.collect()}


@pytest.fixture(scope="module")
def expected(pages, set_path):
    """Return the classifier's result without Spark."""
    table = pq.read_table(pages)
    decided = pa.table(PolicySet.open(set_path).for_agents(AGENTS).classify(table["url"]))
    return dict(zip(table["id"].to_pylist(), zip(*(decided[it].to_pylist() for it in AGENTS), strict=True), strict=True))


def executors(session):
    """Return the number of finished tasks by executor."""
    listed = session.sparkContext._jsc.sc().statusStore().executorList(False)
    found = [listed.apply(place) for place in range(listed.size())]
    return {it.id(): it.completedTasks() for it in found if it.id() != "driver"}


def test_verdicts_by_two_executors(session, pages, distributed, expected):
    frame = robots.classify(session.read.parquet(str(pages)), "url", distributed, AGENTS)
    assert frame.columns == ["id", "url", *AGENTS]
    assert "Exchange" not in frame._jdf.queryExecution().toString()
    assert rows(frame) == expected
    assert sum(tasks > 0 for tasks in executors(session).values()) >= 2


def test_the_command_line_says_the_same(session, pages, distributed, program, set_path, tmp_path):
    written = tmp_path / "out.parquet"
    command = [program, "classify", "-p", set_path, "-a", ",".join(AGENTS), "--summary", "none",
               "--url-field", "url", "-o", written, *sorted(pages.iterdir())]
    subprocess.run(command, check=True)
    table = pq.read_table(written)
    verdicts = zip(*(table[agent].to_pylist() for agent in AGENTS), strict=True)
    frame = robots.classify(session.read.parquet(str(pages)), "url", distributed, AGENTS)
    assert rows(frame) == dict(zip(table["id"].to_pylist(), verdicts, strict=True))


def test_the_set_is_opened_once_per_worker(session, pages, distributed):
    frame = session.read.parquet(str(pages))
    place = frame.columns.index("url")
    asked, _ = robots._ask(distributed, AGENTS, (), None)

    def look(batches):
        for batch in batches:
            classifier = robots._classifier(asked)
            again = robots._classifier(asked)
            assert classifier is again and len(classifier.classify(batch.column(place)))
            opened = robots._opened.cache_info().misses
            yield pa.RecordBatch.from_pydict({"pid": [os.getpid()], "opened": [opened]})

    seen = frame.mapInArrow(look, "pid long, opened long").collect()
    by_process = collections.defaultdict(set)
    for row in seen:
        by_process[row["pid"]].add(row["opened"])
    assert len(by_process) >= 2, by_process
    assert all(opened == {1} for opened in by_process.values()), by_process


def test_columns_filters_and_counts(session, pages, distributed, expected):
    frame = session.read.parquet(str(pages))
    columns = "verdict,reason,line,rule,group,state"
    wide = robots.classify(frame, "url", distributed, "GPTBot", columns=columns.split(","), prefix="r_")
    kinds = {field.name: field.dataType.simpleString() for field in wide.schema}
    assert (kinds["r_GPTBot"], kinds["r_GPTBot_line"], kinds["r_state"]) == ("string", "int", "string")
    row = wide.where("r_GPTBot_reason = 'rule'").orderBy("id").first()
    assert row["r_GPTBot_rule"] and row["r_GPTBot_group"] and row["r_GPTBot_line"] > 0
    for mode, quantifier in (("all", all), ("any", any)):
        kept = robots.filter(frame, "url", distributed, AGENTS, mode=mode)
        wanted = {it for it, verdicts in expected.items() if quantifier(v == "allow" for v in verdicts)}
        assert {row["id"] for row in kept.collect()} == wanted
    decided = robots.classify(frame, "url", distributed, ", ".join(AGENTS), prefix="r_")
    counted = {(it["agent"], it["verdict"]): it["records"] for it in
               robots.counts(decided, ", ".join(AGENTS), prefix="r_").collect()}
    wanted = collections.Counter(pair for it in expected.values() for pair in zip(AGENTS, it, strict=True))
    assert counted == dict(wanted)


def test_a_job_that_needs_few_rows_ends(session, pages, distributed):
    frame = session.read.parquet(str(pages)).repartition(1)
    # Many small batches, of which the first is enough.
    session.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", 10)
    try:
        assert len(robots.classify(frame, "url", distributed, AGENTS).limit(3).collect()) == 3
        assert len(robots.filter(frame, "url", distributed, ["GPTBot"]).take(3)) == 3
    finally:
        session.conf.unset("spark.sql.execution.arrow.maxRecordsPerBatch")


def test_usage_and_purposes(session, tmp_path):
    (tmp_path / "robots").mkdir()
    for host, text in [("no.example", "train-ai=n"), ("yes.example", "train-ai=y"), ("silent.example", "")]:
        (tmp_path / "robots" / host).write_text(f"User-agent: *\nContent-Usage: {text}\nAllow: /\n")
    path = tmp_path / "set.pcs"
    PolicySet.compile(tmp_path / "robots", output=path)
    urls = [f"https://{host}.example/" for host in ("no", "yes", "silent", "nobody")]
    frame = session.createDataFrame([(url,) for url in urls], "url string")
    decided = robots.classify(frame, "url", str(path), ["CCBot"], usage=["train-ai", "search"])
    assert decided.columns == ["url", "CCBot", "CCBot_train-ai", "CCBot_search"]
    letters = [tuple(row)[1:] for row in decided.collect()]
    assert letters == [("allow", "n", "?"), ("allow", "y", "?"), ("allow", "?", "?"), ("unknown", "-", "-")]
    for unstated, kept in [("drop", urls[1:2]), ("keep", urls[1:3])]:
        purpose = {"purpose": "train-ai", "unstated": unstated}
        rows = robots.filter(frame, "url", str(path), ["CCBot"], **purpose).collect()
        assert [row["url"] for row in rows] == kept
    with pytest.raises(ValueError, match="unstated"):
        robots.filter(frame, "url", str(path), ["CCBot"], purpose="train-ai")


def test_times(session, tmp_path):
    answer = {"url": "https://a.example/robots.txt", "status": 200}
    rules = [("2023-01-01", "Allow: /"), ("2024-01-01", "Disallow: /"), ("2025-01-01", "Allow: /")]
    inputs = []
    for day, rule in rules:
        path = tmp_path / f"{day}.jsonl"
        body = f"User-agent: *\n{rule}\n"
        path.write_text(json.dumps({**answer, "fetched_at": f"{day}T00:00:00Z", "body": body}))
        inputs.append(str(path))
    path = str(tmp_path / "set.pcs")
    whole = robots.compile(session, inputs, path, str(tmp_path), history=True, tasks=3)
    assert whole.has_history
    # The session's zone is that of timestamps in texts, not of the instants.
    session.conf.set("spark.sql.session.timeZone", "America/New_York")
    try:
        times = [None, "2022-06-01", "2023-12-31T23:59:59Z", "2024-01-01T00:00:00Z", "2025-06-01T00:00:00Z"]
        rows = [(number, "https://a.example/", time) for number, time in enumerate(times)]
        frame = session.createDataFrame(rows, "id long, url string, text string").repartition(3)
        frame = frame.selectExpr(
            "*", "cast(text as timestamp) as fetch_time", "cast(text as date) as day",
            "cast(text as timestamp_ntz) as local",
        )
        expected = ["no-time", "before-first", "rule", "rule", "rule"]
        verdicts = ["unknown", "unknown", "allow", "disallow", "allow"]
        for at in ("text", "fetch_time", "day", "local"):
            frame_at = robots.classify(frame, "url", path, ["CCBot"], at=at, columns="verdict,reason").orderBy("id")
            decided = [(row["CCBot"], row["CCBot_reason"]) for row in frame_at.collect()]
            assert decided == list(zip(verdicts, expected, strict=True)), at
            kept = robots.filter(frame, "url", path, ["CCBot"], at=at)
            assert sorted(row["id"] for row in kept.collect()) == [2, 4]
            both = robots.filter(kept, "url", path, ["CCBot"])
            assert sorted(row["id"] for row in both.collect()) == [2, 4]
            oldest = robots.filter(frame, "url", path, ["CCBot"], at=at, before_first="oldest")
            assert sorted(row["id"] for row in oldest.collect()) == [1, 2, 4]
        columns = "since,until,captured"
        dated = robots.classify(frame, "url", path, ["CCBot"], at="fetch_time", columns=columns, prefix="r_")
        dated = dated.selectExpr("id", "date_format(r_since, 'yyyy-MM-dd HH') as since", "r_until is null as open")
        assert {row["id"]: (row["since"], row["open"]) for row in dated.collect()} == {
            0: (None, True), 1: (None, True), 2: ("2022-12-31 19", False),
            3: ("2023-12-31 19", False), 4: ("2024-12-31 19", True),
        }
        none = robots.filter(frame, "url", path, ["CCBot"], at=datetime(2024, 6, 1))
        assert none.collect() == []
    finally:
        session.conf.unset("spark.sql.session.timeZone")


def test_arguments_fail_on_the_driver(session, pages, distributed, set_path):
    frame = session.read.parquet(str(pages))
    for call, error, message in [
        (lambda: robots.classify(frame, "link", distributed, AGENTS), ValueError, "no column 'link'"),
        (lambda: robots.classify(frame, "id", distributed, AGENTS), TypeError, "must be string, binary"),
        (lambda: robots.classify(frame, "url", distributed, AGENTS, at="id"), TypeError, "must be timestamp"),
        (lambda: robots.filter(frame, "url", distributed, AGENTS, at="url"), ValueError, "without history"),
        (lambda: robots.filter(frame, "url", distributed, AGENTS, at="time"), ValueError, "no column 'time'"),
        (lambda: robots.classify(frame, "url", "no.pcs", AGENTS), FileNotFoundError, "addFile"),
        (lambda: robots.classify(frame, "url", distributed, 5), TypeError, "not iterable"),
        (lambda: robots.classify(frame, "url", distributed, []), ValueError, "no agents"),
        (lambda: robots.classify(frame.withColumnRenamed("id", "gptbot"), "url", distributed, AGENTS),
         ValueError, "prefix"),
    ]:
        with pytest.raises(error, match=message):
            call()


def test_an_executor_is_killed_mid_job(session, pages, distributed, expected, tmp_path):
    frame = session.read.parquet(str(pages))
    started = tmp_path / "started"
    started.mkdir()

    def slowly(batches):
        # Python's worker is a child of a daemon, which is a child of the executor.
        with open(f"/proc/{os.getppid()}/stat") as status:
            executor = status.read().rpartition(")")[2].split()[1]
        (started / f"{executor}-{time.time_ns()}").touch()
        for batch in batches:
            time.sleep(2)
            yield batch

    slow = frame.mapInArrow(slowly, frame.schema)
    decided = {}
    work = threading.Thread(
        target=lambda: decided.update(rows(robots.classify(slow, "url", distributed, AGENTS)))
    )
    work.start()
    deadline = time.monotonic() + 120
    while len(list(started.iterdir())) < 3 and time.monotonic() < deadline:
        time.sleep(0.1)
    victim = int(sorted(path.name for path in started.iterdir())[0].split("-")[0])
    with open(f"/proc/{victim}/cmdline") as command:
        assert "CoarseGrainedExecutorBackend" in command.read()
    os.kill(victim, signal.SIGKILL)
    work.join(300)
    assert not work.is_alive() and decided == expected
    survivors = {path.name.split("-")[0] for path in started.iterdir()} - {str(victim)}
    assert survivors


def test_a_damaged_set_fails_the_job(session, pages, set_path, tmp_path):
    whole = bytearray(set_path.read_bytes())
    # After the header, which the driver reads.
    for place in range(len(whole) // 3, len(whole)):
        whole[place] ^= 0x55
    damaged = tmp_path / "damaged.pcs"
    damaged.write_bytes(whole)
    frame = session.read.parquet(str(pages))
    with pytest.raises(Exception, match="damaged.pcs") as raised:
        robots.classify(frame, "url", str(damaged), AGENTS).collect()
    assert "portcullis_robots.Error" in str(raised.value) or "Error" in type(raised.value).__name__


def test_a_worker_with_another_set_fails_the_job(session, pages, set_path, tmp_path):
    path = tmp_path / "set.pcs"
    shutil.copy(set_path, path)
    frame = robots.classify(session.read.parquet(str(pages)), "url", str(path), AGENTS)
    PolicySet.compile(SAMPLE / "captures.jsonl", output=path)
    with pytest.raises(Exception, match="but the driver has"):
        frame.collect()


def test_one_host_of_a_million_urls(session, tmp_path):
    source = tmp_path / "captures.jsonl"
    body = "User-agent: *\nDisallow: /*0\nAllow: /*00$\n"
    answer = {"url": "https://a.example/robots.txt", "status": 200, "body": body}
    source.write_text(json.dumps(answer) + "\n")
    path = tmp_path / "skewed.pcs"
    PolicySet.compile(source, output=path)
    frame = session.range(0, 1_000_000, numPartitions=4).selectExpr(
        "concat('https://a.example/', cast(id as string)) as url"
    )
    decided = robots.classify(frame, "url", str(path), ["GPTBot"])
    assert "Exchange" not in decided._jdf.queryExecution().toString()
    counted = {row["verdict"]: row["records"] for row in robots.counts(decided, ["GPTBot"]).collect()}
    numbers = [str(number) for number in range(1_000_000)]
    barred = sum("0" in number and not number.endswith("00") for number in numbers)
    assert counted == {"disallow": barred, "allow": 1_000_000 - barred}


def test_compiling_in_tasks(session, tmp_path):
    inputs = []
    for number in range(5):
        path = tmp_path / f"{number}.jsonl"
        answer = {"url": f"https://host{number}.example/robots.txt", "status": 200, "body": ""}
        path.write_text(json.dumps({**answer, "fetched_at": "2026-01-01T00:00:00Z"}) + "\n")
        inputs.append(str(path))
    # A part of an earlier job or attempt is replaced.
    (tmp_path / "part-00001.pcs").write_text("no set")
    merged = robots.compile(session, inputs, str(tmp_path / "all.pcs"), str(tmp_path), tasks=3)
    assert merged.hash == PolicySet.compile(inputs).hash
    assert len(list(tmp_path.glob("part-*.pcs"))) == 3


def compressed(source):
    """Replace a file by a compressed one."""
    path = source.with_name(source.name + ".zst")
    with open(source, "rb") as file, pa.output_stream(path, compression="zstd") as output:
        shutil.copyfileobj(file, output, MIB)
    source.unlink()
    return path


def to_parquet(source):
    """Replace JSON Lines by Parquet."""
    path = source.with_suffix(".parquet")
    texts = ["url", "fetched_at", "body", "body_base64", "error"]
    schema = pa.schema([("status", pa.int32()), *((name, pa.string()) for name in texts)])
    with open(source) as lines, pq.ParquetWriter(path, schema) as writer:
        while rows := [json.loads(line) for line in itertools.islice(lines, 10_000)]:
            writer.write_table(pa.Table.from_pylist(rows, schema))
    source.unlink()
    return path


@pytest.fixture
def gigabytes(tmp_path):
    """A folder that is removed after the test, even if it fails."""
    yield tmp_path
    shutil.rmtree(tmp_path)


@pytest.fixture
def captures(program, gigabytes):
    """Captures of more than an executor's memory for each of two: JSON Lines, WARC and Parquet."""
    inputs, size = [], 0
    for number in range(8):
        kind = "warc" if number == 3 else "jsonl"
        folder = gigabytes / f"corpus-{number}"
        command = [f"{program}-bench", "synth", "--hosts", "210000", "--urls", "0", "--seed", str(number)]
        subprocess.run([*command, "--format", kind, "-o", folder], check=True, capture_output=True)
        path = next(folder.glob("robots.*"))
        if kind == "jsonl":
            size += path.stat().st_size
            path = compressed(path) if number != 5 else to_parquet(path)
        inputs.append(str(path))
    assert size >= 2 * 1.2 * 1024 * MIB
    return inputs


def test_compiling_more_than_executors_hold(session, captures, program, gigabytes, monkeypatch):
    def peak(call):
        """Return the result, the memory of this process before, and its peak meanwhile, in bytes."""

        def now(line):
            with open("/proc/self/status") as file:
                return int(re.search(rf"{line}:\s+(\d+)", file.read())[1]) * 1024

        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")
        before = now("VmRSS")
        return call(), before, now("VmHWM")

    part = robots._part

    def measured(*asked):
        compile = part(*asked)

        def measure(share):
            path, _, most = peak(lambda: compile(share))
            with open(f"{path}.peak", "w") as file:
                print(os.getpid(), most, file=file)
            return path

        return measure

    monkeypatch.setattr(robots, "_part", measured)
    parts, output = gigabytes / "parts", gigabytes / "all.pcs"
    parts.mkdir()
    asked = {"tasks": 4, "memory": 256 * MIB}
    merged, before, most = peak(
        lambda: robots.compile(session, captures, str(output), str(parts), **asked)
    )
    tasks = [path.read_text().split() for path in sorted(parts.glob("*.peak"))]
    # This process has the memory of other tests besides that of the merger.
    peaks = [most - before, *(int(most) for _, most in tasks)]
    print("MiB of memory, of the driver and the tasks:", [most // MIB for most in peaks])
    files = [output, *sorted(parts.glob("*.pcs"))]
    print("MiB of sets:", [path.stat().st_size // MIB for path in files])
    assert len(tasks) == 4 and len({process for process, _ in tasks}) >= 2
    assert max(peaks) < 400 * MIB

    shutil.rmtree(parts)
    whole = gigabytes / "whole.pcs"
    command = [program, "compile", "-o", whole, "--memory", "256MiB", *captures]
    print(subprocess.run(command, check=True, capture_output=True, text=True).stderr)
    assert PolicySet.open(whole).hash == merged.hash


def test_the_jobs_times():
    asked = ["-p", "x", "-a", "CCBot", "-o", "y", "z"]
    assert job._arguments([*asked, "--at", "2024-06-01"]).at == datetime(2024, 6, 1)
    assert job._arguments([*asked, "--time-field", "day", "--before-first", "oldest"]).time_field == "day"
    for wrong in (["--at", "yesterday"], ["--at", "2024-06-01", "--time-field", "x"], ["--before-first", "oldest"]):
        with pytest.raises(SystemExit):
            job._arguments([*asked, *wrong])


# The last test, because it ends the session.
def test_the_job(session, pages, set_path, expected, tmp_path):
    output, counts = tmp_path / "out", tmp_path / "counts"
    asked = ["-p", str(set_path), "-a", ",".join(AGENTS), "-o", str(output), "--counts", str(counts)]
    assert job.main([*asked, str(pages)]) == 0
    table = pq.read_table(output)
    verdicts = zip(*(table[agent].to_pylist() for agent in AGENTS), strict=True)
    assert dict(zip(table["id"].to_pylist(), verdicts, strict=True)) == expected
    lines = [json.loads(line) for path in counts.glob("*.json") for line in path.read_text().splitlines()]
    assert sum(line["records"] for line in lines) == len(expected) * len(AGENTS)
    for wrong in ([], ["-p", "x", "-o", "y", "z"], [*asked, "--any", "x"], [*asked, "--filter", "x"]):
        with pytest.raises(SystemExit):
            job.main(wrong)
