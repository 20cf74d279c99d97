#!/usr/bin/env bash
# simplecrawler 1.1.9 (npm): no group for `simplecrawler` ever binds it, one for `node` does.
#
# It sends `Node/simplecrawler 1.1.9 (…)` and asks robots.txt with all of that, of which robots-parser takes what is
# before the first `/`. A site that forbids the crawler by its name forbids nothing, and one that shuts out Node's
# own clients shuts it out.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
npm install --silent --no-save --prefix "$folder" simplecrawler@1.1.9 >/dev/null

output=$(NODE_PATH=$folder/node_modules node - <<'JS'
const Crawler = require("simplecrawler");
const http = require("node:http");

async function crawl(name) {
  const taken = [];
  const server = http.createServer((request, answer) => {
    taken.push(request.url);
    const isRobots = request.url === "/robots.txt";
    answer.setHeader("Content-Type", isRobots ? "text/plain" : "text/html");
    answer.end(isRobots ? `User-agent: ${name}\nDisallow: /page\n` : '<a href="/page">page</a>');
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  const crawler = new Crawler(`http://127.0.0.1:${server.address().port}/`);
  Object.assign(crawler, { interval: 1, maxDepth: 2 });
  await new Promise((done) => crawler.on("complete", done).start());
  server.close();
  console.log(`${name}: ${taken.includes("/page") ? "taken" : "not taken"}`);
}

(async () => {
  for (const name of ["simplecrawler", "node", "*"]) await crawl(name);
})();
JS
)
expected='simplecrawler: taken
node: not taken
*: not taken'
echo "$output"
diff <(echo "$expected") <(echo "$output")
