#!/usr/bin/env python3
"""Logs that errorbar writes, opened by the reference's own reader: no warning, the same results.

    python conformance/check_logs.py target/release/errorbar

Needs inspect_ai in the version of conformance/requirements.txt. Logs of every kind are made with the binary: finished,
with failed samples, with NaN, with map-valued scores, cancelled, resumed, as JSON, with odd ids. Each must open without a
warning, hold every sample, and give the recorded figures when the reference computes them again.
"""

import json
import logging
import math
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

HERE = Path(__file__).resolve().parent
EXAMPLES = HERE.parent / "examples"
TOLERANCE = 1e-12


class Warned(logging.Handler):
    """Collects what the reference complains about."""

    def __init__(self):
        super().__init__(logging.WARNING)
        self.messages = []

    def emit(self, record):
        self.messages.append(record.getMessage())


def evaluate(binary, task, folder, *options, code=0):
    """Runs a task; its only log."""
    folder.mkdir(parents=True)
    command = [binary, "eval", str(task), "--log-dir", str(folder), "--quiet", *options]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != code:
        raise SystemExit(f"{command}: exit {done.returncode}, expected {code}\n{done.stderr}")
    (log,) = folder.iterdir()
    return log


def write_task(folder, name, samples, lines, outputs=None):
    """A task file with its dataset and recorded outputs."""
    folder.mkdir(parents=True, exist_ok=True)
    write_lines(folder / f"{name}.jsonl", samples)
    outputs = outputs or [{"id": sample["id"], "output": sample["target"]} for sample in samples]
    write_lines(folder / f"{name}_outputs.jsonl", outputs)
    text = [f'dataset = {{ path = "{name}.jsonl" }}', f'model = "replay/{name}_outputs.jsonl"', *lines]
    task = folder / f"{name}.toml"
    task.write_text("\n".join(text) + "\n")
    return task


def write_lines(path, records):
    path.write_text("".join(json.dumps(record) + "\n" for record in records))


def questions(count, **extra):
    return [{"id": f"q{n}", "input": f"{n}?", "target": str(n), "metadata": {"c": n % 4}, **extra} for n in range(count)]


def with_errors(folder):
    samples = questions(12)
    outputs = [{"id": s["id"], "output": s["target"]} for s in samples if s["id"] not in ("q3", "q7")]
    return write_task(folder, "errors", samples, ['scorer = "match()"', "epochs = 2"], outputs)


def with_nan(folder):
    samples = questions(10)
    values = [float("nan") if n % 3 == 0 else n / 10 for n in range(10)]
    write_lines(folder / "nan_scores.jsonl", [{"id": f"q{n}", "score": value} for n, value in enumerate(values)])
    metrics = 'metrics = ["mean()", "stderr()", "stderr(cluster=\'c\')", "grouped(mean(), \'c\')", "ci()"]'
    return write_task(folder, "nan", samples, ['scorer = "precomputed(\'nan_scores.jsonl\')"', metrics])


def with_maps(folder):
    samples = questions(9)
    scores = [{"alpha": n / 9, "alien": "C" if n % 2 else "I", "beta": float("nan") if n == 4 else n} for n in range(9)]
    write_lines(folder / "map_scores.jsonl", [{"id": f"q{n}", "score": score} for n, score in enumerate(scores)])
    metrics = 'metrics = { "al*" = ["mean()", "stderr()"], "beta" = ["std()", "ci()"] }'
    return write_task(folder, "maps", samples, ['scorer = "precomputed(\'map_scores.jsonl\')"', metrics])


def with_odd_ids(folder):
    ids = ["a/b", "ü \"quoted\"", "line\nbreak", "100%", "..", "Ω" * 40, "it's"]
    samples = [{"id": id, "input": "x", "target": "x", "choices": ["p", "q"]} for id in ids]
    return write_task(folder, "odd", samples, ['scorer = ["includes()", "exact()", "f1()", "match()"]'])


def large(folder):
    metrics = 'metrics = ["accuracy()", "bootstrap_stderr(seed=3)"]'
    return write_task(folder, "large", questions(30000), ['scorer = "includes()"', metrics])


def cancelled(binary, task, folder):
    """A run that is interrupted when a part of it is done; its log."""
    for wait in (0.25, 0.15, 0.1, 0.4, 0.6):
        attempt = folder / f"after{wait}"
        attempt.mkdir(parents=True)
        child = subprocess.Popen(
            [binary, "eval", str(task), "--log-dir", str(attempt), "--max-samples", "1"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )
        deadline = time.monotonic() + 60
        while not list(attempt.iterdir()) and time.monotonic() < deadline:
            time.sleep(0.005)
        time.sleep(wait)
        child.send_signal(signal.SIGINT)
        if child.wait(timeout=120) == 1:
            (log,) = attempt.iterdir()
            return log
    raise SystemExit("no run was interrupted in time")


def figures(results):
    return {
        (score.name, score.scorer, score.reducer, key): metric.value
        for score in results.scores
        for key, metric in score.metrics.items()
    }


def same(a, b):
    return (math.isnan(a) and math.isnan(b)) or math.isclose(a, b, rel_tol=TOLERANCE, abs_tol=1e-15)


def check(path, status, samples, warned, errored=0):
    """Problems with one log."""
    from inspect_ai.log import read_eval_log, read_eval_log_sample_summaries
    from inspect_ai.log._metric import recompute_metrics

    before = len(warned.messages)
    log = read_eval_log(str(path))
    problems = [f"warned: {message}" for message in warned.messages[before:]]
    if log.status != status:
        problems.append(f"status {log.status}, expected {status}")
    if samples is not None and len(log.samples) != samples:
        problems.append(f"{len(log.samples)} samples, expected {samples}")
    if sum(sample.error is not None for sample in log.samples) != errored:
        problems.append(f"expected {errored} failed samples")
    if path.suffix == ".eval" and len(read_eval_log_sample_summaries(str(path))) != len(log.samples):
        problems.append("summaries do not match the samples")
    recorded = figures(log.results)
    recompute_metrics(log)
    recomputed = figures(log.results)
    if not recorded or recorded.keys() != recomputed.keys():
        problems.append(f"figures {sorted(map(str, recorded))} became {sorted(map(str, recomputed))}")
    for key in recorded.keys() & recomputed.keys():
        is_random = "bootstrap" in key[-1]
        if not is_random and not same(recorded[key], recomputed[key]):
            problems.append(f"{key}: recorded {recorded[key]}, the reference computes {recomputed[key]}")
    return problems


def main():
    binary = str(Path(sys.argv[1]).resolve())
    warnings.simplefilter("error")
    warned = Warned()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tasks = folder / "tasks"
        tasks.mkdir()
        big = large(tasks)
        stopped = cancelled(binary, big, folder / "cancelled")
        held = stopped.with_name("resumed.eval")
        held.write_bytes(stopped.read_bytes())
        resume = [binary, "eval", str(big), "--resume", str(held), "--quiet"]
        cases = [
            ("almanac", evaluate(binary, EXAMPLES / "almanac/almanac.toml", folder / "1"), "success", 144, 0),
            ("sums", evaluate(binary, EXAMPLES / "sums/sums.toml", folder / "2"), "success", 200, 0),
            ("errors", evaluate(binary, with_errors(tasks), folder / "3"), "success", 24, 4),
            ("stopped by errors", evaluate(binary, tasks / "errors.toml", folder / "4", "--fail-on-error",
                                           "--max-samples", "1", code=1), "error", 4, 1),
            ("NaN", evaluate(binary, with_nan(tasks), folder / "5"), "success", 10, 0),
            ("maps", evaluate(binary, with_maps(tasks), folder / "6"), "success", 9, 0),
            ("odd ids", evaluate(binary, with_odd_ids(tasks), folder / "7"), "success", 7, 0),
            ("JSON", evaluate(binary, tasks / "nan.toml", folder / "8", "--log-format", "json"), "success", 10, 0),
            ("JSON of maps", evaluate(binary, tasks / "maps.toml", folder / "9", "--log-format", "json"), "success", 9, 0),
            ("no reduction", evaluate(binary, EXAMPLES / "sums/sums.toml", folder / "10", "--no-reduce"), "success", 200, 0),
            ("cancelled", stopped, "cancelled", None, 0),
        ]
        subprocess.run(resume, check=True, capture_output=True)
        cases.append(("resumed", held, "success", 30000, 0))
        logging.getLogger().addHandler(warned)
        failed = 0
        for name, path, status, samples, errored in cases:
            problems = check(path, status, samples, warned, errored)
            print(f"{'FAILED' if problems else 'ok':6} {name}")
            for problem in problems:
                print(f"       {problem}")
            failed += bool(problems)
    print(f"{len(cases) - failed} logs opened with equal results, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
