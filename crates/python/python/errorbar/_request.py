"""Keyword arguments as requests, which the engine checks."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from typing import Any

from ._errors import InputError


def request(keywords: Mapping[str, Any]) -> str:
    """What is asked for, as the engine reads it; None means that it is not given."""
    given = {keyword: _value(keyword, value) for keyword, value in keywords.items() if value is not None}
    try:
        return json.dumps(given, sort_keys=True, ensure_ascii=False, allow_nan=False)
    except ValueError as error:
        infinite = [keyword for keyword, value in given.items() if not _is_finite(value)]
        raise InputError(f"{', '.join(infinite)}= must be finite numbers") from error


def many(value: Any) -> Iterable[Any]:
    """The values of an argument that may be one or several."""
    if isinstance(value, (str, bytes, os.PathLike, Mapping)) or not isinstance(value, Iterable):
        return [value]
    return value


def _value(keyword: str, value: Any) -> Any:
    """A value as JSON has it."""
    if getattr(value, "shape", None) == () and hasattr(value, "item"):
        value = value.item()
    if hasattr(value, "dtype") and getattr(value, "shape", ()):
        raise TypeError(f"{keyword}= takes a value, a name or a list of them, found a {type(value).__name__}: name the column")
    if isinstance(value, (os.PathLike, bytes)):
        return os.fsdecode(value)
    if isinstance(value, (str, bool, int, float)):
        return value
    if isinstance(value, Iterable) and not isinstance(value, Mapping):
        return [_value(keyword, one) for one in value]
    return str(value)


def _is_finite(value: Any) -> bool:
    values = value if isinstance(value, list) else [value]
    return all(not isinstance(one, float) or one - one == 0 for one in values)
