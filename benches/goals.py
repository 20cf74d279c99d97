#!/usr/bin/env python3
"""Measures the project's goals on real data, and prints each as met or missed.

    portcullis-bench goals [DATA] [--rounds N] [--results FILE] [--strict] [--quick]
    portcullis-bench goals --instructions [PROGRAM [OTHER]]

DATA has robots.tar.gz, urls.txt.gz, urls-no-policy.txt.gz and paired/ with robots.tar.gz and urls.txt.gz.
By default PORTCULLIS_DATA names it, relative to the project's root (../shared/data if unset). GOALS below
is the list: what, the bar, and the measurements that give the value. Prints Markdown; --results FILE
also writes it there. Exits with 1 if an answer is wrong, and with --strict also if a goal is missed. --quick
takes small sizes, to try the script: its values mean nothing.
Needs wc, cp, shuf, 4 GB in TMPDIR and Python 3.9 or later. Leave the machine idle meanwhile.

--instructions counts the instructions of typical commands on made-up data instead, with Valgrind. PROGRAM
is a portcullis binary, by default one built here for a release. With OTHER, the counts of both are printed
side by side, and their ratio: keep the binary of the commit before, and compare. Counts do not depend on
the load and the clock of a machine, but on its processor and on the compiler. They are not times: caches and
branches do not count.
"""

import argparse
import gzip
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
AGENT, DIALECT = "Googlebot", "google"
# The copies of each line of the mixed list in the long lists; the URLs and the two sizes of growth.
SIZES = {"copies": 11, "urls": 1_000_000, "rules": (10, 100_000), "origins": (1_000, 1_000_000)}
QUICK = {"copies": 2, "urls": 2_000, "rules": (10, 1_000), "origins": (10, 300)}


def peer(*cell):
    """The median time of a peer over ours. A cell is data, model, order and peer."""
    return lambda measurements: measurements.peer(*cell)


def over(above, *below):
    """The median time of a process over the sum of others."""
    return lambda measurements: measurements.ms[above] / sum(measurements.ms[name] for name in below)


def growth(kind):
    """The median time with the larger size over that with the smaller one."""
    return lambda measurements: measurements.growth(kind)


def hostile(unit):
    """The most milliseconds (0) or MiB (1) of a hostile file."""
    return lambda measurements: measurements.hostile()[unit]


# What is measured; the bar; the value.
GOALS = [
    ("decide hot, paired, grouped; fast-robots over ours", ">=", 10, peer("paired", "decide-hot", "grouped", "fast-robots")),
    ("decide hot, mixed, shuffled; fast-robots over ours", ">=", 25, peer("mixed", "decide-hot", "shuffled", "fast-robots")),
    ("the same with the origin looked up", ">=", 15, peer("mixed", "batch", "shuffled", "fast-robots")),
    ("parse and compile, mixed; fast-robots over ours", ">=", 15, peer("mixed", "compile", None, "fast-robots")),
    ("parse and compile, mixed; texting_robots over ours", ">=", 10, peer("mixed", "compile", None, "texting_robots")),
    ("first touch, mixed; texting_robots over ours", ">=", 8, peer("mixed", "first-touch", "shuffled", "texting_robots")),
    ("count, one thread, grouped; over `wc -l`", "<=", 6, over("count grouped", "wc grouped")),
    ("count, one thread, shuffled; over `wc -l`", "<=", 12, over("count", "wc")),
    ("filter to a file, one thread; over count and `cp`", "<=", 1.5, over("filter", "count", "cp")),
    ("filter to a file, two threads; over count and `cp`", "<=", 1.5, over("filter -j 2", "count -j 2", "cp")),
    ("count, one thread over two", ">=", 1.85, over("count", "count -j 2")),
    ("count with 100,000 literal rules over 10", "<=", 2, growth("literal")),
    ("count with 100,000 rules of one star over 10", "<=", 2, growth("star")),
    ("count with 1,000,000 origins over 1,000", "<=", 3, growth("origins")),
    ("hostile 500 KiB, one URL of 2 KB: whole process, ms", "<=", 20, hostile(0)),
    ("the same: memory, MiB", "<=", 32, hostile(1)),
]


class Wrong(Exception):
    """An answer that is not the expected one."""


class Measurements:
    def __init__(self, work, arguments):
        self.work, self.data, self.rounds = work, arguments.data.resolve(), arguments.rounds
        self.program, self.bench, self.peers_program = arguments.program, arguments.bench, arguments.peers
        self.sizes = QUICK if arguments.quick else SIZES
        self.reports, self.samples, self.memory = {}, {}, {}
        self.answers = []

    @property
    def ms(self):
        return {name: statistics.median_high(times) for name, times in self.samples.items()}

    def measure(self):
        # A process counts the memory of the one that started it too, so this is first, while it is small.
        self.hostile_files()
        self.unpack()
        self.peers()
        self.lists()
        self.rules()
        self.origins()

    def unpack(self):
        for name in ("robots", "paired/robots"):
            with tarfile.open(self.data / (name + ".tar.gz")) as archive:
                archive.extractall(self.work / name)
        for name in ("urls.txt", "urls-no-policy.txt", "paired/urls.txt"):
            (self.work / name).write_bytes(gzip.open(self.data / (name + ".gz")).read())
        mixed = (self.work / "urls.txt").read_bytes().rstrip(b"\n") + b"\n"
        mixed += (self.work / "urls-no-policy.txt").read_bytes().rstrip(b"\n") + b"\n"
        (self.work / "mixed.txt").write_bytes(mixed)
        os.sync()  # Otherwise the system would write to the disk while something is timed.

    def peers(self):
        models = {"paired": ["decide-hot"], "mixed": ["compile", "first-touch", "decide-hot", "batch"]}
        inputs = {"paired": ("paired/robots", "paired/urls.txt"), "mixed": ("robots", "mixed.txt")}
        for data, (robots, urls) in inputs.items():
            report = self.work / (data + ".json")
            command = [self.peers_program, "--robots", self.work / robots, "-a", AGENT, "--dialect", DIALECT]
            command += ["--rounds", self.rounds, "--report", report, self.work / urls]
            flags = {"--engine": ["portcullis", "fast-robots", "texting_robots"], "--model": models[data]}
            for flag, names in flags.items():
                command += [word for name in names for word in (flag, name)]
            say("%s data: matchers" % data)
            subprocess.run([str(word) for word in command], stdout=subprocess.DEVNULL, check=True)
            report = self.reports[data] = json.loads(report.read_text())
            facts = report["corpus"]
            differ = {it["name"]: it["verification"]["differing"] for it in report["engines"]}
            counts = (data, facts["files"], facts["questions"], differ)
            self.answers.append("%s: %d files, %d URLs by the oracle; answers that differ: %s" % counts)

    def time(self, works):
        """Runs all works by turns, and keeps the milliseconds and the peak MiB of each. A work is a command,
        and what its output has to be (None for any)."""
        for _ in range(self.rounds):
            for name, (command, expected) in works.items():
                ms, mib, output = timed(command)
                if expected is not None and output != expected:
                    raise Wrong("%s: %r, expected %r" % (name, output, expected))
                self.samples.setdefault(name, []).append(ms)
                self.memory[name] = max(mib, self.memory.get(name, 0))

    def compiled(self, robots):
        set_ = robots.with_suffix(".pcs")
        size = "unlimited" if robots.name.startswith("rules") else "500KiB"
        flags = ["--dialect", DIALECT, "--max-robots-size", size, "--summary", "none"]
        run([self.program, "compile", *flags, "-o", set_, robots])
        return set_

    def filter(self, policies, urls, *flags, threads=1):
        return [self.program, "filter", "--summary", "none", "-j", threads, *policies, "-a", AGENT, *flags, urls]

    def count(self, set_, urls, threads=1):
        return self.filter(["-p", set_], urls, "-c", threads=threads)

    def lists(self):
        say("mixed data: lists and filter")
        set_ = self.compiled(self.work / "robots")
        lines = (self.work / "mixed.txt").read_bytes().splitlines(keepends=True)
        hosts = {}
        for line in lines:
            hosts.setdefault(b"/".join(line.split(b"/")[:3]), []).append(line)
        grouped, shuffled, kept, copy = (self.work / name for name in ("grouped", "shuffled", "kept", "copy"))
        with open(grouped, "wb") as out:  # A host's URLs in turn, so that none follows itself.
            for host in hosts.values():
                out.writelines(host * self.sizes["copies"])
        lines *= self.sizes["copies"]
        random.Random(9309).shuffle(lines)
        with open(shuffled, "wb") as out:
            out.writelines(lines)
        number = len(lines)
        del lines, hosts
        facts = self.reports["mixed"]["corpus"]
        if facts["left_out"]["not_text"]:
            raise Wrong("lines that are not UTF-8 were not judged")
        allowed = b"%d\n" % (facts["allowed"] * self.sizes["copies"])
        filter_ = lambda threads, out: self.filter(["-p", set_], shuffled, "-o", out, threads=threads)
        run(filter_(2, kept))
        # `classify` reads CRLF as an end of line, and writes LF.
        same = "cmp <(%s classify --summary none -a %s -p %s %s | sed -n 's/^allow\\t//p') <(sed 's/\\r$//' %s)"
        same %= (self.program, AGENT, set_, shuffled, kept)
        if subprocess.run(["bash", "-c", same]).returncode != 0:
            raise Wrong("filter keeps other lines than classify allows")
        os.sync()
        wc = lambda path: (["wc", "-l", path], b"%d %s\n" % (number, str(path).encode()))
        self.time({
            "wc grouped": wc(grouped),
            "count grouped": (self.count(set_, grouped), allowed),
            "wc": wc(shuffled),
            "count": (self.count(set_, shuffled), allowed),
            "count -j 2": (self.count(set_, shuffled, 2), allowed),
            "filter": (filter_(1, copy), None),
            "cp": (["cp", kept, copy], None),
            "filter -j 2": (filter_(2, copy), None),
        })
        if copy.stat().st_size != kept.stat().st_size:
            raise Wrong("a timed filter kept other bytes")
        facts = (number, allowed.decode().strip())
        self.answers.append("lists: %d lines, %s allowed, as by the oracle; filter keeps what classify allows" % facts)
        for path in (grouped, shuffled, kept, copy):
            path.unlink()

    def rules(self):
        """A file with many rules, and a million URLs of which half match one. Both sizes allow the same
        URLs by construction: a URL that matches no rule, or whose rule is an Allow."""
        say("growth with rules")
        works = {}
        for kind, star in (("literal", ""), ("star", "*")):
            for rules in self.sizes["rules"]:
                draw = random.Random(rules)
                word = lambda: "w%x" % draw.randrange(997)
                patterns = ["/%s/%s%s%d/" % (word(), star, word(), rule) for rule in range(rules)]
                fields = ["Allow" if rule % 3 == 0 else "Disallow" for rule in range(rules)]
                robots = self.work / ("rules-%s-%d" % (kind, rules))
                urls = self.work / ("urls-%s-%d" % (kind, rules))
                robots.mkdir()
                lines = "".join("%s: %s\n" % rule for rule in zip(fields, patterns))
                (robots / "example.com").write_text("User-agent: *\n" + lines)
                allowed = 0
                with open(urls, "w") as out:
                    for number in range(self.sizes["urls"]):
                        rule = draw.randrange(rules)
                        path = patterns[rule].replace("*", "x/y-")
                        misses = number % 2 == 1
                        out.write("https://example.com%s%s\n" % ("/zz" if misses else "", path))
                        allowed += misses or rule % 3 == 0
                works["%s %d" % (kind, rules)] = (self.count(self.compiled(robots), urls), b"%d\n" % allowed)
        self.time(works)
        self.answers.append("growth with rules: as many URLs allowed as were made to be")

    def origins(self):
        say("growth with origins")
        works = {}
        for hosts in self.sizes["origins"]:
            folder = self.work / ("origins-%d" % hosts)
            sizes = ["--hosts", hosts, "--urls", self.sizes["urls"]]
            run([self.bench, "synth", "--seed", 9309, *sizes, "--format", "warc", "--out", folder])
            archive = next(path for path in folder.iterdir() if "warc" in path.name)
            set_ = folder / "set.pcs"
            run([self.program, "compile", "--summary", "none", "-o", set_, archive])
            works["origins %d" % hosts] = (self.count(set_, folder / "urls.txt"), None)
        self.time(works)
        self.answers.append("origins and hostile files are not judged here; tests compare them with the oracle")

    def hostile_files(self):
        say("hostile files")
        draw = random.Random(1)
        word = lambda letters, least, most: "".join(draw.choices(letters, k=draw.randint(least, most)))
        letters = "abcdefghijklmnopqrstuvwxyz/-"
        shapes = {
            "random literals joined by stars": (
                "abcdefgh/",
                lambda _: "/*" + "*".join(word("abcdefgh/", 2, 2) for _ in range(draw.randint(2, 6))),
            ),
            "many rules of 900 stars": ("a0123456789", lambda rule: "/" + "a*" * 900 + str(rule)),
            "distinct literals behind stars": (letters, lambda _: "/*" + word(letters, 8, 12)),
            "shared /*/*/*/": ("abcd/", lambda _: "/*/*/*/" + word("abcd/", 6, 12)),
            "twelve pairs of two letters, and w": (
                "xyw",
                lambda rule: "/" + "".join("*" + word("xy", 2, 2) for _ in range(12)) + "*w%d" % rule,
            ),
            "pairs of words": (
                "abcdefgh",
                lambda _: "*%s*%s*i" % (word("abcdefgh", 4, 4), word("abcdefgh", 4, 4)),
            ),
            "literals that nearly match everywhere": ("mn0123456789", lambda rule: "*mmn%d*o" % rule),
        }
        works = {}
        for name, (letters, pattern) in shapes.items():
            robots, size, lines = self.work / ("hostile-%d" % len(works)), 14, ["User-agent: *\n"]
            while size < 500 * 1024 - 2_000:
                lines.append("%s: %s\n" % ("Allow" if len(lines) % 3 == 0 else "Disallow", pattern(len(lines))))
                size += len(lines[-1])
            robots.write_text("".join(lines))
            like = lines[-1].split(": ")[1].strip().lstrip("/").replace("*", letters[0])
            paths = {
                "random": word(letters, 2_028, 2_028),
                "one letter": letters[0] * 2_028,
                "like a rule": (like * 2_028)[:2_028],
            }
            for kind, path in paths.items():
                # `check` would say by its status that the URL is disallowed, so it is counted instead.
                url = self.work / ("url-%d" % len(works))
                url.write_text("https://example.com/" + path + "\n")
                command = self.filter(["--robots", robots, "--dialect", DIALECT], url, "-c")
                works["hostile: %s; %s" % (name, kind)] = (command, None)
        self.time(works)

    def peer(self, data, model, order, peer):
        engines = {engine["name"]: engine for engine in self.reports[data]["engines"]}
        if engines["portcullis"]["verification"]["status"] != "verified":
            raise Wrong("portcullis: %s" % engines["portcullis"]["verification"])
        is_it = lambda result: (result["model"], result["order"]) == (model, order)
        median = lambda name: next(it["median_ns"] for it in engines[name]["results"] if is_it(it))
        return median(peer) / median("portcullis")

    def growth(self, kind):
        few, many = (self.ms[name] for name in self.samples if name.split()[0] == kind)
        return many / few

    def hostile(self):
        names = [name for name in self.samples if name.startswith("hostile")]
        return max(self.ms[name] for name in names), max(self.memory[name] for name in names)


def say(what):
    print("goals: " + what, file=sys.stderr)


def run(command):
    subprocess.run([str(word) for word in command], check=True, stderr=subprocess.DEVNULL)


def timed(command):
    """Returns the milliseconds, the peak of memory in MiB and the output of a process."""
    command = [str(word) for word in command]
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    ms = (time.perf_counter() - start) * 1e3
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise Wrong("%s ended with %d" % (" ".join(command), process.returncode))
    return ms, usage.ru_maxrss / 1024, output


def instructions(programs, bench, work):
    """Prints the instructions of each command, by one program or two."""
    if not shutil.which("valgrind"):
        sys.exit("error: valgrind is missing; install your system's package (apt-get install valgrind)")
    sizes = ["--seed", 9309, "--hosts", 500, "--urls", 50_000]
    run([bench, "synth", *sizes, "--out", work / "c"])
    for name in ("compile", "filter -c", "classify"):
        counts = []
        for number, program in enumerate(programs):
            set_ = work / ("%d.pcs" % number)  # A set has the format of its program.
            rest = ["-o", set_, work / "c/robots"]
            if name != "compile":
                rest = ["-p", set_, "-a", AGENT, work / "c/urls.txt"]
            command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", program]
            command += [*name.split(), "-j", 1, "--summary", "none", *rest]
            words = [str(word) for word in command]
            said = subprocess.run(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=True).stderr
            counts.append(int(said.split(b"Collected : ")[1].split()[0]))
        ratio = "  × %.3f" % (counts[1] / counts[0]) if len(counts) == 2 else ""
        print("%-10s %s%s" % (name, " ".join(map(str, counts)), ratio))


def markdown(measurements, arguments):
    rows, missed = [], 0
    for what, relation, bar, value in GOALS:
        value = value(measurements)
        is_met = value >= bar if relation == ">=" else value <= bar
        missed += not is_met
        bar = "%s %g" % ({">=": "at least", "<=": "at most"}[relation], bar)
        rows.append("| %s | %s | %.2f | %s |" % (what, bar, value, "met" if is_met else "**missed**"))
    machine = measurements.reports["mixed"]["machine"]
    describe = ["git", "describe", "--always", "--dirty"]
    commit = subprocess.run(describe, cwd=ROOT, stdout=subprocess.PIPE).stdout.decode().strip()
    by = "Made by `%s`; [METHODOLOGY.md](METHODOLOGY.md) says what is measured and where it favours us."
    facts = "%(processor)s, %(cores)s cores, load %(load)s, %(system)s; %(compiler)s; %(date)s" % machine
    lines = ["# Results", "", by % arguments, ""]
    lines += ["%s; commit %s; median of %d rounds." % (facts, commit, measurements.rounds), ""]
    lines += ["%d of %d goals are met." % (len(GOALS) - missed, len(GOALS)), ""]
    lines += ["| what | goal | measured | |", "|---|---|---|---|", *rows]
    results = engine_results(measurements, "portcullis")
    head = [it["model"] + (", " + it["order"] if it["order"] else "") for it in results]
    lines += ["", "Nanoseconds per file (compile) or URL, mixed data:", ""]
    lines += ["| engine | %s |" % " | ".join(head), "|---|" + "---|" * len(head)]
    for engine in measurements.reports["mixed"]["engines"]:
        medians = ["%.1f" % result["median_ns"] for result in engine["results"]]
        lines.append("| %s | %s |" % (engine["name"], " | ".join(medians)))
    lines += ["", "| process | ms (least–most) | MiB |", "|---|---|---|"]
    for name, times in measurements.samples.items():
        mib = "%.1f" % measurements.memory[name] if name.startswith("hostile") else ""
        lines.append("| %s | %.1f (%.1f–%.1f) | %s |" % (name, measurements.ms[name], min(times), max(times), mib))
    lines += ["", *("- " + line for line in measurements.answers)]
    return "\n".join(lines) + "\n", missed


def engine_results(measurements, name):
    return next(it["results"] for it in measurements.reports["mixed"]["engines"] if it["name"] == name)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="?", default=ROOT / os.environ.get("PORTCULLIS_DATA", "../shared/data"), type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--results", type=Path)
    parser.add_argument("--strict", action="store_true")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--instructions", nargs="*", type=Path, metavar="PROGRAM")
    parser.add_argument("--program", type=Path, help="portcullis [default: built for a release]")
    parser.add_argument("--bench", type=Path, help="portcullis-bench [default: built for a release]")
    parser.add_argument("--peers", type=Path, default=ROOT / "scripts/peers", help="[default: scripts/peers]")
    arguments = parser.parse_args()
    if not arguments.program or not arguments.bench:
        build = "cargo build --locked --quiet --release --bins -p portcullis-cli -p portcullis-bench"
        subprocess.run(build.split(), cwd=ROOT, check=True)
        release = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release"
        arguments.program = arguments.program or release / "portcullis"
        arguments.bench = arguments.bench or release / "portcullis-bench"
    arguments.program, arguments.bench = arguments.program.resolve(), arguments.bench.resolve()
    if arguments.instructions is not None:
        with tempfile.TemporaryDirectory() as work:
            programs = [path.resolve() for path in arguments.instructions] or [arguments.program]
            return instructions(programs, arguments.bench, Path(work))
    if not (arguments.data / "paired/robots.tar.gz").is_file():
        sys.exit("error: %s has no paired/robots.tar.gz; name a folder of data: goals DATA" % arguments.data)
    with tempfile.TemporaryDirectory() as work:
        measurements = Measurements(Path(work), arguments)
        try:
            measurements.measure()
            text, missed = markdown(measurements, "portcullis-bench goals DATA")
        except Wrong as wrong:
            sys.exit("WRONG: %s" % wrong)
    print(text, end="")
    if arguments.results:
        arguments.results.write_text(text)
    sys.exit(1 if missed and arguments.strict else 0)


if __name__ == "__main__":
    main()
