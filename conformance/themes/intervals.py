"""Clusters, levels and ranges of intervals, and the random figures of the bootstrap."""

import itertools
import random

from .build import GRADED, INF, MISSING, NAN, case, epochs, rows, sample, slug


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
        case("level-nan-less", "level as a string", ["ci(level='0.9')"], rows([1, 0])),
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
