#!/usr/bin/env bash
# cdxsummary 0.1.1b5 (PyPI, of the Internet Archive): in the sample links, a page at port 80 has its path as part of
# the host: http://h.example:80/page becomes http://h.examplepage.
#
# By its README the summary ends with a random sample of memento links. Many old captures of the Internet Archive have
# `:80` in their URL. The slash after the port is removed with the port, so each such link leads to another host or to
# none. A host with another port is listed with the port in the middle, as h:8080.example.
# Needs python3 with pip.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m pip install --quiet --disable-pip-version-check --target "$folder" \
    cdxsummary==0.1.1b5 humanize==4.13.0 rich==14.1.0 requests==2.32.5

output=$(PYTHONPATH=$folder python3 - <<'PY'
from cdxsummary.analyzer import CDXAnalyzer

LINE = "%s 20010927120000 %s text/html 200 3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ - - 300 0 a.warc.gz"
URLS = {
    "example,h)/": "http://h.example:80/",
    "example,h)/page": "http://h.example:80/page",
    "example,h)/shop/item": "http://h.example:80/shop/item",
    "example,h)/story": "http://h.example/story",
    "example,h:8080)/": "http://h.example:8080/",
}
summary = CDXAnalyzer(samplesize=10)((LINE % row).encode() for row in URLS.items())
for date, url in summary["samples"]:
    print(date, url)
print(summary["tophosts"])
PY
)
expected="20010927120000 http://h.example
20010927120000 http://h.examplepage
20010927120000 http://h.exampleshop/item
20010927120000 http://h.example/story
20010927120000 http://h.example:8080/
{'h.example': 4, 'h:8080.example': 1}"
echo "$output"
diff <(echo "$expected") <(echo "$output")
