"""Inspect's data frames, read by errorbar."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Sequence
from typing import Any

from .._logs import read
from .._request import many


def samples_df(
    logs: Any = None,
    columns: Sequence[Any] | None = None,
    full: bool = True,
    strict: bool = True,
    parallel: bool | int = False,
    quiet: bool | None = None,
    exclude_fields: set[str] | None = None,
    *,
    max_decompressed: int | str | None = None,
    max_ratio: int | None = None,
    max_record: int | str | None = None,
    max_memory: int | str | None = None,
) -> Any:
    """Inspect's `samples_df(full=True)`: one row for each sample in each epoch.

    Args:
        logs: Logs and folders of logs; unset, those in `INSPECT_LOG_DIR` or `logs`.
        columns: Custom columns. Those, and logs that are no files of this machine (`EvalLog`, `s3://…`), are read by Inspect.
        full: As samples are always read whole, there is nothing to choose.
        strict: If false, the frame comes with a list of errors, which is empty: a log that cannot be read is an exception
            either way.
        parallel: All threads are used in any case.
        quiet: There is no output.
        exclude_fields: Fields of samples to leave out; the frame is then read by Inspect.
        max_decompressed, max_ratio, max_record, max_memory: Limits for logs: the options of `errorbar score` of the same name.
    """
    logs = _given(logs)
    if exclude_fields or _is_for_inspect(logs, columns):
        from inspect_ai import analysis

        given: dict[str, Any] = dict(full=full, strict=strict, parallel=parallel, quiet=quiet, exclude_fields=exclude_fields)
        return analysis.samples_df(logs, **_with_columns(columns), **given)
    limits = dict(max_decompressed=max_decompressed, max_ratio=max_ratio, max_record=max_record, max_memory=max_memory)
    return _result("samples", logs, strict, limits)


def evals_df(
    logs: Any = None,
    columns: Sequence[Any] | None = None,
    strict: bool = True,
    quiet: bool | None = None,
    *,
    max_decompressed: int | str | None = None,
    max_ratio: int | None = None,
    max_record: int | str | None = None,
    max_memory: int | str | None = None,
) -> Any:
    """Inspect's `evals_df`: one row for each log. The arguments are those of `samples_df`."""
    logs = _given(logs)
    if _is_for_inspect(logs, columns):
        from inspect_ai import analysis

        given: dict[str, Any] = dict(strict=strict, quiet=quiet)
        return analysis.evals_df(logs, **_with_columns(columns), **given)
    limits = dict(max_decompressed=max_decompressed, max_ratio=max_ratio, max_record=max_record, max_memory=max_memory)
    return _result("evals", logs, strict, limits)


def messages_df(
    logs: Any = None,
    columns: Sequence[Any] | None = None,
    filter: Callable[[Any], bool] | None = None,
    strict: bool = True,
    parallel: bool | int = False,
    quiet: bool | None = None,
    *,
    max_decompressed: int | str | None = None,
    max_ratio: int | None = None,
    max_record: int | str | None = None,
    max_memory: int | str | None = None,
) -> Any:
    """Inspect's `messages_df`: one row for each message that a model was sent or returned.

    The arguments are those of `samples_df`; with a `filter`, which takes messages of Inspect, the frame is read by Inspect.
    """
    logs = _given(logs)
    if filter is not None or _is_for_inspect(logs, columns):
        from inspect_ai import analysis

        given: dict[str, Any] = dict(filter=filter, strict=strict, parallel=parallel, quiet=quiet)
        return analysis.messages_df(logs, **_with_columns(columns), **given)
    limits = dict(max_decompressed=max_decompressed, max_ratio=max_ratio, max_record=max_record, max_memory=max_memory)
    return _result("messages", logs, strict, limits)


def _is_for_inspect(logs: list[Any], columns: Sequence[Any] | None) -> bool:
    return columns is not None or not all(map(_is_file, logs))


def _with_columns(columns: Sequence[Any] | None) -> dict[str, Any]:
    return {} if columns is None else {"columns": columns}


def _given(logs: Any) -> list[Any]:
    """The logs that are meant: if none are named, those that Inspect looks for."""
    if logs is None:
        return [os.environ.get("INSPECT_LOG_DIR", "logs")]
    # A model of Inspect, such as a log, would be a list of its fields.
    return [logs] if hasattr(logs, "model_dump") else list(many(logs))


def _name(log: Any) -> Any:
    """The path of a log, or of an entry of Inspect's list of logs; None for a log in memory."""
    name = os.fspath(log) if isinstance(log, (str, os.PathLike)) else getattr(log, "name", None)
    return name.removeprefix("file://") if isinstance(name, str) else name


def _is_file(log: Any) -> bool:
    name = _name(log)
    return name is not None and not (isinstance(name, str) and "://" in name)


def _path(log: Any) -> Any:
    path = _name(log)
    if not os.path.exists(path):
        # What Inspect raises.
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
    return path


def _result(kind: str, logs: list[Any], strict: bool, limits: dict[str, Any]) -> Any:
    # The columns of the frame are those in Arrow, as they are in Inspect's.
    import pandas

    table = read(kind, [_path(log) for log in logs], inspect=True, **limits).to_pyarrow()
    # Nothing is converted, so there is nothing for threads to do.
    frame = table.to_pandas(types_mapper=pandas.ArrowDtype, use_threads=False)
    return frame if strict else (frame, [])
