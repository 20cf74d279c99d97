#!/usr/bin/env python3
"""Matchers in Python as runners of `portcullis-bench` (benches/RUNNERS.md).

    pip install --target lib protego
    portcullis-bench conform --runner "protego=env PYTHONPATH=lib python3 benches/runners/python.py protego"

Each function below takes the text of a file and the agent, and returns what answers a URL; if the library
has them, also the crawl delay and the sitemaps of the file. Where a library fetches robots.txt itself, a second
function takes the origin and returns whether a page may be fetched.
"""

import gc
import platform
import sys
import time
from importlib.metadata import version
from urllib.parse import urlsplit

INPUT, OUTPUT = sys.stdin.buffer, sys.stdout.buffer


class Matcher:
    def __init__(self, allows, delay=None, sitemaps=None):
        self.allows, self.delay, self.sitemaps = allows, delay, sitemaps


def text(content):
    return content.decode("utf-8", "replace")


def path(url):
    parts = urlsplit(url)
    return (parts.path or "/") + ("?" + parts.query if parts.query else "")


def protego(content, agent):
    from protego import Protego

    rules = Protego.parse(text(content))
    return Matcher(lambda url: rules.can_fetch(url, agent), rules.crawl_delay(agent), rules.sitemaps)


def robotparser(content, agent):
    from urllib.robotparser import RobotFileParser

    rules = RobotFileParser()
    rules.parse(text(content).splitlines())
    rules.modified()
    return Matcher(lambda url: rules.can_fetch(agent, url), rules.crawl_delay(agent), rules.site_maps())


def fetched_by_robotparser(origin):
    from urllib.robotparser import RobotFileParser

    rules = RobotFileParser(origin + "/robots.txt")
    rules.read()
    return rules.can_fetch("bot", origin + "/page")


def robotspy(content, agent):
    from robots import RobotsParser

    rules = RobotsParser.from_string(text(content))
    return Matcher(lambda url: rules.can_fetch(agent, url))


def fetched_by_robotspy(origin):
    from robots import RobotsParser

    return RobotsParser.from_uri(origin + "/robots.txt").can_fetch("bot", origin + "/page")


def fastrobots(content, agent):
    from fastrobots import Robots

    rules = Robots.parse(text(content))
    return Matcher(lambda url: rules.allowed(path(url), agent), rules.crawl_delay(agent))


def fetched_by_fastrobots(origin):
    from fastrobots import fetch

    return fetch(origin).allowed("/page", "bot")


def fast_robotstxt(content, agent):
    from robotstxt import RobotsMatcher

    matcher = RobotsMatcher()
    return Matcher(lambda url: matcher.is_allowed(text(content), agent, url))


def jwm_robotstxt(content, agent):
    from jwm.robotstxt.googlebot import RobotsMatcher

    matcher = RobotsMatcher()
    return Matcher(lambda url: matcher.OneAgentAllowedByRobots(content, agent, url))


def gpyrobotstxt(content, agent):
    from gpyrobotstxt.robots_cc import RobotsMatcher

    return Matcher(lambda url: RobotsMatcher().one_agent_allowed_by_robots(content, agent, url))


def reppy2(content, agent):
    from reppy.parser import Rules

    rules = Rules("https://example.com/robots.txt", 200, content, sys.maxsize)
    return Matcher(lambda url: rules.allowed(url, agent), rules.delay(agent), rules.sitemaps)


def fetched_by_reppy2(origin):
    from reppy.cache import RobotsCache

    return RobotsCache().allowed(origin + "/page", "bot")


def robotstxt(content, agent):
    from robotstxt.processor import RobotsFile

    rules = RobotsFile(text(content))
    return Matcher(lambda url: not rules.test_url(url, agent)["disallowed"])


def respectscraper(content, agent):
    from respectscraper.robots import RobotsTxt

    rules = RobotsTxt.parse(text(content))
    return Matcher(lambda url: rules.check(url, agent)[0], rules.rules_for(agent)[2], rules.sitemaps)


def fetched_by_respectscraper(origin):
    import requests
    from respectscraper.robots import RobotsPolicy

    return RobotsPolicy(requests.Session(), "bot").decide(origin + "/page").allowed


def susbot(content, agent):
    from susbot import Analysis

    rules = Analysis(text(content))
    delay = rules.check_access(agent, "/")["crawlDelay"]
    return Matcher(lambda url: rules.allowed(agent, path(url)), delay)


def webcanon(content, agent):
    from webcanon.robots import evaluate_robots, parse_robots

    rules = parse_robots(text(content))
    allows = lambda url: evaluate_robots(rules, url, agent)[0].value.startswith("allowed")
    return Matcher(allows, sitemaps=rules.sitemaps)


# By name: the package on PyPI (None for what comes with Python), and the function.
LIBRARIES = {
    "protego": ("protego", protego),
    "robotparser": (None, robotparser),
    "robotspy": ("robotspy", robotspy),
    "fastrobots": ("fastrobots", fastrobots),
    "fast-robotstxt": ("fast-robotstxt", fast_robotstxt),
    "jwm.robotstxt": ("jwm.robotstxt", jwm_robotstxt),
    "gpyrobotstxt": ("gpyrobotstxt", gpyrobotstxt),
    "reppy2": ("reppy2", reppy2),
    "robotstxt": ("robotstxt", robotstxt),
    "respectscraper": ("respectscraper", respectscraper),
    "susbot": ("susbot", susbot),
    "webcanon": ("webcanon", webcanon),
}

# What fetches robots.txt.
FETCHES = {
    "robotparser": fetched_by_robotparser,
    "robotspy": fetched_by_robotspy,
    "fastrobots": fetched_by_fastrobots,
    "reppy2": fetched_by_reppy2,
    "respectscraper": fetched_by_respectscraper,
}

# What else a library can be asked.
TELLS = {
    "protego": "delays sitemaps",
    "robotparser": "delays sitemaps",
    "fastrobots": "delays",
    "reppy2": "delays sitemaps",
    "respectscraper": "delays sitemaps",
    "susbot": "delays",
    "webcanon": "sitemaps",
}


def say(line):
    OUTPUT.write(line.encode("utf-8", "replace") + b"\n")
    OUTPUT.flush()


def build(function, texts, agent):
    """Return a matcher or an error for each file, and the nanoseconds."""
    matchers = []
    start = time.perf_counter_ns()
    for content in texts:
        try:
            matchers.append(function(content, agent))
        except Exception as error:  # Any exception refuses the file.
            matchers.append(error)
    return matchers, time.perf_counter_ns() - start


def decide(matchers, urls):
    """Return a character for each URL, and the nanoseconds."""
    answers = []
    start = time.perf_counter_ns()
    for file, url in urls:
        try:
            answers.append("1" if matchers[file].allows(url) else "0")
        except Exception:  # The matcher refuses the file or cannot parse the URL.
            answers.append("?")
    return "".join(answers), time.perf_counter_ns() - start


def delay(matcher):
    if isinstance(matcher, Exception):
        return "?"
    return "-" if matcher.delay is None else "%g" % matcher.delay


def status(name, code, redirects):
    """Return the answer to a page if the request for robots.txt has this answer."""
    from loopback import Host, Server, body_of

    (origin,) = Server().place([Host(body_of(code), code, redirects)])
    try:
        return "1" if FETCHES[name](origin) else "0"
    except Exception:
        return "?"


def main(name):
    package, function = LIBRARIES[name]
    agent, texts, matchers, urls = "", [], [], []
    for line in INPUT:
        word, _, rest = line.rstrip(b"\n").decode().partition(" ")
        if word == "portcullis-bench":
            number = version(package) if package else "of Python " + platform.python_version()
            # WebAssembly has no network.
            fetches = " status" if name in FETCHES and sys.platform != "emscripten" else ""
            say("runner %s\t%s" % (number, TELLS.get(name, "") + fetches))
        elif word == "agent":
            agent = rest
        elif word == "files":
            texts = []
            for _ in range(int(rest)):
                size = int(INPUT.readline())
                texts.append(INPUT.read(size + 1)[:size])
        elif word == "build":
            matchers, nanoseconds = build(function, texts, agent)
            gc.freeze()  # Matchers stay in memory, and garbage collection of them would be timed.
            for file, matcher in enumerate(matchers):
                if isinstance(matcher, Exception):
                    say("refused %d %s" % (file, type(matcher).__name__))
            say("built %d" % nanoseconds)
        elif word == "urls":
            urls = []
            for _ in range(int(rest)):
                file, url = INPUT.readline().rstrip(b"\n").decode().split(" ", 1)
                urls.append((int(file), url))
        elif word == "decide":
            answers, nanoseconds = decide(matchers, urls)
            say("decided %d %s" % (nanoseconds, answers))
        elif word == "delays":
            say(" ".join(["delays"] + [delay(matcher) for matcher in matchers]))
        elif word == "sitemaps":
            for matcher in matchers:
                urls_ = [] if isinstance(matcher, Exception) else list(matcher.sitemaps or [])
                say(" ".join(["sitemaps"] + urls_))
        elif word == "status":
            say("status " + status(name, *map(int, rest.split())))
        else:
            sys.exit("python.py: no such request: %s" % word)


if __name__ == "__main__":
    main(sys.argv[1])
