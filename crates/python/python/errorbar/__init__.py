"""Scoring metrics for language-model evaluations, with honest error bars.

    import errorbar as eb
    eb.score("scores.csv", cluster="passage")
"""

from __future__ import annotations

from importlib import import_module as _import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._errorbar import VERSION as __version__
    from ._errorbar import Answer as Answer
    from ._errorbar import Comparison as Comparison
    from ._errorbar import Frame as Frame
    from ._errorbar import Partial as Partial
    from ._errorbar import PowerPlan as PowerPlan
    from ._errorbar import Results as Results
    from ._errorbar import Scores as Scores
    from ._errorbar import Verification as Verification
    from ._errors import Error as Error
    from ._errors import InputError as InputError
    from ._errors import LogError as LogError
    from ._errors import ScoreWarning as ScoreWarning
    from ._errors import SpecError as SpecError
    from ._errors import TableError as TableError
    from ._logs import evals as evals
    from ._logs import samples as samples
    from ._custom import Answered as Answered
    from ._custom import Estimate as Estimate
    from ._custom import metric as metric
    from ._custom import reducer as reducer
    from ._custom import scorer as scorer
    from ._compare import compare as compare
    from ._compare import power as power
    from ._compare import verify as verify
    from ._score import score as score

#: Where names are defined: the module of each is imported when it is first used.
_NAMES = {
    "Answer": "._errorbar",
    "Comparison": "._errorbar",
    "Frame": "._errorbar",
    "Partial": "._errorbar",
    "PowerPlan": "._errorbar",
    "Results": "._errorbar",
    "Scores": "._errorbar",
    "Verification": "._errorbar",
    "Error": "._errors",
    "InputError": "._errors",
    "LogError": "._errors",
    "ScoreWarning": "._errors",
    "SpecError": "._errors",
    "TableError": "._errors",
    "Answered": "._custom",
    "Estimate": "._custom",
    "metric": "._custom",
    "reducer": "._custom",
    "scorer": "._custom",
    "compare": "._compare",
    "power": "._compare",
    "verify": "._compare",
    "score": "._score",
    "evals": "._logs",
    "samples": "._logs",
}
#: Modules that are imported when they are first used.
_MODULES: tuple[str, ...] = ("inspect", "spark")

__all__ = [
    "__version__",
    "Answer",
    "Comparison",
    "Frame",
    "Partial",
    "PowerPlan",
    "Results",
    "Scores",
    "Verification",
    "Error",
    "InputError",
    "LogError",
    "ScoreWarning",
    "SpecError",
    "TableError",
    "Answered",
    "Estimate",
    "metric",
    "reducer",
    "scorer",
    "compare",
    "power",
    "verify",
    "score",
    "evals",
    "samples",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        value = _import_module("._errorbar", __name__).VERSION
    elif name in _NAMES:
        value = getattr(_import_module(_NAMES[name], __name__), name)
    elif name in _MODULES:
        value = _import_module("." + name, __name__)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, *_MODULES])
