#!/usr/bin/env bash
# apache-log-parser 1.7.0 (PyPI): the UTC time of a log from India is 27 minutes off, and of a request by HTTP/2 the
# protocol is the end of the URL.
#
# Of the minutes of an offset, one digit is read: +0530 is taken for five hours and three minutes. Zones of whole hours
# come out right. HTTP/1.0 and 1.1 are the only versions that the first line of a request may end with, so that those
# of later ones stay in the path, or in the last value of the query, and the version is None.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m pip install --quiet --disable-pip-version-check --target "$folder" \
    apache-log-parser==1.7.0 user-agents==2.2.0 ua-parser==1.0.2 six==1.17.0

output=$(PYTHONPATH=$folder python3 -W ignore - <<'PY'
import apache_log_parser

parse = apache_log_parser.make_parser('%h %l %u %t "%r" %>s %b')
line = '192.0.2.1 - - [27/Nov/2026:12:00:00 %s] "GET %s" 200 5'
for zone in ("+0000", "+0200", "+0530", "-0330", "+0545"):
    print(zone, parse(line % (zone, "/ HTTP/1.1"))["time_received_utc_isoformat"])
for request in ("/a HTTP/1.1", "/a HTTP/2.0", "/a?b=c HTTP/2.0", "/a HTTP/3.0"):
    row = parse(line % ("+0000", request))
    print([row["request_" + name] for name in ("url_path", "url_query_dict", "http_ver")])
PY
)
expected="+0000 2026-11-27T12:00:00+00:00
+0200 2026-11-27T10:00:00+00:00
+0530 2026-11-27T06:57:00+00:00
-0330 2026-11-27T15:03:00+00:00
+0545 2026-11-27T06:56:00+00:00
['/a', {}, '1.1']
['/a HTTP/2.0', {}, None]
['/a', {'b': ['c HTTP/2.0']}, None]
['/a HTTP/3.0', {}, None]"
echo "$output"
diff <(echo "$expected") <(echo "$output")
