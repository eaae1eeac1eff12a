//! The standard error of the mean of clustered scores, by each method and for one way of clustering or two.

use std::hash::Hash;

use super::clusters::Clusters;
use super::{Defined, Draws, Estimate, StdError, Undefined};
use crate::error_plan::{ClusterVariance, ErrorMethod};
use crate::random::Random;
use errorbar_stats::resampling::{ClusterTotal, ResampledMeans};

/// A standard error, and what is to be known about it.
pub struct ErrorFigure {
    /// The error, or why there is none.
    pub error: Defined<StdError>,
    /// What every reader should know.
    pub note: Option<&'static str>,
    /// What makes it random.
    pub draws: Option<Draws>,
}

/// The standard error of one way of clustering.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WayError {
    pub(crate) se: f64,
    pub(crate) df: f64,
    pub(crate) draws: Option<Draws>,
}

impl ErrorFigure {
    /// An error that is neither random nor noteworthy.
    pub(crate) fn new(error: Defined<StdError>) -> Self {
        ErrorFigure { error, note: None, draws: None }
    }

    /// That of one way of clustering.
    pub(crate) fn one_way(method: ErrorMethod, way: Defined<WayError>, clusters: u64) -> Self {
        let draws = way.as_ref().ok().and_then(|way| way.draws);
        let error =
            way.map(|way| StdError::new(way.se, method).with_df(way.df).with_clusters(vec![clusters]));
        ErrorFigure { error, note: None, draws }
    }

    /// That of two ways of clustering, from the errors of each and of both at once. The degrees of freedom are the
    /// smaller ones.
    /// By one way of clustering, or by two: then `of_way` is asked for both, 0 and 1, and for their pairs, 2.
    pub(crate) fn by_ways(
        method: ErrorMethod,
        ways: usize,
        of_way: impl Fn(usize) -> Defined<WayError>,
        clusters: impl Fn(usize) -> u64,
    ) -> Self {
        if ways < 2 {
            return ErrorFigure::one_way(method, of_way(0), clusters(0));
        }
        let of_ways = of_way(0).and_then(|first| Ok([first, of_way(1)?, of_way(2)?]));
        ErrorFigure::two_way(method, of_ways, [clusters(0), clusters(1)])
    }

    pub(crate) fn two_way(method: ErrorMethod, ways: Defined<[WayError; 3]>, clusters: [u64; 2]) -> Self {
        let [first, second, both] = match ways {
            Ok(ways) => ways,
            Err(reason) => return ErrorFigure::new(Err(reason)),
        };
        let (se, note) = combined([first.se, second.se], both.se);
        let error = StdError::new(se, method).with_df(first.df.min(second.df));
        ErrorFigure {
            error: Ok(error.with_clusters(clusters.to_vec())),
            note,
            draws: first.draws.or(second.draws).or(both.draws),
        }
    }

    /// Puts into an estimate with this error what is to be known about it: what it would be for independent scores, the
    /// design effect, the effective n, the share of the largest cluster.
    pub(crate) fn annotate(&self, estimate: &mut Estimate, iid: Option<f64>, largest_share: Option<f64>) {
        let notes = &mut estimate.notes;
        estimate.draws = estimate.draws.or(self.draws);
        notes.iid_stderr = iid;
        notes.largest_cluster_share = largest_share;
        if largest_share.is_some() {
            let of_errors = self.error.as_ref().ok().zip(iid.filter(|iid| *iid > 0.0));
            let effect = of_errors.map(|(error, iid)| (error.se / iid) * (error.se / iid));
            notes.design_effect = effect;
            let effective = effect.filter(|effect| *effect > 0.0).map(|effect| estimate.n as f64 / effect);
            // That of an interval by Wilson counts zeros and ones, which is another number.
            notes.effective_n = effective.or(notes.effective_n);
        }
        // Kept, as clusters may well be more alike to each other than samples are, but it should be known.
        if notes.design_effect.is_some_and(|effect| effect > 0.0 && effect < 1.0 - ROUNDING) {
            notes.add_reason(BELOW_IID);
        }
        self.caution(estimate);
    }

    /// Puts into an estimate what every reader should know about its error.
    pub(crate) fn caution(&self, estimate: &mut Estimate) {
        if let Some(note) = self.note {
            estimate.notes.add_caution(note);
        }
    }
}

/// A design effect that is this close to 1 is 1.
const ROUNDING: f64 = 1e-9;

/// The note on a design effect below 1.
const BELOW_IID: &str = "the clustered error is below that of independent scores";

/// The standard error of one way of clustering, and its degrees of freedom.
pub(super) fn one_way<Id: Clone + Eq + Hash>(
    clusters: &Clusters<Id>,
    method: ErrorMethod,
    draws: u32,
    random: &Random,
) -> Defined<WayError> {
    let too_few = || Undefined::TooFewClusters { clusters: clusters.len() as u64 };
    let df = clusters.degrees_of_freedom(method).ok_or_else(too_few)?;
    let (se, draws) = match method {
        ErrorMethod::Jackknife => (clusters.jackknife_stderr().ok_or_else(too_few)?, None),
        // The mean of resamples of clusters of one size is a mean of independent numbers: nothing is to be drawn.
        ErrorMethod::Bootstrap if clusters.are_of_one_size() => {
            (clusters.corrected_stderr(ClusterVariance::Cr0).ok_or_else(too_few)?, None)
        }
        ErrorMethod::Bootstrap => {
            let (se, draws) = drawn(&clusters.totals(), draws, random)?;
            (se, Some(draws))
        }
        ErrorMethod::Cluster(correction) => {
            (clusters.corrected_stderr(correction).ok_or_else(too_few)?, None)
        }
        _ => return Err(Undefined::NotAvailable),
    };
    if se.is_finite() { Ok(WayError { se, df, draws }) } else { Err(Undefined::Overflow) }
}

/// The standard deviation of the means of resampled clusters.
pub(super) fn drawn(clusters: &[ClusterTotal], draws: u32, random: &Random) -> Defined<(f64, Draws)> {
    random.check_draws(u64::from(draws), clusters.len() as u64).map_err(Undefined::Other)?;
    let means = ResampledMeans::of_clusters(clusters);
    let se = means.map_or(f64::NAN, |means| means.standard_deviation(draws as usize, random.seed));
    Ok((se, Draws::new(random.seed, u64::from(draws))))
}

/// V = V_a + V_b − V_ab (Cameron, Gelbach & Miller, "Robust inference with multiway clustering", 2011). That may come out
/// negative; the larger of the first two is then what can be defended.
pub(super) fn combined(ways: [f64; 2], both: f64) -> (f64, Option<&'static str>) {
    let larger = ways[0].max(ways[1]);
    let unit = larger.max(both);
    if unit == 0.0 {
        return (0.0, None);
    }
    let square = |se: f64| (se / unit) * (se / unit);
    let sum = square(ways[0]) + square(ways[1]);
    let variance = sum - square(both);
    // Of variances that cancel nothing but rounding is left.
    if variance > 1e-12 * sum {
        return (unit * variance.sqrt(), None);
    }
    (larger, Some("the two-way variance is not positive, so the larger of the two one-way variances is used"))
}
