"""`errorbar.spark.score`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from functools import partial
from importlib import import_module
from typing import Any

from .. import _errorbar
from .._errors import Error, InputError
from .._grouped import GroupedResults
from .._partial import asked
from . import _tasks

#: Rows are distributed over this number of hash buckets.
BUCKETS = 4096
#: The most bytes of states that the driver merges by itself.
MOST_AT_DRIVER = 256 << 20


def score(
    df: Any,
    metrics: Any = None,
    by: str | Sequence[str] = ("task", "model"),
    reducers: Any = None,
    *,
    id: str | Sequence[str] | None = None,
    epoch: str | None = None,
    score: str | Sequence[str] | None = None,
    cluster: str | Sequence[str] | None = None,
    partitions: int | None = None,
    merge: str = "auto",
    max_memory: int | str = "512M",
    **options: Any,
) -> GroupedResults:
    """Computes metrics of the scores in a Spark DataFrame, each with its error bar, for every group of rows.

    A group is a table of its own: its results are those that `errorbar.score(…, order="key")` gives for its rows on one
    machine, bit for bit, however the rows are partitioned.

    Args:
        df: A row for each sample and epoch, or for each sample, epoch and scorer if there is a column `scorer`.
        metrics: Metrics to compute, as for `errorbar.score`.
        by: The columns whose values name a group.
        reducers: Reducers of a sample's epochs to one score.
        id: The column that identifies the samples of a group; `id` if it is not given.
        epoch: The column that numbers the epochs of a sample; `epoch` if it is not given and there.
        score: The columns that hold scores; `score`, else `value`, if none is given.
        cluster: The columns that errors are clustered by.
        partitions: How many partitions the rows are distributed over; if it is not given, Spark decides.
        merge: Where states are merged: at the `driver`, on `executors`, or `auto`: on executors above 256 MB of states.
        max_memory: How much memory a task may take for the rows of its partition.
        **options: What else `errorbar.score` takes, without `name`, `order` and `save_mapping`.

    Raises:
        errorbar.InputError: As `errorbar.score`, with the group in the message. The results of all other groups are its
            `results` if every row could be read.
    """
    if merge not in ("auto", "driver", "executors"):
        raise InputError(f"merge is auto, driver or executors, found {merge!r}")
    keys = (by,) if isinstance(by, str) else tuple(by)
    keywords = dict(
        metrics=metrics, reducers=reducers, id=id, epoch=epoch, score=score, cluster=cluster, max_memory=max_memory
    )
    given = asked(keywords | options)
    names = _names(df.schema)
    _check_keys(keys, names, df.columns)
    read, metadata_keys, id_column = _errorbar.row_columns(given, names)
    rows = _projected(df, keys, read, id_column)
    task = {"request": given, "metadata_keys": metadata_keys, "keys": keys}
    task["columns"] = [_tasks.GROUP, *read, _tasks.BUCKET]
    _tasks.partials(task, rows.limit(0).toArrow())  # Types that cannot be read are refused before any row is.
    bucket = _column(_tasks.BUCKET)
    rows = rows.repartition(bucket) if partitions is None else rows.repartition(partitions, bucket)
    states = rows.mapInArrow(partial(_tasks.states, json.dumps(task)), _tasks.STATES)
    return finished(keys, _collected(states, merge))


def _names(schema: Any) -> list[str]:
    """The columns; the fields of a structure are columns too, `scores.accuracy`."""
    StructType = import_module("pyspark.sql.types").StructType

    names: list[str] = []

    def add(fields: Any, prefix: str) -> None:
        for field in fields:
            names.append(prefix + field.name)
            if isinstance(field.dataType, StructType):
                add(field.dataType.fields, prefix + field.name + ".")

    add(schema.fields, "")
    return names


def _column(name: str, names: Iterable[str] = ()) -> Any:
    """A column by its exact name, which may have dots; or a field of a structure."""
    F = import_module("pyspark.sql.functions")

    def quoted(part: str) -> str:
        return "`" + part.replace("`", "``") + "`"

    if not names or name in names:
        return F.col(quoted(name))
    root = next(root for root in names if name.startswith(root + "."))
    return F.col(quoted(root) + "." + ".".join(quoted(part) for part in name[len(root) + 1 :].split(".")))


def _check_keys(keys: tuple[str, ...], names: list[str], roots: list[str]) -> None:
    for key in keys:
        if key not in names:
            near = get_close_matches(key, names, 1)
            found = ", ".join(f"`{name}`" for name in roots)
            hint = f"did you mean by={near[0]!r}?" if near else "name the columns that tell groups apart with by="
            raise InputError(f"there is no column `{key}` to group by; columns found: {found}", hint=hint)


def _projected(df: Any, keys: tuple[str, ...], read: list[str], id_column: str) -> Any:
    """Only what is needed, with the group of each row and its hash bucket."""
    F = import_module("pyspark.sql.functions")

    roots = df.columns
    values = [_column(key, roots).cast("string") for key in keys]
    group = F.to_json(F.array(*values)) if values else F.lit("[]")
    # Names with dots and backticks are trouble in some functions of Spark, so columns have others on the way.
    columns = [_column(name, roots).alias(f"c{at}") for at, name in enumerate(read)]
    rows = df.select(group.alias(_tasks.GROUP), *columns)
    hashed = F.xxhash64(_column(_tasks.GROUP), _column(f"c{read.index(id_column)}"))
    return rows.withColumn(_tasks.BUCKET, F.pmod(hashed, F.lit(BUCKETS)).cast("int"))


def _collected(states: Any, merge: str) -> Any:
    """The states, as a table at the driver."""
    if merge == "driver":
        return states.toArrow()
    if merge == "executors":
        return _merged(states).toArrow()
    F = import_module("pyspark.sql.functions")

    try:
        states = states.persist()
    except Exception:
        # Some services have no cache. What is too large for the driver is merged on executors with `merge="executors"`.
        return states.toArrow()
    try:
        size = states.agg(F.sum(F.length("state"))).first()[0] or 0
        return (_merged(states) if size > MOST_AT_DRIVER else states).toArrow()
    finally:
        states.unpersist()


def _merged(states: Any) -> Any:
    return states.groupBy("group").applyInArrow(_tasks.merged, _tasks.STATES)


def finished(keys: tuple[str, ...], table: Any) -> GroupedResults:
    """The results of states, in the order of their groups."""
    failures = [text for text in table.column("error").to_pylist() if text is not None]
    if failures:
        raise first_of([_tasks.restored(text) for text in sorted(set(failures))])
    if table.num_rows == 0:
        raise InputError("the DataFrame has no rows", hint="give it a row for each sample and epoch")
    states: dict[tuple[str, ...], list[bytes]] = {}
    for group, state in zip(table.column("group").to_pylist(), table.column("state").to_pylist()):
        states.setdefault(tuple(json.loads(group)), []).append(state)
    groups: dict[tuple[str, ...], Any] = {}
    errors: list[Error] = []
    names = sorted(states)
    outcomes = _errorbar.finish_states([states[name] for name in names])
    for name, (done, receipt, error) in zip(names, outcomes):
        if isinstance(error, Error):
            errors.append(error)
            # A metric that fails fails alone.
            done = error.results if error.results is not None and len(error.results.rows) else None
        elif error is not None:
            raise error
        if done is not None:
            groups[name] = (done, receipt)
    results = GroupedResults(keys, groups)
    if errors:
        error = first_of(errors)
        error.results = results
        raise error
    return results


def first_of(errors: list[Error]) -> Error:
    """The first error, with the others."""
    error = errors[0]
    error.others = [*errors[1:], *error.others]
    return error
