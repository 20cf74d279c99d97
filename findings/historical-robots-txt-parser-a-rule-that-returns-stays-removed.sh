#!/usr/bin/env bash
# historical-robots-txt-parser 0.1.2 (PyPI): a rule that was taken out of a robots.txt and put back stays removed, and
# a file that goes back to an earlier text stays what it was between.
#
# It makes a CSV of when rules came and went, from captures of the Wayback Machine. A rule has one row, with the date of
# its first removal: that it came back, or went again, is in none. The captures are asked for with
# `showDupeCount`, and those with a count above 0 are left out. By the README of the CDX server, this counts a digest
# throughout the index, not only against the capture before. So the day on which a file goes back to an old text is left
# out, and the last rows are of a file that is no longer there. Its own README speaks of neither. Who counts the sites
# that shut a crawler out, by the rows without a removal, is wrong both ways. A rule without a space after the colon
# (RFC 9309, section 2.2) has no path.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m pip install --quiet --disable-pip-version-check --root-user-action ignore --target "$folder/python" \
    historical-robots-txt-parser==0.1.2 requests==2.34.2
cd "$folder"

output=$(PYTHONPATH=$folder/python python3 - <<'PY'
import hashlib
from unittest.mock import MagicMock, patch

from historical_robots import historical_scraper


def archive(url, **_):
    """What the Wayback Machine answers: an index with counts of digests, or the text of a capture."""
    answer = MagicMock()
    if "/cdx/search/cdx" in url:
        digests = [hashlib.sha1(text.encode()).hexdigest() for text in captures.values()]
        counts = [digests[:at].count(digest) for at, digest in enumerate(digests)]
        lines = [f"{time} {count}" for time, count in zip(captures, counts)]
        answer.__enter__.return_value.iter_lines.return_value = lines
    else:
        (answer.text,) = [text for time, text in captures.items() if f"/{time}i" in url]
    return answer


HEAD = "User-agent: *\nDisallow: /cgi/\n"
for title, texts in {
    "put back, with a comment": (f"{HEAD}Disallow: /news/\n", HEAD, f"# back\n{HEAD}Disallow: /news/\n"),
    "taken out twice": (f"{HEAD}Disallow: /news/\n", HEAD, f"# back\n{HEAD}Disallow: /news/\n", f"# out\n{HEAD}"),
    "opened again": (HEAD, f"{HEAD}Disallow: /news/\n", HEAD),
    "without a space": (f"{HEAD}Disallow:/news/\n",),
}.items():
    captures = {f"{year}0101000000": text for year, text in enumerate(texts, 2021)}
    with patch("requests.get", archive), patch("builtins.print"):
        historical_scraper("h.example", "rules.csv", skip_sleep_interval=True)
    with open("rules.csv") as file:
        rows = [line.split(",") for line in file.read().splitlines()[1:]]
    print(f"{title}:", *(f"{path or 'no path'} {added[:4]}-{removed[:4]}" for _, path, added, removed in rows))
PY
)
expected='put back, with a comment: /cgi/ 2021- /news/ 2021-2022
taken out twice: /cgi/ 2021- /news/ 2021-2022
opened again: /cgi/ 2021- /news/ 2022-
without a space: /cgi/ 2021- no path 2021-'
echo "$output"
diff <(echo "$expected") <(echo "$output")
