#!/usr/bin/env python3
"""Reading and scoring logs: errorbar against the reference and against merely decompressing, in one run, alternating.

usage: bench/log_speed.py [--work DIR] [--errorbar PATH] [--decompress PATH] [--rounds N] [--only PART]...

  recompute   a log of 5,000 samples (46 MB decompressed): the reference's read and recompute in this process, its import not
              counted; the whole command `errorbar score`; the whole process of `decompress`, which does only that
  list        1,000 small logs: the reference's headers, one after the other in this process; the whole command
              `errorbar log list`
  memory      logs of 1 GB decompressed, many samples and one, .eval and .json: the most that `errorbar score` holds

Logs are made once and stay in DIR (a temporary folder unless given). Wants a Python that has inspect_ai==0.3.285 (see
bench/README.md). Machines are noisy: only the ratios mean something, and only within one run.
"""
import argparse
import gc
import json
import math
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

import reference

ROOT = Path(__file__).resolve().parent.parent
PARTS = ("recompute", "list", "memory")
SAMPLES, DECOMPRESSED_MEGABYTES = 5_000, 46
LOGS, KINDS_OF_LOGS = 1_000, 20
LARGE_BYTES, LARGE_SAMPLES = 1_000_000_000, 2_000
WANTED_MEGABYTES = 300
TOLERANCE = 1e-12

# The memory of a child is that of its own process only if its parent is small: until a child becomes another program, it
# has its parent's pages, and the system counts them. So this runs in between. It prints seconds, processor seconds, kilobytes.
SMALL_PARENT = """
import os, sys, time
start = time.perf_counter()
child = os.posix_spawnp(sys.argv[1], sys.argv[1:], os.environ)
_, status, used = os.wait4(child, 0)
seconds = time.perf_counter() - start
sys.stderr.write("\\n%r %r %d" % (seconds, used.ru_utime + used.ru_stime, used.ru_maxrss))
sys.exit(os.waitstatus_to_exitcode(status) & 255)
"""


class Ran:
    """A command that has ended: what it wrote, and what it took."""

    def __init__(self, *command):
        parent = [sys.executable, "-I", "-S", "-c", SMALL_PARENT]
        done = subprocess.run([*parent, *map(str, command)], capture_output=True, text=True)
        messages, _, used = done.stderr.rpartition("\n")
        self.code, self.wrote, self.messages = done.returncode, done.stdout, messages.strip()
        seconds, processor, kilobytes = used.split()
        self.seconds, self.processor, self.megabytes = float(seconds), float(processor), int(kilobytes) / 1024

    def checked(self):
        if self.code != 0:
            sys.exit(f"exit code {self.code}: {self.messages}")
        return self


def build(args):
    """Builds what no path was given for."""
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    for name, package in (("errorbar", "errorbar"), ("decompress", "errorbar-bench")):
        if getattr(args, name) is None:
            command = ["cargo", "build", "--profile", "dist", "--quiet", "-p", package, "--bin", name]
            subprocess.run(command, cwd=ROOT, check=True)
            setattr(args, name, target / "dist" / name)


def evaluate(folder, name, samples):
    """A log that the reference writes: one or two questions and answers in a sample, six of ten right in the end."""
    from inspect_ai import Task, eval as run_eval
    from inspect_ai.dataset import Sample
    from inspect_ai.model import ChatMessageUser
    from inspect_ai.scorer import accuracy, includes, stderr
    from inspect_ai.solver import solver

    @solver
    def conversation():
        async def solve(state, generate):
            state = await generate(state)
            if int(state.sample_id[1:]) % 2 == 1:
                state.messages.append(ChatMessageUser(content="Are you sure?"))
                state = await generate(state)
            return state

        return solve

    def row(n):
        right = random.Random(f"{name} {n}").random() < 0.6
        # What the mock model always answers.
        target = "Default output" if right else "forty-two"
        question = f"How many of {n} apples are left if {n % 13} are eaten?"
        return Sample(id=f"q{n}", input=question, target=target, metadata={"passage": f"p{n // 5}"})

    task = Task(
        name=name,
        dataset=[row(n) for n in range(samples)],
        solver=conversation(),
        scorer=includes(),
        metrics=[accuracy(), stderr(), stderr(cluster="passage")],
    )
    (log,) = run_eval(task, model="mockllm/model", log_dir=str(folder), display="none", max_samples=64)
    assert log.status == "success", log.error.message
    return Path(log.location)


def once(path, make):
    """The path, made by `make(unfinished)` unless it is there."""
    if not path.exists():
        print(f"making {path} …", flush=True)
        unfinished = path.with_name(f"unfinished-{path.name}")
        make(unfinished)
        unfinished.rename(path)
    return path


def figures(scores):
    return {
        (score["name"], score.get("reducer"), key): metric["value"]
        for score in scores
        for key, metric in score["metrics"].items()
    }


def disagreements(ours, theirs):
    """Figures of both sides that are not the same number."""
    if ours.keys() != theirs.keys():
        return [f"figures {sorted(map(str, ours))}, the reference has {sorted(map(str, theirs))}"]
    return [
        f"{key}: {ours[key]}, the reference has {theirs[key]}"
        for key in ours
        if not math.isclose(ours[key], theirs[key], rel_tol=TOLERANCE, abs_tol=1e-15)
    ]


def row(name, seconds, processor, note=""):
    print(f"  {name:34} {statistics.median(seconds) * 1000:9,.1f} ms {statistics.median(processor) * 1000:9,.1f} ms  {note}")


def ratio(name, over, under, took, processor):
    wall, busy = (statistics.median(of[over]) / statistics.median(of[under]) for of in (took, processor))
    print(f"  {name:34} {wall:9,.2f} x  {busy:9,.2f} x")


def recompute(args):
    """errorbar on one log, against the reference and against decompressing alone."""
    from inspect_ai.log import read_eval_log
    from inspect_ai.log._metric import recompute_metrics

    def make(path):
        with tempfile.TemporaryDirectory(dir=args.work) as folder:
            evaluate(folder, "speed", SAMPLES).rename(path)

    path = once(args.work / "speed.eval", make)
    with zipfile.ZipFile(path) as log:
        megabytes = sum(member.file_size for member in log.infolist()) / 1e6
    print(f"{SAMPLES:,} samples, {megabytes:.1f} MB decompressed, {path.stat().st_size / 1e6:.1f} MB as it is")
    if abs(megabytes - DECOMPRESSED_MEGABYTES) > 3:
        print(f"  NOTE: wanted about {DECOMPRESSED_MEGABYTES} MB")
    took = {"reference": [], "errorbar": [], "decompress": []}
    processor = {"reference": [], "errorbar": [], "decompress": []}
    for _ in range(args.rounds):
        gc.collect()
        start, busy = time.perf_counter(), time.process_time()
        log = read_eval_log(str(path))
        recompute_metrics(log)
        took["reference"].append(time.perf_counter() - start)
        processor["reference"].append(time.process_time() - busy)
        theirs = figures([score.model_dump() for score in log.results.scores])
        del log
        # Quick ones are run more often, for a median that means something.
        for _ in range(5):
            ours = Ran(args.errorbar, "score", path, "--format", "json").checked()
            floor = Ran(args.decompress, path).checked()
            for side, ran in (("errorbar", ours), ("decompress", floor)):
                took[side].append(ran.seconds)
                processor[side].append(ran.processor)
        problems = disagreements(figures(json.loads(ours.wrote)[0]["results"]["scores"]), theirs)
        assert not problems, problems
    print(f"  {'':34} {'wall':>12} {'processor':>12}")
    row("reference: read and recompute", took["reference"], processor["reference"])
    row("errorbar score, whole process", took["errorbar"], processor["errorbar"], f"{ours.megabytes:.0f} MB at most")
    row("decompressing alone, whole process", took["decompress"], processor["decompress"], floor.wrote.strip())
    ratio("reference / errorbar", "reference", "errorbar", took, processor)
    ratio("errorbar / decompressing", "errorbar", "decompress", took, processor)
    print(f"  {len(theirs)} figures agree to {TOLERANCE}")


def make_logs(folder):
    """A thousand logs: twenty of the reference, and copies of them with headers that differ."""
    import inspect_ai._util.zipfile  # noqa: F401  teaches zipfile to compress as the reference does

    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        kinds = [evaluate(scratch, f"task{n}", 10 + 2 * n) for n in range(KINDS_OF_LOGS)]
        for n in range(LOGS):
            created = f"2026-{n % 12 + 1:02}-{n % 28 + 1:02}T{n % 24:02}:{n % 60:02}:00+00:00"
            copy = folder / f"{created.replace(':', '-').replace('+', '-')}_task{n % KINDS_OF_LOGS}_{n:022}.eval"
            with (
                zipfile.ZipFile(kinds[n % KINDS_OF_LOGS]) as source,
                zipfile.ZipFile(copy, "w", compression=93, compresslevel=3) as out,
            ):
                for member in source.namelist():
                    content = source.read(member)
                    if member in ("header.json", "_journal/start.json"):
                        header = json.loads(content)
                        ids = {"eval_id": f"e{n:021}", "run_id": f"r{n:021}"}
                        header["eval"].update(ids, created=created, model=f"mockllm/model{n % 9}")
                        content = json.dumps(header, separators=(",", ":")).encode()
                    out.writestr(member, content)


def listing(args):
    """The headers of a thousand logs."""
    from inspect_ai.log import read_eval_log

    if Ran(args.errorbar, "log", "list", "--help").code != 0:
        print("list: skipped, this errorbar has no `log list`")
        return
    folder = once(args.work / "logs", make_logs)
    paths = sorted(folder.iterdir())
    print(f"{len(paths):,} logs, {sum(path.stat().st_size for path in paths) / 1e6:.1f} MB as they are")
    took = {"reference": [], "errorbar": []}
    processor = {"reference": [], "errorbar": []}
    for _ in range(args.rounds):
        gc.collect()
        start, busy = time.perf_counter(), time.process_time()
        statuses = [read_eval_log(str(path), header_only=True).status for path in paths]
        took["reference"].append(time.perf_counter() - start)
        processor["reference"].append(time.process_time() - busy)
        assert statuses == ["success"] * LOGS
        for _ in range(5):
            ours = Ran(args.errorbar, "log", "list", folder).checked()
            took["errorbar"].append(ours.seconds)
            processor["errorbar"].append(ours.processor)
        missing = [n for n in range(KINDS_OF_LOGS) if f"task{n}" not in ours.wrote]
        assert not missing, f"tasks {missing} are not in the list"
    print(f"  {'':34} {'wall':>12} {'processor':>12}")
    row("reference: headers", took["reference"], processor["reference"])
    row("errorbar log list, whole process", took["errorbar"], processor["errorbar"], f"{ours.megabytes:.0f} MB at most")
    ratio("reference / errorbar", "reference", "errorbar", took, processor)


class Transcripts:
    """Samples of any size whose strings look like those of transcripts, made fast: pieces of one long text."""

    PIECE = 4_000

    def __init__(self):
        pick = random.Random(1)
        letters = "etaoinshrdlucmfwypvbgk"
        words = ["".join(pick.choices(letters, range(len(letters), 0, -1), k=pick.randint(2, 9))) for _ in range(6_000)]
        text = " ".join(pick.choice(words) + ("." if pick.random() < 0.08 else "") for _ in range(700_000))
        # As it stands in JSON: with escapes.
        self.text = text.replace(". ", ".\\n", 2_000).replace(" a", ' \\"a', 2_000)
        self.pick = pick

    def piece(self, length=PIECE):
        at = self.pick.randrange(len(self.text) - length)
        text = self.text[at : at + length]
        # No escape may be cut in two.
        return text.strip("\\").removeprefix("n").removeprefix('"')

    def parts(self, n, size):
        """Sample `n` as JSON of about `size` bytes, piece by piece, in the order of the reference's fields."""
        yield f'{{"id":"q{n}","epoch":1,"input":"{self.piece(200)}","target":"42","messages":['
        for at in range(max(1, size * 4 // 10 // self.PIECE)):
            role = ("user", "assistant")[at % 2]
            yield f'{"," * (at > 0)}{{"id":"m{n}-{at}","content":"{self.piece()}","role":"{role}"}}'
        message = f'{{"content":"{self.piece(300)}","role":"assistant"}}'
        yield f'],"output":{{"model":"mockllm/model","choices":[{{"message":{message},"stop_reason":"stop"}}]}}'
        yield f',"scores":{{"includes":{{"value":"{"CI"[n % 4 == 0]}","answer":"42","history":[]}}}}'
        yield f',"metadata":{{"passage":"p{n // 5}"}},"store":{{}},"events":['
        for at in range(max(1, size * 6 // 10 // self.PIECE)):
            yield (
                f'{"," * (at > 0)}{{"uuid":"e{n}-{at}","timestamp":"2026-01-02T03:04:05.678901+00:00","working_start":{at}.25,'
                f'"event":"info","source":"bench","data":"{self.piece()}"}}'
            )
        yield '],"model_usage":{},"attachments":{}}'


METRICS = [
    {"name": "inspect_ai/accuracy", "options": {}},
    {"name": "inspect_ai/stderr", "options": {}},
    {"name": "inspect_ai/stderr", "options": {"cluster": "passage"}},
]


def large_header(samples):
    """The first keys of a log, up to where a .json log has its samples."""
    start = {
        "version": 2,
        "eval": {
            "eval_id": "e", "run_id": "r", "task_id": "t", "created": "2026-01-02T03:04:05+00:00", "task": "large",
            "task_version": 0, "dataset": {"samples": samples}, "model": "mockllm/model", "config": {"epochs": 1},
            "scorers": [{"name": "includes", "options": {}, "metrics": METRICS, "metadata": {}}],
        },
        "plan": {"name": "plan", "steps": [], "config": {}},
    }
    return start, {"version": 2, "status": "success", **start, "stats": {"started_at": "", "completed_at": ""}}


def make_large_eval(path, samples):
    import zipfile_zstd  # noqa: F401  teaches zipfile to compress as the reference does

    start, header = large_header(samples)
    transcripts = Transcripts()
    with zipfile.ZipFile(path, "w", compression=93, compresslevel=3) as log:
        log.writestr("_journal/start.json", json.dumps(start))
        for n in range(samples):
            with log.open(f"samples/q{n}_epoch_1.json", "w", force_zip64=True) as member:
                for part in transcripts.parts(n, LARGE_BYTES // samples):
                    member.write(part.encode())
        log.writestr("header.json", json.dumps(header))


def make_large_json(path, samples):
    _, header = large_header(samples)
    transcripts = Transcripts()
    with open(path, "w") as log:
        log.write(json.dumps(header)[:-1] + ',"samples":[')
        for n in range(samples):
            log.write("," * (n > 0))
            log.writelines(transcripts.parts(n, LARGE_BYTES // samples))
        log.write("]}")


def memory(args):
    """The most that scoring a large log holds; whether it is within the bound."""
    cases = [
        ("many.eval", make_large_eval, LARGE_SAMPLES),
        ("one.eval", make_large_eval, 1),
        ("many.json", make_large_json, LARGE_SAMPLES),
        ("one.json", make_large_json, 1),
    ]
    print(f"1 GB decompressed; wanted: {WANTED_MEGABYTES} MB at most")
    met = True
    for name, make, samples in cases:
        path = once(args.work / name, lambda path: make(path, samples))
        ran = Ran(args.errorbar, "score", path, "--format", "json")
        good = ran.code == 0 and ran.megabytes <= WANTED_MEGABYTES
        met = met and good
        verdict = "met" if good else "MISSED"
        took = f"{ran.seconds:7.2f} s, {ran.processor:6.2f} s of processor"
        print(f"  {name:10} {samples:5,} samples {ran.megabytes:9,.0f} MB {took}  {verdict}")
        if ran.code != 0:
            print(f"    exit code {ran.code}: {ran.messages[:300]}")
            continue
        results = json.loads(ran.wrote)[0]["results"]
        wanted = 1 - math.ceil(samples / 4) / samples
        found = results["scores"][0]["metrics"]["accuracy"]["value"]
        assert results["total_samples"] == samples and math.isclose(found, wanted), results
    return met


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--work", type=Path, help="where logs stay between runs")
    parser.add_argument("--errorbar", type=Path, help="the command [default: built here, profile dist]")
    parser.add_argument("--decompress", type=Path, help="the floor [default: built here, profile dist]")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", choices=PARTS, action="append", help="leave out the others")
    args = parser.parse_args()
    wanted = args.only or PARTS
    build(args)
    reference.load()
    with tempfile.TemporaryDirectory() as name:
        args.work = args.work or Path(name)
        args.work.mkdir(parents=True, exist_ok=True)
        if "recompute" in wanted:
            recompute(args)
        if "list" in wanted:
            listing(args)
        met = memory(args) if "memory" in wanted else True
    sys.exit(0 if met else 1)


if __name__ == "__main__":
    main()
