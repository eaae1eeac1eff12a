//! A comparison as one flat record: an object of `comparisons` in JSON, a row of CSV.

use errorbar_core::{Defined, Estimate, Interval, IntervalSide, StdError, Undefined};
use errorbar_inference::{Comparison, ComparisonReport, Rank, Ranking};
use serde::Serialize;

use super::ComparisonView;
use crate::record::ColumnType;
use crate::record::{ClusterCounts, finite, note};

/// A comparison as one flat record, in the order of the columns of CSV. What there is none of is null; a reason is in
/// `undefined` if there should be one. A difference is the other side's value minus the base's.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ComparisonRecord {
    /// The side that the other is compared with.
    pub base: String,
    /// The other side.
    pub other: String,
    /// The scorer.
    pub scorer: String,
    /// The metric.
    pub metric: String,
    /// The metadata key of the group.
    pub group_key: Option<String>,
    /// The group; none for all samples, and for the mean over groups.
    pub group: Option<String>,
    /// The number of pairs; of scores of both sides, if unpaired.
    pub n: u64,
    /// Samples that only the base has.
    pub only_base: u64,
    /// Samples that only the other side has.
    pub only_other: u64,
    /// The base's value over the samples of the comparison.
    pub base_value: Option<f64>,
    /// The other side's value.
    pub other_value: Option<f64>,
    /// Other minus base.
    pub difference: Option<f64>,
    /// The standard error of the difference.
    pub stderr: Option<f64>,
    /// The degrees of freedom of that error; none if there are infinitely many.
    pub df: Option<f64>,
    /// The lower end of the difference's interval.
    pub lower: Option<f64>,
    /// The upper end.
    pub upper: Option<f64>,
    /// The confidence level of the interval.
    pub level: Option<f64>,
    /// How the interval was made.
    pub method: Option<String>,
    /// The p-value of the test of no difference, two-sided.
    pub p_value: Option<f64>,
    /// Which test.
    pub test: Option<&'static str>,
    /// The p-value after the correction for several comparisons.
    pub p_adjusted: Option<f64>,
    /// Which correction.
    pub correction: Option<&'static str>,
    /// The p-value of McNemar's exact test; only for pairs of zeros and ones.
    pub p_mcnemar_exact: Option<f64>,
    /// Its mid-p version.
    pub p_mcnemar_mid: Option<f64>,
    /// The p-value of the exact sign-flip permutation test.
    pub p_sign_flip: Option<f64>,
    /// The p-value of the test of equivalence.
    pub p_tost: Option<f64>,
    /// Pairs in which the other side is better.
    pub wins: Option<u64>,
    /// Pairs in which it is worse.
    pub losses: Option<u64>,
    /// Pairs without a difference.
    pub ties: Option<u64>,
    /// The correlation of the two sides over pairs.
    pub correlation: Option<f64>,
    /// The share of the variance of an unpaired difference that pairing removed.
    pub variance_removed: Option<f64>,
    /// The smallest difference that these samples detect with a power of 80 %.
    pub mde: Option<f64>,
    /// What the gate decides: `passed`, `failed` or `undecided`.
    pub gate: Option<&'static str>,
    /// The task, where it is known; none for the mean over tasks.
    pub task: Option<String>,
    /// The reducer, unless it is the implied mean or there is none.
    pub reducer: Option<String>,
    /// The key of map-valued scores.
    pub field: Option<String>,
    /// Which way the metric is better: `higher`, `lower` or `neither`.
    pub direction: &'static str,
    /// Whether samples are matched.
    pub paired: bool,
    /// The standard error of the base's value.
    pub base_stderr: Option<f64>,
    /// The lower end of its interval.
    pub base_lower: Option<f64>,
    /// The upper end of its interval.
    pub base_upper: Option<f64>,
    /// The standard error of the other side's value.
    pub other_stderr: Option<f64>,
    /// The lower end of its interval.
    pub other_lower: Option<f64>,
    /// The upper end of its interval.
    pub other_upper: Option<f64>,
    /// How the error of the difference was made.
    pub error_method: Option<&'static str>,
    /// What errors are clustered by; none for independent samples.
    pub cluster: Option<Vec<String>>,
    /// The number of clusters; a list of two for two ways of clustering.
    pub clusters: Option<ClusterCounts>,
    /// Which ends of the interval are bounds: `two-sided`, `lower` or `upper`.
    pub side: Option<&'static str>,
    /// Pairs right on both sides; only for pairs of zeros and ones.
    pub both_right: Option<u64>,
    /// Pairs wrong on both sides.
    pub both_wrong: Option<u64>,
    /// The number of samples without a score on a side.
    pub absent: u64,
    /// The difference if every absent score were the worst for the other side.
    pub bound_worst: Option<f64>,
    /// The difference if every absent score were the best for it.
    pub bound_best: Option<f64>,
    /// The seed of random figures.
    pub seed: Option<u64>,
    /// The number of resamples of random figures.
    pub draws: Option<u64>,
    /// Why parts do not exist.
    pub undefined: Option<UndefinedComparisonParts>,
    /// What else is to be known about the difference.
    pub note: Option<String>,
}

impl ComparisonRecord {
    /// The names of its fields, in order, and what columns of them hold.
    pub const COLUMNS: [(&'static str, ColumnType); 57] = {
        use ColumnType::{Bool, Float, Int, Ints, Json, Text, Unsigned};
        [
            ("base", Text),
            ("other", Text),
            ("scorer", Text),
            ("metric", Text),
            ("group_key", Text),
            ("group", Text),
            ("n", Int),
            ("only_base", Int),
            ("only_other", Int),
            ("base_value", Float),
            ("other_value", Float),
            ("difference", Float),
            ("stderr", Float),
            ("df", Float),
            ("lower", Float),
            ("upper", Float),
            ("level", Float),
            ("method", Text),
            ("p_value", Float),
            ("test", Text),
            ("p_adjusted", Float),
            ("correction", Text),
            ("p_mcnemar_exact", Float),
            ("p_mcnemar_mid", Float),
            ("p_sign_flip", Float),
            ("p_tost", Float),
            ("wins", Int),
            ("losses", Int),
            ("ties", Int),
            ("correlation", Float),
            ("variance_removed", Float),
            ("mde", Float),
            ("gate", Text),
            ("task", Text),
            ("reducer", Text),
            ("field", Text),
            ("direction", Text),
            ("paired", Bool),
            ("base_stderr", Float),
            ("base_lower", Float),
            ("base_upper", Float),
            ("other_stderr", Float),
            ("other_lower", Float),
            ("other_upper", Float),
            ("error_method", Text),
            ("cluster", Json),
            ("clusters", Ints),
            ("side", Text),
            ("both_right", Int),
            ("both_wrong", Int),
            ("absent", Int),
            ("bound_worst", Float),
            ("bound_best", Float),
            ("seed", Unsigned),
            ("draws", Int),
            ("undefined", Json),
            ("note", Text),
        ]
    };
}

/// Why parts of a comparison do not exist.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct UndefinedComparisonParts {
    /// Why the base has no value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_value: Option<String>,
    /// Why the other side has no value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other_value: Option<String>,
    /// Why there is no difference.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub difference: Option<String>,
    /// Why the difference has no standard error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stderr: Option<String>,
    /// Why it has no interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<String>,
    /// Why there is no p-value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p_value: Option<String>,
    /// Why there is no correlation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub correlation: Option<String>,
    /// Why it is unknown what pairing removed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variance_removed: Option<String>,
    /// Why it is unknown what could be detected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mde: Option<String>,
}

impl ComparisonRecord {
    /// A comparison as it is shown: with the name of the only task.
    pub fn in_view(comparison: &Comparison, view: &ComparisonView<'_>) -> Self {
        let record = ComparisonRecord::of(comparison, view.report);
        let task = record.task.or_else(|| view.only_task().map(str::to_owned));
        ComparisonRecord { task, ..record }
    }

    /// A comparison of a report.
    pub fn of(comparison: &Comparison, report: &ComparisonReport) -> Self {
        let c = comparison;
        let difference = &c.difference;
        let (error, interval) = (error_of(difference), interval_of(difference));
        let (base_error, base_interval) = (error_of(&c.base_estimate), interval_of(&c.base_estimate));
        let (other_error, other_interval) = (error_of(&c.other_estimate), interval_of(&c.other_estimate));
        let test = c.test.as_ref().ok();
        let ends = |interval: Option<&Interval>| {
            (interval.and_then(|i| finite(i.lower)), interval.and_then(|i| finite(i.upper)))
        };
        let ((lower, upper), (base_lower, base_upper)) = (ends(interval), ends(base_interval));
        let (other_lower, other_upper) = ends(other_interval);
        let p_adjusted = c.p_adjusted.and_then(finite);
        ComparisonRecord {
            base: c.base.clone(),
            other: c.other.clone(),
            scorer: c.scorer.clone(),
            metric: c.metric.clone(),
            group_key: c.group_key.clone(),
            group: c.group.clone(),
            n: c.n,
            only_base: c.only_base,
            only_other: c.only_other,
            base_value: c.base_estimate.number().and_then(finite),
            other_value: c.other_estimate.number().and_then(finite),
            difference: difference.number().and_then(finite),
            stderr: error.and_then(|error| finite(error.se)),
            df: match (error, interval) {
                (Some(error), _) => finite(error.df),
                (None, interval) => interval.and_then(|interval| interval.df).and_then(finite),
            },
            lower,
            upper,
            level: interval.and_then(|interval| finite(interval.level)),
            method: interval.map(|interval| interval.method.to_string()),
            p_value: test.and_then(|test| finite(test.p_value)),
            test: test.map(|test| test.method.name()),
            p_adjusted,
            correction: report.options.correction.filter(|_| p_adjusted.is_some()).map(|c| c.name()),
            p_mcnemar_exact: c.flips.and_then(|flips| finite(flips.p_exact)),
            p_mcnemar_mid: c.flips.and_then(|flips| finite(flips.p_mid)),
            p_sign_flip: c.p_sign_flip.and_then(finite),
            p_tost: c.p_tost.and_then(finite),
            wins: c.wins,
            losses: c.losses,
            ties: c.ties,
            correlation: number(&c.correlation),
            variance_removed: number(&c.variance_removed),
            mde: number(&c.mde),
            gate: c.gate.map(|gate| gate.name()),
            task: c.task.clone(),
            reducer: c.reducer.clone(),
            field: c.field.clone(),
            direction: c.direction.name(),
            paired: c.is_paired,
            base_stderr: base_error.and_then(|error| finite(error.se)),
            base_lower,
            base_upper,
            other_stderr: other_error.and_then(|error| finite(error.se)),
            other_lower,
            other_upper,
            error_method: error.map(|error| error.method.name()),
            cluster: (!c.cluster.is_empty()).then(|| c.cluster.clone()),
            clusters: error.and_then(|error| ClusterCounts::of(&error.clusters)),
            side: interval.map(|interval| interval.side.name()),
            both_right: c.flips.map(|flips| flips.both_right),
            both_wrong: c.flips.map(|flips| flips.both_wrong),
            absent: difference.absent,
            bound_worst: difference.bounds.and_then(|bounds| finite(bounds.worst)),
            bound_best: difference.bounds.and_then(|bounds| finite(bounds.best)),
            seed: difference.draws.map(|draws| draws.seed),
            draws: difference.draws.map(|draws| draws.count),
            undefined: UndefinedComparisonParts::of(c),
            note: note(difference),
        }
    }
}

/// The error, unless it is 0 because nothing varies: that is no information.
pub(super) fn error_of(estimate: &Estimate) -> Option<&StdError> {
    let error = estimate.error.as_ref().ok().filter(|_| estimate.value.is_ok());
    error.filter(|error| !error.degenerate && error.se > 0.0)
}

/// The interval, unless its ends are equal.
pub(super) fn interval_of(estimate: &Estimate) -> Option<&Interval> {
    let interval = estimate.interval.as_ref().ok().filter(|_| estimate.value.is_ok());
    interval.filter(|i| i.lower != i.upper && !i.lower.is_nan() && !i.upper.is_nan())
}

fn number(part: &Defined<f64>) -> Option<f64> {
    part.as_ref().ok().copied().and_then(finite)
}

impl UndefinedComparisonParts {
    fn of(c: &Comparison) -> Option<Self> {
        let difference = &c.difference;
        let test = c.test.as_ref().map(|test| test.p_value).map_err(Clone::clone);
        let parts = UndefinedComparisonParts {
            base_value: why(&c.base_estimate.value),
            other_value: why(&c.other_estimate.value),
            difference: why(&difference.value),
            stderr: why_no_error(difference),
            interval: why_no_interval(difference),
            p_value: why(&test),
            correlation: why_no_pairing(&c.correlation),
            variance_removed: why_no_pairing(&c.variance_removed),
            mde: why(&c.mde),
        };
        (parts != UndefinedComparisonParts::default()).then_some(parts)
    }
}

/// Why a number does not exist.
fn why(part: &Defined<f64>) -> Option<String> {
    match part {
        Ok(number) if number.is_finite() => None,
        Ok(_) => Some(Undefined::Overflow.to_string()),
        Err(reason) => Some(reason.to_string()),
    }
}

/// Why a number about pairs does not exist: a figure that is no mean of per-sample numbers has none.
fn why_no_pairing(part: &Defined<f64>) -> Option<String> {
    match part {
        Err(Undefined::NotAvailable) => Some("not defined for this figure".to_owned()),
        part => why(part),
    }
}

/// Why an estimate shows no error.
pub(super) fn why_no_error(estimate: &Estimate) -> Option<String> {
    if error_of(estimate).is_some_and(|error| error.se.is_finite()) {
        return None;
    }
    Some(match (&estimate.value, &estimate.error) {
        (Err(reason), _) | (Ok(_), Err(reason)) => reason.to_string(),
        (Ok(_), Ok(error)) if error.se.is_finite() => "no spread".to_owned(),
        (Ok(_), Ok(_)) => Undefined::Overflow.to_string(),
    })
}

/// Why an estimate shows no interval.
pub(super) fn why_no_interval(estimate: &Estimate) -> Option<String> {
    let is_end = |interval: &Interval| {
        let is_known = |end: f64, open: IntervalSide| end.is_finite() || interval.side == open;
        is_known(interval.lower, IntervalSide::Upper) && is_known(interval.upper, IntervalSide::Lower)
    };
    if interval_of(estimate).is_some_and(is_end) {
        return None;
    }
    Some(match (&estimate.value, &estimate.interval) {
        (Err(reason), _) | (Ok(_), Err(reason)) => reason.to_string(),
        (Ok(_), Ok(interval)) if interval.lower == interval.upper => "no spread".to_owned(),
        (Ok(_), Ok(_)) => Undefined::Overflow.to_string(),
    })
}

/// A ranking as JSON has it.
#[derive(Debug, Serialize)]
pub(crate) struct RankingRecord<'a> {
    scorer: &'a str,
    reducer: Option<&'a str>,
    field: Option<&'a str>,
    metric: &'a str,
    task: Option<&'a str>,
    n: u64,
    level: f64,
    ranks: Vec<RankRecord<'a>>,
}

/// A side of a ranking as JSON has it.
#[derive(Debug, Serialize)]
struct RankRecord<'a> {
    side: &'a str,
    rank: u32,
    rank_best: u32,
    rank_worst: u32,
    tie_groups: &'a str,
    value: Option<f64>,
    stderr: Option<f64>,
    lower: Option<f64>,
    upper: Option<f64>,
    method: Option<String>,
    undefined: Option<String>,
}

impl<'a> RankingRecord<'a> {
    /// A ranking as it is shown: with the name of the only task.
    pub(crate) fn in_view(ranking: &'a Ranking, view: &ComparisonView<'a>) -> Self {
        let record = RankingRecord::from(ranking);
        RankingRecord { task: record.task.or(view.only_task()), ..record }
    }
}

impl<'a> From<&'a Ranking> for RankingRecord<'a> {
    fn from(ranking: &'a Ranking) -> Self {
        RankingRecord {
            scorer: &ranking.scorer,
            reducer: ranking.reducer.as_deref(),
            field: ranking.field.as_deref(),
            metric: &ranking.metric,
            task: ranking.task.as_deref(),
            n: ranking.n,
            level: ranking.level,
            ranks: ranking.ranks.iter().map(RankRecord::from).collect(),
        }
    }
}

impl<'a> From<&'a Rank> for RankRecord<'a> {
    fn from(rank: &'a Rank) -> Self {
        let interval = interval_of(&rank.estimate);
        RankRecord {
            side: &rank.side,
            rank: rank.rank,
            rank_best: rank.interval.0,
            rank_worst: rank.interval.1,
            tie_groups: &rank.tie_groups,
            value: rank.estimate.number().and_then(finite),
            stderr: error_of(&rank.estimate).and_then(|error| finite(error.se)),
            lower: interval.and_then(|interval| finite(interval.lower)),
            upper: interval.and_then(|interval| finite(interval.upper)),
            method: interval.map(|interval| interval.method.to_string()),
            undefined: why(&rank.estimate.value),
        }
    }
}
