#!/usr/bin/env bash
# lockss-warcread 0.4.0 (PyPI): `warcread extract` prints the page, then `Target URL not found`, and exits with status
# 1, whether or not it found the page.
#
# A script that checks the status takes every page for missing. Of several headers with one name, extract prints the
# last, so a cookie is lost; by RFC 9110, section 5.3, Set-Cookie often occurs several times. The list of WARC files
# that the README shows (`--warcs`) raises a TypeError.
# Needs python3 with pip.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m pip install --quiet --disable-pip-version-check --target "$folder" \
    lockss-warcread==0.4.0 lockss-pybasic==0.1.1 pydantic-argparse==0.10.0 warcio==1.8.1
cd "$folder"
export PYTHONPATH=$folder
python3 - <<'PY'
import io

from warcio import StatusAndHeaders, WARCWriter

headers = [("Content-Type", "text/plain"), ("Set-Cookie", "a=1"), ("Set-Cookie", "b=2"), ("Content-Length", "5")]
with open("a.warc.gz", "wb") as file:
    writer = WARCWriter(file)
    http = StatusAndHeaders("200 OK", headers, protocol="HTTP/1.1")
    writer.write_record(
        writer.create_warc_record("https://h.example/a", "response", payload=io.BytesIO(b"page\n"), http_headers=http)
    )
PY
echo a.warc.gz >list.txt

run() {
    echo "$*"
    python3 -W ignore -m lockss.warcread "$@" 2>&1 | tail --lines 4 |
        sed 's/^TypeError: .*/TypeError/; /^  /d' || echo "status $?"
}
output=$(
    run report --warc a.warc.gz --url --http-code
    run extract --warc a.warc.gz --target-url https://h.example/a --http-payload
    run extract --warc a.warc.gz --target-url https://h.example/a --http-headers
    run extract --warc a.warc.gz --target-url https://h.example/b --http-payload
    run report --warcs list.txt --url
)
expected='report --warc a.warc.gz --url --http-code
https://h.example/a	200
extract --warc a.warc.gz --target-url https://h.example/a --http-payload
page
Target URL not found: https://h.example/a
status 1
extract --warc a.warc.gz --target-url https://h.example/a --http-headers
Content-Type: text/plain
Set-Cookie: b=2
Content-Length: 5
Target URL not found: https://h.example/a
status 1
extract --warc a.warc.gz --target-url https://h.example/b --http-payload
Target URL not found: https://h.example/b
status 1
report --warcs list.txt --url
TypeError
status 1'
echo "$output"
diff <(echo "$expected") <(echo "$output")
