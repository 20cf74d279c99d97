#!/usr/bin/env bash
# urlnorm 0.1.6 (crates.io): /tag/rust and /tag?rust have one key, as have /user/john.smith and /user/john.doe, and of
# the host m.example only the top-level domain is left.
#
# The README lists what a key ignores: the scheme, `www.` and `m.`, duplicate slashes, the order and the tracking
# parameters of the query. It does not list the `?`, `&` and `=` of a query, but a key joins all parts of path and
# query with colons. The end of the last path segment is dropped if it looks like a file type, as .smith does. The
# README recommends storing keys, and the docs of the crate say that two URLs are the same if their keys are equal.
# For /a:b and /a/b the keys are equal, and are_same returns false. A crawler that stores keys skips pages that it
# never fetched.
# Needs cargo; the build takes about 30 seconds.
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
url = "=2.5.4"
urlnorm = "=0.1.6"

[profile.dev]
debug = false
TOML
cat >src/main.rs <<'RUST'
use url::Url;
use urlnorm::UrlNormalizer;

fn main() {
    let normalizer = UrlNormalizer::default();
    for (a, b) in [
        ("https://h.example/tag/rust", "https://h.example/tag?rust"),
        ("https://h.example/list?sort=date", "https://h.example/list/sort/date"),
        ("https://h.example/s?a=b&c=d", "https://h.example/s?a=b&c&d"),
        ("https://h.example/user/john.smith", "https://h.example/user/john.doe"),
        ("https://h.example/a:b", "https://h.example/a/b"),
        ("https://m.example/", "https://www.example/"),
    ] {
        let [a, b] = [a, b].map(|it| Url::parse(it).unwrap());
        let [first, second] = [&a, &b].map(|it| normalizer.compute_normalization_string(it));
        let keys = if first == second { "one key" } else { "two keys" };
        println!("{a} {b}: {keys} {first} same {}", normalizer.are_same(&a, &b));
    }
}
RUST
output=$(CARGO_TARGET_DIR=$folder/target cargo run --quiet)
expected='https://h.example/tag/rust https://h.example/tag?rust: one key h.example:tag:rust: same true
https://h.example/list?sort=date https://h.example/list/sort/date: one key h.example:list:sort:date: same true
https://h.example/s?a=b&c=d https://h.example/s?a=b&c&d: one key h.example:s:a:b:c:d: same true
https://h.example/user/john.smith https://h.example/user/john.doe: one key h.example:user:john: same true
https://h.example/a:b https://h.example/a/b: one key h.example:a:b: same false
https://m.example/ https://www.example/: one key example: same true'
echo "$output"
diff <(echo "$expected") <(echo "$output")
