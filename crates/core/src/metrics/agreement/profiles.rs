//! Items by their ratings: the distinct sets of ratings, and which items have each.

use std::collections::BTreeMap;

use crate::estimate::ScoreUnits;

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
