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
    (tmp_path / "scores.csv").write_text("id,score,topic\na,1,x\nb,0.5,y\n")


def test_the_command_line(module, command):
    assert "worst" in command("score", "scores.csv", "--metric", "mypkg:worst").stdout
    assert "worst" in command("score", "scores.csv", "-m", "grouped(mypkg:worst, 'topic')").stdout
    for named, problem in (("nopkg:worst", "No module named 'nopkg'"), ("mypkg:nope", "has no metric")):
        failed = command("score", "scores.csv", "--metric", named, check=False)
        assert failed.returncode == 2 and problem in failed.stderr, failed.stderr


def test_specs_of_functions_in_modules(module, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert estimates(metrics="mypkg:worst")["worst"]["value"] == 0.125
    with pytest.raises(eb.SpecError, match="No module named 'nopkg'"):
        eb.score(SCORES, metrics="nopkg:worst")


TASK = 'dataset = "data.jsonl"\nsolver = "generate()"\nscorer = "{}()"\nmetrics = ["accuracy", "{}"]\n'
DATA = '{"input": "say yes", "target": "yes"}\n{"input": "say no", "target": "no"}\n'


def evaluated(command, folder, text):
    folder.mkdir(exist_ok=True)
    (folder / "task.toml").write_text(text)
    (folder / "data.jsonl").write_text(DATA)
    done = command("eval", str(folder / "task.toml"), "--model", "mock/YES", "--log-dir", "logs")
    assert "worst" in done.stdout and "0.50" in done.stdout, done.stdout + done.stderr


def test_task_files(module, command, tmp_path, monkeypatch):
    """The module is looked for beside the task file and in the current folder."""
    evaluated(command, tmp_path, TASK.format("mypkg:shouts", "mypkg:worst"))
    (tmp_path / "tasks").mkdir()
    (tmp_path / "mypkg.py").rename(tmp_path / "tasks/otherpkg.py")
    evaluated(command, tmp_path / "tasks", TASK.format("otherpkg:shouts", "otherpkg:worst"))
    listed = command("list", "tasks", "tasks")
    assert "otherpkg:shouts" in listed.stdout, listed.stdout + listed.stderr

    # A log names functions and imports nothing, whatever it names.
    scored = command("score", "logs", check=False)
    assert "`worst`" in scored.stderr and "not registered" in scored.stderr, scored.stderr
    (tmp_path / "tasks/otherpkg.py").rename(tmp_path / "otherpkg.py")
    monkeypatch.setenv("ERRORBAR_IMPORT", "otherpkg")
    assert "worst" in command("score", "logs").stdout


def test_a_log_imports_nothing(command, tmp_path):
    (tmp_path / "trap.py").write_text("open('sprung', 'w')")
    (tmp_path / "task.toml").write_text('dataset = "data.jsonl"\nsolver = "generate()"\nscorer = "match()"\n')
    (tmp_path / "data.jsonl").write_text(DATA)
    command("eval", "task.toml", "--model", "mock/YES", "--log-dir", "logs", "--log-format", "json")
    log = next((tmp_path / "logs").glob("*.json"))
    text = log.read_text()
    assert "inspect_ai/accuracy" in text
    log.write_text(text.replace("inspect_ai/accuracy", "trap:f"))
    failed = command("score", str(log), check=False)
    assert "trap:f" in failed.stderr, failed.stdout + failed.stderr
    assert not (tmp_path / "sprung").exists()


@pytest.mark.parametrize("ending", [KeyboardInterrupt, SystemExit(3), GeneratorExit])
def test_what_ends_the_program_is_no_failure(ending):
    @eb.metric(name="ends")
    def metric(scores):
        raise ending

    @eb.reducer(name="ends_early")
    def reducer(scores):
        raise ending

    class Number:
        def __float__(self):
            raise ending

    @eb.metric(name="ends_late")
    def late(scores):
        return Number()

    kind = ending if isinstance(ending, type) else type(ending)
    for metrics in ([metric], [late], ["mean", metric, best], [f"bootstrap({name}())" for name in ("mean",)] + [metric]):
        with pytest.raises(kind) as raised:
            eb.score(SCORES, metrics)
        assert getattr(raised.value, "code", 3) == 3
    with pytest.raises(kind):
        eb.score(SCORES, "mean", reducers=[reducer])
    with pytest.raises(kind):
        eb.compare(SCORES, {**SCORES, "score": [1.0, 0.5, 0.0, 1.0]}, metrics=[metric])
    # The next call is as any other.
    assert estimates(metrics=[best])["best"]["value"] == 0.75
