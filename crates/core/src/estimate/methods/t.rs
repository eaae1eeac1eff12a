//! x̄ ± t·se.

use super::{IntervalFormula, IntervalInput, finite};
use crate::estimate::{Interval, IntervalMethod, Maybe};
use crate::stats::t_quantile;

pub(super) const METHOD: IntervalFormula = IntervalFormula { name: IntervalMethod::T, interval };

fn interval(input: &IntervalInput<'_>, level: f64) -> Maybe<Interval> {
    let error = input.spread()?;
    let margin = t_quantile(0.5 + level / 2.0, error.df) * error.se;
    finite(input.mean - margin, input.mean + margin, level, IntervalMethod::T, Some(error.df))
}
