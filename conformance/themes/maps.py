"""Metrics by key of map scores."""

from .build import INF, NAN, case, epochs, rows


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
        case("map-text-later", "a string among maps", {"alpha": ["mean()"]}, rows([{"alpha": 1}, "C"])),
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
