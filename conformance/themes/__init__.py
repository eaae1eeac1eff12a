"""The cases, theme by theme. Each theme is a function that returns a list; `all_themes` names the files.

A case has what goes in; what comes out is added by `reference.ask`. Written-out cases first, then grids that cross
every value type with every metric or reducer so that no corner depends on someone having thought of it.
"""

from . import agreement, groups, intervals, maps, metrics, naming, perplexity, reducers, scorers, unscored


def all_themes():
    """(file, what it is about, cases)"""
    return [
        ("metrics-basic", "accuracy, mean, var, std, stderr, ci and ci_wilson over every value type", metrics.metrics_basic()),
        ("infinite", "infinite scores", metrics.infinite()),
        ("clustered", "clustered standard errors and intervals", intervals.clustered()),
        ("ranges", "levels and values out of range", intervals.wilson_range()),
        ("bootstrap", "random figures", intervals.bootstrap()),
        ("grouped", "metrics by group", groups.grouped()),
        ("aggregate", "one field of map scores", groups.aggregate()),
        ("frequency", "shares and counts of values", agreement.frequency()),
        ("krippendorff", "agreement of raters", agreement.krippendorff()),
        ("perplexity", "perplexity from score metadata", perplexity.perplexity()),
        ("conversion", "configured conversions", metrics.conversion()),
        ("reducers", "every reducer over every kind of epochs", reducers.reducers()),
        ("reducer-errors", "epochs that do not fit together", reducers.reducer_errors()),
        ("reducer-options", "k, thresholds, names and lists of reducers", reducers.reducer_options()),
        ("reducer-fields", "answer, explanation, reason and metadata across epochs", reducers.reducer_fields()),
        ("majority", "the majority reducer and its panel", reducers.majority()),
        ("unscored", "NaN at the root", unscored.unscored()),
        ("missing", "samples without a score", unscored.missing()),
        ("empty", "nothing to compute from", unscored.empty()),
        ("naming", "keys, names, groups and recorded arguments", naming.naming()),
        ("maps", "metrics by key of map scores", maps.maps()),
        ("wants", "reduced and unreduced metrics", scorers.wants()),
        ("scorers", "several scorers, task metrics, ids", scorers.scorers()),
        ("headline", "which metric stands for the whole", scorers.headline()),
    ]
