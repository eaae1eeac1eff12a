"""Hostile eval logs: the cases that were found by use, and everything about size. Those about structure are in
`logs_structure.py`."""

from __future__ import annotations

import random
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

from case import Cases
from content import Content, Repeat
from log_parts import (
    ACCURACY, HEADER, START, dumps, eval_info, header, hole, json_log, log, log_with, results, sample, sample_entry,
    scorers, start, text_of,
)  # fmt: skip
from zip_by_hand import Entry, Zip

CASES = Cases("log")
case = CASES.case
MIB = 1 << 20


def several(count: int, record_of, size: int, byte: bytes = b"x") -> list[tuple[str, Content]]:
    """Samples 1, 2, … with a string of `size` bytes where the record says HOLE."""
    return [(sample_entry(id), hole(record_of(id), *text_of(size, byte))) for id in range(1, count + 1)]


# --- what a run of our own writes ---


@case("answer_13mb.eval", "a repetitive answer of 13 MB that a record holds five times: an entry denser than 1,000")
def answer_13mb(path: Path) -> None:
    record = sample(
        messages=[{"role": "assistant", "content": "HOLE"}],
        output={"model": "m", "choices": [{"message": {"role": "assistant", "content": "HOLE"}}], "completion": "HOLE"},
        scores={"match": {"value": "C", "answer": "HOLE", "explanation": "HOLE"}},
    )
    parts: list = []
    for piece in dumps(record).split('"HOLE"'):
        parts += [piece, *text_of(13_500_000)]
    log_with([(sample_entry(), Content(*parts[:-3]))], ratio=None).write(path)


@case("deflated_80000.eval", "80,000 deflated samples, as Inspect wrote them before zstd: a decoder has 40 kB", kind="figures", arguments="REPORT", seconds="60")
def deflated(path: Path) -> None:
    with ZipFile(path, "w", ZIP_DEFLATED, compresslevel=1) as file:
        file.writestr(START, dumps(start()))
        for id in range(1, 80_001):
            question, answer = f"Question {id}: what is {id} times {id}?", f"It is {id * id}, by {id * 7919 % 10007} steps."
            messages = [{"role": "user", "content": question}, {"role": "assistant", "content": answer}]
            file.writestr(sample_entry(id), dumps(sample(id, input=question, messages=messages)))
        file.writestr(HEADER, dumps(header()))


# --- records that hold hundreds of megabytes ---


def _records(path: Path, record_of, count: int = 24) -> None:
    log_with(several(count, record_of, 256 * MIB)).write(path)


@case("ids_256mb.eval", "24 samples with ids of 256 MB each")
def ids_256mb(path: Path) -> None:
    _records(path, lambda id: sample("HOLE"))


@case("answers_256mb.eval", "24 scores with answers of 256 MB each")
def answers_256mb(path: Path) -> None:
    _records(path, lambda id: sample(id, scores={"match": {"value": "C", "answer": "HOLE"}}))


@case("explanations_256mb.eval", "24 scores with explanations of 256 MB each")
def explanations_256mb(path: Path) -> None:
    _records(path, lambda id: sample(id, scores={"match": {"value": "C", "explanation": "HOLE"}}))


@case("values_256mb.eval", "24 scores whose values are strings of 256 MB each")
def values_256mb(path: Path) -> None:
    _records(path, lambda id: sample(id, scores={"match": {"value": "HOLE"}}))


@case("metadata_256mb.eval", "24 samples with metadata of 256 MB each, of the key that metrics group by")
def metadata_256mb(path: Path) -> None:
    _records(path, lambda id: sample(id, metadata={"category": "HOLE"}))


@case("metadata_lists_256mb.eval", "24 samples whose category is a list of 64 million numbers")
def metadata_lists_256mb(path: Path) -> None:
    entries = []
    for id in range(1, 25):
        content = hole(sample(id, metadata={"category": "HOLE"}), b"[", Repeat(b"1,2,", 64 * MIB), b"1]")
        entries.append((sample_entry(id), content))
    log_with(entries).write(path)


@case("score_metadata_256mb.eval", "24 scores with metadata of 256 MB each")
def score_metadata_256mb(path: Path) -> None:
    _records(path, lambda id: sample(id, scores={"match": {"value": "C", "metadata": {"k": "HOLE"}}}))


@case("messages_256mb.eval", "60 samples with messages of 256 MB each: 16 GB that nothing needs")
def messages_256mb(path: Path) -> None:
    _records(path, lambda id: sample(id, messages=[{"role": "user", "content": "HOLE"}]), 60)


@case("dense_64mb.eval", "2,000 samples of 64 MiB each, below the size from which the ratio counts: 128 GB in 5 MB")
def dense_64mb(path: Path) -> None:
    record = lambda id: sample(id, messages=[{"role": "user", "content": "HOLE"}])  # noqa: E731
    log_with(several(2000, record, 64 * MIB - 500), ratio=None).write(path)


@case("dense_64mb_answers.eval", "2,000 samples with answers of 64 MiB each: 128 GB in 5 MB")
def dense_64mb_answers(path: Path) -> None:
    record = lambda id: sample(id, scores={"match": {"value": "C", "answer": "HOLE"}})  # noqa: E731
    log_with(several(2000, record, 64 * MIB - 500), ratio=None).write(path)


@case("one_1gb_answer.eval", "a sample with an answer just below 1 GiB, the limit of a record")
def one_1gb_answer(path: Path) -> None:
    log_with(several(1, lambda id: sample(scores={"match": {"value": "C", "answer": "HOLE"}}), 1023 * MIB)).write(path)


@case("one_15gb_message.eval", "a sample just below 16 GiB, the limit of an entry, at a ratio below 1,000")
def one_15gb_message(path: Path) -> None:
    record = lambda id: sample(messages=[{"role": "user", "content": "HOLE"}])  # noqa: E731
    log_with(several(1, record, 16383 * MIB)).write(path)


@case("deflate_answers.eval", "8 samples with answers of 64 MB each, compressed by deflate")
def deflate_answers(path: Path) -> None:
    zip = Zip().stored(START, dumps(start()))
    for name, content in several(8, lambda id: sample(id, scores={"match": {"value": 1, "answer": "HOLE"}}), 64_000_000):
        zip.deflated(name, content)
    zip.stored(HEADER, dumps(header())).write(path)


@case("escapes_256mb.eval", "an answer of 256 MB that is escapes only, and a quote that is escaped at its end")
def escapes_256mb(path: Path) -> None:
    record = sample(scores={"match": {"value": "C", "answer": "HOLE"}})
    log_with([(sample_entry(), hole(record, b'"', Repeat(rb"\u0041", 42 * MIB), b'\\""'))]).write(path)


@case("window_128mb.eval", "100 samples whose zstd frames ask for windows of 128 MB")
def window_128mb(path: Path) -> None:
    zip = Zip().stored(START, dumps(start()))
    for id in range(1, 101):
        content = hole(sample(id, messages=[{"role": "user", "content": "HOLE"}]), *text_of(5 * MIB))
        zip.zstd(sample_entry(id), content, window=27)
    zip.stored(HEADER, dumps(header())).write(path)


# --- headers ---


def _metric(depth: int) -> dict:
    inner = {"type": "metric", "name": "accuracy", "params": {}}
    for _ in range(depth - 1):
        inner = {"type": "metric", "name": "grouped", "params": {"metric": inner, "group_key": "category"}}
    return {"name": "inspect_ai/grouped", "options": {"metric": inner, "group_key": "category"}}


def _with_metrics(path: Path, *metrics, samples: int = 10) -> None:
    log(header(scorers=scorers(*metrics)), samples=samples).write(path)


@case("grouped_16.eval", "grouped() nested 16 deep in the header: the result doubles with each level")
def grouped_16(path: Path) -> None:
    _with_metrics(path, _metric(16))


@case("grouped_200.eval", "grouped() nested 200 deep in the header")
def grouped_200(path: Path) -> None:
    _with_metrics(path, _metric(200))


@case("grouped_40.eval", "grouped() nested 40 deep in the header, below what JSON may be nested")
def grouped_40(path: Path) -> None:
    _with_metrics(path, _metric(40))


@case("grouped_wrong.eval", "grouped() of lists of lists, 15 MB that are named in a warning")
def grouped_wrong(path: Path) -> None:
    metric = ACCURACY
    for _ in range(16):
        metric = {"name": "inspect_ai/grouped", "options": {"metric": [metric, metric], "group_key": "category"}}
    _with_metrics(path, metric)


@case("metrics_100000.eval", "a header with 100,000 metrics")
def metrics_100000(path: Path) -> None:
    _with_metrics(path, *[ACCURACY] * 100_000)


@case("metrics_100000_different.eval", "a header with 100,000 metrics, each with an argument of its own")
def metrics_100000_different(path: Path) -> None:
    of = lambda n: {"name": "inspect_ai/ci", "options": {"level": 0.5 + n / 1e6}}  # noqa: E731
    _with_metrics(path, *[of(n) for n in range(100_000)])


@case("metrics_100000_unknown.eval", "a header with 100,000 metrics that are not registered: a warning for each")
def metrics_100000_unknown(path: Path) -> None:
    _with_metrics(path, *[{"name": f"own/metric_{n}", "options": {}} for n in range(100_000)])


@case("metric_map_100000.eval", "metrics by key for 100,000 glob patterns")
def metric_map_100000(path: Path) -> None:
    metrics = {f"*{n}*": [ACCURACY] for n in range(100_000)}
    value = {f"key{n}": 1 for n in range(1000)}
    head = header(scorers=[{"name": "match", "metrics": metrics}])
    zip = Zip().stored(START, dumps(start()))
    zip.stored(sample_entry(), dumps(sample(scores={"match": {"value": value}})))
    zip.stored(HEADER, dumps(head)).write(path)


@case("glob_stars.eval", "metrics by a glob of 5,000 stars and letters, matched with a key of 100,000 letters")
def glob_stars(path: Path) -> None:
    head = header(scorers=[{"name": "match", "metrics": {"*a" * 5000 + "b": [ACCURACY], "*": [ACCURACY]}}])
    zip = Zip().stored(START, dumps(start()))
    zip.stored(sample_entry(), dumps(sample(scores={"match": {"value": {"a" * 100_000: 1}}})))
    zip.stored(HEADER, dumps(head)).write(path)


@case("scorers_100000.eval", "a header with 100,000 scorers")
def scorers_100000(path: Path) -> None:
    log(header(scorers=scorers(count=100_000)), samples=10).write(path)


@case("results_100000.eval", "a header with 100,000 blocks of results")
def results_100000(path: Path) -> None:
    block = results()["scores"][0]
    blocks = [{**block, "name": f"match{n}", "scorer": f"match{n}"} for n in range(100_000)]
    log(header({"total_samples": 1, "completed_samples": 1, "scores": blocks}), samples=10).write(path)


@case("results_same_100000.eval", "a header with 100,000 blocks of results that have the same name")
def results_same_100000(path: Path) -> None:
    blocks = results()["scores"] * 100_000
    log(header({"total_samples": 1, "completed_samples": 1, "scores": blocks}), samples=10).write(path)


@case("recorded_metrics_100000.eval", "a header with 100,000 recorded metrics in a block")
def recorded_metrics_100000(path: Path) -> None:
    metrics = {f"m{n}": {"name": f"m{n}", "value": n, "params": {}} for n in range(100_000)}
    log(header(results(metrics=metrics)), samples=10).write(path)


@case("num_samples.eval", "bootstrap_stderr(num_samples=100000000)")
def num_samples(path: Path) -> None:
    _with_metrics(path, {"name": "inspect_ai/bootstrap_stderr", "options": {"num_samples": 100_000_000}}, samples=100)


@case("num_samples_max.eval", "bootstrap_stderr(num_samples=18446744073709551615)")
def num_samples_max(path: Path) -> None:
    _with_metrics(path, {"name": "inspect_ai/bootstrap_stderr", "options": {"num_samples": (1 << 64) - 1}}, samples=100)


@case("bootstraps_1000.eval", "1,000 bootstrap metrics over 5,000 samples, each within a limit of its own")
def bootstraps_1000(path: Path) -> None:
    of = lambda n: {"name": "inspect_ai/bootstrap_stderr", "options": {"num_samples": 100_000, "seed": n}}  # noqa: E731
    values = [sample(id, scores={"match": {"value": id / 5000}}) for id in range(5000)]
    path.write_text(json_log(header(scorers=scorers(*map(of, range(1000)))), ",".join(map(dumps, values))))


@case("reducers_10000.eval", "10,000 reducers in the header")
def reducers_10000(path: Path) -> None:
    reducers = [f"pass_at_{n}" for n in range(1, 10_001)]
    log(header(config={"epochs": 10_000, "epochs_reducer": reducers}), samples=10).write(path)


@case("header_tiny_values.eval", "a header of 20 MB of empty lists")
def header_tiny_values(path: Path) -> None:
    text = dumps(header(metadata={"x": "HOLE"})).replace('"HOLE"', "[" + "[]," * 6_600_000 + "[]]")
    Zip().stored(START, dumps(start())).stored(sample_entry(), dumps(sample())).stored(HEADER, text).write(path)


@case("header_tiny_values_1gb.eval", "a header of 1 GB of empty lists, in 3 MB")
def header_tiny_values_1gb(path: Path) -> None:
    content = hole(header(metadata={"x": "HOLE"}), b"[", Repeat(b"[],", 340_000_000), b"[]]")
    zip = Zip().stored(START, dumps(start())).stored(sample_entry(), dumps(sample()))
    zip.zstd(HEADER, content, 900).write(path)


@case("header_string_1gb.eval", "a header with a task name of 1 GB")
def header_string_1gb(path: Path) -> None:
    content = hole(header(task="HOLE"), *text_of(1000 * MIB))
    zip = Zip().stored(START, dumps(start())).stored(sample_entry(), dumps(sample()))
    zip.zstd(HEADER, content, 900).write(path)


@case("start_string_1gb.eval", "a start record with a task name of 1 GB, and no header")
def start_string_1gb(path: Path) -> None:
    zip = Zip().zstd(START, hole(start(task="HOLE"), *text_of(1000 * MIB)), 900)
    zip.stored(sample_entry(), dumps(sample())).write(path)


@case("sample_ids.eval", "a header with 1,300,000 sample ids")
def sample_ids(path: Path) -> None:
    log(header(dataset={"samples": 1_300_000, "sample_ids": list(range(1_300_000))}), samples=10).write(path)


@case("derived_1gb.eval", "summaries and reductions of 1 GB each")
def derived_1gb(path: Path) -> None:
    zip = log(samples=10)
    for name in ("summaries.json", "reductions.json", "_journal/summaries/1.json"):
        zip.zstd(name, Content(b"[", Repeat(b"{},", 340_000_000), b"{}]"), 900)
    zip.write(path)


# --- junk behind a start record ---


def _junk(path: Path, junk: bytes, size: int) -> None:
    body = bytes(Zip().stored(START, dumps(start())).stored(sample_entry(), dumps(sample())).body)
    path.write_bytes(body + junk[: size - len(body)])


@case("junk_zeros.eval", "10 MB of zeros behind a start record")
def junk_zeros(path: Path) -> None:
    _junk(path, bytes(10_000_000), 10_000_000)


@case("junk_random.eval", "10 MB of random bytes behind a start record")
def junk_random(path: Path) -> None:
    _junk(path, random.Random(1).randbytes(10_000_000), 10_000_000)


def _fake_headers(size: int, name: bytes, method: int, claimed: int = 0) -> bytes:
    """Local headers, each of which claims the rest of the file as its data."""
    length = len(Entry(name, method, 0, 0, 0).local())
    headers = []
    for at in range(0, size - 1000, length):
        rest = size - 1000 - at
        headers.append(Entry(name, method, 7, rest, claimed or rest).local())
    return b"".join(headers)


@case("junk_headers_20mb.eval", "20 MB of local headers of samples, each of which claims the rest of the file")
def junk_headers_20mb(path: Path) -> None:
    _junk(path, _fake_headers(20_000_000, sample_entry().encode(), 0), 20_000_000)


@case("junk_headers_50mb.eval", "50 MB of the same")
def junk_headers_50mb(path: Path) -> None:
    _junk(path, _fake_headers(49_900_000, sample_entry().encode(), 0), 49_900_000)


@case("junk_headers_zstd.eval", "20 MB of the same, claimed to be zstd")
def junk_headers_zstd(path: Path) -> None:
    _junk(path, _fake_headers(20_000_000, sample_entry().encode(), 93), 20_000_000)


@case("junk_headers_short.eval", "10 MB of local headers that each claim 4 MB of the file")
def junk_headers_short(path: Path) -> None:
    _junk(path, Entry(b"samples/1_epoch_1.json", 0, 7, 4 * MIB, 4 * MIB).local() * 200_000, 10_000_000)


@case("junk_headers_empty.eval", "10 MB of local headers of empty samples, whose checksums are wrong")
def junk_headers_empty(path: Path) -> None:
    _junk(path, Entry(b"samples/1_epoch_1.json", 0, 7, 0, 0).local() * 200_000, 10_000_000)


@case("junk_bombs.eval", "4,500 zstd bombs of 64 MiB each with a wrong checksum, behind a torn entry")
def junk_bombs(path: Path) -> None:
    packed = Content(Repeat(b"x", 64 * MIB)).zstd()
    bomb = Entry(b"samples/1_epoch_1.json", 93, 7, len(packed), 64 * MIB).local() + packed
    _junk(path, b"\0" * 100 + bomb * 4_500, 50_000_000)


@case("torn_records.eval", "24 records of 256 MB in a log without a directory")
def torn_records(path: Path) -> None:
    entries = several(24, lambda id: sample(id, messages=[{"role": "user", "content": "HOLE"}]), 256 * MIB)
    path.write_bytes(log_with(entries).body)


# --- nesting ---


def _nested(depth: int, items: int) -> str:
    """Lists in lists, with several items in each: indentation makes depth × items × depth of it."""
    return "".join(["[" + "1," * items] * depth) + "1" + "]" * depth


@case("nested_header.eval", "a header of 8 kB whose metadata is lists nested thousands deep: indentation is quadratic")
def nested_header(path: Path) -> None:
    head = dumps(header(metadata={"x": "HOLE"})).replace('"HOLE"', _nested(2500, 1))
    Zip().stored(START, dumps(start())).stored(sample_entry(), dumps(sample())).stored(HEADER, head).write(path)


@case("nested_header_wide.eval", "the same in 8 kB as zstd, 60,000 deep with several items in each")
def nested_header_wide(path: Path) -> None:
    depth = 60_000
    content = hole(header(metadata={"x": "HOLE"}), Repeat(b"[1,1,1,1,1,1,", depth), b"1", Repeat(b"]", depth))
    Zip().stored(START, dumps(start())).stored(sample_entry(), dumps(sample())).zstd(HEADER, content).write(path)


@case("nested_header_100.eval", "a header nested 100 deep, with a million items at the bottom: indentation of 200 MB")
def nested_header_100(path: Path) -> None:
    content = hole(header(metadata={"x": "HOLE"}), b"[" * 100, Repeat(b"1,", 1_000_000), b"1", b"]" * 100)
    Zip().stored(START, dumps(start())).stored(sample_entry(), dumps(sample())).zstd(HEADER, content).write(path)


@case("nested_sample.eval", "a sample nested 60,000 deep with several items in each")
def nested_sample(path: Path) -> None:
    content = hole(sample(store={"x": "HOLE"}), Repeat(b"[1,1,1,1,1,1,", 60_000), b"1", Repeat(b"]", 60_000))
    log_with([(sample_entry(), content)], ratio=None).write(path)


@case("nested_sample_100.eval", "a sample nested 100 deep with a million items at the bottom")
def nested_sample_100(path: Path) -> None:
    content = hole(sample(store={"x": "HOLE"}), b"[" * 100, Repeat(b"1,", 1_000_000), b"1", b"]" * 100)
    log_with([(sample_entry(), content)], ratio=None).write(path)


@case("nested_header.json", "a JSON log with a header nested 30,000 deep")
def nested_header_json(path: Path) -> None:
    head = header(metadata={"x": "HOLE"})
    path.write_text(json_log(head, dumps(sample())).replace('"HOLE"', _nested(30_000, 3)))


@case("nested_sample.json", "a JSON log with a sample nested 100,000 deep")
def nested_sample_json(path: Path) -> None:
    path.write_text(json_log(header(), dumps(sample(store={"x": "HOLE"})).replace('"HOLE"', _nested(100_000, 5))))


@case("nested_metadata.eval", "metadata nested 1,000,000 deep, of the key that metrics group by")
def nested_metadata(path: Path) -> None:
    content = hole(sample(metadata={"category": "HOLE"}), Repeat(b"[", 1_000_000), Repeat(b"]", 1_000_000))
    log_with([(sample_entry(), content)], ratio=None).write(path)


@case("nested_value.eval", "a score whose value is nested 1,000,000 deep")
def nested_value(path: Path) -> None:
    content = hole(sample(scores={"match": {"value": "HOLE"}}), Repeat(b'{"a":', 1_000_000), b"1", Repeat(b"}", 1_000_000))
    log_with([(sample_entry(), content)], ratio=None).write(path)


@case("nested_open.json", "a JSON log of 10 MB of opening brackets")
def nested_open_json(path: Path) -> None:
    path.write_bytes((dumps(header())[:-1] + ',"x":').encode() + b"[" * 10_000_000)


@case("nested_eval_info.eval", "the fields of the eval themselves nested 100,000 deep")
def nested_eval_info(path: Path) -> None:
    text = dumps({**header(), "eval": {**eval_info(), "task_args": "HOLE"}})
    text = text.replace('"HOLE"', '{"a":' * 100_000 + "1" + "}" * 100_000)
    Zip().stored(START, dumps(start())).stored(sample_entry(), dumps(sample())).stored(HEADER, text).write(path)
