"""A replacement for Protego: ``from portcullis_robots.protego import Protego``.

Decisions follow the dialect ``google``, which is closest to Protego. The README lists the
differences on real files and their causes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import time
from typing import NamedTuple, Self, TypeVar

from ._core import RobotsTxt

__all__ = ["Protego", "RequestRate", "VisitTime"]

T = TypeVar("T")

_UNITS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}
_RATE = re.compile(r"(\d+)\s*/\s*(\d+)([smhd]?)(?:\s+(\d{4})-(\d{4}))?", re.IGNORECASE | re.ASCII)
_TIMES = re.compile(r"(\d{4})(?:-|\s+)(\d{4})", re.ASCII)


class RequestRate(NamedTuple):
    """At most ``requests`` per ``seconds``, between two times of day (UTC) if they are given."""

    requests: int
    seconds: int
    start_time: time | None
    end_time: time | None


class VisitTime(NamedTuple):
    """The time of day (UTC) in which a crawler should visit."""

    start_time: time
    end_time: time


class Protego:
    """One robots.txt file, with Protego's methods."""

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
        """Return the crawl-delay in seconds."""
        return self._robots.crawl_delay(user_agent)

    def request_rate(self, user_agent: str) -> RequestRate | None:
        """Return the last valid Request-rate."""
        return _last(_rate, self._robots.values("request-rate", user_agent))

    def visit_time(self, user_agent: str) -> VisitTime | None:
        """Return the last valid Visit-time."""
        return _last(_visit, self._robots.values("visit-time", user_agent))

    @property
    def sitemaps(self) -> Iterator[str]:
        """The sitemaps that the file names."""
        return iter(self._robots.sitemaps)

    @property
    def preferred_host(self) -> str | None:
        """The value of the last Host line."""
        return next(reversed(self._robots.values("host")), None)


def _last(read: Callable[[str], T | None], values: list[str]) -> T | None:
    readable = [value for value in map(read, values) if value is not None]
    return readable[-1] if readable else None


def _time(digits: str) -> time:
    return time(int(digits[:2]), int(digits[2:]))


def _rate(value: str) -> RequestRate | None:
    match = _RATE.fullmatch(value)
    if match is None:
        return None
    requests, count, unit, start, end = match.groups()
    seconds = int(count) * _UNITS[unit.lower()]
    try:
        times = (_time(start), _time(end)) if start else (None, None)
    except ValueError:
        return None
    return RequestRate(int(requests), seconds, *times) if int(requests) and seconds else None


def _visit(value: str) -> VisitTime | None:
    match = _TIMES.fullmatch(value)
    try:
        return VisitTime(_time(match[1]), _time(match[2])) if match else None
    except ValueError:
        return None
