"""Metrics other than means: quantiles, totals, ratios, labels, conditions, and any metric by bootstrap."""

import math
import warnings

import numpy as np
import statsmodels.api as sm
from harness import case, figure, t_interval
from scipy import stats
from sklearn.metrics import f1_score, precision_score, recall_score

DRAWS = 10_000
BOOTSTRAP = 4000


def cases():
    yield from quantiles()
    yield from bounds()
    yield from totals()
    yield from geometric_means()
    yield from weighted_means()
    yield from labels()
    yield from average_errors()
    yield from conditions()
    yield from resampled()


def scores(random, n, kind):
    if kind == "ties":
        return random.choice([0.0, 0.25, 0.5, 0.75, 1.0], n)
    return random.lognormal(0, 1, n)


def ideal_error(x, q):
    """The error of the quantile of infinitely many resamples, from the joint law of the two scores it lies between."""
    n, ordered = len(x), np.sort(x)
    k, f = int((n - 1) * q) + 1, (n - 1) * q % 1
    shares = np.arange(n + 1) / n

    def weights(rank):
        return np.diff(stats.beta.cdf(shares, rank, n - rank + 1))

    def variance(rank):
        w = weights(rank)
        return w @ (ordered - w @ ordered) ** 2

    if f == 0 or k == n:
        return variance(k) ** 0.5
    # P(exactly k are among the first i scores and none among those up to the j-th), for the gaps behind i and j.
    low, high = np.meshgrid(shares[1:n], shares[1:n], indexing="ij")
    first, second = np.minimum(low, high), np.maximum(low, high)
    log = math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
    both = np.exp(log + k * np.log(first) + (n - k) * np.log1p(-second))
    gaps = np.diff(ordered)
    gap = gaps @ both @ gaps - (gaps @ np.diag(both)) ** 2
    return ((1 - f) * variance(k) + f * variance(k + 1) - f * (1 - f) * gap) ** 0.5


def quantiles():
    random = np.random.default_rng(11)
    for q in [0.1, 0.25, 0.5, 0.75, 0.9]:
        metric = "median" if q == 0.5 else f"quantile({q})"
        for n in [7, 21, 60, 400]:
            for kind in ["ties", "skewed"]:
                x = scores(random, n, kind)
                interval = stats.quantile_test(x, q=0, p=q).confidence_interval(0.95)
                figures = [figure("value", np.quantile(x, q)), figure("stderr", ideal_error(x, q))]
                # Where one tail is longer than the scores reach, scipy has no interval, and ours gives it more than half.
                if np.isfinite(interval.low) and np.isfinite(interval.high):
                    figures += [figure("lower", interval.low), figure("upper", interval.high)]
                elif (1 - q) ** n + q**n > 0.05:
                    figures += [figure("lower", None), figure("upper", None)]
                yield case(f"{metric} {kind} n {n}", {"score": x}, ["--metric", metric], *figures)


def bounds():
    random = np.random.default_rng(12)
    for side, alternative in [("lower", "greater"), ("upper", "less")]:
        for n in [9, 80]:
            for q in [0.5, 0.8]:
                x = scores(random, n, "skewed")
                interval = stats.quantile_test(x, q=0, p=q, alternative=alternative).confidence_interval(0.9)
                end = interval.low if side == "lower" else interval.high
                yield case(
                    f"{side} bound of quantile {q} n {n}", {"score": x},
                    ["--metric", f"quantile({q})", "--side", side, "--level", "0.9"],
                    figure(side, end if np.isfinite(end) else None),
                )


def totals():
    random = np.random.default_rng(13)
    metrics = ["count", "sum", "min", "max"]
    options = [option for metric in metrics for option in ("--metric", metric)]
    for n in [1, 2, 50, 500]:
        x = scores(random, n, "skewed")
        expected = {"count": n, "sum": x.sum(), "min": x.min(), "max": x.max()}
        figures = [figure("value", value, metric=metric) for metric, value in expected.items()]
        figures += [figure("stderr", None, metric=metric) for metric in metrics]
        yield case(f"totals n {n}", {"score": x}, options, *figures)


def geometric_means():
    random = np.random.default_rng(14)
    for level in [0.9, 0.95]:
        for n in [2, 5, 40, 300]:
            x = scores(random, n, "skewed")
            value, error = stats.gmean(x), np.log(x).std(ddof=1) / n**0.5
            low, high = t_interval(level, n - 1, np.log(x).mean(), error)
            yield case(
                f"geometric mean n {n} level {level}", {"score": x},
                ["--metric", "geometric_mean", "--level", str(level)],
                figure("value", value), figure("stderr", value * error),
                figure("lower", np.exp(low)), figure("upper", np.exp(high)),
            )


def weighted_means():
    """numpy for the mean; statsmodels' weighted regression on a constant for the errors, robust and by cluster."""
    random = np.random.default_rng(15)
    for n, clusters in [(6, 3), (12, 5), (40, 8), (200, 30), (60, 60)]:
        x, w = scores(random, n, "skewed"), random.choice([0.5, 1.0, 2.0, 7.25], n)
        labels = np.concatenate([np.arange(clusters), random.integers(0, clusters, n - clusters)])
        table = {"score": x, "weight": w, "passage": [f"p{label}" for label in labels]}
        fit = sm.WLS(x, np.ones(n), weights=w)
        value = np.average(x, weights=w)
        robust = fit.fit(cov_type="HC1").bse[0]
        low, high = t_interval(0.95, n - 1, value, robust)
        metric = ["--metric", "weighted_mean('weight')"]
        yield case(
            f"weighted mean n {n}", table, [*metric, "--interval", "t"], figure("value", value),
            figure("stderr", robust), figure("lower", low), figure("upper", high),
        )
        cr0 = fit.fit(cov_type="cluster", cov_kwds={"groups": labels, "use_correction": False}).bse[0]
        for method, error in [("CR0", cr0), ("CR1", cr0 * (clusters / (clusters - 1)) ** 0.5)]:
            low, high = t_interval(0.95, clusters - 1, value, error)
            yield case(
                f"weighted mean n {n}, {clusters} clusters, {method}", table,
                [*metric, "--interval", "t", "--cluster", "passage", "--errors", method],
                figure("value", value), figure("stderr", error), figure("lower", low), figure("upper", high),
            )


def labelled(random, n, names):
    truth = random.choice(len(names), n, p=random.dirichlet(np.full(len(names), 4.0)))
    predicted = np.where(random.random(n) < 0.7, truth, random.choice(len(names), n))
    return [names[at] for at in truth], [names[at] for at in predicted]


SKLEARN = {"precision": precision_score, "recall": recall_score, "f1_score": f1_score}


def labels():
    random = np.random.default_rng(16)
    for n, names in [(40, "ab"), (60, "abc"), (150, "abcde"), (300, ["x1", "x2", "x3", "x4"])]:
        truth, predicted = labelled(random, n, list(names))
        table = {"score": predicted, "truth": truth}
        for name, of in SKLEARN.items():
            for average in ["macro", "micro", "weighted"]:
                yield case(
                    f"{name} {average} n {n}", table,
                    ["--metric", f"{name}('truth', average='{average}')", "--draws", "200"],
                    figure("value", of(truth, predicted, average=average)),
                )
            each = of(truth, predicted, average=None)
            figures = [figure("value", value, key=label) for label, value in zip(sorted(set(truth)), each)]
            yield case(f"{name} by label n {n}", table, ["--metric", f"{name}('truth', average='none')"], *figures)
        # One label is a ratio of two counts; its error is that of a weighted mean of right and wrong.
        label = sorted(set(truth))[0]
        is_true, is_predicted = np.array(truth) == label, np.array(predicted) == label
        for name, weights in [
            ("precision", is_predicted * 1.0), ("recall", is_true * 1.0), ("f1_score", is_true * 1.0 + is_predicted),
        ]:
            inside = weights > 0
            right = (is_true & is_predicted)[inside] * 1.0
            fit = sm.WLS(right, np.ones(inside.sum()), weights=weights[inside]).fit(cov_type="HC1")
            yield case(
                f"{name} of one label n {n}", table, ["--metric", f"{name}('truth', label='{label}')"],
                figure("value", fit.params[0]), figure("stderr", fit.bse[0]),
            )


def average_errors():
    """The standard deviation of resampled averages."""
    random = np.random.default_rng(17)
    truth, predicted = labelled(random, 120, list("abc"))
    for name, of in SKLEARN.items():
        for average in ["macro", "weighted"]:
            figures = []
            pairs = np.array([truth, predicted])
            with warnings.catch_warnings():
                # A resample may lack a label.
                warnings.simplefilter("ignore")
                for _ in range(400):
                    drawn = pairs[:, random.integers(0, 120, 120)]
                    figures.append(of(drawn[0], drawn[1], average=average))
            error = np.std(figures)
            yield case(
                f"error of {name} {average}", {"score": predicted, "truth": truth},
                ["--metric", f"{name}('truth', average='{average}')"],
                figure("stderr", error, monte_carlo_error=error * (1 / (2 * 400) + 1 / (2 * DRAWS)) ** 0.5),
            )


def conditions():
    random = np.random.default_rng(18)
    for n in [30, 200]:
        x, level = scores(random, n, "ties"), random.integers(1, 6, n)
        group = random.choice(["law", "history"], n)
        table = {"score": x, "level": level, "category": group}
        for condition, inside in [
            ("category=law", group == "law"), ("category!=law", group != "law"), ("level>=4", level >= 4), ("level<2", level < 2),
        ]:
            part = x[inside]
            error = part.std(ddof=1) / len(part) ** 0.5
            low, high = t_interval(0.95, len(part) - 1, part.mean(), error)
            yield case(
                f"where {condition} n {n}", table, ["--metric", f'where(mean(), "{condition}")', "--interval", "t"],
                figure("value", part.mean()), figure("n", len(part)), figure("stderr", error),
                figure("lower", low), figure("upper", high),
            )


def resampled():
    """Any metric by bootstrap, against scipy.stats.bootstrap of the same figure."""
    random = np.random.default_rng(19)
    figures_of = {
        "std()": lambda x, axis=-1: x.std(ddof=1, axis=axis),
        "var()": lambda x, axis=-1: x.var(ddof=1, axis=axis),
        "median()": np.median,
        "quantile(0.75)": lambda x, axis=-1: np.quantile(x, 0.75, axis=axis),
        "geometric_mean()": lambda x, axis=-1: np.exp(np.log(x).mean(axis=axis)),
    }
    for metric, of in figures_of.items():
        for n in [15, 60]:
            x = random.gamma(3.0, 1.0, n)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                expected = stats.bootstrap((x,), of, n_resamples=BOOTSTRAP, method="percentile", random_state=1)
            drawn = expected.bootstrap_distribution
            relative = (1 / (2 * BOOTSTRAP) + 1 / (2 * DRAWS)) ** 0.5
            # The error of a standard deviation grows with the kurtosis of what it is of.
            spread = max(1.0, ((stats.kurtosis(drawn) + 2) / 2)) ** 0.5
            error = expected.standard_error
            share = (0.025 * 0.975 * (1 / BOOTSTRAP + 1 / DRAWS)) ** 0.5
            ends = []
            for key, at, end in [("lower", 0.025, expected.confidence_interval.low), ("upper", 0.975, expected.confidence_interval.high)]:
                around = np.quantile(drawn, [max(at - share, 0), min(at + share, 1)])
                ends.append(figure(key, end, monte_carlo_error=max((around[1] - around[0]) / 2, 0.02 * error)))
            yield case(
                f"bootstrap of {metric} n {n}", {"score": x}, ["--metric", f"bootstrap({metric})"],
                figure("value", of(x)), figure("stderr", error, monte_carlo_error=error * relative * spread), *ends,
            )
