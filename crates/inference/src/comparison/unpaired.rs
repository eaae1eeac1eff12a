//! Sides with different samples, and sides of which only figures are known: their logs have no samples.

use std::borrow::Cow;
use std::collections::HashMap;

use errorbar_core::{
    Direction, ErrorMethod, ErrorPlan, Estimate, EstimateRow, GroupContext, Interval, IntervalChoice,
    IntervalMethod, Metric, Results, Role, ScoreKind, Scores, StdError, Summary, Undefined,
};
use errorbar_stats::differences::{MeanError, Share, ShareDifference, Welch};

use super::figures::{aggregates, figure_of_group, figure_without_stop, kind_of};
use super::pair::{BlockPair, collect, retain_distinct};
use super::paired::PairKind;
use super::pairing::Pairing;
use super::side::{IMPLIED, Side};
use super::tasks::known_bounds;
use super::{Comparison, ComparisonTest, ComparisonWarning, TestMethod};
use crate::error::{ComparisonError, Result};

/// All comparisons of two blocks, whatever samples they have.
pub(super) fn compare(
    pair: &BlockPair<'_>,
    warnings: &mut Vec<ComparisonWarning>,
) -> Result<Vec<Comparison>> {
    let base = Pairing::of_side(pair.sides.base, pair.base);
    let other = Pairing::of_side(pair.sides.other, pair.other);
    let mut comparisons = Vec::new();
    for metric in pair.metrics() {
        let compared = of_metric(pair, metric, [&base, &other]);
        collect(compared, metric, pair, warnings, &mut comparisons);
    }
    retain_distinct(&mut comparisons);
    Ok(comparisons)
}

type GroupName = (Option<String>, Option<String>);

fn of_metric(pair: &BlockPair<'_>, metric: &dyn Metric, sides: [&Pairing; 2]) -> Result<Vec<Comparison>> {
    let of_groups = metric.group_key().zip(metric.inner()).filter(|_| !pair.base.is_unreduced);
    let of_groups = of_groups.filter(|(_, inner)| inner.sample_numbers(&pair.base.scores()).is_some());
    let [base, other] = sides;
    let Some((key, inner)) = of_groups else {
        let by = pair.sides.options.by.as_deref();
        let mut comparisons = of_selection(pair, metric, (None, None), sides)?;
        comparisons.extend(of_common_groups(pair, metric, by, sides)?);
        return Ok(comparisons);
    };
    let scores = [base.scores(pair.sides.base, pair.base), other.scores(pair.sides.other, pair.other)];
    let (means, has_all) = aggregates(metric, &scores)?;
    let mut comparisons = match has_all && means.is_none() {
        true => of_selection(pair, inner, (None, None), sides)?,
        false => Vec::new(),
    };
    comparisons.extend(of_common_groups(pair, inner, Some(key), sides)?);
    if let Some(means) = means {
        let [of_base, of_other] = &scores;
        let plan = &of_base.estimation().errors;
        let numbers = [inner.sample_numbers(of_base), inner.sample_numbers(of_other)];
        let kind = match numbers {
            [Some(of_base), Some(of_other)] => PairKind::of([&of_base?, &of_other?], plan.range),
            _ => PairKind { is_binary: false, range: None },
        };
        let template = template(pair, inner, (Some(key.to_owned()), None), sides);
        comparisons.push(mean_over_groups(template, means, kind, plan));
    }
    Ok(comparisons)
}

/// The groups that both sides have.
fn of_common_groups(
    pair: &BlockPair<'_>,
    metric: &dyn Metric,
    by: Option<&str>,
    [base, other]: [&Pairing; 2],
) -> Result<Vec<Comparison>> {
    let Some(key) = by else { return Ok(Vec::new()) };
    let of_base = base.by_group(key, &[pair.sides.base])?;
    let mut of_other: HashMap<String, Pairing> =
        other.by_group(key, &[pair.sides.other])?.into_iter().collect();
    let mut comparisons = Vec::new();
    for (name, of_base) in of_base {
        let Some(of_other) = of_other.remove(&name) else { continue };
        let group = (Some(key.to_owned()), Some(name));
        comparisons.extend(of_selection(pair, metric, group, [&of_base, &of_other])?);
    }
    Ok(comparisons)
}

/// A comparison without its figures.
fn template(
    pair: &BlockPair<'_>,
    metric: &dyn Metric,
    group: GroupName,
    [base, other]: [&Pairing; 2],
) -> Comparison {
    let mut comparison = pair.template(metric, group);
    comparison.is_paired = false;
    comparison.n = (base.samples.len() + other.samples.len()) as u64;
    comparison.difference.absent = (base.absent.len() + other.absent.len()) as u64;
    (comparison.correlation, comparison.variance_removed) = (Err(unpaired()), Err(unpaired()));
    comparison
}

/// The comparisons of some samples of both sides.
fn of_selection(
    pair: &BlockPair<'_>,
    metric: &dyn Metric,
    group: GroupName,
    [base, other]: [&Pairing; 2],
) -> Result<Vec<Comparison>> {
    let template = || template(pair, metric, group.clone(), [base, other]);
    let scores = [base.scores(pair.sides.base, pair.base), other.scores(pair.sides.other, pair.other)];
    let [of_base, of_other] = &scores;
    let numbers = [metric.sample_numbers(of_base), metric.sample_numbers(of_other)];
    let [Some(of_base), Some(of_other)] = numbers else {
        let resampled = pair.resampled(metric).unpaired([base, other])?;
        let filled = resampled.into_iter().map(|figure| {
            let mut comparison = template();
            figure.fill(&mut comparison);
            comparison.variance_removed = Err(Undefined::NotAvailable);
            comparison
        });
        return Ok(filled.collect());
    };
    let margin = pair.sides.options.gate.and_then(|gate| gate.equivalence_margin());
    let unpaired = UnpairedNumbers { metric, scores: &scores, numbers: [&of_base?, &of_other?], margin };
    let mut comparison = template();
    unpaired.fill(&mut comparison)?;
    Ok(vec![comparison])
}

/// Why there is no figure of pairs.
pub(super) fn unpaired() -> Undefined {
    Undefined::Other("samples are not paired".to_owned())
}

/// The difference of two means over groups. The sides are independent, so that their variances add up, whatever the groups of
/// each have in common.
fn mean_over_groups(
    mut comparison: Comparison,
    means: [Estimate; 2],
    kind: PairKind,
    plan: &ErrorPlan,
) -> Comparison {
    let [base, other] = &means;
    let mut difference = welch(&mut comparison, base, other, plan);
    (difference.n, difference.absent) = (comparison.n, comparison.difference.absent);
    comparison.set_figures(means, difference, kind.width());
    comparison
}

/// The numbers of both sides, one for each sample of it.
struct UnpairedNumbers<'u> {
    metric: &'u dyn Metric,
    scores: &'u [Scores<'u>; 2],
    numbers: [&'u [f64]; 2],
    margin: Option<f64>,
}

impl UnpairedNumbers<'_> {
    fn fill(&self, comparison: &mut Comparison) -> Result<()> {
        let [base_scores, other_scores] = self.scores;
        // As they are shown, and with a standard error where the run was stopped early.
        let figures = |scores: &Scores<'_>| -> Result<(Estimate, Option<Estimate>)> {
            let mut context = GroupContext::default();
            (context.kind, context.estimates) = (kind_of(self.metric, scores)?, 1);
            context.is_group = comparison.group_key.is_some();
            let shown = figure_of_group(self.metric, scores, context)?;
            Ok((shown, figure_without_stop(self.metric, scores, context)?))
        };
        let ((base, base_error), (other, other_error)) = (figures(base_scores)?, figures(other_scores)?);
        let plan = &base_scores.estimation().errors;
        let kind = PairKind::of(self.numbers, plan.range);
        let absent = comparison.difference.absent;
        let (of_base, of_other) =
            (base_error.as_ref().unwrap_or(&base), other_error.as_ref().unwrap_or(&other));
        let mut difference = welch(comparison, of_base, of_other, plan);
        let shares = match kind.is_binary && plan.interval == IntervalChoice::Auto {
            true => self.newcombe(comparison, &mut difference, plan)?,
            false => None,
        };
        // Equivalence is read off the interval that is shown.
        comparison.p_tost = self.margin.and_then(|margin| match shares {
            Some(shares) => Some(shares.tost(margin)),
            None => kind.tost(&difference, margin),
        });
        if kind.range.is_some() && absent > 0 {
            difference.bounds = bounds_of(&base, &other);
        }
        let clustered =
            |estimate: &Estimate| estimate.error.as_ref().is_ok_and(|error| !error.clusters.is_empty());
        if clustered(&base) || clustered(&other) {
            comparison.cluster.clone_from(&plan.cluster);
        }
        (difference.n, difference.absent) = (comparison.n, absent);
        comparison.set_figures([base, other], difference, kind.width());
        Ok(())
    }

    /// Newcombe's interval, from Wilson's of both sides, which are on the effective n where samples are clustered; and the test
    /// that it gives.
    fn newcombe(
        &self,
        comparison: &mut Comparison,
        difference: &mut Estimate,
        plan: &ErrorPlan,
    ) -> Result<Option<ShareDifference>> {
        let mut errors = plan.clone();
        errors.range = None;
        errors.interval = IntervalChoice::Method(IntervalMethod::Wilson);
        let mut is_plain = true;
        let mut shares = Vec::with_capacity(2);
        for (scores, numbers) in self.scores.iter().zip(self.numbers) {
            let name = self.metric.spec().log_name().into_owned();
            let summary = match Summary::of(&name, &errors, false, scores, numbers) {
                Err(error) if error.is_about_clusters() => return Ok(None),
                summary => summary?,
            };
            is_plain &= !matches!(summary, Summary::Clusters(_)) && plan.population.is_none();
            let estimate = summary.estimate(&errors, ScoreKind::Binary, &scores.estimation().random);
            let (Some(mean), Ok(interval)) = (estimate.number(), &estimate.interval) else { return Ok(None) };
            let n = estimate.notes.effective_n.unwrap_or(numbers.len() as f64);
            shares.push(Share::effective(mean, n, interval.df.unwrap_or(f64::INFINITY)));
        }
        let [base, other] = shares.as_slice() else { return Ok(None) };
        let shares = ShareDifference { first: *other, second: *base };
        let (lower, upper) = shares.ends(1.0 - plan.side().confidence_of_ends(plan.level()));
        let interval = Interval::new(lower, upper, plan.level(), IntervalMethod::Newcombe);
        difference.interval = Ok(interval.one_sided(plan.side(), Some((-1.0, 1.0))));
        let why = if is_plain { "(0/1 scores, unpaired)" } else { "on effective n (unpaired)" };
        difference.notes.reason = Some(format!("auto: newcombe {why}"));
        comparison.test = Ok(ComparisonTest::new(TestMethod::Newcombe, shares.p_value()));
        Ok(Some(shares))
    }
}

/// The difference with Welch's error, interval and test.
pub(super) fn welch(
    comparison: &mut Comparison,
    base: &Estimate,
    other: &Estimate,
    plan: &ErrorPlan,
) -> Estimate {
    let (of_base, of_other) = match (&base.value, &other.value) {
        (Ok(base), Ok(other)) => (*base, *other),
        (Err(reason), _) | (_, Err(reason)) => {
            comparison.test = Err(reason.clone());
            return Estimate::undefined(reason.clone());
        }
    };
    let mut difference = Estimate::new(of_other - of_base);
    let (base_error, other_error) = match (&base.error, &other.error) {
        (Ok(base), Ok(other)) => (base, other),
        (Err(reason), _) | (_, Err(reason)) => {
            (difference.error, difference.interval) = (Err(reason.clone()), Err(reason.clone()));
            comparison.test = Err(reason.clone());
            return difference;
        }
    };
    let mean = |mean: f64, error: &StdError| MeanError::new(mean, error.se, error.df);
    let Some(welch) = Welch::new(mean(of_other, other_error), mean(of_base, base_error)) else {
        let reason = Undefined::NoSpread { n: base.n + other.n };
        let method = base_error.method;
        difference.error = Ok(StdError::new(0.0, method));
        difference.interval = Err(reason.clone());
        comparison.test = Err(reason);
        return difference;
    };
    let clusters: Vec<u64> =
        base_error.clusters.iter().zip(&other_error.clusters).map(|(a, b)| a + b).collect();
    let method = if clusters.is_empty() { ErrorMethod::Iid } else { base_error.method };
    let error = StdError::new(welch.stderr, method).with_df(welch.df).with_clusters(clusters);
    difference.error = Ok(error);
    let confidence = plan.side().confidence_of_ends(plan.level());
    let (lower, upper) = welch.interval(2.0 * confidence - 1.0);
    let interval = Interval::new(lower, upper, plan.level(), IntervalMethod::T).with_df(Some(welch.df));
    difference.interval = Ok(interval.one_sided(plan.side(), None));
    difference.notes.reason = Some("auto: t (Welch, unpaired)".to_owned());
    comparison.test = Ok(ComparisonTest::new(TestMethod::Welch, welch.p_value));
    difference
}

/// The bounds of a difference, from those of both sides; a side without absent scores is what it is.
fn bounds_of(base: &Estimate, other: &Estimate) -> Option<errorbar_core::Bounds> {
    let ([base_worst, base_best, base_wrong], [worst, best, wrong]) =
        (known_bounds(base)?, known_bounds(other)?);
    Some(errorbar_core::Bounds::new(worst - base_best, best - base_worst, wrong - base_wrong))
}

/// The differences of the figures that both sides have, from their recorded errors; nothing else is known where one of
/// them has none.
pub(super) fn compare_recorded(
    base: &Side<'_>,
    other: &Side<'_>,
    task: Option<&str>,
) -> Result<Vec<Comparison>> {
    let (of_base, of_other) = (results(base)?, results(other)?);
    let rows = of_other.rows();
    let compared = of_base.rows().into_iter().filter(|row| row.role == Role::Location).filter_map(|row| {
        let found = rows.iter().find(|other| key(other) == key(&row) && has_same_reducer(other, &row))?;
        let mut comparison = Comparison::new(base.name, other.name, row.scorer, row.metric);
        comparison.task = task.map(str::to_owned);
        comparison.reducer = row.reducer.map(str::to_owned);
        comparison.field = row.field.map(str::to_owned);
        // The mean of the groups is called what the log calls it.
        let group = row.group.or(row.label).zip(row.group_key);
        (comparison.group, comparison.group_key) =
            group.map(|(group, key)| (group.to_owned(), key.to_owned())).unzip();
        (comparison.role, comparison.direction) = (row.role, Direction::Higher);
        comparison.is_paired = false;
        let [of_base, of_other] = [&row, found].map(|row| with_df(row.estimate.as_ref()));
        comparison.n = of_base.n + of_other.n;
        let mut difference = welch(&mut comparison, &of_base, &of_other, &base.plan.errors);
        difference.n = comparison.n;
        if difference.interval.is_ok() {
            difference.notes.reason = Some("recorded errors: t (Welch, unpaired)".to_owned());
        }
        (comparison.correlation, comparison.variance_removed) = (Err(unpaired()), Err(unpaired()));
        comparison.set_figures([of_base, of_other], difference, None);
        Some(comparison)
    });
    let compared: Vec<Comparison> = compared.collect();
    if compared.is_empty() {
        fn metrics<'r>(rows: &'r [EstimateRow<'_>]) -> Vec<(String, Option<&'r str>)> {
            rows.iter().map(|row| (row.metric.to_owned(), row.reducer)).collect()
        }
        let base_rows = of_base.rows();
        let (of_base, of_other) = ((base.name, metrics(&base_rows)), (other.name, metrics(&rows)));
        return Err(ComparisonError::no_common_metric(of_base, of_other, true).into());
    }
    Ok(compared)
}

/// The figures of a side.
fn results<'s>(side: &Side<'s>) -> Result<Cow<'s, Results>> {
    match side.recorded {
        Some(recorded) => Ok(Cow::Borrowed(recorded)),
        None => Ok(Cow::Owned(side.plan.evaluate(side.columns)?.results)),
    }
}

/// What two figures have in common that are compared.
fn key<'r>(row: &'r EstimateRow<'_>) -> impl PartialEq + 'r {
    let metric = (row.scorer, row.field, row.metric);
    (metric, row.group_key, row.group, row.is_mean_of_groups(), row.key, row.index)
}

/// Whether two figures are of scores that were reduced alike. The mean that is named is the implied one.
fn has_same_reducer(a: &EstimateRow<'_>, b: &EstimateRow<'_>) -> bool {
    let is_reduced = !a.unreduced && !b.unreduced;
    a.reducer == b.reducer || is_reduced && a.reducer.unwrap_or(&IMPLIED) == b.reducer.unwrap_or(&IMPLIED)
}

/// An estimate whose error has degrees of freedom: those of independent samples, if none are known. Where there is no
/// error, the log has none.
fn with_df(estimate: &Estimate) -> Estimate {
    let mut estimate = estimate.clone();
    if estimate.error == Err(Undefined::NotAvailable) {
        estimate.error = Err(Undefined::Other("the log records no error".to_owned()));
    }
    if let Ok(error) = &mut estimate.error
        && error.df.is_infinite()
        && estimate.n > 1
    {
        error.df = (estimate.n - 1) as f64;
    }
    estimate
}
