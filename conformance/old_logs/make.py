#!/usr/bin/env python3
"""Eval logs as an installed version of the reference writes them, of every shape that versions record differently.

    python3 -m venv /tmp/old && /tmp/old/bin/pip install inspect_ai==0.3.100
    /tmp/old/bin/python conformance/old_logs/make.py /tmp/logs/0.3.100             # every case
    /tmp/old/bin/python conformance/old_logs/make.py /tmp/logs/0.3.100 plain epochs  # these

Works with versions from 0.3.40 on; README.md has those that were tried, with the pins that some of them need.
Nothing is requested from the network: answers are a function of the sample and the epoch. A case that a version cannot
run (it has no such metric, or its scoring fails) is reported and skipped.
"""

import inspect
import json
import shutil
import sys
import tempfile
import warnings
from importlib.metadata import version
from pathlib import Path

warnings.filterwarnings("ignore")

from inspect_ai import Epochs, Task, eval, score  # noqa: E402
from inspect_ai import scorer as scorers  # noqa: E402
from inspect_ai.dataset import MemoryDataset, Sample  # noqa: E402
from inspect_ai.log import read_eval_log, write_eval_log  # noqa: E402
from inspect_ai.scorer import Score, accuracy, includes, match, mean, metric, scorer, std  # noqa: E402
from inspect_ai.solver import solver  # noqa: E402

SAMPLES = 10
# The first versions know one form of logs.
HAS_FORMATS = "log_format" in inspect.signature(eval).parameters


def draw(sample_id, epoch, modulus):
    """A small number that looks random and is the same for every version."""
    state = sum(ord(letter) for letter in str(sample_id)) * 7919 + epoch * 104729
    for _ in range(3):
        state = (state * 48271 + 11) % 2147483647
    return state // 64 % modulus


@solver
def answers():
    async def solve(state, generate):
        is_right = draw(state.sample_id, state.epoch, 5) < 3
        state.output.completion = f"target {state.input_text.rstrip('?')}" if is_right else "no idea"
        return state

    return solve


@solver
def failing():
    """Answers, but every fifth sample fails."""
    right = answers()

    async def solve(state, generate):
        if draw(state.sample_id, 1, 5) == 4:
            raise ValueError("no such sample")
        return await right(state, generate)

    return solve


def dataset(**extra):
    samples = [
        Sample(input=f"{n}?", target=f"target {n}", id=f"q{n}" if n % 2 else n + 1, metadata={"topic": f"t{n % 3}"})
        for n in range(SAMPLES)
    ]
    return MemoryDataset(samples, name="made", **extra)


@scorer(metrics=[mean(), std()])
def length():
    async def score(state, target):
        return Score(value=draw(state.sample_id, state.epoch, 97) / 10, explanation="the length")

    return score


@scorer(metrics=[accuracy()])
def grade():
    """All grades there are."""

    async def score(state, target):
        return Score(value="CIPN"[draw(state.sample_id, state.epoch, 4)])

    return score


@scorer(metrics=[accuracy(scorers.value_to_float(correct="I", incorrect="C"))])
def swapped():
    """Grades with another meaning; a log has only the name of the conversion."""
    return grade()


@scorer(metrics={"good": [mean()], "bad": [mean(), std()]})
def by_key():
    return parts()


@scorer(metrics=[{"good": [mean()], "bad": [std()]}, accuracy()])
def mixed():
    return parts()


@scorer(metrics={"*": [mean(), std()]})
def every_key():
    return parts()


@scorer(metrics=[mean()])
def parts_by_list():
    return parts()


def parts():
    async def score(state, target):
        good = draw(state.sample_id, state.epoch, 7)
        return Score(value={"good": good, "bad": good / 2 + draw(state.sample_id, state.epoch, 3)})

    return score


@scorer(metrics=[mean()])
def sometimes():
    """Not a number for some samples."""

    async def score(state, target):
        value = draw(state.sample_id, state.epoch, 4)
        return Score(value=float("nan") if value == 0 else value)

    return score


@metric
def largest():
    """A metric that only its author knows."""

    def compute(scores):
        return max(as_score(one).as_float() for one in scores)

    return compute


@metric
def ends(margin: float = 0.5):
    """A metric of several numbers that only its author knows."""

    def compute(scores):
        values = [as_score(one).as_float() for one in scores]
        return {"first": min(values) - margin, "last": max(values) + margin}

    return compute


def as_score(one):
    """Metrics were passed scores, and are passed samples with their scores since 0.3.6x."""
    return getattr(one, "score", one)


def shadow():
    """A metric with the name of a built-in one, and another value."""

    @metric(name="std")
    def std_of_two():
        return lambda scores: 2.0 * len(scores)

    return std_of_two()


@scorers.score_reducer(name="last")
def last():
    """A reducer that only its author knows."""
    return lambda scores: scores[-1]


@scorer(metrics=[mean(), largest()])
def with_custom():
    return length()


@scorer(metrics=[largest(), ends()])
def only_custom():
    return length()


def halved(value):
    """A conversion that only its author knows."""
    return 0.5 if value == "C" else 0.125


class Stopping:
    """Keeps some samples from being run, as a manager of early stopping does."""

    async def start_task(self, task, samples, epochs):
        return "made"

    async def schedule_sample(self, id, epoch):
        from inspect_ai.util import EarlyStop

        return EarlyStop(id=id, epoch=epoch, reason="enough") if draw(id, epoch, 3) == 0 else None

    async def complete_sample(self, id, epoch, scores):
        pass

    async def complete_task(self):
        return {}


def wide():
    return own("wide", mean())


def own(name, *metrics):
    """A scorer like `length` with these metrics, which its version has to have."""

    def build():
        return length()

    build.__name__ = name
    return scorer(metrics=list(metrics))(build)()


def has(name):
    """A metric that not every version has."""
    found = getattr(scorers, name, None)
    if found is None:
        raise NotImplementedError(f"no {name}")
    return found


class Maker:
    def __init__(self, folder, only):
        self.folder = folder
        self.only = only
        self.made = []
        self.skipped = []

    def run(self, name, task, *formats, status="success", **options):
        """Runs a task, once in every format; the paths of the logs."""
        paths = []
        if self.only and name not in self.only:
            return paths
        if any(path.stem == name for path in self.made):
            raise ValueError(f"two cases have the name {name}")
        for form in (formats or ("eval",)) if HAS_FORMATS else ("json",):
            path = self.folder / f"{name}.{form}"
            try:
                with tempfile.TemporaryDirectory() as logs:
                    made = evaluate(task(), logs, form, **options)
                    shutil.move(next(Path(logs).glob(f"*.{form}")), path)
                if made.status != status:
                    raise RuntimeError(str(made.error and made.error.message))
            except Exception as error:
                path.unlink(missing_ok=True)
                self.skip(path.name, error)
                continue
            self.made.append(path)
            paths.append(path)
        return paths

    def rescore(self, name, path, with_scorer, **options):
        """Scores a log another time and writes it under another name."""
        if self.only and name not in self.only:
            return
        target = self.folder / f"{name}{path.suffix}"
        try:
            done = score(read_eval_log(str(path)), with_scorer, **known(score, **options))
            write_eval_log(done, str(target))
        except Exception as error:
            self.skip(target.name, error)
            return
        self.made.append(target)

    def skip(self, name, error):
        text = str(error).splitlines()[0] if str(error) else ""
        self.skipped.append(f"{name}: {type(error).__name__}: {text}")


def known(function, **options):
    """The options that this version has; an option that matters and that it has not fails."""
    has_option = inspect.signature(function).parameters
    unknown = [option for option in options if option not in has_option and option not in ("display", "log_realtime")]
    if unknown:
        raise NotImplementedError(f"no {', '.join(unknown)}")
    return {option: value for option, value in options.items() if option in has_option}


def evaluate(task, logs, form, **options):
    options = {"model": "mockllm/model", "log_dir": logs, "log_format": form, "display": "none", **options}
    options = {**options, "log_realtime": False}
    if not HAS_FORMATS:
        del options["log_format"]
    (made,) = eval(task, **known(eval, **options))
    return made


def task(*with_scorers, **options):
    """What builds a task, anew for every run."""
    solving = options.pop("solver", answers)
    data = options.pop("dataset", dataset)
    return lambda: Task(dataset=data(), solver=solving(), scorer=[one() for one in with_scorers], **{
        name: value() if callable(value) else value for name, value in options.items()
    })


def make(maker):
    both = ("eval", "json")
    (plain, *_) = maker.run("plain", task(match), *both) or [None]
    maker.run("grades", task(grade), *both)
    epochs = maker.run("epochs", task(match), *both, epochs=3)
    maker.run("epochs_length", task(length), *both, epochs=2)
    for reducer in ("mean", "max", "median", "mode", "at_least_2", "pass_at_2"):
        maker.run(f"reducer_{reducer}", task(match), epochs=Epochs(3, reducer))
    several = maker.run("reducers", task(match), *both, epochs=Epochs(3, ["mean", "max"]))
    maker.run("reducers_of_one", task(length), epochs=Epochs(1, ["mode", "median"]))
    maker.run("reducers_length", task(length), epochs=Epochs(3, ["median", "max", "mode"]))
    maker.run("no_reduction", task(match), epochs=Epochs(3, []))

    of_task = lambda: [mean(), std(), scorers.var()] if hasattr(scorers, "var") else [mean(), std()]
    maker.run("task_metrics", task(match, metrics=of_task), *both)
    maker.run("task_metrics_epochs", task(match, metrics=of_task), epochs=3)
    maker.run("task_metrics_two", task(match, length, metrics=of_task), *both)
    maker.run("task_metrics_reducers", task(length, wide, metrics=of_task), epochs=Epochs(2, ["max", "mean"]))
    maker.run("task_metrics_custom", task(length, metrics=lambda: [mean(), largest()]))
    maker.run("task_metrics_map", task(by_key, metrics=lambda: {"good": [std()], "bad": [mean()]}), *both)

    maker.run("two", task(match, length), *both)
    maker.run("two_epochs", task(match, length), *both, epochs=2)
    maker.run("two_reducers", task(match, length), epochs=Epochs(2, ["max", "median"]))
    maker.run("three_epochs", task(match, length, grade), epochs=2)
    maker.run("same_name", task(match, match))
    maker.run("two_with_map", task(match, by_key), *both, epochs=2)

    maker.run("map", task(by_key), *both)
    maker.run("map_epochs", task(by_key), epochs=2)
    maker.run("map_reducers", task(by_key), *both, epochs=Epochs(2, ["max", "mean"]))
    maker.run("map_mixed", task(mixed))
    maker.run("map_glob", task(every_key), *both)
    maker.run("map_by_list", task(parts_by_list))

    maker.run("bootstrap", task(lambda: own("drawn", mean(), has("bootstrap_stderr")())), *both)
    maker.run("bootstrap_old", task(lambda: own("drawn", mean(), has("bootstrap_std")())), *both)
    maker.run("spreads", task(lambda: own("spreads", std(), has("var")(), has("stderr")())))
    maker.run("cluster", task(lambda: own("clustered", mean(), has("stderr")(cluster="topic"))), *both)
    maker.run("cluster_epochs", task(lambda: own("clustered", mean(), has("stderr")(cluster="topic"))), epochs=2)
    grouped = lambda: own("by_topic", has("grouped")(mean(), "topic"), has("grouped")(std(), "topic", all=False))
    maker.run("grouped", task(grouped), *both)
    maker.run("grouped_epochs", task(grouped), epochs=Epochs(2, "max"))
    over_groups = lambda: own("over_groups", has("grouped")(mean(), "topic", all="groups"))
    maker.run("grouped_all_groups", task(over_groups))
    maker.run("interval", task(lambda: own("intervals", mean(), has("ci")())))
    # The mean converts before the metric does; the mode keeps grades as they are.
    maker.run("conversion", task(swapped), epochs=Epochs(2, "mode"))

    by_author = lambda: [mean(), accuracy(to_float=halved), has("grouped")(accuracy(to_float=halved), "topic")]
    maker.run("conversion_by_name", task(lambda: own("halves", *by_author())), epochs=Epochs(2, ["mode", "max"]))
    of_groups = lambda: has("grouped")(mean(), "topic", all="groups", value_to_float=halved)
    maker.run("conversion_of_groups", task(lambda: own("by_topic", of_groups(), mean())))
    template = lambda: has("grouped")(mean(), "topic", name_template="{group_name:>6}")
    maker.run("name_template", task(lambda: own("named", template(), has("grouped")(std(), "topic"), mean())))

    maker.run("early_stopping", task(match, early_stopping=Stopping), *both, epochs=3)
    maker.run("early_stopping_failed", task(match, solver=failing, early_stopping=Stopping), epochs=3, fail_on_error=False)
    maker.run("custom_same_name", task(with_custom, match, with_custom), epochs=2)

    maker.run("custom", task(with_custom), *both)
    maker.run("custom_epochs", task(with_custom), epochs=Epochs(2, ["max", "mean"]))
    maker.run("custom_only", task(only_custom), *both)
    maker.run("custom_beside", task(match, with_custom))

    maker.run("custom_shadows", task(lambda: own("shadowed", mean(), shadow())))
    maker.run("custom_shadows_first", task(lambda: own("shadowed", shadow(), std())))
    maker.run("custom_reducer", task(length), epochs=Epochs(2, [last(), "max"]))
    maker.run("several_graders", task(lambda: scorers.multi_scorer([match(), includes()], "mode")))

    maker.run("not_a_number", task(sometimes))
    maker.run("not_a_number_epochs", task(sometimes), epochs=2)
    maker.run("failed_samples", task(match, solver=failing), *both, fail_on_error=False)
    maker.run("failed_samples_epochs", task(match, length, solver=failing), epochs=2, fail_on_error=False)

    maker.run("failed_run", task(match, solver=failing), *both, status="error")

    maker.run("without_samples", task(match), *both, log_samples=False)
    maker.run("without_samples_reducers", task(match, length), epochs=Epochs(2, ["max"]), log_samples=False)
    maker.run("without_scores", task(match), *both, score=False)

    for path in epochs:
        maker.rescore("appended", path, includes(), action="append", epochs_reducer="max")
        maker.rescore("overwritten", path, includes(), action="overwrite", epochs_reducer="max")
    for path in several[:1]:
        maker.rescore("appended_mode", path, length(), action="append", epochs_reducer="mode")
        maker.rescore("appended_plain", path, grade(), action="append")
    # Every reducer before, and every one after it.
    reducers = {"none": None, "no": [], "mean": "mean", "mode": "mode", "both": ["mean", "mode"]}
    for before, old in reducers.items():
        for path in maker.run(f"epochs_{before}", task(match), epochs=3 if old is None else Epochs(3, old)):
            for after, new in reducers.items():
                for action in ("append", "overwrite"):
                    name = f"{before}_{action}_{after}"
                    maker.rescore(name, path, includes(), action=action, epochs_reducer=new)
    if plain:
        maker.rescore("rescored", plain, includes())
        maker.rescore("appended_one_epoch", plain, length(), action="append")
        maker.rescore("appended_custom", plain, with_custom(), action="append")


def main():
    folder, only = Path(sys.argv[1]), sys.argv[2:]
    folder.mkdir(parents=True, exist_ok=True)
    maker = Maker(folder, only)
    make(maker)
    summary = {"version": version("inspect_ai"), "made": len(maker.made), "skipped": maker.skipped}
    print(json.dumps(summary, indent=1))


if __name__ == "__main__":
    main()
