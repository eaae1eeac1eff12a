"""Frames of other libraries, which are imported when they are wanted and not before."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def _library(name: str, purpose: str) -> Any:
    try:
        return import_module(name)
    except ImportError as error:
        raise ImportError(f"{purpose} needs {name}, which is not installed: pip install {name}", name=name) from error


def to_pandas(frame: Any) -> Any:
    """A `pandas.DataFrame` of anything with `__arrow_c_stream__`."""
    pandas = _library("pandas", "to_pandas()")
    if hasattr(pandas.DataFrame, "from_arrow"):
        return pandas.DataFrame.from_arrow(frame)
    return _library("pyarrow", "to_pandas()").table(frame).to_pandas()


def to_polars(frame: Any) -> Any:
    """A `polars.DataFrame` of anything with `__arrow_c_stream__`."""
    return _library("polars", "to_polars()").DataFrame(frame)


def to_pyarrow(frame: Any) -> Any:
    """A `pyarrow.Table` of anything with `__arrow_c_stream__`."""
    return _library("pyarrow", "to_pyarrow()").table(frame)
