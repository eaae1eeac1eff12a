"""What rows may be on Spark, and what is refused: as on one machine, with the group named."""

from __future__ import annotations

import datetime
import decimal

import pytest

import errorbar as eb
from errorbar import spark as eb_spark


def frame(spark, rows, schema):
    return spark.createDataFrame(rows, schema).repartition(3)


def same(spark, rows, schema, metrics=None, **options):
    """The JSON of the only group of rows, on Spark and on one machine."""
    df = frame(spark, rows, schema)
    results = eb_spark.score(df, metrics, by="model", partitions=3, **options)
    name = "model=" + str(rows[0][0])
    # What a group is called is not in its rows.
    alone = eb.score(df.drop("model").toArrow(), metrics, order="key", name=name, **options)
    assert results[rows[0][0]].to_json() == alone.to_json()
    return results


def test_results_are_a_frame(spark, tmp_path):
    rows = [("a", f"q{at}", float(at % 2)) for at in range(9)] + [("b", f"q{at}", 1.0) for at in range(5)]
    results = eb_spark.score(frame(spark, rows, "model string, id string, score double"), by="model")
    assert list(results) == ["a", "b"]
    table = results.to_pyarrow()
    assert table.column_names[0] == "model"
    own = results["a"].to_pyarrow().column_names
    assert [name for name in own if name not in ("log", "task", "model")] == table.column_names[1:]
    assert set(table["model"].to_pylist()) == {"a", "b"}
    assert results.to_pandas().shape == (table.num_rows, table.num_columns)
    assert results.to_spark(spark).count() == table.num_rows
    assert [group["group"] for group in results.to_dict()] == [{"model": "a"}, {"model": "b"}]
    assert results.to_dict()[0]["results"] == results["a"].to_dict()
    assert results.receipt.startswith("14:")
    assert results.receipts["a"].startswith("9:")
    assert "model=a" in repr(results)


def test_keys_of_other_types(spark):
    rows = [(1, True, "q1", 1), (2, False, "q1", 0)]
    results = eb_spark.score(frame(spark, rows, "n int, flag boolean, id string, score int"), by=("n", "flag"))
    assert list(results) == [("1", "true"), ("2", "false")]


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("string", ["C", "I", "P", None, "C"]),
        ("string", ["pass", "fail", "yes", "28%", None]),
        ("boolean", [True, False, None, True, True]),
        ("tinyint", [1, 0, 1, None, 1]),
        ("bigint", [1, 0, 1, 1, None]),
        ("float", [0.25, 0.5, None, 1.0, float("nan")]),
        ("decimal(10,3)", [decimal.Decimal("0.125"), decimal.Decimal("1"), None, decimal.Decimal("0"), None]),
        ("struct<x:double,y:double>", [(0.5, 1.0), (0.25, 0.0), (1.0, 0.5), (0.0, 1.0), (1.0, 1.0)]),
        ("map<string,double>", [{"x": 0.5, "y": 1.0}, {"y": 0.0, "x": 0.25}, {"x": 1.0}, {"x": 0.0}, {"x": 1.0}]),
        ("array<double>", [[0.5, 1.0], [0.25, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 1.0]]),
    ],
)
def test_types_of_scores(spark, kind, values):
    rows = [("m", f"q{at}", value) for at, value in enumerate(values)]
    is_map = kind.startswith(("struct", "map"))
    metrics = '{"*": [mean(), stderr()]}' if is_map else ("count" if kind.startswith("array") else None)
    same(spark, rows, f"model string, id string, score {kind}", metrics)


def test_integers_as_ids_and_epochs_from_zero(spark):
    rows = [("m", at % 7, at // 7, at % 2) for at in range(21)]
    same(spark, rows, "model string, id bigint, epoch int, score int")


def test_a_row_for_each_scorer(spark):
    rows = [("m", f"q{at}", scorer, str(at % 2)) for at in range(9) for scorer in ("judge", "match")]
    same(spark, rows, "model string, id string, scorer string, value string")


def test_fields_of_structures(spark):
    rows = [("m", f"q{at}", (at % 2, "x")) for at in range(5)]
    df = frame(spark, rows, "model string, id string, result struct<passed:int,answer:string>")
    results = eb_spark.score(df, by="model", score="result.passed")
    assert results["m"].to_dict() != []


def test_names_with_dots_and_backticks(spark):
    rows = [("m", f"q{at}", at % 2) for at in range(5)]
    df = frame(spark, rows, "`the.model` string, `i``d` string, `a score` int")
    results = eb_spark.score(df, by="the.model", id="i`d", score="a score")
    assert list(results) == ["m"]


def test_figures_that_depend_on_ids(spark):
    rows = [("m", f"q{at}", at % 3 / 2) for at in range(40)]
    same(spark, rows, "model string, id string, score double", ["mean", "bootstrap_stderr"], seed=3)


def test_mixed_percentages_are_refused_though_each_partition_has_one_kind(spark):
    rows = [("m", f"q{at}", "28%" if at % 2 else "0.5") for at in range(64)]
    with pytest.raises(eb.InputError, match="model=m.*percent"):
        eb_spark.score(frame(spark, rows, "model string, id string, score string"), by="model", partitions=16)


def test_default_metrics_follow_all_scores(spark):
    rows = [("m", f"q{at}", 7.0 if at == 63 else 0.5) for at in range(64)]
    same(spark, rows, "model string, id string, score double")


def test_a_row_twice_is_refused(spark):
    rows = [("a", "q1", 1, 1), ("b", "q1", 1, 1), ("b", "q1", 1, 0)]
    df = frame(spark, rows, "model string, id string, epoch int, score int")
    with pytest.raises(eb.TableError, match=r"model=b: sample .*q1.*epoch 1") as caught:
        eb_spark.score(df, by="model")
    assert caught.value.sample == "q1"


@pytest.mark.parametrize(
    ("schema", "row", "problem"),
    [
        ("model string, id string, score int", ("b", None, 1), "model=b: .*the id is empty"),
        ("model string, id string, score int", (None, "q", 1), "`model` is null"),
        ("model string, id string, epoch int, score int", ("b", "q", None, 1), "model=b: .*the epoch is empty"),
        ("model string, id string, epoch int, score int", ("b", "q", -1, 1), "model=b: .*the epoch is -1"),
    ],
)
def test_rows_that_are_refused(spark, schema, row, problem):
    good = ("a", "q1", 1, 1) if "epoch" in schema else ("a", "q1", 1)
    with pytest.raises(eb.InputError, match=problem):
        eb_spark.score(frame(spark, [good, row], schema), by="model")


def test_cells_that_are_no_scores_fail_their_group_alone(spark):
    rows = [(model, f"q{at}", "well" if model == "b" else "C") for model in "abc" for at in range(3)]
    with pytest.raises(eb.InputError, match="model=b: .*well") as caught:
        eb_spark.score(frame(spark, rows, "model string, id string, score string"), by="model")
    assert list(caught.value.results) == ["a", "c"]


def test_a_metric_that_fails_fails_alone(spark):
    rows = [(model, f"q{at}", at % 2) for model in "ab" for at in range(4)]
    df = frame(spark, rows, "model string, id string, score int")
    metrics = ["accuracy", 'grouped(accuracy(), "nowhere")']
    with pytest.raises(eb.InputError, match='model=a: .*grouped.*sample "q0"') as caught:
        eb_spark.score(df, metrics, by="model")
    assert [str(error).split(":")[0] for error in caught.value.others] == ["model=b"]
    assert list(caught.value.results) == ["a", "b"]
    rows = caught.value.results.to_pyarrow().to_pylist()
    assert [row["metric"] for row in rows if row["value"] is not None] == ["accuracy", "accuracy"]


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (dict(id="ID"), "ID"),
        (dict(score="scores"), "scores"),
        (dict(epoch="attempts"), "attempts"),
        (dict(by="Model"), "no column `Model`"),
        (dict(metrics="acuracy"), "acuracy"),
        (dict(score="at"), "times"),
        (dict(merge="here"), "merge is"),
    ],
)
def test_arguments_that_are_refused_before_any_row_is_read(spark, options, problem):
    rows = [("m", "q1", 1, datetime.datetime(2026, 1, 1))]
    df = spark.createDataFrame(rows, "model string, id string, score int, at timestamp")
    with pytest.raises(eb.InputError, match=problem):
        eb_spark.score(df, **{"by": "model", **options})


def test_a_task_that_would_take_too_much_memory_asks_for_more_partitions(spark):
    from pyspark.sql import functions as F

    df = spark.range(200_000).select(
        F.lit("m").alias("model"), F.concat(F.lit("a long id of a sample "), "id").alias("id"), (F.col("id") % 2).alias("score")
    )
    with pytest.raises(eb.TableError, match="memory") as caught:
        eb_spark.score(df, by="model", partitions=1, max_memory="1M")
    assert "more partitions" in str(caught.value.hint)
    assert len(eb_spark.score(df, by="model", partitions=64, max_memory="1M")) == 1


def test_no_rows(spark):
    df = spark.createDataFrame([], "model string, id string, score int")
    with pytest.raises(eb.InputError, match="no rows"):
        eb_spark.score(df, by="model")
