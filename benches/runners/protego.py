#!/usr/bin/env python3
"""Protego, Scrapy's matcher, as a runner of `portcullis-bench run` (benches/RUNNERS.md).

    python3 -m venv venv && venv/bin/pip install protego
    portcullis-bench run ... --runner "protego=venv/bin/python benches/runners/protego.py"
"""

import gc
import sys
import time
from importlib.metadata import version

# This file has the module's name, so its own folder must not be searched.
sys.path.pop(0)
from protego import Protego  # noqa: E402

INPUT, OUTPUT = sys.stdin.buffer, sys.stdout.buffer


def say(line):
    OUTPUT.write(line.encode() + b"\n")
    OUTPUT.flush()


def build(texts):
    """Return a matcher or an error for each file, and the nanoseconds."""
    # Protego takes text, so the bytes are decoded.
    matchers = []
    start = time.perf_counter_ns()
    for bytes in texts:
        try:
            matchers.append(Protego.parse(bytes.decode("utf-8", "replace")))
        except Exception as error:  # Any exception refuses the file.
            matchers.append(error)
    return matchers, time.perf_counter_ns() - start


def decide(matchers, agent, urls):
    """Return a character for each URL, and the nanoseconds."""
    answers = []
    start = time.perf_counter_ns()
    for file, url in urls:
        try:
            answers.append("1" if matchers[file].can_fetch(url, agent) else "0")
        except Exception:  # The matcher refuses the file or cannot parse the URL.
            answers.append("?")
    return "".join(answers), time.perf_counter_ns() - start


def main():
    agent, texts, matchers, urls = "", [], [], []
    for line in INPUT:
        word, _, rest = line.rstrip(b"\n").decode().partition(" ")
        if word == "portcullis-bench":
            say("runner " + version("protego"))
        elif word == "agent":
            agent = rest
        elif word == "files":
            texts = []
            for _ in range(int(rest)):
                bytes = int(INPUT.readline())
                texts.append(INPUT.read(bytes + 1)[:bytes])
        elif word == "build":
            matchers, nanoseconds = build(texts)
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
            answers, nanoseconds = decide(matchers, agent, urls)
            say("decided %d %s" % (nanoseconds, answers))
        else:
            sys.exit("protego.py: no such request: %s" % word)


if __name__ == "__main__":
    main()
