#!/usr/bin/env python3
"""errorbar inside Inspect against Inspect itself, in one run, alternating: data frames, metrics, reducers.

usage: bench/inspect_speed.py [--work DIR] [--rounds N] [--only PART]...

  samples     `samples_df(full=True)` of a log of 5,000 samples
  evals       `evals_df` of 300 logs
  metrics     each metric over 100, 1,000 and 10,000 scores; a bootstrap over 10,000
  reducers    each reducer over the 3 epochs of 10,000 samples

Wants a Python that has inspect_ai==0.3.285, pandas, pyarrow and the package errorbar, built with optimisation (`pip install
./crates/python`). A frame is read in a process of its own, whose imports are not counted: processor time of the call, and
how much the process grew. Frames and figures of both sides must agree. Machines are noisy: only the ratios mean
something, and only within one run.
"""
import argparse
import json
import re
import statistics
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

import log_speed
import reference

PARTS = ("samples", "evals", "metrics", "reducers")
SAMPLES, LOGS = 5_000, 300
WANTED_FRAMES, WANTED_MEMORY, WANTED_METRICS, WANTED_BOOTSTRAP = 20, 5, 2, 100


def memory(name):
    """Kilobytes of this process."""
    return int(re.search(rf"{name}:\s+(\d+)", Path("/proc/self/status").read_text())[1])


def child(kind, side, logs):
    """Reads a frame in this process, and prints what that took and a digest of the frame."""
    import pandas
    import pyarrow  # noqa: F401

    if side == "theirs":
        from inspect_ai import analysis

        read = {"samples": lambda: analysis.samples_df(logs, full=True, quiet=True), "evals": lambda: analysis.evals_df(logs, quiet=True)}
    else:
        import errorbar.inspect as own

        # What is named here is imported now.
        samples_df, evals_df = own.samples_df, own.evals_df
        read = {"samples": lambda: samples_df(logs), "evals": lambda: evals_df(logs)}
    before = memory("VmRSS")
    # The peak is counted from here on: that of the imports may be higher.
    Path("/proc/self/clear_refs").write_text("5")
    start, clock = time.process_time(), time.perf_counter()
    frame = read[kind]()
    took, seconds = time.process_time() - start, time.perf_counter() - clock
    grown = memory("VmHWM") - before
    digest = int(pandas.util.hash_pandas_object(frame.astype(str)).sum())
    print(json.dumps({"processor": took, "seconds": seconds, "grown": grown / 1024, "rows": len(frame), "digest": digest}))


def frames(kind, logs, rounds):
    """Both sides, alternating."""
    taken = {"theirs": [], "ours": []}
    for _ in range(rounds):
        for side in taken:
            command = [sys.executable, __file__, "--child", kind, side]
            done = subprocess.run(command, input=json.dumps(logs), capture_output=True, text=True, check=True)
            taken[side].append(json.loads(done.stdout.splitlines()[-1]))
    agreed = len({one["digest"] for side in taken.values() for one in side}) == 1
    middle = {side: {key: statistics.median(one[key] for one in all) for key in all[0]} for side, all in taken.items()}
    for side, one in middle.items():
        print(f"  {side:7} {one['processor']:8.3f} s processor {one['seconds']:8.3f} s {one['grown']:8.1f} MB more, {one['rows']:.0f} rows")
    theirs, ours = middle["theirs"], middle["ours"]
    processor, memory = theirs["processor"] / ours["processor"], theirs["grown"] / max(ours["grown"], 0.001)
    print(f"  processor time 1/{processor:.0f} (wanted 1/{WANTED_FRAMES}), memory 1/{memory:.1f} (wanted 1/{WANTED_MEMORY})")
    if not agreed:
        sys.exit(f"{kind}: the frames differ")


def samples(args):
    def make(path):
        reference.load()
        with tempfile.TemporaryDirectory() as folder:
            log_speed.evaluate(folder, "speed", SAMPLES).rename(path)

    log = log_speed.once(args.work / "samples-5000.eval", make)
    print(f"samples_df(full=True), {SAMPLES} samples, {log.stat().st_size >> 20} MB")
    frames("samples", [str(log)], args.rounds)


def evals(args):
    folder = args.work / "evals-300"

    def make(path):
        reference.load()
        path.mkdir()
        with tempfile.TemporaryDirectory() as made:
            original = log_speed.evaluate(made, "small", 100)
            with zipfile.ZipFile(original) as log:
                members = {name: log.read(name) for name in log.namelist()}
        header = json.loads(members["header.json"])
        for n in range(LOGS):
            # Logs of one evaluation would be read once.
            header["eval"]["eval_id"] = f"eval-{n:04}"
            with zipfile.ZipFile(path / f"log-{n:04}.eval", "w", zipfile.ZIP_DEFLATED) as log:
                for name, content in members.items():
                    log.writestr(name, json.dumps(header) if name == "header.json" else content)

    logs = sorted(str(path) for path in log_speed.once(folder, make).iterdir())
    print(f"evals_df, {len(logs)} logs")
    frames("evals", logs, args.rounds)


def calls_for(call, least=0.02):
    """How many calls take a while."""
    start, times = time.process_time(), 0
    while time.process_time() - start < least:
        call()
        times += 1
    return times


def alternating(theirs, ours, rounds):
    """The median processor time of a call of each."""
    times = {call: calls_for(call) for call in (theirs, ours)}
    taken = {theirs: [], ours: []}
    for _ in range(rounds):
        for call, count in times.items():
            start = time.process_time()
            for _ in range(count):
                call()
            taken[call].append((time.process_time() - start) / count)
    return statistics.median(taken[theirs]), statistics.median(taken[ours])


def same(theirs, ours):
    if isinstance(theirs, dict):
        return theirs.keys() == ours.keys() and all(same(theirs[key], ours[key]) for key in theirs)
    return theirs == ours or abs(theirs - ours) <= 1e-12 * max(1, abs(theirs)) or (theirs != theirs and ours != ours)


def line(name, count, theirs, ours, wanted, agreed):
    ratio = ours / theirs
    verdict = "" if ratio <= wanted else "  TOO SLOW"
    unit = 1e6
    print(f"  {name:34} {count:7} {theirs * unit:11.1f} µs {ours * unit:11.1f} µs {ratio:8.3f} ×{verdict}{'' if agreed else '  DIFFERENT'}")
    return agreed


def metrics(args):
    import errorbar.inspect as own
    from inspect_ai import scorer as theirs
    from inspect_ai.scorer import SampleScore, Score

    def scores(count, values):
        metadata = [{"topic": f"t{n % 40}"} for n in range(40)]
        return [SampleScore(score=Score(value=values[n % len(values)]), sample_id=n, sample_metadata=metadata[n % 40]) for n in range(count)]

    grades, numbers = ["C", "I", "C", "P"], [0.25, 1.0, 0.0, 0.5, 0.125]
    ratings = [[1, 2, 2], [3, 3, 3], [1, 1, 2], [2, 3, 3]]
    made = [
        ("accuracy()", lambda m: m.accuracy(), grades),
        ("mean()", lambda m: m.mean(), numbers),
        ("std()", lambda m: m.std(), numbers),
        ("var()", lambda m: m.var(), numbers),
        ("stderr()", lambda m: m.stderr(), grades),
        ('stderr(cluster="topic")', lambda m: m.stderr(cluster="topic"), grades),
        ("ci()", lambda m: m.ci(), numbers),
        ("ci_wilson()", lambda m: m.ci_wilson(), grades),
        ('grouped(accuracy(), "topic")', lambda m: m.grouped(m.accuracy(), "topic"), grades),
        ("frequency()", lambda m: m.frequency(), grades),
        ("krippendorff_alpha()", lambda m: m.krippendorff_alpha(), ratings),
        ('aggregate("a", mean())', lambda m: m.aggregate("a", m.mean()), [{"a": 1}, {"a": 0}]),
    ]
    print("metrics: Inspect's, ours, ratio (wanted at most 2)")
    good = True
    for name, make, values in made:
        for count in (100, 1_000, 10_000):
            given, one, other = scores(count, values), make(theirs), make(own)
            agreed = same(one(given), other(given))
            good &= line(name, count, *alternating(lambda: one(given), lambda: other(given), args.rounds), WANTED_METRICS, agreed)
    given = scores(10_000, numbers)
    one, other = theirs.bootstrap_stderr(), own.bootstrap_stderr()
    agreed = abs(one(given) / other(given) - 1) < 0.2
    theirs_took, ours_took = alternating(lambda: one(given), lambda: other(given), min(args.rounds, 3))
    good &= line("bootstrap_stderr()", 10_000, theirs_took, ours_took, 1 / WANTED_BOOTSTRAP, agreed)
    print(f"  bootstrap: {theirs_took / ours_took:.0f} times as fast (wanted {WANTED_BOOTSTRAP})")
    if not good:
        sys.exit("figures differ")


def reducers(args):
    import errorbar.inspect as own
    from inspect_ai import scorer as theirs
    from inspect_ai.scorer import Score

    samples = [[Score(value=value, answer="a") for value in ("CIC", "III", "CCI", "PCI")[n % 4]] for n in range(10_000)]
    print("reducers over 10,000 samples of 3 epochs: Inspect's, ours, ratio (wanted at most 2)")
    for name, make in [
        ("mean", lambda m: m.mean_score()),
        ("median", lambda m: m.median_score()),
        ("max", lambda m: m.max_score()),
        ("mode", lambda m: m.mode_score()),
        ("majority", lambda m: m.majority_score()),
        ("collect", lambda m: m.collect_score()),
        ("at_least(2)", lambda m: m.at_least(2)),
        ("pass_at(2)", lambda m: m.pass_at(2)),
        ("pass_k(2)", lambda m: m.pass_k(2)),
    ]:
        one, other = make(theirs), make(own)
        agreed = all(one(some).model_dump_json() == other(some).model_dump_json() for some in samples[:4])
        took = alternating(lambda: [one(some) for some in samples], lambda: [other(some) for some in samples], args.rounds)
        line(name, len(samples), *took, WANTED_METRICS, agreed)


def main():
    if len(sys.argv) > 1 and sys.argv[1] == "--child":
        return child(sys.argv[2], sys.argv[3], json.load(sys.stdin))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, help="where logs are kept from run to run")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", action="append", choices=PARTS)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        args.work = args.work or Path(folder)
        args.work.mkdir(parents=True, exist_ok=True)
        for part in args.only or PARTS:
            globals()[part](args)


if __name__ == "__main__":
    main()
