#!/usr/bin/env bash
# static-sitemap-cli 2.2.8 and gulp-sitemap 8.0.0 (npm): both leave pages with noindex out of a sitemap, one of them
# too few and the other too many.
#
# The first wants `robots` and `noindex` in lower case. Neither is case-sensitive by Google's page about the robots meta
# tag, nor is a name by the HTML standard (section 4.2.5.1). So pages with capitals there, which are not to be indexed,
# are announced. The second, with its option `noindex`, takes each meta element with that word in it for one, though its
# README has the `robots` meta tag; so a page about noindex is missing. `none`, which by Google's page is noindex and
# nofollow, is read by neither. And gulp-sitemap, which leaves out 404.html by its README, does so with each name that
# ends like it.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
npm install --silent --no-save --prefix "$folder" \
    static-sitemap-cli@2.2.8 gulp-sitemap@8.0.0 vinyl@3.0.1 >/dev/null 2>&1
cd "$folder"

cat >compare.mjs <<'JS'
import fs from "fs";
import gulpSitemap from "gulp-sitemap";
import Vinyl from "vinyl";
import { generateUrls } from "static-sitemap-cli";

const PAGES = {
  "plain.html": ["yes", ""],
  "noindex.html": ["no", '<meta name="robots" content="noindex">'],
  "capitals.html": ["no", '<META NAME="ROBOTS" CONTENT="NOINDEX, NOFOLLOW">'],
  "capital.html": ["no", '<meta name="Robots" content="noindex">'],
  "none.html": ["no", '<meta name="robots" content="none">'],
  "about.html": ["yes", '<meta name="description" content="What noindex means">'],
  "product-1404.html": ["yes", ""],
};
fs.mkdirSync("site");
for (const [name, [, meta]] of Object.entries(PAGES)) {
  fs.writeFileSync(`site/${name}`, `<!DOCTYPE html><html><head><title>page</title>${meta}</head></html>`);
}

const files = { base: "https://h.example/", root: "site", match: ["**/*.html"], ignore: ["404.html"] };
const options = { robots: true, changefreq: [], priority: [], concurrent: 1, clean: false, slash: false };
const urls = await generateUrls({ ...files, ...options });
const first = urls.map(({ loc }) => loc);

const stream = gulpSitemap({ siteUrl: "https://h.example/", noindex: true });
for (const name of Object.keys(PAGES)) {
  const path = `site/${name}`;
  const file = new Vinyl({ base: "site", path, contents: fs.readFileSync(path), stat: fs.statSync(path) });
  stream.write(file);
}
stream.end();
let second = "";
for await (const file of stream) second += file.contents;

for (const [name, [wanted]] of Object.entries(PAGES)) {
  const url = `https://h.example/${name}`;
  const said = [first.includes(url), second.includes(`<loc>${url}</loc>`)].map((is) => (is ? "yes" : "no"));
  console.log(`${name}: to be indexed ${wanted}, by static-sitemap-cli ${said[0]}, by gulp-sitemap ${said[1]}`);
}
JS
output=$(node compare.mjs)
expected='plain.html: to be indexed yes, by static-sitemap-cli yes, by gulp-sitemap yes
noindex.html: to be indexed no, by static-sitemap-cli no, by gulp-sitemap no
capitals.html: to be indexed no, by static-sitemap-cli yes, by gulp-sitemap no
capital.html: to be indexed no, by static-sitemap-cli yes, by gulp-sitemap no
none.html: to be indexed no, by static-sitemap-cli yes, by gulp-sitemap yes
about.html: to be indexed yes, by static-sitemap-cli yes, by gulp-sitemap no
product-1404.html: to be indexed yes, by static-sitemap-cli yes, by gulp-sitemap no'
echo "$output"
diff <(echo "$expected") <(echo "$output")
