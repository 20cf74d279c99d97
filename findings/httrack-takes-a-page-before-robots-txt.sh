#!/usr/bin/env bash
# HTTrack 3.49.4 (Debian 12): the first page of another host is taken before that host's robots.txt is asked for.
#
# On the first host it asks for robots.txt before everything, with a link to a second host for the second page
# only. So one forbidden page of each linked host is mirrored, though robots.txt is always obeyed (`-s2`).
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
apt-get download --quiet httrack=3.49.4-1 libhttrack2=3.49.4-1 >/dev/null 2>&1
for package in *.deb; do dpkg --extract "$package" .; done

cat >crawl.py <<'PY'
import os
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PAGES = {
    "/": '<a href="/secret/0">first host</a> <a href="http://127.0.0.2:%(port)d/secret/1">second host</a>',
    "/secret/1": '<a href="/secret/2">second page</a>',
}


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        print(self.connection.getsockname()[0], self.path, flush=True)
        is_robots = self.path == "/robots.txt"
        text = "User-agent: *\nDisallow: /secret/\n" if is_robots else PAGES.get(self.path, "") % vars(server)
        self.send_response(200)
        self.send_header("Content-Type", "text/plain" if is_robots else "text/html")
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("", 0), Handler)
server.port = server.server_port
threading.Thread(target=server.serve_forever, daemon=True).start()
command = ["usr/bin/httrack", "http://127.0.0.1:%d/" % server.port, "-O", "mirror", "-q", "-r3", "-s2", "+127.*"]
environment = {**os.environ, "LD_LIBRARY_PATH": "usr/lib/%s-linux-gnu" % os.uname().machine}
subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
PY
output=$(python3 crawl.py)
expected='127.0.0.1 /robots.txt
127.0.0.1 /
127.0.0.2 /secret/1
127.0.0.2 /robots.txt'
echo "$output"
diff <(echo "$expected") <(echo "$output")
