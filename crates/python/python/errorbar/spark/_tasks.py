"""What runs on executors. Spark sends the names of these functions, and text; nothing here has a state."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from typing import Any

#: The columns that are added to the rows.
GROUP, BUCKET = "__errorbar_group", "__errorbar_bucket"
#: What comes back: a state for each group that a partition has rows of, or an error.
STATES = "`group` string, state binary, error string"
#: The most bytes of states in one batch.
BATCH = 16 << 20


def states(task: str, batches: Iterable[Any]) -> Iterator[Any]:
    """The rows of a partition become a state for each group. The same rows give the same bytes, in any order."""
    import pyarrow

    from errorbar._errors import Error

    few_threads()
    iterator = iter(batches)
    first = next(iterator, None)
    if first is None:
        return
    failures: list[BaseException] = []
    reader = pyarrow.RecordBatchReader.from_batches(first.schema, _watched(first, iterator, failures))
    try:
        found = partials(json.loads(task), reader)
        rows = ((json.dumps(list(one.group.values()), ensure_ascii=False), one.to_bytes(), None) for one in found)
        yield from _batches(sorted(rows))
    except Error as error:
        # What Spark itself reports is not ours to explain.
        if failures:
            raise failures[0]
        yield from _batches([(None, None, error_text(error))])


def partials(task: dict[str, Any], data: Any) -> list[Any]:
    """The partial results of rows, whose columns get their names."""
    import pyarrow

    from errorbar import _errorbar

    fields = [field.with_name(name) for name, field in zip(task["columns"], data.schema)]
    schema = pyarrow.schema(fields)
    batches = data.to_batches() if isinstance(data, pyarrow.Table) else data
    renamed = (pyarrow.RecordBatch.from_arrays(batch.columns, schema=schema) for batch in batches)
    reader = pyarrow.RecordBatchReader.from_batches(schema, renamed)
    return _errorbar.partials(reader, task["request"], task["metadata_keys"], task["keys"], GROUP, BUCKET)


def merged(table: Any) -> Any:
    """The states of a group become one."""
    from errorbar import _errorbar
    from errorbar._errors import Error

    few_threads()
    errors = [error for error in table.column("error").to_pylist() if error is not None]
    group = table.column("group")[0].as_py()
    if errors:
        return _table([(group, None, min(errors))])
    try:
        state = _errorbar.merge_states(table.column("state").to_pylist()).to_bytes()
    except Error as error:
        return _table([(group, None, error_text(error))])
    return _table([(group, state, None)])


def few_threads() -> None:
    """As many threads as Spark gives a task: it runs as many tasks as there are cores."""
    os.environ.setdefault("ERRORBAR_THREADS", os.environ.get("OMP_NUM_THREADS", "1"))


def error_text(error: Any) -> str:
    """An error as text, for the driver."""
    fields = {"kind": type(error).__name__, "message": error.message}
    fields.update(path=error.path, sample=error.sample, hint=error.hint)
    return json.dumps(fields, ensure_ascii=False)


def restored(text: str) -> Any:
    """The error of a text."""
    from errorbar import _errors

    fields = json.loads(text)
    kind = getattr(_errors, fields.pop("kind"), _errors.InputError)
    return kind(fields.pop("message"), **fields)


def _watched(first: Any, rest: Iterator[Any], failures: list[BaseException]) -> Iterator[Any]:
    """The batches; a failure to get one is noted."""
    try:
        yield first
        yield from rest
    except BaseException as failure:
        failures.append(failure)
        raise


def _batches(rows: Iterable[tuple[str | None, bytes | None, str | None]]) -> Iterator[Any]:
    held: list[Any] = []
    size = 0
    for row in rows:
        held.append(row)
        size += len(row[1] or b"")
        if size >= BATCH:
            yield from _table(held).to_batches()
            held, size = [], 0
    if held:
        yield from _table(held).to_batches()


def _table(rows: list[Any]) -> Any:
    import pyarrow

    types = {"group": pyarrow.string(), "state": pyarrow.binary(), "error": pyarrow.string()}
    columns = [pyarrow.array([row[at] for row in rows], kind) for at, kind in enumerate(types.values())]
    return pyarrow.table(columns, names=list(types))
