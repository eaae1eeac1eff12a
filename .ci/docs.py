#!/usr/bin/env python3
"""Checks the Markdown files of the repository: at most 110 columns (tables and code aside), and every file that they name exists."""

import pathlib
import re
import subprocess
import sys

WIDTH = 110
ROOT = pathlib.Path(__file__).resolve().parent.parent
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
    for number, line in enumerate(page.read_text().splitlines(), 1):
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
                if not exists(name):
                    yield f"{place}: there is no file {name}"


found = [problem for page in tracked("*.md") for problem in problems(page)]
print("\n".join(found))
sys.exit(bool(found))
