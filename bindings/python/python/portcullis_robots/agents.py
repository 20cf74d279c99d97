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
    return _described(name, dialect)[0]


def _crawler(name: str, readings: dict[str, Any]) -> tuple[str, str] | None:
    """Return a known crawler as its operator documents it, and where; None if it is not known."""
    if entry := readings.get(name.lower()):
        return entry["reading"], f"{entry['source']}, {entry['date']}"
    known = (agent for agents in _tables()["agents"].values() for agent in agents)
    found = next((agent for agent in known if agent.lower() == name.lower()), None)
    return found and (found, "by its product token")


def _described(name: str, dialect: str) -> tuple[list[str], list[str], str]:
    """Return the names of a list that the dialect can express, the others, and its source."""
    found = next((entry for entry in _tables()["list"] if entry["name"] == name), None)
    readings = {it.lower(): entry for it, entry in _tables()["readings"].items()}
    if found is None and (one := _crawler(name, readings)):
        return ([one[0]], [], one[1]) if _is_agent(one[0], dialect) else ([], [one[0]], one[1])
    if found is None:
        raise ValueError(f"no list {name!r}; the lists are {', '.join(agent_lists())}")
    wanted = found.get("class")
    agents = _tables()["agents"][found["source"]].items()
    names = [agent for agent, classes in agents if wanted is None or wanted in classes]
    names.sort(key=str.lower)
    names = [readings[it.lower()]["reading"] if it.lower() in readings else it for it in names]
    valid = {agent: _is_agent(agent, dialect) for agent in names}
    source = next(entry for entry in _tables()["source"] if entry["name"] == found["source"])
    described = ", ".join(source[key] for key in ("title", "version", "date", "licence"))
    return [it for it in names if valid[it]], [it for it in names if not valid[it]], described
