#!/usr/bin/env python3
"""Crawlers as runners of `portcullis-bench` (benches/RUNNERS.md): what they take from a server on the loopback.

    portcullis-bench conform --seconds 600 --runner "wget=python3 benches/runners/crawlers.py wget"

Each URL of a list gets a host of its own, and one crawl is told to take all of them. A URL is allowed if its
host was asked for a page, and disallowed if it was asked for robots.txt alone. A crawler that always gives
one name gets files in which that name stands for the agent's.
"""

import html
import re
import shutil
import subprocess
import sys
import tempfile
import time
from importlib.metadata import version
from multiprocessing.pool import ThreadPool
from pathlib import Path

from loopback import ROBOTS, Host, Server, body_of

FOLDER = Path(__file__).resolve().parent
# The page that has the links, and one that nothing forbids: a crawl that does not take them failed.
START, CONTROL = "/start-of-the-crawl.html", "/control"
# These stay on one host, or take the first page of another before its robots.txt: a crawl for each URL.
OF_ONE_HOST = ("httrack", "linklint")
CRAWLS_AT_ONCE = 16


def run(*command, text=None):
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(command, cwd=folder, input=text, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def wget(start, _urls, _agent):
    run("wget", "--recursive", "--level=1", "--span-hosts", "--delete-after", "--tries=1", "--timeout=10", start)


def wget2(start, _urls, _agent):
    run("wget2", "--recursive", "--level=1", "--span-hosts", "--delete-after", "--tries=1", "--timeout=10", start)


def httrack(start, _urls, _agent):
    # One level, robots.txt always, no history.
    run("httrack", start, "-O", ".", "-q", "-r2", "-s2", "-R0", "-C0", "--disable-security-limits")


def linklint(start, urls, _agent):
    # It asks robots.txt for the first page too.
    origin = start.removesuffix(START)
    path = "/" + urls[0].removeprefix(origin).removeprefix("/")
    run("linklint", "-http", "-host", origin.removeprefix("http://"), "-doc", ".", path)


def page_of(urls):
    links = "".join('<a href="%s">link</a>\n' % html.escape(url) for url in urls)
    return ("<!doctype html><meta charset=utf-8><title>start</title>\n" + links).encode()


def script(name):
    """A crawl by a script of this folder, which reads URLs."""
    program = [sys.executable] if name.endswith(".py") else ["node"]
    return lambda _start, urls, agent: run(*program, str(FOLDER / name), agent, text="\n".join(urls).encode())


def said(*command):
    """The version in the first line that a program says."""
    found = subprocess.run(command, capture_output=True, text=True)
    return re.search(r"\d+(\.\d+)+(-\d+)?", found.stdout + found.stderr).group()


def of_npm(name):
    folder = subprocess.run(
        ["node", "-p", "require('%s/package.json').version" % name], capture_output=True, text=True
    )
    return folder.stdout.strip()


# By name: what crawls, what tells its version, and the name by which it always goes.
CRAWLERS = {
    "wget": (wget, lambda: said("wget", "--version"), "wget"),
    "wget2": (wget2, lambda: said("wget2", "--version"), "wget2"),
    "httrack": (httrack, lambda: said("httrack", "--version"), "httrack"),
    "linklint": (linklint, lambda: said("linklint", "-version"), "linklint"),
    "scrapy": (script("scrapy_crawl.py"), lambda: version("scrapy"), None),
    "crawlee-python": (script("crawlee_crawl.py"), lambda: version("crawlee"), None),
    "crawlee-javascript": (script("crawlee_crawl.cjs"), lambda: of_npm("crawlee"), None),
}


class Crawler:
    def __init__(self, name):
        self.crawl, self.version, self.name = CRAWLERS[name]
        self.server = Server()
        self.agent, self.texts, self.urls = "", [], []

    def renamed(self, content):
        """Put the crawler's own name in the place of the agent's, in user-agent lines."""
        if self.name is None:
            return content
        agent, name = self.agent.encode(), self.name.encode()
        spelled = lambda found: name.upper() if found.group().isupper() else name
        value = lambda found: re.sub(rb"\b" + re.escape(agent), spelled, found.group(2), flags=re.I)
        line = lambda found: found.group(1) + value(found)
        return re.sub(rb"(?im)^([ \t]*user-?agent)([^\r\n]*)", line, content)

    def can_be_asked(self, content, path):
        """Whether a request tells the answer, and the file is about the whole name."""
        if path.partition("?")[0].lower().startswith(ROBOTS):
            return False
        if self.name is None:
            return True
        lines = re.findall(rb"(?im)^[ \t]*user-?agent[ \t]*:[ \t]*([\w-]+)", content)
        tokens = [token.decode().lower() for token in lines]
        agent = self.agent.lower()
        return not any(token != agent and token in agent for token in tokens)

    def took(self, hosts, paths):
        """Crawl the path of each host, and return for each whether it was taken; None if it was not tried."""
        if self.crawl.__name__ in OF_ONE_HOST:
            origins = self.server.place(hosts)
            for host, path in zip(hosts, paths):
                host.pages[START] = page_of([path])
            with ThreadPool(CRAWLS_AT_ONCE) as pool:
                start = lambda it: self.crawl(it[0] + START, [it[0] + it[1]], self.agent)
                pool.map(start, zip(origins, paths), chunksize=1)
            is_taken = not hosts or any(host.targets for host in hosts)
        else:
            start, control = Host(status=404), Host(status=404)
            origins = self.server.place([start, control, *hosts])
            urls = [origins[1] + CONTROL] + [origin + path for origin, path in zip(origins[2:], paths)]
            start.pages[START] = page_of(urls)
            self.crawl(origins[0] + START, urls, self.agent)
            is_taken = CONTROL in control.targets
        self.server.place([])
        if not is_taken:
            raise RuntimeError("the crawl did not take the page that nothing forbids")
        return [host.took_page(but=START) or (False if host.took_robots() else None) for host in hosts]

    def answers(self):
        asked = []
        for file, url in self.urls:
            path = re.sub(r"^\w+://[^/?#]*", "", url)
            asked.append((self.texts[file], path, self.can_be_asked(self.texts[file], path)))
        put = [(content, path) for content, path, is_put in asked if is_put]
        took = iter(self.took([Host(self.renamed(content)) for content, _ in put], [path for _, path in put]))
        word = {True: "1", False: "0", None: "?"}
        return "".join(word[next(took)] if is_put else "-" for _, _, is_put in asked)

    def status(self, status, redirects):
        host = Host(body_of(status), status, redirects)
        return self.took([host], ["/page"])[0]


def say(line):
    sys.stdout.buffer.write(line.encode() + b"\n")
    sys.stdout.buffer.flush()


def main(name):
    crawler = Crawler(name)
    read = sys.stdin.buffer
    for line in read:
        word, _, rest = line.rstrip(b"\n").decode().partition(" ")
        if word == "portcullis-bench":
            say("runner %s\tstatus" % crawler.version())
        elif word == "agent":
            crawler.agent = rest
        elif word == "files":
            sizes = range(int(rest))
            crawler.texts = [read.read(int(read.readline()) + 1)[:-1] for _ in sizes]
        elif word == "build":
            say("built 0")
        elif word == "urls":
            lines = [read.readline().rstrip(b"\n").decode().split(" ", 1) for _ in range(int(rest))]
            crawler.urls = [(int(file), url) for file, url in lines]
        elif word == "decide":
            start = time.monotonic_ns()
            answers = crawler.answers()
            say("decided %d %s" % (time.monotonic_ns() - start, answers))
        elif word == "status":
            took = crawler.status(*map(int, rest.split()))
            say("status %s" % {True: "1", False: "0", None: "?"}[took])
        else:
            sys.exit("crawlers.py: no such request: %s" % word)


if __name__ == "__main__":
    main(sys.argv[1])
