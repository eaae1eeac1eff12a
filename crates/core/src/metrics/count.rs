//! `count`: the number of scores.

use super::descriptive::{DescribedState, DescriptiveFigure};
use crate::error::Result;
use crate::error_plan::Estimation;
use crate::evaluation::MetricValue;
use crate::inputs::{MetadataKeys, ScoreParts};
use crate::metric::{Metric, MetricState, compute_by_state};
use crate::registry::Params;
use crate::scores::Scores;

/// The number of scores; unscored samples do not count. It has no error.
///
/// # Formula
/// ```text
/// n
/// ```
///
/// # When
/// Counts beside other figures, as of groups: `grouped(count(), "subject")`.
///
/// # Example
/// ```console
/// $ printf '%s\n' id,subject,score 1,law,C 2,law,I 3,law,C 4,art,C 5,art,C 6,art,I > exam.csv
/// $ errorbar score exam.csv --metric 'grouped(count(), "subject")'
/// exam.csv · 6 rows
///
/// score · 6 scored
///   count by subject  n 3 each · no error: a count of these scores, not an estimate
///     law  3
///     art  3
///     all  6  no error: a count of these scores, not an estimate
/// ```
///
/// # See also
/// `sum`, `frequency`
///
/// # Source
/// Defined by errorbar; inspect_ai has no such metric.
#[derive(Clone, Debug, Default, Params)]
#[params(crate = crate, name = "count")]
pub struct CountScores;

impl Metric for CountScores {
    fn metadata_keys(&self) -> MetadataKeys {
        MetadataKeys::NONE
    }

    fn depends_on_ids(&self, _: bool) -> bool {
        false
    }

    fn score_parts(&self) -> ScoreParts {
        ScoreParts::Value
    }

    fn resample_cost(&self) -> u64 {
        1
    }

    fn compute(&self, scores: &Scores<'_>) -> Result<MetricValue> {
        compute_by_state(DescribedState::new(Self::NAME, DescriptiveFigure::Count, None), scores)
    }

    fn state(&self, _: &Estimation) -> Option<Box<dyn MetricState>> {
        Some(Box::new(DescribedState::new(Self::NAME, DescriptiveFigure::Count, None)))
    }
}
