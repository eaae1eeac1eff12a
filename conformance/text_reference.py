"""What the text scorers of the reference make of one completion, and what its multiple choice solver marks.

The scorers and the solver are the reference's own; only the model is replaced, by one that answers with the completion.
"""

import asyncio

import reference  # first: refuses any other version
from inspect_ai import scorer as scorers
from inspect_ai.model import ChatMessageUser, ModelOutput
from inspect_ai.scorer import Target
from inspect_ai.solver import TaskState, multiple_choice

BUILD = {
    name: getattr(scorers, name) for name in ("match", "includes", "pattern", "answer", "choice", "exact", "f1")
}


def state(completion, choices):
    question = "?"
    out = TaskState(
        model="mockllm/model",
        sample_id=1,
        epoch=1,
        input=question,
        messages=[ChatMessageUser(content=question)],
        choices=[f"choice {i}" for i in range(choices)] if choices else None,
    )
    out.output = ModelOutput.from_content("mockllm/model", completion)
    return out


async def run(case):
    completion = case["completion"]

    async def generate(state, **_):
        state.output = ModelOutput.from_content("mockllm/model", completion)
        return state

    given = state(completion, case.get("choices"))
    extra = {}
    if case["scorer"] == "choice":
        given = await multiple_choice(multiple_correct=case["multiple"])(given, generate)
        marks = [choice.correct for choice in given.choices]
        extra["marked"] = None if None in marks else [i for i, mark in enumerate(marks) if mark]
    score = await BUILD[case["scorer"]](**case["args"])(given, Target(case["targets"]))
    # an explanation is the completion, or prose of the reference's that is none of our business
    explained = {completion: "completion", None: None}.get(score.explanation, "prose")
    if score.metadata:
        extra["metadata"] = score.metadata
    return {"value": score.value, "answer": score.answer, "explanation": explained, "reason": score.reason} | extra


def ask(case):
    """What the reference gives for a case, as the case's remaining field."""
    reference.listen()
    try:
        return {"expect": asyncio.run(run(case))}
    except Exception as error:  # noqa: BLE001  (whatever it raises is the expectation)
        message = str(error).partition("\n")[0]
        return {"expect": {"error": {"type": type(error).__name__, "message": message}}}
