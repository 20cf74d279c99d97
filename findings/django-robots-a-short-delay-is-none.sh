#!/usr/bin/env bash
# django-robots 6.1 and django-robots-manager 6.2.1, its continuation (PyPI): a Crawl-delay of 0.4 seconds is written as
# 0, and one of 1.5 as 2.
#
# The field for it has one decimal place, and its help text says "between 0.1 and 99.0", and to start with 0.5 to 1. The
# template rounds it to whole numbers: who asks for a short break asks for none, and who asks for two requests a second
# gets one. Protego 0.7.0 reads fractions. In django-robots, `#` is not escaped in a pattern, which its model calls
# exact. There a comment begins (RFC 9309, section 2.2), so /docs/c# closes all that begins with /docs/c.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for package in django-robots==6.1 django-robots-manager==6.2.1; do
    python3 -m pip install --quiet --disable-pip-version-check --target "$folder/${package%==*}" \
        "$package" Django==5.2.8 protego==0.7.0
done
cat >"$folder/ask.py" <<'PY'
import sys
from types import ModuleType

import django
from django.conf import settings
from protego import Protego

sys.modules["urls"] = urls = ModuleType("urls")
settings.configure(
    INSTALLED_APPS=["django.contrib.contenttypes", "django.contrib.sites", "robots"],
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}},
    TEMPLATES=[{"BACKEND": "django.template.backends.django.DjangoTemplates", "APP_DIRS": True}],
    ROOT_URLCONF="urls",
    ALLOWED_HOSTS=["*"],
    SITE_ID=1,
    ROBOTS_USE_HOST=False,
    ROBOTS_USE_SITEMAP=False,
)
django.setup()

from django.core.management import call_command
from django.test import Client
from django.urls import include, path
from robots.forms import RuleAdminForm
from robots.models import Url

urls.urlpatterns = [path("robots.txt", include("robots.urls"))]
call_command("migrate", verbosity=0)
page = Url.objects.create(pattern="/docs/c#")
delays = {"a": "0.1", "b": "0.4", "c": "0.5", "d": "1.5", "e": "10"}
for robot, delay in delays.items():
    RuleAdminForm({"robot": robot, "sites": [1], "disallowed": [page.pk], "crawl_delay": delay}).save()
text = Client().get("/robots.txt").content.decode()
parser = Protego.parse(text)
print(*(f"{delay} is {parser.crawl_delay(robot):g}" for robot, delay in delays.items()), sep=", ")
print(text.splitlines()[1], "and /docs/cpp is allowed:", parser.can_fetch("https://h.example/docs/cpp", "a"))
PY

output=$(
    for name in django-robots django-robots-manager; do
        echo "$name"
        PYTHONPATH=$folder/$name python3 "$folder/ask.py"
    done
)
expected='django-robots
0.1 is 0, 0.4 is 0, 0.5 is 1, 1.5 is 2, 10 is 10
Disallow: /docs/c# and /docs/cpp is allowed: False
django-robots-manager
0.1 is 0, 0.4 is 0, 0.5 is 1, 1.5 is 2, 10 is 10
Disallow: /docs/c%23 and /docs/cpp is allowed: True'
echo "$output"
diff <(echo "$expected") <(echo "$output")
