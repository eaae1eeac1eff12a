"""Macro means, and pass@k of epochs."""

from math import comb

import numpy as np
from harness import case, figure
from scipy import stats


def cases():
    yield from macro_means()
    yield from pass_at_k()


def macro_means():
    random = np.random.default_rng(4)
    for sizes in [[3, 2], [5, 5, 5], [2, 30, 4, 9]]:
        for _ in range(3):
            groups = [random.random(size) for size in sizes]
            means = [group.mean() for group in groups]
            table = {
                "score": np.concatenate(groups),
                "topic": [f"t{at}" for at, group in enumerate(groups) for _ in group],
            }
            figures = [figure("value", np.mean(means), group_key="topic", group=None)]
            for at, group in enumerate(groups):
                figures += [
                    figure("value", group.mean(), group=f"t{at}"),
                    figure("stderr", stats.sem(group), group=f"t{at}"),
                ]
            yield case(f"macro mean {sizes}", table, ["--metric", 'grouped(mean(), "topic", all="groups")'], *figures)


def pass_at_k():
    random = np.random.default_rng(5)
    for epochs, k in [(4, 1), (4, 2), (4, 4), (10, 3), (10, 5), (16, 8)]:
        for _ in range(2):
            right = random.integers(0, epochs + 1, 25)
            table = {"id": [], "epoch": [], "score": []}
            for sample, count in enumerate(right):
                outcomes = random.permutation([1] * count + [0] * (epochs - count))
                table["id"] += [f"q{sample}"] * epochs
                table["epoch"] += list(range(1, epochs + 1))
                table["score"] += list(outcomes)
            at = np.array([1 - comb(int(epochs - c), k) / comb(epochs, k) for c in right])
            hat = np.array([comb(int(c), k) / comb(epochs, k) for c in right])
            for reducer, values in [("pass_at", at), ("pass_k", hat)]:
                yield case(
                    f"{reducer} {k} of {epochs}", table, ["--metric", "mean", "--reducer", f"{reducer}_{k}"],
                    figure("value", values.mean()), figure("stderr", stats.sem(values)),
                )
