#!/usr/bin/env bash
# fastrobots 0.3.0 (PyPI): a group of one empty Disallow, the usual way to let a crawler in, does not count,
# and the rules of `*` apply to that crawler.
#
# By RFC 9309, section 2.2.1, a group that names the crawler replaces that of `*`, whatever rules it has. With
# `Allow: /` in its place the crawler is let in.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m pip install --quiet --disable-pip-version-check --target "$folder" fastrobots==0.3.0

output=$(PYTHONPATH=$folder python3 - <<'PY'
from fastrobots import Robots

for rule in ("Disallow:", "Allow: /"):
    rules = Robots.parse("User-agent: friend\n%s\n\nUser-agent: *\nDisallow: /\n" % rule)
    print("%s friend allowed %s, other allowed %s" % (rule, *(rules.allowed("/x", it) for it in ("friend", "other"))))
PY
)
expected='Disallow: friend allowed False, other allowed False
Allow: / friend allowed True, other allowed False'
echo "$output"
diff <(echo "$expected") <(echo "$output")
