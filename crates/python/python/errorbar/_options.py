"""Keyword arguments as options of the command line, which parses and checks them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

from ._errorbar import OPTION_NAMES, is_flag
from ._errors import InputError

#: The options of the keywords that are not the option's own name with `_` for `-`.
NAMES = {keyword: option for option, keyword in OPTION_NAMES}
#: The options that take two values.
PAIRS = ("range", "scale")


def options(keywords: Mapping[str, Any]) -> list[str]:
    """The options that keyword arguments mean; None, and False for one without a value, mean that it is not given."""
    found: list[str] = []
    for keyword, value in keywords.items():
        if getattr(value, "shape", None) == () and hasattr(value, "item"):
            value = value.item()
        option = NAMES.get(keyword, "--" + keyword.replace("_", "-"))
        if value is None or (value is False and is_flag(option)):
            continue
        if value is True and is_flag(option):
            found.append(option)
        elif keyword in PAIRS:
            found += [option, *pair(keyword, value)]
        elif hasattr(value, "dtype") and getattr(value, "shape", ()):
            raise TypeError(f"{keyword}= takes a value, a name or a list of them, found a {type(value).__name__}: name the column")
        elif keyword == "na":
            found.append(f"{option}={','.join(text(one) for one in many(value))}")
        else:
            found += [f"{option}={text(one)}" for one in many(value)]
    return found


def pair(keyword: str, value: Any) -> list[str]:
    """The two numbers of an option; `scale` takes one, too."""
    if keyword == "scale" and (isinstance(value, (str, int, float)) or not isinstance(value, Iterable)):
        return [text(value)]
    values = [] if isinstance(value, str) or not isinstance(value, Iterable) else list(value)
    if len(values) != 2:
        raise InputError(f"{keyword}= takes two numbers, found {value!r}", hint=f"write {keyword}=(0, 10)")
    return [plain(text(one)) for one in values]


def plain(number: str) -> str:
    """A number without an exponent: the parser of options takes `-1e-05` for an option."""
    if number.startswith("-") and "e" in number.lower():
        from decimal import Decimal, InvalidOperation

        try:
            return format(Decimal(number), "f")
        except InvalidOperation:
            pass
    return number


def many(value: Any) -> Iterable[Any]:
    """The values of an argument that may be one or several."""
    if isinstance(value, (str, bytes, os.PathLike, Mapping)) or not isinstance(value, Iterable):
        return [value]
    return value


def text(value: Any) -> str:
    """A value as it is written on the command line."""
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    # The representation of a float of numpy names its type.
    return float.__repr__(value) if isinstance(value, float) else str(value)
