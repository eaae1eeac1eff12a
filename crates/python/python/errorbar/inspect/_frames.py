"""Inspect's data frames, read by errorbar."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

from .._logs import read
from .._options import many


def samples_df(
    logs: Any = None,
    columns: Sequence[Any] | None = None,
    full: bool = True,
    strict: bool = True,
    parallel: bool | int = False,
    quiet: bool | None = None,
    exclude_fields: set[str] | None = None,
) -> Any:
    """Inspect's `samples_df(full=True)`: one row for each sample in each epoch.

    Args:
        logs: Logs and folders of logs; unset, those in `INSPECT_LOG_DIR` or `logs`.
        columns: Custom columns. Those, and logs that are no files (`EvalLog`), are read by Inspect.
        full: As samples are always read whole, there is nothing to choose.
        strict: If false, the frame comes with a list of errors, which is empty: a log that cannot be read is an exception
            either way.
        parallel: All threads are used in any case.
        quiet: There is no output.
        exclude_fields: Only for what Inspect reads.
    """
    if _is_for_inspect(logs, columns):
        from inspect_ai import analysis

        given: dict[str, Any] = dict(full=full, strict=strict, parallel=parallel, quiet=quiet, exclude_fields=exclude_fields)
        return analysis.samples_df(logs, **_with_columns(columns), **given)
    return _result("samples", logs, strict)


def evals_df(
    logs: Any = None,
    columns: Sequence[Any] | None = None,
    strict: bool = True,
    quiet: bool | None = None,
) -> Any:
    """Inspect's `evals_df`: one row for each log. The arguments are those of `samples_df`."""
    if _is_for_inspect(logs, columns):
        from inspect_ai import analysis

        given: dict[str, Any] = dict(strict=strict, quiet=quiet)
        return analysis.evals_df(logs, **_with_columns(columns), **given)
    return _result("evals", logs, strict)


def messages_df(
    logs: Any = None,
    columns: Sequence[Any] | None = None,
    filter: Callable[[Any], bool] | None = None,
    strict: bool = True,
    parallel: bool | int = False,
    quiet: bool | None = None,
) -> Any:
    """Inspect's `messages_df`: one row for each message that a model was sent or returned.

    The arguments are those of `samples_df`; with a `filter`, which takes messages of Inspect, the frame is read by Inspect.
    """
    if filter is not None or _is_for_inspect(logs, columns):
        from inspect_ai import analysis

        given: dict[str, Any] = dict(filter=filter, strict=strict, parallel=parallel, quiet=quiet)
        return analysis.messages_df(logs, **_with_columns(columns), **given)
    return _result("messages", logs, strict)


def _is_for_inspect(logs: Any, columns: Sequence[Any] | None) -> bool:
    if columns is not None:
        return True
    given = [] if logs is None else list(many(logs))
    return any(not isinstance(log, (str, os.PathLike)) and not hasattr(log, "name") for log in given)


def _with_columns(columns: Sequence[Any] | None) -> dict[str, Any]:
    return {} if columns is None else {"columns": columns}


def _path(log: Any) -> str:
    """The path of a log, or of an entry of Inspect's list of logs."""
    path = log if isinstance(log, (str, os.PathLike)) else log.name
    return os.fspath(path).removeprefix("file://")


def _result(kind: str, logs: Any, strict: bool) -> Any:
    if logs is None:
        logs = os.environ.get("INSPECT_LOG_DIR", "logs")
    # The columns of the frame are those in Arrow, as they are in Inspect's.
    import pandas

    table = read(kind, [_path(log) for log in many(logs)], inspect=True).to_pyarrow()
    # Nothing is converted, so there is nothing for threads to do.
    frame = table.to_pandas(types_mapper=pandas.ArrowDtype, use_threads=False)
    return frame if strict else (frame, [])
