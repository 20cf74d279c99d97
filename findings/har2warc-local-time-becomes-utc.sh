#!/usr/bin/env bash
# har2warc 1.0.4 (PyPI): a capture from Berlin is an hour in the future, and of a parameter that is there twice, the
# request has one.
#
# A HAR has times with the offset of where it was made (HAR 1.2, startedDateTime). The offset is cut off and a Z put in
# its place, though WARC-Date is UTC (ISO 28500, section 5.4), so that one moment has three dates here. The request
# line is built from the parameters by name, and is not that of the WARC-Target-URI. A body whose bodySize is -1,
# which HAR 1.2 has for sizes that are not known, is left out.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m pip install --quiet --disable-pip-version-check --target "$folder" \
    har2warc==1.0.4 warcio==1.8.1 six==1.17.0 http-status==1.0.0

output=$(PYTHONPATH=$folder python3 - <<'PY'
import io

from har2warc.har2warc import har2warc
from warcio import ArchiveIterator

TIMES = "2026-11-27T12:00:00.000Z", "2026-11-27T13:00:00.000+01:00", "2026-11-27T07:00:00.000-05:00"


def entry(time, method, path, pairs=(), body=None):
    request = {
        "method": method, "url": "https://h.example" + path, "httpVersion": "HTTP/1.1", "cookies": [],
        "headers": [{"name": "Host", "value": "h.example"}],
        "queryString": [{"name": name, "value": value} for name, value in pairs],
        "headersSize": -1, "bodySize": -1 if body else 0,
    }
    if body:
        request["postData"] = {"mimeType": "application/x-www-form-urlencoded", "params": [], "text": body}
    response = {
        "status": 200, "statusText": "OK", "httpVersion": "HTTP/1.1", "cookies": [], "redirectURL": "",
        "headers": [{"name": "Content-Type", "value": "text/plain"}],
        "content": {"size": 2, "mimeType": "text/plain", "text": "ok"}, "headersSize": -1, "bodySize": 2,
    }
    return {
        "startedDateTime": time, "time": 1, "request": request, "response": response, "cache": {},
        "timings": {"send": 0, "wait": 1, "receive": 0},
    }


entries = [entry(time, "GET", "/list?tag=a&tag=b", (("tag", "a"), ("tag", "b"))) for time in TIMES]
entries.append(entry(TIMES[0], "POST", "/search", body="q=1"))
log = {"version": "1.2", "creator": {"name": "test", "version": "1"}, "pages": [], "entries": entries}
file = io.BytesIO()
har2warc({"log": log}, file)
file.seek(0)
for record in ArchiveIterator(file):
    if record.rec_type == "request":
        uri, date = (record.rec_headers.get_header("WARC-" + name) for name in ("Target-URI", "Date"))
        line = record.http_headers.protocol + " " + record.http_headers.statusline
        print(date, uri, "|", line, "|", record.content_stream().read())
PY
)
expected="2026-11-27T12:00:00Z https://h.example/list?tag=a&tag=b | GET /list?tag=b HTTP/1.1 | b''
2026-11-27T13:00:00Z https://h.example/list?tag=a&tag=b | GET /list?tag=b HTTP/1.1 | b''
2026-11-27T07:00:00Z https://h.example/list?tag=a&tag=b | GET /list?tag=b HTTP/1.1 | b''
2026-11-27T12:00:00Z https://h.example/search | POST /search HTTP/1.1 | b''"
echo "$output"
diff <(echo "$expected") <(echo "$output")
