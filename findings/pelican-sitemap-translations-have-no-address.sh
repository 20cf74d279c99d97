#!/usr/bin/env bash
# pelican-sitemap 1.2.2 (PyPI, the sitemap plugin of Pelican): the links to translations have no `href`, and the filters
# that its README has as examples keep nothing out.
#
# Its sitemap names each translation of an article in an <xhtml:link>. The address is in an attribute called `ref`, and
# XHTML has none of that name. Google's page on localized versions, section "Sitemap", asks for `href`, and for a link
# from each version to itself, which is not there either. So no search engine learns of a translation, though the XML is
# well formed. In the README, section "Usage", `exclude` has `^/noindex/` for what starts with /noindex/ and `/tag/` for
# what has /tag/ in it. They are compared with paths that have lost their first slash.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m pip install --quiet --disable-pip-version-check --target "$folder/python" \
    pelican==4.11.0 pelican-sitemap==1.2.2 markdown==3.10
export PYTHONPATH=$folder/python
cd "$folder"

article() { printf 'Title: %s\nSlug: %s\nLang: %s\nTags: crawling\nDate: 2026-11-27\n\nText.\n' "$@"; }
mkdir -p content/pages
article Robots robots en >content/robots-en.md
article Roboter robots de >content/robots-de.md
printf 'Title: Draft\nURL: noindex/draft.html\nsave_as: noindex/draft.html\n\nText.\n' >content/pages/draft.md
cat >settings.py <<'PY'
import json
import os

SITENAME, AUTHOR, SITEURL, TIMEZONE = "Site", "Author", "https://h.example", "UTC"
PLUGINS = ["sitemap"]
SITEMAP = {"exclude": json.loads(os.environ["EXCLUDE"])}
PY

show() {
    EXCLUDE=$1 python3 -m pelican content --settings settings.py --output site --quiet >/dev/null
    python3 - "$1" <<'PY'
import sys
import xml.etree.ElementTree as ET

name = "{http://www.sitemaps.org/schemas/sitemap/0.9}"
print("exclude", sys.argv[1])
for page in ET.parse("site/sitemap.xml").getroot():
    path = page.findtext(name + "loc").removeprefix("https://h.example")
    links = [link.attrib for link in page.findall("{http://www.w3.org/1999/xhtml}link")]
    if links or path.startswith(("/noindex/", "/tag/")):
        print(path, *links)
PY
}

output=$(
    show '["^/noindex/", "/tag/"]'
    show '["^noindex/", "^tag/"]'
)
expected="exclude [\"^/noindex/\", \"/tag/\"]
/noindex/draft.html
/robots-de.html {'rel': 'alternate', 'hreflang': 'en', 'ref': 'https://h.example/robots.html'}
/robots.html {'rel': 'alternate', 'hreflang': 'de', 'ref': 'https://h.example/robots-de.html'}
/tag/crawling.html
exclude [\"^noindex/\", \"^tag/\"]
/robots-de.html {'rel': 'alternate', 'hreflang': 'en', 'ref': 'https://h.example/robots.html'}
/robots.html {'rel': 'alternate', 'hreflang': 'de', 'ref': 'https://h.example/robots-de.html'}"
echo "$output"
diff <(echo "$expected") <(echo "$output")
