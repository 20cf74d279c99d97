#!/usr/bin/env bash
# pyrobotstxt 0.0.5 (PyPI): with a header, the first User-agent line of the file is part of a comment, and the rules
# below it bind nobody.
#
# By its docs include_header puts a message at the start of the file. No line end follows the message, so that
# `User-agent: *` ends up behind it, on the line of the `#`. By RFC 9309, section 2.2, a rule belongs to the User-agent
# lines above it, and there is none. The file looks right, and the site is open.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m pip install --quiet --disable-pip-version-check --target "$folder" \
    pyrobotstxt==0.0.5 protego==0.7.0 gpyrobotstxt==1.0.0

output=$(cd "$folder" && PYTHONPATH=$folder python3 - <<'PY'
from gpyrobotstxt.robots_cc import RobotsMatcher
from protego import Protego
from pyrobotstxt import RobotsTxt, UserAgent

for header in ("", "Rules of h.example"):
    robots = RobotsTxt()
    if header:
        robots.include_header(header, append_date=False)
    for name in ("*", "otherbot"):
        group = UserAgent(ua_name=name)
        group.add_disallow("/private")
        robots.add_user_agent(group)
    robots.write("robots.txt")
    text = open("robots.txt").read()
    print(text.splitlines()[0])
    for agent in ("mybot", "otherbot"):
        url = "https://h.example/private"
        google = RobotsMatcher().one_agent_allowed_by_robots(text.encode(), agent, url)
        print(agent, "allowed", google, "by gpyrobotstxt,", Protego.parse(text).can_fetch(url, agent), "by Protego")
PY
)
expected='User-agent: *
mybot allowed False by gpyrobotstxt, False by Protego
otherbot allowed False by gpyrobotstxt, False by Protego
# Rules of h.exampleUser-agent: *
mybot allowed True by gpyrobotstxt, True by Protego
otherbot allowed False by gpyrobotstxt, False by Protego'
echo "$output"
diff <(echo "$expected") <(echo "$output")
