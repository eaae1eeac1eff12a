"""Keyword arguments as options of the command line, which parses and checks them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

#: The options that have another name than their keyword, with `-` for `_`.
NAMES = {
    "metrics": "--metric",
    "reducers": "--reducer",
    "scorers": "--scorer",
    "compare_scorers": "--scorers",
    "id": "--id-column",
    "epoch": "--epoch-column",
    "score": "--score-column",
    "runs": "--from",
}
#: The options that take two values.
PAIRS = ("range", "scale")


def options(keywords: Mapping[str, Any]) -> list[str]:
    """The options that keyword arguments mean; None and False mean that an option is not given."""
    found: list[str] = []
    for keyword, value in keywords.items():
        option = NAMES.get(keyword, "--" + keyword.replace("_", "-"))
        if value is None or value is False:
            continue
        if value is True:
            found.append(option)
        elif keyword in PAIRS and not isinstance(value, (str, int, float)):
            found += [option, *(text(one) for one in value)]
        elif keyword == "na":
            found.append(f"{option}={','.join(text(one) for one in many(value))}")
        else:
            found += [f"{option}={text(one)}" for one in many(value)]
    return found


def many(value: Any) -> Iterable[Any]:
    """The values of an argument that may be one or several."""
    if isinstance(value, (str, bytes, os.PathLike, Mapping)) or not isinstance(value, Iterable):
        return [value]
    return value


def text(value: Any) -> str:
    """A value as it is written on the command line."""
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    return repr(value) if isinstance(value, float) else str(value)
