//! The weights of groups in the mean over them.

use super::{GroupRows, Grouped};
use crate::metrics::prelude::*;

/// The weights of groups in the mean over them.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum GroupWeights {
    /// By the name of the group.
    Named(IndexMap<String, f64>),
    /// In this metadata key: the same for all samples of a group.
    Key(String),
}

impl From<&str> for GroupWeights {
    fn from(key: &str) -> Self {
        GroupWeights::Key(key.to_owned())
    }
}

impl<S: Into<String>, const N: usize> From<[(S, f64); N]> for GroupWeights {
    fn from(weights: [(S, f64); N]) -> Self {
        GroupWeights::Named(weights.into_iter().map(|(group, weight)| (group.into(), weight)).collect())
    }
}

impl ArgType for GroupWeights {
    const EXPECTED: &'static str =
        "a map from the names of groups to their weights, or the metadata key that has them";

    fn from_arg(arg: &Arg, _: &Registry) -> Result<Self, ArgProblem> {
        let expected = || ArgProblem::Expected(Self::EXPECTED);
        match arg {
            Arg::Str(key) => Ok(GroupWeights::Key(key.clone())),
            Arg::Map(map) => {
                let weight = |(group, weight): (&String, &Arg)| Some((group.clone(), weight.as_f64()?));
                let weights: Option<IndexMap<String, f64>> = map.iter().map(weight).collect();
                weights.map(GroupWeights::Named).ok_or_else(expected)
            }
            _ => Err(expected()),
        }
    }

    fn to_arg(&self) -> Arg {
        match self {
            GroupWeights::Key(key) => Arg::Str(key.clone()),
            GroupWeights::Named(map) => {
                let entries = map.iter().map(|(group, weight)| (group.clone(), Arg::Float(*weight)));
                Arg::Map(entries.collect())
            }
        }
    }
}

fn is_weight(weight: f64) -> bool {
    weight.is_finite() && weight >= 0.0
}

pub(super) fn check(weights: &GroupWeights) -> Result<(), String> {
    let GroupWeights::Named(map) = weights else { return Ok(()) };
    if let Some((group, weight)) = map.iter().find(|(_, weight)| !is_weight(**weight)) {
        return Err(format!("must be numbers that are not below 0, found {weight} for {group:?}"));
    }
    match map.values().any(|weight| *weight > 0.0) {
        true => Ok(()),
        false => Err("must have one above 0".to_owned()),
    }
}

impl GroupWeights {
    /// The metadata key that has them.
    pub(super) fn key(&self) -> Option<&str> {
        match self {
            GroupWeights::Key(key) => Some(key),
            GroupWeights::Named(_) => None,
        }
    }

    /// Gives the groups that have scores their weights.
    pub(super) fn put(&self, groups: &mut [GroupRows], scores: &Scores<'_>) -> Result<()> {
        match self {
            GroupWeights::Named(map) => {
                for group in groups.iter_mut().filter(|group| !group.positions.is_empty()) {
                    let weight = map.get(&group.name).copied();
                    group.weight = weight.ok_or_else(|| no_weight(&group.name, &group.sample))?;
                }
            }
            GroupWeights::Key(key) => {
                let column = scores.key(Grouped::NAME, key);
                let codes = scores.codes(&column)?;
                for group in groups.iter_mut() {
                    let mut weight: Option<(f64, u32)> = None;
                    for &at in &group.positions {
                        let code = codes.get(at as usize).copied().unwrap_or(u32::MAX);
                        if weight.is_some_and(|(_, known)| known == code) {
                            continue;
                        }
                        let sample = scores.sample_id(at as usize);
                        let found = column.value(code as usize);
                        let number = found.and_then(number).ok_or_else(|| no_number(key, sample, found))?;
                        match weight {
                            Some((known, _)) if known != number => {
                                return Err(differ(&group.name, &group.sample, sample));
                            }
                            _ => weight = Some((number, code)),
                        }
                    }
                    group.weight = weight.map_or(1.0, |(weight, _)| weight);
                }
            }
        }
        let mut scored = groups.iter().filter(|group| !group.positions.is_empty()).peekable();
        if scored.peek().is_some() && scored.all(|group| group.weight == 0.0) {
            return Err(undefined(
                "the weights of all groups with scores are 0; give one of them a weight".to_owned(),
            ));
        }
        Ok(())
    }
}

/// A weight in metadata.
fn number(json: &Json) -> Option<f64> {
    number_of(json).filter(|weight| is_weight(*weight))
}

fn undefined(problem: String) -> Error {
    Error::undefined(Grouped::NAME, problem)
}

fn no_weight(group: &str, sample: &str) -> Error {
    undefined(format!(
        "the group {group:?} (of sample {sample:?}) has no weight; give every group one in `weights`"
    ))
}

fn no_number(key: &str, sample: &str, found: Option<&Json>) -> Error {
    let found = found.map_or_else(|| "nothing".to_owned(), Json::to_string);
    undefined(format!(
        "sample {sample:?}: the weight in metadata key `{key}` must be a number from 0 on, found {found}"
    ))
}

/// The error of a group whose samples have different weights.
pub(super) fn differ(group: &str, one: &str, other: &str) -> Error {
    undefined(format!(
        "the samples {one:?} and {other:?} of the group {group:?} have different weights; a group has one weight"
    ))
}
