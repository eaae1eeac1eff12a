"""Inspect's reducers, computed by errorbar: the same names, arguments and values."""

import logging
import math
from typing import Any

from inspect_ai.scorer import Score, ScoreReducer, ValueToFloat, score_reducer

from .._errorbar import ReducerEngine
from ._engine import DEFAULT, spec

logger = logging.getLogger(__name__)

#: Inspect puts the name of the package before the names of metrics, but not before those of reducers.
PREFIX = "errorbar/"


def _reducer(engine: ReducerEngine, to_float: ValueToFloat = DEFAULT, k: int = 1, name: str = "") -> ScoreReducer:
    """A reducer of values that are converted at most once."""
    warned = False

    def reduce(scores: list[Score]) -> Score:
        nonlocal warned
        if len(scores) < k and not warned:
            # Inspect checks it for its own reducers alone.
            warned = True
            logger.warning("errorbar/%s_%d needs %d epochs, and a sample has scores of %d: it is unscored", name, k, k, len(scores))
        values = [score.value for score in scores]
        if to_float is not DEFAULT:
            values = [_converted(value, to_float) for value in values]
        return _score(engine.reduce(values) if values else math.nan, scores)

    return reduce


def _converted(value: Any, to_float: ValueToFloat) -> Any:
    """A value with its leaves as numbers. One that is no score stays what it is."""
    if isinstance(value, dict):
        return {key: _converted(leaf, to_float) for key, leaf in value.items()}
    if isinstance(value, (list, tuple)):
        return [_converted(leaf, to_float) for leaf in value]
    if isinstance(value, float) and math.isnan(value):
        return value
    return to_float(value)


def _score(value: Any, scores: list[Score]) -> Score:
    """The score that stands for these, with the fields that they agree on, and the metadata of the first."""
    if not scores:
        return Score(value=value)
    first = scores[0]
    answer, explanation, reason = first.answer, first.explanation, first.reason
    for other in scores:
        if other.answer != answer:
            answer = None
        if other.explanation != explanation:
            explanation = None
        if other.reason != reason:
            reason = None
    return Score(value=value, answer=answer, explanation=explanation, reason=reason, metadata=first.metadata)


@score_reducer(name=PREFIX + "mean")
def mean_score(value_to_float: ValueToFloat = DEFAULT) -> ScoreReducer:
    """The mean of the epochs.

    Args:
        value_to_float: How values become numbers.
    """
    return _reducer(ReducerEngine("mean()"), value_to_float)


@score_reducer(name=PREFIX + "median")
def median_score(value_to_float: ValueToFloat = DEFAULT) -> ScoreReducer:
    """The median of the epochs.

    Args:
        value_to_float: How values become numbers.
    """
    return _reducer(ReducerEngine("median()"), value_to_float)


@score_reducer(name=PREFIX + "max")
def max_score(value_to_float: ValueToFloat = DEFAULT) -> ScoreReducer:
    """The best of the epochs, as it is.

    Args:
        value_to_float: How values become numbers.
    """
    given = None if value_to_float is DEFAULT else value_to_float
    return _reducer(ReducerEngine("max()", to_float=given))


@score_reducer(name=PREFIX + "mode")
def mode_score() -> ScoreReducer:
    """The most frequent value of the epochs."""
    return _reducer(ReducerEngine("mode()"))


@score_reducer(name=PREFIX + "collect")
def collect_score() -> ScoreReducer:
    """The list of the values of all epochs."""
    return _reducer(ReducerEngine("collect()"))


@score_reducer(name=PREFIX + "majority")
def majority_score() -> ScoreReducer:
    """The value of more than half of the epochs; unscored if there is none. The votes are in its metadata."""
    reduce_values = _reducer(ReducerEngine("majority()"))

    def reduce(scores: list[Score]) -> Score:
        reduced = reduce_values(scores)
        votes: list[Any] = []
        failures: list[dict[str, Any]] = []
        for index, score in enumerate(scores):
            if not isinstance(score.value, float) or not math.isnan(score.value):
                votes.append(_copy(score.value))
                continue
            votes.append(None)
            failures.append({"index": index, "reason": score.reason, "explanation": score.explanation})
        panel = {"votes": votes, "size": len(scores), "failures": failures}
        return reduced.model_copy(update={"metadata": {**(reduced.metadata or {}), "panel": panel}})

    return reduce


def _copy(value: Any) -> Any:
    """What is recorded of a vote must not change with it."""
    if isinstance(value, dict):
        return dict(value)
    return list(value) if isinstance(value, list) else value


def _by_threshold(name: str, k: int, value: float, to_float: ValueToFloat) -> ScoreReducer:
    return _reducer(ReducerEngine(spec(name, k=k, value=float(value))), to_float, k, name)


@score_reducer(name=PREFIX + "at_least")
def at_least(k: int, value: float = 1.0, value_to_float: ValueToFloat = DEFAULT) -> ScoreReducer:
    """Whether at least k epochs reach a value.

    Args:
        k: The number of epochs.
        value: What they have to reach.
        value_to_float: How values become numbers.
    """
    return _reducer(ReducerEngine(spec("at_least", k=k, value=float(value))), value_to_float)


@score_reducer(name=PREFIX + "pass_at")
def pass_at(k: int, value: float = 1.0, value_to_float: ValueToFloat = DEFAULT) -> ScoreReducer:
    """The probability that one of k epochs reaches a value.

    Args:
        k: The number of epochs.
        value: What they have to reach.
        value_to_float: How values become numbers.
    """
    return _by_threshold("pass_at", k, value, value_to_float)


@score_reducer(name=PREFIX + "pass_k")
def pass_k(k: int, value: float = 1.0, value_to_float: ValueToFloat = DEFAULT) -> ScoreReducer:
    """The probability that all of k epochs reach a value.

    Args:
        k: The number of epochs.
        value: What they have to reach.
        value_to_float: How values become numbers.
    """
    return _by_threshold("pass_k", k, value, value_to_float)
