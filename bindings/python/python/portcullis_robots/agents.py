"""The lists of crawlers that the command line calls ``-a @NAME``.

>>> "GPTBot" in agent_list("ai-training")
True
"""

from ._core import agent_list, agent_lists

__all__ = ["agent_list", "agent_lists"]
