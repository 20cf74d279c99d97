#!/usr/bin/env bash
# seenreq 3.0.0 (npm, tells a crawler which requests it has seen): of the pages of a list, only the first is new if the
# URL has a query.
#
# Its README takes the options of request, which adds `qs` to the query that a URL has. seenreq heeds `qs` only where
# the URL has none, so that requests which differ in nothing else count as one. A crawler that asks it never fetches
# page two.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
npm install --silent --no-save --prefix "$folder" seenreq@3.0.0 request@2.88.2 >/dev/null

output=$(NODE_PATH=$folder/node_modules node --no-deprecation - <<'JS'
const http = require("http");
const request = require("request");
const Seen = require("seenreq");

const server = http.createServer((question, answer) => answer.end(question.url)).listen(0, "127.0.0.1", async () => {
  const origin = `http://127.0.0.1:${server.address().port}`;
  const seen = new Seen();
  await seen.initialize();
  for (const path of ["/list", "/list?sort=date"]) {
    for (const page of [1, 2, 3]) {
      const options = { uri: origin + path, qs: { page } };
      const fetched = await new Promise((done) => request({ ...options }, (_, __, body) => done(body)));
      console.log(fetched, "seen", await seen.exists({ ...options }));
    }
  }
  server.close();
});
JS
)
expected='/list?page=1 seen false
/list?page=2 seen false
/list?page=3 seen false
/list?sort=date&page=1 seen false
/list?sort=date&page=2 seen true
/list?sort=date&page=3 seen true'
echo "$output"
diff <(echo "$expected") <(echo "$output")
