#!/usr/bin/env bash
# pagexray 4.4.4 (npm, of sitespeed.io): each page that is compressed counts as one whose compression is missing, and in
# a HAR file of two sites the second site's own requests are third parties.
#
# `missingCompression` is in the output that its README shows. The values of a header are kept in a list, and that list
# is looked for among gzip, br and deflate. What the first party is, is guessed at the first page and kept for all, but
# a HAR file can have pages of many sites. At h.com.au the guess is each host with `com` in its name. An Expires next to
# `Cache-Control: public` counts for nothing. By RFC 9111, section 4.2.1, it holds where there is no max-age.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
npm install --silent --no-save --prefix "$folder" pagexray@4.4.4 >/dev/null

output=$(NODE_PATH=$folder/node_modules node --no-deprecation - <<'JS'
const { convert } = require("pagexray");

const start = "2026-11-27T12:00:00.000Z";
const timings = { blocked: 0, dns: 0, ssl: 0, connect: 0, send: 0, wait: 0, receive: 0 };
function log(...urls) {
  const entries = urls.map(([pageref, url, headers = {}]) => ({
    pageref,
    startedDateTime: start,
    time: 0,
    timings,
    request: { method: "GET", url, headers: [] },
    response: {
      status: 200,
      httpVersion: "HTTP/1.1",
      redirectURL: "",
      headers: Object.entries(headers).map(([name, value]) => ({ name, value })),
      headersSize: 100,
      bodySize: 1000,
      content: { size: 5000, mimeType: "text/html" },
    },
  }));
  const ids = [...new Set(urls.map(([pageref]) => pageref))];
  const pages = ids.map((id) => ({ id, startedDateTime: start, pageTimings: { onLoad: 1, onContentLoad: 1 } }));
  return convert({ log: { creator: { name: "script" }, pages, entries } }, { includeAssets: true });
}

for (const encoding of [undefined, "gzip", "br"]) {
  const [page] = log(["1", "https://h.example/", encoding && { "Content-Encoding": encoding }]);
  console.log(`encoding ${encoding}: missing ${page.missingCompression}`);
}
for (const page of log(
  ["1", "https://one.example/"],
  ["2", "https://two.example/"],
  ["2", "https://two.example/style"],
  ["3", "https://h.com.au/"],
)) {
  console.log(`${page.url}: first party ${page.firstParty.requests || 0}, third ${page.thirdParty.requests || 0}`);
}
const [shop] = log(["1", "https://h.com.au/"], ["1", "https://common-ads.example/"]);
console.log(`${shop.url}: first party ${shop.firstParty.requests}, by ${shop.firstPartyRegEx}`);
const headers = { Expires: "Fri, 01 Jan 2100 00:00:00 GMT" };
for (const more of [{}, { "Cache-Control": "public" }]) {
  const [page] = log(["1", "https://h.example/", { ...headers, ...more }]);
  console.log(Object.keys({ ...headers, ...more }).join(", "), page.assets[0].expires > 0);
}
JS
)
expected='encoding undefined: missing 1
encoding gzip: missing 1
encoding br: missing 1
https://one.example/: first party 1, third 0
https://two.example/: first party 0, third 2
https://h.com.au/: first party 0, third 1
https://h.com.au/: first party 2, by .*com.*
Expires true
Expires, Cache-Control false'
echo "$output"
diff <(echo "$expected") <(echo "$output")
