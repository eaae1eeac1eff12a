"""The same scores through every way in: JSON equal byte by byte to the command's."""

import array
import datetime
import json
import math

import pytest

import errorbar as eb

IDS = [f"q{number // 2}" for number in range(400)]
EPOCHS = [1 + number % 2 for number in range(400)]
SCORES = [[1, 0, 0.5, 0.25][number % 4] * 1.0 for number in range(400)]
TOPICS = [["algebra", "number theory", "tödlich"][number % 3] for number in range(400)]
COLUMNS = {"id": IDS, "epoch": EPOCHS, "score": SCORES, "topic": TOPICS}
METRICS = ["accuracy", 'grouped(accuracy(), "topic")']


def as_csv(columns, path):
    names = list(columns)
    rows = zip(*columns.values(), strict=True)
    cell = lambda value: "" if value is None else repr(value) if isinstance(value, float) else str(value)  # noqa: E731
    path.write_text("\n".join([",".join(names), *(",".join(map(cell, row)) for row in rows)]) + "\n")
    return path


def as_jsonl(columns, path):
    rows = zip(*columns.values(), strict=True)
    path.write_text("".join(json.dumps(dict(zip(columns, row, strict=True))) + "\n" for row in rows))
    return path


@pytest.fixture
def expected(tmp_path, command_json):
    path = as_csv(COLUMNS, tmp_path / "scores.csv")
    metrics = [option for metric in METRICS for option in ("--metric", metric)]
    return command_json(path, *metrics, "--cluster", "topic")


def check(data, expected):
    assert eb.score(data, metrics=METRICS, cluster="topic").to_json() == expected


def test_lists(expected):
    check(COLUMNS, expected)


def test_a_path(tmp_path, expected):
    path = as_csv(COLUMNS, tmp_path / "scores.csv")
    results = eb.score(path, metrics=METRICS, cluster="topic")
    assert results.to_json().replace(json.dumps(str(path)), '"<data>"') == expected


def test_buffers(expected):
    check(COLUMNS | {"score": array.array("d", SCORES), "epoch": array.array("b", EPOCHS)}, expected)
    check(COLUMNS | {"epoch": memoryview(array.array("q", EPOCHS))}, expected)


def test_numpy(expected):
    numpy = pytest.importorskip("numpy")
    columns = {name: numpy.array(values) for name, values in COLUMNS.items()}
    check(columns, expected)
    # Every other element of an array, and objects.
    strided = numpy.repeat(numpy.array(SCORES), 2)[::2]
    check(columns | {"score": strided, "topic": numpy.array(TOPICS, dtype=object)}, expected)
    check(columns | {"score": numpy.array(SCORES, dtype="f2"), "epoch": numpy.array(EPOCHS, dtype="u2")}, expected)


def test_polars(expected):
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(COLUMNS)
    check(frame, expected)
    check(frame.lazy(), expected)
    check(frame.with_columns(polars.col("topic").cast(polars.Categorical)), expected)
    check(frame.with_columns(polars.col("epoch").cast(polars.UInt8), polars.col("score").cast(polars.Float32)), expected)
    check({name: frame[name] for name in frame.columns}, expected)
    chunks = polars.concat([frame.slice(row, 1) for row in range(len(frame))], rechunk=False)
    check(chunks, expected)
    check({name: chunks[name] for name in frame.columns}, expected)


def test_pandas(expected):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(COLUMNS)
    check(frame, expected)
    check(frame.astype({"topic": "category"}), expected)
    check(frame.set_index("id"), expected)
    check({name: frame[name] for name in frame.columns}, expected)


def test_pandas_without_pyarrow(expected, monkeypatch):
    pandas = pytest.importorskip("pandas")
    monkeypatch.setattr("errorbar._columns.has_pyarrow", lambda: False)
    check(pandas.DataFrame(COLUMNS), expected)


def test_pyarrow(expected):
    pyarrow = pytest.importorskip("pyarrow")
    table = pyarrow.table(COLUMNS)
    check(table, expected)
    check(table.to_reader(max_chunksize=7), expected)
    check(pyarrow.concat_tables(table.slice(row, 1) for row in range(len(table))), expected)
    check({name: table[name].combine_chunks() for name in table.column_names}, expected)
    for text in (pyarrow.large_string(), pyarrow.string_view(), pyarrow.dictionary(pyarrow.int8(), pyarrow.string())):
        check(table.set_column(3, "topic", table["topic"].cast(text)), expected)
    for ids in (pyarrow.large_string(), pyarrow.string_view(), pyarrow.dictionary(pyarrow.int32(), pyarrow.string())):
        check(table.set_column(0, "id", table["id"].cast(ids)), expected)
    for number in (pyarrow.int8(), pyarrow.uint32(), pyarrow.uint64(), pyarrow.float32()):
        check(table.set_column(1, "epoch", table["epoch"].cast(number)), expected)
    for number in (pyarrow.float16(), pyarrow.float32(), pyarrow.decimal128(5, 2), pyarrow.decimal64(5, 2)):
        check(table.set_column(2, "score", table["score"].cast(number)), expected)
    check(table.set_column(2, "score", table["score"].dictionary_encode()), expected)


def test_duckdb(expected):
    duckdb = pytest.importorskip("duckdb")
    pyarrow = pytest.importorskip("pyarrow")
    scores = pyarrow.table(COLUMNS)  # noqa: F841
    check(duckdb.sql("select * from scores"), expected)
    check(duckdb.sql("select id, epoch, score, topic::enum('algebra', 'number theory', 'tödlich') as topic from scores"), expected)


def test_a_frame_of_ours(expected):
    rows = eb.score(COLUMNS, metrics='grouped(mean(), "topic", all=false)').rows
    again = eb.score(rows, score="value", id="group", metrics="mean")
    assert again.to_dict()[0]["estimates"][0]["n"] == 3


def refused(data, match, kind=eb.TableError, **keywords):
    with pytest.raises(kind, match=match) as caught:
        eb.score(data, metrics="mean", **keywords)
    return caught.value


def mean(data):
    (estimate,) = eb.score(data, metrics="mean").to_dict()[0]["estimates"]
    return estimate["value"], estimate["n"]


def test_arrays_that_break_the_rules_of_arrow_are_refused():
    pyarrow = pytest.importorskip("pyarrow")
    bad = pyarrow.array([b"\xff\xfe", b"C"]).view(pyarrow.string())
    coded = pyarrow.DictionaryArray.from_arrays(pyarrow.array([0, 7], pyarrow.int8()), pyarrow.array(["C", "I"]), safe=False)
    for column in (bad, coded, pyarrow.array([["a"], ["b"]], pyarrow.list_(pyarrow.string())).from_arrays([0, 1, 2], bad)):
        refused(pyarrow.table({"id": [1, 2], "score": column}), "`score` is no valid Arrow array")
    refused(pyarrow.table({"id": bad, "score": [1, 0]}), "`id` is no valid Arrow array")
    # What is not read does not matter.
    assert mean(pyarrow.table({"id": [1, 2], "score": [1, 0], "note": bad})) == (0.5, 2)


@pytest.mark.parametrize("text", ["abcdef", "aböcde", "abcdé"])
@pytest.mark.parametrize("ends", [(2, 3, 6), (0, 3, 6), (2, 1, 6), (2, 9, 6), (-1, 3, 6)])
def test_strings_are_read_or_refused_as_arrow_says(text, ends):
    """Strings that are all ASCII have a shorter check."""
    pyarrow = pytest.importorskip("pyarrow")
    for kind, width in ((pyarrow.string(), "i"), (pyarrow.large_string(), "q")):
        offsets = pyarrow.py_buffer(array.array(width, (0, *ends)).tobytes())
        ids = pyarrow.Array.from_buffers(kind, 3, [None, offsets, pyarrow.py_buffer(text.encode())])
        try:
            ids.validate(full=True)
            found = ids.to_pylist()
        except pyarrow.ArrowInvalid:
            refused(pyarrow.table({"id": ids, "score": [1, 0, 1]}), "`id` is no valid Arrow array")
            continue
        if "" in found:
            refused(pyarrow.table({"id": ids, "score": [1, 0, 1]}), "the id is empty")
            continue
        assert mean(pyarrow.table({"id": ids, "score": [1, 0, 0.5]})) == (0.5, 3)
        # Strings that do not begin where their bytes do.
        twice = pyarrow.chunked_array([ids.slice(0, 1), ids.slice(1), ids.slice(1, 1)])
        refused(pyarrow.table({"id": twice, "score": [1, 0, 1, 1]}), f'row 4: sample "{found[1]}": epoch 1')


@pytest.mark.parametrize("names", [("id", "score"), ("question_id", "correct")])
@pytest.mark.parametrize("good", [0, 1])
def test_a_stream_that_raises_is_no_shorter_table(names, good):
    pyarrow = pytest.importorskip("pyarrow")
    first = pyarrow.record_batch([pyarrow.array([1, 2, 3]), pyarrow.array([1, 0, 1])], names=names)

    def batches():
        yield from [first] * good
        raise ValueError("the database went away")

    refused(pyarrow.RecordBatchReader.from_batches(first.schema, batches()), "the database went away")


def test_a_column_of_structures_is_no_table():
    pyarrow = pytest.importorskip("pyarrow")
    rows = pyarrow.chunked_array([pyarrow.array([{"id": 1, "score": 1}, None, {"id": 2, "score": 0}])])
    refused(rows, "has no columns", TypeError)
    assert mean(pyarrow.Table.from_struct_array(rows.drop_null())) == (0.5, 2)


class Rows:
    """What an unknown library hands over: a stream, and nothing else."""

    def __init__(self, *chunks):
        self.chunks = chunks

    def __arrow_c_stream__(self, requested_schema=None):
        import pyarrow

        return pyarrow.chunked_array(self.chunks).__arrow_c_stream__(requested_schema)


def structures(ids, null=()):
    """Rows of these ids with the score 1; those that are null have an id and the score 0 nevertheless."""
    import pyarrow

    scores = [0.0 if one in null else 1.0 for one in ids]
    mask = pyarrow.array([one in null for one in ids], pyarrow.bool_())
    columns = [pyarrow.array(ids, pyarrow.int64()), pyarrow.array(scores, pyarrow.float64())]
    return pyarrow.StructArray.from_arrays(columns, ["id", "score"], mask=mask)


def test_rows_of_an_unknown_library():
    pyarrow = pytest.importorskip("pyarrow")
    assert mean(Rows(structures([1, 2, 3]), structures([]), structures([4]))) == (1.0, 4)
    assert mean(Rows(structures([9, 9, 1, 2, 9]).slice(2, 2))) == (1.0, 2)
    refused(Rows(pyarrow.array([1, 0])), "it holds Int64 and no rows")


@pytest.mark.parametrize("columns", [{}, {"id": "id", "score": "score"}])
def test_a_row_that_is_null_is_no_zero(columns):
    """What its fields hold is no value."""
    pytest.importorskip("pyarrow")
    error = refused(Rows(structures([1, 2, 3]), structures([4, 5, 6, 7], null=[6])), "row 6: the row is null as a whole", **columns)
    assert error.row == 6 and error.hint == "leave out the rows that are null"
    # The library does not know the number of nulls of a slice.
    assert refused(Rows(structures([9, 9, 1, 2, 3], null=[9, 2]).slice(2)), "null as a whole", **columns).row == 2
    assert mean(Rows(structures([9, 9, 1, 2, 3], null=[9]).slice(2))) == (1.0, 3)


def test_what_is_no_stream():
    class Wrong:
        stream: object = None

        def __arrow_c_stream__(self, requested_schema=None):
            return self.stream

    wrong = Wrong()
    for wrong.stream in (17, b"arrow_array_stream", datetime.datetime_CAPI):
        refused(wrong, "`__arrow_c_stream__` of <class '.*Wrong'> returned .*, no capsule of a stream", TypeError)


def test_what_numpy_masks_is_missing():
    numpy = pytest.importorskip("numpy")
    scores = numpy.ma.masked_array([1.0, 0.0, 100.0], mask=[False, False, True])
    assert mean({"id": [1, 2, 3], "score": scores}) == (0.5, 2)
    assert mean({"id": [1, 2, 3], "score": scores.astype("i8")}) == (0.5, 2)


def test_keys_of_maps_are_strings():
    maps = eb.score({"id": [1, 2], "score": [{1: 1.0}, {1: 0.0, 2: 1.0}]}, metrics='{"*": [mean]}', unconvertible="zero")
    values = {estimate["field"]: estimate["value"] for estimate in maps.to_dict()[0]["estimates"]}
    assert values["1"] == 0.5
    refused({"id": [1], "score": [{1: 1.0, "1": 0.0}]}, "two keys that are the same", ValueError)


def test_lists_without_an_end_are_refused():
    endless: list = []
    endless.append(endless)
    refused({"id": [1], "score": [endless]}, "too many levels", ValueError)
    twice: dict = {}
    twice["a"], twice["b"] = [twice, twice], twice
    refused({"id": [1], "score": [twice]}, "too many levels or items|cannot be mixed", (ValueError, TypeError))


@pytest.mark.parametrize("kind", ["bools", "ints", "grades", "mixed", "missing", "unscored", "integer ids"])
def test_kinds_of_scores(kind, tmp_path, command_json):
    scores = {
        "bools": [True, False, True, True],
        "ints": [3, 0, 10, -2],
        "grades": ["C", "I", "P", "C"],
        "mixed": ["C", "0.5", "1", "I"],
        "missing": [1.0, None, 0.0, 1.0],
        "unscored": [1.0, math.nan, 0.0, 1.0],
        "integer ids": [1, 0, 1, 1],
    }[kind]
    columns = {"id": [1, 2, 3, 4] if kind == "integer ids" else ["a", "b", "c", "d"], "score": scores}
    expected = command_json(as_csv(columns, tmp_path / "scores.csv"))
    assert eb.score(columns).to_json() == expected
    polars = pytest.importorskip("polars")
    assert eb.score(polars.DataFrame(columns)).to_json() == expected
    pyarrow = pytest.importorskip("pyarrow")
    assert eb.score(pyarrow.table(columns)).to_json() == expected


@pytest.mark.parametrize(
    "scores",
    [
        [{"a": 1, "b": 0.5}, {"a": 0, "b": 1.0}, {"a": 1, "b": None}],
        [[1, 0], [1, 1], [0, 1]],
    ],
)
def test_lists_and_maps(scores, tmp_path, command_json):
    columns = {"id": ["a", "b", "c"], "score": scores}
    options = ["--metric", '{"*": [mean()]}' if isinstance(scores[0], dict) else "mean", "--unconvertible", "zero"]
    expected = command_json(as_jsonl(columns, tmp_path / "scores.jsonl"), *options)
    keywords = {"metrics": options[1], "unconvertible": "zero"}
    with pytest.warns(eb.ScoreWarning):
        assert eb.score(columns, **keywords).to_json() == expected
    pyarrow = pytest.importorskip("pyarrow")
    with pytest.warns(eb.ScoreWarning):
        assert eb.score(pyarrow.table(columns), **keywords).to_json() == expected
        if isinstance(scores[0], dict):
            maps = pyarrow.array([list(score.items()) for score in scores], pyarrow.map_(pyarrow.string(), pyarrow.float64()))
            assert eb.score(pyarrow.table({"id": columns["id"], "score": maps}), **keywords).to_json() is not None


def test_nested_metadata(tmp_path, command_json):
    columns = {"id": ["a", "b", "c"], "score": [1, 0, 1], "tags": [["x"], ["y", "z"], ["x"]], "where": [{"k": 1}, {"k": 2}, {"k": 1}]}
    metric = 'grouped(mean(), "tags")'
    expected = command_json(as_jsonl(columns, tmp_path / "scores.jsonl"), "--metric", metric)
    assert eb.score(columns, metrics=metric).to_json() == expected
    by_field = eb.score(columns, metrics='grouped(mean(), "where.k")')
    assert [row["group"] for row in by_field.to_dict()[0]["estimates"]][:2] == ["1", "2"]


def test_a_table_of_several_logs(tmp_path, command_json):
    columns = {"log": ["a.eval", "a.eval", "b.eval"], "id": ["1", "2", "1"], "scorer": ["match"] * 3, "value": ["C", "I", "C"]}
    path = as_csv(columns, tmp_path / "scores.csv")
    expected = command_json(path).replace(f"{path}: ", "<data>: ")
    assert eb.score(columns).to_json() == expected


def test_many_rows_in_several_pieces(tmp_path, command_json):
    rows = 200_000
    columns = {"id": [str(row) for row in range(rows)], "score": [row % 3 / 2 for row in range(rows)]}
    expected = command_json(as_csv(columns, tmp_path / "scores.csv"))
    assert eb.score(columns).to_json() == expected


def test_epochs_that_only_later_rows_need(tmp_path, command_json):
    """Whether `attempt` numbers epochs shows behind the rows that are looked at first; the rows are read again."""
    ids = [str(row) for row in range(2000)] + ["0"]
    columns = {"id": ids, "attempt": [1] * 2000 + [2], "score": [1.0, 0.0] * 1000 + [1.0]}
    expected = command_json(as_csv(columns, tmp_path / "scores.csv"))
    pyarrow = pytest.importorskip("pyarrow")
    assert eb.score(pyarrow.table(columns).to_reader(max_chunksize=100)).to_json() == expected


def test_a_name(tmp_path):
    assert eb.score({"id": ["a", "b"], "score": [1, 0]}, name="quiz").to_dict()[0]["log"] == "quiz"


class TestErrors:
    def raised(self, data, kind=eb.TableError, **keywords):
        with pytest.raises(kind) as raised:
            eb.score(data, **keywords)
        return raised.value

    def test_empty(self):
        error = self.raised({"id": [], "score": []}, eb.InputError)
        assert "the table has no rows" in str(error) and error.path == "<data>"
        pyarrow = pytest.importorskip("pyarrow")
        assert "no rows" in str(self.raised(pyarrow.table({"id": pyarrow.array([], "string"), "score": pyarrow.array([], "double")}), eb.InputError))
        error = self.raised({})
        assert error.message == "<data>: there are no columns" and "column of ids" in error.hint

    def test_no_such_column(self):
        error = self.raised({"id": ["a"], "judge": [1]}, score="juge")
        assert error.hint == 'did you mean score="judge"?', error.hint
        assert error.path == "<data>"

    def test_a_row_twice(self):
        error = self.raised({"id": ["a", "b", "a"], "score": [1, 0, 1]})
        assert error.row == 3 and error.sample == "a", vars(error)

    def test_a_bad_cell_in_a_late_row(self):
        rows = 100_000
        ids = [str(row) for row in range(rows)]
        epochs = [1.0] * rows
        epochs[77_777] = 1.5
        error = self.raised({"id": ids, "epoch": epochs, "score": [1] * rows})
        assert error.row == 77_778 and error.sample == "77777", vars(error)

    def test_columns_of_dates(self):
        pyarrow = pytest.importorskip("pyarrow")
        dates = pyarrow.array([1, 2], pyarrow.date32())
        error = self.raised(pyarrow.table({"id": ["a", "b"], "score": dates}))
        assert "dates" in str(error)
        eb.score(pyarrow.table({"id": ["a", "b"], "score": [1, 0], "when": dates}))

    def test_cells_that_are_no_scores(self):
        error = self.raised({"id": ["a", "b"], "score": ["good", "bad"]}, eb.InputError)
        assert "row 1" in str(error) and "correct=" in error.hint, str(error)

    def test_what_is_no_data(self):
        with pytest.raises(TypeError, match="cannot read scores from int"):
            eb.score(17)
        with pytest.raises(ValueError, match="columns differ in length"):
            eb.score({"id": ["a"], "score": [1, 2]})
        with pytest.raises(TypeError, match='"score", row 2: a value of the type object'):
            eb.score({"id": ["a", "b"], "score": [1, object()]})
        with pytest.raises(TypeError, match="got a string"):
            eb.score({"id": "ab", "score": [1, 0]})
        with pytest.raises(ValueError, match="the list is empty"):
            eb.score([])

    def test_a_stream_that_fails(self):
        pyarrow = pytest.importorskip("pyarrow")
        schema = pyarrow.schema([("id", pyarrow.string()), ("score", pyarrow.float64())])

        def batches():
            yield pyarrow.record_batch({"id": ["a"], "score": [1.0]}, schema=schema)
            raise OSError("the disk is gone")

        error = self.raised(pyarrow.RecordBatchReader.from_batches(schema, batches()))
        assert "the disk is gone" in str(error)


def test_columns_in_chunks():
    pyarrow = pytest.importorskip("pyarrow")
    expected = eb.score({"id": ["a", "b"], "score": [1, 0]}).to_json()
    table = pyarrow.table({"id": pyarrow.chunked_array([["a"], ["b"]]), "score": pyarrow.chunked_array([[1], [0]])})
    assert eb.score({"id": table["id"], "score": table["score"]}).to_json() == expected
    pandas = pytest.importorskip("pandas")
    halves = [pandas.DataFrame({"id": ["a"], "score": [1], "m": [{"x": 1}]}), pandas.DataFrame({"id": ["b"], "score": [0], "m": [None]})]
    frame = pandas.concat(halves, ignore_index=True)
    assert eb.score({"id": frame["id"], "score": frame["score"]}).to_json() == expected
    (scored,) = eb.score(frame).to_dict()
    assert scored["estimates"][0]["value"] == 0.5
