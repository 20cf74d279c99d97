#!/usr/bin/env bash
# @nuxtjs/robots 6.2.3 (npm): from a robots.txt with a preference for all and a Disallow for one crawler it makes one
# that closes the site to all.
#
# By its README it controls AI crawlers with Content-Usage and Content-Signal. By draft-ietf-aipref-attach, "Robots
# Exclusion Protocol Content-Usage Rule", that is one more rule of a group, and by RFC 9309, section 2.2, a user-agent
# line after a rule begins a new group. The parser, by which the module reads the robots.txt of a site to write another,
# ends a group at Allow and Disallow only. So two groups become one: what forbids one crawler forbids all, and the
# preference for one is stated to all others, without an error. RFC 9309, section 2.2.4, has that for lines that are
# not known; here the line is known. A group of preferences alone, which the draft allows (zero or more rules of its
# kind), is called an error and left out. robots-parser 3.0.1 reads the access of what goes in and comes out.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
npm install --silent --no-save --ignore-scripts --legacy-peer-deps --prefix "$folder" \
    @nuxtjs/robots@6.2.3 robots-parser@3.0.1 >/dev/null

cat >"$folder/run.mjs" <<'JS'
import { generateRobotsTxt, parseRobotsTxt, validateRobots } from "@nuxtjs/robots/util";
import reader from "robots-parser";

const access = (text) =>
  ["a-bot", "any-bot"].map((agent) => {
    const answer = reader("https://h.example/robots.txt", text).isAllowed("https://h.example/page", agent);
    return `${agent} ${answer === false ? "forbidden" : "allowed"}`;
  });

for (const lines of [
  ["User-agent: *", "Content-Usage: / train-ai=n", "", "User-agent: a-bot", "Disallow: /"],
  ["User-agent: a-bot", "Content-Usage: / train-ai=y", "", "User-agent: *", "Content-Usage: / train-ai=n", "Allow: /"],
  ["User-agent: *", "Content-Usage: / train-ai=y", "Allow: /", "", "User-agent: a-bot", "Content-Usage: / train-ai=n"],
]) {
  const text = lines.join("\n");
  const parsed = validateRobots(parseRobotsTxt(text));
  const written = generateRobotsTxt(parsed);
  console.log(`${lines.join(" | ")}\n  read: ${access(text).join(", ")}`);
  console.log(`  written: ${written.trim().split("\n").join(" | ")}\n  read: ${access(written).join(", ")}`);
  console.log(`  errors: ${[...parsed.errors, ...parsed.warnings].join() || "none"}`);
}
JS
output=$(cd "$folder" && node run.mjs)
expected='User-agent: * | Content-Usage: / train-ai=n |  | User-agent: a-bot | Disallow: /
  read: a-bot forbidden, any-bot allowed
  written: User-agent: * | User-agent: a-bot | Disallow: / | Content-Usage: / train-ai=n
  read: a-bot forbidden, any-bot forbidden
  errors: none
User-agent: a-bot | Content-Usage: / train-ai=y |  | User-agent: * | Content-Usage: / train-ai=n | Allow: /
  read: a-bot allowed, any-bot allowed
  written: User-agent: a-bot | User-agent: * | Allow: / | Content-Usage: / train-ai=y | Content-Usage: / train-ai=n
  read: a-bot allowed, any-bot allowed
  errors: none
User-agent: * | Content-Usage: / train-ai=y | Allow: / |  | User-agent: a-bot | Content-Usage: / train-ai=n
  read: a-bot allowed, any-bot allowed
  written: User-agent: * | Allow: / | Content-Usage: / train-ai=y
  read: a-bot allowed, any-bot allowed
  errors: Group "a-bot" has no allow or disallow rules. You must provide one of either.'
echo "$output"
diff <(echo "$expected") <(echo "$output")
