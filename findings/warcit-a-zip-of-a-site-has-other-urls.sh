#!/usr/bin/env bash
# warcit 0.4.0 (PyPI, of Webrecorder): a folder and a zip file of that folder become archives with different URLs, and
# /.well-known/tdmrep.json is archived as /well-known/tdmrep.json.
#
# The README has both as input, and a folder from `wget -r` as its example. wget saves the page list?page=2 in a file
# of that name. From a folder, warcit escapes `?`, `=`, `;` and `@`, so a look-up of the page finds nothing; from a
# zip file it does not. From both it drops the dots at the start of a path. In .well-known (RFC 8615) a site states
# its terms for text and data mining, and the archive has no such folder. warcit never escapes `%`: the file 100%25
# becomes the page `100%`.
# Needs python3 with pip.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m pip install --quiet --disable-pip-version-check --target "$folder/python" \
    warcit==0.4.0 warcio==1.8.1 cchardet==2.4.0 setuptools==80.10.2
cd "$folder"
export PYTHONPATH=$folder/python
mkdir -p site/.well-known
for name in .well-known/tdmrep.json 'list?page=2' @user 'a;b' 100%25; do echo x >"site/$name"; done
(cd site && python3 -m zipfile --create ../site.zip .well-known/ 'list?page=2' @user 'a;b' 100%25)

output=$(
    for source in site site.zip; do
        python3 -W ignore -m warcit.warcit --quiet --no-gzip --name "from-$source" -o https://h.example/ "$source"
        echo "$source"
        for warc in from-*.warc; do
            grep --text '^WARC-Target-URI: ' "$warc" | tr -d '\r' | LC_ALL=C sort
            rm "$warc"
        done
    done
)
expected='site
WARC-Target-URI: https://h.example/%40user
WARC-Target-URI: https://h.example/100%25
WARC-Target-URI: https://h.example/a%3bb
WARC-Target-URI: https://h.example/list%3fpage%3d2
WARC-Target-URI: https://h.example/well-known/tdmrep.json
site.zip
WARC-Target-URI: https://h.example/100%25
WARC-Target-URI: https://h.example/@user
WARC-Target-URI: https://h.example/a;b
WARC-Target-URI: https://h.example/list?page=2
WARC-Target-URI: https://h.example/well-known/tdmrep.json'
echo "$output"
diff <(echo "$expected") <(echo "$output")
