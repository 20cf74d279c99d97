#!/usr/bin/env bash
# Scrapy 2.19.0 (PyPI) and Crawlee 3.18.1 (npm): the page of a 404 is read as robots.txt, and its rules are obeyed.
#
# By RFC 9309, section 2.3.1.3, a site without robots.txt may be crawled, whatever its error page says. In both the
# parser gets the text of the answer without its status.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m pip install --quiet --disable-pip-version-check --target "$folder/scrapy" scrapy==2.19.0
npm install --silent --no-save --prefix "$folder" crawlee@3.18.1 >/dev/null

cat >"$folder/spider.py" <<'PY'
import sys

from scrapy import Request, Spider
from scrapy.crawler import CrawlerProcess


class Pages(Spider):
    name = "pages"

    async def start(self):
        yield Request(sys.argv[1])

    def parse(self, _):
        pass


process = CrawlerProcess({"ROBOTSTXT_OBEY": True, "LOG_ENABLED": False, "TELNETCONSOLE_ENABLED": False})
process.crawl(Pages)
process.start()
PY
cat >"$folder/crawl.cjs" <<'JS'
const { Configuration, HttpCrawler, log } = require("crawlee");
log.setLevel(log.LEVELS.OFF);
const crawler = new HttpCrawler(
  { respectRobotsTxtFile: true, maxRequestRetries: 0, requestHandler: async () => {} },
  new Configuration({ persistStorage: false }),
);
crawler.run([process.argv[2]]);
JS
cat >"$folder/crawls.py" <<'PY'
import os
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        taken.append(self.path)
        is_robots = self.path == "/robots.txt"
        self.send_response(404 if is_robots else 200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(server.error if is_robots else b"<p>page</p>")

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
folder, page = sys.argv[1], "http://127.0.0.1:%d/page" % server.server_port
for command in (["python3", "spider.py", page], ["node", "crawl.cjs", page]):
    environment = {**os.environ, "PYTHONPATH": "scrapy"}
    for rules in ("", "User-agent: *\nDisallow: /\n"):
        taken, server.error = [], ("<h1>Not found</h1>\n" + rules).encode()
        subprocess.run(command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        what = "with rules" if rules else "without rules"
        print("%s, %s: %s" % (command[1], what, " ".join(sorted(set(taken)))))
PY
output=$(python3 "$folder/crawls.py" "$folder")
expected='spider.py, without rules: /page /robots.txt
spider.py, with rules: /robots.txt
crawl.cjs, without rules: /page /robots.txt
crawl.cjs, with rules: /robots.txt'
echo "$output"
diff <(echo "$expected") <(echo "$output")
