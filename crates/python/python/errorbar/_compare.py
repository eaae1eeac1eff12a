"""`errorbar.compare`, `errorbar.power` and `errorbar.verify`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import count
from typing import Any

from . import _errorbar
from ._custom import entries, specs
from ._data import inputs, several
from ._errors import InputError
from ._logs import log_paths
from ._request import request


def compare(
    a: Any,
    b: Any = None,
    *others: Any,
    by: str | Sequence[str] | None = None,
    base: str | None = None,
    compare_scorers: Sequence[str] | None = None,
    all_pairs: bool = False,
    correction: str | None = None,
    unpaired: bool = False,
    trust_ids: bool = False,
    ignore_tasks: bool = False,
    flips: int | str | bool | None = None,
    unmatched: int | str | bool | None = None,
    metrics: Any = None,
    reducers: Any = None,
    scorers: str | Sequence[str] | None = None,
    id: str | Sequence[str] | None = None,
    epoch: str | None = None,
    score: str | Sequence[str] | None = None,
    cluster: str | Sequence[str] | None = None,
    errors: str | None = None,
    interval: str | None = None,
    level: float | None = None,
    range: tuple[float, float] | None = None,
    draws: int | None = None,
    side: str | None = None,
    population: int | None = None,
    seed: int | None = None,
    correct: str | Sequence[str] | None = None,
    incorrect: str | Sequence[str] | None = None,
    scale: float | tuple[float, float] | None = None,
    na: str | Sequence[str] | None = None,
    unconvertible: str | None = None,
    delimiter: str | None = None,
    decimal: str | None = None,
    input_format: str | None = None,
    mapping: str | os.PathLike[str] | None = None,
    save_mapping: str | os.PathLike[str] | None = None,
    fail_if_worse: bool = False,
    margin: float | None = None,
    equivalent: float | None = None,
    min_difference: float | None = None,
    alpha: float | None = None,
    decisive: bool = False,
    skip_bad_samples: bool = False,
    strict: bool = False,
    max_line: int | str | None = None,
    max_columns: int | None = None,
    max_decompressed: int | str | None = None,
    max_ratio: int | None = None,
    max_record: int | str | None = None,
    max_memory: int | str | None = None,
    names: Sequence[str] | None = None,
) -> _errorbar.Comparison:
    """Is one model better than another? `errorbar compare` of the command line.

    `a` is the base, and `b` and others are compared with it: paths, frames or mappings of columns, as in `errorbar.score`.
    With one of them, `by` names the column whose values are compared. Samples are matched by their id. `names` are what
    frames are called. What `unmatched` lists is in `notes`. All other arguments are the options of `errorbar compare` of
    the same name.
    """
    keywords = {
        key: value
        for key, value in locals().items()
        if key not in ("a", "b", "others", "names")
    }
    keywords |= {"metrics": specs(metrics), "reducers": specs(reducers)}
    asked = request(keywords)
    if isinstance(compare_scorers, str):
        raise TypeError(f"compare_scorers= takes two names or more, found {compare_scorers!r}")
    if isinstance(a, (list, tuple)):
        raise TypeError("compare takes each input as an argument: compare(*inputs)")
    data = [a] if b is None and not others else [a, b, *others]
    titles = list(names) if names is not None else _titles(data)
    if len(titles) != len(data):
        raise ValueError(f"{len(data)} inputs have {len(titles)} names")
    paths, tables = inputs(list(zip(data, titles)))
    return _errorbar.compare(paths, asked, tables, entries())


def _titles(data: Sequence[Any]) -> list[str]:
    """Names of frames without one: letters that no path has."""
    paths = {os.fsdecode(one) for one in data if isinstance(one, (str, bytes, os.PathLike))}
    letters = (_letters(number) for number in count())
    return [next(letter for letter in letters if letter not in paths) for _ in data]


def _letters(number: int) -> str:
    """The name of a frame without one: a to z, then aa to az, and so on."""
    before, last = divmod(number, 26)
    return (_letters(before - 1) if before else "") + chr(ord("a") + last)


def power(
    *,
    difference: float | str | Sequence[float] | None = None,
    width: float | str | Sequence[float] | None = None,
    samples: int | str | Sequence[int] | None = None,
    power: float | str | Sequence[float] | None = None,
    alpha: float | None = None,
    method: str | None = None,
    sd: float | None = None,
    sd_within: float | None = None,
    share: float | None = None,
    correlation: float | None = None,
    p10: float | None = None,
    p01: float | None = None,
    unpaired: bool = False,
    design_effect: float | None = None,
    epochs: int | str | Sequence[int] | None = None,
    max_samples: int | None = None,
    call_cost: float | None = None,
    sample_cost: float | None = None,
    runs: Any = None,
    by: str | None = None,
    cluster: str | Sequence[str] | None = None,
    scorers: str | None = None,
    trust_ids: bool = False,
    ignore_tasks: bool = False,
    id: str | Sequence[str] | None = None,
    epoch: str | None = None,
    score: str | Sequence[str] | None = None,
    correct: str | Sequence[str] | None = None,
    incorrect: str | Sequence[str] | None = None,
    scale: float | tuple[float, float] | None = None,
    na: str | Sequence[str] | None = None,
    unconvertible: str | None = None,
    delimiter: str | None = None,
    decimal: str | None = None,
    input_format: str | None = None,
    mapping: str | os.PathLike[str] | None = None,
    save_mapping: str | os.PathLike[str] | None = None,
    strict: bool = False,
    max_line: int | str | None = None,
    max_columns: int | None = None,
    max_decompressed: int | str | None = None,
    max_ratio: int | None = None,
    max_record: int | str | None = None,
    max_memory: int | str | None = None,
) -> _errorbar.PowerPlan:
    """How many samples it takes, and what these samples can show: `errorbar power` of the command line.

    Of `samples`, `difference` and `power` two are given, and the third is computed; a list of numbers gives a row for
    each. `runs` are one or two logs, tables or frames that show how scores vary.
    """
    keywords = {key: value for key, value in locals().items() if key != "runs"}
    given = several(runs, "<run>") if runs is not None else []
    if len(given) > 2:
        raise InputError(f"runs= takes one or two runs, found {len(given)}", hint="give two at a time")
    paths, tables = inputs(given)
    return _errorbar.power(request(keywords | {"runs": paths}), tables)


def verify(
    logs: Any,
    *,
    require_checked: bool = False,
    strict: bool = False,
    max_decompressed: int | str | None = None,
    max_ratio: int | None = None,
    max_record: int | str | None = None,
    max_memory: int | str | None = None,
) -> _errorbar.Verification:
    """Are the results that logs record those of their samples? `errorbar verify` of the command line.

    `logs` is a log, a folder of logs, or a list of them. The answer is in `agrees`.
    """
    asked = request({key: value for key, value in locals().items() if key != "logs"})
    return _errorbar.verify(log_paths(logs), asked, entries())
