#!/usr/bin/env bash
# ural 1.6.2 (PyPI, of médialab Sciences Po): a link to /wiki/Category:Physics is not to be followed, and the pages of
# t-mobile.h.example have the keys of t-h.example.
#
# By its README, should_follow_href leaves out fragments and URLs of other schemes. Here any colon ends a scheme. By RFC
# 3986, section 4.2, a path with a colon after its first slash is a relative reference, and each page of a namespace in
# a wiki has such a path. By the README, normalize_url and get_normalized_hostname take off subdomains that mean
# nothing. The words www, mobile, m and amp go wherever they stand before a dot: after a hyphen, in the middle of a
# host, and where they are the name of the site itself. Sites with no page in common get the same keys.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m pip install --quiet --disable-pip-version-check --target "$folder" ural==1.6.2

output=$(PYTHONPATH=$folder python3 - <<'PY'
from urllib.parse import urljoin

from ural import get_normalized_hostname, normalize_url, should_follow_href

for href in ("/wiki/Physics", "/wiki/Category:Physics", "/run?at=12:30", "//h.example:8080/", "mailto:a@h.example"):
    print(urljoin("https://h.example/", href), "is followed" if should_follow_href(href) else "is not followed")
for url in (
    "https://m.h.example/cars",
    "https://t-mobile.h.example/cars",
    "https://t-h.example/cars",
    "https://shop.mobile.example/cars",
    "https://shop.example/cars",
    "https://www.mobile.example/cars",
):
    print(url, normalize_url(url), get_normalized_hostname(url))
PY
)
expected='https://h.example/wiki/Physics is followed
https://h.example/wiki/Category:Physics is not followed
https://h.example/run?at=12:30 is not followed
https://h.example:8080/ is not followed
mailto:a@h.example is not followed
https://m.h.example/cars h.example/cars h.example
https://t-mobile.h.example/cars t-h.example/cars t-h.example
https://t-h.example/cars t-h.example/cars t-h.example
https://shop.mobile.example/cars shop.example/cars shop.example
https://shop.example/cars shop.example/cars shop.example
https://www.mobile.example/cars example/cars example'
echo "$output"
diff <(echo "$expected") <(echo "$output")
