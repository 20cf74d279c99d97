#!/usr/bin/env bash
# lars 1.0 (PyPI): in a log of IIS, the query of a request is a path with no parameters, and the log ends with an error
# where the server was idle for a while. In logs of Apache too, //a/b is page /b of host a.
#
# Its documentation has URLs as objects, and `query` of a URL as its parameters. IIS writes `cs-uri-query` with no `?`,
# so that it is read as a path, or as a scheme. IIS writes its header again after 15 minutes without a request
# (Microsoft's "IIS Log FAQ - Logging Headers"), and the W3C draft wants #Version before the entries, not only once; a
# comment in the source says that this was never seen. By RFC 9112, section 3.2.1, a target may start with two slashes,
# as many of those that scanners send do. They lose the first part of their path.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m pip install --quiet --disable-pip-version-check --target "$folder" lars==1.0 pygeoip==0.3.2

output=$(PYTHONPATH=$folder python3 - <<'PY'
from lars.apache import ApacheSource
from lars.iis import IISError, IISSource

header = """#Software: Microsoft Internet Information Services 10.0
#Version: 1.0
#Date: 2026-11-27 12:00:00
#Fields: date time cs-method cs-uri-stem cs-uri-query c-ip cs(Referer) sc-status
"""
line = "2026-11-27 12:00:00 GET %s %s 192.0.2.1 https://h.example/?from=search 200\n"
requests = [("/list", "-"), ("/list", "page=2&sort=name"), ("/list", "tag:robots"), ("//wp-admin/setup.php", "-")]
log = header + "".join(line % request for request in requests) + header + line % ("/after-a-break", "-")

with IISSource(log.splitlines()) as source:
    try:
        for row in source:
            stem, query = row.cs_uri_stem, row.cs_uri_query
            print("IIS", stem, "path", stem.path_str, "from", row.cs_Referer.query, end=" ")
            print("query", query and {"scheme": query.scheme, "path": query.path_str, "parameters": query.query})
    except IISError as error:
        print("IIS", error)

line = '192.0.2.1 - - [27/Nov/2026:12:00:00 +0000] "GET %s HTTP/1.1" 404 5'
for row in ApacheSource([line % "/list?page=2", line % "//wp-admin/setup.php"]):
    url = row.request.url
    print("Apache", url, "host", url.netloc or None, "path", url.path_str, "query", url.query)
PY
)
expected="IIS /list path /list from {'from': ['search']} query None
IIS /list path /list from {'from': ['search']} query {'scheme': '', 'path': 'page=2&sort=name', 'parameters': {}}
IIS /list path /list from {'from': ['search']} query {'scheme': 'tag', 'path': 'robots', 'parameters': {}}
IIS //wp-admin/setup.php path /setup.php from {'from': ['search']} query None
IIS Line 10: Found a second #Version directive
Apache /list?page=2 host None path /list query {'page': ['2']}
Apache //wp-admin/setup.php host wp-admin path /setup.php query {}"
echo "$output"
diff <(echo "$expected") <(echo "$output")
