"""Means over groups: plain and weighted, with clusters within groups and across them; shrinkage; simultaneous intervals."""

import numpy as np
import statsmodels.api as sm
from harness import TOLERANCE, case, figure, t_interval, t_quantile
from scipy import optimize, stats

ALL = {"group_key": "topic", "group": None}


def cases():
    yield from plain()
    yield from weighted()
    yield from clustered()
    yield from two_ways()
    yield from shrunken()
    yield from simultaneous()
    yield from undefined()


def table(groups, **columns):
    topics = [f"t{at}" for at, group in enumerate(groups) for _ in group]
    return {"score": np.concatenate(groups), "topic": topics, **columns}


def satterthwaite(weights, groups):
    parts = [(w * stats.sem(group)) ** 2 for w, group in zip(weights, groups)]
    return sum(parts) ** 2 / sum(part**2 / (len(group) - 1) for part, group in zip(parts, groups))


def plain():
    random = np.random.default_rng(51)
    for sizes in [[3, 2], [4, 4, 4], [2, 30, 4, 9], [7] * 12]:
        groups = [random.normal(3, 2, size) for size in sizes]
        yield mean_over(f"plain {sizes}", groups, [1.0] * len(sizes), "")
    # Σ SE² of {1, 1, 4} and {2, 6} is 1 + 4: √5/2, not the mean of the errors.
    groups = [np.array([1.0, 1.0, 4.0]), np.array([2.0, 6.0])]
    yield case(
        "published", table(groups), ["--metric", 'grouped(mean(), "topic", all="groups")'],
        figure("value", 3.0, **ALL), figure("stderr", 1.118033988749895, **ALL),
    )


def weighted():
    random = np.random.default_rng(52)
    for sizes in [[3, 2], [5, 8, 13], [10, 2, 6, 4]]:
        groups = [random.normal(-1, 1, size) for size in sizes]
        weights = random.integers(1, 9, len(sizes)) / 2
        named = ", ".join(f'"t{at}": {weight}' for at, weight in enumerate(weights))
        yield mean_over(f"weights {sizes}", groups, weights, f", weights={{{named}}}")
        column = np.repeat(weights, sizes)
        yield mean_over(f"weights of a key {sizes}", groups, weights, ', weights="weight"', weight=column)


def mean_over(name, groups, weights, argument, **columns):
    w = np.asarray(weights) / np.sum(weights)
    mean = sum(part * group.mean() for part, group in zip(w, groups))
    error = np.sqrt(sum((part * stats.sem(group)) ** 2 for part, group in zip(w, groups)))
    df = satterthwaite(w, groups)
    lower, upper = t_interval(0.95, df, mean, error)
    return case(
        name, table(groups, **columns),
        ["--interval", "t", "--metric", f'grouped(mean(), "topic", all="groups"{argument})'],
        figure("value", mean, **ALL), figure("stderr", error, **ALL), figure("df", df, **ALL),
        figure("lower", lower, **ALL), figure("upper", upper, **ALL),
    )


def design(random, sizes, clusters):
    """Scores of groups, and the cluster of each: clusters span groups."""
    topics = np.repeat(np.arange(len(sizes)), sizes)
    # Every group has clusters 0 and 1.
    ids = np.concatenate([[0, 1, *random.integers(0, clusters, size - 2)] for size in sizes])
    effects = random.normal(0, 1, clusters)
    return topics, ids, random.normal(0, 1, len(ids)) + effects[ids] + topics


def regression(topics, ids, scores, weights, clusters):
    """The contrast of an OLS on group dummies: CR0 by statsmodels, CR2 and its degrees of freedom by matrices."""
    dummies = (topics[:, None] == np.arange(topics.max() + 1)).astype(float)
    fit = sm.OLS(scores, dummies).fit(cov_type="cluster", cov_kwds={"groups": ids, "use_correction": False})
    cr0 = np.sqrt(weights @ fit.cov_params() @ weights)
    inverse = np.linalg.inv(dummies.T @ dummies)
    hat = dummies @ inverse @ dummies.T
    rest = np.eye(len(ids)) - hat
    residuals = rest @ scores
    parts = []
    rows = []
    jackknife = []
    for cluster in range(clusters):
        own = np.flatnonzero(ids == cluster)
        if len(own) == 0:
            continue
        values, vectors = np.linalg.eigh(rest[np.ix_(own, own)])
        half = vectors @ np.diag(1 / np.sqrt(values)) @ vectors.T
        direction = half @ dummies[own] @ inverse @ weights
        parts.append((direction @ residuals[own]) ** 2)
        rows.append(direction @ rest[own])
        left = ids != cluster
        means = [scores[left & (topics == topic)].mean() for topic in range(topics.max() + 1)]
        jackknife.append(weights @ np.array(means))
    products = np.array(rows) @ np.array(rows).T
    df = np.trace(products) ** 2 / (products**2).sum()
    mean = weights @ fit.params
    g = len(parts)
    return {
        "mean": mean, "CR0": cr0, "CR1": cr0 * np.sqrt(g / (g - 1)), "CR2": np.sqrt(sum(parts)), "df": df,
        "jackknife": np.sqrt((g - 1) / g * sum((np.array(jackknife) - mean) ** 2)), "clusters": g,
    }


def clustered():
    random = np.random.default_rng(53)
    for sizes, clusters in [([6, 5], 4), ([12, 9, 15], 8), ([20, 7, 11, 5, 30], 12), ([40, 40], 25)]:
        topics, ids, scores = design(random, sizes, clusters)
        for weights in [np.ones(len(sizes)), np.arange(1.0, len(sizes) + 1)]:
            expected = regression(topics, ids, scores, weights / weights.sum(), clusters)
            named = ", ".join(f'"t{at}": {weight}' for at, weight in enumerate(weights))
            argument = "" if weights[-1] == 1 else f", weights={{{named}}}"
            rows = {"score": scores, "topic": [f"t{at}" for at in topics], "passage": [f"p{at}" for at in ids]}
            metric = f'grouped(mean(), "topic", all="groups"{argument})'
            options = ["--cluster", "passage", "--interval", "t", "--metric", metric]
            lower, upper = t_interval(0.95, expected["df"], expected["mean"], expected["CR2"])
            yield case(
                f"clusters across {sizes}, CR2, weights {weights}", rows, options,
                figure("value", expected["mean"], **ALL), figure("stderr", expected["CR2"], **ALL),
                figure("df", expected["df"], **ALL), figure("lower", lower, **ALL), figure("upper", upper, **ALL),
            )
            for method in ["CR0", "CR1", "jackknife"]:
                yield case(
                    f"clusters across {sizes}, {method}, weights {weights}", rows, [*options, "--errors", method],
                    figure("stderr", expected[method], **ALL),
                )


def two_ways():
    random = np.random.default_rng(54)
    for sizes, clusters in [([14, 17], 6), ([25, 12, 18], 9)]:
        topics, first, scores = design(random, sizes, clusters)
        second = random.permutation(np.arange(len(scores)) % 5)
        weights = np.ones(len(sizes)) / len(sizes)
        both = np.unique(first * 100 + second, return_inverse=True)[1]
        variances = [
            regression(topics, ids, scores, weights, ids.max() + 1)["CR0"] ** 2 for ids in (first, second, both)
        ]
        variance = variances[0] + variances[1] - variances[2]
        if variance <= 0:
            raise ValueError("choose other scores: the two-way variance is not positive")
        rows = {
            "score": scores, "topic": [f"t{at}" for at in topics],
            "passage": [f"p{at}" for at in first], "author": [f"a{at}" for at in second],
        }
        yield case(
            f"two ways {sizes}", rows,
            ["--cluster", "passage", "--cluster", "author", "--errors", "CR0", "--metric", 'grouped(mean(), "topic", all="groups")'],
            figure("stderr", np.sqrt(variance), **ALL),
        )


def shrunken():
    random = np.random.default_rng(55)
    for spread in [0.0, 0.5, 3.0]:
        for sizes in [[4, 5, 6], [3, 8, 20, 2, 11, 6]]:
            groups = [random.normal(10 + random.normal(0, spread), 1.5, size) for size in sizes]
            y = np.array([group.mean() for group in groups])
            variances = np.array([stats.sem(group) ** 2 for group in groups])

            def excess(tau):
                w = 1 / (variances + tau)
                return (w * (y - (w @ y) / w.sum()) ** 2).sum() - (len(y) - 1)

            tau = 0.0 if excess(0) <= 0 else optimize.brentq(excess, 0, 1e4, xtol=1e-16, rtol=1e-15)
            w = 1 / (variances + tau)
            mean = (w @ y) / w.sum()
            share = variances / (variances + tau)
            values = share * mean + (1 - share) * y
            errors = np.sqrt((1 - share) * variances + share**2 / w.sum())
            z = stats.norm.ppf(0.975)
            figures = []
            for at in range(len(sizes)):
                row = {"group": f"t{at}"}
                figures += [
                    figure("value", values[at], **row), figure("stderr", errors[at], **row),
                    figure("lower", values[at] - z * errors[at], **row),
                ]
            metric = 'grouped(mean(), "topic", all="groups", shrink=true)'
            yield case(f"shrinkage {sizes}, spread {spread}", table(groups), ["--metric", metric], *figures)


def simultaneous():
    random = np.random.default_rng(56)
    for sizes in [[5, 9], [4, 6, 8, 10, 12]]:
        groups = [random.normal(0, 1, size) for size in sizes]
        level = 0.95 ** (1 / len(sizes))
        figures = []
        for at, group in enumerate(groups):
            lower, upper = t_interval(level, len(group) - 1, group.mean(), stats.sem(group))
            figures += [figure("lower", lower, group=f"t{at}"), figure("upper", upper, group=f"t{at}")]
        metric = 'grouped(mean(), "topic", simultaneous=true)'
        yield case(f"simultaneous {sizes}", table(groups), ["--interval", "t", "--metric", metric], *figures)
        half = t_quantile(1 - 0.05 / len(sizes), len(groups[0]) - 1) * stats.sem(groups[0])
        yield case(
            f"simultaneous bounds {sizes}", table(groups), ["--interval", "t", "--side", "upper", "--metric", metric],
            figure("upper", groups[0].mean() + half, group="t0"),
        )


def undefined():
    groups = [np.array([1.0, 2.0, 4.0]), np.array([3.0])]
    options = ["--metric", 'grouped(mean(), "topic", all="groups")']
    yield case(
        "a group of one score", table(groups), options, figure("value", 8 / 3, tolerance=TOLERANCE, **ALL),
        figure("stderr", None, **ALL), figure("lower", None, **ALL),
    )
    rows = table(groups, passage=["a", "b", "a", "a"])
    yield case(
        "a group of one cluster", rows, [*options, "--cluster", "passage"], figure("stderr", None, **ALL),
    )
