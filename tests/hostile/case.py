"""What a hostile case is."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable

MAX_BYTES = 50_000_000
"""The most bytes that a file of the set may take on the disk."""


@dataclass(frozen=True)
class Case:
    """A file that attacks something."""

    name: str
    """The name of the file, or of the folder where it needs others beside it."""
    about: str
    """What it attacks, in a line."""
    kind: str
    """Which commands take it: log, table, dataset, replay, task or prices."""
    make: Callable[[Path], None]
    """Writes the file (for kinds with a task file: writes into the folder)."""
    options: dict[str, str] = field(default_factory=dict)
    """What the commands need to know: `sample` and `scorer` to edit, the file of `prices`; `seconds` if the case wants
    work that takes longer than the bound."""


class Cases:
    """The cases of a module, in order. Its `case` decorates the function that writes the file."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.all: list[Case] = []

    def case(self, name: str, about: str, kind: str | None = None, **options: str):
        def add(make: Callable[[Path], None]) -> Callable[[Path], None]:
            self.all.append(Case(name, about, kind or self.kind, make, options))
            return make

        return add
