//! The state that accuracy, mean, var, std, stderr and the intervals of a mean share: a summary of the scores, and how
//! it ends as a value.

use std::sync::Arc;

use crate::error::Result;
use crate::estimate::{
    Bounds, ErrorMethod, ErrorPlan, Estimate, Estimation, Kind, Notes, Summary, Undefined, Whole,
};
use crate::evaluation::{MetricValue, Subject};
use crate::metric::{MetricState, same_state};
use crate::random::Random;
use crate::scores::Scores;
use crate::value::Conversion;

/// How a summary ends as a value.
pub(super) type Finish = fn(&SummaryState, &SummaryPart<'_>) -> Result<Estimate>;

/// The summary of a part of the scores, and what it is a part of.
pub(super) struct SummaryPart<'a> {
    pub(super) summary: &'a Summary,
    /// What all scores are.
    kind: Kind,
    random: Random,
}

/// A summary of the scores seen so far, and how it ends as a value.
#[derive(Clone, Debug)]
pub(super) struct SummaryState {
    metric: &'static str,
    conversion: Conversion,
    /// How errors are computed; not always as the plan says.
    pub(super) errors: ErrorPlan,
    /// Whether that is as the plan says.
    by_plan: bool,
    pub(super) estimation: Estimation,
    /// Shared as long as there is one batch of scores, which is nearly always.
    summary: Option<Arc<Summary>>,
    absent: u64,
    /// Why there are no clusters, if the plan did not ask for them itself.
    problem: Option<String>,
    end: Finish,
}

impl SummaryState {
    pub(super) fn new(
        metric: &'static str,
        conversion: Conversion,
        errors: ErrorPlan,
        estimation: &Estimation,
        end: Finish,
    ) -> Self {
        SummaryState {
            metric,
            conversion,
            errors,
            by_plan: false,
            estimation: estimation.clone(),
            summary: None,
            absent: 0,
            problem: None,
            end,
        }
    }

    /// A mean with the error and the interval of the plan.
    pub(super) fn location(metric: &'static str, conversion: Conversion, estimation: &Estimation) -> Self {
        let state = SummaryState::new(metric, conversion, estimation.errors.clone(), estimation, location);
        SummaryState { by_plan: true, ..state }
    }

    /// Something of independent scores, whatever the plan.
    pub(super) fn plain(
        metric: &'static str,
        conversion: Conversion,
        estimation: &Estimation,
        end: Finish,
    ) -> Self {
        SummaryState::new(metric, conversion, iid(), estimation, end)
    }
}

/// Errors of independent scores.
pub(super) fn iid() -> ErrorPlan {
    let mut errors = ErrorPlan::new();
    errors.method = Some(ErrorMethod::Iid);
    errors
}

/// Which numbers a metric is about that reads scores by a conversion.
pub(super) fn subject(conversion: Conversion) -> Subject {
    Subject { conversions: vec![conversion], ..Subject::default() }
}

impl SummaryState {
    fn take_in(&mut self, mut summary: Arc<Summary>) -> Result<()> {
        let Some(own) = &mut self.summary else {
            self.summary = Some(summary);
            return Ok(());
        };
        if self.problem.is_some() {
            // Some of the scores have no clusters, so that nothing but the mean is left.
            *own = Arc::new(own.to_moments());
            summary = Arc::new(summary.to_moments());
        }
        Arc::make_mut(own).merge(&summary)
    }
}

impl MetricState for SummaryState {
    fn update(&mut self, scores: &Scores<'_>) -> Result<()> {
        let summary = match scores.summary(self.metric, &self.conversion, &self.errors) {
            // The clusters are a matter of the error, which is reported by itself: the mean stands.
            Err(error) if self.by_plan && error.is_about_clusters() => {
                self.problem = Some(error.to_string());
                scores.summary(self.metric, &self.conversion, &iid())?
            }
            summary => summary?,
        };
        self.absent += scores.absent() as u64;
        self.take_in(summary)
    }

    fn merge(&mut self, other: Box<dyn MetricState>) -> Result<()> {
        let other = same_state::<SummaryState>(other)?;
        self.absent += other.absent;
        self.problem = self.problem.take().or(other.problem);
        other.summary.map_or(Ok(()), |summary| self.take_in(summary))
    }

    fn kind(&self) -> Option<Kind> {
        self.summary.as_ref().map(|summary| summary.kind())
    }

    fn finish(&self, whole: Whole) -> Result<MetricValue> {
        let empty = || Arc::new(Summary::for_plan(&self.errors, self.estimation.by_sample));
        let summary = self.summary.clone().unwrap_or_else(empty);
        let part = SummaryPart {
            summary: &summary,
            kind: whole.kind.unwrap_or_else(|| summary.kind()),
            random: self.estimation.random.among(whole.estimates),
        };
        let mut estimate = (self.end)(self, &part)?;
        (estimate.n, estimate.absent) = (summary.n(), self.absent);
        Ok(estimate.into())
    }
}

/// The mean with its error and interval, and with what it would be if absent samples had scores.
fn location(state: &SummaryState, part: &SummaryPart<'_>) -> Result<Estimate> {
    let mut estimate = part.summary.estimate(&state.errors, part.kind, &part.random);
    if let Some(problem) = &state.problem {
        let reason = Undefined::Other(problem.clone());
        estimate.notes.iid_stderr = estimate.stderr();
        (estimate.error, estimate.interval) = (Err(reason.clone()), Err(reason));
        estimate.draws = None;
        estimate.notes = Notes::default();
    }
    estimate.bounds = bounds(part.summary, state.absent, part.kind, &state.errors);
    Ok(estimate)
}

/// What the mean would be with the absent samples, if the range of scores is known.
fn bounds(summary: &Summary, absent: u64, whole: Kind, errors: &ErrorPlan) -> Option<Bounds> {
    let range = errors.range.or((whole != Kind::Unbounded).then_some((0.0, 1.0)));
    let (lowest, highest) = range.filter(|(low, high)| absent > 0 && summary.is_within(*low, *high))?;
    let with = |score: f64| {
        let mut sum = summary.sum();
        sum.add_times(score, absent);
        sum.divide(summary.n() + absent)
    };
    Some(Bounds { worst: with(lowest), best: with(highest), absent_as_wrong: with(0.0) })
}

/// A figure that needs two scores.
pub(super) fn of_two_or_more(value: Option<f64>, n: u64) -> Estimate {
    match value {
        Some(value) if value.is_infinite() => Estimate::undefined(Undefined::Overflow),
        Some(value) => Estimate::new(value),
        None if n == 0 => Estimate::undefined(Undefined::NoScores),
        None => Estimate::undefined(Undefined::TooFewScores { n }),
    }
}

/// A metric over a summary: everything but its name, its words, its role and its state.
macro_rules! summary_metric {
    ($type:ident, $function:ident, $name:literal, $doc:literal, $role:ident, $state:expr) => {
        #[doc = $doc]
        #[derive(Clone, Debug, Default)]
        pub struct $type {
            to_float: Option<$crate::Conversion>,
        }

        #[doc = $doc]
        pub fn $function() -> $type {
            $type::default()
        }

        impl $type {
            super::takes_conversion!();

            fn new_state(&self, estimation: &$crate::Estimation) -> super::summary::SummaryState {
                $state($name, self.conversion(), estimation)
            }
        }

        pub(super) const ENTRY: $crate::registry::MetricEntry = $crate::registry::MetricEntry {
            name: $name,
            doc: $doc,
            params: &[$crate::registry::Param::optional("to_float", "value_to_float()")],
            build: |args| Ok(std::sync::Arc::new($type { to_float: args.get("to_float")? })),
            replaces: false,
        };

        impl $crate::Metric for $type {
            fn spec(&self) -> $crate::Spec {
                $crate::args::spec_of($name, [("to_float", $crate::args::passed(&self.to_float))])
            }

            fn metadata_keys(&self) -> $crate::MetadataKeys {
                $crate::MetadataKeys::NONE
            }

            fn score_parts(&self) -> $crate::ScoreParts {
                $crate::ScoreParts::Value
            }

            fn role(&self) -> $crate::Role {
                $crate::Role::$role
            }

            fn subject(&self) -> Option<$crate::Subject> {
                Some(super::summary::subject(self.conversion()))
            }

            fn compute(&self, scores: &$crate::Scores<'_>) -> $crate::Result<$crate::MetricValue> {
                $crate::metric::compute_by_state(self.new_state(scores.estimation()), scores)
            }

            fn state(&self, estimation: &$crate::Estimation) -> Option<Box<dyn $crate::MetricState>> {
                Some(Box::new(self.new_state(estimation)))
            }
        }
    };
}
pub(super) use summary_metric;
