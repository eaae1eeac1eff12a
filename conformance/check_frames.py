#!/usr/bin/env python3
"""Data frames of logs, read by the reference and by errorbar: the same columns, types, order and values.

    python conformance/check_frames.py [LOG_OR_FOLDER ...]

Needs the package errorbar (`pip install ./crates/python`) and conformance/frames-requirements.txt. `samples_df(full=True)`,
`evals_df` and `messages_df` of both sides are compared, column by column and value by value, on: logs that the reference
writes here (tools, epochs, errors, limits, retries, values of every type), logs that errorbar writes, logs of old versions
of the reference, logs written by hand with fields that no run writes, and the logs that are given. Each log alone, and
each kind of them together: what a column holds decides its type.

Differences on purpose, each with a check here or, where the reference has no frame, with nothing to compare:
- a frame without rows has its fixed columns; the reference's has none, and its `messages_df` fails if no sample has one;
- a target of more than 5,120 characters is whole; the reference cuts it even with `full=True`;
- an integer beyond 64 bits is a float; the reference fails;
- a list or map among the arguments of a tool that is wider than 1,000 characters is on one line;
- logs that the reference refuses are read: `.json` files by any name, samples without an input, a header with null for NaN.
"""

import logging
import shutil
import sys
import tempfile
import warnings
from pathlib import Path

import errorbar.inspect as ours
from errorbar.__main__ import main as errorbar
from inspect_ai import analysis as reference

from check_logs import questions, write_task
from frame_logs import BY_HAND, LONG_TARGET, reference_logs, write_by_hand

OLD = Path(__file__).resolve().parent / "old_logs" / "logs"
#: Only `.json` files whose names start with a time are logs for the reference.
TIME = "2026-01-01T00-00-00_"


def frames(log):
    """The three frames of each side."""
    yield "samples", lambda: reference.samples_df(log, full=True, quiet=True), lambda: ours.samples_df(log)
    yield "evals", lambda: reference.evals_df(log, quiet=True), lambda: ours.evals_df(log)
    yield "messages", lambda: reference.messages_df(log, quiet=True), lambda: ours.messages_df(log)


def values(column):
    return column.array._pa_array.to_pylist()


def differences(expected, found):
    """What is not the same in two frames."""
    if len(expected) != len(found):
        return [f"{len(expected)} rows in the reference, {len(found)} here"]
    if len(expected.columns) == 0 and len(found) == 0:
        return []
    if list(expected.columns) != list(found.columns):
        left = [name for name in expected.columns if name not in found.columns]
        more = [name for name in found.columns if name not in expected.columns]
        return [f"other columns, or another order: only there {left}, only here {more}"]
    wrong = []
    for name in expected.columns:
        if expected[name].dtype != found[name].dtype:
            wrong.append(f"{name} is {expected[name].dtype} there, {found[name].dtype} here")
        pairs = list(zip(values(expected[name]), values(found[name])))
        different = [row for row, (one, other) in enumerate(pairs) if one != other or type(one) is not type(other)]
        if different:
            one, other = pairs[different[0]]
            wrong.append(f"{name}: {len(different)} of {len(pairs)} differ, row {different[0]}: {one!r} there, {other!r} here")
    return wrong


def compare(log, name, problems, refused):
    """Compares the frames of a log, or of several; how many there were on both sides."""
    count = 0
    for kind, theirs, own in frames(log):
        found = own()
        try:
            expected = theirs()
        except Exception as error:
            # There is nothing to compare with; that it is a refusal is part of the report.
            refused.append((kind, type(error).__name__))
            continue
        count += 1
        problems += [f"{name}, {kind}: {problem}" for problem in differences(expected, found)]
    return count


def check_set(title, logs, problems):
    """Each of some logs, and all of them whose headers the reference reads."""
    count, refused, readable = 0, [], []
    for log in logs:
        before = len(refused)
        count += compare(str(log), log.name, problems, refused)
        readable += [str(log)] if ("evals", "ValueError") not in refused[before:] else []
    count += compare(readable, f"{title} together", problems, refused)
    print(f"{title}: {len(logs)} logs, {count} frames")
    for kind, error in sorted(set(refused)):
        print(f"  {refused.count((kind, error))} times the reference fails on {kind} ({error}) and errorbar does not")
    return count


def old_logs(folder):
    """Logs of old versions of the reference, under names that it takes for those of logs."""
    folder.mkdir()
    for log in sorted(OLD.rglob("*.eval")) + sorted(OLD.rglob("*.json")):
        name = f"{log.parent.name}_{log.name}"
        shutil.copy(log, folder / (name if log.suffix == ".eval" else TIME + name))
    return sorted(folder.iterdir())


def errorbar_logs(folder):
    """Logs that errorbar writes."""
    tasks = folder / "tasks"
    made = []
    outputs = [{"id": f"q{n}", "output": str(n)} for n in range(30) if n % 7]
    plain = write_task(tasks, "plain", questions(30), ['scorer = "match()"', "epochs = 3"], outputs)
    both = write_task(tasks, "both", questions(9), ['scorer = ["includes()", "f1()"]', 'metrics = ["mean()", "ci()"]'])
    for name, task, options in [("plain", plain, []), ("both", both, []), ("json", plain, ["--log-format", "json"])]:
        logs = folder / name
        logs.mkdir()
        errorbar(["eval", str(task), "--log-dir", str(logs), "--quiet", *options])
        made += logs.iterdir()
    return made


def check_long_target(folder, problems):
    """A long target is cut by the reference, and whole here."""
    log = str(folder / f"{TIME}target.json")
    cut, whole = reference.samples_df(log, full=True, quiet=True), ours.samples_df(log)
    if len(whole["target"][0]) != LONG_TARGET or len(cut["target"][0]) >= LONG_TARGET:
        problems.append(f"a target of {LONG_TARGET}: {len(cut['target'][0])} there, {len(whole['target'][0])} here")
    problems += differences(cut.drop(columns="target"), whole.drop(columns="target"))


def check_plain(logs, problems):
    """`errorbar.samples` has the same columns, with a null for whatever is missing."""
    import errorbar as eb

    frame, expected = eb.samples(logs), ours.samples_df(logs)
    if frame.columns != list(expected.columns) or len(frame) != len(expected):
        problems.append("errorbar.samples has other columns or rows than samples_df")
    polars = frame.to_polars()
    mixed = polars["score_mixed"].to_list()
    if "nan" in mixed or None not in mixed:
        problems.append(f"errorbar.samples has text for what is missing: {mixed}")


def main():
    logging.disable(logging.WARNING)
    warnings.simplefilter("ignore")
    problems, count = [], 0
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        made = reference_logs(folder / "reference")
        count += check_set("logs of the reference", made, problems)
        count += check_set("logs of errorbar", errorbar_logs(folder / "errorbar"), problems)
        count += check_set("logs of old versions", old_logs(folder / "old"), problems)
        by_hand = folder / "by_hand"
        count += check_set("logs by hand", write_by_hand(by_hand, TIME, BY_HAND), problems)
        write_by_hand(by_hand, TIME, {"target": {"sample": {"target": "x" * LONG_TARGET}}})
        check_long_target(by_hand, problems)
        check_plain([str(log) for log in made], problems)
        for given in map(Path, sys.argv[1:]):
            logs = sorted(given.rglob("*.eval")) + sorted(given.rglob(f"{TIME[:2]}*.json")) if given.is_dir() else [given]
            count += check_set(str(given), logs, problems)
    for problem in problems:
        print(problem)
    print(f"{count} frames compared, {len(problems)} differences")
    return 1 if problems or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
