//! Grouped metrics piece by piece: a state for each group, and one for all.

use indexmap::IndexMap;

use super::{All, Group, Grouped, MAX_GROUPS};
use crate::error::{Error, Result};
use crate::metric::{MetricState, MetricValue, same_state};
use crate::scores::Scores;

/// The states of one group.
#[derive(Debug)]
struct GroupState {
    value: Box<dyn MetricState>,
    error: Option<Box<dyn MetricState>>,
    sample: String,
    n: usize,
}

#[derive(Debug)]
pub(super) struct GroupedState {
    grouped: Grouped,
    groups: IndexMap<String, GroupState>,
    /// Only where the metric over all samples is wanted: a state that sees no score may be one that cannot finish.
    all: Option<Box<dyn MetricState>>,
}

impl GroupedState {
    pub(super) fn new(grouped: Grouped) -> Self {
        let wants_all = grouped.all.unwrap_or_default() == All::Samples;
        let all = if wants_all { grouped.metric.state() } else { None };
        GroupedState { grouped, groups: IndexMap::new(), all }
    }

    fn group(&mut self, name: String, sample: &str) -> Result<&mut GroupState> {
        if !self.groups.contains_key(&name) {
            if self.groups.len() >= MAX_GROUPS {
                return Err(self.grouped.too_many_groups());
            }
            let value = self.grouped.metric.state();
            let value = value.ok_or_else(|| Error::custom("the grouped metric has no mergeable state"))?;
            let error = self.grouped.macro_error().and_then(|error| error.state());
            self.groups.insert(name.clone(), GroupState { value, error, sample: sample.to_owned(), n: 0 });
        }
        self.groups.get_mut(&name).ok_or_else(|| Error::custom("a group was lost"))
    }
}

impl MetricState for GroupedState {
    fn update(&mut self, scores: &Scores<'_>) -> Result<()> {
        for (name, positions, sample) in self.grouped.split(scores)? {
            let of_group = scores.subset(&positions);
            let group = self.group(name.clone(), &sample)?;
            group.n += of_group.len();
            group.value.update(&of_group).map_err(|error| error.in_group(&name))?;
            group.error.as_mut().map(|error| error.update(&of_group)).transpose()?;
        }
        self.all.as_mut().map_or(Ok(()), |all| all.update(scores))
    }

    fn merge(&mut self, other: Box<dyn MetricState>) -> Result<()> {
        let other = same_state::<GroupedState>(other)?;
        for (name, GroupState { value, error, sample, n }) in other.groups {
            let group = self.group(name, &sample)?;
            group.n += n;
            group.value.merge(value)?;
            if let (Some(own), Some(error)) = (&mut group.error, error) {
                own.merge(error)?;
            }
        }
        match (&mut self.all, other.all) {
            (Some(all), Some(others)) => all.merge(others),
            _ => Ok(()),
        }
    }

    fn finish(&self) -> Result<MetricValue> {
        let mut groups = IndexMap::new();
        for (name, state) in &self.groups {
            let error = state.error.as_ref().map(|error| error.finish()).transpose()?;
            let group = Group {
                value: state.value.finish().map_err(|error| error.in_group(name))?,
                error,
                sample: state.sample.clone(),
                n: state.n,
            };
            groups.insert(name.clone(), group);
        }
        let all = match (&self.all, groups.is_empty()) {
            (Some(all), false) => Some(all.finish()?),
            _ => None,
        };
        self.grouped.assemble(groups, all)
    }
}
