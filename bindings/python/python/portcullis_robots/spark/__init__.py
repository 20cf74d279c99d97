"""Add verdict columns in Spark with ``mapInArrow``: no shuffle, one open set per Python worker.

``policies`` is the path of a compiled set that every worker sees, or the name of a file that
``SparkContext.addFile`` distributed. Each Python worker maps the set once and keeps it for later
tasks. Workers on one machine share its memory. The job fails if a worker's set differs from the
driver's or is damaged, or if the set is replaced while the job runs.

``at`` is the name of a column of times, or one time: the rules that were in force then decide.

>>> spark.sparkContext.addFile("policies.pcs")                      # doctest: +SKIP
>>> tagged = classify(pages, "url", "policies.pcs", ["GPTBot"])     # doctest: +SKIP
>>> counts(tagged, ["GPTBot"]).show()                               # doctest: +SKIP
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypedDict

from .._core import Classifier, Error, PolicySet, Table

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import Column, DataFrame, SparkSession

    from .._core import _BeforeFirst as BeforeFirst
    from .._core import _Purpose as Purpose
    from .._core import _Names as Names

__all__ = ["classify", "compile", "counts", "filter"]


class _Question(TypedDict):
    """Arguments of ``Classifier.classify``."""

    before_first: BeforeFirst
    columns: tuple[str, ...]
    usage: tuple[str, ...]
    prefix: str


class _Plan(TypedDict):
    """Arguments of ``Classifier.allowed``."""

    before_first: BeforeFirst
    mode: Literal["all", "any"]
    purpose: Purpose | None
    unstated: Literal["keep", "drop"] | None


class _Asked(NamedTuple):
    """The arguments that a worker needs to open the driver's classifier."""

    policies: str
    agents: tuple[str, ...]
    user_agents: tuple[str, ...]
    assume_scheme: str | None
    hash: str = ""


def _path(policies: str) -> str:
    """Return the path of the set on this machine, which Spark may have distributed."""
    if os.path.exists(policies):
        return os.path.abspath(policies)
    distributed = _distributed(policies)
    if distributed and os.path.exists(distributed):
        return distributed
    raise FileNotFoundError(
        f"{policies}: no such file on this worker; distribute it with SparkContext.addFile, "
        "or name a path that all workers see"
    )


def _distributed(policies: str) -> str | None:
    """Return the path at which Spark puts a distributed file; ``None`` if this process has none.

    Spark Connect's client, without a JVM, has no ``SparkFiles``, or no folder for them.
    """
    try:
        from pyspark import SparkFiles

        path: str = SparkFiles.get(policies)
    except (ImportError, AssertionError):
        return None
    return path


@functools.lru_cache(maxsize=4)
def _opened(path: str, identity: tuple[int, ...], asked: _Asked) -> Classifier:
    policies = PolicySet.open(path)
    if asked.hash and policies.hash != asked.hash:
        raise Error(
            f"{path} is the set {policies.hash}, but the driver has {asked.hash}; "
            "give all workers the same file"
        )
    return policies.for_agents(
        asked.agents, user_agents=asked.user_agents, assume_scheme=asked.assume_scheme
    )


def _classifier(asked: _Asked) -> Classifier:
    """Return the classifier of this process. It is kept until another file has the path."""
    path = _path(asked.policies)
    status = os.stat(path)
    identity = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)
    return _opened(path, identity, asked)


def _names(names: Names) -> tuple[str, ...]:
    """Return the names in an argument, in which commas may separate them."""
    return tuple(name.strip() for name in names.split(",")) if isinstance(names, str) else tuple(names)


def _ask(
    policies: str, agents: Names, user_agents: Sequence[str], assume_scheme: str | None
) -> tuple[_Asked, Classifier]:
    """Open the set on the driver, so that wrong arguments fail before the job starts."""
    asked = _Asked(str(policies), _names(agents), tuple(user_agents), assume_scheme)
    classifier = _classifier(asked)
    return asked._replace(hash=classifier.policy_set.hash), classifier


# The types of columns that can hold URLs and times.
_URLS = ("string", "binary")
_TIMES = ("timestamp", "timestamp_ntz", "date", *_URLS)


def _place(df: DataFrame, column: str, kinds: Sequence[str]) -> int:
    """Return the position of a column that has one of these types."""
    if column not in df.columns:
        raise ValueError(f"no column {column!r}; the columns are {', '.join(df.columns)}")
    kind = df.schema[column].dataType.simpleString()
    if kind not in kinds:
        raise TypeError(f"the column {column!r} has the type {kind}; it must be {', '.join(kinds)}")
    place: int = df.columns.index(column)
    return place


class _Rows:
    """The URLs of a batch, their other parts and their times."""

    def __init__(
        self, df: DataFrame, url: str, at: str | date | None, parts: dict[str, str | None]
    ) -> None:
        self._url = _place(df, url, _URLS)
        named = {part: column for part, column in parts.items() if column is not None}
        self._parts = {part: _place(df, column, _URLS) for part, column in named.items()}
        self._at = _place(df, at, _TIMES) if isinstance(at, str) else at

    def of(self, batch: pa.RecordBatch) -> dict[str, Any]:
        """Return the arguments of a classifier's methods."""
        at = batch.column(self._at) if isinstance(self._at, int) else self._at
        parts = {part: batch.column(place) for part, place in self._parts.items()}
        return {"urls": batch.column(self._url), "at": at, **parts}

    def none(self) -> dict[str, Any]:
        """Return the arguments for no rows, which have errors as those for rows have."""
        at = [] if isinstance(self._at, int) else self._at
        return {"urls": [], "at": at, **{part: [] for part in self._parts}}


def _ahead(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the batches. Each batch is read while the previous one is decided.

    Spark writes a batch no faster than its worker reads: without this thread, the JVM and Python take
    turns. Deciding releases Python's lock.
    """
    iterator = iter(batches)
    with ThreadPoolExecutor(1) as reader:
        following = reader.submit(next, iterator, None)
        while (batch := following.result()) is not None:
            following = reader.submit(next, iterator, None)
            yield batch


def _numbers(decided: Table) -> list[pa.Array]:
    """Return the columns in types that Spark reads: numbers for dictionaries, and microseconds."""
    import pyarrow as pa

    def read(column: pa.Array) -> pa.Array:
        if pa.types.is_timestamp(column.type):
            return column.cast(pa.timestamp("us", "UTC"))
        return column.indices if pa.types.is_dictionary(column.type) else column

    return [read(column) for column in pa.record_batch(decided).columns]


def classify(
    df: DataFrame,
    url: str,
    policies: str,
    agents: Names = (),
    *,
    host: str | None = None,
    query: str | None = None,
    scheme: str | None = None,
    at: str | date | None = None,
    before_first: BeforeFirst = "unknown",
    columns: Names = "verdict",
    usage: Names = (),
    prefix: str = "",
    user_agents: Sequence[str] = (),
    assume_scheme: str | None = None,
) -> DataFrame:
    """Add the columns of ``portcullis classify`` for each agent. No row is dropped.

    ``host``, ``query`` and ``scheme`` name the columns with the other parts of URLs that are paths.
    ``at`` names a column of timestamps, dates or texts, or is one ``datetime`` for all rows. The set
    needs history. ``before_first`` is that of ``Classifier.classify``.
    """
    import pyarrow as pa
    from pyspark.sql import functions
    from pyspark.sql.pandas.types import from_arrow_schema
    from pyspark.sql.types import StructType

    rows = _Rows(df, url, at, {"host": host, "query": query, "scheme": scheme})
    asked, classifier = _ask(policies, agents, user_agents, assume_scheme)
    question: _Question = {
        "before_first": before_first, "columns": _names(columns), "usage": _names(usage),
        "prefix": prefix,
    }
    empty = classifier.classify(**rows.none(), **question)
    added = empty.column_names
    # Spark compares the names of columns case-insensitively.
    own = {name.lower() for name in df.columns}
    for name in added:
        if name.lower() in own:
            raise ValueError(f"the column {name!r} exists; rename the added ones with prefix")

    def add(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        classifier = _classifier(asked)
        for batch in _ahead(batches):
            decided = _numbers(classifier.classify(**rows.of(batch), **question))
            yield pa.RecordBatch.from_arrays(batch.columns + decided, batch.schema.names + added)

    types = pa.schema(zip(added, (column.type for column in _numbers(empty)), strict=True))
    decided = df.mapInArrow(add, StructType(df.schema.fields + from_arrow_schema(types).fields))
    # Spark looks the words up itself, because reading a string from Python costs more than deciding
    # a URL.
    words = {}
    for name, column in zip(added, pa.record_batch(empty).columns, strict=True):
        if pa.types.is_dictionary(column.type):
            number = functions.col("`" + name.replace("`", "``") + "`").cast("int") + 1
            listed = functions.array(*map(functions.lit, column.dictionary.to_pylist()))
            words[name] = functions.element_at(listed, number)
    return decided.withColumns(words)


def filter(
    df: DataFrame,
    url: str,
    policies: str,
    agents: Names = (),
    *,
    host: str | None = None,
    query: str | None = None,
    scheme: str | None = None,
    at: str | date | None = None,
    before_first: BeforeFirst = "unknown",
    mode: Literal["all", "any"] = "all",
    purpose: Purpose | None = None,
    unstated: Literal["keep", "drop"] | None = None,
    user_agents: Sequence[str] = (),
    assume_scheme: str | None = None,
) -> DataFrame:
    """Keep the rows whose URL all agents, or any agent, may fetch, and no unknown or invalid ones.

    With ``purpose``, the agents must also be permitted that use. ``unstated`` decides about uses
    that are not stated. The other arguments are those of ``classify``; filter twice, with and
    without ``at``, to keep what was allowed then and is allowed now.
    """
    import pyarrow as pa

    rows = _Rows(df, url, at, {"host": host, "query": query, "scheme": scheme})
    asked, classifier = _ask(policies, agents, user_agents, assume_scheme)
    plan: _Plan = {
        "before_first": before_first, "mode": mode, "purpose": purpose, "unstated": unstated,
    }
    classifier.allowed(**rows.none(), **plan)

    def keep(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        classifier = _classifier(asked)
        for batch in _ahead(batches):
            yield batch.filter(pa.array(classifier.allowed(**rows.of(batch), **plan)))

    return df.mapInArrow(keep, df.schema)


def counts(df: DataFrame, agents: Names, *, prefix: str = "") -> DataFrame:
    """Count the verdicts of a classified frame, in the columns agent, verdict and records.

    The frame is evaluated again, so count the output that a job has written instead of a frame that
    is not decided yet.
    """
    names: list[Column | str] = [f"`{prefix}{agent}`" for agent in _names(agents)]
    verdicts = df.select(*names).unpivot([], names, "agent", "verdict")
    agent = verdicts["agent"].substr(len(prefix) + 1, 1 << 30).alias("agent")
    counted = verdicts.groupBy(agent, "verdict").count()
    return counted.withColumnRenamed("count", "records").orderBy("agent", "verdict")


def compile(
    spark: SparkSession,
    inputs: Sequence[str],
    output: str,
    parts: str,
    *,
    dialect: str = "rfc9309",
    history: bool = False,
    tasks: int | None = None,
    memory: int | None = None,
) -> PolicySet:
    """Compile captures in tasks, each to a set in ``parts``, and merge the sets to ``output``.

    Workers and driver must see the inputs and ``parts``. The result is the same as compiling all
    inputs at once. ``history`` is that of ``PolicySet.compile``. ``memory`` is the number of bytes
    that a task and the merger use: what does not fit is written to temporary files in ``parts`` and
    next to ``output``. The driver reads the parts one after another.

    The folder ``parts`` must exist. A task that runs again replaces its part. The parts stay; the
    caller removes them, or merges them again with ``PolicySet.compile``.
    """
    inputs = list(inputs)
    tasks = max(1, min(tasks or spark.sparkContext.defaultParallelism, len(inputs)))
    # Adjacent inputs stay together, because of two captures with the same date, the one in the
    # later input counts.
    bounds = [len(inputs) * number // tasks for number in range(tasks + 1)]
    shares = [(number, inputs[bounds[number] : bounds[number + 1]]) for number in range(tasks)]
    part = _part(parts, dialect, history, memory)
    compiled = spark.sparkContext.parallelize(shares, tasks).map(part).collect()
    return PolicySet.compile(compiled, output=output, memory=memory)


def _part(parts: str, dialect: str, history: bool, memory: int | None) -> Callable[[Any], str]:
    def compile(share: tuple[int, list[str]]) -> str:
        number, inputs = share
        path = os.path.join(parts, f"part-{number:05}.pcs")
        compiled = PolicySet.compile(
            inputs, dialect=dialect, output=path, history=history, threads=1, memory=memory
        )
        return compiled.name

    return compile
