"""Logs for check_frames.py: runs of the reference, and logs written by hand."""

import json
from pathlib import Path

NAN = float("nan")
#: How long a target is that the reference cuts.
LONG_TARGET = 6000
LONG = "a long text, which a log keeps once and refers to; " * 20


def reference_logs(folder):
    """Logs of the reference: one of questions with tools, one of values of every type, a retried and a failed one."""
    import inspect_ai.model._model
    import inspect_ai.model._tokens
    from inspect_ai import Epochs, Task, eval as run_eval
    from inspect_ai.dataset import Sample
    from inspect_ai.log import read_eval_log, write_eval_log
    from inspect_ai.model import ChatMessageSystem, ChatMessageUser, ContentImage, ContentText, ModelOutput, get_model
    from inspect_ai.scorer import Score, accuracy, mean, scorer, std, stderr
    from inspect_ai.solver import generate, solver, use_tools
    from inspect_ai.tool import tool

    def count(text):
        return len(text) // 4 + 1

    # The mock model would fetch a tokenizer from the network.
    inspect_ai.model._model.count_text_tokens = count
    inspect_ai.model._tokens.count_text_tokens = count

    @tool
    def add():
        async def execute(x: int, y: int, more: dict | None = None):
            """Adds.

            Args:
                x: One number.
                y: Another.
                more: Anything.
            """
            if x < 0:
                raise ValueError("negative")
            return LONG + str(x + y)

        return execute

    def value_of(state):
        at = int(str(state.sample_id).lstrip("q"))
        mixed = ["C", 1, 0.5, True, NAN, 1e300, "I", {"a": 1, "b": None}, [1, "x"], "é"]
        return mixed[(at + state.epoch) % len(mixed)]

    @scorer(metrics=[accuracy(), stderr()])
    def grade():
        async def score(state, target):
            return Score(value="C" if state.epoch % 2 else "I", answer="a", explanation=LONG)

        return score

    @scorer(metrics=[mean(), std()], name="mixed")
    def mixed():
        async def score(state, target):
            at = int(str(state.sample_id).lstrip("q"))
            return None if at % 5 == 4 else Score(value=value_of(state))

        return score

    @scorer(metrics={"*": [mean()]}, name="map")
    def mapped():
        async def score(state, target):
            return Score(value={"a": state.epoch, "b": NAN, "c/d": 0.5})

        return score

    @solver
    def failing(times):
        calls = {}

        async def solve(state, generate):
            key = (state.sample_id, state.epoch)
            calls[key] = calls.get(key, 0) + 1
            if str(state.sample_id).endswith("3") and calls[key] <= times:
                raise ValueError(f"no answer\n{LONG}")
            return await generate(state)

        return solve

    def outputs():
        at = 0
        while True:
            at += 1
            if at % 3 == 1:
                arguments = {"x": at if at % 2 else -at, "y": 2, "more": {"b": [1.5, None], "a": "it's"}}
                yield ModelOutput.for_tool_call("mockllm/model", "add", arguments)
            else:
                yield ModelOutput.from_content("mockllm/model", f"answer {at} {LONG if at % 2 else ''}")

    def run(name, samples, **task):
        task = Task(name=name, dataset=samples, metadata={"of": name, "n": None}, tags=["b", "a"], **task)
        model = get_model("mockllm/model", custom_outputs=outputs())
        options = dict(display="none", fail_on_error=False, max_samples=1, retry_on_error=1)
        (log,) = run_eval(task, model=model, log_dir=str(folder), temperature=0, max_tokens=99, **options)
        return log

    messages = [
        ChatMessageSystem(content=" system "),
        ChatMessageUser(content=[ContentText(text=LONG), ContentImage(image="data:image/png;base64," + "A" * 200)]),
    ]
    values = [1, 2.5, "text", True, None, [1, "a", None], {"k": {"n": NAN}}, "", "é\n", 2**40]
    samples = [
        Sample(
            id=f"q{n}",
            input=messages if n % 2 else f" question {n} ",
            target=["a", "b,c"] if n % 3 else f"{n}",
            choices=["x", "ÿ"] if n == 1 else None,
            metadata={"any": values[n], "same": n, **({"some": n} if n % 2 else {}), "none": None},
        )
        for n in range(len(values))
    ]
    tools = [use_tools(add()), failing(1)]
    run("tools", samples, solver=tools, scorer=[grade(), mixed()], epochs=Epochs(2, ["mean", "max"]), message_limit=6)
    run("numbers", [Sample(id=n, input=LONG, target="1") for n in range(12)], solver=generate(), scorer=mapped(), epochs=3)
    failed = run("failed", samples[:5], solver=failing(5), scorer=mixed(), token_limit=100)
    # As a retried run does: other samples beside those that it takes over, which keep their ids.
    again = read_eval_log(failed.location)
    again.eval.eval_id, again.samples = "again", again.samples[:3] + [again.samples[4].model_copy(update={"uuid": "new"})]
    write_eval_log(again, str(Path(folder) / "zz_again.eval"))
    run_eval(Task(name="plain", dataset=samples[:2]), model="mockllm/model", log_dir=str(folder), log_format="json", display="none")
    return sorted(path for path in Path(folder).iterdir() if path.suffix in (".eval", ".json"))


def _message(role, content, **more):
    return {"role": role, "content": content, **more}


_CALLS = [
    {"id": "1", "function": "f", "arguments": {"a": 1, "b": "x", "c": [1.0, None, True], "d": {"k": "v"}}, "type": "function"},
    {"id": "2", "function": "g", "arguments": {}, "type": "function"},
]
_INPUT = [
    _message("system", " sys \n"),
    _message("user", [{"type": "text", "text": "one"}, {"type": "text", "text": "attachment://a"}]),
    _message("assistant", "calling", tool_calls=_CALLS),
    _message("assistant", [{"type": "text", "text": "none"}], tool_calls=[]),
    _message("tool", "res", function="f", error={"type": "timeout", "message": "late"}),
    _message("tool", "res", tool_call_id="1"),
    _message("assistant", "", tool_calls=[]),
]
_EVENT = {"uuid": "u", "timestamp": "2026-01-01T00:00:00+00:00", "working_start": 0.0, "event": "model", "model": "m"}
_EVENT |= {"tools": [], "tool_choice": "auto", "config": {}}


def _answer(text, **more):
    message = _message("assistant", text, source="generate", **more)
    return {"model": "m", "choices": [{"message": message, "stop_reason": "stop"}]}


_RESULTS = {
    "total_samples": 1,
    "completed_samples": 1,
    "headline": {"metric": "stderr"},
    "scores": [
        {"name": "m", "scorer": "s", "reducer": "mean", "metrics": {k: {"name": k, "value": 1} for k in ["accuracy", "stderr"]}},
        {"name": "m", "scorer": "s", "reducer": "max", "metrics": {"accuracy": {"name": "accuracy", "value": 0.5}}},
    ],
}

#: Logs with fields that no run writes: of the sample, of `eval`, and of the log.
BY_HAND = {
    "metadata": {"sample": {"metadata": {"a": None, "b": {"c": None, "d": NAN}, "n": NAN, "i": -float("inf"), "s\nt": 1}}},
    "scores": {"sample": {"scores": {"a": {"value": NAN}, "b": {"value": {"x": 1, "y": None, "z": NAN}}, "c": {"value": True}}}},
    "large": {"sample": {"metadata": {"a": 2**63, "b": 2**53 + 1, "c": -(2**63)}}},
    "no_scores": {"sample": {"scores": None}},
    "input": {"sample": {"id": "7", "input": _INPUT, "choices": ["a", "é"], "attachments": {"a": "long"}}},
    "usage": {
        "sample": {
            "model_usage": {"z/m": {"total_tokens": 3, "x": 1, "total_cost": 1}, "a": {"input_tokens": 2}},
            "model_fallbacks": [{"model": "a", "fallback_model": "b"}, {"model": "a", "fallback_model": "b", "count": 3}],
            "total_time": 1,
            "token_limit_usage": 7,
            "turn_count": 2,
            "description": "what it is about",
        }
    },
    "ended": {
        "sample": {
            "limit": {"type": "token", "limit": 5, "reason": "too long"},
            "error": {"message": "boom\n", "traceback": "", "traceback_ansi": ""},
            "error_retries": [{"message": "a", "traceback": "", "traceback_ansi": ""}],
        }
    },
    "messages": {
        "sample": {
            "events": [
                {**_EVENT, "input": [*_INPUT, _message("user", "attachment://a")], "output": _answer("yes")},
                {**_EVENT, "input": [_message("user", "again", id="2", tool_call_id=["1"])], "output": _answer("yes", id="x")},
                {**_EVENT, "input": [], "output": _answer("yes", id="y", tool_calls=_CALLS)},
                {**_EVENT, "input": [], "output": {"model": "m", "choices": []}},
            ],
            "attachments": {"a": "long"},
        }
    },
    "eval": {
        "eval": {
            "tags": ["b", "a"],
            "metadata": {"x": None, "y": {"z": None}},
            "task_args": {"n": 1, "o": None, "l": [1]},
            "solver": "s",
            "solver_args": {"a": None},
            "sandbox": {"type": "docker", "config": "x.yaml"},
            "model_generate_config": {"temperature": 0, "max_tokens": 5, "unknown": 1, "seed": None, "top_p": 1},
            "model_roles": {"grader": {"model": "x", "config": {"temperature": 1}, "args": {"k": None}}},
            "model_base_url": "http://localhost",
            "revision": {"type": "git", "origin": "o", "commit": "c"},
            "config": {"epochs": 2, "max_messages": 9, "approval": {"approvers": [{"name": "auto", "tools": "*"}]}},
            "task_version": "1.2",
            "task_display_name": "T D",
            "task_attribs": {"q": None},
            "dataset": {"samples": 1, "sample_ids": [1, "b"], "shuffled": False, "name": "n", "location": "loc"},
            "eval_set_id": "es",
        },
        "log": {"status": "error", "error": {"message": "m", "traceback": "tb", "traceback_ansi": ""}, "results": _RESULTS},
    },
    "old": {
        "eval": {"eval_id": "", "sandbox": ["docker", "c"], "created": "2026-01-01T00:00:00.123+02:00"},
        "log": {"results": {"scorer": {"name": "match"}, "metrics": {"accuracy": {"name": "accuracy", "value": 1}}}},
    },
    "edited": {
        "eval": {"tags": ["b", "a"], "metadata": {"x": None, "y": 1}},
        "log": {
            "log_updates": [
                {
                    "edits": [
                        {"type": "tags", "tags_add": ["c"], "tags_remove": ["a"]},
                        {"type": "metadata", "metadata_set": {"z": 1}, "metadata_remove": ["y"]},
                    ],
                    "provenance": {"timestamp": "2026-01-01T00:00:00Z", "author": "x"},
                }
            ]
        },
    },
}


def write_by_hand(folder, prefix, logs):
    """Writes logs of one sample; their paths."""
    folder.mkdir(exist_ok=True)
    paths = []
    for name, parts in logs.items():
        sample = {"id": 1, "epoch": 1, "input": "q", "target": "t", "messages": [], "metadata": {}}
        sample |= {"scores": {"m": {"value": 1}}} | parts.get("sample", {})
        run = {"eval_id": name, "run_id": "r", "task_id": "ti", "created": "2026-01-01T00:00:00+00:00", "task": "pk/t"}
        run |= {"dataset": {"samples": 1}, "model": "m", "config": {}} | parts.get("eval", {})
        log = {"version": 2, "status": "success", "eval": run, "plan": {}, "stats": {}} | parts.get("log", {})
        path = folder / f"{prefix}{name}.json"
        path.write_text(json.dumps(log | {"samples": [sample]}))
        paths.append(path)
    return paths
