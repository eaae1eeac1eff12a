#!/usr/bin/env python3
"""Stored outputs, scored again by the reference and by errorbar.

    python conformance/check_rescores.py target/debug/errorbar

Needs inspect_ai in the version of conformance/requirements.txt. The reference runs a task with a mock model: several
epochs, empty outputs, a sample that fails. Then both sides score its log with the same scorers, appended and in place of
the old ones. Values, answers, results (to 12 digits), reductions, recorded scorers and the order of events must be the
same; what errorbar writes must open in the reference's reader without a warning, and `errorbar verify` must agree with it.

Two differences are on purpose, and checked as such:
- `choice`: the reference does not restore which choices were marked, and finds every answer wrong. errorbar reads them
  off the output, so its new scores are those of the run.
- a score of a name that is taken: the reference names it sample by sample, so that a sample without the old score (it
  failed) has the new one under the old name. errorbar has one name for all samples. Here no name is taken.
"""

import argparse
import json
import logging
import shutil
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

from check_logs import Warned

WARNED = Warned()

# errorbar's scorer, the reference's scorer and its arguments.
SCORERS = [
    ("includes()", "includes", {}),
    ("includes(ignore_case=false)", "includes", {"ignore_case": False}),
    ("match()", "match", {}),
    ("match(location='begin')", "match", {"location": "begin"}),
    ("match(location='any')", "match", {"location": "any"}),
    ("match(location='exact')", "match", {"location": "exact"}),
    ("match(numeric=true)", "match", {"numeric": True}),
    ("exact()", "exact", {}),
    ("f1()", "f1", {}),
    ("answer('line')", "answer", {"pattern": "line"}),
    ("answer('word')", "answer", {"pattern": "word"}),
    ("pattern('([0-9]+)')", "pattern", {"pattern": "([0-9]+)"}),
    ("model_graded_qa()", "model_graded_qa", {}),
    ("model_graded_fact()", "model_graded_fact", {}),
]
OUTPUTS = ["ANSWER: 4", "4", "The answer is 4.", "It is 5.", "", "  4 \n"]
OUTPUTS += ["ANSWER: the 4th\nNo.", "four", "A 4 B 4,000"]
GRADER = "GRADE: C"


def run_reference(folder):
    """Two logs of the reference: free answers, and multiple choice."""
    import inspect_ai.model._model
    import inspect_ai.model._tokens
    from inspect_ai import Task, eval as run_eval
    from inspect_ai.dataset import Sample
    from inspect_ai.model import ModelOutput, get_model
    from inspect_ai.scorer import Score, accuracy, choice, scorer, std
    from inspect_ai.solver import multiple_choice, solver

    def count(text):
        return len(text) // 4 + 1

    # The mock model would fetch a tokenizer from the network.
    inspect_ai.model._model.count_text_tokens = count
    inspect_ai.model._tokens.count_text_tokens = count

    @scorer(metrics=[accuracy(), std()])
    def old():
        async def score(state, target):
            return Score(value="C" if state.epoch == 1 else "I")

        return score

    @solver
    def failing():
        async def solve(state, generate):
            if state.sample_id == "fails":
                raise ValueError("no answer")
            return await generate(state)

        return solve

    def outputs(texts):
        at = 0
        while True:
            yield ModelOutput.from_content("mockllm/model", texts[at % len(texts)])
            at += 1

    def run(name, samples, texts, **task):
        task = Task(name=name, dataset=samples, epochs=3, **task)
        model = get_model("mockllm/model", custom_outputs=outputs(texts))
        (log,) = run_eval(task, model=model, log_dir=str(folder), display="none", fail_on_error=False, max_samples=1)
        assert log.status == "success", log.error
        return Path(log.location).rename(folder / f"{name}.eval")

    ids = [f"q{n}" for n in range(6)] + ["fails"]
    targets = ["4", ["4", "5"], "four", "4th", "", "4,000", "4"]
    free = [Sample(id=id, input=f"What is {id}?", target=t, metadata={"n": id}) for id, t in zip(ids, targets)]
    choices = [Sample(id=n, input="Which?", choices=["x", "y", "z"], target=t) for n, t in enumerate("ABCAB")]
    marked = ["ANSWER: A", "ANSWER: B", "I say B.\nANSWER: **B**", "No idea.", ""]
    return {
        "free": run("free", free, OUTPUTS, solver=failing(), scorer=old()),
        "choices": run("choices", choices, marked, solver=multiple_choice(), scorer=choice()),
    }


def rescored_by_reference(log, name, args, action, to):
    """The log as `inspect_ai.score` leaves it."""
    from inspect_ai import score
    from inspect_ai import scorer as scorers
    from inspect_ai.log import read_eval_log, write_eval_log
    from inspect_ai.model import ModelOutput, get_model

    graders = get_model("mockllm/grader", custom_outputs=[ModelOutput.from_content("grader", GRADER)] * 1000)
    scorer = getattr(scorers, name)(**args)
    scored = score(read_eval_log(str(log)), scorer, action=action, model_roles={"grader": graders}, display="none")
    write_eval_log(scored, str(to))
    return read_eval_log(str(to))


def rescored_by_errorbar(errorbar, log, spec, action, to):
    """The log as `errorbar score --with` leaves it; its figures must be those of its samples."""
    from inspect_ai.log import read_eval_log

    command = [errorbar, "score", log, "--with", spec, f"--{action}", "-o", to, "--force"]
    if spec.startswith("model_graded"):
        command += ["--model-role", f"grader=mock/{GRADER}"]
    subprocess.run(command, check=True, capture_output=True, text=True)
    verified = subprocess.run([errorbar, "verify", "--strict", to], capture_output=True, text=True)
    if verified.returncode != 0:
        raise AssertionError(f"verify: {verified.stdout}{verified.stderr}")
    before = len(WARNED.messages)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        opened = read_eval_log(str(to))
    if len(WARNED.messages) > before:
        raise AssertionError(f"the reference warned: {WARNED.messages[before:]}")
    return opened


def scores(log):
    """All scores, by sample, epoch and scorer."""
    found = {}
    for sample in log.samples:
        for name, score in (sample.scores or {}).items():
            key = (str(sample.id), sample.epoch, name)
            # Where nothing was found the explanation is a sentence of each side's own; a grader's is its answer.
            is_prose = score.answer is None or name.startswith("model_graded")
            explanation = None if is_prose else score.explanation
            found[key] = (repr(score.value), score.answer, explanation, score.reason)
    return found


def blocks(log):
    """The results, by block."""
    counts = (log.results.total_samples, log.results.completed_samples)
    found = []
    for block in log.results.scores:
        metrics = {key: (metric.name, f"{metric.value:.12g}") for key, metric in block.metrics.items()}
        found.append((block.name, block.scorer, block.reducer, block.scored_samples, block.unscored_samples, metrics))
    return counts, found, log.results.headline


def reductions(log):
    return [
        (r.scorer, r.reducer, [(str(s.sample_id), f"{s.value:.12g}") for s in r.samples]) for r in log.reductions or []
    ]


def header(log):
    """The scorers that the log records."""
    named = [(s.name, s.options, json.dumps([m.model_dump() for m in s.metrics])) for s in log.eval.scorers]
    return named, log.eval.config.epochs_reducer


def events(log):
    """Where the scores stand among the events."""
    kinds = ("span_begin", "span_end", "score")
    return [
        [(e.event, getattr(e, "name", None) or getattr(e, "scorer", None)) for e in s.events if e.event in kinds]
        for s in log.samples
    ]


def difference(ours, theirs):
    for what in (scores, blocks, reductions, header, events):
        a, b = what(ours), what(theirs)
        if a != b:
            if isinstance(a, dict):
                a, b = next((x, y) for x, y in zip(sorted(a.items()), sorted(b.items())) if x != y)
            return f"{what.__name__}: errorbar {a}, reference {b}"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("errorbar", type=Path)
    args = parser.parse_args()
    errorbar, failed, done, compared = args.errorbar.resolve(), 0, 0, 0
    folder = Path(tempfile.mkdtemp())
    try:
        logs = run_reference(folder)
        logging.getLogger().addHandler(WARNED)
        for spec, name, options in SCORERS:
            for action in ("append", "overwrite"):
                theirs = rescored_by_reference(logs["free"], name, options, action, folder / "theirs.eval")
                ours = rescored_by_errorbar(errorbar, logs["free"], spec, action, folder / "ours.eval")
                problem = difference(ours, theirs)
                done += 1
                compared += len(scores(ours))
                if problem:
                    failed += 1
                    print(f"{spec} {action}: {problem}")
        # The new scores of `choice` are those of the run.
        ours = rescored_by_errorbar(errorbar, logs["choices"], "choice()", "append", folder / "ours.eval")
        done += 1
        for (id, epoch, scorer), score in scores(ours).items():
            old = scores(ours)[(id, epoch, "choice")]
            compared += 1
            if score != old:
                failed += 1
                print(f"choice() of sample {id} in epoch {epoch}: {score}, and in the run {old}")
    finally:
        shutil.rmtree(folder)
    print(f"{done} rescored logs, {compared} scores: {failed} differ")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
