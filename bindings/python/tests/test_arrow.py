"""Tests of every form of URLs, and every library that takes the results."""

import contextlib
import pickle
import struct

import pytest

from portcullis_robots import Column, Error, PolicySet, Table

pa = pytest.importorskip("pyarrow")

ROBOTS = "User-agent: *\nDisallow: /x\n\nUser-agent: GPTBot\nDisallow: /\n"
URLS = ["https://a.example/x", "https://a.example/y", None, "no url", "https://b.example/"]
GPTBOT = ["disallow", "disallow", "invalid", "invalid", "unknown"]
CCBOT = ["disallow", "allow", "invalid", "invalid", "unknown"]


@pytest.fixture(scope="module")
def classifier():
    policies = PolicySet.compile({"https://a.example/robots.txt": ROBOTS})
    return policies.for_agents(["GPTBot", "CCBot"])


def exports():
    yield "utf8", lambda: pa.array(URLS)
    yield "large utf8", lambda: pa.array(URLS, pa.large_string())
    yield "utf8 view", lambda: pa.array(URLS, pa.string_view())
    yield "binary", lambda: pa.array(URLS).cast(pa.binary())
    yield "dictionary", lambda: pa.array(URLS).dictionary_encode()
    yield "sliced", lambda: pa.array(["left out", *URLS, "left out"])[1:-1]
    yield "sliced dictionary", lambda: pa.array(["x", *URLS, "x"]).dictionary_encode()[1:-1]
    yield "chunked", lambda: pa.chunked_array([URLS[:1], [], URLS[1:]])
    yield "table of one column", lambda: pa.table({"url": URLS})
    yield "record batch", lambda: pa.record_batch({"url": pa.array(URLS)})
    yield "list", lambda: list(URLS)
    yield "generator", lambda: iter(URLS)
    yield "bytes", lambda: [url and url.encode() for url in URLS]
    yield "polars", lambda: pytest.importorskip("polars").Series(URLS)
    yield "polars categorical", lambda: categorical(pytest.importorskip("polars"))
    yield "duckdb", lambda: relation(pytest.importorskip("duckdb"))
    yield "nanoarrow", lambda: nanoarrow(pytest.importorskip("nanoarrow"))


def categorical(polars):
    return polars.Series(URLS, dtype=polars.Categorical)


def relation(duckdb):
    table = pa.table({"url": URLS})
    return duckdb.connect().from_arrow(table).select("url")


def nanoarrow(module):
    return module.Array(URLS, module.string())


@pytest.mark.parametrize("export", [pytest.param(make, id=name) for name, make in exports()])
@pytest.mark.parametrize("threads", [1, 3])
def test_every_export_has_the_same_verdicts(classifier, export, threads):
    table = pa.table(classifier.classify(export(), threads=threads))
    assert table["GPTBot"].to_pylist() == GPTBOT
    assert table["CCBot"].to_pylist() == CCBOT
    allowed = classifier.allowed(export(), mode="any", threads=threads)
    assert pa.array(allowed).to_pylist() == [False, True, False, False, False]


@pytest.mark.parametrize(
    "empty",
    [[], pa.array([], pa.string()), pa.chunked_array([], pa.string()), pa.array([], pa.null())],
)
def test_nothing_is_an_empty_table_with_its_columns(classifier, empty):
    table = pa.table(classifier.classify(empty, columns="verdict,line"))
    assert (table.num_rows, table.column_names[:2]) == (0, ["GPTBot", "GPTBot_line"])
    assert len(classifier.allowed(empty)) == 0


def test_nulls_are_invalid(classifier):
    for nulls in (pa.nulls(3), pa.nulls(3, pa.string()), pa.array([None] * 3).dictionary_encode()):
        assert classifier.classify(nulls)["CCBot"].to_pylist() == ["invalid"] * 3
    in_values = pa.DictionaryArray.from_arrays([0, 1], pa.array([None, "https://a.example/y"]))
    assert classifier.classify(in_values)["CCBot"].to_pylist() == ["invalid", "allow"]


def test_long_arrays_have_pieces_that_join(classifier):
    urls = [f"https://a.example/{'x' if row % 3 == 0 else 'y'}{row}" for row in range(200_000)]
    expected = ["disallow" if row % 3 == 0 else "allow" for row in range(200_000)]
    for threads in (1, 4):
        result = classifier.classify(pa.array(urls), threads=threads, columns="verdict,rule")
        assert pa.table(result)["CCBot"].num_chunks > 1
        assert pa.table(result)["CCBot"].to_pylist() == expected
        # One array of joined pieces.
        assert pa.array(result["CCBot"]).to_pylist() == expected
        assert pa.array(result["CCBot_rule"]).null_count == expected.count("allow")
    many = pa.chunked_array([[url] for url in urls[:1000]])
    for threads in (4, 2**48):
        table = pa.table(classifier.classify(many, threads=threads))
        assert table["CCBot"].to_pylist() == expected[:1000]


def test_columns_and_their_types(classifier):
    columns = "verdict,reason,line,rule,group,state"
    table = pa.table(classifier.classify(URLS, columns=columns, prefix="robots_"))
    assert table.column_names == [
        *(f"robots_{agent}{column}" for agent in ("GPTBot", "CCBot")
          for column in ("", "_reason", "_line", "_rule", "_group")),
        "robots_state",
    ]
    types = {field.name: field.type for field in table.schema}
    words = pa.dictionary(pa.int8(), pa.string())
    assert types["robots_CCBot"] == types["robots_CCBot_reason"] == types["robots_state"] == words
    assert (types["robots_CCBot_line"], types["robots_CCBot_rule"]) == (pa.int32(), pa.string())
    assert table.slice(0, 1).to_pylist() == [{
        "robots_GPTBot": "disallow", "robots_GPTBot_reason": "rule", "robots_GPTBot_line": 5,
        "robots_GPTBot_rule": "/", "robots_GPTBot_group": "GPTBot",
        "robots_CCBot": "disallow", "robots_CCBot_reason": "rule", "robots_CCBot_line": 2,
        "robots_CCBot_rule": "/x", "robots_CCBot_group": "*", "robots_state": "rules",
    }]
    assert table["robots_state"].to_pylist() == ["rules", "rules", None, None, "unknown"]


def test_bytes_of_results(classifier):
    columns = "verdict,reason,line,rule,delay"
    table = classifier.classify(pa.chunked_array([URLS, URLS]), columns=columns, threads=2)
    stream = pa.ipc.open_stream(table.to_bytes()).read_all()
    assert stream.to_pylist() == table.to_pylist()
    for result in (table, table["GPTBot"], classifier.classify([]), classifier.allowed(URLS)):
        again = pickle.loads(pickle.dumps(result))
        assert (type(again), len(again), repr(again)) == (type(result), len(result), repr(result))
        assert again.to_pylist() == result.to_pylist()
        whole = result.to_bytes()
        for place in range(0, len(whole), max(1, len(whole) // 50)):
            damaged = bytearray(whole)
            damaged[place] ^= 1
            for bad in (whole[:place], bytes(damaged)):
                with pytest.raises(Error, match="cut or damaged"):
                    type(result).from_bytes(bad)
    with pytest.raises(ValueError, match="use Table.from_bytes"):
        Column.from_bytes(table.to_bytes())
    with pytest.raises(Error):
        Table.from_bytes(b"no stream")


def test_numpy(classifier):
    numpy = pytest.importorskip("numpy")
    urls = pa.chunked_array([URLS, URLS])
    for column in (classifier.allowed(urls), classifier.allowed([])):
        mask = numpy.asarray(column)
        assert (mask.dtype, mask.tolist()) == (numpy.dtype(bool), column.to_pylist())
        mask[:] = True
    assert numpy.array(urls)[numpy.asarray(classifier.allowed(urls)) == 0].tolist() == urls.to_pylist()
    table = classifier.classify(urls, columns="verdict,line,delay,rule")
    for name, kind in [("", "object"), ("_line", "float64"), ("_delay", "float64"), ("_rule", "object")]:
        column = table[f"GPTBot{name}"]
        array = numpy.asarray(column)
        assert array.dtype == kind
        assert [None if value != value else value for value in array.tolist()] == column.to_pylist()
    whole = classifier.classify(URLS[:2], columns="line")["GPTBot_line"]
    assert (numpy.asarray(whole).dtype, numpy.array(whole, "int64").tolist()) == ("int32", [5, 5])
    with pytest.raises(ValueError, match="by a copy"):
        numpy.array(whole, copy=False)


def test_missing_values_of_pandas(classifier):
    pandas = pytest.importorskip("pandas")
    urls = [URLS[1], None, pandas.NA, pandas.NaT, float("nan")]
    assert classifier.classify(urls)["CCBot"].to_pylist() == ["allow"] + ["invalid"] * 4
    frame = pandas.DataFrame({"url": URLS})
    frame["CCBot"] = classifier.classify(frame["url"])["CCBot"]
    assert frame["CCBot"].tolist() == list(classifier.classify(URLS)["CCBot"]) == CCBOT
    kept = frame[~pandas.Series(classifier.allowed(frame["url"]))]
    # pandas 3 stores text with NaN for None.
    assert kept["url"].equals(frame["url"])


def test_results_in_other_libraries(classifier):
    result = classifier.classify(URLS)
    assert result.to_pylist()[1] == {"GPTBot": "disallow", "CCBot": "allow"}
    polars = pytest.importorskip("polars")
    assert polars.DataFrame(result)["CCBot"].cast(polars.String).to_list() == CCBOT
    assert polars.Series(classifier.allowed(URLS)).to_list() == [False] * 5
    duckdb = pytest.importorskip("duckdb")
    query = "select count(*) from result where CCBot = 'allow'"
    assert duckdb.sql(query).fetchall() == [(1,)]
    nanoarrow = pytest.importorskip("nanoarrow")
    assert len(nanoarrow.Array(classifier.allowed(URLS))) == 5


@pytest.mark.parametrize(
    ("urls", "message"),
    [
        (pa.array([1]), "of type Int64"),
        (pa.array([["x"]]), "of type List"),
        (pa.table({"a": ["x"], "b": ["y"]}), "2 columns"),
    ],
)
def test_arrow_that_holds_no_texts(classifier, urls, message):
    with pytest.raises(TypeError, match=message):
        classifier.classify(urls)


def dictionary(keys, words=("https://a.example/x", "https://a.example/y")):
    return pa.DictionaryArray.from_arrays(keys, pa.array(words, pa.string()), safe=False)


def of_offsets(offsets, form="i", typ=None):
    data = b"https://a.example/xhttps://a.example/y"
    buffers = [None, pa.py_buffer(struct.pack(f"<{len(offsets)}{form}", *offsets)), pa.py_buffer(data)]
    return pa.Array.from_buffers(typ or pa.string(), len(offsets) - 1, buffers)


def of_view(length, buffer, offset):
    """A column of views: one inline, then one into a buffer of 19 bytes."""
    views = struct.pack("<i12s", 1, b"x") + struct.pack("<i4sii", length, b"http", buffer, offset)
    buffers = [None, pa.py_buffer(views), pa.py_buffer(b"https://a.example/x")]
    return pa.Array.from_buffers(pa.string_view(), 2, buffers)


def invalid_arrays():
    yield "a key behind the dictionary", dictionary(pa.array([0, 7], pa.int8()))
    yield "a negative key", dictionary(pa.array([0, -1], pa.int32()))
    yield "a key into no dictionary", dictionary(pa.array([0], pa.uint16()), [])
    yield "falling offsets", of_offsets([0, 38, 19, 38])
    yield "an offset behind the data", of_offsets([0, 1 << 30, 38])
    yield "a negative offset", of_offsets([0, -19, 38])
    yield "a negative first offset", of_offsets([0, -19, 38])[1:]
    yield "a negative last offset", of_offsets([0, 19, -19, 38])[:2]
    yield "falling large offsets", of_offsets([0, 38, 19, 38], "q", pa.large_binary())
    yield "a negative large offset", of_offsets([0, -(1 << 40), 38], "q", pa.large_string())
    yield "a view behind its buffer", of_view(19, 0, 1 << 30)
    yield "a view at a negative offset", of_view(19, 0, -19)
    yield "a view into no buffer", of_view(19, 1 << 20, 0)
    yield "a view of a negative length", of_view(-1, 0, 0)
    yield "a dictionary of falling offsets", pa.DictionaryArray.from_arrays(
        pa.array([0, 1, 2], pa.int8()), of_offsets([0, 38, 19, 38]), safe=False
    )
    yield "a chunk with a wrong key", pa.chunked_array(
        [dictionary(pa.array([0, 1], pa.int8())), dictionary(pa.array([2], pa.int8()))]
    )
    yield "a table with falling offsets", pa.table({"url": of_offsets([0, 38, 19, 38])})


@pytest.mark.parametrize(
    "urls", [pytest.param(urls, id=name.replace(" ", "-")) for name, urls in invalid_arrays()]
)
def test_arrow_that_is_invalid(classifier, urls):
    for ask in (classifier.classify, classifier.allowed, classifier.account):
        with pytest.raises(Error, match="^urls is not valid Arrow: "):
            ask(urls)


def test_unused_parts_may_be_anything(classifier):
    """What no row reads is not invalid: keys and views under nulls, bytes that are no text."""
    keys = pa.array([7, 1, -1], pa.int8())
    nulls = pa.py_buffer(b"\x02")
    under_nulls = pa.DictionaryArray.from_buffers(
        pa.dictionary(pa.int8(), pa.string()), 3, [nulls, keys.buffers()[1]], pa.array(URLS[:2])
    )
    assert classifier.classify(under_nulls)["CCBot"].to_pylist() == ["invalid", "allow", "invalid"]
    buffers = of_view(19, 1 << 20, 0).buffers()
    views = pa.Array.from_buffers(pa.string_view(), 2, [pa.py_buffer(b"\x01"), *buffers[1:]])
    assert classifier.classify(views)["CCBot"].to_pylist() == ["invalid", "invalid"]
    no_text = pa.array([b"https://a.example/\xff", b"https://a.example/x"]).view(pa.string())
    assert classifier.classify(no_text)["CCBot"].to_pylist() == ["allow", "disallow"]
    cut = of_offsets([0, 38, 19, 38])[3:]
    assert len(classifier.classify(cut)) == 0


def test_a_stream_that_fails(classifier):
    def batches():
        yield pa.record_batch({"url": pa.array(URLS)})
        raise RuntimeError("the disk is gone")

    schema = pa.schema({"url": pa.string()})
    reader = pa.RecordBatchReader.from_batches(schema, batches())
    with pytest.raises(ValueError, match="the disk is gone"):
        classifier.classify(reader)
