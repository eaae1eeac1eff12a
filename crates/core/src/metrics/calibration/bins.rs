//! Predictions of about the same confidence, together.

use super::ConfidentAnswer;
use crate::metrics::prelude::*;

/// How confidences are divided into bins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Scheme {
    /// Bins of equal width.
    #[default]
    Width,
    /// Bins of about equally many predictions.
    Mass,
}

impl ArgWord for Scheme {
    const EXPECTED: &'static str = "\"width\" or \"mass\"";
    const WORDS: &'static [(&'static str, Self)] = &[("width", Scheme::Width), ("mass", Scheme::Mass)];
}

/// The most bins: a resample costs as much as there are.
const MOST_BINS: usize = 1000;

/// What is wrong with a number of bins.
pub(in crate::metrics) fn check_bins(bins: &usize) -> Result<(), String> {
    match *bins {
        1..=MOST_BINS => Ok(()),
        other => Err(format!("must be from 1 to {MOST_BINS}, found {other}")),
    }
}

/// The predictions with lower < confidence ≤ upper; the first bin has its lower end too.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Bin {
    pub(crate) lower: f64,
    pub(crate) upper: f64,
    pub(crate) n: u64,
    pub(crate) right: u64,
    /// The sum of confidences.
    pub(crate) confidences: f64,
}

impl Bin {
    /// The share of right answers; not a number without predictions.
    pub(crate) fn accuracy(&self) -> f64 {
        self.right as f64 / self.n as f64
    }

    /// The mean confidence; not a number without predictions.
    pub(crate) fn confidence(&self) -> f64 {
        self.confidences / self.n as f64
    }
}

/// The bins of predictions in the order of their confidence, each counted as often as `weight` has it. Some may be empty.
pub(in crate::metrics) fn bins(
    predictions: &[ConfidentAnswer],
    weight: impl Fn(&ConfidentAnswer) -> u32,
    count: usize,
    scheme: Scheme,
) -> Vec<Bin> {
    let edges = match scheme {
        // The quotient, not a multiple of the width: 0.3 must be the edge 3/10, to the last bit.
        Scheme::Width => (1..count).map(|edge| edge as f64 / count as f64).collect(),
        Scheme::Mass => quantiles(predictions, &weight, count),
    };
    let ends = edges.iter().copied().chain(std::iter::once(1.0));
    let starts = std::iter::once(0.0).chain(edges.iter().copied());
    let empty = |(lower, upper): (f64, f64)| Bin { lower, upper, n: 0, right: 0, confidences: 0.0 };
    let mut bins: Vec<Bin> = starts.zip(ends).map(empty).collect();
    let mut at = 0;
    for prediction in predictions {
        while edges.get(at).is_some_and(|edge| prediction.confidence > *edge) {
            at += 1;
        }
        let weight = weight(prediction);
        if let Some(bin) = bins.get_mut(at).filter(|_| weight > 0) {
            bin.n += u64::from(weight);
            bin.right += if prediction.is_right { u64::from(weight) } else { 0 };
            bin.confidences += f64::from(weight) * prediction.confidence;
        }
    }
    bins
}

/// The quantiles that divide the predictions into parts, interpolated linearly between order statistics. The positions
/// are integers with a fraction, so rounding cannot put an observation on the wrong side.
fn quantiles(
    predictions: &[ConfidentAnswer],
    weight: impl Fn(&ConfidentAnswer) -> u32,
    parts: usize,
) -> Vec<f64> {
    let n: u64 = predictions.iter().map(|prediction| u64::from(weight(prediction))).sum();
    let mut seen = 0;
    let mut rest = predictions.iter();
    let mut current = None;
    // The order statistic at an index from 0; indices ascend.
    let mut order_statistic = |index: u64| {
        while seen <= index {
            let Some(prediction) = rest.next() else { break };
            let weight = weight(prediction);
            if weight > 0 {
                seen += u64::from(weight);
                current = Some(prediction.confidence);
            }
        }
        current.unwrap_or(0.0)
    };
    let parts = parts as u64;
    let quantile = |edge: u64| {
        let position = u128::from(n.saturating_sub(1)) * u128::from(edge);
        let (index, rest) = ((position / u128::from(parts)) as u64, (position % u128::from(parts)) as u64);
        let low = order_statistic(index);
        if rest == 0 {
            return low;
        }
        let high = order_statistic(index + 1);
        low + (high - low) * (rest as f64 / parts as f64)
    };
    (1..parts).map(quantile).collect()
}

#[cfg(test)]
mod tests {
    use super::super::once;
    use super::*;

    fn predictions(confidences: &[f64]) -> Vec<ConfidentAnswer> {
        let prediction =
            |confidence: &f64| ConfidentAnswer { confidence: *confidence, is_right: true, unit: 0 };
        confidences.iter().map(prediction).collect()
    }

    #[test]
    fn an_edge_belongs_to_the_bin_below() {
        let rows = predictions(&[0.0, 0.1, 0.3, 0.30000000000000004, 0.7, 1.0]);
        let counts: Vec<u64> = bins(&rows, once, 10, Scheme::Width).iter().map(|bin| bin.n).collect();
        assert_eq!(counts, [2, 0, 1, 1, 0, 0, 1, 0, 0, 1]);
    }

    #[test]
    fn bins_of_equal_mass_keep_ties_together() {
        let rows = predictions(&[0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8]);
        // numpy.percentile: 0.275, 0.45, 0.625
        let edges: Vec<f64> = quantiles(&rows, once, 4);
        for (edge, expected) in edges.iter().zip([0.275, 0.45, 0.625]) {
            assert!((edge - expected).abs() < 1e-15, "{edges:?}");
        }
        assert!(bins(&rows, once, 4, Scheme::Mass).iter().all(|bin| bin.n == 2));
        let ties = predictions(&[0.5, 0.9, 0.9, 0.9, 0.9, 0.9]);
        let counts: Vec<u64> = bins(&ties, once, 3, Scheme::Mass).iter().map(|bin| bin.n).collect();
        assert_eq!(counts, [6, 0, 0]);
    }

    #[test]
    fn a_weight_is_as_many_copies() {
        let rows = predictions(&[0.05, 0.2, 0.4, 0.95]);
        let copies = predictions(&[0.05, 0.05, 0.05, 0.4, 0.95, 0.95]);
        let weight = |prediction: &ConfidentAnswer| match prediction.confidence {
            0.05 => 3,
            0.4 => 1,
            0.95 => 2,
            _ => 0,
        };
        for scheme in [Scheme::Width, Scheme::Mass] {
            assert_eq!(bins(&rows, weight, 5, scheme), bins(&copies, once, 5, scheme), "{scheme:?}");
        }
    }
}
