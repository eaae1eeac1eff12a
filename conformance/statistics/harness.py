"""What the areas share: a case, the figures that it must give, and how they are run and compared.

An area is a file beside this one, not named like a package, with a function `cases()` that yields cases:

    from harness import case, figure

    def cases():
        scores = [1, 0, 1, 1]
        yield case("mean of four", {"score": scores}, ["--metric", "mean"], figure("value", 0.75))

- The table is a dictionary of columns. `id` may be left out; None is an empty cell. A table with lists or dictionaries
  in it becomes JSONL, any other CSV.
- The options are those of `errorbar score`. Cases with the same options run in one process, so give many tables the
  same options rather than one table many. A `comparison` has a table for each side, or one of all sides, and the options
  of `errorbar compare`; its rows are those of `comparisons`, and it is a process of its own. A `planned` case has the
  options of `errorbar power`, and tables if they are planned from; its rows are the plans.
- A figure is a key of a row of `estimates` (`value`, `stderr`, `lower`, `upper`, `df`, ...) and what it must be. Further
  arguments choose the row by its other keys: `figure("value", 0.5, metric="accuracy", group="law")`. The row must be
  unique. None as the expected number means that the figure must not exist. A key may be a path: `note.auto`.
- Closed forms agree to TOLERANCE, relative to the expected number (absolute below FLOOR). For resampling give
  `monte_carlo_error`: the difference may be MONTE_CARLO_ERRORS times as large.
- Quantiles of Student's t are `t_quantile(p, df)` and `t_interval(level, df, mean, error)` of this file.
"""

import csv
import json
import subprocess
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from scipy import stats

TOLERANCE = 1e-9
FLOOR = 1e-6
MONTE_CARLO_ERRORS = 5
FILES_PER_PROCESS = 200
SECONDS = 120


@dataclass
class Figure:
    key: str
    expected: float | None
    row: dict
    monte_carlo_error: float | None = None
    tolerance: float = TOLERANCE


@dataclass
class Case:
    name: str
    table: dict
    options: tuple
    figures: list
    command: str = "score"
    # Those of the other sides of a comparison.
    other_tables: tuple = ()
    area: str = ""
    file: Path = None
    other_files: list = field(default_factory=list)
    failures: list = field(default_factory=list)
    # Relative deviations of closed forms; deviations of resampling in Monte-Carlo errors.
    closed: list = field(default_factory=list)
    resampled: list = field(default_factory=list)


def figure(key, expected, /, *, monte_carlo_error=None, tolerance=TOLERANCE, **row):
    expected = None if expected is None else float(expected)
    return Figure(key, expected, row, monte_carlo_error, tolerance)


def case(name, table, options, *figures):
    return Case(name, dict(table), tuple(options), list(figures))


def comparison(name, tables, options, *figures):
    base, *others = tables
    return Case(name, dict(base), tuple(options), list(figures), "compare", tuple(others))


def planned(name, options, *figures, tables=()):
    base, *others = tables or [{}]
    return Case(name, dict(base), tuple(options), list(figures), "power", tuple(others))


def t_quantile(p, df):
    """scipy's quantile is right to about 1e-9 only; its distribution function is better, so two steps of Newton follow."""
    t = stats.t.ppf(p, df)
    for _ in range(2):
        t -= (stats.t.cdf(t, df) - p) / stats.t.pdf(t, df)
    return t


def t_interval(level, df, mean, error):
    half = t_quantile(0.5 + level / 2, df) * error
    return mean - half, mean + half


def write(case, folder, number):
    if case.command == "power" and not case.table:
        return
    case.file = write_table(case, case.table, folder, number)
    for side, table in enumerate(case.other_tables, 1):
        case.other_files.append(write_table(case, table, folder, f"{number}_{side}"))


def write_table(case, table, folder, number):
    columns = {"id": [], **table}
    rows = max(len(column) for column in columns.values())
    columns["id"] = columns["id"] or [f"q{row}" for row in range(rows)]
    if any(len(column) != rows for column in columns.values()):
        raise ValueError(f"{case.area}: {case.name}: columns of different length")
    plain = {name: [python_value(value) for value in column] for name, column in columns.items()}
    nested = any(isinstance(value, (list, dict)) for column in plain.values() for value in column)
    path = folder / f"{number}.{'jsonl' if nested else 'csv'}"
    with path.open("w", newline="", encoding="utf-8") as file:
        if nested:
            for row in zip(*plain.values()):
                present = {name: value for name, value in zip(plain, row) if value is not None}
                file.write(json.dumps(present) + "\n")
        else:
            writer = csv.writer(file)
            writer.writerow(plain)
            writer.writerows(zip(*plain.values()))
    return path


def python_value(value):
    """A number of numpy as one of Python, whose text in CSV has all digits."""
    if isinstance(value, (list, tuple)):
        return [python_value(item) for item in value]
    if isinstance(value, dict):
        return {key: python_value(item) for key, item in value.items()}
    return value.item() if hasattr(value, "item") else value


def run(binary, cases, folder):
    """Runs all cases and compares their figures; what fails is in `failures` of the case."""
    by_options = defaultdict(list)
    for number, one in enumerate(cases):
        write(one, folder, number)
        by_options[one.command, one.options].append(one)
    jobs = []
    for (command, _), same in by_options.items():
        together = FILES_PER_PROCESS if command == "score" else 1
        jobs += [same[at : at + together] for at in range(0, len(same), together)]
    with ThreadPoolExecutor() as pool:
        list(pool.map(lambda job: run_together(binary, job), jobs))
    return len(jobs)


def run_together(binary, cases):
    first = cases[0]
    files = [str(file) for one in cases for file in [one.file, *one.other_files] if file]
    if first.command == "power" and files:
        files.insert(0, "--from")
    command = [binary, first.command, *files, *first.options, "--format", "json"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
        answers = json.loads(done.stdout)
        if first.command == "compare":
            answers = {first.file.name: answers["comparisons"]}
        elif first.command == "power":
            # One plan is an object, several are a list.
            answers = {first.name: answers if isinstance(answers, list) else [answers]}
        else:
            answers = {Path(answer["log"]).name: answer["estimates"] for answer in answers}
        error = ": ".join(done.stderr.strip().splitlines()[-3:])
    except subprocess.TimeoutExpired:
        answers, error = {}, f"no answer within {SECONDS} s"
    except (ValueError, KeyError):
        answers, error = {}, done.stderr.strip() or f"exit code {done.returncode}"
    if not answers and len(cases) > 1:
        # One file must not take the others with it.
        for one in cases:
            run_together(binary, [one])
        return
    for one in cases:
        rows = answers.get(one.name if one.command == "power" else one.file.name)
        if rows is None:
            one.failures.append(error or "no results")
            continue
        for expected in one.figures:
            compare(one, expected, rows, error)


def compare(case, expected, rows, error):
    found = [row for row in rows if all(row.get(key) == value for key, value in expected.row.items())]
    label = f"{expected.key} {expected.row or ''}"
    if len(found) != 1:
        case.failures.append(f"{label}: {len(found)} of {len(rows)} rows match. {error}")
        return
    actual = found[0]
    for key in expected.key.split("."):
        actual = actual.get(key) if isinstance(actual, dict) else None
    if expected.expected is None or actual is None:
        if actual is not expected.expected:
            reasons = found[0].get("undefined")
            case.failures.append(f"{label}: {actual}, expected {expected.expected} ({reasons})")
        return
    difference = abs(actual - expected.expected)
    if expected.monte_carlo_error is not None:
        errors = 0.0 if difference == 0 else difference / max(expected.monte_carlo_error, 1e-300)
        case.resampled.append(errors)
        if not errors <= MONTE_CARLO_ERRORS:
            case.failures.append(f"{label}: {actual!r}, expected {expected.expected!r}: {errors:.1f} Monte-Carlo errors")
        return
    deviation = difference / max(abs(expected.expected), FLOOR)
    case.closed.append(deviation)
    if not deviation <= expected.tolerance:
        case.failures.append(f"{label}: {actual!r}, expected {expected.expected!r}: off by {deviation:.1e}")
