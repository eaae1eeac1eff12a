#!/usr/bin/env python3
"""The conformance cases inside the reference, with the metrics and reducers of errorbar in place of its own.

    python conformance/check_drop_ins.py [THEME ...]

Needs the package errorbar (`pip install ./crates/python`) and conformance/requirements.txt. Each case of `cases/` runs
through the reference's own pipeline, which calls `errorbar.inspect.accuracy` where it would call its own, and so on; what
it records must be what it recorded for its own: keys, groups, counts, order, reduced scores, and numbers to 1e-12. Random
figures must be within what 100 runs of the reference gave. Cases with a verdict (README.md) are run and counted: where
errorbar differs on purpose, it does here, too.
"""

import argparse
import json
import math
import sys
from pathlib import Path

import errorbar.inspect as drop_in
import reference

CASES = Path(__file__).resolve().parent / "cases"
TOLERANCE = 1e-12
PREFIX = "errorbar/"


def install():
    """Puts the drop-ins where the cases look for metrics and reducers."""
    for name in list(reference.METRICS):
        if hasattr(drop_in, name):
            reference.METRICS[name] = getattr(drop_in, name)
    for name in list(reference.REDUCERS):
        function = name if hasattr(drop_in, name) and name not in ("mean",) else f"{name}_score"
        reference.REDUCERS[name] = getattr(drop_in, function)
    created = reference.create_reducers
    reference.create_reducers = lambda name: created(f"{PREFIX}{name}" if isinstance(name, str) else name)


def bare(name):
    return name.removeprefix(PREFIX) if isinstance(name, str) else name


def is_close(expected, found, entry):
    if "sd" in entry:
        low, high = entry["min"], entry["max"]
        return low <= found <= high or abs(found - expected) <= 6 * entry["sd"]
    if math.isnan(expected) or math.isinf(expected):
        return expected == found or (math.isnan(expected) and math.isnan(found))
    return abs(expected - found) <= TOLERANCE * max(1.0, abs(expected))


def same(expected, found):
    """Whether two values are the same: numbers to the tolerance, everything else exactly."""
    if isinstance(expected, dict) and isinstance(found, dict):
        return list(expected) == list(found) and all(same(expected[key], found[key]) for key in expected)
    if isinstance(expected, list) and isinstance(found, list):
        return len(expected) == len(found) and all(map(same, expected, found))
    if isinstance(expected, float) and isinstance(found, (int, float)) and not isinstance(found, bool):
        return is_close(expected, found, {})
    return expected == found and type(expected) is type(found)


def block_differences(expected, found):
    for field in ["name", "scorer", "reducer", "scored_samples", "unscored_samples"]:
        if expected[field] != bare(found[field]):
            yield f"{field}: {expected[field]!r}, here {found[field]!r}"
    # Metrics of maps have their names as keys.
    figures = {bare(key): entry for key, entry in found["metrics"].items()}
    if list(expected["metrics"]) != list(figures):
        yield f"keys {list(expected['metrics'])}, here {list(figures)}"
        return
    for key, entry in expected["metrics"].items():
        other = figures[key]
        if (bare(entry["name"]), bare(entry["group"])) != (bare(other["name"]), bare(other["group"])):
            yield f"{key} is {entry['name']!r} of {entry['group']!r}, here {other['name']!r} of {other['group']!r}"
        if not is_close(entry["value"], other["value"], entry):
            yield f"{key} = {entry['value']!r}, here {other['value']!r}"


def differences(case, found):
    """What is not as the reference recorded it."""
    expect = reference.decode(case["expect"])
    if ("error" in expect) != ("error" in found):
        yield f"{expect.get('error', 'no error')}, here {found.get('error', 'no error')}"
    if "error" in expect or "error" in found:
        return
    blocks = expect["results"]["scores"], found["results"]["scores"]
    if len(blocks[0]) != len(blocks[1]):
        yield f"{len(blocks[0])} blocks, here {len(blocks[1])}"
    for expected, own in zip(*blocks):
        yield from (f"{expected['name']}: {problem}" for problem in block_differences(expected, own))
    if case.get("random"):
        return
    for expected, own in zip(expect["reductions"] or [], found["reductions"] or []):
        if not same(expected["samples"], own["samples"]):
            wrong = next(pair for pair in zip(expected["samples"], own["samples"]) if not same(*pair))
            yield f"reduced by {expected['reducer']}: {wrong[0]}, here {wrong[1]}"


def outcome(case):
    try:
        metrics = [reference.build_metrics(scorer["metrics"]) for scorer in case["scorers"]]
        task_metrics = reference.build_metrics(case.get("task_metrics"))
        reducers = reference.build_reducers(case["reducers"])
        results, reductions = reference.compute(reference.decode(case), metrics, task_metrics, reducers)
        return reference.write_results(results, reductions)
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("themes", nargs="*", help="the files of cases, without .json; all if none is given")
    themes = parser.parse_args().themes or sorted(path.stem for path in CASES.glob("*.json"))
    install()
    total = failed = on_purpose = 0
    for theme in themes:
        document = json.loads((CASES / f"{theme}.json").read_text())
        for case in document.get("cases", []):
            reference.listen()
            problems = list(differences(case, outcome(case)))
            total += 1
            if problems and "verdict" in case:
                on_purpose += 1
            elif problems:
                failed += 1
                print(f"{theme}, {case['name']}: {problems[0]}"[:400])
    print(f"{total} cases, {failed} differ, and {on_purpose} with a verdict do")
    return 1 if failed or total == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
