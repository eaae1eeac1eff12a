//! Ratios of two totals: weighted means, perplexities, geometric means. The error is that of the linearised ratio.
//!
//! R = T/W with T = Σ tᵢ and W = Σ wᵢ. With D_u = T_u − R·W_u of each unit u, a row or a cluster, the variance is
//! ΣD_u²·n/(n−1)/W² for independent rows (Cochran, "Sampling Techniques", 1977), and for clusters the corrections of a mean
//! with weights in place of sizes. Equal weights give exactly the formulas of a mean.

use foldhash::fast::RandomState;
use indexmap::IndexMap;

use super::cluster_error::{ErrorFigure, WayError};
use super::clusters::{ClusterCorrection, RowClusters, bell_mccaffrey_of_weights};
use super::kind::Extent;
use super::resampled::{ResampledFigure, planned_draws};
use super::summary::finite_population;
use super::{Defined, Estimate, Interval, ScoreKind, StdError, Undefined, estimate_from};
use crate::error::{Error, Result};
use crate::error_plan::{
    ClusterVariance, ErrorMethod, ErrorPlan, IntervalChoice, IntervalMethod, IntervalSide,
};
use crate::random::{Random, figure_cost};
use crate::scores::Scores;
use crate::value::LeafKey;
use errorbar_stats::distributions::t_quantile;
use errorbar_stats::exact::ExactSum;
use errorbar_stats::resampling::{jackknife_error, resampled_figures};

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

/// The totals of rows or clusters. Merges exactly, in any order and split.
#[derive(Clone, Debug)]
pub(crate) struct RatioTotals {
    /// Every row by itself.
    rows: Vec<RatioTerm>,
    /// The clusters: by one key, or by the first of two, by the second and by both.
    ways: Vec<IndexMap<Vec<LeafKey>, UnitTotal, RandomState>>,
    sums: UnitTotal,
    /// Of the ratios of single rows, and of the weights.
    extent: Extent,
    weights: Extent,
    /// Why there are no clusters, where the plan wants some.
    problem: Option<String>,
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

    fn merge(&mut self, other: &UnitTotal) {
        self.total.merge(&other.total);
        self.weight.merge(&other.weight);
        self.n += other.n;
    }

    fn term(&self) -> RatioTerm {
        RatioTerm { total: self.total.to_f64(), weight: self.weight.to_f64() }
    }
}

impl Default for RatioTotals {
    fn default() -> Self {
        RatioTotals {
            rows: Vec::new(),
            ways: Vec::new(),
            sums: UnitTotal::default(),
            extent: Extent::NONE,
            weights: Extent::NONE,
            problem: None,
        }
    }
}

impl RatioTotals {
    /// Takes in rows: a position of the scores and its term for each.
    ///
    /// # Errors
    /// None for clusters that do not fit: the ratio stands, without an error.
    pub(crate) fn update(
        &mut self,
        metric: &str,
        scores: &Scores<'_>,
        terms: impl Iterator<Item = (usize, RatioTerm)>,
    ) -> Result<()> {
        let estimation = scores.estimation();
        let is_independent = estimation.errors.cluster.is_empty() && !estimation.by_sample
            || estimation.errors.method == Some(ErrorMethod::Iid);
        let terms: Vec<(usize, RatioTerm)> = terms.collect();
        for (_, term) in &terms {
            self.rows.push(*term);
            self.sums.add(*term);
            let ratio = term.total / term.weight;
            if ratio.is_finite() {
                self.extent = self.extent.and(Extent::of(&[ratio]));
            }
            self.weights = self.weights.and(Extent::of(&[term.weight]));
        }
        if is_independent {
            return Ok(());
        }
        match self.cluster(metric, scores, &terms) {
            Err(error) if error.is_about_clusters() => {
                self.problem = Some(error.to_string());
                Ok(())
            }
            result => result,
        }
    }

    fn cluster(&mut self, metric: &str, scores: &Scores<'_>, terms: &[(usize, RatioTerm)]) -> Result<()> {
        let keys = &scores.estimation().errors.cluster;
        let positions = || terms.iter().map(|(at, _)| *at);
        let way = |key: &String| RowClusters::of_some(metric, key, scores, positions());
        let mut ways: Vec<RowClusters> = keys.iter().map(way).collect::<Result<_>>()?;
        if ways.is_empty() {
            ways.push(RowClusters::by_sample(scores, positions()));
        }
        self.ways.resize_with(if ways.len() == 1 { 1 } else { 3 }, IndexMap::default);
        for (row, (_, term)) in terms.iter().enumerate() {
            let id = |way: &RowClusters| way.ids.get(*way.of_positions.get(row)? as usize).cloned();
            let of_row: Vec<LeafKey> = ways.iter().filter_map(id).collect();
            let mut all: Vec<Vec<LeafKey>> = of_row.iter().map(|id| vec![id.clone()]).collect();
            if all.len() > 1 {
                all.push(of_row);
            }
            for (way, id) in self.ways.iter_mut().zip(all) {
                way.entry(id).or_default().add(*term);
            }
        }
        Ok(())
    }

    /// Takes in all that another has seen.
    pub(crate) fn merge(&mut self, other: &RatioTotals) -> Result<()> {
        if !self.ways.is_empty() && !other.ways.is_empty() && self.ways.len() != other.ways.len() {
            return Err(Error::custom("totals of different plans cannot be merged"));
        }
        self.rows.extend_from_slice(&other.rows);
        self.ways.resize_with(self.ways.len().max(other.ways.len()), IndexMap::default);
        for (way, others) in self.ways.iter_mut().zip(&other.ways) {
            for (id, unit) in others {
                way.entry(id.clone()).or_default().merge(unit);
            }
        }
        self.sums.merge(&other.sums);
        self.extent = self.extent.and(other.extent);
        self.weights = self.weights.and(other.weights);
        self.problem = self.problem.take().or_else(|| other.problem.clone());
        Ok(())
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
            return Estimate::new(value).without_error(&Undefined::Other(problem.clone())).with_n(self.n());
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
        let largest = self.ways.first()?.values().map(|unit| unit.n).max()?;
        Some(largest as f64 / self.n() as f64)
    }

    /// The totals of the units of a way of clustering, in an order that does not depend on that of the scores.
    fn units(&self, way: usize) -> Vec<RatioTerm> {
        let mut units: Vec<RatioTerm> = match self.ways.get(way) {
            Some(clusters) => clusters.values().map(UnitTotal::term).collect(),
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
        let of_way = |way: usize| self.error_of_way(ratio, self.units(way), method);
        let clusters = |way: usize| self.ways.get(way).map_or(0, |way| way.len() as u64);
        ErrorFigure::by_ways(method, self.ways.len(), of_way, clusters)
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
            true => bell_mccaffrey_of_weights(units.iter().map(|unit| unit.weight)),
            false => (count - 1) as f64,
        };
        if !se.is_finite() {
            return Err(Undefined::Overflow);
        }
        // If all rows have the same ratio nothing but rounding is left.
        Ok(WayError { se: if self.is_constant() { 0.0 } else { se }, df, draws: None })
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
            let ratio = (weight != 0.0).then_some(total / weight)?;
            Some(if scale == RatioScale::Exp { libm::exp(ratio) } else { ratio })
        };
        if self.is_constant() {
            return Estimate::new(value).without_error(&Undefined::NoSpread { n: self.n() });
        }
        let RatioTerm { total, weight } = self.sums.term();
        let scaled = |ratio: f64| if scale == RatioScale::Exp { libm::exp(ratio) } else { ratio };
        let without_unit = |unit: &RatioTerm| scaled((total - unit.total) / (weight - unit.weight));
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
