//! Results by the names that logs have, with what a log does not hold beside them.

use errorbar_core::{
    Failure, Headline, IndexMap, Metadata, Plan, Reduction, Result, ScoreColumns, ScoreResult, Warning,
};
use errorbar_log::eval::{RecordedBlock, RecordedMetric};
use errorbar_log::inspect::Projection;

/// Everything that a plan gives.
#[derive(Debug)]
pub(crate) struct Results {
    pub(crate) total_samples: usize,
    pub(crate) completed_samples: usize,
    pub(crate) headline: Option<Headline>,
    pub(crate) scores: Vec<Block>,
    pub(crate) warnings: Vec<Warning>,
    pub(crate) reductions: Vec<Reduction>,
}

/// The metrics of one scorer under one reducer.
#[derive(Debug)]
pub(crate) struct Block {
    pub(crate) name: String,
    pub(crate) scorer: String,
    pub(crate) reducer: Option<String>,
    pub(crate) scored_samples: usize,
    pub(crate) unscored_samples: usize,
    pub(crate) missing_samples: usize,
    pub(crate) errored_samples: usize,
    pub(crate) epochs: usize,
    pub(crate) unreduced: bool,
    pub(crate) unscored_epochs: usize,
    pub(crate) missing_epochs: usize,
    pub(crate) unconvertible: usize,
    pub(crate) params: Metadata,
    pub(crate) metrics: IndexMap<String, Entry>,
    pub(crate) failures: Vec<Failure>,
}

/// One figure of a block.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Entry {
    pub(crate) name: String,
    pub(crate) group: Option<String>,
    pub(crate) value: f64,
    pub(crate) params: Metadata,
    pub(crate) metadata: Option<Metadata>,
}

impl Entry {
    pub(crate) fn undefined_reason(&self) -> Option<&str> {
        self.metadata.as_ref()?.get("undefined")?.as_str()
    }
}

impl From<RecordedMetric> for Entry {
    fn from(metric: RecordedMetric) -> Self {
        let RecordedMetric { name, group, value, params, metadata, .. } = metric;
        // The estimate beside a figure has its own tests.
        let metadata = metadata.map(|mut notes| {
            notes.remove("estimate");
            notes
        });
        Entry { name, group, value, params, metadata: metadata.filter(|notes| !notes.is_empty()) }
    }
}

impl Block {
    fn new(score: &ScoreResult, recorded: RecordedBlock) -> Self {
        let counts = &score.counts;
        Block {
            name: recorded.name,
            scorer: recorded.scorer,
            reducer: recorded.reducer,
            scored_samples: counts.scored,
            unscored_samples: counts.unscored,
            missing_samples: counts.missing,
            errored_samples: counts.errored,
            epochs: counts.epochs,
            unreduced: score.unreduced,
            unscored_epochs: counts.unscored_epochs,
            missing_epochs: counts.missing_epochs,
            unconvertible: counts.unconvertible,
            params: recorded.params,
            metrics: recorded.metrics.into_iter().map(|(key, metric)| (key, metric.into())).collect(),
            failures: score.failures.clone(),
        }
    }
}

/// What a plan gives over scores, as logs record it.
pub(crate) fn results(columns: &ScoreColumns, plan: &Plan) -> Result<Results> {
    let evaluation = plan.evaluate(columns)?;
    let projection = Projection::new(&evaluation.results);
    let recorded = projection.to_recorded();
    let scores = evaluation.results.scores.iter().zip(recorded.scores);
    Ok(Results {
        total_samples: evaluation.results.total_samples,
        completed_samples: evaluation.results.completed_samples,
        headline: recorded.headline,
        scores: scores.map(|(score, recorded)| Block::new(score, recorded)).collect(),
        warnings: projection.warnings().cloned().collect(),
        reductions: evaluation.reductions.clone(),
    })
}
