//! Which scores each metric of a scorer sees: reduced by each reducer, or every epoch.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};

use rayon::prelude::*;

use super::block::{self, BlockVisitor, ViewContext};
use crate::columns::{Floats, SampleIndex, ScoreColumns, ScorerColumn, ScorerEpochs};
use crate::error::{Error, Result};
use crate::error_plan::{ErrorMethod, ErrorPlan, Estimation};
use crate::evaluation::{Counts, Evaluation, Reduction, Results, ScoreResult, Warning};
use crate::inputs::Wants;
use crate::metadata::Metadata;
use crate::metric::{Metric, Metrics};
use crate::naming::Order;
use crate::plan::{Plan, Reducers};
use crate::random::Random;
use crate::reducer::{EpochReducer, EpochValues, ReducedValue, Reducer};
use crate::reducers::mean;
use crate::scores::{EpochInfo, ScoreSet, home, reduce};
use crate::value::{Conversion, LeafRef, ValueRef};

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
    let mut has_unreduced = metrics.iter().any(|metric| metric.wants() == Wants::Unreduced);
    let (errors, implied_cluster) = effective_errors(&plan.errors, metrics);
    let EvaluationInput { columns, index, ref random, order, visitor } = *shared;
    let (random, by_sample) = (random.clone(), index.has_repeats());
    let estimation = Estimation { errors, by_sample, value_only: false, implied_cluster, order, random };
    let absent = ScorerColumn { name: name.to_owned(), ..ScorerColumn::default() };
    let view_of = |columns| {
        let scorer = ScoreColumns::scorer(columns, name).unwrap_or(&absent);
        View { columns, index, scorer, params, estimation: estimation.clone(), visitor }
    };
    if let Some(labels) = columns.labels() {
        // The mean of one epoch is that epoch, but it would make a number of it.
        let of_labels_by = match reducers {
            Reducers::Implicit if !by_sample => &Reducers::Disabled,
            reducers => reducers,
        };
        let reads_labels = |metric: &dyn Metric| metric.reads_labels() && keeps_labels(metric, of_labels_by);
        let of_labels = metrics.filter(|metric| reads_labels(metric));
        let others = metrics.filter(|metric| !reads_labels(metric));
        has_unreduced |= matches!(of_labels_by, Reducers::Disabled) && of_labels.iter().next().is_some();
        view_of(columns).results(reducers, &others, has_unreduced, evaluation)?;
        return view_of(labels).results(of_labels_by, &of_labels, has_unreduced, evaluation);
    }
    view_of(columns).results(reducers, metrics, has_unreduced, evaluation)
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
    /// Adds what is computed of the scorer from these columns. `has_unreduced` is whether some metric of it sees every epoch.
    fn results(
        &self,
        reducers: &Reducers,
        metrics: &Metrics,
        has_unreduced: bool,
        evaluation: &mut Evaluation,
    ) -> Result<()> {
        let unreduced_only = |m: &dyn Metric| m.wants() == Wants::Unreduced;
        if metrics.iter().next().is_none() {
            return Ok(());
        }
        if let Reducers::Disabled = reducers {
            if let Some(metric) = metrics.iter().find(|m| m.wants() == Wants::Reduced) {
                self.refuse_repeats(metric.as_ref())?;
            }
            return self.unreduced(metrics, evaluation);
        }
        let reduced = metrics.filter(|m| !unreduced_only(m.as_ref()));
        if reduced.iter().next().is_some() {
            match reducers {
                Reducers::Explicit(list) => {
                    for reducer in list {
                        self.reduced(&reduced, reducer.as_ref(), Some(reducer.log_name()), evaluation)?;
                    }
                }
                _ => {
                    // Beside unreduced metrics the implied mean is named, or the blocks would have the same name.
                    let named = has_unreduced.then(|| "mean".to_owned());
                    self.reduced(&reduced, &mean(), named, evaluation)?;
                }
            }
        }
        let unreduced = metrics.filter(|m| unreduced_only(m.as_ref()));
        if unreduced.iter().next().is_some() {
            self.unreduced(&unreduced, evaluation)?;
        }
        Ok(())
    }

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
        let mut context = self.context();
        if let [(fewest, _), .., (most, _)] = context.template.counts.samples_by_epochs.as_slice()
            && by_epoch.is_some_and(|reducer| reducer.depends_on_epochs())
        {
            results.warnings.push(Warning::UnequalEpochs {
                scorer: self.scorer.name.clone(),
                reducer: reducer.log_name(),
                fewest: *fewest,
                most: *most,
            });
        }
        let result = &mut context.template;
        (result.reducer, result.unreduced) = (name.clone(), false);
        result.keeps_expectation = reducer.keeps_expectation();
        result.counts.missing = missing;
        result.counts.unconvertible = reduced.unconvertible.map_or(0, |(count, _)| count);
        self.score_results(&reduced.set, metrics, &context, results)?;
        let ScoreSet { values, details, sample_rows, .. } = reduced.set;
        evaluation.reductions.push(Reduction {
            scorer: self.scorer.name.clone(),
            reducer: name,
            rows: sample_rows,
            values: values.into_owned(),
            details: details.into_owned(),
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
        let counts = Counts {
            missing,
            errored: self.columns.errored(),
            epochs: epochs.most(self.columns, self.index),
            samples_by_epochs: samples_by_epochs(self.scorer, self.index),
            unscored_epochs: unscored,
            missing_epochs: missing,
            reasons: self.scorer.details.reasons(),
            ..Counts::default()
        };
        let template = ScoreResult {
            scorer: self.scorer.name.clone(),
            params: self.params.clone(),
            unreduced: true,
            keeps_expectation: true,
            picks_option: self.scorer.picks_option,
            cluster: self.estimation.errors.cluster.clone(),
            counts,
            ..ScoreResult::default()
        };
        ViewContext { visitor: self.visitor, template }
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
            Some(row) => {
                let (metric, sample) = (metric.spec(), self.columns.id(row as usize));
                let metric = metric.log_name();
                Err(Error::custom(format!(
                    "{metric} needs one score per sample, but reduction is disabled and sample {sample:?} has several epochs; name a reducer"
                )))
            }
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

// What the epochs behind reduced scores say about them.

/// Samples that a thread takes at once.
const PART: usize = 1 << 13;

/// What the epochs behind reduced scores, or behind a field of them, say; none if there is nothing to say.
pub(super) fn epoch_info(set: &ScoreSet<'_>, field: Option<&str>) -> Option<EpochInfo> {
    let (index, reducer) = set.raters.reduced?;
    let (reducer, scorer) = (reducer.by_epoch()?, set.columns.scorer(set.scorer)?);
    let has_variance = reducer.variance_of_epochs(&[0.0, 1.0]).is_some();
    let has_gaps = !scorer.values.is_all_scored() || scorer.values.len() < index.rows() || field.is_some();
    if !index.has_repeats() || !has_variance && !has_gaps {
        return None;
    }
    let epochs = RawEpochs::new(scorer, field, reducer.conversion()?)?;
    let own = ScorerEpochs::of(set.columns, scorer);
    let is_own = |row: &u32| own.contains(set.columns.epoch(*row as usize));
    let parts: Vec<PartInfo> = (0..index.len().div_ceil(PART))
        .into_par_iter()
        .map(|part| epochs.part(reducer, index, part * PART..index.len().min((part + 1) * PART), &is_own))
        .collect();
    let mut info = EpochInfo::default();
    if has_variance {
        info.variances = vec![None; set.columns.len()];
    }
    let (mut least, mut greatest) = (f64::INFINITY, f64::NEG_INFINITY);
    let mut gaps = Vec::new();
    for part in parts {
        for (row, variance) in part.variances {
            if let Some(slot) = info.variances.get_mut(row as usize) {
                *slot = Some(variance);
            }
        }
        (least, greatest) = (least.min(part.least), greatest.max(part.greatest));
        gaps.extend(part.gaps);
    }
    if let Some((low, high)) = range(&set.estimation.errors, reducer, least, greatest) {
        info.gaps = gaps.iter().filter_map(|gap| gap.filled(reducer, low, high)).collect();
    }
    Some(info)
}

/// The lowest and the highest score that an absent epoch may have, if they are known: those of the range of the plan, or 0
/// and 1, if all scores are within. An epoch that fails or succeeds does so in any range.
fn range(errors: &ErrorPlan, reducer: &dyn EpochReducer, least: f64, greatest: f64) -> Option<(f64, f64)> {
    if reducer.is_probability() {
        return Some((f64::NEG_INFINITY, f64::INFINITY));
    }
    errors.range_of(least, greatest)
}

/// How many samples have how many scored epochs, by the number of epochs; empty if all have the same number. Samples
/// without any do not count.
pub(super) fn samples_by_epochs(scorer: &ScorerColumn, index: &SampleIndex) -> Vec<(usize, usize)> {
    if !index.has_repeats() {
        return Vec::new();
    }
    let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
    index.for_each(|rows| {
        let scored = rows.iter().filter(|row| scorer.values.is_scored(**row as usize) == Some(true)).count();
        *counts.entry(scored).or_default() += 1;
    });
    counts.remove(&0);
    if counts.len() > 1 { counts.into_iter().collect() } else { Vec::new() }
}

/// The scores of all epochs as numbers.
enum RawEpochs<'a> {
    Converted(&'a ScorerColumn, Floats),
    Field(&'a ScorerColumn, &'a str, &'a Conversion),
}

impl<'a> RawEpochs<'a> {
    fn new(scorer: &'a ScorerColumn, field: Option<&'a str>, conversion: &'a Conversion) -> Option<Self> {
        if let Some(field) = field {
            return Some(RawEpochs::Field(scorer, field, conversion));
        }
        scorer.values.is_flat().then(|| RawEpochs::Converted(scorer, scorer.values.convert(conversion)))
    }

    /// The score of a row, if it has one.
    fn number(&self, row: u32) -> Option<f64> {
        let row = row as usize;
        let is_scored = |scorer: &ScorerColumn| scorer.values.is_scored(row) == Some(true);
        match self {
            RawEpochs::Converted(scorer, floats) => {
                floats.values.get(row).copied().filter(|_| is_scored(scorer))
            }
            RawEpochs::Field(scorer, field, conversion) => match scorer.values.get(row)? {
                ValueRef::Map(map) => match map.get(*field)?.view() {
                    LeafRef::Unscored => None,
                    leaf => Some(conversion.convert_leaf(leaf).value),
                },
                _ => None,
            },
        }
    }

    fn is_present(&self, row: u32) -> bool {
        let (RawEpochs::Converted(scorer, _) | RawEpochs::Field(scorer, ..)) = self;
        scorer.values.is_scored(row as usize).is_some()
    }

    fn part(
        &self,
        reducer: &dyn EpochReducer,
        index: &SampleIndex,
        samples: std::ops::Range<usize>,
        is_own: &(impl Fn(&u32) -> bool + Sync),
    ) -> PartInfo {
        let mut part = PartInfo {
            variances: Vec::with_capacity(samples.len()),
            gaps: Vec::new(),
            least: f64::INFINITY,
            greatest: f64::NEG_INFINITY,
        };
        let mut scored: Vec<f64> = Vec::new();
        index.for_each_of(samples, |rows| {
            let Some(first) = rows.iter().copied().find(|row| self.is_present(*row)) else { return };
            scored.clear();
            scored.extend(rows.iter().filter_map(|row| self.number(*row)));
            for score in &scored {
                (part.least, part.greatest) = (part.least.min(*score), part.greatest.max(*score));
            }
            if let Some(variance) =
                reducer.variance_of_epochs(&scored).filter(|variance| variance.is_finite())
            {
                part.variances.push((first, (variance, variance * scored.len() as f64)));
            }
            let absent = rows.iter().copied().filter(is_own).count() - scored.len();
            if absent > 0 && !scored.is_empty() {
                part.gaps.push(EpochGap { row: first, scored: scored.clone(), absent });
            }
        });
        part
    }
}

/// What some samples say.
struct PartInfo {
    variances: Vec<(u32, (f64, f64))>,
    gaps: Vec<EpochGap>,
    least: f64,
    greatest: f64,
}

/// A sample of whose epochs some have no score.
struct EpochGap {
    row: u32,
    scored: Vec<f64>,
    absent: usize,
}

impl EpochGap {
    /// The reduced score if the absent epochs had the lowest score, the highest, or 0.
    fn filled(&self, reducer: &dyn EpochReducer, low: f64, high: f64) -> Option<(u32, [f64; 3])> {
        let filled = |score: f64| {
            let mut floats = self.scored.clone();
            floats.resize(self.scored.len() + self.absent, score);
            let leaves: Vec<LeafRef<'_>> = floats.iter().map(|float| LeafRef::Float(*float)).collect();
            match reducer.reduce_epochs(&EpochValues::of_leaves(&leaves, &floats)) {
                ReducedValue::Leaf(leaf) => leaf.view().number().filter(|number| number.is_finite()),
                ReducedValue::List(_) => None,
            }
        };
        Some((self.row, [filled(low)?, filled(high)?, filled(0.0)?]))
    }
}

#[cfg(test)]
mod tests {
    use crate::metrics::{accuracy, bootstrap, grouped, mean};
    use crate::reducers::{at_least, best_of, max, pass_at};
    use crate::{Bounds, ErrorPlan, Estimate, Plan, Score, ScoreColumns, Value, Warning, metrics, reducers};

    /// Rows of sample, epoch, group and score; `None` for a sample that the scorer has no entry for.
    fn columns(rows: &[(&str, u32, &str, Option<Value>)]) -> ScoreColumns {
        let mut columns = ScoreColumns::new(["s"]);
        for (id, epoch, group, value) in rows {
            let mut row = columns.push(*id, *epoch).metadata("g", *group);
            if let Some(value) = value {
                row = row.score("s", Score::new(value.clone())).unwrap();
            }
            let _ = row;
        }
        columns
    }

    fn close(got: Option<f64>, want: f64) {
        assert!((got.unwrap() - want).abs() < 1e-15, "{got:?} {want}");
    }

    fn close_bounds(estimate: &Estimate, worst: f64, best: f64, wrong: f64) {
        let bounds = estimate.bounds.unwrap();
        close(Some(bounds.worst), worst);
        close(Some(bounds.best), best);
        close(Some(bounds.absent_as_wrong), wrong);
    }

    fn one(value: f64) -> Option<Value> {
        Some(Value::Float(value))
    }

    #[test]
    fn a_mean_of_epochs_has_the_error_for_the_same_samples() {
        let scores = [[1., 1., 0.], [0., 0., 1.], [1., 1., 1.], [0., 0., 0.]];
        let mut rows = Vec::new();
        for (id, epochs) in ["a", "b", "c", "d"].into_iter().zip(scores) {
            rows.extend(epochs.into_iter().enumerate().map(|(at, x)| (id, at as u32 + 1, "x", one(x))));
        }
        let columns = columns(&rows);
        let plan =
            Plan::new().metrics(metrics![mean(), grouped(mean(), "g").all(crate::metrics::All::Groups)]);
        let results = plan.evaluate(&columns).unwrap().results;
        let estimate = results.estimate("mean").unwrap();
        close(estimate.stderr(), 0.21516574145596762);
        close(estimate.notes.stderr_fixed, 0.11785113019775792);
        // One group is all there is.
        let grouped = results.scores[0].metrics[1].value.clone();
        close(grouped.get("x").unwrap().notes.stderr_fixed, 0.11785113019775792);
        close(grouped.get("all").unwrap().notes.stderr_fixed, 0.11785113019775792);
        let reduced = plan.reducers(reducers![pass_at(2)]).evaluate(&columns).unwrap().results;
        assert_eq!(reduced.estimate("mean").unwrap().notes.stderr_fixed, None, "known of means only");
    }

    #[test]
    fn epochs_without_a_score_are_in_the_bounds() {
        let rows = [
            ("a", 1, "x", one(1.0)),
            ("a", 2, "x", Some(Value::Unscored)),
            ("b", 1, "x", one(1.0)),
            ("b", 2, "x", one(0.0)),
            ("c", 1, "y", None),
            ("c", 2, "y", None),
            ("d", 1, "y", one(0.5)),
            ("d", 2, "y", None),
        ];
        let columns = columns(&rows);
        let of = |reducers: crate::Reducers| {
            let plan = Plan::new().metrics(metrics![accuracy()]).reducers(reducers);
            plan.evaluate(&columns).unwrap().results.estimate("accuracy").unwrap()
        };
        let estimate = of(reducers![crate::reducers::mean()]);
        // a is (1 + x)/2, b 0.5, c x, d (0.5 + x)/2.
        close(estimate.number(), (1.0 + 0.5 + 0.5) / 3.0);
        close_bounds(&estimate, (0.5 + 0.5 + 0.25) / 4.0, (1.0 + 0.5 + 1.0 + 0.75) / 4.0, 1.25 / 4.0);
        assert_eq!((estimate.absent, estimate.notes.partly_absent), (1, Some(2)));
        // a is 1, b 1 − C(1,1)/C(2,1), c x, d half of x.
        let estimate = of(reducers![pass_at(1)]);
        close_bounds(&estimate, (0.5 + 0.5) / 4.0, (1.0 + 0.5 + 1.0 + 0.5) / 4.0, 1.0 / 4.0);
        let estimate = of(reducers![best_of(1)]);
        close_bounds(&estimate, 1.25 / 4.0, 3.25 / 4.0, 1.25 / 4.0);
    }

    #[test]
    fn a_bootstrap_has_the_bounds_of_its_metric() {
        let rows = [
            ("a", 1, "x", one(1.0)),
            ("a", 2, "x", None),
            ("b", 1, "x", one(1.0)),
            ("b", 2, "x", one(0.0)),
            ("c", 1, "y", None),
            ("d", 1, "y", one(0.5)),
            ("d", 2, "y", one(1.0)),
        ];
        let by_group = || grouped(accuracy(), "g");
        let plan = Plan::new().metrics(metrics![
            accuracy(),
            bootstrap(accuracy()).num_samples(200_usize),
            by_group(),
            bootstrap(by_group()).num_samples(200_usize)
        ]);
        let results = plan.evaluate(&columns(&rows)).unwrap().results;
        let of = |at: usize| results.scores[0].metrics[at].value.clone();
        let (plain, resampled) = (of(0), of(1));
        let (plain, resampled) = (plain.estimate().unwrap(), resampled.estimate().unwrap());
        assert_eq!((resampled.bounds, resampled.notes.partly_absent), (plain.bounds, Some(1)));
        let (plain, resampled) = (of(2), of(3));
        for group in ["x", "y", "all"] {
            let (plain, resampled) = (plain.get(group).unwrap(), resampled.get(group).unwrap());
            assert!(plain.bounds.is_some());
            assert_eq!(resampled.bounds, plain.bounds, "{group}");
            assert_eq!(resampled.notes.partly_absent, plain.notes.partly_absent, "{group}");
        }
    }

    #[test]
    fn the_range_of_the_scores_is_that_of_the_plan() {
        let rows =
            [("a", 1, "x", one(1.0)), ("a", 2, "x", None), ("b", 1, "x", one(5.0)), ("b", 2, "x", one(3.0))];
        let columns = columns(&rows);
        let of = |range: Option<(f64, f64)>| {
            let errors = ErrorPlan { range, ..ErrorPlan::default() };
            let plan = Plan::new().metrics(metrics![mean()]).errors(errors);
            plan.evaluate(&columns).unwrap().results.estimate("mean").unwrap()
        };
        assert_eq!(of(None).bounds, None, "5 is beyond 1, and nothing is known");
        close_bounds(&of(Some((1.0, 5.0))), (1.0 + 4.0) / 2.0, (3.0 + 4.0) / 2.0, (0.5 + 4.0) / 2.0);
        assert_eq!(of(Some((0.0, 2.0))).bounds, None, "5 is beyond that range");
        // What is reduced to a probability lies within 0 and 1, whatever the range of the scores.
        let errors = ErrorPlan { range: Some((1.0, 5.0)), ..ErrorPlan::default() };
        let plan =
            Plan::new().metrics(metrics![mean()]).errors(errors).reducers(reducers![pass_at(1).value(4.0)]);
        let estimate = plan.evaluate(&columns).unwrap().results.estimate("mean").unwrap();
        assert_eq!(estimate.interval.unwrap().method, crate::IntervalMethod::Wilson);
    }

    #[test]
    fn absent_epochs_may_fail_or_succeed_in_any_range() {
        let rows = |samples: &[[Option<Value>; 3]]| {
            let mut rows = Vec::new();
            for (id, epochs) in ["a", "b", "c"].into_iter().zip(samples) {
                rows.extend(epochs.iter().enumerate().map(|(at, x)| (id, at as u32 + 1, "x", x.clone())));
            }
            columns(&rows)
        };
        let of = |columns: &ScoreColumns, range: (f64, f64), reducers: crate::Reducers| {
            let errors = ErrorPlan { range: Some(range), ..ErrorPlan::default() };
            let plan = Plan::new().metrics(metrics![mean()]).errors(errors).reducers(reducers);
            plan.evaluate(columns).unwrap().results.estimate("mean").unwrap()
        };
        let negative =
            rows(&[[one(0.0), one(-0.5), None], [one(0.0), one(0.0), one(1.0)], [None, None, None]]);
        let estimate = of(&negative, (-1.0, 2.0), reducers![pass_at(2)]);
        // One success of three is among two of them with 2/3; c is anything.
        close_bounds(&estimate, 2.0 / 9.0, 7.0 / 9.0, 2.0 / 9.0);
        assert_eq!(estimate.notes.partly_absent, Some(1));
        close_bounds(&of(&negative, (-1.0, 2.0), reducers![at_least(1)]), 1.0 / 3.0, 1.0, 1.0 / 3.0);
        let wide = rows(&[[one(0.0), one(1.0), None], [one(0.0), one(1.0), one(1.0)]]);
        let estimate = of(&wide, (0.0, 10.0), reducers![pass_at(2).value(5.0)]);
        close_bounds(&estimate, 0.0, 1.0 / 3.0, 0.0);
    }

    #[test]
    fn groups_and_their_mean_have_bounds() {
        let rows = [
            ("a", 1, "x", one(1.0)),
            ("b", 1, "x", None),
            ("c", 1, "y", one(1.0)),
            ("d", 1, "z", Some(Value::Unscored)),
        ];
        let plan = Plan::new().metrics(metrics![grouped(mean(), "g").all(crate::metrics::All::Groups)]);
        let results = plan.evaluate(&columns(&rows)).unwrap().results;
        let value = results.scores[0].metrics[0].value.clone();
        assert_eq!(value.get("x").unwrap().bounds, Some(Bounds::new(0.5, 1.0, 0.5)));
        assert_eq!(value.get("y").unwrap().bounds, None);
        // x between 0.5 and 1, y 1, z anything.
        let all = value.get("all").unwrap();
        close(all.number(), 1.0);
        close_bounds(all, 0.5, 1.0, 0.5);
        assert_eq!(all.absent, 2);
    }

    #[test]
    fn fields_of_maps_have_bounds_and_errors_too() {
        let map = |a: f64| Some(Value::map([("a", crate::Leaf::from(a))]));
        let rows = [
            ("p", 1, "x", map(1.0)),
            ("p", 2, "x", map(f64::NAN)),
            ("q", 1, "x", map(1.0)),
            ("q", 2, "x", map(0.0)),
        ];
        let metrics = metrics![{"a": [mean()]}];
        let results = Plan::new().metrics(metrics).evaluate(&columns(&rows)).unwrap().results;
        let estimate = results.estimate("s/a/mean").unwrap();
        close_bounds(&estimate, 0.5, 0.75, 0.5);
        // q alone has two epochs: its variance of 1/2 stands for p too, which has one.
        close(estimate.notes.stderr_fixed, (0.5_f64 / 2.0 + 0.5).sqrt() / 2.0);
    }

    #[test]
    fn unequal_epochs_are_counted_and_warned_of() {
        let rows =
            [("a", 1, "x", one(1.0)), ("a", 2, "x", one(0.0)), ("b", 1, "x", one(0.0)), ("c", 1, "x", None)];
        let columns = columns(&rows);
        let plan = Plan::new().reducers(reducers![max(), at_least(1), best_of(1)]);
        let results = plan.evaluate(&columns).unwrap().results;
        assert_eq!(results.scores[0].counts.samples_by_epochs, [(1, 1), (2, 1)]);
        let warned = |warning: &Warning| match warning {
            Warning::UnequalEpochs { reducer, fewest: 1, most: 2, .. } => Some(reducer.clone()),
            _ => None,
        };
        let warned: Vec<String> = results.warnings.iter().filter_map(warned).collect();
        assert_eq!(warned, ["max", "at_least_1"]);
    }
}
