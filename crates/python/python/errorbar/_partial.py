"""`errorbar.Partial.of`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from . import _errorbar
from ._custom import specs
from ._data import table
from ._errors import InputError
from ._request import many, request
from ._score import score

#: The arguments of `score` that need a whole table, or are given: parts have the order of their keys.
WHOLE = ("by", "order", "save_mapping")


def named(keywords: Mapping[str, Any], *, without: tuple[str, ...] = ()) -> dict[str, Any]:
    """Arguments of `score` that can be sent to other processes: metrics and reducers that have a name everywhere."""
    known = {"metrics", "reducers", *(score.__kwdefaults__ or ())} - {"name", *without}
    for name in keywords:
        if name not in known:
            raise TypeError(f"unexpected argument {name!r}: those of errorbar.score are taken, without {', '.join(('name', *without))}")
    keywords = dict(keywords) | {kind: specs(keywords.get(kind)) for kind in ("metrics", "reducers")}
    for kind in ("metrics", "reducers"):
        for one in many(keywords.get(kind) or ()):
            if callable(one):
                raise InputError(
                    f"{one!r} is a function, which other processes do not have",
                    hint="name built-in metrics and reducers, or compute it on one machine with errorbar.score",
                )
    if "reduce" in keywords:
        keywords["no_reduce"] = not keywords.pop("reduce")
    return keywords


def asked(keywords: Mapping[str, Any]) -> str:
    """What is asked of `score` for rows on several machines."""
    return request(named(keywords, without=WHOLE))


def of(
    data: Any,
    metrics: Any = None,
    reducers: Any = None,
    *,
    group: Mapping[str, Any] | None = None,
    **keywords: Any,
) -> _errorbar.Partial:
    """The samples of a frame, all of whose epochs are there, counted."""
    given = asked(dict(metrics=metrics, reducers=reducers, **keywords))
    pairs = [(name, str(value)) for name, value in (group or {}).items()]
    return _errorbar.partial(table(data)[0], given, pairs)
