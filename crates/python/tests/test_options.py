"""Keyword arguments are the fields of requests, and what errors and hints name exists."""

import inspect
import warnings

import pytest

import errorbar as eb
from errorbar._errorbar import request_fields
from test_logs import write_log

#: The arguments that are data, its names, or a field the other way round.
NO_FIELDS = {"data", "name", "names", "a", "b", "others", "logs", "reduce"}


@pytest.mark.parametrize("function", [eb.score, eb.compare, eb.power, eb.verify])
def test_functions_take_what_requests_ask_for(function):
    keywords = set(inspect.signature(function).parameters) - NO_FIELDS
    # It is `reduce=False`.
    assert keywords == set(request_fields(function.__name__)) - {"no_reduce"}


@pytest.mark.parametrize("function", [eb.samples, eb.evals])
def test_frames_of_logs_take_the_limits_of_all_requests(function):
    assert set(inspect.signature(function).parameters) - {"logs"} == set(request_fields("limits"))


def test_frames_of_inspect_take_them_too(tmp_path, command):
    pytest.importorskip("inspect_ai")
    from errorbar import inspect as frames

    log = write_log(tmp_path, command)
    for function in [frames.samples_df, frames.evals_df, frames.messages_df]:
        assert len(function(log, max_decompressed="1G", max_ratio=50, max_record="1M", max_memory="1G"))
        with pytest.raises(eb.LogError, match="the record takes more than the 100 bytes") as raised:
            function(log, max_record=100)
        assert raised.value.hint.endswith("if you trust it, give max_record=")


@pytest.mark.parametrize("correct, incorrect", [(True, False), ([True], [False]), ("True", "False")])
def test_booleans_are_values_where_an_option_takes_one(correct, incorrect):
    cells = {"id": list("abcd"), "score": ["True", "False", "True", "x"]}
    with pytest.raises(eb.TableError, match='"x"'):
        eb.score(cells, correct=correct, incorrect=incorrect)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scored = eb.score(cells, correct=correct, incorrect=incorrect, unconvertible="zero")
    assert scored.to_dict()[0]["estimates"][0]["value"] == 0.5


@pytest.mark.parametrize("listed, rows", [(None, 0), (False, 0), (0, 0), (1, 1), (True, 2), ("all", 2)])
def test_options_whose_value_may_be_left_out(listed, rows):
    a = {"id": list("abcd"), "score": [1, 0, 1, 1]}
    assert len(eb.compare(a, {**a, "score": [0, 1, 1, 1]}, flips=listed).to_dict()["flips"]) == rows
    with pytest.raises(eb.InputError, match="flips=-1: expected true, a number of samples"):
        eb.compare(a, a, flips=-1)


@pytest.mark.parametrize("bounds", [(-1, 1), (-1e-5, 1), (-1e16, 1e16), (-2.5e-7, 3e-300)])
def test_negative_numbers(bounds):
    results = eb.score({"id": list("abcd"), "score": [0, 0, 0, 0]}, metrics="mean", range=bounds, errors="iid", interval="t")
    assert results.to_dict()[0]["estimates"][0]["value"] == 0
    for wrong in [(float("-inf"), 1), ("-e", 1)]:
        with pytest.raises(eb.InputError, match="range="):
            eb.score({"id": ["a"], "score": [0]}, range=wrong)


@pytest.mark.parametrize(
    "call, expected",
    [
        (lambda data: eb.compare(data, data, equivalent=0), "such as equivalent=0.02"),
        (lambda data: eb.score(data, delimiter="abc"), 'delimiter="abc": expected one ASCII character'),
        (lambda data: eb.score(data, decimal="x"), 'decimal="x": unknown variant'),
    ],
)
def test_arguments_in_messages(call, expected):
    with pytest.raises(eb.InputError) as raised:
        call({"id": ["a", "b"], "score": [1, 0]})
    assert expected in str(raised.value)


def test_a_file_whose_name_starts_as_an_option(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "-x.csv").write_text("id,score\na,1\nb,0\nc,1\nd,1\n")
    assert eb.score("-x.csv").to_dict()[0]["log"] == "-x.csv"
    assert eb.power(width=0.1, runs="-x.csv").to_dict() == eb.power(width=0.1, runs="./-x.csv").to_dict()


@pytest.mark.parametrize("argument", ["by", "order", "save_mapping", "name", "explain", "cluser"])
def test_parts_refuse_what_needs_the_whole_table(argument):
    with pytest.raises(TypeError, match=f"unexpected argument '{argument}'"):
        eb.Partial.of({"id": ["a"], "score": [1]}, **{argument: "x"})


def test_options_of_tables_are_those_of_score(tmp_path):
    """Every function that reads tables reads this one, which needs all of them."""
    for name, grades in [("a", "yes;no;yes;no;yes;no"), ("b", "yes;yes;yes;no;no;yes")]:
        rows = [f"{number};{grade}" for number, grade in enumerate(grades.split(";"))]
        (tmp_path / f"{name}.txt").write_text("\n".join(["question;verdict", *rows]) + "\n")
    a, b = tmp_path / "a.txt", tmp_path / "b.txt"
    reading = dict(input_format="csv", delimiter=";", id="question", score="verdict", correct="yes", incorrect="no", max_line="1K")
    mapping = tmp_path / "mapping.toml"
    (scored,) = eb.score(a, save_mapping=mapping, max_columns=2, **reading).to_dict()
    assert scored["estimates"][0]["n"] == 6
    (row,) = eb.compare(a, b, trust_ids=True, **reading).to_dict()["comparisons"]
    assert (row["n"], row["wins"], row["losses"]) == (6, 2, 1)
    planned = eb.power(difference=0.3, runs=[a, b], trust_ids=True, **reading).to_dict()
    assert planned == eb.power(difference=0.3, runs=[a, b], trust_ids=True, mapping=mapping).to_dict()
    with pytest.raises(eb.TableError, match="max_columns=") as raised:
        eb.compare(a, b, max_columns=1, **reading)
    assert raised.value.path == str(a)


def test_samples_without_a_partner_are_listed():
    a, b = ({"id": list(ids), "score": [1, 0, 1]} for ids in ("abc", "bcd"))
    with pytest.warns(eb.ScoreWarning, match="1 sample of a and 1 of b have no partner"):
        assert eb.compare(a, b).notes[-1].endswith("(unmatched=True lists them)")
        notes = "\n".join(eb.compare(a, b, unmatched=True).notes)
    assert "only in a, not in b: a" in notes and "only in b, not in a: d" in notes, notes


def test_gates_decide_as_the_command_does(tmp_path, command):
    a = {"id": [f"q{n}" for n in range(40)], "score": [n % 2 for n in range(40)]}
    b = {**a, "score": [1 - score if n == 7 else score for n, score in enumerate(a["score"])]}
    for name, columns in [("a", a), ("b", b)]:
        rows = [f"{id},{score}" for id, score in zip(columns["id"], columns["score"])]
        (tmp_path / f"{name}.csv").write_text("\n".join(["id,score", *rows]))
    for passes, gate in [
        (True, {"equivalent": 0.5}),
        (False, {"equivalent": 0.01}),
        (True, {"margin": 0.5}),
        # A wider interval contains the margin.
        (True, {"margin": 0.1}),
        (False, {"margin": 0.1, "alpha": 0.01}),
        # It contains 0, which fails only if it is to be decided.
        (True, {"fail_if_worse": True}),
        (False, {"fail_if_worse": True, "decisive": True}),
        (False, {"min_difference": 0}),
    ]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert eb.compare(a, b, **gate).passed is passes, gate
        options = [f"--{key.replace('_', '-')}" + ("" if value is True else f"={value}") for key, value in gate.items()]
        assert command("compare", "a.csv", "b.csv", *options, check=False).returncode == int(not passes), gate


def test_logs_that_cannot_be_read_have_a_hint(tmp_path):
    (tmp_path / "text.eval").write_text("no log")
    for function in [eb.samples, eb.evals, eb.verify, eb.score]:
        with pytest.raises(eb.LogError, match="cannot open the file") as raised:
            function(tmp_path / "absent.eval")
        assert raised.value.hint == "check the path"
        with pytest.raises(eb.LogError, match="not an eval log") as raised:
            function(tmp_path / "text.eval")
        assert raised.value.hint == "give a file that ends in .eval and was written as an eval log"
        assert raised.value.path == str(tmp_path / "text.eval")


@pytest.mark.parametrize("function", [eb.samples, eb.evals, eb.verify, eb.score])
def test_limits_of_logs(function, tmp_path, command):
    log = write_log(tmp_path, command)
    function(log, max_decompressed="1G", max_ratio=50, max_record="1M", max_memory="1G")
    with pytest.raises(eb.LogError, match="the record takes more than the 100 bytes") as raised:
        function(log, max_record=100)
    assert raised.value.path == str(log) and raised.value.hint.endswith("if you trust it, give max_record=")
    with pytest.raises(eb.InputError, match='max_memory="much": expected a number of bytes'):
        function(log, max_memory="much")


def test_scalars_of_numpy_are_values():
    numpy = pytest.importorskip("numpy")
    data = {"id": list("abcd"), "score": [1, 0, 1, 1]}
    expected = eb.score(data, strict=True, level=0.9).to_json()
    assert eb.score(data, strict=numpy.bool_(True), level=numpy.array(0.9)).to_json() == expected
    assert eb.score(data, strict=numpy.False_, level=numpy.float32(0.5)).to_dict()[0]["estimates"][0]["level"] == 0.5


def test_power_takes_two_runs():
    data = {"id": list("abcd"), "score": [1, 0, 1, 1]}
    with pytest.raises(eb.InputError, match="runs= takes one or two runs, found 3"):
        eb.power(difference=0.1, runs=[data] * 3)


def test_compare_scorers_are_a_list():
    with pytest.raises(TypeError, match="compare_scorers= takes two names or more, found 'ab'"):
        eb.compare({"id": ["a"], "score": [1]}, compare_scorers="ab")
