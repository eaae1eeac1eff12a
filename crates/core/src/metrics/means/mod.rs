//! Figures of the mean of scores, which are computed from a summary of them: `accuracy`, `mean`, `var`, `std`, `stderr`,
//! `bootstrap_stderr`, and in `ci` its intervals.

mod ci;

pub use ci::*;

use std::fmt;

use crate::error_plan::EarlyStop;
use crate::estimate::{Bounds, EstimateNotes, SampleValue, Summary};
use crate::inputs::FigureNames;
use crate::metrics::prelude::*;
use crate::random::Random;
use crate::scores::EpochSums;
use crate::spec::{SEED, ToSpec, params_to_log};
use errorbar_stats::exact::Moments;
use errorbar_stats::resampling::ResampledMeans;

/// A metric over the scores as numbers: their mean, their spread, or the error or interval of their mean.
trait SummaryMetric: Params + fmt::Debug + Send + Sync {
    /// What kind of figure it is, and of which numbers.
    fn figure(&self) -> Figure<'_>;

    /// How it is computed from a summary of the scores; none if it resamples them. The arguments have been checked.
    fn of_summary(&self, estimation: &Estimation) -> Option<SummaryFigure>;

    /// The figure by resampling all scores at once.
    fn resample(&self, _scores: &Scores<'_>) -> Result<Estimate> {
        Ok(Estimate::undefined(Undefined::NotAvailable))
    }
}

/// What kind of figure a metric gives, how values become numbers for it, and the metadata key of its clusters.
struct Figure<'m> {
    role: Role,
    to_float: &'m Option<Conversion>,
    cluster: Option<&'m String>,
}

impl Figure<'_> {
    fn conversion(&self) -> Conversion {
        self.to_float.clone().unwrap_or_default()
    }

    /// The errors of the reference: of independent scores, or clustered with the factor G/(G−1).
    fn reference_errors(&self) -> ErrorPlan {
        let Some(key) = self.cluster else { return iid() };
        let mut errors = ErrorPlan::new().cluster(key);
        errors.method = Some(ErrorMethod::Cluster(ClusterVariance::Cr1));
        errors
    }
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
        let estimate = match self.of_summary(scores.estimation()) {
            Some(figure) => figure.estimate(scores)?,
            None => self.resample(scores)?,
        };
        Ok(estimate.into())
    }

    fn score_kind(&self, scores: &Scores<'_>) -> Result<Option<ScoreKind>> {
        self.check()?;
        let Some(figure) = self.of_summary(scores.estimation()) else { return Ok(None) };
        Ok(Some(figure.summary(scores)?.0.kind()))
    }

    fn summary(&self, scores: &Scores<'_>) -> Option<Arc<Summary>> {
        let figure = self.of_summary(scores.estimation()).filter(|figure| figure.by_plan)?;
        let (summary, problem) = figure.summary(scores).ok()?;
        problem.is_none().then_some(summary)
    }
}

/// How a summary becomes a value.
type Finish = fn(&SummaryPart) -> Result<Estimate>;

/// A figure that is computed from a summary of the scores.
struct SummaryFigure {
    metric: &'static str,
    conversion: Conversion,
    /// How errors are computed; not always as in the plan.
    errors: ErrorPlan,
    /// Whether that is as in the plan.
    by_plan: bool,
    /// Whether scores outside of 0 to 1 are refused.
    proportions_only: bool,
    /// The seed, if it is not that of the plan.
    seed: Option<u64>,
    finish: Finish,
}

/// The summary of some scores, and what they are a part of.
struct SummaryPart {
    summary: Arc<Summary>,
    errors: ErrorPlan,
    value_only: bool,
    /// What all scores are, and how many there are.
    kind: ScoreKind,
    all: u64,
    random: Random,
    absent: u64,
    /// The epochs behind the scores.
    epochs: EpochSums,
    /// The scores in the order of the run, if it was stopped early and the interval allows for that.
    ordered: Option<Result<Vec<(u32, SampleValue)>, String>>,
    /// Why there are no clusters, if the plan did not ask for them itself.
    problem: Option<String>,
}

impl SummaryFigure {
    /// By a summary, with errors of this kind.
    fn new<M: SummaryMetric>(metric: &M, errors: ErrorPlan, finish: Finish) -> Self {
        let conversion = metric.figure().conversion();
        let (by_plan, proportions_only, seed) = (false, false, None);
        SummaryFigure { metric: M::NAME, conversion, errors, by_plan, proportions_only, seed, finish }
    }

    /// A mean with the error and the interval of the plan.
    fn location<M: SummaryMetric>(metric: &M, estimation: &Estimation) -> Self {
        let figure = SummaryFigure::new(metric, estimation.errors.clone(), SummaryPart::location);
        SummaryFigure { by_plan: true, ..figure }
    }

    /// The summary of the scores, and why it has no clusters if those of the plan do not fit.
    fn summary(&self, scores: &Scores<'_>) -> Result<(Arc<Summary>, Option<String>)> {
        let summary_by = |errors: &ErrorPlan| scores.summary(self.metric, &self.conversion, errors);
        match summary_by(&self.errors) {
            // The clusters are a matter of the error, which is reported by itself: the mean stands.
            Err(error) if self.by_plan && error.is_about_clusters() => {
                Ok((summary_by(&iid())?, Some(error.to_string())))
            }
            summary => Ok((summary?, None)),
        }
    }

    /// The value.
    fn estimate(self, scores: &Scores<'_>) -> Result<Estimate> {
        if self.proportions_only {
            check_proportions(self.metric, &self.conversion, scores)?;
        }
        let (summary, problem) = self.summary(scores)?;
        let SummaryFigure { conversion, errors, by_plan, seed, finish, .. } = self;
        let (estimation, whole) = (scores.estimation(), scores.context());
        let is_read_by_plan = by_plan && !scores.is_resample();
        let has_gaps = conversion.keeps_numbers();
        // The sequence is of the mean of all samples, once each.
        let stop = errors.sequence().filter(|_| is_read_by_plan && !estimation.by_sample);
        let ordered =
            stop.map(|stop| scores.converted(&conversion, |numbers| stop.ordered(scores, numbers, has_gaps)));
        let mut epochs = EpochSums::default();
        if is_read_by_plan && has_gaps {
            epochs.update(scores, &conversion);
        }
        let (n, absent) = (summary.n(), scores.absent() as u64);
        let mut random = estimation.random.among(whole.estimates);
        random.seed = seed.unwrap_or(random.seed);
        let kind = whole.kind.unwrap_or_else(|| summary.kind());
        let (all, value_only) = (whole.n.unwrap_or(n), estimation.value_only);
        let part =
            SummaryPart { summary, errors, value_only, kind, all, random, absent, epochs, ordered, problem };
        let mut estimate = finish(&part)?;
        (estimate.n, estimate.absent) = (n, absent);
        // A group is no random part of the benchmark: its size there is not known, even if no sample so far is of another.
        if let Some(stop) = part.errors.sequence().filter(|_| all == n && !whole.is_group) {
            part.allow_for_early_stop(stop, &mut estimate);
        }
        Ok(estimate)
    }
}

fn check_proportions(metric: &str, conversion: &Conversion, scores: &Scores<'_>) -> Result<()> {
    scores.finite(metric, conversion, |numbers| {
        match numbers.iter().enumerate().find(|(_, f)| !(0.0..=1.0).contains(*f)) {
            None => Ok(()),
            Some((at, value)) => {
                let (sample, advice) = (scores.sample_id(at), "use ci() for scores that are no proportions");
                let problem = format!("the score of sample {sample:?} is {value}, outside [0, 1]; {advice}");
                Err(Error::undefined(metric, problem))
            }
        }
    })?
}

/// Errors of independent scores.
fn iid() -> ErrorPlan {
    let mut errors = ErrorPlan::new();
    errors.method = Some(ErrorMethod::Iid);
    errors
}

impl SummaryPart {
    /// Replaces error and interval by those of the sequence. A sequence has no standard error.
    fn allow_for_early_stop(&self, stop: &EarlyStop, estimate: &mut Estimate) {
        let range = self.errors.range.or((self.kind != ScoreKind::Unbounded).then_some((0.0, 1.0)));
        // Without a range there is no sequence; the interval is what it is, with a note.
        let Some((ordered, range)) = self.ordered.as_ref().zip(range).filter(|_| estimate.value.is_ok())
        else {
            return;
        };
        let ordered = ordered.as_ref().map_err(String::clone);
        match ordered.and_then(|scores| stop.interval(scores, &self.errors, range, self.absent)) {
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

    /// The mean with the error and the interval of its plan.
    fn estimate(&self) -> Estimate {
        self.summary.estimate_among(&self.errors, self.kind, self.all, &self.random)
    }

    /// The mean with its error and interval, and with what it would be if absent samples had scores.
    fn location(&self) -> Result<Estimate> {
        let mut estimate = if self.value_only { self.summary.mean_alone() } else { self.estimate() };
        if let Some(problem) = &self.problem {
            (estimate.draws, estimate.notes) = (None, EstimateNotes::default());
            estimate = estimate.without_error(&Undefined::Other(problem.clone()));
        }
        estimate.notes.stderr_fixed = self.epochs.fixed_stderr();
        estimate.bounds = self.bounds();
        estimate.notes.partly_absent = estimate.bounds.and(Some(self.epochs.gaps)).filter(|gaps| *gaps > 0);
        Ok(estimate)
    }

    /// What the mean would be with the absent samples and epochs, if the range of scores is known.
    fn bounds(&self) -> Option<Bounds> {
        let has_absent = self.absent + self.epochs.gaps > 0;
        // Scores within 0 and 1 may be a group of others that are not.
        let is_known = self.errors.range.is_some() || self.kind != ScoreKind::Unbounded;
        let (lowest, highest) = self.summary.range(&self.errors).filter(|_| has_absent && is_known)?;
        let with = |score: f64, of_epochs: &ExactSum| {
            let mut sum = self.summary.sum();
            sum.merge(of_epochs);
            sum.add_times(score, self.absent);
            sum.divide((self.summary.n() + self.absent).max(1))
        };
        let [worst, best, wrong] = self.epochs.changes();
        Some(Bounds::new(with(lowest, worst), with(highest, best), with(0.0, wrong)))
    }

    /// A spread of moments, which needs two scores.
    fn spread(&self, spread: impl Fn(&Moments) -> Option<f64>) -> Result<Estimate> {
        let n = self.summary.n();
        Ok(match spread(self.summary.moments()) {
            Some(value) if value.is_infinite() => Estimate::undefined(Undefined::Overflow),
            Some(value) => Estimate::new(value),
            None if n == 0 => Estimate::undefined(Undefined::NoScores),
            None => Estimate::undefined(Undefined::TooFewScores { n }),
        })
    }
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

        impl SummaryMetric for $type {
            fn figure(&self) -> Figure<'_> {
                let role = $crate::Role::$role;
                Figure { role, to_float: &self.to_float, cluster: None }
            }

            fn of_summary(&self, estimation: &$crate::Estimation) -> Option<SummaryFigure> {
                let computation: fn(&$type, &$crate::Estimation) -> SummaryFigure = $computation;
                Some(computation(self, estimation))
            }
        }
    };
}

summary_metric! {
    /// Share of correct answers: the mean of the converted scores.
    ///
    /// # Formula
    /// ```text
    /// x̄ = Σx / n
    /// ```
    ///
    /// # When
    /// Answers are right or wrong (C and I, P counts one half). Its error and interval come with it: there is no need
    /// to add `stderr` or `ci`.
    ///
    /// # Example
    /// ```console
    /// $ printf '%s\n' id,subject,score 1,law,C 2,law,I 3,law,C 4,art,C 5,art,C 6,art,I > exam.csv
    /// $ errorbar score exam.csv --metric 'accuracy'
    /// exam.csv · 6 rows
    ///
    /// score · 6 scored
    ///                                       0                                       1
    ///   accuracy  0.67 ± 0.21 [0.30, 0.90]              ├──────────────●────────┤      only 6 scores
    ///
    /// ± one standard error · [95 % interval: wilson] · ├─●─┤ the interval
    /// ```
    ///
    /// # See also
    /// `mean`, `stderr`, `ci_wilson`, `grouped`
    ///
    /// # Source
    /// Interval of shares: Wilson 1927, "Probable inference, the law of succession, and statistical inference".
    Accuracy, "accuracy", Location, SummaryFigure::location
}

summary_metric! {
    /// Mean of the scores.
    ///
    /// # Formula
    /// ```text
    /// x̄ = Σx / n
    /// ```
    ///
    /// # When
    /// Scores are numbers: grades, points, F1 of words. On right and wrong it is the same as `accuracy`.
    ///
    /// # Example
    /// ```console
    /// $ printf '%s\n' id,score 1,0.2 2,0.4 3,0.4 4,0.7 5,0.8 6,0.9 > marks.csv
    /// $ errorbar score marks.csv --metric 'mean'
    /// marks.csv · 6 rows
    ///
    /// score · 6 scored
    ///                                   0                                       1
    ///   mean  0.57 ± 0.11 [0.30, 0.80]              ├──────────●────────┤          only 6 scores
    ///
    /// ± one standard error · [95 % interval: wilson] · ├─●─┤ the interval
    /// ```
    ///
    /// # See also
    /// `accuracy`, `median`, `weighted_mean`, `stderr`
    ///
    /// # Source
    /// Miller 2024, "Adding error bars to evals", arXiv 2411.00640.
    Mean, "mean", Location, SummaryFigure::location
}

summary_metric! {
    /// Sample variance of the scores, divisor n−1.
    ///
    /// # Formula
    /// ```text
    /// s² = Σ(x − x̄)² / (n − 1)
    /// ```
    ///
    /// # When
    /// How far scores are spread, in squared units. For the uncertainty of a mean use `stderr`.
    ///
    /// # Example
    /// ```console
    /// $ printf '%s\n' id,score 1,0.2 2,0.4 3,0.4 4,0.7 5,0.8 6,0.9 > marks.csv
    /// $ errorbar score marks.csv --metric 'var'
    /// marks.csv · 6 rows
    ///
    /// score · 6 scored
    ///   var  0.07467
    /// ```
    ///
    /// # See also
    /// `std`, `stderr`, `variance_components`
    ///
    /// # Source
    /// As inspect_ai defines it. With n − 1, so without bias.
    Var, "var", Spread, |metric, _| SummaryFigure::new(metric, iid(), |part| part.spread(Moments::variance))
}

summary_metric! {
    /// Sample standard deviation of the scores, divisor n−1.
    ///
    /// # Formula
    /// ```text
    /// s = √(Σ(x − x̄)² / (n − 1))
    /// ```
    ///
    /// # When
    /// How far single scores are from their mean. It does not fall with the number of samples; `stderr` does.
    ///
    /// # Example
    /// ```console
    /// $ printf '%s\n' id,score 1,0.2 2,0.4 3,0.4 4,0.7 5,0.8 6,0.9 > marks.csv
    /// $ errorbar score marks.csv --metric 'std'
    /// marks.csv · 6 rows
    ///
    /// score · 6 scored
    ///   std  0.2733
    /// ```
    ///
    /// # See also
    /// `var`, `stderr`, `quantile`
    ///
    /// # Source
    /// As inspect_ai defines it. With n − 1.
    Std, "std", Spread, |metric, _| SummaryFigure::new(metric, iid(), |part| part.spread(Moments::std))
}

/// The number of resamples if none is given.
const DEFAULT_NUM_SAMPLES: Count<usize> = Count(1000);

/// Replicates are numbered by 32 bits, and far fewer are ever useful.
const MAX_NUM_SAMPLES: usize = 100_000_000;
/// Quantiles are of means that are all held.
const MAX_HELD: usize = 10_000_000;

/// What is wrong with a number of resamples: none would make the figure a silent zero.
fn check_num_samples(count: &Count<usize>) -> Result<(), String> {
    check_count(count, MAX_NUM_SAMPLES)
}

/// What is wrong with a number of resamples that are all held.
fn check_held_samples(count: &Count<usize>) -> Result<(), String> {
    check_count(count, MAX_HELD)
}

fn check_count(Count(count): &Count<usize>, most: usize) -> Result<(), String> {
    match (1..=most).contains(count) {
        true => Ok(()),
        false => Err(format!("must lie between 1 and {most}, found {count}")),
    }
}

/// The bits of a seed that count: specs have signed integers.
fn seed_bits(seed: u64) -> u64 {
    seed & i64::MAX.cast_unsigned()
}

/// The resamples of a metric: the seed is that of the metric, or of the plan.
fn draws(scores: &Scores<'_>, count: usize, seed: Option<u64>) -> Draws {
    Draws { seed: seed.unwrap_or(scores.seed()), count: count as u64 }
}

/// Takes as many means of resamples from those that a plan allows.
fn take_means(metric: &impl ToSpec, scores: &Scores<'_>, means: &ResampledMeans, draws: Draws) -> Result<()> {
    // A value that is drawn takes half a nanosecond; equal ones are counted.
    let cost = (2 * means.cost()).min(scores.len() as u64);
    scores.take_draws(metric, draws.count as usize, cost)
}

/// Standard error of the mean; with `cluster`, for samples that belong together by that metadata key.
///
/// Samples of one cluster (questions on one passage, for example) are not independent; the clustered error adds up deviations per
/// cluster first.
///
/// # Formula
/// ```text
/// SE = s / √n
/// with clusters: SE = √(G/(G−1) · Σ_g (Σ_{i∈g} (x_i − x̄))²) / n
/// ```
///
/// # When
/// The error of a mean as a figure of its own, as logs record it. For clusters prefer `--cluster KEY`, which also
/// gives the interval (CR2, with Bell and McCaffrey's degrees of freedom).
///
/// # Example
/// ```console
/// $ printf '%s\n' id,passage,score 1,a,1 2,a,1 3,b,0 4,b,0 5,c,1 6,c,0 > passages.csv
/// $ errorbar score passages.csv --metric accuracy --metric 'stderr(cluster="passage")'
/// passages.csv · 6 rows
///
/// score · 6 scored
///                                       0                   1
///   accuracy  0.50 ± 0.29 [0.04, 0.96]   ├────────●────────┤   only 6 scores · only 3 clusters, df 2 ·
///                                                              design effect 1.7
///
/// ± one standard error (CR1 by passage) · [95 % interval: wilson] · ├─●─┤ the interval
/// ```
///
/// # See also
/// `accuracy`, `ci`, `bootstrap_stderr`, `variance_components`
///
/// # Source
/// Miller 2024, "Adding error bars to evals", arXiv 2411.00640.
#[derive(Clone, Debug, Default, Params)]
#[params(crate = crate, name = "stderr", reference)]
pub struct Stderr {
    /// How values become numbers.
    #[param(default = Conversion::default())]
    to_float: Option<Conversion>,
    /// The metadata key that samples of one cluster share.
    cluster: Option<String>,
}

impl SummaryMetric for Stderr {
    fn figure(&self) -> Figure<'_> {
        Figure { role: Role::ErrorOf, to_float: &self.to_float, cluster: self.cluster.as_ref() }
    }

    fn of_summary(&self, _: &Estimation) -> Option<SummaryFigure> {
        Some(SummaryFigure::new(self, self.figure().reference_errors(), |part| {
            let error = part.summary.std_error(&part.errors);
            let mut estimate = Estimate::of(error.as_ref().map(|error| error.se).map_err(Clone::clone));
            estimate.error = error;
            Ok(estimate)
        }))
    }
}

/// Standard deviation of the means of resampled scores; reproducible by its seed.
///
/// # Formula
/// ```text
/// SE = √(Σ_b (x̄_b − mean of x̄_b)² / B), x̄_b the mean of resample b
/// ```
///
/// # When
/// For comparison with tools that resample. For a mean `stderr` is the same without the noise of resampling; for
/// other figures use `bootstrap`.
///
/// # Example
/// ```console
/// $ printf '%s\n' id,score 1,0.2 2,0.4 3,0.4 4,0.7 5,0.8 6,0.9 > marks.csv
/// $ errorbar score marks.csv --metric 'bootstrap_stderr(seed=1)'
/// marks.csv · 6 rows
///
/// score · 6 scored
///   bootstrap_stderr  0.1007  seed=1
/// ```
///
/// # See also
/// `stderr`, `bootstrap`, `ci`
///
/// # Source
/// Efron & Tibshirani 1993, "An Introduction to the Bootstrap".
#[derive(Clone, Debug, Default, Params)]
#[params(crate = crate, name = "bootstrap_stderr", reference)]
pub struct BootstrapStderr {
    /// The number of resamples.
    #[param(default = DEFAULT_NUM_SAMPLES, from = usize, map = Count, check = check_num_samples)]
    num_samples: Option<Count<usize>>,
    /// How values become numbers.
    #[param(default = Conversion::default())]
    to_float: Option<Conversion>,
    /// The seed; that of the plan if unset.
    #[param(map = seed_bits)]
    seed: Option<u64>,
}

impl SummaryMetric for BootstrapStderr {
    fn figure(&self) -> Figure<'_> {
        Figure { role: Role::ErrorOf, to_float: &self.to_float, cluster: None }
    }

    fn of_summary(&self, _: &Estimation) -> Option<SummaryFigure> {
        None
    }

    fn resample(&self, scores: &Scores<'_>) -> Result<Estimate> {
        let Count(count) = self.num_samples_or_default();
        let draws = draws(scores, count, self.seed);
        let n = scores.len() as u64;
        let means = scores.finite(Self::NAME, &self.figure().conversion(), |numbers| {
            let too_few = match numbers.len() {
                0 => Some(Undefined::NoScores),
                1 => Some(Undefined::TooFewScores { n }),
                _ => (count < 2).then(|| Undefined::Other("num_samples < 2".to_owned())),
            };
            too_few.map_or_else(|| ResampledMeans::of(numbers).ok_or(Undefined::NoScores), Err)
        })?;
        let error = match means {
            Ok(means) => {
                take_means(self, scores, &means, draws)?;
                Ok(means.standard_deviation(count, draws.seed))
            }
            Err(reason) => Err(reason),
        };
        let std_error = |se: f64| StdError::new(se, ErrorMethod::Bootstrap).with_df((n - 1) as f64);
        let mut estimate = Estimate::of(error.clone());
        estimate.error = error.map(std_error);
        (estimate.n, estimate.absent) = (n, scores.absent() as u64);
        estimate.draws = Some(draws);
        Ok(estimate)
    }
}
