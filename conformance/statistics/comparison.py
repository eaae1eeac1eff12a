"""Two samples: paired and unpaired differences, their tests and intervals, equivalence, corrections for many tests."""

import numpy as np
from harness import comparison, figure, t_interval
from means import by_matrices
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import confint_proportions_2indep
from statsmodels.stats.weightstats import ttost_ind, ttost_paired

LEVELS = [0.8, 0.9, 0.95, 0.99]


def cases():
    yield from binary_pairs()
    yield from graded_pairs()
    yield from few_pairs()
    yield from clustered_pairs()
    yield from epochs()
    yield from equivalent_pairs()
    yield from unpaired_means()
    yield from unpaired_shares()
    yield from corrections()


def sides(base, other):
    """The rows of the other side are in another order."""
    ids = [f"q{row}" for row in range(len(base))]
    return {"id": ids, "score": base}, {"id": ids[::-1], "score": other[::-1]}


def correlated_binary(random, n):
    share, agreement = random.uniform(0.2, 0.9), random.uniform(0.2, 0.98)
    base = random.random(n) < share
    other = np.where(random.random(n) < agreement, base, random.random(n) < random.uniform(0.2, 0.9))
    return base.astype(int), other.astype(int)


def binary_pairs():
    """statsmodels for McNemar; the mid-p value and the interval of Bonett and Price from their definitions."""
    random = np.random.default_rng(17)
    for number in range(80):
        n = int(random.choice([5, 12, 30, 75, 200, 1000, 5000], p=[0.1, 0.1, 0.2, 0.2, 0.2, 0.1, 0.1]))
        level = float(random.choice(LEVELS))
        base, other = correlated_binary(random, n)
        wins, losses = int((other > base).sum()), int((other < base).sum())
        both, none = int((base & other).sum()), int(((1 - base) & (1 - other)).sum())
        exact = mcnemar([[both, losses], [wins, none]], exact=True).pvalue
        fewer, differing = min(wins, losses), wins + losses
        observed = stats.binom.pmf(fewer, differing, 0.5)
        mid = 2 * stats.binom.cdf(fewer, differing, 0.5) - observed
        if differing == 0:
            mid = 1.0
        elif wins == losses:
            mid = 1 - 0.5 * observed
        won, lost = (wins + 1) / (n + 2), (losses + 1) / (n + 2)
        margin = stats.norm.ppf(0.5 + level / 2) * np.sqrt((won + lost - (won - lost) ** 2) / (n + 2))
        difference = other - base
        spread = base.std() > 0 and other.std() > 0
        unpaired = base.var() + other.var()
        yield comparison(
            f"binary pairs {number}: {wins} wins, {losses} losses of {n}", sides(base, other), ["--level", str(level)],
            figure("n", n), figure("wins", wins), figure("losses", losses), figure("ties", n - differing),
            figure("base_value", base.mean()), figure("other_value", other.mean()),
            figure("difference", difference.mean()),
            figure("stderr", stats.sem(difference) if difference.std() > 0 else None),
            figure("p_mcnemar_exact", exact), figure("p_mcnemar_mid", mid),
            figure("lower", max(won - lost - margin, -1), method="bonett_price"),
            figure("upper", min(won - lost + margin, 1), method="bonett_price"),
            *([figure("correlation", np.corrcoef(base, other)[0, 1])] if spread else []),
            *([figure("variance_removed", 1 - difference.var() / unpaired)] if unpaired > 0 else []),
        )


def graded(random, n, kind):
    if kind == "halves":
        return random.choice([0.0, 0.5, 1.0], n, p=[0.2, 0.3, 0.5])
    if kind == "scale":
        return random.integers(1, 6, n).astype(float)
    return random.normal(50, 10, n)


def graded_pair(random, n, kind):
    base = graded(random, n, kind)
    return base, np.where(random.random(n) < random.uniform(0.1, 0.7), base, graded(random, n, kind))


def graded_pairs():
    """Enough pairs for a t test; below 50 some are skewed, and have its interval too."""
    random = np.random.default_rng(18)
    for number in range(45):
        n, kind = int(random.integers(25, 300)), ["halves", "scale", "normal"][number % 3]
        level = float(random.choice(LEVELS))
        base, other = graded_pair(random, n, kind)
        difference = other - base
        if difference.std() == 0:
            continue
        error = stats.sem(difference)
        low, high = t_interval(level, n - 1, difference.mean(), error)
        yield comparison(
            f"{kind} pairs {number}, n {n}", sides(base, other), ["--metric", "mean", "--level", str(level)],
            figure("difference", difference.mean()), figure("stderr", error), figure("df", n - 1),
            figure("lower", low), figure("upper", high),
            figure("p_value", stats.ttest_rel(other, base).pvalue, test="t"),
            figure("wins", (difference > 0).sum()), figure("losses", (difference < 0).sum()),
            figure("ties", (difference == 0).sum()), figure("correlation", np.corrcoef(base, other)[0, 1]),
            figure("variance_removed", 1 - difference.var() / (base.var() + other.var())),
        )


def few_pairs():
    """scipy enumerates all sign patterns."""
    random = np.random.default_rng(19)
    for number in range(18):
        n, kind = int(random.integers(3, 12)), ["halves", "scale", "normal"][number % 3]
        base, other = graded_pair(random, n, kind)
        difference = other - base
        if np.ptp(difference) == 0 or np.isin([base, other], [0, 1]).all():
            continue
        flipped = stats.permutation_test(
            (difference,), lambda d, axis: d.sum(axis=axis), permutation_type="samples", vectorized=True,
            n_resamples=np.inf,
        )
        yield comparison(
            f"few {kind} pairs {number}, n {n}", sides(base, other), ["--metric", "mean"],
            figure("difference", difference.mean()), figure("p_sign_flip", flipped.pvalue),
            figure("p_value", flipped.pvalue, test="sign_flip"),
        )


def clustered_pairs():
    """CR2 and its degrees of freedom as matrices, on the differences."""
    random = np.random.default_rng(24)
    for number in range(12):
        sizes = random.integers(1, 9, int(random.integers(4, 40)))
        labels = np.repeat(np.arange(len(sizes)), sizes)
        base = graded(random, len(labels), "normal")
        other = base + random.normal(0, 3, len(sizes))[labels] + random.normal(0.5, 2, len(labels))
        error, df, _ = by_matrices(other - base, labels)
        value = (other - base).mean()
        low, high = t_interval(0.95, df, value, error)
        passages = [f"p{label}" for label in labels]
        tables = [{"score": base, "passage": passages}, {"score": other, "passage": passages}]
        yield comparison(
            f"clustered pairs {number}, {len(sizes)} clusters", tables, ["--metric", "mean", "--cluster", "passage"],
            figure("difference", value), figure("stderr", error), figure("df", df), figure("lower", low),
            figure("upper", high), figure("p_value", 2 * stats.t.sf(abs(value / error), df), test="t"),
        )


def epochs():
    """The epochs of a sample are one score: their mean. The sides may have different numbers of them."""
    random = np.random.default_rng(25)
    for number in range(12):
        n, of_base, of_other = int(random.integers(25, 80)), *(int(k) for k in random.integers(2, 6, 2))
        difficulty = random.random(n)
        scores = [(random.random((n, k)) < difficulty[:, None]).astype(int) for k in (of_base, of_other)]
        base, other = (x.mean(axis=1) for x in scores)
        low, high = t_interval(0.95, n - 1, (other - base).mean(), stats.sem(other - base))
        tables = [
            {
                "id": [f"q{row}" for row in range(n) for _ in range(x.shape[1])],
                "epoch": [epoch + 1 for _ in range(n) for epoch in range(x.shape[1])],
                "score": x.reshape(-1),
            }
            for x in scores
        ]
        yield comparison(
            f"epochs {number}: {of_base} and {of_other} of {n}", tables, ["--metric", "mean"],
            figure("n", n), figure("difference", (other - base).mean()), figure("stderr", stats.sem(other - base)),
            figure("lower", low), figure("upper", high),
            figure("p_value", stats.ttest_rel(other, base).pvalue, test="t"),
            figure("correlation", np.corrcoef(base, other)[0, 1]),
        )


def equivalent_pairs():
    random = np.random.default_rng(20)
    for number in range(30):
        n, kind = int(random.integers(25, 200)), ["halves", "scale", "normal"][number % 3]
        base, other = graded_pair(random, n, kind)
        difference = other - base
        if difference.std() == 0:
            continue
        error = stats.sem(difference)
        margin = float(abs(difference.mean()) + random.uniform(-0.5, 4) * error)
        if margin <= 0:
            continue
        low, high = t_interval(0.9, n - 1, difference.mean(), error)
        p, _, _ = ttost_paired(other, base, -margin, margin)
        yield comparison(
            f"equivalent {kind} pairs {number}, n {n}", sides(base, other),
            ["--metric", "mean", "--equivalent", repr(margin)],
            figure("p_tost", p), figure("lower", low), figure("upper", high),
        )


def unpaired_means():
    random = np.random.default_rng(21)
    for number in range(40):
        kind = ["halves", "scale", "normal"][number % 3]
        base, other = (graded(random, int(random.integers(4, 150)), kind) for _ in range(2))
        if base.std() == 0 or other.std() == 0:
            continue
        test = stats.ttest_ind(other, base, equal_var=False)
        error = np.hypot(stats.sem(base), stats.sem(other))
        value = other.mean() - base.mean()
        margin = float(abs(value) + random.uniform(0.2, 3) * error)
        low, high = t_interval(0.9, test.df, value, error)
        p, _, _ = ttost_ind(other, base, -margin, margin, usevar="unequal")
        tables = [{"id": [f"{side}{row}" for row in range(len(x))], "score": x} for side, x in [("a", base), ("b", other)]]
        yield comparison(
            f"unpaired {kind} {number}, n {len(base)} and {len(other)}", tables,
            ["--unpaired", "--metric", "mean", "--equivalent", repr(margin)],
            figure("difference", value), figure("stderr", error), figure("df", test.df),
            figure("p_value", test.pvalue, test="welch"), figure("p_tost", p),
            figure("lower", low), figure("upper", high), figure("wins", None), figure("correlation", None),
        )


def unpaired_shares():
    """Newcombe's interval; its p-value is one minus the level at which an end is 0."""
    random = np.random.default_rng(22)
    for number in range(25):
        level = float(random.choice(LEVELS))
        n = random.integers(3, 120, 2)
        right = [int(random.binomial(size, random.uniform(0.05, 0.95))) for size in n]
        (base, other), (base_n, other_n) = right, (int(size) for size in n)
        low, high = confint_proportions_2indep(other, other_n, base, base_n, method="newcomb", alpha=1 - level)
        tables = [
            {"id": [f"{side}{row}" for row in range(size)], "score": [1] * ones + [0] * (size - ones)}
            for side, ones, size in [("a", base, base_n), ("b", other, other_n)]
        ]
        yield comparison(
            f"unpaired shares {number}: {base}/{base_n} and {other}/{other_n}", tables,
            ["--unpaired", "--level", str(level)],
            figure("difference", other / other_n - base / base_n), figure("lower", low, method="newcombe"),
            figure("upper", high, method="newcombe"),
            figure("p_value", touching(other, other_n, base, base_n), test="newcombe"),
        )


def touching(first, first_n, second, second_n):
    """By bisection on the quantile, with Wilson's ends written out."""
    if first * second_n == second * first_n:
        return 1.0
    if first * second_n < second * first_n:
        return touching(second, second_n, first, first_n)

    def wilson(right, n, z):
        share, root = right / n, z * np.sqrt(right / n * (1 - right / n) / n + z * z / (4 * n * n))
        return [(share + z * z / (2 * n) + sign * root) / (1 + z * z / n) for sign in (-1, 1)]

    def lower(z):
        p, q = first / first_n, second / second_n
        return p - q - np.hypot(p - wilson(first, first_n, z)[0], wilson(second, second_n, z)[1] - q)

    low, high = 0.0, 60.0
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if lower(middle) > 0 else (low, middle)
    return 2 * stats.norm.sf(high)


def corrections():
    """Several models of one table, each with the base."""
    random = np.random.default_rng(23)
    for number in range(24):
        models, n = int(random.integers(2, 12)), int(random.integers(30, 250))
        method = ["holm", "bh"][number % 2]
        scores = [graded(random, n, "normal")]
        scores += [scores[0] + random.normal(random.choice([0, 0, 0.5, 1]), 4, n) for _ in range(models)]
        p_values = [stats.ttest_rel(other, scores[0]).pvalue for other in scores[1:]]
        adjusted = multipletests(p_values, method={"holm": "holm", "bh": "fdr_bh"}[method])[1]
        table = {
            "id": [f"q{row}" for _ in scores for row in range(n)],
            "model": [f"m{model}" for model in range(models + 1) for _ in range(n)],
            "score": np.concatenate(scores),
        }
        figures = []
        for model, (p, corrected) in enumerate(zip(p_values, adjusted), 1):
            row = {"base": "m0", "other": f"m{model}"}
            figures += [figure("p_value", p, **row), figure("p_adjusted", corrected, correction=method, **row)]
        yield comparison(
            f"{method} {number}: {models} models, n {n}", [table],
            ["--by", "model", "--metric", "mean", "--correction", method], *figures,
        )
