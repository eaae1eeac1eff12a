#!/usr/bin/env python3
"""Engine against reference on the same scores, in one run, alternating; prints medians and their ratio.

usage: bench/compare.py [--rounds N] [--quick]

Wants a Python that has inspect_ai==0.3.285 (see bench/README.md); without it the script says so and stops. Machines are noisy:
only the ratios mean something, and only from one run.
"""
import argparse
import math
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VERSION = "0.3.285"

# what is timed, the required ratio, and how many times ours runs for each run of the reference
N = 100_000
CASES = [
    ("accuracy + stderr, 100,000 samples", f"accuracy_stderr {N}", 500),
    ("grouped accuracy, 50 groups, 100,000 samples", f"grouped {N}", 500),
    ("bootstrap_stderr, 1,000 resamples of 100,000 binary", f"bootstrap binary {N}", 10_000),
    ("bootstrap_stderr, 1,000 resamples of 100,000 continuous", f"bootstrap continuous {N}", 50),
] + [
    (f"reducer {name}, 5 epochs x 10,000 samples", f"reducer {name} 10000 5", 200)
    for name in ("mean", "median", "mode", "max", "pass_at_2", "pass_k_2", "at_least_2", "majority", "collect")
]
# the interval, and the milliseconds that it may take
CLUSTERED = [("bootstrap", 100), ("bca", 100), ("bootstrap_t", None), ("wild", None)]
OURS_PER_ROUND = 7


def reference():
    try:
        import inspect_ai
    except ImportError:
        sys.exit(f"this Python has no inspect_ai: install inspect_ai=={VERSION} in a virtual environment and run the script with its python")
    if inspect_ai.__version__ != VERSION:
        sys.exit(f"inspect_ai {inspect_ai.__version__} found, {VERSION} needed")
    return Reference()


def mix(place):
    """SplitMix64 of a position; bench/src/main.rs computes the same."""
    mask = (1 << 64) - 1
    z = (place + 1) * 0x9E3779B97F4A7C15 & mask
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & mask
    z = (z ^ z >> 27) * 0x94D049BB133111EB & mask
    return z ^ z >> 31


class Reference:
    """The reference's side of each case."""

    def __init__(self):
        self.made = {}

    def scores(self, kind, samples, epochs):
        from inspect_ai.scorer import SampleScore, Score

        key = (kind, samples, epochs)
        if key not in self.made:
            rows = []
            for epoch in range(epochs):
                for sample in range(samples):
                    unit = (mix(epoch * samples + sample) >> 11) / 2**53
                    value = {"grades": "C" if unit < 0.6 else "I", "binary": 1.0 if unit < 0.6 else 0.0, "continuous": unit}[kind]
                    metadata = {"category": f"g{sample % 50}"}
                    rows.append(SampleScore(score=Score(value=value), sample_id=f"sample-{sample}", sample_metadata=metadata, scorer="s"))
            self.made[key] = rows
        return self.made[key]

    def run(self, words):
        from inspect_ai._eval.task.results import ScorerInfo, eval_results
        from inspect_ai.scorer import accuracy, bootstrap_stderr, grouped, stderr
        from inspect_ai.scorer._reducer.registry import create_reducers

        kind, *rest = words.split()
        if kind in ("accuracy_stderr", "grouped"):
            rows = [{"s": score} for score in self.scores("grades", int(rest[0]), 1)]
            metrics = [accuracy(), stderr()] if kind == "accuracy_stderr" else [grouped(accuracy(), "category")]
            start = time.perf_counter()
            results, _ = eval_results(len(rows), rows, None, [ScorerInfo(name="s", metrics=metrics)], None)
            taken = time.perf_counter() - start
            return taken, [metric.value for score in results.scores for metric in score.metrics.values()]
        if kind == "bootstrap":
            rows = self.scores(rest[0], int(rest[1]), 1)
            metric = bootstrap_stderr(num_samples=1000)
            start = time.perf_counter()
            value = metric(rows)
            return time.perf_counter() - start, [value]
        # The reducer, and a metric that only counts: nearly all the time goes into reducing.
        rows = [{"s": score} for score in self.scores("grades", int(rest[1]), int(rest[2]))]
        reducers = create_reducers(rest[0])
        start = time.perf_counter()
        results, _ = eval_results(len(rows), rows, reducers, [ScorerInfo(name="s", metrics=[counting()])], None)
        return time.perf_counter() - start, [results.scores[0].metrics["count"].value]


def counting():
    from inspect_ai.scorer import SampleScore, metric

    @metric(name="count")
    def count():
        def compute(scores: list[SampleScore]) -> int:
            return len(scores)

        return compute

    return count()


class Engine:
    """Ours, one process for all cases."""

    def __init__(self):
        subprocess.run(["cargo", "build", "--profile", "dist", "--quiet", "-p", "errorbar-bench"], cwd=ROOT, check=True)
        binary = ROOT / "target/dist/errorbar-bench"
        self.process = subprocess.Popen([binary], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def run(self, words):
        self.process.stdin.write(words + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().split()
        if not answer:
            sys.exit(f"the engine failed on: {words}")
        return int(answer[0]) / 1e9, [float(x) for x in answer[1:]]


def agree(words, ours, theirs):
    close = 0.2 if words.startswith("bootstrap") else 1e-9
    return len(ours) == len(theirs) and all(math.isclose(a, b, rel_tol=close, abs_tol=1e-12) for a, b in zip(ours, theirs))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3, help="runs of the reference per case (ours: 7 times as many)")
    parser.add_argument("--quick", action="store_true", help="one round, and growth only to a million samples")
    args = parser.parse_args()
    rounds = 1 if args.quick else args.rounds
    theirs, ours = reference(), Engine()

    missed = 0
    print(f"{'case':58}{'reference':>12}{'errorbar':>12}{'ratio':>10}{'wanted':>9}")
    for name, words, wanted in CASES:
        slow, fast = [], []
        ours.run(words)  # makes the scores
        for _ in range(rounds):
            taken, expected = theirs.run(words)
            slow.append(taken)
            for _ in range(OURS_PER_ROUND):
                taken, figures = ours.run(words)
                fast.append(taken)
            if not agree(words, figures, expected):
                sys.exit(f"{name}: the two disagree: {figures[:4]} and {expected[:4]}")
        slow, fast = statistics.median(slow), statistics.median(fast)
        ratio = slow / fast
        missed += ratio < wanted
        print(f"{name:58}{slow:11.3f}s{fast * 1e3:10.3f}ms{ratio:9,.0f}x{wanted:8,}x{'' if ratio >= wanted else '  MISSED'}", flush=True)

    print(f"\n{'accuracy + stderr, growth':58}{'':12}{'errorbar':>12}{'a sample':>10}{'bytes':>9}")
    for case, ids in (("accuracy_stderr", "in order"), ("scattered", "in no order")):
        for n in [10**5, 10**6] + ([] if args.quick else [10**7]):
            words = f"{case} {n}"
            ours.run(words)
            fast = statistics.median(ours.run(words)[0] for _ in range(OURS_PER_ROUND))
            [size] = ours.run(f"bytes {n}")[1]
            ours.run("forget")
            print(f"{f'{n:,} samples, ids {ids}':58}{'':12}{fast * 1e3:10.3f}ms{fast / n * 1e9:8.1f}ns{size:9.1f}", flush=True)

    print(f"\n{'intervals by resampling clusters, 10,000 draws':58}{'':12}{'errorbar':>12}{'':10}{'wanted':>9}")
    for interval, wanted in CLUSTERED:
        words = f"clusters {interval} {N} 2000"
        ours.run(words)
        fast = statistics.median(ours.run(words)[0] for _ in range(OURS_PER_ROUND))
        late = wanted is not None and fast * 1e3 > wanted
        missed += late
        limit = "" if wanted is None else f"{wanted}ms"
        print(f"{f'{interval}, 100,000 scores in 2,000 clusters':58}{'':12}{fast * 1e3:10.3f}ms{'':10}{limit:>9}{'  MISSED' if late else ''}", flush=True)
    if missed:
        print(f"\n{missed} of {len(CASES) + len(CLUSTERED)} slower than wanted")


if __name__ == "__main__":
    main()
