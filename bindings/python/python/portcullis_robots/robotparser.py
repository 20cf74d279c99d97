"""A replacement for ``urllib.robotparser``.

Use it as ``from portcullis_robots.robotparser import RobotFileParser``. Decisions follow the
dialect ``koster1996``, in which the first matching rule decides, as in the original. The README
lists the differences on real files and their causes.
"""

from __future__ import annotations

import urllib.robotparser
from collections.abc import Iterable

from ._core import RobotsTxt

__all__ = ["RobotFileParser"]


def _whole(value: str) -> list[int]:
    """Return the number that the value is, or none: ``isdigit`` is true for ``²``, which is no number."""
    try:
        return [int(value)] if value.strip().isdecimal() else []
    except ValueError:
        # More digits than Python converts.
        return []


class RobotFileParser(urllib.robotparser.RobotFileParser):
    """A ``urllib.robotparser.RobotFileParser`` that uses Portcullis for decisions.

    ``read``, ``set_url``, ``mtime`` and ``modified`` come from the original. As in the original, no
    URL may be fetched before a file was read.
    """

    # typeshed lacks these attributes.
    allow_all: bool
    disallow_all: bool

    def __init__(self, url: str = "") -> None:
        super().__init__(url)
        self._robots = RobotsTxt("", dialect="koster1996")

    def parse(self, lines: Iterable[str]) -> None:
        """Parse the lines of a file."""
        self._robots = RobotsTxt("\n".join(lines), dialect="koster1996", max_bytes=None)
        self.modified()

    def can_fetch(self, useragent: str, url: str) -> bool:
        """Return whether the crawler may fetch the URL."""
        if self.disallow_all or self.allow_all or not self.mtime():
            return self.allow_all and not self.disallow_all
        return self._robots.can_fetch(useragent, url)

    def crawl_delay(self, useragent: str) -> str | None:
        """Return the seconds between two requests, if they are a whole number."""
        numbers = [number for value in self._values("crawl-delay", useragent) for number in _whole(value)]
        # An int, as in the original, although typeshed says otherwise.
        return numbers[-1] if numbers else None  # type: ignore[return-value]

    def request_rate(self, useragent: str) -> urllib.robotparser.RequestRate | None:
        """Return the requests and seconds of the last valid Request-rate."""
        pairs = [value.split("/") for value in self._values("request-rate", useragent)]
        rates = [[number for part in pair for number in _whole(part)] for pair in pairs if len(pair) == 2]
        rates = [rate for rate in rates if len(rate) == 2]
        return urllib.robotparser.RequestRate(*rates[-1]) if rates else None

    def site_maps(self) -> list[str] | None:
        """Return the sitemaps that the file names, or ``None`` if there are none."""
        return self._robots.sitemaps or None

    def _values(self, field: str, useragent: str) -> list[str]:
        return self._robots.values(field, useragent) if self.mtime() else []
