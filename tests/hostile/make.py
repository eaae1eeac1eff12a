#!/usr/bin/env python3
"""Makes the hostile set: `make.py FOLDER [--only NAME…]`. See README.md."""

from __future__ import annotations

import argparse
import os
import sys
import time
from fnmatch import fnmatch
from pathlib import Path

import every
from case import MAX_BYTES, Case


def main() -> int:
    parser = argparse.ArgumentParser(description="Makes the hostile set.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", nargs="*", metavar="NAME", help="only these cases; * stands for anything")
    parser.add_argument("--list", action="store_true", help="only list the cases")
    arguments = parser.parse_args()
    cases = [case for case in every.CASES if is_chosen(case, arguments.only)]
    if not cases:
        print("error: no case has such a name", file=sys.stderr)
        return 2
    if arguments.list:
        for case in cases:
            print(f"{case.kind:8} {case.name:32} {case.about}")
        return 0
    begun, total, failed = time.monotonic(), 0, 0
    for case in cases:
        path = every.path_of(case, arguments.folder)
        path.parent.mkdir(parents=True, exist_ok=True)
        if every.needs_folder(case):
            path.mkdir(exist_ok=True)
        try:
            case.make(path)
        except ModuleNotFoundError as error:
            print(f"skipped {case.name}: {error}; see requirements.txt", file=sys.stderr)
            continue
        largest = max(disk_bytes(file) for file in ([path] if path.is_file() else path.iterdir()))
        total += sum(disk_bytes(file) for file in ([path] if path.is_file() else path.iterdir()))
        if largest > MAX_BYTES:
            print(f"error: {case.name} takes {largest / 1e6:.1f} MB, more than the set allows", file=sys.stderr)
            failed += 1
    print(f"{len(cases)} cases, {total / 1e6:.0f} MB, {time.monotonic() - begun:.0f} s")
    return 1 if failed else 0


def is_chosen(case: Case, patterns: list[str] | None) -> bool:
    return not patterns or any(fnmatch(case.name, pattern) or case.kind == pattern for pattern in patterns)


def disk_bytes(path: Path) -> int:
    """What a file takes on the disk; a sparse file takes little."""
    return os.stat(path).st_blocks * 512


if __name__ == "__main__":
    sys.exit(main())
