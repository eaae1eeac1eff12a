//! Two sides, metric by metric; and whether they have as many scored epochs, where what they are reduced to depends on it.

use std::collections::{BTreeSet, HashSet};
use std::fmt;

use errorbar_core::engine::innermost;
use errorbar_core::{Metric, Scores};

use super::figures::{ResampledPair, is_compared};
use super::numbers::WholeNumbers;
use super::pairing::Pairing;
use super::side::{Block, Side};
use super::{Comparison, ComparisonOptions, ComparisonWarning, unpaired};
use crate::agreement::NamedColumns;
use crate::error::{ComparisonError, ComparisonErrorKind as Kind, Result, list};

/// Two sides and how they are compared.
#[derive(Clone, Copy)]
pub(super) struct SidePair<'p> {
    pub(super) base: &'p Side<'p>,
    pub(super) other: &'p Side<'p>,
    pub(super) task: Option<&'p str>,
    pub(super) options: &'p ComparisonOptions,
}

impl<'p> SidePair<'p> {
    /// All comparisons of the two sides.
    ///
    /// # Errors
    /// They cannot be compared, or a metric failed that has figures of each side alone.
    pub(super) fn compare(&self, warnings: &mut Vec<ComparisonWarning>) -> Result<Vec<Comparison>> {
        self.check()?;
        self.check_clusters()?;
        let common: Vec<u32> = self
            .base
            .samples
            .iter()
            .copied()
            .filter(|sample| self.other.first_row(*sample).is_some())
            .collect();
        if common.is_empty() && !self.options.unpaired {
            return Err(self.no_common_sample().into());
        }
        let only_base = (self.base.samples.len() - common.len()) as u64;
        let only_other = (self.other.samples.len() - common.len()) as u64;
        if !self.options.unpaired && only_base + only_other > 0 {
            let (base, other) = (self.base.name, self.other.name);
            let s = if only_base == 1 { "" } else { "s" };
            let text = format!(
                "{only_base} sample{s} of {base} and {only_other} of {other} have no partner and are left out"
            );
            warnings.push(ComparisonWarning::Unmatched {
                base: base.to_owned(),
                other: other.to_owned(),
                text,
            });
        }
        let blocks = self.blocks()?;
        self.check_epochs(&blocks, &common, warnings)?;
        self.check_keys(&blocks, &common)?;
        let mut comparisons = Vec::new();
        for (base, other) in &blocks {
            let pair = BlockPair { sides: *self, base, other, only: (only_base, only_other) };
            comparisons.extend(pair.compare(&common, warnings)?);
        }
        if comparisons.is_empty() {
            // If there are metrics and all of them failed, why they did is what the user can do something about.
            let failed = warnings.drain(..).find_map(|warning| match warning {
                ComparisonWarning::Failed { error, .. } => Some(*error),
                _ => None,
            });
            return Err(failed.unwrap_or_else(|| self.no_common_metric().into()));
        }
        let of_all = || comparisons.iter().filter(|one| one.group_key.is_none());
        let most = of_all().map(|one| one.n).max();
        if let Some(pairs) = most.filter(|pairs| *pairs < 2) {
            let count = if pairs == 0 { "no" } else { "one" };
            let text =
                format!("{self} have {count} sample with a score on both sides; a comparison takes two");
            return Err(ComparisonError::new(Kind::TooFewPairs, text).into());
        }
        self.caution(&mut comparisons);
        Ok(comparisons)
    }

    /// When a run stopped depends on its scores, which no interval of a difference allows for.
    fn caution(&self, comparisons: &mut [Comparison]) {
        let stopped: Vec<&str> =
            [self.base, self.other].iter().filter(|side| side.is_stopped()).map(|side| side.name).collect();
        if stopped.is_empty() {
            return;
        }
        let note = format!("the interval does not allow for the early stop of {}", stopped.join(" and "));
        for one in comparisons.iter_mut().filter(|one| one.difference.interval.is_ok()) {
            one.difference.notes.early_stop = Some(note.clone());
        }
    }

    fn check(&self) -> Result<(), ComparisonError> {
        let is_same = std::ptr::eq(self.base.columns, self.other.columns)
            && self.base.scorers() == self.other.scorers();
        match is_same {
            true => Err(ComparisonError::new(Kind::OneSide, format!("{self} are the same scores"))),
            false => Ok(()),
        }
    }

    /// A cluster key that no sample has is a mistake in the key. One that some samples lack leaves errors undefined.
    fn check_clusters(&self) -> Result<()> {
        let sides = [self.base, self.other];
        for key in &self.base.plan.errors.cluster {
            let lacks = |side: &&Side<'_>| !side.has_key(key);
            // The clusters of a pair may come from either side.
            let is_known = !self.options.unpaired && !sides.iter().all(lacks);
            if let Some(side) = sides.into_iter().find(lacks).filter(|_| !is_known) {
                return Err(side.missing_key("errors clustered by it", key, side.example()).into());
            }
        }
        Ok(())
    }

    /// Clusters and groups are those of both sides.
    fn check_keys(&self, blocks: &[(&Block<'_>, &Block<'_>)], common: &[u32]) -> Result<(), ComparisonError> {
        if self.options.unpaired {
            return Ok(());
        }
        let sides = NamedColumns {
            names: [self.base.name, self.other.name],
            columns: [self.base.columns, self.other.columns],
        };
        let of_metrics =
            blocks.iter().flat_map(|(block, _)| &block.metrics).filter_map(|one| one.group_key());
        let of_options = self.base.plan.errors.cluster.iter().chain(&self.options.by).map(String::as_str);
        let keys: BTreeSet<&str> = of_options.chain(of_metrics).collect();
        for key in keys {
            let row = |side: &Side<'_>, sample: u32| side.first_row(sample).map(|row| row as usize);
            let rows = |sample: &u32| Some((row(self.base, *sample)?, row(self.other, *sample)?));
            sides.check_key(key, common.iter().filter_map(rows))?;
        }
        Ok(())
    }

    fn no_common_sample(&self) -> ComparisonError {
        let [base, other] = [self.base, self.other];
        let examples = [base, other].map(|side| side.example().to_owned());
        let [of_base, of_other] = &examples;
        let text = format!(
            "{self} have no sample in common: {} has {} samples such as {of_base:?}, {} {} such as {of_other:?}",
            base.name,
            base.samples.len(),
            other.name,
            other.samples.len()
        );
        ComparisonError::new(Kind::NoCommonSample(examples), text)
    }

    fn no_common_metric(&self) -> ComparisonError {
        let metrics = |side: &'p Side<'_>| {
            side.blocks.iter().flat_map(|block| {
                let reducer = block.reducer.as_deref();
                block.metrics.iter().map(move |metric| (metric.spec().log_name().into_owned(), reducer))
            })
        };
        ComparisonError::no_common_metric(
            (self.base.name, metrics(self.base).collect()),
            (self.other.name, metrics(self.other).collect()),
            false,
        )
    }

    /// The blocks of both sides that belong together: those of one scorer, or those of the two scorers that the plans
    /// are about.
    fn blocks(&self) -> Result<Vec<(&'p Block<'p>, &'p Block<'p>)>, ComparisonError> {
        let across = matches!((self.base.only_scorer(), self.other.only_scorer()), (Some(_), Some(_)));
        let with = |base: &'p Block<'p>| Some((base, self.other.block_like(base, across)?));
        let blocks: Vec<_> = self.base.blocks.iter().filter_map(with).collect();
        let (base_scorers, other_scorers) = (self.base.scorers(), self.other.scorers());
        let have_common = across || base_scorers.iter().any(|scorer| other_scorers.contains(scorer));
        if !have_common {
            let text = format!(
                "{self} have no scorer in common: {} has scores by {}, {} by {}",
                self.base.name,
                list(&base_scorers),
                self.other.name,
                list(&other_scorers)
            );
            return Err(ComparisonError::new(Kind::NoCommonScorer, text));
        }
        Ok(blocks)
    }

    /// Other numbers of epochs are to be known, and no comparison at all where the reduced score depends on them.
    fn check_epochs(
        &self,
        blocks: &[(&Block<'_>, &Block<'_>)],
        common: &[u32],
        warnings: &mut Vec<ComparisonWarning>,
    ) -> Result<(), ComparisonError> {
        let mut unequal: BTreeSet<(usize, usize)> = BTreeSet::new();
        let differ = |[of_base, of_other]: [usize; 2]| {
            let (base, other) = (self.base.name, self.other.name);
            format!("the numbers of epochs differ ({base}: {of_base}, {other}: {of_other})")
        };
        for (block, other) in blocks {
            let (base_epochs, other_epochs) = (block.most_epochs, other.most_epochs);
            if !block.depends_on_epochs() {
                unequal.extend((base_epochs != other_epochs).then_some((base_epochs, other_epochs)));
                continue;
            }
            if base_epochs != other_epochs {
                return Err(unequal_epochs(&differ([base_epochs, other_epochs]), block));
            }
            self.check_scored_epochs([block, other], common, warnings)?;
        }
        for (base_epochs, other_epochs) in unequal {
            let text = differ([base_epochs, other_epochs]) + "; each sample is reduced to one score first";
            warnings.push(ComparisonWarning::other(text));
        }
        Ok(())
    }
}

/// Both names.
impl fmt::Display for SidePair<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} and {}", self.base.name, self.other.name)
    }
}

/// The error of numbers of epochs that differ, under a reducer whose value depends on them.
pub(super) fn unequal_epochs(how: &str, block: &Block<'_>) -> ComparisonError {
    ComparisonError::new(Kind::UnequalEpochs, format!("{how}, and {}", depends(block)))
}

/// Why numbers of epochs matter.
pub(super) fn depends(block: &Block<'_>) -> String {
    format!("what {} gives depends on that number", block.reducer.as_deref().unwrap_or_default())
}

/// The scores of one scorer and reducer on both sides.
pub(super) struct BlockPair<'p> {
    pub(super) sides: SidePair<'p>,
    pub(super) base: &'p Block<'p>,
    pub(super) other: &'p Block<'p>,
    pub(super) only: (u64, u64),
}

/// Some of the samples.
pub(super) struct SampleSelection {
    pub(super) group_key: Option<String>,
    pub(super) group: Option<String>,
    pub(super) pairing: Pairing,
}

impl<'p> BlockPair<'p> {
    fn compare(&self, common: &[u32], warnings: &mut Vec<ComparisonWarning>) -> Result<Vec<Comparison>> {
        if self.sides.options.unpaired {
            return unpaired::compare(self, warnings);
        }
        let pairing = Pairing::new(self.base, self.other, common);
        let by = self.sides.options.by.as_deref();
        // A key that samples lack is no matter of one metric.
        self.selections(&pairing, by)?;
        let mut comparisons = Vec::new();
        for metric in self.metrics() {
            let compared = self.compare_metric(metric, &pairing, by);
            collect(compared, metric, self, warnings, &mut comparisons);
        }
        retain_distinct(&mut comparisons);
        Ok(comparisons)
    }

    /// The metrics that both sides have, figures of their own.
    pub(super) fn metrics(&self) -> impl Iterator<Item = &'p dyn Metric> {
        let has = |metric: &&dyn Metric| self.other.metrics.iter().any(|other| other.spec() == metric.spec());
        self.base.metrics.iter().map(AsRef::as_ref).filter(|metric| is_compared(*metric)).filter(has)
    }

    fn compare_metric(
        &self,
        metric: &dyn Metric,
        pairing: &Pairing,
        by: Option<&str>,
    ) -> Result<Vec<Comparison>> {
        // Of groups of its own: the metric in it, group for group.
        let of_groups = metric.group_key().zip(metric.inner());
        if let Some((key, inner)) = of_groups
            && let Some(numbers) = self.numbers(inner, pairing)?
        {
            return numbers.by_groups(metric, &self.selections(pairing, Some(key))?);
        }
        let by = by.filter(|_| of_groups.is_none());
        match self.numbers(metric, pairing)? {
            Some(numbers) => numbers.compare_all(self.selections(pairing, by)?),
            None => self.by_resampling(metric, pairing, by),
        }
    }

    /// All samples, then group for group.
    fn selections(&self, pairing: &Pairing, by: Option<&str>) -> Result<Vec<SampleSelection>> {
        let all = SampleSelection { group_key: None, group: None, pairing: pairing.clone() };
        let Some(key) = by else { return Ok(vec![all]) };
        let groups = pairing.by_group(key, &[self.sides.base, self.sides.other])?;
        let of_group =
            |(name, pairing)| SampleSelection { group_key: Some(key.to_owned()), group: Some(name), pairing };
        Ok(std::iter::once(all).chain(groups.into_iter().map(of_group)).collect())
    }

    /// The comparison of a metric, without its figures.
    pub(super) fn template(
        &self,
        metric: &dyn Metric,
        group: (Option<String>, Option<String>),
    ) -> Comparison {
        let SidePair { base, other, task, .. } = self.sides;
        let mut comparison = Comparison::new(base.name, other.name, &self.base.scorer, &self.name_of(metric));
        comparison.task = task.map(str::to_owned);
        comparison.reducer.clone_from(&self.base.reducer);
        comparison.field.clone_from(&self.base.field);
        (comparison.role, comparison.direction) = (metric.role(), metric.direction());
        (comparison.group_key, comparison.group) = group;
        (comparison.only_base, comparison.only_other) = self.only;
        comparison
    }

    fn name_of(&self, metric: &dyn Metric) -> String {
        name_among(metric, self.metrics())
    }

    /// The per-sample numbers of both sides; none if the metric has none.
    fn numbers<'m>(&'m self, metric: &'m dyn Metric, pairing: &Pairing) -> Result<Option<WholeNumbers<'m>>> {
        if self.base.is_unreduced {
            return Ok(None);
        }
        let (base, other) = (self.base_scores(pairing), self.other_scores(pairing));
        let numbers = [metric.sample_numbers(&base), metric.sample_numbers(&other)];
        let [Some(base_numbers), Some(other_numbers)] = numbers else { return Ok(None) };
        let sides = [(base, base_numbers?), (other, other_numbers?)];
        WholeNumbers::new(self, metric, pairing, sides).map(Some)
    }

    pub(super) fn base_scores(&self, pairing: &Pairing) -> Scores<'p> {
        pairing.scores(self.sides.base, self.base)
    }

    pub(super) fn other_scores(&self, pairing: &Pairing) -> Scores<'p> {
        pairing.scores(self.sides.other, self.other)
    }

    pub(super) fn resampled<'m>(&'m self, metric: &'m dyn Metric) -> ResampledPair<'m> {
        ResampledPair { metric, base: (self.sides.base, self.base), other: (self.sides.other, self.other) }
    }

    pub(super) fn by_resampling(
        &self,
        metric: &dyn Metric,
        pairing: &Pairing,
        by: Option<&str>,
    ) -> Result<Vec<Comparison>> {
        let resampled = self.resampled(metric);
        let mut comparisons = Vec::new();
        for SampleSelection { group_key, group, pairing } in self.selections(pairing, by)? {
            for figure in resampled.paired(&pairing)? {
                let mut comparison = self.template(metric, (group_key.clone(), group.clone()));
                comparison.n = pairing.samples.len() as u64;
                comparison.difference.absent = pairing.absent.len() as u64;
                figure.fill(&mut comparison);
                comparisons.push(comparison);
            }
        }
        Ok(comparisons)
    }
}

/// The name of a metric; with its arguments if there is another of this name.
pub(super) fn name_among<'m>(
    metric: &dyn Metric,
    mut metrics: impl Iterator<Item = &'m dyn Metric>,
) -> String {
    let inner = innermost(metric);
    let name = inner.log_name().into_owned();
    let has_other = metrics.any(|other| {
        let other = innermost(other);
        other.log_name() == name && other != inner
    });
    if has_other { inner.to_string() } else { name }
}

/// Leaves each figure once: a metric, and the figure of all samples beside its groups, are the same. Twice it would count
/// as two tests in a correction.
pub(super) fn retain_distinct(comparisons: &mut Vec<Comparison>) {
    let mut seen = HashSet::new();
    comparisons.retain(|one| seen.insert((one.metric.clone(), one.group_key.clone(), one.group.clone())));
}

/// Adds the comparisons of a metric; one that fails fails alone.
pub(super) fn collect(
    compared: Result<Vec<Comparison>>,
    metric: &dyn Metric,
    pair: &BlockPair<'_>,
    warnings: &mut Vec<ComparisonWarning>,
    comparisons: &mut Vec<Comparison>,
) {
    match compared {
        Ok(of_metric) => comparisons.extend(of_metric),
        Err(error) => {
            let text = format!("{} of {} is left out: {error}", metric.spec().log_name(), pair.sides);
            warnings.push(ComparisonWarning::Failed { text, error: Box::new(error) });
        }
    }
}

/// One in so many epochs may lack its counterpart: what few of them change is far less than a difference of models.
const ONE_IN: u64 = 10;

/// Samples, and which group they are, in words; empty for all.
type NamedSamples = (String, Pairing);

impl SidePair<'_> {
    /// Refuses sides whose samples have different numbers of scored epochs, be it in one group only: the reducer favors the
    /// side that has more of them. A stray epoch is a warning.
    pub(super) fn check_scored_epochs(
        &self,
        blocks: [&Block<'_>; 2],
        common: &[u32],
        warnings: &mut Vec<ComparisonWarning>,
    ) -> Result<(), ComparisonError> {
        if self.options.unpaired {
            return self.check_mean_epochs(blocks);
        }
        let [base, other] = blocks;
        let all = Pairing::new(base, other, common);
        let in_groups = self.groups(base, &all, &[self.base, self.other]);
        let of_samples = |pairing: &Pairing| {
            let epochs = |sample: &u32| (*sample, blocks.map(|block| block.scored_epochs(*sample)));
            PairedEpochs::of(pairing.samples.iter().map(epochs))
        };
        let of_all = of_samples(&all);
        let (of_base, of_other) = (self.base.name, self.other.name);
        for (group, pairing) in std::iter::once((String::new(), all)).chain(in_groups) {
            let epochs = of_samples(&pairing);
            if let Some((sample, [base_epochs, other_epochs])) =
                epochs.example.filter(|_| !epochs.are_comparable())
            {
                let (PairedEpochs { pairs, unequal, .. }, sample) = (epochs, self.base.id(sample));
                let text = format!(
                    "{unequal} of {pairs} samples{group} have different numbers of scored epochs (sample {sample:?}: \
                     {of_base} {base_epochs}, {of_other} {other_epochs})"
                );
                return Err(unequal_epochs(&text, base));
            }
        }
        let PairedEpochs { pairs, unequal, .. } = of_all;
        let warning = ComparisonWarning::other(format!(
            "{unequal} of {pairs} samples have different numbers of scored epochs in {of_base} and {of_other}, and {}",
            depends(base)
        ));
        if unequal > 0 && !warnings.contains(&warning) {
            warnings.push(warning);
        }
        Ok(())
    }

    /// Without pairs the means are compared.
    fn check_mean_epochs(&self, blocks: [&Block<'_>; 2]) -> Result<(), ComparisonError> {
        let [base, other] = blocks;
        let (of_base, of_other) = (Pairing::of_side(self.base, base), Pairing::of_side(self.other, other));
        let mut others = self.groups(other, &of_other, &[self.other]);
        let in_groups =
            self.groups(base, &of_base, &[self.base]).into_iter().filter_map(|(group, pairing)| {
                let at = others.iter().position(|(name, _)| *name == group)?;
                Some((group, pairing, others.swap_remove(at).1))
            });
        for (group, of_base, of_other) in std::iter::once((String::new(), of_base, of_other)).chain(in_groups)
        {
            let [base_epochs, other_epochs] =
                [(base, &of_base), (other, &of_other)].map(|(block, pairing)| mean_epochs(block, pairing));
            if !are_comparable_means([base_epochs, other_epochs]) {
                let (of_base, of_other) = (self.base.name, self.other.name);
                let text = format!(
                    "samples{group} have {base_epochs:.1} scored epochs in {of_base} and {other_epochs:.1} in {of_other} \
                     on average"
                );
                return Err(unequal_epochs(&text, base));
            }
        }
        Ok(())
    }

    /// The samples by each key that figures are compared by.
    fn groups(&self, block: &Block<'_>, pairing: &Pairing, sides: &[&Side<'_>]) -> Vec<NamedSamples> {
        let of_metrics = block.metrics.iter().filter_map(|metric| metric.group_key());
        let keys: BTreeSet<&str> = self.options.by.as_deref().into_iter().chain(of_metrics).collect();
        let mut all = Vec::new();
        for key in keys {
            // A sample without the key is an error of the figures.
            for (name, pairing) in pairing.by_group(key, sides).unwrap_or_default() {
                all.push((format!(" with `{key}` {name}"), pairing));
            }
        }
        all
    }
}

/// The mean number of scored epochs.
fn mean_epochs(block: &Block<'_>, pairing: &Pairing) -> f64 {
    let epochs: u64 = pairing.samples.iter().map(|sample| u64::from(block.scored_epochs(*sample))).sum();
    epochs as f64 / pairing.samples.len().max(1) as f64
}

/// Whether samples have about as many epochs; a side without samples is compared with nothing.
fn are_comparable_means([base, other]: [f64; 2]) -> bool {
    base.min(other) == 0.0 || (base - other).abs() * ONE_IN as f64 <= base.max(other)
}

/// The epochs of pairs.
#[derive(Debug, Default)]
struct PairedEpochs {
    /// The pairs.
    pairs: u64,
    /// Those of them whose sides have different numbers of epochs.
    unequal: u64,
    /// The one that differs most: the sample, and the epochs of each side.
    example: Option<(u32, [u32; 2])>,
    /// The epochs of the larger side of each pair.
    epochs: u64,
    /// Those of them that the smaller side lacks.
    lacking: u64,
}

impl PairedEpochs {
    /// Adds samples with the scored epochs of both sides. Without one on each a sample is no pair.
    fn of(samples: impl Iterator<Item = (u32, [u32; 2])>) -> Self {
        let mut paired = PairedEpochs::default();
        let mut largest = 0;
        for (sample, [base, other]) in samples.filter(|(_, epochs)| !epochs.contains(&0)) {
            let lacking = base.abs_diff(other);
            paired.pairs += 1;
            paired.unequal += u64::from(lacking > 0);
            paired.epochs += u64::from(base.max(other));
            paired.lacking += u64::from(lacking);
            if lacking > largest {
                largest = lacking;
                paired.example = Some((sample, [base, other]));
            }
        }
        paired
    }

    /// Whether the sides can be compared in spite of the epochs that one of them lacks: a stray one, or few of many.
    fn are_comparable(&self) -> bool {
        self.lacking <= 1 || self.lacking * ONE_IN <= self.epochs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(epochs: &[[u32; 2]]) -> PairedEpochs {
        PairedEpochs::of((0..).zip(epochs.iter().copied()))
    }

    #[test]
    fn a_stray_epoch_is_no_reason_to_refuse() {
        let stray = of(&[[2, 2], [2, 1]]);
        assert!(stray.are_comparable());
        assert_eq!((stray.pairs, stray.unequal, stray.example), (2, 1, Some((1, [2, 1]))));
        assert!(!of(&[[2, 1], [2, 1]]).are_comparable());
        // 2 of 20 epochs; 3 of 20.
        assert!(of(&[[5, 5], [5, 4], [4, 5], [5, 5]]).are_comparable());
        assert!(!of(&[[5, 5], [5, 4], [3, 5], [5, 5]]).are_comparable());
        assert!(!of(&[[5, 1], [1, 5]]).are_comparable(), "as many in all, but not of a sample");
        let absent = of(&[[5, 5], [0, 5]]);
        assert!(absent.are_comparable());
        assert_eq!((absent.pairs, absent.unequal), (1, 0), "without an epoch there is no pair");
    }

    #[test]
    fn means_of_samples_that_are_not_pairs() {
        assert!(are_comparable_means([5.0, 4.5]));
        assert!(!are_comparable_means([5.0, 4.4]));
        assert!(!are_comparable_means([4.8, 1.2]));
        assert!(are_comparable_means([0.0, 5.0]));
    }
}
