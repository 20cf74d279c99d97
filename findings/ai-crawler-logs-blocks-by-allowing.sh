#!/usr/bin/env bash
# ai-crawler-logs 1.0.1 (PyPI): asked for a robots.txt that blocks every AI crawler of a log, it writes one that allows
# each of them, and the readers of a page about GPTBot are GPTBot if the log has virtual hosts.
#
# Its README shows `User-agent: GPTBot` with `Disallow: /`. The stance that it ships has an `Allow: /` for all others,
# and one such line anywhere turns each rule into Allow. A line of Apache's vhost_combined, which begins with the host,
# is in whole taken for a User-Agent, and the names of crawlers are looked for in its path as well.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m pip install --quiet --disable-pip-version-check --target "$folder" ai-crawler-logs==1.0.1

output=$(PYTHONPATH=$folder python3 - <<'PY'
from ai_crawler_logs import robots_txt_for, triage

LINE = '192.0.2.1 - - [27/Nov/2026:12:00:00 +0000] "GET %s HTTP/1.1" 200 5 "-" "%s"'
report = triage("\n".join(LINE % ("/", "%s/1.0" % agent) for agent in ("GPTBot", "CCBot")), verify=False)
for stance in ("block-all-ai", "block-ai-training", "block-datasets"):
    print(stance, [line for line in robots_txt_for(report, stance).splitlines() if line and line[0] != "#"])

reader = LINE % ("/wiki/GPTBot", "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0")
for name, line in {"combined": reader, "vhost_combined": "h.example:443 " + reader}.items():
    report = triage(line, verify=False)
    summary = report["summary"]
    print(name, dict(summary["by_crawler"]), report["formats"], summary["distinct_addresses"], "addresses")
PY
)
expected="block-all-ai ['User-agent: CCBot', 'Allow: /', 'User-agent: GPTBot', 'Allow: /']
block-ai-training ['User-agent: GPTBot', 'Allow: /']
block-datasets ['User-agent: CCBot', 'Allow: /']
combined {} {'combined': 1} 1 addresses
vhost_combined {'GPTBot': 1} {'bare-ua': 1} 0 addresses"
echo "$output"
diff <(echo "$expected") <(echo "$output")
