"""`errorbar.score`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from . import _errorbar
from ._custom import entries, specs
from ._data import inputs, several
from ._request import request


def score(
    data: Any,
    metrics: Any = None,
    reducers: Any = None,
    *,
    id: str | Sequence[str] | None = None,
    epoch: str | None = None,
    score: str | Sequence[str] | None = None,
    cluster: str | Sequence[str] | None = None,
    by: str | None = None,
    scorers: str | Sequence[str] | None = None,
    reduce: bool = True,
    errors: str | None = None,
    interval: str | None = None,
    level: float | None = None,
    range: tuple[float, float] | None = None,
    draws: int | None = None,
    side: str | None = None,
    population: int | None = None,
    seed: int | None = None,
    order: str | None = None,
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
    skip_bad_samples: bool = False,
    strict: bool = False,
    max_line: int | str | None = None,
    max_columns: int | None = None,
    max_decompressed: int | str | None = None,
    max_ratio: int | None = None,
    max_record: int | str | None = None,
    max_memory: int | str | None = None,
    name: str = "<data>",
) -> _errorbar.Results:
    """Computes metrics of scores, each with its error bar: `errorbar score` of the command line.

    `data` is a path to a table, an eval log or a folder of logs; a frame (polars, pyarrow, DuckDB, pandas, anything with
    `__arrow_c_stream__`); a mapping of columns; or a list of these. A frame has a row per sample and epoch; `id`, `epoch`
    and `score` name its columns where they have other names, and everything else is metadata, which `cluster` and metrics
    such as `grouped(accuracy(), "topic")` refer to. `name` is what results and messages call a frame.

    `metrics` and `reducers` are specs as on the command line, functions that `errorbar.metric` and `errorbar.reducer` have
    made, or lists of them. All other arguments are the options of `errorbar score` of the same name.

    Raises `errorbar.InputError` or one of its subclasses; warnings are `errorbar.ScoreWarning`.
    """
    keywords = {key: value for key, value in locals().items() if key not in ("data", "name", "reduce")}
    keywords |= {"no_reduce": not reduce, "metrics": specs(metrics), "reducers": specs(reducers)}
    paths, tables = inputs(several(data, name))
    return _errorbar.score(paths, request(keywords), tables, entries())
