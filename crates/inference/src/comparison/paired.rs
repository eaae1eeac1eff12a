//! The paired difference of numbers: one of each side for each sample.

use super::{Comparison, ComparisonTest, CrossTable, FlipTable, TestMethod};
use crate::error::Result;
use crate::power::{Flips, PowerDesign, PowerPlan, detectable_difference as detectable};
use errorbar_core::engine::{ScoreUnits, is_rounding};
use errorbar_core::{
    Defined, Direction, ErrorMethod, ErrorPlan, Estimate, Interval, IntervalChoice, IntervalMethod, Random,
    ScoreKind, Scores, StdError, Summary, Undefined,
};
use errorbar_stats::descriptive::correlation_of_variances;
use errorbar_stats::differences::{
    bonett_price, bonett_price_centre, bonett_price_of, mcnemar_exact, mcnemar_mid_p, sign_flip_exact,
    tost_p_value, two_sided,
};
use errorbar_stats::distributions::t_quantile;
use errorbar_stats::exact::{ExactSum, Moments};

/// With fewer independent differences than this the permutation test is the test: t needs more to be about right.
const FEW: usize = 20;
/// With more the permutation test says what t does, and takes longer.
const MOST_FLIPPED: usize = 60;

/// The level of the test whose detectable difference is shown, two-sided, and its power.
const ALPHA: f64 = 0.05;
const POWER: f64 = 0.8;

/// What the numbers of both sides are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct PairKind {
    /// All are 0 or 1.
    pub(super) is_binary: bool,
    /// The lowest and the highest number that there may be, if known.
    pub(super) range: Option<(f64, f64)>,
}

impl PairKind {
    /// That of the numbers of both sides. A range that is given holds if all numbers are within.
    pub(super) fn of(sides: [&[f64]; 2], range: Option<(f64, f64)>) -> Self {
        let all = |test: &dyn Fn(f64) -> bool| sides.iter().all(|side| side.iter().all(|x| test(*x)));
        let (low, high) = range.unwrap_or((0.0, 1.0));
        let is_binary = (low, high) == (0.0, 1.0) && all(&|x| x == 0.0 || x == 1.0);
        let is_within = is_binary || all(&|x| (low..=high).contains(&x));
        PairKind { is_binary, range: is_within.then_some((low, high)) }
    }

    /// The largest difference that there may be.
    pub(super) fn width(self) -> Option<f64> {
        self.range.map(|(low, high)| high - low).filter(|width| width.is_finite())
    }

    /// The p-value of equivalence that agrees with a t interval; none with any other. Beyond the largest difference there is
    /// nothing to exclude.
    pub(super) fn tost(self, difference: &Estimate, margin: f64) -> Option<f64> {
        difference.interval.as_ref().ok().filter(|interval| interval.method == IntervalMethod::T)?;
        if self.width().is_some_and(|width| margin > width) {
            return Some(0.0);
        }
        let error = difference.error.as_ref().ok()?;
        tost_p_value(difference.number()?, error.se, error.df, margin)
    }
}

/// The numbers of both sides, sample by sample.
pub(super) struct PairedNumbers<'p> {
    pub(super) base: &'p [f64],
    pub(super) other: &'p [f64],
    /// Where clusters come from: the scores of the base, and those of the other side if they have none.
    pub(super) scores: [&'p Scores<'p>; 2],
    pub(super) metric: &'p str,
    pub(super) errors: &'p ErrorPlan,
    pub(super) kind: PairKind,
    pub(super) random: &'p Random,
}

impl PairedNumbers<'_> {
    /// Fills in what follows from the differences. The figures of both sides are in the comparison already.
    pub(super) fn fill(&self, comparison: &mut Comparison, margin: Option<f64>) -> Result<()> {
        let differences = Differences::of(self);
        let (n, wins, losses) = (differences.n(), differences.wins, differences.losses);
        (comparison.n, comparison.largest_difference) = (n, self.kind.width());
        let (better, worse) = match comparison.direction {
            Direction::Lower => (losses, wins),
            _ => (wins, losses),
        };
        (comparison.wins, comparison.losses, comparison.ties) =
            (Some(better), Some(worse), Some(n - wins - losses));
        if let Some(reason) = differences.unusable() {
            comparison.difference = Estimate::undefined(reason.clone()).with_n(n);
            comparison.test = Err(reason.clone());
            (comparison.correlation, comparison.variance_removed) =
                (Err(reason.clone()), Err(reason.clone()));
            comparison.mde = Err(reason);
            return Ok(());
        }
        comparison.cross_table = CrossTable::of(self.base, self.other);
        comparison.flips = self.kind.is_binary.then(|| differences.flip_table());
        let (summary, problem) = differences.summary()?;
        let mut difference = differences.estimate(&summary);
        if let Some(problem) = problem {
            let reason = Undefined::Other(problem);
            (difference.error, difference.interval) = (Err(reason.clone()), Err(reason));
        }
        let is_clustered = matches!(summary, Summary::Clusters(_));
        comparison.cluster = if is_clustered { self.errors.cluster.clone() } else { Vec::new() };
        let flipped = differences.sign_flip(is_clustered, &difference);
        comparison.p_sign_flip = flipped.filter(|_| is_clustered || !self.kind.is_binary);
        comparison.test = differences.test(&difference, is_clustered, flipped);
        let by_signs = comparison.test.as_ref().ok().filter(|test| test.method == TestMethod::SignFlip);
        comparison.p_sign_flip = comparison.p_sign_flip.or(by_signs.map(|test| test.p_value));
        comparison.p_tost = margin.and_then(|margin| differences.tost(&difference, &summary, margin));
        comparison.mde = differences.detectable(&difference, is_clustered);
        comparison.correlation = self.correlation(&summary, [&comparison.base, &comparison.other]);
        comparison.variance_removed =
            variance_removed(&comparison.base_estimate, &comparison.other_estimate, &difference);
        // Bounds and counts of absent samples are not of the pairs.
        (difference.bounds, difference.absent) = (comparison.difference.bounds, comparison.difference.absent);
        difference.notes.partly_absent = comparison.difference.notes.partly_absent;
        comparison.difference = difference;
        Ok(())
    }

    /// The difference with its error, and the p-value of no difference, for a ranking: no interval is drawn.
    pub(super) fn tested(&self) -> Result<PairTest> {
        let differences = Differences::of(self);
        if differences.unusable().is_some() {
            return Ok(PairTest::UNKNOWN);
        }
        let (summary, problem) = differences.summary()?;
        let (Some(value), None) = (summary.mean(), problem) else { return Ok(PairTest::UNKNOWN) };
        let is_clustered = matches!(summary, Summary::Clusters(_));
        let error = summary.std_error(self.errors);
        let mut difference = Estimate::new(value);
        difference.error = error.clone();
        let flipped = differences.sign_flip(is_clustered, &difference);
        let p_value = differences.test(&difference, is_clustered, flipped).ok().map(|test| test.p_value);
        let Ok(error) = error else { return Ok(PairTest::UNKNOWN) };
        let units = error.clusters.iter().min().copied().unwrap_or(differences.n());
        let (value, se) = match differences.is_plain(is_clustered) {
            // Without a single flip there is no error but this.
            true => differences.adjusted(),
            false => (value, error.se),
        };
        Ok(PairTest { value, se, df: error.df, p_value, units })
    }

    /// What the error of the difference is computed from.
    pub(super) fn summary(&self) -> Result<Summary> {
        Ok(Differences::of(self).summary()?.0)
    }

    /// The correlation over pairs, from the variances of both sides and of the difference.
    fn correlation(&self, differences: &Summary, names: [&String; 2]) -> Defined<f64> {
        let n = self.base.len() as u64;
        let mut variances = [0.0; 2];
        for ((numbers, name), variance) in [self.base, self.other].into_iter().zip(names).zip(&mut variances)
        {
            let mut moments = Moments::new();
            moments.extend(numbers);
            *variance = moments.variance().ok_or(Undefined::TooFewScores { n })?;
            if *variance == 0.0 {
                return Err(Undefined::Other(format!("no spread in the {n} scores of {name}")));
            }
        }
        let [base, other] = variances;
        let difference = differences.moments().variance().ok_or(Undefined::TooFewScores { n })?;
        correlation_of_variances(base, other, difference).ok_or(Undefined::Overflow)
    }
}

/// The difference of two sides among several.
#[derive(Clone, Copy, Debug)]
pub(super) struct PairTest {
    /// Other minus base: what the error is of. Of zeros and ones with a win and a loss more, as Bonett and Price have it.
    pub(super) value: f64,
    pub(super) se: f64,
    pub(super) df: f64,
    pub(super) p_value: Option<f64>,
    /// The number of independent samples or clusters.
    pub(super) units: u64,
}

impl PairTest {
    /// Nothing is known about the difference.
    pub(super) const UNKNOWN: PairTest =
        PairTest { value: 0.0, se: 0.0, df: f64::INFINITY, p_value: None, units: 0 };
}

impl Comparison {
    /// Fills in the figures of both sides and their difference, which is at most so large, and what follows from it.
    pub(super) fn set_figures(
        &mut self,
        [base, other]: [Estimate; 2],
        mut difference: Estimate,
        largest: Option<f64>,
    ) {
        clip(&mut difference, largest);
        let what = if self.is_paired { "pairs" } else { "samples" };
        self.mde = possible(detectable_difference(&difference), largest, self.n, what);
        self.largest_difference = largest;
        (self.base_estimate, self.other_estimate, self.difference) = (base, other, difference);
    }
}

/// Cuts an interval of a difference off at the largest one that there may be, which Student's t does not know.
fn clip(difference: &mut Estimate, largest: Option<f64>) {
    if let (Some(largest), Ok(interval)) = (largest, &mut difference.interval) {
        interval.lower = interval.lower.max(-largest);
        interval.upper = interval.upper.min(largest);
    }
}

/// The share of the variance of an unpaired difference that pairing removed.
pub(super) fn variance_removed(base: &Estimate, other: &Estimate, difference: &Estimate) -> Defined<f64> {
    let se = |estimate: &Estimate| estimate.error.as_ref().map(|error| error.se).map_err(Clone::clone);
    let unpaired = libm::hypot(se(base)?, se(other)?);
    if unpaired.is_nan() || unpaired <= 0.0 {
        return Err(Undefined::NoSpread { n: difference.n });
    }
    let ratio = se(difference)? / unpaired;
    Ok(1.0 - ratio * ratio)
}

/// The smallest difference that would be detected, from the error of this one.
pub(super) fn detectable_difference(difference: &Estimate) -> Defined<f64> {
    detectable_at(difference, ALPHA, POWER)
}

/// A detectable difference, unless there is none as large: scores of a range differ by its width at most.
fn possible(mde: Defined<f64>, largest: Option<f64>, n: u64, what: &str) -> Defined<f64> {
    match (mde, largest) {
        (Ok(mde), Some(largest)) if mde > largest => Err(undetectable(n, what)),
        (mde, _) => mde,
    }
}

fn undetectable(n: u64, what: &str) -> Undefined {
    Undefined::Other(format!("no difference is detectable with {n} {what}"))
}

/// The smallest difference that a two-sided test at `alpha` would detect with this power, from the error of this one.
pub(super) fn detectable_at(difference: &Estimate, alpha: f64, power: f64) -> Defined<f64> {
    let error = difference.error.as_ref().map_err(Clone::clone)?;
    if error.se > 0.0 {
        return detectable(error.se, error.df, alpha, power);
    }
    // Without a spread the interval of Bonett and Price still has a width.
    match &difference.interval {
        Ok(interval) if interval.method == IntervalMethod::BonettPrice => {
            let (_, se, df) = centre_and_error(interval).ok_or(Undefined::NoSpread { n: difference.n })?;
            detectable(se, df, alpha, power)
        }
        _ => Err(Undefined::NoSpread { n: difference.n }),
    }
}

/// The centre of a symmetric two-sided interval, and the error and degrees of freedom that give its width; none if an end
/// is cut off at the end of the range.
fn centre_and_error(interval: &Interval) -> Option<(f64, f64, f64)> {
    let is_whole = interval.side == errorbar_core::IntervalSide::TwoSided
        && interval.lower > -1.0
        && interval.upper < 1.0;
    let df = interval.df.unwrap_or(f64::INFINITY);
    let half = 0.5 * (interval.upper - interval.lower);
    let se = half / t_quantile(0.5 + interval.level / 2.0, df);
    is_whole.then_some((0.5 * (interval.lower + interval.upper), se, df))
}

/// The differences of pairs, other minus base; all of them are finite.
struct Differences<'p> {
    pairs: &'p PairedNumbers<'p>,
    differences: Vec<f64>,
    wins: u64,
    losses: u64,
}

impl<'p> Differences<'p> {
    /// Other minus base. 0.3 − 0.1 and 0.9 − 0.7 are the same difference: where all are the same within the rounding of the
    /// scores, they are made equal, or a spread that is nothing but rounding would pass for a tiny error.
    fn of(pairs: &'p PairedNumbers<'p>) -> Self {
        let mut differences: Vec<f64> =
            pairs.other.iter().zip(pairs.base).map(|(other, base)| other - base).collect();
        let extent = |numbers: &[f64]| {
            numbers.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(least, greatest), x| {
                (least.min(*x), greatest.max(*x))
            })
        };
        let (least, greatest) = extent(&differences);
        let largest = [pairs.base, pairs.other].map(extent).into_iter();
        let largest = largest.fold(0.0_f64, |largest, (low, high)| largest.max(low.abs()).max(high.abs()));
        if least < greatest && is_rounding(least, greatest, largest) {
            let is_none = least <= 0.0 && greatest >= 0.0;
            differences.fill(if is_none { 0.0 } else { 0.5 * (least + greatest) });
        }
        let count = |test: fn(f64) -> bool| differences.iter().filter(|d| test(**d)).count() as u64;
        let (wins, losses) = (count(|d| d > 0.0), count(|d| d < 0.0));
        Differences { pairs, differences, wins, losses }
    }

    /// Why they have no figures.
    fn unusable(&self) -> Option<Undefined> {
        if self.differences.is_empty() {
            return Some(Undefined::NoScores);
        }
        self.differences.iter().any(|d| !d.is_finite()).then_some(Undefined::Overflow)
    }

    /// Whether they are independent pairs of zeros and ones, out of no known population.
    fn is_plain(&self, is_clustered: bool) -> bool {
        self.pairs.kind.is_binary && !is_clustered && self.pairs.errors.population.is_none()
    }

    fn n(&self) -> u64 {
        self.differences.len() as u64
    }

    /// The difference of zeros and ones and its error, with one win and one loss more.
    fn adjusted(&self) -> (f64, f64) {
        bonett_price_centre(self.wins as f64, self.losses as f64, self.n() as f64)
    }

    fn flip_table(&self) -> FlipTable {
        let right = |numbers: &[f64]| numbers.iter().filter(|x| **x == 1.0).count() as u64;
        let both = right(self.pairs.base) - self.losses;
        let none = self.n() - both - self.wins - self.losses;
        let (exact, mid) = (mcnemar_exact(self.wins, self.losses), mcnemar_mid_p(self.wins, self.losses));
        FlipTable::new([both, self.losses, self.wins, none], exact, mid)
    }

    /// How the error of the difference is computed. Its range is not that of the scores, and intervals of shares are for
    /// shares.
    fn errors(&self) -> ErrorPlan {
        let mut errors = self.pairs.errors.clone();
        errors.range = None;
        if self.requested_of_shares().is_some() {
            errors.interval = IntervalChoice::Auto;
        }
        errors
    }

    /// The requested interval, if it is one of shares, which differences are not.
    fn requested_of_shares(&self) -> Option<IntervalMethod> {
        use IntervalMethod as M;
        match self.pairs.errors.interval {
            IntervalChoice::Auto => None,
            IntervalChoice::Method(M::T | M::Bootstrap | M::Bca | M::BootstrapT | M::Exact | M::Wild(_)) => {
                None
            }
            IntervalChoice::Method(method) => Some(method),
        }
    }

    /// The summary of the differences; without clusters, and why, if samples have none.
    fn summary(&self) -> Result<(Summary, Option<String>)> {
        let errors = self.errors();
        let mut problem = None;
        for scores in self.pairs.scores {
            match Summary::of(self.pairs.metric, &errors, false, scores, &self.differences) {
                Ok(summary) => return Ok((summary, None)),
                Err(error) if error.is_about_clusters() => problem = problem.or(Some(error.to_string())),
                Err(error) => return Err(error.into()),
            }
        }
        let mut independent = ErrorPlan::new();
        independent.method = Some(ErrorMethod::Iid);
        let [scores, _] = self.pairs.scores;
        Ok((Summary::of(self.pairs.metric, &independent, false, scores, &self.differences)?, problem))
    }

    fn estimate(&self, summary: &Summary) -> Estimate {
        let mut errors = self.errors();
        let is_auto = errors.interval == IntervalChoice::Auto;
        if is_auto {
            // If the sides do not differ, differences are symmetric, however skewed a few of them look. Bootstrap-t, which
            // follows the skewness, would raise false alarms in up to 7 % of samples in place of 5 %.
            errors.interval = IntervalChoice::Method(IntervalMethod::T);
        }
        let (n, random) = (self.n(), self.pairs.random);
        let mut estimate = summary.estimate_among(&errors, ScoreKind::Unbounded, n, random);
        if is_auto {
            if self.pairs.kind.is_binary {
                self.bonett_price(&mut estimate, summary);
            } else if estimate.interval.is_err() && estimate.error.is_ok() {
                self.bounded(&mut estimate, summary);
            } else if estimate.interval.as_ref().is_ok_and(|interval| interval.method == IntervalMethod::T) {
                estimate.notes.reason = Some("auto: t (paired differences)".to_owned());
                estimate.notes.is_caution = false;
            }
        }
        if let (Some(requested), Ok(interval)) = (self.requested_of_shares(), &estimate.interval) {
            let reason = format!("{} in place of {requested}, which is for shares", interval.method);
            (estimate.notes.reason, estimate.notes.is_caution) = (Some(reason), true);
        }
        clip(&mut estimate, self.pairs.kind.width());
        estimate
    }

    /// The interval of Bonett and Price. Where samples are clustered its variance is multiplied by the design effect, and its
    /// quantile is that of t: with ten clusters and six flips or more, gates then fail by chance in 3 to 6 % (simulated), as
    /// with t itself; and there is an interval where no pair differs.
    fn bonett_price(&self, estimate: &mut Estimate, summary: &Summary) {
        let plan = self.pairs.errors;
        let confidence = plan.side().confidence_of_ends(plan.level());
        let is_clustered = matches!(summary, Summary::Clusters(_));
        let (ends, df, reason) = if self.is_plain(is_clustered) {
            let ends = bonett_price(self.wins, self.losses, self.n(), 2.0 * confidence - 1.0);
            (ends, None, "auto: bonett_price (0/1 pairs)".to_owned())
        } else {
            let Ok(error) = &estimate.error else { return };
            let design_effect = self.design_effect(error, summary);
            let q = t_quantile(confidence, error.df) * design_effect.sqrt();
            let ends = bonett_price_of(self.wins as f64, self.losses as f64, self.n() as f64, q);
            (ends, Some(error.df), format!("auto: bonett_price with the design effect {design_effect:.2}"))
        };
        let interval = Interval::new(ends.0, ends.1, plan.level(), IntervalMethod::BonettPrice).with_df(df);
        estimate.interval = Ok(interval.one_sided(plan.side(), Some((-1.0, 1.0))));
        (estimate.notes.reason, estimate.notes.is_caution, estimate.draws) = (Some(reason), false, None);
    }

    /// The variance of the difference over that of independent pairs. Without a spread each cluster counts as one pair.
    fn design_effect(&self, error: &StdError, summary: &Summary) -> f64 {
        let independent = summary.moments().stderr().unwrap_or(0.0);
        if !(error.se > 0.0 && independent > 0.0) {
            return error.clusters.iter().min().map_or(1.0, |clusters| self.n() as f64 / *clusters as f64);
        }
        let ratio = error.se / independent;
        ratio * ratio
    }

    /// Differences that are all equal have no spread, but a range may be known: then n says how far off they may be.
    fn bounded(&self, estimate: &mut Estimate, summary: &Summary) {
        let Some(width) = self.pairs.kind.width() else { return };
        let mut errors = self.errors();
        errors.range = Some((-width, width));
        errors.interval = IntervalChoice::Method(IntervalMethod::Wilson);
        let bounded = summary.estimate_among(&errors, ScoreKind::Unbounded, self.n(), self.pairs.random);
        if bounded.interval.is_ok() {
            estimate.interval = bounded.interval;
            estimate.notes.effective_n = bounded.notes.effective_n;
            estimate.notes.reason = Some("auto: wilson (all differences are equal)".to_owned());
        }
    }

    /// The differences of independent units: of samples, or summed by cluster. None if there are too many, or clusters of
    /// two keys.
    fn of_units(&self, is_clustered: bool, difference: &Estimate) -> Option<Vec<f64>> {
        if !is_clustered {
            return (self.differences.len() <= MOST_FLIPPED).then(|| self.differences.clone());
        }
        let clusters = difference.error.as_ref().ok()?.clusters.as_slice();
        if !matches!(clusters, [clusters] if *clusters as usize <= MOST_FLIPPED) {
            return None;
        }
        let keys = &self.pairs.errors.cluster;
        let units = |scores: &&Scores<'_>| ScoreUnits::of_keys(self.pairs.metric, scores, keys).ok()?.ok();
        let units = self.pairs.scores.iter().find_map(units)?;
        let sum = |positions: &[u32]| {
            let mut sum = ExactSum::new();
            let of_unit = positions.iter().filter_map(|at| self.differences.get(*at as usize));
            of_unit.for_each(|d| sum.add(*d));
            sum.to_f64()
        };
        Some(units.iter().map(sum).collect())
    }

    /// The p-value of the exact sign-flip test, where there are few independent differences.
    fn sign_flip(&self, is_clustered: bool, difference: &Estimate) -> Option<f64> {
        if !is_clustered && self.pairs.kind.is_binary {
            return None;
        }
        sign_flip_exact(&self.of_units(is_clustered, difference)?)
    }

    /// The test of no difference.
    fn test(
        &self,
        difference: &Estimate,
        is_clustered: bool,
        flipped: Option<f64>,
    ) -> Defined<ComparisonTest> {
        let n = self.n();
        if n < 2 {
            return Err(Undefined::TooFewScores { n });
        }
        // The middle of a tail that holds nothing else would be half of the least p-value that there is.
        let may_halve = self.all_equal().is_none_or(|d| d == 0.0);
        if may_halve && self.is_plain(is_clustered) && difference.error.is_ok() {
            return Ok(ComparisonTest::new(TestMethod::McNemarMid, mcnemar_mid_p(self.wins, self.losses)));
        }
        let by_signs = |p: f64| ComparisonTest::new(TestMethod::SignFlip, p);
        if let Some(d) = self.all_equal() {
            let units = match &difference.error {
                Ok(error) => error.clusters.iter().min().copied().unwrap_or(n),
                Err(reason) => return Err(reason.clone()),
            };
            // Only all plus and all minus are as extreme.
            let p = if d == 0.0 { 1.0 } else { mcnemar_exact(units, 0) };
            return Ok(by_signs(p));
        }
        // A test that does not know the population would contradict the interval, which does.
        let is_of_sample = self.pairs.errors.population.is_none();
        let error = difference.error.as_ref().map_err(Clone::clone)?;
        let is_few = !is_clustered && self.differences.len() < FEW;
        match (flipped, difference.number()) {
            (Some(p), _) if is_of_sample && (is_few || error.se == 0.0) => Ok(by_signs(p)),
            (_, Some(value)) if error.se > 0.0 => {
                let p = two_sided(value / error.se, error.df);
                if p.is_nan() { Err(Undefined::Overflow) } else { Ok(ComparisonTest::new(TestMethod::T, p)) }
            }
            _ => Err(Undefined::NoSpread { n }),
        }
    }

    fn all_equal(&self) -> Option<f64> {
        let first = *self.differences.first()?;
        self.differences.iter().all(|d| *d == first).then_some(first)
    }

    /// The smallest difference that the test would detect: of plain zeros and ones it is McNemar's, as in a plan for as many
    /// discordant pairs.
    fn detectable(&self, difference: &Estimate, is_clustered: bool) -> Defined<f64> {
        if !self.is_plain(is_clustered) {
            return possible(detectable_difference(difference), self.pairs.kind.width(), self.n(), "pairs");
        }
        difference.error.as_ref().map_err(Clone::clone)?;
        let discordant = (self.wins + self.losses) as f64 / self.n() as f64;
        let plan = PowerPlan::new(PowerDesign::Pairs(Flips::Discordant(discordant))).alpha(ALPHA);
        plan.difference(self.n(), 1, POWER).map_err(|_| undetectable(self.n(), "pairs"))
    }

    /// The p-value of equivalence, which agrees with the interval.
    fn tost(&self, difference: &Estimate, summary: &Summary, margin: f64) -> Option<f64> {
        let interval = difference.interval.as_ref().ok()?;
        if interval.method != IntervalMethod::BonettPrice {
            return self.pairs.kind.tost(difference, margin);
        }
        let (centre, stderr) = self.adjusted();
        let (factor, df) = match self.is_plain(matches!(summary, Summary::Clusters(_))) {
            true => (1.0, f64::INFINITY),
            false => {
                let error = difference.error.as_ref().ok()?;
                (self.design_effect(error, summary).sqrt(), error.df)
            }
        };
        if margin > 1.0 { Some(0.0) } else { tost_p_value(centre, factor * stderr, df, margin) }
    }
}
