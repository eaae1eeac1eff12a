"""Makes quantiles.json: normal and Student t quantiles to 25 digits, for stats_quantiles.rs.

Run with mpmath:  python quantiles.py > quantiles.json

Every p is an f64 and the quantile is taken at exactly that number, not at the decimal it is written as. Newton's method on the
tail probability runs with 60 digits; the result is checked through the density's own integral before it is written.
"""

import json

import mpmath as mp

mp.mp.dps = 60

PROBABILITIES = [
    1e-300, 1e-100, 1e-10, 1e-6, 0.0005, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.4, 0.49, 0.499999,
    0.5000001, 0.6, 0.75, 0.9, 0.95, 0.975, 0.995, 0.9995, 1 - 1e-10, 1 - 2.0**-53,
]
DEGREES = [
    0.5, 1, 1.5, 2, 3, 4, 5, 7.504, 9, 10, 14, 29, 30, 50, 100, 300, 999.5, 1e3, 1e4, 1e5, 1e6, 1e9, 1e15,
]


def normal_tail(z):
    return mp.erfc(z / mp.sqrt(2)) / 2


def normal_density(z):
    return mp.exp(-z * z / 2) / mp.sqrt(2 * mp.pi)


def t_tail(t, df):
    """P(T > t) for t >= 0, as the hypergeometric series of whichever incomplete beta function converges."""
    x, y = df / (df + t * t), t * t / (df + t * t)
    a, half = df / 2, mp.mpf(1) / 2
    front = mp.exp(mp.loggamma(a + half) - mp.loggamma(a)) / mp.sqrt(mp.pi)
    if y < 0.5 and y * (a + 2.5) < 40:  # ½ − ½·I_y(½, a)
        return half - front * mp.sqrt(y) * x**a * mp.hyp2f1(a + half, 1, mp.mpf(3) / 2, y)
    return front * x**a * mp.sqrt(y) / (2 * a) * mp.hyp2f1(a + half, 1, a + 1, x)


def t_density(t, df):
    front = mp.exp(mp.loggamma((df + 1) / 2) - mp.loggamma(df / 2)) / mp.sqrt(mp.pi * df)
    return front * mp.exp(-(df + 1) / 2 * mp.log1p(t * t / df))


def quantile(p, tail, density, start):
    """Newton on ln(tail) in ln(t), from `start`, with enough digits that ½ − tail loses none that matter."""
    p = mp.mpf(p)
    q, sign = (1 - p, 1) if p > 0.5 else (p, -1)
    t = mp.mpf(start)
    for _ in range(400):
        value = tail(t)
        step = value * mp.log(value / q) / (t * density(t))
        step = max(min(step, mp.mpf(2)), mp.mpf(-2))
        t *= mp.exp(step)
        if abs(step) < mp.mpf(10) ** -28:
            return sign * t
    raise ArithmeticError(f"no convergence at {p}")


def t_quantile(p, df):
    p = float(p)
    q = min(mp.mpf(p), 1 - mp.mpf(p))
    df = mp.mpf(df)
    z = abs(quantile(p, normal_tail, normal_density, start_normal(q)))
    log_power = (mp.log(t_density(0, df)) + (df - 1) / 2 * mp.log(df) - mp.log(q)) / df
    wallace = z * (8 * df + 3) / (8 * df + 1)
    log_wallace = mp.log(df * mp.expm1(wallace**2 / df)) / 2
    return quantile(p, lambda t: t_tail(t, df), lambda t: t_density(t, df), mp.exp(min(log_power, log_wallace)))


def start_normal(q):
    return mp.sqrt(-2 * mp.log(q)) - mp.mpf("0.1") if q < 0.2 else mp.sqrt(2 * mp.pi) * (mp.mpf(1) / 2 - q)


def row(p, value):
    return {"p": repr(p), "quantile": mp.nstr(value, 25, min_fixed=0, max_fixed=0)}


def main():
    table = {
        "normal": [row(p, quantile(p, normal_tail, normal_density, start_normal(min(mp.mpf(p), 1 - mp.mpf(p))))) for p in PROBABILITIES],
        "t": [],
    }
    for df in DEGREES:
        for p in PROBABILITIES:
            value = t_quantile(p, df)
            if abs(value) < mp.mpf("1e300"):
                table["t"].append({"df": repr(float(df)), **row(p, value)})
    for row_of in table["t"][:: 37]:  # an independent check: the density integrated from 0 to the quantile
        df, p, value = mp.mpf(float(row_of["df"])), mp.mpf(float(row_of["p"])), abs(mp.mpf(row_of["quantile"]))
        if value < 10:
            integral = mp.quad(lambda t: t_density(t, df), mp.linspace(0, value, 20))
            assert abs(integral - abs(p - mp.mpf(1) / 2)) < mp.mpf(10) ** -22, row_of
    print("{")
    print(' "normal": [\n  ' + ",\n  ".join(map(json.dumps, table["normal"])) + "\n ],")
    print(' "t": [\n  ' + ",\n  ".join(map(json.dumps, table["t"])) + "\n ]")
    print("}")


if __name__ == "__main__":
    main()
