"""All cases of files, and where they are in the set."""

from __future__ import annotations

from pathlib import Path

import datasets
import figures
import logs
import logs_structure
import parquet_tables
import tables
import tasks
from case import Case

MODULES = [logs, logs_structure, tables, parquet_tables, figures, datasets, tasks]
FOLDERS = {
    "log": "logs", "table": "tables", "figures": "figures", "dataset": "datasets", "replay": "replays", "task": "tasks", "prices": "prices",
}  # fmt: skip
CASES: list[Case] = [case for module in MODULES for case in module.CASES.all]

if len({case.name for case in CASES}) != len(CASES):
    raise SystemExit("two cases have the same name")


def needs_folder(case: Case) -> bool:
    """Whether the case is a task file with what it reads beside it."""
    return case.kind in ("dataset", "replay", "task", "prices")


def path_of(case: Case, folder: Path) -> Path:
    return folder / FOLDERS[case.kind] / case.name
