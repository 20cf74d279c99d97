"""The command-line program: ``python -m portcullis_robots`` is ``portcullis``."""

from __future__ import annotations

import sys

from ._core import _run_program

__all__ = ["main"]


def main() -> int:
    """Run the program with the arguments of the process, and return its exit status."""
    return _run_program(["portcullis", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
