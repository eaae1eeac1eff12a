"""`errorbar.spark.score_logs`."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

from .. import _errorbar
from .._errors import Error, InputError, warn
from .._grouped import GroupedResults
from .._request import request
from .._partial import named
from . import _tasks
from ._score import first_of

#: What comes back for each log: its results in every form, or an error.
RESULTS = "at long, json string, text string, html string, frame binary, messages string, error string"


def score_logs(
    spark: Any,
    paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    metrics: Any = None,
    reducers: Any = None,
    **keywords: Any,
) -> GroupedResults:
    """Computes metrics of eval logs, one task of Spark for each log: `errorbar.score` of every one of them.

    Nothing is shuffled: a log is read and scored where its task runs, and its results come back. So every executor must
    see the files under the same paths, as on a shared file system.

    Args:
        spark: The session.
        paths: Logs, or folders of logs, which are listed here.
        metrics: Metrics to compute in place of those that a log records.
        reducers: Reducers of a sample's epochs in place of those that a log records.
        **keywords: What else `errorbar.score` takes, without `name`.

    Returns:
        The results of each log, by its path.

    Raises:
        errorbar.InputError: As `errorbar.score`. The results of all other logs are its `results`.
    """
    logs = _listed([paths] if isinstance(paths, (str, os.PathLike)) else paths)
    if not logs:
        raise InputError("there is no log to score", hint="give paths of logs, or folders with logs")
    task = json.dumps({"request": request(named(dict(metrics=metrics, reducers=reducers, **keywords))), "logs": logs})
    numbers = spark.range(0, len(logs), 1, len(logs))
    table = numbers.mapInArrow(partial(results, task), RESULTS).toArrow()
    groups: dict[tuple[str, ...], Any] = {}
    errors: list[Error] = []
    messages: list[str] = []
    for row in sorted(table.to_pylist(), key=lambda row: row["at"]):
        if row["error"] is not None:
            errors.append(_tasks.restored(row["error"]))
            continue
        warnings, notes = json.loads(row["messages"])
        messages += warnings
        frame = _read_frame(row["frame"])
        groups[(logs[row["at"]],)] = (
            _errorbar.restored_results(row["json"], row["text"], row["html"], frame, warnings, notes),
            None,
        )
    found = GroupedResults(("log",), groups)
    for message in messages:
        warn(message)
    if errors:
        error = first_of(errors)
        error.results = found
        raise error
    return found


def results(task: str, batches: Iterable[Any]) -> Iterator[Any]:
    """The results of the logs with these numbers."""
    import warnings

    import pyarrow

    _tasks.few_threads()
    text = json.loads(task)
    schema = pyarrow.schema(
        [("at", pyarrow.int64())]
        + [(name, pyarrow.string()) for name in ("json", "text", "html")]
        + [("frame", pyarrow.binary()), ("messages", pyarrow.string()), ("error", pyarrow.string())]
    )
    for batch in batches:
        for at in batch.column(0).to_pylist():
            row: dict[str, Any] = dict.fromkeys(schema.names)
            row["at"] = at
            try:
                with warnings.catch_warnings():
                    # They are issued at the driver.
                    warnings.simplefilter("ignore")
                    found = _errorbar.score([text["logs"][at]], text["request"], [], [])
                row.update(json=found.to_json(), text=repr(found), html=found._repr_html_())
                row["messages"] = json.dumps([found.warnings, found.notes])
                row["frame"] = _frame_bytes(pyarrow.table(found.rows))
            except Error as error:
                row["error"] = _tasks.error_text(error)
            yield from pyarrow.Table.from_pylist([row], schema).to_batches()


def _listed(paths: Iterable[str | os.PathLike[str]]) -> list[str]:
    """The logs that paths mean, in order."""
    logs: list[str] = []
    for path in [os.fspath(path) for path in paths]:
        if not os.path.isdir(path):
            logs.append(path)
            continue
        for folder, folders, files in os.walk(path):
            folders.sort()
            logs += [os.path.join(folder, name) for name in sorted(files) if name.endswith((".eval", ".json"))]
    return logs


def _frame_bytes(table: Any) -> bytes:
    import pyarrow

    sink = pyarrow.BufferOutputStream()
    with pyarrow.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes()


def _read_frame(data: bytes) -> Any:
    import pyarrow

    return pyarrow.ipc.open_stream(data).read_all()
