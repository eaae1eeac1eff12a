"""What Inspect finds by its entry point `inspect_ai`: the metrics and reducers, by the names `errorbar/…`."""

from .inspect import _metrics as _metrics
from .inspect import _reducers as _reducers
