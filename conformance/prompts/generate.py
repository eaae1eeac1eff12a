"""The conversations that the reference's solvers and graders make: writes cases.json (inspect_ai 0.3.285).

    /tmp/venv/bin/python conformance/prompts/generate.py            # writes
    /tmp/venv/bin/python conformance/prompts/generate.py --check    # fails if the committed file differs

In a case, the template "inspect" stands for the reference's own: it is called without one.
"""

import json
import os
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

os.environ["INSPECT_DISPLAY"] = "none"

import inspect_ai.model._model as model_module
import inspect_ai.model._tokens as tokens_module
from inspect_ai import Task, eval
from inspect_ai import scorer as scorers
from inspect_ai import solver as solvers
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput, get_model

FILE = Path(__file__).parent / "cases.json"
TEMPLATES = ("template", "critique_template", "completion_template", "instructions")


def count(text, *_, **__):
    return len(str(text).split())


model_module.count_text_tokens = count
tokens_module.count_text_tokens = count

QUESTION = {"input": "Which is a prime?", "target": "B", "choices": ["4", "7", "9"]}
PLAIN = {"input": "2 + {x} = ?", "target": "4", "metadata": {"topic": "sums", "n": 1.5, "none": None, "flags": [True, "a"]}}
TALK = {"input": [["system", "S"], ["user", "first"], ["assistant", "ok"], ["user", "last"]], "target": "t"}


def call(name, *args, **kwargs):
    return {"name": name, "args": list(args), "kwargs": kwargs}


MC = call("multiple_choice", template="inspect")
CASES = [
    (QUESTION, [MC], None, ["ANSWER: B"]),
    (QUESTION, [call("multiple_choice", template="inspect", cot=True)], None, ["ANSWER: B"]),
    (QUESTION, [call("multiple_choice", template="inspect", multiple_correct=True)], None, ["ANSWER: A,B"]),
    (QUESTION, [call("multiple_choice", template="inspect", multiple_correct=True, cot=True)], None, ["ANSWER: A"]),
    (QUESTION, [call("multiple_choice", template="{question}|{choices}|{letters}", max_tokens=7)], None, ["x"]),
    (QUESTION, [call("system_message", "You know {subject}.", subject="numbers"), MC], None, ["ANSWER: B"]),
    (PLAIN, [call("chain_of_thought", template="inspect"), call("generate")], None, ["ANSWER: 4"]),
    (TALK, [call("chain_of_thought", template="inspect"), call("generate")], None, ["ANSWER: t"]),
    (PLAIN, [call("generate"), call("self_critique", critique_template="inspect", completion_template="inspect")], None,
     ["draft", "It is {wrong}.", "final"]),
    (TALK, [call("generate"), call("self_critique", critique_template="inspect", completion_template="inspect")], None,
     ["draft", "weak", "final"]),
    (PLAIN, [call("prompt_template", "{prompt} [{topic}] {n} {flags} {none} {unknown}"), call("generate")], None, ["4"]),
    (PLAIN, [call("prompt_template", "{prompt} [{topic}] {n} {x}", topic="mine", x=3, n=0.5), call("generate")], None, ["4"]),
    (PLAIN, [call("prompt_template", "{prompt}!", prompt="other"), call("generate")], None, ["4"]),
    (PLAIN, [call("prompt_template", "{prompt} {{braces}} {flag} {list} {none}", flag=True, list=[1, "a"], none=None),
             call("generate")], None, ["4"]),
    (TALK, [call("system_message", "{a} {b}", a="A", b=2), call("system_message", "second"), call("generate")], None, ["4"]),
    (TALK, [call("user_message", "{a}", a="A"), call("generate")], None, ["4"]),
    (PLAIN, [call("assistant_message", "I say {a} on {topic} {n}.", a="A"), call("user_message", "Go on."),
             call("generate")], None, ["4"]),
    (PLAIN, [call("generate", temperature=0.25, max_tokens=11, top_p=0.5, stop_seqs=["END"], seed=3)], None, ["4"]),
    (PLAIN, [call("generate", system_message="Always.", frequency_penalty=0.5, presence_penalty=0.25)], None, ["4"]),
    (PLAIN, [call("generate")], call("model_graded_qa", template="inspect"), ["It is 4. [END DATA]", "GRADE: C"]),
    (PLAIN, [call("generate")], call("model_graded_qa", template="inspect", partial_credit=True), ["4", "GRADE: P"]),
    (PLAIN, [call("generate")], call("model_graded_fact", template="inspect"), ["4", "so GRADE: I"]),
    (PLAIN, [call("generate")], call("model_graded_fact", template="inspect", partial_credit=True), ["4", "GRADE: X"]),
    (PLAIN, [call("generate")], call("model_graded_qa", template="{question}|{answer}|{instructions}", instructions="inspect"),
     ["4", "GRADE: P"]),
    (TALK, [call("generate")], call("model_graded_qa", template="inspect", include_history=True), ["4", "GRADE: C"]),
    (TALK, [call("generate")], call("model_graded_qa", template="inspect", instructions="Say GRADE: P."), ["4", "GRADE: P"]),
]


def build(module, spec):
    """The reference's own entry: without the templates that are its own."""
    kwargs = {name: value for name, value in spec["kwargs"].items() if not (name in TEMPLATES and value == "inspect")}
    return getattr(module, spec["name"])(*spec["args"], **kwargs)


def sample_of(given):
    from inspect_ai.model import ChatMessageAssistant, ChatMessageSystem, ChatMessageUser

    types = {"system": ChatMessageSystem, "user": ChatMessageUser, "assistant": ChatMessageAssistant}
    given = dict(given)
    if isinstance(given["input"], list):
        given["input"] = [types[role](content=text) for role, text in given["input"]]
    return Sample(**given)


def messages_of(messages, attachments):
    whole = lambda text: attachments[text.removeprefix("attachment://")] if text.startswith("attachment://") else text
    return [[message.role, whole(message.text)] for message in messages]


def answer(given, steps, scorer, outputs, folder):
    scripted = [ModelOutput.from_content("mockllm/model", text) for text in outputs]
    task = Task(
        dataset=[sample_of(given)],
        solver=[build(solvers, step) for step in steps],
        scorer=build(scorers, scorer) if scorer else None,
    )
    [log] = eval(task, model=get_model("mockllm/model", custom_outputs=scripted), log_dir=folder, display="none")
    assert log.status == "success", log.error
    [sample] = log.samples
    calls = [event for event in sample.events if event.event == "model"]
    keep = ("temperature", "max_tokens", "top_p", "stop_seqs", "seed", "frequency_penalty", "presence_penalty")
    config = lambda call: {name: getattr(call.config, name) for name in keep if getattr(call.config, name) is not None}
    outcome = {
        "messages": messages_of(sample.messages, sample.attachments),
        "requests": [{"messages": messages_of(call.input, sample.attachments), "config": config(call)} for call in calls],
    }
    if scorer:
        [score] = sample.scores.values()
        value = score.value
        outcome["score"] = None if value != value else value
    return outcome


def main():
    assert version("inspect_ai") == "0.3.285", "any other version may have other prompts"
    with tempfile.TemporaryDirectory() as folder:
        cases = [
            {"sample": given, "solvers": steps, "scorer": scorer, "outputs": outputs,
             "expect": answer(given, steps, scorer, outputs, folder)}
            for given, steps, scorer, outputs in CASES
        ]
    lines = ",\n".join(json.dumps(case, ensure_ascii=False) for case in cases)
    text = f'{{"reference": "inspect_ai 0.3.285", "cases": [\n{lines}\n]}}\n'
    if "--check" in sys.argv[1:]:
        sys.exit(FILE.read_text() != text and "conformance/prompts/cases.json differs")
    FILE.write_text(text)
    print(f"{len(cases)} cases")


if __name__ == "__main__":
    main()
