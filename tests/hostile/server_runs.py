"""Evaluations against hostile servers: bounded, and nowhere the key."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import verdicts
from servers import KEY, Server
from verdicts import Bounds
from watch import Run, run

SECONDS = 30
"""For a run, where waiting is inherent: timeouts, retries."""
TASK = 'scorer = "includes()"\n[dataset]\npath = "data.csv"\n'

Row = tuple[str, str, str, float, float, str]


def judge(binary: str, case: Server, bounds: Bounds) -> list[Row]:
    """The run, then what reads its log, then the search for the key."""
    work = Path(tempfile.mkdtemp(prefix="hostile-"))
    serving = subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name("servers.py")), case.name],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    try:
        port = serving.stdout.readline().strip()
        return list(_judge(binary, case, bounds, work, port))
    finally:
        serving.kill()
        serving.wait()
        shutil.rmtree(work, ignore_errors=True)


def _judge(binary: str, case: Server, bounds: Bounds, work: Path, port: str):
    (work / "task.toml").write_text(TASK)
    (work / "data.csv").write_text("id,input,target\n1,q,t\n2,q,t\n3,q,t\n")
    name = f"server:{case.name}"
    options = {"--timeout": "1", "--max-retries": "1", "--retry-wait": "0.1"}
    given = " ".join(case.options)
    line = [binary, "eval", "task.toml", "--model", "openai/x", "--base-url", f"http://127.0.0.1:{port}/v1"]
    line += [word for option in options if option not in given for word in (option, options[option])]
    line += ["--log-dir", "logs", "--cache-dir", "cache", *case.options]
    done = _run(line, work, "eval", SECONDS)
    longer = Bounds(SECONDS, bounds.megabytes, 1)
    verdict, text = verdicts.judge(done, longer, [port, "task.toml", "openai/x", "logs/"], negative=True)
    if case.is_read and done.code != 0:
        verdict, text = "refused a good answer", done.error_text()[:200]
    yield name, "eval", verdict, done.seconds, done.megabytes, text
    for log in sorted((work / "logs").glob("*.eval")) if (work / "logs").is_dir() else []:
        is_good = case.is_read or done.code == 0
        yield from _judge_log(binary, is_good, bounds, work, name, str(log))
    leak = _where_is_key(work)
    yield name, "the key is nowhere", "key" if leak else "ok", 0.0, 0.0, leak


def _judge_log(binary: str, is_good: bool, bounds: Bounds, work: Path, name: str, log: str):
    commands = {
        "score": ["score", log], "verify": ["verify", log], "dump": ["log", "dump", log],
        "samples": ["log", "dump", log, "--samples"], "convert": ["log", "convert", log, "-o", "converted.json"],
    }  # fmt: skip
    for label, words in commands.items():
        done = _run([binary, *words], work, label, bounds.seconds * bounds.kill_factor)
        if bounds.seconds < done.seconds < 3 * bounds.seconds:
            Path(work / "converted.json").unlink(missing_ok=True)
            done = _run([binary, *words], work, label, bounds.seconds * bounds.kill_factor)
        verdict, text = verdicts.judge(done, bounds, [os.path.basename(log)], negative=label == "verify")
        # What we write, we read; but a run without a score has nothing to compute.
        if verdict == "refused" and (is_good or label != "score"):
            verdict = "unread"
        yield name, f"{label} of its log", verdict, done.seconds, done.megabytes, text


def _run(line: list[str], work: Path, label: str, kill_after: float) -> Run:
    env = {**verdicts.environment(work), "OPENAI_API_KEY": KEY}
    done = run(line, work, kill_after, env)
    # The next command has the same names for its output.
    done.stdout = done.stdout.rename(work / f"{label}.stdout")
    done.stderr = done.stderr.rename(work / f"{label}.stderr")
    return done


def _where_is_key(work: Path) -> str:
    """Where the key is, plain or escaped as JSON. The log is searched in its dumps and its conversion."""
    for path in sorted(path for path in work.rglob("*") if path.is_file()):
        with open(path, "rb") as file:
            # In pieces that overlap: what is held here counts as memory of the commands that are started.
            while piece := file.read(4_000_000):
                if KEY.encode() in piece or KEY in _unescaped(piece.decode(errors="replace")):
                    return str(path.relative_to(work))
                if len(piece) == 4_000_000:
                    file.seek(-1000, os.SEEK_CUR)
    return ""


def _unescaped(text: str) -> str:
    text = re.sub(r"\\+u00([0-7][0-9a-fA-F])", lambda found: chr(int(found[1], 16)), text)
    return re.sub(r"\\+/", "/", text)
