#!/usr/bin/env python3
"""Checks the Markdown files of the repository: at most 110 columns (tables and code aside), and every file that they name exists.

With a folder, checks the book that mdbook has built there: no link within it is dead, and none leads out of it."""

import html.parser
import pathlib
import re
import subprocess
import sys
import urllib.parse

WIDTH = 110
ROOT = pathlib.Path(__file__).resolve().parent.parent
# A file that a page makes is named on it as any other.
MADE = re.compile(r"^```\w+ file=(\S+)", re.MULTILINE)
NAMES = re.compile(r"`((?:[\w.-]+/)*[\w.-]+\.(?:rs|md|py|toml|csv))`")
LINKS = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")


def tracked(pattern="*"):
    listed = subprocess.run(["git", "ls-files", pattern], cwd=ROOT, capture_output=True, text=True, check=True)
    return [ROOT / line for line in listed.stdout.splitlines()]


FILES = ["/" + str(path.relative_to(ROOT)) for path in tracked()]


def exists(name):
    """Whether a file of the repository has this path, or ends with it: `core/src/plan.rs`, `plan.rs`; `x.rs` and `NAME.rs` stand for any."""
    stem = pathlib.Path(name).stem
    return stem == "x" or stem.isupper() or any(path.endswith("/" + name) for path in FILES)


def problems(page):
    fenced = False
    text = page.read_text()
    made = set(MADE.findall(text))
    for number, line in enumerate(text.splitlines(), 1):
        place = f"{page.relative_to(ROOT)}:{number}"
        if line.startswith("```"):
            fenced = not fenced
        if fenced or line.startswith("    "):
            continue
        if len(line) > WIDTH and not line.startswith("|"):
            yield f"{place}: {len(line)} columns; wrap at {WIDTH}"
        for link in LINKS.findall(line):
            if not (page.parent / link).exists():
                yield f"{place}: the link to {link} leads nowhere"
        # The changelog also names what is gone.
        if page.name != "CHANGELOG.md":
            for name in NAMES.findall(line):
                if name not in made and not exists(name):
                    yield f"{place}: there is no file {name}"


class Anchors(html.parser.HTMLParser):
    """The links of a page, and the ids that links can lead to."""

    def __init__(self, page):
        super().__init__()
        self.ids, self.links = {""}, []
        self.feed(page.read_text())

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.ids.add(attributes.get("id", ""))
        self.links += [attributes[name] for name in ("href", "src") if attributes.get(name)]


def dead_links(book):
    pages = {page.resolve(): Anchors(page) for page in book.rglob("*.html")}
    if not pages:
        yield f"{book}: no pages"
    for page, anchors in pages.items():
        # All pages in one, and the page of a server for what it does not have: their links are relative to elsewhere.
        if page.name in ("print.html", "404.html"):
            continue
        for link in anchors.links:
            url = urllib.parse.urlparse(link)
            if url.scheme or url.netloc:
                continue
            target = (page.parent / urllib.parse.unquote(url.path)).resolve() if url.path else page
            place = f"{page.relative_to(book.resolve())}: the link to {link}"
            if not target.is_relative_to(book.resolve()) or not target.exists():
                yield f"{place} leads nowhere"
            elif target in pages and urllib.parse.unquote(url.fragment) not in pages[target].ids:
                yield f"{place} leads to no heading"


if len(sys.argv) > 1:
    found = list(dead_links(pathlib.Path(sys.argv[1])))
else:
    found = [problem for page in tracked("*.md") for problem in problems(page)]
print("\n".join(found))
sys.exit(bool(found))
