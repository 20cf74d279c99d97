#!/usr/bin/env bash
# haralyzer 2.4.0 (PyPI): the time to the first byte has the TLS handshake twice, and a page that came by HTTP/2 has no
# hostname.
#
# By HAR 1.2, section "timings", the time of `ssl` is part of `connect`, so that a sum leaves it out. Here all fields
# but `receive` are added, so that a server with TLS seems slower than it is. The hostname is the value of a header
# called `Host`. By RFC 9113, section 8.3.1, that is `:authority`, and names of fields are in lower case. By the
# documentation of get_load_time, images that load at the same time count once. They do if they start at whole
# milliseconds from each other. If the times have microseconds, as in HAR files of mitmproxy, each image counts.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m pip install --quiet --disable-pip-version-check --target "$folder" \
    haralyzer==2.4.0 cached-property==2.0.1 python-dateutil==2.9.0.post0 six==1.17.0

output=$(PYTHONPATH=$folder python3 - <<'PY'
from haralyzer import HarParser


def entry(start="00.000", header="Host", mime="text/html", **timings):
    timings = {"blocked": 0, "dns": 0, "connect": -1, "send": 0, "wait": 0, "receive": 0, **timings}
    return {
        "pageref": "page",
        "startedDateTime": f"2026-11-27T12:00:{start}Z",
        "time": sum(time for name, time in timings.items() if name != "ssl" and time > 0),
        "timings": timings,
        "request": {"method": "GET", "url": "https://h.example/", "headers": [{"name": header, "value": "h.example"}]},
        "response": {"status": 200, "headers": [], "bodySize": 5, "content": {"size": 5, "mimeType": mime}},
    }


def page(*entries):
    times = {"onLoad": 500, "onContentLoad": 300}
    pages = [{"id": "page", "title": "", "startedDateTime": "2026-11-27T12:00:00.000Z", "pageTimings": times}]
    return HarParser({"log": {"version": "1.2", "creator": {}, "pages": pages, "entries": list(entries)}}).pages[0]


for timings in ({"connect": 80, "wait": 40, "receive": 9}, {"connect": 80, "ssl": 50, "wait": 40, "receive": 9}):
    document = entry(**timings)
    print(timings, "time", document["time"], "first byte after", page(document).time_to_first_byte)
for header in ("Host", "host", ":authority"):
    document = page(entry(header=header))
    print(header, document.url, document.hostname)
for start in ("00.000", "00.020", "00.0005"):
    images = page(entry(mime="image/png", wait=100), entry(start=start, mime="image/png", wait=100))
    print("images at 00.000 and", start, "load for", images.image_load_time)
PY
)
expected="{'connect': 80, 'wait': 40, 'receive': 9} time 129 first byte after 120
{'connect': 80, 'ssl': 50, 'wait': 40, 'receive': 9} time 129 first byte after 170
Host https://h.example/ h.example
host https://h.example/ None
:authority https://h.example/ None
images at 00.000 and 00.000 load for 100
images at 00.000 and 00.020 load for 120
images at 00.000 and 00.0005 load for 200"
echo "$output"
diff <(echo "$expected") <(echo "$output")
