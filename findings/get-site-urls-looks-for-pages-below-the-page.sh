#!/usr/bin/env bash
# get-site-urls 3.0.0 (npm): links relative to a page are looked for below that page, so that good links are reported
# as missing pages, and absolute links to the same site are not followed.
#
# By its README it makes a sitemap and finds the links that give 404. To the URL of a page, a link such as `b.html` is
# added with a slash between, whatever the page is called; by RFC 3986, section 5.2.3, it takes the place of what is
# after the last slash. Queries are cut off before a page is asked for, so of list?page=2 there is list only. What is
# linked in these ways is not in the sitemap, and what is named as broken are URLs that are on no page.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
npm install --silent --no-save --prefix "$folder" get-site-urls@3.0.0 >/dev/null

cat >"$folder/crawl.mjs" <<'JS'
import http from "http";
import getSiteUrls from "get-site-urls";

const pages = {
  "/": '<a href="/docs/a.html">A</a> <a href="docs/b.html">B</a> <a href="ORIGIN/c.html">C</a>',
  "/docs/a.html": '<a href="d.html">D</a> <a href="../e.html">E</a> <a href="list?page=2">next</a>',
  "/docs/b.html": '<a href="./a.html">A</a> <a href="?page=2">next</a>',
  "/c.html": "C",
  "/docs/d.html": "D",
  "/e.html": "E",
  "/docs/list?page=2": "next",
  "/docs/b.html?page=2": "next",
};
const server = http.createServer((question, answer) => {
  const page = pages[question.url];
  answer.writeHead(page ? 200 : 404, { "Content-Type": "text/html" });
  answer.end((page || "").replace("ORIGIN", origin));
});
await new Promise((done) => server.listen(0, "127.0.0.1", done));
const origin = `http://127.0.0.1:${server.address().port}`;
const { found, errors } = await getSiteUrls(origin, 100);
const short = (url) => url.replace(origin, "");
console.log("pages:", ...Object.keys(pages));
console.log("found:", ...found.map((url) => short(url) || "/"));
for (const error of errors) console.log(short(error));
server.close();
server.closeAllConnections();
JS
output=$(node "$folder/crawl.mjs")
expected='pages: / /docs/a.html /docs/b.html /c.html /docs/d.html /e.html /docs/list?page=2 /docs/b.html?page=2
found: / /docs/a.html /docs/b.html
404: /docs/a.html/d.html
404: /docs/a.html/list
404: /docs/b.html/a.html
404: /docs/e.html'
echo "$output"
diff <(echo "$expected") <(echo "$output")
