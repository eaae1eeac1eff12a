//! `median`: the middle of the scores.

use super::order_statistics::quantile;
use crate::error::Result;
use crate::evaluation::{MetricValue, Role};
use crate::inputs::{MetadataKeys, ScoreParts};
use crate::metric::Metric;
use crate::registry::Params;
use crate::scores::Scores;
use crate::value::Conversion;

/// The middle score, or the mean of the two middle ones.
///
/// The interval lies between two order statistics, by the binomial distribution; it is undefined where the scores are too
/// few for the level. The error is that of a resampled median. With clusters, or with epochs that are not reduced, both
/// come from resampling. It needs all scores at once: shards cannot be merged.
///
/// # Formula
/// ```text
/// x₍₍ₙ₊₁₎/₂₎ for odd n, (x₍ₙ/₂₎ + x₍ₙ/₂₊₁₎)/2 for even n
/// ```
///
/// # When
/// A few extreme scores, such as times or lengths, would rule a mean. Of right and wrong answers it says little.
///
/// # Example
/// ```console
/// $ printf '%s\n' id,score 1,0.2 2,0.4 3,0.4 4,0.7 5,0.8 6,0.9 > marks.csv
/// $ errorbar score marks.csv --metric 'median'
/// marks.csv · 6 rows
///
/// score · 6 scored
///                                     0                                       1
///   median  0.55 ± 0.16 [0.20, 0.90]          ├─────────────●─────────────┤      only 6 scores
///
/// ± one standard error (bootstrap) · [95 % interval: order_statistics] · ├─●─┤ the interval
/// ```
///
/// # See also
/// `quantile`, `mean`, `geometric_mean`
///
/// # Source
/// Error: Maritz & Jarrett 1978, "A note on estimating the variance of the sample median", JASA 73(361).
#[derive(Clone, Debug, Default, Params)]
#[params(crate = crate, name = "median")]
pub struct Median {
    /// How values become numbers.
    #[param(default = Conversion::default())]
    to_float: Option<Conversion>,
}

impl Metric for Median {
    fn metadata_keys(&self) -> MetadataKeys {
        MetadataKeys::NONE
    }

    fn depends_on_ids(&self, is_resampled: bool) -> bool {
        is_resampled
    }

    fn score_parts(&self) -> ScoreParts {
        ScoreParts::Value
    }

    fn role(&self) -> Role {
        Role::Location
    }

    fn resample_cost(&self) -> u64 {
        1
    }

    fn compute(&self, scores: &Scores<'_>) -> Result<MetricValue> {
        quantile(Self::NAME, scores, &self.to_float_or_default(), 0.5)
    }
}
