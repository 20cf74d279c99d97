#!/usr/bin/env bash
# sitemaps 0.2.0 (crates.io): a URL in a CDATA section is read as an empty one, a comment in a <loc> cuts the URL to
# that of another page, and one month in <lastmod> loses all pages of the sitemap.
#
# A sitemap is XML, where a CDATA section is text and a comment is not. Many writers put CDATA around URLs with `&`.
# sitemaps.org has lastmod in W3C Datetime, whose forms include 2026-11 and 2026-11-27T12:00Z. The page with the empty
# URL is counted, so the number of pages looks right. The XML parser of CPython returns the right URLs.
# Needs cargo and python3; the build takes about 30 seconds.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/src"
cd "$folder"
cat >Cargo.toml <<'TOML'
[package]
name = "ask"
version = "0.0.0"
edition = "2021"

[dependencies]
sitemaps = "=0.2.0"
url = "=2.5.4"

[profile.dev]
debug = false
TOML
cat >src/main.rs <<'RUST'
use sitemaps::{sitemap::Sitemap, Entries, Sitemaps};

fn main() {
    for name in std::env::args().skip(1) {
        let text = std::fs::read_to_string(&name).unwrap();
        match Sitemap::read_from(text.as_bytes()) {
            Ok(sitemap) => println!("{name} {}", sitemap.locs().join(" ")),
            Err(error) => println!("{name} {}", format!("{error:?}").split('(').next().unwrap()),
        }
    }
}
RUST
write() {
    cat >"$1" <<XML
<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
<url><loc>$2</loc><lastmod>$3</lastmod></url>
<url><loc>https://h.example/a</loc></url>
</urlset>
XML
}
write plain 'https://h.example/list?x=1&amp;y=2' 2026-11-27
write cdata '<![CDATA[https://h.example/list?x=1&y=2]]>' 2026-11-27
write comment 'https://h.example/<!-- moved -->list' 2026-11-27
write month https://h.example/list 2026-11
write minute https://h.example/list 2026-11-27T12:00Z
files=(plain cdata comment month minute)

output=$(
    echo CPython
    python3 - "${files[@]}" <<'PY'
import sys
from xml.etree import ElementTree

for name in sys.argv[1:]:
    print(name, *("".join(loc.itertext()) for loc in ElementTree.parse(name).iterfind(".//{*}loc")))
PY
    echo sitemaps
    CARGO_TARGET_DIR=$folder/target cargo run --quiet -- "${files[@]}"
)
expected='CPython
plain https://h.example/list?x=1&y=2 https://h.example/a
cdata https://h.example/list?x=1&y=2 https://h.example/a
comment https://h.example/list https://h.example/a
month https://h.example/list https://h.example/a
minute https://h.example/list https://h.example/a
sitemaps
plain https://h.example/list?x=1&y=2 https://h.example/a
cdata  https://h.example/a
comment https://h.example/ https://h.example/a
month W3CDatetimeParseError
minute W3CDatetimeParseError'
echo "$output"
diff <(echo "$expected") <(echo "$output")
