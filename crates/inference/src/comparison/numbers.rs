//! Per-sample numbers of both sides: their differences over all samples, in groups, and over groups.

use std::collections::HashMap;

use super::Comparison;
use super::figures::{aggregates, figure_of_group, figure_without_stop, kind_of};
use super::pair::{BlockPair, SampleSelection, SidePair};
use super::paired::{PairKind, PairedNumbers, variance_removed};
use super::pairing::Pairing;
use super::pairing::{BoundedSide, bounds};
use super::side::Block;
use super::tasks::{mean_difference, mean_test, t_interval};
use crate::error::Result;
use errorbar_core::engine::error_across_groups;
use errorbar_core::{
    Defined, ErrorPlan, Estimate, GroupContext, Metric, Random, Scores, StdError, Summary, Undefined,
};

/// The numbers of all pairs, of which there may be groups.
pub(super) struct WholeNumbers<'w> {
    pair: &'w BlockPair<'w>,
    metric: &'w dyn Metric,
    /// What the numbers of each sample are, by its number: the base first.
    by_sample: [Vec<f64>; 2],
    scores: [Scores<'w>; 2],
    kind: PairKind,
    /// What all scores of each side are.
    contexts: [GroupContext; 2],
    /// Whether the numbers are the scores themselves, so that absent epochs of those are absent here.
    are_scores: bool,
}

impl<'w> WholeNumbers<'w> {
    pub(super) fn new(
        pair: &'w BlockPair<'w>,
        metric: &'w dyn Metric,
        pairing: &Pairing,
        sides: [(Scores<'w>, Vec<f64>); 2],
    ) -> Result<Self> {
        let [(base, base_numbers), (other, other_numbers)] = sides;
        let range = base.estimation().errors.range;
        let kind = PairKind::of([&base_numbers, &other_numbers], range);
        let n = pairing.samples.len() as u64;
        let context = |scores: &Scores<'_>| -> Result<GroupContext> {
            let mut context = GroupContext::default();
            (context.kind, context.n, context.estimates) = (kind_of(metric, scores)?, Some(n), 1);
            Ok(context)
        };
        let contexts = [context(&base)?, context(&other)?];
        let most = pairing.samples.iter().max().map_or(0, |most| *most as usize + 1);
        let by_sample = [base_numbers, other_numbers].map(|numbers| {
            let mut by_sample = vec![f64::NAN; most];
            for (sample, number) in pairing.samples.iter().zip(numbers) {
                if let Some(slot) = by_sample.get_mut(*sample as usize) {
                    *slot = number;
                }
            }
            by_sample
        });
        let are_scores = metric
            .subject()
            .is_some_and(|subject| subject.conversions.iter().all(|conversion| conversion.keeps_numbers()));
        Ok(WholeNumbers { pair, metric, by_sample, scores: [base, other], kind, contexts, are_scores })
    }

    /// All selections, one after the other.
    pub(super) fn compare_all(&self, selections: Vec<SampleSelection>) -> Result<Vec<Comparison>> {
        let groups = selections.len();
        selections.iter().map(|selection| self.compare(selection, groups)).collect()
    }

    /// The groups of a metric that applies this one to each of them, and what it has beside them: the figure of all
    /// samples, the mean over groups, or nothing. The first selection is that of all samples.
    pub(super) fn by_groups(
        &self,
        grouped: &dyn Metric,
        selections: &[SampleSelection],
    ) -> Result<Vec<Comparison>> {
        let (means, has_all) = aggregates(grouped, &self.scores)?;
        let groups = selections.len();
        let is_shown = |selection: &&SampleSelection| selection.group_key.is_some() || has_all;
        let shown = selections.iter().filter(is_shown).map(|selection| self.compare(selection, groups));
        let mut comparisons = shown.collect::<Result<Vec<_>>>()?;
        if let Some(means) = means {
            comparisons.extend(self.mean_over_groups(grouped, selections, &comparisons, means)?);
        }
        Ok(comparisons)
    }

    /// The difference of means over groups.
    fn mean_over_groups(
        &self,
        grouped: &dyn Metric,
        selections: &[SampleSelection],
        groups: &[Comparison],
        [base, other]: [Estimate; 2],
    ) -> Result<Vec<Comparison>> {
        let all = selections.first().map(|all| all.pairing.clone()).unwrap_or_default();
        let differences: Vec<&Estimate> =
            groups.iter().filter(|one| one.group.is_some() && one.n > 0).map(|one| &one.difference).collect();
        let [base_scores, _] = &self.scores;
        let estimation = base_scores.estimation();
        let mut difference = mean_difference(&differences, &estimation.errors);
        let is_equal = |found: f64| match (base.number(), other.number()) {
            (Some(base), Some(other)) => {
                (found - (other - base)).abs() <= 1e-9 * (base.abs() + other.abs()).max(1e-300)
            }
            _ => false,
        };
        if !difference.number().is_some_and(is_equal) {
            // Groups of other weights.
            let is_mean = |one: &Comparison| one.group_key.is_some() && one.group.is_none();
            let resampled = self.pair.by_resampling(grouped, &all, None)?;
            return Ok(resampled.into_iter().filter(is_mean).collect());
        }
        if let Some(error) = self.error_across(selections, &estimation.errors, &estimation.random)? {
            difference.interval = error.clone().and_then(|error| {
                t_interval(difference.number().unwrap_or(f64::NAN), &error, &estimation.errors, difference.n)
            });
            difference.error = error;
            difference.notes.clusters_span_groups = true;
        }
        let key = grouped.group_key().map(str::to_owned);
        let mut comparison = self.pair.template(self.metric, (key, None));
        comparison.n = all.samples.len() as u64;
        comparison.test = mean_test(&difference);
        let sum = |of: fn(&Comparison) -> Option<u64>| -> Option<u64> {
            groups.iter().filter(|one| one.group.is_some()).map(of).sum()
        };
        (comparison.wins, comparison.losses, comparison.ties) =
            (sum(|one| one.wins), sum(|one| one.losses), sum(|one| one.ties));
        comparison.cluster = groups.first().map(|one| one.cluster.clone()).unwrap_or_default();
        comparison.correlation = Err(Undefined::NotAvailable);
        comparison.variance_removed = variance_removed(&base, &other, &difference);
        comparison.set_figures([base, other], difference, self.kind.width());
        Ok(vec![comparison])
    }

    /// The error of the mean over groups if clusters span them: then groups are not independent.
    fn error_across(
        &self,
        selections: &[SampleSelection],
        errors: &ErrorPlan,
        random: &Random,
    ) -> Result<Option<Defined<StdError>>> {
        if errors.cluster.is_empty() {
            return Ok(None);
        }
        let name = self.metric.spec().log_name().into_owned();
        let mut summaries: Vec<Summary> = Vec::new();
        let of_groups =
            selections.iter().filter(|one| one.group.is_some() && !one.pairing.samples.is_empty());
        for SampleSelection { pairing, .. } in of_groups {
            let [base_numbers, other_numbers] = self.numbers_of(pairing);
            let (base, other) = (self.pair.base_scores(pairing), self.pair.other_scores(pairing));
            let (scores, kind, metric) = ([&base, &other], self.kind, name.as_str());
            let (base, other) = (&base_numbers, &other_numbers);
            let paired = PairedNumbers { base, other, scores, metric, errors, kind, random };
            summaries.push(paired.summary()?);
        }
        let weight = 1.0 / summaries.len().max(1) as f64;
        let weighted: Vec<(&Summary, f64)> = summaries.iter().map(|summary| (summary, weight)).collect();
        Ok(error_across_groups(&weighted, errors, random).map(|figure| figure.error))
    }

    /// The numbers of some of the samples, the base first.
    fn numbers_of(&self, pairing: &Pairing) -> [Vec<f64>; 2] {
        self.by_sample.each_ref().map(|by_sample| {
            let number = |sample: &u32| by_sample.get(*sample as usize).copied().unwrap_or(f64::NAN);
            pairing.samples.iter().map(number).collect()
        })
    }

    fn compare(&self, selection: &SampleSelection, groups: usize) -> Result<Comparison> {
        let SampleSelection { group_key, group, pairing } = selection;
        let is_whole = group_key.is_none();
        let mut comparison = self.pair.template(self.metric, (group_key.clone(), group.clone()));
        let numbers = self.numbers_of(pairing);
        let [base_numbers, other_numbers] = &numbers;
        let [base, other] = match is_whole {
            true => self.scores.clone(),
            false => [self.pair.base_scores(pairing), self.pair.other_scores(pairing)],
        };
        let [base_context, other_context] = self.contexts.map(|mut context| {
            (context.estimates, context.is_group) = (groups, !is_whole);
            context
        });
        comparison.base_estimate = figure_of_group(self.metric, &base, base_context)?;
        comparison.other_estimate = figure_of_group(self.metric, &other, other_context)?;
        comparison.difference.absent = pairing.absent.len() as u64;
        self.add_bounds(&mut comparison, pairing, [base_numbers, other_numbers]);
        let estimation = base.estimation();
        let random = estimation.random.among(groups);
        let name = self.metric.spec().log_name().into_owned();
        let paired = PairedNumbers {
            base: base_numbers,
            other: other_numbers,
            scores: [&base, &other],
            metric: &name,
            errors: &estimation.errors,
            kind: self.kind,
            random: &random,
        };
        let margin = self.pair.sides.options.gate.and_then(|gate| gate.equivalence_margin());
        paired.fill(&mut comparison, margin)?;
        let ordinary = [
            figure_without_stop(self.metric, &base, base_context)?,
            figure_without_stop(self.metric, &other, other_context)?,
        ];
        if let [base, other] = &ordinary
            && (base.is_some() || other.is_some())
        {
            let base = base.as_ref().unwrap_or(&comparison.base_estimate);
            let other = other.as_ref().unwrap_or(&comparison.other_estimate);
            comparison.variance_removed = variance_removed(base, other, &comparison.difference);
        }
        Ok(comparison)
    }

    /// What the difference would be with the samples and epochs that have no score, if the range of scores is known.
    fn add_bounds<'n>(&'n self, comparison: &mut Comparison, pairing: &Pairing, numbers: [&'n [f64]; 2]) {
        let Some(range) = self.kind.range else { return };
        let [base_numbers, other_numbers] = numbers;
        let side = |block: &'n Block<'n>, numbers: &'n [f64]| BoundedSide {
            block,
            numbers,
            epochs: block.epochs().filter(|_| self.are_scores),
        };
        let (base, other) = (side(self.pair.base, base_numbers), side(self.pair.other, other_numbers));
        // Samples with a score on one side only: their numbers there are known.
        let known = self.single_numbers(pairing);
        let Some(known) = known else { return };
        let number_of =
            |side: usize, sample: u32| known.get(side).and_then(|of_side| of_side.get(&sample)).copied();
        if let Some((bounds, partly)) = bounds([&base, &other], pairing, range, number_of) {
            comparison.difference.bounds = Some(bounds);
            comparison.difference.notes.partly_absent = Some(partly).filter(|partly| *partly > 0);
        }
    }

    /// The numbers of samples with a score on one side only, for each side; none if one is out of the range.
    fn single_numbers(&self, pairing: &Pairing) -> Option<[HashMap<u32, f64>; 2]> {
        let (low, high) = self.kind.range?;
        let mut found: [HashMap<u32, f64>; 2] = Default::default();
        let SidePair { base, other, .. } = self.pair.sides;
        let sides = [(base, self.pair.base), (other, self.pair.other)];
        for ((side, block), found) in sides.into_iter().zip(&mut found) {
            let samples: Vec<u32> =
                pairing.absent.iter().copied().filter(|sample| block.has(*sample)).collect();
            let single = Pairing { samples, absent: Vec::new() };
            let numbers = self.metric.sample_numbers(&single.scores(side, block))?.ok()?;
            if !numbers.iter().all(|x| (low..=high).contains(x)) {
                return None;
            }
            found.extend(single.samples.into_iter().zip(numbers));
        }
        Some(found)
    }
}
