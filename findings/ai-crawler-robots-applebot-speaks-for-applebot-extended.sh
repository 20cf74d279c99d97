#!/usr/bin/env bash
# ai-crawler-robots 1.0.10 (PyPI): rules for Applebot are rules for Applebot-Extended as well, so that its audit turns
# the usual refusal of training round.
#
# Applebot reads pages for search; Applebot-Extended is the token by which a site refuses their use for training. The
# audit promises verdicts of RFC 9309, by whose section 2.2.1 a group is that of the product token it names. Here a
# token has the groups of all that it begins with, together with its own, and Allow wins a tie. gpyrobotstxt 1.0.0, a
# port of Google's matcher, answers the opposite for each file.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m pip install --quiet --disable-pip-version-check --target "$folder" ai-crawler-robots==1.0.10 gpyrobotstxt==1.0.0

output=$(PYTHONPATH=$folder python3 - <<'PY'
from ai_crawler_robots import audit
from gpyrobotstxt.robots_cc import RobotsMatcher

TOKEN = "Applebot-Extended"
for name, text in {
    "training refused, search not": "User-agent: Applebot\nAllow: /\n\nUser-agent: Applebot-Extended\nDisallow: /\n",
    "only search": "User-agent: *\nDisallow: /\n\nUser-agent: Applebot\nAllow: /\n",
    "search refused": "User-agent: Applebot\nDisallow: /\n",
}.items():
    [row] = [row for row in audit(text)["control_tokens"] if row["token"] == TOKEN]
    other = RobotsMatcher().one_agent_allowed_by_robots(text.encode(), TOKEN, "https://h.example/")
    print("%s: allowed %s by line %d, gpyrobotstxt %s" % (name, row["allowed"], row["line"], other))
PY
)
expected='training refused, search not: allowed True by line 2, gpyrobotstxt False
only search: allowed True by line 5, gpyrobotstxt False
search refused: allowed False by line 2, gpyrobotstxt True'
echo "$output"
diff <(echo "$expected") <(echo "$output")
