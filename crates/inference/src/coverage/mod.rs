//! How often the intervals of scores like these hold the truth: simulated from the scores themselves.
//!
//! The scores are taken as a population whose mean is known. Samples (or whole clusters) are drawn from it with replacement, as
//! many as there are; each method makes its interval of each such draw; and what counts is how often that holds the known
//! mean, and how wide it is.

mod simulation;

use std::cell::RefCell;
use std::sync::Arc;

use errorbar_core::metrics::{accuracy, mean, stderr};
use errorbar_core::{
    Defined, Error, IntervalChoice, IntervalMethod, Metric, MetricItem, MetricMap, Metrics, Plan, Result,
    ScoreColumns, Scores, ValueRef, Warning, metrics,
};

use self::simulation::LEAST_UNITS;
use self::simulation::simulate;
use crate::coverage::simulation::Population;

/// How coverage is simulated.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CoverageOptions {
    /// The number of simulations of each method; if unset, as many as take a few seconds, at most 10,000.
    pub simulations: Option<u32>,
    /// The only method to simulate; all of them if unset.
    pub method: Option<IntervalChoice>,
}

impl CoverageOptions {
    /// The most simulations.
    pub const MAX_SIMULATIONS: u32 = 10_000_000;
}

/// What [`simulate_coverage`] gives.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CoverageReport {
    /// One for each scorer, reducer and key of map-valued scores.
    pub scores: Vec<ScoreCoverage>,
    /// What a reader of the numbers should know.
    pub warnings: Vec<Warning>,
}

/// The coverage of intervals of the scores of one scorer.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ScoreCoverage {
    /// The scorer.
    pub scorer: String,
    /// The reducer, unless it is the implied mean or there is none.
    pub reducer: Option<String>,
    /// The key of map-valued scores.
    pub field: Option<String>,
    /// The coverage, or why these scores cannot show it.
    pub coverage: std::result::Result<Coverage, NoCoverage>,
}

/// How often intervals hold the mean of scores like these.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Coverage {
    /// The number of scores.
    pub n: u64,
    /// The number of clusters, if whole clusters are drawn.
    pub clusters: Option<u64>,
    /// The truth: the mean of the scores.
    pub mean: f64,
    /// The level of the intervals.
    pub level: f64,
    /// The sampling seed.
    pub seed: u64,
    /// The resamples of each interval that draws any.
    pub draws: u32,
    /// The methods: `auto`, then those that a plan can name.
    pub methods: Vec<MethodCoverage>,
}

/// The coverage of one method.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct MethodCoverage {
    /// The method.
    pub method: IntervalChoice,
    /// What the method makes of the scores themselves: for `auto`, which one it takes.
    pub takes: Option<IntervalMethod>,
    /// The figures, or why there are none.
    pub figures: Defined<CoverageFigures>,
}

/// The figures of one method.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct CoverageFigures {
    /// The number of simulations.
    pub simulations: u64,
    /// The share of the intervals that hold the truth; a simulation without an interval holds nothing.
    pub coverage: f64,
    /// The Monte-Carlo error of that share; not 0 where all intervals hold the truth, or none does.
    pub coverage_error: f64,
    /// The share of the intervals that lie below the truth.
    pub below: f64,
    /// The share of the intervals that lie above the truth.
    pub above: f64,
    /// The share of the simulations without an interval, such as those in which all scores are equal.
    pub undefined: f64,
    /// The mean width of the intervals; none if they have no end.
    pub width: Option<f64>,
    /// The Monte-Carlo error of the mean width.
    pub width_error: Option<f64>,
}

/// Why scores cannot show the coverage of their intervals.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum NoCoverage {
    /// Samples are clustered by two keys.
    #[error("whole clusters cannot be drawn by two keys at once: name one cluster key")]
    TwoWays,
    /// There are too few clusters to draw from.
    #[error("{0} clusters are too few to draw from: it takes {LEAST_UNITS}")]
    TooFewClusters(u64),
    /// The scores do not show how they vary, for this reason.
    #[error("{0}")]
    NoSpread(String),
    /// Scores that cannot be evaluated.
    #[error(transparent)]
    Scores(#[from] Error),
}

impl NoCoverage {
    fn no_scores() -> Self {
        NoCoverage::NoSpread("there is no score".to_owned())
    }
}

impl Coverage {
    /// Simulates from these scores, with the errors and the seed of their estimation.
    ///
    /// # Errors
    /// The scores cannot show it.
    pub fn simulate(scores: &Scores<'_>, options: CoverageOptions) -> std::result::Result<Self, NoCoverage> {
        let estimation = scores.estimation();
        simulate(&Population::of(scores)?, &estimation.errors, estimation.seed(), options)
    }
}

/// Simulates how often the intervals of a plan hold the truth, for each scorer, reducer and key that it has metrics
/// for. The mean of the scores is the truth; which metrics there are does not matter.
///
/// ```
/// use errorbar_core::{Plan, Score, ScoreColumns};
/// use errorbar_inference::{CoverageOptions, simulate_coverage};
///
/// let mut columns = ScoreColumns::new(["match"]);
/// for id in 0..40 {
///     columns.push(id.to_string(), 1).score("match", Score::new(if id < 36 { "C" } else { "I" }))?;
/// }
/// let report = simulate_coverage(&Plan::new(), &columns, CoverageOptions::default())?;
/// let coverage = report.scores[0].coverage.as_ref().unwrap();
/// let [wilson, t] = ["wilson", "t"].map(|name| {
///     let of_method = coverage.methods.iter().find(|one| one.method.to_string() == name).unwrap();
///     of_method.figures.as_ref().unwrap().coverage
/// });
/// assert!(wilson > 0.94 && t < 0.92);
/// # Ok::<(), errorbar_core::Error>(())
/// ```
///
/// # Errors
/// What makes the scores themselves unusable, as in [`Plan::evaluate`].
pub fn simulate_coverage(
    plan: &Plan,
    columns: &ScoreColumns,
    options: CoverageOptions,
) -> Result<CoverageReport> {
    let mut probed = plan.clone();
    let any_maps = columns.scorer_names().any(|scorer| has_maps(columns, scorer));
    probed.task_metrics = plan.task_metrics.as_ref().map(|metrics| in_place_of(metrics, any_maps));
    for scorer in &mut probed.scorers {
        scorer.metrics = in_place_of(&scorer.metrics, has_maps(columns, &scorer.name));
    }
    for scorer in columns.scorer_names() {
        let own = plan.default_metrics.get(scorer).cloned();
        let metrics = own.unwrap_or_else(|| metrics![accuracy()]);
        probed.default_metrics.insert(scorer.to_owned(), in_place_of(&metrics, has_maps(columns, scorer)));
    }
    let scores = RefCell::new(Vec::new());
    let warnings = probed.visit_scores(columns, &|block| {
        if block.metrics.is_empty() {
            return;
        }
        scores.borrow_mut().push(ScoreCoverage {
            scorer: block.scorer.to_owned(),
            reducer: block.reducer.map(str::to_owned),
            field: block.field.map(str::to_owned),
            coverage: Coverage::simulate(block.scores, options),
        });
    })?;
    Ok(CoverageReport { scores: scores.into_inner(), warnings })
}

/// Whether the first score of a scorer is a map.
fn has_maps(columns: &ScoreColumns, scorer: &str) -> bool {
    let Some(column) = columns.scorer(scorer) else { return false };
    let first = (0..columns.len()).find(|row| column.values().is_scored(*row) == Some(true));
    first.is_some_and(|row| matches!(column.values().get(row), Some(ValueRef::Map(_))))
}

/// One metric where there are any: for all scores, and for the keys that there are metrics for. It is clustered as the first
/// of those that it stands for.
fn in_place_of(metrics: &Metrics, has_maps: bool) -> Metrics {
    let cluster = metrics.iter().find_map(|metric| metric.cluster());
    let one = || -> Arc<dyn Metric> {
        match cluster {
            Some(key) => Arc::new(stderr().cluster(key)),
            None => Arc::new(mean()),
        }
    };
    let by_key = |map: &MetricMap| map.keys().map(|key| (key.clone(), vec![one()])).collect::<MetricMap>();
    let items = match metrics {
        Metrics::Map(map) => return Metrics::Map(by_key(map)),
        Metrics::List(items) => items,
    };
    let of_map = |item: &MetricItem| match item {
        MetricItem::Map(map) => Some(MetricItem::Map(by_key(map))),
        MetricItem::Metric(_) => None,
    };
    let maps: Vec<MetricItem> = items.iter().filter_map(of_map).collect();
    match maps.is_empty() {
        true if has_maps => Metrics::Map([("*".to_owned(), vec![one()])].into_iter().collect()),
        true => Metrics::List(vec![MetricItem::Metric(one())]),
        false => Metrics::List(maps),
    }
}
