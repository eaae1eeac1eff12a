//! `median`: the middle of the scores.

use super::order_statistics::quantile;
use crate::error::Result;
use crate::evaluation::{MetricValue, Role};
use crate::metric::{MetadataKeys, Metric, ScoreParts};
use crate::params::Params;
use crate::scores::Scores;
use crate::value::Conversion;

/// The middle score, or the mean of the two middle ones.
///
/// The interval lies between two order statistics, by the binomial distribution; it is undefined where the scores are too
/// few for the level. The error is that of a resampled median. With clusters, or with epochs that are not reduced, both
/// come from resampling. It needs all scores at once: shards cannot be merged.
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

    fn score_parts(&self) -> ScoreParts {
        ScoreParts::Value
    }

    fn role(&self) -> Role {
        Role::Location
    }

    fn compute(&self, scores: &Scores<'_>) -> Result<MetricValue> {
        quantile(Self::NAME, scores, &self.to_float_or_default(), 0.5)
    }
}
