#!/usr/bin/env python3
"""A table of a million scores to accuracy and a clustered standard error: errorbar against pandas, in one run, alternating.

usage: bench/table_speed.py [--rounds N] [--rows N] [--float] [--shuffle]

Prints the seconds of both sides (medians) and their ratio, for CSV and Parquet, with one epoch and with five (where pandas
groups by a fifth of the ids, and the ratio is half as large). Ours is the whole command, process start included; of theirs
only the work is timed, not the import. Wants a Python that has pandas, numpy and pyarrow. Only the ratio means something, and
only on a machine that is idle: ours uses all cores, so on a busy one it waits where pandas, on one core, does not. The seconds
of processor time beside it say more there.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

ROOT = Path(__file__).resolve().parent.parent
WANTED = 10
CLUSTERS = 2000
CATEGORIES = np.array(["math", "physics", "biology", "law", "history"])
NEEDED = ["id", "epoch", "score", "cluster"]


def table(samples, epochs, is_float, shuffle):
    """Scores of this number of samples, one pass over them after the other, as a run writes them."""
    random = np.random.default_rng(1)
    rows = samples * epochs
    number = np.tile(np.arange(samples), epochs)
    scores = random.random(rows).round(6) if is_float else random.integers(0, 2, rows)
    frame = pd.DataFrame({
        "id": np.char.add("sample-", number.astype(str)),
        "epoch": np.repeat(np.arange(1, epochs + 1), samples),
        "score": scores,
        "cluster": np.char.add("doc-", (number % CLUSTERS).astype(str)),
        "category": CATEGORIES[number % len(CATEGORIES)],
    })
    return frame.sample(frac=1, random_state=1) if shuffle else frame


def ours(binary, path):
    command = [binary, "score", path, "--metric", "accuracy", "--metric", 'stderr(cluster="cluster")', "--format", "json"]
    started = time.perf_counter()
    child = subprocess.Popen(command, stdout=subprocess.PIPE)
    written = child.stdout.read()
    _, status, used = os.wait4(child.pid, 0)
    seconds = time.perf_counter() - started
    assert status == 0, f"{command} failed"
    (report,) = json.loads(written)
    metrics = report["results"]["scores"][0]["metrics"]
    figures = metrics["accuracy"]["value"], metrics["stderr"]["value"]
    return seconds, used.ru_utime + used.ru_stime, figures


def theirs(path):
    """The same with pandas: only the columns that are needed, nothing row by row."""
    started, processor = time.perf_counter(), time.process_time()
    if path.suffix == ".csv":
        frame = pd.read_csv(path, usecols=NEEDED)
    else:
        frame = pd.read_parquet(path, columns=NEEDED)
    frame["score"] = pd.to_numeric(frame["score"]).astype(float)
    if frame.duplicated(["id", "epoch"]).any():
        raise ValueError("a sample has an epoch twice")
    samples = frame.groupby("id", sort=False).agg({"score": "mean", "cluster": "first"})
    scores = samples["score"].to_numpy()
    clusters, names = pd.factorize(samples["cluster"])
    mean = scores.mean()
    deviations = np.bincount(clusters, weights=scores - mean, minlength=len(names))
    factor = len(names) / (len(names) - 1)
    error = np.sqrt((deviations * deviations).sum() * factor) / len(scores)
    return time.perf_counter() - started, time.process_time() - processor, (mean, error)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--float", action="store_true", help="scores between 0 and 1 in place of 0 and 1")
    parser.add_argument("--shuffle", action="store_true", help="rows in no order")
    parser.add_argument("--binary", type=Path, help="an errorbar that is built already")
    args = parser.parse_args()
    binary = args.binary
    if binary is None:
        subprocess.run(["cargo", "build", "--profile", "dist", "-p", "errorbar", "--quiet"], cwd=ROOT, check=True)
        binary = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "dist/errorbar"
    print(f"{args.rows:,} rows, median (least) of {args.rounds} rounds, pandas {pd.__version__}, {os.cpu_count()} cores")
    print(f"{'table':26} {'errorbar':>16} {'pandas':>16} {'ratio':>7}   processor time")
    met = True
    with tempfile.TemporaryDirectory() as name:
        for epochs in (1, 5):
            frame = table(args.rows // epochs, epochs, args.float, args.shuffle)
            paths = [Path(name) / f"scores{epochs}.csv", Path(name) / f"scores{epochs}.parquet"]
            frame.to_csv(paths[0], index=False)
            frame.to_parquet(paths[1], index=False)
            for path in paths:
                rounds = [(ours(binary, path), theirs(path)) for _ in range(args.rounds)]
                for (_, _, figures), (_, _, expected) in rounds:
                    assert np.allclose(figures, expected, rtol=1e-9, atol=0), f"{path}: {figures} is not {expected}"
                seconds = [[side[0] for side in sides] for sides in zip(*rounds)]
                medians = [statistics.median(taken) for taken in seconds]
                processor = [statistics.median(side[1] for side in sides) for sides in zip(*rounds)]
                if epochs == 1:
                    met &= medians[1] >= WANTED * medians[0]
                shown = [f"{median:.3f} ({min(taken):.3f}) s" for median, taken in zip(medians, seconds)]
                shape = f"{path.suffix[1:]}, {args.rows // epochs:,} ids x {epochs}"
                print(
                    f"{shape:26} {shown[0]:>16} {shown[1]:>16} {medians[1] / medians[0]:6.1f}x"
                    f"   {processor[0]:.3f} s, {processor[1]:.3f} s: {processor[1] / processor[0]:.1f}x",
                    flush=True,
                )
    print(f"wanted: {WANTED}x with a row per sample: {'met' if met else 'MISSED'}")
    sys.exit(0 if met else 1)


if __name__ == "__main__":
    main()
