"""What the themes are written with: samples, cases, and the values that several grids cross."""

NAN, INF = float("nan"), float("inf")
MISSING = object()  # the sample has no entry for the scorer


# ---------------------------------------------------------------- writing samples down


class S:
    """A score with more than a value."""

    def __init__(self, value, **parts):
        self.score = {"value": value} | parts


def score(value):
    return value.score if isinstance(value, S) else {"value": value}


def sample(ident, epoch, scores, metadata=None):
    out = {"id": str(ident), "epoch": epoch}
    if metadata is not None:
        out["metadata"] = metadata
    out["scores"] = {name: score(value) for name, value in scores.items() if value is not MISSING}
    return out


def rows(values, key=None, meta=None, scorer="s"):
    """One epoch: sample i has values[i] and, under `key`, meta[i] (MISSING: the key is absent)."""
    out = []
    for i, value in enumerate(values):
        metadata = None
        if key is not None:
            metadata = {} if meta[i] is MISSING else {key: meta[i]}
        out.append(sample(i + 1, 1, {scorer: value}, metadata))
    return out


def epochs(table, key=None, meta=None, scorer="s"):
    """table[i] are the epochs of sample i; samples are given epoch by epoch, as a run gives them."""
    deepest = max((len(row) for row in table), default=0)
    out = []
    for epoch in range(deepest):
        for i, row in enumerate(table):
            if epoch < len(row):
                metadata = None if key is None else {key: meta[i]}
                out.append(sample(i + 1, epoch + 1, {scorer: row[epoch]}, metadata))
    return out


# Verdicts on single cases of a grid.
VERDICT_BY_NAME = {
    "cluster-infinite-id-stderr": "json-metadata",
    "cluster-infinite-id-ci": "json-metadata",
    "cluster-infinite-id-ci-wilson": "json-metadata",
    "grouped-by-non-finite": "json-metadata",
    "grouped-by-non-finite-groups": "json-metadata",
    "cluster-key-null-stderr": "null-argument",
    "cluster-key-null-ci": "null-argument",
    "cluster-key-null-ci-wilson": "null-argument",
    "params-default-given": "null-argument",
    "grouped-all-positional": "positional",
}


def case(name, about, metrics=None, samples=(), reducers=None, scorers=None, task=None, headline=None, verdict=None):
    out = {
        "name": name,
        "about": about,
        "scorers": scorers if scorers is not None else [{"name": "s", "metrics": metrics}],
        "task_metrics": task,
        "reducers": reducers,
        "samples": list(samples),
    }
    if headline is not None:
        out["headline"] = headline
    verdict = verdict or VERDICT_BY_NAME.get(name)
    if verdict:
        out["verdict"] = verdict
    return out


def slug(text):
    kept = "".join(c if c.isalnum() else "-" for c in text.lower())
    return "-".join(part for part in kept.split("-") if part)


# ---------------------------------------------------------------- what the grids cross

MIXES = {
    "grades": ["C", "I", "P", "N", "C", "C"],
    "words": ["yes", "No", "TRUE", "false", "yEs", "no"],
    "numeric-text": ["1_000", " 5 ", "1e-2", ".5", "+5", "-3."],
    "odd-text": ["nan", "inf", "0x10", "c", " yes", "", "1__0", "٣"],
    "ints": [3, -1, 0, 7, 7, 2],
    "floats": [0.1, 0.2, 0.3, 0.7, 1e-9, 2.5],
    "bools": [True, False, True, True, False],
    "unit": [0.0, 0.25, 1.0, 0.5, 0.75],
    "binary": [1, 0, 1, 1, 0, 1, 0],
    "mixed": [1, "C", True, 0.5, "no", "0.25", "I"],
    "same": [0.1, 0.1, 0.1, 0.1],
    "offset": [1e9 + 0.25, 1e9 + 0.5, 1e9 + 0.75, 1e9 + 1.0],
    "tiny": [1e-300, 2e-300, 4e-300],
    "large": [1e150, -1e150, 3e150],
    "one": [0.5],
    "two": [0, 1],
    "two-same": [1, 1],
    "none": [],
}
CONVERTING = ["accuracy()", "mean()", "var()", "std()", "stderr()", "ci()"]
GRADED = "value_to_float(correct='yes', incorrect='no', partial='maybe', noanswer='skip')"
