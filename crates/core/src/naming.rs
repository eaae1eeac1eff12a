//! Names that must differ: the scorers of an evaluation, the keys that a log records metrics under.

use std::collections::{HashMap, HashSet};

use crate::value::decimal_digit;

/// Names that are taken, and a free one in place of each that is wanted again.
///
/// ```
/// use errorbar_core::TakenNames;
/// let mut names = TakenNames::default();
/// let keys = ["stderr", "mean", "stderr", "stderr"].map(|name| names.take(name, 2));
/// assert_eq!(keys, ["stderr", "mean", "stderr2", "stderr3"]);
/// ```
#[derive(Debug, Default)]
pub struct TakenNames {
    taken: HashSet<String>,
    /// The same in order.
    keys: Vec<String>,
    /// For a name that was taken before: how many of the keys were looked at, and the largest number behind it in them.
    largest: HashMap<String, (usize, Option<u128>)>,
}

impl TakenNames {
    /// A name that is still free, and from now on taken: the wanted one, or that with a number behind it.
    ///
    /// The number is one more than the largest integer that follows the wanted name in any that is taken (whatever comes
    /// after it), and at least `least`.
    pub fn take(&mut self, wanted: &str, least: u128) -> String {
        let mut key = wanted.to_owned();
        if self.taken.contains(wanted) {
            if !self.largest.contains_key(wanted) {
                self.largest.insert(wanted.to_owned(), (0, None));
            }
            let largest = self.largest.get_mut(wanted).and_then(|(seen, largest)| {
                let new = self.keys.get(*seen..).unwrap_or_default();
                let number = new.iter().filter_map(|key| number_behind(wanted, key)).max();
                *seen = self.keys.len();
                *largest = number.max(*largest);
                *largest
            });
            let number = largest.map_or(least, |largest| largest.saturating_add(1)).max(least);
            key = format!("{wanted}{number}");
            while self.taken.contains(&key) {
                key.push('2');
            }
        }
        self.taken.insert(key.clone());
        self.keys.push(key.clone());
        key
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
            keys.keys.push((*name).to_owned());
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
