#!/usr/bin/env bash
# access_log_parser 0.11.0 (crates.io): a request by HTTP/2 is one by HTTP/1.1, a request by HTTP/3 is invalid, and an
# agent ends at its first quote.
#
# Its README has the common and combined formats, and the version of a request is one of the crate `http`, which knows
# HTTP/2 and HTTP/3. For `HTTP/2.0`, as servers log it, the result is HTTP_11, and nothing says so. A count of versions
# has no HTTP/2, and its requests by HTTP/3 are among the garbage of scanners. Apache writes a quote in a header as \"
# (mod_log_config, "Format Notes"). The agent ends there, and what follows is left out of an entry that is Ok. A line
# with a quote in its referrer has no entry.
# Needs cargo; the build takes about 10 seconds.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/src"
cat >"$folder/Cargo.toml" <<'TOML'
[package]
name = "logs"
version = "0.0.0"
edition = "2021"
[dependencies]
access_log_parser = "=0.11.0"
TOML
cat >"$folder/src/main.rs" <<'RUST'
use access_log_parser::{parse, LogEntry, LogType, RequestResult};

fn main() {
    for rest in [
        r#""GET /a HTTP/1.0" 200 5 "-" "Reader/1.0""#,
        r#""GET /a HTTP/1.1" 200 5 "-" "Reader/1.0""#,
        r#""GET /a HTTP/2.0" 200 5 "-" "Reader/1.0""#,
        r#""GET /a HTTP/3.0" 200 5 "-" "Reader/1.0""#,
        r#""GET /a HTTP/1.1" 200 5 "-" "Reader \"fast\" (Linux)""#,
        r#""GET /a HTTP/1.1" 200 5 "https://h.example/?q=\"b\"" "Reader/1.0""#,
    ] {
        let line = format!("192.0.2.1 - - [27/Nov/2026:12:00:00 +0000] {rest}");
        match parse(LogType::CombinedLog, &line) {
            Ok(LogEntry::CombinedLog(entry)) => {
                let request = match entry.request {
                    RequestResult::Valid(request) => format!("{:?}", request.version()),
                    _ => "invalid".to_string(),
                };
                println!("{rest}: {request}, agent {}", entry.user_agent.unwrap_or("none"));
            }
            _ => println!("{rest}: no entry"),
        }
    }
}
RUST
cargo build --quiet --manifest-path "$folder/Cargo.toml" --target-dir "$folder/target"

output=$("$folder/target/debug/logs")
expected='"GET /a HTTP/1.0" 200 5 "-" "Reader/1.0": HTTP/1.0, agent Reader/1.0
"GET /a HTTP/1.1" 200 5 "-" "Reader/1.0": HTTP/1.1, agent Reader/1.0
"GET /a HTTP/2.0" 200 5 "-" "Reader/1.0": HTTP/1.1, agent Reader/1.0
"GET /a HTTP/3.0" 200 5 "-" "Reader/1.0": invalid, agent Reader/1.0
"GET /a HTTP/1.1" 200 5 "-" "Reader \"fast\" (Linux)": HTTP/1.1, agent Reader \
"GET /a HTTP/1.1" 200 5 "https://h.example/?q=\"b\"" "Reader/1.0": no entry'
echo "$output"
diff <(echo "$expected") <(echo "$output")
