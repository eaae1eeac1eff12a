"""The native part of errorbar."""

from array import array
from collections.abc import Callable, Mapping, Sequence
from typing import Any, final

from typing_extensions import disjoint_base

VERSION: str

__all__ = [
    "Answer",
    "ArrowData",
    "Comparison",
    "Frame",
    "MetricEngine",
    "Partial",
    "PowerPlan",
    "ReducerEngine",
    "Results",
    "Scores",
    "VERSION",
    "Verification",
    "compare",
    "finish_states",
    "log_frame",
    "main",
    "merge_states",
    "partial",
    "partials",
    "power",
    "request_fields",
    "restored_results",
    "row_columns",
    "score",
    "verify",
]

_Table = tuple[str, Any, int | None]
_Entry = tuple[str, str, str, Callable[..., Any], list[str]]

@disjoint_base
class ArrowData:
    """The base of everything with an Arrow C stream. Libraries of data frames are imported when they are asked for."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
    def to_pandas(self) -> Any: ...
    def to_polars(self) -> Any: ...
    def to_pyarrow(self) -> Any: ...

@final
class Frame(ArrowData):
    """A table of columns, as Arrow. `errorbar.Frame` in Python."""

    @property
    def columns(self) -> list[str]: ...
    @property
    def shape(self) -> tuple[int, int]: ...
    def __len__(self) -> int: ...

@disjoint_base
class Answer(ArrowData):
    """The base of all results."""

    @property
    def warnings(self) -> list[str]: ...
    @property
    def notes(self) -> list[str]: ...
    @property
    def rows(self) -> Frame: ...
    def to_json(self) -> str: ...
    def to_dict(self) -> Any: ...
    def _repr_html_(self) -> str: ...

@final
class Results(Answer):
    """The results of logs and tables."""

@final
class Comparison(Answer):
    """Comparisons of models."""

    @property
    def passed(self) -> bool | None: ...

@final
class PowerPlan(Answer):
    """Plans for evaluations: samples, epochs, differences and power."""

@final
class Verification(Answer):
    """Whether the results that logs record are those of their samples."""

    @property
    def agrees(self) -> bool: ...

@final
class Scores(ArrowData):
    """The scores that a metric is computed over, as columns."""

    @property
    def scorer(self) -> str: ...
    @property
    def seed(self) -> int: ...
    @property
    def values(self) -> array[float]: ...
    @property
    def ids(self) -> list[str]: ...
    @property
    def labels(self) -> list[str]: ...
    def metadata(self, key: str) -> list[Any]: ...
    def __len__(self) -> int: ...

def score(paths: Sequence[str], request: str, tables: Sequence[_Table], entries: Sequence[_Entry]) -> Results: ...
def compare(paths: Sequence[str], request: str, tables: Sequence[_Table], entries: Sequence[_Entry]) -> Comparison: ...
def power(request: str, tables: Sequence[_Table]) -> PowerPlan: ...
def verify(logs: Sequence[str], request: str, entries: Sequence[_Entry]) -> Verification: ...
def main(args: Sequence[str], entries: Sequence[_Entry]) -> int: ...
def request_fields(verb: str) -> list[str]: ...
def log_frame(kind: str, logs: Sequence[str], limits: str, *, inspect: bool = False) -> Frame: ...
@final
class MetricEngine:
    """A metric with its arguments."""

    def __new__(
        cls,
        spec: str,
        *,
        is_drawn: bool = True,
        level: float | None = None,
        interval: str | None = None,
        cluster: str | None = None,
        range: tuple[float, float] | None = None,
    ) -> MetricEngine: ...
    def compute(
        self,
        values: list[Any],
        *,
        numbers: bool = True,
        keys: dict[str, list[str]] | None = None,
        ids: list[str] | None = None,
    ) -> Any: ...
    def interval(
        self, values: list[Any], *, keys: dict[str, list[str]] | None = None, ids: list[str] | None = None
    ) -> tuple[float, float] | None: ...

@final
class ReducerEngine:
    """A reducer with its arguments."""

    def __new__(cls, spec: str, *, to_float: Callable[[Any], float] | None = None) -> ReducerEngine: ...
    def reduce(self, values: list[Any]) -> Any: ...

@final
class Partial:
    """The results of some of the samples of a table, which can be merged with those of others."""

    @classmethod
    def of(
        cls,
        data: Any,
        metrics: Any = ...,
        reducers: Any = ...,
        *,
        group: Mapping[str, Any] | None = ...,
        id: str | Sequence[str] | None = ...,
        epoch: str | None = ...,
        score: str | Sequence[str] | None = ...,
        cluster: str | Sequence[str] | None = ...,
        **keywords: Any,
    ) -> Partial:
        """The samples of a frame, all of whose epochs are there, counted.

        `group` is what the rows belong to, such as `{"task": "gpqa", "model": "claude"}`; everything else is as for
        `errorbar.score`. Columns are found by their names alone, because every process must decide the same.
        """

    @classmethod
    def from_bytes(cls, bytes: bytes, trusted: bool = False) -> Partial: ...
    def to_bytes(self) -> bytes: ...
    def merge(self, *others: Partial) -> Partial: ...
    def finish(self) -> Results: ...
    @property
    def receipt(self) -> str: ...
    @property
    def rows(self) -> int: ...
    @property
    def group(self) -> dict[str, str]: ...
    def __reduce__(self) -> Any: ...

def merge_states(states: Sequence[bytes]) -> Partial: ...
def finish_states(
    groups: Sequence[Sequence[bytes]],
) -> list[tuple[Results | None, str, BaseException | None]]: ...
def partial(data: Any, request: str, group: Sequence[tuple[str, str]]) -> Partial: ...
def partials(
    data: Any,
    request: str,
    metadata_keys: Sequence[str],
    keys: Sequence[str],
    group: str | None = None,
    bucket: str | None = None,
) -> list[Partial]: ...
def restored_results(
    json: str, text: str, html: str, frame: Any, warnings: Sequence[str], notes: Sequence[str]
) -> Results: ...
def row_columns(request: str, columns: Sequence[str]) -> tuple[list[str], list[str], str]: ...
