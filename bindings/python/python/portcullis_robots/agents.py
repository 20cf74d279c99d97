"""The lists of crawlers that the command line calls ``-a @NAME``.

>>> "GPTBot" in agent_list("ai-training")
True
"""

from __future__ import annotations

import functools
import tomllib
from typing import Any

from ._core import _AGENT_LISTS, _is_agent

__all__ = ["agent_list", "agent_lists"]


@functools.cache
def _tables() -> dict[str, Any]:
    return tomllib.loads(_AGENT_LISTS)


def agent_lists() -> dict[str, str]:
    """Return the name and the description of each list."""
    return {entry["name"]: entry["about"] for entry in _tables()["list"]}


def agent_list(name: str, dialect: str = "rfc9309") -> list[str]:
    """Return the sorted names of a list, without names that the dialect cannot express."""
    found = next((entry for entry in _tables()["list"] if entry["name"] == name), None)
    if found is None:
        raise ValueError(f"no list {name!r}; the lists are {', '.join(agent_lists())}")
    wanted = found.get("class")
    agents = _tables()["agents"][found["source"]].items()
    names = [agent for agent, classes in agents if wanted is None or wanted in classes]
    return sorted((agent for agent in names if _is_agent(agent, dialect)), key=str.lower)
