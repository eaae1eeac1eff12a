//! `geometric_mean`: exp of the mean of logarithms.

use super::{RatioMetric, RatioTerms, computed_as_ratio};
use crate::metrics::prelude::*;

/// exp of the mean of the logarithms of the scores, which must be above 0.
///
/// The error is that of the mean of logarithms by the delta method, the interval that of the logarithms transformed.
///
/// # Formula
/// ```text
/// exp(Σ ln x / n)
/// ```
///
/// # When
/// Scores are ratios or times, where twice as much and half as much should cancel.
///
/// # Example
/// ```console
/// $ printf '%s\n' id,score 1,0.2 2,0.4 3,0.4 4,0.7 5,0.8 6,0.9 > marks.csv
/// $ errorbar score marks.csv --metric 'geometric_mean'
/// marks.csv · 6 rows
///
/// score · 6 scored
///                                             0                                       1
///   geometric_mean  0.50 ± 0.12 [0.28, 0.91]             ├────────●───────────────┤      only 6 scores
///
/// ± one standard error (delta) · [95 % interval: t] · ├─●─┤ the interval
/// ```
///
/// # See also
/// `mean`, `median`, `perplexity_per_seq`
///
/// # Source
/// Fleming & Wallace 1986, "How not to lie with statistics: the correct way to summarize benchmark results".
#[derive(Clone, Debug, Default, Params)]
#[params(crate = crate, name = "geometric_mean")]
pub struct GeometricMean {
    /// How values become numbers.
    #[param(default = Conversion::default())]
    to_float: Option<Conversion>,
}

impl Metric for GeometricMean {
    metric_flags! { self:
        metadata_keys = MetadataKeys::NONE, resample_cost = 2, depends_on_ids = false, score_parts = Value,
        role = Location
    }

    computed_as_ratio!();
}

impl RatioMetric for GeometricMean {
    const SCALE: RatioScale = RatioScale::Exp;

    fn terms(&self, scores: &Scores<'_>) -> Result<RatioTerms> {
        let floats = scores.finite(Self::NAME, &self.to_float_or_default(), <[f64]>::to_vec)?;
        if let Some((at, score)) = floats.iter().enumerate().find(|(_, score)| **score <= 0.0) {
            let problem =
                format!("sample {:?} has the score {score}, and all must be above 0", scores.sample_id(at));
            return Ok(RatioTerms { problem: Some(problem), ..RatioTerms::default() });
        }
        let term = |score: &f64| RatioTerm { total: libm::log(*score), weight: 1.0 };
        Ok(RatioTerms { terms: floats.iter().map(term).enumerate().collect(), ..RatioTerms::default() })
    }
}
