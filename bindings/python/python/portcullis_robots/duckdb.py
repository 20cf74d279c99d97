"""Functions for DuckDB's SQL: ``robots(url)`` and a condition for ``WHERE``.

DuckDB calls them with the URLs of about 2,048 rows at once, and needs pyarrow for that. The newest
rules decide, or with ``at`` those of a time, if the policies have a history.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

import duckdb
import pyarrow as pa
from duckdb.func import ARROW, SPECIAL

from ._core import Classifier

if TYPE_CHECKING:
    from ._core import _Names as Names
    from ._core import _Purpose as Purpose
    from ._core import _Time as Time

__all__ = ["register", "register_filter"]


def register(
    con: duckdb.DuckDBPyConnection,
    classifier: Classifier,
    name: str = "robots",
    *,
    columns: Names = "verdict",
    usage: Names = (),
    at: Time | None = None,
) -> None:
    """Register a function that returns the columns of ``Classifier.classify``.

    One column is a value, such as the verdict of one agent. Several are a ``STRUCT``.
    """

    def decide(urls: Any) -> pa.Table:
        return pa.table(classifier.classify(urls, columns=columns, usage=usage, at=at))

    empty = con.from_arrow(decide([]))
    kinds = dict(zip(empty.columns, empty.types, strict=True))

    def one(urls: Any) -> pa.Array:
        return _plain(decide(urls).column(0))

    def several(urls: Any) -> pa.Array:
        table = decide(urls)
        return pa.StructArray.from_arrays(list(map(_plain, table.columns)), table.column_names)

    if len(kinds) == 1:
        _create(con, name, one, empty.types[0])
    else:
        _create(con, name, several, con.struct_type(kinds))


def register_filter(
    con: duckdb.DuckDBPyConnection,
    classifier: Classifier,
    name: str = "robots_allowed",
    *,
    mode: Literal["all", "any"] = "all",
    purpose: Purpose | None = None,
    unstated: Literal["keep", "drop"] | None = None,
    at: Time | None = None,
) -> None:
    """Register a function that returns whether all agents, or any agent, may fetch a URL."""

    def decide(urls: Any) -> pa.Array:
        return pa.array(
            classifier.allowed(urls, mode=mode, purpose=purpose, unstated=unstated, at=at)
        )

    decide([])
    _create(con, name, decide, con.type("BOOLEAN"))


def _plain(column: pa.ChunkedArray) -> pa.Array:
    """Return a column in one piece, whose words are text."""
    whole = column.combine_chunks()
    return whole.dictionary_decode() if pa.types.is_dictionary(whole.type) else whole


def _create(
    con: duckdb.DuckDBPyConnection, name: str, function: Callable[[Any], pa.Array], kind: Any
) -> None:
    # A null is an invalid URL, as everywhere.
    con.create_function(
        name, function, [con.type("VARCHAR")], kind, type=ARROW, null_handling=SPECIAL
    )
