"""Tests of surveys: the same rows as the command line's, as a stream."""

import re
import shutil
import subprocess

import pytest
from conftest import AGENTS, ROOT

from portcullis_robots import Error, PolicySet

pa = pytest.importorskip("pyarrow")

RECIPES = ROOT / "docs" / "recipes.md"
MONTHS = sorted((ROOT / "tests" / "cli" / "docs" / "recipes" / "months").glob("*.warc.gz"))


@pytest.fixture(scope="module")
def months(tmp_path_factory):
    """A set with the history of three months."""
    path = tmp_path_factory.mktemp("months") / "months.pcs"
    return PolicySet.compile(MONTHS, output=path, history=True)


def widened(field):
    """A field as Parquet stores it: the keys of its words are not one byte."""
    is_word = pa.types.is_dictionary(field.type) and field.type.index_type == pa.int8()
    return field.with_type(pa.dictionary(pa.int32(), pa.string())) if is_word else field


@pytest.mark.parametrize("flags", [[], ["--history"], ["--lists"], ["--history", "--lists"]], ids=str)
@pytest.mark.parametrize("made", ["months", "policies"])
def test_rows_are_those_of_the_command_line(made, flags, program, request, tmp_path):
    policies = request.getfixturevalue(made)
    options = {flag[2:]: True for flag in flags}
    if made == "policies" and "history" in options:
        with pytest.raises(ValueError, match="without history, which history=True needs"):
            policies.survey(AGENTS, **options)
        return
    written = tmp_path / "sites.parquet"
    command = [program, "survey", "-p", policies.name, "-a", ",".join(AGENTS), "--summary", "none"]
    subprocess.run([*command, *flags, "-o", written], check=True)
    expected = pytest.importorskip("pyarrow.parquet").read_table(written)
    survey = policies.survey(AGENTS, **options)
    assert survey.column_names == expected.column_names
    assert pa.schema(survey) == pa.table(survey).schema
    table = pa.table(survey)
    assert [widened(field) for field in table.schema] == list(expected.schema)
    assert table.num_rows > 6
    assert table.to_pylist() == expected.to_pylist()


def test_batches_are_bounded():
    hosts = {f"https://h{number}.example/robots.txt": "User-agent: *\nDisallow: /a\n" for number in range(9000)}
    policies = PolicySet.compile(hosts)
    survey = policies.survey(["GPTBot", "CCBot"])
    reader = pa.RecordBatchReader.from_stream(survey)
    del policies, survey
    rows = [batch.num_rows for batch in reader]
    assert sum(rows) == 18000
    assert max(rows) < 8192 + 2
    assert len(rows) == 3


def test_exports_begin_with_the_first_row(policies):
    survey = policies.survey("GPTBot")
    first = pa.RecordBatchReader.from_stream(survey)
    part = first.read_next_batch()
    assert pa.table(survey).slice(0, part.num_rows) == pa.Table.from_batches([part])


def test_a_damaged_set_ends_the_stream(set_path, tmp_path):
    whole = set_path.read_bytes()
    expected = pa.table(PolicySet.open(set_path).survey(AGENTS))
    damaged = tmp_path / "damaged.pcs"
    raised = 0
    for place in range(0, len(whole), len(whole) // 60):
        damaged.write_bytes(whole[:place] + bytes([whole[place] ^ 0x55]) + whole[place + 1 :])
        try:
            assert pa.table(PolicySet.open(damaged, mapped=False).survey(AGENTS)) == expected
        except (Error, pa.ArrowException, OSError) as error:
            assert str(damaged) in str(error)
            raised += 1
    assert raised > 30


def recipe(start):
    """The query of the recipes' page that begins after the paragraph with `start`."""
    page = RECIPES.read_text(encoding="utf-8")
    found = re.search(re.escape(start) + r'.*?duckdb -csv -c "\n(.*?)"\n```', page, re.DOTALL)
    return found[1]


def test_the_recipes_of_duckdb(months, program, tmp_path, monkeypatch):
    duckdb = pytest.importorskip("duckdb")
    monkeypatch.chdir(tmp_path)
    shutil.copy(months.name, "months.pcs")
    # The commands before the queries, which the recipes' own test runs too.
    commands = re.findall(r"^portcullis (survey .*)$", RECIPES.read_text(encoding="utf-8"), re.MULTILINE)
    for command in commands:
        subprocess.run([program, *command.split()], check=True)
    shares = recipe("by top-level domain")
    changes = recipe("the origins whose rules changed in 2023")
    files = {"sites": "'sites.parquet'", "periods": "read_csv('periods.csv')"}
    assert files["sites"] in shares and files["periods"] in changes
    # The same queries over the survey itself.
    sites = months.survey(["GPTBot", "CCBot"])
    periods = months.survey("GPTBot", history=True)
    in_process = [shares.replace(files["sites"], "sites"), changes.replace(files["periods"], "periods")]
    for by_tld, changed in [(shares, changes), in_process]:
        assert duckdb.sql(by_tld).fetchall() == [("example", 4, 1, 1)]
        rows = duckdb.sql(f"SELECT * REPLACE (strftime(since, '%Y-%m-%d') AS since) FROM ({changed})")
        assert rows.fetchall() == [("https://news.example", "2023-11-29", "part", "none")]
    assert sites.column_names == periods.column_names  # The queries read both variables.
