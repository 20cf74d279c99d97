#!/usr/bin/env bash
# robots-parser 3.0.1 (npm, of Crawlee), robots-txt-parse 2.0.1 (npm) and robots-txt-parser 1.0.1 (PyPI): a Sitemap line
# between two User-agent lines sets the first crawler free. For Protego 0.7.0 (PyPI, of Scrapy) only a Crawl-delay does.
#
# RFC 9309, section 2.2.4, has the very case: other records must not disturb User-agent, Allow and Disallow, and a
# Sitemap line must not end a group. So both crawlers have the rules below. It cuts both ways: with `User-agent: *` and
# a Crawl-delay above the group of one bad bot, gpyrobotstxt 1.0.0, a port of Google's matcher, forbids the site to all,
# and these four only to the bad bot. An audit by the one kind says nothing about crawlers that use the other.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
npm install --silent --no-save --prefix "$folder" \
    robots-parser@3.0.1 robots-txt-parse@2.0.1 robots-txt-guard@1.0.2 >/dev/null
python3 -m pip install --quiet --disable-pip-version-check --target "$folder/python" \
    protego==0.7.0 gpyrobotstxt==1.0.0 robots-txt-parser==1.0.1
cd "$folder"
mkdir files
printf 'User-agent: mybot\nUser-agent: otherbot\nDisallow: /a\n' >files/1-nothing
printf 'User-agent: mybot\nSitemap: https://h.example/s.xml\nUser-agent: otherbot\nDisallow: /a\n' >files/2-sitemap
printf 'User-agent: *\nCrawl-delay: 10\n\nUser-agent: badbot\nDisallow: /\n' >files/3-crawl-delay

output=$(
    PYTHONPATH=$folder/python python3 - <<'PY'
from pathlib import Path

from gpyrobotstxt.robots_cc import RobotsMatcher
from protego import Protego
from robotstxtparser import RobotExclusionRulesParser

for path in sorted(Path("files").iterdir()):
    text = path.read_text()
    old = RobotExclusionRulesParser()
    old.parse(text)
    url = "https://h.example/a"
    print(path.name, "| gpyrobotstxt", RobotsMatcher().one_agent_allowed_by_robots(text.encode(), "mybot", url),
          "| protego", Protego.parse(text).can_fetch(url, "mybot"), "| robots-txt-parser", old.is_allowed("mybot", url))
PY
    NODE_PATH=$folder/node_modules node --no-deprecation - <<'JS'
const { createReadStream, readdirSync, readFileSync } = require("fs");
const robotsParser = require("robots-parser");
const guard = require("robots-txt-guard");
const parse = require("robots-txt-parse");

(async () => {
  for (const name of readdirSync("files").sort()) {
    const text = readFileSync(`files/${name}`, "utf8");
    const one = robotsParser("https://h.example/robots.txt", text).isAllowed("https://h.example/a", "mybot");
    const two = guard(await parse(createReadStream(`files/${name}`))).isAllowed("mybot", "/a");
    console.log(`${name} | robots-parser ${one} | robots-txt-parse ${two}`);
  }
})();
JS
)
expected='1-nothing | gpyrobotstxt False | protego False | robots-txt-parser False
2-sitemap | gpyrobotstxt False | protego False | robots-txt-parser True
3-crawl-delay | gpyrobotstxt False | protego True | robots-txt-parser True
1-nothing | robots-parser false | robots-txt-parse false
2-sitemap | robots-parser true | robots-txt-parse true
3-crawl-delay | robots-parser true | robots-txt-parse true'
echo "$output"
diff <(echo "$expected") <(echo "$output")
