//! The figures of a run that is going on.
//!
//! With one epoch and no reducer named, each metric's mergeable state takes in the scores that came since it was
//! last asked. Otherwise, and for metrics without a state, the results over what is done are computed anew, but
//! only when that is a small part of the time since the last time.

use std::sync::Arc;
use std::time::{Duration, Instant};

use errorbar_core::spec::without_own_package;
use errorbar_core::{
    Metadata, Metric, MetricItem, MetricState, Metrics, Plan, Reducers, Score, ScoreColumns, ScoreSet,
    results,
};

/// A figure of a run that is going on.
#[derive(Clone, Debug, PartialEq)]
pub struct RunningFigure {
    /// The scorer.
    pub scorer: String,
    /// The metric.
    pub metric: String,
    /// Its value so far.
    pub value: f64,
    /// Its standard error, where there is one.
    pub error: Option<f64>,
}

/// The figures of a run that is going on.
#[derive(Debug)]
pub struct Running {
    plan: Plan,
    names: Vec<String>,
    how: How,
    /// Whether anybody will ask.
    wanted: bool,
}

#[derive(Debug)]
enum How {
    ByState { pending: ScoreColumns, pairs: Vec<Pair> },
    Anew { all: ScoreColumns, last: Vec<RunningFigure>, at: Option<Instant>, cost: Duration },
}

/// A metric and its error, by their states.
#[derive(Debug)]
struct Pair {
    scorer: String,
    metric: String,
    value: Box<dyn MetricState>,
    error: Option<Box<dyn MetricState>>,
}

/// How many scores wait for the states at most.
const BATCH: usize = 1024;

/// The share of the time that computing anew may take is one in so many.
const SPARING: u32 = 20;

impl Running {
    pub(super) fn new(plan: &Plan, names: &[String], epochs: u32, wanted: bool) -> Self {
        let columns = || ScoreColumns::new(names.iter().map(String::as_str));
        let is_plain = epochs == 1 && matches!(plan.reducers, Reducers::Implicit | Reducers::Disabled);
        let pairs = if is_plain { pairs(plan, names) } else { None };
        let how = match pairs {
            Some(pairs) => How::ByState { pending: columns(), pairs },
            None => How::Anew { all: columns(), last: Vec::new(), at: None, cost: Duration::ZERO },
        };
        Running { plan: plan.clone(), names: names.to_vec(), how, wanted }
    }

    /// Takes in the scores of one sample in one epoch.
    pub(super) fn add(&mut self, id: &str, epoch: u32, metadata: &Metadata, scores: &[(String, Score)]) {
        if !self.wanted {
            return;
        }
        let (How::ByState { pending: columns, .. } | How::Anew { all: columns, .. }) = &mut self.how;
        let mut row = columns.push(id, epoch);
        let keys = self.plan.metadata_keys();
        row = row.metadata_all(
            metadata.iter().filter(|(key, _)| keys.contains(key)).map(|(key, value)| (key.as_str(), value)),
        );
        for (scorer, score) in scores {
            // Only the value counts here. A scorer is declared and scores once, so nothing can be refused.
            match row.score(scorer, Score::new(score.value.clone())) {
                Ok(filled) => row = filled,
                Err(_) => return,
            }
        }
        if matches!(&self.how, How::ByState { pending, .. } if pending.len() >= BATCH) {
            self.take_in();
        }
    }

    /// Lets the states take in what has come since.
    fn take_in(&mut self) {
        if let How::ByState { pending, pairs } = &mut self.how {
            for pair in &mut *pairs {
                pair.update(pending);
            }
            *pending = ScoreColumns::new(self.names.iter().map(String::as_str));
        }
    }

    /// The first figure of each scorer over what is done.
    pub fn figures(&mut self) -> Vec<RunningFigure> {
        self.take_in();
        match &mut self.how {
            How::ByState { pairs, .. } => pairs.iter().filter_map(Pair::figure).collect(),
            How::Anew { all, last, at, cost } => {
                if at.is_none_or(|at| at.elapsed() >= *cost * SPARING) {
                    let started = Instant::now();
                    *last = anew(all, &self.plan);
                    *cost = started.elapsed();
                    *at = Some(Instant::now());
                }
                last.clone()
            }
        }
    }
}

impl Pair {
    /// A metric that fails on what is there so far says nothing for now; the results will say why.
    fn update(&mut self, pending: &ScoreColumns) {
        let Ok(set) = ScoreSet::unreduced(pending, &self.scorer) else { return };
        let scores = set.scores();
        let _ = self.value.update(&scores);
        if let Some(error) = &mut self.error {
            let _ = error.update(&scores);
        }
    }

    fn figure(&self) -> Option<RunningFigure> {
        let number = |state: &dyn MetricState| match state.finish().ok()? {
            errorbar_core::MetricValue::Number(figure) if figure.undefined_reason().is_none() => {
                Some(figure.value)
            }
            _ => None,
        };
        Some(RunningFigure {
            scorer: self.scorer.clone(),
            metric: self.metric.clone(),
            value: number(self.value.as_ref())?,
            error: self.error.as_deref().and_then(number),
        })
    }
}

/// The first metric of each scorer and its error; nothing if one of them has no state.
fn pairs(plan: &Plan, names: &[String]) -> Option<Vec<Pair>> {
    let pair = |(name, metrics): (&String, &Metrics)| {
        let Metrics::List(items) = metrics else { return None };
        let plain = |item: &MetricItem| match item {
            MetricItem::Metric(metric) => Some(Arc::clone(metric)),
            MetricItem::Map(_) => None,
        };
        let metrics: Vec<Arc<dyn Metric>> = items.iter().filter_map(plain).collect();
        let first = metrics.first()?;
        let named = metrics.iter().find(|metric| metric.spec().name == "stderr").map(Arc::clone);
        let error = named.or_else(|| first.standard_error());
        Some(Pair {
            scorer: name.clone(),
            metric: first.spec().name,
            value: first.state()?,
            error: error.and_then(|error| error.state()),
        })
    };
    let of_scorer = plan.scorers.iter().map(|scorer| plan.task_metrics.as_ref().unwrap_or(&scorer.metrics));
    names.iter().zip(of_scorer).map(pair).collect()
}

/// The first figure of each block over what is done.
fn anew(columns: &ScoreColumns, plan: &Plan) -> Vec<RunningFigure> {
    let Ok(results) = results(columns, plan) else { return Vec::new() };
    let figure = |block: &errorbar_core::Block| {
        let (metric, entry) = block.metrics.iter().find(|(_, entry)| entry.undefined_reason().is_none())?;
        let error = block.metrics.get("stderr").filter(|error| error.undefined_reason().is_none());
        let metric = match &block.reducer {
            Some(reducer) => format!("{metric} [{reducer}]"),
            None => metric.clone(),
        };
        let is_error_itself = without_own_package(&entry.name) == "stderr";
        Some(RunningFigure {
            scorer: block.name.clone(),
            metric,
            value: entry.value,
            error: error.filter(|_| !is_error_itself).map(|error| error.value),
        })
    };
    results.scores.iter().filter_map(figure).collect()
}
