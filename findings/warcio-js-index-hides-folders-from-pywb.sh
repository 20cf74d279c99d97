#!/usr/bin/env bash
# warcio 2.4.11 (npm, warcio.js) and pywb 2.10.0 (PyPI): in an index made by the one, the other finds no page whose path
# ends with a slash, but for the front page.
#
# `warcio.js cdx-index` makes "standard" CDXJ, by its README, with SURT keys. Both reverse the host, drop `www` and sort
# the query, but only pywb drops the last slash of a path, joins slashes and decodes escapes, and the two sort
# parameters differently where one name begins another. The captures are in the file, and a look-up says there are none.
# With the index of pywb's own indexer, each is found.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
npm install --silent --no-save --prefix "$folder" warcio@2.4.11 >/dev/null
python3 -m pip install --quiet --disable-pip-version-check --target "$folder/python" \
    pywb==2.10.0 warcio==1.8.1 cdxj-indexer==1.5.0 surt==0.3.1
export PYTHONPATH=$folder/python LC_ALL=C
cd "$folder"
cat >urls <<'TXT'
https://h.example/
https://h.example/page
https://h.example/folder/
https://h.example/folder/?q=1
https://h.example/list?tag-a=1&tag=2
https://h.example/a//b
https://h.example/%7Euser
TXT
python3 - <<'PY'
block = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nok"
with open("a.warc", "wb") as file:
    for number, url in enumerate(open("urls").read().split()):
        file.write(b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Date: 2026-11-27T12:00:00Z\r\n")
        file.write(b"WARC-Target-URI: %s\r\n" % url.encode())
        file.write(b"WARC-Record-ID: <urn:uuid:00000000-0000-4000-8000-%012d>\r\n" % number)
        file.write(b"Content-Type: application/http; msgtype=response\r\n")
        file.write(b"Content-Length: %d\r\n\r\n%s\r\n\r\n" % (len(block), block))
PY
node node_modules/warcio/dist/cli.js cdx-index a.warc | sort >warcio.js.cdxj
python3 -W ignore -m cdxj_indexer.main --sort a.warc >pywb.cdxj

output=$(python3 -W ignore - <<'PY'
from pywb.warcserver.handlers import IndexHandler
from pywb.warcserver.index.aggregator import SimpleAggregator
from pywb.warcserver.index.indexsource import FileIndexSource
from pywb.warcserver.inputrequest import DirectWSGIInputRequest

for url in open("urls").read().split():
    found = []
    for name in ("warcio.js.cdxj", "pywb.cdxj"):
        index = IndexHandler(SimpleAggregator({name: FileIndexSource(name)}))
        request = DirectWSGIInputRequest({"REQUEST_METHOD": "GET"})
        lines = index({"url": url, "output": "json", "_input_req": request})[1]
        key = next(line.split()[0] for line in open(name) if '"%s"' % url in line)
        found.append("%d by %s" % (len(list(lines)), key))
    print(url, *found)
PY
)
expected='https://h.example/ 1 by example,h)/ 1 by example,h)/
https://h.example/page 1 by example,h)/page 1 by example,h)/page
https://h.example/folder/ 0 by example,h)/folder/ 1 by example,h)/folder
https://h.example/folder/?q=1 0 by example,h)/folder/?q=1 1 by example,h)/folder?q=1
https://h.example/list?tag-a=1&tag=2 0 by example,h)/list?tag-a=1&tag=2 1 by example,h)/list?tag=2&tag-a=1
https://h.example/a//b 0 by example,h)/a//b 1 by example,h)/a/b
https://h.example/%7Euser 0 by example,h)/%7euser 1 by example,h)/~user'
echo "$output"
diff <(echo "$expected") <(echo "$output")
