#!/usr/bin/env bash
# mementomap 0.1.0b2 (PyPI): a list of look-ups ends after the last page of the archive is found, or at a URL that
# sorts after it, with the help text and status 0.
#
# batchlookup looks up each line of a list. Once the last page of the map is found, the next line fails, whatever it
# is, and the rest of the list is skipped. Pages that the archive has seem to be missing. A single look-up of a URL
# after the last page prints the help text, too. The number of captures can be wrong as well: a page with queries has
# two lines in the map, since `?` sorts after `/`, and a look-up returns one of them, here 3 of 4 captures.
# Needs python3 with pip.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m pip install --quiet --disable-pip-version-check --target "$folder" mementomap==0.1.0b2
cd "$folder"

run() {
    PYTHONPATH=$folder python3 -m mementomap "$@" | grep --invert-match --extended-regexp '^( |$|positional|options)'
}
index() {
    for page in "$@"; do echo "example,h)/$page 20261127120000 {}"; done >index.cdxj
    LC_ALL=C sort --check index.cdxj
    run generate index.cdxj map >/dev/null
}
look_up() {
    echo "look up $*"
    for page in "$@"; do echo "example,h)/$page"; done >list
    run batchlookup map list
}

output=$(
    index '' about blog blog/one blog/two contact download faq legal news story
    look_up blog/one contact story
    look_up story blog/one contact
    look_up contact zoo blog/one
    look_up zoo
    index '' about blog list list/one list/two 'list?page=1' 'list?page=2' 'list?page=3' news story story/one
    grep list map
    look_up list
)
expected='look up blog/one contact story
example,h)/blog/one 1 0 example,h)/blog/one
example,h)/contact 1 0 example,h)/contact
example,h)/story 1 0 example,h)/story
look up story blog/one contact
example,h)/story 1 0 example,h)/story
usage: __main__.py [-h] {generate,compact,lookup,batchlookup} ...
look up contact zoo blog/one
example,h)/contact 1 0 example,h)/contact
usage: __main__.py [-h] {generate,compact,lookup,batchlookup} ...
look up zoo
usage: __main__.py [-h] {generate,compact,lookup,batchlookup} ...
example,h)/list 1
example,h)/list/one 1
example,h)/list/two 1
example,h)/list 3
look up list
example,h)/list 3 0 example,h)/list'
echo "$output"
diff <(echo "$expected") <(echo "$output")
