//! The state that accuracy, mean, var, std, stderr and the plain intervals share.

use crate::error::Result;
use crate::metric::{Figure, MetricState, MetricValue, same_state};
use crate::scores::Scores;
use crate::stats::Moments;
use crate::value::Conversion;

/// Count, sum and sum of squares, exact; and how they end as a value.
#[derive(Clone, Debug)]
pub(super) struct MomentsState {
    metric: &'static str,
    conversion: Conversion,
    moments: Moments,
    end: fn(&Moments) -> Figure,
}

impl MomentsState {
    pub(super) fn new(metric: &'static str, conversion: Conversion, end: fn(&Moments) -> Figure) -> Self {
        MomentsState { metric, conversion, moments: Moments::default(), end }
    }
}

impl MetricState for MomentsState {
    fn update(&mut self, scores: &Scores<'_>) -> Result<()> {
        let moments = &mut self.moments;
        scores.finite(self.metric, &self.conversion, |floats| moments.extend(floats))
    }

    fn merge(&mut self, other: Box<dyn MetricState>) -> Result<()> {
        self.moments.merge(&same_state::<MomentsState>(other)?.moments);
        Ok(())
    }

    fn finish(&self) -> Result<MetricValue> {
        Ok((self.end)(&self.moments).into())
    }
}

/// The mean; of nothing it is recorded as 0 and noted as undefined.
pub(super) fn mean_figure(moments: &Moments) -> Figure {
    moments.mean().map_or_else(|| Figure::undefined(0.0, "n = 0"), Figure::new)
}

/// A figure that needs two scores; of fewer it is recorded as 0 and noted as undefined.
pub(super) fn of_two_or_more(value: Option<f64>) -> Figure {
    value.map_or_else(|| Figure::undefined(0.0, "n < 2"), Figure::new)
}

/// A metric over the moments: everything but its name, its words and how it ends.
macro_rules! moments_metric {
    ($type:ident, $function:ident, $name:literal, $doc:literal, $end:expr) => {
        #[doc = $doc]
        #[derive(Clone, Debug, Default)]
        pub struct $type {
            to_float: Option<$crate::Conversion>,
        }

        #[doc = $doc]
        pub fn $function() -> $type {
            $type::default()
        }

        impl $type {
            super::takes_conversion!();

            fn new_state(&self) -> super::moments::MomentsState {
                super::moments::MomentsState::new($name, self.conversion(), $end)
            }
        }

        pub(super) const ENTRY: $crate::registry::MetricEntry = $crate::registry::MetricEntry {
            name: $name,
            doc: $doc,
            params: &[$crate::registry::Param::optional("to_float", "value_to_float()")],
            build: |args| Ok(std::sync::Arc::new($type { to_float: args.get("to_float")? })),
            replaces: false,
        };

        impl $crate::Metric for $type {
            fn spec(&self) -> $crate::Spec {
                $crate::args::spec_of($name, [("to_float", $crate::args::passed(&self.to_float))])
            }

            fn metadata_keys(&self) -> $crate::MetadataKeys {
                $crate::MetadataKeys::NONE
            }

            fn compute(&self, scores: &$crate::Scores<'_>) -> $crate::Result<$crate::MetricValue> {
                $crate::metric::compute_by_state(self.new_state(), scores)
            }

            fn state(&self) -> Option<Box<dyn $crate::MetricState>> {
                Some(Box::new(self.new_state()))
            }
        }
    };
}
pub(super) use moments_metric;
