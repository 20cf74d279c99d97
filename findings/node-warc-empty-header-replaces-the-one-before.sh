#!/usr/bin/env bash
# node-warc 3.3.1 (npm): a header of HTTP without a value becomes the value of the header before it, and the content of
# a record ends with a line end that is none of its bytes.
#
# `X-Empty:` after `Content-Type: text/html` makes the type `X-Empty:`. RFC 9112, section 5, has values that are empty
# and needs no space after the colon, so `Location:/b` is as much a header; here it is the value of another, too.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
npm install --silent --no-save --prefix "$folder" node-warc@3.3.1 >/dev/null
cd "$folder"
cat >run.js <<'JS'
const fs = require("node:fs");
const { AutoWARCParser } = require("node-warc");

const block = [
  "HTTP/1.1 200 OK", "Content-Type: text/html", "X-Empty:", "Server: s", "Location:/b", "Content-Length: 2", "", "ok",
].join("\r\n");
const record = (number) => [
  "WARC/1.0", "WARC-Type: response", "WARC-Target-URI: https://h.example/a", "WARC-Date: 2026-11-27T12:00:00Z",
  `WARC-Record-ID: <urn:uuid:00000000-0000-4000-8000-00000000000${number}>`,
  "Content-Type: application/http; msgtype=response", `Content-Length: ${block.length}`, "", `${block}\r\n\r\n`,
].join("\r\n");
fs.writeFileSync("a.warc", record(1) + record(2));
const parser = new AutoWARCParser("a.warc");
parser.on("record", ({ httpInfo, content }) => console.log(JSON.stringify([httpInfo.headers, content.toString()])));
parser.on("error", () => {});
parser.start();
JS
output=$(node run.js)
expected='[{"Content-Type":"X-Empty:","Server":"Location:/b","Content-Length":"2"},"ok\r\n"]
[{"Content-Type":"X-Empty:","Server":"Location:/b","Content-Length":"2"},"ok\r\n"]'
echo "$output"
diff <(echo "$expected") <(echo "$output")
