//! Sides with different samples.

use std::collections::HashMap;

use super::figures::{figure_of_group, figure_without_stop, kind_of};
use super::pair::{BlockPair, collect, retain_distinct};
use super::paired::{PairKind, detectable_difference, possible};
use super::pairing::Pairing;
use super::{Comparison, ComparisonTest, ComparisonWarning, TestMethod};
use crate::columns::Numbers;
use crate::error::Result;
use crate::estimate::{
    ErrorMethod, ErrorPlan, Estimate, GroupContext, Interval, IntervalChoice, IntervalMethod, ScoreKind,
    StdError, Summary, Undefined,
};
use crate::metric::Metric;
use crate::scores::Scores;
use crate::stats::{EffectiveShare, MeanError, ShareDifference, Welch};

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
    let (metric, by) = match of_groups {
        Some((key, inner)) if inner.sample_numbers(&pair.base.scores()).is_some() => (inner, Some(key)),
        _ => (metric, pair.sides.options.by.as_deref()),
    };
    let [base, other] = sides;
    let mut selections: Vec<(GroupName, [Pairing; 2])> = vec![((None, None), [base.clone(), other.clone()])];
    if let Some(key) = by {
        let of_base = base.by_group(key, &[pair.sides.base])?;
        let mut of_other: HashMap<String, Pairing> =
            other.by_group(key, &[pair.sides.other])?.into_iter().collect();
        for (name, of_base) in of_base {
            let Some(of_other) = of_other.remove(&name) else { continue };
            selections.push(((Some(key.to_owned()), Some(name)), [of_base, of_other]));
        }
    }
    let mut comparisons = Vec::new();
    for (group, [base, other]) in selections {
        let template = || {
            let mut comparison = pair.template(metric, group.clone());
            comparison.is_paired = false;
            comparison.n = (base.samples.len() + other.samples.len()) as u64;
            comparison.difference.absent = (base.absent.len() + other.absent.len()) as u64;
            comparison
        };
        let scores = [base.scores(pair.sides.base, pair.base), other.scores(pair.sides.other, pair.other)];
        let [of_base, of_other] = &scores;
        let numbers = [metric.sample_numbers(of_base), metric.sample_numbers(of_other)];
        let [Some(of_base), Some(of_other)] = numbers else {
            for figure in pair.resampled(metric).unpaired([&base, &other])? {
                let mut comparison = template();
                figure.fill(&mut comparison);
                comparison.variance_removed = Err(Undefined::NotAvailable);
                comparisons.push(comparison);
            }
            continue;
        };
        let margin = pair.sides.options.gate.and_then(|gate| gate.equivalence_margin());
        let unpaired = UnpairedNumbers { metric, scores: &scores, numbers: [&of_base?, &of_other?], margin };
        let mut comparison = template();
        unpaired.fill(&mut comparison)?;
        comparisons.push(comparison);
    }
    Ok(comparisons)
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
        let context = |scores: &Scores<'_>| -> Result<GroupContext> {
            let mut context = GroupContext::default();
            (context.kind, context.estimates) = (kind_of(self.metric, scores)?, 1);
            context.is_group = comparison.group_key.is_some();
            Ok(context)
        };
        let base = figure_of_group(self.metric, base_scores, context(base_scores)?)?;
        let other = figure_of_group(self.metric, other_scores, context(other_scores)?)?;
        let plan = &base_scores.estimation().errors;
        let kind = PairKind::of(self.numbers, plan.range);
        let absent = comparison.difference.absent;
        let ordinary = [
            figure_without_stop(self.metric, base_scores, context(base_scores)?)?,
            figure_without_stop(self.metric, other_scores, context(other_scores)?)?,
        ];
        let [base_error, other_error] = &ordinary;
        let with_errors = [base_error.as_ref().unwrap_or(&base), other_error.as_ref().unwrap_or(&other)];
        let [of_base, of_other] = with_errors;
        let mut difference = self.welch(comparison, of_base, of_other, plan);
        let shares = match kind.is_binary && plan.interval == IntervalChoice::Auto {
            true => self.newcombe(comparison, &mut difference, plan)?,
            false => None,
        };
        // Equivalence is read off the interval that is shown.
        comparison.p_tost = self.margin.and_then(|margin| match shares {
            Some(shares) => Some(shares.tost(margin)),
            None => kind.tost(&difference, margin),
        });
        kind.clip(&mut difference);
        if kind.range.is_some() && absent > 0 {
            difference.bounds = bounds_of(&base, &other);
        }
        comparison.mde = possible(detectable_difference(&difference), kind, comparison.n, "samples");
        let unpaired = || Undefined::Other("samples are not paired".to_owned());
        (comparison.correlation, comparison.variance_removed) = (Err(unpaired()), Err(unpaired()));
        let clustered =
            |estimate: &Estimate| estimate.error.as_ref().is_ok_and(|error| !error.clusters.is_empty());
        if clustered(&base) || clustered(&other) {
            comparison.cluster.clone_from(&plan.cluster);
        }
        (difference.n, difference.absent) = (comparison.n, absent);
        (comparison.base_estimate, comparison.other_estimate, comparison.difference) =
            (base, other, difference);
        Ok(())
    }

    /// The difference with Welch's error, interval and test.
    fn welch(
        &self,
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
        let mean = |mean: f64, error: &StdError| MeanError { mean, stderr: error.se, df: error.df };
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

    /// Newcombe's interval, from Wilson's of both sides, which are on the effective n where samples are clustered; and the test
    /// that it gives.
    fn newcombe(
        &self,
        comparison: &mut Comparison,
        difference: &mut Estimate,
        plan: &ErrorPlan,
    ) -> Result<Option<ShareDifference>> {
        let mut errors = ErrorPlan { range: None, ..plan.clone() };
        errors.interval = IntervalChoice::Method(IntervalMethod::Wilson);
        let mut is_plain = true;
        let mut shares = Vec::with_capacity(2);
        for (scores, numbers) in self.scores.iter().zip(self.numbers) {
            let mut summary = Summary::for_plan(&errors, false);
            let name = self.metric.spec().log_name().into_owned();
            match summary.update(&name, &errors, scores, Numbers::Floats(numbers)) {
                Err(error) if error.is_about_clusters() => return Ok(None),
                updated => updated?,
            }
            is_plain &= !matches!(summary, Summary::Clusters(_)) && plan.population.is_none();
            let estimate = summary.estimate(&errors, ScoreKind::Binary, &scores.estimation().random);
            let (Some(mean), Ok(interval)) = (estimate.number(), &estimate.interval) else { return Ok(None) };
            let n = estimate.notes.effective_n.unwrap_or(numbers.len() as f64);
            shares.push(EffectiveShare::new(mean, n, interval.df.unwrap_or(f64::INFINITY)));
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

/// The bounds of a difference, from those of both sides; a side without absent scores is what it is.
fn bounds_of(base: &Estimate, other: &Estimate) -> Option<crate::estimate::Bounds> {
    let of = |estimate: &Estimate| match (estimate.bounds, estimate.number()) {
        (Some(bounds), _) => Some((bounds.worst, bounds.best, bounds.absent_as_wrong)),
        (None, Some(value)) if estimate.absent == 0 => Some((value, value, value)),
        _ => None,
    };
    let ((base_worst, base_best, base_wrong), (worst, best, wrong)) = (of(base)?, of(other)?);
    Some(crate::estimate::Bounds::new(worst - base_best, best - base_worst, wrong - base_wrong))
}
