"""A namespace of Polars expressions: ``pl.col("url").robots.verdict(classifier)``.

Importing this module registers the namespace. Expressions work in eager and in lazy frames, also in
the streaming engine, where each batch is decided by itself. Wrong arguments fail when the expression
is built.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import polars as pl

from ._core import Classifier

if TYPE_CHECKING:
    from ._core import _BeforeFirst as BeforeFirst
    from ._core import _Purpose as Purpose
    from ._core import _Names as Names

__all__ = ["RobotsNamespace"]

At: TypeAlias = pl.Expr | date | str | None
_Decide: TypeAlias = Callable[[Any, Any], pl.Series]


@pl.api.register_expr_namespace("robots")
class RobotsNamespace:
    """Decides the URLs of an expression.

    ``at`` is the time of each row, as an expression, or one time for all rows. The set of the
    classifier needs history then. The other arguments are those of the classifier's methods.
    """

    def __init__(self, urls: pl.Expr) -> None:
        self._urls = urls

    def verdict(
        self,
        classifier: Classifier,
        *,
        at: At = None,
        before_first: BeforeFirst = "unknown",
        threads: int = 1,
    ) -> pl.Expr:
        """Return the verdicts of a classifier's only agent, in a column that has its name."""
        if len(classifier.agents) != 1:
            names = ", ".join(classifier.agents)
            raise ValueError(f"verdict needs one agent, not {names}; use classify or allowed")
        rows = self.classify(classifier, at=at, before_first=before_first, threads=threads)
        return rows.struct.field(classifier.agents[0])

    def allowed(
        self,
        classifier: Classifier,
        *,
        at: At = None,
        before_first: BeforeFirst = "unknown",
        mode: Literal["all", "any"] = "all",
        purpose: Purpose | None = None,
        unstated: Literal["keep", "drop"] | None = None,
        threads: int = 1,
    ) -> pl.Expr:
        """Return whether all agents, or any agent, may fetch each URL, in the column ``allowed``."""

        def decide(urls: Any, at: Any) -> pl.Series:
            column = classifier.allowed(
                urls, at=at, before_first=before_first, mode=mode, purpose=purpose,
                unstated=unstated, threads=threads,
            )
            return pl.Series(column)

        return self._decided("allowed", decide, at)

    def classify(
        self,
        classifier: Classifier,
        *,
        at: At = None,
        before_first: BeforeFirst = "unknown",
        columns: Names = "verdict",
        usage: Names = (),
        prefix: str = "",
        threads: int = 1,
    ) -> pl.Expr:
        """Return the columns of ``Classifier.classify``, as the struct ``robots``."""

        def decide(urls: Any, at: Any) -> pl.Series:
            table = classifier.classify(
                urls, at=at, before_first=before_first, columns=columns, usage=usage, prefix=prefix,
                threads=threads,
            )
            return pl.DataFrame(table).to_struct()

        return self._decided("robots", decide, at)

    def _decided(self, name: str, decide: _Decide, at: At) -> pl.Expr:
        if not isinstance(at, pl.Expr):
            kind = decide([], at).dtype
            rows = self._urls
            decided = rows.map_batches(lambda urls: decide(urls, at), kind, is_elementwise=True)
            return decided.alias(name)

        def decide_each(rows: pl.Series) -> pl.Series:
            return decide(rows.struct.field("urls"), rows.struct.field("at"))

        kind = decide([], []).dtype
        rows = pl.struct(self._urls.alias("urls"), at.alias("at"))
        return rows.map_batches(decide_each, kind, is_elementwise=True).alias(name)
