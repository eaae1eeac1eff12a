"""What the functions of the package take as data: paths, frames and mappings of columns."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from . import _columns

#: A frame that has no path: its name, the frame, and its number of rows where that costs nothing to know.
Table = tuple[str, Any, "int | None"]

#: Libraries whose frames know their number of rows.
_SIZED = ("pandas", "polars", "pyarrow", "numpy")
_EXPECTED = (
    "expected a path, a frame with __arrow_c_stream__ (polars, pyarrow, a relation of DuckDB, pandas), "
    "a mapping of columns, or a list of these"
)


def inputs(data: Sequence[tuple[Any, str]]) -> tuple[list[str], list[Table]]:
    """Data with its names, as arguments of a command and the frames among them."""
    paths: list[str] = []
    tables: list[Table] = []
    for value, name in data:
        if not isinstance(name, str):
            raise TypeError(f"the name of a frame is a string, found {name!r}")
        if isinstance(value, (str, bytes, os.PathLike)):
            paths.append(os.fsdecode(value))
        else:
            if any(known == name for known, _, _ in tables):
                raise ValueError(f"two frames have the name {name!r}: give each another with names=")
            tables.append((name, *table(value)))
            paths.append(name)
    for name, _, _ in tables:
        if paths.count(name) > 1:
            raise ValueError(f"a frame and a file have the name {name!r}: give the frame another with names=")
    return paths, tables


def several(data: Any, name: str) -> list[tuple[Any, str]]:
    """One input or a list of them, each with a name for messages."""
    if not isinstance(data, (list, tuple)):
        return [(data, name)]
    if not data:
        raise ValueError("no data: the list is empty")
    _check_list(data)
    if len(data) == 1:
        return [(data[0], name)]
    return [(one, f"{name} {number}") for number, one in enumerate(data, 1)]


def _check_list(data: Sequence[Any]) -> None:
    """A list of inputs is neither a list of rows nor a column."""
    first = data[0]
    if isinstance(first, Mapping) and any(isinstance(value, (str, int, float)) for value in first.values()):
        raise TypeError(
            "a list of rows is no table: give a mapping of columns, {key: [row[key] for row in rows] for key in rows[0]}, "
            "or a frame such as polars.DataFrame(rows)"
        )
    if isinstance(first, (bool, int, float)):
        raise TypeError('a list of numbers is no table: give a mapping of columns, such as {"score": numbers}')


def table(value: Any) -> tuple[Any, int | None]:
    """A frame or a mapping of columns that can be read, and its number of rows where that costs nothing to know."""
    library = _columns.library_of(value)
    if library == "pyarrow":
        value = _batches(value)
    if library == "polars" and hasattr(value, "collect"):
        value = value.collect()
    rows = len(value) if library in _SIZED and hasattr(value, "__len__") else None
    if library == "pandas" and hasattr(value, "columns"):
        return _pandas(value), rows
    if hasattr(value, "__arrow_c_stream__") and not _is_column(value):
        return value, rows
    if isinstance(value, Mapping):
        return {str(name): _columns.column(str(name), values) for name, values in value.items()}, None
    # A structured array of numpy has columns.
    if getattr(getattr(value, "dtype", None), "names", None):
        return {name: _columns.column(name, value[name]) for name in value.dtype.names}, rows
    found = type(value).__name__
    if _is_column(value) or library == "numpy":
        raise TypeError(f'cannot read scores from {found}, which has no columns: give a frame, or a mapping such as {{"score": values}}')
    raise TypeError(f"cannot read scores from {found}: {_EXPECTED}")


def _batches(value: Any) -> Any:
    """The batches of a dataset or of a scanner of pyarrow; anything else as it is."""
    if hasattr(value, "scanner"):
        value = value.scanner()
    return value if hasattr(value, "__arrow_c_stream__") or not hasattr(value, "to_reader") else value.to_reader()


def _is_column(value: Any) -> bool:
    """Whether this is one column: a series of pandas or polars, an array of pyarrow."""
    library = _columns.library_of(value)
    if library == "pyarrow":
        return hasattr(value, "type") and not hasattr(value, "schema")
    return library in ("pandas", "polars") and hasattr(value, "to_frame")


def _pandas(frame: Any) -> Any:
    """A frame of pandas; as columns where pyarrow is absent, or cannot convert objects of several types."""
    if not frame.columns.is_unique:
        twice = sorted({str(name) for name in frame.columns[frame.columns.duplicated()]})
        raise ValueError(f"two columns of the frame have the same name: {', '.join(twice)}")
    objects = [name for name in frame.columns if frame.dtypes[name] == object]
    if _columns.has_pyarrow() and not objects:
        return frame
    # The index is columns if it has names, as it is in Arrow.
    named = [name for name in frame.index.names if name is not None]
    frame = frame.reset_index(named) if named else frame
    return {str(name): _columns.series(frame[name]) for name in frame.columns}
