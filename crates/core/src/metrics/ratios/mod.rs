//! Ratios of two totals: what they share is their state.

mod geometric_mean;
mod perplexity;
mod weighted_mean;

pub use geometric_mean::*;
pub use perplexity::*;
pub use weighted_mean::*;

use crate::estimate::RatioTotals;
use crate::metrics::prelude::*;

/// The methods of a metric that is computed as a ratio.
macro_rules! computed_as_ratio {
    () => {
        fn compute(&self, scores: &$crate::Scores<'_>) -> $crate::Result<$crate::MetricValue> {
            let state = super::RatioState::new(self.clone(), scores.estimation());
            $crate::metric::compute_by_state(state, scores)
        }

        fn state(&self, estimation: &$crate::Estimation) -> Option<Box<dyn $crate::MetricState>> {
            Some(Box::new(super::RatioState::new(self.clone(), estimation)))
        }
    };
}
use computed_as_ratio;

/// How a metric reads its terms.
trait RatioMetric: Params + Clone + std::fmt::Debug + Send + 'static {
    /// What the ratio is reported as.
    const SCALE: RatioScale;

    /// The terms of scores, by position. Those that are left out do not count.
    ///
    /// # Errors
    /// Scores that cannot be read. A [`Problem`](RatioTerms::problem) leaves the figure undefined instead.
    fn terms(&self, scores: &Scores<'_>) -> Result<RatioTerms>;

    /// Why there is no ratio where the weights of this number of scores are 0 altogether.
    fn nothing(_n: u64) -> Undefined {
        Undefined::NoScores
    }
}

/// The terms of some scores.
#[derive(Debug, Default)]
struct RatioTerms {
    terms: Vec<(usize, RatioTerm)>,
    /// Scores that have no term, where that is to be noted.
    missing: usize,
    /// Why there is no figure.
    problem: Option<String>,
}

/// The totals over the scores seen so far. Merges exactly.
#[derive(Clone, Debug)]
struct RatioState<M> {
    metric: M,
    estimation: Estimation,
    totals: RatioTotals,
    n: u64,
    absent: u64,
    missing: usize,
    problem: Option<String>,
}

impl<M: RatioMetric> RatioState<M> {
    fn new(metric: M, estimation: &Estimation) -> Self {
        RatioState {
            metric,
            estimation: estimation.clone(),
            totals: RatioTotals::default(),
            n: 0,
            absent: 0,
            missing: 0,
            problem: None,
        }
    }
}

impl<M: RatioMetric> Accumulator for RatioState<M> {
    fn update(&mut self, scores: &Scores<'_>) -> Result<()> {
        let RatioTerms { terms, missing, problem } = self.metric.terms(scores)?;
        self.n += scores.len() as u64;
        self.absent += scores.absent() as u64;
        self.missing += missing;
        self.problem = self.problem.take().or(problem);
        self.totals.update(M::NAME, scores, terms.into_iter())
    }

    fn merge(&mut self, other: Self) -> Result<()> {
        self.n += other.n;
        self.absent += other.absent;
        self.missing += other.missing;
        self.problem = self.problem.take().or(other.problem);
        self.totals.merge(&other.totals)
    }

    fn kind(&self) -> Option<ScoreKind> {
        (self.totals.n() > 0 && M::SCALE == RatioScale::Plain).then(|| self.totals.kind())
    }

    fn finish(&self, whole: GroupContext) -> Result<MetricValue> {
        let random = self.estimation.random.among(whole.estimates);
        let level = whole.level.or(self.estimation.errors.level);
        let errors = ErrorPlan { level, ..self.estimation.errors.clone() };
        let kind = whole.kind.unwrap_or_else(|| self.totals.kind());
        let mut estimate = match (&self.problem, self.totals.ratio()) {
            (Some(problem), _) => Estimate::undefined(Undefined::Other(problem.clone())),
            (None, None) => Estimate::undefined(M::nothing(self.n)),
            (None, Some(ratio)) if ratio.is_nan() => Estimate::new(ratio),
            (None, Some(_)) => self.totals.estimate(&errors, kind, &random, M::SCALE),
        };
        (estimate.n, estimate.absent) = (self.totals.n(), self.absent);
        Ok(estimate.note_some("missing_metadata", (self.missing > 0).then_some(self.missing)).into())
    }
}
