//! Means over tasks or groups, with their errors. They are fixed, have equal weights and are independent.

use super::paired::{PairTest, variance_removed};
use super::rankings::RankInput;
use super::rankings::RankedFigure;
use super::unpaired::unpaired;
use super::{Comparison, ComparisonTest, Ranking, TestMethod};
use errorbar_core::engine::estimate_from;
use errorbar_core::{
    Bounds, Defined, ErrorMethod, ErrorPlan, Estimate, Interval, IntervalMethod, ScoreKind, StdError,
    Undefined,
};
use errorbar_stats::differences::{satterthwaite, two_sided};
use errorbar_stats::distributions::t_quantile;
use indexmap::{IndexMap, IndexSet};

/// The mean over tasks of each comparison of all samples that several tasks have.
pub(super) fn averages(comparisons: &[Comparison], plan: &ErrorPlan) -> Vec<Comparison> {
    let of_all = || comparisons.iter().filter(|one| one.group_key.is_none());
    let mut averages: Vec<Comparison> = Vec::new();
    for first in of_all() {
        let is_alike = |other: &Comparison| {
            (&other.base, &other.other, &other.reducer, &other.field, &other.metric)
                == (&first.base, &first.other, &first.reducer, &first.field, &first.metric)
        };
        if averages.iter().any(is_alike) {
            continue;
        }
        let alike: Vec<&Comparison> = of_all().filter(|other| is_alike(other)).collect();
        averages.extend(of_one_scorer(alike).into_iter().filter_map(|of_tasks| average(&of_tasks, plan)));
    }
    averages
}

/// Comparisons of one metric that belong together: those of one scorer; of different ones, if each task has only one.
fn of_one_scorer(alike: Vec<&Comparison>) -> Vec<Vec<&Comparison>> {
    let is_repeated =
        |(at, one): (usize, &&Comparison)| alike.iter().skip(at + 1).any(|other| other.task == one.task);
    if !alike.iter().enumerate().any(is_repeated) {
        return vec![alike];
    }
    let mut by_scorer: IndexMap<&str, Vec<&Comparison>> = IndexMap::new();
    for one in alike {
        by_scorer.entry(&one.scorer).or_default().push(one);
    }
    by_scorer.into_values().collect()
}

/// The mean over tasks; none of one task.
fn average(of_tasks: &[&Comparison], plan: &ErrorPlan) -> Option<Comparison> {
    let [first, _, ..] = of_tasks else { return None };
    let scorers: IndexSet<&str> = of_tasks.iter().map(|one| one.scorer.as_str()).collect();
    let scorers = scorers.into_iter().collect::<Vec<_>>().join(", ");
    let mut average = Comparison::new(&first.base, &first.other, &scorers, &first.metric);
    average.reducer.clone_from(&first.reducer);
    average.field.clone_from(&first.field);
    (average.role, average.direction) = (first.role, first.direction);
    average.is_paired = of_tasks.iter().all(|one| one.is_paired);
    average.cluster.clone_from(&first.cluster);
    let sum = |of: fn(&Comparison) -> u64| of_tasks.iter().map(|one| of(one)).sum::<u64>();
    (average.n, average.only_base, average.only_other) =
        (sum(|one| one.n), sum(|one| one.only_base), sum(|one| one.only_other));
    let sum_of = |of: fn(&Comparison) -> Option<u64>| of_tasks.iter().map(|one| of(one)).sum::<Option<u64>>();
    (average.wins, average.losses, average.ties) =
        (sum_of(|one| one.wins), sum_of(|one| one.losses), sum_of(|one| one.ties));
    let mean =
        |of: fn(&Comparison) -> &Estimate| -> Vec<&Estimate> { of_tasks.iter().map(|one| of(one)).collect() };
    let base = mean_estimate(&mean(|one| &one.base_estimate), plan);
    let other = mean_estimate(&mean(|one| &one.other_estimate), plan);
    let largest = of_tasks.iter().map(|one| one.largest_difference).sum::<Option<f64>>();
    let difference = mean_difference(&mean(|one| &one.difference), plan);
    average.test = mean_test(&difference);
    average.correlation = Err(Undefined::NotAvailable);
    average.variance_removed = match average.is_paired {
        true => variance_removed(&base, &other, &difference),
        false => Err(unpaired()),
    };
    average.set_figures([base, other], difference, largest.map(|sum| sum / of_tasks.len() as f64));
    Some(average)
}

/// The mean of independent numbers.
fn mean_value(estimates: &[&Estimate]) -> Defined<f64> {
    let mut sum = errorbar_stats::exact::ExactSum::new();
    for estimate in estimates {
        sum.add(estimate.value.clone()?);
    }
    Ok(sum.divide(estimates.len().max(1) as u64))
}

/// Its error: √(Σ SE²)/T, with Satterthwaite's degrees of freedom.
fn mean_error(estimates: &[&Estimate]) -> Defined<StdError> {
    let errors = estimates.iter().map(|one| one.error.as_ref()).collect::<Result<Vec<_>, _>>();
    let errors = errors.map_err(Clone::clone)?;
    let parts: Vec<(f64, f64)> = errors.iter().map(|error| (error.se, error.df)).collect();
    let (se, df) = combined(&parts);
    let clusters = errors.iter().map(|error| error.clusters.first().copied()).sum::<Option<u64>>();
    if !se.is_finite() {
        return Err(Undefined::Overflow);
    }
    let clusters = clusters.into_iter().collect();
    Ok(StdError::new(se, ErrorMethod::Macro).with_df(df).with_clusters(clusters))
}

/// The error of a mean of independent figures, and Satterthwaite's degrees of freedom of it.
fn combined(parts: &[(f64, f64)]) -> (f64, f64) {
    let total = parts.iter().map(|(se, _)| *se).fold(0.0, libm::hypot);
    if total == 0.0 {
        return (total, parts.iter().map(|(_, df)| *df).fold(f64::INFINITY, f64::min));
    }
    (total / parts.len().max(1) as f64, satterthwaite(parts, total))
}

/// The figure of one side, over tasks.
fn mean_estimate(estimates: &[&Estimate], plan: &ErrorPlan) -> Estimate {
    let value = match mean_value(estimates) {
        Ok(value) => value,
        Err(reason) => return Estimate::undefined(reason),
    };
    let n = estimates.iter().map(|one| one.n).sum();
    // A range that all tasks have is that of their mean, too.
    let is_bounded = |one: &&Estimate| {
        let bounded = [IntervalMethod::Wilson, IntervalMethod::ClopperPearson];
        one.interval.as_ref().is_ok_and(|interval| bounded.contains(&interval.method))
    };
    let kind = if estimates.iter().all(is_bounded) { ScoreKind::Unit } else { ScoreKind::Unbounded };
    let mut errors = plan.clone();
    errors.population = None;
    let mut estimate = estimate_from(value, mean_error(estimates), n, &errors, kind);
    estimate.absent = estimates.iter().map(|one| one.absent).sum();
    estimate.bounds = mean_bounds(estimates);
    estimate
}

/// The difference, over tasks.
pub(super) fn mean_difference(differences: &[&Estimate], plan: &ErrorPlan) -> Estimate {
    let value = match mean_value(differences) {
        Ok(value) => value,
        Err(reason) => return Estimate::undefined(reason),
    };
    let mut estimate = Estimate::new(value);
    estimate.error = mean_error(differences);
    let n = differences.iter().map(|one| one.n).sum();
    estimate.interval = estimate.error.clone().and_then(|error| t_interval(value, &error, plan, n));
    estimate.n = n;
    estimate.absent = differences.iter().map(|one| one.absent).sum();
    estimate.notes.early_stop = differences.iter().find_map(|one| one.notes.early_stop.clone());
    estimate.bounds = mean_bounds(differences);
    estimate
}

/// The t interval of a mean of figures.
pub(super) fn t_interval(value: f64, error: &StdError, plan: &ErrorPlan, n: u64) -> Defined<Interval> {
    if error.se == 0.0 {
        return Err(Undefined::NoSpread { n });
    }
    let margin = t_quantile(plan.side().confidence_of_ends(plan.level()), error.df) * error.se;
    let interval = Interval::new(value - margin, value + margin, plan.level(), IntervalMethod::T);
    Ok(interval.with_df(Some(error.df)).one_sided(plan.side(), None))
}

/// The t test of no difference of a mean of figures.
pub(super) fn mean_test(difference: &Estimate) -> Defined<ComparisonTest> {
    let (value, error) = (difference.value.clone()?, difference.error.clone()?);
    if error.se == 0.0 {
        return Err(Undefined::NoSpread { n: difference.n });
    }
    Ok(ComparisonTest::new(TestMethod::T, two_sided(value / error.se, error.df)))
}

/// The mean of bounds; a task where nothing is absent is what it is. None if nothing is absent at all, or a range is unknown.
fn mean_bounds(estimates: &[&Estimate]) -> Option<Bounds> {
    if estimates.iter().all(|one| one.bounds.is_none()) {
        return None;
    }
    let all = estimates.iter().map(|one| known_bounds(one)).collect::<Option<Vec<_>>>()?;
    let count = all.len() as f64;
    let [worst, best, wrong] = all.into_iter().fold([0.0; 3], |mut sums, one| {
        sums.iter_mut().zip(one).for_each(|(sum, bound)| *sum += bound);
        sums
    });
    Some(Bounds::new(worst / count, best / count, wrong / count))
}

/// The worst, the best and the absent as wrong; where nothing is absent, that is what the figure is.
pub(super) fn known_bounds(estimate: &Estimate) -> Option<[f64; 3]> {
    match (estimate.bounds, estimate.number()) {
        (Some(bounds), _) => Some([bounds.worst, bounds.best, bounds.absent_as_wrong]),
        (None, Some(value)) if estimate.absent == 0 => Some([value; 3]),
        _ => None,
    }
}

/// The ranking by the mean over tasks, of each figure that all tasks have for all sides.
pub(super) fn mean_rankings(inputs: &[Vec<RankInput>], plan: &ErrorPlan) -> Vec<Ranking> {
    let Some((first, others)) = inputs.split_first() else { return Vec::new() };
    let mut rankings = Vec::new();
    for input in first {
        let names = |input: &RankInput| input.sides.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
        let figure = |input: &RankInput| RankedFigure { scorer: String::new(), ..input.figure.clone() };
        let is_alike = |other: &&RankInput| figure(other) == figure(input) && names(other) == names(input);
        let alike = others.iter().map(|task| {
            let mut alike = task.iter().filter(is_alike);
            let same_scorer = alike.clone().find(|other| other.figure.scorer == input.figure.scorer);
            same_scorer.or_else(|| alike.next())
        });
        if let Some(of_tasks) = std::iter::once(Some(input)).chain(alike).collect::<Option<Vec<_>>>()
            && of_tasks.len() > 1
        {
            rankings.push(mean_input(input, &of_tasks, plan).ranking(None));
        }
    }
    rankings
}

fn mean_input(first: &RankInput, of_tasks: &[&RankInput], plan: &ErrorPlan) -> RankInput {
    let count = of_tasks.len() as f64;
    let estimate = |at: usize| {
        let estimates: Vec<&Estimate> =
            of_tasks.iter().filter_map(|input| Some(&input.sides.get(at)?.1)).collect();
        mean_estimate(&estimates, plan)
    };
    let sides = first.sides.iter().enumerate().map(|(at, (name, _))| (name.clone(), estimate(at))).collect();
    let test = |at: usize| {
        let tests: Vec<_> = of_tasks.iter().filter_map(|input| input.tests.get(at)).collect();
        let (pair, _) = tests.first()?;
        let parts: Vec<(f64, f64)> = tests.iter().map(|(_, test)| (test.se, test.df)).collect();
        let value = tests.iter().map(|(_, test)| test.value).sum::<f64>() / count;
        let (se, df) = combined(&parts);
        let is_known = tests.iter().all(|(_, test)| test.p_value.is_some());
        let p_value = (is_known && se > 0.0).then(|| two_sided(value / se, df));
        let units = tests.iter().map(|(_, test)| test.units).min().unwrap_or(0);
        Some((*pair, PairTest { value, se, df, p_value, units }))
    };
    RankInput {
        figure: first.figure.clone(),
        sides,
        tests: (0..first.tests.len()).filter_map(test).collect(),
        n: of_tasks.iter().map(|input| input.n).sum(),
        level: plan.level(),
        direction: first.direction,
    }
}
