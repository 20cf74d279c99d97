#!/usr/bin/env bash
# cloudfront-log-parser 1.2.0 (npm): the line that names the columns is skipped, so that in a log with chosen fields
# the values have wrong names, and of a query with an escaped `&` one value becomes two.
#
# CloudFront's standard logging (v2) lets one choose the fields, and the `#Fields` line of the W3C format says which
# ones a file has. Here they are those of the old logs, in that order: the method is an edge location, the path a number
# of bytes. Every field is unescaped, the query and path too, which are then no longer those that were asked for.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
npm install --silent --no-save --prefix "$folder" cloudfront-log-parser@1.2.0 >/dev/null

output=$(NODE_PATH=$folder/node_modules node - <<'JS'
const { parse } = require("cloudfront-log-parser");

const all = "date time x-edge-location sc-bytes c-ip cs-method cs(Host) cs-uri-stem sc-status cs(Referer) " +
  "cs(User-Agent) cs-uri-query";
const chosen = "date time cs-method cs-uri-stem cs-uri-query sc-status";
const row = {
  date: "2026-11-27", time: "12:00:00", "x-edge-location": "MUC51", "sc-bytes": "5", "c-ip": "192.0.2.1",
  "cs-method": "GET", "cs(Host)": "h.example", "cs-uri-stem": "/a%2Fb", "sc-status": "200", "cs(Referer)": "-",
  "cs(User-Agent)": "bot", "cs-uri-query": "q=rock%26roll",
};
for (const fields of [all, chosen]) {
  const line = fields.split(" ").map((name) => row[name]).join("\t");
  const [parsed] = parse(`#Version: 1.0\n#Fields: ${fields}\n${line}\n`);
  for (const name of ["x-edge-location", "sc-bytes", "cs-method", "cs-uri-stem", "cs-uri-query", "sc-status"]) {
    console.log(`${fields === all ? "old" : "chosen"}: ${name} ${parsed[name]}`);
  }
}
JS
)
expected='old: x-edge-location MUC51
old: sc-bytes 5
old: cs-method GET
old: cs-uri-stem /a/b
old: cs-uri-query q=rock&roll
old: sc-status 200
chosen: x-edge-location GET
chosen: sc-bytes /a/b
chosen: cs-method 200
chosen: cs-uri-stem undefined
chosen: cs-uri-query undefined
chosen: sc-status undefined'
echo "$output"
diff <(echo "$expected") <(echo "$output")
