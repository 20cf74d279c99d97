#!/usr/bin/env bash
# Linklint 2.3.5 (Debian 12): of several rules of a robots.txt, those after the first forbid a path wherever it occurs,
# and a rule with no space after its colon forbids nothing.
#
# It checks the links of a site over HTTP (`-http`) within its robots.txt. The rules of a group become the choices of
# one regular expression, of which only the first is tied to the start of the path. So with /private/ and then /tmp/
# forbidden, it leaves out /docs/tmp/ as well; a broken link there is never found, and the summary says that there is
# none. By RFC 9309, section 2.2.2, a rule is compared from the first character of the path on, and by the grammar of
# section 2.2 no space has to follow the colon. All that its manual has of robots.txt is that there are warnings for
# files that it disallows.
# Needs perl, and apt-get on Debian 12.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
apt-get download --quiet linklint=2.3.5-5.3 >/dev/null 2>&1
dpkg --extract linklint_*.deb .

output=$(HOME=$folder python3 - <<'PY'
import re
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PATHS = ("/private/a.html", "/docs/private/b.html", "/tmp/c.html", "/docs/tmp/d.html", "/docs/e.html")
INDEX = "".join(f'<a href="{path}">page</a>\n' for path in PATHS)


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        taken.append(self.path)
        is_robots = self.path == "/robots.txt"
        links = {"/": INDEX, "/docs/tmp/d.html": '<a href="/missing.html">broken</a>'}
        text = robots if is_robots else links.get(self.path, "page")
        self.send_response(404 if self.path == "/missing.html" else 200)
        self.send_header("Content-Type", "text/plain" if is_robots else "text/html")
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
for rules in (
    "Disallow: /tmp/",
    "Disallow: /tmp/, Disallow: /private/",
    "Disallow: /private/, Disallow: /tmp/",
    "Disallow:/tmp/",
):
    taken = []
    robots = "User-agent: *\n" + rules.replace(", ", "\n") + "\n"
    command = ["perl", "usr/bin/linklint", "-http", "-host", f"127.0.0.1:{server.server_port}", "/@"]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stderr
    print(f"{rules}:", *(path for path in PATHS if path not in taken), "left out")
    print("   ", *re.findall("There (?:was|were) .*", said))
server.shutdown()
PY
)
expected='Disallow: /tmp/: /tmp/c.html left out
    There was 1 missing file. 1 file had broken links.
Disallow: /tmp/, Disallow: /private/: /private/a.html /docs/private/b.html /tmp/c.html left out
    There was 1 missing file. 1 file had broken links.
Disallow: /private/, Disallow: /tmp/: /private/a.html /tmp/c.html /docs/tmp/d.html left out
    There were no missing files. No files had broken links.
Disallow:/tmp/: left out
    There was 1 missing file. 1 file had broken links.'
echo "$output"
diff <(echo "$expected") <(echo "$output")
