#!/usr/bin/env bash
# sitemap-verify 0.1.1 (PyPI): a page of a sitemap that redirects, which by its README is a warning, is fine, whatever
# the probe, and dates such as 2026-W48-5 are W3C Datetime.
#
# By the README, "Features", an answer of 2xx passes and one of 3xx is a warning. The client follows redirects in all
# requests, so that the status it has is that of the page at the end: a sitemap of nothing but moved pages has no
# finding, and a page that redirects to another host passes, too. sitemaps.org has lastmod in W3C Datetime, whose forms
# all have hyphens between year, month and day, and no weeks. What is checked is ISO 8601, of which that is a profile.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m pip install --quiet --disable-pip-version-check --no-warn-conflicts --root-user-action ignore \
    --target "$folder/python" sitemap-verify==0.1.1 httpx==0.28.1 protego==0.7.0 isodate==0.7.2 rfc3986==2.0.0 \
    xmlschema==4.3.2 lxml==6.1.3 pydantic==2.14.4 aiometer==1.0.0 feedparser==6.0.14
cd "$folder"

output=$(PYTHONPATH=$folder/python python3 - <<'PY'
import asyncio
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from sitemap_verify import validate_target

PAGES = {"/page": 200, "/moved": 301, "/for-now": 302, "/elsewhere": 308, "/gone": 410}


class Site(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(PAGES.get(self.path, 200))
        if self.path in ("/moved", "/for-now"):
            self.send_header("Location", "/page")
        elif self.path == "/elsewhere":
            self.send_header("Location", f"http://localhost:{server.server_port}/page")
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(sitemap.encode())

    do_HEAD = do_GET

    def log_message(self, *_):
        pass


def check(entries, name, **options):
    global sitemap
    items = "".join(f"<url><loc>{site}{path}</loc><lastmod>{date}</lastmod></url>" for path, date in entries)
    sitemap = f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{items}</urlset>'
    return asyncio.run(validate_target(f"{site}/sitemap.xml", mode="url", store_path=f"{name}.sqlite3", **options))


server = ThreadingHTTPServer(("127.0.0.1", 0), Site)
threading.Thread(target=server.serve_forever, daemon=True).start()
site = f"http://127.0.0.1:{server.server_port}"
for probe in ("get", "head", "auto"):
    report = check([(path, "2026-11-27") for path in PAGES], probe, probe_method=probe)
    levels = {result.url.removeprefix(site): result.level for result in report.url_checks}
    print(f"{probe}:", ", ".join(f"{path} ({PAGES[path]}) {levels[path]}" for path in PAGES))
for date in ("2026-11-27", "2026-W48-5", "20261127", "2026-331", "27 November"):
    report = check([("/page", date)], date, check_reachability=False)
    print(f"{date}:", *({item.code for item in report.diagnostics} or {"fine"}))
server.shutdown()
PY
)
expected='get: /page (200) ok, /moved (301) ok, /for-now (302) ok, /elsewhere (308) ok, /gone (410) error
head: /page (200) ok, /moved (301) ok, /for-now (302) ok, /elsewhere (308) ok, /gone (410) error
auto: /page (200) ok, /moved (301) ok, /for-now (302) ok, /elsewhere (308) ok, /gone (410) error
2026-11-27: fine
2026-W48-5: fine
20261127: fine
2026-331: fine
27 November: invalid_lastmod'
echo "$output"
diff <(echo "$expected") <(echo "$output")
