#!/usr/bin/env python3
"""Frames in memory: errorbar.score on Arrow columns against pandas + numpy, and against the engine alone, in one run.

Medians of alternating rounds. The engine alone is `target/dist/frames` (`cargo build --profile dist -p errorbar-bench`): the
same values from the same kinds of buffers, in Rust. Also the growth of memory beside the size of the engine's columns, the
rate that a counting thread keeps (ERRORBAR_THREADS=1), the time of `import errorbar`, and the size of the wheel if it is
given. Needs the wheel, built with optimisation, pandas, numpy and pyarrow:

    python bench/frames.py [--rows 10000000] [--rounds 7] [--wheel FILE]
"""

import argparse
import os
import pathlib
import re
import statistics
import subprocess
import sys
import time

TOPICS = 50
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
    """The values that bench/src/bin/frames.rs has in its buffers."""
    import numpy as np
    import pyarrow as pa

    numbers = np.arange(rows, dtype="uint64")
    mixed = numbers * np.uint64(0x9E3779B97F4A7C15)
    codes = ((mixed >> np.uint64(32)) % np.uint64(TOPICS)).astype("int32")
    topics = pa.DictionaryArray.from_arrays(pa.array(codes), [f"t{n}" for n in range(TOPICS)])
    return pa.table({"id": np.char.add("q", numbers.astype(str)), "score": (mixed >> np.uint64(63)).astype("float64"), "topic": topics})


def with_errorbar(data):
    import errorbar as eb

    row = eb.score(data, metrics="mean", cluster="topic", errors="CR0").to_dict()[0]["estimates"][0]
    return row["value"], row["stderr"]


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


def megabytes(name):
    """A line of /proc/self/status."""
    return int(re.search(rf"{name}:\s+(\d+)", pathlib.Path("/proc/self/status").read_text())[1]) / 1024


def growth(rows):
    """The megabytes that a process of its own grows by while it scores; printed, for the process that started it."""
    data = table(rows)
    with_errorbar(data.slice(0, 1000))
    before = megabytes("VmRSS")
    # The peak is counted from here on: making the table took more.
    pathlib.Path("/proc/self/clear_refs").write_text("5")
    with_errorbar(data)
    print(megabytes("VmHWM") - before)


class Engine:
    """The program that has the columns in Rust."""

    def __init__(self, program, rows):
        self.rows = rows
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def run(self):
        """Seconds of building and in all, bytes of the columns, the figures."""
        self.process.stdin.write(f"{self.rows}\n")
        self.process.stdin.flush()
        built, all, size, mean, error = map(float, self.process.stdout.readline().split())
        return built / 1e9, all / 1e9, size, (mean, error)


def timed(call):
    start = time.perf_counter()
    figures = call()
    return time.perf_counter() - start, figures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--engine", default=pathlib.Path(__file__).parent.parent / "target/dist/frames")
    parser.add_argument("--wheel", type=pathlib.Path)
    parser.add_argument("--growth", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.growth:
        return growth(options.rows)
    data = table(options.rows)
    engine = Engine(options.engine, options.rows)
    engine.run(), with_errorbar(data)
    ours, theirs, alone = [], [], []
    for _ in range(options.rounds):
        _, seconds, size, engine_figures = engine.run()
        alone.append(seconds)
        seconds, figures = timed(lambda: with_errorbar(data))
        ours.append(seconds)
        if figures != engine_figures:
            sys.exit(f"the engine alone gives {engine_figures}, errorbar.score {figures}")
        seconds, others = timed(lambda: with_pandas(data))
        theirs.append(seconds)
        if any(abs(one / other - 1) > 1e-9 for one, other in zip(figures, others)):
            sys.exit(f"pandas + numpy gives {others}, errorbar {figures}")
    engine.process.stdin.close()
    ours, theirs, alone = map(statistics.median, (ours, theirs, alone))
    print(f"{options.rows} rows: errorbar {ours:.3f} s, pandas + numpy {theirs:.3f} s, {theirs / ours:.1f} times as fast (wanted 5)")
    print(f"the engine alone {alone:.3f} s: errorbar.score takes {ours / alone:.2f} times that (wanted at most 1.5)")
    del data
    command = [sys.executable, __file__, "--growth", "--rows", str(options.rows)]
    grown = float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    columns = size / 2**20
    print(f"memory grows by {grown:.0f} MB, {grown / columns:.2f} times the columns ({columns:.0f} MB; wanted at most 1.3)")
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
