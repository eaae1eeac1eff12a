//! `quantile`: the score that a share of the scores lies below.

use super::order_statistics::quantile as quantile_of;
use crate::error::Result;
use crate::evaluation::{MetricValue, Role};
use crate::inputs::{MetadataKeys, ScoreParts};
use crate::metric::Metric;
use crate::registry::Params;
use crate::scores::Scores;
use crate::value::Conversion;

/// The q-quantile of the scores, by linear interpolation between order statistics (Hyndman and Fan's type 7, numpy's
/// default).
///
/// The interval lies between two order statistics, by the binomial distribution; it is undefined where the scores are too
/// few for the level. The error is that of a resampled quantile. With clusters, or with epochs that are not reduced, both
/// come from resampling. It needs all scores at once: shards cannot be merged.
///
/// # Formula
/// ```text
/// h = q·(n−1): x₍ₕ₊₁₎, interpolated between the two nearest
/// ```
///
/// # When
/// The tail matters: the worst tenth of scores, the slowest answers.
///
/// # Example
/// ```console
/// $ printf '%s\n' id,score 1,0.2 2,0.4 3,0.4 4,0.7 5,0.8 6,0.9 > marks.csv
/// $ errorbar score marks.csv --metric 'quantile(0.9)'
/// marks.csv · 6 rows
///
/// score · 6 scored
///                          0                   1
///   quantile  0.85 ± 0.10                 ├─●─┤   only 6 scores · q=0.9 ·
///                                                 no interval: n = 6 reaches 46.86 %
///
/// ± one standard error (bootstrap) · ├─●─┤ value ± error
/// ```
///
/// # See also
/// `median`, `min`, `max`
///
/// # Source
/// Hyndman & Fan 1996, "Sample quantiles in statistical packages", type 7.
#[derive(Clone, Debug, Params)]
#[params(crate = crate, name = "quantile")]
pub struct Quantile {
    /// The share of the scores below it, between 0 and 1 (both excluded).
    #[param(check = check_share)]
    q: f64,
    /// How values become numbers.
    #[param(default = Conversion::default())]
    to_float: Option<Conversion>,
}

fn check_share(q: &f64) -> Result<(), String> {
    match q {
        q if *q > 0.0 && *q < 1.0 => Ok(()),
        0.0 => Err("must lie between 0 and 1 (both excluded); the smallest score is min()".to_owned()),
        1.0 => Err("must lie between 0 and 1 (both excluded); the largest score is max()".to_owned()),
        q => Err(format!("must lie between 0 and 1 (both excluded), found {q}; for 90 % write 0.9")),
    }
}

impl Metric for Quantile {
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
        self.check()?;
        quantile_of(Self::NAME, scores, &self.to_float_or_default(), self.q)
    }
}
