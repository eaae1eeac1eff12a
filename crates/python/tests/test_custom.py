"""Metrics, reducers and scorers in Python."""

import pytest

import errorbar as eb

SCORES = {"id": ["a", "a", "b", "b"], "epoch": [1, 2, 1, 2], "score": [1.0, 0.5, 0.0, 0.25], "topic": ["x", "x", "y", "y"]}


@eb.metric
def best(scores):
    """The highest score."""
    return max(scores.values)


@eb.metric(metadata=["topic"])
def with_error(scores):
    assert scores.metadata("topic") == ["x", "y"]
    assert len(scores) == 2 and scores.ids == ["a", "b"] and scores.scorer == "score"
    with pytest.raises(KeyError, match="the metric does not read 'other'|\"other\""):
        scores.metadata("other")
    return eb.Estimate(0.5, stderr=0.1, lower=0.3, upper=0.7, level=0.9)


@eb.metric
def parts(scores):
    return {"low": min(scores.values), "high": eb.Estimate(max(scores.values))}


@eb.metric
def broken(scores):
    raise RuntimeError("no idea")


@eb.metric
def nested(scores):
    return eb.score({"id": scores.ids, "score": scores.values}, metrics="mean").to_dict()[0]["estimates"][0]["value"]


@eb.reducer
def last(scores):
    return scores[-1]


def estimates(**keywords):
    return {row["metric"]: row for row in eb.score(SCORES, **keywords).to_dict()[0]["estimates"]}


def test_a_metric():
    assert estimates(metrics=[best, "mean"])["best"]["value"] == 0.75
    assert estimates(metrics="best")["best"]["n"] == 2


def test_an_estimate():
    row = estimates(metrics=with_error)["with_error"]
    assert (row["stderr"], row["lower"], row["upper"], row["level"]) == (0.1, 0.3, 0.7, 0.9)


def test_a_map():
    rows = eb.score(SCORES, metrics=[parts]).to_dict()[0]["estimates"]
    assert {row["key"]: row["value"] for row in rows} == {"low": 0.125, "high": 0.75}


def test_a_metric_that_fails():
    with pytest.raises(eb.Error, match="no idea"):
        eb.score(SCORES, metrics=broken)


def test_a_metric_that_calls_the_package():
    assert estimates(metrics=nested)["nested"]["value"] == 0.4375


def test_a_reducer():
    assert estimates(metrics="mean", reducers=last)["mean"]["value"] == 0.375


def test_arrow_of_scores():
    polars = pytest.importorskip("polars")
    seen = []
    eb.metric(lambda scores: seen.append(polars.DataFrame(scores)) or 0.0, name="seen")
    eb.score(SCORES, metrics="seen")
    assert seen[0].columns == ["id", "value", "label"] and seen[0]["value"].to_list() == [0.75, 0.125]


MODULE = '''
import errorbar as eb

@eb.metric
def worst(scores):
    "The lowest score."
    return min(scores.values)

@eb.scorer(metrics=["accuracy", "worst"])
def shouts(answered, target):
    return answered.completion == target.upper() and answered.metadata.get("loud", True)
'''


@pytest.fixture
def module(tmp_path):
    (tmp_path / "mypkg.py").write_text(MODULE)
    (tmp_path / "scores.csv").write_text("id,score\na,1\nb,0.5\n")


def test_the_command_line(module, command):
    assert "worst" in command("score", "scores.csv", "--metric", "mypkg:worst").stdout
    assert "worst" in command("score", "scores.csv", "--metric=mypkg:worst").stdout
    for named, problem in (("nopkg:worst", "cannot import nopkg"), ("mypkg:nope", "has no metric")):
        failed = command("score", "scores.csv", "--metric", named, check=False)
        assert failed.returncode == 2 and problem in failed.stderr, failed.stderr


def test_task_files(module, command, tmp_path, monkeypatch):
    (tmp_path / "task.toml").write_text(
        'dataset = "data.jsonl"\nsolver = "generate()"\nscorer = "shouts()"\nmetrics = ["accuracy", "worst"]\n'
    )
    (tmp_path / "data.jsonl").write_text('{"input": "say yes", "target": "yes"}\n{"input": "say no", "target": "no"}\n')
    monkeypatch.setenv("ERRORBAR_IMPORT", "mypkg")
    done = command("eval", "task.toml", "--model", "mock/YES")
    assert "worst" in done.stdout and "0.50" in done.stdout, done.stdout + done.stderr
