#!/usr/bin/env bash
# warcbench 0.1.0 (PyPI): of the answers with status 404, it finds those whose status line says HTTP/1.1, and looking
# for a header it finds each whose name ends the same.
#
# Its help has --filter-by-http-status-code for responses of a status, whatever their version. Servers that speak
# HTTP/1.0 are common (that of Python does), as are archives that say HTTP/2. A search for `Location` gives pages that
# have a Content-Location and are no redirects. Field names are whole by RFC 9110, section 5.1.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m pip install --quiet --disable-pip-version-check --target "$folder/python" \
    warcbench==0.1.0 warcio==1.8.1 six==1.17.0 brotli==1.2.0 click==8.3.1 pyzstd==0.18.0
export PYTHONPATH=$folder/python
cd "$folder"

output=$(python3 - <<'PY'
import io

from warcbench import WARCParser
from warcbench.config import WARCProcessorConfig
from warcbench.filters import http_header_filter, http_status_filter
from warcio import WARCWriter
from warcio.statusandheaders import StatusAndHeaders

with open("a.warc", "wb") as file:
    writer = WARCWriter(file, gzip=False)
    for path, version, status, name in (
        ("/new", "HTTP/1.1", "404 Not Found", "Server"),
        ("/old", "HTTP/1.0", "404 Not Found", "Server"),
        ("/newest", "HTTP/2", "404", "Server"),
        ("/moved", "HTTP/1.1", "301 Moved Permanently", "Location"),
        ("/page", "HTTP/1.1", "200 OK", "Content-Location"),
    ):
        headers = StatusAndHeaders(status, [(name, "/page.html")], protocol=version)
        uri = "https://h.example" + path
        writer.write_record(writer.create_warc_record(uri, "response", io.BytesIO(b"ok"), http_headers=headers))

for title, keep in (
    ("404", http_status_filter(404)),
    ("Location", http_header_filter("Location", "/page.html", exact_match=True)),
):
    with open("a.warc", "rb") as file:
        parser = WARCParser(file, processors=WARCProcessorConfig(record_filters=[keep]))
        print(title, *(record.header.get_field("WARC-Target-URI").decode() for record in parser.iterator()))
PY
)
expected='404 https://h.example/new
Location https://h.example/moved https://h.example/page'
echo "$output"
diff <(echo "$expected") <(echo "$output")
