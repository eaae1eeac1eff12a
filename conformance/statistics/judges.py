"""Agreement of raters and judge-corrected means, against scikit-learn, statsmodels, irrCAC, krippendorff and numpy."""

import warnings

import krippendorff
import numpy as np
import pandas as pd
from harness import case, figure, t_interval
from irrCAC.raw import CAC
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import aggregate_raters, cohens_kappa, fleiss_kappa

BOOTSTRAP = 4000


def ratings(seed, n, raters, labels, agree=0.7, missing=0.0):
    """The labels of each rater: mostly those of a common truth."""
    rng = np.random.default_rng(seed)
    weights = rng.dirichlet(np.full(len(labels), 2.0))
    truth = rng.choice(len(labels), size=n, p=weights)
    columns = {}
    for rater in range(raters):
        own = np.where(rng.random(n) < agree, truth, rng.choice(len(labels), size=n, p=weights))
        cells = [labels[code] for code in own]
        if missing:
            cells = ["" if rng.random() < missing else cell for cell in cells]
        columns[f"r{rater + 1}"] = cells
    return pd.DataFrame({"id": [f"s{at}" for at in range(n)], **columns})


def names(table):
    return [name for name in table.columns if name.startswith("r")]


def rated(name, table, metric, value, error=None, n=None):
    """A case over the columns of raters; an error comes from resampling."""
    options = ["--metric", metric]
    for column in names(table):
        options += ["--score-column", column]
    figures = [figure("value", value)]
    if error is not None:
        # The standard deviation of B resamples has a relative error of about 1/√(2B), on either side.
        monte_carlo_error = error * np.sqrt(1 / (2 * 10_000) + 1 / (2 * BOOTSTRAP))
        figures.append(figure("stderr", error, monte_carlo_error=monte_carlo_error))
    if n is not None:
        figures.append(figure("n", n))
    return case(name, cells(table), options, *figures)


def cells(table):
    return {name: [None if cell == "" else cell for cell in table[name]] for name in table.columns}


def bootstrap_error(table, figure, seed=1):
    """The standard deviation of a figure over resampled rows."""
    rng = np.random.default_rng(seed)
    figures = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(BOOTSTRAP):
            value = figure(table.iloc[rng.integers(0, len(table), len(table))])
            if np.isfinite(value):
                figures.append(value)
    return float(np.std(figures))


def kappa_of(table, weights=None, labels=None):
    return cohen_kappa_score(list(table.r1), list(table.r2), weights=weights, labels=labels)


def cohen():
    numbers, words = [1, 2, 3, 4, 5], ["bad", "fair", "good"]
    order = 'order=["bad", "fair", "good"]'
    for seed, n in enumerate([12, 40, 150, 600]):
        for labels in (numbers[:2], numbers, words):
            table = ratings(seed, n, 2, labels)
            yield rated(f"cohen {n} {len(labels)}", table, 'cohen_kappa("r1", "r2")', kappa_of(table))
        table = ratings(10 + seed, n, 2, numbers)
        for weights in ("linear", "quadratic"):
            metric = f'cohen_kappa("r1", "r2", weights="{weights}")'
            value = kappa_of(table, weights, labels=numbers)
            yield rated(f"cohen {n} {weights}", table, metric, value)
        table = ratings(20 + seed, n, 2, words)
        for weights in ("linear", "quadratic"):
            metric = f'cohen_kappa("r1", "r2", weights="{weights}", {order})'
            value = kappa_of(table, weights, labels=words)
            yield rated(f"cohen {n} {weights} of words", table, metric, value)
    # statsmodels counts cells.
    table = ratings(31, 90, 2, numbers[:4])
    cells = pd.crosstab(table.r1, table.r2).reindex(index=numbers[:4], columns=numbers[:4], fill_value=0)
    for weights, wt in ((None, None), ("linear", "linear"), ("quadratic", "quadratic")):
        argument = f', weights="{weights}"' if weights else ""
        value = cohens_kappa(cells.to_numpy(), wt=wt).kappa
        yield rated(f"cohen statsmodels {weights}", table, f'cohen_kappa("r1", "r2"{argument})', value)
    for seed, n in ((41, 40), (42, 150)):
        table = ratings(seed, n, 2, numbers[:3])
        error = bootstrap_error(table, kappa_of)
        yield rated(f"cohen {n} bootstrap", table, 'cohen_kappa("r1", "r2")', kappa_of(table), error=error)


def fleiss():
    def value(table):
        counts, _ = aggregate_raters(table[names(table)].to_numpy())
        return fleiss_kappa(counts, method="fleiss")

    for seed, (n, raters, labels) in enumerate([(20, 3, 2), (60, 3, 4), (60, 5, 3), (200, 4, 5), (15, 2, 3)]):
        table = ratings(50 + seed, n, raters, list(range(labels)))
        quoted = ", ".join(f'"{name}"' for name in names(table))
        yield rated(f"fleiss {n} {raters} {labels}", table, f"fleiss_kappa([{quoted}])", value(table))
    table = ratings(60, 80, 3, [0, 1, 2])
    error = bootstrap_error(table, value)
    yield rated("fleiss bootstrap", table, 'fleiss_kappa(["r1", "r2", "r3"])', value(table), error=error)
    # Samples without all ratings are left out.
    table = ratings(61, 120, 3, [0, 1, 2], missing=0.1)
    full = table[(table[names(table)] != "").all(axis=1)].astype({name: int for name in names(table)})
    yield rated("fleiss with gaps", table, 'fleiss_kappa(["r1", "r2", "r3"])', value(full), n=len(full))


def numbers_of(table):
    return table[names(table)].apply(pd.to_numeric, errors="coerce")


def gwet():
    for seed, (n, raters, labels, missing) in enumerate(
        [(20, 2, 2, 0), (80, 2, 3, 0), (60, 4, 3, 0), (60, 4, 5, 0.2), (200, 3, 4, 0.1), (40, 5, 2, 0.3)]
    ):
        table = ratings(70 + seed, n, raters, list(range(1, labels + 1)), missing=missing)
        quoted = ", ".join(f'"{name}"' for name in names(table))
        for weights in ("identity", "linear", "quadratic"):
            if weights != "identity" and labels < 3:
                continue
            found = CAC(numbers_of(table), weights=weights, digits=15).gwet()["est"]
            argument = "" if weights == "identity" else f', weights="{weights}"'
            value = found["coefficient_value"]
            yield rated(f"gwet {n} {raters} {labels} {weights}", table, f"gwet_ac1([{quoted}]{argument})", value)


def krippendorff_cases():
    for seed, (n, raters, labels, missing) in enumerate(
        [(12, 4, 5, 0.15), (60, 3, 4, 0), (100, 2, 6, 0.1), (40, 5, 3, 0.3)]
    ):
        table = ratings(90 + seed, n, raters, list(range(labels)), missing=missing)
        data = numbers_of(table).to_numpy().T
        quoted = ", ".join(f'"{name}"' for name in names(table))
        for level in ("nominal", "ordinal", "interval", "ratio"):
            value = krippendorff.alpha(reliability_data=data, level_of_measurement=level)
            metric = f'krippendorff_alpha(level="{level}", raters=[{quoted}])'
            yield rated(f"krippendorff {n} {raters} {level}", table, metric, value)


def judged(seed, n, labelled, kind, clusters=0):
    rng = np.random.default_rng(seed)
    group = rng.integers(0, clusters, n) if clusters else np.arange(n)
    if kind == "binary":
        ability = rng.normal(0.4, 0.8, n if not clusters else clusters)[group]
        truth = (rng.random(n) < 1 / (1 + np.exp(-ability))).astype(float)
        judge = np.where(rng.random(n) < np.where(truth == 1, 0.9, 0.75), truth, 1 - truth)
    else:
        truth = np.round(rng.normal(3, 1, n) + rng.normal(0, 0.5, clusters or n)[group], 3)
        judge = np.round(truth + rng.normal(0.3, 0.6, n), 3)
    labels = [""] * n
    for at in rng.choice(n, labelled, replace=False):
        labels[at] = truth[at]
    columns = {"id": [f"s{at}" for at in range(n)], "judge": judge, "human": labels}
    if clusters:
        columns["cluster"] = [f"c{at}" for at in group]
    return pd.DataFrame(columns)


def satterthwaite(parts, units):
    divisor = sum(part**2 / max(count - 1, 1) for part, count in zip(parts, units) if count)
    return sum(parts) ** 2 / divisor


def clustered(table, influence):
    sums = pd.Series(influence).groupby(table.cluster.to_numpy()).sum()
    return float((sums**2).sum() * len(sums) / (len(sums) - 1))


def units_of(table, has_label):
    return [table.cluster[has_label].nunique(), table.cluster[~has_label].nunique()]


def ppi_expected(table, lam=None):
    """PPI++ of a mean: Angelopoulos, Duchi & Zrnic 2023."""
    has_label = (table.human != "").to_numpy()
    f = table.judge.to_numpy(float)
    y = table.human[has_label].to_numpy(float)
    n, others = has_label.sum(), (~has_label).sum()
    fl, fu = f[has_label], f[~has_label]
    if lam is None:
        lam = np.cov(y, fl, ddof=0)[0, 1] / ((1 + n / others) * np.var(f, ddof=1))
        lam = float(np.clip(lam, 0, 1))
    value = y.mean() + lam * (fu.mean() - fl.mean())
    parts = [np.var(y - lam * fl, ddof=1) / n, lam**2 * np.var(fu, ddof=1) / others]
    influence = np.empty(len(f))
    influence[has_label] = (y - lam * fl - (y - lam * fl).mean()) / n
    influence[~has_label] = lam * (fu - fu.mean()) / others
    return has_label, value, parts, influence


def corrected_case(name, table, metric, found, low, high):
    has_label, value, parts, influence = found
    if "cluster" in table.columns:
        variance, units = clustered(table, influence), units_of(table, has_label)
    else:
        variance, units = sum(parts), [has_label.sum(), (~has_label).sum()]
    df, error = satterthwaite(parts, units), np.sqrt(variance)
    lower, upper = t_interval(0.95, df, value, error)
    options = ["--score-column", "judge", "--metric", metric]
    if "cluster" in table.columns:
        options += ["--cluster", "cluster"]
    expected = {"value": value, "stderr": error, "df": df, "lower": max(lower, low), "upper": min(upper, high)}
    return case(name, cells(table), options, *[figure(key, number) for key, number in expected.items()])


def ppi():
    for seed, (n, labelled, kind, clusters) in enumerate(
        [(60, 20, "binary", 0), (300, 80, "binary", 0), (100, 40, "stars", 0), (500, 50, "stars", 0),
         (200, 80, "binary", 20), (300, 120, "stars", 12)]
    ):
        table = judged(110 + seed, n, labelled, kind, clusters)
        low, high = (0, 1) if kind == "binary" else (-np.inf, np.inf)
        for lam in (None, 0, 1, 0.5):
            argument = "" if lam is None else f", lambda={lam}"
            name = f"ppi {n} {labelled} {kind} {clusters} {lam}"
            yield corrected_case(name, table, f'ppi("human"{argument})', ppi_expected(table, lam), low, high)


def rogan_gladen():
    for seed, (n, labelled, clusters) in enumerate([(80, 40, 0), (400, 100, 0), (1000, 200, 0), (300, 150, 25)]):
        table = judged(130 + seed, n, labelled, "binary", clusters)
        has_label = (table.human != "").to_numpy()
        f = table.judge.to_numpy(float)
        y = pd.to_numeric(table.human, errors="coerce").fillna(-1).to_numpy()
        p, t, u = f.mean(), f[y == 1].mean(), f[y == 0].mean()
        value = (p - u) / (t - u)
        influence = (f - p) / n
        influence = influence - np.where(y == 1, value * (f - t) / (y == 1).sum(), 0)
        influence = influence - np.where(y == 0, (1 - value) * (f - u) / (y == 0).sum(), 0)
        influence = influence / (t - u)
        parts = [float((influence[has_label] ** 2).sum()), float((influence[~has_label] ** 2).sum())]
        found = has_label, value, parts, influence
        yield corrected_case(f"rogan_gladen {n} {labelled} {clusters}", table, 'rogan_gladen("human")', found, 0, 1)


def cases():
    for group in (cohen, fleiss, gwet, krippendorff_cases, ppi, rogan_gladen):
        yield from group()
