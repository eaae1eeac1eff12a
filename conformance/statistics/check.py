#!/usr/bin/env python3
"""Figures of errorbar against those of scipy, statsmodels, scikit-learn, krippendorff and irrCAC.

    python conformance/statistics/check.py target/debug/errorbar [AREA ...]

Needs the packages of conformance/statistics/requirements.txt. Every other file here is an area; harness.py says how a
case is written. Prints the number of cases and the largest deviation of each area; exits with 1 if a figure is wrong.
"""

import argparse
import importlib
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import harness  # noqa: E402


def load(names):
    cases = []
    for path in sorted(HERE.glob("*.py")):
        if path.stem in ("check", "harness") or (names and path.stem not in names):
            continue
        for one in importlib.import_module(path.stem).cases():
            one.area = path.stem
            cases.append(one)
    return cases


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary", help="the errorbar binary")
    parser.add_argument("areas", nargs="*", help="only these areas")
    arguments = parser.parse_args()
    started = time.monotonic()
    cases = load(arguments.areas)
    unknown = set(arguments.areas) - {one.area for one in cases}
    if unknown:
        parser.error(f"no area {', '.join(sorted(unknown))}")
    with tempfile.TemporaryDirectory() as folder:
        processes = harness.run(str(Path(arguments.binary).resolve()), cases, Path(folder))
    print(f"{'area':18} {'cases':>6} {'figures':>8} {'closed forms':>13} {'resampling':>11} {'failed':>7}")
    for area in sorted({one.area for one in cases}):
        print(line(area, [one for one in cases if one.area == area]))
    print(line("all", cases))
    failed = [one for one in cases if one.failures]
    print(f"{processes} processes, {time.monotonic() - started:.0f} s")
    for one in failed:
        print(f"\n{one.area}: {one.name}\n  {' '.join(one.options)}")
        for failure in one.failures:
            print(f"  {failure}")
    return 1 if failed or not cases else 0


def line(area, cases):
    closed = max((value for one in cases for value in one.closed), default=None)
    resampled = max((value for one in cases for value in one.resampled), default=None)
    closed = "-" if closed is None else f"{closed:.1e}"
    resampled = "-" if resampled is None else f"{resampled:.1f} MCE"
    figures = sum(len(one.figures) for one in cases)
    failed = sum(bool(one.failures) for one in cases)
    return f"{area:18} {len(cases):6} {figures:8} {closed:>13} {resampled:>11} {failed:7}"


if __name__ == "__main__":
    sys.exit(main())
