"""Metrics that convert values to floats: every value type, infinite scores, configured conversions."""

import random

from .build import CONVERTING, GRADED, INF, MIXES, case, epochs, rows, slug


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
