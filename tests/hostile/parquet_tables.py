"""Hostile Parquet tables. They are written by pyarrow (requirements.txt); without it they are skipped."""

from __future__ import annotations

import random
import struct
from pathlib import Path

from case import Cases

CASES = Cases("table")
case = CASES.case
MIB = 1 << 20


def _write(path: Path, columns: dict, **options) -> None:
    import pyarrow
    from pyarrow import parquet

    options = {"compression": "zstd", "use_dictionary": False, **options}
    parquet.write_table(pyarrow.table(columns), path, **options)


def _small() -> dict:
    return {"id": ["q1", "q2", "q3"], "category": ["a", "b", "a"], "score": [1.0, 0.0, 1.0]}


@case("cell_500mb.parquet", "a cell of 500 MB in a column that metrics group by, zstd")
def cell_500mb(path: Path) -> None:
    _write(path, {**_small(), "category": ["x" * (500 * MIB), "b", "a"]})


@case("cell_500mb_id.parquet", "an id of 500 MB, zstd")
def cell_500mb_id(path: Path) -> None:
    _write(path, {**_small(), "id": ["x" * (500 * MIB), "b", "a"]})


@case("cell_500mb_dictionary.parquet", "a cell of 500 MB in a dictionary")
def cell_500mb_dictionary(path: Path) -> None:
    _write(path, {**_small(), "category": ["x" * (500 * MIB), "b", "a"]}, use_dictionary=True, dictionary_pagesize_limit=1 << 30)


@case("cell_500mb_other.parquet", "a cell of 500 MB in a column that nothing needs")
def cell_500mb_other(path: Path) -> None:
    _write(path, {**_small(), "other": ["x" * (500 * MIB), "b", "a"]})


@case("cell_500mb_score.parquet", "scores that are strings of 500 MB")
def cell_500mb_score(path: Path) -> None:
    _write(path, {**_small(), "score": ["x" * (500 * MIB), "1", "0"]})


@case("cell_500mb_gzip.parquet", "a cell of 300 MB, gzip")
def cell_500mb_gzip(path: Path) -> None:
    _write(path, {**_small(), "category": ["x" * (300 * MIB), "b", "a"]}, compression="gzip")


@case("cell_500mb_snappy.parquet", "an id of 300 MB, snappy")
def cell_500mb_snappy(path: Path) -> None:
    _write(path, {**_small(), "id": ["x" * (300 * MIB), "b", "a"]}, compression="snappy")


@case("cells_1mb.parquet", "300 categories of 1 MB each")
def cells_1mb(path: Path) -> None:
    import pyarrow

    values = pyarrow.array([f"{n}" + "x" * MIB for n in range(300)])
    _write(path, {"id": [str(n) for n in range(300)], "category": values, "score": [1.0] * 300})


@case("dictionary_repeats.parquet", "10,000 rows that all refer to one cell of 1 MB in a dictionary: 10 GB")
def dictionary_repeats(path: Path) -> None:
    import pyarrow

    cell = pyarrow.DictionaryArray.from_arrays(pyarrow.array([0] * 10_000, pyarrow.int32()), ["x" * MIB])
    _write(path, {"id": [str(n) for n in range(10_000)], "category": cell, "score": [1.0] * 10_000}, use_dictionary=True)


@case("dictionary_repeats_id.parquet", "2,000 epochs of an id of 1 MB that is in the dictionary once: 2 GB")
def dictionary_repeats_id(path: Path) -> None:
    import pyarrow

    cell = pyarrow.DictionaryArray.from_arrays(pyarrow.array([0] * 2_000, pyarrow.int32()), ["x" * MIB])
    _write(path, {"id": cell, "epoch": list(range(1, 2_001)), "score": [1.0] * 2_000}, use_dictionary=True)


@case("rows_50000000.parquet", "50,000,000 rows of the same values in a small file")
def rows_50000000(path: Path) -> None:
    import numpy
    import pyarrow

    count = 50_000_000
    ids = pyarrow.DictionaryArray.from_arrays(numpy.zeros(count, "int32"), ["q"])
    _write(path, {"id": ids, "score": numpy.ones(count)}, use_dictionary=True, row_group_size=count)


@case("rows_integers.parquet", "30,000,000 rows with integer ids, delta encoded")
def rows_integers(path: Path) -> None:
    import numpy

    count = 30_000_000
    columns = {"id": numpy.arange(count), "score": numpy.ones(count, "int8")}
    _write(path, columns, column_encoding={"id": "DELTA_BINARY_PACKED"})


@case("columns_10000.parquet", "10,000 columns")
def columns_10000(path: Path) -> None:
    _write(path, {**_small(), **{f"x{n}": [1, 2, 3] for n in range(10_000)}})


@case("row_groups_20000.parquet", "20,000 row groups of a row each")
def row_groups_20000(path: Path) -> None:
    count = 20_000
    _write(path, {"id": [str(n) for n in range(count)], "score": [1.0] * count}, row_group_size=1)


@case("pages_many.parquet", "a page for every value")
def pages_many(path: Path) -> None:
    count = 80_000
    columns = {"id": [f"q{n}" for n in range(count)], "score": [1.0] * count}
    _write(path, columns, data_page_size=1, write_batch_size=1, write_page_index=True)


@case("nested_column.parquet", "a column of lists nested 50 deep, and a map")
def nested_column(path: Path) -> None:
    import pyarrow

    value, kind = 1, pyarrow.int8()
    for _ in range(50):
        value, kind = [value], pyarrow.list_(kind)
    _write(path, {**_small(), "deep": pyarrow.array([value] * 3, kind)})


@case("list_score.parquet", "scores that are lists of 3,000,000 items")
def list_score(path: Path) -> None:
    _write(path, {**_small(), "score": [[1.0] * 3_000_000, [1.0], []]})


@case("metadata_footer.parquet", "12 MB of metadata in the footer")
def metadata_footer(path: Path) -> None:
    import pyarrow
    from pyarrow import parquet

    table = pyarrow.table(_small())
    parquet.write_table(table.replace_schema_metadata({f"k{n}": "x" * 1000 for n in range(5_000)}), path)


def _bytes(path: Path) -> bytearray:
    _write(path, _small())
    return bytearray(path.read_bytes())


@case("footer_length.parquet", "a footer that claims 4 GB")
def footer_length(path: Path) -> None:
    data = _bytes(path)
    data[-8:-4] = struct.pack("<I", 0xFFFFFFFF)
    path.write_bytes(data)


@case("footer_whole.parquet", "a footer that claims the whole file")
def footer_whole(path: Path) -> None:
    data = _bytes(path)
    data[-8:-4] = struct.pack("<I", len(data) - 8)
    path.write_bytes(data)


@case("footer_truncated.parquet", "a file that ends in the middle of the footer")
def footer_truncated(path: Path) -> None:
    data = _bytes(path)
    path.write_bytes(data[:-40])


@case("footer_junk.parquet", "a footer of 10 MB of bytes that Thrift reads as lists of lists")
def footer_junk(path: Path) -> None:
    junk = b"\x19\xf9\xff\xff\xff\xff\x07" * 1_500_000
    path.write_bytes(b"PAR1" + junk + struct.pack("<I", len(junk)) + b"PAR1")


@case("footer_nested.parquet", "a footer of 10 MB of structs in structs")
def footer_nested(path: Path) -> None:
    path.write_bytes(b"PAR1" + b"\x1c" * 10_000_000 + struct.pack("<I", 10_000_000) + b"PAR1")


def _flip(seed: int):
    def make(path: Path) -> None:
        """Bytes of the footer and of page headers changed at random."""
        chance = random.Random(seed)
        data = _bytes(path)
        for _ in range(3):
            data[chance.randrange(4, len(data) - 8)] = chance.randrange(256)
        path.write_bytes(data)

    return make


for _seed in range(40):
    case(f"flipped_{_seed:02}.parquet", "three bytes changed at random")(_flip(_seed))
