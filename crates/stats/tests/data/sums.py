"""Makes sums.json: sums, means and variances of awkward data in exact rational arithmetic, for stats_exact.rs.

Run with mpmath:  python sums.py > sums.json

Numbers are written so that they read back as the same f64. `float(Fraction)` rounds correctly, half to even.
"""

import json
import math
import random
from fractions import Fraction

import mpmath

mpmath.mp.prec = 20_000  # Enough for any sum here to be exact before the root is taken.


def rounded(exact):
    """The nearest f64 of a Fraction, infinite beyond the largest."""
    try:
        return float(exact)
    except OverflowError:
        return math.inf if exact > 0 else -math.inf


def root(exact):
    return float(mpmath.sqrt(mpmath.mpf(exact.numerator) / exact.denominator))


def case(name, values):
    exact = [Fraction(x) for x in values]
    n, total = len(exact), sum(exact)
    scatter = n * sum(x * x for x in exact) - total * total
    high = rounded(total)
    low = rounded(total - Fraction(high)) if math.isfinite(high) else 0.0
    variance = scatter / (n * (n - 1))
    figures = {"sum": high, "rest": low, "mean": rounded(total / n), "variance": rounded(variance), "std": root(variance), "stderr": root(variance / n)}
    return {"name": name, "values": [repr(x) for x in values], **{key: repr(x) for key, x in figures.items()}}


def wild(generator, low, high):
    return math.ldexp(generator.uniform(-1, 1), generator.randint(low, high))


def main():
    generator = random.Random(20250101)
    tiny, huge = 5e-324, 1.7976931348623157e308
    cases = [
        case("neumaier", [1.0, 1e100, 1.0, -1e100]),
        case("ten tenths", [0.1] * 10),
        case("three tenths", [0.1, 0.2, 0.3]),
        case("half to even, down", [2.0**53, 1.0]),
        case("half to even, up", [2.0**53 + 2, 1.0]),
        case("half and a little", [2.0**53, 1.0, tiny]),
        case("half less a little", [2.0**53 + 2, 1.0, -tiny]),
        case("subnormals", [tiny, tiny, -3 * tiny, 2.0**-1022]),
        case("sum beyond the largest", [huge, huge, huge]),
        case("beyond and back", [huge, huge, -huge, 1.0]),
        case("half a step beyond the largest", [huge, 2.0**969, 2.0**969]),
        case("just below half a step", [huge, 2.0**969, 2.0**968]),
        case("squares beyond the largest", [1e200, -1e200, 3e199]),
        case("squares below the smallest", [1e-200, -1e-200, 3e-199]),
        case("offset", [1e15 + x for x in (1.0, 2.0, 4.0)]),
        case("cancels to nothing", [1e300, 1e-300, -1e300, -1e-300]),
        case("negative", [-0.1, -0.2, -0.7, -1e-20]),
        case("scores", [round(generator.random(), 2) for _ in range(40)]),
    ]
    for low, high in [(-10, 10), (-60, 60), (-1074, -1000), (960, 1023), (-1074, 1023), (-1074, 1023)]:
        cases.append(case(f"wild {low} to {high}", [wild(generator, low, high) for _ in range(20)]))
    print("[\n " + ",\n ".join(map(json.dumps, cases)) + "\n]")


if __name__ == "__main__":
    main()
