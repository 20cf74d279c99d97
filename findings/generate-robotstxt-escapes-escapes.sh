#!/usr/bin/env bash
# generate-robotstxt 8.0.3 (npm): a path that is escaped already is escaped again, so that its rule never matches.
#
# A path in plain text becomes right. One that was copied from an address bar or a sitemap, where paths are
# escaped, becomes a rule for another page, which nobody has.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
npm install --silent --no-save --prefix "$folder" generate-robotstxt@8.0.3 robots-parser@3.0.1 >/dev/null

output=$(NODE_PATH=$folder/node_modules node - <<'JS'
const generated = require("generate-robotstxt");
const parser = require("robots-parser");

(async () => {
  for (const path of ["/café", "/caf%C3%A9", "/a b", "/a%20b"]) {
    const text = await (generated.default ?? generated)({ policy: [{ userAgent: "*", disallow: path }] });
    const rule = /^Disallow: .*$/m.exec(text)[0];
    const url = new URL(path, "https://h.example");
    const allowed = parser("https://h.example/robots.txt", text).isAllowed(url.href, "bot");
    console.log(`${path}: ${rule}, ${url.pathname} allowed ${allowed}`);
  }
})();
JS
)
expected='/café: Disallow: /caf%C3%A9, /caf%C3%A9 allowed false
/caf%C3%A9: Disallow: /caf%25C3%25A9, /caf%C3%A9 allowed true
/a b: Disallow: /a%20b, /a%20b allowed false
/a%20b: Disallow: /a%2520b, /a%20b allowed true'
echo "$output"
diff <(echo "$expected") <(echo "$output")
