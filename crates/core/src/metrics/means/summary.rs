//! What accuracy, mean, var, std, stderr and the intervals of a mean share: the metric, and its state, which is a summary
//! of the scores and how it becomes a value.

use std::fmt;

use crate::error_plan::EarlyStop;
use crate::estimate::{Bounds, EstimateNotes, OrderedScores, Summary};
use crate::inputs::FigureNames;
use crate::metrics::prelude::*;
use crate::random::Random;
use crate::scores::EpochSums;
use crate::spec::{SEED, ToSpec, params_to_log};
use errorbar_stats::exact::Moments;

/// A metric over the scores as numbers: their mean, their spread, or the error or interval of their mean.
pub(super) trait SummaryMetric: Params + fmt::Debug + Send + Sync {
    /// What kind of figure it is, and of which numbers.
    fn figure(&self) -> Figure<'_>;

    /// How it is computed. The arguments have been checked.
    fn computation(&self, estimation: &Estimation) -> Computation<Self>;
}

/// What kind of figure a metric gives, how values become numbers for it, and the metadata key of its clusters.
pub(super) struct Figure<'m> {
    pub(super) role: Role,
    pub(super) to_float: &'m Option<Conversion>,
    pub(super) cluster: Option<&'m String>,
}

impl Figure<'_> {
    pub(super) fn conversion(&self) -> Conversion {
        self.to_float.clone().unwrap_or_default()
    }

    /// The errors of the reference: of independent scores, or clustered with the factor G/(G−1).
    pub(super) fn reference_errors(&self) -> ErrorPlan {
        let Some(key) = self.cluster else { return iid() };
        let mut errors = ErrorPlan::new().cluster(key);
        errors.method = Some(ErrorMethod::Cluster(ClusterVariance::Cr1));
        errors
    }
}

/// How a metric is computed.
pub(super) enum Computation<M> {
    /// Piece by piece.
    State(Box<SummaryState>),
    /// By resampling all scores at once.
    Resampling(fn(&M, &Scores<'_>) -> Result<Estimate>),
}

impl<M: SummaryMetric> Metric for M {
    metric_flags! { self:
        depends_on_ids = false, score_parts = Value, role = self.figure().role, resample_cost = 1
    }

    /// The arguments but for the seed, which the reference would refuse to find in a log: the seed stands in the notes
    /// of the figure.
    fn params(&self) -> Metadata {
        let mut args = self.spec().kwargs;
        args.shift_remove(SEED);
        params_to_log(&args)
    }

    fn metadata_keys(&self) -> MetadataKeys {
        MetadataKeys::Only(self.figure().cluster.cloned().into_iter().collect())
    }

    fn subject(&self) -> Option<Subject> {
        Some(Subject { conversions: vec![self.figure().conversion()], ..Subject::default() })
    }

    fn mean_of(&self) -> Option<Conversion> {
        let figure = self.figure();
        (figure.role == Role::Location).then(|| figure.conversion())
    }

    fn cluster(&self) -> Option<&str> {
        self.figure().cluster.map(String::as_str)
    }

    fn figure_names(&self) -> FigureNames {
        match self.figure().role {
            // Both ends have one.
            Role::IntervalOf => FigureNames::OfMetadata,
            _ => FigureNames::OfMetric,
        }
    }

    fn compute(&self, scores: &Scores<'_>) -> Result<MetricValue> {
        self.check()?;
        match self.computation(scores.estimation()) {
            Computation::State(state) => compute_by_state(*state, scores),
            Computation::Resampling(compute) => compute(self, scores).map(Into::into),
        }
    }

    fn state(&self, estimation: &Estimation) -> Option<Box<dyn MetricState>> {
        self.check().ok()?;
        match self.computation(estimation) {
            Computation::State(state) => Some(state),
            Computation::Resampling(_) => None,
        }
    }
}

/// How a summary becomes a value.
pub(super) type Finish = fn(&SummaryState, &SummaryPart<'_>) -> Result<Estimate>;

/// The summary of a part of the scores, and what it is a part of.
pub(super) struct SummaryPart<'a> {
    pub(super) summary: &'a Summary,
    /// What all scores are, and how many there are.
    kind: ScoreKind,
    all: u64,
    random: Random,
}

impl SummaryPart<'_> {
    /// The mean with the error and the interval of a plan.
    pub(super) fn estimate(&self, errors: &ErrorPlan) -> Estimate {
        self.summary.estimate_among(errors, self.kind, self.all, &self.random)
    }
}

/// A summary of the scores seen so far, and how it becomes a value.
#[derive(Clone, Debug)]
pub(super) struct SummaryState {
    metric: &'static str,
    conversion: Conversion,
    /// How errors are computed; not always as in the plan.
    pub(super) errors: ErrorPlan,
    /// Whether that is as in the plan.
    by_plan: bool,
    /// Whether scores outside of 0 to 1 are refused.
    proportions_only: bool,
    pub(super) estimation: Estimation,
    /// Shared as long as there is one batch of scores, which is nearly always.
    summary: Option<Arc<Summary>>,
    absent: u64,
    /// The epochs behind the scores.
    epochs: EpochSums,
    /// The scores in the order of a run that was stopped early.
    ordered: OrderedScores,
    /// Why there are no clusters, if the plan did not ask for them itself.
    problem: Option<String>,
    finish: Finish,
}

impl<M: SummaryMetric> Computation<M> {
    /// By a summary, with errors of this kind.
    pub(super) fn by_state(metric: &M, errors: ErrorPlan, estimation: &Estimation, finish: Finish) -> Self {
        Computation::State(Box::new(SummaryState {
            metric: M::NAME,
            conversion: metric.figure().conversion(),
            errors,
            by_plan: false,
            proportions_only: false,
            estimation: estimation.clone(),
            summary: None,
            absent: 0,
            epochs: EpochSums::default(),
            ordered: OrderedScores::default(),
            problem: None,
            finish,
        }))
    }

    /// A mean with the error and the interval of the plan.
    pub(super) fn location(metric: &M, estimation: &Estimation) -> Self {
        Self::by_state(metric, estimation.errors.clone(), estimation, location)
            .with(|state| state.by_plan = true)
    }

    /// A figure that needs two scores, whatever the plan.
    pub(super) fn spread(metric: &M, estimation: &Estimation, spread: Finish) -> Self {
        Self::by_state(metric, iid(), estimation, spread)
    }

    /// The same for scores between 0 and 1 only.
    pub(super) fn of_proportions(self) -> Self {
        self.with(|state| state.proportions_only = true)
    }

    fn with(mut self, change: impl FnOnce(&mut SummaryState)) -> Self {
        if let Computation::State(state) = &mut self {
            change(state);
        }
        self
    }
}

/// Errors of independent scores.
pub(super) fn iid() -> ErrorPlan {
    let mut errors = ErrorPlan::new();
    errors.method = Some(ErrorMethod::Iid);
    errors
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

    /// The early stop that the interval allows for: of the mean of all samples, once each.
    fn sequence(&self) -> Option<&EarlyStop> {
        self.errors.sequence().filter(|_| self.by_plan && !self.estimation.by_sample)
    }

    /// Replaces error and interval by those of the sequence. A sequence has no standard error.
    fn allow_for_early_stop(&self, stop: &EarlyStop, kind: ScoreKind, estimate: &mut Estimate) {
        let range = self.errors.range.or((kind != ScoreKind::Unbounded).then_some((0.0, 1.0)));
        // Without a range there is no sequence; the interval is what it is, with a note.
        let Some(range) = range.filter(|_| estimate.value.is_ok()) else { return };
        match self.ordered.interval(stop, &self.errors, range, self.absent) {
            Ok(interval) => {
                estimate.interval = Ok(interval);
                estimate.error = Err(Undefined::StoppedEarly);
                (estimate.draws, estimate.notes) = (None, EstimateNotes::default());
                estimate.notes.early_stop = Some(stop.note());
            }
            Err(problem) => {
                let note = format!("the interval does not allow for the early stop: {problem}");
                estimate.notes.early_stop = Some(note);
            }
        }
    }

    fn check_proportions(&self, scores: &Scores<'_>) -> Result<()> {
        scores.finite(self.metric, &self.conversion, |numbers| {
            match numbers.iter().enumerate().find(|(_, f)| !(0.0..=1.0).contains(*f)) {
                None => Ok(()),
                Some((at, &value)) => Err(Error::OutsideUnitInterval {
                    metric: self.metric.to_owned(),
                    sample: scores.sample_id(at).to_owned(),
                    value,
                }),
            }
        })?
    }
}

impl Accumulator for SummaryState {
    fn update(&mut self, scores: &Scores<'_>) -> Result<()> {
        if self.proportions_only {
            self.check_proportions(scores)?;
        }
        let summary = match scores.summary(self.metric, &self.conversion, &self.errors) {
            // The clusters are a matter of the error, which is reported by itself: the mean stands.
            Err(error) if self.by_plan && error.is_about_clusters() => {
                self.problem = Some(error.to_string());
                scores.summary(self.metric, &self.conversion, &iid())?
            }
            summary => summary?,
        };
        self.absent += scores.absent() as u64;
        if let Some(stop) = self.sequence().filter(|_| !scores.is_resample()) {
            let mut ordered = OrderedScores::default();
            let has_gaps = self.conversion.keeps_numbers();
            scores.converted(&self.conversion, |numbers| ordered.update(stop, scores, numbers, has_gaps));
            self.ordered.merge(ordered);
        }
        if self.by_plan && !scores.is_resample() && self.conversion.keeps_numbers() {
            self.epochs.update(scores, &self.conversion);
        }
        self.take_in(summary)
    }

    fn merge(&mut self, other: Self) -> Result<()> {
        self.absent += other.absent;
        self.epochs.merge(&other.epochs);
        self.ordered.merge(other.ordered);
        self.problem = self.problem.take().or(other.problem);
        other.summary.map_or(Ok(()), |summary| self.take_in(summary))
    }

    fn kind(&self) -> Option<ScoreKind> {
        self.summary.as_ref().map(|summary| summary.kind())
    }

    fn summary(&self) -> Option<&Summary> {
        self.summary.as_deref().filter(|_| self.by_plan && self.problem.is_none())
    }

    fn finish(&self, whole: GroupContext) -> Result<MetricValue> {
        let empty = || Arc::new(Summary::for_plan(&self.errors, self.estimation.by_sample));
        let summary = self.summary.clone().unwrap_or_else(empty);
        let part = SummaryPart {
            summary: &summary,
            kind: whole.kind.unwrap_or_else(|| summary.kind()),
            all: whole.n.unwrap_or_else(|| summary.n()),
            random: self.estimation.random.among(whole.estimates),
        };
        let mut estimate = match whole.level.filter(|_| self.by_plan) {
            Some(level) => {
                let mut state = self.clone();
                state.errors.level = Some(level);
                (self.finish)(&state, &part)?
            }
            None => (self.finish)(self, &part)?,
        };
        (estimate.n, estimate.absent) = (summary.n(), self.absent);
        // A group is no random part of the benchmark: its size there is not known, even if no sample so far is of another.
        let is_all = whole.n.is_none_or(|all| all == summary.n());
        if let Some(stop) = self.sequence().filter(|_| is_all && !whole.is_group) {
            self.allow_for_early_stop(stop, part.kind, &mut estimate);
        }
        Ok(estimate.into())
    }
}

/// The mean with its error and interval, and with what it would be if absent samples had scores.
fn location(state: &SummaryState, part: &SummaryPart<'_>) -> Result<Estimate> {
    let mut estimate = match state.estimation.value_only {
        true => part.summary.mean_alone(),
        false => part.estimate(&state.errors),
    };
    if let Some(problem) = &state.problem {
        let reason = Undefined::Other(problem.clone());
        estimate.notes.iid_stderr = estimate.stderr();
        (estimate.draws, estimate.notes) = (None, EstimateNotes::default());
        estimate = estimate.without_error(&reason);
    }
    estimate.notes.stderr_fixed = state.epochs.fixed_stderr();
    estimate.bounds = bounds(part.summary, state, part.kind);
    estimate.notes.partly_absent = estimate.bounds.and(Some(state.epochs.gaps)).filter(|gaps| *gaps > 0);
    Ok(estimate)
}

/// What the mean would be with the absent samples and epochs, if the range of scores is known.
fn bounds(summary: &Summary, state: &SummaryState, whole: ScoreKind) -> Option<Bounds> {
    let has_absent = state.absent + state.epochs.gaps > 0;
    // Scores within 0 and 1 may be a group of others that are not.
    let is_known = state.errors.range.is_some() || whole != ScoreKind::Unbounded;
    let (lowest, highest) = summary.range(&state.errors).filter(|_| has_absent && is_known)?;
    let with = |score: f64, of_epochs: &ExactSum| {
        let mut sum = summary.sum();
        sum.merge(of_epochs);
        sum.add_times(score, state.absent);
        sum.divide((summary.n() + state.absent).max(1))
    };
    let [worst, best, wrong] = state.epochs.changes();
    Some(Bounds { worst: with(lowest, worst), best: with(highest, best), absent_as_wrong: with(0.0, wrong) })
}

/// A spread of moments, which needs two scores.
pub(super) fn spread(part: &SummaryPart<'_>, spread: impl Fn(&Moments) -> Option<f64>) -> Result<Estimate> {
    let n = part.summary.n();
    Ok(match spread(part.summary.moments()) {
        Some(value) if value.is_infinite() => Estimate::undefined(Undefined::Overflow),
        Some(value) => Estimate::new(value),
        None if n == 0 => Estimate::undefined(Undefined::NoScores),
        None => Estimate::undefined(Undefined::TooFewScores { n }),
    })
}

/// A metric of the reference over a summary that has no other argument than its conversion.
macro_rules! summary_metric {
    ($(#[$doc:meta])* $type:ident, $name:literal, $role:ident, $computation:expr) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default, $crate::Params)]
        #[params(crate = $crate, name = $name, reference)]
        pub struct $type {
            /// How values become numbers.
            #[param(default = $crate::Conversion::default())]
            to_float: Option<$crate::Conversion>,
        }

        impl super::summary::SummaryMetric for $type {
            fn figure(&self) -> super::summary::Figure<'_> {
                let role = $crate::Role::$role;
                super::summary::Figure { role, to_float: &self.to_float, cluster: None }
            }

            fn computation(&self, estimation: &$crate::Estimation) -> Computation<Self> {
                $computation(self, estimation)
            }
        }
    };
}
pub(super) use summary_metric;
