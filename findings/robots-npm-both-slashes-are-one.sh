#!/usr/bin/env bash
# robots 0.10.1 (npm): `Disallow: /*/`, which forbids all folders, forbids the pages at the top as well, and robots.txt
# is asked for without a User-Agent.
#
# By RFC 9309, section 2.2.3, `*` is any characters between what is before and after it. Here the part after it may
# match where the part before it did, so that one slash does for both, and /feed/ is closed by `/*/feed/`. The name that
# its README has as the User-Agent is sent in a header called `userAgent`. robots-parser 3.0.1 answers by the RFC.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
npm install --silent --no-save --prefix "$folder" robots@0.10.1 robots-parser@3.0.1 >/dev/null

output=$(NODE_PATH=$folder/node_modules node --no-deprecation - <<'JS'
const http = require("http");
const { RobotsParser } = require("robots");
const reference = require("robots-parser");

for (const [rule, ...paths] of [
  ["/*/", "/", "/page", "/folder/page"],
  ["/*/feed/", "/feed/", "/blog/feed/"],
]) {
  const text = `User-agent: *\nDisallow: ${rule}\n`;
  const parser = new RobotsParser().parse(text.split("\n"));
  for (const path of paths) {
    const other = reference("https://h.example/robots.txt", text).isAllowed("https://h.example" + path, "mybot");
    console.log(`${rule}: ${path} allowed ${parser.canFetchSync("mybot", path)}, by robots-parser ${other}`);
  }
}
const server = http.createServer((question, answer) => {
  const names = question.rawHeaders.filter((_, at) => at % 2 === 0);
  console.log(`User-Agent ${question.headers["user-agent"]}, headers ${names.join(" ")}`);
  answer.end("User-agent: *\nDisallow:\n");
});
server.listen(0, "127.0.0.1", () => {
  new RobotsParser(`http://127.0.0.1:${server.address().port}/robots.txt`, "mybot/1.0", () => {
    server.close();
    server.closeAllConnections();
  });
});
JS
)
expected='/*/: / allowed false, by robots-parser true
/*/: /page allowed false, by robots-parser true
/*/: /folder/page allowed false, by robots-parser false
/*/feed/: /feed/ allowed false, by robots-parser true
/*/feed/: /blog/feed/ allowed false, by robots-parser false
User-Agent undefined, headers userAgent Host Connection'
echo "$output"
diff <(echo "$expected") <(echo "$output")
