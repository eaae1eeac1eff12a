#!/usr/bin/env python3
"""Frames in memory: errorbar.score against pandas + numpy on the same Arrow columns, in one run.

Medians of alternating rounds; also the growth of memory, the rate that a counting thread keeps (ERRORBAR_THREADS=1), the
time of `import errorbar`, and the size of the wheel if it is given. Needs the wheel, pandas, numpy and pyarrow:

    python bench/frames.py [--rows 10000000] [--rounds 5] [--wheel FILE]
"""

import argparse
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import time

COUNTING = """
import hashlib, statistics, sys, threading, time
import errorbar as eb, pyarrow as pa, numpy as np
rows = int(sys.argv[1])
table = pa.table({"id": np.arange(rows).astype(str), "score": np.random.default_rng(0).integers(0, 2, rows)})
eb.score({"id": ["a"], "score": [1]})
def rate(work):
    # How fast this thread counts until the work of another is done.
    thread = threading.Thread(target=work)
    thread.start()
    count, start = 0, time.perf_counter()
    while thread.is_alive():
        count += 1
    return count / (time.perf_counter() - start)
def hashing():
    # A second of a thread that never needs the GIL: what it takes away, the machine does.
    start = time.perf_counter()
    while time.perf_counter() - start < 1.0:
        hashlib.pbkdf2_hmac("sha256", b"", b"", 200_000)
rates = {"alone": [], "scoring": [], "hashing": []}
for _ in range(7):
    rates["alone"].append(rate(lambda: time.sleep(1.0)))
    rates["scoring"].append(rate(lambda: [eb.score(table) for _ in range(5)]))
    rates["hashing"].append(rate(hashing))
alone = statistics.median(rates["alone"])
print(statistics.median(rates["scoring"]) / alone, statistics.median(rates["hashing"]) / alone)
"""


def table(rows):
    import numpy as np
    import pyarrow as pa

    random = np.random.default_rng(7)
    ids = np.char.add("q", np.arange(rows).astype(str))
    topics = pa.DictionaryArray.from_arrays(pa.array(random.integers(0, 50, rows, dtype="int32")), [f"t{n}" for n in range(50)])
    return pa.table({"id": ids, "score": random.integers(0, 2, rows).astype("float64"), "topic": topics})


def with_pandas(data):
    """The mean with its standard error, clustered by topic, after a check that no id repeats."""
    import numpy as np

    frame = data.to_pandas()
    if frame["id"].duplicated().any():
        raise ValueError("an id repeats")
    scores = frame["score"].to_numpy()
    mean = scores.mean()
    sums = frame.assign(residual=scores - mean).groupby("topic", observed=True)["residual"].sum().to_numpy()
    return mean, np.sqrt((sums**2).sum()) / len(scores)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--wheel", type=pathlib.Path)
    options = parser.parse_args()
    import errorbar as eb

    data = table(options.rows)
    eb.score(data.slice(0, 1000), cluster="topic", errors="CR0")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    eb.score(data, cluster="topic", errors="CR0")
    growth = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    ours, theirs = [], []
    for _ in range(options.rounds):
        for times, run in ((ours, lambda: eb.score(data, cluster="topic", errors="CR0")), (theirs, lambda: with_pandas(data))):
            start = time.perf_counter()
            run()
            times.append(time.perf_counter() - start)
    ours, theirs = statistics.median(ours), statistics.median(theirs)
    print(f"{options.rows} rows: errorbar {ours:.3f} s, pandas + numpy {theirs:.3f} s, {theirs / ours:.1f} times")
    print(f"memory grew by {growth / 1024:.0f} MB")
    rate = subprocess.run(
        [sys.executable, "-c", COUNTING, str(options.rows // 5)],
        env={**os.environ, "ERRORBAR_THREADS": "1"}, capture_output=True, text=True, check=True,
    )
    scoring, hashing = map(float, rate.stdout.split())
    print(f"a counting thread keeps {scoring:.0%} of its rate, and {hashing:.0%} beside a thread that never has the GIL")
    importing = "import time; start = time.perf_counter(); import errorbar; errorbar.score; print(time.perf_counter() - start)"
    times = [float(subprocess.run([sys.executable, "-c", importing], capture_output=True, text=True, check=True).stdout) for _ in range(9)]
    print(f"import errorbar: {statistics.median(times) * 1000:.1f} ms")
    if options.wheel:
        print(f"the wheel: {options.wheel.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
