"""A datatrove filter that keeps documents whose URL robots.txt allows.

The reasons for dropped documents become datatrove's statistics: ``dropped_rule``,
``dropped_no-policy``, ``dropped_bad-url`` and others, or the preference about the purpose, such as
``dropped_train-ai=n``.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import date
from typing import TYPE_CHECKING, Any, Literal

from datatrove.pipeline.filters.base_filter import BaseFilter

from ._core import Classifier, PolicySet

if TYPE_CHECKING:
    from datatrove.data import Document
    from datatrove.pipeline.writers.disk_base import DiskWriter

    from ._core import _BeforeFirst as BeforeFirst
    from ._core import _Purpose as Purpose
    from ._core import _Names as Names

__all__ = ["RobotsFilter"]


def _only(value: Any, *types: type) -> Any:
    return value if isinstance(value, types) else None


class RobotsFilter(BaseFilter):
    """Keeps documents that all agents, or any agent, may fetch, and no unknown or invalid ones.

    Args:
        policies: the path of a compiled set, which each worker maps
        agents: product tokens, or lists such as ``@ai-training``: several, or one str with commas
        mode: whether ``all`` agents have to be allowed, or ``any``
        keep_unknown: keep documents of origins without a known policy
        purpose: the use that has to be permitted as well, such as ``train-ai``
        unstated: required with purpose: ``keep`` or ``drop`` documents whose use is not stated
        url_key: the key of the URL in a document's metadata
        host_key, query_key, scheme_key: the keys of the other parts of URLs that are paths
        at_key: the key of the time, such as ``date``: the rules that were in force then decide, by a
            set with history; a document whose time cannot be read is unknown
        before_first: ``unknown``, or ``oldest`` to apply the first capture of an origin before it
        exclusion_writer: saves dropped documents
        batch_size: documents that are decided at once
    """

    name = "🤖 robots.txt"

    def __init__(
        self,
        policies: str | os.PathLike[str],
        agents: Names,
        *,
        mode: Literal["all", "any"] = "all",
        keep_unknown: bool = False,
        purpose: Purpose | None = None,
        unstated: Literal["keep", "drop"] | None = None,
        url_key: str = "url",
        host_key: str | None = None,
        query_key: str | None = None,
        scheme_key: str | None = None,
        at_key: str | None = None,
        before_first: BeforeFirst = "unknown",
        exclusion_writer: DiskWriter | None = None,
        batch_size: int = 1024,
    ) -> None:
        super().__init__(exclusion_writer, batch_size)
        self.policies = os.fspath(policies)
        self.agents = agents if isinstance(agents, str) else list(agents)
        self.mode = mode
        self.keep_unknown = keep_unknown
        self.purpose = purpose
        self.unstated = unstated
        self.url_key = url_key
        keys = {"host": host_key, "query": query_key, "scheme": scheme_key}
        self.part_keys = {part: key for part, key in keys.items() if key is not None}
        self.at_key = at_key
        self.before_first = before_first
        self._classifier: Classifier | None = None
        # Wrong arguments fail here, even if the set does not exist yet.
        nothing = PolicySet.compile({}).for_agents(self.agents)
        # That set has no history, so times are left out.
        early: BeforeFirst = "unknown" if at_key else before_first
        nothing.allowed([], before_first=early, mode=mode, purpose=purpose, unstated=unstated)

    def __getstate__(self) -> dict[str, Any]:
        # Workers open the set themselves.
        return {**self.__dict__, "_classifier": None}

    def filter(self, doc: Document) -> bool | tuple[bool, str]:
        """Decide one document."""
        return self.filter_batch([doc])[0]

    def filter_batch(self, batch: list[Document]) -> list[bool | tuple[bool, str]]:
        """Decide a batch."""
        # A value that is not text is not a URL.
        urls = [_only(doc.metadata.get(self.url_key), str, bytes) for doc in batch]
        times = None
        if self.at_key:
            times = [_only(doc.metadata.get(self.at_key), str, bytes, date) for doc in batch]
        parts = {
            part: [_only(doc.metadata.get(key), str, bytes) for doc in batch]
            for part, key in self.part_keys.items()
        }
        return self._decide(urls, {"at": times, "before_first": self.before_first, **parts})

    def _decide(self, urls: list[Any], others: dict[str, Any]) -> list[bool | tuple[bool, str]]:
        if self._classifier is None:
            self._classifier = PolicySet.open(self.policies).for_agents(self.agents)
        usage = [self.purpose] if self.purpose else []
        table = self._classifier.classify(urls, columns="verdict,reason", usage=usage, **others)
        columns = [table[name].to_pylist() for name in table.column_names]
        step = 2 + len(usage)
        return [
            self._decided(row[::step], row[step - 1 :: step], row[1::step])
            for row in zip(*columns, strict=True)
        ]

    def _decided(
        self, verdicts: Sequence[str], reasons: Sequence[str], uses: Sequence[str]
    ) -> bool | tuple[bool, str]:
        """Return true for a row that is kept, or why it is not."""
        permitted = ("y", "?") if self.unstated == "keep" else ("y",)
        allowed = (
            verdict == "allow" and (self.purpose is None or use in permitted)
            for verdict, use in zip(verdicts, uses, strict=True)
        )
        if all(allowed) if self.mode == "all" else any(allowed):
            return True
        for verdict in ("invalid", "unknown", "disallow"):
            if verdict in verdicts:
                is_kept = verdict == "unknown" and self.keep_unknown
                return is_kept or (False, reasons[verdicts.index(verdict)])
        return False, f"{self.purpose}={'n' if 'n' in uses else '?'}"
