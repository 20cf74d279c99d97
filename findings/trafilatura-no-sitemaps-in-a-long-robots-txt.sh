#!/usr/bin/env bash
# trafilatura 2.3.1 (PyPI): a robots.txt of more than 10,000 characters has no sitemaps.
#
# Nothing says so: the list is empty, as if the file had no Sitemap line, and the search goes on with guessed names.
# RFC 9309, section 2.5, has crawlers read 500 KiB at least.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m pip install --quiet --disable-pip-version-check --target "$folder" trafilatura==2.3.1 lxml_html_clean==0.4.6

output=$(PYTHONPATH=$folder python3 - <<'PY'
from trafilatura.sitemaps import extract_robots_sitemaps

for size in (10_000, 10_001):
    text = "Sitemap: https://h.example/s.xml\nUser-agent: *\nDisallow: /a\n"
    text += "#" * (size - len(text))
    print(len(text), extract_robots_sitemaps(text, "https://h.example"))
PY
)
expected="10000 ['https://h.example/s.xml']
10001 []"
echo "$output"
diff <(echo "$expected") <(echo "$output")
