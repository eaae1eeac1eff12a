//! The keys that metrics get in a block of results.

use indexmap::IndexMap;

use crate::value::decimal_digit;

/// A key that is still free: the wanted one, or that with a number behind it.
///
/// The number is one more than the largest integer that follows the wanted key in any key that is
/// there (whatever comes after it), and at least 2.
pub(super) fn free_key<T>(wanted: &str, taken: &IndexMap<String, T>) -> String {
    numbered(wanted, taken.keys().map(String::as_str), 2)
}

fn numbered<'a>(wanted: &str, taken: impl Iterator<Item = &'a str> + Clone, least: u64) -> String {
    if !taken.clone().any(|key| key == wanted) {
        return wanted.to_owned();
    }
    let number = |key: &str| {
        let digits = key.strip_prefix(wanted)?.chars().map_while(decimal_digit);
        let mut digits = digits.map(u64::from).peekable();
        digits.peek()?;
        Some(digits.fold(0u64, |number, digit| number.saturating_mul(10).saturating_add(digit)))
    };
    let next = taken.filter_map(number).max().map_or(least, |largest| largest.saturating_add(1));
    format!("{wanted}{}", next.max(least))
}

/// Names made unique: the second `s` becomes `s1`, the third `s2`.
pub(super) fn unique_names<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let mut unique: Vec<String> = Vec::new();
    for name in names {
        unique.push(numbered(name, unique.iter().map(String::as_str), 1));
    }
    unique
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(names: &[&str]) -> IndexMap<String, ()> {
        names.iter().map(|n| ((*n).to_owned(), ())).collect()
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
