"""Clustered errors: two ways of clustering, the jackknife, the bootstrap, the wild bootstrap, shares, design effects."""

import itertools

import numpy as np
import statsmodels.api as sm
from harness import case, figure
from scipy import stats
from statsmodels.stats.sandwich_covariance import cov_cluster, cov_cluster_2groups

DRAWS = 10_000
ORACLE = 200_000
SIZES = {
    "equal": [5] * 6,
    "few": [4, 9, 2, 7],
    "unequal": [1, 2, 9, 4, 3, 6, 1, 12],
    "one large": [30, 2, 3, 1, 2, 4, 2, 1, 3, 2],
    "many": list(range(1, 31)),
}


def cases():
    random = np.random.default_rng(16)
    for name, sizes in SIZES.items():
        labels = np.repeat(np.arange(len(sizes)), sizes)
        other = random.integers(0, 5, len(labels))
        for kind in ["binary", "graded", "skewed"]:
            x = scores(random, labels, kind)
            table = {"score": x, "passage": names("p", labels), "topic": names("t", other)}
            yield from jackknife(f"{kind} {name}", table, x, labels)
            yield from two_ways(f"{kind} {name}", table, x, labels, other)
            yield from bootstraps(f"{kind} {name}", table, x, labels)
            yield from shares(f"{kind} {name}", table, x, labels, other)
    yield from wild_intervals()
    yield from independent()
    yield from epochs()


def scores(random, labels, kind):
    """Scores of which those of one cluster are alike."""
    effects = random.normal(0, 1, labels.max() + 1)[labels]
    if kind == "binary":
        return (effects + random.normal(0, 1, len(labels)) > 0).astype(float)
    if kind == "graded":
        return np.clip(np.round(2 + effects + random.normal(0, 1, len(labels))), 0, 4) / 4
    return np.exp(effects + random.normal(0, 0.5, len(labels)))


def names(prefix, labels):
    return [f"{prefix}{label}" for label in labels]


def means_left_out(x, labels):
    return np.array([x[labels != label].mean() for label in np.unique(labels)])


def jackknife_error(x, labels):
    g = len(np.unique(labels))
    return np.sqrt((g - 1) / g * ((means_left_out(x, labels) - x.mean()) ** 2).sum())


def iid_error(x):
    return x.std(ddof=1) / len(x) ** 0.5


def jackknife(name, table, x, labels):
    """By leaving out each cluster, with what is reported beside the error."""
    error = jackknife_error(x, labels)
    sizes = np.bincount(labels)
    figures = [figure("stderr", error), figure("value", x.mean()), figure("clusters", len(sizes))]
    effect = (error / iid_error(x)) ** 2
    figures += [figure("design_effect", effect), figure("effective_n", len(x) / effect)]
    figures += [figure("largest_cluster_share", sizes.max() / len(x)), figure("df", bell_mccaffrey(labels))]
    options = ["--metric", "mean", "--cluster", "passage", "--errors", "jackknife", "--interval", "t"]
    yield case(f"jackknife {name}", table, options, *figures)


def bell_mccaffrey(labels):
    """tr(Ω)²/tr(Ω²) of the quadratic form that CR2 is, written out as a matrix."""
    n = len(labels)
    residual = np.eye(n) - 1 / n
    form = np.zeros((n, n))
    for label in np.unique(labels):
        member = (labels == label).astype(float)
        size = member.sum()
        row = residual @ member
        form += np.outer(row, row) / (n * (n - size))
    return np.trace(form) ** 2 / np.trace(form @ form)


def two_ways(name, table, x, labels, other):
    fit = sm.OLS(x, np.ones(len(x))).fit()
    both = labels * 1000 + other
    for method, correction in [("CR0", False), ("CR1", True)]:
        variance = cov_cluster_2groups(fit, labels, other, use_correction=correction)[0][0, 0]
        # Statsmodels' factor (n-1)/(n-k) is 1 for a mean.
        one = [cov_cluster(fit, ids, use_correction=correction)[0, 0] for ids in (labels, other)]
        yield two_way_case(method, name, table, variance, one)
    squares = [jackknife_error(x, ids) ** 2 for ids in (labels, other, both)]
    yield two_way_case("jackknife", name, table, squares[0] + squares[1] - squares[2], squares[:2])


def two_way_case(method, name, table, variance, one):
    # A variance that is not positive is replaced by the larger of the two.
    error = np.sqrt(variance if variance > 1e-12 * sum(one) else max(one))
    options = ["--metric", "mean", "--cluster", "passage", "--cluster", "topic", "--errors", method, "--interval", "t"]
    return case(f"two ways {method} {name}", table, options, figure("stderr", error))


def totals(x, labels):
    sizes = np.bincount(labels).astype(float)
    return np.bincount(labels, weights=x), sizes


def resampled(x, labels, seed=1):
    sums, sizes = totals(x, labels)
    g = len(sizes)
    weights = np.random.default_rng(seed).multinomial(g, np.full(g, 1 / g), size=ORACLE)
    return (weights @ sums) / (weights @ sizes)


def quantile(means, share):
    """The inverse of the distribution function, and the Monte-Carlo error of DRAWS draws."""
    step = np.sqrt(share * (1 - share) * (1 / DRAWS + 1 / ORACLE))
    at, low, high = np.quantile(means, [share, max(share - step, 0), min(share + step, 1)], method="inverted_cdf")
    return at, max((high - low) / 2, 1e-12)


def bootstraps(name, table, x, labels):
    """Whole clusters redrawn, 200,000 times here."""
    means = resampled(x, labels)
    sizes = np.bincount(labels)
    base = ["--metric", "mean", "--cluster", "passage"]
    if len(set(sizes)) == 1:
        # Nothing is drawn: a mean of independent numbers.
        sums, sizes = totals(x, labels)
        error = np.sqrt(((sums - sizes * x.mean()) ** 2).sum()) / len(x)
        yield case(f"bootstrap error {name}", table, base + ["--errors", "bootstrap"], figure("stderr", error))
    else:
        kurtosis = stats.kurtosis(means, fisher=False)
        relative = np.sqrt((kurtosis - 1) / 4 * (1 / DRAWS + 1 / ORACLE))
        error = figure("stderr", means.std(), monte_carlo_error=means.std() * relative)
        yield case(f"bootstrap error {name}", table, base + ["--errors", "bootstrap"], error, figure("draws", DRAWS))
    ends = [quantile(means, share) for share in (0.025, 0.975)]
    figures = [figure(key, end, monte_carlo_error=error) for key, (end, error) in zip(("lower", "upper"), ends)]
    yield case(f"percentiles {name}", table, base + ["--interval", "bootstrap"], *figures)
    # BCa: the acceleration from the clusters left out, the bias from the resamples.
    left_out = means_left_out(x, labels)
    distance = left_out.mean() - left_out
    acceleration = (distance**3).sum() / (6 * (distance**2).sum() ** 1.5)
    below = np.mean(means < x.mean() - 1e-12) + np.mean(np.abs(means - x.mean()) <= 1e-12) / 2
    bias = stats.norm.ppf(below)
    bias_error = np.sqrt(below * (1 - below) / DRAWS) / stats.norm.pdf(bias)
    figures = []
    for key, share in (("lower", 0.025), ("upper", 0.975)):
        def end(bias):
            z = bias + stats.norm.ppf(share)
            return quantile(means, stats.norm.cdf(bias + z / (1 - acceleration * z)))
        at, error = end(bias)
        shifted = [end(bias + sign * bias_error)[0] for sign in (-1, 1)]
        error = np.hypot(error, (shifted[1] - shifted[0]) / 2)
        figures.append(figure(key, at, monte_carlo_error=max(error, 1e-9)))
    yield case(f"bca {name}", table, base + ["--interval", "bca"], *figures)


def shares(name, table, x, labels, other):
    """The share of a value is the mean of an indicator."""
    value = x[0]
    hit = (x == value).astype(float)
    text = {0.0: "0.0", 1.0: "1.0"}.get(float(value), repr(float(value)))
    if not 0 < hit.mean() < 1:
        return
    fit = sm.OLS(hit, np.ones(len(hit))).fit()
    variance = cov_cluster_2groups(fit, labels, other, use_correction=False)[0][0, 0]
    one = [cov_cluster(fit, ids, use_correction=False)[0, 0] for ids in (labels, other)]
    row = {"metric": "frequency", "key": text}
    if variance > 1e-9 * sum(one):
        options = ["--metric", "frequency", "--cluster", "passage", "--cluster", "topic", "--errors", "CR0"]
        yield case(f"share two ways {name}", table, options, figure("stderr", variance**0.5, **row))
    error = jackknife_error(hit, labels)
    if error > 1e-9:
        options = ["--metric", "frequency", "--cluster", "passage", "--errors", "jackknife"]
        effect = (error / iid_error(hit)) ** 2
        yield case(
            f"share jackknife {name}", table, options,
            figure("stderr", error, **row), figure("design_effect", effect, **row),
        )


WEIGHTS = {"webb": np.sqrt([0.5, 1, 1.5]), "rademacher": np.array([1.0])}


def wild(x, labels, weights, level):
    """All weights, and the hypotheses that are not rejected, by bisection; None if even the farthest is not."""
    points = np.concatenate([WEIGHTS[weights], -WEIGHTS[weights]])
    sums, sizes = totals(x, labels)
    n, mean = sizes.sum(), x.mean()
    v = np.array(list(itertools.product(points, repeat=len(sizes))))
    constant = (v == v[:, :1]).all(axis=1)
    # Of 1 - 0.95 rounding leaves a little more or less than 0.05.
    alpha = 1 - level + 1e-11

    def p(hypothesis):
        deviations = sums - sizes * hypothesis
        total = v @ deviations
        squares = ((v * deviations - np.outer(total / n, sizes)) ** 2).sum(axis=1)
        statistic = total**2 / np.maximum(squares, 1e-300)
        observed = deviations.sum() ** 2 / ((deviations - sizes * deviations.sum() / n) ** 2).sum()
        return np.mean(constant | (statistic >= observed * (1 - 1e-12)))

    if constant.mean() > alpha:
        return None
    ends = []
    for direction in (-1, 1):
        inside, outside = 0.0, direction * iid_error(x)
        while p(mean + outside) > alpha:
            inside, outside = outside, 2 * outside
        for _ in range(70):
            middle = (inside + outside) / 2
            inside, outside = (middle, outside) if p(mean + middle) > alpha else (inside, middle)
        ends.append(mean + (inside + outside) / 2)
    return ends


def wild_intervals():
    random = np.random.default_rng(3)
    for sizes in [[4, 9, 2, 7], [5] * 5, [1, 2, 9, 4, 12], [1] * 5, [3, 8], [2, 3, 4]]:
        labels = np.repeat(np.arange(len(sizes)), sizes)
        for kind in ["graded", "skewed"]:
            x = scores(random, labels, kind)
            table = {"score": x, "passage": names("p", labels)}
            for weights in WEIGHTS:
                for level in [0.8, 0.95]:
                    ends = wild(x, labels, weights, level) or [None, None]
                    figures = [figure(key, end) for key, end in zip(("lower", "upper"), ends)]
                    options = ["--metric", "mean", "--cluster", "passage", "--level", str(level)]
                    yield case(
                        f"wild {weights} {kind} {sizes} {level}", table,
                        options + ["--interval", f'wild(weights="{weights}")'], *figures,
                    )


def independent():
    random = np.random.default_rng(4)
    for n in [2, 5, 40]:
        x = random.lognormal(0, 1, n)
        table = {"score": x}
        base = ["--metric", "mean", "--interval", "t", "--errors"]
        yield case(f"bootstrap of {n}", table, base + ["bootstrap"], figure("stderr", x.std() / n**0.5), figure("df", n - 1))
        yield case(f"jackknife of {n}", table, base + ["jackknife"], figure("stderr", iid_error(x)), figure("df", n - 1))


def epochs():
    """Epochs that are not reduced are clustered by sample."""
    random = np.random.default_rng(5)
    labels = np.repeat(np.arange(9), random.integers(1, 5, 9))
    x = scores(random, labels, "graded")
    epoch = [int((labels[:at] == label).sum()) + 1 for at, label in enumerate(labels)]
    table = {"id": names("q", labels), "epoch": epoch, "score": x}
    options = ["--metric", "mean", "--no-reduce", "--errors", "jackknife", "--interval", "t"]
    yield case("epochs by sample", table, options, figure("stderr", jackknife_error(x, labels)))
