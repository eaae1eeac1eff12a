//! Results as records: the blocks, the keys and names of their entries.

use std::collections::HashMap;

use errorbar_core::engine::TakenNames;
use errorbar_core::spec::{Arg, Spec};
use errorbar_core::{
    Counts, Estimate, EstimateRow, Headline, HeadlineRequest, IndexMap, IntervalSide, Metadata, Registry,
    Results, Role, ScoreResult, Undefined, Warning,
};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value as Json, json};

use super::figures::{Figure, FigurePart, Figures, figures};
use crate::recorded::{RecordedBlock, RecordedMetric, RecordedResults};

/// Results as a log records them.
///
/// ```
/// use errorbar_core::Results;
/// use errorbar_log::inspect::project;
/// assert!(project(&Results::default()).scores.is_empty());
/// ```
pub fn project(results: &Results) -> RecordedResults {
    Projection::new(results).to_recorded()
}

impl From<&Results> for RecordedResults {
    fn from(results: &Results) -> Self {
        project(results)
    }
}

/// Results with the names that a log has for them. Each entry knows the estimate that it is of.
#[derive(Debug)]
pub struct Projection<'r> {
    pub(super) results: &'r Results,
    pub(crate) blocks: Vec<ProjectedBlock<'r>>,
    pub(super) headline: Option<Headline>,
    headline_warning: Option<Warning>,
}

/// The entries of one scorer under one reducer.
#[derive(Debug)]
pub(crate) struct ProjectedBlock<'r> {
    pub(crate) score: &'r ScoreResult,
    pub(crate) entries: IndexMap<String, ProjectedEntry<'r>>,
}

/// One number with its names.
#[derive(Debug)]
pub(crate) struct ProjectedEntry<'r> {
    pub(crate) name: String,
    pub(crate) group: Option<String>,
    pub(crate) figure: Figure<'r>,
}

impl<'r> Projection<'r> {
    /// Names the numbers of results.
    pub fn new(results: &'r Results) -> Self {
        let blocks: Vec<ProjectedBlock<'r>> = results.scores.iter().map(ProjectedBlock::new).collect();
        let (headline, headline_warning) = headline(&blocks, results.headline.as_ref());
        Projection { results, blocks, headline, headline_warning }
    }

    /// The figure to show first.
    pub fn headline(&self) -> Option<&Headline> {
        self.headline.as_ref()
    }

    /// The warnings of the results, and that no figure is the headline that the plan requests.
    pub fn warnings(&self) -> impl Iterator<Item = &Warning> {
        self.results.warnings.iter().chain(&self.headline_warning)
    }

    /// That no figure is the headline that the plan requests.
    pub fn headline_warning(&self) -> Option<&Warning> {
        self.headline_warning.as_ref()
    }

    /// As a log records them.
    pub fn to_recorded(&self) -> RecordedResults {
        let estimates = Estimates::new(self.results);
        let warnings: Vec<Json> = self.warnings().map(|warning| Json::from(warning.to_string())).collect();
        RecordedResults {
            total_samples: self.results.total_samples as u64,
            completed_samples: self.results.completed_samples as u64,
            scores: self.blocks.iter().map(|block| block.to_recorded(&estimates)).collect(),
            headline: self.headline.clone(),
            metadata: (!warnings.is_empty())
                .then(|| Metadata::from_iter([("warnings".to_owned(), Json::Array(warnings))])),
            ..RecordedResults::default()
        }
    }
}

impl<'r> ProjectedBlock<'r> {
    fn new(score: &'r ScoreResult) -> Self {
        ProjectedBlock { score, entries: entries(score) }
    }

    /// The reducer as a log records it.
    pub(crate) fn reducer(&self) -> Option<String> {
        self.score.reducer.as_deref().map(|reducer| Registry::recorded_reducer(reducer).into_owned())
    }

    fn to_recorded(&self, estimates: &Estimates<'_>) -> RecordedBlock {
        let score = self.score;
        let counts = &score.counts;
        // The format has no field for these, and its readers ignore or refuse fields they do not know;
        // `metadata` is where they are welcome.
        let mut metadata = Metadata::new();
        let mut note = |key: &str, value: Json| metadata.insert(key.to_owned(), value);
        note("missing_samples", json!(counts.missing));
        note("errored_samples", json!(counts.errored));
        note("epochs", json!(counts.epochs));
        for (key, count) in [
            ("unscored_epochs", counts.unscored_epochs),
            ("missing_epochs", counts.missing_epochs),
            ("unconvertible", counts.unconvertible),
        ] {
            if count > 0 {
                note(key, json!(count));
            }
        }
        if !counts.samples_by_epochs.is_empty() {
            note("samples_by_epochs", samples_by_epochs(counts));
        }
        if !counts.reasons.is_empty() {
            note("reasons", json!(counts.reasons));
        }
        if score.unreduced {
            note("unreduced", json!(true));
        }
        if !score.failures.is_empty() {
            let failure =
                |f: &errorbar_core::Failure| json!({"metric": f.metric, "error": f.error.to_string()});
            note("failures", score.failures.iter().map(failure).collect());
        }
        let metric = |(key, entry): (&String, &ProjectedEntry<'_>)| {
            (key.clone(), entry.to_recorded(estimates.of(&entry.figure)))
        };
        RecordedBlock {
            name: score.name().to_owned(),
            scorer: score.scorer.clone(),
            reducer: self.reducer(),
            scored_samples: Some(counts.scored as u64),
            unscored_samples: Some(counts.unscored as u64),
            params: score.params.clone(),
            metrics: self.entries.iter().map(metric).collect(),
            metadata: Some(metadata),
        }
    }
}

impl ProjectedEntry<'_> {
    fn to_recorded(&self, estimate: Option<Json>) -> RecordedMetric {
        let mut metadata = self.figure.notes();
        if let Some(estimate) = estimate {
            metadata.get_or_insert_default().insert(KEY.to_owned(), estimate);
        }
        RecordedMetric {
            name: self.name.clone(),
            group: self.group.clone(),
            value: self.figure.number(),
            params: self.figure.result.params.clone(),
            metadata,
        }
    }
}

/// The entries of a block.
///
/// Metrics of a plain list are keyed by name, numbered where a key is taken; positions count from 1. Metrics by key are
/// keyed by the metric's log name, the last one of a key standing; positions count from 0.
fn entries(score: &ScoreResult) -> IndexMap<String, ProjectedEntry<'_>> {
    let is_by_key = score.field.is_some();
    let (mut entries, mut taken) = (IndexMap::new(), TakenNames::default());
    for result in &score.metrics {
        let log_name = result.spec.recorded_name();
        let prefix = if is_by_key { &log_name } else { result.spec.name.as_str() };
        // The group has no package, though the name of a single figure has.
        let group = || Some(result.spec.name.clone());
        let mut add = |key: String, name: String, group, figure| {
            let key = if is_by_key { key } else { taken.take(&key, 2) };
            entries.insert(key, ProjectedEntry { name, group, figure });
        };
        match figures(result, score.counts.scored) {
            Figures::Only(figure) => add(prefix.to_owned(), log_name.clone().into_owned(), None, figure),
            Figures::Named(all) => all.into_iter().for_each(|(name, figure)| {
                let key = if is_by_key { format!("{prefix}_{name}") } else { name.clone() };
                add(key, name, group(), figure);
            }),
            Figures::Placed(all) => all.into_iter().for_each(|(at, figure)| {
                let (separator, position) = if is_by_key { ('_', at) } else { ('-', at + 1) };
                add(format!("{prefix}{separator}{position}"), position.to_string(), group(), figure);
            }),
        }
    }
    entries
}

// The estimate that our logs record beside a number, so that its error need not be searched for by name.

/// Where it is in the `metadata` of an entry.
pub(super) const KEY: &str = "estimate";

/// The rows of results, by the estimate that each is of.
struct Estimates<'r> {
    by_source: HashMap<*const Estimate, EstimateRow<'r>>,
}

impl<'r> Estimates<'r> {
    pub(super) fn new(results: &'r Results) -> Self {
        let rows = results.rows().into_iter();
        Estimates { by_source: rows.map(|row| (std::ptr::from_ref(row.source), row)).collect() }
    }

    /// What is recorded for a number: its estimate if it has an error or an interval, and null if it is itself a part of
    /// the estimate of another number.
    pub(super) fn of(&self, figure: &Figure<'_>) -> Option<Json> {
        let Some(row) = self.by_source.get(&std::ptr::from_ref(figure.estimate?)) else {
            return Some(Json::Null);
        };
        match (figure.part, figure.result.role) {
            (FigurePart::Upper, _) => Some(Json::Null),
            (FigurePart::Lower, _) => Some(to_json(&row.estimate)),
            (_, Role::ErrorOf) => None,
            _ => {
                let has_error = row.estimate.error.is_ok() || row.estimate.interval.is_ok();
                has_error.then(|| to_json(&row.estimate))
            }
        }
    }
}

fn to_json(estimate: &Estimate) -> Json {
    let mut json = Map::new();
    let mut number = |key: &str, value: Option<f64>| {
        if let Some(value) = value.filter(|value| value.is_finite()) {
            json.insert(key.to_owned(), Json::from(value));
        }
    };
    let (error, interval) = (estimate.error.as_ref().ok(), estimate.interval.as_ref().ok());
    number("value", estimate.number());
    number("stderr", error.map(|error| error.se));
    number("stderr_fixed", estimate.notes.stderr_fixed);
    number("lower", interval.map(|interval| interval.lower));
    number("upper", interval.map(|interval| interval.upper));
    number("level", interval.map(|interval| interval.level));
    if let Some(interval) = interval {
        json.insert("method".to_owned(), Json::from(interval.method.to_string()));
        if interval.side != IntervalSide::TwoSided {
            json.insert("side".to_owned(), Json::from(interval.side.name()));
        }
    }
    json.insert("n".to_owned(), Json::from(estimate.n));
    if error.is_some_and(|error| error.degenerate) {
        json.insert("degenerate".to_owned(), Json::from(true));
    }
    Json::Object(json)
}

// What is recorded beside a number: its `metadata`.

/// The default level of an interval.
const DEFAULT_LEVEL: f64 = 0.95;

impl Figure<'_> {
    /// The notes on the number; none if there is nothing to note.
    pub(crate) fn notes(&self) -> Option<Metadata> {
        let mut notes = Metadata::new();
        let mut note = |key: &str, value: Option<Json>| {
            if let Some(value) = value.filter(|value| !value.is_null()) {
                notes.insert(key.to_owned(), value);
            }
        };
        let undefined = self.undefined().map(|reason| Json::from(reason.to_string()));
        let Some(estimate) = self.estimate else {
            note("undefined", undefined);
            return Some(notes);
        };
        let role = self.result.role;
        let seed = self.is_random().then_some(estimate.draws).flatten().map(|draws| Json::from(draws.seed));
        match self.part {
            FigurePart::Lower | FigurePart::Upper => {
                let interval = estimate.interval.as_ref().ok();
                let level = interval.map_or_else(|| level(&self.result.spec), |interval| interval.level);
                note("level", Some(level.into()));
                note("seed", seed);
                note("df", interval.and_then(|interval| interval.df).map(whole));
                note("clusters", clusters(estimate));
                note("effective_n", estimate.notes.effective_n.map(Json::from));
                note("undefined", undefined);
            }
            FigurePart::Value | FigurePart::Entry => {
                note("undefined", undefined);
                if role == Role::ErrorOf {
                    note("clusters", clusters(estimate));
                }
                note("seed", seed);
                if let Some(bounds) = estimate.bounds {
                    note("absent", Some(estimate.absent.into()));
                    note("worst", Some(bounds.worst.into()));
                    note("best", Some(bounds.best.into()));
                    note("absent_as_wrong", Some(bounds.absent_as_wrong.into()));
                }
            }
        }
        for (key, value) in &estimate.notes.custom {
            note(key, Some(value.clone()));
        }
        // A mean of groups has its own error, which no other entry of the log has.
        if self.is_mean_of_groups && role == Role::Location {
            note("stderr", estimate.notes.iid_stderr.map(Json::from));
        }
        note("n", self.group_n.map(Json::from));
        (!notes.is_empty()).then_some(notes)
    }
}

/// The number of clusters, where there are any.
fn clusters(estimate: &Estimate) -> Option<Json> {
    let of_error = match &estimate.error {
        Ok(error) => error.clusters.first().copied(),
        Err(Undefined::TooFewClusters { clusters }) => Some(*clusters),
        Err(_) => None,
    };
    let of_interval = match &estimate.interval {
        Err(Undefined::TooFewClusters { clusters }) => Some(*clusters),
        _ => None,
    };
    estimate.notes.clusters.or(of_error).or(of_interval).filter(|clusters| *clusters > 0).map(Json::from)
}

/// The level that an interval without numbers would have.
fn level(spec: &Spec) -> f64 {
    let args = spec.kwargs.values().chain(&spec.args);
    let inner = || {
        args.filter_map(|arg| match arg {
            Arg::Spec(inner) => Some(level(inner)),
            _ => None,
        })
        .next()
    };
    spec.kwargs.get("level").and_then(Arg::as_f64).or_else(inner).unwrap_or(DEFAULT_LEVEL)
}

/// A number without a fraction as an integer.
fn whole(number: f64) -> Json {
    if number.fract() == 0.0 && number.abs() < 9e15 {
        return Json::from(number as i64);
    }
    Json::from(number)
}

// Which figure is shown first.

/// The first figure that matches the request, else the first of the first block; and a warning if none matches.
pub(super) fn headline(
    blocks: &[ProjectedBlock<'_>],
    wanted: Option<&HeadlineRequest>,
) -> (Option<Headline>, Option<Warning>) {
    let fitting =
        wanted.and_then(|wanted| blocks.iter().find_map(|block| Some((block, find(wanted, block)?))));
    let first = || {
        // A block whose metrics all failed has nothing to show.
        let first = blocks.iter().find(|b| !b.entries.is_empty() || b.score.failures.is_empty())?;
        Some((first, first.entries.keys().next()?))
    };
    let has_fitting = fitting.is_some();
    let Some((block, metric)) = fitting.or_else(first) else { return (None, None) };
    let headline = Headline {
        scorer: block.score.scorer.clone(),
        score: block.score.name().to_owned(),
        metric: metric.clone(),
        reducer: block.reducer(),
    };
    let missed = wanted.filter(|_| !has_fitting);
    (Some(headline), missed.map(|wanted| Warning::NoHeadline { wanted: wanted.to_string() }))
}

/// The key of the first entry of a block that fits.
fn find<'b>(wanted: &HeadlineRequest, block: &'b ProjectedBlock<'_>) -> Option<&'b String> {
    let fits = |wanted: &Option<String>, found: Option<&str>| match wanted {
        Some(wanted) => found == Some(wanted.as_str()),
        None => true,
    };
    let block_fits = fits(&wanted.scorer, Some(&block.score.scorer))
        && fits(&wanted.score, Some(block.score.name()))
        && (fits(&wanted.reducer, block.score.reducer.as_deref())
            || fits(&wanted.reducer, block.reducer().as_deref()));
    block.entries.keys().find(|key| block_fits && fits(&wanted.metric, Some(key)))
}

// Results as JSON, in the fields that programs read since the first version.

/// Results as `results` in JSON output: names, numbers and notes as in a log, without `metadata.estimate`.
///
/// A number that is not finite becomes null.
///
/// ```
/// use errorbar_core::Results;
/// use errorbar_log::inspect::ResultsJson;
/// let json = serde_json::to_string(&ResultsJson::new(&Results::default()))?;
/// assert_eq!(json, r#"{"total_samples":0,"completed_samples":0,"scores":[]}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug)]
pub struct ResultsJson<'r>(Projection<'r>);

impl<'r> ResultsJson<'r> {
    /// A view of results.
    pub fn new(results: &'r Results) -> Self {
        ResultsJson(Projection::new(results))
    }
}

impl<'r> From<Projection<'r>> for ResultsJson<'r> {
    fn from(projection: Projection<'r>) -> Self {
        ResultsJson(projection)
    }
}

impl Serialize for ResultsJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let ResultsJson(projection) = self;
        let warnings: Vec<&Warning> = projection.warnings().collect();
        let mut json = json!({
            "total_samples": projection.results.total_samples,
            "completed_samples": projection.results.completed_samples,
            "headline": projection.headline(),
            "scores": projection.blocks.iter().map(block_json).collect::<Vec<_>>(),
            "warnings": warnings,
        });
        remove_if(&mut json, "headline", projection.headline().is_none());
        remove_if(&mut json, "warnings", warnings.is_empty());
        json.serialize(serializer)
    }
}

/// How many samples have how many epochs, by the number of epochs.
fn samples_by_epochs(counts: &Counts) -> Json {
    let pair = |(epochs, samples): &(usize, usize)| (epochs.to_string(), json!(samples));
    counts.samples_by_epochs.iter().map(pair).collect()
}

fn block_json(block: &ProjectedBlock<'_>) -> Json {
    let (score, counts) = (block.score, &block.score.counts);
    let metric = |(key, entry): (&String, &ProjectedEntry<'_>)| (key.clone(), entry_json(entry));
    let mut json = json!({
        "name": score.name(),
        "scorer": score.scorer,
        "reducer": block.reducer(),
        "scored_samples": counts.scored,
        "unscored_samples": counts.unscored,
        "missing_samples": counts.missing,
        "errored_samples": counts.errored,
        "epochs": counts.epochs,
        "unreduced": score.unreduced,
        "unscored_epochs": counts.unscored_epochs,
        "missing_epochs": counts.missing_epochs,
        "samples_by_epochs": samples_by_epochs(counts),
        "unconvertible": counts.unconvertible,
        "params": score.params,
        "metrics": block.entries.iter().map(metric).collect::<Json>(),
        "failures": score.failures,
    });
    remove_if(&mut json, "failures", score.failures.is_empty());
    remove_if(&mut json, "samples_by_epochs", counts.samples_by_epochs.is_empty());
    json
}

fn entry_json(ProjectedEntry { name, group, figure }: &ProjectedEntry<'_>) -> Json {
    let (value, params, metadata) = (figure.number(), &figure.result.params, figure.notes());
    json!({"name": name, "group": group, "value": value, "params": params, "metadata": metadata})
}

fn remove_if(json: &mut Json, key: &str, is_absent: bool) {
    if let Some(object) = json.as_object_mut().filter(|_| is_absent) {
        object.shift_remove(key);
    }
}
