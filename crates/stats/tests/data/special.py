"""Makes special.json: values of distribution functions to 20 digits, for stats_special.rs.

Run with mpmath and scipy (scipy only for starting points):  python special.py > special.json

Every argument is an f64 and the value is taken at exactly that number. The incomplete beta function is the sum of
positive terms (DLMF 8.17.8) or, where that converges slowly, a continued fraction, on the side of the mean where both
converge, with 50 digits; single rows are checked against mpmath's own `betainc`, and the noncentral t against its
series.
"""

import json
import sys

import mpmath as mp
from scipy import stats as start

mp.mp.dps = 50
SMALLEST = mp.mpf("1e-300")


def text(value):
    return mp.nstr(value, 20, min_fixed=0, max_fixed=0)


def beta_lower(x, y, a, b):
    """I_x(a, b) for x at most about the mean; y = 1 - x."""
    ln_front = a * mp.log(x) + b * mp.log(y) + mp.loggamma(a + b) - mp.loggamma(a + 1) - mp.loggamma(b)
    if (a + b) * x < (a + 1) * 0.9:
        return mp.exp(ln_front) * series(x, a, b)
    return mp.exp(ln_front) * fraction(x, a, b)


def series(x, a, b):
    """Sum of positive terms, DLMF 8.17.8."""
    total = term = mp.mpf(1)
    k = 0
    while term > total * mp.mpf(10) ** -34:
        term *= (a + b + k) / (a + 1 + k) * x
        total += term
        k += 1
    return total


def fraction(x, a, b):
    """The same factor as a continued fraction, DLMF 8.17.22, by the modified Lentz method."""
    value, c, d = mp.mpf(1), mp.mpf(1), mp.mpf(0)
    for m in range(1, 10**6):
        if m % 2:
            k = (m - 1) // 2
            step = -(a + k) * (a + b + k) * x / ((a + 2 * k) * (a + 2 * k + 1))
        else:
            k = m // 2
            step = k * (b - k) * x / ((a + 2 * k - 1) * (a + 2 * k))
        d = 1 / (1 + step * d)
        c = 1 + step / c
        value *= c * d
        if abs(c * d - 1) < mp.mpf(10) ** -34:
            return 1 / value
    raise ArithmeticError(f"no convergence at {x}, {a}, {b}")


def beta_tails(x, a, b):
    """(I_x(a, b), 1 - I_x(a, b)), each to more digits than are written."""
    x, a, b = mp.mpf(x), mp.mpf(a), mp.mpf(b)
    y = 1 - x
    if x * (a + b) <= a:
        lower = beta_lower(x, y, a, b)
        return lower, 1 - lower
    upper = beta_lower(y, x, b, a)
    return 1 - upper, upper


def slow_check(row):
    """How far a row is from the series alone, which always converges."""
    x, a, b = (mp.mpf(float(row[key])) for key in ["x", "a", "b"])
    lower = x * (a + b) <= a
    x, a, b = (x, a, b) if lower else (1 - x, b, a)
    front = mp.exp(a * mp.log(x) + b * mp.log(1 - x) + mp.loggamma(a + b) - mp.loggamma(a + 1) - mp.loggamma(b))
    return abs(front * series(x, a, b) / mp.mpf(row["cdf" if lower else "survival"]) - 1)


def ln_density(x, a, b):
    x, a, b = mp.mpf(x), mp.mpf(a), mp.mpf(b)
    return (a - 1) * mp.log(x) + (b - 1) * mp.log(1 - x) + mp.loggamma(a + b) - mp.loggamma(a) - mp.loggamma(b)


def beta_quantile(p, a, b):
    """Newton's method on the logarithm of the smaller tail, from scipy's quantile."""
    p = mp.mpf(p)
    lower_tail = p <= 0.5
    target = p if lower_tail else 1 - p
    x = mp.mpf(float(start.beta.ppf(float(p), float(a), float(b))))
    if x <= 0:
        return mp.mpf(0)
    if x >= 1:
        x = 1 - mp.mpf(2) ** -54
    for _ in range(60):
        tails = beta_tails(x, a, b)
        tail = tails[0] if lower_tail else tails[1]
        step = tail * mp.log(target / tail) / mp.exp(ln_density(x, a, b))
        new = x + (step if lower_tail else -step)
        new = min(max(new, x / 4), 1 - (1 - x) / 4)
        done = abs(new - x) < x * mp.mpf(10) ** -16
        x = new
        if done:
            return x
    raise ArithmeticError(f"no convergence at {p}, {a}, {b}")


SHAPES = [0.5, 1.0, 1.5, 2.0, 3.7, 10.0, 29.5, 100.0, 1000.5, 1e4, 123456.5, 1e6]


def beta_rows():
    """At quantiles of each pair of parameters, and at decimal points."""
    cdf, quantile = [], []
    for i, a in enumerate(SHAPES):
        for j, b in enumerate(SHAPES):
            probabilities = [[1e-10, 0.025, 0.6, 1 - 1e-6], [1e-4, 0.3, 0.975, 1 - 1e-10]][(i + j) % 2]
            for p in probabilities:
                x = beta_quantile(p, a, b)
                if x < SMALLEST:
                    continue
                quantile.append({"p": repr(p), "a": repr(a), "b": repr(b), "value": text(x)})
                point = float(x)
                if 0.0 < point < 1.0:
                    lower, upper = beta_tails(point, a, b)
                    cdf.append({"x": repr(point), "a": repr(a), "b": repr(b), "cdf": text(lower), "survival": text(upper)})
            # Far tails, on either side: multiples of the mean's odds.
            mean = a / (a + b)
            for factor in [0.02, 0.3, 0.8, 1.3, 3.0, 40.0]:
                odds = factor * mean / (1 - mean)
                point = odds / (1 + odds)
                if not 0.0 < point < 1.0 or (i + j + int(factor * 10)) % 2:
                    continue
                lower, upper = beta_tails(point, a, b)
                if lower > SMALLEST and upper > SMALLEST:
                    cdf.append({"x": repr(point), "a": repr(a), "b": repr(b), "cdf": text(lower), "survival": text(upper)})
    # An independent check of rows with moderate parameters.
    for row in cdf[::23]:
        a, b = float(row["a"]), float(row["b"])
        assert a > 2000 or b > 2000 or slow_check(row) < mp.mpf(10) ** -18, row
        if a < 50 and b < 50:
            other = mp.betainc(a, b, 0, mp.mpf(float(row["x"])), regularized=True)
            assert abs(other / mp.mpf(row["cdf"]) - 1) < mp.mpf(10) ** -18, row
    return cdf, quantile


def binomial_rows():
    rows = []
    for n in [1, 2, 10, 37, 100, 1000, 12345, 10**6]:
        for p in [1e-6, 0.003, 0.1, 0.25, 0.5, 0.8, 0.97, 0.9999]:
            spread = (n * p * (1 - p)) ** 0.5
            for sd in [-30.0, -8.0, -2.0, 0.0, 1.0, 5.0, 20.0]:
                k = int(round(n * p + sd * spread))
                if not 0 <= k <= n:
                    continue
                m, q = mp.mpf(p), 1 - mp.mpf(p)
                pmf = mp.exp(mp.loggamma(n + 1) - mp.loggamma(k + 1) - mp.loggamma(n - k + 1) + k * mp.log(m) + (n - k) * mp.log(q))
                survival, cdf = (mp.mpf(0), mp.mpf(1)) if k == n else beta_tails(p, k + 1, n - k)
                row = {"k": k, "n": n, "p": repr(p), "pmf": text(pmf), "cdf": text(cdf), "survival": text(survival)}
                if pmf > SMALLEST and cdf > SMALLEST and (survival > SMALLEST or k == n) and row not in rows:
                    rows.append(row)
    return rows


def t_tails(t, df):
    """(P(T <= -t), P(|T| < t)/2) for t > 0."""
    t, df = mp.mpf(t), mp.mpf(df)
    half = mp.mpf(1) / 2
    x, y = df / (df + t * t), t * t / (df + t * t)
    if x * (df / 2 + half) <= df / 2:
        tail = beta_lower(x, y, df / 2, half) / 2
        return tail, half - tail
    central = beta_lower(y, x, half, df / 2) / 2
    return half - central, central


def t_rows():
    rows = []
    for df in [0.3, 0.5, 1.0, 1.7, 2.0, 3.0, 7.504, 29.0, 99.5, 1e3, 54321.25, 1e6, 1e7]:
        for t in [1e-8, 0.01, 0.3, 0.7, 1.0, 1.5, 1.96, 3.0, 6.4, 12.0, 36.0, 500.0, 1e6, 1e40, 1e150]:
            tail, central = t_tails(t, df)
            if tail > SMALLEST:
                rows.append({"t": repr(t), "df": repr(df), "survival": text(tail), "cdf": text(mp.mpf(1) / 2 + central)})
    return rows


def normal_rows():
    points = [1e-12, 1e-3, 0.1, 0.5, 0.6744897501960817, 1.0, 1.5, 1.959963984540054, 2.5, 4.0, 6.36, 10.0, 20.0, 30.0, 37.0]
    tail = lambda z: mp.erfc(mp.mpf(z) / mp.sqrt(2)) / 2
    return [{"z": repr(z), "survival": text(tail(z)), "cdf": text(tail(-z))} for z in points]


def gamma_rows():
    points = [1e-300, 1e-10, 0.01, 0.15, 0.5, 0.9, 0.999, 1 - 1e-9, 1 + 1e-9, 1.01, 1.2, 1.4616321449683622, 1.5, 1.7,
              1.99, 1.9999999, 2.0000001, 2.1, 2.5, 3.0, 5.5, 7.9, 8.1, 12.3, 33.0, 100.5, 171.6, 1e3, 12345.6, 1e6, 1e9, 1e15, 1e100, 1e300]
    return [{"x": repr(x), "value": text(mp.loggamma(mp.mpf(x)))} for x in points]


def noncentral_by_series(t, df, delta):
    """Johnson, Kotz & Balakrishnan (1995), chapter 31: for t >= 0."""
    t, df, delta = mp.mpf(t), mp.mpf(df), mp.mpf(delta)
    x = t * t / (df + t * t)
    half = delta * delta / 2
    total = mp.mpf(0)
    for j in range(3000):
        weight = mp.exp(-half + j * mp.log(half) - mp.loggamma(j + 1))
        other = delta / mp.sqrt(2) * mp.exp(-half + j * mp.log(half) - mp.loggamma(j + mp.mpf(3) / 2))
        total += weight * mp.betainc(j + 0.5, df / 2, 0, x, regularized=True)
        total += other * mp.betainc(j + 1, df / 2, 0, x, regularized=True)
        if j > half and weight < mp.mpf(10) ** -25:
            break
    return mp.erfc(delta / mp.sqrt(2)) / 2 + total / 2


def noncentral(t, df, delta):
    """The integral of the normal distribution function over the distribution of s/sigma, in ln s."""
    t, df, delta = mp.mpf(t), mp.mpf(df), mp.mpf(delta)
    a = df / 2
    ln_front = a * mp.log(a) - mp.loggamma(a) + mp.log(2)
    f = lambda w: mp.exp(ln_front + df * w - a * mp.exp(2 * w)) * mp.erfc((delta - t * mp.exp(w)) / mp.sqrt(2)) / 2
    # The density of ln s is above 1e-26 of its top only in here.
    sd = 1 / mp.sqrt(2 * df)
    low = -max(12 * sd, 65 / df)
    high = min(12 * sd, mp.mpf(6)) if df > 1 else mp.log(mp.sqrt((130 + df) / df))
    steps = int(40 + 3 * abs(delta) * min(high - low, 4)) + int(min(65 / df, 200))
    return mp.quad(f, mp.linspace(low, high, steps))


def noncentral_rows():
    rows = []
    for df in [0.3, 1.0, 2.5, 9.0, 37.3, 400.0, 1e4, 1e7]:
        for delta in [-3.0, -0.5, 0.0, 0.8, 2.802, 6.0, 15.0, 37.5, 80.0]:
            for shift in [-2.5, -0.6, 0.0, 1.1, 4.0]:
                t = delta + shift * (1 + delta * delta / 2 / df) ** 0.5
                rows.append({"t": repr(t), "df": repr(df), "delta": repr(delta), "cdf": text(noncentral(t, df, delta))})
    for row in rows[5::31]:
        t, df, delta = (float(row[key]) for key in ["t", "df", "delta"])
        if t >= 0 and abs(delta) < 7 and df < 100:
            assert abs(noncentral_by_series(t, df, delta) - mp.mpf(row["cdf"])) < mp.mpf(10) ** -18, row
    return rows


def main():
    cdf, quantile = beta_rows()
    print("beta", len(cdf), len(quantile), file=sys.stderr)
    table = {"beta": cdf, "beta_quantile": quantile, "binomial": binomial_rows(), "t": t_rows(), "normal": normal_rows(), "ln_gamma": gamma_rows()}
    print({name: len(rows) for name, rows in table.items()}, file=sys.stderr)
    mp.mp.dps = 25
    table["noncentral_t"] = noncentral_rows()
    mp.mp.dps = 50
    blocks = [f' {json.dumps(name)}: [\n  ' + ",\n  ".join(map(json.dumps, rows)) + "\n ]" for name, rows in table.items()]
    print("{\n" + ",\n".join(blocks) + "\n}")


if __name__ == "__main__":
    main()
