//! The order of groups and shares below their heading.

use std::cmp::Ordering;

/// The order of groups and shares below their heading. The aggregate of groups stays the last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sort {
    /// As they come: the order of first appearance.
    #[default]
    None,
    /// The highest value first, undefined ones last.
    Value,
    /// By name; numbers by their size, before other names.
    Name,
    /// The largest number of scores first.
    N,
}

/// What rows are sorted by.
#[derive(Debug, Clone)]
pub(crate) struct SortKey {
    pub(crate) is_aggregate: bool,
    pub(crate) name: String,
    pub(crate) value: Option<f64>,
    pub(crate) n: u64,
}

impl Sort {
    pub(crate) fn compare(self, a: &SortKey, b: &SortKey) -> Ordering {
        // Unsorted aggregates stay where they belong.
        let order = match self {
            Sort::None => return Ordering::Equal,
            Sort::Value => match (a.value, b.value) {
                (Some(a), Some(b)) => b.total_cmp(&a),
                (a, b) => b.is_some().cmp(&a.is_some()),
            },
            Sort::Name => match (number(&a.name), number(&b.name)) {
                (Some(first), Some(second)) => first.total_cmp(&second).then_with(|| a.name.cmp(&b.name)),
                (None, None) => a.name.cmp(&b.name),
                (first, second) => second.is_some().cmp(&first.is_some()),
            },
            Sort::N => b.n.cmp(&a.n),
        };
        a.is_aggregate.cmp(&b.is_aggregate).then(order)
    }
}

fn number(name: &str) -> Option<f64> {
    name.parse::<f64>().ok().filter(|number| number.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_order() {
        let key = |name: &str, value, n| SortKey { is_aggregate: false, name: name.to_owned(), value, n };
        let all =
            [key("10", Some(0.5), 3), key("b", None, 0), key("2", Some(0.9), 40), key("a", Some(-1.0), 7)];
        let names = |sort: Sort| {
            let mut sorted = all.to_vec();
            sorted.sort_by(|a, b| sort.compare(a, b));
            sorted.iter().map(|key| key.name.clone()).collect::<Vec<_>>()
        };
        assert_eq!(names(Sort::None), ["10", "b", "2", "a"]);
        assert_eq!(names(Sort::Value), ["2", "10", "a", "b"]);
        assert_eq!(names(Sort::Name), ["2", "10", "a", "b"]);
        assert_eq!(names(Sort::N), ["2", "a", "10", "b"]);
    }
}
