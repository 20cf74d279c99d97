"""A stand-in for Protego: ``from portcullis_robots.protego import Protego``.

Decisions follow the dialect ``google``, which Protego comes nearest to. docs/python.md counts the
differences on real files and says where each comes from.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import time
from typing import NamedTuple, Self

from ._core import RobotsTxt

__all__ = ["Protego", "RequestRate", "VisitTime"]

_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


class RequestRate(NamedTuple):
    """At most ``requests`` in ``seconds``, between two times of a day in UTC if they are given."""

    requests: int
    seconds: int
    start_time: time | None
    end_time: time | None


class VisitTime(NamedTuple):
    """The part of a day, in UTC, in which a crawler should come."""

    start_time: time
    end_time: time


class Protego:
    """One robots.txt file, asked as Protego is."""

    def __init__(self, content: str | bytes = "") -> None:
        self._robots = RobotsTxt(content, dialect="google")

    @classmethod
    def parse(cls, content: str | bytes) -> Self:
        """Parse a file."""
        return cls(content)

    def can_fetch(self, url: str, user_agent: str) -> bool:
        """Return whether the crawler may fetch the URL."""
        return self._robots.can_fetch(user_agent, url)

    def crawl_delay(self, user_agent: str) -> float | None:
        """Return the seconds between two requests, if the file asks for any."""
        return self._robots.crawl_delay(user_agent)

    def request_rate(self, user_agent: str) -> RequestRate | None:
        """Return the Request-rate of the crawler, if the file has one that can be read."""
        return next(_readable(_rate, self._robots.values(user_agent, "request-rate")), None)

    def visit_time(self, user_agent: str) -> VisitTime | None:
        """Return the Visit-time of the crawler, if the file has one that can be read."""
        return next(_readable(_visit, self._robots.values(user_agent, "visit-time")), None)

    @property
    def sitemaps(self) -> Iterator[str]:
        """The sitemaps that the file names."""
        return iter(self._robots.sitemaps)

    @property
    def preferred_host(self) -> str | None:
        """The last Host line, whichever group it is in."""
        return None
