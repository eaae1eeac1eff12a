//! Grouped metrics piece by piece: a state for each group, and one for all.

use super::macro_mean::total;
use super::{All, GroupRows, GroupValue, Grouped, MAX_GROUPS, no_scores, weights};
use crate::estimate::error_across_groups;
use crate::metrics::prelude::*;

/// The state of one group.
#[derive(Debug)]
struct GroupState {
    value: Box<dyn MetricState>,
    sample: String,
    n: u64,
    absent: usize,
    /// Its weight in the mean over groups, once one of its scores was seen.
    weight: Option<f64>,
}

#[derive(Debug)]
pub(super) struct GroupedState {
    grouped: Grouped,
    estimation: Estimation,
    groups: IndexMap<String, GroupState>,
    /// Only where the metric over all samples is wanted: a state that sees no score may be one that cannot finish.
    all: Option<Box<dyn MetricState>>,
}

impl GroupedState {
    /// None if the metric of the groups has no state.
    pub(super) fn new(grouped: Grouped, estimation: &Estimation) -> Option<Self> {
        let mut estimation = estimation.clone();
        // How far a group is shrunken depends on its error.
        estimation.value_only &= !grouped.shrink_or_default();
        let state = grouped.metric.state(&estimation)?;
        let wants_all = grouped.all_or_default() == All::Samples;
        let all = wants_all.then_some(state);
        Some(GroupedState { grouped, estimation, groups: IndexMap::new(), all })
    }

    fn group(&mut self, name: &str, sample: &str) -> Result<&mut GroupState> {
        if !self.groups.contains_key(name) {
            if self.groups.len() >= MAX_GROUPS {
                return Err(self.grouped.too_many_groups());
            }
            let value = self.grouped.metric.state(&self.estimation);
            let value = value.ok_or_else(|| Error::custom("the grouped metric has no mergeable state"))?;
            let state = GroupState { value, sample: sample.to_owned(), n: 0, absent: 0, weight: None };
            self.groups.insert(name.to_owned(), state);
        }
        self.groups.get_mut(name).ok_or_else(|| Error::custom("a group was lost"))
    }

    /// The same for scores that are added to it. The order of groups is that of their first scores.
    fn with_scores(
        &mut self,
        name: &str,
        sample: &str,
        n: u64,
        weight: Option<f64>,
    ) -> Result<&mut GroupState> {
        if n > 0
            && self.groups.get(name).is_some_and(|group| group.n == 0)
            && let Some(mut group) = self.groups.shift_remove(name)
        {
            group.sample = sample.to_owned();
            self.groups.insert(name.to_owned(), group);
        }
        let group = self.group(name, sample)?;
        group.n += n;
        if let (Some(known), Some(weight)) = (group.weight, weight)
            && known != weight
        {
            return Err(weights::differ(name, &group.sample, sample));
        }
        group.weight = group.weight.or(weight);
        Ok(group)
    }
}

impl GroupedState {
    /// The error of the mean over groups, if clusters span groups.
    fn error_across(&self) -> Option<ErrorFigure> {
        if self.grouped.all_or_default() != All::Groups {
            return None;
        }
        let scored = || self.groups.values().filter(|group| group.n > 0);
        let total = total(scored().map(|group| group.weight.unwrap_or(1.0)));
        let part = |group: &'_ GroupState| group.weight.unwrap_or(1.0) / total;
        let mut groups = Vec::new();
        for group in scored() {
            groups.push((group.value.summary()?, part(group)));
        }
        error_across_groups(&groups, &self.estimation.errors, &self.estimation.random)
    }
}

impl Accumulator for GroupedState {
    fn update(&mut self, scores: &Scores<'_>) -> Result<()> {
        for GroupRows { name, positions, absent, sample, weight } in self.grouped.split(scores)? {
            let of_group = scores.subset(positions, absent);
            let weight = (!of_group.is_empty()).then_some(weight);
            let group = self.with_scores(&name, &sample, of_group.len() as u64, weight)?;
            group.absent += of_group.absent();
            group.value.update(&of_group).map_err(|error| error.in_group(&name))?;
        }
        self.all.as_mut().map_or(Ok(()), |all| all.update(scores))
    }

    fn merge(&mut self, other: Self) -> Result<()> {
        for (name, GroupState { value, sample, n, absent, weight }) in other.groups {
            let group = self.with_scores(&name, &sample, n, weight)?;
            group.absent += absent;
            group.value.merge(value)?;
        }
        match (&mut self.all, other.all) {
            (Some(all), Some(others)) => all.merge(others),
            _ => Ok(()),
        }
    }

    fn kind(&self) -> Option<ScoreKind> {
        self.groups.values().filter_map(|group| group.value.kind()).reduce(ScoreKind::and)
    }

    fn finish(&self, whole: GroupContext) -> Result<MetricValue> {
        // Whether scores are zeros and ones is a question to all of them, not to each group.
        let estimates = whole.estimates.max(1).saturating_mul(self.groups.len() + 1);
        let whole = GroupContext {
            kind: whole.kind.or_else(|| Accumulator::kind(self)),
            n: whole.n.or_else(|| Some(self.groups.values().map(|group| group.n).sum())),
            estimates,
            level: whole.level,
            is_group: whole.is_group,
        };
        let scored = self.groups.values().filter(|group| group.n > 0).count();
        let level = self.grouped.level_of_groups(scored, &self.estimation.errors);
        let of_groups = GroupContext { level: level.or(whole.level), is_group: true, ..whole };
        let mut groups = Vec::with_capacity(self.groups.len());
        for (name, GroupState { value, sample, n, absent, weight }) in &self.groups {
            let value = match n {
                0 => no_scores(*absent),
                _ => value.finish(of_groups).map_err(|error| error.in_group(name))?,
            };
            let (name, sample, weight) = (name.clone(), sample.clone(), weight.unwrap_or(1.0));
            groups.push(GroupValue { name, value, sample, n: *n, weight });
        }
        // Groups without a score come last.
        groups.sort_by_key(|group: &GroupValue| group.n == 0);
        let is_empty = groups.iter().all(|group| group.n == 0);
        let all = match (&self.all, is_empty) {
            (Some(all), false) => Some(all.finish(whole)?),
            _ => None,
        };
        self.grouped.assemble(groups, all, &self.estimation, whole.kind, self.error_across())
    }
}
