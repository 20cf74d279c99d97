#!/usr/bin/env bash
# exclusion 0.2.0 (npm, the robots.txt parser of netscrape): the first line of its README,
# `const { RobotsTxt } = require('exclusion')`, throws.
#
# The package is "type": "module" and exports a build for CommonJS as dist/cjs/index.js, which Node therefore
# reads as an ES module. `import` works.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
npm install --silent --no-save --prefix "$folder" exclusion@0.2.0 >/dev/null
cd "$folder"
cat >required.cjs <<'JS'
try {
  require("exclusion");
  console.log("require: loaded");
} catch (error) {
  console.log("require:", error.name);
}
JS
cat >imported.mjs <<'JS'
import { RobotsTxt } from "exclusion";
console.log("import:", new RobotsTxt("User-agent: *\nDisallow: /a\n").isPathAllowed("/a", "bot"));
JS
output=$(node required.cjs; node imported.mjs)
expected='require: ReferenceError
import: false'
echo "$output"
diff <(echo "$expected") <(echo "$output")
