"""Plans: the power of t tests, McNemar's test and the score test, detectable differences, samples, widths, and variances
from runs."""

from fractions import Fraction
from math import comb, sqrt

import mpmath
import numpy as np
from harness import figure, planned, t_quantile
from scipy import optimize, stats
from statsmodels.stats.power import TTestIndPower, TTestPower
from statsmodels.stats.proportion import power_proportions_2indep, proportion_confint

# statsmodels takes scipy.special.nctdtr, which is right to 1e-7 and gives 1 for 0.99996, and it solves to 1e-6: it is
# here for the definitions. The digits are those of scipy.stats.nct.
STATSMODELS = 1e-7


def cases():
    yield from one_sample()
    yield from two_samples()
    yield from few_degrees_of_freedom()
    yield from normal()
    yield from mcnemar()
    yield from two_shares()
    yield from widths()
    yield from runs()


def option(name, value):
    return [f"--{name}", repr(float(value)) if isinstance(value, float) else str(value)]


def options(**values):
    return [word for name, value in values.items() for word in option(name.replace("_", "-"), value)]


def t_power(shift, df, alpha):
    critical = t_quantile(1 - alpha / 2, df)
    return stats.nct.sf(critical, df, shift) + stats.nct.cdf(-critical, df, shift)


def t_shift(df, alpha, power):
    return optimize.brentq(lambda shift: t_power(shift, df, alpha) - power, 1e-3, 200, xtol=1e-14, rtol=1e-14)


def one_sample():
    """The paired t test, against statsmodels."""
    random = np.random.default_rng(1)
    for number in range(40):
        n, sd = int(random.integers(2, 400)), float(random.uniform(0.1, 3))
        effect, alpha = float(random.uniform(0.05, 1.2)), float(random.choice([0.01, 0.05, 0.1, 0.2]))
        power = TTestPower().power(effect, n, alpha)
        given = options(difference=effect * sd, sd=sd, alpha=alpha)
        yield planned(
            f"t power {number}",
            given + options(samples=n),
            *([] if power == 1 else [figure("power", power, tolerance=STATSMODELS)]),
            figure("power", t_power(effect * sqrt(n), n - 1, alpha)),
        )
        wanted = float(random.uniform(0.3, 0.95))
        needed = TTestPower().solve_power(effect, None, alpha, wanted)
        # As an integer number of at least two; not where the next one is a matter of rounding.
        if needed > 2.01 and abs(needed - round(needed)) > 1e-6:
            yield planned(
                f"t samples {number}", given + options(power=wanted), figure("samples", np.ceil(needed))
            )
        yield planned(
            f"t difference {number}",
            options(samples=n, sd=sd, alpha=alpha, power=wanted),
            figure("difference", t_shift(n - 1, alpha, wanted) * sd / sqrt(n)),
        )


def two_samples():
    """The unpaired t test with as many samples on both sides, against statsmodels."""
    random = np.random.default_rng(2)
    for number in range(30):
        n, sd = int(random.integers(2, 300)), float(random.uniform(0.1, 3))
        effect, alpha = float(random.uniform(0.05, 1.2)), float(random.choice([0.01, 0.05, 0.1, 0.2]))
        power = TTestIndPower().power(effect, n, alpha)
        given = options(difference=effect * sd, sd=sd, alpha=alpha) + ["--unpaired"]
        yield planned(
            f"unpaired t power {number}",
            given + options(samples=n),
            *([] if power == 1 else [figure("power", power, tolerance=STATSMODELS)]),
            figure("power", t_power(effect * sqrt(n / 2), 2 * n - 2, alpha)),
        )
        wanted = float(random.uniform(0.3, 0.95))
        needed = TTestIndPower().solve_power(effect, None, alpha, wanted)
        if needed > 2.01 and abs(needed - round(needed)) > 1e-6:
            yield planned(
                f"unpaired t samples {number}", given + options(power=wanted), figure("samples", np.ceil(needed))
            )


def exact_t_power(shift, df, alpha):
    """By quadrature over the distribution of the standard error, to 20 digits."""
    with mpmath.workdps(30):
        shift, half = mpmath.mpf(shift), mpmath.mpf(df) / 2

        def tail(t):
            return mpmath.betainc(half, mpmath.mpf(1) / 2, 0, df / (df + t * t), regularized=True)

        critical = mpmath.findroot(lambda t: tail(t) - mpmath.mpf(alpha), t_quantile(1 - alpha / 2, df))

        def density(s):
            return 2 * half**half / mpmath.gamma(half) * s ** (df - 1) * mpmath.e ** (-half * s * s)

        def rejected(s):
            return mpmath.ncdf(shift - critical * s) + mpmath.ncdf(-shift - critical * s)

        return float(mpmath.quad(lambda s: density(s) * rejected(s), [0, 0.05, 0.2, 0.5, 1, 1.5, 2, 3, 5, 9]))


def few_degrees_of_freedom():
    """The noncentral t distribution, against quadrature with mpmath."""
    random = np.random.default_rng(3)
    for n in [2, 3, 4, 5, 8, 13, 30, 200]:
        for _ in range(3):
            shift, alpha = float(random.uniform(0.5, 8)), float(random.uniform(0.01, 0.2))
            given = options(samples=n, difference=shift / sqrt(n), sd=1.0, alpha=alpha)
            yield planned(
                f"noncentral t {n} {shift}", given, figure("power", exact_t_power(shift, n - 1, alpha), tolerance=1e-9)
            )


def normal():
    """Miller's formula; the published 969 and 13.27 %, 7.57 %, and random ones."""
    published = options(difference=0.03, sd=1 / 3, method="normal")
    yield planned("published samples", published, figure("samples", 969))
    yield planned("the same by t", options(difference=0.03, sd=1 / 3), figure("samples", 971))
    for epochs in [1, 10]:
        variance = 1 / 9 + 2 / 6 / epochs
        detected = (stats.norm.isf(0.025) + stats.norm.ppf(0.8)) * sqrt(variance / 198)
        given = options(samples=198, sd=1 / 3, sd_within=sqrt(1 / 6), epochs=epochs, method="normal")
        yield planned(f"published difference {epochs}", given, figure("difference", detected))
    random = np.random.default_rng(4)
    for number in range(20):
        between, within = random.uniform(0.05, 1, 2)
        epochs, effect = int(random.integers(1, 9)), float(random.uniform(0.01, 0.3))
        deff, alpha, power = float(random.uniform(0.7, 4)), float(random.uniform(0.01, 0.2)), float(random.uniform(0.5, 0.99))
        variance = between**2 + 2 * within**2 / epochs
        shift = stats.norm.isf(alpha / 2) + stats.norm.ppf(power)
        given = options(
            sd=between, sd_within=within, epochs=epochs, design_effect=deff, alpha=alpha, power=power, method="normal"
        )
        needed = np.ceil(shift**2 * variance * deff / effect**2)
        yield planned(f"normal samples {number}", given + options(difference=effect), figure("samples", needed))
        n = int(random.integers(2, 5000))
        yield planned(
            f"normal difference {number}",
            given + options(samples=n),
            figure("difference", shift * sqrt(variance * deff / n)),
            figure("sd", sqrt(variance)),
        )


def enumerated_mcnemar(n, p10, p01, alpha, mid):
    """Every number of discordant pairs and every split of them; p-values as fractions."""
    alpha, power = Fraction(str(alpha)), 0.0
    for m in range(1, n + 1):
        weight = stats.binom.pmf(m, n, p10 + p01)
        ways, tail = [comb(m, k) for k in range(m + 1)], 0
        for wins in range(m // 2 + 1):
            if 2 * wins == m:
                p_value = 1 - Fraction(ways[wins], 2 ** (m + 1)) if mid else Fraction(1)
            else:
                p_value = Fraction(2 * tail + ways[wins] * (1 if mid else 2), 2**m)
            tail += ways[wins]
            if p_value <= alpha:
                for k in {wins, m - wins}:
                    power += weight * stats.binom.pmf(k, m, p01 / (p10 + p01))
    return power


def mcnemar():
    random = np.random.default_rng(5)
    for number in range(40):
        n = int(random.integers(1, 150))
        discordant = float(random.uniform(0.02, 1)) if number % 8 else 1.0
        p10 = float(discordant * random.uniform(0, 1)) if number % 5 else 0.0
        p01 = discordant - p10
        alpha = float(random.choice([0.05, 0.01, 0.1, 0.0625, 0.25]))
        for method, mid in [("mcnemar_mid", True), ("mcnemar_exact", False)]:
            power = enumerated_mcnemar(n, p10, p01, alpha, mid)
            yield planned(
                f"{method} {number}",
                options(samples=n, p10=p10, p01=p01, alpha=alpha, method=method),
                figure("power", power),
            )


def two_shares():
    random = np.random.default_rng(6)
    for number in range(20):
        n, base = int(random.integers(5, 2000)), float(random.uniform(0.05, 0.95))
        other, alpha = float(random.uniform(0.05, 0.95)), float(random.uniform(0.01, 0.2))
        power = power_proportions_2indep(other - base, base, n, alpha=alpha, return_results=False)
        given = options(samples=n, share=base, difference=other - base, alpha=alpha) + ["--unpaired"]
        yield planned(f"score test {number}", given, figure("power", power))


def widths():
    random = np.random.default_rng(7)
    for number in range(20):
        n, share, alpha = int(random.integers(1, 2000)), float(random.uniform(0, 1)), float(random.uniform(0.01, 0.2))
        lower, upper = proportion_confint(share * n, n, alpha, method="wilson")
        yield planned(f"wilson width {number}", options(samples=n, share=share, alpha=alpha), figure("width", upper - lower))
        n, sd = n + 1, float(random.uniform(0.1, 3))
        width = 2 * t_quantile(1 - alpha / 2, n - 1) * sd / sqrt(n)
        # Of the difference that these samples can show.
        given = options(samples=n, sd=sd, alpha=alpha, power=0.9)
        yield planned(f"t width {number}", given, figure("width", width))
        wanted = width * (1 - 1e-7)
        yield planned(f"samples for a t width {number}", options(width=wanted, sd=sd, alpha=alpha), figure("samples", n + 1))


def runs():
    """Variances from two runs: what the epochs of both add is subtracted."""
    random = np.random.default_rng(8)
    z = stats.norm.isf(0.025) + stats.norm.ppf(0.8)
    for number in range(10):
        n, epochs = int(random.integers(5, 60)), [int(random.integers(2, 6)) for _ in range(2)]
        truth = random.normal(0, 1, n)
        scores = [
            (truth + random.normal(0, 0.7, n))[:, None] + random.normal(0, 0.8, (n, k)) for k in epochs
        ]
        tables = []
        for side in scores:
            ids, numbers = np.indices(side.shape)
            tables.append({"id": [f"q{at}" for at in ids.ravel()], "epoch": numbers.ravel() + 1, "score": side.ravel()})
        within = [side.var(axis=1, ddof=1).mean() for side in scores]
        of_means = (scores[1].mean(axis=1) - scores[0].mean(axis=1)).var(ddof=1)
        between = max(0.0, of_means - within[0] / epochs[0] - within[1] / epochs[1])
        for k in [1, 4]:
            variance = between + sum(within) / k
            yield planned(
                f"two runs {number}, {k} epochs",
                options(samples=500, epochs=k, method="normal"),
                figure("difference", z * sqrt(variance / 500)),
                figure("sd", sqrt(variance)),
                tables=tables,
            )
        alone = scores[0].mean(axis=1).var(ddof=1) - within[0] / epochs[0]
        variance = max(0.0, alone) + within[0] / 3
        yield planned(
            f"one run {number}",
            options(samples=500, epochs=3, method="normal"),
            figure("width", 2 * stats.norm.isf(0.025) * sqrt(variance / 500)),
            tables=tables[:1],
        )
