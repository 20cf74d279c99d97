"""Compares the CPU time of the package with Protego and the command-line program.

    python benches/speed.py ROBOTS_DIR URLS [PROGRAM]

ROBOTS_DIR has files named by host, URLS their URLs, one per line. PROGRAM is `portcullis`. Its
`filter --count` over the same list is the Rust call with only the splitting of lines added. Each
figure is the least of several rounds.
"""

import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time
from urllib.parse import urlsplit

import protego
import pyarrow as pa

from portcullis_robots import PolicySet, RobotsTxt

ROUNDS = 3
AGENT = "GPTBot"


def least(work, count):
    """Return the microseconds of CPU time per item."""
    best = float("inf")
    for _ in range(ROUNDS):
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return best / count * 1e6


def one_file(robots, urls):
    bodies, questions = {}, []
    for url in urls:
        host = urlsplit(url).netloc
        path = robots / host
        if host not in bodies:
            bodies[host] = path.read_bytes() if host and path.is_file() else None
        if bodies[host] is not None:
            questions.append((host, url))
    bodies = {host: body for host, body in bodies.items() if body is not None}
    texts = [body.decode("utf-8-sig", errors="ignore") for body in bodies.values()]
    parse = least(lambda: [RobotsTxt(body) for body in bodies.values()], len(bodies))
    parse_protego = least(lambda: [protego.Protego.parse(text) for text in texts], len(texts))
    ours = {host: RobotsTxt(body).can_fetch for host, body in bodies.items()}
    theirs = {host: protego.Protego.parse(text).can_fetch for host, text in zip(bodies, texts)}
    asked = [(ours[host], url) for host, url in questions]
    asked_protego = [(theirs[host], url) for host, url in questions]

    def decide():
        for can_fetch, url in asked:
            can_fetch(AGENT, url)

    def decide_protego():
        for can_fetch, url in asked_protego:
            can_fetch(url, AGENT)

    fetch, fetch_protego = least(decide, len(asked)), least(decide_protego, len(asked))
    print(f"{len(bodies)} files, {len(asked)} URLs, agent {AGENT}")
    print(f"parse      {parse:8.2f} us, protego {parse_protego:8.2f} us: {parse_protego / parse:.1f} x")
    print(f"can_fetch  {fetch:8.3f} us, protego {fetch_protego:8.3f} us: {fetch_protego / fetch:.1f} x")


def bulk(robots, listed, urls, program):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "set.pcs")
        PolicySet.compile(robots, output=path, strictness="lenient")
        classifier = PolicySet.open(path).for_agents([AGENT])
        array = pa.array(urls)
        call = least(lambda: classifier.classify(array), len(array)) * 1000
        print(f"classify   {call:8.1f} ns per URL over an Arrow array, one thread")
        if program is None:
            return
        best = float("inf")
        for _ in range(ROUNDS):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            command = [program, "filter", "--count", "-j", "1", "--summary", "none", "-p", path, "-a", AGENT]
            subprocess.run([*command, listed], check=True, stdout=subprocess.DEVNULL)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            best = min(best, spent)
        rust = best / len(urls) * 1e9
        print(f"program    {rust:8.1f} ns per URL, one thread: Python takes {call / rust:.2f} x")


def main():
    robots, listed = pathlib.Path(sys.argv[1]), sys.argv[2]
    lines = pathlib.Path(listed).read_text(encoding="utf-8", errors="replace").split("\n")
    urls = [line for line in lines if line]
    one_file(robots, urls)
    bulk(robots, listed, urls, sys.argv[3] if len(sys.argv) > 3 else None)


if __name__ == "__main__":
    main()
