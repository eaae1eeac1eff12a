"""Ask the reference: build its metrics and reducers from errorbar specs, run one case, write down what came out.

Nothing here computes an expected number; every figure in `cases/` is the reference's own answer.
"""

import ast
import json
import logging
import math
import sys
import warnings

PINNED = "0.3.285"
INSTALL = f"""\
The conformance generator needs the pinned reference. Install it in a scratch virtual environment:

    python3 -m venv /tmp/venv && /tmp/venv/bin/pip install inspect_ai=={PINNED}
    /tmp/venv/bin/python conformance/generate.py
"""

try:
    import inspect_ai
except ImportError:
    sys.exit(INSTALL)
if inspect_ai.__version__ != PINNED:
    sys.exit(f"found inspect_ai {inspect_ai.__version__}, want {PINNED}.\n{INSTALL}")

import numpy as np  # noqa: E402  (comes with the reference)
from inspect_ai import scorer as reference  # noqa: E402
from inspect_ai._util import logger  # noqa: E402
from inspect_ai._eval.task.results import ScorerInfo, eval_results  # noqa: E402
from inspect_ai.log._log import HeadlineMetric  # noqa: E402
from inspect_ai.scorer import SampleScore, Score, metric  # noqa: E402
from inspect_ai.scorer._reducer.registry import create_reducers  # noqa: E402

warnings.simplefilter("ignore")  # numpy's, about inf - inf

SEED = 20_250_101
RUNS = 100  # how often a random figure is computed, to learn its spread


# ---------------------------------------------------------------- JSON with the three non-finite floats


def encode(value):
    """Native values to strict JSON ones; NaN and the infinities become {"$float": …}."""
    if isinstance(value, float) and not math.isfinite(value):
        return {"$float": "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"}
    if isinstance(value, dict):
        return {key: encode(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [encode(item) for item in value]
    return value


def decode(value):
    """The inverse of `encode`."""
    if isinstance(value, dict):
        if value.keys() == {"$float"}:
            return float(value["$float"])
        return {key: decode(item) for key, item in value.items()}
    if isinstance(value, list):
        return [decode(item) for item in value]
    return value


def dumps(value):
    return json.dumps(encode(value), ensure_ascii=False, allow_nan=False)


# ---------------------------------------------------------------- five metrics of our own, easy to mirror in Rust


def _floats(scores):
    return [float(s.score.value) for s in scores]


@metric
def conf_map():
    """A map with a null entry: {"low": least, "high": greatest, "none": null}; all null when there is no score."""

    def compute(scores: list[SampleScore]) -> dict:
        values = _floats(scores)
        return {"low": min(values, default=None), "high": max(values, default=None), "none": None}

    return compute


@metric
def conf_list():
    """A list with a null entry: [sum, null, count]."""

    def compute(scores: list[SampleScore]) -> list:
        return [math.fsum(_floats(scores)), None, len(scores)]

    return compute


@metric
def conf_count():
    """The number of scores it is given (wants: auto)."""

    def compute(scores: list[SampleScore]) -> int:
        return len(scores)

    return compute


@metric(scores="reduced")
def conf_reduced():
    """The number of scores it is given (wants: reduced)."""

    def compute(scores: list[SampleScore]) -> int:
        return len(scores)

    return compute


@metric(scores="unreduced")
def conf_unreduced():
    """The number of scores it is given (wants: unreduced)."""

    def compute(scores: list[SampleScore]) -> int:
        return len(scores)

    return compute


@metric(name="conf/qualified")
def conf_qualified():
    """The number of scores it is given; its registered name carries a package."""

    def compute(scores: list[SampleScore]) -> int:
        return len(scores)

    return compute


# ---------------------------------------------------------------- specs, evaluated without eval()

METRICS = {
    name: getattr(reference, name)
    for name in (
        "accuracy mean var std stderr bootstrap_stderr ci ci_wilson grouped aggregate frequency "
        "krippendorff_alpha perplexity_per_token perplexity_per_seq"
    ).split()
} | {
    "conf_map": conf_map,
    "conf_list": conf_list,
    "conf_count": conf_count,
    "conf_reduced": conf_reduced,
    "conf_unreduced": conf_unreduced,
    "conf/qualified": conf_qualified,
}
REDUCERS = {
    "mean": reference.mean_score,
    "median": reference.median_score,
    "mode": reference.mode_score,
    "max": reference.max_score,
    "majority": reference.majority_score,
    "collect": reference.collect_score,
    "pass_at": reference.pass_at,
    "pass_k": reference.pass_k,
    "at_least": reference.at_least,
}
CONSTANTS = {"true": True, "false": False, "null": None}


def build(spec, table):
    """A metric, reducer or conversion from the string of its spec, by walking the syntax tree."""
    names = table | {"value_to_float": reference.value_to_float}

    def name_of(node):
        if isinstance(node, ast.Name):
            return node.id
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):  # package/name
            return f"{name_of(node.left)}/{name_of(node.right)}"
        raise ValueError(f"not a name in spec {spec!r}")

    def walk(node):
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return -walk(node.operand)
        if isinstance(node, ast.List):
            return [walk(item) for item in node.elts]
        if isinstance(node, ast.Dict):
            return {walk(k): walk(v) for k, v in zip(node.keys, node.values, strict=True)}
        if isinstance(node, ast.Call):
            args = [walk(arg) for arg in node.args]
            kwargs = {kw.arg: walk(kw.value) for kw in node.keywords}
            return names[name_of(node.func)](*args, **kwargs)
        if isinstance(node, ast.Name) and node.id in CONSTANTS:
            return CONSTANTS[node.id]
        return names[name_of(node)]()

    # `conf/qualified()` parses as a division by a call: rewrite it to a call of a division
    tree = ast.parse(spec, mode="eval").body
    if isinstance(tree, ast.BinOp) and isinstance(tree.right, ast.Call):
        call = tree.right
        tree = ast.Call(ast.BinOp(tree.left, ast.Div(), call.func), call.args, call.keywords)
    return walk(tree)


def build_metrics(given):
    if given is None:
        return None
    if isinstance(given, dict):
        return {pattern: [build(spec, METRICS) for spec in specs] for pattern, specs in given.items()}
    return [build_metrics(item) if isinstance(item, dict) else build(item, METRICS) for item in given]


def build_reducers(given):
    if given is None:
        return None
    # a bare name goes through the reference's own reading of `name_k`
    return [build(spec, REDUCERS) if "(" in spec else create_reducers(spec)[0] for spec in given]


# ---------------------------------------------------------------- one case


class Listener(logging.Handler):
    """Collects the reference's warnings."""

    def __init__(self):
        super().__init__(logging.WARNING)
        self.messages = []

    def emit(self, record):
        self.messages.append(record.getMessage())


LISTENER = Listener()
logging.getLogger("inspect_ai").addHandler(LISTENER)
logging.getLogger("inspect_ai").propagate = False


def listen():
    """Forget earlier messages, also those that the reference writes only once in a process: each case stands alone."""
    LISTENER.messages.clear()
    logger._warned.clear()
    return LISTENER.messages


def compute(case, metrics, task_metrics, reducers):
    scores = [
        {
            name: SampleScore(
                score=Score(**score),
                sample_id=sample["id"],
                sample_metadata=sample.get("metadata"),
            )
            for name, score in sample["scores"].items()
        }
        for sample in case["samples"]
    ]
    return eval_results(
        samples=len(scores),
        scores=scores,
        reducers=reducers,
        # a task's metrics replace each scorer's own before results are computed
        scorers=[
            ScorerInfo(name=scorer["name"], metrics=own if task_metrics is None else task_metrics)
            for scorer, own in zip(case["scorers"], metrics, strict=True)
        ],
        metrics=task_metrics,
        headline_metric=HeadlineMetric(**case["headline"]) if "headline" in case else None,
    )


def write_block(block):
    return {
        "name": block.name,
        "scorer": block.scorer,
        "reducer": block.reducer,
        "scored_samples": block.scored_samples,
        "unscored_samples": block.unscored_samples,
        "metrics": {
            key: {"name": m.name, "group": m.group, "value": m.value, "params": m.params}
            for key, m in block.metrics.items()
        },
    }


def write_results(results, reductions):
    headline = results.headline
    return {
        "results": {
            "total_samples": results.total_samples,
            "completed_samples": results.completed_samples,
            "headline": headline and headline.model_dump(include={"scorer", "score", "metric", "reducer"}),
            "scores": [write_block(block) for block in results.scores],
        },
        "reductions": reductions
        and [
            {
                "scorer": reduction.scorer,
                "reducer": reduction.reducer,
                "samples": [
                    {
                        "sample_id": s.sample_id,
                        "value": s.value,
                        "answer": s.answer,
                        "explanation": s.explanation,
                        "reason": s.reason,
                        "metadata": s.metadata,
                    }
                    for s in reduction.samples
                ],
            }
            for reduction in reductions
        ],
    }


def figures(expect):
    return [m for block in expect["results"]["scores"] for m in block["metrics"].values()]


def add_spread(expect, again):
    """Replace a random figure by its mean over many runs, with the deviation and range of single runs beside it."""
    if all(math.isnan(m["value"]) for m in figures(expect)):
        return
    draws = [figures(expect)] + [figures(again()) for _ in range(RUNS - 1)]
    for together in zip(*draws, strict=True):
        values = [m["value"] for m in together]
        first = together[0]
        if all(v == values[0] for v in values) or any(math.isnan(v) for v in values):
            continue
        first["value"] = math.fsum(values) / RUNS
        first["min"], first["max"] = min(values), max(values)
        first["sd"] = math.sqrt(math.fsum((v - first["value"]) ** 2 for v in values) / (RUNS - 1))


def is_random(case):
    return "bootstrap" in json.dumps([case["scorers"], case["task_metrics"]])


def ask(case):
    """What the reference gives for a case, as the case's remaining fields."""
    case = decode(json.loads(dumps(case)))  # exactly what a reader of the file will see
    messages = listen()
    np.random.seed(SEED)
    out = {}
    when = "build"
    try:
        metrics = [build_metrics(scorer["metrics"]) for scorer in case["scorers"]]
        task_metrics = build_metrics(case["task_metrics"])
        reducers = build_reducers(case["reducers"])
        when = "compute"

        def run():
            return write_results(*compute(case, metrics, task_metrics, reducers))

        out["expect"] = run()
        warned = sorted(set(messages))
        if is_random(case):
            out["random"] = True
            add_spread(out["expect"], run)
    except Exception as error:  # noqa: BLE001  (whatever it raises is the expectation)
        message = str(error).partition("\n")[0]  # the rest names versions of other packages
        out["expect"] = {"error": {"type": type(error).__name__, "when": when, "message": message}}
        warned = sorted(set(messages))
    if warned:
        out["warnings"] = warned
    return out
