#!/usr/bin/env python3
"""Runs every command on every file of the hostile set, and against every hostile server:
`run.py BINARY FOLDER [--only NAME…]`. See README.md."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from fnmatch import fnmatch
from pathlib import Path

import every
import server_runs
import special
from case import Case
from commands import OF_KIND, Command
from make import is_chosen
from servers import SERVERS
from verdicts import PASSED, Bounds, environment, judge
from watch import run


@dataclass(frozen=True)
class Outcome:
    """A line of the report."""

    case: str
    command: str
    verdict: str
    seconds: float
    megabytes: float
    text: str

    def line(self) -> str:
        return f"{self.verdict:8} {self.seconds:6.2f} s {self.megabytes:7.0f} MB  {self.case}  {self.command}  {self.text}"


def main() -> int:
    arguments = parse_arguments()
    bounds = Bounds(arguments.seconds, arguments.megabytes, arguments.kill_factor)
    binary = str(arguments.binary.resolve())
    jobs = [job for job in file_jobs(arguments.folder.resolve()) if is_chosen(job[0], arguments.only)]
    jobs = [job for job in jobs if not arguments.command or fnmatch(job[2].label, arguments.command)]
    servers = [case for case in SERVERS if is_chosen(case, arguments.only) and not arguments.command]
    if not jobs and not servers:
        print("error: no case has such a name, or the folder holds none (run make.py first)", file=sys.stderr)
        return 2
    outcomes: list[Outcome] = []
    lock = threading.Lock()

    def report(outcome: Outcome) -> None:
        with lock:
            outcomes.append(outcome)
            if arguments.verbose or outcome.verdict not in PASSED:
                print(outcome.line(), flush=True)

    with ThreadPoolExecutor(arguments.jobs) as pool:
        for _ in pool.map(lambda job: report(judge_file(binary, *job, bounds)), jobs):
            pass
        for results in pool.map(lambda case: server_runs.judge(binary, case, bounds), servers):
            for result in results:
                report(Outcome(*result))
    return conclude(outcomes)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Runs every command on every hostile file.")
    parser.add_argument("binary", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--megabytes", type=float, default=500)
    parser.add_argument("--kill-factor", type=float, default=10, help="kill at this many times the seconds")
    parser.add_argument("--only", nargs="*", metavar="NAME", help="only these cases or kinds; * stands for anything")
    parser.add_argument("--command", metavar="PATTERN", help="only this command, such as 'log dump*'; no servers")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--verbose", action="store_true", help="show what passed as it comes, too")
    return parser.parse_args()


def file_jobs(folder: Path) -> list[tuple[Case, Path, Command]]:
    """Every command on every file that is there, and on what is no file."""
    jobs = []
    for case in every.CASES:
        path = every.path_of(case, folder)
        if path.exists():
            jobs += [(case, path, command) for command in OF_KIND[case.kind]]
    return jobs + special.jobs()


def judge_file(binary: str, case: Case, path: Path, command: Command, bounds: Bounds) -> Outcome:
    if "seconds" in case.options:
        bounds = replace(bounds, seconds=float(case.options["seconds"]), kill_factor=1)
    if "megabytes" in case.options:
        bounds = replace(bounds, megabytes=float(case.options["megabytes"]))
    outcome = judge_once(binary, case, path, command, bounds)
    # The machine is noisy: what was a little too slow gets another chance.
    if outcome.verdict == "slow" and outcome.seconds < 3 * bounds.seconds:
        again = judge_once(binary, case, path, command, bounds)
        outcome = again if again.seconds < outcome.seconds else outcome
    return outcome


def judge_once(binary: str, case: Case, path: Path, command: Command, bounds: Bounds) -> Outcome:
    work = Path(tempfile.mkdtemp(prefix="hostile-"))
    try:
        with special.input_of(case, path, work) as file:
            line = [binary, *command.arguments(case, file, work)]
            done = run(line, work, bounds.seconds * bounds.kill_factor, environment(work))
        # A folder without a log is named as such; a run that went wrong names its log.
        names = [file.name, str(work / "only"), *([*os.listdir(path), str(work / "logs")] if path.is_dir() else [])]
        verdict, text = judge(done, bounds, names, command.negative)
        return Outcome(case.name, command.label, verdict, done.seconds, done.megabytes, text)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def conclude(outcomes: list[Outcome]) -> int:
    failed = [outcome for outcome in outcomes if outcome.verdict not in PASSED]
    print()
    for outcome in sorted(failed, key=lambda outcome: (outcome.case, outcome.command)):
        print(outcome.line())
    print(f"{len(outcomes) - len(failed)} passed, {len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
