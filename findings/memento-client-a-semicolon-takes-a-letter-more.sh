#!/usr/bin/env bash
# memento-client 0.6.1 (PyPI, the official one): of a URL with a semicolon, what is after it is lost and a letter before
# it too, so that for /photos;album=2 an archive is asked for /photo.
#
# Link headers, in which an archive says of which page a capture is (RFC 7089, section 2.2), are read up to the first
# `;`, and one character more is dropped as if it were the `>`. By RFC 8288, section 3, the URL is what is between < and
# >, and RFC 3986, section 3.3, allows `;` in a path; session numbers and parameters after one are common in old pages.
# The client finds a capture, of another page. Its docstring calls this more robust than requests, which loses what is
# after the `;` only. A time with a zone is sent as that zone's clock has it, with GMT after it, though Accept-Datetime
# is in GMT (RFC 7089, section 2.1.1): from Berlin one asks for a later capture.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m pip install --quiet --disable-pip-version-check --root-user-action ignore --target "$folder/python" \
    memento-client==0.6.1 requests==2.34.2

output=$(PYTHONPATH=$folder/python python3 - <<'PY'
import datetime
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import requests
from memento_client import MementoClient


class Archive(BaseHTTPRequestHandler):
    """A TimeGate at /timegate/URL, and captures at /20200101000000/URL."""

    def do_HEAD(self):
        is_gate = self.path.startswith("/timegate/")
        page = self.path.split("/", 2)[2]
        self.send_response(302 if is_gate else 200)
        if is_gate:
            asked.append((page, self.headers["Accept-Datetime"]))
            self.send_header("Location", f"/20200101000000/{page}")
            self.send_header("Vary", "accept-datetime")
        else:
            self.send_header("Memento-Datetime", "Wed, 01 Jan 2020 00:00:00 GMT")
        self.send_header("Link", f'<{page}>; rel="original"')
        self.end_headers()

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Archive)
threading.Thread(target=server.serve_forever, daemon=True).start()
archive = f"http://127.0.0.1:{server.server_port}"
client = MementoClient(timegate_uri=f"{archive}/timegate/", check_native_timegate=False)
berlin = datetime.datetime(2026, 11, 27, 1, tzinfo=datetime.timezone(datetime.timedelta(hours=1)))
for page in ("http://h.example/photos", "http://h.example/photos;album=2", "http://h.example/view;id=7?x=1"):
    asked = []
    capture = f"{archive}/20200101000000/{page}"
    (link,) = requests.utils.parse_header_links(requests.head(capture).headers["Link"])
    found = client.get_memento_info(capture, berlin)["mementos"]["closest"]["uri"][0]
    print(f"{page} (requests: {link['url']})")
    print("    asked for", *asked[0], "found", found.removeprefix(archive))
print("asked at", berlin.astimezone(datetime.timezone.utc).strftime("%H:%M GMT"))
server.shutdown()
PY
)
expected='http://h.example/photos (requests: http://h.example/photos)
    asked for http://h.example/photos Fri, 27 Nov 2026 01:00:00 GMT found /20200101000000/http://h.example/photos
http://h.example/photos;album=2 (requests: http://h.example/photos)
    asked for http://h.example/photo Fri, 27 Nov 2026 01:00:00 GMT found /20200101000000/http://h.example/photo
http://h.example/view;id=7?x=1 (requests: http://h.example/view)
    asked for http://h.example/vie Fri, 27 Nov 2026 01:00:00 GMT found /20200101000000/http://h.example/vie
asked at 00:00 GMT'
echo "$output"
diff <(echo "$expected") <(echo "$output")
