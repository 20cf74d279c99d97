#!/usr/bin/env bash
# access-log 0.4.1 (npm) in Express 4.22.3: /shop/item is logged as /item.
#
# Its README has `url` as the requested URL. A router that Express mounts at /shop sees URLs without /shop (Express API,
# req.originalUrl), and the line is made when the answer ends, inside the router. So the log has pages that nobody
# asked for, and hits of pages with one name in two routers are added up. Of the quotes in an agent the first is
# escaped, so that a reader of combined logs takes the second for the end of the field.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
npm install --silent --no-save --prefix "$folder" access-log@0.4.1 express@4.22.3 >/dev/null

output=$(NODE_PATH=$folder/node_modules node --no-deprecation - <<'JS'
const accesslog = require("access-log");
const express = require("express");

const lines = [];
const shop = express.Router();
const app = express();
app.use((question, answer, next) => {
  accesslog(question, answer, undefined, (line) => lines.push(line));
  next();
});
for (const site of [shop, app]) site.get(["/", "/item"], (_, answer) => answer.send("ok"));
app.use("/shop", shop);
const server = app.listen(0, "127.0.0.1", async () => {
  for (const path of ["/item", "/shop/item", "/shop?page=2"]) {
    const url = `http://127.0.0.1:${server.address().port}${path}`;
    await (await fetch(url, { headers: { "User-Agent": 'bot "a" "b"' } })).text();
    console.log(path, lines.pop().replace(/^.*?\] /, ""));
  }
  server.close();
  server.closeAllConnections();
});
JS
)
expected='/item "GET /item HTTP/1.1" 200 2 "-" "bot \x22a" "b""
/shop/item "GET /item HTTP/1.1" 200 2 "-" "bot \x22a" "b""
/shop?page=2 "GET /?page=2 HTTP/1.1" 200 2 "-" "bot \x22a" "b""'
echo "$output"
diff <(echo "$expected") <(echo "$output")
