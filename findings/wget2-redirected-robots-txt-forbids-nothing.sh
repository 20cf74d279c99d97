#!/usr/bin/env bash
# GNU Wget2 1.99.1 (Debian 12): a robots.txt behind a redirect forbids nothing, though the redirect is followed.
#
# By RFC 9309, section 2.3.1.2, at least five redirects are followed, and the rules at their end apply. A site
# that sends /robots.txt to another host or from http to https is crawled as if it had none.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
apt-get download --quiet wget2=1.99.1-2.2 libwget0=1.99.1-2.2 libgpgme11 >/dev/null 2>&1
for package in *.deb; do dpkg --extract "$package" .; done

cat >crawl.py <<'PY'
import os
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        taken.append(self.path)
        is_redirect = self.path == "/robots.txt" and server.redirects
        is_robots = self.path in ("/robots.txt", "/rules.txt")
        body = b"User-agent: *\nDisallow: /secret\n" if is_robots else b'<a href="/secret">link</a>'
        self.send_response(301 if is_redirect else 200)
        if is_redirect:
            self.send_header("Location", "/rules.txt")
        self.send_header("Content-Type", "text/plain" if is_robots else "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
environment = {**os.environ, "LD_LIBRARY_PATH": "usr/lib/%s-linux-gnu" % os.uname().machine}
for server.redirects in (False, True):
    taken = []
    url = "http://127.0.0.1:%d/" % server.server_port
    subprocess.run(["usr/bin/wget2", "--quiet", "--recursive", "--level=1", "--delete-after", url], env=environment)
    print("%s: %s" % ("redirect" if server.redirects else "file", " ".join(sorted(taken))))
PY
output=$(python3 crawl.py)
expected='file: / /robots.txt
redirect: / /robots.txt /rules.txt /secret'
echo "$output"
diff <(echo "$expected") <(echo "$output")
