"""Evaluates robots.txt rules in bulk, exactly and fast.

Start with :class:`PolicySet` for the URLs of many hosts, over Arrow, and with :class:`RobotsTxt` for
one file. ``portcullis_robots.spark`` and ``portcullis_robots.datatrove`` run inside those engines;
``portcullis_robots.protego``, ``.robotparser`` and ``.scrapy`` stand in for other parsers.

Nothing here fetches anything, and nothing that is not known is ever allowed.
"""

from ._core import Classifier, Column, Error, PolicySet, RobotsTxt, Table, __version__

__all__ = ["Classifier", "Column", "Error", "PolicySet", "RobotsTxt", "Table", "__version__"]
