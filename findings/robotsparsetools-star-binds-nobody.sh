#!/usr/bin/env bash
# robotsparsetools 1.3.3 (PyPI): the group of `*` binds no crawler with a name, and `Disallow: /private` forbids
# that one page.
#
# By RFC 9309, section 2.2.1, a crawler without a group of its own follows that of `*`, and by section 2.2.2 a
# rule forbids every path that begins with it. Only rules with a final `/` or `*` do here.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m pip install --quiet --disable-pip-version-check --target "$folder" robotsparsetools==1.3.3

output=$(PYTHONPATH=$folder python3 - <<'PY'
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

from robotsparsetools import Parse


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"User-agent: *\nDisallow: /private\nDisallow: /dir/\n")

    def log_message(self, *_):
        pass


server = HTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
origin = "http://127.0.0.1:%d" % server.server_port
rules = Parse(origin + "/robots.txt")
for path in ("/private", "/private/a", "/private.html", "/dir/a"):
    print("%s: * %s, mybot %s" % (path, rules.can_crawl(origin + path, "*"), rules.can_crawl(origin + path, "mybot")))
PY
)
expected='/private: * False, mybot True
/private/a: * True, mybot True
/private.html: * True, mybot True
/dir/a: * False, mybot True'
echo "$output"
diff <(echo "$expected") <(echo "$output")
