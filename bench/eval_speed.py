#!/usr/bin/env python3
"""Whole evaluations with an instant model, log included: errorbar against the reference, in one run, alternating.

usage: bench/eval_speed.py [--rounds N] [--samples N] [--large N]

Prints samples per second of both sides (medians) and their ratio, then time and memory of one large run of ours. Wants a
Python that has inspect_ai==0.3.285 (see bench/README.md). Machines are noisy: only the ratio means something.
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

import reference

ROOT = Path(__file__).resolve().parent.parent
BINARY = ROOT / "target/dist/errorbar"
WANTED_RATE = 10_000
WANTED_MEGABYTES = 500
ANSWER = "Let me see. The answer to that is 42, I should think."


def question(number):
    return f"Question {number}: how much is {number} plus one? Answer with the number alone, please."


class Ours:
    """errorbar on a task file and a dataset of this number of samples; the process as a whole is timed."""

    def __init__(self, folder, samples):
        self.folder, self.samples = folder, samples
        rows = (
            {"id": f"q{n}", "input": question(n), "target": str(n + 1), "metadata": {"category": f"c{n % 7}"}}
            for n in range(samples)
        )
        with open(folder / f"speed{samples}.jsonl", "w") as dataset:
            dataset.writelines(json.dumps(row) + "\n" for row in rows)
        self.task = folder / f"speed{samples}.toml"
        self.task.write_text(
            f'dataset = {{ path = "speed{samples}.jsonl" }}\nscorer = "includes()"\nmodel = "mock/{ANSWER}"\n'
        )

    def run(self):
        command = [BINARY, "eval", self.task, "--log-dir", self.folder / "logs", "--format", "json"]
        started = time.perf_counter()
        child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        written = child.stdout.read()
        # Of this one process: the compiler, which was a child too, takes more.
        _, status, used = os.wait4(child.pid, 0)
        seconds = time.perf_counter() - started
        assert status == 0, f"{command} failed"
        self.megabytes = used.ru_maxrss / 1024
        (report,) = json.loads(written)
        assert report["results"]["completed_samples"] == self.samples
        return self.samples / seconds, report["results"]["scores"][0]["metrics"]["accuracy"]["value"]


class Reference:
    """The reference on as many samples as it does in a few seconds; its import is not timed."""

    def __init__(self, folder, samples):
        reference.load()
        self.folder, self.samples = folder, samples

    def run(self):
        from inspect_ai import Task, eval as run_eval
        from inspect_ai.dataset import Sample
        from inspect_ai.model import ModelOutput, get_model
        from inspect_ai.scorer import includes
        from inspect_ai.solver import generate

        samples = [
            Sample(id=f"q{n}", input=question(n), target=str(n + 1), metadata={"category": f"c{n % 7}"})
            for n in range(self.samples)
        ]
        outputs = (ModelOutput.from_content("mockllm/model", ANSWER) for _ in samples)
        model = get_model("mockllm/model", custom_outputs=outputs)
        started = time.perf_counter()
        (log,) = run_eval(
            Task(dataset=samples, solver=generate(), scorer=includes()),
            model=model, log_dir=str(self.folder / "reference"), display="none", max_samples=32,
        )
        seconds = time.perf_counter() - started
        assert log.status == "success", log.error.message
        return self.samples / seconds, log.results.scores[0].metrics["accuracy"].value


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--samples", type=int, default=20_000, help="samples of ours in a round")
    parser.add_argument("--reference-samples", type=int, default=200)
    parser.add_argument("--large", type=int, default=100_000, help="samples of the run whose memory is measured")
    args = parser.parse_args()
    subprocess.run(["cargo", "build", "--profile", "dist", "-p", "errorbar", "--quiet"], cwd=ROOT, check=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        ours, theirs = Ours(folder, args.samples), Reference(folder, args.reference_samples)
        rates = {"errorbar": [], "reference": []}
        for _ in range(args.rounds):
            for side, run in (("errorbar", ours.run), ("reference", theirs.run)):
                rates[side].append(run()[0])
        # The same samples on both sides must give the same figure.
        few = Ours(folder, args.reference_samples)
        assert few.run()[1] == theirs.run()[1], "the two sides disagree"
        medians = {side: statistics.median(found) for side, found in rates.items()}
        print(f"{'side':10} {'samples/s':>10}   (median of {args.rounds}, process start, dataset and log included)")
        for side, median in medians.items():
            print(f"{side:10} {median:10,.0f}")
        print(f"ratio      {medians['errorbar'] / medians['reference']:10,.0f}x")
        large = Ours(folder, args.large)
        rate, _ = large.run()
        print(f"\n{args.large:,} samples: {rate:,.0f}/s, {large.megabytes:.0f} MB resident at most")
        met = medians["errorbar"] >= WANTED_RATE and large.megabytes <= WANTED_MEGABYTES
        print(f"wanted: {WANTED_RATE:,}/s and {WANTED_MEGABYTES} MB: {'met' if met else 'MISSED'}")
        sys.exit(0 if met else 1)


if __name__ == "__main__":
    main()
