#!/usr/bin/env bash
# warc 0.4.0 (crates.io): a WARC 1.1 record whose date is a day is not read, and of several WARC-Concurrent-To headers
# only the last is kept.
#
# ISO 28500:2017 (WARC 1.1) allows every form of W3C Datetime in WARC-Date, such as 2026-11-27 for a capture whose
# time is unknown. It also allows several WARC-Concurrent-To in one record. The crate stores headers in a map, so that
# even raw records have one of them, and a copy of a WARC that the crate writes lacks the others for good. warcio
# 1.8.1 (PyPI) reads both.
# Needs cargo and python3 with pip; the build takes about 30 seconds.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/src"
cd "$folder"
python3 -m pip install --quiet --disable-pip-version-check --target "$folder/python" warcio==1.8.1
cat >Cargo.toml <<'TOML'
[package]
name = "ask"
version = "0.0.0"
edition = "2021"

[dependencies]
warc = { version = "=0.4.0", default-features = false }
url = "=2.5.4"

[profile.dev]
debug = false
TOML
cat >src/main.rs <<'RUST'
use warc::{WarcHeader, WarcReader};

fn main() {
    let file = std::fs::read("a.warc").unwrap();
    for record in WarcReader::new(&file[..]).iter_records() {
        match record {
            Ok(it) => println!("{} {:?}", it.date(), it.header(WarcHeader::ConcurrentTo).unwrap()),
            Err(error) => println!("{error}"),
        }
    }
    let raw = WarcReader::new(&file[..]).iter_raw_records().next().unwrap().unwrap().0;
    let mut written = Vec::new();
    warc::WarcWriter::new(&mut written).write_raw(raw, b"x").unwrap();
    let copy = String::from_utf8(written).unwrap().to_lowercase();
    println!("copied: {} of 2", copy.matches("warc-concurrent-to").count());
}
RUST
for date in 2026-11-27T12:00:00Z 2026-11-27T12:00:00.5Z 2026-11-27T12:00Z 2026-11-27 2026; do
    printf 'WARC/1.1\r\nWARC-Type: metadata\r\nWARC-Record-ID: <urn:uuid:0>\r\nWARC-Date: %s\r\n' "$date"
    printf 'WARC-Concurrent-To: <urn:uuid:1>\r\nWARC-Concurrent-To: <urn:uuid:2>\r\nContent-Length: 1\r\n\r\nx\r\n\r\n'
done >a.warc
output=$(
    PYTHONPATH=$folder/python python3 - <<'PY'
from warcio import ArchiveIterator

for record in ArchiveIterator(open("a.warc", "rb")):
    headers = record.rec_headers.headers
    date = record.rec_headers.get_header("WARC-Date")
    print(date, *(value for name, value in headers if name == "WARC-Concurrent-To"))
PY
    CARGO_TARGET_DIR=$folder/target cargo run --quiet
)
expected='2026-11-27T12:00:00Z <urn:uuid:1> <urn:uuid:2>
2026-11-27T12:00:00.5Z <urn:uuid:1> <urn:uuid:2>
2026-11-27T12:00Z <urn:uuid:1> <urn:uuid:2>
2026-11-27 <urn:uuid:1> <urn:uuid:2>
2026 <urn:uuid:1> <urn:uuid:2>
2026-11-27 12:00:00 UTC "<urn:uuid:2>"
2026-11-27 12:00:00.500 UTC "<urn:uuid:2>"
Malformed header: warc-date: not an ISO 8601 datestamp
Malformed header: warc-date: not an ISO 8601 datestamp
Malformed header: warc-date: not an ISO 8601 datestamp
copied: 1 of 2'
echo "$output"
diff <(echo "$expected") <(echo "$output")
