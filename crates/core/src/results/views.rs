//! Which scores each metric of a scorer sees: reduced by each reducer, or every epoch.

use super::block::{self, BlockContext};
use super::reduce::reduce;
use super::{ReducedSamples, Reduction, Results, Warning};
use crate::columns::{SampleIndex, ScoreColumns, ScorerColumn};
use crate::error::{Error, Result};
use crate::metric::{Metric, Wants};
use crate::plan::{Metrics, Plan, Reducers};
use crate::random::Random;
use crate::reducer::Reducer;
use crate::reducers;
use crate::score::Metadata;
use crate::scores::ScoreSet;

/// What all scorers of an evaluation share.
pub(super) struct Shared<'a> {
    pub(super) columns: &'a ScoreColumns,
    pub(super) index: &'a SampleIndex,
    pub(super) random: Random,
}

/// Adds everything about one scorer to the results.
pub(super) fn scorer_results(
    shared: &Shared<'_>,
    plan: &Plan,
    name: &str,
    params: &Metadata,
    metrics: &Metrics,
    results: &mut Results,
) -> Result<()> {
    let Shared { columns, index, random } = shared;
    let absent = ScorerColumn { name: name.to_owned(), ..ScorerColumn::default() };
    let scorer = columns.scorer(name).unwrap_or(&absent);
    let view = View { columns, index, scorer, params, random };

    let unreduced_only = |m: &dyn Metric| m.wants() == Wants::Unreduced;
    let has_unreduced = metrics.iter().any(|m| unreduced_only(m.as_ref()));
    let has_others = metrics.iter().any(|m| !unreduced_only(m.as_ref()));

    if metrics.iter().next().is_none() {
        return Ok(());
    }
    if let Reducers::Disabled = plan.reducers {
        if let Some(metric) = metrics.iter().find(|m| m.wants() == Wants::Reduced) {
            view.refuse_repeats(metric.as_ref())?;
        }
        return view.unreduced(metrics, results);
    }
    if has_others {
        let reduced = metrics.filter(|m| !unreduced_only(m));
        match &plan.reducers {
            Reducers::Explicit(list) => {
                for reducer in list {
                    view.reduced(&reduced, reducer.as_ref(), Some(reducer.log_name()), results)?;
                }
            }
            _ => {
                // Beside unreduced metrics the implied mean is named, or the blocks could not be told apart.
                let named = has_unreduced.then(|| "mean".to_owned());
                view.reduced(&reduced, &reducers::mean(), named, results)?;
            }
        }
    }
    if has_unreduced {
        view.unreduced(&metrics.filter(unreduced_only), results)?;
    }
    Ok(())
}

struct View<'a> {
    columns: &'a ScoreColumns,
    index: &'a SampleIndex,
    scorer: &'a ScorerColumn,
    params: &'a Metadata,
    random: &'a Random,
}

impl View<'_> {
    fn reduced(
        &self,
        metrics: &Metrics,
        reducer: &dyn Reducer,
        name: Option<String>,
        results: &mut Results,
    ) -> Result<()> {
        let mut reduced = reduce(self.columns, self.scorer, self.index, reducer, self.random.clone())?;
        if let Some((count, row)) = reduced.unconvertible {
            results.warnings.push(Warning::Unconvertible {
                scorer: self.scorer.name.clone(),
                key: None,
                reducer: Some(reducer.spec().name),
                count,
                sample: self.columns.id(row).to_owned(),
                example: self.scorer.values.get(row).map(|v| v.describe()).unwrap_or_default(),
            });
        }
        let missing = self.index.len() - reduced.set.values.len();
        reduced.set.absent = missing + reduced.set.values.count_present().1;
        let context = BlockContext {
            reducer: name.clone(),
            missing,
            unconvertible: reduced.unconvertible.map_or(0, |(count, _)| count),
            unreduced: false,
            ..self.context()
        };
        self.blocks(&reduced.set, metrics, &context, results)?;
        let ScoreSet { values, details, sample_rows, .. } = reduced.set;
        results.reductions.push(Reduction {
            scorer: self.scorer.name.clone(),
            reducer: name,
            samples: ReducedSamples {
                rows: sample_rows.unwrap_or_default(),
                values: values.into_owned(),
                details: details.into_owned(),
            },
        });
        Ok(())
    }

    fn unreduced(&self, metrics: &Metrics, results: &mut Results) -> Result<()> {
        let mut set = ScoreSet::of_column(self.columns, self.scorer);
        set.random = self.random.clone();
        self.blocks(&set, metrics, &self.context(), results)
    }

    /// What the blocks of every epoch by itself have in common; those of reduced scores differ in parts.
    fn context(&self) -> BlockContext<'_> {
        let (present, unscored) = self.scorer.values.count_present();
        let missing = self.columns.len() - present;
        BlockContext {
            scorer: &self.scorer.name,
            reducer: None,
            params: self.params,
            missing,
            errored: self.columns.errored(),
            epochs: self.index.max_rows(),
            unreduced: true,
            unscored_epochs: unscored,
            missing_epochs: missing,
            unconvertible: 0,
        }
    }

    fn blocks(
        &self,
        set: &ScoreSet<'_>,
        metrics: &Metrics,
        context: &BlockContext<'_>,
        results: &mut Results,
    ) -> Result<()> {
        block::blocks(set, metrics, context, results)?;
        results.warnings.extend(unconvertible_warnings(set, None));
        Ok(())
    }

    fn refuse_repeats(&self, metric: &dyn Metric) -> Result<()> {
        let mut repeated = None;
        self.index.for_each(|rows| {
            let mut present = rows.iter().filter(|row| self.scorer.values.get(**row as usize).is_some());
            if let (Some(first), Some(_)) = (present.next(), present.next()) {
                repeated.get_or_insert(*first);
            }
        });
        match repeated {
            None => Ok(()),
            Some(row) => Err(Error::NeedsReduction {
                metric: metric.spec().log_name().into_owned(),
                sample: self.columns.id(row as usize).to_owned(),
            }),
        }
    }
}

/// A warning for each conversion that met values without a meaning as a number.
pub(super) fn unconvertible_warnings(set: &ScoreSet<'_>, key: Option<&str>) -> Vec<Warning> {
    let warning = |(count, row): (usize, usize)| Warning::Unconvertible {
        scorer: set.scorer.to_owned(),
        key: key.map(str::to_owned),
        reducer: None,
        count,
        sample: set.columns.id(set.sample_row(row)).to_owned(),
        example: set.values.get(row).map(|v| v.describe()).unwrap_or_default(),
    };
    set.unconvertible().into_iter().map(warning).collect()
}
