"""Reducers: every one over every kind of epochs, options, the other fields of a score, the majority."""

import itertools

from .build import GRADED, INF, NAN, S, case, epochs, sample, slug

ALL_REDUCERS = ["mean", "median", "mode", "max", "majority", "collect", "pass_at_1", "pass_at_2", "pass_k_1", "pass_k_2", "at_least_1", "at_least_2"]

EPOCH_TABLES = {
    "grades": [["C", "I", "C"], ["I", "I", "P"], ["N", "C", "P"]],
    "words": [["yes", "no", "yes"], ["True", "false", "x"]],
    "numeric-text": [["1_000", " 5 ", "1e-2"], [".5", "+5", "0x10"]],
    "ints": [[1, 0, 1, 1], [0, 0, 2, 1], [5, 5, 3, 3]],
    "floats": [[0.5, 0.25, 1.0], [0.1, 0.2, 0.3], [1.5, 1.5, 0.0]],
    "bools": [[True, False, True], [False, False, True]],
    "across-types": [[True, 1, 1.0, "1"], [1, True, 0], ["C", 1.0, True], [0, False, "I", 0.0]],
    "one-epoch": [["C"], [0.25], [True], ["x"]],
    "two-epochs": [["C", "I"], [0.25, 0.75], [True, 1], [1, True]],
    "five-epochs": [[1, 0, 1, 0, 1], [0, 0, 0, 0, 1], [1, 1, 1, 1, 1]],
    "six-epochs": [[1, 0, 1, 0, 1, 0], [0, 0, 0, 0, 0, 0]],
    "ragged": [[1, 0, 1], [1], [0, 1]],
    "unscored-some": [[NAN, 1, 0], [1, NAN, NAN], [0, 0, NAN]],
    "unscored-all": [[NAN, NAN], [1, 1]],
    "unscored-every": [[NAN, NAN], [NAN, NAN]],
    "tenths": [[0.1] * 6, [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]],
    "offset": [[1e9 + 0.1, 1e9 + 0.2, 1e9 + 0.3], [1e9, 1e9, 1e9 + 1]],
    "ties": [["a", "b", "b", "a"], [2, 1, 1, 2], ["I", "C", "C", "I"]],
    "max-types": [["C", 1.0, True], [1, "C"], ["P", 0.5], ["x", "I", 0]],
    "lists": [[[1, 0], [1, 1], [0, 0]], [[0.5, "C"], [0.25, "I"], [1, "C"]]],
    "empty-lists": [[[], []], [[1], [0]]],
    "maps": [[{"a": 1, "b": "C"}, {"a": 0, "b": "I"}, {"a": 1, "b": "C"}], [{"a": 0.5, "b": "P"}, {"a": 0.5, "b": "N"}, {"a": 1, "b": "I"}]],
    "maps-key-order": [[{"a": 1, "b": 0}, {"b": 1, "a": 0}]],
    "map-nan-leaf": [[{"a": NAN, "b": 1}, {"a": 1, "b": 0}, {"a": 0, "b": 1}], [{"a": NAN, "b": NAN}, {"a": NAN, "b": 1}, {"a": NAN, "b": 1}]],
    "map-null-leaf": [[{"a": None, "b": 1}, {"a": 1, "b": 0}, {"a": None, "b": 1}], [{"a": None, "b": 1}, {"a": None, "b": 1}]],
    "list-nan-leaf": [[[NAN, 1], [1, 0], [0, NAN]], [[NAN, NAN], [NAN, 1]]],
    "map-unscored-epoch": [[NAN, {"a": 1, "b": 0}, {"a": 0, "b": 0}], [{"a": 1, "b": 1}, NAN]],
    "list-unscored-epoch": [[NAN, [1, 0], [0, 0]], [[1, 1], NAN]],
    "map-mixed-leaves": [[{"a": True, "b": "1"}, {"a": 1, "b": 1}, {"a": 1.0, "b": "C"}]],
}
EPOCH_ERRORS = {
    "keys-differ": [[{"a": 1}, {"b": 1}]],
    "keys-more": [[{"a": 1}, {"a": 1, "b": 1}]],
    "keys-fewer": [[{"a": 1, "b": 1}, {"a": 1}]],
    "lengths-differ": [[[1, 2], [1]]],
    "lengths-more": [[[1], [1, 2]]],
    "scalar-after-list": [[[1, 2], 1]],
    "scalar-after-map": [[{"a": 1}, 1]],
    "list-after-scalar": [[1, [1, 2]]],
    "map-after-scalar": [[1, {"a": 1}]],
    "map-after-list": [[[1, 2], {"a": 1}]],
    "list-after-map": [[{"a": 1}, [1]]],
    "empty-map": [[{}, {}]],
}


def reducers():
    out = []
    for (label, table), reducer in itertools.product(EPOCH_TABLES.items(), ALL_REDUCERS):
        out.append(case(f"reduce-{label}-{slug(reducer)}", f"epochs: {label}", ["conf_count()"], epochs(table), reducers=[reducer]))
    for label, table in EPOCH_TABLES.items():
        out.append(case(f"reduce-{label}-default", f"the default reducer, epochs: {label}", ["conf_count()"], epochs(table)))
    return out


def reducer_errors():
    out = []
    for (label, table), reducer in itertools.product(EPOCH_ERRORS.items(), ("mean", "median", "mode", "max", "majority", "collect", "pass_at_1", "pass_k_1", "at_least_1")):
        out.append(case(f"mismatch-{label}-{slug(reducer)}", f"epochs that do not fit together: {label}", ["conf_count()"], epochs(table), reducers=[reducer],
                        verdict="mismatch" if label in ("list-after-scalar", "map-after-scalar") else None))
    return out


def reducer_options():
    out = []
    table = [[0.4, 0.6, 0.9, 1.0], [0.1, 0.2, 0.3, 0.5], [1, 1, 1, 1], [0, 0, 0, 0]]
    for name in ("pass_at", "pass_k", "at_least"):
        for k in (1, 2, 3, 4, 5):
            out.append(case(f"option-{slug(name)}-{k}", "k by shorthand", ["mean()"], epochs(table), reducers=[f"{name}_{k}"]))
            out.append(case(f"option-{slug(name)}-{k}-half", "a threshold", ["mean()"], epochs(table), reducers=[f"{name}({k}, value=0.5)"]))
        out.append(case(f"option-{slug(name)}-positional", "threshold by position", ["mean()"], epochs(table), reducers=[f"{name}(2, 0.5)"]))
        out.append(case(f"option-{slug(name)}-keyword", "k by keyword", ["mean()"], epochs(table), reducers=[f"{name}(k=2)"]))
        out.append(case(f"option-{slug(name)}-zero-threshold", "threshold 0", ["mean()"], epochs(table), reducers=[f"{name}(2, value=0)"]))
        out.append(case(f"option-{slug(name)}-negative-threshold", "threshold -1", ["mean()"], epochs(table), reducers=[f"{name}(2, value=-1.0)"]))
        out.append(case(f"option-{slug(name)}-k-zero", "k = 0", ["mean()"], epochs(table), reducers=[f"{name}(0)"], verdict="k"))
        out.append(case(f"option-{slug(name)}-k-zero-shorthand", "k = 0 by shorthand", ["mean()"], epochs(table), reducers=[f"{name}_0"], verdict="k"))
        out.append(case(f"option-{slug(name)}-k-negative", "k = -1", ["mean()"], epochs(table), reducers=[f"{name}(-1)"], verdict="k"))
        out.append(case(f"option-{slug(name)}-no-k", "no k", ["mean()"], epochs(table), reducers=[name], verdict="k"))
        out.append(case(f"option-{slug(name)}-to-float", "a conversion", ["mean()"], epochs([["yes", "no", "maybe"], ["no", "no", "yes"]]),
                        reducers=[f"{name}(1, value_to_float={GRADED})"]))
        out.append(case(f"option-{slug(name)}-unscored", "unscored epochs shorten n", ["mean()"],
                        epochs([[1, NAN, 0, 1], [NAN, NAN, NAN, 1], [NAN] * 4]), reducers=[f"{name}_2"]))
        out.append(case(f"option-{slug(name)}-map", "a map key by key", ["conf_count()"],
                        epochs([[{"a": 1, "b": NAN}, {"a": 0, "b": 1}, {"a": 1, "b": NAN}]]), reducers=[f"{name}_2"]))
        out.append(case(f"option-{slug(name)}-list", "a list index by index", ["conf_count()"],
                        epochs([[[1, NAN], [0, 1], [1, NAN]]]), reducers=[f"{name}_2"]))
    for name in ("mean", "median", "max"):
        out.append(case(f"option-{name}-to-float", "a conversion", ["conf_count()"], epochs([["yes", "no", "maybe"], ["skip", "maybe", "maybe"]]),
                        reducers=[f"{name}(value_to_float={GRADED})"]))
        out.append(case(f"option-{name}-to-float-positional", "a conversion by position", ["conf_count()"], epochs([["yes", "no", "maybe"]]),
                        reducers=[f"{name}({GRADED})"]))
    out += [
        case("reducer-unknown", "an unknown reducer", ["mean()"], epochs([[1]]), reducers=["best"]),
        case("reducer-unknown-k", "a shorthand of an unknown reducer", ["mean()"], epochs([[1]]), reducers=["best_2"]),
        case("reducer-mean-k", "a shorthand for one without k", ["mean()"], epochs([[1, 0]]), reducers=["mean_2"], verdict="k"),
        case("reducer-mode-k", "a shorthand for one without k", ["mean()"], epochs([[1, 0]]), reducers=["mode_2"], verdict="k"),
        case("reducer-leading-zero", "a leading zero", ["mean()"], epochs([[1, 0, 1]]), reducers=["pass_at_02"], verdict="k"),
        case("reducers-two", "two reducers, two blocks", ["mean()", "stderr()"], epochs([[1, 0, 1], [0, 0, 1]]), reducers=["mean", "mode"]),
        case("reducers-three", "at_least twice with different k", ["mean()"], epochs([[1, 0, 1], [0, 0, 1]]), reducers=["at_least_1", "at_least_2", "max"]),
        case("reducers-same-twice", "one reducer twice", ["mean()"], epochs([[1, 0, 1]]), reducers=["mean", "mean"]),
        case("reducers-thresholds-share-a-name", "the reference logs the name and k only", ["mean()"], epochs([[0.5, 0.25]]),
             reducers=["at_least(1, value=0.5)", "at_least(1, value=0.3)", "at_least(1)"], verdict="reducer-name"),
        case("reducers-none", "an empty list: no reduction", ["mean()", "conf_count()"], epochs([[1, 0, 1], [0, 0, 1]]), reducers=[]),
        case("reducers-explicit-mean", "an explicit mean is named", ["mean()"], epochs([[1, 0], [1, 1]]), reducers=["mean"]),
        case("reducers-one-epoch-default", "the default applies to one epoch too", ["conf_count()", "mean()"], epochs([["C"], ["I"]])),
        case("reducers-one-epoch-none", "without reduction the text stays", ["frequency()", "mean()"], epochs([["C"], ["I"]]), reducers=[]),
        case("reducers-median-even", "the middle two", ["conf_count()"], epochs([[1, 2, 3, 10], [0.1, 0.2], [1, "C", "P", 0]]), reducers=["median"]),
        case("reducers-mean-tenths", "correctly rounded", ["conf_count()"], epochs([[0.1] * 10, [0.1, 0.1, 0.1], [0.7, 0.7, 0.7]]), reducers=["mean"]),
        case("reducers-mean-overflow", "a sum beyond the largest float", ["conf_count()"], epochs([[1.7e308, 1.7e308]]), reducers=["mean"], verdict="overflow"),
        case("reducers-mean-big-ints", "integers beyond 2^53", ["conf_count()"], epochs([[2**53 + 1, 2**53 + 1], [2**60 + 1, 1]]), reducers=["mean"]),
        case("reducers-median-big-ints", "integers beyond 2^53", ["conf_count()"], epochs([[2**53 + 1, 2**53 + 1], [2**60 + 1, 1, 7]]), reducers=["median"]),
        case("reducers-epoch-order", "epochs given out of order", ["conf_count()"],
             [sample("x", 2, {"s": "b"}), sample("x", 1, {"s": "a"})], reducers=["mode"], verdict="epoch-order"),
        case("reducers-interleaved", "sample by sample order", ["conf_count()"],
             [sample("x", 1, {"s": "a"}), sample("x", 2, {"s": "b"}), sample("y", 1, {"s": "b"}), sample("y", 2, {"s": "b"})], reducers=["mode"]),
        case("reducers-collect-one", "collect one epoch", ["conf_count()"], epochs([["C"], [1], [True]]), reducers=["collect"]),
        case("reducers-collect-list", "collect refuses lists", ["conf_count()"], epochs([[[1], [2]]]), reducers=["collect"]),
        case("reducers-collect-map", "collect refuses maps", ["conf_count()"], epochs([[{"a": 1}, {"a": 2}]]), reducers=["collect"]),
        case("reducers-collect-then-mean", "a converting metric over collected lists", ["mean()"], epochs([[1, 1]]), reducers=["collect"]),
    ]
    return out


def reducer_fields():
    """answer, explanation, reason and metadata across epochs, seen in the reductions."""
    def f(value, a=None, e=None, r=None, **meta):
        parts = {"answer": a, "explanation": e, "reason": r, "metadata": meta or None}
        return S(value, **{k: v for k, v in parts.items() if v is not None})

    tables = {
        "equal": [f(1, "A", "why", "custom", m=1), f(0, "A", "why", "custom", m=1)],
        "answer-differs": [f(1, "A", "why", "custom", m=1), f(0, "B", "why", "custom", m=2)],
        "explanation-differs": [f(1, "A", "why"), f(0, "A", "because")],
        "reason-differs": [f(1, "A", "why", "x"), f(0, "A", "why", "y")],
        "answer-null-first": [f(1), f(0, "A", "why", "x")],
        "answer-null-last": [f(1, "A", "why", "x"), f(0)],
        "empty-text": [f(1, "", "", ""), f(0, "", "", "")],
        "empty-then-null": [f(1, "", ""), f(0)],
        "metadata-first": [f(1, m="first"), f(0, m="second", n=2)],
        "metadata-null-first": [f(1), f(0, m=1)],
        "unscored-first": [f(NAN, "A", "why", "refusal", m=1), f(1, "A", "why", None, m=2)],
        "unscored-first-differs": [f(NAN, None, None, "refusal", m="u"), f(1, "A", "why", m="v")],
        "unscored-last": [f(1, "A", "why", m=1), f(NAN, None, None, "refusal", m=2)],
        "unscored-all-one-reason": [f(NAN, r="refusal", m=1), f(NAN, r="refusal")],
        "unscored-all-two-reasons": [f(NAN, r="refusal"), f(NAN, r="no_response")],
        "unscored-old-reason": [f(NAN, unscored_reason="refusal"), f(NAN, unscored_reason="refusal")],
        "unscored-old-and-new": [f(NAN, r="no_response"), f(NAN, unscored_reason="no_response"), f(NAN)],
        "panel-taken": [f(1, panel="mine"), f(1, panel="yours"), f(0)],
        "one-epoch": [f(1, "A", "why", "x", m=1)],
        "one-unscored": [f(NAN, "A", "why", "refusal", m=1)],
        "lists": [f([1, 0], "A", "why", m=1), f([1, 1], "A", "other", m=2)],
        "maps": [f({"a": 1}, "A", "why", m=1), f({"a": 0}, "A", "other", m=2)],
    }
    out = []
    for (label, row), reducer in itertools.product(tables.items(), ("mean", "mode", "max", "majority", "collect", "pass_at_1", "at_least_1")):
        out.append(case(f"fields-{label}-{slug(reducer)}", f"the other fields: {label}", ["conf_count()"], epochs([row]), reducers=[reducer]))
    for label in ("equal", "answer-differs", "unscored-first-differs", "one-epoch"):
        out.append(case(f"fields-{label}-default", f"the default reducer: {label}", ["conf_count()"], epochs([tables[label]])))
        out.append(case(f"fields-{label}-none", f"no reduction: {label}", ["conf_count()"], epochs([tables[label]]), reducers=[]))
    return out


def majority():
    out = []
    tables = {
        "clear": ["a", "a", "b"], "tie": ["a", "a", "b", "b"], "half": ["a", "a", "b", "c"], "all": ["a", "a"], "one": ["a"],
        "unscored-blocks": ["a", "a", NAN, NAN], "unscored-allows": ["a", "a", "a", NAN], "half-unscored": ["a", NAN],
        "only-unscored": [NAN, NAN], "types": [1, 1.0, True, "1", "1"], "text-and-number": ["1", 1],
        "bool-first": [True, 1, 0], "float-first": [1.0, True, 0], "nan-text": ["nan", "nan", "a"],
        "list": [[1, 0], [1, 1], [0, 1]], "list-tie": [[1, 0], [0, 1]], "list-unscored": [[1, 0], NAN, [1, 1]],
        "map": [{"a": 1, "b": 0}, {"a": 1, "b": 1}, {"a": 0, "b": 2}], "map-tie": [{"a": 1}, {"a": 0}],
        "map-unscored": [{"a": 1}, NAN, {"a": 1}], "map-unscored-two": [{"a": 1}, NAN, NAN],
        "map-nan": [{"a": NAN, "b": 1}, {"a": 1, "b": 1}, {"a": NAN, "b": NAN}], "map-null": [{"a": None}, {"a": None}, {"a": 1}],
        "map-null-tie": [{"a": None}, {"a": 1}], "list-nan": [[NAN, 1], [1, 1], [1, NAN]],
        "reasons": [S("a"), S(NAN, reason="refusal"), S(NAN, reason="refusal"), S(NAN, reason="grader_failed"), S(NAN)],
        "old-reasons": [S("a"), S("a"), S("a"), S(NAN, metadata={"unscored_reason": "refusal"}), S(NAN, reason="no_response", metadata={"unscored_reason": "refusal"})],
        "metadata-kept": [S("a", metadata={"k": 1}), S("a", metadata={"k": 2}), S("b")],
        "metadata-panel": [S("a", metadata={"panel": 1, "k": 1}), S("a")],
        "answers": [S("a", answer="x", explanation="e"), S("a", answer="x", explanation="e"), S("b", answer="y")],
        "inf": [INF, INF, 1.0], "floats": [0.1, 0.1, 0.30000000000000004],
    }
    for label, row in tables.items():
        out.append(case(f"majority-{label}", f"more than half of all epochs: {label}", ["conf_count()"], epochs([row]), reducers=["majority"]))
    out.append(case("majority-with-mean", "beside the mean", ["mean()"], epochs([[1, 1, 0], [1, 0, NAN]]), reducers=["majority", "mean"]))
    out.append(case("majority-ragged", "each sample has its own total", ["conf_count()"], epochs([["a", "a", "b"], ["a", "b"], ["c"]]), reducers=["majority"]))
    return out
