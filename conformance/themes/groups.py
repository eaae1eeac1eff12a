"""Metrics over other metrics: by group of samples, and of one field of map scores."""

from .build import GRADED, INF, MISSING, NAN, S, case, epochs, rows, sample, slug


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
