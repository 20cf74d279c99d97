"""Tests of one file, and of the replacements for other parsers."""

import datetime
import pathlib
import urllib.robotparser

import pytest
from conftest import SAMPLE

from portcullis_robots import RobotsTxt
from portcullis_robots.protego import Protego, RequestRate, VisitTime
from portcullis_robots.robotparser import RobotFileParser

FILE = """\
User-agent: a
Crawl-delay: 2.5
Request-rate: 3/2m 0100-0230
Visit-time: 0400-0845
Disallow: /private
Allow: /private/terms$

User-agent: *
Crawl-delay: 7
Request-rate: 1/5
Disallow: /
Sitemap: https://a.example/sitemap.xml
Host: a.example
"""


def test_decisions():
    robots = RobotsTxt(FILE)
    assert robots.can_fetch("a", "https://a.example/private/terms")
    assert not robots.can_fetch("A", "/private/terms?")
    assert not robots.can_fetch("a", b"/private")
    assert robots.can_fetch("a", "/")
    assert not robots.can_fetch("Mozilla/5.0 (compatible; b/1.0)", "/")
    assert not robots.can_fetch("a", "mailto:a@b.example")
    assert not robots.can_fetch("a", "/private\ud800")
    assert not robots.can_fetch("", "/")
    for number in range(200):
        assert not robots.can_fetch(f"bot{number}", "/")
    with pytest.raises(TypeError):
        robots.can_fetch("a", None)


def test_the_rest_of_a_file():
    robots = RobotsTxt(FILE.encode())
    assert [robots.crawl_delay(agent) for agent in ("a", "b")] == [2.5, 7]
    assert RobotsTxt("User-agent: *\nCrawl-delay: soon\nCrawl-delay: -1\n").crawl_delay("a") is None
    assert RobotsTxt("User-agent: *\nCrawl-delay: 3\n").crawl_delay("a") == 3
    assert robots.sitemaps == ["https://a.example/sitemap.xml"]
    assert robots.values("Request-Rate", "a") == ["3/2m 0100-0230"]
    assert robots.values("host") == ["a.example"]
    assert (robots.values("host", "a"), robots.values("nothing")) == ([], [])


def test_explanations():
    told = RobotsTxt(FILE).explain("a", "https://a.example/private/terms")
    assert (told["verdict"], told["reason"], told["line"]) == ("allow", "rule", 6)
    assert (told["rule"], told["group"], told["path"]) == ("/private/terms$", "a", "/private/terms")
    assert [lost["text"] for lost in told["lost"]] == ["Disallow: /private"]
    assert RobotsTxt(FILE).explain("a", "http://")["problem"]
    assert RobotsTxt("").explain("a", "/x")["reason"] == "no-rules"
    always = RobotsTxt(FILE).explain("b", "/robots.txt")
    assert (always["reason"], always["rule"]) == ("robots-txt", None)


def test_dialects_and_limits():
    text = "User-agent: *\nDisallow: /a\nAllow: /a/b\n"
    assert RobotsTxt(text).can_fetch("x", "/a/b")
    assert not RobotsTxt(text, dialect="koster1996").can_fetch("x", "/a/b")
    assert RobotsTxt("#" * 600_000 + "\n" + text).can_fetch("x", "/a")
    assert not RobotsTxt("#" * 600_000 + "\n" + text, max_bytes=None).can_fetch("x", "/a")
    with pytest.raises(ValueError, match="use one of .*rfc9309"):
        RobotsTxt("", dialect="rfc")
    with pytest.raises(TypeError):
        RobotsTxt(None)


@pytest.mark.parametrize("path", sorted((SAMPLE / "robots").iterdir()), ids=lambda path: path.name)
def test_any_bytes_are_a_file(path: pathlib.Path):
    body = path.read_bytes()
    for cut in (len(body), len(body) // 2, 1):
        robots = RobotsTxt(body[:cut])
        assert isinstance(robots.can_fetch("GPTBot", "/x"), bool)
        assert robots.explain("GPTBot", "/x")["verdict"] in ("allow", "disallow")


def test_protego():
    ours = Protego.parse(FILE)
    assert ours.can_fetch("https://a.example/private/terms", "a")
    assert not ours.can_fetch("https://a.example/private", "a")
    assert (ours.crawl_delay("a"), ours.preferred_host) == (2.5, "a.example")
    times = (datetime.time(1), datetime.time(2, 30))
    assert ours.request_rate("a") == RequestRate(3, 120, *times)
    assert ours.visit_time("a") == VisitTime(datetime.time(4), datetime.time(8, 45))
    assert (ours.request_rate("b"), ours.visit_time("b")) == (RequestRate(1, 5, None, None), None)
    original = pytest.importorskip("protego").Protego.parse(FILE)
    for agent in ("a", "b", "Mozilla/5.0 (compatible; a/1)"):
        for method in ("crawl_delay", "request_rate", "visit_time"):
            assert getattr(ours, method)(agent) == getattr(original, method)(agent)
        for url in ("/", "/private", "/private/terms", "/private/terms/"):
            url = f"https://a.example{url}"
            assert ours.can_fetch(url, agent) == original.can_fetch(url, agent)
    assert list(ours.sitemaps) == list(original.sitemaps)
    for rate in ("1/0", "x", "1/5w", "1/5 2500-0100", "0/5", "1/5 01-02"):
        text = f"User-agent: *\nRequest-rate: {rate}\n"
        assert Protego.parse(text).request_rate("a") is None
        assert pytest.importorskip("protego").Protego.parse(text).request_rate("a") is None


def test_robotparser():
    ours, original = RobotFileParser(), urllib.robotparser.RobotFileParser()
    # No URL may be fetched before a file was read.
    assert not ours.can_fetch("a", "/") and not original.can_fetch("a", "/")
    for parser in (ours, original):
        parser.parse(FILE.splitlines())
    assert isinstance(ours, urllib.robotparser.RobotFileParser)
    for agent in ("a", "b", "a/1.0"):
        for url in ("https://a.example/", "https://a.example/private", "https://a.example/private/terms"):
            assert ours.can_fetch(agent, url) == original.can_fetch(agent, url)
        for method in ("crawl_delay", "request_rate"):
            assert getattr(ours, method)(agent) == getattr(original, method)(agent)
    assert ours.site_maps() == original.site_maps()
    for value in ("²", "9" * 5000):
        ours.parse(["User-agent: *", f"Crawl-delay: {value}", f"Request-rate: {value}/5"])
        assert (ours.crawl_delay("a"), ours.request_rate("a")) == (None, None)
    ours.allow_all = True
    assert ours.can_fetch("b", "/")
    ours.disallow_all = True
    assert not ours.can_fetch("b", "/")


def differences(real_files, parse, ours):
    """Return the decisions on real files, the differing ones, and the hosts where they differ."""
    asked, different, hosts = 0, 0, set()
    agents = ["Googlebot", "GPTBot", "CCBot", "MJ12bot", "ExampleBot"]
    urls = {}
    with open(real_files / "urls.txt", encoding="utf-8", errors="replace") as lines:
        for line in lines:
            host = line.split("/")[2]
            if len(urls.setdefault(host, [])) < 3:
                urls[host].append(line.strip())
    for host in sorted(urls)[::6]:
        path = real_files / "robots" / host
        body = path.read_bytes() if path.exists() else b""
        if not 0 < len(body) < 100_000:
            continue
        original, own = parse(body), ours(body)
        for url in urls[host]:
            for agent in agents:
                asked += 1
                if original(agent, url) != own(agent, url):
                    different += 1
                    hosts.add(host)
    return asked, different, len(hosts)


def test_protego_on_real_files(real_files, capsys):
    protego = pytest.importorskip("protego")

    def parse(body):
        parsed = protego.Protego.parse(body.decode("utf-8-sig", errors="ignore"))
        return lambda agent, url: parsed.can_fetch(url, agent)

    def ours(body):
        parsed = Protego.parse(body)
        return lambda agent, url: parsed.can_fetch(url, agent)

    asked, different, hosts = differences(real_files, parse, ours)
    with capsys.disabled():
        print(f"\nprotego: {different} of {asked} decisions differ, on {hosts} hosts")
    assert different < asked / 200


def test_robotparser_on_real_files(real_files, capsys):
    def make(kind):
        def parse(body):
            parsed = kind()
            parsed.parse(body.decode("utf-8-sig", errors="ignore").splitlines())
            return parsed.can_fetch

        return parse

    counted = differences(real_files, make(urllib.robotparser.RobotFileParser), make(RobotFileParser))
    asked, different, hosts = counted
    with capsys.disabled():
        print(f"\nrobotparser: {different} of {asked} decisions differ, on {hosts} hosts")
    assert different < asked / 50
