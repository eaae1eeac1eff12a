#!/usr/bin/env python3
"""Stored outputs scored again: `inspect score` against `errorbar score --with`, in one run, alternating.

usage: bench/rescore_speed.py [--work DIR] [--errorbar PATH] [--inspect PATH] [--rounds N] [--samples N]

A log of 10,000 samples of the reference is scored with includes(), appended, and written as a new log; whole commands on
both sides, process start included. The figures of both must agree. The log is made once and kept in DIR (a temporary folder
unless given); the reference takes some minutes to make it. Wants a Python that has inspect_ai==0.3.285 (see
bench/README.md). Machines are noisy: only the ratio means something, and only within one run.
"""
import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import reference

ROOT = Path(__file__).resolve().parent.parent
WANTED = 50
TOLERANCE = 1e-12


def make(path, count):
    """A log that the reference writes: a question and an answer in a sample, two of three right."""
    from inspect_ai import Task, eval as run_eval
    from inspect_ai.dataset import Sample
    from inspect_ai.model import ModelOutput, get_model
    from inspect_ai.scorer import match
    from inspect_ai.solver import generate

    def outputs():
        for n in range(count):
            right = 2 * n if n % 3 else 7
            text = f"Let me think about it step by step. Twice {n} is {right}."
            yield ModelOutput.from_content("mockllm/model", text)

    samples = [Sample(id=n, input=f"What is {n} + {n}?", target=str(2 * n)) for n in range(count)]
    task = Task(name="doubles", dataset=samples, solver=generate(), scorer=match())
    model = get_model("mockllm/model", custom_outputs=outputs())
    (log,) = run_eval(task, model=model, log_dir=str(path.parent), display="none", max_samples=100)
    assert log.status == "success", log.error
    Path(log.location).rename(path)


def seconds(*command):
    """How long a command takes."""
    start = time.perf_counter()
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    taken = time.perf_counter() - start
    if done.returncode != 0:
        sys.exit(f"{command}: exit code {done.returncode}: {done.stderr}")
    return taken


def figures(path):
    """What a log records for its last scorer."""
    from inspect_ai.log import read_eval_log

    log = read_eval_log(str(path), header_only=True)
    block = log.results.scores[-1]
    return block.name, block.scored_samples, {key: metric.value for key, metric in block.metrics.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path)
    parser.add_argument("--errorbar", type=Path)
    parser.add_argument("--inspect", type=Path, default=Path(sys.executable).parent / "inspect")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--samples", type=int, default=10_000)
    args = parser.parse_args()
    if args.errorbar is None:
        subprocess.run(["cargo", "build", "--profile", "dist", "--quiet", "-p", "errorbar"], cwd=ROOT, check=True)
        args.errorbar = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "dist" / "errorbar"
    reference.load()
    work = args.work or Path(tempfile.mkdtemp())
    work.mkdir(parents=True, exist_ok=True)
    log = work / f"doubles-{args.samples}.eval"
    theirs, ours = work / "theirs.eval", work / "ours.eval"
    try:
        if not log.exists():
            make(log, args.samples)
        times = {"inspect score": [], "errorbar score --with": []}
        for _ in range(args.rounds):
            theirs.unlink(missing_ok=True)
            append = ["--scorer", "includes", "--action", "append", "--output-file", theirs]
            times["inspect score"].append(seconds(args.inspect, "score", log, *append, "--display", "none"))
            append = ["--with", "includes()", "--append", "--output", ours, "--force"]
            times["errorbar score --with"].append(seconds(args.errorbar, "score", log, *append))
        (name, scored, expected), found = figures(theirs), figures(ours)
        assert (name, scored) == found[:2], (name, scored, found)
        for key, value in expected.items():
            assert abs(found[2][key] - value) <= TOLERANCE, (key, value, found[2][key])
        medians = {side: statistics.median(taken) for side, taken in times.items()}
        print(f"{args.samples} stored outputs, includes(), appended; medians of {args.rounds} rounds")
        for side, taken in times.items():
            print(f"  {side:22} {medians[side]:8.2f} s   ({', '.join(f'{one:.2f}' for one in taken)})")
        ratio = medians["inspect score"] / medians["errorbar score --with"]
        print(f"  ratio {ratio:.0f}, wanted {WANTED}; {name}: {expected}")
        return 0 if ratio >= WANTED else 1
    finally:
        theirs.unlink(missing_ok=True)
        ours.unlink(missing_ok=True)
        if args.work is None:
            shutil.rmtree(work)


if __name__ == "__main__":
    sys.exit(main())
