"""What metrics of Inspect are computed with: the values of scores in, numbers of the engine out."""

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from inspect_ai.scorer import SampleScore, Value, ValueToFloat, metric, value_to_float

from .._errorbar import MetricEngine
from .._errors import InputError

#: The conversion of Inspect, which the engine has itself: no call of Python for each score.
DEFAULT = value_to_float()

#: The names under which the engine is given the metadata that it needs.
CLUSTER = "cluster"
GROUP = "group"


@metric(name="unused")
def _unused():  # type: ignore[no-untyped-def]
    def compute(scores: list[SampleScore]) -> Value:
        return len(scores)

    return compute


def _is_installed() -> bool:
    name: str = getattr(_unused(), "__registry_info__").name
    return name.startswith("errorbar/")


#: What names of the registry start with. Inspect puts the name of the package there, if it is installed.
PREFIX = "" if _is_installed() else "errorbar/"


def spec(name: str, **arguments: Any) -> str:
    """A metric or reducer as the engine reads it; None means that an argument is not given."""
    given = [f"{key}={json.dumps(value)}" for key, value in arguments.items() if value is not None]
    return f"{name}({', '.join(given)})"


@dataclass(frozen=True)
class Computation:
    """How a metric is computed: from the values of scores, and a key of the samples' metadata."""

    #: The metric as the engine reads it.
    spec: str
    #: What it is computed by.
    engine: MetricEngine
    #: How values become numbers.
    to_float: ValueToFloat
    #: The key that samples are clustered by.
    cluster: str | None
    #: The name of the metric, for errors.
    name: str
    #: What it is without scores; an exception is raised.
    empty: Any
    #: What it is if a value is infinite or NaN.
    not_finite: Callable[[list[float]], Any]
    #: Whether resamples are drawn.
    is_drawn: bool

    def __call__(self, values: list[Any], scores: Sequence[SampleScore]) -> Any:
        """The figure of these values, which are converted, of these scores."""
        keys = self.keys(scores)
        if not values:
            if isinstance(self.empty, Exception):
                raise self.empty
            return self.empty
        found = computed(self.engine, values, scores, keys)
        if found is None:
            # A value that is no number: Inspect's own conversion takes it for 0, and warns.
            values = [float(DEFAULT(value)) for value in values]
            found = computed(self.engine, values, scores, keys)
        return self.not_finite(values) if found is None else found

    def numbers(self, values: list[Any]) -> list[Any]:
        """What the engine is given: each value is converted once, or by the engine."""
        to_float = self.to_float
        return values if to_float is DEFAULT else [to_float(value) for value in values]

    def read(self, scores: Sequence[SampleScore]) -> list[Any]:
        """The same of scores, without a list in between."""
        to_float = self.to_float
        if to_float is DEFAULT:
            return [score.score.value for score in scores]
        return [to_float(score.score.value) for score in scores]

    def keys(self, scores: Sequence[SampleScore]) -> dict[str, list[str]] | None:
        """The metadata that the engine is given."""
        return None if self.cluster is None else {CLUSTER: clusters(scores, self.cluster, self.name)}


def computed(
    engine: MetricEngine,
    values: list[Any],
    scores: Sequence[SampleScore],
    keys: dict[str, list[str]] | None = None,
    numbers: bool = True,
) -> Any:
    """What the engine computes; an error names the sample. None if a value has no finite number."""
    try:
        return engine.compute(values, numbers=numbers, keys=keys)
    except InputError:
        ids = [str(score.sample_id) for score in scores]
        return engine.compute(values, numbers=numbers, keys=keys, ids=ids)


def clusters(scores: Sequence[SampleScore], key: str, name: str) -> list[str]:
    """The cluster of each sample. Keys that are equal in Python are the same cluster."""
    numbers: dict[Any, str] = {}
    found = []
    for score in scores:
        value = (score.sample_metadata or {}).get(key)
        if value is None or (isinstance(value, float) and math.isnan(value)):
            raise ValueError(f"{name}: sample {score.sample_id} has no `{key}` in its metadata, by which samples are clustered")
        found.append(numbers.setdefault(value, str(len(numbers))))
    return found


def location(values: list[float]) -> float:
    """A mean of values that are not all finite."""
    return sum(values) / len(values)


def spread(values: list[float]) -> float:
    """A spread or an error of values that are not all finite."""
    return 0.0 if len(values) < 2 else math.nan


def ends(values: list[float]) -> dict[str, float]:
    """An interval of values that are not all finite."""
    end = location(values) if len(values) < 2 else math.nan
    return {"lower": end, "upper": end}
