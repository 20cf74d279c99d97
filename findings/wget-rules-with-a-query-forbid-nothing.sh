#!/usr/bin/env bash
# GNU Wget 1.21.3 (Debian 12): a rule with a `?` forbids nothing, and the group is that of `wget`, whatever -U says.
#
# It compares rules with the path alone, so the rules that sites write against endless searches (`/search?`) never
# match. By RFC 9309, section 2.2.2, the query is compared too.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
apt-get download --quiet wget=1.21.3-1+deb12u1 >/dev/null 2>&1
dpkg --extract wget_*.deb .

cat >crawl.py <<'PY'
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        is_robots = self.path == "/robots.txt"
        taken.append(self.path)
        self.send_response(200)
        self.send_header("Content-Type", "text/plain" if is_robots else "text/html")
        self.end_headers()
        self.wfile.write((server.robots if is_robots else '<a href="/search?q=a">link</a>').encode())

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
for agent, rule in [("*", "/search"), ("*", "/search?"), ("*", "/search?q=a"), ("mybot", "/search"), ("wget", "/search")]:
    taken, server.robots = [], "User-agent: %s\nDisallow: %s\n" % (agent, rule)
    url = "http://127.0.0.1:%d/" % server.server_port
    subprocess.run(["usr/bin/wget", "--quiet", "-U", "mybot/1.0", "--recursive", "--level=1", "--delete-after", url])
    print("%s %s: %s" % (agent, rule, "taken" if "/search?q=a" in taken else "not taken"))
PY
output=$(python3 crawl.py)
expected='* /search: not taken
* /search?: taken
* /search?q=a: taken
mybot /search: taken
wget /search: not taken'
echo "$output"
diff <(echo "$expected") <(echo "$output")
