"""Data and arguments of unusual types: read for what they are, or refused by an error that names what is wrong and the way out."""

import ast
import ctypes
import datetime
import decimal
import enum
import fractions
import json
import os
import re
import sys
import uuid
import warnings

import pytest

import errorbar as eb
from errorbar import _errorbar

IDS = ["a", "b", "c", "d"]
#: A number in the byte order of other machines.
FOREIGN_DOUBLE = getattr(ctypes.c_double, "__ctype_be__" if sys.byteorder == "little" else "__ctype_le__")
SCORES = {"id": IDS, "score": [1, 0, 1, 1], "topic": ["x", "x", "y", "y"]}


class Grade(enum.Enum):
    RIGHT = "C"
    WRONG = "I"


def estimate(data, **keywords):
    (row,) = eb.score(data, **{"metrics": "mean"} | keywords).to_dict()[0]["estimates"]
    return row["value"], row["n"]


@pytest.mark.parametrize(
    "scores, expected",
    [
        ([decimal.Decimal("0.25")] * 4, (0.25, 4)),
        ([fractions.Fraction(1, 2), 0, 1, 0.5], (0.5, 4)),
        ([Grade.RIGHT, Grade.WRONG, Grade.RIGHT, Grade.RIGHT], (0.75, 4)),
        ((score for score in [1, 0, None, 1]), (2 / 3, 3)),
    ],
)
def test_values_of_the_standard_library(scores, expected):
    assert estimate({"id": IDS, "score": scores}) == pytest.approx(expected)


def test_ids_and_metadata_of_the_standard_library():
    days = [datetime.date(2026, 1, 1), datetime.date(2026, 1, 2)] * 2
    grouped = eb.score({"id": [uuid.UUID(int=n) for n in range(4)], "score": [1, 0, 1, 1], "day": days}, metrics='grouped(mean(), "day")')
    assert [row.get("group") for row in grouped.to_dict()[0]["estimates"]][:2] == ["2026-01-01", "2026-01-02"]


@pytest.mark.parametrize("kind", [">f8", ">i8", ">i4", ">f4", ">u2", ">f2", "<f8", "<i4"])
def test_every_byte_order(kind):
    numpy = pytest.importorskip("numpy")
    scores = numpy.array([1, 0, 1, 1], dtype=kind)
    assert estimate({"id": IDS, "score": scores}) == (0.75, 4)
    rows = numpy.array(list(zip(IDS, scores, strict=True)), dtype=[("id", "U4"), ("score", kind)])
    assert estimate(rows) == (0.75, 4)


def test_buffers_of_every_byte_order():
    """Python converts them or refuses them, but the native part does not rely on that."""
    foreign = ">" if sys.byteorder == "little" else "<"
    with pytest.raises(TypeError, match='column "score": its numbers are in a foreign byte order: convert them'):
        eb.score({"id": IDS, "score": memoryview((FOREIGN_DOUBLE * 4)(1, 0, 1, 1))})
    numpy = pytest.importorskip("numpy")
    columns = {"id": IDS, "score": numpy.array([1, 0, 1, 1], dtype=foreign + "f8")}
    results = _errorbar.score(["data"], '{"metrics": "mean"}', [("data", columns, None)], [])
    assert results.to_dict()[0]["estimates"][0]["value"] == 0.75


def test_integers_without_a_float():
    for scores in ([1, 0, 10**400, 1], [0.5, 0, 10**400, 1]):
        with pytest.raises(ValueError, match='column "score", row 3: .*too large'):
            eb.score({"id": IDS, "score": scores})
    with pytest.raises(ValueError, match='column "score", in a list or map: .*too large'):
        eb.score({"id": ["a"], "score": [[1, 10**400]]})
    with pytest.raises(ValueError, match='column "id", row 2: .*digits'):
        eb.score({"id": ["a", 10**5000], "score": [1, 0]})


def test_numpy():
    numpy = pytest.importorskip("numpy")
    masked = numpy.ma.array([1.0, 0, 1, 1], mask=[0, 1, 0, 0])
    assert estimate({"id": IDS, "score": masked}) == (1.0, 3)
    days = numpy.array(["2026-01-01"] * 4, dtype="M8[ns]")
    with pytest.raises(eb.InputError, match="4 values are no scores: \"2026-01-01T"):
        eb.score({"id": IDS, "score": days})
    assert estimate({"id": IDS, "score": [1, 0, 1, 1], "day": days}) == (0.75, 4)
    plain = eb.score(SCORES, level=0.9, interval="bootstrap", draws=100, seed=3)
    given = {"level": numpy.float64(0.9), "draws": numpy.int64(100), "seed": numpy.int64(3)}
    assert eb.score(SCORES, interval="bootstrap", **given).to_json() == plain.to_json()


def test_pandas(monkeypatch):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    plain = pandas.DataFrame(SCORES)
    mixed = plain.assign(score=pandas.Series([1, "C", None, 0.5], dtype=object)).set_index("id")
    missing = plain.assign(score=[1.0, None, 0.0, 1.0])
    for has_pyarrow in (True, False):
        monkeypatch.setattr("errorbar._columns.has_pyarrow", lambda: has_pyarrow)
        assert estimate(mixed) == (2.5 / 3, 3)
        assert eb.score(mixed).to_dict()[0]["estimates"][0]["n"] == 3
        assert estimate(plain.astype(object)) == (0.75, 4)
        assert estimate({name: missing[name] for name in missing.columns}) == (2 / 3, 3)
        assert estimate(missing) == (2 / 3, 3) and "1 missing" in repr(eb.score(missing))
        assert estimate(missing.astype({"score": "Float64", "topic": "category"}), cluster="topic") == (2 / 3, 3)
        # The index is the id: without it, these would be row numbers.
        assert eb.compare(mixed, mixed.iloc[::-1]).to_dict()["comparisons"][0]["n"] == 3
    with pytest.raises(ValueError, match="two columns of the frame have the same name: score"):
        eb.score(pandas.DataFrame([["a", 1, 2]], columns=["id", "score", "score"]))


def test_pyarrow(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    dataset = pytest.importorskip("pyarrow.dataset")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pyarrow.table(SCORES), tmp_path / "scores.parquet")
    files = dataset.dataset(tmp_path / "scores.parquet")
    assert estimate(files) == estimate(files.scanner()) == (0.75, 4)
    with pytest.raises(TypeError, match='from ChunkedArray, which has no columns: give a frame, or a mapping such as {"score": values}'):
        eb.score(pyarrow.chunked_array([[1, 0]]))


def test_paths_of_bytes(tmp_path):
    (tmp_path / "scores.csv").write_text("id,score\na,1\nb,0\n")
    assert estimate(os.fsencode(tmp_path / "scores.csv")) == (0.5, 2)


@pytest.mark.parametrize(
    "data, message",
    [
        ({"id": {0: "a"}, "score": {0: 1}}, 'column "id": .* got a mapping; pandas: frame.to_dict\\("list"\\)'),
        ({"id": IDS, "score": {1, 2, 3, 4}}, 'column "score": .* got a set, whose values have no order'),
        ({"id": IDS, "score": 1}, 'column "score": .* got one value of the type int'),
        ({"id": [b"a"], "score": [1]}, 'column "id", row 1: a value of the type bytes, .*: decode it'),
        ([{"id": "a", "score": 1}, {"id": "b", "score": 0}], "a list of rows is no table: give a mapping of columns"),
        ([1, 0, 1], 'a list of numbers is no table: .* {"score": numbers}'),
        (None, "cannot read scores from NoneType: expected a path, a frame"),
    ],
)
def test_what_is_no_table(data, message):
    with pytest.raises(TypeError, match=message):
        eb.score(data)


def test_what_is_no_table_of_other_libraries():
    numpy = pytest.importorskip("numpy")
    polars = pytest.importorskip("polars")
    pandas = pytest.importorskip("pandas")
    for values in (numpy.ones(3), polars.Series([1, 0]), pandas.Series([1, 0])):
        with pytest.raises(TypeError, match="which has no columns: give a frame, or a mapping"):
            eb.score(values)
    with pytest.raises(ValueError, match='column "score": expected one dimension, got 2'):
        eb.score({"id": IDS, "score": numpy.ones((4, 2))})
    with pytest.raises(TypeError, match='column "first": a frame is no column: give several frames as a list'):
        eb.score({"first": polars.DataFrame(SCORES)})
    with pytest.raises(TypeError, match="cluster= takes .*, found a Series: name the column"):
        eb.score(SCORES, cluster=pandas.Series(SCORES["topic"]))


@pytest.mark.parametrize("value", [1, (0, 1, 2), "0,1", ()])
def test_a_range_is_two_numbers(value):
    with pytest.raises(eb.InputError, match="range=") as raised:
        eb.score(SCORES, range=value)
    assert value == "0,1" or raised.value.hint == "write range=(LO, HI), such as range=(0, 10)"


@pytest.mark.parametrize("value", [max, lambda scores: 1.0, ["mean", max]])
def test_a_function_that_is_no_metric(value):
    with pytest.raises(eb.SpecError, match="is a function that errorbar does not know\nhint: define it with @errorbar.metric"):
        eb.score(SCORES, metrics=value)


def test_a_value_that_is_no_metric():
    with pytest.raises(eb.SpecError, match="expected the name of a metric or reducer, found 5"):
        eb.score(SCORES, metrics=[5])


def test_metrics_of_fields():
    scores = {"id": ["a", "b"], "score": [{"style": 1, "fact": 0}, {"style": 0, "fact": 0}]}
    named = eb.score(scores, metrics={"*": ["mean", "std()"], "style": "var"})
    assert named.to_json() == eb.score(scores, metrics='{"*": [mean, std()], "style": [var]}').to_json()


def test_definitions():
    for define, kind, name in ((eb.metric, "metric", "accuracy"), (eb.reducer, "reducer", "mean"), (eb.scorer, "scorer", "match")):
        with pytest.raises(ValueError) as raised:
            define(lambda *given: 1.0, name=name)
        assert str(raised.value) == f'"{name}" is the name of a {kind} that is built in: name yours with @errorbar.{kind}(name="my_{name}")'
    # What was refused is not there.
    assert estimate(SCORES) == (0.75, 4)
    with pytest.raises(ValueError, match="'<lambda>' cannot name a reducer: give it another name"):
        eb.reducer(lambda scores: 1.0)
    with pytest.raises(TypeError, match="errorbar.metric takes a function, found 'accuracy'"):
        eb.metric("accuracy")
    counted = eb.metric(lambda scores: float(len(scores.metadata("topic"))), name="counted", metadata="topic")
    assert estimate(SCORES, metrics=counted)[0] == 4.0


@pytest.mark.parametrize("returned, found", [("0.5", "str"), ([0.5], "list"), (None, "None"), ({"low": "x"}, 'str under "low"')])
def test_what_a_metric_returns(returned, found):
    eb.metric(lambda scores: returned, name="returning")
    with pytest.raises(eb.Error) as raised:
        eb.score(SCORES, metrics="returning")
    expected = f"returning failed: TypeError: a metric returns a float, an errorbar.Estimate or a dict of them; this one returned {found}"
    assert raised.value.message.endswith(expected), raised.value.message


def hint_of(call):
    """The hint of an error or of the only warning, whose keyword arguments are Python."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            call()
            (hint,) = {re.search(r"\((.*)\)$", str(warning.message)).group(1) for warning in caught}
        except eb.InputError as error:
            hint = error.hint
    # What is in backticks is a command, and in quotes data.
    assert "--" not in re.sub('`[^`]*`|"[^"]*"', "", hint), hint
    for argument in re.findall(r"\b([a-z_]\w*=(?:\([^)]*\)|\[[^]]*\]|\"[^\"]*\"|'[^']*'|[^\s;,?`]+))", hint):
        ast.parse(f"f({argument})")
    return hint


PARTLY = {"id": ["a", "b"], "score": [{"x": 1, "y": "t"}, {"x": 0, "y": "u"}]}
NUMBERED = {"id": ["0", "1", "2", "3"], "score": [1, 0, 1, 1]}


@pytest.mark.parametrize(
    "call, expected",
    [
        (
            lambda: eb.compare(SCORES, SCORES | {"id": ["e", "f", "g", "h"]}),
            "id= names the column of a table that identifies them; if they are different samples on purpose, give unpaired=True",
        ),
        (lambda: eb.compare(NUMBERED, NUMBERED), "trust_ids=True if a number is the same sample on both sides, unpaired=True otherwise"),
        (lambda: eb.score(SCORES | {"score": ["P", "F", "P", "F"]}), 'correct="P", incorrect="F"'),
        (lambda: eb.score(SCORES | {"score": ["0,5", "1,5", "0,5", "1,5"]}), 'decimal=","'),
        (lambda: eb.power(difference=0.03), 'runs=[LOG, LOG]'),
        (lambda: eb.power(difference=0.03, share=0.5), "add correlation=R or unpaired=True, or give p10= and p01= in place of share="),
        (lambda: eb.compare(SCORES), 'by='),
        (lambda: eb.score(SCORES, cluster="topics"), 'did you mean cluster="topic"?'),
        (lambda: eb.score(SCORES | {"my topic": list("xyxy")}, cluster="my topics"), 'did you mean cluster="my topic"?'),
        # What an option repeats is a list.
        (lambda: eb.score(SCORES | {"score": ["C", "I", "ugly", "C"]}), 'correct="C", incorrect=["I", "ugly"];'),
        (lambda: eb.score(SCORES, metrics="mean, std"), 'metrics=["mean", "std"]'),
        # Values with signs that end a sentence, and with quotes of a shell.
        (lambda: eb.score(SCORES | {"score": ["x:y", "z,w"] * 2}), 'correct="x:y", incorrect="z,w";'),
        (lambda: eb.score(SCORES | {"score": ["--", "1", "0", "1"]}), 'na="--"'),
        (lambda: eb.score({"id": IDS, "it's": [1, 0, 1, 0]}, score="its"), 'did you mean score="it\'s"?'),
        (lambda: eb.score(SCORES | {"score": ["a\\b", "c\td"] * 2}), r'correct="a\\b", incorrect="c\td";'),
        # `compare` reduces the epochs of a sample in any case.
        (lambda: eb.compare(PARTLY, PARTLY, trust_ids=True), "(`x`) as columns of their own, and name one with score="),
        (lambda: eb.score(PARTLY), """reduce=False, metrics='{"x": [mean(), stderr()]}'"""),
        # A hint that can be followed: the 0.5 would be neither correct nor incorrect.
        (lambda: eb.score(SCORES | {"score": ["nope", "0.5", "0", "0"]}), "other cells are numbers"),
    ],
)
def test_hints_are_python(call, expected):
    assert expected in hint_of(call)


def test_data_in_messages_is_as_it_was():
    for text in ["git commit --amend now", 'say "--by x" twice --level 3', "--strict"]:
        with pytest.raises(eb.TableError) as raised:
            eb.score({"id": [text] * 2, "score": [1, 0]})
        assert raised.value.sample == text and json.dumps(text) in raised.value.message


def test_texts_of_warnings_are_python():
    with pytest.warns(eb.ScoreWarning, match="metrics= names no metric"):
        eb.score(SCORES, metrics={})


def test_errors_say_where():
    with pytest.raises(eb.TableError) as raised:
        eb.score(SCORES | {"score": [1, 0, "huh", 1]})
    assert (raised.value.path, raised.value.row, raised.value.sample) == ("<data>", 3, "c")
    with pytest.raises(eb.TableError) as raised:
        eb.score(SCORES | {"score": ["yes", "no", "huh", "no"]}, correct="yes", incorrect="no", name="grades")
    assert (raised.value.path, raised.value.row, raised.value.sample) == ("grades", 3, "c")
    with pytest.raises(eb.InputError) as raised:
        eb.score(SCORES, metrics='grouped(accuracy(), "topics")')
    assert raised.value.path == "<data>"


def test_an_exception_of_a_metric_says_which_line_raised_it():
    def failing(scores):
        raise ValueError("no")

    eb.metric(failing)
    with pytest.raises(eb.InputError, match="failing failed: ValueError: no .*test_misuse.py, line") as raised:
        eb.score(SCORES, metrics="failing")
    assert f"line {failing.__code__.co_firstlineno + 1})" in raised.value.message


def test_what_a_reducer_returns_is_a_score():
    eb.reducer(lambda scores: "zz", name="lettering")
    with pytest.raises(eb.InputError, match="`score`: 2 values are no scores") as raised:
        eb.score({"id": ["a", "a", "b", "b"], "epoch": [1, 2, 1, 2], "score": [1, 0, 1, 1]}, reducers="lettering")
    assert raised.value.message.endswith("are no scores") and "let it return numbers" in raised.value.hint


def test_figures_of_a_metric_have_keys_that_differ():
    eb.metric(lambda scores: {1: 1.0, "1": 2.0}, name="doubled")
    with pytest.raises(eb.InputError, match='two keys of the figures are "1" as strings'):
        eb.score(SCORES, metrics="doubled")


def test_strings_that_are_no_unicode_are_refused():
    for column in ["id", "topic"]:
        with pytest.raises(ValueError, match=f'column "{column}", row 1: .*surrogates not allowed'):
            eb.score(SCORES | {column: ["\ud800", "\ud801", "c", "d"]})


def test_a_frame_and_a_file_have_different_names(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "b").write_text("id,score\na,1\nb,1\nc,1\nd,0\n")
    assert eb.compare("b", SCORES, input_format="csv").to_dict()["sides"] == ["b", "c"]
    with pytest.raises(ValueError, match="a frame and a file have the name 'b'"):
        eb.compare("b", SCORES, input_format="csv", names=["x", "b"])


def test_hints_of_notes_are_python():
    (note,) = eb.score(SCORES | {"score": [3, 9, 4, 8]}, interval="wilson").notes[-1:]
    assert "possible score: range=(LO, HI)" in note


@pytest.mark.parametrize(
    "fields, message",
    [
        ({"value": "x"}, "value is a number, found 'x'"),
        ({"value": 0.5, "stderr": -1}, "stderr is at least 0, found -1"),
        ({"value": 0.5, "lower": 0.7, "upper": 0.1}, "lower is at most upper, found 0.7 and 0.1"),
        ({"value": 0.5, "level": 95}, "level lies between 0 and 1, found 95"),
    ],
)
def test_estimates(fields, message):
    with pytest.raises((TypeError, ValueError), match=message):
        eb.Estimate(**fields)


def test_inspect_that_is_not_there(monkeypatch):
    monkeypatch.setitem(sys.modules, "inspect_ai", None)
    monkeypatch.delitem(sys.modules, "errorbar.inspect", raising=False)
    with pytest.raises(ImportError, match="errorbar.inspect.accuracy needs inspect_ai, which is not installed: pip install inspect_ai"):
        from errorbar.inspect import accuracy  # noqa: F401


def test_compare():
    with pytest.raises(TypeError, match=r"compare takes each input as an argument: compare\(\*inputs\)"):
        eb.compare([SCORES, SCORES])
    with pytest.raises(TypeError, match="cannot read scores from NoneType"):
        eb.compare(SCORES, None, SCORES)
    with pytest.raises(ValueError, match="two frames have the name 'a': give each another with names="):
        eb.compare(SCORES, SCORES, names=["a", "a"])
    assert eb.compare(*[SCORES] * 28).to_dict()["sides"][25:] == ["z", "aa", "ab"]


@pytest.mark.parametrize("function", [eb.samples, eb.evals, eb.verify])
def test_what_is_no_log(function):
    for data in (None, 5, SCORES):
        with pytest.raises(TypeError, match="expected paths of eval logs or of folders of them, found"):
            function(data)
