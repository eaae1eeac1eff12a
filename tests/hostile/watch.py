"""Runs a command as a child process and measures it: seconds, peak memory, output."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

MAX_RSS = 3_000_000_000
"""The child is killed here, so that the machine survives."""
MAX_OUTPUT = 400_000_000


@dataclass
class Run:
    """What became of a command."""

    seconds: float
    megabytes: float
    code: int
    """The exit code; negative if a signal ended it."""
    killed: str | None
    """Why the watchdog ended it."""
    stdout: Path
    stderr: Path

    def error_text(self) -> str:
        """The beginning and the end of standard error; there may be megabytes of warnings in between."""
        with open(self.stderr, "rb") as file:
            text = file.read(2_000_000)
            file.seek(max(len(text), os.fstat(file.fileno()).st_size - 2_000_000))
            return (text + file.read()).decode(errors="replace")


def run(command: list[str], folder: Path, kill_after: float, env: dict[str, str]) -> Run:
    """Runs a command in a folder, with standard input closed."""
    stdout, stderr = folder / "stdout", folder / "stderr"
    with open(stdout, "wb") as out, open(stderr, "wb") as err:
        begun = time.monotonic()
        child = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=out, stderr=err, env=env)
    killed = None
    peak = 0
    while True:
        pid, status, usage = os.wait4(child.pid, os.WNOHANG)
        seconds = time.monotonic() - begun
        if pid:
            break
        if killed is None:
            rss = rss_of(child.pid)
            peak = max(peak, rss)
            killed = reason_to_kill(seconds > kill_after, rss, [stdout, stderr])
            if killed:
                os.kill(child.pid, signal.SIGKILL)
        time.sleep(0.002 if seconds < 0.1 else 0.02)
    child.returncode = os.waitstatus_to_exitcode(status)
    megabytes = max(usage.ru_maxrss * 1024, peak) / 1e6
    return Run(seconds, megabytes, child.returncode, killed, stdout, stderr)


def reason_to_kill(is_late: bool, rss: int, outputs: list[Path]) -> str | None:
    if rss > MAX_RSS:
        return "memory"
    if any(path.stat().st_size > MAX_OUTPUT for path in outputs):
        return "output"
    return "slow" if is_late else None


def rss_of(pid: int) -> int:
    try:
        with open(f"/proc/{pid}/status", "rb") as file:
            for line in file:
                if line.startswith(b"VmRSS:"):
                    return int(line.split()[1]) * 1024
    except (OSError, ValueError):
        pass
    return 0
