//! An estimate as one flat record: a row of `estimates` in JSON, a row of CSV.

use errorbar_core::{Defined, Estimate, EstimateRow, IntervalSide, Results, ScoreResult, Undefined};
use serde::Serialize;
use serde_json::Value as Json;

use crate::rows::{groups, keys};

/// An estimate as one flat record, in the order of the columns of CSV. What there is none of is null.
///
/// A number that is not finite is null, too. Names of nested groups are joined by ` / `.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct EstimateRecord {
    /// The scorer.
    pub scorer: String,
    /// The reducer, unless it is the implied mean or there is none.
    pub reducer: Option<String>,
    /// Whether every epoch counts by itself.
    pub unreduced: bool,
    /// The field of map-valued scores.
    pub field: Option<String>,
    /// The name of the innermost metric.
    pub metric: String,
    /// The metric with its arguments; none if it failed.
    pub spec: Option<String>,
    /// The metadata key that samples are grouped by.
    pub group_key: Option<String>,
    /// The group; none for all samples, and for the mean of the groups.
    pub group: Option<String>,
    /// The key, for a metric that returns a map.
    pub key: Option<String>,
    /// The position from 1, for a metric that returns a list.
    pub index: Option<usize>,
    /// The number.
    pub value: Option<f64>,
    /// Its standard error; without information if it is degenerate.
    pub stderr: Option<f64>,
    /// The standard error over runs of the same samples; only of means over epochs.
    pub stderr_fixed: Option<f64>,
    /// How the error was made.
    pub error_method: Option<&'static str>,
    /// The degrees of freedom of the error; none if there are infinitely many.
    pub df: Option<f64>,
    /// The number of clusters; a list of two for two ways of clustering.
    pub clusters: Option<ClusterCounts>,
    /// The lower end of the interval; none for an upper bound if the range of scores is unknown.
    pub lower: Option<f64>,
    /// The upper end of the interval; none for a lower bound if the range of scores is unknown.
    pub upper: Option<f64>,
    /// The confidence level of the interval.
    pub level: Option<f64>,
    /// How the interval was made: a name, with its arguments if there are any.
    pub method: Option<String>,
    /// Which ends of the interval are bounds: `two-sided`, `lower` or `upper`.
    pub side: Option<&'static str>,
    /// The number of scores; none if the metric failed.
    pub n: Option<u64>,
    /// The number of samples without a score; none if the metric failed.
    pub absent: Option<u64>,
    /// The number of samples with a score of whose epochs some have none, if the bounds count those; none if there are
    /// no such samples.
    pub partly_absent: Option<u64>,
    /// The number if all absent samples had the lowest score.
    pub bound_worst: Option<f64>,
    /// The number if all absent samples had the highest score.
    pub bound_best: Option<f64>,
    /// The number if all absent samples counted as 0.
    pub absent_as_wrong: Option<f64>,
    /// The number of independent scores that would give this error.
    pub effective_n: Option<f64>,
    /// The variance with clusters over the variance without.
    pub design_effect: Option<f64>,
    /// The share of the scores that the largest cluster has.
    pub largest_cluster_share: Option<f64>,
    /// Whether the error is 0 because all scores are equal; none without an error.
    pub degenerate: Option<bool>,
    /// The seed of random figures.
    pub seed: Option<u64>,
    /// The number of resamples of random figures.
    pub draws: Option<u64>,
    /// Why parts do not exist.
    pub undefined: Option<UndefinedParts>,
    /// What else is to be known.
    pub note: Option<String>,
}

impl EstimateRecord {
    /// The names of its fields, in order, and what columns of them hold.
    pub const COLUMNS: [(&'static str, ColumnType); 35] = {
        use ColumnType::{Bool, Float, Int, Ints, Json, Text, Unsigned};
        [
            ("scorer", Text),
            ("reducer", Text),
            ("unreduced", Bool),
            ("field", Text),
            ("metric", Text),
            ("spec", Text),
            ("group_key", Text),
            ("group", Text),
            ("key", Text),
            ("index", Int),
            ("value", Float),
            ("stderr", Float),
            ("stderr_fixed", Float),
            ("error_method", Text),
            ("df", Float),
            ("clusters", Ints),
            ("lower", Float),
            ("upper", Float),
            ("level", Float),
            ("method", Text),
            ("side", Text),
            ("n", Int),
            ("absent", Int),
            ("partly_absent", Int),
            ("bound_worst", Float),
            ("bound_best", Float),
            ("absent_as_wrong", Float),
            ("effective_n", Float),
            ("design_effect", Float),
            ("largest_cluster_share", Float),
            ("degenerate", Bool),
            ("seed", Unsigned),
            ("draws", Int),
            ("undefined", Json),
            ("note", Text),
        ]
    };
}

/// The number of clusters: one number, or one for each way of clustering.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum ClusterCounts {
    /// One way of clustering.
    One(u64),
    /// Several ways.
    Several(Vec<u64>),
}

impl ClusterCounts {
    /// None for independent scores.
    pub(crate) fn of(clusters: &[u64]) -> Option<Self> {
        match clusters {
            [] => None,
            [one] => Some(ClusterCounts::One(*one)),
            several => Some(ClusterCounts::Several(several.to_vec())),
        }
    }
}

/// Why parts of an estimate do not exist.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct UndefinedParts {
    /// Why there is no number; also the error of a metric that failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// Why there is no standard error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stderr: Option<String>,
    /// Why there is no interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<String>,
}

/// All estimates of results as flat records.
pub fn estimates(results: &Results) -> Vec<EstimateRecord> {
    results.rows().iter().map(EstimateRecord::from).collect()
}

/// The same with a record for each metric that failed, after the others of its scores.
pub fn all_estimates(results: &Results) -> Vec<EstimateRecord> {
    let of_score = |(at, score): (usize, &ScoreResult)| {
        let rows = results.rows_of(at);
        let mut records: Vec<EstimateRecord> = rows.iter().map(EstimateRecord::from).collect();
        records.extend(
            score
                .failures
                .iter()
                .map(|failure| EstimateRecord::failed(score, &failure.metric, failure.error.to_string())),
        );
        records
    };
    results.scores.iter().enumerate().flat_map(of_score).collect()
}

impl From<&EstimateRow<'_>> for EstimateRecord {
    fn from(row: &EstimateRow<'_>) -> Self {
        let estimate = row.estimate.as_ref();
        let joined = |parts: Vec<String>| (!parts.is_empty()).then(|| parts.join(" / "));
        let text = |text: Option<&str>| text.map(str::to_owned);
        EstimateRecord {
            scorer: row.scorer.to_owned(),
            reducer: text(row.reducer),
            unreduced: row.unreduced,
            field: text(row.field),
            metric: row.metric.to_owned(),
            spec: Some(row.result.spec.to_string()),
            group_key: joined(keys(row)),
            group: joined(groups(row).into_iter().map(str::to_owned).collect()),
            key: text(row.key),
            index: row.index,
            n: Some(estimate.n),
            absent: Some(estimate.absent),
            ..EstimateRecord::of(estimate)
        }
    }
}

impl EstimateRecord {
    /// The numbers of an estimate.
    fn of(estimate: &Estimate) -> Self {
        let error = estimate.error.as_ref().ok();
        let interval = estimate.interval.as_ref().ok();
        let (bounds, notes) = (estimate.bounds, &estimate.notes);
        EstimateRecord {
            value: estimate.number().and_then(finite),
            stderr: error.and_then(|error| finite(error.se)),
            stderr_fixed: notes.stderr_fixed.and_then(finite),
            error_method: error.map(|error| error.method.name()),
            df: match (error, interval) {
                (Some(error), _) => finite(error.df),
                (None, Some(interval)) => interval.df.and_then(finite),
                (None, None) => None,
            },
            clusters: match error {
                None => notes.clusters.map(ClusterCounts::One),
                Some(error) => ClusterCounts::of(&error.clusters),
            },
            lower: interval.and_then(|interval| finite(interval.lower)),
            upper: interval.and_then(|interval| finite(interval.upper)),
            level: interval.and_then(|interval| finite(interval.level)),
            method: interval.map(|interval| interval.method.to_string()),
            side: interval.map(|interval| interval.side.name()),
            partly_absent: notes.partly_absent,
            bound_worst: bounds.and_then(|bounds| finite(bounds.worst)),
            bound_best: bounds.and_then(|bounds| finite(bounds.best)),
            absent_as_wrong: bounds.and_then(|bounds| finite(bounds.absent_as_wrong)),
            effective_n: notes.effective_n.and_then(finite),
            design_effect: notes.design_effect.and_then(finite),
            largest_cluster_share: notes.largest_cluster_share.and_then(finite),
            degenerate: error.map(|error| error.degenerate),
            seed: estimate.draws.map(|draws| draws.seed),
            draws: estimate.draws.map(|draws| draws.count),
            undefined: UndefinedParts::of(estimate),
            note: note(estimate),
            ..EstimateRecord::default()
        }
    }

    /// A metric that failed: no number, and the error in place of a reason.
    pub(crate) fn failed(score: &ScoreResult, metric: &str, error: String) -> Self {
        EstimateRecord {
            scorer: score.scorer.clone(),
            reducer: score.reducer.clone(),
            unreduced: score.unreduced,
            field: score.field.clone(),
            metric: metric.to_owned(),
            undefined: Some(UndefinedParts { value: Some(error), ..UndefinedParts::default() }),
            ..EstimateRecord::default()
        }
    }
}

pub(crate) fn finite(number: f64) -> Option<f64> {
    // + 0.0 takes the sign off a negative zero.
    number.is_finite().then_some(number + 0.0)
}

impl UndefinedParts {
    fn of(estimate: &Estimate) -> Option<Self> {
        fn why<T>(part: &Defined<T>, is_finite: impl Fn(&T) -> bool) -> Option<String> {
            match part {
                Ok(part) if is_finite(part) => None,
                Ok(_) => Some(Undefined::Overflow.to_string()),
                Err(reason) => Some(reason.to_string()),
            }
        }
        let parts = UndefinedParts {
            value: why(&estimate.value, |value| value.is_finite()),
            stderr: why(&estimate.error, |error| error.se.is_finite()),
            interval: why(&estimate.interval, |interval| {
                // The end that is no bound is nowhere if the range of scores is unknown.
                let is_end = |end: f64, open: IntervalSide| end.is_finite() || interval.side == open;
                is_end(interval.lower, IntervalSide::Upper) && is_end(interval.upper, IntervalSide::Lower)
            }),
        };
        (parts != UndefinedParts::default()).then_some(parts)
    }
}

pub(crate) fn note(estimate: &Estimate) -> Option<String> {
    // Lists and maps are data; `results` has them.
    let remarks = estimate.notes.custom.iter().filter(|(_, value)| !value.is_array() && !value.is_object());
    let custom = remarks.map(|(key, value)| match value {
        Json::String(text) => format!("{key}: {text}"),
        other => format!("{key}: {other}"),
    });
    let spans = estimate.notes.clusters_span_groups.then(|| "clusters span groups".to_owned());
    let population = estimate.notes.population.map(|population| format!("of a population of {population}"));
    let reason = estimate.notes.reason.clone();
    let notes: Vec<String> = estimate
        .notes
        .early_stop
        .clone()
        .into_iter()
        .chain(reason)
        .chain(population)
        .chain(spans)
        .chain(custom)
        .collect();
    (!notes.is_empty()).then(|| notes.join("; "))
}

/// What a column of records holds, nulls apart: for those who make a table with types of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ColumnType {
    /// Strings.
    Text,
    /// Floating-point numbers.
    Float,
    /// Integers.
    Int,
    /// Integers up to 2^64, such as seeds.
    Unsigned,
    /// Booleans.
    Bool,
    /// A list of integers; one integer is a list of it.
    Ints,
    /// Lists and maps.
    Json,
}

impl ColumnType {
    /// Whether a column of this type has this value as it is.
    ///
    /// ```
    /// use errorbar_report::ColumnType;
    /// use serde_json::json;
    /// assert!(ColumnType::Int.holds(&json!(3)) && ColumnType::Int.holds(&json!(null)));
    /// assert!(!ColumnType::Int.holds(&json!(0.5)));
    /// ```
    pub fn holds(self, value: &Json) -> bool {
        value.is_null()
            || match self {
                ColumnType::Text => value.is_string(),
                ColumnType::Float => value.is_number(),
                ColumnType::Int => value.is_i64(),
                ColumnType::Unsigned => value.is_u64(),
                ColumnType::Bool => value.is_boolean(),
                ColumnType::Ints => {
                    value.is_i64() || value.as_array().is_some_and(|items| items.iter().all(Json::is_i64))
                }
                ColumnType::Json => value.is_array() || value.is_object(),
            }
    }
}
