#!/usr/bin/env bash
# llms-txt 0.0.7 (PyPI, the parser of the authors of the llms.txt proposal): a file of title, summary and links has no
# summary, a file of title and links cannot be read, and of two sections with one name the first is lost.
#
# By the proposal, which is the README of the package, the title is the only required section. The parser finds a
# summary only if a paragraph follows it. It cuts a URL at its first `)`, though a CommonMark link may contain pairs
# of parentheses. It cannot read the file that llms-txt-kit 0.1.0 (PyPI) writes, because of a comment at the end of
# it.
# Needs python3 with pip.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m pip install --quiet --disable-pip-version-check --target "$folder" \
    llms-txt==0.0.7 fastcore==2.2.41 httpx==0.28.1 llms-txt-kit==0.1.0 2>/dev/null

output=$(PYTHONPATH=$folder python3 - <<'PY'
import llmstxt
from llms_txt import parse_llms_file

DOCS = "## Docs\n\n- [A](https://h.example/a): about A\n"
FILES = {
    "title, summary, paragraph, links": "# T\n\n> S\n\nP\n\n" + DOCS,
    "title, summary, links": "# T\n\n> S\n\n" + DOCS,
    "title, links": "# T\n\n" + DOCS,
    "two sections with one name": "# T\n\n> S\n\nP\n\n" + DOCS + "\n## Docs\n\n- [B](https://h.example/b)\n",
    "a URL with brackets": "# T\n\n> S\n\nP\n\n## Docs\n\n- [R](https://h.example/Robot_(film)): about R\n",
    "llms-txt-kit": llmstxt.generate("T", "S", links=[("A", "https://h.example/a", "about A")]),
    "llms-txt-kit, no credit": llmstxt.generate("T", "S", links=[("A", "https://h.example/a")], credit=False),
}
for name, text in FILES.items():
    try:
        file = parse_llms_file(text)
        links = [(link.url, link.desc) for section in file.sections.values() for link in section]
        print("%s: summary %r, paragraph %r, %s" % (name, file.summary, file.info, links))
    except (AttributeError, TypeError) as error:
        print("%s: %s" % (name, type(error).__name__))
PY
)
expected="title, summary, paragraph, links: summary 'S', paragraph 'P', [('https://h.example/a', 'about A')]
title, summary, links: summary None, paragraph '> S', [('https://h.example/a', 'about A')]
title, links: TypeError
two sections with one name: summary 'S', paragraph 'P', [('https://h.example/b', None)]
a URL with brackets: summary 'S', paragraph 'P', [('https://h.example/Robot_(film', None)]
llms-txt-kit: AttributeError
llms-txt-kit, no credit: summary None, paragraph '> S', [('https://h.example/a', None)]"
echo "$output"
diff <(echo "$expected") <(echo "$output")
