//! What the corrections of a judge have in common: its scores beside the human labels of some samples, and errors from
//! influence values.

mod ppi;
mod rogan_gladen;

pub use ppi::*;
pub use rogan_gladen::*;

use crate::estimate::{ClusterCorrection, WayError, estimate_from};
use crate::metrics::prelude::*;
use crate::naming::Interner;
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
                    let times = |unit: &u32| draws.get(*unit as usize).copied().unwrap_or(0);
                    figure(&unit_of.iter().map(times).collect::<Vec<u32>>())
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
        let estimation = scores.estimation();
        let keys = &estimation.errors.cluster;
        if estimation.errors.method == Some(ErrorMethod::Iid) || keys.is_empty() && !estimation.by_sample {
            return Ok(self.labelled() as u64);
        }
        let mut fewest = self.labelled() as u64;
        for keys in if keys.is_empty() { vec![&keys[..]] } else { keys.chunks(1).collect() } {
            if let Ok(units) = ScoreUnits::of_keys(self.metric, scores, keys)? {
                fewest = fewest.min(self.parts(Some(&units.of_positions()))[0]);
            }
        }
        Ok(fewest)
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
        let keys = &estimation.errors.cluster;
        let is_iid = estimation.errors.method == Some(ErrorMethod::Iid);
        if is_iid || keys.is_empty() && !estimation.by_sample {
            let se = corrected.variance.sqrt();
            let error = StdError::new(se, ErrorMethod::Delta).with_df(corrected.df(self.parts(None)));
            return Ok(ErrorFigure::new(if se.is_finite() { Ok(error) } else { Err(Undefined::Overflow) }));
        }
        let mut ways = Vec::new();
        for keys in if keys.is_empty() { vec![&keys[..]] } else { keys.chunks(1).collect() } {
            match ScoreUnits::of_keys(self.metric, scores, keys)? {
                Ok(units) => ways.push(units.of_positions()),
                Err(reason) => return Ok(ErrorFigure::new(Err(reason))),
            }
        }
        let correction = match estimation.errors.method {
            Some(ErrorMethod::Cluster(ClusterVariance::Cr0)) => ClusterVariance::Cr0,
            _ => ClusterVariance::Cr1,
        };
        if let [first, second] = ways.as_slice() {
            let mut pairs: Interner<(u32, u32)> = Interner::default();
            let both = first.iter().zip(second).map(|(a, b)| pairs.intern((*a, *b))).collect();
            ways.push(both);
        }
        let of_way = |units: &Vec<u32>| {
            let se = cluster_error(units, &corrected.influence, correction)?;
            let df = corrected.df(self.parts(Some(units)));
            Ok(WayError { se, df, draws: None, clusters: distinct(units) })
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
fn cluster_error(units: &[u32], influence: &[f64], correction: ClusterVariance) -> Defined<f64> {
    let count = units.iter().max().map_or(0, |most| *most as usize + 1);
    let mut sums = vec![ExactSum::new(); count];
    for (unit, value) in units.iter().zip(influence) {
        if let Some(sum) = sums.get_mut(*unit as usize) {
            sum.add(*value);
        }
    }
    let g = distinct(units);
    if g < 2 {
        return Err(Undefined::TooFewClusters { clusters: g });
    }
    let factor = ClusterCorrection::new(correction, g as usize).factor();
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
