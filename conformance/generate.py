#!/usr/bin/env python3
"""Write the conformance cases: scores, metrics and reducers with what the reference makes of them.

usage: generate.py [--check]     (--check: write nothing, report whether the committed files are what would be written)

Deterministic: a fixed seed, no clock, no network. See README.md for the case format.
"""

import re
import sys
from pathlib import Path

sys.dont_write_bytecode = True  # leave no __pycache__ beside the cases

import reference
import tables
import text_reference
import texts
import themes

HERE = Path(__file__).parent
CASES = HERE / "cases"
LIMIT = 600_000  # bytes in a file
BEGIN, END = "<!-- counts:begin -->", "<!-- counts:end -->"


def render(head, rows_name, rows):
    """A JSON object with one row per line, so that a change to a case is a change to a line."""
    fields = [f"{reference.dumps(key)}: {reference.dumps(value)}" for key, value in head.items()]
    lines = ",\n".join(reference.dumps(row) for row in rows)
    return "{" + ",\n".join([*fields, f'"{rows_name}": [\n{lines}\n]']) + "}\n"


def case_files():
    """File name → (text, number of cases, number that expect an error)."""
    seen = set()
    files = [(f"{name}.json", about, cases, reference.ask) for name, about, cases in themes.all_themes()]
    files += [(f"text/{name}.json", about, cases, text_reference.ask) for name, about, cases in texts.all_texts()]
    for name, about, cases, ask in files:
        answered = []
        for case in cases:
            if case["name"] in seen:
                sys.exit(f"two cases are named {case['name']}")
            seen.add(case["name"])
            answered.append(case | ask(case))
        errors = sum("error" in case["expect"] for case in answered)
        head = {"reference": f"inspect_ai {reference.PINNED}", "about": about}
        yield name, render(head, "cases", answered), len(answered), errors
    for name, about, rows in tables.all_tables():
        head = {"reference": f"inspect_ai {reference.PINNED}", "about": about}
        yield f"{name}.json", render(head, "rows", rows), len(rows), 0


def count_table(counts):
    lines = ["| file | cases | of them errors |", "|---|---:|---:|"]
    lines += [f"| `cases/{name}` | {total} | {errors} |" for name, total, errors in counts]
    cases = sum(total for name, total, _ in counts if name not in tables.FILES)
    errors = sum(errors for *_, errors in counts)
    rows = sum(total for name, total, _ in counts if name in tables.FILES)
    lines.append(f"| **{cases} cases, {rows} table rows** | {cases + rows} | {errors} |")
    return "\n".join(lines)


def verdicts():
    """The tags of the cases on which we and the reference part; README.md has a paragraph for each."""
    files = themes.all_themes() + texts.all_texts()
    return {case["verdict"] for _, _, cases in files for case in cases if "verdict" in case}


def main():
    check = sys.argv[1:] == ["--check"]
    if sys.argv[1:] and not check:
        sys.exit(__doc__)
    texts, counts = {}, []
    for name, text, total, errors in case_files():
        if len(text.encode()) > LIMIT:
            sys.exit(f"{name} has {len(text.encode())} bytes, more than {LIMIT}: split the theme")
        texts[CASES / name] = text
        counts.append((name, total, errors))

    readme = HERE / "README.md"
    if readme.exists():
        old = readme.read_text()
        without = sorted(tag for tag in verdicts() if f"**`{tag}`**" not in old)
        if without:
            sys.exit(f"README.md has no verdict for: {', '.join(without)}")
        new = re.sub(
            f"{BEGIN}.*{END}", lambda _: f"{BEGIN}\n{count_table(counts)}\n{END}", old, flags=re.DOTALL
        )
        texts[readme] = new

    stale = [path for path, text in texts.items() if not path.exists() or path.read_text() != text]
    extra = [path for path in sorted(CASES.rglob("*.json")) if path not in texts]
    if not check:
        (CASES / "text").mkdir(parents=True, exist_ok=True)
        for path in stale:
            path.write_text(texts[path])
        for path in extra:
            path.unlink()
    print(count_table(counts))
    for path in stale + extra:
        print(("differs: " if check else "written: ") + str(path.relative_to(HERE)))
    if check and (stale or extra):
        sys.exit(1)


if __name__ == "__main__":
    main()
