"""errorbar inside Inspect: its metrics and reducers with exact figures and error bars, and its data frames.

    from errorbar.inspect import accuracy, interval, samples_df

    Task(..., metrics=[accuracy(), interval()])
    samples_df("logs")

Metrics and reducers need inspect_ai; the data frames need pandas and pyarrow alone.
"""

from __future__ import annotations

from importlib import import_module as _import_module
from typing import TYPE_CHECKING, Any

from .._frames import _library

if TYPE_CHECKING:
    from ._frames import evals_df as evals_df
    from ._frames import messages_df as messages_df
    from ._frames import samples_df as samples_df
    from ._metrics import accuracy as accuracy
    from ._metrics import aggregate as aggregate
    from ._metrics import bootstrap_stderr as bootstrap_stderr
    from ._metrics import categorical as categorical
    from ._metrics import ci as ci
    from ._metrics import ci_wilson as ci_wilson
    from ._metrics import frequency as frequency
    from ._metrics import grouped as grouped
    from ._metrics import interval as interval
    from ._metrics import krippendorff_alpha as krippendorff_alpha
    from ._metrics import mean as mean
    from ._metrics import perplexity_per_seq as perplexity_per_seq
    from ._metrics import perplexity_per_token as perplexity_per_token
    from ._metrics import std as std
    from ._metrics import stderr as stderr
    from ._metrics import var as var
    from ._reducers import at_least as at_least
    from ._reducers import collect_score as collect_score
    from ._reducers import majority_score as majority_score
    from ._reducers import max_score as max_score
    from ._reducers import mean_score as mean_score
    from ._reducers import median_score as median_score
    from ._reducers import mode_score as mode_score
    from ._reducers import pass_at as pass_at
    from ._reducers import pass_k as pass_k

#: Where names are defined: the module of each is imported when it is first used.
_NAMES = {
    "evals_df": "._frames",
    "messages_df": "._frames",
    "samples_df": "._frames",
    "accuracy": "._metrics",
    "aggregate": "._metrics",
    "bootstrap_stderr": "._metrics",
    "categorical": "._metrics",
    "ci": "._metrics",
    "ci_wilson": "._metrics",
    "frequency": "._metrics",
    "grouped": "._metrics",
    "interval": "._metrics",
    "krippendorff_alpha": "._metrics",
    "mean": "._metrics",
    "perplexity_per_seq": "._metrics",
    "perplexity_per_token": "._metrics",
    "std": "._metrics",
    "stderr": "._metrics",
    "var": "._metrics",
    "at_least": "._reducers",
    "collect_score": "._reducers",
    "majority_score": "._reducers",
    "max_score": "._reducers",
    "mean_score": "._reducers",
    "median_score": "._reducers",
    "mode_score": "._reducers",
    "pass_at": "._reducers",
    "pass_k": "._reducers",
}

__all__ = [
    "evals_df",
    "messages_df",
    "samples_df",
    "accuracy",
    "aggregate",
    "bootstrap_stderr",
    "categorical",
    "ci",
    "ci_wilson",
    "frequency",
    "grouped",
    "interval",
    "krippendorff_alpha",
    "mean",
    "perplexity_per_seq",
    "perplexity_per_token",
    "std",
    "stderr",
    "var",
    "at_least",
    "collect_score",
    "majority_score",
    "max_score",
    "mean_score",
    "median_score",
    "mode_score",
    "pass_at",
    "pass_k",
]


def __getattr__(name: str) -> Any:
    if name not in _NAMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    # The data frames do not need it.
    if _NAMES[name] != "._frames":
        _library("inspect_ai", f"errorbar.inspect.{name}")
    value = getattr(_import_module(_NAMES[name], __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
