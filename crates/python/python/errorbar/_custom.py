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
from ._request import many

#: What is defined, by kind and name: kind, name, first sentence, function, metadata keys or metrics.
Entry = tuple[str, str, str, Callable[..., Any], list[str]]
_ENTRIES: dict[tuple[str, str], Entry] = {}
#: What metrics, reducers and scorers can be called.
_NAME = re.compile(r"^[^\W\d][\w./-]*$")


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
        if (self.lower is None) != (self.upper is None):
            raise ValueError(f"errorbar.Estimate: an interval has two ends, found lower={self.lower} and upper={self.upper}")
        if self.n is not None and self.n < 0:
            raise ValueError(f"errorbar.Estimate: n is at least 0, found {self.n}")
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
    _errorbar.score(["data"], "{}", [("data", {"score": [0, 1]}, None)], [*known, entry])


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


def found(name: str, folder: str | os.PathLike[str], may_import: bool) -> Entry | None:
    """What is defined under a name, or under `module:function`, which is imported if it may be; None for names of others.

    Modules are looked for in the folder, which is that of a task file or the current one, in the current one, and wherever
    Python looks.
    """
    module_name, colon, function_name = name.partition(":")
    if not colon:
        return next((entry for entry in _ENTRIES.values() if entry[1] == name), None)
    module = _imported(module_name, folder) if may_import else sys.modules.get(module_name)
    function = getattr(module, function_name, None)
    if isinstance(function, Named):
        return _ENTRIES[function.kind, function.name]
    if may_import:
        raise ImportError(
            f"{module_name} has no metric, reducer or scorer {function_name}; define it with @errorbar.metric, "
            "@errorbar.reducer or @errorbar.scorer"
        )
    return None


def specs(value: Any) -> Any:
    """Metrics or reducers of an argument as specs: strings, functions that are defined here, mappings of fields to them."""
    if value is None or isinstance(value, (str, Named)):
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
        return specs(value)
    if callable(value):
        name = getattr(value, "__name__", type(value).__name__)
        raise SpecError(
            f"{name} is a function that errorbar does not know",
            hint="define it with @errorbar.metric or @errorbar.reducer, or name a built-in one, such as \"mean\"",
        )
    raise SpecError(f"expected the name of a metric or reducer, found {value!r}", hint='name it by a string, such as "mean"')


def _imported(module: str, folder: str | os.PathLike[str] = "") -> Any:
    for place in (os.getcwd(), os.path.abspath(folder)):
        if place not in sys.path:
            sys.path.insert(0, place)
    return importlib.import_module(module)


def import_modules() -> None:
    """Imports the modules of `ERRORBAR_IMPORT`, for logs, which name functions and not their modules."""
    for module in filter(None, map(str.strip, os.environ.get("ERRORBAR_IMPORT", "").split(","))):
        try:
            _imported(module)
        except ImportError as error:
            raise SpecError(f"ERRORBAR_IMPORT: cannot import {module}: {error}", hint="check the name and the folder") from error
