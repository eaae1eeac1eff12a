//! Results as records: the blocks, the keys and names of their entries.

use errorbar_core::engine::TakenNames;
use errorbar_core::{Headline, IndexMap, Metadata, Registry, Warning};
use errorbar_core::{Results, ScoreResult};
use serde_json::{Value as Json, json};

use super::estimates::Estimates;
use super::figures::{Figure, Figures, figures};
use super::headline::headline;
use super::results_json::samples_by_epochs;
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
    pub(super) headline_warning: Option<Warning>,
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
            metadata.get_or_insert_default().insert(super::estimates::KEY.to_owned(), estimate);
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
