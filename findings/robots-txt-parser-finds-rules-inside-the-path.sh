#!/usr/bin/env bash
# robots-txt-parser 2.0.3 (npm): a rule matches anywhere in the path, not only at its start.
#
# By RFC 9309, section 2.2.2, a rule is compared from the first byte of the path. Here `Disallow: /tmp` closes
# /a/tmp as well, and `Allow: /b` opens what `Disallow: /c` of the same length closes.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
npm install --silent --no-save --prefix "$folder" robots-txt-parser@2.0.3 >/dev/null

output=$(NODE_PATH=$folder/node_modules node - <<'JS'
const parser = require("robots-txt-parser")({ userAgent: "bot", allowOnNeutral: true });
const ask = (text, path) => {
  parser.parseRobots("https://h.example", text);
  console.log(path, parser.canCrawlSync("https://h.example" + path));
};
ask("User-agent: *\nDisallow: /tmp\n", "/tmp");
ask("User-agent: *\nDisallow: /tmp\n", "/a/tmp");
ask("User-agent: *\nDisallow: /c\nAllow: /b\n", "/c/b");
ask("User-agent: *\nDisallow: /c\nAllow: /b\n", "/c/d");
JS
)
expected='/tmp false
/a/tmp false
/c/b true
/c/d false'
echo "$output"
diff <(echo "$expected") <(echo "$output")
