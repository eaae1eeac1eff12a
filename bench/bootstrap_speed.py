#!/usr/bin/env python3
"""The BCa interval of a mean: errorbar against scipy, in one run, alternating.

usage: bench/bootstrap_speed.py [--errorbar PATH] [--rounds N] [--n N] [--resamples N]

The same 100,000 continuous scores, 2,000 resamples, level 0.95. scipy runs `scipy.stats.bootstrap(method="BCa",
batch=100)` in this process, its import and the making of the scores not counted; errorbar is the whole command: process
start, reading the table, the interval, writing JSON. Prints medians and their ratio. Wants a Python with numpy and scipy.
Machines are noisy: only the ratio means something, and only from one run.
"""
import argparse
import json
import os
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
import scipy
import scipy.stats

ROOT = Path(__file__).resolve().parent.parent
WANTED_RATIO, WANTED_SECONDS = 50, 1.0
# The Monte-Carlo error of an end of 2,000 resamples is some 9 % of a standard error for each side.
TOLERANCE = 0.5


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--errorbar", type=Path, help="the binary; built if unset")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--n", type=int, default=100_000)
    parser.add_argument("--resamples", type=int, default=2_000)
    args = parser.parse_args()
    binary = args.errorbar or build()
    scores = np.random.default_rng(1).lognormal(0, 1, args.n)
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "scores.csv"
        with table.open("w") as file:
            file.write("id,score\n")
            file.writelines(f"{at},{score!r}\n" for at, score in enumerate(scores.tolist()))
        ours, theirs = [], []
        for turn in range(args.rounds):
            seconds, found = errorbar(binary, table, args.resamples)
            ours.append(seconds)
            # Ours is short: more of them make a better median.
            ours += [errorbar(binary, table, args.resamples)[0] for _ in range(4)]
            seconds, expected = by_scipy(scores, args.resamples)
            theirs.append(seconds)
            compare(found, expected, scores)
            print(f"round {turn + 1}: errorbar {ours[-1]:.3f} s, scipy {theirs[-1]:.1f} s", flush=True)
    ours, theirs = statistics.median(ours), statistics.median(theirs)
    print(f"BCa, {args.resamples:,} resamples of {args.n:,} continuous scores, scipy {scipy.__version__}")
    print(f"errorbar {ours:.3f} s (wanted: below {WANTED_SECONDS} s), scipy {theirs:.1f} s")
    print(f"ratio {theirs / ours:.0f} (wanted: at least {WANTED_RATIO})")


def build():
    command = ["cargo", "build", "--profile", "dist", "--quiet", "-p", "errorbar"]
    subprocess.run(command, cwd=ROOT, check=True)
    return Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "dist" / "errorbar"


def errorbar(binary, table, resamples):
    options = ["--metric", "mean", "--interval", "bca", "--draws", str(resamples), "--format", "json"]
    start = time.perf_counter()
    done = subprocess.run([binary, "score", table, *options], capture_output=True, text=True, check=True)
    seconds = time.perf_counter() - start
    (row,) = json.loads(done.stdout)[0]["estimates"]
    assert row["method"] == "bca" and row["draws"] == resamples, row
    return seconds, (row["lower"], row["upper"])


def by_scipy(scores, resamples):
    start = time.perf_counter()
    found = scipy.stats.bootstrap(
        (scores,), np.mean, method="BCa", n_resamples=resamples, batch=100, random_state=np.random.default_rng(2)
    )
    seconds = time.perf_counter() - start
    return seconds, tuple(found.confidence_interval)


def compare(found, expected, scores):
    """Both are the same interval, but for what is random."""
    error = scores.std(ddof=1) / len(scores) ** 0.5
    for ours, theirs in zip(found, expected):
        assert abs(ours - theirs) < TOLERANCE * error, (found, expected, error)


if __name__ == "__main__":
    main()
