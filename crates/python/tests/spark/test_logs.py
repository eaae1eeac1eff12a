"""Logs on Spark: one task each, with the results of one machine."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import errorbar as eb
from errorbar import spark as eb_spark

SEEDS = Path(__file__).parents[4] / "fuzz/seeds/eval_log"
LOGS = [SEEDS / name for name in ("deflate.eval", "stored.eval", "chunked.eval")]


@pytest.fixture
def folder(tmp_path):
    """A folder with a few logs, one of them in a folder below."""
    (tmp_path / "more").mkdir()
    for at, log in enumerate(LOGS):
        shutil.copy(log, tmp_path / ("more" if at else ".") / f"{at}.eval")
    return tmp_path


def test_the_results_of_each_log_are_those_of_one_machine(spark, folder):
    results = eb_spark.score_logs(spark, folder)
    paths = [str(folder / "0.eval"), str(folder / "more/1.eval"), str(folder / "more/2.eval")]
    assert list(results) == paths
    for path in paths:
        alone = eb.score(path)
        assert results[path].to_json() == alone.to_json()
        assert repr(results[path]) == repr(alone)
        assert results[path].to_pyarrow().equals(alone.to_pyarrow())
        assert (results[path].warnings, results[path].notes) == (alone.warnings, alone.notes)
    assert set(results.to_pyarrow()["log"].to_pylist()) == set(paths)


def test_the_warnings_of_logs_are_issued_at_the_driver(spark, folder):
    torn = SEEDS / "torn.eval"
    with pytest.warns(eb.ScoreWarning):
        alone = eb.score(torn)
    with pytest.warns(eb.ScoreWarning) as issued:
        eb_spark.score_logs(spark, [folder / "0.eval", torn])
    messages = [str(warning.message) for warning in issued if warning.category is eb.ScoreWarning]
    assert messages == alone.warnings


def test_a_log_is_a_task_and_nothing_is_shuffled(spark, folder):
    context = spark.sparkContext
    context.setJobGroup("logs", "the jobs of this test")
    eb_spark.score_logs(spark, folder)
    tracker = context.statusTracker()
    jobs = [tracker.getJobInfo(job) for job in tracker.getJobIdsForGroup("logs")]
    stages = [tracker.getStageInfo(stage) for job in jobs for stage in job.stageIds]
    assert [stage.numTasks for stage in stages] == [len(LOGS)]


def test_a_log_that_cannot_be_read_fails_alone(spark, folder):
    bad = folder / "bad.eval"
    bad.write_bytes(b"no log")
    with pytest.raises(eb.LogError, match="bad.eval") as caught:
        eb_spark.score_logs(spark, [folder / "0.eval", bad])
    assert list(caught.value.results) == [str(folder / "0.eval")]


def test_no_logs(spark, tmp_path):
    with pytest.raises(eb.InputError, match="no log"):
        eb_spark.score_logs(spark, tmp_path)
