#!/usr/bin/env bash
# accesslog 0.1.0b5 (PyPI, for the logs of web archives): with `--valid all`, each visit that did not come from another
# page is gone, as are those from sites and clients of several valid kinds.
#
# By its help, that option skips records with a field that is invalid. A Referer that was not sent is written as `-` in
# Apache's and nginx's combined format, and the check of that field knows the empty string and http URLs only. So what
# came from a bookmark, a robot or a client that sends none is left out, and nothing is said of it but with --debug. A
# Referer with a query right after the host, with an IPv6 address, or of an app (RFC 9110, section 10.1.3: any URI but
# for its fragment) is refused as well, and so are methods with a hyphen, which are in HTTP's registry (section 16.1).
# Of these six visits, all of them valid, one stays.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m pip install --quiet --disable-pip-version-check --target "$folder/python" accesslog==0.1.0b5
cd "$folder"
export PYTHONPATH=$folder/python

while read -r host method referrer; do
    url=/web/20260102030405/https://h.example/
    echo "$host - - [27/Nov/2026:12:00:00 +0000] \"$method $url HTTP/1.1\" 200 5 \"$referrer\" \"Mozilla/5.0\""
done >access.log <<'LINES'
192.0.2.1 GET https://r.example/
192.0.2.2 GET -
192.0.2.3 GET https://r.example?page=2
192.0.2.4 GET https://[2001:db8::1]/
192.0.2.5 GET android-app://app.example/
192.0.2.6 VERSION-CONTROL https://r.example/
LINES

output=$(
    for fields in none host request status size referrer all; do
        if [ "$fields" = none ]; then options=(); else options=(--valid "$fields"); fi
        echo "$fields: $(python3 -m accesslog "${options[@]}" --format '{host}' access.log | paste -sd ' ')"
    done
    python3 -m accesslog --valid all --format '{host}' --debug access.log 2>&1 | tail -n 1
)
expected='none: 192.0.2.1 192.0.2.2 192.0.2.3 192.0.2.4 192.0.2.5 192.0.2.6
host: 192.0.2.1 192.0.2.2 192.0.2.3 192.0.2.4 192.0.2.5 192.0.2.6
request: 192.0.2.1 192.0.2.2 192.0.2.3 192.0.2.4 192.0.2.5
status: 192.0.2.1 192.0.2.2 192.0.2.3 192.0.2.4 192.0.2.5 192.0.2.6
size: 192.0.2.1 192.0.2.2 192.0.2.3 192.0.2.4 192.0.2.5 192.0.2.6
referrer: 192.0.2.1 192.0.2.6
all: 192.0.2.1
PROCESSED: 6, PRODUCED: 1, SKIPPED: 5'
echo "$output"
diff <(echo "$expected") <(echo "$output")
