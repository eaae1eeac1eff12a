//! The numbers of what a metric returned over a resample, at the places of those that it returned over all scores.

use std::collections::HashMap;

use crate::estimate::Estimate;
use crate::evaluation::{Group, GroupAggregate, Groups, MetricValue};

/// One number for each estimate of `whole`, in its order; not a number where `part` has none.
pub(super) fn figures(whole: &MetricValue, part: &MetricValue) -> Vec<f64> {
    let mut figures = Vec::new();
    collect(whole, Some(part), &mut figures);
    figures
}

fn number(estimate: Option<&Estimate>) -> f64 {
    estimate.and_then(Estimate::number).unwrap_or(f64::NAN)
}

fn collect(whole: &MetricValue, part: Option<&MetricValue>, figures: &mut Vec<f64>) {
    match whole {
        MetricValue::One(_) => figures.push(number(part.and_then(MetricValue::estimate))),
        MetricValue::Map(map) => {
            let part = part.and_then(|part| match part {
                MetricValue::Map(part) => Some(part),
                _ => None,
            });
            for (key, _) in map.iter().filter(|(_, estimate)| estimate.is_some()) {
                figures.push(number(part.and_then(|part| part.get(key)?.as_ref())));
            }
        }
        MetricValue::List(list) => {
            let part = part.and_then(|part| match part {
                MetricValue::List(part) => Some(part),
                _ => None,
            });
            for (at, _) in list.iter().enumerate().filter(|(_, estimate)| estimate.is_some()) {
                figures.push(number(part.and_then(|part| part.get(at)?.as_ref())));
            }
        }
        MetricValue::Groups(groups) => {
            let part = part.and_then(|part| match part {
                MetricValue::Groups(part) => Some(part),
                _ => None,
            });
            // The order of groups is that of their first scores, which a resample changes.
            let by_name: HashMap<&str, &MetricValue> = part
                .map(|part| part.groups.iter().map(|group| (group.name.as_str(), &group.value)).collect())
                .unwrap_or_default();
            for group in &groups.groups {
                collect(&group.value, by_name.get(group.name.as_str()).copied(), figures);
            }
            if let Some(all) = &groups.all {
                let part = part.and_then(|part| part.all.as_ref()).map(|all| all.value.as_ref());
                collect(&all.value, part, figures);
            }
        }
    }
}

/// Changes every estimate, in the order of [`figures`].
pub(super) fn fill_in(whole: MetricValue, change: &mut dyn FnMut(Estimate) -> Estimate) -> MetricValue {
    match whole {
        MetricValue::One(estimate) => MetricValue::One(change(estimate)),
        MetricValue::Map(map) => MetricValue::Map(
            map.into_iter().map(|(key, estimate)| (key, estimate.map(&mut *change))).collect(),
        ),
        MetricValue::List(list) => {
            MetricValue::List(list.into_iter().map(|estimate| estimate.map(&mut *change)).collect())
        }
        MetricValue::Groups(Groups { key, groups, all }) => {
            let mut filled = Vec::with_capacity(groups.len());
            for group in groups {
                filled.push(Group { value: fill_in(group.value, change), ..group });
            }
            let all = all.map(|all| GroupAggregate { value: Box::new(fill_in(*all.value, change)), ..all });
            MetricValue::Groups(Groups { key, groups: filled, all })
        }
    }
}
