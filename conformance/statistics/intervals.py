"""Intervals of every method: of shares, of means, by resampling; bounds, and parts of a population."""

import numpy as np
from harness import case, figure, t_quantile
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

SHARES = [(0, 1), (1, 1), (0, 20), (20, 20), (1, 29), (5, 10), (8, 10), (38, 38), (15, 148), (81, 263), (499, 1000)]
SIDES = {"two-sided": "two-sided", "lower": "greater", "upper": "less"}


def cases():
    yield from shares()
    yield from priors()
    yield from bounds_of_means()
    yield from populations()
    yield from bootstraps()
    yield from ideal_bootstraps()
    yield from metric()


def share(right, n):
    return {"score": [1] * right + [0] * (n - right)}


def options(method, level=0.95, side="two-sided"):
    return ["--metric", "accuracy", "--interval", method, "--level", str(level), "--side", side]


def ends(low, high):
    return figure("lower", low), figure("upper", high)


def shares():
    for level in [0.8, 0.95, 0.99]:
        for side, alternative in SIDES.items():
            for right, n in SHARES:
                test = stats.binomtest(right, n, alternative=alternative)
                for method, name in [("clopper_pearson", "exact"), ("wilson", "wilson")]:
                    low, high = test.proportion_ci(level, name)
                    yield case(
                        f"{method} {right}/{n} level {level} {side}", share(right, n), options(method, level, side),
                        *ends(low, high),
                    )
                # statsmodels has two-sided intervals only, and none of the replaced ends.
                alpha = 1 - level if side == "two-sided" else 2 * (1 - level)
                low, high = proportion_confint(right, n, alpha=alpha, method="jeffreys")
                low = 0 if right == 0 or side == "upper" else low
                high = 1 if right == n or side == "lower" else high
                yield case(
                    f"jeffreys {right}/{n} level {level} {side}", share(right, n), options("jeffreys", level, side),
                    *ends(low, high),
                )


def priors():
    for a, b in [(1, 1), (0.5, 0.5), (2, 3), (0.1, 10)]:
        for right, n in SHARES:
            low, high = stats.beta.ppf([0.025, 0.975], a + right, b + n - right)
            yield case(f"beta({a}, {b}) {right}/{n}", share(right, n), options(f"beta(prior=[{a}, {b}])"), *ends(low, high))


def bounds_of_means():
    random = np.random.default_rng(11)
    for level in [0.6, 0.95]:
        for n in [2, 5, 30, 200]:
            x = random.normal(3, 2, n)
            margin = t_quantile(level, n - 1) * stats.sem(x)
            for side, end in [("lower", x.mean() - margin), ("upper", x.mean() + margin)]:
                other = {"lower": "upper", "upper": "lower"}[side]
                yield case(
                    f"t {side} n {n} level {level}", {"score": x},
                    ["--metric", "mean", "--interval", "t", "--level", str(level), "--side", side],
                    figure(side, end), figure(other, None),
                )


def populations():
    random = np.random.default_rng(12)
    for n, population in [(20, 25), (20, 40), (20, 1000), (150, 1319)]:
        part = 1 - n / population
        x = random.normal(3, 2, n)
        error = stats.sem(x) * part**0.5
        margin = t_quantile(0.975, n - 1) * error
        yield case(
            f"t {n} of {population}", {"score": x},
            ["--metric", "mean", "--interval", "t", "--population", str(population)],
            figure("stderr", error), *ends(x.mean() - margin, x.mean() + margin),
        )
        for right in [0, n // 3, n]:
            # Wilson's formula with n / (1 - n/N) in place of n.
            low, high = wilson(right / n, n / part, stats.norm.ppf(0.975))
            p = right / n
            error = (p * (1 - p) / (n - 1) * part) ** 0.5
            yield case(
                f"wilson {right}/{n} of {population}", share(right, n),
                ["--metric", "accuracy", "--interval", "wilson", "--population", str(population)],
                figure("stderr", error), figure("effective_n", n / part), *ends(low, high),
            )


def wilson(p, n, z):
    centre, margin = p + z * z / (2 * n), z * (p * (1 - p) / n + z * z / (4 * n * n)) ** 0.5
    low, high = (centre - margin) / (1 + z * z / n), (centre + margin) / (1 + z * z / n)
    return 0 if p == 0 else low, 1 if p == 1 else high


OUR_DRAWS, THEIR_DRAWS = 10_000, 40_000


def bootstraps():
    """scipy's intervals have the quantiles of other resamples."""
    random = np.random.default_rng(13)
    for kind in ["normal", "skewed", "uniform"]:
        for n in [12, 60, 300]:
            x = {"normal": random.normal(0, 1, n), "skewed": random.lognormal(0, 1, n), "uniform": random.random(n)}[kind]
            for method, theirs in [("bootstrap", "percentile"), ("bca", "BCa")]:
                found = stats.bootstrap(
                    (x,), np.mean, method=theirs, n_resamples=THEIR_DRAWS, batch=1000, random_state=random
                )
                low, high = found.confidence_interval
                errors = [end_error(found.bootstrap_distribution, end, method == "bca") for end in (low, high)]
                yield case(
                    f"{method} {kind} n {n}", {"score": x}, ["--metric", "mean", "--interval", method],
                    figure("lower", low, monte_carlo_error=errors[0]),
                    figure("upper", high, monte_carlo_error=errors[1]),
                )


def end_error(means, end, has_bias):
    """A quantile of B draws has the error √(p(1−p)/B)/density; BCa estimates its bias, √(π/2B) in z, from them, too."""
    share = np.mean(means <= end)
    step = min(share, 1 - share) / 2
    per_share = np.subtract(*np.quantile(means, [share + step, share - step])) / (2 * step)
    variance = share * (1 - share)
    if has_bias:
        variance += (2 * stats.norm.pdf(stats.norm.ppf(share))) ** 2 * np.pi / 2
    return per_share * (variance * (1 / OUR_DRAWS + 1 / THEIR_DRAWS)) ** 0.5


def ideal_bootstraps():
    """The distribution of the sum of n draws, by n convolutions."""
    random = np.random.default_rng(14)
    for values, weights in [([0, 1], [3, 7]), ([0, 0.5, 1], [2, 3, 5]), ([1, 2, 3, 4, 5], [1, 1, 2, 3, 9]), ([0, 3, 10], [5, 2, 1])]:
        for n in [7, 40, 150]:
            x = random.choice(values, n, p=np.array(weights) / sum(weights))
            low, high = ideal_ends(x, [0.025, 0.975])
            if low == high:
                continue
            yield case(
                f"exact {values} n {n}", {"score": x}, ["--metric", "mean", "--interval", "exact"], *ends(low, high)
            )


def ideal_ends(x, shares):
    step = 0.5
    places = np.rint((x - x.min()) / step).astype(int)
    one = np.bincount(places) / len(x)
    total = np.ones(1)
    for _ in x:
        total = np.convolve(total, one)
    below = np.cumsum(total)
    return [x.min() + step * np.argmax(below >= share - 1e-12) / len(x) for share in shares]


def metric():
    """The metric `ci` with methods that inspect_ai does not have."""
    for right, n in [(3, 11), (11, 11)]:
        low, high = stats.binomtest(right, n).proportion_ci(0.9, "exact")
        yield case(
            f"ci clopper_pearson {right}/{n}", share(right, n), ["--metric", 'ci(0.9, method="clopper_pearson")'],
            *ends(low, high),
        )
        high = stats.binomtest(right, n, alternative="less").proportion_ci(0.95, "wilson").high
        yield case(
            f"ci wilson upper {right}/{n}", share(right, n), ["--metric", 'ci(method="wilson", side="upper")'],
            *ends(0, high),
        )
