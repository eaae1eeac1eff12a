"""errorbar inside Inspect: metrics, reducers and data frames. All of it is skipped without inspect_ai."""

import logging
import math
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("inspect_ai")

import inspect_ai.model._model  # noqa: E402
import inspect_ai.model._tokens  # noqa: E402
from inspect_ai import Epochs, Task, eval as run_eval, eval_set, task  # noqa: E402
from inspect_ai import scorer as reference  # noqa: E402
from inspect_ai.dataset import Sample  # noqa: E402
from inspect_ai.log import read_eval_log, recompute_metrics, write_eval_log  # noqa: E402
from inspect_ai.scorer import SampleScore, Score, scorer  # noqa: E402

import errorbar.inspect as ours  # noqa: E402


@pytest.fixture(autouse=True)
def no_network(monkeypatch):
    """The mock model would fetch a tokenizer."""

    def count(text):
        return len(text) // 4 + 1

    monkeypatch.setattr(inspect_ai.model._model, "count_text_tokens", count)
    monkeypatch.setattr(inspect_ai.model._tokens, "count_text_tokens", count)


@scorer(metrics=[reference.accuracy()])
def graded():
    async def score(state, target):
        return Score(value="C" if (int(state.sample_id) * 7 + state.epoch) % 3 else "I")

    return score


def questions(count=12):
    return [Sample(id=n, input=f"{n}?", target="t", metadata={"topic": "ab"[n % 2], "n": n}) for n in range(count)]


@scorer(metrics={"*": [reference.mean()]})
def mapped():
    async def score(state, target):
        n = int(state.sample_id)
        details = {"num_tokens": n, "sum_log_probs": -n / 3}
        return Score(value={"a": n % 3, "b": "CI"[n % 2]}, metadata=details)

    return score


def run(folder, scorer=graded, **options):
    made = Task(name="drop_in", dataset=questions(), scorer=scorer(), **options)
    (log,) = run_eval(made, model="mockllm/model", log_dir=str(folder), display="none")
    assert log.status == "success", log.error
    return log


def scores(values, metadata=None):
    metadata = metadata or [None] * len(values)
    return [SampleScore(score=Score(value=v), sample_id=n, sample_metadata=m) for n, (v, m) in enumerate(zip(values, metadata))]


VALUES = ["C", "I", "P", 1, 0.25, True, "yes", "0.5", -3]
TOPICS = [{"topic": t} for t in "abcabcabc"]

METRICS = [
    ("accuracy", {}),
    ("mean", {}),
    ("std", {}),
    ("var", {}),
    ("stderr", {}),
    ("stderr", {"cluster": "topic"}),
    ("ci", {}),
    ("ci", {"level": 0.8, "cluster": "topic"}),
]


@pytest.mark.parametrize("name, arguments", METRICS)
def test_a_metric_is_that_of_the_same_name(name, arguments):
    own, theirs = getattr(ours, name)(**arguments), getattr(reference, name)(**arguments)
    for count in [0, 1, 2, len(VALUES)]:
        given = scores(VALUES[:count], TOPICS[:count])
        assert own(given) == pytest.approx(theirs(given), rel=1e-12, abs=1e-12, nan_ok=True), count


@pytest.mark.parametrize("name", ["perplexity_per_token", "perplexity_per_seq"])
def test_a_perplexity_is_that_of_the_same_name(name):
    def given(*pairs):
        details = [{"num_tokens": tokens, "sum_log_probs": log_probs} for tokens, log_probs in pairs]
        return [SampleScore(score=Score(value=1, metadata=detail)) for detail in details]

    own, theirs = getattr(ours, name)(), getattr(reference, name)()
    for some in [given((3, -1.5), (7, -0.25)), given((0, 0.0), (2, -4.0)), given((0, 0.0)), given((1, -1e300)), []]:
        assert own(some) == pytest.approx(theirs(some), rel=1e-12, nan_ok=True)
    lacking = given((3, -1.5), (2, None), (None, -1.0))
    assert own(lacking) == pytest.approx(math.exp(0.5), rel=1e-12)


def test_a_conversion_of_ones_own_is_called_once_for_each_score():
    called = []

    def to_float(value):
        called.append(value)
        return len(value) / 2

    given = scores(["a", "bb", "ccc"], TOPICS[:3])
    assert ours.mean(to_float)(given) == 1.0
    assert called == ["a", "bb", "ccc"]
    called.clear()
    assert ours.grouped(ours.mean(to_float), "topic")(given) == {"a": 0.5, "b": 1.0, "c": 1.5, "all": 1.0}
    assert called == ["a", "bb", "ccc"]


def test_a_value_that_is_no_number_is_reported_as_inspect_reports_it(caplog):
    with caplog.at_level(logging.WARNING):
        assert ours.accuracy()(scores(["C", "banana"])) == 0.5
    assert "banana" in caplog.text


def test_infinite_scores_are_as_in_inspect():
    given = scores([math.inf, 1.0])
    assert ours.mean()(given) == math.inf
    assert math.isnan(ours.stderr()(given))
    assert ours.mean()(scores([math.nan, 1.0])) != ours.mean()(scores([1.0]))


def test_errors_name_the_sample():
    with pytest.raises(ValueError, match="sample 1 .*topic"):
        ours.stderr(cluster="topic")(scores([1, 0], [{"topic": "a"}, {}]))
    with pytest.raises(ValueError, match="sample 0 .*topic"):
        ours.grouped(ours.mean(), "topic")(scores([1, 0]))
    with pytest.raises(ValueError, match="7"):
        ours.ci_wilson()([SampleScore(score=Score(value=2.0), sample_id="q7")])
    for wrong in [lambda: ours.ci(level=2), lambda: ours.ci(method="guess"), lambda: ours.pass_at(0)]:
        with pytest.raises(ValueError):
            wrong()


def test_groups_of_any_metric():
    given = scores([1, 0, 1, 1], [{"topic": t} for t in "abab"])
    for inner in [ours.mean(), reference.mean()]:
        found = ours.grouped(inner, "topic", name_template="t_{group_name:>2}", all="groups")(given)
        assert found == {"t_ a": 1.0, "t_ b": 0.5, "all": 0.75}
    with pytest.raises(ValueError, match="all"):
        ours.grouped(ours.mean(), "topic")(scores([1, 0], [{"topic": "all"}, {"topic": "b"}]))


@pytest.mark.parametrize("template", ["{group_name:>9}", "<{group_name!r}>", "{group_name[0]}", "{group_name:.1}!"])
@pytest.mark.parametrize("all", ["samples", "groups", False])
def test_templates_that_only_python_can_fill_in(template, all):
    """Of groups that get the same name the last one has it."""
    topics = ["plants", "all", "birds", "bees", "plants", "all", "birds"]
    given = scores([1, 0, 0.5, 0.25, 0, 1, 1], [{"topic": topic} for topic in topics])
    for name in ("mean", "stderr"):
        expected, found = (
            module.grouped(getattr(module, name)(), "topic", all=all, name_template=template)(given) for module in (reference, ours)
        )
        assert list(found) == list(expected) and found == pytest.approx(expected)
        assert len(found) == (4 if "[" not in template and "." not in template else 3) + (all is not False)


def test_a_field_of_maps():
    given = scores([{"a": 1, "b": 2}, {"a": 0}, {"a": None, "b": math.nan}])
    for inner in [ours.mean(), reference.mean()]:
        assert ours.aggregate("a", inner, on_missing="skip")(given) == 0.5
        assert ours.aggregate("a", inner, on_missing="zero")(given) == pytest.approx(1 / 3)
        assert ours.aggregate("b", inner, on_missing="skip")(given) == 2.0
        assert math.isnan(ours.aggregate("c", inner, on_missing="skip")(given))
        with pytest.raises(ValueError, match="sample 2"):
            ours.aggregate("a", inner)(given)


def test_the_interval_is_there_however_few_and_equal_scores_are():
    found = ours.interval()(scores(["C", "C", "C"]))
    assert found["upper"] == 1.0 and 0.4 < found["lower"] < 0.5
    # With clusters, two of them are not many.
    wide = ours.interval(cluster="topic")(scores([1, 1, 0, 0], [{"topic": t} for t in "aabb"]))
    assert wide["lower"] < 0.05 and wide["upper"] > 0.95
    assert all(math.isnan(end) for end in ours.interval()([]).values())
    narrow = ours.interval(level=0.5, method="t")(scores([1, 2, 3]))
    assert 1.5 < narrow["lower"] < 2 < narrow["upper"] < 2.5


@pytest.mark.parametrize("name", ["mean_score", "median_score", "max_score", "mode_score", "majority_score", "collect_score"])
def test_a_reducer_is_that_of_the_same_name(name):
    for values in [["C", "I", "C"], [1, 0.5, math.nan], [math.nan, math.nan], [True, 0, 2]]:
        given = [Score(value=value, answer="a", explanation=str(n), metadata={"n": n}) for n, value in enumerate(values)]
        own, theirs = getattr(ours, name)()(given), getattr(reference, name)()(given)
        assert own.model_dump_json() == theirs.model_dump_json()


def test_a_panel_has_the_reasons_of_its_failures():
    nan = Score(value=math.nan, explanation="none", metadata={"unscored_reason": "refused"})
    for failure in [nan, nan.model_copy(update={"reason": "limit"}), nan.model_copy(update={"metadata": None})]:
        given = [Score(value="C"), failure, Score(value="C")]
        own, theirs = ours.majority_score()(given), reference.majority_score()(given)
        assert own.model_dump_json() == theirs.model_dump_json()


def test_maps_and_lists_are_reduced_by_key_and_place():
    maps = [Score(value={"a": 1, "b": "C"}), Score(value={"a": 0, "b": "I"})]
    assert ours.mean_score()(maps).value == {"a": 0.5, "b": 0.5}
    assert ours.max_score()([Score(value=[1, "I"]), Score(value=[0, "C"])]).value == [1, "C"]
    with pytest.raises(ValueError):
        ours.mean_score()([Score(value={"a": 1}), Score(value={"b": 1})])


def test_a_reducer_converts_as_it_is_told(caplog):
    given = [Score(value=value) for value in ["ccc", "a", "bb"]]
    assert ours.max_score(len)(given).value == "ccc"
    assert ours.median_score(len)(given).value == 2.0
    assert ours.at_least(2, value=2, value_to_float=len)(given).value == 1

    def broken(value):
        raise KeyError(value)

    with pytest.raises(KeyError):
        ours.max_score(broken)(given)
    with caplog.at_level(logging.WARNING):
        assert math.isnan(ours.pass_at(4)(given).value)
    assert "4 epochs" in caplog.text


def verified(log):
    """Whether `errorbar verify` finds what it computes in a log, and what it says."""
    done = subprocess.run([sys.executable, "-m", "errorbar", "verify", str(log)], capture_output=True, text=True)
    assert done.returncode in (0, 1), done.stderr
    return done.returncode == 0, done.stdout + done.stderr


def verify(log):
    is_right, said = verified(log)
    assert is_right, said


#: Tasks that have every metric and reducer between them.
TASKS = {
    "numbers": lambda: dict(
        metrics=[ours.mean(), ours.std(), ours.var(), ours.stderr(), ours.ci(), ours.ci(method="bootstrap"), ours.ci_wilson()],
        epochs=Epochs(2, [ours.mean_score(), ours.median_score(), ours.max_score(), ours.mode_score(), ours.pass_k(2)]),
    ),
    "groups": lambda: dict(
        metrics=[
            ours.grouped(ours.mean(), "topic", all="groups", name_template="m_{group_name}"),
            ours.grouped(ours.stderr(), "topic"),
            ours.frequency(normalize=False),
            ours.bootstrap_stderr(),
        ],
        epochs=Epochs(2, [ours.majority_score(), ours.pass_at(1), "errorbar/at_least_1"]),
    ),
    "ratings": lambda: dict(metrics=[ours.krippendorff_alpha()], epochs=Epochs(3, [ours.collect_score()])),
    "maps": lambda: dict(
        scorer=mapped,
        metrics={"a": [ours.mean(), ours.ci()], "b": [ours.accuracy(), ours.grouped(ours.accuracy(), "topic")]},
        epochs=Epochs(2, [ours.mean_score(), "errorbar/max"]),
    ),
    "stars": lambda: dict(scorer=mapped, metrics={"*": [ours.mean(), ours.stderr(cluster="topic")]}, epochs=2),
    "fields": lambda: dict(scorer=mapped, metrics=[ours.aggregate("a", ours.mean()), ours.aggregate("a", ours.ci())]),
    "tokens": lambda: dict(scorer=mapped, metrics=[ours.perplexity_per_token(), ours.perplexity_per_seq()]),
}


@pytest.mark.parametrize("name", TASKS)
def test_what_is_logged_can_be_verified(name, tmp_path):
    log = run(tmp_path, **TASKS[name]())
    verify(log.location)
    changed = tmp_path / "changed.eval"
    for metrics in [score.metrics for score in log.results.scores]:
        key = sorted(metrics)[0]
        metrics[key].value += 0.01
        write_eval_log(log, str(changed))
        is_right, said = verified(changed)
        assert not is_right and key in said
        metrics[key].value -= 0.01


TASK_FILE = """
import inspect_ai.model._model
import inspect_ai.model._tokens
from inspect_ai import Epochs, Task, task
from inspect_ai._util.registry import registry_create
from inspect_ai.dataset import Sample
from inspect_ai.scorer import match

# The mock model would fetch a tokenizer.
inspect_ai.model._model.count_text_tokens = inspect_ai.model._tokens.count_text_tokens = len


@task
def named():
    metrics = [registry_create("metric", f"errorbar/{name}") for name in ("accuracy", "interval")]
    samples = [Sample(id=n, input="?", target="Default" if n % 3 else "Other") for n in range(6)]
    return Task(dataset=samples, scorer=match(location="any"), metrics=metrics, epochs=Epochs(2, ["errorbar/pass_at_2", "mean"]))
"""


def test_the_command_line_of_inspect_finds_them_by_name(tmp_path):
    (tmp_path / "named.py").write_text(TASK_FILE)

    def inspect(*args):
        command = [str(Path(sys.executable).with_name("inspect")), *args, "--display", "plain"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env={**os.environ, "COLUMNS": "200"})
        assert done.returncode == 0, done.stdout + done.stderr

    def names(log):
        return {score.reducer: [metric.name for metric in score.metrics.values()] for score in read_eval_log(str(log)).results.scores}

    inspect("eval", "named.py", "--model", "mockllm/model", "--log-dir", "logs")
    (log,) = (tmp_path / "logs").glob("*.eval")
    assert names(log) == dict.fromkeys(["errorbar/pass_at_2", "mean"], ["errorbar/accuracy", "lower", "upper"])
    verify(log)
    metrics = ["--metric", "errorbar/accuracy", "--metric", "errorbar/stderr"]
    inspect("score", str(log), "--scorer", "match", "--action", "overwrite", "--output-file", "again.eval", *metrics)
    again = tmp_path / "again.eval"
    assert names(again) == dict.fromkeys(["errorbar/pass_at_2", "mean"], ["errorbar/accuracy", "errorbar/stderr"])
    verify(again)


def test_a_run_with_drop_ins(tmp_path):
    metrics = [ours.accuracy(), reference.accuracy(), ours.stderr(cluster="topic"), ours.interval()]
    metrics += [ours.grouped(ours.accuracy(), "topic"), ours.frequency(["C", "I"]), ours.bootstrap_stderr(seed=3)]
    log = run(tmp_path, metrics=metrics, epochs=Epochs(2, [ours.pass_at(2), "errorbar/at_least_2", "mean"]))
    blocks = {score.reducer: score.metrics for score in log.results.scores}
    assert {"errorbar/pass_at_2", "errorbar/at_least_2", "mean"} <= set(blocks)
    mean = blocks["mean"]
    assert mean["accuracy"].name == "errorbar/accuracy"
    assert mean["accuracy"].value == mean["accuracy2"].value
    assert mean["lower"].value < mean["accuracy"].value < mean["upper"].value
    verify(log.location)
    # What is recorded is enough to compute it again.
    again = read_eval_log(log.location)
    recompute_metrics(again)
    assert [block.metrics for block in again.results.scores] == [block.metrics for block in log.results.scores]


def test_a_set_of_evals(tmp_path):
    @task
    def first():
        return Task(dataset=questions(), scorer=graded(), metrics=[ours.mean(), ours.ci_wilson()])

    done, logs = eval_set([first()], log_dir=str(tmp_path), model="mockllm/model", display="none")
    assert done
    verify(logs[0].location)


def test_the_frames_are_those_of_inspect(tmp_path):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    from inspect_ai import analysis

    log = run(tmp_path, epochs=2).location
    for expected, found in [
        (analysis.samples_df(log, full=True, quiet=True), ours.samples_df(log)),
        (analysis.evals_df(log, quiet=True), ours.evals_df(log)),
        (analysis.messages_df(log, quiet=True), ours.messages_df(log)),
    ]:
        pandas.testing.assert_frame_equal(found, expected)
    frame, errors = ours.samples_df(log, strict=False)
    assert len(frame) == 24 and errors == []
    # Custom columns, and logs in memory, are read by Inspect.
    assert list(ours.evals_df(log, columns=analysis.EvalModel)["model"]) == ["mockllm/model"]
    assert len(ours.samples_df(read_eval_log(log))) == 24
    assert set(ours.messages_df(log, filter=lambda message: message.role == "user")["role"]) == {"user"}


def test_what_is_not_a_file_is_read_by_inspect(tmp_path, monkeypatch):
    pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    from inspect_ai import analysis
    from inspect_ai.log import list_eval_logs

    log = run(tmp_path).location
    for found in [iter([log]), Path(log), f"file://{log}", list_eval_logs(str(tmp_path)), list_eval_logs(str(tmp_path))[0]]:
        assert len(ours.evals_df(found)) == 1
    monkeypatch.setenv("INSPECT_LOG_DIR", str(tmp_path))
    assert list(ours.samples_df(parallel=True, quiet=True)["log"].unique()) == [log]
    with pytest.raises(FileNotFoundError):
        ours.messages_df(str(tmp_path / "none.eval"))
    assert "metadata_topic" not in ours.samples_df(log, exclude_fields={"metadata"}).columns
    monkeypatch.setattr(analysis, "evals_df", lambda logs, **given: logs)
    assert ours.evals_df(["s3://bucket/log.eval", log]) == ["s3://bucket/log.eval", log]


def test_a_log_that_cannot_be_read_is_an_exception_also_if_it_is_not_strict(tmp_path):
    pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    from inspect_ai import analysis

    broken = tmp_path / "broken.eval"
    broken.write_bytes(b"no log")
    for module in [analysis, ours]:
        with pytest.raises(ValueError):
            module.evals_df(str(broken), strict=False)
