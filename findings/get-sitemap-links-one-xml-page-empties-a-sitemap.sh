#!/usr/bin/env bash
# get-sitemap-links 1.1.0 (npm): a sitemap whose first page ends in .xml has no links, an index whose first sitemap
# has a query is returned as a list of pages, and `&amp;` stays in URLs.
#
# By its README it fetches all links recursively. By sitemaps.org the root element, urlset or sitemapindex, says which
# of the two a file is. Here the end of the first URL decides. A sitemap that begins with /feed.xml is taken for an
# index: each of its pages is requested and searched for links, and the result is empty. Shops have indexes with
# sitemap_products_1.xml?from=1. crawl-sitemap 1.0.1 (npm) reads all of these.
# Needs node with npm.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
npm install --silent --no-save --prefix "$folder" get-sitemap-links@1.1.0 crawl-sitemap@1.0.1 axios@0.21.4 >/dev/null
cd "$folder"
cat >run.mjs <<'JS'
import http from "node:http";
import { createRequire } from "node:module";
import crawl from "crawl-sitemap";

const links = createRequire(import.meta.url)("get-sitemap-links").default;
const NAMESPACE = "http://www.sitemaps.org/schemas/sitemap/0.9";
let origin;
const write = (root, child, paths) => {
  const children = paths.map((path) => `<${child}><loc>${origin}${path}</loc></${child}>`).join("");
  return `<?xml version="1.0" encoding="UTF-8"?>\n<${root} xmlns="${NAMESPACE}">${children}</${root}>`;
};
const files = {
  "/pages.xml": () => write("urlset", "url", ["/a", "/list?x=1&amp;y=2"]),
  "/feed-first.xml": () => write("urlset", "url", ["/feed.xml", "/a", "/b"]),
  "/feed-last.xml": () => write("urlset", "url", ["/a", "/b", "/feed.xml"]),
  "/index.xml": () => write("sitemapindex", "sitemap", ["/products.xml?from=1", "/pages.xml"]),
  "/products.xml?from=1": () => write("urlset", "url", ["/c", "/d"]),
};
let asked = [];
const server = http.createServer((question, answer) => {
  asked.push(question.url);
  answer.setHeader("Content-Type", "application/xml");
  answer.end((files[question.url] ?? (() => "<page/>"))());
}).listen(0, "127.0.0.1", async () => {
  origin = `http://127.0.0.1:${server.address().port}`;
  const show = (urls) => urls.map((url) => url.replace(origin, "")).join(" ") || "none";
  for (const path of ["/pages.xml", "/feed-last.xml", "/feed-first.xml", "/index.xml"]) {
    asked = [];
    const found = show(await links(origin + path));
    console.log(`${path}: ${found} (asked for ${asked.slice(1).sort().join(" ") || "nothing"} more)`);
    const reference = [];
    for await (const url of crawl(origin + path)) reference.push(url);
    console.log(`  crawl-sitemap: ${show(reference)}`);
  }
  server.close();
  server.closeAllConnections();
});
JS
output=$(node --no-deprecation run.mjs)
expected='/pages.xml: /a /list?x=1&amp;y=2 (asked for nothing more)
  crawl-sitemap: /a /list?x=1&y=2
/feed-last.xml: /a /b /feed.xml (asked for nothing more)
  crawl-sitemap: /a /b /feed.xml
/feed-first.xml: none (asked for /a /b /feed.xml more)
  crawl-sitemap: /feed.xml /a /b
/index.xml: /products.xml?from=1 /pages.xml (asked for nothing more)
  crawl-sitemap: /c /d /a /list?x=1&y=2'
echo "$output"
diff <(echo "$expected") <(echo "$output")
