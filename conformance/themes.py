"""The cases, theme by theme. Each theme is a function that returns a list; `all_themes` names the files.

A case says what goes in; what comes out is added by `reference.ask`. Written-out cases first, then grids that cross
every value type with every metric or reducer so that no corner depends on someone having thought of it.
"""

import itertools
import random

NAN, INF = float("nan"), float("inf")
MISSING = object()  # the sample has no entry for the scorer


# ---------------------------------------------------------------- writing samples down


class S:
    """A score with more than a value."""

    def __init__(self, value, **parts):
        self.score = {"value": value} | parts


def score(value):
    return value.score if isinstance(value, S) else {"value": value}


def sample(ident, epoch, scores, metadata=None):
    out = {"id": str(ident), "epoch": epoch}
    if metadata is not None:
        out["metadata"] = metadata
    out["scores"] = {name: score(value) for name, value in scores.items() if value is not MISSING}
    return out


def rows(values, key=None, meta=None, scorer="s"):
    """One epoch: sample i has values[i] and, under `key`, meta[i] (MISSING: the key is absent)."""
    out = []
    for i, value in enumerate(values):
        metadata = None
        if key is not None:
            metadata = {} if meta[i] is MISSING else {key: meta[i]}
        out.append(sample(i + 1, 1, {scorer: value}, metadata))
    return out


def epochs(table, key=None, meta=None, scorer="s"):
    """table[i] are the epochs of sample i; samples are given epoch by epoch, as a run gives them."""
    deepest = max((len(row) for row in table), default=0)
    out = []
    for epoch in range(deepest):
        for i, row in enumerate(table):
            if epoch < len(row):
                metadata = None if key is None else {key: meta[i]}
                out.append(sample(i + 1, epoch + 1, {scorer: row[epoch]}, metadata))
    return out


# Verdicts on single cases of a grid.
VERDICT_BY_NAME = {
    "cluster-infinite-id-stderr": "json-metadata",
    "cluster-infinite-id-ci": "json-metadata",
    "cluster-infinite-id-ci-wilson": "json-metadata",
    "grouped-by-non-finite": "json-metadata",
    "grouped-by-non-finite-groups": "json-metadata",
    "cluster-key-null-stderr": "null-argument",
    "cluster-key-null-ci": "null-argument",
    "cluster-key-null-ci-wilson": "null-argument",
    "params-default-given": "null-argument",
    "grouped-all-positional": "positional",
}


def case(name, about, metrics=None, samples=(), reducers=None, scorers=None, task=None, headline=None, verdict=None):
    out = {
        "name": name,
        "about": about,
        "scorers": scorers if scorers is not None else [{"name": "s", "metrics": metrics}],
        "task_metrics": task,
        "reducers": reducers,
        "samples": list(samples),
    }
    if headline is not None:
        out["headline"] = headline
    verdict = verdict or VERDICT_BY_NAME.get(name)
    if verdict:
        out["verdict"] = verdict
    return out


def slug(text):
    kept = "".join(c if c.isalnum() else "-" for c in text.lower())
    return "-".join(part for part in kept.split("-") if part)


# ---------------------------------------------------------------- what the grids cross

MIXES = {
    "grades": ["C", "I", "P", "N", "C", "C"],
    "words": ["yes", "No", "TRUE", "false", "yEs", "no"],
    "numeric-text": ["1_000", " 5 ", "1e-2", ".5", "+5", "-3."],
    "odd-text": ["nan", "inf", "0x10", "c", " yes", "", "1__0", "٣"],
    "ints": [3, -1, 0, 7, 7, 2],
    "floats": [0.1, 0.2, 0.3, 0.7, 1e-9, 2.5],
    "bools": [True, False, True, True, False],
    "unit": [0.0, 0.25, 1.0, 0.5, 0.75],
    "binary": [1, 0, 1, 1, 0, 1, 0],
    "mixed": [1, "C", True, 0.5, "no", "0.25", "I"],
    "same": [0.1, 0.1, 0.1, 0.1],
    "offset": [1e9 + 0.25, 1e9 + 0.5, 1e9 + 0.75, 1e9 + 1.0],
    "tiny": [1e-300, 2e-300, 4e-300],
    "large": [1e150, -1e150, 3e150],
    "one": [0.5],
    "two": [0, 1],
    "two-same": [1, 1],
    "none": [],
}
CONVERTING = ["accuracy()", "mean()", "var()", "std()", "stderr()", "ci()"]
GRADED = "value_to_float(correct='yes', incorrect='no', partial='maybe', noanswer='skip')"


# ---------------------------------------------------------------- metrics


def metrics_basic():
    out = []
    for mix, values in MIXES.items():
        out.append(
            case(f"basic-{mix}", f"every converting metric over: {mix}", CONVERTING, rows(values),
                 verdict="overflow" if mix == "tiny" else None)
        )
    for mix in ("grades", "mixed", "odd-text", "offset", "one", "two", "none"):
        out.append(
            case(
                f"basic-unreduced-{mix}",
                f"the same without reduction, so that metrics convert the values themselves: {mix}",
                CONVERTING,
                rows(MIXES[mix]),
                reducers=[],
            )
        )
    for metric in CONVERTING:
        name = metric.removesuffix("()")
        out.append(case(f"alone-{name}-none", "the only metric, no sample", [metric], []))
        out.append(case(f"alone-{name}-one", "the only metric, one sample", [metric], rows(["C"])))
        out.append(case(f"alone-{name}-two", "the only metric, two samples", [metric], rows([0.25, 1])))
    for level in (0.5, 0.8, 0.9, 0.95, 0.99, 0.999):
        out.append(
            case(f"ci-level-{slug(str(level))}", "t interval at a level", [f"ci(level={level})"], rows(MIXES["floats"]))
        )
        out.append(
            case(
                f"ci-wilson-level-{slug(str(level))}",
                "Wilson interval at a level",
                [f"ci_wilson(level={level})"],
                rows(MIXES["unit"]),
            )
        )
    out += [
        case("ci-positional", "level and method by position", ["ci(0.9, 't')"], rows([1, 2, 3])),
        case("wilson-all-right", "p = 1", ["ci_wilson()"], rows([1] * 8)),
        case("wilson-all-wrong", "p = 0", ["ci_wilson()"], rows([0] * 8)),
        case("wilson-none", "no sample", ["ci_wilson()"], []),
        case("wilson-one", "one sample", ["ci_wilson()"], rows([1])),
        case("wilson-two", "two samples", ["ci_wilson()"], rows([1, 0])),
        case("wilson-grades", "grades convert first", ["ci_wilson()"], rows(MIXES["grades"])),
        case("basic-int-overflow", "integers beyond 64 bits are floats", ["mean()", "std()"], rows([2**70, 2**70 + 2**40])),
        case("basic-int-2-53", "integers beyond 2^53", ["mean()", "var()"], rows([2**53 + 1, 2**53 + 3, 2**53]), verdict="exact-sums"),
        case("basic-int-2-53-unreduced", "the same, unreduced", ["mean()", "var()"], rows([2**53 + 1, 2**53 + 3, 2**53]), reducers=[], verdict="exact-sums"),
        case("basic-negative-zero", "minus zero", ["mean()", "std()"], rows([-0.0, -0.0])),
        case("basic-cancel", "a sum that cancels", ["mean()"], rows([1e16, 1.0, -1e16]), verdict="exact-sums"),
        case("basic-tenths", "ten tenths", ["mean()", "stderr()"], rows([0.1] * 10)),
        case("basic-denormal", "the smallest floats", ["mean()"], rows([5e-324, 5e-324])),
        case("basic-var-overflow", "squares overflow", ["mean()", "var()", "std()", "stderr()"], rows([1e200, -1e200]), verdict="overflow"),
        case("basic-sum-overflow", "the sum overflows", ["mean()"], rows([1.7e308, 1.7e308]), verdict="overflow"),
    ]
    rng = random.Random(1)
    for i, n in enumerate((3, 5, 8, 13, 21, 34, 60)):
        values = [rng.choice("CIPN") for _ in range(n)]
        out.append(case(f"random-grades-{n}", f"{n} random grades", [*CONVERTING, "ci_wilson()"], rows(values)))
        values = [round(rng.gauss(10 ** i, 1), 6) for _ in range(n)]
        out.append(case(f"random-normal-{n}", f"{n} random floats around 1e{i}", CONVERTING, rows(values)))
    return out


def infinite():
    out = []
    specs = ["accuracy()", "mean()", "var()", "std()", "stderr()", "ci()", "ci_wilson()", "frequency()",
             "bootstrap_stderr()", "ci(method='bootstrap')", "grouped(mean(), 'g')", "stderr(cluster='g')",
             "ci(cluster='g')", "conf_count()"]
    for spec in specs:
        for label, values in (("one", [1.0, INF, 0.5]), ("both", [INF, -INF, 0.0]), ("alone", [-INF])):
            out.append(
                case(
                    f"inf-{label}-{slug(spec)}",
                    "infinite scores reach a metric",
                    [spec],
                    rows(values, "g", ["a", "b", "a"][: len(values)]),
                    verdict="infinite",
                )
            )
    for reducer in ("mean", "median", "mode", "max", "majority", "collect", "pass_at_1", "pass_k_1", "at_least_1"):
        out.append(
            case(
                f"inf-reducer-{slug(reducer)}",
                "infinite scores reach a reducer",
                ["conf_count()"],
                epochs([[INF, 1.0], [INF, -INF], [-INF, 0.0, 1.0]]),
                reducers=[reducer],
                verdict="infinite",
            )
        )
    return out


def clustered():
    out = []
    specs = ["stderr(cluster='g')", "ci(cluster='g')", "ci_wilson(cluster='g')"]
    shapes = {
        "pairs": ([1, 0, 1, 1, 0, 0], ["a", "a", "b", "b", "c", "c"]),
        "uneven": ([1, 0, 1, 1, 0, 0, 1], ["a", "a", "a", "a", "b", "c", "c"]),
        "singletons": ([1, 0, 1, 1], ["a", "b", "c", "d"]),
        "two-clusters": ([1, 0, 0.5, 0.25], ["a", "a", "b", "b"]),
        "one-cluster": ([1, 0, 1], ["a", "a", "a"]),
        "one-sample": ([1], ["a"]),
        "two-samples": ([1, 0], ["a", "b"]),
        "two-samples-one-cluster": ([1, 0], ["a", "a"]),
        "all-right": ([1, 1, 1, 1], ["a", "a", "b", "b"]),
        "all-wrong": ([0, 0, 0, 0], ["a", "a", "b", "b"]),
        "balanced-zero-variance": ([1, 0, 1, 0], ["a", "a", "b", "b"]),
        "perfectly-alike": ([1, 1, 0, 0], ["a", "a", "b", "b"]),
        "anti-correlated": ([1, 0, 1, 0, 1, 1], ["a", "a", "b", "b", "c", "c"]),
        "number-types": ([1, 0, 1, 0, 1], [1, 1.0, True, "1", 2]),
        "bools-and-zero": ([1, 0, 1, 0], [False, 0, 0.0, "False"]),
        "floats": ([1, 0, 1, 0], [0.5, 0.5, 1.5, 1.5]),
        "big-ints": ([1, 0, 1, 0], [2**53, 2**53 + 1, float(2**53), 2**53 + 1]),
        "empty-text": ([1, 0, 1, 0], ["", "", "a", "a"]),
        "infinite-id": ([1, 0, 1], [INF, INF, 1.0]),
        "none": ([], []),
        "missing-key": ([1, 0, 1], ["a", MISSING, "b"]),
        "null-id": ([1, 0, 1], ["a", None, "b"]),
        "nan-id": ([1, 0, 1], ["a", NAN, "b"]),
        "list-id": ([1, 0, 1], ["a", ["x"], "b"]),
        "map-id": ([1, 0, 1], ["a", {"x": 1}, "b"]),
        "unscored-without-id": ([1, NAN, 0], ["a", MISSING, "b"]),
        "unscored-inside": ([1, NAN, 0, 1, NAN], ["a", "a", "b", "b", "c"]),
    }
    for (label, (values, ids)), spec in itertools.product(shapes.items(), specs):
        out.append(case(f"cluster-{label}-{slug(spec.split('(')[0])}", f"clusters: {label}", [spec], rows(values, "g", ids)))
    for spec in specs:
        name = slug(spec.split("(")[0])
        out.append(case(f"cluster-no-metadata-{name}", "no sample metadata at all", [spec], rows([1, 0])))
        out.append(case(f"cluster-key-null-{name}", "cluster=None is no cluster", [spec.replace("'g'", "None")], rows([1, 0, 1])))
        out.append(case(f"cluster-epochs-{name}", "clusters over reduced epochs", [spec],
                        epochs([[1, 0], [1, 1], [0, 0], [0, 1]], "g", ["a", "a", "b", "b"])))
        out.append(case(f"cluster-epochs-unreduced-{name}", "every epoch is an observation of the cluster", [spec],
                        epochs([[1, 0], [1, 1], [0, 0], [0, 1]], "g", ["a", "a", "b", "b"]), reducers=[]))
    out += [
        case("cluster-epoch-metadata-differs", "reduced: the first epoch's metadata decides", ["stderr(cluster='g')"],
             [sample("x", 1, {"s": 1}, {"g": "a"}), sample("y", 1, {"s": 0}, {"g": "b"}),
              sample("x", 2, {"s": 1}, {"g": "b"}), sample("y", 2, {"s": 0}, {"g": "b"})]),
        case("cluster-epoch-metadata-differs-unreduced", "unreduced: each epoch's own", ["stderr(cluster='g')"],
             [sample("x", 1, {"s": 1}, {"g": "a"}), sample("y", 1, {"s": 0}, {"g": "b"}),
              sample("x", 2, {"s": 1}, {"g": "b"}), sample("y", 2, {"s": 0}, {"g": "b"})], reducers=[]),
        case("cluster-offset", "a huge offset inside clusters", ["stderr(cluster='g')", "ci(cluster='g')"],
             rows([1e9 + 0.25, 1e9 + 0.5, 1e9 + 0.75, 1e9 + 1.0], "g", ["a", "a", "b", "b"])),
        case("wilson-cluster-level", "level and clusters", ["ci_wilson(level=0.8, cluster='g')"],
             rows([1, 0, 1, 1, 0, 0], "g", ["a", "a", "b", "b", "c", "c"])),
        case("wilson-cluster-capped", "effective n capped at n", ["ci_wilson(cluster='g')"],
             rows([1, 0, 1, 0, 1, 0, 1, 1], "g", list("aabbccdd"))),
        case("stderr-to-float-positional", "the conversion is the first argument", [f"stderr({GRADED}, 'g')"],
             rows(["yes", "no", "maybe", "skip"], "g", list("aabb")), reducers=["mode"]),
    ]
    rng = random.Random(2)
    for n, groups in ((6, 2), (12, 3), (24, 5), (40, 13), (60, 20)):
        ids = [f"c{rng.randrange(groups)}" for _ in range(n)]
        values = [rng.choice([0, 1, 0.5]) for _ in range(n)]
        out.append(case(f"cluster-random-{n}", f"{n} samples in about {groups} clusters", specs + ["stderr()"], rows(values, "g", ids)))
    return out


def wilson_range():
    out = []
    for label, values in (
        ("above", [0.5, 1.5]), ("below", [0.5, -0.25]), ("text", ["C", "2"]), ("edge", [0, 1, 1.0, 0.0]),
        ("just-above", [1.0000000000000002, 0.5]), ("unscored", [NAN, 0.5]), ("bool", [True, False]),
    ):
        out.append(case(f"wilson-range-{label}", "values must lie in [0, 1]", ["ci_wilson()"], rows(values)))
    for level in ("0", "1", "-0.5", "1.5", "0.0", "1.0"):
        for spec in (f"ci(level={level})", f"ci_wilson(level={level})", f"ci(level={level}, method='bootstrap')"):
            out.append(case(f"level-{slug(spec)}-{'neg' if '-' in level else 'pos'}-{slug(level)}", "level outside (0, 1)", [spec], rows([1, 0, 1])))
    out += [
        case("level-nan-less", "level as a text", ["ci(level='0.9')"], rows([1, 0])),
        case("ci-unknown-method", "an unknown method", ["ci(method='z')"], rows([1, 0])),
        case("level-empty-case", "a bad level with no sample", ["ci(level=2)"], []),
    ]
    return out


def bootstrap():
    specs = ["bootstrap_stderr()", "ci(method='bootstrap')", "ci(method='bootstrap', cluster='g')"]
    shapes = {
        "none": ([], []),
        "one": ([0.5], ["a"]),
        "two": ([0, 1], ["a", "b"]),
        "two-same-cluster": ([0, 1], ["a", "a"]),
        "binary": ([1, 0, 1, 1, 0, 1, 0, 1, 1, 0], list("aabbccddee")),
        "grades": (["C", "I", "P", "N", "C", "C"], list("aabbcc")),
        "continuous": ([0.1, 0.35, 0.62, 0.8, 0.44, 0.9, 0.05, 0.77], list("aaabbccd")),
        "constant": ([0.5] * 6, list("aabbcc")),
        "one-cluster": ([0, 1, 1, 0], list("aaaa")),
        "offset": ([1e9 + v for v in (0.0, 0.25, 0.5, 1.0, 2.0)], list("aabbc")),
        "uneven": ([1] * 9 + [0] * 3, list("aaaaaaaaabcd")),
        "missing-cluster": ([1, 0, 1], ["a", MISSING, "b"]),
        "unscored": ([1, NAN, 0, NAN, 1], list("abcde")),
    }
    out = []
    for (label, (values, ids)), spec in itertools.product(shapes.items(), specs):
        out.append(case(f"bootstrap-{label}-{slug(spec)}", f"random figures: {label}", [spec], rows(values, "g", ids)))
    out += [
        case("bootstrap-positional", "num_samples by position", ["bootstrap_stderr(200)"], rows([1, 0, 1, 1])),
        case("bootstrap-200", "num_samples by name", ["bootstrap_stderr(num_samples=200)"], rows([1, 0, 1, 1])),
        case("bootstrap-one-draw", "a single resample has no deviation", ["bootstrap_stderr(num_samples=1)"], rows([1, 0, 1, 1])),
        case("bootstrap-ci-level", "level with the bootstrap", ["ci(level=0.8, method='bootstrap', num_samples=2000)"],
             rows([0.1, 0.35, 0.62, 0.8, 0.44, 0.9])),
        case("bootstrap-zero-draws", "num_samples=0", ["bootstrap_stderr(num_samples=0)"], rows([1, 0, 1]), verdict="draws"),
        case("bootstrap-ci-zero-draws", "num_samples=0", ["ci(method='bootstrap', num_samples=0)"], rows([1, 0, 1]), verdict="draws"),
        case("bootstrap-negative-draws", "num_samples=-1", ["bootstrap_stderr(num_samples=-1)"], rows([1, 0, 1]), verdict="draws"),
        case("bootstrap-to-float", "with a conversion", [f"bootstrap_stderr(to_float={GRADED})"],
             rows(["yes", "no", "maybe", "yes"]), reducers=["mode"]),
        case("bootstrap-grouped", "a random metric per group", ["grouped(bootstrap_stderr(), 'g')"],
             rows([1, 0, 1, 1, 0, 0], "g", list("aaabbb"))),
        case("bootstrap-epochs", "over reduced epochs", ["bootstrap_stderr()"], epochs([[1, 0], [1, 1], [0, 0], [0, 1]])),
    ]
    return out


def grouped():
    out = []
    three = ["x", "y", "x", "z", "y", "x"]
    values = ["C", "I", "C", "P", "C", "I"]
    for metric in ("accuracy()", "mean()", "std()", "var()", "stderr()", "conf_count()"):
        for every in ("'samples'", "'groups'", "False"):
            out.append(case(f"grouped-{slug(metric)}-{slug(every)}", "each metric, each aggregate",
                            [f"grouped({metric}, 'g', all={every})"], rows(values, "g", three)))
    groups = {
        "numbers": [1, 1.0, True, 2, 2.5, 1],
        "bools": [True, False, "True", "False", True, True],
        "nulls": [None, "None", "a", None, "a", "b"],
        "floats": [0.1, 1e-05, 1e16, 100000.0, 1e22, 0.1],
        "lists": [[1, "a"], [1, "a"], [], [True, None], [1.0], ["it's"]],
        "maps": [{"k": 1}, {"k": 1}, {}, {"k": [1]}, {"k": "v"}, {}],
        "non-finite": [NAN, NAN, INF, -INF, "nan", "inf"],
        "empty-text": ["", "", " ", "a", "A", "a"],
        "unicode": ["é", "e\u0301", "日本", "🙂", "é", "a\nb"],
        "braces": ["{group_name}", "{0}", "%s", "{{}}", "}", "{"],
        "missing": ["x", MISSING, "x", "y", "y", "x"],
        "one": ["x"] * 6,
        "dots": ["a.b", "a/b", "a b", "a-b", "a_b", "a:b"],
        "digits": ["1", "2", "10", "01", "1.0", "-1"],
    }
    for label, ids in groups.items():
        out.append(case(f"grouped-by-{label}", f"group values: {label}", ["grouped(accuracy(), 'g')"], rows(values, "g", ids)))
        out.append(case(f"grouped-by-{label}-groups", f"group values: {label}, macro average",
                        ["grouped(accuracy(), 'g', all='groups')"], rows(values, "g", ids)))
    g = "grouped(accuracy(), 'g'"
    data = rows(values, "g", three)
    plain = rows([1, 0, 1, 1], "g", ["a", "a", "b", "b"])
    out += [
        case("grouped-template", "names through a template", [f"{g}, name_template='cat_{{group_name}}')"], data),
        case("grouped-template-label", "template and label", [f"{g}, name_template='cat_{{group_name}}', all_label='total')"], data),
        case("grouped-template-twice", "the placeholder twice", [f"{g}, name_template='{{group_name}}-{{group_name}}')"], data),
        case("grouped-template-no-placeholder", "a template that gives every group one name", [f"{g}, name_template='same')"], data, verdict="grouped-template"),
        case("grouped-template-no-placeholder-groups", "the same with the macro average", [f"{g}, name_template='same', all='groups')"], data, verdict="grouped-template"),
        case("grouped-template-no-placeholder-off", "the same with no aggregate", [f"{g}, name_template='same', all=False)"], data, verdict="grouped-template"),
        case("grouped-template-no-placeholder-one-group", "no placeholder, one group only", [f"{g}, name_template='same')"], rows([1, 0], "g", ["a", "a"])),
        case("grouped-template-unknown", "an unknown placeholder", [f"{g}, name_template='{{other}}')"], data, verdict="grouped-template"),
        case("grouped-template-positional", "an empty placeholder", [f"{g}, name_template='{{}}')"], data, verdict="grouped-template"),
        case("grouped-template-broken", "an unbalanced brace", [f"{g}, name_template='{{group_name')"], data, verdict="grouped-template"),
        case("grouped-template-escaped", "doubled braces", [f"{g}, name_template='{{{{{{group_name}}}}}}')"], data, verdict="grouped-template"),
        case("grouped-template-format", "a format specification", [f"{g}, name_template='{{group_name:>5}}')"], data, verdict="grouped-template"),
        case("grouped-template-empty", "an empty template", [f"{g}, name_template='')"], rows([1, 0], "g", ["a", "a"])),
        case("grouped-label", "another label", [f"{g}, all_label='overall')"], data),
        case("grouped-label-off", "a label without an aggregate", [f"{g}, all=False, all_label='x')"], data),
        case("grouped-label-collides", "a group named as the aggregate", [g + ")"], rows([1, 0, 1], "g", ["all", "b", "all"])),
        case("grouped-label-collides-groups", "the same with the macro average", [f"{g}, all='groups')"], rows([1, 0, 1], "g", ["all", "b", "all"])),
        case("grouped-label-collides-off", "no aggregate, no collision", [f"{g}, all=False)"], rows([1, 0, 1], "g", ["all", "b", "all"])),
        case("grouped-label-collides-after-template", "only the templated name collides", [f"{g}, name_template='{{group_name}}l')"], rows([1, 0], "g", ["al", "b"])),
        case("grouped-label-saved-by-template", "a group `all` whose templated name is free", [f"{g}, name_template='g_{{group_name}}')"], rows([1, 0], "g", ["all", "b"])),
        case("grouped-groups-collide-as-text", "1 and '1' are one group", [g + ")"], rows([1, 0, 1], "g", [1, "1", "2"])),
        case("grouped-none", "no sample", [g + ")"], []),
        case("grouped-none-groups", "no sample, macro average", [f"{g}, all='groups')"], []),
        case("grouped-none-off", "no sample, no aggregate", [f"{g}, all=False)"], []),
        case("grouped-none-label", "no sample, another label", [f"{g}, all_label='total')"], []),
        case("grouped-all-unscored", "only unscored samples", [g + ")"], rows([NAN, NAN], "g", ["a", "b"])),
        case("grouped-group-unscored", "a group whose samples are all unscored does not appear", [g + ")"], rows([1, NAN, 0], "g", ["a", "b", "a"])),
        case("grouped-unscored-without-key", "an unscored sample needs no key", [g + ")"], rows([1, NAN, 0], "g", ["a", MISSING, "b"])),
        case("grouped-one-sample", "one sample", [g + ")"], rows([1], "g", ["a"])),
        case("grouped-no-metadata", "no metadata at all", [g + ")"], rows([1, 0])),
        case("grouped-of-cluster", "a clustered metric in each group", ["grouped(stderr(cluster='c'), 'g')"],
             [sample(i, 1, {"s": v}, {"g": a, "c": c}) for i, (v, a, c) in
              enumerate([(1, "x", 1), (0, "x", 1), (1, "x", 2), (0, "y", 2), (1, "y", 3), (1, "y", 2)])]),
        case("grouped-of-cluster-groups", "the same, macro average", ["grouped(stderr(cluster='c'), 'g', all='groups')"],
             [sample(i, 1, {"s": v}, {"g": a, "c": c}) for i, (v, a, c) in
              enumerate([(1, "x", 1), (0, "x", 1), (1, "x", 2), (0, "y", 2), (1, "y", 3), (1, "y", 2)])]),
        case("grouped-of-cluster-missing", "a sample without the cluster id", ["grouped(stderr(cluster='c'), 'g')"],
             [sample(1, 1, {"s": 1}, {"g": "x", "c": 1}), sample(2, 1, {"s": 0}, {"g": "x"})]),
        case("grouped-of-ci", "a metric that returns a map", ["grouped(ci(), 'g')"], plain, verdict="grouped-map"),
        case("grouped-of-ci-groups", "the same, macro average", ["grouped(ci(), 'g', all='groups')"], plain, verdict="grouped-map"),
        case("grouped-of-map", "a custom metric that returns a map", ["grouped(conf_map(), 'g')"], plain, verdict="grouped-map"),
        case("grouped-of-list", "a custom metric that returns a list", ["grouped(conf_list(), 'g')"], plain, verdict="grouped-map"),
        case("grouped-of-wilson", "Wilson per group", ["grouped(ci_wilson(), 'g')"], plain, verdict="grouped-map"),
        case("grouped-of-frequency", "frequencies per group", ["grouped(frequency(), 'g')"], plain, verdict="grouped-map"),
        case("grouped-of-unreduced", "a metric that wants every epoch", ["grouped(conf_unreduced(), 'g')"],
             epochs([[1, 0], [1, 1], [0, 0]], "g", ["a", "a", "b"])),
        case("grouped-of-grouped", "groups in groups", ["grouped(grouped(accuracy(), 'h'), 'g')"],
             [sample(1, 1, {"s": 1}, {"g": "x", "h": "p"}), sample(2, 1, {"s": 0}, {"g": "y", "h": "q"})], verdict="grouped-map"),
        case("grouped-of-krippendorff", "alpha per group", ["grouped(krippendorff_alpha(), 'g')"],
             rows([["a", "a"], ["a", "b"], ["b", "b"], ["a", "a"]], "g", list("xxyy")), reducers=["mode"]),
        case("grouped-nan-group", "a NaN group with the macro average", ["grouped(krippendorff_alpha(), 'g', all='groups')"],
             rows([["a", "a"], ["a", "b"], ["b"], ["a"]], "g", list("xxyy")), reducers=["mode"]),
        case("grouped-nan-group-samples", "a NaN group with the overall metric", ["grouped(krippendorff_alpha(), 'g')"],
             rows([["a", "a"], ["a", "b"], ["b"], ["a"]], "g", list("xxyy")), reducers=["mode"]),
        case("grouped-of-perplexity", "a metadata metric per group", ["grouped(perplexity_per_token(), 'g')"],
             rows([S(1, metadata={"num_tokens": 4, "sum_log_probs": -2.0}), S(1, metadata={"num_tokens": 0, "sum_log_probs": 0.0})], "g", ["a", "b"])),
        case("grouped-value-to-float", "the conversion of the group values", [f"grouped(accuracy(), 'g', all='groups', value_to_float={GRADED})"],
             rows(["yes", "no", "maybe"], "g", ["a", "a", "b"]), reducers=["mode"]),
        case("grouped-inner-to-float", "the inner metric's conversion", [f"grouped(accuracy({GRADED}), 'g')"],
             rows(["yes", "no", "maybe", "skip"], "g", list("aabb")), reducers=["mode"]),
        case("grouped-inner-to-float-keyword", "the same by keyword", [f"grouped(mean(to_float={GRADED}), 'g')"],
             rows(["yes", "no", "maybe", "skip"], "g", list("aabb")), reducers=["mode"]),
        case("grouped-by-keywords", "every argument by keyword", ["grouped(metric=accuracy(), group_key='g', all='groups')"], plain),
        case("grouped-bare-metric", "a bare inner name", ["grouped(accuracy, 'g')"], plain),
        case("grouped-all-true", "all=True is not offered", [f"{g}, all=True)"], plain, verdict="grouped-all"),
        case("grouped-all-unknown", "all='other' is not offered", [f"{g}, all='other')"], plain, verdict="grouped-all"),
        case("grouped-all-positional", "all by position is not offered", [f"{g}, 'groups')"], plain),
        case("grouped-epochs-metadata", "reduced: the first epoch's group", [g + ")"],
             [sample("x", 1, {"s": 1}, {"g": "a"}), sample("y", 1, {"s": 0}, {"g": "b"}),
              sample("x", 2, {"s": 0}, {"g": "b"}), sample("y", 2, {"s": 0}, {"g": "b"})]),
        case("grouped-epochs-metadata-unreduced", "unreduced: each epoch's own", [g + ")"],
             [sample("x", 1, {"s": 1}, {"g": "a"}), sample("y", 1, {"s": 0}, {"g": "b"}),
              sample("x", 2, {"s": 0}, {"g": "b"}), sample("y", 2, {"s": 0}, {"g": "b"})], reducers=[]),
        case("grouped-many", "thirty groups", [f"{g}, all='groups')"], rows([i % 2 for i in range(60)], "g", [f"g{i % 30}" for i in range(60)])),
        case("grouped-zero-decimal-macro", "the macro mean of uneven groups", [f"{g}, all='groups')"],
             rows([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7], "g", list("aaaabbc"))),
        case("grouped-nested-key", "a dotted key is a literal key", ["grouped(accuracy(), 'a.b')"], rows([1, 0], "a.b", ["x", "y"])),
    ]
    return out


def aggregate():
    maps = [{"a": 1, "b": 0.5}, {"a": 0, "b": 0.25}, {"a": 1, "b": "C"}]
    out = []
    for agg in ("accuracy()", "mean()", "var()", "std()", "stderr()", "conf_count()", "conf_map()", "conf_list()", "ci()", "frequency()", "ci_wilson()"):
        for key in "ab":
            out.append(case(f"aggregate-{slug(agg)}-{key}", "one field of map scores", [f"aggregate('{key}', {agg})"], rows(maps)))
    fields = {
        "missing-field": [{"a": 1}, {"b": 1}, {"a": 0}],
        "null-field": [{"a": 1}, {"a": None}, {"a": 0}],
        "nan-field": [{"a": 1}, {"a": NAN}, {"a": 0}],
        "all-nan": [{"a": NAN}, {"a": NAN}],
        "all-missing": [{"b": 1}, {"b": 0}],
        "text-field": [{"a": "C"}, {"a": "x"}, {"a": "yes"}],
        "bool-field": [{"a": True}, {"a": False}],
        "scalar-score": [{"a": 1}, 1, {"a": 0}],
        "list-score": [{"a": 1}, [1, 2]],
        "unscored": [{"a": 1}, NAN, {"a": 0}],
        "all-unscored": [NAN, NAN],
        "none": [],
        "one": [{"a": 1}],
        "inf-field": [{"a": INF}, {"a": 1.0}],
    }
    for label, values in fields.items():
        for missing in ("error", "skip", "zero"):
            out.append(case(f"aggregate-{label}-{missing}", f"{label}, on_missing={missing}",
                            [f"aggregate('a', mean(), on_missing='{missing}')"], rows(values), reducers=["mode"],
                            verdict="infinite" if label == "inf-field" else None))
    out += [
        case("aggregate-unreduced", "without reduction", ["aggregate('a', mean())"], rows(maps), reducers=[]),
        case("aggregate-default-missing", "the default for a missing field", ["aggregate('a', mean())"], rows(fields["missing-field"]), reducers=[]),
        case("aggregate-default-missing-reduced", "under the default reducer the keys may differ between samples", ["aggregate('a', mean())"], rows(fields["missing-field"])),
        case("aggregate-to-float", "a conversion of the field", [f"aggregate('a', mean(), to_float={GRADED})"],
             rows([{"a": "yes"}, {"a": "maybe"}, {"a": "no"}]), reducers=["mode"]),
        case("aggregate-agg-to-float", "the inner metric's own conversion", [f"aggregate('a', mean({GRADED}))"],
             rows([{"a": "yes"}, {"a": "maybe"}, {"a": "no"}]), reducers=["mode"]),
        case("aggregate-text-agg", "agg must be a metric", ["aggregate('a', 'mean')"], rows(maps), verdict="aggregate"),
        case("aggregate-on-missing-unknown", "an unknown on_missing", ["aggregate('a', mean(), on_missing='drop')"], rows(fields["missing-field"]), reducers=["mode"], verdict="aggregate"),
        case("aggregate-keywords", "by keyword", ["aggregate(key='a', agg=std())"], rows(maps)),
        case("aggregate-grouped", "a grouped inner metric", ["aggregate('a', grouped(mean(), 'g'))"], rows(maps, "g", ["x", "y", "x"])),
        case("aggregate-in-grouped", "inside grouped", ["grouped(aggregate('a', mean()), 'g')"], rows(maps, "g", ["x", "y", "x"])),
        case("aggregate-cluster", "a clustered inner metric", ["aggregate('a', stderr(cluster='g'))"], rows(maps, "g", ["x", "y", "x"])),
        case("aggregate-two-fields", "two fields, names collide", ["aggregate('a', mean())", "aggregate('b', mean())"], rows(maps)),
        case("aggregate-epochs", "after the mean of epochs", ["aggregate('a', mean())"], epochs([[{"a": 1}, {"a": 0}], [{"a": 1}, {"a": 1}]])),
        case("aggregate-list-field", "a list cannot be a field of a map score", ["aggregate('a', mean())"], rows([{"a": "1,2"}]), reducers=[]),
    ]
    return out


def frequency():
    out = []
    for mix, values in MIXES.items():
        out.append(case(f"frequency-{mix}", f"shares of: {mix}", ["frequency()"], rows(values)))
    out += [
        case("frequency-counts", "counts", ["frequency(normalize=False)"], rows(["a", "b", "a"])),
        case("frequency-counts-positional", "counts by position", ["frequency(None, False)"], rows(["a", "b", "a"])),
        case("frequency-categories", "declared categories first", ["frequency(['z', 'a'])"], rows(["a", "b", "a"])),
        case("frequency-categories-all", "every value declared", ["frequency(categories=['b', 'a', 'c'])"], rows(["a", "b", "a"])),
        case("frequency-categories-counts", "declared, counted", ["frequency(categories=['b', 'a', 'c'], normalize=False)"], rows(["a", "b", "a"])),
        case("frequency-categories-twice", "a category twice", ["frequency(categories=['a', 'a'])"], rows(["a", "b"])),
        case("frequency-categories-empty", "an empty declaration", ["frequency(categories=[])"], rows(["a", "b"])),
        case("frequency-categories-none-scored", "declared, no sample", ["frequency(categories=['a', 'b'])"], []),
        case("frequency-categories-none-scored-counts", "declared, no sample, counts", ["frequency(categories=['a', 'b'], normalize=False)"], []),
        case("frequency-categories-empty-none", "nothing declared, no sample", ["frequency(categories=[])"], []),
        case("frequency-all-unscored", "only unscored", ["frequency(categories=['a'])"], rows([NAN, NAN])),
        case("frequency-unscored", "unscored ones are left out", ["frequency()"], rows(["a", NAN, "b"])),
        case("frequency-number-categories", "numbers as categories", ["frequency(categories=[1, 2])"], rows([1, 2, 1])),
        case("frequency-text-categories", "text categories meet numbers", ["frequency(categories=['1', '2.0'])"], rows([1, 2.0, True])),
        case("frequency-types", "1, 1.0, true and '1'", ["frequency()"], rows([1, 1.0, True, "1", "True", "1.0"])),
        case("frequency-float-text", "floats as text", ["frequency(normalize=False)"], rows([1e16, 1e-05, 0.1, 100.0, 123456789.125, 1e22, -0.0, 0.0])),
        case("frequency-list", "a list value", ["frequency()"], rows(["a", ["b"]])),
        case("frequency-map", "a map value", ["frequency()"], rows([{"a": 1}])),
        case("frequency-epochs", "every epoch counts", ["frequency()"], epochs([["a", "b"], ["a", "a"], ["c", "a"]])),
        case("frequency-epochs-reducers", "reducers do not matter", ["frequency()"], epochs([["a", "b"], ["a", "a"]]), reducers=["mode", "max"]),
        case("frequency-epochs-no-reduction", "no reduction", ["frequency()"], epochs([["a", "b"], ["a", "a"]]), reducers=[]),
        case("frequency-with-accuracy", "beside a reduced metric", ["frequency()", "accuracy()"], epochs([["C", "I"], ["C", "C"]])),
        case("frequency-collides", "a value named as a metric", ["accuracy()", "frequency()"], rows(["accuracy", "C"]), reducers=[]),
        case("frequency-twice", "two of them", ["frequency()", "frequency(normalize=False)"], rows(["a", "b", "a"])),
        case("frequency-category-text", "a text in place of a list", ["frequency(categories='abc')"], rows(["a", "b"]), verdict="frequency"),
        case("frequency-unicode", "unicode and blanks", ["frequency()"], rows(["é", " é", "日本", "", "a\tb"])),
        case("frequency-case", "case matters", ["frequency()"], rows(["A", "a", "A "])),
        case("frequency-thirds", "shares that do not sum exactly", ["frequency()"], rows(["a", "b", "c"])),
    ]
    return out


def krippendorff():
    tables = {
        "perfect": [["a", "a"], ["b", "b"], ["a", "a"]],
        "some": [["a", "a"], ["a", "b"], ["b", "b"], ["c", "c"]],
        "none-agree": [["a", "b"], ["b", "a"], ["a", "b"]],
        "three": [["a", "a", "b"], ["b", "b", "b"], ["a", "b", "c"]],
        "uneven": [["a", "a"], ["a", "b", "b"], ["b", "b", "b", "b"]],
        "short": [["a"], ["a", "b"], [], ["b", "b"]],
        "short-text": [["a"], [1, 2], [2, 2]],
        "tuple-like-text": ["ab", [1, 2], [2, 2]],
        "same-number-types": [[1, 1.0, True], [1, 1]],
        "two-valued": [[0, 0], [0, 1], [1, 1], [0, 0, 1]],
        "unit-of-many": [[1, 2, 3, 4, 5, 6]],
        "only-short": [["a"], [], ["b"]],
        "constant": [["a", "a"], ["a", "a"]],
        "one-unit": [["a", "b"]],
        "one-unit-agree": [["a", "a"]],
        "numbers": [[1, 1], [1, 2], [3, 3], [4, 5]],
        "floats": [[0.5, 0.5], [0.25, 0.5], [1.0, 1.0], [0.75, 0.5]],
        "types": [[1, 1.0], [True, 1], [2, 2.0], [0, False]],
        "text-numbers": [["1", 1], ["2", 2], ["1", "1"]],
        "bools": [[True, False], [True, True], [False, False]],
        "nan-rating": [[1, NAN], [1, 2, NAN], [2, 2]],
        "all-nan": [[NAN, NAN]],
        "inf-rating": [[1, INF], [1, 2], [2, 2]],
        "scalars": ["a", 1, ["a", "b"], ["a", "a"]],
        "maps": [{"x": 1}, ["a", "a"], ["a", "b"]],
        "unscored": [NAN, ["a", "a"], ["a", "b"]],
        "empty": [],
        "all-unscored": [NAN, NAN],
        "offset": [[1e9, 1e9 + 1], [1e9 + 2, 1e9 + 2], [1e9 + 3, 1e9 + 4]],
        "grades": [["C", "C"], ["C", "I"], ["P", "I"], ["N", "N"]],
        "ties": [[1, 2, 2, 3], [2, 2, 3, 3], [1, 1, 1, 4], [5, 5, 4, 4]],
        "negative": [[-1, -2], [0, 0], [3, 3]],
        "big-ints": [[2**53, 2**53 + 1], [1, 1]],
    }
    out = []
    for (label, units), level in itertools.product(tables.items(), ("nominal", "ordinal", "interval")):
        verdict = "alpha-non-finite" if label in ("nan-rating", "all-nan", "inf-rating") else None
        out.append(case(f"alpha-{label}-{level}", f"ratings: {label}", [f"krippendorff_alpha(level='{level}')"], rows(units), reducers=[], verdict=verdict))
    for level in ("nominal", "ordinal", "interval"):
        out.append(case(f"alpha-to-float-{level}", "with the default conversion", [f"krippendorff_alpha('{level}', value_to_float())"], rows(tables["grades"]), reducers=[]))
        out.append(case(f"alpha-to-float-text-{level}", "text that does not convert", [f"krippendorff_alpha(level='{level}', to_float=value_to_float())"], rows([["x", "y"], ["x", "x"]]), reducers=[]))
        out.append(case(f"alpha-to-float-graded-{level}", "with configured grades", [f"krippendorff_alpha(level='{level}', to_float={GRADED})"],
                        rows([["yes", "no"], ["maybe", "maybe"], ["skip", "no"]]), reducers=[]))
        out.append(case(f"alpha-collect-{level}", "after collect", [f"krippendorff_alpha('{level}')"], epochs([[1, 1, 2], [2, 2, 2], [3, NAN, 1]]), reducers=["collect"]))
        out.append(case(f"alpha-default-reducer-{level}", "lists through the default mean reducer", [f"krippendorff_alpha('{level}')"], rows(tables["numbers"])))
    out.append(case("alpha-level-unknown", "an unknown level", ["krippendorff_alpha(level='ratio')"], rows(tables["numbers"]), reducers=[]))
    out.append(case("alpha-default", "no argument", ["krippendorff_alpha()"], rows(tables["some"]), reducers=[]))
    rng = random.Random(3)
    for n, raters in ((8, 2), (15, 3), (30, 4)):
        units = [[rng.randint(1, 5) for _ in range(rng.randint(1, raters))] for _ in range(n)]
        out.append(case(f"alpha-random-{n}", f"{n} random units", [f"krippendorff_alpha('{level}')" for level in ("nominal", "ordinal", "interval")], rows(units), reducers=[]))
    return out


def perplexity():
    def m(tokens=MISSING, logp=MISSING, **more):
        meta = {} if tokens is MISSING else {"num_tokens": tokens}
        if logp is not MISSING:
            meta["sum_log_probs"] = logp
        return S(1.0, metadata=meta | more)

    tables = {
        "plain": [m(10, -5.0), m(20, -30.0), m(1, -0.1)],
        "zero-tokens": [m(0, 0.0), m(10, -5.0)],
        "zero-tokens-with-logp": [m(0, -3.0), m(10, -5.0)],
        "only-zero": [m(0, 0.0), m(0, 0.0)],
        "no-metadata": [1.0, m(10, -5.0)],
        "nothing": [1.0, 2.0],
        "no-tokens": [m(logp=-5.0), m(10, -5.0)],
        "no-logp": [m(10), m(10, -5.0)],
        "null-fields": [m(None, None), m(10, -5.0)],
        "int-logp": [m(10, -5), m(20, -30)],
        "float-tokens": [m(10.0, -5.0), m(2.5, -1.0)],
        "text-fields": [m("10", "-5"), m(10, -5.0)],
        "negative-tokens": [m(-5, -5.0), m(10, -5.0)],
        "positive-logp": [m(10, 5.0)],
        "overflow": [m(1, -1000.0)],
        "overflow-one": [m(1, -1000.0), m(1000, -1.0)],
        "underflow": [m(1, 1000.0)],
        "nan-logp": [m(10, NAN), m(10, -5.0)],
        "minus-inf-logp": [m(10, -INF), m(10, -5.0)],
        "inf-logp": [m(10, INF), m(10, -5.0)],
        "bool-tokens": [m(True, -1.0), m(10, -5.0)],
        "none": [],
        "one": [m(7, -3.5)],
        "unscored-with-metadata": [S(NAN, metadata={"num_tokens": 10, "sum_log_probs": -50.0}), m(10, -5.0)],
        "all-unscored": [S(NAN, metadata={"num_tokens": 10, "sum_log_probs": -50.0})],
        "extra": [m(10, -5.0, model="x")],
    }
    both = ["perplexity_per_token()", "perplexity_per_seq()"]
    out = []
    for (label, values), spec in itertools.product(tables.items(), both):
        odd = ("float-tokens", "text-fields", "negative-tokens", "bool-tokens", "nan-logp", "minus-inf-logp", "inf-logp")
        verdict = "perplexity-fields" if label in odd else None
        out.append(case(f"{slug(spec)}-{label}", f"token counts and log-probabilities: {label}", [spec], rows(values), verdict=verdict))
    out += [
        case("perplexity-epochs", "reduction keeps the first epoch's metadata", both, epochs([[m(10, -5.0), m(10, -9.0)], [m(4, -1.0), m(4, -2.0)]])),
        case("perplexity-epochs-unreduced", "every epoch", both, epochs([[m(10, -5.0), m(10, -9.0)], [m(4, -1.0), m(4, -2.0)]]), reducers=[]),
        case("perplexity-value-ignored", "the value does not matter", both, rows([S("x", metadata={"num_tokens": 2, "sum_log_probs": -1.0})]), reducers=[]),
        case("perplexity-beside-mean", "beside a converting metric", ["mean()", *both], rows([m(10, -5.0), m(2, -3.0)])),
        case("perplexity-epoch-first-unscored", "the first epoch is unscored but its metadata stays", both,
             epochs([[S(NAN, metadata={"num_tokens": 3, "sum_log_probs": -9.0}), m(10, -5.0)]])),
    ]
    rng = random.Random(4)
    values = [m(rng.randint(1, 200), -round(rng.random() * 300, 3)) for _ in range(40)]
    out.append(case("perplexity-random", "forty sequences", both, rows(values)))
    return out


# ---------------------------------------------------------------- reducers

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


# ---------------------------------------------------------------- results


def unscored():
    out = []
    tables = {
        "some": [1, NAN, 0, NAN], "all": [NAN, NAN], "one": [NAN], "first": [NAN, "C"], "last": ["C", NAN],
        "with-reasons": [S(NAN, reason="refusal"), S(NAN, reason="custom"), 1],
        "map-mixed": [{"a": 1}, NAN, {"a": 0}], "list-mixed": [[1, 0], NAN],
    }
    for label, values in tables.items():
        for spec in ("accuracy()", "stderr()", "ci()", "conf_count()", "conf_map()", "conf_list()", "frequency()", "ci_wilson()"):
            out.append(case(f"unscored-{label}-{slug(spec)}", f"NaN at the root: {label}", [spec], rows(values)))
    out += [
        case("unscored-no-reduction", "no reduction", ["mean()", "conf_count()"], epochs([[1, NAN], [NAN, 0]]), reducers=[]),
        case("unscored-epochs", "unscored epochs leave the mean of the rest", ["mean()", "conf_count()"], epochs([[1, NAN], [NAN, 0], [NAN, NAN]])),
        case("unscored-two-views", "counts of each block are its own", ["mean()", "conf_unreduced()"], epochs([[1, NAN], [NAN, 0], [NAN, NAN]])),
        case("unscored-nan-text", "the text nan is scored", ["mean()", "conf_count()"], rows(["nan", "NaN", 1])),
        case("unscored-list-of-nan", "a list of NaN is scored", ["conf_count()"], rows([[NAN, NAN], [1, 0]])),
        case("unscored-map-of-nan", "a map of NaN is scored", ["conf_count()"], rows([{"a": NAN}, {"a": 1}])),
        case("unscored-reducers", "per reducer", ["mean()"], epochs([[1, NAN, NAN], [1, 1, 0]]), reducers=["mean", "pass_at_2", "at_least_2", "majority"]),
    ]
    return out


def missing():
    two = [{"name": "s", "metrics": ["accuracy()", "stderr()", "conf_count()"]}, {"name": "t", "metrics": ["mean()", "conf_count()"]}]
    return [
        case("missing-some", "samples without an entry for the scorer", ["accuracy()", "conf_count()"], rows([1, MISSING, 0])),
        case("missing-all", "no sample has one", ["accuracy()", "conf_count()"], rows([MISSING, MISSING])),
        case("missing-epoch", "an epoch without one", ["accuracy()", "conf_count()"], epochs([[1, MISSING], [0, 1]])),
        case("missing-epoch-first", "the first epoch without one", ["accuracy()", "conf_count()"], epochs([[MISSING, 1], [0, 1]])),
        case("missing-other-scorer", "each scorer has its own samples", None,
             [sample(1, 1, {"s": 1}), sample(2, 1, {"t": 0.5}), sample(3, 1, {"s": 0, "t": 1})], scorers=two),
        case("missing-one-scorer-everywhere", "one scorer never answered", None, [sample(1, 1, {"s": 1}), sample(2, 1, {"s": 0})], scorers=two),
        case("missing-and-unscored", "missing is not unscored", ["accuracy()", "conf_count()"], rows([1, MISSING, NAN])),
        case("missing-majority", "a missing epoch is not in the total", ["conf_count()"], epochs([["a", MISSING, "a", "b"]]), reducers=["majority"]),
        case("missing-pass-at", "a missing epoch is not in n", ["mean()"], epochs([[1, MISSING, 0]]), reducers=["pass_at_2"]),
        case("missing-frequency", "unreduced with missing ones", ["frequency()"], epochs([["a", MISSING], ["b", "a"]])),
    ]


def empty():
    specs = ["accuracy()", "mean()", "var()", "std()", "stderr()", "stderr(cluster='g')", "bootstrap_stderr()", "ci()", "ci(cluster='g')",
             "ci(method='bootstrap')", "ci(method='bootstrap', cluster='g')", "ci_wilson()", "ci_wilson(cluster='g')",
             "grouped(accuracy(), 'g')", "grouped(accuracy(), 'g', all='groups')", "grouped(accuracy(), 'g', all=False)",
             "aggregate('a', mean())", "frequency()", "frequency(['a', 'b'])", "krippendorff_alpha()", "perplexity_per_token()",
             "perplexity_per_seq()", "conf_map()", "conf_list()", "conf_count()", "conf_reduced()", "conf_unreduced()"]
    out = []
    for i, spec in enumerate(specs):
        tag = f"{i:02d}-{slug(spec)}"
        out.append(case(f"empty-{tag}", "no sample at all", [spec], []))
        out.append(case(f"empty-unscored-{tag}", "two samples, both unscored", [spec], rows([NAN, NAN], "g", ["x", "y"])))
    for label, values in (("no-sample", []), ("unscored", [NAN, NAN])):
        out += [
            case(f"empty-two-metrics-{label}", "two metrics", ["accuracy()", "stderr()"], rows(values)),
            case(f"empty-many-metrics-{label}", "metrics with and without a map", ["accuracy()", "ci()", "conf_list()", "stderr()"], rows(values)),
            case(f"empty-map-metrics-{label}", "map metrics", {"a": ["accuracy()"], "b*": ["mean()", "ci()"]}, rows(values)),
            case(f"empty-mixed-metrics-{label}", "a list with a map in it", ["accuracy()", {"a": ["mean()"], "*": ["std()"]}], rows(values)),
            case(f"empty-no-metrics-{label}", "no metric", [], rows(values), verdict="no-metrics"),
            case(f"empty-no-reduction-{label}", "no reduction", ["accuracy()", "stderr()"], rows(values), reducers=[]),
            case(f"empty-reducers-{label}", "several reducers", ["accuracy()"], rows(values), reducers=["mean", "mode", "pass_at_2"]),
            case(f"empty-views-{label}", "reduced and unreduced metrics", ["accuracy()", "conf_unreduced()"], rows(values)),
            case(f"empty-two-scorers-{label}", "two scorers", None, rows(values),
                 scorers=[{"name": "s", "metrics": ["accuracy()"]}, {"name": "t", "metrics": ["mean()"]}]),
        ]
    out += [
        case("empty-no-scorer", "no scorer", None, [], scorers=[]),
        case("empty-no-scorer-with-scores", "scores of no scorer", None, rows([1, 0]), scorers=[]),
        case("empty-no-metrics-scored", "no metric, scored samples", [], rows([1, 0]), verdict="no-metrics"),
        case("empty-map-no-patterns", "an empty map of metrics", {}, rows([{"a": 1}])),
        case("empty-pattern-no-metrics", "a pattern without metrics", {"a": []}, rows([{"a": 1}])),
        case("empty-list-only-map", "a list of only a map", [{"a": ["mean()"]}], rows([{"a": 1}, {"a": 0}])),
    ]
    return out


def naming():
    return [
        case("name-same-twice", "one metric twice", ["stderr()", "stderr()"], rows([1, 0, 1])),
        case("name-same-thrice", "one metric three times", ["stderr()", "stderr()", "stderr()"], rows([1, 0, 1])),
        case("name-same-eleven", "eleven times: the number grows past 9", ["conf_count()"] * 11, rows([1])),
        case("name-different-arguments", "one metric, different arguments", ["ci()", "ci(0.9)", "ci(level=0.8)"], rows([1, 0, 1])),
        case("name-map-collides", "map keys collide with a metric", ["accuracy()", "grouped(accuracy(), 'g')"], rows([1, 0], "g", ["accuracy", "b"])),
        case("name-metric-after-map", "a metric collides with an earlier group", ["grouped(accuracy(), 'g')", "accuracy()"], rows([1, 0], "g", ["accuracy", "b"])),
        case("name-numbered-group", "a group named accuracy2", ["accuracy()", "accuracy()", "grouped(accuracy(), 'g')"], rows([1, 0], "g", ["accuracy2", "b"])),
        case("name-numbered-group-first", "accuracy2 before accuracy", ["grouped(accuracy(), 'g')", "accuracy()", "accuracy()"], rows([1, 0], "g", ["accuracy2", "accuracy"])),
        case("name-gap", "the largest number decides", ["grouped(accuracy(), 'g')", "accuracy()", "accuracy()"], rows([1, 0], "g", ["accuracy", "accuracy9"])),
        case("name-number-one", "accuracy1 counts too", ["grouped(accuracy(), 'g')", "accuracy()"], rows([1, 0], "g", ["accuracy", "accuracy1"])),
        case("name-number-zero", "accuracy0 counts too", ["grouped(accuracy(), 'g')", "accuracy()"], rows([1, 0], "g", ["accuracy", "accuracy0"])),
        case("name-number-padded", "accuracy007", ["grouped(accuracy(), 'g')", "accuracy()"], rows([1, 0], "g", ["accuracy", "accuracy007"])),
        case("name-number-inner", "text after the number", ["grouped(accuracy(), 'g')", "accuracy()"], rows([1, 0], "g", ["accuracy", "accuracy7x"])),
        case("name-number-negative", "accuracy-5", ["grouped(accuracy(), 'g')", "accuracy()"], rows([1, 0], "g", ["accuracy", "accuracy-5"])),
        case("name-number-plus", "accuracy+5", ["grouped(accuracy(), 'g')", "accuracy()"], rows([1, 0], "g", ["accuracy", "accuracy+5"])),
        case("name-number-blank", "accuracy 5", ["grouped(accuracy(), 'g')", "accuracy()"], rows([1, 0], "g", ["accuracy", "accuracy 5"])),
        case("name-number-underscore", "accuracy1_0", ["grouped(accuracy(), 'g')", "accuracy()"], rows([1, 0], "g", ["accuracy", "accuracy1_0"])),
        case("name-number-unicode", "accuracy with an Arabic digit", ["grouped(accuracy(), 'g')", "accuracy()"], rows([1, 0], "g", ["accuracy", "accuracy٣"])),
        case("name-number-float", "accuracy2.5", ["grouped(accuracy(), 'g')", "accuracy()"], rows([1, 0], "g", ["accuracy", "accuracy2.5"])),
        case("name-number-superscript", "accuracy²", ["grouped(accuracy(), 'g')", "accuracy()"], rows([1, 0], "g", ["accuracy", "accuracy²"])),
        case("name-number-huge", "a number beyond 64 bits", ["grouped(accuracy(), 'g')", "accuracy()"], rows([1, 0], "g", ["accuracy", "accuracy99999999999999999999"]), verdict="huge-suffix"),
        case("name-two-groupings", "two groupings share `all`", ["grouped(accuracy(), 'g')", "grouped(mean(), 'g')"], rows([1, 0], "g", ["a", "b"])),
        case("name-two-groupings-labels", "labels keep them apart", ["grouped(accuracy(), 'g', all_label='acc')", "grouped(mean(), 'g', all_label='avg', name_template='m_{group_name}')"], rows([1, 0], "g", ["a", "b"])),
        case("name-ci-both", "ci and ci_wilson share keys", ["ci()", "ci_wilson()"], rows([1, 0, 1])),
        case("name-map-nulls", "null entries are dropped", ["conf_map()"], rows([1, 0.5])),
        case("name-list", "a list counts from 1", ["conf_list()"], rows([1, 0.5])),
        case("name-list-twice", "a list twice", ["conf_list()", "conf_list()"], rows([1, 0.5])),
        case("name-list-collides", "a group named as a list entry", ["grouped(accuracy(), 'g')", "conf_list()"], rows([1, 0], "g", ["conf_list-1", "b"])),
        case("name-qualified", "a package in the registered name", ["conf/qualified()"], rows([1, 0])),
        case("name-qualified-twice", "twice", ["conf/qualified()", "conf/qualified()"], rows([1, 0])),
        case("name-qualified-collides", "the unqualified key collides with a group", ["grouped(accuracy(), 'g')", "conf/qualified()"], rows([1, 0], "g", ["qualified", "b"])),
        case("name-qualified-map", "in a map of metrics", {"a": ["conf/qualified()", "mean()"]}, rows([{"a": 1}])),
        case("name-empty-group", "an empty group name", ["grouped(accuracy(), 'g')", "accuracy()"], rows([1, 0], "g", ["", "b"])),
        case("name-empty-twice", "an empty name twice", ["grouped(accuracy(), 'g')", "grouped(accuracy(), 'g')"], rows([1, 0], "g", ["", "2"])),
        case("name-digit-groups-twice", "names of digits twice", ["grouped(accuracy(), 'g')", "grouped(accuracy(), 'g')"], rows([1, 0, 1], "g", ["1", "12", "2"])),
        case("name-prefix-groups", "one name is the prefix of another", ["grouped(accuracy(), 'g')", "grouped(accuracy(), 'g')"], rows([1, 0, 1], "g", ["a", "ab", "a2"])),
        case("params-conversion-keyword", "how a conversion is recorded", ["mean(to_float=value_to_float())"], rows([1, 0])),
        case("params-conversion-positional", "the same by position", ["mean(value_to_float())"], rows([1, 0])),
        case("params-conversion-configured", "a configured conversion", [f"accuracy({GRADED})"], rows([1, 0])),
        case("params-positional", "positional arguments are recorded by name", ["ci(0.9, 'bootstrap', 50)"], rows([1, 1])),
        case("params-default-given", "a default that was given is recorded", ["ci(level=0.95)", "stderr(cluster=None)"], rows([1, 0])),
        case("params-grouped", "a nested metric", ["grouped(ci_wilson(level=0.9), 'g', all=False)"], rows([1], "g", ["a"]), verdict="grouped-map"),
        case("params-grouped-stderr", "a nested metric with arguments", ["grouped(stderr(cluster='c'), group_key='g', all=False)"],
             [sample(1, 1, {"s": 1}, {"g": "a", "c": 1}), sample(2, 1, {"s": 0}, {"g": "a", "c": 2})]),
        case("params-aggregate", "a nested metric in aggregate", ["aggregate('a', stderr(cluster='c'), on_missing='skip')"],
             [sample(1, 1, {"s": {"a": 1}}, {"c": 1}), sample(2, 1, {"s": {"a": 0}}, {"c": 2})]),
        case("params-unknown", "an argument the metric does not take", ["mean(cluster='g')"], rows([1, 0])),
        case("params-too-many", "too many positional arguments", ["perplexity_per_seq(1)"], rows([1, 0])),
        case("params-missing", "a required argument is missing", ["grouped(accuracy())"], rows([1, 0])),
        case("params-seed", "the reference knows no seed", ["bootstrap_stderr(seed=7)"], rows([1, 0]), verdict="seed"),
        case("metric-bare-name", "a bare name is a call without arguments", ["accuracy", "stderr"], rows([1, 0])),
    ]


def maps():
    data = [{"alpha": 1, "beta": 0.5, "alto": "C"}, {"alpha": 0, "beta": 0.25, "alto": "I"}, {"alpha": 1, "beta": 1.0, "alto": "P"}]
    all_metrics = ["mean()", "stderr()"]
    out = []
    patterns = ["alpha", "al*", "*", "?eta", "[ab]*", "[!a]*", "a*a", "*a", "ALPHA", "al", "", "**", "alp?a", "[a-b]eta", "[", "alpha[", "al{pha,to}", "\\*", "a*t*"]
    for i, pattern in enumerate(patterns):
        out.append(case(f"map-pattern-{i:02d}", f"pattern {pattern!r}", {pattern: all_metrics}, rows(data)))
    out += [
        case("map-two-patterns", "two patterns", {"al*": ["mean()"], "beta": ["std()"]}, rows(data)),
        case("map-overlap", "two patterns match one key: a metric is applied once", {"al*": ["mean()"], "alpha": ["mean()", "std()"]}, rows(data)),
        case("map-overlap-reversed", "literal first", {"alpha": ["mean()", "std()"], "al*": ["mean()", "var()"]}, rows(data)),
        case("map-overlap-arguments", "same name, other arguments", {"alpha": ["ci(0.9)"], "al*": ["ci(0.8)"]}, rows(data)),
        case("map-pattern-order", "pattern order, then key order", {"beta": ["mean()"], "*": ["mean()"]}, rows(data)),
        case("map-same-metric-twice", "one metric twice under a pattern", {"alpha": ["mean()", "mean()"]}, rows(data)),
        case("map-same-metric-arguments", "one metric twice with other arguments", {"alpha": ["ci(0.9)", "ci(0.8)"]}, rows(data)),
        case("map-of-map-metric", "a metric that returns a map", {"alpha": ["ci()", "conf_map()"]}, rows(data), verdict="null-entry"),
        case("map-of-list-metric", "a metric that returns a list", {"alpha": ["conf_list()"]}, rows(data), verdict="null-entry"),
        case("map-of-grouped", "a grouped metric", {"alpha": ["grouped(mean(), 'g')"]}, rows(data, "g", ["x", "y", "x"])),
        case("map-of-cluster", "a clustered metric", {"alpha": ["stderr(cluster='g')"]}, rows(data, "g", ["x", "y", "x"])),
        case("map-of-frequency", "frequency by key", {"alto": ["frequency()"]}, rows(data)),
        case("map-of-frequency-and-mean", "both views by key", {"alto": ["frequency()", "mean()"]}, epochs([[{"alto": "C"}, {"alto": "I"}], [{"alto": "C"}, {"alto": "C"}]])),
        case("map-no-match", "a pattern that matches nothing", {"zeta": ["mean()"]}, rows(data)),
        case("map-one-no-match", "one pattern of two matches", {"zeta": ["mean()"], "beta": ["mean()"]}, rows(data)),
        case("map-list-and-map", "a list with a map in it", ["conf_count()", {"al*": ["mean()"]}], rows(data)),
        case("map-map-then-list", "the plain block comes first all the same", [{"al*": ["mean()"]}, "conf_count()"], rows(data)),
        case("map-two-maps", "two maps in a list", [{"al*": ["mean()"]}, {"beta": ["std()"]}], rows(data)),
        case("map-two-maps-one-key", "two maps that match one key", [{"alpha": ["mean()"]}, {"alpha": ["std()"]}], rows(data)),
        case("map-only-map-in-list", "a list that holds only a map", [{"beta": ["mean()"]}], rows(data)),
        case("map-list-with-convert", "a converting metric over maps in the plain block", ["mean()", {"beta": ["mean()"]}], rows(data)),
        case("map-scalar-score", "map metrics over scalar scores", {"alpha": ["mean()"]}, rows([1, 0])),
        case("map-list-score", "map metrics over list scores", {"alpha": ["mean()"]}, rows([[1], [0]])),
        case("map-scalar-later", "a scalar among maps", {"alpha": ["mean()"]}, rows([{"alpha": 1}, 1])),
        case("map-scalar-first", "a scalar before the maps", {"alpha": ["mean()"]}, rows([1, {"alpha": 1}])),
        case("map-text-later", "a text among maps", {"alpha": ["mean()"]}, rows([{"alpha": 1}, "C"])),
        case("map-key-absent-later", "a matched key absent later", {"alpha": ["mean()"]}, rows([{"alpha": 1}, {"beta": 1}])),
        case("map-key-only-later", "a key that only later maps have", {"*": ["mean()"]}, rows([{"alpha": 1}, {"alpha": 0, "beta": 1}])),
        case("map-unscored-first", "the first map-valued score sets the keys", {"*": ["mean()", "conf_count()"]}, rows([NAN, {"alpha": 1}, {"alpha": 0}])),
        case("map-unscored-some", "unscored among maps", {"alpha": ["mean()"]}, rows([{"alpha": 1}, NAN])),
        case("map-all-unscored", "the patterns name the blocks", {"al*": ["mean()"], "beta": ["ci()"]}, rows([NAN, NAN])),
        case("map-no-sample", "the patterns name the blocks", {"al*": ["mean()"], "beta": ["ci()"]}, []),
        case("map-nan-leaf", "NaN under a key is unscored for its block", {"*": ["mean()", "conf_count()"]}, rows([{"a": NAN, "b": 1}, {"a": 1, "b": 0}])),
        case("map-nan-leaf-all", "NaN everywhere under a key", {"*": ["mean()", "ci()"]}, rows([{"a": NAN, "b": 1}, {"a": NAN, "b": 0}])),
        case("map-null-leaf", "null under a key", {"*": ["mean()", "conf_count()"]}, rows([{"a": None, "b": 1}, {"a": 1, "b": 0}])),
        case("map-null-leaf-unreduced", "null under a key, unreduced", {"*": ["mean()"]}, rows([{"a": None, "b": 1}, {"a": 1, "b": 0}]), reducers=[]),
        case("map-null-leaf-mode", "null under a key, mode", {"*": ["mean()"]}, rows([{"a": None, "b": 1}, {"a": 1, "b": 0}]), reducers=["mode"]),
        case("map-nan-leaf-unreduced", "NaN under a key, unreduced", {"*": ["mean()", "conf_count()"]}, rows([{"a": NAN, "b": 1}, {"a": 1, "b": 0}]), reducers=[]),
        case("map-unreduced", "no reduction", {"al*": ["mean()"]}, rows(data), reducers=[]),
        case("map-epochs", "reduced key by key", {"*": ["mean()", "stderr()"]}, epochs([[{"a": 1, "b": 0}, {"a": 0, "b": 0}], [{"a": 1, "b": 1}, {"a": 1, "b": 0}]])),
        case("map-epochs-two-reducers", "per reducer", {"*": ["mean()"]}, epochs([[{"a": 1, "b": 0}, {"a": 0, "b": 0}], [{"a": 1, "b": 1}, {"a": 1, "b": 0}]]), reducers=["mean", "max"]),
        case("map-epochs-keys-differ", "keys differ across epochs", {"*": ["mean()"]}, epochs([[{"a": 1}, {"b": 1}]])),
        case("map-empty-map", "an empty map", {"*": ["mean()"]}, rows([{}, {}])),
        case("map-views", "reduced and unreduced metrics by key", {"a": ["conf_reduced()", "conf_unreduced()", "conf_count()"]}, epochs([[{"a": 1}, {"a": 0}], [{"a": 1}, {"a": 1}]])),
        case("map-views-patterns", "one pattern reduced, one unreduced", {"a": ["conf_reduced()"], "b": ["conf_unreduced()"]}, epochs([[{"a": 1, "b": 1}, {"a": 0, "b": 1}]])),
        case("map-scalar-in-list", "map metrics in a list over scalars", ["mean()", {"a": ["mean()"]}], rows([1, 0])),
        case("map-task-override", "task metrics as a map", ["accuracy()"], rows(data), task={"beta": ["mean()"]}),
        case("map-key-odd", "keys with blanks, stars and brackets", {"*": ["mean()"]}, rows([{"a b": 1, "*": 0, "[x]": 1, "": 0}])),
        case("map-literal-star", "a bracketed star is literal", {"[*]": ["mean()"]}, rows([{"a b": 1, "*": 0, "[x]": 1}])),
        case("map-literal-brackets", "a key that looks like a class", {"[x]": ["mean()"]}, rows([{"[x]": 1, "x": 0}])),
        case("map-collide-entries", "entries of a map metric collide with a metric", {"a": ["conf_map()", "conf_map()"]}, rows([{"a": 1}]), verdict="null-entry"),
        case("map-inf-leaf", "an infinite leaf", {"a": ["mean()"]}, rows([{"a": INF}, {"a": 1.0}]), reducers=[], verdict="infinite"),
        case("map-text-leaf-mean", "grades under keys", {"*": ["accuracy()", "frequency()"]}, rows(data), reducers=[]),
    ]
    return out


def wants():
    out = []
    table = [[1, 0, 1], [1, 1, 1], [0, NAN, 1]]
    combos = {
        "auto": ["conf_count()"], "reduced": ["conf_reduced()"], "unreduced": ["conf_unreduced()"],
        "auto-reduced": ["conf_count()", "conf_reduced()"], "auto-unreduced": ["conf_count()", "conf_unreduced()"],
        "unreduced-auto": ["conf_unreduced()", "conf_count()"], "reduced-unreduced": ["conf_reduced()", "conf_unreduced()"],
        "all": ["conf_unreduced()", "conf_count()", "conf_reduced()", "mean()"],
        "in-map": ["conf_count()", {"*": ["conf_unreduced()"]}], "grouped-unreduced": ["grouped(conf_unreduced(), 'g')", "mean()"],
        "grouped-reduced": ["grouped(conf_reduced(), 'g')", "conf_unreduced()"], "frequency-mean": ["frequency()", "mean()"],
    }
    plans = {"default": None, "none": [], "mean": ["mean"], "two": ["mean", "max"], "mode": ["mode"]}
    for (label, specs), (plan, given) in itertools.product(combos.items(), plans.items()):
        source = table if label != "in-map" else [[{"a": 1}, {"a": 0}], [{"a": 1}, {"a": 1}]]
        out.append(case(f"wants-{label}-{plan}", f"which scores a metric sees: {label}, reducers {plan}", specs,
                        epochs(source, "g", ["x", "y", "x"]), reducers=given))
    out += [
        case("wants-reduced-none-single", "no reduction is fine when ids do not repeat", ["conf_reduced()"], rows([1, 0]), reducers=[]),
        case("wants-reduced-none-repeat", "no reduction and ids repeat", ["conf_reduced()"], epochs([[1, 0]]), reducers=[]),
        case("wants-two-scorers", "each scorer by itself", None,
             [sample(1, e, {"s": 1, "t": 0}) for e in (1, 2)],
             scorers=[{"name": "s", "metrics": ["conf_count()"]}, {"name": "t", "metrics": ["conf_count()", "conf_unreduced()"]}]),
    ]
    return out


def scorers():
    def two(**metrics):
        return [{"name": name.rstrip("_"), "metrics": specs} for name, specs in metrics.items()]

    rows2 = [sample(1, 1, {"s": 1, "t": "C"}), sample(2, 1, {"s": 0, "t": "I"}), sample(3, 1, {"s": 1, "t": "P"})]
    same = [{"name": "s", "metrics": ["accuracy()"]}, {"name": "s", "metrics": ["mean()"]}]
    return [
        case("scorers-two", "two scorers", None, rows2, scorers=two(s=["mean()"], t=["accuracy()", "stderr()"])),
        case("scorers-order", "in the order declared", None, rows2, scorers=two(t=["mean()"], s=["mean()"])),
        case("scorers-same-name", "two of one name: s and s1", None, [sample(1, 1, {"s": 1, "s1": 0}), sample(2, 1, {"s": 1, "s1": 1})], scorers=same),
        case("scorers-same-name-thrice", "three of one name", None, [sample(1, 1, {"s": 1, "s1": 0, "s2": 0.5})], scorers=[*same, {"name": "s", "metrics": ["std()", "mean()"]}]),
        case("scorers-same-name-taken", "a third scorer is already named s1", None, [sample(1, 1, {"s": 1, "s1": 0, "s2": 0.5})], scorers=[*same, {"name": "s1", "metrics": ["std()", "mean()"]}]),
        case("scorers-same-name-taken-first", "s1 declared first", None, [sample(1, 1, {"s": 1, "s1": 0, "s2": 0.5})], scorers=[{"name": "s1", "metrics": ["conf_count()"]}, *same]),
        case("scorers-undeclared", "scores of a scorer that is not declared", None, rows2, scorers=two(s=["mean()"])),
        case("scorers-undeclared-task", "the same with task metrics", None, rows2, scorers=two(s=["mean()"]), task=["std()"]),
        case("scorers-task-metrics", "task metrics replace every scorer's own", None, rows2, scorers=two(s=["mean()"], t=["accuracy()"]), task=["std()", "conf_count()"]),
        *[
            case(f"scorers-unrecorded-{slug(name)}", "a built-in scorer that is not recorded brings its own metrics", None,
                 [sample(1, 1, {name: 1}), sample(2, 1, {name: 0})], scorers=[])
            for name in ("match", "includes", "pattern", "answer", "exact", "f1", "choice", "math", "model_graded_qa", "model_graded_fact",
                         "perplexity", "target_perplexity", "inspect_ai/match", "someone/else")
        ],
        case("scorers-unrecorded-order", "unrecorded ones come after the recorded, in order of appearance", None,
             [sample(1, 1, {"z": 1, "s": 1}), sample(2, 1, {"s": 0, "a": 1, "z": 0})], scorers=two(s=["mean()"])),
        case("scorers-unrecorded-task", "unrecorded with task metrics", None,
             [sample(1, 1, {"z": 1, "f1": 1}), sample(2, 1, {"z": 0, "f1": 1})], scorers=[], task=["std()"]),
        case("scorers-unrecorded-map", "an unrecorded scorer of map scores", None, [sample(1, 1, {"z": {"a": 1}})], scorers=[]),
        case("scorers-task-metrics-empty", "an empty list of task metrics", None, rows2, scorers=two(s=["mean()"], t=["accuracy()"]), task=[]),
        case("scorers-task-metrics-map", "a list with a map as task metrics", None, [sample(1, 1, {"s": {"a": 1}, "t": {"a": 0}})], scorers=two(s=["mean()"], t=["mean()"]), task=["conf_count()", {"a": ["mean()"]}]),
        case("scorers-one-fails", "one scorer's metric fails", None, rows2, scorers=two(s=["mean()"], t=["grouped(accuracy(), 'nope')"]), verdict="one-fails"),
        case("scorers-shapes", "a scalar and a map scorer", None, [sample(1, 1, {"s": 1, "t": {"a": 1}}), sample(2, 1, {"s": 0, "t": {"a": 0}})], scorers=two(s=["mean()"], t={"a": ["mean()"]})),
        case("scorers-reducers", "reducers apply to each", None, [sample(1, e, {"s": e % 2, "t": "C"}) for e in (1, 2, 3)], scorers=two(s=["mean()"], t=["mean()"]), reducers=["mode", "max"]),
        case("scorers-views", "one scorer with an unreduced metric", None, [sample(1, e, {"s": e % 2, "t": "C"}) for e in (1, 2, 3)], scorers=two(s=["mean()"], t=["frequency()"])),
        case("scorers-qualified-name", "a package in the scorer's name", None, [sample(1, 1, {"pkg/s": 1})], scorers=[{"name": "pkg/s", "metrics": ["mean()"]}]),
        case("headline-first", "the first metric of the first block", ["stderr()", "accuracy()"], rows([1, 0])),
        case("headline-map", "the first entry of a map", ["grouped(accuracy(), 'g')", "accuracy()"], rows([1, 0], "g", ["a", "b"])),
        case("headline-no-metrics", "no metric in the first block", [{"a": ["mean()"]}], rows([{"a": 1}])),
        case("headline-unreduced-first", "an unreduced metric declared first", ["frequency()", "accuracy()"], rows(["C", "I"])),
        case("headline-second-scorer", "the first scorer has no metric", None, rows2, scorers=two(s=[], t=["mean()"])),
        case("headline-nan", "a NaN headline", ["accuracy()"], rows([NAN])),
        case("headline-reducer", "with a named reducer", ["accuracy()"], rows([1]), reducers=["max", "mean"]),
        case("ids-text", "ids are text: 1 and 01 differ", ["conf_count()"], [sample("1", 1, {"s": 1}), sample("01", 1, {"s": 0})]),
        case("ids-repeat", "an id twice in one epoch counts as two epochs", ["conf_count()"], [sample("1", 1, {"s": 1}), sample("1", 1, {"s": 0})], verdict="duplicate"),
        case("ids-order", "reductions keep the order of first appearance", ["conf_count()"], [sample(i, e, {"s": 1}) for e in (1, 2) for i in ("b", "a", "c")]),
        case("ids-order-epoch-two-new", "a sample that appears only in epoch 2", ["conf_count()"], [sample("b", 1, {"s": 1}), sample("a", 2, {"s": 0}), sample("b", 2, {"s": 1})]),
        case("ids-empty", "an empty id", ["conf_count()"], [sample("", 1, {"s": 1}), sample("", 2, {"s": 0}), sample("a", 1, {"s": 1})]),
    ]


def headline():
    """Which metric stands for the whole; `headline` is what the task asked for."""
    wishes = {
        "none-given": None, "empty": {}, "metric": {"metric": "stderr"}, "metric-in-group": {"metric": "all"}, "metric-unknown": {"metric": "nope"},
        "metric-of-second": {"metric": "std"}, "scorer": {"scorer": "t"}, "scorer-unknown": {"scorer": "zz"}, "score": {"score": "t"},
        "score-of-map": {"score": "a"}, "scorer-of-map": {"scorer": "u"}, "scorer-and-metric": {"scorer": "t", "metric": "std"},
        "scorer-and-wrong-metric": {"scorer": "s", "metric": "std"}, "reducer": {"reducer": "max"}, "reducer-unknown": {"reducer": "zz"},
        "reducer-and-metric": {"metric": "stderr", "reducer": "max"}, "numbered": {"metric": "stderr2"},
    }
    scorers = [
        {"name": "s", "metrics": ["accuracy()", "stderr()", "stderr()", "grouped(mean(), 'g')"]},
        {"name": "t", "metrics": ["std()"]},
        {"name": "u", "metrics": {"*": ["mean()"]}},
    ]
    samples = [sample(i, e, {"s": e % 2, "t": i, "u": {"a": 1, "b": i}}, {"g": "x"}) for e in (1, 2) for i in (1, 2)]
    out = []
    for (label, wish), (plan, reducers) in itertools.product(wishes.items(), {"default": None, "two": ["mean", "max"]}.items()):
        out.append(case(f"headline-{label}-{plan}", f"asked for: {label}", None, samples, scorers=scorers, reducers=reducers, headline=wish))
    out += [
        case("headline-unreduced-metric", "a metric of the unreduced block", ["frequency()", "accuracy()"], epochs([["C", "I"]]), headline={"metric": "I"}),
        case("headline-unreduced-and-reducer", "a reduced metric by reducer", ["frequency()", "accuracy()"], epochs([["C", "I"]]), headline={"reducer": "mean"}),
        case("headline-empty-first-block", "the first block has no metric", [{"a": ["mean()"]}], rows([{"a": 1}]), headline={"metric": "mean"}),
        case("headline-nothing", "nothing to show", [], rows([1]), headline={"metric": "mean"}),
    ]
    return out


def conversion():
    """Conversions as arguments, over values the default would read otherwise."""
    conversions = {
        "default": "value_to_float()",
        "graded": GRADED,
        "swapped": "value_to_float(correct='I', incorrect='C')",
        "numbers": "value_to_float(correct=2, incorrect=1, partial=3, noanswer=4)",
        "zero-correct": "value_to_float(correct=0, incorrect=1)",
        "one-name": "value_to_float(correct='C', incorrect='C')",
        "bools": "value_to_float(correct=False, incorrect=True)",
        "floats": "value_to_float(correct=0.5, partial=0.25)",
        "lowercase": "value_to_float(correct='c', incorrect='i')",
        "positional": "value_to_float('yes', 'no')",
        "yes-is-wrong": "value_to_float(incorrect='yes', correct='no')",
    }
    values = ["C", "I", "P", "N", "yes", "no", "maybe", "skip", "c", 0, 1, 2, 3, 4, 0.5, 0.25, True, False, "0.5", "2", "x"]
    out = []
    for label, spec in conversions.items():
        for metric in ("accuracy", "mean", "std", "stderr", "var"):
            out.append(case(f"convert-{label}-{metric}", f"conversion: {label}", [f"{metric}(to_float={spec})"], rows(values), reducers=[]))
        out.append(case(f"convert-{label}-reducer", f"conversion in a reducer: {label}", ["mean()"], rows(values), reducers=[f"mean(value_to_float={spec})"]))
        out.append(case(f"convert-{label}-ci", f"conversion in an interval: {label}", [f"ci(to_float={spec})"], rows(values), reducers=[]))
        out.append(case(f"convert-{label}-wilson", f"conversion in an interval: {label}", [f"ci_wilson(to_float={spec})"], rows(["C", "I", "yes", "no", "x"]), reducers=[]))
    out += [
        case("convert-after-default-reducer", "the default reducer has converted already", [f"accuracy({GRADED})"], rows(["yes", "no", "maybe"])),
        case("convert-list-value", "a list does not convert", ["mean()"], rows([[1, 0], 1]), reducers=[]),
        case("convert-map-value", "a map does not convert", ["mean()"], rows([{"a": 1}, 1]), reducers=[]),
        case("convert-list-value-reduced", "lists reduced, then the metric", ["mean()"], rows([[1, 0], [1, 1]])),
        case("convert-accuracy-warns", "what does not convert counts as 0", ["accuracy()"], rows(["x", "y", 1]), reducers=[]),
        case("convert-unknown-argument", "an argument it does not take", ["mean(to_float=value_to_float(right='C'))"], rows([1])),
        case("convert-null-to-float", "to_float=None", ["mean(to_float=None)"], rows([1]), verdict="null-conversion"),
    ]
    return out


def all_themes():
    """(file, what it is about, cases)"""
    return [
        ("metrics-basic", "accuracy, mean, var, std, stderr, ci and ci_wilson over every value type", metrics_basic()),
        ("infinite", "infinite scores", infinite()),
        ("clustered", "clustered standard errors and intervals", clustered()),
        ("ranges", "levels and values out of range", wilson_range()),
        ("bootstrap", "random figures", bootstrap()),
        ("grouped", "metrics by group", grouped()),
        ("aggregate", "one field of map scores", aggregate()),
        ("frequency", "shares and counts of values", frequency()),
        ("krippendorff", "agreement of raters", krippendorff()),
        ("perplexity", "perplexity from score metadata", perplexity()),
        ("conversion", "configured conversions", conversion()),
        ("reducers", "every reducer over every kind of epochs", reducers()),
        ("reducer-errors", "epochs that do not fit together", reducer_errors()),
        ("reducer-options", "k, thresholds, names and lists of reducers", reducer_options()),
        ("reducer-fields", "answer, explanation, reason and metadata across epochs", reducer_fields()),
        ("majority", "the majority reducer and its panel", majority()),
        ("unscored", "NaN at the root", unscored()),
        ("missing", "samples without a score", missing()),
        ("empty", "nothing to compute from", empty()),
        ("naming", "keys, names, groups and recorded arguments", naming()),
        ("maps", "metrics by key of map scores", maps()),
        ("wants", "reduced and unreduced metrics", wants()),
        ("scorers", "several scorers, task metrics, ids", scorers()),
        ("headline", "which metric stands for the whole", headline()),
    ]


def verdicts():
    """The tags of the cases on which we and the reference part; README.md has a paragraph for each."""
    return {case["verdict"] for _, _, cases in all_themes() for case in cases if "verdict" in case}
