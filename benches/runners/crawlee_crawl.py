"""Takes the URLs on standard input with Crawlee for Python, as robots.txt lets: for `crawlers.py`.

The agent in the argument is not used, because Crawlee asks as `*`.
"""

import asyncio
import sys

from crawlee.configuration import Configuration
from crawlee.crawlers import HttpCrawler
from crawlee.storage_clients import MemoryStorageClient


async def main():
    crawler = HttpCrawler(
        respect_robots_txt_file=True,
        max_request_retries=0,
        configuration=Configuration(purge_on_start=True),
        storage_client=MemoryStorageClient(),
        configure_logging=False,
    )

    @crawler.router.default_handler
    async def _page(_):
        pass

    await crawler.run(sys.stdin.read().split("\n"))


asyncio.run(main())
