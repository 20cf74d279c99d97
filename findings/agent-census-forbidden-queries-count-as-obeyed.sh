#!/usr/bin/env bash
# agent-census 0.4.4 (PyPI): of the clients in an access log, those that took forbidden queries respect robots.txt, and
# those that took only allowed queries ignore it.
#
# It divides clients into those that keep to a robots.txt and those that do not, with a matcher after RFC 9309 by the
# docstring of its robots/parser.py (wildcards, the longest rule). What it matches is the path of the request alone,
# the query cut off, though it has that in another field. By RFC 9309, section 2.2.2 (see its table of encoded paths),
# a query is a part of what rules are about. Rules with `?` or a parameter are those that keep crawlers out of searches
# and calendars, so whom a site blocks by this report are the wrong ones. Neither README nor help has this limit.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m pip install --quiet --disable-pip-version-check --target "$folder/python" \
    agent-census==0.4.4 maxminddb==3.2.0 http-sf==1.5.0 cryptography==50.0.2 cffi==2.1.1
cd "$folder"

cat >robots.txt <<'ROBOTS'
User-agent: *
Disallow: /search?
Disallow: /*session=
Disallow: /list
Allow: /list?page=
ROBOTS

output=$(HOME=$folder PYTHONPATH=$folder/python python3 - <<'PY'
import re
import subprocess
import sys

CLIENTS = {
    "searcher": ("/search?q=%d", "forbidden"),
    "follower": ("/shop?session=%d", "forbidden"),
    "reader": ("/list?page=%d", "allowed"),
    "lister": ("/list/%d", "forbidden"),
    "visitor": ("/pages/%d", "allowed"),
}
with open("access.log", "w") as file:
    for number, (name, (path, _)) in enumerate(CLIENTS.items(), 1):
        for minute, target in enumerate(["/robots.txt"] + [path % page for page in range(7)]):
            time = f"27/Nov/2026:12:{minute:02}:00 +0000"
            file.write(f'192.0.2.{number} - - [{time}] "GET {target} HTTP/1.1" 200 5 "-" "{name}bot/1.0"\n')

arguments = "analyze access.log --log-format-preset combined --robots-file robots.txt --no-persist --md"
local = ["--config", "none.json", "--no-verify-bots", "--no-fetch-ranges"]
command = [sys.executable, "-m", "agent_census", *arguments.split(), *local]
report = subprocess.run(command, check=True, capture_output=True, text=True).stdout
print(re.search(r"\d+✓ / \d+✗ / \d+\?", report)[0])
for name, (path, answer) in CLIENTS.items():
    (line,) = [line for line in report.splitlines() if f"{name}bot" in line]
    print(f"{name}: {path % 1} is {answer}; {'ignores' if 'ignores-robots' in line else 'respects'} robots.txt")
PY
)
expected='3✓ / 2✗ / 0?
searcher: /search?q=1 is forbidden; respects robots.txt
follower: /shop?session=1 is forbidden; respects robots.txt
reader: /list?page=1 is allowed; ignores robots.txt
lister: /list/1 is forbidden; ignores robots.txt
visitor: /pages/1 is allowed; respects robots.txt'
echo "$output"
diff <(echo "$expected") <(echo "$output")
