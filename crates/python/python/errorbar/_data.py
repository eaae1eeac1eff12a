"""What the functions of the package take as data: paths, frames and mappings of columns."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

#: A frame that has no path: its name, the frame, and its number of rows where that costs nothing to know.
Table = tuple[str, Any, "int | None"]

#: Libraries whose frames know their number of rows.
_SIZED = ("pandas", "polars", "pyarrow", "numpy")


def inputs(data: Sequence[tuple[Any, str]]) -> tuple[list[str], list[Table]]:
    """Data with its names, as arguments of a command and the frames among them."""
    paths: list[str] = []
    tables: list[Table] = []
    for value, name in data:
        if isinstance(value, (str, os.PathLike)):
            paths.append(os.fspath(value))
        else:
            if any(known == name for known, _, _ in tables):
                raise ValueError(f"two frames have the name {name!r}")
            tables.append((name, *table(value)))
            paths.append(name)
    return paths, tables


def several(data: Any, name: str) -> list[tuple[Any, str]]:
    """One input or a list of them, each with a name for messages."""
    if not isinstance(data, (list, tuple)):
        return [(data, name)]
    if not data:
        raise ValueError("no data: the list is empty")
    if len(data) == 1:
        return [(data[0], name)]
    return [(one, f"{name} {number}") for number, one in enumerate(data, 1)]


def table(value: Any) -> tuple[Any, int | None]:
    """A frame or a mapping of columns that can be read, and its number of rows where that costs nothing to know."""
    library = type(value).__module__.partition(".")[0]
    rows = len(value) if library in _SIZED and hasattr(value, "__len__") else None
    if hasattr(value, "__arrow_c_stream__"):
        if library == "pandas" and not _has_pyarrow():
            return {str(name): value[name] for name in value.columns}, rows
        if library == "polars" and hasattr(value, "collect"):
            value = value.collect()
        return value, rows
    if library == "polars" and hasattr(value, "collect"):
        return value.collect(), None
    if isinstance(value, Mapping):
        return value, None
    if library == "pandas" and hasattr(value, "columns"):
        return {str(name): value[name] for name in value.columns}, rows
    raise TypeError(
        f"cannot read scores from {type(value).__name__}: expected a path, a frame with __arrow_c_stream__ "
        "(polars, pyarrow, DuckDB, pandas), or a mapping of columns"
    )


def _has_pyarrow() -> bool:
    from importlib.util import find_spec

    return find_spec("pyarrow") is not None
