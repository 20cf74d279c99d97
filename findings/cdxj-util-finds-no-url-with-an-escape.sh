#!/usr/bin/env bash
# cdxj_util 1.0.0 (PyPI): the bulk search finds no URL whose query has an escape, a plus sign or a repeated parameter,
# though the index has exactly that URL. For /list?print it returns the capture of /list.
#
# The README lists bulk searching of multiple URLs. The search decodes the query of each URL and drops parameters
# without a value. It then compares the result with the URLs of the index, which are as they were captured. A check of
# a URL list against an archive reports pages as missing that are there. search_by_url with exact_match finds each of
# them. Times are compared as text, so a range that ends on a day (`20261127`) excludes that day.
# Needs python3 with pip.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m pip install --quiet --disable-pip-version-check --target "$folder" cdxj-util==1.0.0 aiofiles==24.1.0
cd "$folder"

output=$(PYTHONPATH=$folder python3 - <<'PY'
import json

from cdxj_util.core import CDXJCore
from cdxj_util.search import CDXJSearch

QUERIES = "", "?page=2", "?q=a%20b", "?q=a+b", "?q=caf%C3%A9", "?print", "?a=1&b=", "?tag=a&page=2&tag=b"
urls = ["https://h.example/list" + query for query in QUERIES]
with open("index.cdxj", "w") as file:
    for url in urls:
        row = {"url": url, "status": "200", "filename": "a.warc.gz"}
        file.write("example,h)%s 20261127120000 %s\n" % (url[17:], json.dumps(row)))
search = CDXJSearch(CDXJCore("index.cdxj").load_all_records())
found = search.search_multiple_urls(urls)
for url in urls:
    bulk = [row["metadata"]["url"][17:] for row in found.get(url, [])]
    print("%s: bulk %s, exact %s" % (url[17:], bulk, [row[0][17:] for row in search.search_by_url(url, True)]))
for end in ("20261127", "20261128"):
    print("until", end, len(search.filter_by_timestamp_range("20261127", end)))
PY
)
expected="/list: bulk ['/list'], exact ['/list']
/list?page=2: bulk ['/list?page=2'], exact ['/list?page=2']
/list?q=a%20b: bulk [], exact ['/list?q=a%20b']
/list?q=a+b: bulk [], exact ['/list?q=a+b']
/list?q=caf%C3%A9: bulk [], exact ['/list?q=caf%C3%A9']
/list?print: bulk ['/list'], exact ['/list?print']
/list?a=1&b=: bulk [], exact ['/list?a=1&b=']
/list?tag=a&page=2&tag=b: bulk [], exact ['/list?tag=a&page=2&tag=b']
until 20261127 0
until 20261128 8"
echo "$output"
diff <(echo "$expected") <(echo "$output")
