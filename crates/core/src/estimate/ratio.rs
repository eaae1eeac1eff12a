//! Ratios of two totals: weighted means, perplexities, geometric means; and shares of clustered scores. The error is that of the linearised ratio.
//!
//! R = T/W with T = Σ tᵢ and W = Σ wᵢ. With D_u = T_u − R·W_u of each unit u, a row or a cluster, the variance is
//! ΣD_u²·n/(n−1)/W² for independent rows (Cochran, "Sampling Techniques", 1977), and for clusters the corrections of a mean
//! with weights in place of sizes. Equal weights give exactly the formulas of a mean.

use std::collections::HashMap;

use super::clusters::{
    ClusterCorrection, ErrorFigure, RowClusters, WayError, bell_mccaffrey, degrees_of_freedom, drawn,
};
use super::resampled::{ResampledFigure, planned_draws};
use super::summary::{Extent, estimate_from, finite_population};
use super::{Defined, Estimate, Interval, ScoreKind, StdError, Undefined};
use crate::error::Result;
use crate::error_plan::{
    ClusterVariance, ErrorMethod, ErrorPlan, Estimation, IntervalChoice, IntervalMethod, IntervalSide,
};
use crate::random::{Random, figure_cost};
use crate::scores::Scores;
use errorbar_stats::distributions::t_quantile;
use errorbar_stats::exact::ExactSum;
use errorbar_stats::resampling::{ClusterTotal, jackknife_error, resampled_figures};

/// One row: what it adds to both totals.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct RatioTerm {
    /// tᵢ
    pub(crate) total: f64,
    /// wᵢ
    pub(crate) weight: f64,
}

/// What the ratio is reported as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RatioScale {
    /// The ratio itself.
    Plain,
    /// exp of it: error by the delta method, the ends of the interval transformed.
    Exp,
}

impl RatioScale {
    fn of(self, ratio: f64) -> f64 {
        match self {
            RatioScale::Plain => ratio,
            RatioScale::Exp => libm::exp(ratio),
        }
    }
}

/// The totals of rows or clusters.
#[derive(Clone, Debug)]
pub(crate) struct RatioTotals {
    /// Every row by itself.
    rows: Vec<RatioTerm>,
    /// The clusters: by one key, or by the first of two, by the second and by both.
    ways: Vec<Vec<UnitTotal>>,
    sums: UnitTotal,
    /// Of the ratios of single rows, and of the weights.
    extent: Extent,
    weights: Extent,
    /// Why there are no clusters, where the plan wants some.
    problem: Option<Undefined>,
}

#[derive(Clone, Debug, Default)]
struct UnitTotal {
    total: ExactSum,
    weight: ExactSum,
    n: u64,
}

impl UnitTotal {
    fn add(&mut self, term: RatioTerm) {
        self.total.add(term.total);
        self.weight.add(term.weight);
        self.n += 1;
    }

    fn term(&self) -> RatioTerm {
        RatioTerm { total: self.total.to_f64(), weight: self.weight.to_f64() }
    }
}

impl RatioTotals {
    /// Of rows: a position of the scores and its term for each.
    ///
    /// # Errors
    /// None for clusters that do not fit: the ratio stands, without an error.
    pub(crate) fn new(metric: &str, scores: &Scores<'_>, terms: Vec<(usize, RatioTerm)>) -> Result<Self> {
        let positions = terms.iter().map(|(at, _)| *at);
        let clusters = RowClusters::of_plan(metric, scores.estimation(), scores, positions)?;
        let problem = clusters.as_ref().err().cloned();
        let rows: Vec<RatioTerm> = terms.into_iter().map(|(_, term)| term).collect();
        let (mut sums, mut extent, mut weights) = (UnitTotal::default(), Extent::NONE, Extent::NONE);
        for term in &rows {
            sums.add(*term);
            let ratio = term.total / term.weight;
            if ratio.is_finite() {
                extent = extent.and(Extent::of(&[ratio]));
            }
            weights = weights.and(Extent::of(&[term.weight]));
        }
        let of_way = |RowClusters { ids, of_positions }: RowClusters| {
            let mut units = vec![UnitTotal::default(); ids.len()];
            for (unit, term) in of_positions.into_iter().zip(&rows) {
                units.get_mut(unit as usize).into_iter().for_each(|unit| unit.add(*term));
            }
            units
        };
        let ways = clusters.unwrap_or_default().into_iter().map(of_way).collect();
        Ok(RatioTotals { rows, ways, sums, extent, weights, problem })
    }

    /// The number of rows.
    pub(crate) fn n(&self) -> u64 {
        self.sums.n
    }

    /// What the ratios of single rows are.
    pub(crate) fn kind(&self) -> ScoreKind {
        self.extent.kind()
    }

    /// T/W; none if W is 0.
    pub(crate) fn ratio(&self) -> Option<f64> {
        let RatioTerm { total, weight } = self.sums.term();
        // Of weights whose sum overflows nothing is known.
        let ratio = if weight.is_finite() { total / weight } else { f64::INFINITY };
        (weight != 0.0).then_some(ratio)
    }

    fn is_constant(&self) -> bool {
        self.n() > 0 && self.extent.least == self.extent.greatest
    }

    /// The estimate. `whole` is what all scores are, of which these may be a group.
    pub(crate) fn estimate(
        &self,
        plan: &ErrorPlan,
        whole: ScoreKind,
        random: &Random,
        scale: RatioScale,
    ) -> Estimate {
        let Some(ratio) = self.ratio() else { return Estimate::undefined(Undefined::NoScores) };
        let value = match scale {
            RatioScale::Exp => libm::exp(ratio),
            // If all rows have the same ratio it is that one, to the last bit.
            RatioScale::Plain if self.is_constant() => self.extent.least,
            RatioScale::Plain => ratio,
        };
        if !value.is_finite() || ratio == f64::INFINITY {
            return Estimate::undefined(Undefined::Overflow).with_n(self.n());
        }
        if let Some(problem) = &self.problem {
            return Estimate::new(value).without_error(problem).with_n(self.n());
        }
        if plan.wants_resamples() {
            return self.by_resampling(value, plan, random, scale).with_n(self.n());
        }
        let mut figure = self.error(ratio, plan);
        let samples = if plan.cluster.is_empty() && !self.ways.is_empty() {
            self.units(0).len() as u64
        } else {
            self.n()
        };
        let sampled = plan.sampled(samples as f64);
        figure.error = finite_population(figure.error, &sampled);
        let mut estimate = match (sampled, scale) {
            (Err(reason), _) => Estimate::new(value).without_error(&reason),
            (Ok(_), RatioScale::Plain) => {
                estimate_from(value, figure.error.clone(), self.n(), plan, whole.and(self.kind()))
            }
            (Ok(_), RatioScale::Exp) => self.transformed(ratio, value, figure.error.clone(), plan),
        }
        .with_n(self.n());
        if !self.ways.is_empty() {
            let independent =
                self.error_of_way(ratio, self.rows.clone(), ErrorMethod::Iid).ok().map(|way| way.se);
            let scaled = |se: f64| if scale == RatioScale::Exp { se * value } else { se };
            let in_units = ErrorFigure {
                error: figure.error.map(|error| StdError { se: scaled(error.se), ..error }),
                ..figure
            };
            in_units.annotate(&mut estimate, independent.map(scaled), self.largest_share());
        }
        estimate
    }

    /// The share of the rows that the largest cluster has, of one way of clustering or the first of two.
    fn largest_share(&self) -> Option<f64> {
        let largest = self.ways.first()?.iter().map(|unit| unit.n).max()?;
        Some(largest as f64 / self.n() as f64)
    }

    /// The totals of the units of a way of clustering, in an order that does not depend on that of the scores.
    fn units(&self, way: usize) -> Vec<RatioTerm> {
        let mut units: Vec<RatioTerm> = match self.ways.get(way) {
            Some(units) => units.iter().map(UnitTotal::term).collect(),
            None => self.rows.clone(),
        };
        units.sort_unstable_by(|a, b| a.total.total_cmp(&b.total).then(a.weight.total_cmp(&b.weight)));
        units
    }

    /// The standard error of the ratio.
    fn error(&self, ratio: f64, plan: &ErrorPlan) -> ErrorFigure {
        if self.ways.is_empty() {
            let method = match plan.independent_method() {
                // Of equal weights it is a mean.
                ErrorMethod::Iid if self.weights.least != self.weights.greatest => ErrorMethod::Delta,
                method => method,
            };
            let way = self.error_of_way(ratio, self.units(0), method);
            return ErrorFigure::new(way.map(|way| StdError::new(way.se, method).with_df(way.df)));
        }
        let method = plan.clustered_method();
        let ways = (0..self.ways.len()).map(|way| self.error_of_way(ratio, self.units(way), method));
        ErrorFigure::of_ways(method, ways)
    }

    /// The standard error from the totals of units.
    fn error_of_way(&self, ratio: f64, units: Vec<RatioTerm>, method: ErrorMethod) -> Defined<WayError> {
        let count = units.len();
        if count < 2 {
            let count = count as u64;
            return Err(match self.ways.is_empty() {
                true => Undefined::TooFewScores { n: count },
                false => Undefined::TooFewClusters { clusters: count },
            });
        }
        let RatioTerm { total, weight } = self.sums.term();
        let others = |unit: &RatioTerm| weight - unit.weight;
        let residual = |unit: &RatioTerm| unit.total - ratio * unit.weight;
        let residuals = |divisor: &dyn Fn(f64) -> f64| -> Vec<f64> {
            units.iter().map(|unit| residual(unit) / divisor(others(unit))).collect()
        };
        // Rows are clusters of one, for which CR1 is n/(n−1).
        let correction = match method {
            ErrorMethod::Cluster(correction) => ClusterCorrection::new(correction, count),
            ErrorMethod::Jackknife => ClusterCorrection::jackknife(count),
            _ => ClusterCorrection::new(ClusterVariance::Cr1, count),
        };
        let se = match method {
            // A ratio without a unit is computed as such, and not in units of the linearised one.
            ErrorMethod::Jackknife => {
                let left_out = |unit: &RatioTerm| (total - unit.total) / others(unit);
                let left_out: Vec<f64> = units.iter().map(left_out).collect();
                jackknife_error(&left_out).unwrap_or(f64::NAN)
            }
            _ => correction.stderr(weight, residuals),
        };
        let df = match correction.is_by_size() && !self.ways.is_empty() {
            true => bell_mccaffrey(units.iter().map(|unit| unit.weight)),
            false => (count - 1) as f64,
        };
        if !se.is_finite() {
            return Err(Undefined::Overflow);
        }
        // If all rows have the same ratio nothing but rounding is left.
        let se = if self.is_constant() { 0.0 } else { se };
        Ok(WayError { se, df, draws: None, clusters: count as u64 })
    }

    /// exp of the ratio and of the ends of its interval; the error by the delta method.
    fn transformed(&self, ratio: f64, value: f64, error: Defined<StdError>, plan: &ErrorPlan) -> Estimate {
        let mut estimate = Estimate::new(value);
        let (level, side) = (plan.level(), plan.side());
        estimate.interval = error.as_ref().map_err(Undefined::clone).and_then(|error| {
            if error.se == 0.0 {
                return Err(Undefined::NoSpread { n: self.n() });
            }
            let margin = t_quantile(side.confidence_of_ends(level), error.df) * error.se;
            let (lower, upper) = (libm::exp(ratio - margin), libm::exp(ratio + margin));
            if !upper.is_finite() && side != IntervalSide::Lower {
                return Err(Undefined::Overflow);
            }
            let interval = Interval::new(lower, upper, level, IntervalMethod::T).with_df(Some(error.df));
            Ok(interval.one_sided(side, Some((0.0, f64::INFINITY))))
        });
        estimate.error = error.map(|error| {
            let method = if error.method == ErrorMethod::Iid { ErrorMethod::Delta } else { error.method };
            StdError { se: error.se * value, method, ..error }
        });
        let wanted = match plan.interval {
            IntervalChoice::Auto | IntervalChoice::Method(IntervalMethod::T) => None,
            IntervalChoice::Method(other) => Some(other),
        };
        if estimate.interval.is_ok() {
            let instead =
                wanted.map(|other| format!("t of the logarithm in place of {other}, which is for means"));
            estimate.notes.is_caution = instead.is_some();
            estimate.notes.reason = instead.or_else(|| Some("auto: t of the logarithm".to_owned()));
        }
        estimate
    }

    fn by_resampling(&self, value: f64, plan: &ErrorPlan, random: &Random, scale: RatioScale) -> Estimate {
        if self.ways.len() > 1 {
            let reason = Undefined::Other("no bootstrap with two cluster keys".to_owned());
            return Estimate::new(value).without_error(&reason);
        }
        let units = self.units(0);
        let n = units.len() as u64;
        let draws = match planned_draws(plan, random, n, figure_cost(n)) {
            Ok(draws) => draws,
            Err(reason) => return Estimate::new(value).without_error(&reason),
        };
        let figure = |counts: &[u32]| {
            let (mut total, mut weight) = (0.0, 0.0);
            for (unit, count) in units.iter().zip(counts) {
                total += unit.total * f64::from(*count);
                weight += unit.weight * f64::from(*count);
            }
            (weight != 0.0).then(|| scale.of(total / weight))
        };
        if self.is_constant() {
            return Estimate::new(value).without_error(&Undefined::NoSpread { n: self.n() });
        }
        let RatioTerm { total, weight } = self.sums.term();
        let without_unit = |unit: &RatioTerm| scale.of((total - unit.total) / (weight - unit.weight));
        let left_out: Vec<f64> = units.iter().map(without_unit).collect();
        let is_usable = left_out.iter().all(|figure| figure.is_finite());
        let is_by_sample = plan.cluster.is_empty();
        ResampledFigure {
            value,
            figures: resampled_figures(units.len(), draws.count as usize, draws.seed, figure),
            draws,
            left_out: is_usable.then_some(left_out.as_slice()),
            units: units.len(),
            samples: if is_by_sample { units.len() } else { self.rows.len() },
            is_clustered: !self.ways.is_empty(),
        }
        .estimate(plan)
    }
}

/// What the errors of shares are made of.
pub(crate) struct ShareVariances {
    /// One way of clustering; or two, and both at once.
    ways: Vec<WayVariances>,
    method: ErrorMethod,
    draws: u32,
    random: Random,
    problem: Option<Undefined>,
}

/// What the errors of shares are made of, for one way of clustering.
///
/// The variance of a share p is Σ w_g (c_g − n_g·p)² over the clusters. Most clusters lack most categories, so it is
/// taken as p² Σ w_g n_g² and, for the clusters that have the category, what differs from that.
struct WayVariances {
    sizes: Vec<u64>,
    without: f64,
    with: HashMap<u32, CategoryCounts, foldhash::fast::RandomState>,
    df: f64,
    /// The bootstrap has no other closed form than that of clusters of one size.
    is_drawn: bool,
}

/// One category in the clusters that have it.
#[derive(Default)]
struct CategoryCounts {
    square: ExactSum,
    product: ExactSum,
    /// Cluster and count, only if resamples are drawn.
    counts: Vec<(u32, u64)>,
}

impl WayVariances {
    /// Of scores with these categories.
    fn new(clusters: RowClusters, categories: &[usize], method: ErrorMethod) -> Self {
        let g = clusters.ids.len();
        let categories = categories.iter().map(|category| *category as u32);
        let mut scores: Vec<(u32, u32)> = clusters.of_positions.into_iter().zip(categories).collect();
        let mut sizes = vec![0_u64; g];
        for (cluster, _) in &scores {
            if let Some(size) = sizes.get_mut(*cluster as usize) {
                *size += 1;
            }
        }
        let n = scores.len() as u64;
        // The bootstrap of clusters of one size is CR0; of others it is drawn.
        let correction = ClusterCorrection::of_method(method, g)
            .unwrap_or_else(|| ClusterCorrection::new(ClusterVariance::Cr0, g));
        let weight = |size: u64| correction.weight(n as f64, (n - size) as f64);
        let is_drawn =
            method == ErrorMethod::Bootstrap && sizes.iter().any(|size| Some(size) != sizes.first());
        let mut without = ExactSum::new();
        for size in &sizes {
            without.add(weight(*size) * (*size as f64) * (*size as f64));
        }
        scores.sort_unstable();
        let mut with: HashMap<u32, CategoryCounts, foldhash::fast::RandomState> = HashMap::default();
        for run in scores.chunk_by(|a, b| a == b) {
            let Some(&(cluster, category)) = run.first() else { continue };
            let size = sizes.get(cluster as usize).copied().unwrap_or_default();
            let (weight, size, count) = (weight(size), size as f64, run.len() as f64);
            // (c − n·p)² − (n·p)² = c² − 2·c·n·p
            let of_category = with.entry(category).or_default();
            of_category.square.add(weight * count * count);
            of_category.product.add(weight * 2.0 * count * size);
            if is_drawn {
                of_category.counts.push((cluster, run.len() as u64));
            }
        }
        let df = degrees_of_freedom(method, sizes.iter().copied());
        WayVariances { sizes, without: without.to_f64(), with, df, is_drawn }
    }

    fn error(&self, category: usize, share: f64, draws: u32, random: &Random) -> Defined<WayError> {
        let clusters = self.sizes.len() as u64;
        if clusters < 2 {
            return Err(Undefined::TooFewClusters { clusters });
        }
        let of_category = self.with.get(&(category as u32));
        if self.is_drawn {
            let mut totals: Vec<ClusterTotal> =
                self.sizes.iter().map(|size| ClusterTotal::new(*size, (0.0, 0.0))).collect();
            for (cluster, count) in of_category.into_iter().flat_map(|found| &found.counts) {
                if let Some(total) = totals.get_mut(*cluster as usize) {
                    total.sum.0 = *count as f64;
                }
            }
            let (se, draws) = drawn(&totals, draws, random)?;
            return Ok(WayError { se, df: self.df, draws: Some(draws), clusters });
        }
        let (square, product) =
            of_category.map(|found| (found.square.to_f64(), found.product.to_f64())).unwrap_or_default();
        let variance = square - product * share + self.without * share * share;
        // Nothing but rounding is left where all clusters have the same share.
        let is_rounding = variance <= 1e-15 * square.max(self.without * share * share);
        let se = if is_rounding { 0.0 } else { variance.sqrt() };
        Ok(WayError { se, df: self.df, draws: None, clusters })
    }
}

impl ShareVariances {
    /// Of scores with these categories; none if they are independent.
    pub(crate) fn of(
        estimation: &Estimation,
        scores: &Scores<'_>,
        categories: &[usize],
    ) -> Result<Option<Self>> {
        let clusters = RowClusters::of_plan("frequency", estimation, scores, 0..scores.len())?;
        let problem = clusters.as_ref().err().cloned();
        let clusters = clusters.unwrap_or_default();
        if clusters.is_empty() && problem.is_none() {
            return Ok(None);
        }
        let (method, draws) = (estimation.errors.clustered_method(), estimation.errors.draws());
        let way = |clusters| WayVariances::new(clusters, categories, method);
        let ways: Vec<WayVariances> = clusters.into_iter().map(way).collect();
        let random = estimation.random.among(ways.first().map_or(1, |way| way.with.len()));
        Ok(Some(ShareVariances { ways, method, draws, random, problem }))
    }

    /// The error of a category's share.
    pub(crate) fn error(&self, category: usize, share: f64) -> ErrorFigure {
        if let Some(problem) = &self.problem {
            return ErrorFigure::new(Err(problem.clone()));
        }
        let ways = self.ways.iter().map(|way| way.error(category, share, self.draws, &self.random));
        ErrorFigure::of_ways(self.method, ways)
    }

    /// The share of the scores that the largest cluster has.
    pub(crate) fn largest_share(&self) -> f64 {
        // Both at once are smaller than each.
        let largest = self.ways.iter().flat_map(|way| &way.sizes).max().copied().unwrap_or(0);
        let n: u64 = self.ways.first().map_or(0, |way| way.sizes.iter().sum());
        largest as f64 / n.max(1) as f64
    }
}
