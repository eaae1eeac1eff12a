"""Partial results: counted anywhere, merged to what one machine computes."""

from __future__ import annotations

import pickle

import pytest

import errorbar as eb
from errorbar import _errorbar

ROWS = {
    "id": [f"q{at % 20}" for at in range(60)],
    "epoch": [1 + at // 20 for at in range(60)],
    "score": ["C" if at * 7 % 5 < 3 else "I" for at in range(60)],
    "topic": [f"t{at % 20 % 3}" for at in range(60)],
}
METRICS = ["accuracy", "stderr", 'grouped(accuracy(), "topic")']


def part(number: int, of: int, rows: dict[str, list] = ROWS) -> dict[str, list]:
    """The rows of some of the samples, all epochs of each."""
    kept = [at for at, name in enumerate(rows["id"]) if int(name[1:]) % of == number]
    return {key: [values[at] for at in reversed(kept)] for key, values in rows.items()}


@pytest.mark.parametrize("parts", [1, 2, 7])
def test_parts_give_the_results_of_the_whole(parts):
    first, *others = [eb.Partial.of(part(at, parts), METRICS, cluster="topic") for at in range(parts)]
    whole = eb.Partial.of(ROWS, METRICS, cluster="topic")
    merged = first.merge(*others)
    assert merged.to_bytes() == whole.to_bytes()
    assert (merged.receipt, merged.rows) == (whole.receipt, 60)
    alone = eb.score(ROWS, METRICS, cluster="topic", order="key", name="data")
    assert merged.finish().to_json() == alone.to_json()


def test_bytes_and_pickles_hold_what_it_takes_to_finish():
    partial = eb.Partial.of(ROWS, METRICS, group={"task": "gpqa", "model": "m"})
    bytes_of = partial.to_bytes()
    trusted = eb.Partial.from_bytes(bytes_of, trusted=True)
    for copy in (eb.Partial.from_bytes(bytes_of), trusted, pickle.loads(pickle.dumps(partial))):
        assert copy.to_bytes() == partial.to_bytes()
        assert copy.group == {"task": "gpqa", "model": "m"}
        assert copy.finish().to_json() == partial.finish().to_json()
    assert "task=gpqa, model=m" in repr(partial)


def test_groups_are_finished_together_and_fail_alone():
    # More than 100 rows are many in a debug build: those groups are finished one after the other.
    large = {key: values * 2 for key, values in ROWS.items()} | {"epoch": [1 + at // 20 for at in range(120)]}
    groups = {f"t{at}": large if at in (2, 5) else ROWS for at in range(9)}
    states = [
        [eb.Partial.of(part(at, 2, rows), METRICS, group={"task": name}).to_bytes() for at in range(2)]
        for name, rows in groups.items()
    ]
    states[4] = [states[4][0]] * 2
    outcomes = _errorbar.finish_states(states)
    receipts = set()
    for (name, rows), (results, receipt, error) in zip(groups.items(), outcomes, strict=True):
        if name == "t4":
            assert results is None and isinstance(error, eb.InputError) and "hash bucket" in str(error)
        else:
            whole = eb.score(rows, METRICS, order="key", name=f"task={name}").to_json()
            assert error is None and results.to_json() == whole
            receipts.add(receipt)
    assert len(receipts) == 8, "a receipt is of rows and their group"
    assert _errorbar.finish_states([]) == []


def test_what_cannot_be_merged_is_refused():
    first, second = eb.Partial.of(part(0, 2)), eb.Partial.of(part(1, 2))
    for other, problem in [
        (first, "hash bucket"),
        (eb.Partial.of(part(1, 2), "mean"), "options"),
        (eb.Partial.of(part(1, 2), group={"task": "x"}), "task=x"),
    ]:
        with pytest.raises(eb.InputError, match=problem):
            first.merge(other)
    assert first.merge(second).rows == 60


@pytest.mark.parametrize("cut", [0, 5, 10, 100, -1])
def test_damaged_bytes_are_refused(cut):
    whole = eb.Partial.of(ROWS).to_bytes()
    with pytest.raises(eb.InputError):
        eb.Partial.from_bytes(whole[:cut])
    damaged = bytearray(whole)
    damaged[cut] ^= 1
    with pytest.raises(eb.InputError):
        eb.Partial.from_bytes(bytes(damaged))


def test_epochs_of_one_sample_in_two_parts_are_refused():
    halves = [{key: values[at * 30 : at * 30 + 30] for key, values in ROWS.items()} for at in range(2)]
    with pytest.raises(eb.InputError, match="hash bucket"):
        eb.Partial.of(halves[0]).merge(eb.Partial.of(halves[1]))


def test_errors_name_the_group():
    twice = {"id": ["q1", "q1"], "score": [1, 0]}
    with pytest.raises(eb.TableError, match="model=m: sample .*q1") as caught:
        eb.Partial.of(twice, group={"model": "m"})
    assert (caught.value.sample, caught.value.row) == ("q1", None)
    with pytest.raises(eb.InputError, match="no rows"):
        eb.Partial.of({"id": [], "score": []})


def test_metrics_of_fields_are_a_mapping():
    maps = {"id": ["a", "b"], "score": [{"x": 1}, {"x": 0}]}
    finished = eb.Partial.of(maps, {"*": ["mean"]}).finish()
    assert finished.to_json() == eb.score(maps, {"*": ["mean"]}, order="key", name="data").to_json()


def test_warnings_name_the_line_that_finished():
    partial = eb.Partial.of({"id": ["a", "b"], "score": ["C", "x"]}, unconvertible="zero")
    with pytest.warns(eb.ScoreWarning, match="counted as 0") as caught:
        partial.finish()
    assert {warning.filename for warning in caught} == {__file__}
