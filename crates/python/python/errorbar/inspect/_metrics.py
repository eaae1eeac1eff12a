"""Inspect's metrics, computed by errorbar: the same names, arguments and numbers."""

import logging
import math
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import Any, Literal, cast

from inspect_ai.scorer import Metric, SampleScore, Value, ValueToFloat, metric

from .._errorbar import MetricEngine
from .._errors import SpecError
from ._engine import CLUSTER, DEFAULT, GROUP, PREFIX, Computation, computed, ends, location, spec, spread

logger = logging.getLogger(__name__)


def _metric(
    name: str,
    to_float: ValueToFloat,
    empty: Any,
    not_finite: Any,
    cluster: str | None = None,
    is_drawn: bool = False,
    **arguments: Any,
) -> Metric:
    """A metric of numbers."""
    key = None if cluster is None else CLUSTER
    text = spec(name, **arguments, **({} if key is None else {"cluster": key}))
    engine = MetricEngine(text, is_drawn=is_drawn)
    computation = Computation(text, engine, to_float, cluster, name, empty, not_finite, is_drawn)

    def compute(scores: list[SampleScore]) -> Value:
        return computation(computation.read(scores), scores)

    setattr(compute, "errorbar", computation)
    return compute


@metric(name=PREFIX + "accuracy")
def accuracy(to_float: ValueToFloat = DEFAULT) -> Metric:
    """The share of correct answers: the mean of the scores as numbers.

    Args:
        to_float: How values become numbers. It is called once for each score.
    """
    return _metric("accuracy", to_float, 0.0, location)


@metric(name=PREFIX + "mean")
def mean(to_float: ValueToFloat = DEFAULT) -> Metric:
    """The mean of the scores.

    Args:
        to_float: How values become numbers. It is called once for each score.
    """
    return _metric("mean", to_float, 0.0, location)


@metric(name=PREFIX + "std")
def std(to_float: ValueToFloat = DEFAULT) -> Metric:
    """The standard deviation of the scores, with n − 1.

    Args:
        to_float: How values become numbers. It is called once for each score.
    """
    return _metric("std", to_float, 0.0, spread)


@metric(name=PREFIX + "var")
def var(to_float: ValueToFloat = DEFAULT) -> Metric:
    """The variance of the scores, with n − 1.

    Args:
        to_float: How values become numbers. It is called once for each score.
    """
    return _metric("var", to_float, 0.0, spread)


@metric(name=PREFIX + "stderr")
def stderr(to_float: ValueToFloat = DEFAULT, cluster: str | None = None) -> Metric:
    """The standard error of the mean.

    Args:
        to_float: How values become numbers. It is called once for each score.
        cluster: The key of the samples' metadata by which they are clustered.
    """
    return _metric("stderr", to_float, 0.0, spread, cluster)


@metric(name=PREFIX + "bootstrap_stderr")
def bootstrap_stderr(num_samples: int = 1000, to_float: ValueToFloat = DEFAULT, seed: int | None = None) -> Metric:
    """The standard error of the mean, by resampling.

    Args:
        num_samples: The number of resamples.
        to_float: How values become numbers. It is called once for each score.
        seed: Which resamples are drawn; the same ones in each run if unset.
    """
    return _metric("bootstrap_stderr", to_float, 0.0, spread, is_drawn=True, num_samples=num_samples, seed=seed)


@metric(name=PREFIX + "ci")
def ci(
    level: float = 0.95,
    method: Literal["t", "bootstrap"] = "t",
    num_samples: int = 1000,
    to_float: ValueToFloat = DEFAULT,
    cluster: str | None = None,
    seed: int | None = None,
) -> Metric:
    """A confidence interval of the mean: `lower` and `upper`.

    Args:
        level: The confidence level.
        method: `t`, `bootstrap`, or another method of errorbar, such as `bca` (`errorbar help ci`).
        num_samples: The number of resamples, if there are any.
        to_float: How values become numbers. It is called once for each score.
        cluster: The key of the samples' metadata by which they are clustered.
        seed: Which resamples are drawn; the same ones in each run if unset.
    """
    arguments = dict(level=level, method=method, num_samples=num_samples, seed=seed)
    return _metric("ci", to_float, {"lower": 0.0, "upper": 0.0}, ends, cluster, method != "t", **arguments)


@metric(name=PREFIX + "ci_wilson")
def ci_wilson(level: float = 0.95, to_float: ValueToFloat = DEFAULT, cluster: str | None = None) -> Metric:
    """The Wilson interval of the mean of scores between 0 and 1: `lower` and `upper`.

    Args:
        level: The confidence level.
        to_float: How values become numbers. It is called once for each score.
        cluster: The key of the samples' metadata by which they are clustered.
    """

    def refuse(values: list[float]) -> Any:
        raise ValueError("ci_wilson: a score is not between 0 and 1: it is infinite, or no number")

    nothing: Any = {"lower": 0.0, "upper": 0.0}
    if cluster is not None:
        nothing = ValueError("ci_wilson: there is no score, and two clusters at least are needed")
    return _metric("ci_wilson", to_float, nothing, refuse, cluster, level=level)


@metric(name=PREFIX + "interval")
def interval(
    level: float = 0.95,
    method: str = "auto",
    to_float: ValueToFloat = DEFAULT,
    cluster: str | None = None,
    range: tuple[float, float] | None = None,
) -> Metric:
    """The interval of the mean that errorbar shows beside it: `lower` and `upper`; NaN where there is none.

    Args:
        level: The confidence level.
        method: `auto`, the one that fits the scores (Wilson's for scores with a range, however few and however equal they
            are), or a method by name.
        to_float: How values become numbers. It is called once for each score.
        cluster: The key of the samples' metadata by which they are clustered.
        range: The lowest and the highest score that there may be; 0 and 1 if unset and all scores are within.
    """
    key = None if cluster is None else CLUSTER
    engine = MetricEngine("mean()", level=level, interval=method, cluster=key, range=range)
    numbers = Computation("mean()", engine, to_float, cluster, "interval", None, ends, True)

    def compute(scores: list[SampleScore]) -> Value:
        keys = numbers.keys(scores)
        values = numbers.read(scores)
        found = engine.interval(values, keys=keys) or engine.interval([float(DEFAULT(value)) for value in values], keys=keys)
        lower, upper = found or (math.nan, math.nan)
        return {"lower": lower, "upper": upper}

    return compute


@metric(name=PREFIX + "grouped")
def grouped(
    metric: Metric,
    group_key: str,
    *,
    all: Literal["samples", "groups", False] = "samples",
    all_label: str = "all",
    value_to_float: ValueToFloat = DEFAULT,
    name_template: str = "{group_name}",
) -> Metric:
    """A metric for each group of samples, and an aggregate.

    Args:
        metric: The metric of each group, of errorbar or another.
        group_key: The key of the samples' metadata that groups are of.
        all: The aggregate: the metric over all samples (`samples`), the mean of the groups (`groups`), or none.
        all_label: The name of the aggregate.
        value_to_float: How figures of groups become numbers, for their mean.
        name_template: The names of groups.
    """
    inner: Computation | None = getattr(metric, "errorbar", None)
    engine = None
    # Whether the template is one that only Python can fill in.
    is_labelled = False
    if inner is not None and value_to_float is DEFAULT:
        for template in (name_template, None):
            text = spec("grouped", group_key=GROUP, all=all, all_label=all_label, name_template=template)
            try:
                # All groups in one call.
                engine = MetricEngine(text.replace("grouped(", f"grouped({inner.spec}, ", 1), is_drawn=inner.is_drawn)
                is_labelled = template is None
                break
            except SpecError:
                # A word for no aggregate, perhaps: then group by group.
                continue

    def names(scores: list[SampleScore]) -> list[str]:
        found = []
        for score in scores:
            metadata = score.sample_metadata
            if metadata is None or group_key not in metadata:
                raise ValueError(f"grouped: sample {score.sample_id} has no `{group_key}` in its metadata, by which it is grouped")
            found.append(str(metadata[group_key]))
        return found

    def compute(scores: list[SampleScore]) -> Value:
        if not scores:
            return cast(Value, {all_label: math.nan} if all else {})
        groups = names(scores)
        labels = labelled(groups)
        if engine is not None and inner is not None and labels is not None:
            values = inner.read(scores)
            given = labels if is_labelled else groups
            found = computed(engine, values, scores, {GROUP: given, **(inner.keys(scores) or {})})
            if found is not None:
                return cast(Value, found)
        # A value that is no finite number.
        return group_by_group(scores, groups)

    def labelled(groups: list[str]) -> list[str] | None:
        """The names with the template filled in; None if two groups get the same."""
        label_of = {name: name_template.format(group_name=name) for name in dict.fromkeys(groups)}
        return [label_of[name] for name in groups] if len(set(label_of.values())) == len(label_of) else None

    def group_by_group(scores: list[SampleScore], groups: list[str]) -> Value:
        of_group: dict[str, list[SampleScore]] = {}
        for name, score in zip(groups, scores):
            of_group.setdefault(name, []).append(score)
        protocol = cast(Any, metric)
        figures = {name_template.format(group_name=name): protocol(some) for name, some in of_group.items()}
        if not all:
            return cast(Value, figures)
        if all_label in figures:
            raise ValueError(f"grouped: a group has the name of the aggregate, {all_label!r}: set all_label to another, or all=False")
        aggregate = protocol(scores) if all == "samples" else None
        if all == "groups":
            aggregate = location([value_to_float(figure) for figure in figures.values()])
        return cast(Value, {**figures, all_label: aggregate})

    return compute


@metric(name=PREFIX + "aggregate")
def aggregate(
    key: str,
    agg: Metric,
    *,
    to_float: ValueToFloat | None = None,
    on_missing: Literal["error", "skip", "zero"] = "error",
) -> Metric:
    """A metric of one field of scores that are maps.

    Args:
        key: The field.
        agg: The metric, of errorbar or another.
        to_float: How the field becomes a number before the metric sees it.
        on_missing: What to do about a score without the field: an `error`, `skip` it, or take it for `zero`.
    """
    if on_missing not in ("error", "skip", "zero"):
        raise ValueError(f"aggregate: on_missing is {on_missing!r}: expected 'error', 'skip' or 'zero'")
    inner: Computation | None = getattr(agg, "errorbar", None)

    def fields(scores: list[SampleScore]) -> tuple[list[Any], list[SampleScore]]:
        values, of = [], []
        for score in scores:
            value = score.score.value
            if isinstance(value, float) and math.isnan(value):
                continue
            if not isinstance(value, dict):
                kind = type(value).__name__
                raise ValueError(f"aggregate: the score of sample {score.sample_id} is a {kind}, and no dict with {key!r}")
            field: Any = value.get(key)
            if isinstance(field, float) and math.isnan(field):
                continue
            if field is None:
                if on_missing == "error":
                    raise ValueError(f"aggregate: the score of sample {score.sample_id} has no {key!r}: set on_missing to 'skip' or 'zero'")
                if on_missing == "skip":
                    continue
                field = 0.0
            elif to_float is not None:
                field = to_float(field)
            values.append(field)
            of.append(score)
        return values, of

    def compute(scores: list[SampleScore]) -> Value:
        values, of = fields(scores)
        if not values:
            return math.nan
        if inner is not None:
            return cast(Value, inner(inner.numbers(values), of))
        extracted = [
            score.model_copy(update={"score": score.score.model_copy(update={"value": value})})
            for value, score in zip(values, of)
        ]
        return cast(Value, cast(Any, agg)(extracted))

    return compute


Categories = type[StrEnum] | Sequence[str] | None


@metric(name=PREFIX + "frequency", scores="unreduced")
def _frequency(categories: Sequence[str] | None = None, normalize: bool = True) -> Metric:
    names = None if categories is None else list(categories)
    engine = MetricEngine(spec("frequency", categories=names, normalize=normalize), is_drawn=False)

    def compute(scores: list[SampleScore]) -> Value:
        values = []
        for score in scores:
            value = score.score.value
            if isinstance(value, (Mapping, list, tuple)):
                raise TypeError(
                    f"frequency: the score of sample {score.sample_id} is a {type(value).__name__}; of scores that are maps, "
                    'take the metric of each field: metrics={"*": [frequency()]}'
                )
            values.append(str(value))
        if not values:
            return dict.fromkeys(names or [], 0.0)
        return cast(Value, computed(engine, values, scores, numbers=False))

    return compute


def frequency(categories: Categories = None, normalize: bool = True) -> Metric:
    """The share of each value among the scores of all epochs.

    Args:
        categories: All values that there may be, so that those without a score are there with 0.
        normalize: Shares; if false, counts.
    """
    if isinstance(categories, str):
        raise TypeError(f"frequency: categories is the string {categories!r}: expected a list of strings, or a StrEnum")
    if isinstance(categories, type):
        categories = [str(member.value) for member in categories]
    names = None if categories is None else [str(name) for name in categories]
    return _frequency(categories=names, normalize=normalize)


def categorical(categories: Categories = None) -> list[Metric]:
    """The metrics of a scorer whose scores are categories: `frequency` alone."""
    return [frequency(categories)]


@metric(name=PREFIX + "krippendorff_alpha")
def krippendorff_alpha(
    level: Literal["nominal", "ordinal", "interval"] = "nominal", to_float: ValueToFloat | None = None
) -> Metric:
    """Krippendorff's α, the agreement of the ratings that scores are lists of.

    Args:
        level: Whether ratings are names (`nominal`), ranks (`ordinal`) or numbers (`interval`).
        to_float: How ratings become numbers, unless they are names.
    """
    engine = MetricEngine(spec("krippendorff_alpha", level=level))

    def number(rating: Any) -> float:
        if isinstance(rating, (int, float)):
            return float(rating)
        if to_float is None:
            raise ValueError(f"krippendorff_alpha: the rating {rating!r} is no number: set to_float, or level='nominal'")
        return to_float(rating)

    def compute(scores: list[SampleScore]) -> Value:
        ratings, left_out = [], 0
        for score in scores:
            value = score.score.value
            if not isinstance(value, (list, tuple)) or len(value) < 2:
                left_out += 1
                continue
            ratings.append(list(value) if level == "nominal" else [number(rating) for rating in value])
        if left_out:
            logger.warning("krippendorff_alpha: %d samples have no list of two ratings or more and are left out", left_out)
        if not ratings:
            return math.nan
        return cast(Value, computed(engine, ratings, scores, numbers=False))

    return compute


def _perplexity(name: str, mean: Callable[[list[tuple[int, float]]], float | None]) -> Metric:
    """A perplexity by the mean of the negative log-probabilities of tokens; None if there are no tokens.

    The sums are Python's own, which are exact as those of the engine are: to hand over what is added up takes longer.
    """

    def compute(scores: list[SampleScore]) -> Value:
        sequences, missing = [], 0
        for score in scores:
            metadata = score.score.metadata or {}
            tokens, log_probs = metadata.get("num_tokens"), metadata.get("sum_log_probs")
            if tokens is None or log_probs is None:
                missing += 1
                continue
            sequences.append((int(tokens), float(log_probs)))
        if missing:
            logger.warning("%s: %d scores have no `num_tokens` and `sum_log_probs` in their metadata", name, missing)
        try:
            found = mean(sequences)
            return math.nan if found is None else math.exp(found)
        except OverflowError:
            return math.inf

    return compute


@metric(name=PREFIX + "perplexity_per_token")
def perplexity_per_token() -> Metric:
    """The perplexity of all tokens together."""

    def mean(sequences: list[tuple[int, float]]) -> float | None:
        tokens = sum(tokens for tokens, _ in sequences)
        return -math.fsum(log_probs for _, log_probs in sequences) / tokens if tokens else None

    return _perplexity("perplexity_per_token", mean)


@metric(name=PREFIX + "perplexity_per_seq")
def perplexity_per_seq() -> Metric:
    """The perplexity with the same weight for each sample."""

    def mean(sequences: list[tuple[int, float]]) -> float | None:
        means = [-log_probs / tokens for tokens, log_probs in sequences if tokens > 0]
        return math.fsum(means) / len(means) if means else None

    return _perplexity("perplexity_per_seq", mean)
