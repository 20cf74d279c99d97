#!/usr/bin/env bash
# common-log-format 2.0.1 (npm): lines of the Common Log Format have no date, and of a long log some are not there or
# have another size.
#
# It makes JSON of that format, with a link to its definition in the README. The date of each line goes to `new Date`
# as it is, which reads a date such as that of the README's example and not [27/Nov/2026:12:00:00 +0000], so all are
# null. A log comes in pieces, from a file of 64 KiB, each of which is split into lines for itself: a line that is in
# two pieces is lost, or taken with the part of its size that was before the end. The README says nothing of either. A
# size of `-`, which is no body and null by the README, is 0.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
npm install --silent --no-save --prefix "$folder" common-log-format@2.0.1 >/dev/null

output=$(NODE_PATH=$folder/node_modules node - "$folder/access.log" <<'JS'
const fs = require("fs");
const CommonLogFormat = require("common-log-format");

const [, , path] = process.argv;
async function read(text) {
  fs.writeFileSync(path, text);
  let written = "";
  for await (const piece of fs.createReadStream(path).pipe(new CommonLogFormat())) written += piece;
  return written.split(/(?<=\})(?=\{)/).map((row) => JSON.parse(row));
}
const line = (page, time, bytes) => `192.0.2.1 - - [${time}] "GET /p/${page} HTTP/1.1" 200 ${bytes}\n`;

(async () => {
  for (const time of ["27/Nov/2026:12:00:00 +0000", "Fri, 27 Nov 2026 12:00:00 GMT"]) {
    const [{ date, bytes }] = await read(line("a", time, "-"));
    console.log(`[${time}] has the date ${date}, - is ${bytes} bytes`);
  }
  const pages = [...Array(5000).keys()].map((page) => String(page).padStart(4, "0"));
  const text = pages.map((page) => line(page, "27/Nov/2026:12:00:00 +0000", 10305)).join("");
  const rows = await read(text);
  console.log(`${pages.length} lines, ${text.length} bytes: ${rows.length} rows`);
  const taken = rows.map((row) => row.request.slice(7, 11));
  console.log("lost:", ...pages.filter((page) => !taken.includes(page)));
  const changed = rows.filter((row) => row.remoteHost !== "192.0.2.1" || row.bytes !== 10305);
  for (const { remoteHost, request, bytes } of changed) console.log(`${remoteHost} took ${request}, ${bytes} bytes`);
})();
JS
)
expected='[27/Nov/2026:12:00:00 +0000] has the date null, - is 0 bytes
[Fri, 27 Nov 2026 12:00:00 GMT] has the date 2026-11-27T12:00:00.000Z, - is 0 bytes
5000 lines, 380000 bytes: 4996 rows
lost: 0862 1724 3449 4311
192.0.2.1 took GET /p/2586 HTTP/1.1, 10 bytes'
echo "$output"
diff <(echo "$expected") <(echo "$output")
