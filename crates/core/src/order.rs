//! In which order results list what they find.

use std::fmt;
use std::str::FromStr;

/// In which order results list what they find in the scores: groups, categories, scorers that no plan names, the keys of
/// map-valued scores. Numbers do not depend on it.
///
/// ```
/// use errorbar_core::Order;
/// assert_eq!("key".parse(), Ok(Order::Key));
/// assert_eq!(Order::default().to_string(), "appearance");
/// assert!("id".parse::<Order>().unwrap_err().contains("appearance or key"));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
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
