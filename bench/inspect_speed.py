#!/usr/bin/env python3
"""errorbar inside Inspect against Inspect itself, in one run, alternating: data frames, metrics, reducers.

usage: bench/inspect_speed.py [--work DIR] [--rounds N] [--only PART]...

  samples     `samples_df(full=True)` of a log of 5,000 samples
  evals       `evals_df` of 300 logs
  metrics     each metric of Inspect's registry over 100, 1,000 and 10,000 scores, of all types of values
  reducers    each reducer over the epochs of 1,000 samples, of all types of values

Wants a Python that has inspect_ai==0.3.285, pandas, pyarrow and the package errorbar, built with optimisation (`pip install
./crates/python`). A frame is read in a process of its own, whose imports are not counted: processor time of the call, and
how much the process grew. Frames and figures of both sides must agree. Warnings of both are dropped, as printing them would
be a part of the time. Machines are noisy: only the ratios mean something, and only within one run. Exits with 1 if something
is slower than wanted.
"""
import argparse
import json
import logging
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
    if processor < WANTED_FRAMES or memory < WANTED_MEMORY:
        sys.exit(f"{kind}: more than wanted")


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


def calls_for(call, least=0.005):
    """How many calls take a while. They are the warm-up, too."""
    call()
    start, times = time.process_time(), 0
    while time.process_time() - start < least:
        call()
        times += 1
    return times


def alternating(theirs, ours, rounds):
    """The median processor time of a call of each, and the median ratio: each of two slices of time that follow each other,
    as short as they can be, so that what else the machine does is the same for both."""
    taken = []
    counts = [(call, calls_for(call)) for call in (theirs, ours)]
    for _ in range(rounds):
        pair = []
        for call, count in counts:
            start = time.process_time()
            for _ in range(count):
                call()
            pair.append((time.process_time() - start) / count)
        taken.append(pair)
    return (*map(statistics.median, zip(*taken)), statistics.median(ours / theirs for theirs, ours in taken))


def same(theirs, ours):
    if isinstance(theirs, dict):
        return theirs.keys() == ours.keys() and all(same(theirs[key], ours[key]) for key in theirs)
    if isinstance(theirs, list):
        return len(theirs) == len(ours) and all(map(same, theirs, ours))
    if not isinstance(theirs, float):
        return theirs == ours
    return theirs == ours or abs(theirs - ours) <= 1e-12 * max(1, abs(theirs)) or (theirs != theirs and ours != ours)


def drawn(theirs, ours):
    """Figures of resamples, which are others in each run."""
    if isinstance(theirs, dict):
        return theirs.keys() == ours.keys() and all(abs(theirs[key] - ours[key]) < 0.1 for key in theirs)
    return abs(ours / theirs - 1) < 0.2


class Table:
    """Prints what was measured, and remembers what is wrong with it."""

    def __init__(self, title):
        self.wrong = []
        print(f"{title}: Inspect's, ours, ratio (wanted at most {WANTED_METRICS})")

    def line(self, name, count, taken, agreed, wanted=WANTED_METRICS):
        theirs, ours, ratio = taken
        verdicts = [word for word, is_wrong in [("TOO SLOW", ratio > wanted), ("DIFFERENT", not agreed)] if is_wrong]
        self.wrong += [f"{name} of {count}: {word}" for word in verdicts]
        unit = 1e6
        print(f"  {name:42} {count:6} {theirs * unit:11.1f} µs {ours * unit:11.1f} µs {ratio:7.3f} ×  {' '.join(verdicts)}".rstrip())

    def end(self):
        if self.wrong:
            sys.exit("\n".join(self.wrong))


def check_covered(kind, names):
    """Everything that Inspect registers has to be measured."""
    from inspect_ai._util.registry import registry_find, registry_info

    found = [registry_info(one).name for one in registry_find(lambda info: info.type == kind)]
    theirs = {name.removeprefix("inspect_ai/") for name in found if not name.startswith("errorbar/")}
    if missing := theirs - names:
        sys.exit(f"not measured: {', '.join(sorted(missing))}")


GRADES, NUMBERS, INTS = ["C", "I", "C", "P"], [0.25, 1.0, 0.0, 0.5, 0.125], [1, 0, 1]
RATINGS, MAPS = [[1, 2, 2], [3, 3, 3], [1, 1, 2], [2, 3, 3]], [{"a": 1, "b": "C"}, {"a": 0, "b": "I"}]
#: The name of each metric, its arguments, and the values of scores. An argument with `m` in it is made of the module's own.
MEASURED = [
    ("accuracy", "", GRADES),
    ("accuracy", "", INTS),
    ("accuracy", "", [True, False, True]),
    ("accuracy", "", NUMBERS),
    ("accuracy", "", ["1", "0.5", "yes", "no"]),
    ("accuracy", "to_float=len", ["a", "bb"]),
    ("mean", "", NUMBERS),
    ("mean", "", INTS),
    ("std", "", NUMBERS),
    ("var", "", NUMBERS),
    ("stderr", "", GRADES),
    ("stderr", 'cluster="topic"', GRADES),
    ("ci", "", NUMBERS),
    ("ci", 'cluster="topic"', NUMBERS),
    ("ci", 'method="bootstrap"', NUMBERS),
    ("ci_wilson", "", GRADES),
    ("ci_wilson", 'cluster="topic"', GRADES),
    ("bootstrap_stderr", "", NUMBERS),
    ("grouped", 'm.accuracy(), "topic"', GRADES),
    ("grouped", 'm.accuracy(), "topic", all="groups"', GRADES),
    ("grouped", 'm.accuracy(), "two"', GRADES),
    ("grouped", 'm.accuracy(), "id"', GRADES),
    ("grouped", 'm.stderr(), "topic"', NUMBERS),
    ("grouped", 'm.accuracy(), "topic", name_template="topic {group_name}"', GRADES),
    ("grouped", 'm.accuracy(), "topic", name_template="{group_name:>9}"', GRADES),
    ("grouped", 'm.accuracy(), "id", name_template="{group_name:>9}"', GRADES),
    ("aggregate", '"a", m.mean()', MAPS),
    ("aggregate", '"a", m.stderr(), on_missing="skip"', [*MAPS, {"b": 1}]),
    ("frequency", "", GRADES),
    ("frequency", 'categories=["C", "I", "P", "N"]', GRADES),
    ("frequency", "", INTS),
    ("krippendorff_alpha", "", RATINGS),
    ("krippendorff_alpha", "", [["C", "I", "C"], ["C", "C"]]),
    ("krippendorff_alpha", 'level="ordinal"', RATINGS),
    ("krippendorff_alpha", 'level="interval"', RATINGS),
    ("perplexity_per_token", "", NUMBERS),
    ("perplexity_per_seq", "", NUMBERS),
]


def scores(count, values):
    from inspect_ai.scorer import SampleScore, Score

    def score(n):
        metadata = {"topic": f"t{n % 40}", "two": "ab"[n % 2], "id": n}
        value = Score(value=values[n % len(values)], metadata={"num_tokens": n % 9 + 1, "sum_log_probs": -(n % 7) / 2})
        return SampleScore(score=value, sample_id=n, sample_metadata=metadata)

    return [score(n) for n in range(count)]


def metrics(args):
    import errorbar.inspect as own
    from inspect_ai import scorer as theirs

    check_covered("metric", {name for name, _, _ in MEASURED})
    table = Table("metrics")
    for name, arguments, values in MEASURED:
        one, other = (eval(f"m.{name}({arguments})", {"m": module}) for module in (theirs, own))
        is_drawn = "bootstrap" in name + arguments
        for count in (100, 1_000, 10_000):
            given = scores(count, values)
            agreed = (drawn if is_drawn else same)(one(given), other(given))
            taken = alternating(lambda: one(given), lambda: other(given), min(args.rounds, 3) if is_drawn else args.rounds)
            kind = type(values[0]).__name__
            wanted = 1 / WANTED_BOOTSTRAP if (name, count) == ("bootstrap_stderr", 10_000) else WANTED_METRICS
            table.line(f"{name}({arguments}) of {kind}", count, taken, agreed, wanted)
            if wanted < 1:
                print(f"  bootstrap: {1 / taken[2]:.0f} times as fast (wanted {WANTED_BOOTSTRAP})")
    table.end()


#: The name of each reducer, what makes it, and whether it takes maps and lists.
REDUCERS = [
    ("mean", lambda m: m.mean_score(), True),
    ("median", lambda m: m.median_score(), True),
    ("max", lambda m: m.max_score(), True),
    ("mode", lambda m: m.mode_score(), True),
    ("majority", lambda m: m.majority_score(), True),
    ("collect", lambda m: m.collect_score(), False),
    ("at_least", lambda m: m.at_least(2), True),
    ("pass_at", lambda m: m.pass_at(2), True),
    ("pass_k", lambda m: m.pass_k(2), True),
]
#: The epochs of samples.
EPOCHS = {
    "grades": ["CIC", "III", "CCI", "PCI"],
    "ints": [[1, 0, 1], [0, 0, 0], [1, 1, 0]],
    "numbers": [[0.5, 0.25, 1.0], [0.0, 1.0, 1.0]],
    "one epoch": ["C", "I"],
    "12 epochs": ["CICCICCICIII", "IIIIICIIIIII"],
    "unscored": [[float("nan"), 1, 1], [0, 0, float("nan")]],
    "maps": [[{"a": 1, "b": "C"}, {"a": 0, "b": "I"}, {"a": 1, "b": "I"}]],
    "lists": [[[1, "C"], [0, "I"], [1, "C"]]],
}


def reducers(args):
    import errorbar.inspect as own
    from inspect_ai import scorer as theirs
    from inspect_ai.scorer import Score

    check_covered("score_reducer", {name for name, _, _ in REDUCERS})
    table = Table("reducers over 1,000 samples")
    for name, make, takes_maps in REDUCERS:
        for kind, epochs in EPOCHS.items():
            if kind in ("maps", "lists") and not takes_maps:
                continue
            samples = [[Score(value=value, answer="a") for value in epochs[n % len(epochs)]] for n in range(1_000)]
            one, other = make(theirs), make(own)
            agreed = all(same(one(some).model_dump(), other(some).model_dump()) for some in samples[:4])
            taken = alternating(lambda: [one(some) for some in samples], lambda: [other(some) for some in samples], args.rounds)
            table.line(f"{name} of {kind}", len(samples), taken, agreed)
    table.end()


def main():
    if len(sys.argv) > 1 and sys.argv[1] == "--child":
        return child(sys.argv[2], sys.argv[3], json.load(sys.stdin))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, help="where logs are kept from run to run")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--only", action="append", choices=PARTS)
    args = parser.parse_args()
    logging.disable(logging.WARNING)
    with tempfile.TemporaryDirectory() as folder:
        args.work = args.work or Path(folder)
        args.work.mkdir(parents=True, exist_ok=True)
        for part in args.only or PARTS:
            globals()[part](args)


if __name__ == "__main__":
    main()
