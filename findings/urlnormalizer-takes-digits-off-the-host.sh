#!/usr/bin/env bash
# urlnormalizer 1.2.5 (PyPI): with the port of its scheme, the URL of one IPv4 host becomes that of another.
#
# The port is taken off as a set of characters, not as a word, so that each 8 and 0 at the end of the host goes
# too: 192.0.2.10, .100 and .180 all become 192.0.2.1. RFC 3986, section 6.2.3, drops the port and nothing else. Pages
# of three hosts count as seen once one is, and the one that is fetched is none of them. A parameter without a value is
# dropped as well, though `?print` is another page.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m pip install --quiet --disable-pip-version-check --target "$folder" \
    urlnormalizer==1.2.5 six==1.17.0 chardet==5.2.0

output=$(PYTHONPATH=$folder python3 - <<'PY'
from urlnormalizer import normalize_url

for url in (
    "http://h.example:80/",
    "http://192.0.2.10:80/",
    "http://192.0.2.100:80/",
    "http://192.0.2.180:80/",
    "https://192.0.2.13:443/",
    "https://192.0.2.34:443/",
    "http://192.0.2.10:8080/",
    "https://h.example/list?print",
):
    print(url, normalize_url(url))
PY
)
expected='http://h.example:80/ http://h.example/
http://192.0.2.10:80/ http://192.0.2.1/
http://192.0.2.100:80/ http://192.0.2.1/
http://192.0.2.180:80/ http://192.0.2.1/
https://192.0.2.13:443/ https://192.0.2.1/
https://192.0.2.34:443/ https://192.0.2./
http://192.0.2.10:8080/ http://192.0.2.10:8080/
https://h.example/list?print https://h.example/list'
echo "$output"
diff <(echo "$expected") <(echo "$output")
