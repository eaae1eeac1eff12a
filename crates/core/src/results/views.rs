//! Which scores each metric of a scorer sees: reduced by each reducer, or every epoch.

use std::borrow::Cow;
use std::collections::HashSet;

use super::block::{self, BlockVisitor, ViewContext};
use super::epochs::{epoch_info, samples_by_epochs};
use crate::columns::{SampleIndex, ScoreColumns, ScorerColumn, ScorerEpochs};
use crate::error::{Error, Result};
use crate::error_plan::{ErrorMethod, ErrorPlan, Estimation};
use crate::evaluation::{Counts, Evaluation, ReducedSamples, Reduction, Results, Warning};
use crate::inputs::Wants;
use crate::metadata::Metadata;
use crate::metric::{Metric, Metrics};
use crate::order::Order;
use crate::plan::{Plan, Reducers};
use crate::random::Random;
use crate::reducer::Reducer;
use crate::reducers::mean;
use crate::scores::{ScoreSet, home, reduce};

/// What all scorers of an evaluation share.
pub(super) struct EvaluationInput<'a> {
    pub(super) columns: &'a ScoreColumns,
    pub(super) index: &'a SampleIndex,
    pub(super) random: Random,
    pub(super) order: Order,
    /// Gets the scores in place of the metrics.
    pub(super) visitor: Option<&'a BlockVisitor<'a>>,
}

/// The metrics of a scorer that are computed for it: one that names all its raters is computed for one scorer only.
pub(super) fn metrics_of<'m>(
    name: &str,
    metrics: &'m Metrics,
    scorers: &[(&str, &Metadata, &Metrics)],
    columns: &ScoreColumns,
) -> Cow<'m, Metrics> {
    let is_here = |metric: &dyn Metric| {
        let raters = metric.raters();
        // No rater is compared with itself.
        let is_rater = || raters.scorers().any(|rater| rater == name);
        if raters.names.is_empty() || !raters.are_all && !is_rater() {
            return true;
        }
        let spec = metric.spec();
        let has = |metrics: &Metrics| metrics.iter().any(|other| other.spec() == spec);
        let with: Vec<&str> =
            scorers.iter().filter(|(_, _, metrics)| has(metrics)).map(|(name, _, _)| *name).collect();
        match raters.are_all {
            true => home(&raters, &with, columns) == Some(name),
            // Where no other scorer has the metric, it fails with the reason.
            false => with == [name],
        }
    };
    if metrics.iter().all(|metric| is_here(metric.as_ref())) {
        return Cow::Borrowed(metrics);
    }
    Cow::Owned(metrics.filter(|metric| is_here(metric.as_ref())))
}

/// Adds everything about one scorer to the results.
pub(super) fn scorer_results(
    shared: &EvaluationInput<'_>,
    plan: &Plan,
    name: &str,
    params: &Metadata,
    metrics: &Metrics,
    evaluation: &mut Evaluation,
) -> Result<()> {
    let reducers = plan.reducers_of(name);
    let mut whole = WholeScorer {
        has_unreduced: metrics.iter().any(|metric| metric.wants() == Wants::Unreduced),
        errors: effective_errors(&plan.errors, metrics),
    };
    if let Some(labels) = shared.columns.labels() {
        // The mean of one epoch is that epoch, but it would make a number of it.
        let of_labels_by = match reducers {
            Reducers::Implicit if !shared.index.has_repeats() => &Reducers::Disabled,
            reducers => reducers,
        };
        let reads_labels = |metric: &dyn Metric| metric.reads_labels() && keeps_labels(metric, of_labels_by);
        let of_labels = metrics.filter(|metric| reads_labels(metric));
        let others = metrics.filter(|metric| !reads_labels(metric));
        whole.has_unreduced |=
            matches!(of_labels_by, Reducers::Disabled) && of_labels.iter().next().is_some();
        view_results(shared, reducers, name, params, &others, &whole, evaluation)?;
        let shared = EvaluationInput {
            columns: labels,
            index: shared.index,
            random: shared.random.clone(),
            order: shared.order,
            visitor: shared.visitor,
        };
        return view_results(&shared, of_labels_by, name, params, &of_labels, &whole, evaluation);
    }
    view_results(shared, reducers, name, params, metrics, &whole, evaluation)
}

/// Whether labels are still labels where a metric sees them: unreduced, or by reducers that make no numbers of them.
fn keeps_labels(metric: &dyn Metric, reducers: &Reducers) -> bool {
    metric.wants() == Wants::Unreduced
        || match reducers {
            Reducers::Disabled => true,
            Reducers::Explicit(reducers) => {
                let converts =
                    |reducer: &dyn Reducer| reducer.by_epoch().is_none_or(|by| by.conversion().is_some());
                !reducers.iter().any(|reducer| converts(reducer.as_ref()))
            }
            _ => false,
        }
}

/// What all metrics of a scorer have in common, those of labels included.
struct WholeScorer {
    /// Whether some metric sees every epoch.
    has_unreduced: bool,
    /// How errors are computed, and whether a metric implies their clusters.
    errors: (ErrorPlan, bool),
}

/// Adds what is computed of one scorer from these columns.
fn view_results(
    shared: &EvaluationInput<'_>,
    reducers: &Reducers,
    name: &str,
    params: &Metadata,
    metrics: &Metrics,
    whole: &WholeScorer,
    evaluation: &mut Evaluation,
) -> Result<()> {
    let EvaluationInput { columns, index, random, order, visitor } = shared;
    let absent = ScorerColumn { name: name.to_owned(), ..ScorerColumn::default() };
    let scorer = columns.scorer(name).unwrap_or(&absent);
    let (errors, implied_cluster) = whole.errors.clone();
    let by_sample = index.has_repeats();
    let random = random.clone();
    let estimation =
        Estimation { errors, by_sample, value_only: false, implied_cluster, order: *order, random };
    let view = View { columns, index, scorer, params, estimation, visitor: *visitor };

    let unreduced_only = |m: &dyn Metric| m.wants() == Wants::Unreduced;
    let has_others = metrics.iter().any(|m| !unreduced_only(m.as_ref()));

    if metrics.iter().next().is_none() {
        return Ok(());
    }
    if let Reducers::Disabled = reducers {
        if let Some(metric) = metrics.iter().find(|m| m.wants() == Wants::Reduced) {
            view.refuse_repeats(metric.as_ref())?;
        }
        return view.unreduced(metrics, evaluation);
    }
    if has_others {
        let reduced = metrics.filter(|m| !unreduced_only(m.as_ref()));
        match reducers {
            Reducers::Explicit(list) => {
                for reducer in list {
                    view.reduced(&reduced, reducer.as_ref(), Some(reducer.log_name()), evaluation)?;
                }
            }
            _ => {
                // Beside unreduced metrics the implied mean is named, or the blocks would have the same name.
                let named = whole.has_unreduced.then(|| "mean".to_owned());
                view.reduced(&reduced, &mean(), named, evaluation)?;
            }
        }
    }
    if metrics.iter().any(|m| unreduced_only(m.as_ref())) {
        view.unreduced(&metrics.filter(|m| unreduced_only(m.as_ref())), evaluation)?;
    }
    Ok(())
}

/// How errors are computed: as in the plan; if it leaves clusters open, by those of the first metric that has any.
fn effective_errors(errors: &ErrorPlan, metrics: &Metrics) -> (ErrorPlan, bool) {
    let implied = metrics.iter().find_map(|metric| metric.cluster().map(str::to_owned));
    let is_open = errors.cluster.is_empty() && errors.method != Some(ErrorMethod::Iid);
    match implied.filter(|_| is_open) {
        Some(key) => (errors.clone().cluster(key), true),
        None => (errors.clone(), false),
    }
}

struct View<'a> {
    columns: &'a ScoreColumns,
    index: &'a SampleIndex,
    scorer: &'a ScorerColumn,
    params: &'a Metadata,
    estimation: Estimation,
    visitor: Option<&'a BlockVisitor<'a>>,
}

impl View<'_> {
    fn reduced(
        &self,
        metrics: &Metrics,
        reducer: &dyn Reducer,
        name: Option<String>,
        evaluation: &mut Evaluation,
    ) -> Result<()> {
        let mut estimation = Estimation { by_sample: false, ..self.estimation.clone() };
        let by_epoch = reducer.by_epoch();
        if by_epoch.is_some_and(|reducer| reducer.is_probability()) {
            // The range is that of the scores, which the reduced ones are no longer.
            estimation.errors.range = None;
        }
        let mut reduced = reduce(self.columns, self.scorer, self.index, reducer, estimation)?;
        reduced.set.raters.reduced = Some((self.index, reducer));
        let results = &mut evaluation.results;
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
        reduced.set.epochs = epoch_info(&reduced.set, None);
        let missing = self.index.len() - reduced.set.values.len();
        if missing + reduced.set.values.count_present().1 > 0 {
            reduced.set.absent = self.absent_samples(&reduced.set);
        }
        let common = self.context();
        if let [(fewest, _), .., (most, _)] = common.counts.samples_by_epochs.as_slice()
            && by_epoch.is_some_and(|reducer| reducer.depends_on_epochs())
        {
            results.warnings.push(Warning::UnequalEpochs {
                scorer: self.scorer.name.clone(),
                reducer: reducer.log_name(),
                fewest: *fewest,
                most: *most,
            });
        }
        let unconvertible = reduced.unconvertible.map_or(0, |(count, _)| count);
        let counts = Counts { missing, unconvertible, ..common.counts };
        let context = ViewContext {
            reducer: name.clone(),
            unreduced: false,
            keeps_expectation: reducer.keeps_expectation(),
            counts,
            ..common
        };
        self.score_results(&reduced.set, metrics, &context, results)?;
        let ScoreSet { values, details, sample_rows, .. } = reduced.set;
        evaluation.reductions.push(Reduction {
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

    /// The first rows of the samples that have no score after reduction.
    fn absent_samples(&self, reduced: &ScoreSet<'_>) -> Vec<u32> {
        let unscored = (0..reduced.values.len()).filter(|at| reduced.values.is_scored(*at) != Some(true));
        // By the first row that has an entry: samples with gaps are not in the order of the index.
        let unscored: HashSet<u32> = unscored.map(|at| reduced.sample_row(at) as u32).collect();
        let mut absent = Vec::new();
        self.index.for_each(|rows| {
            let mut present =
                rows.iter().filter(|row| self.scorer.values.is_scored(**row as usize).is_some());
            if present.next().is_none_or(|first| unscored.contains(first)) {
                absent.extend(rows.first());
            }
        });
        absent
    }

    fn unreduced(&self, metrics: &Metrics, evaluation: &mut Evaluation) -> Result<()> {
        let mut set = ScoreSet::of_column(self.columns, self.scorer);
        set.estimation = self.estimation.clone();
        self.score_results(&set, metrics, &self.context(), &mut evaluation.results)
    }

    /// What the results of every epoch by itself have in common; those of reduced scores differ in parts.
    fn context(&self) -> ViewContext<'_> {
        let (present, unscored) = self.scorer.values.count_present();
        let epochs = ScorerEpochs::of(self.columns, self.scorer);
        let missing = self.columns.len() - present - epochs.foreign_rows(self.columns);
        ViewContext {
            visitor: self.visitor,
            scorer: &self.scorer.name,
            reducer: None,
            params: self.params,
            unreduced: true,
            keeps_expectation: true,
            picks_option: self.scorer.picks_option,
            cluster: self.estimation.errors.cluster.clone(),
            counts: Counts {
                missing,
                errored: self.columns.errored(),
                epochs: epochs.most(self.columns, self.index),
                samples_by_epochs: samples_by_epochs(self.scorer, self.index),
                unscored_epochs: unscored,
                missing_epochs: missing,
                reasons: self.scorer.details.reasons(),
                ..Counts::default()
            },
        }
    }

    fn score_results(
        &self,
        set: &ScoreSet<'_>,
        metrics: &Metrics,
        context: &ViewContext<'_>,
        results: &mut Results,
    ) -> Result<()> {
        block::score_results(set, metrics, context, results)?;
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
