//! How far labels are from each other, and the distinct sets of ratings that figures are computed from.

use std::collections::BTreeMap;

use super::{RatedItems, label_of, label_text};
use crate::metrics::prelude::*;

/// How much two labels that differ disagree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Weights {
    /// By their distance.
    Linear,
    /// By the square of their distance.
    Quadratic,
}

impl ArgWord for Weights {
    const EXPECTED: &'static str = "\"linear\" or \"quadratic\"";
    const WORDS: &'static [(&'static str, Self)] =
        &[("linear", Weights::Linear), ("quadratic", Weights::Quadratic)];
}

impl Weights {
    /// The disagreement of two labels at these places between 0 and 1, between 0 and 1.
    pub(crate) fn disagreement(self, a: f64, b: f64) -> f64 {
        match self {
            Weights::Linear => (a - b).abs(),
            Weights::Quadratic => (a - b) * (a - b),
        }
    }

    /// Σ_ab n_a·n_b·d(a, b) over all ordered pairs of places with their counts, without visiting the pairs.
    pub(crate) fn disagreement_of_pairs(self, mut counted: Vec<(f64, f64)>) -> f64 {
        counted.sort_by(|a, b| a.0.total_cmp(&b.0));
        let all: f64 = counted.iter().map(|(_, count)| count).sum();
        match self {
            // From place to place, each pair that it lies between grows by the gap.
            Weights::Linear => {
                let (mut below, mut before, mut sum) = (0.0, 0.0, 0.0);
                for (place, count) in counted {
                    sum += (place - before) * below * (all - below);
                    below += count;
                    before = place;
                }
                2.0 * sum
            }
            Weights::Quadratic => {
                let mean = counted.iter().map(|(place, count)| place * count).sum::<f64>() / all;
                let squares = counted.iter().map(|(place, count)| count * (place - mean) * (place - mean));
                2.0 * all * squares.sum::<f64>()
            }
        }
    }
}

/// The declared order of labels.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LabelOrder<'m> {
    pub(crate) metric: &'static str,
    pub(crate) order: Option<&'m [Leaf]>,
}

impl LabelOrder<'_> {
    /// The labels that there may be, in canonical order: those of the items, and those that are declared.
    ///
    /// # Errors
    /// A label that is not among those declared.
    fn categories(self, scores: &Scores<'_>, items: &RatedItems) -> Result<Vec<LeafKey>> {
        let found = items.categories();
        let Some(order) = self.order else { return Ok(found) };
        let mut declared: Vec<LeafKey> = order.iter().map(|leaf| label_of(leaf.view())).collect();
        declared.sort_unstable();
        declared.dedup();
        match found.iter().find(|label| declared.binary_search(label).is_err()) {
            None => Ok(declared),
            Some(label) => Err(Error::Argument {
                target: self.metric.to_owned(),
                argument: "order".to_owned(),
                problem: format!(
                    "lacks the label {} (sample {:?}); list every label, the lowest first",
                    label_text(label),
                    items.sample_with(scores, label)
                ),
            }),
        }
    }

    /// The labels that there may be, and the place of each between 0 and 1; without weights all have the same.
    ///
    /// # Errors
    /// A label that is not among those declared, or labels without an order.
    pub(crate) fn places(
        self,
        scores: &Scores<'_>,
        items: &RatedItems,
        weights: Option<Weights>,
    ) -> Result<(Vec<LeafKey>, Vec<f64>)> {
        let categories = self.categories(scores, items)?;
        let places = match weights {
            Some(_) => self.places_of(&categories)?,
            None => vec![0.0; categories.len()],
        };
        Ok((categories, places))
    }

    /// The place of each category between 0 and 1: by the declared order, by its number, or by what grades are worth.
    ///
    /// # Errors
    /// Labels without an order.
    fn places_of(self, categories: &[LeafKey]) -> Result<Vec<f64>> {
        let declared = self.order.map(|order| {
            let order: Vec<LeafKey> = order.iter().map(|leaf| label_of(leaf.view())).collect();
            let place = |label| order.iter().position(|other| other == label).map(|place| place as f64);
            categories.iter().map(place).collect::<Option<Vec<f64>>>()
        });
        let numbers = declared
            .flatten()
            .or_else(|| categories.iter().map(number).collect())
            .or_else(|| categories.iter().map(grade).collect());
        let Some(numbers) = numbers else {
            let labels: Vec<String> = categories.iter().take(5).map(label_text).collect();
            return Err(Error::Argument {
                target: self.metric.to_owned(),
                argument: "weights".to_owned(),
                problem: format!(
                    "needs an order, and the labels {} have none; give order=[…], the lowest first",
                    labels.join(", ")
                ),
            });
        };
        Ok(scaled(&numbers))
    }
}

/// The number that a label is.
pub(crate) fn number(label: &LeafKey) -> Option<f64> {
    match label {
        LeafKey::Int(i) => Some(*i as f64),
        LeafKey::Big(big) => Some(*big as f64),
        LeafKey::Float(bits) => Some(f64::from_bits(*bits)).filter(|number| number.is_finite()),
        LeafKey::Null | LeafKey::Text(_) => None,
    }
}

/// What a grade is worth.
fn grade(label: &LeafKey) -> Option<f64> {
    match label {
        LeafKey::Text(text) if matches!(text.as_str(), "C" | "P" | "I" | "N") => {
            Some(Conversion::default().convert_leaf(LeafRef::Str(text)).value)
        }
        _ => None,
    }
}

/// Numbers moved to 0 … 1; halves, because the range of all numbers is beyond the largest.
fn scaled(numbers: &[f64]) -> Vec<f64> {
    let low = numbers.iter().copied().fold(f64::INFINITY, f64::min) / 2.0;
    let high = numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max) / 2.0;
    let range = high - low;
    let place = |number: &f64| if range > 0.0 { (number / 2.0 - low) / range } else { 0.0 };
    numbers.iter().map(place).collect()
}

/// The codes of the ratings of an item.
pub(crate) type Profile = Vec<u32>;

/// The distinct profiles in a canonical order, and that of each item.
#[derive(Debug)]
pub(crate) struct Profiles {
    pub(crate) list: Vec<Profile>,
    of_item: Vec<u32>,
}

impl Profiles {
    pub(super) fn new(items: impl Iterator<Item = Profile>) -> Self {
        let items: Vec<Profile> = items.collect();
        let mut numbers: BTreeMap<&Profile, u32> = items.iter().map(|profile| (profile, 0)).collect();
        numbers.values_mut().zip(0..).for_each(|(number, at)| *number = at);
        let of_item = items.iter().map(|profile| numbers.get(profile).copied().unwrap_or(0)).collect();
        Profiles { list: numbers.into_keys().cloned().collect(), of_item }
    }

    /// How many items have each profile.
    pub(crate) fn counts(&self) -> Vec<u64> {
        let mut counts = vec![0; self.list.len()];
        self.of_item.iter().for_each(|profile| add(&mut counts, *profile, 1));
        counts
    }

    /// The profiles of the items of each unit.
    pub(super) fn of_units(&self, units: &ScoreUnits) -> UnitProfiles {
        let mut found = UnitProfiles { profiles: Vec::new(), ends: Vec::new(), distinct: self.list.len() };
        for positions in units.iter() {
            let of = |position: &u32| self.of_item.get(*position as usize).copied();
            found.profiles.extend(positions.iter().filter_map(of));
            found.ends.push(found.profiles.len());
        }
        found
    }
}

/// The profiles of the items of each unit, unit after unit.
#[derive(Debug)]
pub(super) struct UnitProfiles {
    profiles: Vec<u32>,
    ends: Vec<usize>,
    distinct: usize,
}

impl UnitProfiles {
    /// How many items of a resample have each profile.
    pub(super) fn counts(&self, draws: &[u32]) -> Vec<u64> {
        let mut counts = vec![0; self.distinct];
        let mut start = 0;
        for (end, times) in self.ends.iter().zip(draws) {
            if *times > 0 {
                let profiles = self.profiles.get(start..*end).unwrap_or_default();
                profiles.iter().for_each(|profile| add(&mut counts, *profile, (*times).into()));
            }
            start = *end;
        }
        counts
    }
}

fn add(counts: &mut [u64], at: u32, more: u64) {
    if let Some(count) = counts.get_mut(at as usize) {
        *count += more;
    }
}
