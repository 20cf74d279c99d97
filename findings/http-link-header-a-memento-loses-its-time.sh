#!/usr/bin/env bash
# http-link-header 1.1.4 (npm): a list of mementos that is read and written again has no times that can be read, and a
# space before a comma takes a link.
#
# Its README has both ways, for headers after RFC 8288. On the way out it percent-encodes what is in quotes, all but
# spaces, commas and semicolons, and on the way in it decodes nothing; so each round adds a layer. In the RFC (section
# 3, appendix B.3) such a value is what it says, and only those of `title*` and the like are encoded. In a TimeMap, the
# list of captures that web archives give out (RFC 7089, section 5), `datetime` is what a capture is chosen by. White
# space before a comma is allowed (RFC 9110, section 5.6.1).
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
npm install --silent --no-save --prefix "$folder" http-link-header@1.1.4 parse-link-header@2.0.0 >/dev/null

output=$(NODE_PATH=$folder/node_modules node - <<'JS'
const LinkHeader = require("http-link-header");
const reference = require("parse-link-header");

let text =
  '<http://h.example/>; rel="original", ' +
  '<http://archive.example/20000620180259/http://h.example/>; rel="memento"; ' +
  'datetime="Tue, 20 Jun 2000 18:02:59 GMT"; title="100% free?"';
for (const round of [0, 1, 2]) {
  const { datetime, title } = reference(text).memento;
  console.log(`after ${round}: ${datetime}, title ${title}, ${new Date(datetime).getTime()}`);
  text = LinkHeader.parse(text).toString();
}
for (const comma of [", ", " , "]) {
  const header = ["next", "last"].map((rel) => `</${rel}>; rel="${rel}"`).join(comma);
  const links = LinkHeader.parse(header);
  const found = ["next", "last"].filter((rel) => links.rel(rel).length);
  console.log(`${header}: ${found}; parse-link-header: ${Object.keys(reference(header))}`);
}
JS
)
expected='after 0: Tue, 20 Jun 2000 18:02:59 GMT, title 100% free?, 961524179000
after 1: Tue, 20 Jun 2000 18%3A02%3A59 GMT, title 100%25 free%3F, NaN
after 2: Tue, 20 Jun 2000 18%253A02%253A59 GMT, title 100%2525 free%253F, NaN
</next>; rel="next", </last>; rel="last": next,last; parse-link-header: next,last
</next>; rel="next" , </last>; rel="last": next; parse-link-header: next,last'
echo "$output"
diff <(echo "$expected") <(echo "$output")
