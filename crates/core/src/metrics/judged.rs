//! What the corrections of a judge have in common: its scores beside the human labels of some samples, and errors from
//! influence values.

use crate::estimate::{ClusterCorrection, RowClusters, WayError, estimate_from, times_of};
use crate::metrics::prelude::*;
use crate::scores::Ratings;
use errorbar_stats::exact::root_of_squares;

/// The scores of a judge, and what a human says of the same samples.
struct JudgedScores {
    metric: &'static str,
    /// By position: the judge's score, and the label if there is one.
    rows: Vec<(f64, Option<f64>)>,
    /// Whether the mean is a share, which lies between 0 and 1 whatever the range of the plan is.
    are_shares: bool,
}

impl JudgedScores {
    /// Reads both as numbers.
    ///
    /// # Errors
    /// An unknown rater, an infinite score, or a label that is no number.
    fn read(metric: &'static str, scores: &Scores<'_>, human: &str, conversion: &Conversion) -> Result<Self> {
        let labels = scores.ratings(human)?;
        labels.check_other()?;
        let judged = scores.finite(metric, conversion, <[f64]>::to_vec)?;
        let row = |(at, judged): (usize, f64)| {
            let label = labels.get(at).map(|leaf| number(&labels, leaf, scores.sample_id(at), conversion));
            Ok((judged, label.transpose()?))
        };
        let rows = judged.into_iter().enumerate().map(row).collect::<Result<_>>()?;
        Ok(JudgedScores { metric, rows, are_shares: false })
    }

    /// The same, for the mean of zeros and ones.
    fn into_shares(self) -> Self {
        JudgedScores { are_shares: true, ..self }
    }

    /// The number of samples with a label.
    fn labelled(&self) -> usize {
        self.rows.iter().filter(|(_, label)| label.is_some()).count()
    }

    /// The mean of the judge's scores, which is what there is without a correction.
    fn naive(&self) -> Option<f64> {
        mean(self.rows.iter().map(|(judged, _)| (*judged, 1)))
    }

    /// The least and the greatest of judged scores and labels.
    fn extent(&self) -> (f64, f64) {
        let all = self.rows.iter().flat_map(|(judged, label)| [Some(*judged), *label]).flatten();
        all.fold((f64::INFINITY, f64::NEG_INFINITY), |(least, greatest), x| (least.min(x), greatest.max(x)))
    }

    /// What judged scores and labels are.
    fn kind(&self) -> ScoreKind {
        let (least, greatest) = self.extent();
        if least >= 0.0 && greatest <= 1.0 { ScoreKind::Unit } else { ScoreKind::Unbounded }
    }

    /// The range of judged scores and labels, if it is known.
    fn range(&self, plan: &ErrorPlan) -> Option<(f64, f64)> {
        if self.are_shares {
            return Some((0.0, 1.0));
        }
        let (least, greatest) = self.extent();
        plan.range_of(least, greatest)
    }

    /// Notes how many samples have labels, and the mean of the judge's scores.
    fn annotate(&self, estimate: Estimate) -> Estimate {
        let labelled = self.labelled();
        let estimate = estimate.note("labelled", labelled).note("unlabelled", self.rows.len() - labelled);
        estimate.note_some("naive", self.naive())
    }

    /// The estimate of a corrected mean. Its error comes from influence values: in closed form for independent samples, and
    /// with those of a cluster (or of a sample's epochs) added up for others; or from resamples of `figure`, which gets how
    /// often each position is drawn, if the plan wants those.
    ///
    /// # Errors
    /// Those of reading scores.
    fn estimate(
        &self,
        scores: &Scores<'_>,
        corrected: Defined<CorrectedMean>,
        figure: impl Fn(&[u32]) -> Option<f64> + Sync,
    ) -> Result<Estimate> {
        let corrected = match corrected {
            Ok(corrected) => corrected,
            Err(reason) => return Ok(Estimate::undefined(reason).with_n(scores.len() as u64)),
        };
        let plan = &scores.estimation().errors;
        if plan.population.is_some() {
            let estimate =
                Estimate::new(corrected.value).without_error(&Undefined::Other(POPULATION.to_owned()));
            return Ok(estimate.counted(scores.len() as u64, scores.absent() as u64));
        }
        if plan.wants_resamples() || plan.wants_left_out() {
            let estimate = resampled_estimate(self.metric, scores, Ok(corrected.value), |units| {
                let unit_of = units.of_positions();
                move |draws: &[u32]| {
                    figure(&(0..unit_of.len()).map(times_of(&unit_of, draws)).collect::<Vec<u32>>())
                }
            })?;
            let mut estimate = self.within_range(estimate, plan);
            if let Some(blind) = self.unseen_mistakes(scores, &corrected)? {
                estimate.notes.add_caution(&blind.note(false));
            }
            return Ok(estimate);
        }
        let figure = self.error(scores, &corrected)?;
        // Clusters may cancel though labels vary; that is another matter.
        if figure.error.is_ok() && corrected.variance == 0.0 {
            return self.without_spread(scores, &corrected);
        }
        // The variance of a corrected mean has nothing to do with m(1 − m), so the default is t, cut to the range.
        let is_auto = plan.interval == IntervalChoice::Auto;
        let interval = if is_auto { IntervalChoice::Method(IntervalMethod::T) } else { plan.interval };
        // A range that a score lies outside of is none.
        let range = plan.range.and(self.range(plan));
        let plan = ErrorPlan { interval, range, ..plan.clone() };
        let n = self.labelled() as u64;
        let estimate = estimate_from(corrected.value, figure.error.clone(), n, &plan, self.kind());
        let mut estimate = estimate.with_n(scores.len() as u64);
        if let Some(blind) = self.unseen_mistakes(scores, &corrected)? {
            let range = self.range(&plan).filter(|_| is_auto);
            let widened = blind.widen(&mut estimate, range);
            estimate.notes.add_caution(&blind.note(widened));
        }
        let mut estimate = self.within_range(estimate, &plan);
        figure.caution(&mut estimate);
        if let (Some(ErrorMethod::Cluster(wanted)), Ok(error)) = (plan.method, &estimate.error)
            && error.method != ErrorMethod::Cluster(wanted)
            && matches!(error.method, ErrorMethod::Cluster(_))
        {
            let note =
                format!("{} in place of {}, which is for means", error.method, ErrorMethod::Cluster(wanted));
            estimate.notes.add_caution(&note);
        }
        Ok(estimate)
    }

    /// The estimate where neither labels nor what the judge adds to them vary: as many labels as there are say how far off
    /// others may be.
    fn without_spread(&self, scores: &Scores<'_>, corrected: &CorrectedMean) -> Result<Estimate> {
        let plan = &scores.estimation().errors;
        let labels: Vec<f64> = self.rows.iter().filter_map(|(_, label)| *label).collect();
        let units = self.labelled_units(scores)?;
        let kind = match self.kind() {
            ScoreKind::Unit if labels.iter().all(|label| *label == 0.0 || *label == 1.0) => ScoreKind::Binary,
            kind => kind,
        };
        let range = plan.range.and(self.range(plan));
        let plan = ErrorPlan { range, ..plan.clone() };
        let none = StdError::new(0.0, ErrorMethod::Iid).with_df((units as f64 - 1.0).max(1.0));
        let mut estimate = estimate_from(corrected.value, Ok(none), units, &plan, kind);
        let reason = Undefined::Other(format!("no spread in {} labels", labels.len()));
        if estimate.interval.is_err() {
            estimate.interval = Err(reason.clone());
        }
        estimate.error = Err(reason);
        Ok(estimate.with_n(scores.len() as u64))
    }

    /// How many mistakes the judge may make though none is among the labels, if none is.
    fn unseen_mistakes(
        &self,
        scores: &Scores<'_>,
        corrected: &CorrectedMean,
    ) -> Result<Option<UnseenMistakes>> {
        let disagrees = |(judged, label): &(f64, Option<f64>)| label.is_some_and(|label| label != *judged);
        if corrected.judge_weight == 0.0 || self.rows.iter().any(disagrees) {
            return Ok(None);
        }
        let plan = &scores.estimation().errors;
        let missed = 1.0 - plan.side().confidence_of_ends(plan.level());
        Ok(Some(UnseenMistakes {
            labels: self.labelled(),
            share: -libm::expm1(libm::log(missed) / self.labelled_units(scores)? as f64),
            weight: corrected.judge_weight,
        }))
    }

    /// The number of independent units with labels: samples, or clusters, of two ways the fewer.
    fn labelled_units(&self, scores: &Scores<'_>) -> Result<u64> {
        let ways = RowClusters::of_plan(self.metric, scores.estimation(), scores, 0..scores.len())?;
        let units = ways.unwrap_or_default().into_iter().map(|way| self.parts(Some(&way.of_positions))[0]);
        Ok(units.fold(self.labelled() as u64, u64::min))
    }

    /// The estimate with its interval cut to the range of scores.
    fn within_range(&self, mut estimate: Estimate, plan: &ErrorPlan) -> Estimate {
        let (Some((low, high)), Ok(interval)) = (self.range(plan), &mut estimate.interval) else {
            return estimate;
        };
        let Interval { lower, upper, .. } = *interval;
        if upper <= low || lower >= high {
            let problem = format!("from {lower:.3} to {upper:.3}, outside the range of scores");
            estimate.interval = Err(Undefined::Other(problem));
        } else {
            (interval.lower, interval.upper) = (lower.max(low), upper.min(high));
        }
        estimate
    }

    fn error(&self, scores: &Scores<'_>, corrected: &CorrectedMean) -> Result<ErrorFigure> {
        let estimation = scores.estimation();
        let ways = match RowClusters::of_plan(self.metric, estimation, scores, 0..scores.len())? {
            Ok(ways) => ways,
            Err(reason) => return Ok(ErrorFigure::new(Err(reason))),
        };
        if ways.is_empty() {
            let se = corrected.variance.sqrt();
            let error = StdError::new(se, ErrorMethod::Delta).with_df(corrected.df(self.parts(None)));
            return Ok(ErrorFigure::new(if se.is_finite() { Ok(error) } else { Err(Undefined::Overflow) }));
        }
        let correction = match estimation.errors.method {
            Some(ErrorMethod::Cluster(ClusterVariance::Cr0)) => ClusterVariance::Cr0,
            _ => ClusterVariance::Cr1,
        };
        let of_way = |way: &RowClusters| {
            let se = cluster_error(way, &corrected.influence, correction)?;
            let df = corrected.df(self.parts(Some(&way.of_positions)));
            Ok(WayError { se, df, draws: None, clusters: way.len() as u64 })
        };
        Ok(ErrorFigure::of_ways(ErrorMethod::Cluster(correction), ways.iter().map(of_way)))
    }

    /// The number of units with labels, and of those without: samples, or clusters.
    fn parts(&self, units: Option<&[u32]>) -> [u64; 2] {
        let of = |wanted: bool| {
            let rows = self.rows.iter().enumerate().filter(|(_, (_, label))| label.is_some() == wanted);
            match units {
                None => rows.count() as u64,
                Some(units) => {
                    distinct(&rows.filter_map(|(at, _)| units.get(at).copied()).collect::<Vec<_>>())
                }
            }
        };
        [of(true), of(false)]
    }
}

/// Why there is no error.
const POPULATION: &str = "a population is not defined for a corrected mean: its samples with labels and those without are two samples";

/// A corrected mean and what its error is made of.
#[derive(Debug)]
struct CorrectedMean {
    value: f64,
    /// The influence of each position on it: how far its score moves the figure.
    influence: Vec<f64>,
    /// The variance for independent samples.
    variance: f64,
    /// The parts of the variance that come from samples with labels, and from those without.
    parts: [f64; 2],
    /// How much of it rests on the judge alone: by how much it moves if the judge's scores of the samples without labels are
    /// off by 1.
    judge_weight: f64,
}

/// Mistakes that a judge may make though no label shows one. Influence values know nothing of them.
struct UnseenMistakes {
    labels: usize,
    /// The largest share of mistakes that the labels leave open: 1 − α^(1/k), the bound of the rule of three.
    share: f64,
    weight: f64,
}

impl UnseenMistakes {
    fn note(&self, is_widened: bool) -> String {
        let (labels, percent) = (self.labels, 100.0 * self.share);
        let widened = if is_widened { ", and the interval allows for them" } else { "" };
        format!("no disagreement in {labels} labels: up to {percent:.1} % may be mistakes{widened}")
    }

    /// Widens the interval if the range of scores is known, so that a mistake is known to move a score by no more than its
    /// width. The two distances are added as squares (Zou & Donner, "Construction of confidence limits about effect
    /// measures", 2008).
    fn widen(&self, estimate: &mut Estimate, range: Option<(f64, f64)>) -> bool {
        let (Ok(value), Ok(interval), Some((low, high))) = (&estimate.value, &mut estimate.interval, range)
        else {
            return false;
        };
        let distance = self.weight * self.share * (high - low);
        interval.lower = value - libm::hypot(value - interval.lower, distance);
        interval.upper = value + libm::hypot(interval.upper - value, distance);
        true
    }
}

impl CorrectedMean {
    /// `scales` are the factors of the parts of the variance.
    fn new(
        judged: &JudgedScores,
        value: f64,
        influence: Vec<f64>,
        scales: [f64; 2],
        judge_weight: f64,
    ) -> Self {
        let part = |is_labelled: bool| {
            let rows = judged.rows.iter().zip(&influence);
            let of_part = rows.filter(|((_, label), _)| label.is_some() == is_labelled);
            sum(of_part.map(|(_, influence)| (influence * influence, 1)))
        };
        let parts = [part(true) * scales[0], part(false) * scales[1]];
        CorrectedMean { value, influence, variance: parts.iter().sum(), parts, judge_weight }
    }

    /// The degrees of freedom of Welch and Satterthwaite, for parts of these numbers of units.
    fn df(&self, units: [u64; 2]) -> f64 {
        let total: f64 = self.parts.iter().sum();
        let part = |(variance, units): (&f64, u64)| match units {
            0 => 0.0,
            units => variance * variance / (units as f64 - 1.0).max(1.0),
        };
        let divisor: f64 = self.parts.iter().zip(units).map(part).sum();
        if divisor > 0.0 { total * total / divisor } else { f64::INFINITY }
    }
}

fn number(labels: &Ratings<'_>, leaf: LeafRef<'_>, sample: &str, conversion: &Conversion) -> Result<f64> {
    let number = conversion.convert_leaf(leaf);
    if number.convertible && number.value.is_finite() {
        return Ok(number.value);
    }
    let wanted = "labels must be numbers or grades; define others with to_float=value_to_float(correct=…, incorrect=…)";
    Err(Error::rating(labels.name(), sample, ValueRef::Leaf(leaf).describe(), wanted))
}

/// √(Σ_g (Σ_{i∈g} ψ_i)² · G/(G−1)), without the last factor if nothing is corrected.
fn cluster_error(way: &RowClusters, influence: &[f64], correction: ClusterVariance) -> Defined<f64> {
    if way.len() < 2 {
        return Err(Undefined::TooFewClusters { clusters: way.len() as u64 });
    }
    let mut sums = vec![ExactSum::new(); way.len()];
    for (unit, value) in way.of_positions.iter().zip(influence) {
        sums.get_mut(*unit as usize).into_iter().for_each(|sum| sum.add(*value));
    }
    let factor = ClusterCorrection::new(correction, way.len()).factor();
    let sums: Vec<f64> = sums.iter().map(ExactSum::to_f64).collect();
    let se = root_of_squares(&sums, factor);
    if se.is_finite() { Ok(se) } else { Err(Undefined::Overflow) }
}

fn distinct(units: &[u32]) -> u64 {
    let mut units = units.to_vec();
    units.sort_unstable();
    units.dedup();
    units.len() as u64
}

/// The mean of numbers, each as often as it is counted.
fn mean(numbers: impl Iterator<Item = (f64, u64)>) -> Option<f64> {
    let (mut sum, mut n) = (ExactSum::new(), 0);
    for (number, times) in numbers.filter(|(_, times)| *times > 0) {
        sum.add_times(number, times);
        n += times;
    }
    (n > 0).then(|| sum.divide(n))
}

/// A sum of numbers, each as often as it is counted.
fn sum(numbers: impl Iterator<Item = (f64, u64)>) -> f64 {
    let mut sum = ExactSum::new();
    numbers.for_each(|(number, times)| sum.add_times(number, times));
    sum.to_f64()
}

/// Mean of human labels from a labelled subset and a judge's scores of all samples (prediction-powered inference, PPI++).
///
/// Unbiased whatever the judge is worth, if the labelled samples were chosen at random; the better the judge, the smaller
/// the error.
///
/// # Formula
/// ```text
/// θ = ȳ + λ·(f̄_u − f̄_l)
/// y the labels, f the judge's scores of samples with labels (l) and without (u)
/// ```
///
/// # When
/// A model grades everything, people graded a random part of it, and the figure should be what people would say.
///
/// # Example
/// ```console
/// $ printf '%s\n' id,score,human 1,1,1 2,1,0 3,0,0 4,1,1 5,0,0 6,1, 7,1, 8,0, 9,1, 10,0, > judged.csv
/// $ errorbar score judged.csv --metric 'ppi("human")'
/// judged.csv · 10 rows
///
/// score · 10 scored
///                                  0                   1
///   ppi  0.40 ± 0.22 [0.00, 0.96]  ├───────●──────────┤   human · labelled 5 · unlabelled 5 ·
///                                                         naive 0.6 · labelled mean 0.4 · lambda 0.3
///
/// ± one standard error (delta) · [95 % interval: t] · ├─●─┤ the interval
/// ```
///
/// # See also
/// `rogan_gladen`, `cohen_kappa`, `mean`
///
/// # Source
/// Angelopoulos, Duchi & Zrnic 2023, "PPI++: Efficient prediction-powered inference".
#[derive(Clone, Debug, Params)]
#[params(crate = crate, name = "ppi")]
pub struct Ppi {
    /// Who labelled some of the samples: a scorer, a field of map-valued scores, or a metadata key.
    human: String,
    /// How much the judge counts: 0 not at all, 1 fully; if unset, the value that makes the variance smallest.
    #[param(check = check_lambda)]
    lambda: Option<f64>,
    /// How scores and labels become numbers.
    #[param(default = Conversion::default())]
    to_float: Option<Conversion>,
}

fn check_lambda(lambda: &f64) -> Result<(), String> {
    if (0.0..=1.0).contains(lambda) {
        Ok(())
    } else {
        Err(format!("must lie between 0 and 1, found {lambda}"))
    }
}

impl Metric for Ppi {
    metric_flags! { self:
        metadata_keys = self.raters().metadata_keys(), score_parts = Value, role = Location,
        raters = Raters::beside([&self.human]), resample_cost = 4
    }

    fn compute(&self, scores: &Scores<'_>) -> Result<MetricValue> {
        let judged = JudgedScores::read(Self::NAME, scores, &self.human, &self.to_float_or_default())?;
        let once = vec![1; scores.len()];
        let powered = PpiFit::of(&judged, &once, self.lambda);
        let corrected = powered.as_ref().map(PpiFit::corrected).map_err(Undefined::clone);
        let estimate = judged.estimate(scores, corrected, |times| {
            PpiFit::of(&judged, times, self.lambda).ok().map(|powered| powered.value())
        })?;
        let estimate = judged.annotate(estimate);
        let powered = powered.ok();
        let estimate = estimate.note_some("labelled_mean", powered.as_ref().map(|powered| powered.label));
        Ok(estimate.note_some("lambda", powered.as_ref().map(|powered| powered.lambda)).into())
    }
}

/// Angelopoulos, Duchi & Zrnic, "PPI++", 2023: θ = ȳ + λ(f̄_u − f̄_l), y the n labels, f the judge's scores of the samples
/// with labels (l) and of the N without (u). λ = Cov(y, f)/((1 + n/N)·Var f), kept between 0 and 1, the covariance with the
/// divisor n and the variance over all samples with one less than their number.
struct PpiFit<'j> {
    judged: &'j JudgedScores,
    n: u64,
    others: u64,
    label: f64,
    judge_labelled: f64,
    judge_others: f64,
    lambda: f64,
}

impl<'j> PpiFit<'j> {
    /// The parts of the estimate, each sample as often as it is drawn.
    fn of(judged: &'j JudgedScores, times: &[u32], lambda: Option<f64>) -> Defined<Self> {
        let rows =
            || judged.rows.iter().zip(times).map(|((f, label), times)| (*f, *label, u64::from(*times)));
        let labelled = || rows().filter_map(|(f, label, times)| Some((f, label?, times)));
        let unlabelled = || rows().filter(|(_, label, _)| label.is_none()).map(|(f, _, times)| (f, times));
        let n: u64 = labelled().map(|(_, _, times)| times).sum();
        let others: u64 = unlabelled().map(|(_, times)| times).sum();
        let means = mean(labelled().map(|(_, label, times)| (label, times)))
            .zip(mean(labelled().map(|(f, _, times)| (f, times))));
        let Some((label, judge_labelled)) = means.filter(|_| n > 1) else {
            let problem = format!("{n} of {} samples have a label, and it takes two", judged.rows.len());
            return Err(Undefined::Other(problem));
        };
        let mut powered = PpiFit {
            judged,
            n,
            others,
            label,
            judge_labelled,
            judge_others: mean(unlabelled()).unwrap_or(judge_labelled),
            lambda: 0.0,
        };
        // The variance of one score is unknown.
        if others > 1 {
            powered.lambda = lambda.unwrap_or_else(|| {
                let covariance =
                    sum(labelled().map(|(f, y, times)| ((y - label) * (f - judge_labelled), times)));
                let all = mean(rows().map(|(f, _, times)| (f, times))).unwrap_or(0.0);
                let squares = sum(rows().map(|(f, _, times)| ((f - all) * (f - all), times)));
                let variance = squares / (n + others - 1) as f64;
                let best = covariance / n as f64 / ((1.0 + n as f64 / others as f64) * variance);
                // Without a spread of the judge's scores there is nothing to gain.
                if best.is_nan() { 0.0 } else { best.clamp(0.0, 1.0) }
            });
        }
        Ok(powered)
    }

    fn value(&self) -> f64 {
        self.label + self.lambda * (self.judge_others - self.judge_labelled)
    }

    /// The value with its influence values: (y − λf) less its mean over n where there is a label, and λf less its mean over N
    /// elsewhere. The variance is that of the two means.
    fn corrected(&self) -> CorrectedMean {
        let (n, others) = (self.n as f64, self.others as f64);
        let centre = self.label - self.lambda * self.judge_labelled;
        let influence = |(f, label): &(f64, Option<f64>)| match label {
            Some(label) => (label - self.lambda * f - centre) / n,
            None => self.lambda * (f - self.judge_others) / others,
        };
        let influence: Vec<f64> = self.judged.rows.iter().map(influence).collect();
        let unbiased = |n: f64| if n > 1.0 { n / (n - 1.0) } else { 0.0 };
        let scales = [unbiased(n), unbiased(others)];
        CorrectedMean::new(self.judged, self.value(), influence, scales, self.lambda)
    }
}

/// Share of ones, corrected for the sensitivity and the specificity of a judge on a human-labelled subset (Rogan–Gladen);
/// works on unreduced scores, which must be zeros and ones.
///
/// Right if the judge errs as often on the labelled samples of each kind as on all others; unlike `ppi` it needs no random
/// choice of the labelled samples.
///
/// # Formula
/// ```text
/// (p − u) / (t − u)
/// p the judge's share of ones, t its sensitivity, u one less its specificity
/// ```
///
/// # When
/// A model grades right or wrong, and the samples that people graded were not chosen at random.
///
/// # Example
/// ```console
/// $ printf '%s\n' id,score,human 1,1,1 2,1,0 3,0,0 4,1,1 5,0,0 6,1, 7,1, 8,0, 9,1, 10,0, > judged.csv
/// $ errorbar score judged.csv --metric 'rogan_gladen("human")'
/// judged.csv · 10 rows
///
/// score · 10 scored
///                                           0                   1
///   rogan_gladen  0.40 ± 0.23 [0.00, 0.94]  ├───────●──────────┤
///       human · labelled 5 · unlabelled 5 · naive 0.6 · sensitivity 1 · specificity 0.6667
///
/// ± one standard error (delta) · [95 % interval: t] · ├─●─┤ the interval
/// ```
///
/// # See also
/// `ppi`, `cohen_kappa`, `accuracy`
///
/// # Source
/// Rogan & Gladen 1978, "Estimating prevalence from the results of a screening test".
#[derive(Clone, Debug, Params)]
#[params(crate = crate, name = "rogan_gladen")]
pub struct RoganGladen {
    /// Who labelled some of the samples: a scorer, a field of map-valued scores, or a metadata key.
    human: String,
    /// How scores and labels become zeros and ones.
    #[param(default = Conversion::default())]
    to_float: Option<Conversion>,
}

impl Metric for RoganGladen {
    metric_flags! { self:
        metadata_keys = self.raters().metadata_keys(), score_parts = Value, role = Location,
        raters = Raters::beside([&self.human]), resample_cost = 4
    }

    fn wants(&self) -> Wants {
        // A mean of epochs is neither 0 nor 1.
        Wants::Unreduced
    }

    fn compute(&self, scores: &Scores<'_>) -> Result<MetricValue> {
        let judged = JudgedScores::read(Self::NAME, scores, &self.human, &self.to_float_or_default())?;
        let is_binary = |number: f64| number == 0.0 || number == 1.0;
        for (at, (judge, label)) in judged.rows.iter().enumerate() {
            let wrong = [Some(*judge), *label].into_iter().flatten().find(|number| !is_binary(*number));
            if let Some(number) = wrong {
                let problem = format!(
                    "sample {:?} has the score or label {number}, and it takes zeros and ones; use ppi() for others",
                    scores.sample_id(at)
                );
                return Err(Error::undefined(Self::NAME, problem));
            }
        }
        let judged = judged.into_shares();
        let rates = Rates::of(&judged, &vec![1; scores.len()]);
        let raw = rates.prevalence();
        let corrected = raw.clone().map(|raw| rates.corrected(&judged, raw));
        let mut estimate =
            judged.estimate(scores, corrected, |times| Rates::of(&judged, times).prevalence().ok())?;
        estimate.value = estimate.value.map(|raw| raw.clamp(0.0, 1.0));
        let estimate = judged.annotate(estimate);
        let estimate = estimate.note_some("sensitivity", rates.sensitivity());
        let estimate = estimate.note_some("specificity", rates.false_alarms().map(|rate| 1.0 - rate));
        let clamped = raw.ok().filter(|raw| !(0.0..=1.0).contains(raw));
        Ok(estimate.note_some("before_clamping", clamped).into())
    }
}

/// How often the judge says 1: of all, of the samples labelled 1 and of those labelled 0.
#[derive(Clone, Copy, Debug)]
struct Rates {
    all: Rate,
    ones: Rate,
    zeros: Rate,
}

/// A number of ones among some scores.
#[derive(Clone, Copy, Debug, Default)]
struct Rate {
    hits: u64,
    n: u64,
}

impl Rate {
    fn add(&mut self, judge: f64, times: u64) {
        self.n += times;
        self.hits += if judge == 1.0 { times } else { 0 };
    }

    fn share(self) -> Option<f64> {
        (self.n > 0).then(|| self.hits as f64 / self.n as f64)
    }
}

impl Rates {
    fn of(judged: &JudgedScores, times: &[u32]) -> Self {
        let mut rates = Rates { all: Rate::default(), ones: Rate::default(), zeros: Rate::default() };
        for ((judge, label), times) in judged.rows.iter().zip(times) {
            let times = u64::from(*times);
            rates.all.add(*judge, times);
            match label {
                Some(label) if *label == 1.0 => rates.ones.add(*judge, times),
                Some(_) => rates.zeros.add(*judge, times),
                None => {}
            }
        }
        rates
    }

    fn sensitivity(&self) -> Option<f64> {
        self.ones.share()
    }

    /// One less the specificity.
    fn false_alarms(&self) -> Option<f64> {
        self.zeros.share()
    }

    /// Rogan & Gladen 1978: (p − u)/(t − u), p the share of ones, t the sensitivity, u one less the specificity.
    fn prevalence(&self) -> Defined<f64> {
        let missing = |label| Undefined::Other(format!("no sample with the human label {label}"));
        let p = self.all.share().ok_or(Undefined::NoScores)?;
        let t = self.sensitivity().ok_or_else(|| missing(1))?;
        let u = self.false_alarms().ok_or_else(|| missing(0))?;
        if t <= u {
            return Err(Undefined::Other(format!(
                "sensitivity + specificity − 1 = {:.3}: the judge is no better than chance",
                t - u
            )));
        }
        Ok((p - u) / (t - u))
    }

    /// The delta method, by influence values: ((f − p)/N − π·[y = 1](f − t)/n₁ − (1 − π)·[y = 0](f − u)/n₀)/(t − u). They
    /// include that the labelled samples count in p as well.
    fn corrected(&self, judged: &JudgedScores, raw: f64) -> CorrectedMean {
        let share = |rate: Rate| rate.share().unwrap_or(0.0);
        let (p, t, u) = (share(self.all), share(self.ones), share(self.zeros));
        let influence = |(f, label): &(f64, Option<f64>)| {
            let all = (f - p) / self.all.n as f64;
            let of_label = match label {
                Some(label) if *label == 1.0 => raw * (f - t) / self.ones.n as f64,
                Some(_) => (1.0 - raw) * (f - u) / self.zeros.n as f64,
                None => 0.0,
            };
            (all - of_label) / (t - u)
        };
        let influence: Vec<f64> = judged.rows.iter().map(influence).collect();
        let judge_weight = 1.0 - judged.labelled() as f64 / judged.rows.len() as f64;
        CorrectedMean::new(judged, raw, influence, [1.0, 1.0], judge_weight)
    }
}
