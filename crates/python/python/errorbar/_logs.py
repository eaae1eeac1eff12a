"""Logs as frames: `errorbar.samples` and `errorbar.evals`."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from ._errorbar import Frame, log_frame
from ._request import many, request

#: A log or a folder of logs, or several of them.
Logs: TypeAlias = "str | os.PathLike[str] | Iterable[str | os.PathLike[str]]"


def read(kind: str, logs: Any, *, inspect: bool = False, **limits: Any) -> Frame:
    """Reads a kind of frame."""
    return log_frame(kind, log_paths(logs), request(limits), inspect=inspect)


def log_paths(logs: Any) -> list[str]:
    """The paths of logs and folders."""
    is_frame = hasattr(logs, "__arrow_c_stream__") or isinstance(logs, Mapping)
    paths: list[Any] = [logs] if is_frame else list(many(logs))
    for path in paths:
        if not isinstance(path, (str, bytes, os.PathLike)):
            raise TypeError(f"expected paths of eval logs or of folders of them, found {type(path).__name__}")
    return [os.fsdecode(path) for path in paths]


def samples(
    logs: Logs,
    *,
    max_decompressed: int | str | None = None,
    max_ratio: int | None = None,
    max_record: int | str | None = None,
    max_memory: int | str | None = None,
) -> Frame:
    """One row for each sample in each epoch of these logs.

    Input, target, metadata (`metadata_*`), scores (`score_*`), tokens, times, the error or limit that ended it. Columns
    have the names, the order and the types of Inspect's `samples_df`. Samples are read whole: nothing is cut.

    Args:
        logs: Logs (`.eval`, `.json`) and folders of logs. A sample that is in several of them is read once.
        max_decompressed, max_ratio, max_record, max_memory: Limits for logs: the options of `errorbar score` of the same name.
    """
    return read("samples", **locals())


def evals(
    logs: Logs,
    *,
    max_decompressed: int | str | None = None,
    max_ratio: int | None = None,
    max_record: int | str | None = None,
    max_memory: int | str | None = None,
) -> Frame:
    """One row for each of these logs: task, model, configuration and results.

    Columns have the names, the order and the types of Inspect's `evals_df`. Only headers are read.

    Args:
        logs: Logs (`.eval`, `.json`) and folders of logs. Of several logs of one evaluation the first one counts.
        max_decompressed, max_ratio, max_record, max_memory: Limits for logs: the options of `errorbar score` of the same name.
    """
    return read("evals", **locals())
