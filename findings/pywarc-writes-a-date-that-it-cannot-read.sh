#!/usr/bin/env bash
# pywarc 0.3.1 (PyPI): if the date of a record has a time zone, pywarc writes a date that it cannot read, and that
# stops cdxj-indexer 1.5.0, the indexer of pywb. Of a repeated header it reads no value.
#
# By its README write_block takes a datetime as record_date. It appends a Z even if the datetime has an offset:
# `2026-11-27T13:00:00+01:00Z`. ISO 28500 requires UTC in a form of W3C Datetime, which has either an offset or a Z.
# Only a datetime without a zone is written right. cdxj-indexer indexes the records before that date and no others.
# ISO 28500 allows several WARC-Concurrent-To in a record; the second one makes the value None.
# Needs python3 (3.11 or newer) with pip.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m pip install --quiet --disable-pip-version-check --target "$folder" pywarc==0.3.1 cdxj-indexer==1.5.0
cd "$folder"
export PYTHONPATH=$folder

output=$(
    python3 -W ignore - <<'PY'
from datetime import datetime, timedelta, timezone

from pywarc import WarcReader, WarcWriter

noon = datetime(2026, 11, 27, 12, tzinfo=timezone.utc)
dates = [noon.replace(tzinfo=None), noon, noon.astimezone(timezone(timedelta(hours=1)))]
writer = WarcWriter("a.warc", warc_meta={"software": "test"})
for number, date in enumerate(dates):
    headers = {"WARC-Target-URI": "https://h.example/%d" % number, "Content-Type": "application/http;msgtype=response"}
    writer.write_block(
        "response", b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx", record_date=date, record_headers=headers
    )
writer.flush()
del writer
for block in WarcReader("a.warc"):
    if block.type == "response":
        try:
            date = block.date
        except Exception as error:
            date = type(error).__name__
        print(block.headers["WARC-Target-URI"][0], block.headers["WARC-Date"][0], "read:", date)

record = "WARC/1.1\r\nWARC-Type: metadata\r\nWARC-Record-ID: <urn:uuid:0>\r\nWARC-Date: 2026-11-27T12:00:00Z\r\n"
for count in (1, 2):
    with open("b.warc", "w", newline="") as file:
        file.write(record)
        for number in range(count):
            file.write("WARC-Concurrent-To: <urn:uuid:%d>\r\n" % (number + 1))
        file.write("Content-Length: 1\r\n\r\nx\r\n\r\n")
    print(count, WarcReader("b.warc").get_next_block().headers["WARC-Concurrent-To"])
PY
    python3 -W ignore -m cdxj_indexer.main a.warc 2>&1 |
        grep --extended-regexp --only-matching '^(example,h\)/[0-9] [0-9]+|TypeError)' || true
)
expected="https://h.example/0 2026-11-27T12:00:00Z read: 2026-11-27 12:00:00+00:00
https://h.example/1 2026-11-27T12:00:00+00:00Z read: WarcHeaderBadValueError
https://h.example/2 2026-11-27T13:00:00+01:00Z read: WarcHeaderBadValueError
1 ['<urn:uuid:1>']
2 None
example,h)/0 20261127120000
TypeError"
echo "$output"
diff <(echo "$expected") <(echo "$output")
