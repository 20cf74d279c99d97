#!/usr/bin/env bash
# meok-w3c-tdm-rights-mcp 1.0.6 (PyPI): a page that says `tdm-reservation: 0`, its rights are not reserved, is reserved,
# and a site that reserves all in tdmrep.json is not.
#
# It scans a page for reservations of text and data mining, for those who train on it. In TDMRep, of W3C's Community
# Group, which its code names as the specification, 0 is that rights are not reserved and 1 that they are. Here a field
# or meta tag whose name has tdm in it is a reservation, whatever the value. /.well-known/tdmrep.json, which by TDMRep
# ("Processing priority") an agent must look for before it takes anything, is not asked for. Of a robots.txt, the group
# of `*` is not read; a rule for one folder is a reservation of all; and of three names above one rule, the first has
# none (RFC 9309, section 2.2, has them in one group). The README speaks of none of this.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m pip install --quiet --disable-pip-version-check --no-warn-conflicts --root-user-action ignore \
    --target "$folder/python" meok-w3c-tdm-rights-mcp==1.0.6 mcp==1.30.0 pydantic==2.14.4

output=$(PYTHONPATH=$folder/python python3 - <<'PY'
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from server import scan_url_for_reservation


class Site(BaseHTTPRequestHandler):
    def do_GET(self):
        asked.add(self.path)
        self.send_response(200 if self.path in files else 404)
        for name, value in fields.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(files.get(self.path, "").encode())

    do_HEAD = do_GET

    def log_message(self, *_):
        pass


NAMES = "User-agent: GPTBot\nUser-agent: CCBot\nUser-agent: ClaudeBot\n"
site = ThreadingHTTPServer(("127.0.0.1", 0), Site)
threading.Thread(target=site.serve_forever, daemon=True).start()
for title, fields, page, others in (
    ("field 1", {"tdm-reservation": "1"}, "", {}),
    ("field 0", {"tdm-reservation": "0"}, "", {}),
    ("meta 0", {}, '<meta name="tdm-reservation" content="0">', {}),
    ("tdmrep.json 1", {}, "", {"/.well-known/tdmrep.json": '[{"location": "/", "tdm-reservation": 1}]'}),
    ("all of * forbidden", {}, "", {"/robots.txt": "User-agent: *\nDisallow: /\n"}),
    ("a folder forbidden", {}, "", {"/robots.txt": "User-agent: GPTBot\nDisallow: /admin/\n"}),
    ("three forbidden", {}, "", {"/robots.txt": f"{NAMES}Disallow: /\n"}),
):
    asked = set()
    files = {"/page": page} | others
    found = scan_url_for_reservation(f"http://127.0.0.1:{site.server_port}/page")
    print(f"{title}: reserved {found['reserved']}", *found["signals_found"])
    if "json" in title:
        print("    asked for", *sorted(asked))
site.shutdown()
PY
)
expected='field 1: reserved True http_header: tdm-reservation=1
field 0: reserved True http_header: tdm-reservation=0
meta 0: reserved True html_meta: <meta name="tdm-reservation" content="0">
tdmrep.json 1: reserved False
    asked for /page /robots.txt
all of * forbidden: reserved False
a folder forbidden: reserved True robots.txt: GPTBot disallowed
three forbidden: reserved True robots.txt: ClaudeBot disallowed robots.txt: CCBot disallowed'
echo "$output"
diff <(echo "$expected") <(echo "$output")
