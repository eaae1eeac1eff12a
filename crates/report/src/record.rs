//! A row of results as one flat record: an object of `estimates` in JSON, a row of CSV. Each column is declared once, with
//! its name, what it holds, and its value.

use errorbar_core::{Defined, Estimate, EstimateRow, Interval, IntervalSide, Results, StdError, Undefined};
use serde_json::Value as Json;

use crate::table::{groups, keys};

/// A row of results or of comparisons as data: a value for each column, in their order. What does not exist is null, and so
/// is a number that is not finite.
pub type Record = serde_json::Map<String, Json>;

/// A column: its name, what it holds, and its value in a row.
type EstimateColumn = (&'static str, ColumnType, fn(&EstimateRow<'_>) -> Json);

const COLUMNS: [EstimateColumn; 35] = {
    use ColumnType::{Bool, Float, Int, Ints, Json as Nested, Text, Unsigned};
    [
        ("scorer", Text, |row| row.scorer.into()),
        // Unless it is the implied mean or there is none.
        ("reducer", Text, |row| row.reducer.into()),
        // Whether every epoch counts by itself.
        ("unreduced", Bool, |row| row.unreduced.into()),
        ("field", Text, |row| row.field.into()),
        // The name of the innermost metric, then the metric with its arguments.
        ("metric", Text, |row| row.metric.into()),
        ("spec", Text, |row| row.result.spec.to_string().into()),
        // The group is null for all samples, and for the mean of the groups. Names of nested groups are joined.
        ("group_key", Text, |row| joined(&keys(row))),
        ("group", Text, |row| joined(&groups(row))),
        // Of a metric that returns a map, or a list: then the position from 1.
        ("key", Text, |row| row.key.into()),
        ("index", Int, |row| row.index.into()),
        ("value", Float, |row| number(row.estimate.number())),
        ("stderr", Float, |row| number(error(row).map(|error| error.se))),
        // The standard error over runs of the same samples; only of means over epochs.
        ("stderr_fixed", Float, |row| number(row.estimate.notes.stderr_fixed)),
        ("error_method", Text, |row| error(row).map(|error| error.method.name()).into()),
        ("df", Float, |row| number(degrees_of_freedom(error(row), interval(row)))),
        ("clusters", Ints, |row| match error(row) {
            None => row.estimate.notes.clusters.into(),
            Some(error) => cluster_counts(&error.clusters),
        }),
        // An end is null where a bound has no other end, as the range of scores is unknown.
        ("lower", Float, |row| number(interval(row).map(|interval| interval.lower))),
        ("upper", Float, |row| number(interval(row).map(|interval| interval.upper))),
        ("level", Float, |row| number(interval(row).map(|interval| interval.level))),
        ("method", Text, |row| interval(row).map(|interval| interval.method.to_string()).into()),
        ("side", Text, |row| interval(row).map(|interval| interval.side.name()).into()),
        ("n", Int, |row| row.estimate.n.into()),
        ("absent", Int, |row| row.estimate.absent.into()),
        // The samples of whose epochs some have no score, if the bounds count those.
        ("partly_absent", Int, |row| row.estimate.notes.partly_absent.into()),
        ("bound_worst", Float, |row| number(row.estimate.bounds.map(|bounds| bounds.worst))),
        ("bound_best", Float, |row| number(row.estimate.bounds.map(|bounds| bounds.best))),
        ("absent_as_wrong", Float, |row| number(row.estimate.bounds.map(|bounds| bounds.absent_as_wrong))),
        // The number of independent scores that would give this error.
        ("effective_n", Float, |row| number(row.estimate.notes.effective_n)),
        ("design_effect", Float, |row| number(row.estimate.notes.design_effect)),
        ("largest_cluster_share", Float, |row| number(row.estimate.notes.largest_cluster_share)),
        // Whether the error is 0 because all scores are equal.
        ("degenerate", Bool, |row| error(row).map(|error| error.degenerate).into()),
        ("seed", Unsigned, |row| row.estimate.draws.map(|draws| draws.seed).into()),
        ("draws", Int, |row| row.estimate.draws.map(|draws| draws.count).into()),
        ("undefined", Nested, |row| undefined(&row.estimate)),
        ("note", Text, |row| note(&row.estimate).into()),
    ]
};

/// The names of the columns of [`estimates`], in order, and what they hold.
pub fn estimate_columns() -> Vec<(&'static str, ColumnType)> {
    COLUMNS.iter().map(|(name, holds, _)| (*name, *holds)).collect()
}

/// All estimates of results as flat records.
pub fn estimates(results: &Results) -> Vec<Record> {
    results.rows().iter().map(record).collect()
}

/// The same with a record for each metric that failed, after the others of its scores: without a value, and with the error in
/// place of a reason.
pub fn all_estimates(results: &Results) -> Vec<Record> {
    let mut records = Vec::new();
    for (at, score) in results.scores.iter().enumerate() {
        records.extend(results.rows_of(at).iter().map(record));
        for failure in &score.failures {
            let mut record: Record =
                COLUMNS.iter().map(|(name, ..)| ((*name).to_owned(), Json::Null)).collect();
            let known = [
                ("scorer", score.scorer.clone().into()),
                ("reducer", score.reducer.clone().into()),
                ("unreduced", score.unreduced.into()),
                ("field", score.field.clone().into()),
                ("metric", failure.metric.clone().into()),
                ("undefined", reasons([("value", Some(failure.error.to_string()))])),
            ];
            record.extend(known.map(|(name, value)| (name.to_owned(), value)));
            records.push(record);
        }
    }
    records
}

fn record(row: &EstimateRow<'_>) -> Record {
    COLUMNS.iter().map(|(name, _, value)| ((*name).to_owned(), value(row))).collect()
}

fn error<'r>(row: &'r EstimateRow<'_>) -> Option<&'r StdError> {
    row.estimate.error.as_ref().ok()
}

fn interval<'r>(row: &'r EstimateRow<'_>) -> Option<&'r Interval> {
    row.estimate.interval.as_ref().ok()
}

fn joined<T: AsRef<str>>(parts: &[T]) -> Json {
    let parts: Vec<&str> = parts.iter().map(AsRef::as_ref).collect();
    (!parts.is_empty()).then(|| parts.join(" / ")).into()
}

/// A number, null if it is not finite. + 0.0 takes the sign off a negative zero.
pub(crate) fn number(number: Option<f64>) -> Json {
    number.map(|number| number + 0.0).into()
}

/// Those of the error; without one, those of the interval.
pub(crate) fn degrees_of_freedom(error: Option<&StdError>, interval: Option<&Interval>) -> Option<f64> {
    error.map_or_else(|| interval.and_then(|interval| interval.df), |error| Some(error.df))
}

/// The number of clusters, or one for each way of clustering; null for independent scores.
pub(crate) fn cluster_counts(clusters: &[u64]) -> Json {
    match clusters {
        [] => Json::Null,
        [one] => (*one).into(),
        several => several.into(),
    }
}

/// Why parts do not exist, by their names; null if all do.
pub(crate) fn reasons<const N: usize>(parts: [(&str, Option<String>); N]) -> Json {
    let known = parts.into_iter().filter_map(|(name, reason)| Some((name.to_owned(), reason?.into())));
    let reasons: Record = known.collect();
    if reasons.is_empty() { Json::Null } else { Json::Object(reasons) }
}

fn undefined(estimate: &Estimate) -> Json {
    reasons([
        ("value", why(&estimate.value, |value| value.is_finite())),
        ("stderr", why(&estimate.error, |error| error.se.is_finite())),
        ("interval", why(&estimate.interval, has_known_ends)),
    ])
}

/// Why a part does not exist, or is not finite.
pub(crate) fn why<T>(part: &Defined<T>, is_finite: impl Fn(&T) -> bool) -> Option<String> {
    match part {
        Ok(part) if is_finite(part) => None,
        Ok(_) => Some(Undefined::Overflow.to_string()),
        Err(reason) => Some(reason.to_string()),
    }
}

/// Whether the ends are finite. The end that is no bound is nowhere if the range of scores is unknown.
pub(crate) fn has_known_ends(interval: &Interval) -> bool {
    let is_known = |end: f64, open: IntervalSide| end.is_finite() || interval.side == open;
    is_known(interval.lower, IntervalSide::Upper) && is_known(interval.upper, IntervalSide::Lower)
}

/// What else is to be known. Lists and maps are data, which `results` has.
pub(crate) fn note(estimate: &Estimate) -> Option<String> {
    let notes = &estimate.notes;
    let custom = notes.custom.iter().filter(|(_, value)| !value.is_array() && !value.is_object());
    let custom = custom.map(|(key, value)| {
        format!("{key}: {}", value.as_str().map_or_else(|| value.to_string(), str::to_owned))
    });
    let spans = notes.clusters_span_groups.then(|| "clusters span groups".to_owned());
    let population = notes.population.map(|population| format!("of a population of {population}"));
    let stop_and_reason = [&notes.early_stop, &notes.reason].into_iter().flatten().cloned();
    let all: Vec<String> = stop_and_reason.chain(population).chain(spans).chain(custom).collect();
    (!all.is_empty()).then(|| all.join("; "))
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
