"""Metrics, reducers and scorers in Python."""

from __future__ import annotations

import importlib
import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from . import _errorbar
from ._errors import SpecError
from ._options import many

#: What is defined, by kind and name: kind, name, first sentence, function, metadata keys or metrics.
Entry = tuple[str, str, str, Callable[..., Any], list[str]]
_ENTRIES: dict[tuple[str, str], Entry] = {}
#: A function of a module, as options name it.
_NAMED = re.compile(r"^[A-Za-z_][\w.]*:[A-Za-z_]\w*$")
#: What metrics, reducers and scorers can be called.
_NAME = re.compile(r"^[^\W\d][\w./-]*$")
#: The options of the command line that take metrics, reducers and scorers.
_OPTIONS = ("--metric", "-m", "--reducer", "-r", "--with")


@dataclass(frozen=True)
class Estimate:
    """A number with its standard error and its interval; what is None is not known."""

    value: float
    stderr: float | None = None
    lower: float | None = None
    upper: float | None = None
    level: float = 0.95
    n: int | None = None

    def __post_init__(self) -> None:
        for name in ("value", "stderr", "lower", "upper", "level"):
            number = getattr(self, name)
            if not hasattr(number, "__float__") and (number is not None or name == "value"):
                raise TypeError(f"errorbar.Estimate: {name} is a number, found {number!r}")
        if self.stderr is not None and self.stderr < 0:
            raise ValueError(f"errorbar.Estimate: stderr is at least 0, found {self.stderr}")
        if self.lower is not None and self.upper is not None and self.lower > self.upper:
            raise ValueError(f"errorbar.Estimate: lower is at most upper, found {self.lower} and {self.upper}")
        if not 0 < self.level < 1:
            raise ValueError(f"errorbar.Estimate: level lies between 0 and 1, found {self.level}")

    def __float__(self) -> float:
        return float(self.value)


@dataclass(frozen=True)
class Answered:
    """A sample that a model has answered: what a scorer judges."""

    completion: str
    input: str = ""
    sample_id: str = ""
    epoch: int = 1
    model: str = ""
    metadata: dict[str, Any] = field(default_factory=dict)


class Named:
    """A function that can be named in plans; it can be called as before."""

    def __init__(self, kind: str, function: Callable[..., Any], name: str | None, names: Sequence[str]) -> None:
        if not callable(function):
            raise TypeError(f"errorbar.{kind} takes a function, found {function!r}")
        self.kind = kind
        self.function = function
        self.name = name or getattr(function, "__name__", type(function).__name__)
        if not _NAME.match(self.name):
            raise ValueError(f"{self.name!r} cannot name a {kind}: give it another name with @errorbar.{kind}(name=...)")
        self.__doc__ = function.__doc__
        self.__name__ = self.name
        self.__module__ = function.__module__
        lines = (function.__doc__ or "").strip().splitlines()
        entry = (kind, self.name, lines[0] if lines else "", function, list(many(names)))
        _check(entry)
        _ENTRIES[kind, self.name] = entry

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        return self.function(*args, **keywords)

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"<errorbar {self.kind} {self.name}>"


def _check(entry: Entry) -> None:
    """Whether something built in has this name: if it were defined nevertheless, every later call would fail."""
    known = [other for other in entries() if other[:2] != entry[:2]]
    try:
        _errorbar.score(["--", "data"], [("data", {"score": [0, 1]}, None)], [*known, entry])
    except ValueError as error:
        kind, name = entry[:2]
        raise ValueError(f"{name!r} cannot be defined as a {kind} ({error}): @errorbar.{kind}(name=...) gives it another name") from error


def _decorator(kind: str, function: Any, name: str | None, names: Sequence[str]) -> Any:
    if function is None:
        return lambda function: Named(kind, function, name, names)
    return Named(kind, function, name, names)


def metric(function: Any = None, *, name: str | None = None, metadata: Sequence[str] = ()) -> Any:
    """Makes a function a metric: it takes `errorbar.Scores` and returns a float, an `errorbar.Estimate`, or a dict of them.

    `metadata` names the metadata keys that it reads.
    """
    return _decorator("metric", function, name, metadata)


def reducer(function: Any = None, *, name: str | None = None) -> Any:
    """Makes a function a reducer: it takes the scores of a sample, in epoch order and None where not scored, and returns one."""
    return _decorator("reducer", function, name, ())


def scorer(function: Any = None, *, name: str | None = None, metrics: Sequence[str] = ("accuracy", "stderr")) -> Any:
    """Makes a function a scorer: it takes an `errorbar.Answered` and the target, and returns a score, or None for none."""
    return _decorator("scorer", function, name, metrics)


def entries() -> list[Entry]:
    """Everything that is defined."""
    return list(_ENTRIES.values())


def imported(named: str) -> str:
    """Imports `module:function` and returns the name that it has in plans."""
    module_name, _, function_name = named.partition(":")
    if "" not in sys.path and os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        module = importlib.import_module(module_name)
    except ImportError as error:
        raise SpecError(f"{named}: cannot import {module_name}: {error}", hint="check the name and the folder") from error
    found = getattr(module, function_name, None)
    if not isinstance(found, Named):
        raise SpecError(
            f"{named}: {module_name} has no metric, reducer or scorer {function_name}",
            hint="define it with @errorbar.metric, @errorbar.reducer or @errorbar.scorer",
        )
    return found.name


def resolved(value: Any) -> Any:
    """Specs in which `module:function` is imported, and mappings are specs."""
    if isinstance(value, str):
        return imported(value) if _NAMED.match(value) else value
    if value is None or isinstance(value, Named):
        return value
    if isinstance(value, Mapping):
        fields = (f"{json.dumps(key, ensure_ascii=False)}: [{', '.join(map(str, _each(of)))}]" for key, of in value.items())
        return f"{{{', '.join(fields)}}}"
    if isinstance(value, Iterable):
        return [_one(one) for one in value]
    return _one(value)


def _each(value: Any) -> list[Any]:
    """The specs of a field."""
    return [_one(one) for one in many(value)]


def _one(value: Any) -> Any:
    """The spec of one metric or reducer."""
    if isinstance(value, (str, Named, Mapping)):
        return resolved(value)
    if callable(value):
        name = getattr(value, "__name__", type(value).__name__)
        raise SpecError(
            f"{name} is a function that errorbar does not know",
            hint="define it with @errorbar.metric or @errorbar.reducer, or name a built-in one, such as \"mean\"",
        )
    raise SpecError(f"expected the name of a metric or reducer, found {value!r}", hint='name it by a string, such as "mean"')


def resolved_args(args: Sequence[str]) -> list[str]:
    """Arguments of the command line in which `module:function` is imported, and the modules of `ERRORBAR_IMPORT` too."""
    for module in filter(None, os.environ.get("ERRORBAR_IMPORT", "").split(",")):
        imported_module(module.strip())
    found: list[str] = []
    for before, arg in zip(["", *args], args):
        option, equals, value = arg.partition("=")
        if before in _OPTIONS and _NAMED.match(arg):
            arg = imported(arg)
        elif equals and option in _OPTIONS and _NAMED.match(value):
            arg = f"{option}={imported(value)}"
        found.append(arg)
    return found


def imported_module(name: str) -> None:
    """Imports a module whose metrics, reducers and scorers task files name."""
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        importlib.import_module(name)
    except ImportError as error:
        raise SpecError(f"ERRORBAR_IMPORT: cannot import {name}: {error}", hint="check the name and the folder") from error
