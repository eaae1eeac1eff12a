//! Names that must differ: the scorers of an evaluation, the keys that a log records metrics under.

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::hash::Hash;
use std::ops::Bound;
use std::str::FromStr;

use foldhash::fast::RandomState;
use indexmap::{Equivalent, IndexSet};

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

// In which order results list what they find.

/// In which order results list what they find in the scores: groups, categories, scorers that no plan names, the keys of
/// map-valued scores. Numbers do not depend on it.
///
/// ```
/// use errorbar_core::Order;
/// assert_eq!("key".parse(), Ok(Order::Key));
/// assert_eq!(Order::default().to_string(), "appearance");
/// assert!("id".parse::<Order>().unwrap_err().contains("appearance or key"));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Order {
    /// As they first appear in the rows.
    #[default]
    Appearance,
    /// Whatever the order of the rows: samples by their ids as strings, groups, categories and scorers by name. The first
    /// map-valued score is that of the smallest id. [Partial results](crate::Partial) are finished in this order, because
    /// what several machines compute has no other.
    Key,
}

impl Order {
    /// All of them.
    pub const ALL: [Order; 2] = [Order::Appearance, Order::Key];

    /// The name in options and in the text of plans.
    pub fn name(self) -> &'static str {
        match self {
            Order::Appearance => "appearance",
            Order::Key => "key",
        }
    }
}

impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Order {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let order = Order::ALL.into_iter().find(|order| order.name() == name);
        order.ok_or_else(|| format!("the order is appearance or key, found {name:?}"))
    }
}

/// The place of each item among all in ascending order.
pub(crate) fn ranks<T: Ord>(items: &[T]) -> Vec<u32> {
    let mut order: Vec<usize> = (0..items.len()).collect();
    order.sort_unstable_by_key(|at| items.get(*at));
    let mut ranks = vec![0; order.len()];
    for (rank, at) in order.into_iter().enumerate() {
        ranks.get_mut(at).into_iter().for_each(|slot| *slot = rank as u32);
    }
    ranks
}

// Distinct items, each stored once and numbered in order of first appearance.

/// Distinct items and their codes: 0 for the first that came, 1 for the next.
///
/// The hash is seeded per process, so that ids and strings in a hostile file cannot be chosen to collide. Nothing depends
/// on the order of hashes.
#[derive(Clone, Debug)]
pub struct Interner<T> {
    items: IndexSet<T, RandomState>,
}

impl<T> Default for Interner<T> {
    fn default() -> Self {
        Interner { items: IndexSet::default() }
    }
}

impl<T: Eq + Hash> Interner<T> {
    /// The code of an item, which is added if it is new.
    #[inline]
    pub fn intern(&mut self, item: T) -> u32 {
        self.items.insert_full(item).0 as u32
    }

    /// The code of an item, which is made only if it is new.
    #[inline]
    pub fn intern_with<Q: Equivalent<T> + Hash + ?Sized>(
        &mut self,
        item: &Q,
        make: impl FnOnce() -> T,
    ) -> u32 {
        match self.items.get_index_of(item) {
            Some(code) => code as u32,
            None => self.intern(make()),
        }
    }

    /// The item of a code.
    #[inline]
    pub fn get(&self, code: usize) -> Option<&T> {
        self.items.get_index(code)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many distinct strings there are.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// The items, by code.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &T> {
        self.items.iter()
    }

    /// The bytes of the tables; what items hold elsewhere is not among them.
    pub fn heap_bytes(&self) -> usize {
        // An entry has its hash beside it, and a number and a byte in the table.
        self.items.capacity() * (size_of::<T>() + 8 + 5)
    }
}

impl<T: Eq + Hash> FromIterator<T> for Interner<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        Interner { items: items.into_iter().collect() }
    }
}

/// What each of the codes that were met stands for.
pub(crate) type CodeTable = HashMap<u32, u32, RandomState>;

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

#[cfg(test)]
mod interner_tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn strings_have_the_number_of_their_first_appearance() {
        // Of any length, and again in another order.
        let texts: Vec<String> = (0..3000).map(|n| format!("{n}{}", "x".repeat(n % 150))).collect();
        let mut interner: Interner<Arc<str>> = Interner::default();
        let mut code = |text: &str| interner.intern_with(text, || text.into());
        for _ in 0..2 {
            assert!((0..).zip(&texts).all(|(number, text)| code(text) == number));
            assert!((0..3000).rev().all(|number| code(&texts[number]) == number as u32));
        }
        assert_eq!(code(""), 3000);
        assert_eq!(interner.len(), 3001);
    }
}
