#!/usr/bin/env bash
# cdx_toolkit 0.9.39 (PyPI): a question about one week is put to every crawl of Common Crawl since 2008, as is one about
# the last year, and the year before the 5th of January begins on the 31st.
#
# By its README, the default is the last 12 months of Common Crawl ("a limit of 1 year of CC indexes"), and --from and
# --to select others; each crawl has an index of its own. The choice by time is made only for a question without the
# key `crawl`, and every question gets that key, with None if there is none. So all indexes are asked, over 100 and a
# second apart, newest first, of which all but one or two have nothing. With `to` alone, which goes back a year, the
# day of `to` is first replaced by the last of its month, so that up to a month of that year is missing.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m pip install --quiet --disable-pip-version-check --root-user-action ignore --target "$folder/python" \
    cdx-toolkit==0.9.39 requests==2.34.2 warcio==1.8.1
export CDXT_DEFAULT_MIN_RETRY_INTERVAL=0 CDXT_CACHE_DIR=$folder/cache/

output=$(PYTHONPATH=$folder/python python3 - <<'PY'
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

import cdx_toolkit

CRAWLS = [f"CC-MAIN-{year}-{week:02}" for year in range(2014, 2026) for week in range(2, 51, 8)]


class Mirror(BaseHTTPRequestHandler):
    """The indexes of Common Crawl, of which one has a capture."""

    def do_GET(self):
        url = urlsplit(self.path)
        query = {name: value[0] for name, value in parse_qs(url.query).items()}
        crawl = url.path.removeprefix("/").removesuffix("-index")
        if crawl in CRAWLS:
            asked.append(crawl)
            times.update(f"{name} {query[name]}" for name in ("from", "to") if name in query)
            is_there = crawl == "CC-MAIN-2020-02" and query.get("page", "0") == "0"
            text = json.dumps({"url": "http://h.example/", "timestamp": "20200105"}) if is_there else ""
        else:
            text = json.dumps([{"cdx-api": f"{mirror}{crawl}-index"} for crawl in CRAWLS])
        self.send_response(200 if text else 404 if query.get("page", "0") == "0" else 400)
        self.end_headers()
        self.wfile.write(text.encode() or b'{"message": "No Captures found"}')

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Mirror)
threading.Thread(target=server.serve_forever, daemon=True).start()
mirror = f"http://127.0.0.1:{server.server_port}/"
fetcher = cdx_toolkit.CDXFetcher(source="cc", cc_mirror=mirror)
for way in ("get", "iter"):
    for question in (
        {"from_ts": "20200101", "to": "20200107"},
        {"closest": "20200105"},
        {"to": "20200105"},
        {},
        {"crawl": ["2020-02"]},
    ):
        asked, times = [], set()
        captures = list(getattr(fetcher, way)("h.example/", **question))
        stated = " ".join(f"{name} {value}" for name, value in question.items()) or "without a time"
        sent = ", ".join(sorted(times)) if "to" in question else ""
        print(f"{way} {stated}: {len(captures)}; {len(set(asked))} of {len(CRAWLS)} crawls asked {sent}".rstrip())
server.shutdown()
PY
)
expected="get from_ts 20200101 to 20200107: 1; 84 of 84 crawls asked from 20200101, to 20200107
get closest 20200105: 1; 84 of 84 crawls asked
get to 20200105: 1; 84 of 84 crawls asked from 20190131235959, to 20200105
get without a time: 1; 84 of 84 crawls asked
get crawl ['2020-02']: 1; 1 of 84 crawls asked
iter from_ts 20200101 to 20200107: 1; 84 of 84 crawls asked from 20200101, to 20200107
iter closest 20200105: 1; 84 of 84 crawls asked
iter to 20200105: 1; 84 of 84 crawls asked from 20190131235959, to 20200105
iter without a time: 1; 84 of 84 crawls asked
iter crawl ['2020-02']: 1; 1 of 84 crawls asked"
echo "$output"
diff <(echo "$expected") <(echo "$output")
