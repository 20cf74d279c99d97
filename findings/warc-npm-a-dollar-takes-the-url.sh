#!/usr/bin/env bash
# warc 1.0.1 (npm): a record whose URL has a dollar sign has no URL.
#
# A field is matched by a pattern whose value may be anything but `$`, and a line that does not match is skipped without
# a word. The record arrives with all its other fields and its content. ISO 28500 lets any space, or none, follow the
# colon: here a second one becomes part of the value, and without one the field is lost, too.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
npm install --silent --no-save --prefix "$folder" warc@1.0.1 >/dev/null

output=$(NODE_PATH=$folder/node_modules node --no-deprecation - <<'JS'
const WARCStream = require("warc");

const block = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
const record = (uri) => [
  "WARC/1.0", "WARC-Type: response", `WARC-Target-URI:${uri}`, "WARC-Date: 2026-11-27T12:00:00Z",
  "WARC-Record-ID: <urn:uuid:00000000-0000-4000-8000-000000000001>", "Content-Type: application/http",
  `Content-Length: ${block.length}`, "", `${block}\r\n\r\n`,
].join("\r\n");
const stream = new WARCStream();
stream.on("data", ({ headers, content }) => {
  console.log(headers["WARC-Date"], content.length, "bytes", JSON.stringify(headers["WARC-Target-URI"]));
});
const uris = [" https://h.example/a", " https://h.example/a?price=$5", "https://h.example/b", "  https://h.example/c"];
stream.end(Buffer.from(uris.map(record).join("")));
JS
)
expected='2026-11-27T12:00:00Z 40 bytes "https://h.example/a"
2026-11-27T12:00:00Z 40 bytes undefined
2026-11-27T12:00:00Z 40 bytes undefined
2026-11-27T12:00:00Z 40 bytes " https://h.example/c"'
echo "$output"
diff <(echo "$expected") <(echo "$output")
