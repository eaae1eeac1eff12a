"""What became of a command, in a word."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from watch import MAX_OUTPUT, Run

PASSED = ("ok", "refused")


@dataclass(frozen=True)
class Bounds:
    """What a command may take."""

    seconds: float
    megabytes: float
    kill_factor: float


def environment(work: Path) -> dict[str, str]:
    """No key, no cache and no log folder of the user."""
    return {"PATH": os.environ.get("PATH", ""), "HOME": str(work), "ERRORBAR_CACHE_DIR": str(work / "cache")}


def judge(done: Run, bounds: Bounds, names: list[str], negative: bool) -> tuple[str, str]:
    """The verdict, and a line of its messages."""
    errors = done.error_text()
    message = next((line for line in errors.splitlines() if "error" in line), errors.strip().split("\n")[0])[:200]
    if "panicked at" in errors or done.code == 101 or (done.code < 0 and not done.killed):
        return "panic", message or f"signal {-done.code}"
    if done.killed == "output" or max(os.path.getsize(done.stdout), os.path.getsize(done.stderr)) > MAX_OUTPUT:
        return "output", f"over {MAX_OUTPUT / 1e6:.0f} MB"
    if done.megabytes > bounds.megabytes:
        return "memory", message
    if done.killed or done.seconds > bounds.seconds:
        return "slow", message
    if done.code == 0:
        return "ok", ""
    if negative and done.code == 1 and os.path.getsize(done.stdout):
        return "ok", ""
    if not any(line.startswith("error:") for line in errors.splitlines()):
        return "silent", f"exit code {done.code}"
    if not any(name in errors for name in names):
        return "unnamed", message
    return "refused", message
