"""However rows are partitioned and whatever fails on the way: the bytes are those of one machine."""

from __future__ import annotations

import functools
import os

import data
import pytest

from errorbar import InputError
from errorbar import spark as eb_spark
from errorbar.spark import _score, _tasks

# All rows may be in one partition, or in two of which one is killed.
score = functools.partial(eb_spark.score, metrics=data.METRICS, by=data.KEYS, max_memory="2G", **data.OPTIONS)


@pytest.mark.large
@pytest.mark.parametrize("adaptive", ["true", "false"])
@pytest.mark.parametrize("partitions", [1, 7, 64])
def test_any_number_of_partitions(spark, scores, expected, partitions, adaptive):
    spark.conf.set("spark.sql.adaptive.enabled", adaptive)
    results = score(scores, partitions=partitions)
    assert data.of_groups(results) == expected


@pytest.mark.large
def test_spark_decides_on_partitions(scores, expected):
    assert data.of_groups(score(scores)) == expected


@pytest.mark.large
def test_rows_in_another_order(scores, expected):
    from pyspark.sql import functions as F

    shuffled = scores.orderBy(F.rand(3)).repartition(5)
    assert data.of_groups(score(shuffled, partitions=7)) == expected


@pytest.mark.large
def test_states_are_merged_on_executors(scores, expected):
    assert data.of_groups(score(scores, partitions=7, merge="executors")) == expected


def test_large_states_are_merged_on_executors(scores, expected, monkeypatch):
    merged = []
    monkeypatch.setattr(_score, "MOST_AT_DRIVER", 0)
    original = _score._merged
    monkeypatch.setattr(_score, "_merged", lambda states: merged.append(1) or original(states))
    assert data.of_groups(score(scores, partitions=3)) == expected
    assert merged


@pytest.mark.large
@pytest.mark.parametrize("stage", ["states", "merged"])
def test_an_executor_is_killed(scores, expected, monkeypatch, tmp_path, stage):
    marker = str(tmp_path / "killed")
    killing = {"states": data.killing_states, "merged": data.killing_merged}[stage]
    monkeypatch.setattr(_tasks, stage, killing(marker, getattr(_tasks, stage)))
    results = score(scores, partitions=7, merge="executors" if stage == "merged" else "driver")
    assert data.is_killed(marker)
    assert data.of_groups(results) == expected


@pytest.mark.large
def test_an_executor_is_killed_before_its_states_are_merged(spark, scores, expected, monkeypatch, tmp_path):
    marker = str(tmp_path / "killed")
    original = _score._merged

    def killing(states):
        # By now the states were computed, and are in the memory of the executors.
        data.kill_an_executor(spark, marker)
        return original(states)

    monkeypatch.setattr(_score, "_merged", killing)
    monkeypatch.setattr(_score, "MOST_AT_DRIVER", 0)
    results = score(scores, partitions=7)
    assert data.is_killed(marker)
    assert data.of_groups(results) == expected


@pytest.mark.large
@pytest.mark.parametrize("merge", ["driver", "executors"])
def test_a_copy_of_a_slow_task_changes_nothing(scores, expected, monkeypatch, tmp_path, merge):
    marker = str(tmp_path / "copied")
    monkeypatch.setattr(_tasks, "states", data.straggling_states(marker, _tasks.states))
    results = score(scores, partitions=7, merge=merge)
    assert os.path.exists(marker)
    assert data.of_groups(results) == expected


def states_of(scores, repartitioned):
    """What the tasks give for rows that are partitioned in some way."""
    given = _score.asked(dict(metrics=data.METRICS, max_memory="512M", **data.OPTIONS))
    names = _score._names(scores.schema)
    read, metadata_keys, id_column = _score._errorbar.row_columns(given, names)
    rows = repartitioned(_score._projected(scores, data.KEYS, read, id_column))
    columns = [_tasks.GROUP, *read, _tasks.BUCKET]
    task = {"request": given, "metadata_keys": metadata_keys, "keys": data.KEYS, "columns": columns}
    task = _score.json.dumps(task)
    return rows.mapInArrow(functools.partial(_tasks.states, task), _tasks.STATES).toArrow()


def test_a_state_that_is_merged_twice_is_refused(scores):
    states = states_of(scores, lambda rows: rows.repartition(2, _score._column(_tasks.BUCKET)))
    twice = type(states).from_batches([*states.to_batches(), *states.slice(0, 1).to_batches()])
    with pytest.raises(InputError, match="task=task-00, model=org/model-00: .*hash bucket") as caught:
        _score.finished(data.KEYS, twice)
    assert len(caught.value.results) == data.TASKS * data.MODELS - 1


def test_a_sample_in_two_partitions_is_refused(scores):
    states = states_of(scores, lambda rows: rows.repartition(2))
    with pytest.raises(InputError, match="hash bucket"):
        _score.finished(data.KEYS, states)


def test_the_order_of_rows_in_a_partition_changes_no_byte(table):
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = pq.read_table(table).slice(0, 5000)
    group = pa.array([_score.json.dumps([row["task"], row["model"]]) for row in rows.to_pylist()])
    bucket = pa.array([int(row["id"][1:]) % 4096 for row in rows.to_pylist()], pa.int32())
    rows = rows.append_column(_tasks.GROUP, group).append_column(_tasks.BUCKET, bucket)
    given = _score.asked(dict(metrics=data.METRICS, id="id", score="score", **data.OPTIONS))
    task = {"request": given, "metadata_keys": [], "keys": data.KEYS, "columns": rows.column_names}
    task = _score.json.dumps(task)
    first = pa.Table.from_batches(_tasks.states(task, rows.to_batches(max_chunksize=100)))
    turned = rows.take(pa.array(range(rows.num_rows - 1, -1, -1)))
    second = pa.Table.from_batches(_tasks.states(task, turned.to_batches(max_chunksize=77)))
    assert first.num_rows > 1
    assert first.equals(second)
