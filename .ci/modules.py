"""Prints pairs of top-level modules of a crate that import each other, and fails on one that is not listed below.

A pair that is gone has to be taken off the list, so that it cannot come back. Tests may import what they like.
"""

import re
import sys
from itertools import combinations
from pathlib import Path

# Pairs that are left, by crate. New ones are not added: move what both need into a third module.
KNOWN: dict[str, set[tuple[str, str]]] = {}

TESTS = re.compile(r"#\[cfg\((?:all\()?test")


def code(path: Path) -> str:
    """The text of a file without comments and without the module of its tests."""
    text = TESTS.split(path.read_text(encoding="utf-8"))[0]
    return re.sub(r"//[^\n]*", "", text)


def is_test(path: Path) -> bool:
    return path.name == "tests.rs" or "tests" in path.parts[-3:-1]


def reexports(root: str) -> dict[str, str]:
    """The module that each name at the root of a crate comes from."""
    found = {}
    for module, names in re.findall(r"\buse (?:self::|crate::)?([a-z_]\w*)::(\{[^;]*\}|[\w:]+)(?: as \w+)?;", root):
        for name in re.findall(r"\w+", names):
            found.setdefault(name, module)
    return found


def imported(text: str) -> set[str]:
    """First segments of all paths that begin at the root of the crate, which macros are not."""
    names = set(re.findall(r"\bcrate::(\w+)\b(?!!)", text))
    for group in re.findall(r"\bcrate::\{((?:[^{}]|\{[^{}]*\})*)\}", text):
        names.update(re.findall(r"(?:^|,)\s*(\w+)", re.sub(r"\{[^{}]*\}", "", group)))
    return names


def cycles(source: Path) -> set[tuple[str, str]]:
    root = source / "lib.rs"
    if not root.exists():
        return set()
    modules = {path.stem for path in source.iterdir() if path.is_dir() or path.suffix == ".rs"} - {"lib", "main"}
    from_root = reexports(code(root))
    uses: dict[str, set[str]] = {}
    for path in source.rglob("*.rs"):
        module = path.relative_to(source).parts[0].removesuffix(".rs")
        if module in modules and not is_test(path):
            names = {from_root.get(name, name) for name in imported(code(path))}
            uses.setdefault(module, set()).update(names & modules - {module})
    return {(a, b) for a, b in combinations(sorted(uses), 2) if b in uses[a] and a in uses[b]}


def main() -> int:
    status = 0
    for source in sorted(Path(__file__).parent.parent.glob("crates/*/src")):
        crate = source.parent.name
        found, known = cycles(source), KNOWN.get(crate, set())
        for a, b in sorted(found):
            print(f"{crate}: {a} and {b} import each other{'' if (a, b) in known else '  <- new'}")
        for a, b in sorted(known - found):
            print(f"{crate}: {a} and {b} no longer import each other; take the pair off the list")
        if found != known:
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
