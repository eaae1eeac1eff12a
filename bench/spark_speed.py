#!/usr/bin/env python3
"""The same figures on Spark: `errorbar.spark.score` against `applyInPandas` with numpy, in one run, alternating.

usage: bench/spark_speed.py [--rows N] [--rounds N] [--partitions N] [--master MASTER]

Prints the CPU time of the Python workers and the wall clock of all sides (medians) and their ratios, and exits with 1 if
errorbar takes more than a third of the CPU time of numpy. The CPU time is that of all worker processes, with what they do
to get rows from Spark. There are three functions for `applyInPandas`: one with numpy; the quickest that we know, with the
hash table of pandas; and the same with a check for an epoch that a sample has twice, which errorbar has too. Needs pyspark
with Java 17, pandas, pyarrow and an optimised build of the package in one Python (see bench/README.md). Machines are noisy:
only ratios mean something.
"""
import argparse
import os
import statistics
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "crates/python/tests/spark"))
os.environ.setdefault("PYSPARK_PYTHON", sys.executable)

WANTED_RATIO = 1 / 3
TICKS = os.sysconf("SC_CLK_TCK")
METRICS = ["accuracy", "stderr"]
NUMPY = "applyInPandas with numpy"


def workers_seconds():
    """The CPU time of all Python workers, those that have ended included."""
    total = 0
    for process in Path("/proc").iterdir():
        if not process.name.isdigit():
            continue
        try:
            if b"pyspark.daemon" not in (process / "cmdline").read_bytes():
                continue
            fields = (process / "stat").read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        # utime, stime, and of children that have ended.
        total += sum(int(fields[at]) for at in (11, 12, 13, 14))
    return total / TICKS


def ours(df, partitions):
    from errorbar import spark as eb_spark

    results = eb_spark.score(df, METRICS, by=("task", "model"), epoch="attempt", partitions=partitions)
    rows = results.to_pyarrow().to_pylist()
    return {(row["task"], row["model"]): (row["value"], row["stderr"]) for row in rows if row["metric"] == "accuracy"}


def with_numpy(rows):
    """Samples found by numpy, which sorts their ids."""
    import numpy as np

    return figures(rows, np.unique(rows["id"].to_numpy(dtype=str), return_inverse=True)[1])


def with_pandas(rows):
    """Samples found by the hash table of pandas, which is quicker."""
    import pandas as pd

    return figures(rows, pd.factorize(rows["id"])[0])


def checked(rows):
    """The same; no sample may have an epoch twice."""
    if rows.duplicated(["id", "attempt"]).any():
        raise ValueError("a sample has an epoch twice")
    return with_pandas(rows)


def figures(rows, codes):
    """Accuracy and its standard error, over the mean of each sample's epochs; codes are the numbers of samples."""
    import numpy as np
    import pandas as pd

    numbers = rows["score"].map({"C": 1.0, "P": 0.5, "I": 0.0}).to_numpy(dtype=float)
    known = ~np.isnan(numbers)
    counts = np.bincount(codes[known], minlength=codes.max() + 1)
    sums = np.bincount(codes[known], weights=numbers[known], minlength=codes.max() + 1)
    means = sums[counts > 0] / counts[counts > 0]
    error = means.std(ddof=1) / np.sqrt(len(means))
    first = rows.iloc[0]
    return pd.DataFrame({"task": [first["task"]], "model": [first["model"]], "value": [means.mean()], "stderr": [error]})


def theirs(df, partitions, function=with_numpy):
    columns = df.select("task", "model", "id", "attempt", "score")
    if partitions:
        columns = columns.repartition(partitions, "task", "model")
    grouped = columns.groupBy("task", "model")
    found = grouped.applyInPandas(function, "task string, model string, value double, stderr double").collect()
    return {(row["task"], row["model"]): (row["value"], row["stderr"]) for row in found}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--partitions", type=int, default=8)
    parser.add_argument("--master", default="local[2]")
    args = parser.parse_args()

    import data
    from pyspark.sql import SparkSession

    spark = (
        SparkSession.builder.master(args.master)
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.driver.memory", "4g")
        .config("spark.python.worker.reuse", "true")
        .config("spark.sql.shuffle.partitions", str(args.partitions))
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("ERROR")
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/scores.parquet"
        data.write(path, args.rows)
        df = spark.read.parquet(path)
        sides = {
            "errorbar": ours,
            NUMPY: theirs,
            "pandas": partial(theirs, function=with_pandas),
            "pandas with the check": partial(theirs, function=checked),
        }
        cpu, wall = {name: [] for name in sides}, {name: [] for name in sides}
        found = {}
        # The first round starts the workers and does not count.
        for round_ in range(args.rounds + 1):
            for name, side in sides.items():
                before, started = workers_seconds(), time.perf_counter()
                found[name] = side(df, args.partitions)
                if round_:
                    wall[name].append(time.perf_counter() - started)
                    cpu[name].append(workers_seconds() - before)
        one, *others = found.values()
        for other in others:
            assert one.keys() == other.keys()
            assert all(abs(a - b) < 1e-12 for key in one for a, b in zip(one[key], other[key])), "the figures differ"
    spark.stop()
    print(f"{args.rows:,} rows, {len(one)} groups, {data.EPOCHS} epochs, {args.partitions} partitions, {args.master}")
    for what, seconds in (("CPU of Python workers", cpu), ("wall clock", wall)):
        ours_, *others = (statistics.median(seconds[name]) for name in sides)
        compared = (f"{name} {other:.2f} s ({ours_ / other:.2f})" for name, other in zip(list(sides)[1:], others))
        print(f"{what}: errorbar {ours_:.2f} s; {', '.join(compared)}")
    if statistics.median(cpu["errorbar"]) > WANTED_RATIO * statistics.median(cpu[NUMPY]):
        sys.exit(f"wanted: at most {WANTED_RATIO:.2f} of the CPU time with numpy")


if __name__ == "__main__":
    main()
