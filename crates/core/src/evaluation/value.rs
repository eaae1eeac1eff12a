//! What a metric returns.

use indexmap::IndexMap;

use crate::estimate::{Estimate, Undefined};

/// What a metric returns: an estimate, several by name or by position, or one for each group of samples.
///
/// ```
/// use errorbar_core::{Estimate, IndexMap, MetricValue};
/// assert_eq!(MetricValue::from(0.5).number(), Some(0.5));
/// let ends = MetricValue::from(IndexMap::from([("low".to_owned(), 0.2), ("high".to_owned(), 0.8)]));
/// assert_eq!(ends.get("high").and_then(Estimate::number), Some(0.8));
/// ```
#[expect(
    clippy::large_enum_variant,
    reason = "nearly every value is one estimate, and a box for each would cost more"
)]
#[derive(Clone, Debug, PartialEq)]
pub enum MetricValue {
    /// One estimate.
    One(Estimate),
    /// Several, by name; a missing one is left out of the results.
    Map(IndexMap<String, Option<Estimate>>),
    /// Several, by position; a missing one is left out and the others keep their position.
    List(Vec<Option<Estimate>>),
    /// One for each group of samples.
    Groups(Groups),
}

/// A metric for each value of a metadata key.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Groups {
    /// The metadata key.
    pub key: String,
    /// The groups, in order of first appearance; those without a score too.
    pub groups: Vec<Group>,
    /// The aggregate beside them.
    pub all: Option<GroupAggregate>,
}

impl Groups {
    /// The groups of a metadata key, without an aggregate.
    pub fn new(key: impl Into<String>, groups: Vec<Group>) -> Self {
        Groups { key: key.into(), groups, all: None }
    }

    /// Adds the aggregate.
    #[must_use]
    pub fn with_all(
        mut self,
        label: impl Into<String>,
        over: AggregateBasis,
        value: impl Into<MetricValue>,
    ) -> Self {
        self.all = Some(GroupAggregate { label: label.into(), over, value: Box::new(value.into()) });
        self
    }
}

/// A metric over one group.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Group {
    /// The value of the metadata key as Python writes it: which group it is.
    pub name: String,
    /// The name that results show.
    pub label: String,
    /// The number of scores in it.
    pub n: u64,
    /// The value.
    pub value: MetricValue,
}

impl Group {
    /// A group that results show by its name.
    pub fn new(name: impl Into<String>, n: u64, value: impl Into<MetricValue>) -> Self {
        let name = name.into();
        Group { label: name.clone(), name, n, value: value.into() }
    }
}

/// The aggregate beside groups.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct GroupAggregate {
    /// The name that results show.
    pub label: String,
    /// What it is taken over.
    pub over: AggregateBasis,
    /// The value.
    pub value: Box<MetricValue>,
}

/// What an aggregate is taken over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AggregateBasis {
    /// All samples: the metric itself.
    Samples,
    /// The groups: the plain mean of their values.
    Groups,
}

impl MetricValue {
    /// The estimate, if it is one.
    pub fn estimate(&self) -> Option<&Estimate> {
        match self {
            MetricValue::One(estimate) => Some(estimate),
            _ => None,
        }
    }

    /// The estimate itself; undefined if it is not one.
    pub(crate) fn into_estimate(self) -> Estimate {
        match self {
            MetricValue::One(estimate) => estimate,
            _ => Estimate::undefined(Undefined::NoScores),
        }
    }

    /// The number, if it is one and it is defined.
    pub fn number(&self) -> Option<f64> {
        self.estimate().and_then(Estimate::number)
    }

    /// The estimate under a key of a map, or of the group of that label.
    pub fn get(&self, key: &str) -> Option<&Estimate> {
        match self {
            MetricValue::Map(map) => map.get(key)?.as_ref(),
            MetricValue::Groups(groups) => {
                let all = groups.all.as_ref().filter(|all| all.label == key).map(|all| all.value.as_ref());
                let group = groups.groups.iter().find(|group| group.label == key).map(|group| &group.value);
                group.or(all)?.estimate()
            }
            MetricValue::One(_) | MetricValue::List(_) => None,
        }
    }

    /// Every estimate changed.
    #[must_use]
    pub fn map(self, mut change: impl FnMut(Estimate) -> Estimate) -> Self {
        self.map_each(&mut change)
    }

    fn map_each(self, change: &mut dyn FnMut(Estimate) -> Estimate) -> Self {
        match self {
            MetricValue::One(estimate) => MetricValue::One(change(estimate)),
            MetricValue::Map(map) => {
                MetricValue::Map(map.into_iter().map(|(key, e)| (key, e.map(&mut *change))).collect())
            }
            MetricValue::List(list) => {
                MetricValue::List(list.into_iter().map(|e| e.map(&mut *change)).collect())
            }
            MetricValue::Groups(Groups { key, groups, all }) => MetricValue::Groups(Groups {
                key,
                groups: groups
                    .into_iter()
                    .map(|group| Group { value: group.value.map_each(change), ..group })
                    .collect(),
                all: all.map(|all| GroupAggregate { value: Box::new(all.value.map_each(change)), ..all }),
            }),
        }
    }
}

impl From<f64> for MetricValue {
    fn from(value: f64) -> Self {
        MetricValue::One(Estimate::new(value))
    }
}
impl From<i64> for MetricValue {
    fn from(value: i64) -> Self {
        MetricValue::from(value as f64)
    }
}
impl From<usize> for MetricValue {
    fn from(value: usize) -> Self {
        MetricValue::from(value as f64)
    }
}
impl From<Estimate> for MetricValue {
    fn from(estimate: Estimate) -> Self {
        MetricValue::One(estimate)
    }
}
impl From<Groups> for MetricValue {
    fn from(groups: Groups) -> Self {
        MetricValue::Groups(groups)
    }
}
impl<E: Into<Estimate>> From<IndexMap<String, E>> for MetricValue {
    fn from(map: IndexMap<String, E>) -> Self {
        MetricValue::Map(map.into_iter().map(|(key, value)| (key, Some(value.into()))).collect())
    }
}
impl<E: Into<Estimate>> From<IndexMap<String, Option<E>>> for MetricValue {
    fn from(map: IndexMap<String, Option<E>>) -> Self {
        MetricValue::Map(map.into_iter().map(|(key, value)| (key, value.map(Into::into))).collect())
    }
}
impl<E: Into<Estimate>> From<Vec<E>> for MetricValue {
    fn from(list: Vec<E>) -> Self {
        MetricValue::List(list.into_iter().map(|value| Some(value.into())).collect())
    }
}
impl<E: Into<Estimate>> From<Vec<Option<E>>> for MetricValue {
    fn from(list: Vec<Option<E>>) -> Self {
        MetricValue::List(list.into_iter().map(|value| value.map(Into::into)).collect())
    }
}
