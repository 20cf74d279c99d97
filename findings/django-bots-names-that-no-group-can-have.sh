#!/usr/bin/env bash
# django-bots 1.2.3 (PyPI): of the AI bots that its robots.txt names, a port of Google's matcher lets 19 in.
#
# Its README has a robots.txt that disallows every AI bot. It writes each name of ai.robots.txt as it is, with spaces,
# digits and dots. By RFC 9309, section 2.2.1, a product token has letters, `_` and `-` only, and Google's matcher ends
# the name of a group before the first other character: `img2dataset` shuts out a crawler called `img`, and `Terra
# Cotta` one called `Terra`. Protego 0.7.0, which takes names as they are, shuts all of them out.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m pip install --quiet --disable-pip-version-check --target "$folder" \
    django-bots==1.2.3 django==5.2 crawler-user-agents==1.67.0 ua-parser==1.0.2 \
    gpyrobotstxt==1.0.0 protego==0.7.0

output=$(PYTHONPATH=$folder python3 - <<'PY'
import django
from django.conf import settings

settings.configure(INSTALLED_APPS=["django_bots"])
django.setup()
from django_bots.ai import ai_bot_names, robots_rules
from gpyrobotstxt.robots_cc import RobotsMatcher
from protego import Protego

URL = "https://h.example/"
text = robots_rules()
parser = Protego.parse(text)
names = [name.split("/")[0] for name in ai_bot_names()]
open_to = [name for name in names if RobotsMatcher().one_agent_allowed_by_robots(text.encode(), name, URL)]
print(len(names), "names,", len(open_to), "let in by gpyrobotstxt:")
print(*open_to, sep="\n")
print("let in by Protego:", [name for name in names if parser.can_fetch(URL, name)])
for name in ("img", "Terra", "GPTBot", "mybot"):
    print(name, "let in", RobotsMatcher().one_agent_allowed_by_robots(text.encode(), name, URL))
PY
)
expected='188 names, 19 let in by gpyrobotstxt:
AI2Bot
AI2Bot-DeepResearchEval
Ai2Bot-Dolma
bigsur.ai
Brightbot 1.0
Channel3Bot
ChatGPT Agent
Crawl4AI
Datenbank Crawler
Echobot Bot
img2dataset
Kangaroo Bot
Linguee Bot
netEstate Imprint Crawler
panscient.com
Poseidon Research Crawler
quillbot.com
Sidetrade indexer bot
Terra Cotta
let in by Protego: []
img let in False
Terra let in False
GPTBot let in False
mybot let in True'
echo "$output"
diff <(echo "$expected") <(echo "$output")
