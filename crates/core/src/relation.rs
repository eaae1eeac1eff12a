//! How two values are compared.

use std::cmp::Ordering;

/// How two values are compared: in requirements, in stopping rules, and in conditions on metadata.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Relation {
    /// At least the number.
    AtLeast,
    /// At most the number.
    AtMost,
    /// Equal to the number.
    Equal,
    /// Not equal to the number.
    NotEqual,
    /// Above the number.
    Above,
    /// Below the number.
    Below,
}

impl Relation {
    /// The longer ones first: `>=` starts with `>`.
    const ALL: [Relation; 6] = [
        Relation::AtLeast,
        Relation::AtMost,
        Relation::Equal,
        Relation::NotEqual,
        Relation::Above,
        Relation::Below,
    ];

    /// As it is written.
    pub fn text(self) -> &'static str {
        match self {
            Relation::AtLeast => ">=",
            Relation::AtMost => "<=",
            Relation::Equal => "==",
            Relation::NotEqual => "!=",
            Relation::Above => ">",
            Relation::Below => "<",
        }
    }

    /// Whether it holds. Nothing holds for what is not a number.
    pub fn holds(self, figure: f64, limit: f64) -> bool {
        figure.partial_cmp(&limit).is_some_and(|order| self.holds_for(order))
    }

    /// The relation that a text begins with, and its length there. A single `=` is equality, too.
    pub fn at_start_of(text: &str) -> Option<(Self, usize)> {
        let found = Relation::ALL.into_iter().find(|relation| text.starts_with(relation.text()));
        let found = found.map(|relation| (relation, relation.text().len()));
        found.or_else(|| text.starts_with('=').then_some((Relation::Equal, 1)))
    }

    /// Whether it holds for values in this order.
    pub fn holds_for(self, order: Ordering) -> bool {
        match self {
            Relation::AtLeast => order.is_ge(),
            Relation::AtMost => order.is_le(),
            Relation::Equal => order.is_eq(),
            Relation::NotEqual => order.is_ne(),
            Relation::Above => order.is_gt(),
            Relation::Below => order.is_lt(),
        }
    }

    /// Whether it is about which value is greater.
    pub fn is_order(self) -> bool {
        !matches!(self, Relation::Equal | Relation::NotEqual)
    }
}
