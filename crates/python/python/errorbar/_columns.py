"""Columns of mappings and frames that are read value by value: what they may hold, and what is wrong with those that cannot be read."""

from __future__ import annotations

import datetime
import decimal
import enum
import numbers
import sys
import uuid
from collections.abc import Iterable, Mapping, Set
from importlib.util import find_spec
from typing import Any

#: Types of values that are read as they are.
_PLAIN = frozenset({bool, int, float, str, list, tuple, dict, type(None)})
#: Types of values that are read as their string.
_AS_STRING = (uuid.UUID, datetime.date, datetime.time, datetime.timedelta)
#: The byte orders of numpy that are not this machine's.
_FOREIGN = ">" if sys.byteorder == "little" else "<"


def column(name: str, values: Any) -> Any:
    """Values of a column as Arrow, a buffer or a list of plain values."""
    if hasattr(values, "columns"):
        raise TypeError(f'column "{name}": a frame is no column: give several frames as a list')
    if library_of(values) == "pandas" and hasattr(values, "to_frame"):
        return series(values)
    if library_of(values) == "pyarrow" and hasattr(values, "combine_chunks"):
        return values.combine_chunks()
    if hasattr(values, "__arrow_c_array__") or hasattr(values, "__arrow_c_stream__"):
        return values
    if hasattr(values, "dtype"):
        values = _array(name, values)
    elif isinstance(values, memoryview) and values.format[:1] in (_FOREIGN, "!"):
        raise TypeError(f'column "{name}": its numbers are in a foreign byte order: convert them')
    if isinstance(values, Mapping):
        raise TypeError(f'column "{name}": expected a list or an array of values, got a mapping; pandas: frame.to_dict("list")')
    if isinstance(values, Set):
        raise TypeError(f'column "{name}": expected a list or an array of values, got a set, whose values have no order')
    if not isinstance(values, Iterable):
        found = type(values).__name__
        raise TypeError(f'column "{name}": expected a list or an array of values, got one value of the type {found}')
    if isinstance(values, (str, bytes, bytearray)) or not _is_list_like(values):
        return values
    return _plain(name, values if isinstance(values, (list, tuple)) else list(values))


def series(values: Any) -> Any:
    """A column of pandas: as Arrow, as an array of numbers, or as a list in which what is missing is None, as it is in Arrow."""
    if has_pyarrow():
        import pyarrow

        if values.dtype != object:
            # A series of several frames has several chunks.
            return pyarrow.Table.from_pandas(values.to_frame("values"), preserve_index=False).column(0).combine_chunks()
        try:
            return pyarrow.array(values, from_pandas=True)
        except (pyarrow.ArrowException, OverflowError, TypeError, ValueError):
            # Objects of several types.
            pass
    elif getattr(values.dtype, "kind", "O") in "biuf" and not values.hasnans:
        return _array(str(values.name), values.to_numpy())
    return _plain(str(values.name), values.astype(object).where(values.notna(), None).tolist())


def library_of(value: Any) -> str:
    """The library that the type of a value is of."""
    return type(value).__module__.partition(".")[0]


def has_pyarrow() -> bool:
    """Whether pyarrow is installed; it is not imported for that."""
    return find_spec("pyarrow") is not None


def _is_list_like(values: Any) -> bool:
    """Whether values are objects of Python, and no buffer of numbers."""
    try:
        memoryview(values)
    except (TypeError, ValueError):
        return True
    return False


def _array(name: str, values: Any) -> Any:
    """A numpy array, or a list of its values where its bytes are not what they seem."""
    kind, shape = getattr(values.dtype, "kind", "O"), getattr(values, "shape", (0,))
    if len(shape) != 1:
        raise ValueError(f'column "{name}": expected one dimension, got {len(shape)}: give each column on its own')
    if kind == "c" or kind == "V":
        raise TypeError(f'column "{name}": values of the type {values.dtype} are no scores, ids or metadata')
    if hasattr(values, "mask"):
        return values.tolist()
    if kind in "mM":
        return values.astype("U").tolist()
    if kind in "iuf" and getattr(values.dtype, "byteorder", "=") == _FOREIGN:
        return values.astype(values.dtype.newbyteorder("="))
    return values if kind in "biuf" else values.tolist()


def _plain(name: str, values: list[Any] | tuple[Any, ...]) -> Any:
    """A list in which values of other types are numbers or strings; the list itself if there are none."""
    if set(map(type, values)) <= _PLAIN:
        return values
    return [value if type(value) in _PLAIN else _value(name, row, value) for row, value in enumerate(values, 1)]


def _value(name: str, row: int, value: Any) -> Any:
    if isinstance(value, enum.Enum):
        return _value(name, row, value.value)
    # Those of numpy, and subclasses of what is plain, are read as they are.
    if hasattr(value, "dtype") or isinstance(value, tuple(_PLAIN)):
        return value
    if library_of(value) == "pandas" and type(value).__name__ in ("NAType", "NaTType"):
        return None
    if isinstance(value, decimal.Decimal) or isinstance(value, numbers.Real):
        return float(value)
    if isinstance(value, _AS_STRING):
        return str(value)
    hint = "decode it" if isinstance(value, (bytes, bytearray)) else "convert it"
    raise TypeError(
        f'column "{name}", row {row}: a value of the type {type(value).__name__}, which is no number, string, list, dict or None: {hint}'
    )
