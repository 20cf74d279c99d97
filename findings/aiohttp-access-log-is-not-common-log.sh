#!/usr/bin/env bash
# aiohttp 3.14.5 (PyPI): its access log looks like Apache's combined log, and a reader of that format misreads it.
#
# The fields of identity and user are missing. Quotes in the request and the agent are written as they come, so that
# the end of a field cannot be found. The size is that of the answer with its headers, where Apache's `%b` is the
# body's. Bytes that are no HTTP become a request for `/`.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m pip install --quiet --disable-pip-version-check --target "$folder" aiohttp==3.14.5

output=$(PYTHONPATH=$folder python3 - 2>/dev/null <<'PY'
import asyncio
import logging
import re
import sys

from aiohttp import web

log = logging.getLogger("aiohttp.access")
log.addHandler(logging.StreamHandler(sys.stdout))
log.setLevel(logging.INFO)
COMBINED = re.compile(r'^(\S+) (\S+) (\S+) \[([^]]+)\] "((?:[^"\\]|\\.)*)" (\d+) (\S+) "((?:[^"\\]|\\.)*)" "((?:[^"\\]|\\.)*)"$')


class Times(logging.Filter):
    def filter(self, record):
        line = re.sub(r"\[.*?\]", "[TIME]", record.getMessage())
        record.msg, record.args = "%s: %s" % ("combined" if COMBINED.match(line) else "not combined", line), ()
        return True


log.addFilter(Times())


async def main():
    application = web.Application()
    application.router.add_get("/{path:.*}", lambda _: web.Response(text="ok"))
    runner = web.AppRunner(application)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    port = site._server.sockets[0].getsockname()[1]
    for request in ('GET /a"b HTTP/1.1\r\nHost: h\r\nUser-Agent: x "y"\r\nConnection: close\r\n\r\n', "hello\r\n\r\n"):
        read, write = await asyncio.open_connection("127.0.0.1", port)
        write.write(request.encode())
        answer = await read.read()
        print("body of %d bytes" % len(answer.partition(b"\r\n\r\n")[2]), flush=True)
        write.close()


asyncio.run(main())
PY
)
expected='body of 2 bytes
body of 45 bytes
not combined: 127.0.0.1 [TIME] "GET /a"b HTTP/1.1" 200 173 "-" "x "y""
not combined: 127.0.0.1 [TIME] "UNKNOWN / HTTP/1.0" 400 207 "-" "-"'
output=$(echo "$output" | sort)
echo "$output"
diff <(echo "$expected") <(echo "$output")
