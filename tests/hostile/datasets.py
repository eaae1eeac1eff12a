"""Hostile datasets and recorded outputs, read through a small task file."""

from __future__ import annotations

from pathlib import Path

from case import Cases

CASES = Cases("dataset")
case = CASES.case


def task(folder: Path, data: str, more: str = "", fields: str = "") -> None:
    """A task file over the data file of this name."""
    (folder / "task.toml").write_text(
        f'scorer = "includes()"\n{more}\n[dataset]\npath = "{data}"\n{fields}\n'
    )


def _data(name: str, content: bytes, fields: str = ""):
    def make(folder: Path) -> None:
        task(folder, name, fields=fields)
        (folder / name).write_bytes(content)

    return make


def _lazily(name: str, content, fields: str = ""):
    """The same with a function that makes the content, so that a module that is imported holds none of it."""

    def make(folder: Path) -> None:
        _data(name, content(), fields)(folder)

    return make


HEAD = b"id,input,target\n"
MANY = {
    "line_csv": ("a line of 10 MB", "data.csv", lambda: HEAD + b"1,q," + b"x" * 10_000_000 + b"\n"),
    "input_csv": ("a question of 10 MB", "data.csv", lambda: HEAD + b"1," + b"x" * 10_000_000 + b",t\n"),
    "header_csv": ("a header of 10 MB", "data.csv", lambda: b"x" * 10_000_000 + b"\n"),
    "columns_csv": (
        "a header of 100,000 columns",
        "data.csv",
        lambda: ("id,input,target," + ",".join(f"x{n}" for n in range(100_000)) + "\n1,q,t" + ",1" * 100_000 + "\n").encode(),
    ),
    "quote_csv": ("a quote that never closes", "data.csv", lambda: HEAD + b'1,"q,t\n' + b"2,q,t\n" * 1_500_000),
    "rows_csv": ("300,000 rows", "data.csv", lambda: HEAD + b"".join(b"%d,q,t\n" % n for n in range(300_000))),
    "rows_same_id_csv": ("2,000,000 rows of the same id", "data.csv", lambda: HEAD + b"1,q,t\n" * 2_000_000),
    "rows_empty_csv": ("10,000,000 empty lines", "data.csv", lambda: HEAD + b"\n" * 10_000_000),
    "ids_csv": ("10 ids of 1 MB each", "data.csv", lambda: HEAD + b"".join(b"%d%s,q,t\n" % (n, b"x" * 1_000_000) for n in range(10))),
    "nuls_csv": ("NUL bytes", "data.csv", lambda: HEAD + b"1\0,q\0,t\0\n"),
    "utf16_csv": ("UTF-16", "data.csv", lambda: "id,input,target\n1,q,t\n".encode("utf-16")),
    "utf8_csv": ("bytes that are no UTF-8", "data.csv", lambda: HEAD + b"1,\xff\xfe,t\n"),
    "escapes_csv": ("escape sequences in ids", "data.csv", lambda: HEAD + "\x1b]0;evil\x07,q,t\n\u202e,q,t\n".encode()),
    "paths_csv": ("ids that are paths", "data.csv", lambda: HEAD + b"../../../etc/x,q,t\n/etc/passwd,q,t\nCON,q,t\n.,q,t\n"),
    "zeros_csv": ("10 MB of zeros", "data.csv", lambda: bytes(10_000_000)),
    "line_tsv": ("a line of 10 MB", "data.tsv", lambda: b"id\tinput\ttarget\n1\tq\t" + b"x" * 10_000_000 + b"\n"),
    "nested_json": ("lists nested 5,000,000 deep", "data.json", lambda: b"[" * 5_000_000 + b"]" * 5_000_000),
    "nested_field_json": (
        "metadata nested 1,000,000 deep",
        "data.json",
        lambda: b'[{"input":"q","target":"t","metadata":' + b'{"a":' * 1_000_000 + b"1" + b"}" * 1_000_000 + b"}]",
    ),
    "tiny_json": ("3,000,000 empty objects", "data.json", lambda: b"[" + b"{}," * 2_999_999 + b"{}]"),
    "tiny_field_json": (
        "metadata of 5,000,000 empty lists",
        "data.json",
        lambda: b'[{"input":"q","target":"t","metadata":{"a":[' + b"[]," * 5_000_000 + b"[]]}}]",
    ),
    "open_json": ("a list that never ends", "data.json", lambda: b'[{"input":"q","target":"t"},' * 400_000),
    "keys_json": (
        "an object of 1,000,000 keys",
        "data.json",
        lambda: b'[{"input":"q","target":"t"' + b"".join(b',"k%d":1' % n for n in range(1_000_000)) + b"}]",
    ),
    "targets_json": ("2,000,000 targets", "data.json", lambda: b'[{"input":"q","target":[' + b'"t",' * 1_999_999 + b'"t"]}]'),
    "choices_json": ("1,000,000 choices", "data.json", lambda: b'[{"input":"q","target":"A","choices":[' + b'"t",' * 999_999 + b'"t"]}]'),
    "messages_json": (
        "a conversation of 300,000 messages",
        "data.json",
        lambda: b'[{"target":"t","input":[' + b'{"role":"user","content":"q"},' * 299_999 + b'{"role":"user","content":"q"}]}]',
    ),
    "numbers_json": ("an id with 10,000,000 digits", "data.json", lambda: b'[{"id":' + b"1" * 10_000_000 + b',"input":"q","target":"t"}]'),
    "types_json": ("values of the wrong type", "data.json", lambda: b'[{"id":{},"input":{"a":1},"target":[[1]],"metadata":7,"choices":8}]'),
    "surrogates_json": ("lone surrogates", "data.json", lambda: rb'[{"id":"\ud800","input":"\udfff","target":"\u0000"}]'),
    "nan_json": ("NaN and Infinity", "data.json", lambda: b'[{"id":NaN,"input":NaN,"target":Infinity}]'),
    "line_jsonl": ("a line of 10 MB", "data.jsonl", lambda: b'{"input":"q","target":"' + b"x" * 10_000_000 + b'"}\n'),
    "nested_jsonl": ("a line nested 10,000,000 deep", "data.jsonl", lambda: b'{"input":' + b"[" * 10_000_000 + b"\n"),
    "rows_empty_jsonl": ("10,000,000 empty lines", "data.jsonl", lambda: b"\n" * 10_000_000),
    "keys_differ_jsonl": (
        "200,000 lines, each with a key of its own",
        "data.jsonl",
        lambda: b"".join(b'{"input":"q","target":"t","k%d":1}\n' % n for n in range(200_000)),
    ),
}  # fmt: skip

# All samples of these are run, which takes its time.
PATIENT = {"rows_csv", "keys_differ_jsonl"}
# 300,000 samples are honest work, and a run holds about 2 kB of each.
LARGE = {"rows_csv"}

for _name, (_about, _file, _content) in MANY.items():
    case(_name, _about, **({"seconds": "60"} if _name in PATIENT else {}), **({"megabytes": "1000"} if _name in LARGE else {}))(_lazily(_file, _content))


@case("shuffle_choices", "100,000 choices that are shuffled")
def shuffle_choices(folder: Path) -> None:
    choices = ",".join(f'"c{n}"' for n in range(100_000))
    _data("data.json", f'[{{"input":"q","target":"A","choices":[{choices}]}}]'.encode(), "shuffle_choices = 7")(folder)


@case("no_file", "a dataset that is a folder")
def no_file(folder: Path) -> None:
    task(folder, "..")


@case("device_csv", "a dataset that is /dev/zero")
def device_csv(folder: Path) -> None:
    _device(folder, "data.csv")


@case("device_json", "a JSON dataset that is /dev/zero")
def device_json(folder: Path) -> None:
    _device(folder, "data.json")


@case("device_jsonl", "a JSONL dataset that is /dev/zero")
def device_jsonl(folder: Path) -> None:
    _device(folder, "data.jsonl")


def _device(folder: Path, name: str) -> None:
    task(folder, name)
    link = folder / name
    if not link.is_symlink():
        link.symlink_to("/dev/zero")


# --- recorded outputs ---


def _outputs(content):
    def make(folder: Path) -> None:
        _data("data.csv", HEAD + b"1,q,t\n2,q,t\n3,q,t\n")(folder)
        (folder / "outputs.jsonl").write_bytes(content())

    return make


OUTPUTS = {
    "output_10mb": ("an output of 10 MB", lambda: b'{"id":"1","output":"' + b"x" * 10_000_000 + b'"}\n'),
    "output_escapes": ("an output of escapes only", lambda: b'{"id":"1","output":"' + rb"\u0000" * 2_000_000 + b'"}\n'),
    "outputs_many": ("500,000 outputs", lambda: b"".join(b'{"id":"%d","output":"x"}\n' % n for n in range(500_000))),
    "outputs_same": ("500,000 outputs of one sample", lambda: b'{"id":"1","output":"x"}\n' * 500_000),
    "outputs_list": ("a list of 2,000,000 outputs", lambda: b'{"id":"1","output":[' + b'"x",' * 1_999_999 + b'"x"]}\n'),
    "outputs_nested": ("a line nested 10,000,000 deep", lambda: b'{"id":"1","output":' + b"[" * 10_000_000 + b"\n"),
    "outputs_types": ("ids and outputs of the wrong type", lambda: b'{"id":[],"output":{}}\n{"id":1,"epoch":-1,"output":null}\n'),
    "outputs_zeros": ("10 MB of zeros", lambda: bytes(10_000_000)),
    "outputs_epoch": ("an epoch of 2**64", lambda: b'{"id":"1","epoch":18446744073709551616,"output":"x"}\n'),
}  # fmt: skip

for _name, (_about, _content) in OUTPUTS.items():
    case(_name, _about, kind="replay")(_outputs(_content))


@case("outputs_device", "recorded outputs that are /dev/zero", kind="replay")
def outputs_device(folder: Path) -> None:
    _data("data.csv", HEAD + b"1,q,t\n")(folder)
    link = folder / "outputs.jsonl"
    if not link.is_symlink():
        link.symlink_to("/dev/zero")
