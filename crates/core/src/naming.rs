//! Names that must differ: the keys of metrics in a block, the scorers of an evaluation.

use std::collections::BTreeSet;
use std::ops::Bound;

use crate::value::decimal_digit;

/// The keys that are taken, in order, so that those with a common beginning stand together.
#[derive(Debug, Default)]
pub(crate) struct TakenKeys(BTreeSet<String>);

impl TakenKeys {
    /// A key that is still free, and from now on taken: the wanted one, or that with a number behind it.
    ///
    /// The number is one more than the largest integer that follows the wanted key in any key that is
    /// there (whatever comes after it), and at least `least`.
    pub(crate) fn take(&mut self, wanted: &str, least: u128) -> String {
        let mut key = wanted.to_owned();
        if self.0.contains(wanted) {
            let alike = self
                .0
                .range::<str, _>((Bound::Included(wanted), Bound::Unbounded))
                .take_while(|key| key.starts_with(wanted));
            let largest = alike.filter_map(|key| number_behind(wanted, key)).max();
            let number = largest.map_or(least, |largest| largest.saturating_add(1)).max(least);
            key = format!("{wanted}{number}");
            while self.0.contains(&key) {
                key.push('2');
            }
        }
        self.0.insert(key.clone());
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
    let mut taken = TakenKeys::default();
    names.into_iter().map(|name| taken.take(name, 1)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn free_key(wanted: &str, taken: &TakenKeys) -> String {
        TakenKeys(taken.0.clone()).take(wanted, 2)
    }

    fn keys(names: &[&str]) -> TakenKeys {
        TakenKeys(names.iter().map(|n| (*n).to_owned()).collect())
    }

    #[test]
    fn numbers_follow_the_largest() {
        assert_eq!(free_key("stderr", &keys(&[])), "stderr");
        assert_eq!(free_key("stderr", &keys(&["stderr"])), "stderr2");
        assert_eq!(free_key("stderr", &keys(&["stderr", "stderr2"])), "stderr3");
        assert_eq!(free_key("stderr", &keys(&["stderr", "stderr7"])), "stderr8");
        // A group called "accuracy2" that finds its own name taken.
        assert_eq!(free_key("accuracy2", &keys(&["accuracy", "accuracy2"])), "accuracy22");
        assert_eq!(free_key("a", &keys(&["a", "a0", "ab"])), "a2");
        assert_eq!(free_key("a", &keys(&["a", "a7x", "a2.5", "a٣"])), "a8");
    }

    #[test]
    fn scorers_of_one_name() {
        assert_eq!(unique_names(["s", "s", "t", "s"]), ["s", "s1", "t", "s2"]);
        assert_eq!(unique_names(["s", "s", "s1"]), ["s", "s1", "s11"]);
        assert_eq!(unique_names(["s1", "s", "s"]), ["s1", "s", "s2"]);
    }
}
