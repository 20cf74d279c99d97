#!/usr/bin/env bash
# sitemapper 4.1.6 (npm): `&amp;` in a URL is decoded, `&#38;` and `&#x26;` are not, and what follows them becomes a
# fragment. A page with the year of its last change, `<lastmod>2026</lastmod>`, is older than any other.
#
# The three are the same character in XML. A crawler that takes the URL as it comes asks for `/b?x=1&`. W3C Datetime,
# which sitemaps.org names for lastmod, has years alone; this one becomes a number, and that the milliseconds since 1970.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
npm install --silent --no-save --prefix "$folder" sitemapper@4.1.6 fast-xml-parser@5.12.1 >/dev/null
cd "$folder"
cat >run.mjs <<'JS'
import http from "node:http";
import Sitemapper from "sitemapper";

const pages = [
  ["/a?x=1&amp;y=2", "2026-11-27"], ["/b?x=1&#38;y=2", "2026-11"], ["/c?x=1&#038;y=2", "2026-11"],
  ["/d?x=1&#x26;y=2", "2026-11-27T12:00:00Z"], ["/year", "2026"],
].map(([path, lastmod]) => `<url><loc>https://h.example${path}</loc><lastmod>${lastmod}</lastmod></url>`);
const sitemap = `<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${pages.join("")}</urlset>`;
const server = http.createServer((_, answer) => answer.end(sitemap)).listen(0, "127.0.0.1", async () => {
  const url = `http://127.0.0.1:${server.address().port}/sitemap.xml`;
  for (const lastmod of [undefined, Date.UTC(2020, 0, 1)]) {
    const { sites } = await new Sitemapper({ url, lastmod }).fetch();
    const urls = sites.map((site) => new URL(site));
    const shown = urls.map(({ pathname, search, hash }) => `${pathname}${search} ${hash}`.trim());
    console.log(lastmod ? "since 2020:" : "all:", shown.join(", "));
  }
  server.close();
});
JS
output=$(node run.mjs)
expected='all: /a?x=1&y=2, /b?x=1& #38;y=2, /c?x=1& #038;y=2, /d?x=1& #x26;y=2, /year
since 2020: /a?x=1&y=2, /b?x=1& #38;y=2, /c?x=1& #038;y=2, /d?x=1& #x26;y=2'
echo "$output"
diff <(echo "$expected") <(echo "$output")
