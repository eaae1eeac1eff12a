//! The heart: scores and a plan in, estimates out.

mod block;
mod epochs;
mod glob;
mod unused_cluster;
mod views;

pub use unused_cluster::UnusedCluster;

pub(crate) use block::BlockVisitor;
pub use block::{VisitedBlock, evaluate as evaluate_metric, innermost};

use std::collections::HashSet;

use serde::Serialize;

use crate::columns::ScoreColumns;
use crate::error::{Error, Result};
use crate::evaluation::{Evaluation, Results, Warning};
use crate::metadata::Metadata;
use crate::metric::Metrics;
use crate::naming::unique_names;
use crate::order::Order;
use crate::partial::Partial;
use crate::plan::{Plan, Reducers};
use crate::random::Random;

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
