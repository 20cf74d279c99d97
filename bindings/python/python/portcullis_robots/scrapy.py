"""A robots.txt parser and a middleware for Scrapy.

``ROBOTSTXT_PARSER = "portcullis_robots.scrapy.PortcullisRobotParser"`` replaces the parser. Scrapy
gives a parser only the body, without the status of the answer. So the page of a 503 is parsed as if
it were robots.txt, and a server that cannot be reached allows everything. To follow RFC 9309,
section 2.3.1, in these cases, replace the middleware too:

    DOWNLOADER_MIDDLEWARES = {
        "scrapy.downloadermiddlewares.robotstxt.RobotsTxtMiddleware": None,
        "portcullis_robots.scrapy.PortcullisRobotsTxtMiddleware": 100,
    }

The setting ``PORTCULLIS_DIALECT`` names the dialect; the default is ``rfc9309``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from scrapy.downloadermiddlewares.robotstxt import RobotsTxtMiddleware
from scrapy.robotstxt import RobotParser
from scrapy.utils.misc import build_from_crawler
from twisted.internet.defer import Deferred

from ._core import RobotsTxt

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.http import Request, Response

__all__ = ["PortcullisRobotParser", "PortcullisRobotsTxtMiddleware"]

_NOTHING_ALLOWED = b"User-agent: *\nDisallow: /\n"


class PortcullisRobotParser(RobotParser):
    """A parser with Scrapy's interface."""

    def __init__(self, robotstxt_body: bytes, dialect: str = "rfc9309") -> None:
        self._robots = RobotsTxt(robotstxt_body, dialect=dialect)

    @classmethod
    def from_crawler(cls, crawler: Crawler | None, robotstxt_body: bytes) -> Self:
        """Parse a body."""
        dialect = crawler.settings.get("PORTCULLIS_DIALECT") if crawler else None
        return cls(robotstxt_body, dialect or "rfc9309")

    def allowed(self, url: str | bytes, user_agent: str | bytes) -> bool:
        """Return whether the crawler may fetch the URL."""
        return self._robots.can_fetch(_text(user_agent), url)

    def crawl_delay(self, user_agent: str | bytes) -> float | None:
        """Return the crawl-delay in seconds."""
        return self._robots.crawl_delay(_text(user_agent))


class PortcullisRobotsTxtMiddleware(RobotsTxtMiddleware):
    """Scrapy's middleware, changed to follow RFC 9309 if there is no file.

    A server error or no answer disallows everything (section 2.3.1.4), and a client error allows
    everything (section 2.3.1.3). Scrapy has retried and followed redirects by then.
    """

    async def _parse_robots(self, response: Response, netloc: str, request: Request) -> None:
        if response.status >= 500:
            response = response.replace(body=_NOTHING_ALLOWED)
        elif response.status >= 400:
            response = response.replace(body=b"")
        await super()._parse_robots(response, netloc, request)

    def _robots_error(self, exc: Exception, netloc: str) -> None:
        waiting = self._parsers[netloc]
        refusing = build_from_crawler(self._parserimpl, self.crawler, _NOTHING_ALLOWED)
        self._parsers[netloc] = refusing
        self._stats.inc_value(f"robotstxt/exception_count/{type(exc)}")
        if isinstance(waiting, Deferred):
            waiting.callback(refusing)


def _text(user_agent: str | bytes) -> str:
    return user_agent if isinstance(user_agent, str) else user_agent.decode("latin-1")
