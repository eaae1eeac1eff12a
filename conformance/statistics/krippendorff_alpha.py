"""Krippendorff's alpha against the package of that name."""

import numpy as np
import krippendorff
from harness import case, figure


def cases():
    random = np.random.default_rng(6)
    for level in ["nominal", "ordinal", "interval"]:
        for units, raters, values in [(6, 2, 2), (15, 3, 4), (40, 5, 5), (200, 2, 3)]:
            for noise in [0.1, 0.6]:
                truth = random.integers(1, values + 1, units)
                ratings = np.array([
                    np.where(random.random(units) < noise, random.integers(1, values + 1, units), truth)
                    for _ in range(raters)
                ])
                expected = krippendorff.alpha(reliability_data=ratings.astype(float), level_of_measurement=level)
                yield case(
                    f"{level} {units} units {raters} raters noise {noise}",
                    {"score": [list(map(int, unit)) for unit in ratings.T]},
                    ["--metric", f'krippendorff_alpha(level="{level}")'],
                    figure("value", expected, metric="krippendorff_alpha"),
                )
