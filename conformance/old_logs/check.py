#!/usr/bin/env python3
"""`errorbar verify` over the logs that `make.py` made, counted by version.

    python3 conformance/old_logs/check.py target/release/errorbar /tmp/logs

Prints a row per version, and every difference. Exits with 1 if there is one that is not expected: where the header records
no metrics, a custom one that has the name of a built-in one, and a conversion, cannot be distinguished from a changed figure.
"""

import collections
import json
import subprocess
import sys
from pathlib import Path

OUTCOMES = ("agrees", "differs", "not_checkable")
# Cases that differ in versions that do not record metrics.
AMBIGUOUS = ("custom_shadows", "custom_shadows_first", "conversion")


def number(version):
    return [int(part) for part in version.split(".")]


def main():
    binary, folder = sys.argv[1:]
    done = subprocess.run([binary, "verify", folder, "--format", "json"], capture_output=True, text=True)
    if done.returncode not in (0, 1):
        raise SystemExit(done.stderr)
    logs, figures = collections.defaultdict(collections.Counter), collections.defaultdict(collections.Counter)
    reasons, unexpected = collections.Counter(), 0
    for log in json.loads(done.stdout):
        path = Path(log["log"])
        version = path.parent.name
        logs[version][log["outcome"]] += 1
        for figure in log["figures"]:
            figures[version][figure["outcome"]] += 1
            if figure["outcome"] == "differs":
                is_known = figure["by_name"] and path.stem in AMBIGUOUS
                unexpected += not is_known
                print(f"{path}: {figure['scorer']} {figure['difference']}" + (" (known)" if is_known else ""))
        for reason in [log["reason"], *(figure["reason"] for figure in log["figures"])]:
            if reason:
                reasons[reason["kind"]] += 1
    print("version  logs: agree differ not-checkable  figures: agree differ not-checkable")
    for version in sorted(logs, key=number):
        counts = [f"{counter[version][outcome]:6}" for counter in (logs, figures) for outcome in OUTCOMES]
        print(f"{version:8} {' '.join(counts)}")
    print("reasons:", dict(reasons.most_common()))
    return 1 if unexpected else 0


if __name__ == "__main__":
    sys.exit(main())
