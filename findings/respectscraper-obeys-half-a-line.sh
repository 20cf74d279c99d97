#!/usr/bin/env bash
# respectscraper 0.2.0 (PyPI): a file of more than 500 KiB is cut inside a line, and the stump is obeyed.
#
# RFC 9309, section 2.5, lets a crawler stop after 500 KiB. The line that is cut there becomes a shorter rule,
# which forbids more: of `Disallow: /private/archive/` is left `Disallow: /p`, so that /public is closed.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m pip install --quiet --disable-pip-version-check --target "$folder" respectscraper==0.2.0

output=$(PYTHONPATH=$folder python3 - <<'PY'
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import requests
from respectscraper.robots import RobotsPolicy

HEAD, STUMP, REST = "User-agent: *\n", "Disallow: /p", "rivate/archive/\n"


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        comment = "#" * (500 * 1024 - len(HEAD) - len(STUMP) - 1 + server.more) + "\n"
        self.send_response(200)
        self.end_headers()
        self.wfile.write((HEAD + comment + STUMP + REST).encode())

    def log_message(self, *_):
        pass


server = HTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
origin = "http://127.0.0.1:%d" % server.server_port
for server.more in (-100, 0):
    for path in ("/private/archive/1", "/public"):
        decision = RobotsPolicy(requests.Session(), "bot").decide(origin + path)
        where = "the rule ends before" if server.more else "the limit is inside the rule"
        print("%s: %s allowed %s, %s" % (where, path, decision.allowed, decision.rule))
PY
)
expected='the rule ends before: /private/archive/1 allowed False, Disallow: /private/archive/
the rule ends before: /public allowed True, None
the limit is inside the rule: /private/archive/1 allowed False, Disallow: /p
the limit is inside the rule: /public allowed False, Disallow: /p'
echo "$output"
diff <(echo "$expected") <(echo "$output")
