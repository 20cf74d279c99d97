#!/usr/bin/env bash
# robots-txt-guard 1.0.2 with robots-txt-parse 2.0.1 (npm, made for each other): of two groups for one crawler the
# second binds nobody, and the group of `bot` is that of Googlebot.
#
# By RFC 9309, section 2.2.1, groups of one product token are one group. Files that several tools add to have such. The
# name of a group is looked for anywhere in that of the crawler, and if several are in it, the longest is taken. Without
# a group of its own a crawler follows that of `*`; here a stranger's comes first. robots-parser 3.0.1 does as the RFC.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
npm install --silent --no-save --prefix "$folder" \
    robots-txt-guard@1.0.2 robots-txt-parse@2.0.1 robots-parser@3.0.1 >/dev/null

output=$(NODE_PATH=$folder/node_modules node - <<'JS'
const { Readable } = require("stream");
const guard = require("robots-txt-guard");
const parse = require("robots-txt-parse");
const reference = require("robots-parser");

(async () => {
  for (const [agent, path, ...lines] of [
    ["mybot", "/a", "User-agent: *", "Disallow: /a", "User-agent: *", "Disallow: /b"],
    ["mybot", "/b", "User-agent: *", "Disallow: /a", "User-agent: *", "Disallow: /b"],
    ["Googlebot", "/a", "User-agent: bot", "Disallow: /a"],
    ["Googlebot", "/b", "User-agent: *", "Disallow: /b", "User-agent: bot", "Disallow: /a"],
  ]) {
    const text = lines.join("\n") + "\n";
    const allowed = guard(await parse(Readable.from([text]))).isAllowed(agent, path);
    const other = reference("https://h.example/robots.txt", text).isAllowed("https://h.example" + path, agent);
    console.log(`${lines.join(", ")} | ${agent} ${path} allowed ${allowed}, by robots-parser ${other}`);
  }
})();
JS
)
expected='User-agent: *, Disallow: /a, User-agent: *, Disallow: /b | mybot /a allowed false, by robots-parser false
User-agent: *, Disallow: /a, User-agent: *, Disallow: /b | mybot /b allowed true, by robots-parser false
User-agent: bot, Disallow: /a | Googlebot /a allowed false, by robots-parser true
User-agent: *, Disallow: /b, User-agent: bot, Disallow: /a | Googlebot /b allowed true, by robots-parser false'
echo "$output"
diff <(echo "$expected") <(echo "$output")
