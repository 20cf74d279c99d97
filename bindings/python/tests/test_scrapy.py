"""Tests of a Scrapy spider with a server on this machine."""

import http.server
import json
import subprocess
import sys
import threading

import pytest

pytest.importorskip("scrapy")

HOSTILE = b"\xef\xbb\xbf\0\xff" + b"a" * 5000 + b"\nUser-agent: *\nDisallow: /private\n"
HOSTILE += b"Disallow: /" + b"*a" * 50_000 + b"$\n"


class Site(http.server.BaseHTTPRequestHandler):
    """A server that answers by the name of the host, which is any of 127.0.0.0/8."""

    def do_GET(self):
        site = self.server.server_address[0]
        if self.path == "/moved.txt":
            return self.answer(200, b"User-agent: *\nDisallow: /private\n")
        if self.path != "/robots.txt":
            return self.answer(200, b"a page")
        if site == "127.0.0.1":
            self.send_response(301)
            self.send_header("Location", "/moved.txt")
            self.send_header("Content-Length", "0")
            return self.end_headers()
        if site == "127.0.0.2":
            return self.answer(503, b"<html>try again</html>")
        if site == "127.0.0.3":
            return self.answer(200, HOSTILE)
        return self.answer(404, b"User-agent: *\nDisallow: /\n")

    def answer(self, status, body):
        self.send_response(status)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


SPIDER = """
import json, sys, scrapy
from scrapy.crawler import CrawlerProcess

class Spider(scrapy.Spider):
    name = "pages"
    fetched = []

    async def start(self):
        for url in json.loads(sys.argv[1]):
            yield scrapy.Request(url, callback=self.parse)

    def parse(self, response):
        self.fetched.append(response.url)

process = CrawlerProcess({
    "ROBOTSTXT_OBEY": True, "USER_AGENT": "ExampleBot/1.0 (+https://example.com/bot)",
    "RETRY_TIMES": 0, "LOG_LEVEL": "ERROR", "TELNETCONSOLE_ENABLED": False, **json.loads(sys.argv[2]),
})
process.crawl(Spider)
process.start()
print(json.dumps(sorted(Spider.fetched)))
"""
PARSER = {"ROBOTSTXT_PARSER": "portcullis_robots.scrapy.PortcullisRobotParser"}
MIDDLEWARE = {
    **PARSER,
    "DOWNLOADER_MIDDLEWARES": {
        "scrapy.downloadermiddlewares.robotstxt.RobotsTxtMiddleware": None,
        "portcullis_robots.scrapy.PortcullisRobotsTxtMiddleware": 100,
    },
}


@pytest.fixture(scope="module")
def sites():
    servers = []
    for number in range(1, 5):
        try:
            server = http.server.ThreadingHTTPServer((f"127.0.0.{number}", 0), Site)
        except OSError:
            pytest.skip("this system has one loopback address only")
        threading.Thread(target=server.serve_forever, daemon=True).start()
        servers.append(server)
    yield [f"http://{server.server_address[0]}:{server.server_address[1]}" for server in servers]
    for server in servers:
        server.shutdown()


def crawl(sites, settings):
    urls = [f"{site}/{page}" for site in sites for page in ("open", "private")]
    # No server listens here.
    urls.append("http://127.0.0.9:9/open")
    command = [sys.executable, "-c", SPIDER, json.dumps(urls), json.dumps(settings)]
    finished = subprocess.run(command, capture_output=True, timeout=120, check=True)
    return json.loads(finished.stdout.splitlines()[-1])


def test_the_parser_follows_redirects_and_reads_hostile_files(sites):
    moved, _, hostile, missing = sites
    fetched = crawl(sites, PARSER)
    assert f"{moved}/open" in fetched and f"{moved}/private" not in fetched
    assert f"{hostile}/open" in fetched and f"{hostile}/private" not in fetched
    # Scrapy does not pass the status to a parser, so the page of a 404 counts as a file.
    assert f"{missing}/open" not in fetched


def test_the_middleware_reads_the_status(sites):
    moved, failing, hostile, missing = sites
    fetched = crawl(sites, MIDDLEWARE)
    assert f"{moved}/open" in fetched and f"{moved}/private" not in fetched
    assert f"{hostile}/open" in fetched and f"{hostile}/private" not in fetched
    assert {f"{missing}/open", f"{missing}/private"} <= set(fetched)
    assert not any(url.startswith(failing) for url in fetched)


def test_the_parser_alone():
    from portcullis_robots.scrapy import PortcullisRobotParser

    parser = PortcullisRobotParser.from_crawler(None, b"User-agent: *\nCrawl-delay: 2\nDisallow: /x")
    assert not parser.allowed("https://a.example/x", "ExampleBot")
    assert parser.allowed(b"https://a.example/y", b"ExampleBot/1.0")
    assert parser.crawl_delay(b"ExampleBot") == 2


def test_a_server_that_does_not_answer_allows_nothing():
    import scrapy.utils.test
    from twisted.internet.defer import Deferred

    from portcullis_robots.scrapy import PortcullisRobotsTxtMiddleware

    crawler = scrapy.utils.test.get_crawler(settings_dict={"ROBOTSTXT_OBEY": True, **PARSER})
    crawler.stats = crawler.stats or crawler._apply_settings() or crawler.stats
    middleware = PortcullisRobotsTxtMiddleware(crawler)
    waiting = Deferred()
    middleware._parsers["a.example"] = waiting
    middleware._robots_error(TimeoutError("no answer"), "a.example")
    assert waiting.called
    assert not middleware._parsers["a.example"].allowed("http://a.example/", "ExampleBot")
