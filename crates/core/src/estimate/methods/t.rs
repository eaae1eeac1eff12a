//! x̄ ± t·se.

use super::{Ends, IntervalInput};
use crate::estimate::Maybe;
use errorbar_stats::distributions::t_quantile;

pub(super) fn ends(input: &IntervalInput<'_>, confidence: f64) -> Maybe<Ends> {
    let error = input.spread()?;
    let margin = t_quantile(confidence, error.df) * error.se;
    Ok(Ends { lower: input.mean - margin, upper: input.mean + margin, df: Some(error.df) })
}
