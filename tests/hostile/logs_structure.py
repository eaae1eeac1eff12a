"""Hostile eval logs: archives that lie, and JSON of a shape that nothing expects."""

from __future__ import annotations

import random
from pathlib import Path

from case import Cases
from content import Content, Repeat
from log_parts import (
    HEADER, START, dumps, eval_info, header, hole, json_log, log, log_with, sample, sample_entry, scorers, start,
)  # fmt: skip
from zip_by_hand import STORED, ZSTD, Entry, Zip

CASES = Cases("log")
case = CASES.case
MIB = 1 << 20

# --- archives ---


@case("entries_one_piece.eval", "250,000 samples in the directory that are one piece of data of 64 MiB: 16 TB")
def entries_one_piece(path: Path) -> None:
    content = hole(sample(messages=[{"role": "user", "content": "HOLE"}]), b'"', Repeat(b"x", 64 * MIB - 500), b'"')
    zip = log()
    offset = len(zip.body)
    packed, crc = content.zstd(), content.crc()
    zip.add(sample_entry(2), ZSTD, packed, crc, len(content))
    entry = Entry(sample_entry(2).encode(), ZSTD, crc, len(packed), len(content), offset)
    for _ in range(250_000):
        zip.list(entry)
    zip.write(path)


@case("entries_nested.eval", "10,000 stored samples inside each other: the sum of their sizes is quadratic")
def entries_nested(path: Path) -> None:
    zip = log()
    count, end, entries = 10_000, b'{"id":1,"epoch":1,"scores":{}}', []
    # Each sample is the string of all headers behind it.
    headers = [Entry(sample_entry(n).encode(), STORED, 7, 0, 0) for n in range(10, count)]
    behind = len(end)
    for entry in reversed(headers):
        entry.compressed = entry.decompressed = behind
        behind += len(entry.local())
    at = len(zip.body)
    for entry in headers:
        entry.offset = at
        at += len(entry.local())
        entries.append(entry.local())
    zip.body += b"".join(entries) + end
    for entry in headers:
        zip.list(entry)
    zip.write(path)


@case("entries_overlapping.eval", "2,000 stored samples that all are the same 20 MB, with checksums that hold")
def entries_overlapping(path: Path) -> None:
    zip = log()
    content = dumps(sample(2, messages=[{"role": "user", "content": "x" * 20_000_000}])).encode()
    offset = len(zip.body)
    zip.stored(sample_entry(2), content)
    import zlib

    entry = Entry(sample_entry(2).encode(), STORED, zlib.crc32(content), len(content), len(content), offset)
    for _ in range(2000):
        zip.list(entry)
    zip.write(path)


@case("entries_300000.eval", "a directory with 300,000 entries of nothing, all at one place")
def entries_300000(path: Path) -> None:
    zip = log()
    for n in range(300_000):
        zip.list(Entry(f"samples/{n}_epoch_1.json".encode(), STORED, 0, 0, 0))
    zip.write(path)


@case("entries_unknown_150000.eval", "150,000 entries of names that no log has, which must be compared with the file")
def entries_unknown_150000(path: Path) -> None:
    zip = log()
    for n in range(150_000):
        zip.stored(f"x/{n}", b"")
    zip.write(path)


@case("names_twice_200000.eval", "200,000 entries with the same name")
def names_twice_200000(path: Path) -> None:
    zip = log()
    name, data = b"samples/1_epoch_1.json", b""
    for _ in range(200_000):
        zip.stored(name, data)
    zip.write(path)


@case("samples_150000.eval", "150,000 tiny samples")
def samples_150000(path: Path) -> None:
    zip = Zip().stored(START, dumps(start()))
    for id in range(150_000):
        zip.stored(f"samples/{id}_epoch_1.json", f'{{"id":{id},"epoch":1,"scores":{{}}}}')
    zip.stored(HEADER, dumps(header())).write(path)


@case("zip64_claims.eval", "zip64 sizes and offsets of 2**63")
def zip64_claims(path: Path) -> None:
    zip = log()
    zip.list(Entry(sample_entry(2).encode(), ZSTD, 0, 1 << 63, 1 << 63, 1 << 63)).write(path)


@case("zip64_decompressed.eval", "a sample of 100 bytes that claims to decompress to 2**63")
def zip64_decompressed(path: Path) -> None:
    log().add(sample_entry(2), ZSTD, Content(b"{}").zstd(), 0, 1 << 63).write(path)


@case("directory_count.eval", "a directory that claims 2**62 entries")
def directory_count(path: Path) -> None:
    log().write(path, count=1 << 62)


@case("directory_offset.eval", "a directory that claims to be at 2**63")
def directory_offset(path: Path) -> None:
    log().write(path, offset=1 << 63)


@case("directory_size.eval", "a directory that claims 2**63 bytes")
def directory_size(path: Path) -> None:
    log().write(path, size=1 << 63)


@case("directory_itself.eval", "a directory that claims to be the whole file")
def directory_itself(path: Path) -> None:
    zip = log()
    zip.write(path, offset=0, size=len(zip.body) + len(zip.directory))


@case("comments.eval", "a comment of 64 kB that is made of ends of directories")
def comments(path: Path) -> None:
    zip = log()
    end = zip.end()
    path.write_bytes(zip.bytes()[:-2] + b"\xff\xff" + (end * 3000)[:65535])


@case("names_64kb.eval", "80 samples with names of 64 kB")
def names_64kb(path: Path) -> None:
    zip = log()
    for n in range(80):
        id = str(n).rjust(65_000, "x")
        zip.stored(sample_entry(id), dumps(sample(n)))
    zip.write(path)


@case("names_folders.eval", "80 names of 32,000 folders each")
def names_folders(path: Path) -> None:
    zip = log()
    for n in range(80):
        zip.stored("samples/" + "a/" * 32_000 + f"{n}.json", b"{}")
    zip.write(path)


@case("name_outside.eval", "a name that leads out of the folder")
def name_outside(path: Path) -> None:
    log().stored("samples/../../../evil.json", b"{}").write(path)


@case("name_escapes.eval", "names with escape sequences and bidirectional marks")
def name_escapes(path: Path) -> None:
    log().stored("samples/\x1b]0;evil\x07\u202e_epoch_1.json", b"broken").write(path)


@case("truncated.eval", "25 samples of 400 kB, cut in the middle of the last one")
def truncated(path: Path) -> None:
    zip = Zip().stored(START, dumps(start()))
    text = random.Random(2).randbytes(200_000).hex()
    for id in range(1, 26):
        zip.stored(sample_entry(id), dumps(sample(id, messages=[{"role": "user", "content": text}])))
    path.write_bytes(zip.body[:-1000])


@case("empty.eval", "a file of nothing")
def empty(path: Path) -> None:
    path.write_bytes(b"")


# --- samples ---


def _one(path: Path, *filling, ratio: int | None = None, **fields) -> None:
    """A log with one sample, in which the filling stands for HOLE."""
    log_with([(sample_entry(), hole(sample(**fields), *filling))], ratio).write(path)


def _list(count: int, item: str = "1") -> str:
    return "[" + f"{item}," * (count - 1) + item + "]"


def _map(count: int, value: str = "1", key: str = "key{}") -> str:
    return "{" + ",".join(f'"{key.format(n)}":{value}' for n in range(count)) + "}"


@case("scorers_of_a_sample.eval", "a sample with 500,000 scorers")
def scorers_of_a_sample(path: Path) -> None:
    _one(path, _map(500_000, '{"value":1}'), scores="HOLE")


@case("scorers_of_samples.eval", "2,000 samples with 100 scorers each, all different")
def scorers_of_samples(path: Path) -> None:
    entries = []
    for id in range(1, 2001):
        scores = {f"s{id}_{n}": {"value": 1} for n in range(100)}
        entries.append((sample_entry(id), Content(dumps(sample(id, scores=scores)))))
    log_with(entries).write(path)


@case("epochs_120000.eval", "a sample with 120,000 epochs")
def epochs_120000(path: Path) -> None:
    zip = Zip().stored(START, dumps(start()))
    for n in range(1, 120_000):
        zip.stored(sample_entry(1, n), f'{{"id":1,"epoch":{n},"scores":{{"match":{{"value":1}}}}}}')
    zip.stored(HEADER, dumps(header(config={"epochs": 120_000}))).write(path)


@case("epoch_max.json", "epochs of 4294967295 and more, negative ones, and ones that are no numbers")
def epoch_max(path: Path) -> None:
    epochs = [4294967295, 4294967296, 1 << 64, -1, 1.5, "1", None, [1]]
    path.write_text(json_log(header(), ",".join(dumps(sample(n, epoch)) for n, epoch in enumerate(epochs))))


@case("config_epochs.eval", "4294967295 epochs in the header")
def config_epochs(path: Path) -> None:
    config = {"epochs": 4294967295, "epochs_reducer": ["pass_at_4294967295", "at_least_4294967295", "collect"]}
    log(header(config=config), samples=3).write(path)


@case("value_list.eval", "a score that is a list of 5,000,000 items")
def value_list(path: Path) -> None:
    _one(path, _list(5_000_000), scores={"match": {"value": "HOLE"}})


@case("value_lists_1gb.eval", "a score that is a list of 400,000,000 items, 1 GB")
def value_lists_1gb(path: Path) -> None:
    _one(path, b"[", Repeat(b"1,", 400_000_000), b"1]", scores={"match": {"value": "HOLE"}}, ratio=900)


@case("value_map.eval", "a score that is a map of 1,000,000 keys")
def value_map(path: Path) -> None:
    _one(path, _map(1_000_000), scores={"match": {"value": "HOLE"}})


@case("value_long_keys.eval", "a score that is a map with keys of 1 MB")
def value_long_keys(path: Path) -> None:
    _one(path, _map(10, key="x" * 1_000_000 + "{}"), scores={"match": {"value": "HOLE"}})


@case("value_same_key.eval", "a score that is a map with the same key 1,000,000 times")
def value_same_key(path: Path) -> None:
    _one(path, "{" + '"k":1,' * 999_999 + '"k":1}', scores={"match": {"value": "HOLE"}})


@case("value_keys_differ.eval", "200 samples with scores of 5,000 keys each, metrics for each key")
def value_keys_differ(path: Path) -> None:
    entries = []
    for id in range(1, 201):
        value = {f"key{n}": 1 for n in range(5000)}
        entries.append((sample_entry(id), Content(dumps(sample(id, scores={"match": {"value": value}})))))
    metrics = {"*": [{"name": "inspect_ai/accuracy", "options": {}}, {"name": "inspect_ai/stderr", "options": {}}]}
    log_with(entries, scorers=[{"name": "match", "metrics": metrics}]).write(path)


@case("groups_100000.json", "grouped() over 100,000 groups")
def groups_100000(path: Path) -> None:
    metric = {"name": "inspect_ai/grouped", "options": {"metric": {"name": "inspect_ai/accuracy"}, "group_key": "category"}}
    samples = (dumps(sample(n, metadata={"category": f"g{n}"})) for n in range(100_000))
    path.write_text(json_log(header(scorers=scorers(metric)), ",".join(samples)))


@case("metadata_keys.eval", "metadata with 1,000,000 keys")
def metadata_keys(path: Path) -> None:
    _one(path, _map(1_000_000), metadata="HOLE")


@case("metadata_keys_differ.json", "20,000 samples with 50 metadata keys each, all different: columns of an export")
def metadata_keys_differ(path: Path) -> None:
    samples = (dumps(sample(n, metadata={f"k{n}_{m}": 1 for m in range(50)})) for n in range(20_000))
    path.write_text(json_log(header(), ",".join(samples)))


@case("metadata_ids_long.json", "10 ids of 1 MB each")
def metadata_ids_long(path: Path) -> None:
    path.write_text(json_log(header(), ",".join(dumps(sample(f"{n}" + "x" * 1_000_000)) for n in range(10))))


# --- numbers, strings, bytes ---


@case("number_digits.eval", "numbers with 5,000,000 digits")
def number_digits(path: Path) -> None:
    _one(path, "[" + ",".join(["1" * 5_000_000, "0." + "1" * 5_000_000, "1e" + "9" * 1_000_000]) + "]", scores={"match": {"value": "HOLE"}})


@case("number_huge.json", "scores of 1e999999999, -0, 1e-999999999 and 2**64")
def number_huge(path: Path) -> None:
    values = ["1e999999999", "-1e999999999", "-0", "1e-999999999", "18446744073709551616", "Infinity", "-Infinity", "NaN"]
    samples = (dumps(sample(n, scores={"match": {"value": "HOLE"}})).replace('"HOLE"', v) for n, v in enumerate(values))
    path.write_text(json_log(header(), ",".join(samples)))


@case("nan_everywhere.json", "NaN where nothing expects it")
def nan_everywhere(path: Path) -> None:
    text = json_log(header(), dumps(sample("HOLE", "HOLE", metadata={"category": "HOLE"})))
    path.write_text(text.replace('"HOLE"', "NaN").replace('"epochs":1', '"epochs":NaN').replace('"value":1.0', '"value":NaN'))


@case("utf8_wrong.json", "bytes that are no UTF-8 in names, ids and texts")
def utf8_wrong(path: Path) -> None:
    text = json_log(header(task="HOLE"), dumps(sample("HOLE", messages=[{"role": "user", "content": "HOLE"}])))
    path.write_bytes(text.encode().replace(b"HOLE", b"\xff\xfe\xc0\x80\xed\xa0\x80"))


@case("surrogates.json", "lone surrogates, NUL and unassigned characters as escapes")
def surrogates(path: Path) -> None:
    text = json_log(header(task="HOLE"), dumps(sample("HOLE", metadata={"category": "HOLE"})))
    path.write_text(text.replace("HOLE", r"\ud800\u0000\udc00\uffff\ud83d"))


@case("escapes_10mb.eval", "an answer of 10 MB of backslashes")
def escapes_10mb(path: Path) -> None:
    _one(path, '"' + "\\\\" * 5_000_000 + '"', scores={"match": {"value": "C", "answer": "HOLE"}})


@case("escape_sequences.json", "escape sequences and bidirectional marks in every name")
def escape_sequences(path: Path) -> None:
    evil = "\x1b]0;evil\x07\x1b[31m\u202e\u2066"
    block = {"name": evil, "scorer": evil, "params": {}, "metrics": {evil: {"name": evil, "value": 1, "params": {}}}}
    results = {"total_samples": 1, "completed_samples": 1, "scores": [block]}
    head = header(results, task=evil, model=evil, scorers=[{"name": evil, "metrics": [{"name": evil}]}])
    path.write_text(json_log(head, dumps(sample(evil, scores={evil: {"value": 1}}, metadata={evil: evil}))))


# --- JSON logs ---


@case("samples_empty.json", "5,000,000 empty samples")
def samples_empty(path: Path) -> None:
    path.write_text(json_log(header(), "{}," * 4_999_999 + "{}"))


@case("samples_tiny.json", "800,000 samples with nothing but an id and a score", seconds="60")
def samples_tiny(path: Path) -> None:
    tiny = (f'{{"id":{n},"epoch":1,"scores":{{"match":{{"value":1}}}}}}' for n in range(800_000))
    path.write_text(json_log(header(), ",".join(tiny)))


@case("samples_same.json", "350,000 samples that have the same id and epoch", seconds="60")
def samples_same(path: Path) -> None:
    path.write_text(json_log(header(), ",".join(['{"id":1,"epoch":1,"scores":{"match":{"value":1}}}'] * 350_000)))


@case("keys_twice.json", "every field of the header 100,000 times")
def keys_twice(path: Path) -> None:
    text = dumps(header())
    path.write_text('{"version":2,' + '"status":"success","samples":[],"results":null,' * 100_000 + text[1:])


@case("keys_unknown.json", "1,000,000 fields that no log has")
def keys_unknown(path: Path) -> None:
    path.write_text(_map(1_000_000)[:-1] + "," + dumps(header())[1:])


@case("blanks.json", "10 MB of blanks in front of a log")
def blanks(path: Path) -> None:
    path.write_text(" " * 10_000_000 + json_log(header(), dumps(sample())))


@case("types_wrong.json", "fields of old and new logs with values of the wrong type")
def types_wrong(path: Path) -> None:
    info = eval_info(scorers={"a": 1}, metrics="x", config=[], dataset="x", packages=[1], metadata=[[]], model=7)
    head = {**header(), "eval": info, "results": [1], "plan": 7, "stats": "x", "status": {"a": []}, "version": "2"}
    wrong = sample(scores=[1], score={"value": {}}, metadata="x", messages=7, error=5, limit=[])
    path.write_text(json_log(head, dumps(wrong) + ",1,null,[],\"x\""))


@case("old_types.json", "the layout of the first logs with values of the wrong type")
def old_types(path: Path) -> None:
    head = {"version": 1, "status": "success", "eval": {"task": "t", "model": "m"}, "results": {"scorer": 7, "metrics": [1]}}
    path.write_text(json_log(head, dumps({"id": 1, "epoch": 1, "score": "x"}) + "," + dumps({"id": 2, "score": {"value": {}}})))


@case("summaries_many.eval", "80,000 journals of summaries")
def summaries_many(path: Path) -> None:
    zip = log()
    for n in range(80_000):
        zip.stored(f"_journal/summaries/{n}.json", b"[]")
    zip.write(path)
