//! The heart: scores and a plan in, estimates out.

mod block;
mod epochs;
mod glob;
mod reduce;
mod unused_cluster;
mod views;

pub use unused_cluster::UnusedCluster;

pub(crate) use block::BlockVisitor;
pub use block::{VisitedBlock, evaluate as evaluate_metric, innermost};
pub(crate) use reduce::reduce;

use std::collections::HashSet;

use serde::Serialize;

use crate::columns::ScoreColumns;
use crate::error::{Error, Result};
use crate::evaluation::{Evaluation, Results};
use crate::metadata::Metadata;
use crate::naming::unique_names;
use crate::order::Order;
use crate::partial::Partial;
use crate::plan::{Metrics, Plan, Reducers};
use crate::random::Random;
use crate::sample_id::SampleId;
use crate::score::Score;

/// A metric that could not be computed.
#[derive(Debug, Clone, PartialEq)]
pub struct Failure {
    /// The metric's name.
    pub metric: String,
    /// Why.
    pub error: Error,
}

impl Serialize for Failure {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        use serde::ser::SerializeMap;
        let mut map = serializer.serialize_map(Some(2))?;
        map.serialize_entry("metric", &self.metric)?;
        map.serialize_entry("error", &self.error.to_string())?;
        map.end()
    }
}

/// What a reader of the numbers should know.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Warning {
    /// Values that have no meaning as a number were counted as 0.
    Unconvertible {
        /// The scorer.
        scorer: String,
        /// The key of map-valued scores, for metrics by key.
        key: Option<String>,
        /// The reducer that met them, if it was not a metric.
        reducer: Option<String>,
        /// How many values.
        count: usize,
        /// The sample that one of them belongs to.
        sample: String,
        /// That value.
        example: String,
    },
    /// A pattern of metrics by key matches no key.
    NoMatch {
        /// The scorer.
        scorer: String,
        /// The pattern.
        pattern: String,
        /// The keys that there are.
        keys: Vec<String>,
    },
    /// A key that the first map-valued score lacks gets no metrics.
    LateKey {
        /// The scorer.
        scorer: String,
        /// The key.
        key: String,
        /// The first sample that has it.
        sample: String,
    },
    /// Samples have different numbers of scored epochs, under a reducer whose value depends on it.
    UnequalEpochs {
        /// The scorer.
        scorer: String,
        /// The reducer.
        reducer: String,
        /// The smallest number of scored epochs that a sample has.
        fewest: usize,
        /// The largest.
        most: usize,
    },
    /// No figure matches the requested headline; the first one takes its place.
    NoHeadline {
        /// The requested headline.
        wanted: String,
    },
}

impl std::fmt::Display for Warning {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Warning::Unconvertible { scorer, key, reducer, count, sample, example } => {
                let key = key.as_ref().map(|key| format!(" under the key {key:?}")).unwrap_or_default();
                write!(
                    f,
                    "{count} value(s) of `{scorer}`{key} have no meaning as a number and count as 0 \
                     (sample {sample:?}: {example}); "
                )?;
                let nested = example.starts_with("a map") || example.starts_with("a list");
                match reducer {
                    // Reducers read lists and maps value by value, so what they met is within.
                    None if nested => write!(
                        f,
                        "lists and maps are no numbers: give metrics by key, as in {{\"*\": [mean(), stderr()]}}, \
                         or a metric over lists"
                    ),
                    Some(reducer) => write!(
                        f,
                        "the reducer {reducer} reads them before any metric does: define what they mean with \
                         {reducer}(value_to_float=value_to_float(correct=…, incorrect=…)), or do not reduce"
                    ),
                    None => {
                        write!(
                            f,
                            "define what they mean with to_float=value_to_float(correct=…, incorrect=…)"
                        )
                    }
                }
            }
            Warning::NoMatch { scorer, pattern, keys } => write!(
                f,
                "the pattern {pattern:?} matches no key of the scores by `{scorer}`; there are: {}",
                keys.join(", ")
            ),
            Warning::LateKey { scorer, key, sample } => write!(
                f,
                "the key {key:?} of the scores by `{scorer}` (sample {sample:?}) gets no metrics: the keys of the \
                 first map-valued score count; give it to every sample, NaN where there is no value"
            ),
            Warning::UnequalEpochs { scorer, reducer, fewest, most } => write!(
                f,
                "samples have {fewest} to {most} scored epochs of `{scorer}`, and what {reducer} gives depends on that \
                 number, so that they cannot be compared; pass_at(k), g_pass(k, j) and best_of(k) do not depend on it"
            ),
            Warning::NoHeadline { wanted } => {
                write!(
                    f,
                    "no figure matches the requested headline ({wanted}); the first figure takes its place"
                )
            }
        }
    }
}

impl Serialize for Warning {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// The reduced scores of one scorer under one reducer.
#[derive(Debug, Clone)]
pub struct Reduction {
    /// The scorer.
    pub scorer: String,
    /// The reducer, unless it is the implied mean.
    pub reducer: Option<String>,
    samples: ReducedSamples,
}

impl Reduction {
    /// The number of samples.
    pub fn len(&self) -> usize {
        self.samples.values.len()
    }

    /// Whether there is no sample.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Sample id and reduced score, in order; `columns` are those that were reduced.
    pub fn iter<'a>(
        &'a self,
        columns: &'a ScoreColumns,
    ) -> impl Iterator<Item = (SampleId, Score)> + use<'a> {
        (0..self.len()).map(self.sample(columns))
    }

    /// The same in the order of [`SampleId::sort_key`].
    pub fn iter_by_key<'a>(
        &'a self,
        columns: &'a ScoreColumns,
    ) -> impl Iterator<Item = (SampleId, Score)> + use<'a> {
        let mut order: Vec<usize> = (0..self.len()).collect();
        order.sort_by_cached_key(|at| columns.sample_id(self.row(*at)).sort_key());
        order.into_iter().map(self.sample(columns))
    }

    fn row(&self, at: usize) -> usize {
        self.samples.rows.get(at).map_or(at, |row| *row as usize)
    }

    /// The samples among columns in another order, in which each row was one of these.
    fn map_rows(&mut self, row_of: &[u32]) {
        let row = |at: usize| row_of.get(self.row(at)).copied().unwrap_or(u32::MAX);
        self.samples.rows = (0..self.len()).map(row).collect();
        self.samples.details.map_panel_rows(row_of);
    }

    fn sample<'a>(&'a self, columns: &'a ScoreColumns) -> impl Fn(usize) -> (SampleId, Score) + use<'a> {
        let voters = columns.scorer(&self.scorer);
        move |at| {
            let value = self.samples.values.to_value(at).unwrap_or(crate::Value::Unscored);
            let score = self.samples.details.to_detail(at, voters).into_score(value);
            (columns.sample_id(self.row(at)), score)
        }
    }
}

/// Reduced scores, stored as columns.
#[derive(Debug, Clone, Default)]
struct ReducedSamples {
    rows: Vec<u32>,
    values: crate::columns::ValueColumn,
    details: crate::columns::ScoreDetails,
}

impl Plan {
    /// Computes the plan over scores.
    ///
    /// A metric that fails does so alone: it is listed among the failures and the others stand. What makes the scores
    /// themselves unusable (epochs of different shapes, metrics by key over scores that are no maps) is an error of the
    /// whole.
    ///
    /// ```
    /// use errorbar_core::metrics::{accuracy, stderr};
    /// use errorbar_core::{Plan, Score, ScoreColumns, Undefined, metrics};
    ///
    /// let mut columns = ScoreColumns::new(["match"]);
    /// columns.push("q1", 1).score("match", Score::new("C"))?;
    /// columns.push("q2", 1).score("match", Score::unscored("refusal"))?;
    /// let plan = Plan::new().metrics(metrics![accuracy(), stderr()]);
    /// let results = plan.evaluate(&columns)?.results;
    /// let accuracy = results.estimate("accuracy")?;
    /// assert_eq!((accuracy.number(), accuracy.n, accuracy.absent), (Some(1.0), 1, 1));
    /// assert_eq!(accuracy.error, Err(Undefined::TooFewScores { n: 1 }));
    /// # Ok::<(), errorbar_core::Error>(())
    /// ```
    pub fn evaluate(&self, columns: &ScoreColumns) -> Result<Evaluation> {
        Partial::of(columns, self)?.evaluate(self.order)
    }

    /// Computes the plan over scores that are in key order.
    pub(crate) fn evaluate_sorted(&self, columns: &ScoreColumns) -> Result<Evaluation> {
        self.evaluate_or_visit(columns, Order::Key, None)
    }

    /// Computes the plan over scores, with what is found in them in this order.
    pub(crate) fn evaluate_in(&self, order: Order, columns: &ScoreColumns) -> Result<Evaluation> {
        let sorted = match order {
            Order::Appearance => None,
            Order::Key => columns.in_key_order(),
        };
        let Some((sorted, row_of)) = sorted else { return self.evaluate_or_visit(columns, order, None) };
        let mut evaluation = self.evaluate_or_visit(&sorted, order, None)?;
        evaluation.reductions.iter_mut().for_each(|reduction| reduction.map_rows(&row_of));
        Ok(evaluation)
    }

    /// Shows the scores of the plan to a visitor, as its metrics would see them: reduced, by key, with their errors.
    /// Nothing is computed.
    pub fn visit_scores(&self, columns: &ScoreColumns, visitor: &BlockVisitor<'_>) -> Result<Vec<Warning>> {
        Ok(self.evaluate_or_visit(columns, self.order, Some(visitor))?.results.warnings)
    }

    fn evaluate_or_visit(
        &self,
        columns: &ScoreColumns,
        order: Order,
        visitor: Option<&BlockVisitor<'_>>,
    ) -> Result<Evaluation> {
        self.errors.check().map_err(Error::custom)?;
        let index = columns.sample_index();
        if let Some(row) = index.duplicate() {
            return Err(columns.duplicate_error(row));
        }
        // Intervals share what may be drawn.
        let scorers = self.scorers.len().max(columns.scorer_names().count());
        let metrics = |metrics: &Metrics| metrics.iter().count();
        let most = self.scorers.iter().map(|scorer| metrics(&scorer.metrics)).max().unwrap_or(1);
        let most = self.task_metrics.as_ref().map_or(most, metrics);
        let count = |reducers: &Reducers| match reducers {
            Reducers::Explicit(reducers) => reducers.len(),
            _ => 1,
        };
        let reducers = self.all_reducers().map(count).max().unwrap_or(1);
        let random = Random::new(self.seed, self.max_draws)
            .among(scorers.max(1).saturating_mul(most.max(1)).saturating_mul(reducers.max(1)));
        let shared = views::EvaluationInput { columns, index: &index, random, order, visitor };
        let names = unique_names(self.scorers.iter().map(|s| s.name.as_str()));
        let results = Results {
            total_samples: columns.len(),
            completed_samples: columns.len() - columns.errored(),
            headline: self.headline.clone(),
            errors: self.errors.clone(),
            ..Results::default()
        };
        let mut evaluation = Evaluation { results, reductions: Vec::new() };
        let of_all = self.task_metrics.as_ref();
        let planned_scorers = names.iter().zip(&self.scorers);
        let mut scorers: Vec<(&str, &Metadata, &Metrics)> = planned_scorers
            .map(|(name, scorer)| (name.as_str(), &scorer.params, of_all.unwrap_or(&scorer.metrics)))
            .collect();
        let planned: HashSet<&str> = names.iter().map(String::as_str).collect();
        let unplanned = columns.scorer_names().filter(|name| !planned.contains(name));
        let accuracy = crate::metrics![crate::metrics::accuracy(), crate::metrics::stderr()];
        let no_params = Metadata::new();
        scorers.extend(unplanned.map(|name| {
            let own = self.default_metrics.get(name).unwrap_or(&accuracy);
            (name, &no_params, of_all.unwrap_or(own))
        }));
        let is_wanted = |name: &str| self.only.is_empty() || self.only.iter().any(|wanted| wanted == name);
        scorers.retain(|(name, _, _)| is_wanted(name));
        for (name, params, metrics) in &scorers {
            let metrics = views::metrics_of(name, metrics, &scorers, columns);
            views::scorer_results(&shared, self, name, params, &metrics, &mut evaluation)?;
        }
        let mut seen = HashSet::new();
        evaluation.results.warnings.retain(|warning| seen.insert(warning.to_string()));
        Ok(evaluation)
    }
}

/// Which figure is shown first, by the names that logs have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Headline {
    /// The scorer.
    pub scorer: String,
    /// The scorer, or the key of map-valued scores.
    pub score: String,
    /// The key of the metric.
    pub metric: String,
    /// The reducer.
    pub reducer: Option<String>,
}
