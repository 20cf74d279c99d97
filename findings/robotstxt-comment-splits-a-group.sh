#!/usr/bin/env bash
# robotstxt 1.1.2 (PyPI): a comment or a blank line between two user-agent lines ends the first one's group.
#
# By RFC 9309, section 2.2, user-agent lines in a row share the rules that follow, whatever comments and blank
# lines are between them. Here the first crawler gets no rules, so it may fetch everything.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m pip install --quiet --disable-pip-version-check --target "$folder" robotstxt==1.1.2

output=$(PYTHONPATH=$folder python3 - <<'PY'
from robotstxt.processor import RobotsFile

files = {
    "adjacent": "User-agent: a\nUser-agent: b\nDisallow: /\n",
    "comment between": "User-agent: a\n# and\nUser-agent: b\nDisallow: /\n",
    "blank line between": "User-agent: a\n\nUser-agent: b\nDisallow: /\n",
}
for name, text in files.items():
    rules = RobotsFile(text)
    answers = [rules.test_url("https://h.example/x", agent)["disallowed"] for agent in "ab"]
    print("%s: a disallowed %s, b disallowed %s" % (name, *answers))
PY
)
expected='adjacent: a disallowed True, b disallowed True
comment between: a disallowed False, b disallowed True
blank line between: a disallowed False, b disallowed True'
echo "$output"
diff <(echo "$expected") <(echo "$output")
