"""Takes the URLs on standard input with Scrapy, as robots.txt lets the agent in the argument: for `crawlers.py`."""

import sys

from scrapy import Request, Spider
from scrapy.crawler import CrawlerProcess


class Pages(Spider):
    name = "pages"

    async def start(self):
        for url in sys.stdin.read().split("\n"):
            yield Request(url, dont_filter=True)

    def parse(self, _):
        pass


process = CrawlerProcess({
    "ROBOTSTXT_OBEY": True,
    "USER_AGENT": sys.argv[1],
    "LOG_ENABLED": False,
    "TELNETCONSOLE_ENABLED": False,
    # Hosts of one machine.
    "CONCURRENT_REQUESTS": 64,
})
process.crawl(Pages)
process.start()
