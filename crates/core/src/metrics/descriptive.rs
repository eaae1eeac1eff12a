//! What `count`, `sum`, `min` and `max` share: figures that describe the scores at hand, and have no error.

use crate::error::Result;
use crate::estimate::{Estimate, GroupContext, Undefined};
use crate::evaluation::MetricValue;
use crate::metric::Accumulator;
use crate::scores::Scores;
use crate::value::Conversion;
use errorbar_stats::exact::ExactSum;

/// Which of the figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DescriptiveFigure {
    Count,
    Sum,
    Min,
    Max,
}

impl DescriptiveFigure {
    /// Why it has no error.
    fn reason(self) -> &'static str {
        match self {
            DescriptiveFigure::Count => "a count of these scores, not an estimate",
            DescriptiveFigure::Sum => "a total of these scores, not an estimate; take the mean",
            DescriptiveFigure::Min | DescriptiveFigure::Max => {
                "an extreme has no standard error; take a quantile"
            }
        }
    }
}

/// All of them over the scores seen so far. Merges exactly.
#[derive(Clone, Debug)]
pub(super) struct DescribedState {
    metric: &'static str,
    described: DescriptiveFigure,
    /// How values become numbers; a count needs none.
    conversion: Option<Conversion>,
    n: u64,
    absent: u64,
    sum: ExactSum,
    least: f64,
    greatest: f64,
}

impl DescribedState {
    pub(super) fn new(
        metric: &'static str,
        described: DescriptiveFigure,
        conversion: Option<Conversion>,
    ) -> Self {
        DescribedState {
            metric,
            described,
            conversion,
            n: 0,
            absent: 0,
            sum: ExactSum::new(),
            least: f64::INFINITY,
            greatest: f64::NEG_INFINITY,
        }
    }
}

impl Accumulator for DescribedState {
    fn update(&mut self, scores: &Scores<'_>) -> Result<()> {
        self.n += scores.len() as u64;
        self.absent += scores.absent() as u64;
        let Some(conversion) = &self.conversion else { return Ok(()) };
        scores.finite(self.metric, conversion, |numbers| {
            let floats = numbers.to_floats();
            self.sum.extend(&floats);
            self.least = floats.iter().copied().fold(self.least, f64::min);
            self.greatest = floats.iter().copied().fold(self.greatest, f64::max);
        })
    }

    fn merge(&mut self, other: Self) -> Result<()> {
        self.n += other.n;
        self.absent += other.absent;
        self.sum.merge(&other.sum);
        self.least = self.least.min(other.least);
        self.greatest = self.greatest.max(other.greatest);
        Ok(())
    }

    fn finish(&self, _: GroupContext) -> Result<MetricValue> {
        let value = match self.described {
            DescriptiveFigure::Count => Ok(self.n as f64),
            _ if self.n == 0 => Err(Undefined::NoScores),
            DescriptiveFigure::Sum => Ok(self.sum.to_f64())
                .and_then(|sum| if sum.is_finite() { Ok(sum) } else { Err(Undefined::Overflow) }),
            // Of the two zeros one, whichever came first.
            DescriptiveFigure::Min => Ok(self.least + 0.0),
            DescriptiveFigure::Max => Ok(self.greatest + 0.0),
        };
        let mut estimate = Estimate::of(value);
        let reason = Undefined::Other(self.described.reason().to_owned());
        (estimate.error, estimate.interval) = (Err(reason.clone()), Err(reason));
        (estimate.n, estimate.absent) = (self.n, self.absent);
        Ok(estimate.into())
    }
}

/// A metric that describes the scores at hand.
macro_rules! described_metric {
    ($(#[$doc:meta])* $type:ident, $name:literal, $described:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default, $crate::Params)]
        #[params(crate = $crate, name = $name)]
        pub struct $type {
            /// How values become numbers.
            #[param(default = $crate::Conversion::default())]
            to_float: Option<$crate::Conversion>,
        }

        impl $type {
            fn new_state(&self) -> super::descriptive::DescribedState {
                let described = super::descriptive::DescriptiveFigure::$described;
                let conversion = Some(self.to_float_or_default());
                super::descriptive::DescribedState::new(<Self as $crate::Params>::NAME, described, conversion)
            }
        }

        impl $crate::Metric for $type {
            fn metadata_keys(&self) -> $crate::MetadataKeys {
                $crate::MetadataKeys::NONE
            }

            fn depends_on_ids(&self, _: bool) -> bool {
                false
            }

            fn score_parts(&self) -> $crate::ScoreParts {
                $crate::ScoreParts::Value
            }

            fn resample_cost(&self) -> u64 {
                1
            }

            fn compute(&self, scores: &$crate::Scores<'_>) -> $crate::Result<$crate::MetricValue> {
                $crate::metric::compute_by_state(self.new_state(), scores)
            }

            fn state(&self, _: &$crate::Estimation) -> Option<Box<dyn $crate::MetricState>> {
                Some(Box::new(self.new_state()))
            }
        }
    };
}
pub(super) use described_metric;
