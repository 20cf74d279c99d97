#!/usr/bin/env bash
# warc-extractor 0.1.1 (PyPI): of a filter by URL only the scheme counts, so that the records of one host are those of
# all, and a value with a capital letter is found by no filter.
#
# It makes a WARC of the records that pass, with filters such as `warc-type:request` and `http:content-type:pdf`. By its
# README (ArchiveTools, "Basic usage") a filter is case-insensitive and its value may be a part. What is after the next
# colon is cut off: of warc-target-uri:https://h.example/a/ is left `https`, and everything under https passes, so
# that an archive of one site has the others. The filter is made lower case, but not the value of the record, so that
# `http:server:apache` finds no `Apache`, and `!http:server:Apache`, for the records of other servers, leaves none out.
# Nor is a time to be found, since WARC-Date has a T and colons.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m pip install --quiet --disable-pip-version-check --root-user-action ignore --target "$folder/python" \
    warc-extractor==0.1.1 warcio==1.8.1 six==1.17.0
export PYTHONPATH=$folder/python
cd "$folder"

output=$(python3 - <<'PY'
import io
import subprocess
import sys

from warcio import ArchiveIterator, WARCWriter
from warcio.statusandheaders import StatusAndHeaders

with open("in.warc", "wb") as file:
    writer = WARCWriter(file, gzip=False, warc_version="1.0")
    for uri, server, minute in (
        ("https://h.example/a/", "Apache", "00"),
        ("https://h.example/b/", "Apache", "01"),
        ("https://b.example/", "nginx", "02"),
        ("http://h.example/a/", "nginx", "03"),
    ):
        headers = StatusAndHeaders("200 OK", [("Server", server)], protocol="HTTP/1.1")
        date = {"WARC-Date": f"2026-11-27T12:{minute}:00Z"}
        body = io.BytesIO(b"page")
        record = writer.create_warc_record(uri, "response", body, http_headers=headers, warc_headers_dict=date)
        writer.write_record(record)

for rule in (
    "warc-type:Response",
    "warc-target-uri:https://h.example/a/",
    "warc-target-uri:h.example/a/",
    "warc-date:2026-11-27T12:03",
    "http:server:nginx",
    "http:server:Apache",
    "http:server:apache",
    "!http:server:Apache",
):
    command = ["-m", "warc_extractor.warc_extractor", "-path", ".", "-string", "in.warc", "-output_path", "out"]
    subprocess.run([sys.executable, *command, "-dump", "warc", rule], check=True, stdout=subprocess.PIPE)
    with open("out/output.warc", "rb") as file:
        uris = [record.rec_headers.get_header("WARC-Target-URI") for record in ArchiveIterator(file)]
    print(f"{rule}: {' '.join(uris) or 'none'}")
PY
)
expected='warc-type:Response: https://h.example/a/ https://h.example/b/ https://b.example/ http://h.example/a/
warc-target-uri:https://h.example/a/: https://h.example/a/ https://h.example/b/ https://b.example/
warc-target-uri:h.example/a/: https://h.example/a/ http://h.example/a/
warc-date:2026-11-27T12:03: none
http:server:nginx: https://b.example/ http://h.example/a/
http:server:Apache: none
http:server:apache: none
!http:server:Apache: https://h.example/a/ https://h.example/b/ https://b.example/ http://h.example/a/'
echo "$output"
diff <(echo "$expected") <(echo "$output")
