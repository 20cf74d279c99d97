"""Tests of the command-line program in the package."""

import os
import signal
import subprocess
import sys

import pytest
from conftest import AGENTS, SAMPLE

from portcullis_robots import __version__

MODULE = [sys.executable, "-m", "portcullis_robots"]


def run(command, **options):
    return subprocess.run(command, capture_output=True, check=False, **options)


def outcome(command, **options):
    done = run(command, **options)
    return done.returncode, done.stdout, done.stderr


def test_it_is_the_same_program(program, set_path):
    urls = SAMPLE / "urls.txt"
    asked = ["-p", set_path, "-a", ",".join(AGENTS)]
    for arguments in [
        ["-V"],
        ["--help"],
        ["--agent-lists"],
        ["classify", *asked, "--summary", "none", urls],
        ["check", "-p", set_path, "-a", "GPTBot", "https://shop.example/cart/"],
        ["inspect", set_path, "nobody.example"],
        ["verdict"],
        ["classify", "-p", "/no/such/file", "-a", "GPTBot", urls],
        [],
    ]:
        assert outcome([*MODULE, *arguments]) == outcome([program, *arguments]), arguments
    assert run([*MODULE, "-V"]).stdout.decode() == f"portcullis {__version__}\n"


def test_it_reads_the_standard_input(program, set_path):
    arguments = ["filter", "-p", set_path, "-a", "GPTBot", "--summary", "none", "-"]
    urls = (SAMPLE / "urls.txt").read_bytes()
    expected = outcome([program, *arguments], input=urls)
    assert expected[1]
    assert outcome([*MODULE, *arguments], input=urls) == expected


@pytest.mark.skipif(os.name != "posix", reason="arguments are text on this system")
def test_names_of_files_are_bytes(program, set_path, tmp_path):
    urls = os.fsencode(tmp_path) + b"/\xff.txt"
    with open(urls, "wb") as file:
        file.write(b"https://shop.example/\n")
    arguments = ["classify", "-p", set_path, "-a", "GPTBot", "--summary", "none", urls]
    expected = outcome([program, *arguments])
    assert expected[0] == 0
    assert outcome([*MODULE, *arguments]) == expected


@pytest.mark.skipif(os.name != "posix", reason="this system has no such signals")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=str)
def test_signals_end_it_without_output(number, set_path, tmp_path):
    output = tmp_path / "out.tsv"
    command = [*MODULE, "classify", "-p", set_path, "-a", "GPTBot", "-o", output, "-"]
    # A signal that is ignored here stays ignored in the program, as SIGINT does in a background job.
    options = {"preexec_fn": lambda: signal.signal(number, signal.SIG_DFL)}
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, **options) as running:
        running.stdin.write(b"https://shop.example/\n" * 400_000)
        running.stdin.flush()
        running.send_signal(number)
        running.stdin.close()
        assert running.wait() == -number
    assert list(tmp_path.iterdir()) == []


def test_a_closed_pipe_is_not_a_failure(set_path, tmp_path):
    urls = tmp_path / "urls.txt"
    urls.write_text("https://shop.example/\n" * 100_000)
    command = [*MODULE, "classify", "-p", set_path, "-a", "GPTBot", "--summary", "none", urls]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        assert running.stdout.readline().startswith(b"allow")
        running.stdout.close()
        assert running.stderr.read() == b""
        assert running.wait() == 0
