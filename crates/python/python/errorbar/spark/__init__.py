"""Scores on Spark: the same figures, bit for bit, as `errorbar.score` gives on one machine.

    from errorbar import spark as eb_spark
    eb_spark.score(df, ["accuracy", "stderr"], by=("task", "model"), epoch="epoch", cluster="passage")

Needs Spark 4.0 or newer, and errorbar, pyarrow and pandas installed on the driver and on the executors. One machine is
enough for hundreds of millions of rows; this is for scores that live in a cluster already.
"""

from __future__ import annotations

from .._grouped import GroupedResults as GroupedResults
from ._logs import score_logs as score_logs
from ._score import score as score

__all__ = ["GroupedResults", "score", "score_logs"]
