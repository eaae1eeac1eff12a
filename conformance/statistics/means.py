"""Means, their errors and intervals: independent and clustered."""

import numpy as np
import statsmodels.api as sm
from harness import case, figure, t_interval
from scipy import stats
from statsmodels.stats.proportion import proportion_confint


def cases():
    yield from t_intervals()
    yield from wilson_intervals()
    yield from clustered()
    yield from spread()


def scores(random, n, kind):
    if kind == "binary":
        return random.integers(0, 2, n).astype(float)
    if kind == "graded":
        return random.choice([0.0, 0.5, 1.0], n, p=[0.2, 0.3, 0.5])
    return random.lognormal(0, 1, n)


def t_intervals():
    random = np.random.default_rng(1)
    for level in [0.9, 0.95, 0.999]:
        for n in [2, 3, 7, 30, 250]:
            for kind in ["graded", "skewed"]:
                x = scores(random, n, kind)
                error = x.std(ddof=1) / n**0.5
                if error == 0:
                    continue
                low, high = t_interval(level, n - 1, x.mean(), error)
                yield case(
                    f"t {kind} n {n} level {level}", {"score": x},
                    ["--metric", "mean", "--interval", "t", "--level", str(level)],
                    figure("value", x.mean()), figure("stderr", error), figure("lower", low), figure("upper", high),
                )


def wilson_intervals():
    for level in [0.8, 0.95, 0.99]:
        for right, n in [(0, 1), (1, 1), (0, 20), (1, 29), (5, 10), (8, 10), (38, 38), (15, 148), (81, 263), (999, 1000)]:
            low, high = proportion_confint(right, n, alpha=1 - level, method="wilson")
            yield case(
                f"wilson {right}/{n} level {level}", {"score": [1] * right + [0] * (n - right)},
                ["--metric", "accuracy", "--interval", "wilson", "--level", str(level)],
                figure("value", right / n), figure("lower", low), figure("upper", high),
            )


def clustered():
    """statsmodels for CR0 and CR1; CR2, CR3 and the degrees of freedom from their definitions as matrices."""
    random = np.random.default_rng(2)
    for sizes in [[2, 2], [3, 3, 3, 3], [1, 2, 3, 4, 5], [1] * 12, [20, 1, 1, 2], list(random.integers(1, 30, 25))]:
        labels = np.repeat(np.arange(len(sizes)), sizes)
        n = len(labels)
        for kind in ["binary", "skewed"]:
            x = scores(random, n, kind) + random.normal(0, 0.5, len(sizes))[labels] * (kind == "skewed")
            table = {"score": x, "passage": [f"p{label}" for label in labels]}
            fit = sm.OLS(x, np.ones(n))
            options = {"groups": labels, "use_correction": False}
            cr0 = fit.fit(cov_type="cluster", cov_kwds=options).bse[0]
            if cr0 < 1e-12:
                continue
            cr1 = cr0 * (len(sizes) / (len(sizes) - 1)) ** 0.5
            cr2, df, cr3 = by_matrices(x, labels)
            expected = {"CR0": cr0, "CR1": cr1, "CR2": cr2, "CR3": cr3}
            for method, error in expected.items():
                figures = [figure("value", x.mean()), figure("stderr", error)]
                if method == "CR2":
                    low, high = t_interval(0.95, df, x.mean(), error)
                    figures += [figure("df", df), figure("lower", low), figure("upper", high)]
                yield case(
                    f"{method} {kind} clusters {sizes[:6]}", table,
                    ["--metric", "mean", "--cluster", "passage", "--errors", method, "--interval", "t"], *figures,
                )


def by_matrices(x, labels):
    """Bell and McCaffrey (2002): each cluster's residuals times (I - H)^-1/2, and for CR3 times its square."""
    n = len(x)
    residuals = x - x.mean()
    hat = np.full((n, n), 1 / n)
    vectors, square2, square3 = [], 0.0, 0.0
    for label in np.unique(labels):
        inside = labels == label
        block = np.eye(inside.sum()) - hat[np.ix_(inside, inside)]
        values, directions = np.linalg.eigh(block)
        root = directions @ np.diag(values**-0.5) @ directions.T
        ones = np.ones(inside.sum())
        square2 += (ones @ root @ residuals[inside] / n) ** 2
        square3 += (ones @ root @ root @ residuals[inside] / n) ** 2
        vectors.append((np.eye(n) - hat)[:, inside] @ root @ ones / n)
    gram = np.array([[a @ b for b in vectors] for a in vectors])
    return square2**0.5, np.trace(gram) ** 2 / (gram**2).sum(), square3**0.5


def spread():
    random = np.random.default_rng(3)
    for n in [2, 5, 40, 1000]:
        for offset in [0.0, 1e6]:
            x = scores(random, n, "skewed") + offset
            yield case(
                f"spread n {n} offset {offset:g}", {"score": x}, ["--metric", "std", "--metric", "var", "--metric", "mean"],
                figure("value", x.std(ddof=1), metric="std", tolerance=1e-8),
                figure("value", x.var(ddof=1), metric="var", tolerance=1e-8),
                figure("value", x.mean(), metric="mean"),
                figure("stderr", stats.sem(x), metric="mean", tolerance=1e-8),
            )
