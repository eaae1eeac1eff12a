"""Confidence against correctness: scikit-learn, and DeLong's error from its definition."""

import numpy as np
from harness import case, figure, t_interval
from scipy import stats
from sklearn.calibration import calibration_curve
from sklearn.metrics import average_precision_score, brier_score_loss, log_loss, roc_auc_score

# Resamples on our side for errors by bootstrap; the standard deviation of B figures has an error of about 1/sqrt(2B).
DRAWS = 10_000


def cases():
    yield from closed_forms()
    yield from binned()
    yield from clustered()
    yield from resampled()


def predictions(random, n, kind):
    """Confidences and outcomes with both classes."""
    confidence = {
        "uniform": random.random(n),
        "high": random.beta(6, 2, n),
        "verbal": random.choice([0.0, 0.1, 0.5, 0.75, 0.8, 0.9, 0.95, 1.0], n),
    }[kind]
    right = (random.random(n) < 0.15 + 0.7 * confidence).astype(int)
    right[:2], right[2:4] = 1, 0
    return confidence, right


def data():
    """n - 1 is no multiple of the 6 bins of equal mass: there numpy's rounding may put an observation above its own quantile."""
    random = np.random.default_rng(7)
    for kind in ["uniform", "high", "verbal"]:
        for n in [8, 33, 200, 1499]:
            for _ in range(2):
                yield f"{kind} n {n}", *predictions(random, n, kind)


def closed_forms():
    for name, confidence, right in data():
        table = {"score": right, "confidence": confidence}
        n = len(right)
        squares = (confidence - right) ** 2
        losses = -np.log(np.clip(np.where(right == 1, confidence, 1 - confidence), 2**-52, 1 - 2**-52))
        options = ["--metric", "brier", "--metric", "log_loss", "--metric", "auroc", "--metric", "auprc"]
        options += ["--interval", "t", "--draws", "500"]
        figures = []
        for metric, expected, values in [
            ("brier", brier_score_loss(right, confidence), squares),
            ("log_loss", log_loss(right, confidence), losses),
        ]:
            low, high = t_interval(0.95, n - 1, values.mean(), stats.sem(values))
            figures += [
                figure("value", expected, metric=metric), figure("stderr", stats.sem(values), metric=metric),
                figure("lower", low, metric=metric), figure("upper", high, metric=metric),
            ]
        area = roc_auc_score(right, confidence)
        figures += [
            figure("value", area, metric="auroc"),
            figure("value", average_precision_score(right, confidence), metric="auprc"),
        ]
        error = delong(confidence, right)
        if 0 < area < 1 and error > 0:
            half = stats.norm.ppf(0.975) * error
            figures += [
                figure("stderr", error, metric="auroc"),
                figure("lower", area - half, metric="auroc"), figure("upper", area + half, metric="auroc"),
            ]
        yield case(f"closed forms {name}", table, options, *figures)
        if 0 < area < 1 and error > 0:
            logit, half = np.log(area / (1 - area)), stats.norm.ppf(0.95) * error / (area * (1 - area))
            yield case(
                f"logit interval {name}", table, ["--metric", "auroc", "--level", "0.9"],
                figure("lower", 1 / (1 + np.exp(-(logit - half)))), figure("upper", 1 / (1 + np.exp(-(logit + half)))),
            )


def placements(confidence, right):
    wins = confidence[right == 1][:, None] - confidence[right == 0][None, :]
    wins = (wins > 0) + 0.5 * (wins == 0)
    return wins.mean(axis=1), wins.mean(axis=0)


def delong(confidence, right):
    of_right, of_wrong = placements(confidence, right)
    return (of_right.var(ddof=1) / len(of_right) + of_wrong.var(ddof=1) / len(of_wrong)) ** 0.5


def binned():
    for name, confidence, right in data():
        table = {"score": right, "confidence": confidence}
        for bins, scheme in [(10, "width"), (7, "width"), (6, "mass")]:
            arguments = f'bins={bins}, scheme="{scheme}"'
            accuracies, confidences, counts = curve(confidence, right, bins, scheme)
            n = counts.sum()
            ece = (counts * abs(accuracies - confidences)).sum() / n
            spread = np.sqrt(accuracies * (1 - accuracies) / counts)
            distance = abs(accuracies - confidences)
            folded = np.where(spread > 0, stats.foldnorm.mean(distance / np.where(spread > 0, spread, 1), scale=np.where(spread > 0, spread, 1)), distance)
            debiased = (counts * (2 * distance - folded)).sum() / n
            reliability = (counts * distance**2).sum() / n
            resolution = (counts * (accuracies - right.mean()) ** 2).sum() / n
            uncertainty = right.mean() * (1 - right.mean())
            rest = brier_score_loss(right, confidence) - (reliability - resolution + uncertainty)
            options = ["--metric", f"ece({arguments})", "--metric", f"ece_debiased({arguments})"]
            options += ["--metric", f"brier_decomposition({arguments})", "--draws", "500"]
            parts = {"reliability": reliability, "resolution": resolution, "uncertainty": uncertainty, "within_bins": rest}
            yield case(
                f"bins {bins} {scheme} {name}", table, options,
                figure("value", ece, metric="ece"), figure("value", debiased, metric="ece_debiased"),
                *[figure("value", value, metric="brier_decomposition", key=key) for key, value in parts.items()],
            )


def curve(confidence, right, bins, scheme):
    """scikit-learn's reliability curve, with the counts that it does not return."""
    strategy = {"width": "uniform", "mass": "quantile"}[scheme]
    accuracies, confidences = calibration_curve(right, confidence, n_bins=bins, strategy=strategy)
    shares = np.linspace(0, 1, bins + 1)
    edges = shares if scheme == "width" else np.percentile(confidence, shares * 100)
    counts = np.bincount(np.searchsorted(edges[1:-1], confidence), minlength=bins)
    return accuracies, confidences, counts[counts > 0]


def clustered():
    """Obuchowski (1997) in the form of sums by cluster, and clustered means of the losses."""
    random = np.random.default_rng(8)
    for kind in ["uniform", "high", "verbal"]:
        for clusters in [6, 25]:
            confidence, right = predictions(random, clusters * 5, kind)
            labels = random.integers(0, clusters, clusters * 5)
            groups = len(np.unique(labels))
            table = {"score": right, "confidence": confidence, "passage": [f"p{label}" for label in labels]}
            area = roc_auc_score(right, confidence)
            of_right, of_wrong = placements(confidence, right)
            terms = np.zeros(len(right))
            terms[right == 1] = (of_right - area) / (right == 1).sum()
            terms[right == 0] = (of_wrong - area) / (right == 0).sum()
            sums = np.array([terms[labels == label].sum() for label in np.unique(labels)])
            squares = (confidence - right) ** 2
            residuals = np.array([(squares - squares.mean())[labels == label].sum() for label in np.unique(labels)])
            factor = groups / (groups - 1)
            yield case(
                f"clusters {clusters} {kind}", table,
                ["--metric", "auroc", "--metric", "brier", "--cluster", "passage", "--errors", "CR1"],
                figure("value", area, metric="auroc"),
                figure("stderr", (factor * (sums**2).sum()) ** 0.5, metric="auroc"),
                figure("stderr", (factor * (residuals**2).sum()) ** 0.5 / len(right), metric="brier"),
            )


def resampled():
    """Errors by bootstrap against one of numpy's with other draws."""
    random = np.random.default_rng(9)
    for kind in ["uniform", "high"]:
        confidence, right = predictions(random, 60, kind)
        table = {"score": right, "confidence": confidence}
        drawn = {"ece": [], "auprc": []}
        for _ in range(2_000):
            rows = random.integers(0, 60, 60)
            accuracies, confidences, counts = curve(confidence[rows], right[rows], 10, "width")
            drawn["ece"].append((counts * abs(accuracies - confidences)).sum() / 60)
            drawn["auprc"].append(average_precision_score(right[rows], confidence[rows]))
        figures = []
        for metric, values in drawn.items():
            error = np.std(values, ddof=1)
            noise = error * (1 / (2 * len(values)) + 1 / (2 * DRAWS)) ** 0.5
            figures.append(figure("stderr", error, metric=metric, monte_carlo_error=noise))
        yield case(
            f"bootstrap {kind}", table, ["--metric", "ece", "--metric", "auprc", "--draws", str(DRAWS)], *figures
        )
