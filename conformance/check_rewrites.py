#!/usr/bin/env python3
"""Logs of the reference that errorbar rewrites, opened by the reference's own reader.

    python conformance/check_rewrites.py target/debug/errorbar [CHECK]...

Needs inspect_ai in the version of conformance/requirements.txt. The reference writes logs of several kinds; errorbar scores,
converts and edits them. What it leaves must open without a warning, have the results that the reference computes, and be
what it was in every other byte.
"""

import argparse
import copy
import io
import json
import logging
import math
import shutil
import subprocess
import sys
import tempfile
import warnings
import zipfile
from datetime import datetime, timezone
from pathlib import Path
from typing import Callable, NamedTuple

from check_logs import Warned, figures, same

REWRITTEN = {"header.json", "reductions.json"}
WARNED = Warned()


class Check(NamedTuple):
    """A command to check on every log."""

    name: str
    problems: Callable


# ---- logs of the reference


def reference_logs(folder):
    """Logs that the reference writes, by name."""
    import inspect_ai.model._model
    import inspect_ai.model._tokens
    from inspect_ai import Epochs, Task, eval as run_eval
    from inspect_ai.dataset import Sample
    from inspect_ai.log import read_eval_log, write_eval_log
    from inspect_ai.scorer import Score, accuracy, includes, match, mean, scorer, std, stderr
    from inspect_ai.solver import solver

    def count(text):
        return len(text) // 4 + 1

    # The mock model would fetch a tokenizer from the network.
    inspect_ai.model._model.count_text_tokens = count
    inspect_ai.model._tokens.count_text_tokens = count

    @solver
    def answering(failing=()):
        async def solve(state, generate):
            state.store.set("seen", [state.epoch, None])
            if state.sample_id in failing:
                raise ValueError("no answer")
            return await generate(state)

        return solve

    def number(state):
        return sum(map(ord, str(state.sample_id))) + state.epoch

    @scorer(metrics=[mean(), stderr(cluster="c")])
    def sometimes():
        async def score(state, target):
            n = number(state)
            return Score.unscored(reason="refusal") if n % 3 == 0 else Score(value=n / 7, metadata={"n": None})

        return score

    @scorer(metrics={"al*": [mean(), stderr()], "beta": [std()]})
    def maps():
        async def score(state, target):
            n = number(state)
            return Score(value={"alpha": n / 9, "alien": "CI"[n % 2], "beta": float("nan") if n % 4 == 0 else n})

        return score

    def run(name, ids, failing=(), **task):
        samples = [Sample(id=id, input=f"{id}?", target="Default", metadata={"c": n % 3}) for n, id in enumerate(ids)]
        task = Task(name=name, dataset=samples, solver=answering(failing), **task)
        (log,) = run_eval(task, model="mockllm/model", log_dir=str(folder), display="none", fail_on_error=False)
        assert log.status == "success", log.error
        return Path(log.location).rename(folder / f"{name}.eval")

    questions = [f"q{n}" for n in range(7)]
    metrics = [accuracy(), stderr(), stderr(cluster="c")]
    logs = {
        "plain": run("plain", questions, {"q3"}, scorer=[includes(), match()], epochs=2, metrics=metrics),
        "once": run("once", questions, scorer=includes()),
        "unscored": run("unscored", questions, scorer=sometimes()),
        "maps": run("maps", questions, scorer=maps(), epochs=Epochs(3, ["mean", "max"])),
        "ids": run("ids", ["a/b", "..", "ü \"quoted\"", "line\nbreak", 7], scorer=includes()),
    }
    # A sample that was run again is in the file twice; the last one counts.
    logs["twice"] = Path(shutil.copy(logs["plain"], folder / "twice.eval"))
    with zipfile.ZipFile(logs["twice"], "a", compression=93) as log, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sample = json.loads(log.read("samples/q1_epoch_1.json"))
        sample["scores"]["includes"]["value"] = "I"
        log.writestr("samples/q1_epoch_1.json", json.dumps(sample))
    for name in ("plain", "unscored"):
        logs[f"{name}.json"] = folder / f"{name}.json"
        write_eval_log(read_eval_log(str(logs[name])), str(logs[f"{name}.json"]))
    return logs


def spoil(path):
    """Puts results into a log that are not those of its samples, as only a rewrite can mend."""
    from inspect_ai.log import read_eval_log, write_eval_log

    log = read_eval_log(str(path))
    for score in log.results.scores:
        for metric in score.metrics.values():
            metric.value = 123.0
    if path.suffix == ".json":
        write_eval_log(log, str(path))
    else:
        write_eval_log(log, str(path), header_only=True)


# ---- comparisons


def read(path, problems):
    """The log as the reference reads it; its warnings are problems."""
    from inspect_ai.log import read_eval_log

    before = len(WARNED.messages)
    log = read_eval_log(str(path))
    problems += [f"{path.name}: warned: {message}" for message in WARNED.messages[before:]]
    return log


def run(binary, *arguments):
    return subprocess.run([binary, *map(str, arguments)], capture_output=True, text=True)


def failure(done):
    return [f"{' '.join(done.args[1:3])}: exit {done.returncode}: {done.stderr.strip()[:300]}"]


def packed_members(path, without=frozenset()):
    """Names and packed bytes of members, in the order of the directory."""
    content = path.read_bytes()
    members = []
    with zipfile.ZipFile(io.BytesIO(content)) as log:
        for member in log.infolist():
            at = member.header_offset
            lengths = content[at + 26 : at + 30]
            at += 30 + int.from_bytes(lengths[:2], "little") + int.from_bytes(lengths[2:], "little")
            packed = content[at : at + member.compress_size]
            if member.filename not in without:
                members.append((member.filename, member.compress_type, member.CRC, packed))
    return members


def text(value):
    """JSON of a value, in which NaN equals itself."""
    return json.dumps(value, sort_keys=True)


def header(path):
    """A log without its samples, results and reductions, as JSON."""
    if path.suffix == ".json":
        content = json.loads(path.read_text())
    else:
        with zipfile.ZipFile(path) as log:
            content = json.loads(log.read("header.json"))
    return text({key: value for key, value in content.items() if key not in ("samples", "results", "reductions")})


def samples(path, without=frozenset()):
    """The samples of a log, but for those of the given ids and epochs: as they lie there, or their JSON."""
    if path.suffix == ".json":
        found = json.loads(path.read_text())["samples"]
        return [text(sample) for sample in found if (sample["id"], sample["epoch"]) not in without]
    names = REWRITTEN | {f"samples/{id}_epoch_{epoch}.json" for id, epoch in without}
    if without:
        # Then the summaries differ, too.
        return [member for member in packed_members(path, names) if member[0].startswith("samples/")]
    return packed_members(path, names)


def wrong_results(path):
    """Problems with the results and reductions in a log, which should be those that the reference computes."""
    from inspect_ai.log._metric import recompute_metrics

    problems = []
    recorded = read(path, problems)
    computed = copy.deepcopy(recorded)
    recompute_metrics(computed)
    ours, theirs = figures(recorded.results), figures(computed.results)
    if list(ours) != list(theirs):
        problems.append(f"figures {list(ours)}, the reference has {list(theirs)}")
    for key in ours.keys() & theirs.keys():
        if not same(ours[key], theirs[key]):
            problems.append(f"{key}: {ours[key]}, the reference computes {theirs[key]}")

    def rest(results):
        # Everything but the figures, which are compared above, and what errorbar adds to them.
        content = json.loads(results.model_dump_json(exclude_none=True))
        for score in content["scores"]:
            score.pop("metadata", None)
            for metric in score["metrics"].values():
                del metric["value"]
                metric.pop("metadata", None)
        return content

    if text(rest(recorded.results)) != text(rest(computed.results)):
        problems.append(f"results {text(rest(recorded.results))}, the reference has {text(rest(computed.results))}")
    return problems + wrong_reductions(recorded.reductions, computed.reductions)


def wrong_reductions(ours, theirs):
    def flat(value):
        return list(value.values()) if isinstance(value, dict) else [value]

    def rows(reductions):
        return [
            ((block.scorer, block.reducer, sample.sample_id), flat(sample.value), sample.model_dump(exclude={"value", "history"}))
            for block in reductions or []
            for sample in block.samples
        ]

    problems = []
    if len(rows(ours)) != len(rows(theirs)):
        problems.append(f"{len(rows(ours))} reduced scores, the reference has {len(rows(theirs))}")
    for (key, value, rest), (their_key, their_value, their_rest) in zip(rows(ours), rows(theirs)):
        equal = key == their_key and text(rest) == text(their_rest) and len(value) == len(their_value)
        if not equal or not all(a == b or same(a, b) for a, b in zip(value, their_value)):
            problems.append(f"reduction {key}: {value} {rest}, the reference has {their_key}: {their_value} {their_rest}")
    return problems[:5]


def changed(before, after, without=frozenset()):
    """Problems where a rewrite changed more than results and reductions, and the samples of these ids and epochs."""
    problems = [] if header(before) == header(after) else ["the header changed beyond its results"]
    if samples(before, without) != samples(after, without):
        problems.append("members, or samples, are not what they were")
    return problems


# ---- checks: what is wrong with one log of the reference after the command


def score_write(binary, original, folder):
    """`score --write`: the right results in place of wrong ones, everything else as it was."""
    path = Path(shutil.copy(original, folder))
    spoil(path)
    before = Path(shutil.copy(path, folder / f"before{path.suffix}"))
    done = run(binary, "score", path, "--write", "--quiet")
    if done.returncode != 0:
        return failure(done)
    return wrong_results(path) + changed(before, path)


def score_output(binary, original, folder):
    """`score -o`: the same in another file; the log itself is not touched."""
    path = Path(shutil.copy(original, folder))
    spoil(path)
    before, out = path.read_bytes(), folder / f"out{path.suffix}"
    done = run(binary, "score", path, "-o", out, "--quiet")
    if done.returncode != 0:
        return failure(done)
    problems = [] if path.read_bytes() == before else ["the log itself was changed"]
    return problems + wrong_results(out) + changed(path, out)


def convert(binary, original, folder):
    """`log convert` to the other format and back: the same log to the reference, each time."""
    formats = [".json", ".eval"] if original.suffix == ".eval" else [".eval", ".json"]
    problems = []
    wanted = read(original, problems)
    path = original
    for suffix in formats:
        converted = folder / f"converted{suffix}"
        done = run(binary, "log", "convert", path, "-o", converted)
        if done.returncode != 0:
            return failure(done)
        path, found = converted, read(converted, problems)
        for field in type(wanted).model_fields.keys() - {"location", "etag"}:
            ours, theirs = (text(json.loads(log.model_dump_json(include={field}))) for log in (found, wanted))
            if ours != theirs:
                at = next((n for n, (a, b) in enumerate(zip(ours, theirs)) if a != b), 0)
                near = slice(max(0, at - 40), at + 60)
                problems.append(f"{suffix}: {field}: …{ours[near]}…, it was …{theirs[near]}…")
    return problems


def edit_score(binary, original, folder):
    """`log edit-score`: each edit is to the reference what its own edit would have been."""
    path = Path(shutil.copy(original, folder))
    theirs = folder / f"theirs{path.suffix}"
    shutil.copy(path, theirs)
    problems = []
    log = read(path, problems)
    sample = next(sample for sample in log.samples if sample.scores)
    scorer = next(iter(sample.scores))
    edited = {(sample.id, sample.epoch)}
    is_map = isinstance(sample.scores[scorer].value, dict)
    values = [{"alpha": 0.5, "alien": "C", "beta": 2}] if is_map else ["I", 0.25, math.nan]
    for number, value in enumerate(values):
        before = Path(shutil.copy(path, folder / f"before{path.suffix}"))
        who = {"author": f"ann {number}", "reason": "looked again: ü"}
        edit_by_reference(theirs, sample, scorer, value, who)
        done = run(
            binary, "log", "edit-score", path, "--sample", sample.id, "--epoch", sample.epoch, "--scorer", scorer,
            "--value", value if isinstance(value, str) else json.dumps(value),
            "--author", who["author"], "--reason", who["reason"], "--quiet",
        )
        if done.returncode != 0:
            return problems + failure(done)
        found, wanted = read(path, problems), read(theirs, problems)
        problems += wrong_edit(found, wanted, sample)
        problems += wrong_results(path)
        problems += changed(before, path, edited)
        if path.suffix == ".eval":
            problems += wrong_summaries(path, edited)
    return problems + refused_edits(binary, path, log, scorer)


def edit_by_reference(path, sample, scorer, value, who):
    from inspect_ai.log import ProvenanceData, edit_score as edit, read_eval_log, write_eval_log
    from inspect_ai.scorer._metric import ScoreEdit

    log = read_eval_log(str(path))
    edit(log, sample.id, scorer, ScoreEdit(value=value, provenance=ProvenanceData(**who)), epoch=sample.epoch)
    write_eval_log(log, str(path))


def find(log, sample):
    return next(s for s in log.samples if (s.id, s.epoch) == (sample.id, sample.epoch))


def wrong_edit(found, wanted, sample):
    """Problems with the edited sample, which should be the reference's own but for times and random ids."""
    problems = []
    now = datetime.now(timezone.utc)

    def content(log):
        dump = json.loads(find(log, sample).model_dump_json())
        edits = [event for event in dump["events"] if event["event"] == "score_edit"]
        for event in edits:
            for key in ("uuid", "timestamp", "working_start"):
                event.pop(key)
        for score in dump["scores"].values():
            edits += [{"edit": edit} for edit in score["history"]]
        for edit in edits:
            if edit["edit"]["provenance"]:
                edit["edit"]["provenance"].pop("timestamp")
        return dump

    ours, theirs = content(found), content(wanted)
    for key in theirs:
        if text(ours[key]) != text(theirs[key]):
            problems.append(f"sample {sample.id}: {key}: {text(ours[key])[-700:]}, the reference has {text(theirs[key])[-700:]}")
    for name, score in find(found, sample).scores.items():
        for edit in score.history:
            if edit.provenance and abs((now - edit.provenance.timestamp).total_seconds()) > 600:
                problems.append(f"{name}: the edit is of {edit.provenance.timestamp}, it is {now}")
    return problems


def wrong_summaries(path, edited):
    """Problems with the summaries of edited samples."""
    problems = []
    with zipfile.ZipFile(path) as log:
        summaries = {(s["id"], s["epoch"]): s for s in json.loads(log.read("summaries.json"))}
        for id, epoch in edited:
            sample = json.loads(log.read(f"samples/{id}_epoch_{epoch}.json"))
            for name, score in sample["scores"].items():
                summary = summaries[id, epoch]["scores"].get(name, {})
                if text(summary.get("value")) != text(score["value"]) or summary.get("history"):
                    problems.append(f"the summary of {name} is {summary}")
    return problems


def refused_edits(binary, path, log, scorer):
    """Problems with edits that cannot be made: they must fail and not change the log."""
    who = ["--author", "ann", "--reason", "none", "--value", "C"]
    first = log.samples[0]
    edits = {
        "a sample that is not there": ["--sample", "nobody", "--scorer", scorer],
        # The reference would add a score here.
        "a score that is not there": ["--sample", first.id, "--epoch", first.epoch, "--scorer", "nobody"],
    }
    if log.eval.config.epochs > 1:
        edits["a sample of several epochs"] = ["--sample", first.id, "--scorer", scorer]
    problems, before = [], path.read_bytes()
    for name, arguments in edits.items():
        if run(binary, "log", "edit-score", path, *arguments, *who).returncode == 0:
            problems.append(f"{name} was edited")
    return problems + ([] if path.read_bytes() == before else ["a refused edit changed the log"])


CHECKS = [
    Check("score --write", score_write),
    Check("score -o", score_output),
    Check("log convert", convert),
    Check("log edit-score", edit_score),
]


def attempt(check, binary, path, folder):
    try:
        return check.problems(binary, path, folder)
    except Exception as error:  # a log that the reference cannot read is a problem like any other
        return [f"{type(error).__name__}: {str(error)[:300]}"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("binary", type=Path)
    parser.add_argument("checks", nargs="*", choices=[[], *(check.name for check in CHECKS)], help="by name [default: all]")
    args = parser.parse_args()
    wanted = [check for check in CHECKS if check.name in args.checks or not args.checks]
    failed = done = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        logs = reference_logs(folder)
        warnings.simplefilter("error")
        logging.getLogger().addHandler(WARNED)
        for check in wanted:
            for log, path in logs.items():
                scratch = Path(tempfile.mkdtemp(dir=folder))
                problems = attempt(check, str(args.binary.resolve()), path, scratch)
                print(f"{'FAILED' if problems else 'ok':6} {check.name}: {log}")
                for problem in problems:
                    print(f"       {problem[:1000]}")
                failed += bool(problems)
                done += 1
    print(f"{done - failed} rewritten logs are as the reference would have them, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
