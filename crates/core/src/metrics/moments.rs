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
    /// Samples that have no score, and whether those that have one are proportions.
    absent: u64,
    proportions: bool,
    end: fn(&MomentsState) -> Figure,
}

impl MomentsState {
    pub(super) fn new(
        metric: &'static str,
        conversion: Conversion,
        end: fn(&MomentsState) -> Figure,
    ) -> Self {
        let moments = Moments::default();
        MomentsState { metric, conversion, moments, absent: 0, proportions: true, end }
    }

    pub(super) fn moments(&self) -> &Moments {
        &self.moments
    }
}

impl MetricState for MomentsState {
    fn update(&mut self, scores: &Scores<'_>) -> Result<()> {
        let MomentsState { moments, absent, proportions, .. } = self;
        scores.finite(self.metric, &self.conversion, |numbers| {
            numbers.add_to(moments);
            *absent += scores.absent() as u64;
            *proportions &= numbers.are_proportions();
        })
    }

    fn merge(&mut self, other: Box<dyn MetricState>) -> Result<()> {
        let other = same_state::<MomentsState>(other)?;
        self.moments.merge(&other.moments);
        self.absent += other.absent;
        self.proportions &= other.proportions;
        Ok(())
    }

    fn finish(&self) -> Result<MetricValue> {
        Ok((self.end)(self).into())
    }
}

/// The mean; of nothing it is recorded as 0 and noted as undefined. Where samples have no score, it is
/// noted what the mean would be if all of them were wrong, and if all were right.
pub(super) fn mean_figure(state: &MomentsState) -> Figure {
    let Some(mean) = state.moments.mean() else { return Figure::undefined(0.0, "n = 0") };
    let figure = Figure::new(mean);
    if state.absent == 0 || !state.proportions {
        return figure;
    }
    let all = state.moments.count() + state.absent;
    let worst = state.moments.sum().divide(all);
    let mut with_all_right = state.moments.sum().clone();
    with_all_right.add_times(1.0, state.absent);
    figure.note("absent", state.absent).note("worst", worst).note("best", with_all_right.divide(all))
}

/// A figure that needs two scores; of fewer it is recorded as 0 and noted as undefined.
pub(super) fn of_two_or_more(value: Option<f64>) -> Figure {
    value.map_or_else(|| Figure::undefined(0.0, "n < 2"), Figure::new)
}

/// A metric over the moments: everything but its name, its words and how it ends.
macro_rules! moments_metric {
    ($type:ident, $function:ident, $name:literal, $doc:literal, $end:expr $(, stderr: $stderr:expr)?) => {
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

            fn score_parts(&self) -> $crate::ScoreParts {
                $crate::ScoreParts::Value
            }

            fn compute(&self, scores: &$crate::Scores<'_>) -> $crate::Result<$crate::MetricValue> {
                $crate::metric::compute_by_state(self.new_state(), scores)
            }

            $(
                fn standard_error(&self) -> Option<std::sync::Arc<dyn $crate::Metric>> {
                    let error = $stderr;
                    Some(std::sync::Arc::new(match &self.to_float {
                        Some(conversion) => error.to_float(conversion.clone()),
                        None => error,
                    }))
                }
            )?

            fn state(&self) -> Option<Box<dyn $crate::MetricState>> {
                Some(Box::new(self.new_state()))
            }
        }
    };
}
pub(super) use moments_metric;

#[cfg(test)]
mod tests {
    use crate::metrics::mean;
    use crate::{Metric, MetricValue, Score, ScoreColumns, ScoreSet, Value};

    #[test]
    fn absent_samples_of_all_shards_are_bounded() {
        let shard = |value: Value| {
            let mut columns = ScoreColumns::new(["s"]);
            columns.push("a", 1).score("s", Score::new(value)).unwrap();
            columns
        };
        let notes = |first: Value, second: Value, merge: bool| {
            let shards = [shard(first), shard(second)];
            let mut whole = mean().state().unwrap();
            for columns in &shards {
                let mut set = ScoreSet::unreduced(columns, "s").unwrap();
                set.absent = 1;
                if merge {
                    let mut state = mean().state().unwrap();
                    state.update(&set.scores()).unwrap();
                    whole.merge(state).unwrap();
                } else {
                    whole.update(&set.scores()).unwrap();
                }
            }
            match whole.finish().unwrap() {
                MetricValue::Number(figure) => figure.notes,
                _ => unreachable!("a mean is a number"),
            }
        };
        for merge in [false, true] {
            // One right, one half right, two absent: between 1.5/4 and 3.5/4.
            let bounds = notes(1.into(), 0.5.into(), merge);
            assert_eq!((&bounds["absent"], &bounds["worst"]), (&2.into(), &0.375.into()));
            assert_eq!(bounds["best"], 0.875);
            // A score outside [0, 1] in any shard, and nothing is known of the rest.
            for (first, second) in [(2.0, 1.0), (1.0, 2.0), (-1.0, 1.0)] {
                assert!(notes(first.into(), second.into(), merge).is_empty());
                assert!(notes((first as i64).into(), (second as i64).into(), merge).is_empty());
            }
        }
    }
}
