"""Hostile tables of scores: CSV, TSV and JSON lines."""

from __future__ import annotations

from pathlib import Path

from case import Cases

CASES = Cases("table")
case = CASES.case
HEAD = b"id,category,score\n"


def _rows(count: int, row: str = "q{},a,1\n") -> bytes:
    return "".join(row.format(n) for n in range(count)).encode()


# --- long lines and cells ---


@case("line_50mb.csv", "a line of 50 MB")
def line_50mb(path: Path) -> None:
    path.write_bytes(HEAD + b"q1,a," + b"1" * 49_000_000 + b"\n")


@case("header_10mb.csv", "a header that is one name of 10 MB")
def header_10mb(path: Path) -> None:
    path.write_bytes(b"x" * 10_000_000 + b"\n")


@case("header_10mb.tsv", "a header that is one name of 10 MB, and a row")
def header_10mb_tsv(path: Path) -> None:
    path.write_bytes(b"id\tscore\t" + b"x" * 10_000_000 + b"\nq1\t1\ta\n")


@case("line_50mb.jsonl", "a line of 50 MB of one string")
def line_50mb_jsonl(path: Path) -> None:
    path.write_bytes(b'{"id":"q1","category":"' + b"x" * 49_000_000 + b'","score":1}\n')


def _sparse(path: Path, head: bytes) -> None:
    with open(path, "wb") as file:
        file.write(head)
        file.truncate(1 << 30)


@case("sparse_1gb.csv", "a header, then 1 GB of zeros that take no disk")
def sparse_csv(path: Path) -> None:
    _sparse(path, HEAD)


@case("sparse_header_1gb.csv", "1 GB of zeros that take no disk")
def sparse_header_csv(path: Path) -> None:
    _sparse(path, b"")


@case("sparse_1gb.tsv", "1 GB of zeros as TSV")
def sparse_tsv(path: Path) -> None:
    _sparse(path, b"id\tscore\n")


@case("sparse_1gb.jsonl", "a row, then 1 GB of zeros")
def sparse_jsonl(path: Path) -> None:
    _sparse(path, b'{"id":1,"score":1}\n')


@case("ids_1mb.csv", "10 ids of 1 MB each")
def ids_1mb(path: Path) -> None:
    path.write_bytes(HEAD + b"".join(b"x" * 1_000_000 + b"%d,a,1\n" % n for n in range(10)))


@case("cells_1mb.csv", "10 categories of 1 MB each")
def cells_1mb(path: Path) -> None:
    path.write_bytes(HEAD + b"".join(b"q%d,%d" % (n, n) + b"x" * 1_000_000 + b",1\n" for n in range(10)))


# --- quotes ---


@case("quote_open.csv", "a quote that never closes, 12 MB")
def quote_open(path: Path) -> None:
    path.write_bytes(HEAD + b'"q0,a,1\n' + _rows(4_000_000)[:12_000_000])


@case("quotes_open_many.csv", "a quote that opens in every line and is closed in the next")
def quotes_open_many(path: Path) -> None:
    path.write_bytes(HEAD + b'q,"a,1\n' * 2_000_000)


@case("quotes_doubled.csv", "a cell that is 10 MB of doubled quotes")
def quotes_doubled(path: Path) -> None:
    path.write_bytes(HEAD + b'q1,"' + b'""' * 5_000_000 + b'",1\n')


@case("quotes_in_cells.csv", "quotes in the middle of cells that have none at their start")
def quotes_in_cells(path: Path) -> None:
    path.write_bytes(HEAD + b'q"x,a"",1\n' * 1_000_000)


# --- columns ---


@case("columns_100000.csv", "a header of 100,000 columns")
def columns_100000(path: Path) -> None:
    names = ",".join(f"x{n}" for n in range(100_000))
    path.write_text(f"id,category,score,{names}\n" + "".join(f"q{n},a,1{',1' * 100_000}\n" for n in range(3)))


@case("columns_5000000.csv", "a header of 5,000,000 columns without names")
def columns_5000000(path: Path) -> None:
    path.write_bytes(b"id,category,score" + b"," * 5_000_000 + b"\nq1,a,1" + b"," * 5_000_000 + b"\n")


@case("columns_same.csv", "a header of 1,000,000 columns of the same name")
def columns_same(path: Path) -> None:
    path.write_bytes(b"id,category,score" + b",x" * 1_000_000 + b"\nq1,a,1" + b",1" * 1_000_000 + b"\n")


@case("rows_ragged.csv", "a row of 5,000,000 cells below a header of three")
def rows_ragged(path: Path) -> None:
    path.write_bytes(HEAD + b"q1,a,1" + b",1" * 5_000_000 + b"\n")


@case("keys_differ.jsonl", "500,000 metadata keys, each in one line only")
def keys_differ(path: Path) -> None:
    path.write_bytes(_rows(500_000, '{{"id":{0},"score":1,"k{0}":1}}\n'))


@case("keys_differ_wide.jsonl", "1,000 lines with 1,000 keys each, all different")
def keys_differ_wide(path: Path) -> None:
    lines = (f'{{"id":{n},"score":1' + "".join(f',"k{n}_{m}":1' for m in range(1000)) + "}\n" for n in range(1000))
    path.write_text("".join(lines))


@case("scorers_differ.csv", "a long table with 500,000 scorers, of a sample each")
def scorers_differ(path: Path) -> None:
    path.write_bytes(b"id,scorer,value\n" + _rows(500_000, "q{0},s{0},1\n"))


@case("scorers_of_ids.csv", "a long table with 1,000 scorers of 1,000 samples")
def scorers_of_ids(path: Path) -> None:
    path.write_text("id,scorer,value\n" + "".join(f"q{n},s{m},1\n" for n in range(1000) for m in range(1000)))


# --- rows ---


@case("rows_same_id.csv", "2,000,000 rows of the same id")
def rows_same_id(path: Path) -> None:
    path.write_bytes(HEAD + b"q,a,1\n" * 2_000_000)


@case("rows_same_id.jsonl", "350,000 lines of the same id and epoch")
def rows_same_id_jsonl(path: Path) -> None:
    path.write_bytes(b'{"id":1,"epoch":1,"score":1}\n' * 350_000)


@case("rows_epochs.csv", "2,000,000 epochs of one sample")
def rows_epochs(path: Path) -> None:
    path.write_bytes(b"id,epoch,score\n" + _rows(2_000_000, "q,{},1\n"))


@case("rows_different.csv", "2,300,000 ids and categories, all different")
def rows_different(path: Path) -> None:
    path.write_bytes(HEAD + _rows(2_300_000, "q{0},c{0},1\n"))


@case("rows_empty.csv", "10,000,000 empty lines and more")
def rows_empty(path: Path) -> None:
    path.write_bytes(HEAD + b"\n" * 10_000_000 + b"q,a,1\n" + b"\r\n" * 2_000_000)


@case("rows_empty.jsonl", "12,000,000 empty lines")
def rows_empty_jsonl(path: Path) -> None:
    path.write_bytes(b'{"id":1,"score":1}\n' + b"\n" * 12_000_000)


@case("line_ends.csv", "line ends of every kind, mixed")
def line_ends(path: Path) -> None:
    path.write_bytes(HEAD.replace(b"\n", b"\r") + b"q1,a,1\r\nq2,a,1\nq3,a,1\rq4,a,1\n\rq5,a,1" * 250_000)


@case("carriage_returns.csv", "10 MB of carriage returns")
def carriage_returns(path: Path) -> None:
    path.write_bytes(HEAD + b"q1,a,1\n" + b"\r" * 10_000_000)


# --- values ---


@case("epochs_max.csv", "epochs of 4294967295, 2**64, -1 and 1e9")
def epochs_max(path: Path) -> None:
    path.write_text("id,epoch,score\n" + "".join(f"q{n},{e},1\n" for n, e in enumerate([4294967295, 1])))


@case("epochs_beyond.csv", "epochs beyond 32 bits")
def epochs_beyond(path: Path) -> None:
    path.write_text("id,epoch,score\nq1,4294967296,1\nq2,18446744073709551616,1\nq3,-1,1\nq4,1e9,1\n")


@case("numbers_long.csv", "scores with a million digits")
def numbers_long(path: Path) -> None:
    path.write_bytes(HEAD + b"".join(b"q%d,a,0.%s\n" % (n, b"1" * 1_000_000) for n in range(10)))


@case("numbers_huge.csv", "scores of 1e308, 5e-324, 1e999999999, inf and -0")
def numbers_huge(path: Path) -> None:
    values = ["1e308", "-1e308", "5e-324", "1e999999999", "inf", "-0", "NaN", "1e-999999999"] * 50_000
    path.write_text("id,category,score\n" + "".join(f"q{n},a,{v}\n" for n, v in enumerate(values)))


@case("numbers_long.jsonl", "numbers of 10 MB and exponents of a million digits")
def numbers_long_jsonl(path: Path) -> None:
    path.write_bytes(b'{"id":1,"score":' + b"1" * 10_000_000 + b'}\n{"id":2,"score":1e' + b"9" * 1_000_000 + b"}\n")


@case("nested.jsonl", "lists nested 5,000,000 deep")
def nested(path: Path) -> None:
    depth = 5_000_000
    path.write_bytes(b'{"id":1,"score":' + b"[" * depth + b"]" * depth + b"}\n")


@case("nested_metadata.jsonl", "metadata nested 2,000,000 deep, in maps")
def nested_metadata(path: Path) -> None:
    depth = 2_000_000
    path.write_bytes(b'{"id":1,"score":1,"category":' + b'{"a":' * depth + b"1" + b"}" * depth + b"}\n")


@case("lists.jsonl", "scores that are lists of 1,000,000 items")
def lists(path: Path) -> None:
    score = b"[" + b"1," * 999_999 + b"1]"
    path.write_bytes(b"".join(b'{"id":%d,"score":%s}\n' % (n, score) for n in range(5)))


@case("lists_tiny.jsonl", "a score of 10,000,000 empty lists")
def lists_tiny(path: Path) -> None:
    path.write_bytes(b'{"id":1,"score":[' + b"[]," * 10_000_000 + b"[]]}\n")


@case("metadata_tiny.jsonl", "metadata of 4,000,000 empty lists")
def metadata_tiny(path: Path) -> None:
    path.write_bytes(b'{"id":1,"score":1,"category":[' + b"[]," * 4_000_000 + b"[]]}\n")


@case("maps.jsonl", "1,000 scores that are maps of 1,000 keys, all different")
def maps(path: Path) -> None:
    lines = (f'{{"id":{n},"score":{{' + ",".join(f'"k{n}_{m}":1' for m in range(1000)) + "}}\n" for n in range(1000))
    path.write_text("".join(lines))


@case("escapes.jsonl", "an id of 12 MB of escapes")
def escapes(path: Path) -> None:
    path.write_bytes(b'{"id":"' + rb"\u0041" * 2_000_000 + b'","score":1}\n')


# --- bytes ---


@case("nuls.csv", "NUL bytes in names, ids and scores")
def nuls(path: Path) -> None:
    path.write_bytes(b"id,cat\0egory,score\n" + b"q\0,\0,\0\n" * 1_000_000)


@case("utf16.csv", "a table in UTF-16")
def utf16(path: Path) -> None:
    path.write_bytes(("id,category,score\n" + "q1,a,1\n" * 1_000_000).encode("utf-16"))


@case("utf8_wrong.csv", "bytes that are no UTF-8")
def utf8_wrong(path: Path) -> None:
    path.write_bytes(HEAD + b"q\xff\xfe,\xc0\x80,1\n" * 1_000_000)


@case("utf8_wrong.jsonl", "lines that are no UTF-8, and lone surrogates")
def utf8_wrong_jsonl(path: Path) -> None:
    path.write_bytes(b'{"id":"\\ud800","score":1}\n{"id":"\xff","score":1}\n')


@case("escape_sequences.csv", "escape sequences and bidirectional marks in ids, names and groups")
def escape_sequences(path: Path) -> None:
    path.write_text("id,category,score\nq\x1b]0;evil\x07,\x1b[31m\u202eevil,1\nq2,\u2066,\x1b[2J\n")


@case("gaps.csv", "an id column that is empty everywhere")
def gaps(path: Path) -> None:
    path.write_bytes(HEAD + b",,\n" * 2_500_000)


@case("empty.csv", "a file of nothing")
def empty(path: Path) -> None:
    path.write_bytes(b"")


@case("parquet_as_csv.csv", "a table that is an archive")
def parquet_as_csv(path: Path) -> None:
    path.write_bytes(b"PK\x03\x04" + bytes(range(256)) * 20_000)
