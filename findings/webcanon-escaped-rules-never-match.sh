#!/usr/bin/env bash
# webcanon 0.3.0 (PyPI): a rule with an escape never matches, whatever is asked, so what it closes is open.
#
# The URL is decoded before it is compared, and the rule is not. RFC 9309, section 2.2.2, compares both in one
# form. A site that writes its paths as URLs have them (`/caf%C3%A9`, `/a%20b`, `/%7Euser`) forbids nothing.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m pip install --quiet --disable-pip-version-check --target "$folder" webcanon==0.3.0

output=$(PYTHONPATH=$folder python3 - <<'PY'
from webcanon.robots import evaluate_robots, parse_robots

for rule, urls in {"/caf%C3%A9": ["/caf%C3%A9", "/café"], "/a%20b": ["/a%20b"], "/%7Euser": ["/%7Euser", "/~user"], "/plain": ["/plain"]}.items():
    policy = parse_robots("User-agent: *\nDisallow: %s\n" % rule)
    for url in urls:
        print(rule, url, evaluate_robots(policy, "https://h.example" + url, "bot")[0].value)
PY
)
expected='/caf%C3%A9 /caf%C3%A9 allowed_implicit
/caf%C3%A9 /café allowed_implicit
/a%20b /a%20b allowed_implicit
/%7Euser /%7Euser allowed_implicit
/%7Euser /~user allowed_implicit
/plain /plain disallowed_explicit'
echo "$output"
diff <(echo "$expected") <(echo "$output")
