"""Inputs that are no files: devices and pipes that never end."""

from __future__ import annotations

import os
import threading
from contextlib import contextmanager
from pathlib import Path
from typing import Iterator

from case import Cases
from commands import LOG, TABLE, Command

CASES = Cases("special")
FED = {
    "fifo.csv": b"id,score\n" + b"q,1\n" * 10_000,
    "fifo_line.csv": b"id,score\n" + b"x" * 65_536,
    "fifo.jsonl": b'{"id": 1, "score": 1}\n' * 10_000,
    "fifo.json": b'{"version": 2, "samples": [' + b"{}," * 10_000,
    "fifo.eval": b"PK\x03\x04" * 10_000,
    "fifo.parquet": b"PAR1" * 10_000,
}
DEVICES = ["zero.csv", "zero.tsv", "zero.jsonl", "zero.json", "zero.eval", "zero.parquet"]


def _nothing(path: Path) -> None:
    pass


for _name in FED:
    CASES.case(_name, "a pipe that is fed forever")(_nothing)
for _name in DEVICES:
    CASES.case(_name, "a link to /dev/zero")(_nothing)


def jobs() -> list[tuple]:
    found = []
    for case in CASES.all:
        is_log = case.name.endswith((".eval", ".json"))
        chosen: list[Command] = LOG[:3] + [c for c in LOG if c.label in ("verify F", "log dump F")] if is_log else TABLE[:2]
        found += [(case, Path(case.name), command) for command in chosen]
    return found


@contextmanager
def input_of(case, path: Path, work: Path) -> Iterator[Path]:
    """The file of a case; for a special one it is made, and a pipe is fed as long as it is needed."""
    if case.kind != "special":
        yield path
        return
    file = work / case.name
    if case.name in DEVICES:
        file.symlink_to("/dev/zero")
        yield file
        return
    os.mkfifo(file)
    stop = threading.Event()
    feeder = threading.Thread(target=_feed, args=(file, FED[case.name], stop), daemon=True)
    feeder.start()
    try:
        yield file
    finally:
        stop.set()
        feeder.join(10)


def _feed(file: Path, data: bytes, stop: threading.Event) -> None:
    """Feeds whoever opens the pipe, several times if need be."""
    while not stop.wait(0.005):
        try:
            pipe = os.open(file, os.O_WRONLY | os.O_NONBLOCK)
        except OSError:
            continue  # not opened for reading yet
        os.set_blocking(pipe, True)
        try:
            while not stop.is_set():
                os.write(pipe, data)
        except OSError:
            pass  # the reader has ended
        finally:
            os.close(pipe)
