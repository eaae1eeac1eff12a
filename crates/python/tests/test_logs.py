"""`errorbar.samples` and `errorbar.evals`: frames of logs."""

import json
import os
import re

import pytest

import errorbar as eb

TASK = """
dataset = { path = "questions.jsonl" }
model = "replay/outputs.jsonl"
scorer = ["match()", "includes()"]
epochs = 2
"""


def write_log(folder, command, *, count=6, options=()):
    """A log that the command line writes; its path."""
    questions = [{"id": f"q{n}", "input": f"{n}?", "target": str(n), "metadata": {"n": n, "even": n % 2 == 0}} for n in range(count)]
    outputs = [{"id": f"q{n}", "output": str(n) if n % 3 else "no"} for n in range(count)]
    for name, records in [("questions", questions), ("outputs", outputs)]:
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    (folder / "task.toml").write_text(TASK)
    logs = folder / "logs"
    known = set(logs.iterdir()) if logs.exists() else set()
    command("eval", folder / "task.toml", "--log-dir", logs, "--quiet", *options)
    (log,) = set(logs.iterdir()) - known
    return log


@pytest.fixture
def log(tmp_path, command):
    return write_log(tmp_path, command)


def columns(frame):
    pyarrow = pytest.importorskip("pyarrow")
    return pyarrow.table(frame).to_pydict()


def test_a_row_for_each_sample_in_each_epoch(log):
    frame = eb.samples(log)
    assert len(frame) == 12
    assert frame.columns[:5] == ["sample_id", "eval_id", "log", "id", "epoch"]
    read = columns(frame)
    assert read["id"] == [f"q{n}" for n in range(6)] * 2
    assert read["epoch"] == [1] * 6 + [2] * 6
    assert read["metadata_n"] == list(range(6)) * 2
    assert read["metadata_even"] == [True, False] * 6
    assert read["score_match"] == ["I", "C", "C"] * 4
    assert read["input"][1] == "user:\n1?\n"
    assert read["target"][:3] == ["0", "1", "2"]
    assert set(read["log"]) == {str(log)}


def test_types_are_those_of_the_values(log):
    pyarrow = pytest.importorskip("pyarrow")
    schema = pyarrow.table(eb.samples(log)).schema
    assert schema.field("epoch").type == pyarrow.int64()
    assert schema.field("metadata_even").type == pyarrow.bool_()
    assert schema.field("total_time").type == pyarrow.float64()
    assert schema.field("score_match").type == pyarrow.large_string()
    # Also where there is no value at all.
    assert schema.field("choices").type == pyarrow.large_string()


def test_a_row_for_each_log(log, tmp_path, command):
    other = write_log(tmp_path, command, count=3, options=["--log-format", "json"])
    frame = eb.evals([log, other])
    read = columns(frame)
    assert len(frame) == 2
    assert read["status"] == ["success", "success"]
    assert read["total_samples"] == [12, 6]
    assert read["score_match_accuracy"] == [pytest.approx(2 / 3)] * 2
    # A folder is its logs, each once.
    assert sorted(columns(eb.evals(log.parent))["log"]) == sorted([str(log), str(other)])
    assert len(eb.evals([log, log.parent])) == 2
    assert len(eb.samples(log.parent)) == 18


def test_frames_of_other_libraries(log):
    polars = pytest.importorskip("polars")
    pandas = pytest.importorskip("pandas")
    frame = eb.samples(log)
    assert isinstance(frame.to_polars(), polars.DataFrame)
    assert frame.to_polars()["id"].to_list() == list(frame.to_pandas()["id"])
    assert isinstance(frame.to_pandas(), pandas.DataFrame)
    assert polars.DataFrame(frame).shape == frame.shape == (12, len(frame.columns))


def test_the_working_folder_is_no_part_of_the_result(log, monkeypatch):
    monkeypatch.chdir(log.parent)
    assert columns(eb.samples(log.name))["log"][0] == os.fspath(log)
    assert columns(eb.samples(f"../{log.parent.name}/{log.name}"))["log"][0] == os.fspath(log)


def test_a_frame_without_rows_has_its_columns(tmp_path):
    empty = tmp_path / "empty.json"
    empty.write_text(json.dumps({"version": 2, "status": "started", "eval": {"task": "t", "model": "m"}, "samples": []}))
    frame = eb.samples(empty)
    assert len(frame) == 0
    assert {"sample_id", "input", "error"} <= set(frame.columns)
    assert len(eb.evals([])) == 0


def test_what_cannot_be_read_is_an_error_with_its_path(tmp_path, log):
    broken = tmp_path / "broken.eval"
    broken.write_bytes(b"no zip at all")
    with pytest.raises(eb.LogError, match="not an eval log") as caught:
        eb.samples([log, broken])
    assert str(caught.value.path) == str(broken)
    with pytest.raises(eb.LogError) as caught:
        eb.evals(tmp_path / "absent.eval")
    assert str(caught.value.path) == str(tmp_path / "absent.eval")
    bad = tmp_path / "bad.json"
    bad.write_text('{"version": 2, "status": "success", "eval": {"task": "t"}, "samples": [{"id": "q7", "epoch": 1, "input": tru}]}')
    with pytest.raises(eb.LogError, match="q7"):
        eb.samples(bad)


def test_values_of_several_types_are_text_and_what_is_missing_is_null(tmp_path):
    samples = [{"id": n, "epoch": 1, "input": "q", "target": "t", "metadata": metadata} for n, metadata in enumerate([{"k": 1}, {"k": "x"}, {}])]
    path = tmp_path / "mixed.json"
    path.write_text(json.dumps({"version": 2, "eval": {"task": "t", "model": "m"}, "samples": samples}))
    assert columns(eb.samples(path))["metadata_k"] == ["1", "x", None]


@pytest.mark.parametrize("read", [eb.samples, eb.evals])
@pytest.mark.parametrize(
    "content",
    [
        {},
        {"version": 2},
        {"version": 2, "eval": None, "samples": None},
        {"version": 2, "eval": {"task": "t", "model": "m"}, "results": None, "stats": None, "plan": None},
        {"version": 2, "eval": {"task": "t", "scorers": None, "config": {"epochs": None}}, "samples": [{}]},
        {"version": 2, "eval": {"task": 1, "model": []}, "samples": [{"id": None, "epoch": 1}]},
        {"version": 2, "eval": {"task": "t"}, "samples": [{"id": "a", "epoch": 1, "scores": {"s": {"value": {"x": [1]}}}}]},
        {"version": 2, "eval": {"task": "t"}, "samples": [{"id": "a", "epoch": 1, "messages": [None, 3, {"role": 1}]}]},
        {"version": 2, "eval": {"task": "t", "created": "soon"}, "samples": [{"id": 2**70, "epoch": 1}]},
        {"version": 2, "eval": {"task": "t"}, "results": {"scores": [{"metrics": {"a": {"value": "x"}}}]}},
    ],
)
def test_logs_that_lack_things_are_frames_or_errors_that_name_the_log(tmp_path, read, content):
    path = tmp_path / "odd.json"
    path.write_text(json.dumps(content))
    try:
        frame = read(path)
    except eb.LogError as error:
        assert str(error.path) == str(path) and "which is a bug" not in str(error)
    else:
        assert len(frame) == (1 if read is eb.evals else len(content.get("samples") or []))


def test_a_log_of_a_later_version_is_refused(log, tmp_path, command):
    later = tmp_path / "later.json"
    command("log", "convert", log, "-o", later)
    written = later.read_text()
    later.write_text(re.sub(r'"version": *2', '"version":99', written, count=1))
    for function in [eb.samples, eb.evals, eb.score, eb.verify]:
        with pytest.raises(eb.LogError, match="version 99") as raised:
            function(later)
        assert raised.value.hint == "get a newer errorbar"
