#!/usr/bin/env bash
# urllib.robotparser of CPython 3.13 and before: `Disallow: /?` closes the whole site. Since 3.14 it closes queries.
#
# Shops and blogs write the rule against endless searches and session numbers. The parser drops the empty query
# with its question mark, so that the rule is `/`. The CPythons are those of pyodide 0.29.5 and 314.0.7 (npm).
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat >"$folder/ask.cjs" <<'JS'
require("pyodide").loadPyodide().then((python) =>
  python.runPython(`
import platform
from urllib.robotparser import RobotFileParser

rules = RobotFileParser()
rules.parse(["User-agent: *", "Disallow: /?"])
answers = ["%s %s" % (path, rules.can_fetch("bot", "https://h.example" + path)) for path in ("/", "/page", "/?s=a")]
print("CPython %s: %s" % (platform.python_version(), ", ".join(answers)))
`),
);
JS
output=$(for version in 0.29.5 314.0.7; do
    npm install --silent --no-save --prefix "$folder/$version" "pyodide@$version" >/dev/null
    NODE_PATH=$folder/$version/node_modules node "$folder/ask.cjs"
done)
expected='CPython 3.13.2: / False, /page False, /?s=a False
CPython 3.14.2: / True, /page True, /?s=a False'
echo "$output"
diff <(echo "$expected") <(echo "$output")
