"""Metrics that compare values: shares of values and agreement of raters."""

import itertools
import random

from .build import GRADED, INF, MIXES, NAN, case, epochs, rows


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
        case("frequency-category-text", "a string in place of a list", ["frequency(categories='abc')"], rows(["a", "b"]), verdict="frequency"),
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
        apart = label == "inf-rating" or label in ("nan-rating", "all-nan") and level != "interval"
        verdict = "alpha-non-finite" if apart else None
        out.append(case(f"alpha-{label}-{level}", f"ratings: {label}", [f"krippendorff_alpha(level='{level}')"], rows(units), reducers=[], verdict=verdict))
    for level in ("nominal", "ordinal", "interval"):
        out.append(case(f"alpha-to-float-{level}", "with the default conversion", [f"krippendorff_alpha('{level}', value_to_float())"], rows(tables["grades"]), reducers=[]))
        out.append(case(f"alpha-to-float-text-{level}", "text that does not convert", [f"krippendorff_alpha(level='{level}', to_float=value_to_float())"], rows([["x", "y"], ["x", "x"]]), reducers=[]))
        out.append(case(f"alpha-to-float-graded-{level}", "with configured grades", [f"krippendorff_alpha(level='{level}', to_float={GRADED})"],
                        rows([["yes", "no"], ["maybe", "maybe"], ["skip", "no"]]), reducers=[]))
        out.append(case(f"alpha-collect-{level}", "after collect", [f"krippendorff_alpha('{level}')"], epochs([[1, 1, 2], [2, 2, 2], [3, NAN, 1]]), reducers=["collect"]))
        out.append(case(f"alpha-default-reducer-{level}", "lists through the default mean reducer", [f"krippendorff_alpha('{level}')"], rows(tables["numbers"])))
    out.append(case("alpha-level-unknown", "an unknown level", ["krippendorff_alpha(level='rank')"], rows(tables["numbers"]), reducers=[]))
    out.append(case("alpha-default", "no argument", ["krippendorff_alpha()"], rows(tables["some"]), reducers=[]))
    rng = random.Random(3)
    for n, raters in ((8, 2), (15, 3), (30, 4)):
        units = [[rng.randint(1, 5) for _ in range(rng.randint(1, raters))] for _ in range(n)]
        out.append(case(f"alpha-random-{n}", f"{n} random units", [f"krippendorff_alpha('{level}')" for level in ("nominal", "ordinal", "interval")], rows(units), reducers=[]))
    return out
