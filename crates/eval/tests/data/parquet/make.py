"""Makes the Parquet files of the dataset tests, as the writers of public datasets shape them. Needs pyarrow."""
import datetime
import decimal
import pathlib

import pyarrow as pa
import pyarrow.parquet as pq

FOLDER = pathlib.Path(__file__).parent


def write(name, columns, **options):
    pq.write_table(pa.table(columns), FOLDER / name, **options)


# A struct of lists, a list of structs, a map, lists that are null or empty.
write("nested.parquet", {
    "question": ["Which is red?", "Which is a metal?", None],
    "choices": pa.array([
        {"text": ["blood", "grass"], "label": ["A", "B"]},
        {"text": ["iron"], "label": ["1"]},
        {"text": [], "label": []},
    ]),
    "answers": pa.array([
        {"text": ["blood"], "answer_start": [3]},
        {"text": ["iron", "Fe"], "answer_start": [0, 7]},
        None,
    ]),
    "turns": pa.array([
        [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": None}], [], None,
    ], type=pa.list_(pa.struct([("role", pa.string()), ("content", pa.string())]))),
    "lists": pa.array([[[1, 2], []], None, [[3], None]], type=pa.list_(pa.list_(pa.int64()))),
    "scores": pa.array([[("a", 1.5), ("b", 2.0)], [], None], type=pa.map_(pa.string(), pa.float64())),
})
# Every type that a column of a dataset has.
write("types.parquet", {
    "bool": [True, None],
    "int8": pa.array([-1, 2], pa.int8()),
    "uint64": pa.array([2**64 - 1, 0], pa.uint64()),
    "float": pa.array([0.5, float("nan")], pa.float32()),
    "half": pa.array([1.5, -2.0], pa.float16()),
    "date": [datetime.date(2024, 2, 29), None],
    "decimal": pa.array([decimal.Decimal("1.50"), None]),
    "category": pa.array(["x", "y"]).dictionary_encode(),
    "large": pa.array(["long", "longer"], pa.large_string()),
    "bytes": pa.array([b"text", b"\xff\xd8\xff"], pa.binary()),
})
# Ten rows in four row groups, for what is read of them.
write("groups.parquet", {
    "input": [f"question {n}" for n in range(1, 11)],
    "target": [str(n) for n in range(1, 11)],
    "unused": pa.array([b"\xff" * 100] * 10, pa.binary()),
}, row_group_size=3, compression="zstd")
for shard in (0, 1):
    write(f"test-{shard:05}-of-00002.parquet", {"input": [f"shard {shard}"], "target": ["x"]})
write("other.parquet", {"question": ["shard 2"], "target": ["x"]})
