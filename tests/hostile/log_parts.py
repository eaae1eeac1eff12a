"""The records that hostile logs are made of."""

from __future__ import annotations

import json
from typing import Any

from content import Content, Repeat
from zip_by_hand import Zip

START, HEADER = "_journal/start.json", "header.json"

ACCURACY = {"name": "inspect_ai/accuracy", "options": {}}
STDERR = {"name": "inspect_ai/stderr", "options": {}}

PLAN = {"name": "plan", "steps": [{"solver": "generate", "params": {}, "params_passed": {}}], "config": {}}


def dumps(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


def scorers(*metrics: Any, count: int = 1) -> list[Any]:
    names = ["match", *(f"match{n}" for n in range(1, count))]
    return [{"name": name, "metrics": list(metrics or (ACCURACY, STDERR))} for name in names]


def eval_info(**fields: Any) -> dict[str, Any]:
    return {
        "eval_id": "e", "run_id": "r", "created": "2026-01-01T00:00:00+00:00", "task": "t", "task_id": "t",
        "model": "mock/x", "task_file": "task.toml", "dataset": {"name": "questions"}, "config": {"epochs": 1}, "scorers": scorers(), **fields,
    }  # fmt: skip


def results(**fields: Any) -> dict[str, Any]:
    block = {
        "name": "match", "scorer": "match", "scored_samples": 1, "unscored_samples": 0, "params": {},
        "metrics": {"accuracy": {"name": "accuracy", "value": 1.0, "params": {}}},
    }  # fmt: skip
    return {"total_samples": 1, "completed_samples": 1, "scores": [{**block, **fields}]}


def start(**fields: Any) -> dict[str, Any]:
    return {"version": 2, "eval": eval_info(**fields), "plan": PLAN}


def header(of_results: Any = None, **fields: Any) -> dict[str, Any]:
    return {
        **start(**fields), "status": "success", "results": of_results or results(),
        "stats": {"started_at": "", "completed_at": "", "model_usage": {}},
    }  # fmt: skip


def sample(id: Any = 1, epoch: Any = 1, **fields: Any) -> dict[str, Any]:
    score = {"match": {"value": "C", "answer": "a", "explanation": "e"}}
    record = {"id": id, "epoch": epoch, "input": "?", "target": "!", "messages": [], "scores": score}
    return {**record, "metadata": {"category": "a"}, **fields}


def sample_entry(id: Any = 1, epoch: int = 1) -> str:
    return f"samples/{id}_epoch_{epoch}.json"


def hole(record: Any, *filling: bytes | str | Repeat) -> Content:
    """The JSON of a record in which the string "HOLE" (with its quotes) is replaced by the filling."""
    before, _, after = dumps(record).partition('"HOLE"')
    return Content(before, *filling, after)


def text_of(size: int, byte: bytes = b"x") -> list[bytes | Repeat]:
    """A string of this many bytes."""
    return [b'"', Repeat(byte, size), b'"']


def log(head: dict[str, Any] | None = None, samples: int = 1) -> Zip:
    """A log that is finished, with ordinary samples 1, 2, …."""
    head = header() if head is None else head
    zip = Zip().stored(START, dumps(start()))
    for id in range(1, samples + 1):
        zip.stored(sample_entry(id), dumps(sample(id)))
    return zip.stored(HEADER, dumps(head))


def log_with(entries: list[tuple[str, Content]], ratio: int | None = 900, **fields: Any) -> Zip:
    """A log whose samples are large contents, as zstd."""
    zip = Zip().stored(START, dumps(start(**fields)))
    for name, content in entries:
        zip.zstd(name, content, ratio)
    return zip.stored(HEADER, dumps(header(**fields)))


def json_log(head: dict[str, Any], samples: str) -> str:
    """The same as one JSON object; `samples` is the JSON inside of the list."""
    return dumps(head)[:-1] + ',"samples":[' + samples + "]}"
