"""Which commands take which kind of file."""

from __future__ import annotations

import os
import shlex
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

from case import Case


@dataclass(frozen=True)
class Command:
    """A command line on a case. `arguments` gets the file and an empty folder to work in."""

    label: str
    arguments: Callable[[Case, Path, Path], list[str]]
    negative: bool = False
    """Whether exit code 1 with something on standard output is an answer, as that of `verify`."""


def on(*arguments: str, negative: bool = False) -> Command:
    """A command that reads the file: F stands for it."""
    of = lambda case, file, work: [str(file) if word == "F" else word for word in arguments]  # noqa: E731
    return Command(" ".join(arguments), of, negative)


def on_copy(*arguments: str, negative: bool = False) -> Command:
    """A command that writes to the file: F stands for a copy of it. $NAME is an option of the case."""

    def of(case: Case, file: Path, work: Path) -> list[str]:
        copy = work / file.name
        shutil.copyfile(file, copy)
        words = {"F": str(copy), "$SAMPLE": case.options.get("sample", "1"), "$SCORER": case.options.get("scorer", "match")}
        return [words.get(word, word) for word in arguments]

    return Command(" ".join(arguments[:3]), of, negative)


TASK_OF_LOGS = 'name = "t"\ndataset = "questions.csv"\nscorer = "match()"\nmodel = "mock/x"\n'
"""The task that the logs of the set record, so that they can be resumed."""


def _resume(case: Case, file: Path, work: Path) -> list[str]:
    (work / "task.toml").write_text(TASK_OF_LOGS)
    (work / "questions.csv").write_text("id,input,target\n" + "".join(f"{id},?,!\n" for id in range(1, 13)))
    copy = work / file.name
    shutil.copyfile(file, copy)
    return ["eval", "task.toml", "--resume", str(copy)]


def _folder_with_only(case: Case, file: Path, work: Path) -> list[str]:
    folder = work / "only"
    folder.mkdir()
    try:
        os.link(file, folder / file.name)
    except OSError:
        shutil.copyfile(file, folder / file.name)
    return ["log", "list", str(folder)]


def _score_to_copy(case: Case, file: Path, work: Path) -> list[str]:
    return ["score", str(file), "-o", str(work / f"new{file.suffix}")]


def _dump_sample(case: Case, file: Path, work: Path) -> list[str]:
    return ["log", "dump", str(file), "--sample", case.options.get("sample", "1")]


LOG = [
    on("score", "F"),
    on("score", "F", "--strict"),
    on("score", "F", "--skip-bad-samples"),
    on("score", "F", "-m", 'grouped(accuracy(), "category")'),
    on("score", "F", "-m", "frequency()", "--no-reduce"),
    on("score", "F", "--format", "json"),
    on("score", "F", "--format", "csv"),
    on("plot", "estimates", "F"),
    on("plot", "distribution", "F"),
    on("plot", "confusion", "F"),
    Command("score F -o NEW", _score_to_copy),
    on_copy("score", "F", "--write"),
    on("verify", "F", negative=True),
    Command("log list FOLDER", _folder_with_only),
    on("log", "list", "F", "--format", "json"),
    on("log", "dump", "F"),
    on("log", "dump", "F", "--samples"),
    on("log", "dump", "F", "--raw"),
    Command("log dump F --sample ID", _dump_sample),
    on("log", "show", "F", "--wrong", "--messages"),
    on("log", "show", "F", "--full", "--limit", "3"),
    on("log", "export", "F", "-o", "x.csv"),
    on("log", "export", "F", "-o", "x.jsonl"),
    on("log", "export", "F", "-o", "x.parquet"),
    on("log", "convert", "F", "-o", "y.json"),
    on("log", "convert", "F", "-o", "y.eval"),
    on_copy("log", "edit-score", "F", "--sample", "$SAMPLE", "--epoch", "1", "--scorer", "$SCORER", "--value", "I", "--author", "a", "--reason", "r"),
    Command("eval --resume F", _resume),
]  # fmt: skip

TABLE = [
    on("score", "F"),
    on("score", "F", "-m", 'stderr(cluster="category")'),
    on("score", "F", "-m", 'grouped(mean(), "category")'),
    on("score", "F", "--reducer", "pass_at_2"),
    on("score", "F", "--format", "csv"),
    on("plot", "estimates", "F"),
    on("plot", "distribution", "F"),
    on("plot", "confusion", "F"),
    on("score", "F", "--score-column", "score"),
    on("score", "F", "--score-column", "x1"),
]


def _figures(*more: str) -> Callable[[Case, Path, Path], list[str]]:
    """The command with the arguments that the case names."""

    def of(case: Case, file: Path, work: Path) -> list[str]:
        words = shlex.split(case.options["arguments"])
        if words[0] == "COVERAGE":
            return ["coverage", str(file), *words[1:]]
        if words[0] == "REPORT":
            return ["report", str(file), *words[1:], "-o", str(work / "page.html")]
        return ["score", str(file), *words, *more]

    return of


# A metric that fails has an error, and the others are shown.
FIGURES = [
    Command("score F ARGUMENTS", _figures(), negative=True),
    Command("score F ARGUMENTS --format csv", _figures("--format", "csv"), negative=True),
]


def _eval(*more: str) -> Callable[[Case, Path, Path], list[str]]:
    def of(case: Case, folder: Path, work: Path) -> list[str]:
        words = {"REPLAY": f"replay/{folder / 'outputs.jsonl'}", "PRICES": str(folder / case.options.get("prices", ""))}
        task = str(folder / "task.toml")
        return ["eval", task, "--log-dir", str(work / "logs"), *(words.get(word, word) for word in more)]

    return of


DATASET = [
    Command("eval TASK --model mock/x", _eval("--model", "mock/x"), negative=True),
    Command("eval TASK --limit 1 --epochs 2", _eval("--model", "mock/x", "--limit", "1", "--epochs", "2"), negative=True),
]  # fmt: skip
REPLAY = [Command("eval TASK --model replay/FILE", _eval("--model", "REPLAY"), negative=True)]
PRICES = [Command("eval TASK --prices FILE", _eval("--model", "mock/x", "--prices", "PRICES"), negative=True)]
TASK = [*DATASET[:1], Command("eval TASK --epochs 3", _eval("--model", "mock/x", "--epochs", "3"), negative=True)]

OF_KIND = {"log": LOG, "table": TABLE, "figures": FIGURES, "dataset": DATASET, "replay": REPLAY, "prices": PRICES, "task": TASK}
