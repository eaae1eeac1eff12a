"""What is made of a task: which scores a metric sees, several scorers, the headline."""

import itertools

from .build import NAN, case, epochs, rows, sample, slug


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
    """Which metric stands for the whole; `headline` is what the task requests."""
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
