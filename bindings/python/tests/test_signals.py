"""Tests of signals: Ctrl-C ends a long call, and reading a truncated set is an error."""

import gzip
import json
import os
import signal
import subprocess
import sys
import time

import pytest

from portcullis_robots import PolicySet

pytestmark = pytest.mark.skipif(os.name != "posix", reason="this system has no such signals")

# The most seconds from Ctrl-C to the end of the process. The calls take longer.
ENDS_IN = 4

HOSTS = 60_000


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    """Captures that take long to compile."""
    path = tmp_path_factory.mktemp("archive") / "captures.jsonl.gz"
    with gzip.open(path, "wt", compresslevel=1) as file:
        for number in range(HOSTS):
            url = f"https://h{number}.example/robots.txt"
            body = f"User-agent: a{number % 5000}\nDisallow: /x{number}/*/y\nDisallow: /z\n"
            capture = {"url": url, "status": 200, "fetched_at": "2024-01-01T00:00:00Z", "body": body}
            file.write(json.dumps(capture) + "\n")
    return path


@pytest.fixture(scope="module")
def large(archive):
    """A set of these captures."""
    path = archive.with_name("large.pcs")
    PolicySet.compile(archive, output=path)
    return path


@pytest.fixture(scope="module")
def parts(archive, large):
    """The folder of sets that differ in the name of their input, as equal sets are merged once."""
    folder = archive.with_name("parts")
    folder.mkdir()
    (folder / large.name).symlink_to(large)
    for number in range(2):
        name = archive.with_name(f"{number}.jsonl.gz")
        name.symlink_to(archive)
        PolicySet.compile(name, output=folder / f"{number}.pcs")
    return folder


def python(code, *arguments):
    """Starts a process that runs `code`, in which Ctrl-C raises KeyboardInterrupt."""
    head = "import signal, sys\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"
    command = [sys.executable, "-c", head + code, *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


CALLS = {
    "classify": """
import pyarrow
urls = pyarrow.array(["https://h1.example/a", "https://h2.example/b"] * 2_000_000)
asked = PolicySet.open(large).for_agents([f"Bot{chr(97 + n % 26)}{chr(97 + n // 26)}" for n in range(130)])
print("ready", flush=True)
asked.allowed(urls, mode="any", threads=2)
""",
    "classify, one thread": """
import pyarrow
urls = pyarrow.array(["https://h1.example/a", "https://h2.example/b"] * 2_000_000)
asked = PolicySet.open(large).for_agents([f"Bot{chr(97 + n % 26)}{chr(97 + n // 26)}" for n in range(130)])
print("ready", flush=True)
asked.allowed(urls, mode="any")
""",
    "compile": """
print("ready", flush=True)
PolicySet.compile([archive] * 20, output=output)
""",
    "compile into memory": """
print("ready", flush=True)
PolicySet.compile([archive] * 20)
""",
    "compile texts": """
body = "User-agent: {0}\\nDisallow: /x{0}/*/y\\nDisallow: /z\\n" * 20
texts = {f"https://h{n}.example/robots.txt": body.format(n) for n in range(150_000)}
print("ready", flush=True)
PolicySet.compile(texts)
""",
    "compile with history": """
print("ready", flush=True)
PolicySet.compile([archive] * 20, output=output, history=True)
""",
    "merge": """
from pathlib import Path
parts = sorted(Path(archive).with_name("parts").iterdir())
print("ready", flush=True)
PolicySet.compile(parts, output=output)
""",
    "verify": """
policies = PolicySet.open(large)
print("ready", flush=True)
while True:
    policies.verify()
""",
    "survey": """
import pyarrow
rows = PolicySet.open(large).survey([f"Bot{chr(97 + n % 26)}" for n in range(26)])
print("ready", flush=True)
pyarrow.table(rows)
""",
}


@pytest.mark.parametrize("call", CALLS)
def test_ctrl_c_ends_a_long_call(call, archive, large, tmp_path, request):
    pytest.importorskip("pyarrow")
    if call == "merge":
        request.getfixturevalue("parts")
    output = tmp_path / "out.pcs"
    output.write_text("as it was")
    code = "from portcullis_robots import PolicySet\narchive, large, output = sys.argv[1:]\n"
    running = python(code + CALLS[call], archive, large, output)
    assert running.stdout.readline() == "ready\n"
    time.sleep(0.5)
    sent = time.monotonic()
    running.send_signal(signal.SIGINT)
    _, said = running.communicate()
    took = time.monotonic() - sent
    assert "KeyboardInterrupt" in said
    assert running.returncode != 0
    assert took < ENDS_IN, f"{call} went on for {took:.1f} s"
    assert output.read_text() == "as it was"
    assert list(tmp_path.iterdir()) == [output]


READS = {
    "classify": "asked.classify(urls)",
    "account": "asked.account(urls)",
    "explain": "asked.explain(urls[-1])",
    "other agents": "policies.for_agents('Other').classify(urls)",
    "provenance": "policies.provenance()",
    "verify": "policies.verify()",
    "survey": "import pyarrow; pyarrow.table(policies.survey('Bot'))",
}


@pytest.mark.parametrize("kept", [0, 4096, 100_000, 1_000_000])
@pytest.mark.parametrize("read", READS)
def test_a_truncated_set_is_an_error(read, kept, large, tmp_path):
    pytest.importorskip("pyarrow")
    path = tmp_path / "set.pcs"
    path.write_bytes(large.read_bytes())
    code = f"""
import os
from portcullis_robots import PolicySet
path, kept, whole = sys.argv[1], int(sys.argv[2]), sys.argv[3]
policies = PolicySet.open(path)
asked = policies.for_agents("Bot")
urls = [f"https://h{{number}}.example/x1/a/y" for number in range(0, {HOSTS}, 7)]
asked.classify(urls[:100])
os.truncate(path, kept)
for again in (False, True):
    try:
        {READS[read]}
        print("no error")
    except Exception as error:
        print(type(error).__name__, error)
    with open(path, "r+b") as file:
        file.write(open(whole, "rb").read())
"""
    running = python(code, path, kept, large)
    told, said = running.communicate()
    assert (running.returncode, said) == (0, "")
    first, again = told.splitlines()
    assert first.startswith(("Error ", "ArrowInvalid ", "OSError ")), told
    # A set that lost pages stays damaged, even if all bytes are there again.
    if read == "classify" and kept < 1_000_000:
        assert again.startswith("Error "), told


def test_a_fault_that_is_no_sets_ends_the_process(large, tmp_path):
    path = tmp_path / "other"
    path.write_bytes(bytes(100_000))
    code = """
import mmap, os
from portcullis_robots import PolicySet
policies = PolicySet.open(sys.argv[2])
with open(sys.argv[1], "rb") as file:
    other = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
os.truncate(sys.argv[1], 0)
print(other[50_000])
"""
    done = python(code, path, large)
    assert done.communicate()[0] == ""
    assert done.returncode == -signal.SIGBUS
