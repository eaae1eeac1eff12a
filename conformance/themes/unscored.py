"""Scores that are not there: unscored, missing, no sample at all."""

from .build import MISSING, NAN, S, case, epochs, rows, sample, slug


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
