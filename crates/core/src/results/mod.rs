//! The heart: scores and a plan in, estimates out.

mod block;
mod views;

pub(crate) use block::BlockVisitor;
pub use block::{VisitedBlock, evaluate as evaluate_metric, innermost};

use std::collections::HashSet;

use errorbar_stats::distributions::beta_cdf;
use serde::Serialize;
use serde_json::Value as Json;

use crate::columns::{MetadataColumn, SampleIndex, ScoreColumns};
use crate::error::{Error, Result};
use crate::error_plan::{ErrorMethod, ErrorPlan, IntervalChoice, IntervalMethod};
use crate::estimate::is_cluster_id;
use crate::evaluation::{Evaluation, Results, Role, Warning};
use crate::inputs::MetadataKeys;
use crate::metadata::Metadata;
use crate::metric::{Metric, Metrics};
use crate::naming::Order;
use crate::naming::unique_names;
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

    pub(crate) fn evaluate_or_visit(
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

// A metadata key that errors are not clustered by, though samples with the same value score alike.

/// From this design effect on, it should be known that samples are not independent.
const LARGE_EFFECT: f64 = 1.5;
/// With fewer clusters an error means little, and the key is more likely a category.
const MIN_CLUSTERS: usize = 8;
/// The most keys whose design effect is computed. Each takes as long as the results.
const MAX_KEYS: usize = 32;

/// A metadata key that errors are not clustered by, though samples with the same value score alike, so that the error of
/// independent samples is too small.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct UnusedCluster {
    /// The metadata key.
    pub key: String,
    /// The scorer of the figure.
    pub scorer: String,
    /// The metric of the figure.
    pub metric: String,
    /// The reducer of its scores.
    pub reducer: Option<String>,
    /// The number of clusters.
    pub clusters: u64,
    /// The variance with clusters (CR2) over the variance without.
    pub design_effect: f64,
    /// The standard error of independent samples.
    pub stderr: f64,
    /// The standard error with clusters.
    pub clustered_stderr: f64,
    /// How often independent samples would have a design effect as large (F test, as for clusters of one size).
    pub p_value: f64,
}

impl Plan {
    /// A metadata key with a design effect above 1.5 among those that nothing is clustered or grouped by: metrics
    /// that group by a key are about its values, and not about others like them. Of several it is the one with the most values:
    /// a few coarse ones are seldom clusters. A candidate has a value for every sample, from eight values to half as many
    /// as there are samples, two of them at least with several samples, and one at least that is no number: numbers may be
    /// scores or measurements. Nothing is found where the plan has clusters
    /// already, or says that samples are independent (`iid`).
    ///
    /// `columns` should have all metadata that is to be considered. The results are computed again for each
    /// candidate, of which at most 32 are looked at.
    ///
    /// ```
    /// use errorbar_core::{Plan, Score, ScoreColumns};
    ///
    /// let mut columns = ScoreColumns::new(["match"]);
    /// for at in 0..24 {
    ///     let passage = at / 3;
    ///     let row = columns.push(at.to_string(), 1).metadata("passage", format!("text {passage}"));
    ///     row.score("match", Score::new(passage % 2))?;
    /// }
    /// let found = Plan::new().unused_cluster(&columns).unwrap();
    /// assert_eq!((found.key.as_str(), found.clusters), ("passage", 8));
    /// assert!(found.clustered_stderr > 1.7 * found.stderr);
    /// # Ok::<(), errorbar_core::Error>(())
    /// ```
    pub fn unused_cluster(&self, columns: &ScoreColumns) -> Option<UnusedCluster> {
        // The samples of a run that was stopped early are a random part of a benchmark, whatever clusters it has.
        let is_decided = !self.errors.cluster.is_empty()
            || self.errors.method == Some(ErrorMethod::Iid)
            || self.errors.early_stop.is_some();
        let own_clusters = self.computed_metrics().any(|metric| metric.cluster().is_some());
        if is_decided || own_clusters {
            return None;
        }
        let used = self.metadata_keys();
        let is_unused = |key: &&str| used == MetadataKeys::All || !used.contains(key);
        let index = columns.sample_index();
        let candidates = columns.metadata_keys().filter(is_unused);
        let candidates = candidates
            .filter(|key| columns.metadata_column(key).is_some_and(|column| are_clusters(column, &index)));
        let of_keys = candidates.take(MAX_KEYS).filter_map(|key| self.clustered_by(key, columns, &index));
        let is_finer = |one: &UnusedCluster, other: &UnusedCluster| {
            (one.clusters, one.design_effect) > (other.clusters, other.design_effect)
        };
        of_keys
            .filter(|found| found.design_effect > LARGE_EFFECT)
            .reduce(|best, other| if is_finer(&other, &best) { other } else { best })
    }

    /// The figure with the largest design effect if samples are clustered by a key.
    fn clustered_by(&self, key: &str, columns: &ScoreColumns, index: &SampleIndex) -> Option<UnusedCluster> {
        // Nothing but means, and nothing that draws.
        let mut plan =
            self.with_metrics(|m| m.role() == Role::Location && m.metadata_keys() == MetadataKeys::NONE);
        plan.errors = ErrorPlan::new().cluster(key);
        plan.errors.interval = IntervalChoice::Method(IntervalMethod::T);
        let results = plan.evaluate(columns).ok()?.results;
        let rows = results.rows();
        // Epochs of a sample belong together too, which is no matter of the key.
        let is_mixed = |unreduced: bool| unreduced && index.has_repeats();
        let rows = rows
            .iter()
            .filter(|row| row.role == Role::Location && row.scopes.is_empty() && !is_mixed(row.unreduced));
        let found = rows.filter_map(|row| {
            let error = row.estimate.error.as_ref().ok()?;
            let [clusters] = error.clusters.as_slice() else { return None };
            let design_effect = row.estimate.notes.design_effect?;
            Some(UnusedCluster {
                key: key.to_owned(),
                scorer: row.scorer.to_owned(),
                metric: row.metric.to_owned(),
                reducer: row.reducer.map(str::to_owned),
                clusters: *clusters,
                design_effect,
                p_value: p_value(design_effect, row.estimate.n, *clusters),
                stderr: row.estimate.notes.iid_stderr?,
                clustered_stderr: error.se,
            })
        });
        found.reduce(|best, other| if other.design_effect > best.design_effect { other } else { best })
    }
}

/// The p-value of a design effect: in clusters of one size it is the mean square between clusters over that of all samples.
fn p_value(design_effect: f64, n: u64, clusters: u64) -> f64 {
    let (between, within) = (clusters.saturating_sub(1) as f64, n.saturating_sub(clusters) as f64);
    let rest = (n.saturating_sub(1)) as f64 - between * design_effect;
    if rest <= 0.0 || within == 0.0 {
        return 0.0;
    }
    let f = design_effect * within / rest;
    beta_cdf(within / (within + between * f), within / 2.0, between / 2.0)
}

/// Whether the values of a key may be clusters.
fn are_clusters(column: &MetadataColumn, index: &SampleIndex) -> bool {
    let samples = index.len();
    let mut counts = vec![0_usize; column.distinct()];
    let mut is_complete = true;
    index.for_each(|rows| {
        let code = rows.first().and_then(|row| column.code(*row as usize));
        match code.and_then(|code| counts.get_mut(code as usize)) {
            Some(count) => *count += 1,
            None => is_complete = false,
        }
    });
    let used = || counts.iter().enumerate().filter(|(_, count)| **count > 0);
    let is_number = |value: &Json| match value {
        Json::String(text) => text.trim().parse::<f64>().is_ok(),
        value => value.is_number(),
    };
    let values = || used().filter_map(|(code, _)| column.value(code));
    is_complete
        && (MIN_CLUSTERS..=samples / 2).contains(&used().count())
        && used().filter(|(_, count)| **count > 1).count() > 1
        && used().all(|(code, _)| column.value(code).is_some_and(is_cluster_id))
        && !values().all(is_number)
}
