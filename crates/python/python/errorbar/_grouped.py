"""Results of several groups, such as a model on a task each."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from . import _frames

if TYPE_CHECKING:
    from ._errorbar import Results

#: Columns of results that name a run; here the keys of the groups do.
_RUN = ("log", "task", "model")


class GroupedResults(Mapping[Any, "Results"]):
    """The results of groups, by the values of their keys: `results["gpqa", "claude"]`.

    It is a frame of all figures at once: a row for each group and figure, with a column for each key and those of
    `errorbar.Results.rows` behind them.
    """

    def __init__(self, keys: tuple[str, ...], groups: Mapping[tuple[str, ...], tuple[Results, str | None]]) -> None:
        #: The names of the keys.
        self.by: tuple[str, ...] = keys
        self._groups = dict(groups)

    def __getitem__(self, group: Any) -> Results:
        return self._groups[group if isinstance(group, tuple) else (group,)][0]

    def __iter__(self) -> Iterator[Any]:
        return (group if len(self.by) != 1 else group[0] for group in self._groups)

    def __len__(self) -> int:
        return len(self._groups)

    @property
    def receipts(self) -> dict[Any, str | None]:
        """Which rows each group is made of: their number, a colon, and a hash of group, id and epoch of each."""
        return {group: receipt for group, (_, receipt) in zip(self, self._groups.values())}

    @property
    def receipt(self) -> str:
        """The same of all groups together."""
        rows = total = 0
        for _, receipt in self._groups.values():
            number, hashed = (receipt or "0:0").split(":")
            rows, total = rows + int(number), (total + int(hashed, 16)) % (1 << 128)
        return f"{rows}:{total:032x}"

    @property
    def rows(self) -> Any:
        """A row for each group and figure, as a `pyarrow.Table`."""
        pyarrow = _frames._library("pyarrow", "rows")
        tables = []
        for group, (results, _) in self._groups.items():
            table = pyarrow.table(results.rows)
            table = table.drop_columns([name for name in _RUN if name in table.column_names])
            for at, (key, value) in enumerate(zip(self.by, group)):
                column = pyarrow.array([value] * table.num_rows, pyarrow.large_string())
                # A key of this name hides what is computed under it.
                if key in table.column_names:
                    table = table.drop_columns([key])
                table = table.add_column(at, key, column)
            tables.append(table)
        if not tables:
            return pyarrow.table({key: pyarrow.array([], pyarrow.large_string()) for key in self.by})
        return pyarrow.concat_tables(tables, promote_options="permissive")

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """The Arrow C stream of `rows`, for libraries of data frames."""
        return self.rows.__arrow_c_stream__(requested_schema)

    def to_pyarrow(self) -> Any:
        """The rows as a `pyarrow.Table`."""
        return self.rows

    def to_pandas(self) -> Any:
        """The rows as a `pandas.DataFrame`."""
        return _frames.to_pandas(self)

    def to_polars(self) -> Any:
        """The rows as a `polars.DataFrame`."""
        return _frames.to_polars(self)

    def to_spark(self, spark: Any) -> Any:
        """The rows as a Spark `DataFrame`."""
        pyarrow = _frames._library("pyarrow", "to_spark()")
        rows = self.rows
        # A column of nulls alone has no type that Spark knows, nor have unsigned integers.
        kinds = {pyarrow.null(): pyarrow.string(), pyarrow.uint64(): pyarrow.int64()}
        fields = [field.with_type(kinds.get(field.type, field.type)) for field in rows.schema]
        return spark.createDataFrame(rows.cast(pyarrow.schema(fields), safe=False))

    def to_json(self) -> str:
        """A list with keys, receipt and results of each group; the results as `errorbar.Results.to_json` has them."""
        groups = []
        for group, (results, receipt) in self._groups.items():
            named = json.dumps(dict(zip(self.by, group)), ensure_ascii=False)
            groups.append(f'{{"group": {named}, "receipt": {json.dumps(receipt)}, "results": {results.to_json().strip()}}}')
        return "[" + ",\n".join(groups) + "]\n"

    def to_dict(self) -> list[dict[str, Any]]:
        """The same as `to_json`, as Python lists and dictionaries."""
        return json.loads(self.to_json())

    def __repr__(self) -> str:
        names = ", ".join(self.by)
        parts = [f"<{len(self)} groups by {names}>"]
        parts += [f"{self._name(group)}\n{results!r}".rstrip() for group, (results, _) in self._groups.items()]
        return "\n\n".join(parts)

    def _repr_html_(self) -> str:
        return "\n".join(results._repr_html_() for results, _ in self._groups.values())

    def _name(self, group: tuple[str, ...]) -> str:
        return ", ".join(f"{key}={value}" for key, value in zip(self.by, group))
