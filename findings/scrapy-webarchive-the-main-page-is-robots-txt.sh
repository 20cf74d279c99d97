#!/usr/bin/env bash
# scrapy-webarchive 0.5.3 (PyPI) in Scrapy 2.11.2: with ROBOTSTXT_OBEY, the page that an archive opens with is
# /robots.txt, and a spider that runs on the archive does not find the subdomains that it has taken.
#
# It writes a crawl as WACZ and runs spiders on that instead of the site (its docs, usage.md). `mainPageUrl`, by WACZ
# 1.1.1 the main or starting page, is that of the first request, which is for robots.txt if Scrapy obeys it, as in the
# settings of a new project. A spider that goes through all entries (advanced_usage.md) gets it as a page, too.
# In Scrapy allowed_domains covers subdomains (Spider.allowed_domains); on the archive it does not, so that of a crawl
# of h.example and www.h.example the second part is left out. Of several Set-Cookie, which by RFC 9110, section 5.3, are
# one field each, the archive has the last.
# Needs python3 below 3.13 with pip.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m pip install --quiet --disable-pip-version-check --root-user-action ignore --no-deps \
    --target "$folder/python" scrapy-webarchive==0.5.3 scrapy==2.11.2 warc-knot==0.2.5 warcio==1.7.4 \
    cdxj-indexer==1.4.5 surt==0.3.1 six==1.17.0 tldextract==5.4.0 twisted==24.7.0 w3lib==2.2.1 parsel==1.9.1 \
    lxml==6.1.3 cssselect==1.2.0 itemadapter==0.9.0 itemloaders==1.3.2 jmespath==1.0.1 queuelib==1.7.0 protego==0.7.0 \
    pyopenssl==26.4.0 service-identity==26.1.0 cryptography==50.0.2 cffi==2.1.1 zope.interface==8.7 \
    pydispatcher==2.0.7 defusedxml==0.7.1 packaging==26.4 typing-extensions==4.16.0 automat==25.4.16 \
    constantly==23.10.4 hyperlink==21.0.0 incremental==24.11.0 attrs==26.1.0 idna==2.10 requests==2.34.2 \
    requests-file==3.0.1 filelock==4.3.1 urllib3==2.8.0 certifi==2026.10.19.post1 charset-normalizer==3.5.3 \
    py3amf==0.9.1
export PYTHONPATH=$folder/python
cd "$folder"

cat >run.py <<'PY'
import json
import os
import sys
import threading
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from scrapy import Request, Spider
from scrapy.crawler import CrawlerProcess


class Hosts(BaseHTTPRequestHandler):
    def do_GET(self):
        page = '<a href="http://h.example/list?page=2">list</a> <a href="http://www.h.example/about">about</a>'
        self.send_response(200)
        for field in ("Content-Type: text/html", "Set-Cookie: a=1", "Set-Cookie: b=2"):
            self.send_header(*field.split(": "))
        self.end_headers()
        self.wfile.write(b"User-agent: *\nDisallow:\n" if self.path.endswith("/robots.txt") else page.encode())

    def log_message(self, *_):
        pass


class Pages(Spider):
    name = "pages"
    allowed_domains = ["h.example"]
    start_urls = ["http://h.example/"]

    def parse(self, response):
        taken.add(f"{response.url} ({len(response.headers.getlist('Set-Cookie'))})")
        yield from (Request(link) for link in response.css("a::attr(href)").getall())


taken = set()
settings = {"LOG_LEVEL": "CRITICAL", "ROBOTSTXT_OBEY": True, "TELNETCONSOLE_ENABLED": False}
if sys.argv[1] == "site":
    server = ThreadingHTTPServer(("127.0.0.1", 0), Hosts)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    os.environ["http_proxy"] = f"http://127.0.0.1:{server.server_port}"
    settings["EXTENSIONS"] = {"scrapy_webarchive.extensions.WaczExporter": 543}
    settings["SW_EXPORT_URI"] = os.path.abspath("pages.wacz")
else:
    settings["DOWNLOADER_MIDDLEWARES"] = {"scrapy_webarchive.downloadermiddlewares.WaczMiddleware": 543}
    settings["SPIDER_MIDDLEWARES"] = {"scrapy_webarchive.spidermiddlewares.WaczCrawlMiddleware": 543}
    settings["SW_WACZ_SOURCE_URI"] = f"file://{os.path.abspath('pages.wacz')}"
    settings["SW_WACZ_CRAWL"] = sys.argv[1] == "entries"
process = CrawlerProcess(settings)
process.crawl(Pages)
process.start()
print(f"{sys.argv[1]} (cookies):", *sorted(taken))
if sys.argv[1] == "site":
    with zipfile.ZipFile("pages.wacz") as wacz:
        print("mainPageUrl:", json.loads(wacz.read("datapackage.json"))["mainPageUrl"])
PY
output=$(for source in site archive entries; do HOME=$folder python3 -W ignore run.py "$source"; done)
expected='site (cookies): http://h.example/ (2) http://h.example/list?page=2 (2) http://www.h.example/about (2)
mainPageUrl: http://h.example/robots.txt
archive (cookies): http://h.example/ (1) http://h.example/list?page=2 (1)
entries (cookies): http://h.example/ (1) http://h.example/list?page=2 (1) http://h.example/robots.txt (1)'
echo "$output"
diff <(echo "$expected") <(echo "$output")
