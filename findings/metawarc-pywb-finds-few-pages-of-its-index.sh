#!/usr/bin/env bash
# metawarc 2.0.3 (PyPI): in the CDXJ index that it exports for pywb, pywb 2.10.0 finds few of the pages, and for one of
# them the captures of all. Sorting the index does not bring each page back.
#
# Its README, section "Website replay", says: export CDXJ and point pywb at the WARCs. The lines are in the order of the
# archive, but CDXJ is sorted by key, and pywb looks it up by halves. Sorted, it still hides each page whose key pywb
# writes in another way: if the path has a capital letter or ends with a slash, if the query is in no order, and if the
# host has a port or a www2. For the record at the start of an archive, the offset is not 0 but an empty text.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m pip install --quiet --disable-pip-version-check --target "$folder/python" \
    metawarc==2.0.3 pywb==2.10.0 warcio==1.8.1 surt==0.3.1 setuptools==80.10.2
export PYTHONPATH=$folder/python LC_ALL=C
cd "$folder"
cat >urls <<'TXT'
https://w.example/
https://h.example/page
https://h.example/About
https://h.example/blog/
https://h.example/list?page=2&lang=en
http://h.example:8080/
https://www2.h.example/news
https://a.example/
TXT
python3 - <<'PY'
import io

from warcio import WARCWriter
from warcio.statusandheaders import StatusAndHeaders

with open("a.warc", "wb") as file:
    writer = WARCWriter(file, gzip=False)
    for url in open("urls").read().split():
        headers = StatusAndHeaders("200 OK", [("Content-Type", "text/plain")], protocol="HTTP/1.1")
        writer.write_record(writer.create_warc_record(url, "response", io.BytesIO(b"ok"), http_headers=headers))
PY
python3 -W ignore -m metawarc index --dbfile catalog.db a.warc >/dev/null
python3 -W ignore -m metawarc export-cdxj --dbfile catalog.db -o exported.cdxj >/dev/null
sort exported.cdxj >sorted.cdxj

output=$(python3 -W ignore - <<'PY'
import json

from pywb.warcserver.handlers import IndexHandler
from pywb.warcserver.index.aggregator import SimpleAggregator
from pywb.warcserver.index.indexsource import FileIndexSource
from pywb.warcserver.inputrequest import DirectWSGIInputRequest

lines = [line.split(" ", 2) for line in open("exported.cdxj")]
places = {json.loads(fields)["url"]: (key, json.loads(fields)["offset"]) for key, _, fields in lines}
for url in open("urls").read().split():
    found = []
    for name in ("exported.cdxj", "sorted.cdxj"):
        index = IndexHandler(SimpleAggregator({name: FileIndexSource(name)}))
        request = DirectWSGIInputRequest({"REQUEST_METHOD": "GET"})
        answer = index({"url": url, "output": "json", "_input_req": request})[1]
        found.append(len(list(answer)))
    key, offset = places[url]
    print(url, "exported %d, sorted %d" % tuple(found), key, "offset", offset or "empty")
PY
)
expected='https://w.example/ exported 8, sorted 1 example,w)/ offset empty
https://h.example/page exported 0, sorted 1 example,h)/page offset 407
https://h.example/About exported 0, sorted 0 example,h)/About offset 818
https://h.example/blog/ exported 0, sorted 0 example,h)/blog/ offset 1230
https://h.example/list?page=2&lang=en exported 0, sorted 0 example,h)/list?page=2&lang=en offset 1642
http://h.example:8080/ exported 0, sorted 0 example,h)/ offset 2068
https://www2.h.example/news exported 0, sorted 0 example,h,www2)/news offset 2479
https://a.example/ exported 0, sorted 1 example,a)/ offset 2895'
echo "$output"
diff <(echo "$expected") <(echo "$output")
