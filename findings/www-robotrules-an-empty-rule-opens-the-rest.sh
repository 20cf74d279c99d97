#!/usr/bin/env bash
# WWW::RobotRules 6.02 (Perl, Debian 12; of LWP::RobotUA and checklink): after an empty Disallow, what a group forbids
# is open, a rule with two slashes is lost, and of two groups with the robot's name the second is not read.
#
# Its manual says that no URL that starts with such a value is retrieved, and that a file has one or more records.
# Rules are tried in the order of the file, and an empty one ends that with a yes. It forbids nothing by RFC 9309
# either, but there the order has no meaning (section 2.2.2). `Disallow:` and more rules after it are what grows out of
# a template. `//` is taken for the start of another host, whose rules are dropped. Groups with one name are to be read
# as one (section 2.2.1), and it does so with those of `*`. Protego 0.7.0 answers by the RFC.
# Needs perl, and apt-get on Debian 12.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
apt-get download --quiet libwww-robotrules-perl=6.02-1 liburi-perl=5.17-1 >/dev/null 2>&1
for package in *.deb; do dpkg --extract "$package" .; done
python3 -m pip install --quiet --disable-pip-version-check --target python protego==0.7.0

cat >ask.pl <<'PERL'
use strict;
use WWW::RobotRules;

my ($path, $text) = @ARGV;
my $rules = WWW::RobotRules->new("mybot/1.0");
$rules->parse("https://h.example/robots.txt", $text);
print $rules->allowed("https://h.example$path") ? "allowed" : "forbidden";
PERL
cat >ask.py <<'PY'
import sys

from protego import Protego

path, text = sys.argv[1:]
print("allowed" if Protego.parse(text).can_fetch("https://h.example" + path, "mybot") else "forbidden", end="")
PY

output=$(
    while IFS='|' read -r path text; do
        lines=$(tr ',' '\n' <<<"$text")
        perl=$(PERL5LIB=usr/share/perl5 perl ask.pl "$path" "$lines")
        python=$(PYTHONPATH=python python3 ask.py "$path" "$lines")
        echo "$path $perl, by Protego $python: ${text//,/ / }"
    done <<'CASES'
/a/|User-agent: *,Disallow: /a/,Disallow:
/a/|User-agent: *,Disallow:,Disallow: /a/
//a/|User-agent: *,Disallow: /a/,Disallow: //a/
/b/|User-agent: mybot,Disallow: /a/,,User-agent: mybot,Disallow: /b/
/b/|User-agent: *,Disallow: /a/,,User-agent: *,Disallow: /b/
CASES
)
expected='/a/ forbidden, by Protego forbidden: User-agent: * / Disallow: /a/ / Disallow:
/a/ allowed, by Protego forbidden: User-agent: * / Disallow: / Disallow: /a/
//a/ allowed, by Protego forbidden: User-agent: * / Disallow: /a/ / Disallow: //a/
/b/ allowed, by Protego forbidden: User-agent: mybot / Disallow: /a/ /  / User-agent: mybot / Disallow: /b/
/b/ forbidden, by Protego forbidden: User-agent: * / Disallow: /a/ /  / User-agent: * / Disallow: /b/'
echo "$output"
diff <(echo "$expected") <(echo "$output")
