//! Names that must differ: the scorers of an evaluation, the keys that a log records metrics under.

use std::collections::{BTreeSet, HashMap};
use std::ops::Bound;

use crate::value::decimal_digit;

/// Names that are taken, and a free one in place of each that is wanted again.
///
/// ```
/// use errorbar_core::engine::TakenNames;
/// let mut names = TakenNames::default();
/// let keys = ["stderr", "mean", "stderr", "stderr"].map(|name| names.take(name, 2));
/// assert_eq!(keys, ["stderr", "mean", "stderr2", "stderr3"]);
/// ```
#[derive(Debug, Default)]
pub struct TakenNames {
    /// Sorted, so that names with a common beginning stand together.
    taken: BTreeSet<String>,
    /// The same in the order in which they were taken.
    names: Vec<String>,
    /// For a name that was taken before: how many of the names were looked at, and the largest number behind it in them.
    largest: HashMap<String, (usize, Option<u128>)>,
}

/// So few new names are looked at one by one.
const FEW: usize = 64;

impl TakenNames {
    /// A name that is still free, and from now on taken: the wanted one, or that with a number behind it.
    ///
    /// The number is one more than the largest integer that follows the wanted name in any that is taken (whatever comes
    /// after it), and at least `least`.
    pub fn take(&mut self, wanted: &str, least: u128) -> String {
        let mut name = wanted.to_owned();
        if self.taken.contains(wanted) {
            let number = self.largest_behind(wanted).map_or(least, |largest| largest.saturating_add(1));
            name = format!("{wanted}{}", number.max(least));
            while self.taken.contains(&name) {
                name.push('2');
            }
        }
        self.taken.insert(name.clone());
        self.names.push(name.clone());
        name
    }

    /// The largest number behind a name that is taken.
    fn largest_behind(&mut self, wanted: &str) -> Option<u128> {
        let known = self.largest.get(wanted).and_then(|(_, largest)| *largest);
        let largest = self.candidates(wanted).filter_map(|name| number_behind(wanted, name)).max().max(known);
        self.largest.insert(wanted.to_owned(), (self.names.len(), largest));
        largest
    }

    /// The names that may have a number behind this one and were not looked at for it before.
    ///
    /// The groups of several metrics want the same names. So these are the names that begin with it, which are few, or
    /// all that are new, if those are few.
    fn candidates(&self, wanted: &str) -> Box<dyn Iterator<Item = &String> + '_> {
        let seen = self.largest.get(wanted).map_or(0, |(seen, _)| *seen);
        let new = self.names.get(seen..).unwrap_or_default();
        if new.len() <= FEW {
            return Box::new(new.iter());
        }
        let from = (Bound::Included(wanted), Bound::Unbounded);
        let wanted = wanted.to_owned();
        Box::new(self.taken.range::<str, _>(from).take_while(move |name| name.starts_with(&wanted)))
    }
}

fn number_behind(prefix: &str, key: &str) -> Option<u128> {
    let mut digits = key.strip_prefix(prefix)?.chars().map_while(decimal_digit).peekable();
    digits.peek()?;
    Some(digits.fold(0, |number: u128, digit| number.saturating_mul(10).saturating_add(u128::from(digit))))
}

/// Names made unique: the second `s` becomes `s1`, the third `s2`.
pub fn unique_names<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let mut taken = TakenNames::default();
    names.into_iter().map(|name| taken.take(name, 1)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn free_key(wanted: &str, taken: &[&str]) -> String {
        let mut keys = TakenNames::default();
        for name in taken {
            keys.taken.insert((*name).to_owned());
            keys.names.push((*name).to_owned());
        }
        keys.take(wanted, 2)
    }

    #[test]
    fn what_was_taken_meanwhile_counts() {
        let mut keys = TakenNames::default();
        let names = ["a", "a", "a9", "a", "b", "a", "a12x", "a", "b", "b"];
        let taken: Vec<String> = names.iter().map(|name| keys.take(name, 2)).collect();
        assert_eq!(taken, ["a", "a2", "a9", "a10", "b", "a11", "a12x", "a13", "b2", "b3"]);
    }

    #[test]
    fn names_of_many_groups_are_compared_with_few() {
        let groups = 5_000;
        for repeated in [false, true] {
            let (mut names, mut compared) = (TakenNames::default(), 0);
            for metric in 0..4 {
                for group in 0..groups {
                    let wanted = if repeated { "accuracy".to_owned() } else { group.to_string() };
                    compared += names.candidates(&wanted).count();
                    let taken = names.take(&wanted, 2);
                    assert!(
                        taken.starts_with(&wanted)
                            && (taken == wanted) == (metric == 0 && (group == 0 || !repeated))
                    );
                }
            }
            assert!(compared < 100 * 4 * groups, "{compared} of {groups}");
        }
    }

    #[test]
    fn numbers_follow_the_largest() {
        assert_eq!(free_key("stderr", &[]), "stderr");
        assert_eq!(free_key("stderr", &["stderr"]), "stderr2");
        assert_eq!(free_key("stderr", &["stderr", "stderr2"]), "stderr3");
        assert_eq!(free_key("stderr", &["stderr", "stderr7"]), "stderr8");
        // A group called "accuracy2" that finds its own name taken.
        assert_eq!(free_key("accuracy2", &["accuracy", "accuracy2"]), "accuracy22");
        assert_eq!(free_key("a", &["a", "a0", "ab"]), "a2");
        assert_eq!(free_key("a", &["a", "a7x", "a2.5", "a٣"]), "a8");
    }

    #[test]
    fn scorers_of_one_name() {
        assert_eq!(unique_names(["s", "s", "t", "s"]), ["s", "s1", "t", "s2"]);
        assert_eq!(unique_names(["s", "s", "s1"]), ["s", "s1", "s11"]);
        assert_eq!(unique_names(["s1", "s", "s"]), ["s1", "s", "s2"]);
    }
}
