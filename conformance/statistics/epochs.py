"""Epochs: curves of pass@k, pass^k, G-Pass@k and best-of-k, variance components, consistency, bounds of what is absent.

Against scipy's hypergeometric distribution, exact fractions, enumeration, the analysis of variance of statsmodels, and
numpy.
"""

from fractions import Fraction
from itertools import combinations
from math import comb

import numpy as np
import pandas as pd
from harness import case, figure
from scipy import stats
from statsmodels.formula.api import ols
from statsmodels.stats.anova import anova_lm


def cases():
    yield from curves()
    yield from many_epochs()
    yield from best_of()
    yield from components()
    yield from consistency()
    yield from absent()


def table_of(samples):
    """The rows of samples, each a list of scores, one for each epoch; None is an epoch without a score."""
    table = {"id": [], "epoch": [], "score": []}
    for at, scores in enumerate(samples):
        table["id"] += [f"q{at}"] * len(scores)
        table["epoch"] += list(range(1, len(scores) + 1))
        table["score"] += list(scores)
    return table


def graded(random, counts, epochs):
    return [list(random.permutation([1] * c + [0] * (epochs - c))) for c in counts]


def tail(n, c, k, j):
    """P(at least j of k) by scipy, checked against exact fractions."""
    exact = sum(Fraction(comb(c, i) * comb(n - c, k - i), comb(n, k)) for i in range(j, k + 1))
    by_scipy = stats.hypergeom.sf(j - 1, n, c, k)
    assert abs(by_scipy - float(exact)) < 1e-9, (n, c, k, j)
    return float(exact)


def curve(name, table, reducer, values_by_name):
    """A case with the mean, the error and the number of samples under each reducer of a curve."""
    figures = []
    for reducer_name, values in values_by_name.items():
        figures += [
            figure("value", np.mean(values), reducer=reducer_name),
            figure("stderr", stats.sem(values), reducer=reducer_name),
            figure("n", len(values), reducer=reducer_name),
        ]
    return case(name, table, ["--metric", "mean", "--reducer", reducer], *figures)


def curves():
    random = np.random.default_rng(11)
    for epochs in [3, 4, 7]:
        ks = range(1, epochs + 1)
        for number in range(5):
            counts = [int(c) for c in random.integers(0, epochs + 1, 12)]
            table = table_of(graded(random, counts, epochs))
            of = lambda k, j: [tail(epochs, c, k, j) for c in counts]  # noqa: E731
            label = f"{epochs} epochs, {number}"
            at = {f"pass_at_{k}": of(k, 1) for k in ks}
            yield curve(f"pass_at {label}", table, f"pass_at(1..{epochs})", at)
            hat = {f"pass_k_{k}": of(k, k) for k in ks}
            yield curve(f"pass_k {label}", table, f"pass_k(1..{epochs})", hat)
            tails = {f"g_pass(k={epochs - 1}, j={j})": of(epochs - 1, j) for j in range(1, epochs)}
            yield curve(f"g_pass {label}", table, f"g_pass({epochs - 1}, 1..{epochs - 1})", tails)


def many_epochs():
    random = np.random.default_rng(12)
    for epochs, k, j in [(64, 32, 1), (64, 32, 32), (64, 32, 16), (200, 100, 55), (200, 10, 3)]:
        counts = [int(c) for c in random.integers(0, epochs + 1, 8)]
        values = [tail(epochs, c, k, j) for c in counts]
        reducer = f"g_pass(k={k}, j={j})"
        yield curve(f"{reducer} of {epochs}", table_of(graded(random, counts, epochs)), reducer, {reducer: values})


def best_of():
    random = np.random.default_rng(13)
    for epochs in [3, 5, 8]:
        for number in range(5):
            samples = [list(np.round(random.normal(size=epochs), 1)) for _ in range(9)]
            values = {
                f"best_of_{k}": [np.mean([max(some) for some in combinations(one, k)]) for one in samples]
                for k in range(1, epochs + 1)
            }
            yield curve(f"best_of {epochs} epochs, {number}", table_of(samples), f"best_of(1..{epochs})", values)


def components():
    random = np.random.default_rng(14)
    for n, epochs in [(4, 2), (10, 3), (25, 4), (40, 2), (7, 9)]:
        for kind in ["normal", "binary"]:
            true = random.random(n)
            draw = lambda p: random.normal(p, 0.5, epochs) if kind == "normal" else (random.random(epochs) < p) * 1.0  # noqa: E731
            samples = [list(draw(p)) for p in true]
            yield components_case(f"components {kind}, {n} samples of {epochs}", samples, anova(samples))
    for n in [6, 15, 30]:
        for _ in range(2):
            samples = [list(random.random(int(random.integers(1, 6)))) for _ in range(n)]
            yield components_case(f"components of unequal epochs, {n} samples", samples, by_numpy(samples))


def anova(samples):
    """Between and within by the mean squares of an analysis of variance."""
    epochs = len(samples[0])
    frame = pd.DataFrame([(f"q{at}", score) for at, one in enumerate(samples) for score in one], columns=["id", "y"])
    squares = anova_lm(ols("y ~ C(id)", data=frame).fit())["mean_sq"]
    within = squares["Residual"]
    return max(0.0, (squares["C(id)"] - within) / epochs), within


def by_numpy(samples):
    within, of_epochs = means_of_variances(samples)
    return max(0.0, np.var([np.mean(one) for one in samples], ddof=1) - of_epochs), within


def means_of_variances(samples, more=0):
    """The mean of w_i, and that of w_i/(K_i + more); a sample with one epoch has the mean of the others for w_i."""
    variances = [np.var(one, ddof=1) if len(one) > 1 else None for one in samples]
    within = np.mean([w for w in variances if w is not None])
    of_epochs = [(within if w is None else w) / (len(one) + more) for w, one in zip(variances, samples)]
    return within, np.mean(of_epochs)


def components_case(name, samples, parts):
    between, within = parts
    n, runs = len(samples), sum(len(one) for one in samples)
    of_epochs, of_more = means_of_variances(samples)[1], means_of_variances(samples, 1)[1]
    means = [np.mean(one) for one in samples]
    expected = {
        "between": between,
        "within": within,
        "stderr": stats.sem(means),
        "stderr_fixed": np.sqrt(of_epochs / n),
        # Undefined where nothing is left between samples.
        "epoch_share": of_epochs / (between + of_epochs) if between > 0 else None,
        "stderr_next_epoch": np.sqrt((between + of_more) / n),
        "stderr_next_samples": np.sqrt((between + of_epochs) / (n + n * n / runs)),
        "stderr_limit": np.sqrt(between / n) if between > 0 else None,
        **{f"stderr_epochs_{k}": np.sqrt((between + within / k) / n) for k in [1, 2, 4, 8, 16]},
    }
    figures = [figure("value", value, metric="variance_components", key=key) for key, value in expected.items()]
    figures.append(figure("stderr_fixed", np.sqrt(of_epochs / n), metric="mean"))
    return case(name, table_of(samples), ["--metric", "variance_components", "--metric", "mean"], *figures)


def consistency():
    random = np.random.default_rng(15)
    for epochs, values in [(2, 2), (3, 2), (3, 4), (5, 3), (8, 2)]:
        for _ in range(2):
            samples = [list(random.integers(0, values, epochs)) for _ in range(20)]
            all_agree = [float(len(set(one)) == 1) for one in samples]
            agreement = [np.mean([a == b for a, b in combinations(one, 2)]) for one in samples]
            figures = []
            for key, of_samples in [("all_agree", all_agree), ("agreement", agreement)]:
                figures += [
                    figure("value", np.mean(of_samples), key=key),
                    figure("stderr", stats.sem(of_samples), key=key),
                    figure("n", 20, key=key),
                ]
            yield case(f"consistency of {epochs} epochs", table_of(samples), ["--metric", "consistency"], *figures)


def absent():
    random = np.random.default_rng(16)
    reducers = {"mean": np.mean, "median": np.median, "max": np.max}
    for low, high in [(0, 1), (-1, 1), (1, 5)]:
        for name, reduce in reducers.items():
            scores = low + (high - low) * random.integers(0, 3, (15, 4)) / 2
            gone = random.random((15, 4)) < 0.2
            gone[3], gone[0, 0], gone[1, :2] = True, False, [True, False]
            samples = [[None if g else s for s, g in zip(one, g)] for one, g in zip(scores, gone)]
            filled = lambda score: np.mean([reduce(one) for one in np.where(gone, score, scores)])  # noqa: E731
            scored = [reduce(one[~g]) for one, g in zip(scores, gone) if not g.all()]
            yield case(
                f"absent epochs by {name}, scores from {low} to {high}", table_of(samples),
                ["--metric", "mean", "--reducer", name, "--range", str(low), str(high)],
                figure("value", np.mean(scored)), figure("absent", sum(g.all() for g in gone)),
                figure("partly_absent", sum(g.any() and not g.all() for g in gone)),
                figure("bound_worst", filled(low)), figure("bound_best", filled(high)),
                figure("absent_as_wrong", filled(0)),
            )
