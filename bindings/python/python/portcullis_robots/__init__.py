"""Evaluates robots.txt rules in bulk, exactly and fast.

Start with :class:`PolicySet` for the URLs of many hosts, over Arrow, and with :class:`RobotsTxt`
for one file. ``portcullis_robots.polars``, ``.duckdb``, ``.spark`` and ``.datatrove`` run inside those
engines. ``portcullis_robots.protego``, ``.robotparser`` and ``.scrapy`` replace other parsers.

The package does not fetch files. A URL whose policy is not known is never allowed.
"""

from ._core import (
    Account,
    Classifier,
    Column,
    Error,
    PolicySet,
    RobotsTxt,
    Survey,
    Table,
    __version__,
)

__all__ = [
    "Account",
    "Classifier",
    "Column",
    "Error",
    "PolicySet",
    "RobotsTxt",
    "Survey",
    "Table",
    "__version__",
]
