"""A datatrove filter: documents whose URL robots.txt allows.

The reasons of what is dropped become datatrove's statistics: ``dropped_rule``, ``dropped_no-policy``,
``dropped_bad-url`` and others.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from datatrove.pipeline.filters.base_filter import BaseFilter

from ._core import Classifier, PolicySet

if TYPE_CHECKING:
    from datatrove.data import Document
    from datatrove.pipeline.writers.disk_base import DiskWriter

__all__ = ["RobotsFilter"]


class RobotsFilter(BaseFilter):
    """Keeps documents that all agents, or any, may fetch; neither unknown nor invalid ones.

    Args:
        policies: the path of a compiled set, which each worker maps
        agents: product tokens
        mode: whether ``all`` agents have to be allowed, or ``any``
        keep_unknown: keep documents of origins without a known policy
        url_key: the key of the URL in a document's metadata
        exclusion_writer: saves dropped documents
        batch_size: documents that are decided at once
    """

    name = "🤖 robots.txt"

    def __init__(
        self,
        policies: str | os.PathLike[str],
        agents: Sequence[str],
        *,
        mode: Literal["all", "any"] = "all",
        keep_unknown: bool = False,
        url_key: str = "url",
        exclusion_writer: DiskWriter | None = None,
        batch_size: int = 1024,
    ) -> None:
        super().__init__(exclusion_writer, batch_size)
        if mode not in ("all", "any"):
            raise ValueError(f"no mode {mode!r}; use all or any")
        self.policies = os.fspath(policies)
        self.agents = list(agents)
        self.mode = mode
        self.keep_unknown = keep_unknown
        self.url_key = url_key
        self._classifier: Classifier | None = None

    def __getstate__(self) -> dict[str, Any]:
        # Workers open the set themselves.
        return {**self.__dict__, "_classifier": None}

    def filter(self, doc: Document) -> bool | tuple[bool, str]:
        """Decide one document."""
        return self.filter_batch([doc])[0]

    def filter_batch(self, batch: list[Document]) -> list[bool | tuple[bool, str]]:
        """Decide a batch."""
        if self._classifier is None:
            self._classifier = PolicySet.open(self.policies).for_agents(self.agents)
        urls = [doc.metadata.get(self.url_key) for doc in batch]
        # What is no text is no URL.
        urls = [url if isinstance(url, (str, bytes)) else None for url in urls]
        table = self._classifier.classify(urls, columns="verdict,reason")
        columns = [table[name].to_pylist() for name in table.column_names]
        return [self._decide(row[::2], row[1::2]) for row in zip(*columns, strict=True)]

    def _decide(
        self, verdicts: tuple[str, ...], reasons: tuple[str, ...]
    ) -> bool | tuple[bool, str]:
        if "invalid" in verdicts or "unknown" in verdicts:
            if self.keep_unknown and "invalid" not in verdicts:
                return True
            verdict = "invalid" if "invalid" in verdicts else "unknown"
            return False, reasons[verdicts.index(verdict)]
        quantifier = all if self.mode == "all" else any
        if quantifier(verdict == "allow" for verdict in verdicts):
            return True
        return False, reasons[verdicts.index("disallow")]
