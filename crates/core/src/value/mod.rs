//! The values that a scorer may give an answer.
//!
//! A value is a string, an integer, a float, a boolean, a list of those, or a map from string to
//! those or null. "Not scored" is a separate variant: the not-a-number float that stands for
//! it in logs exists only on the wire, so that no sum can ever swallow one.

mod convert;
mod digits;
mod entry;
mod json;
mod leaf;

use std::sync::Arc;

use indexmap::IndexMap;

pub(crate) use digits::decimal_digit;

pub use convert::{Conversion, ConvertedNumber, ValueToFloat, value_to_float};
pub(crate) use leaf::LeafKey;
pub use leaf::{Leaf, LeafRef};

use crate::error::{Error, Result};
use crate::scalars::from_scalars;

/// A map-valued score: one leaf per key, in the order the scorer gave them.
pub type LeafMap = IndexMap<Arc<str>, Leaf>;

/// The value of a score.
///
/// ```
/// use errorbar_core::Value;
/// assert_eq!(Value::from("C"), Value::Str("C".into()));
/// assert!(Value::from(f64::NAN).is_unscored());
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// The scorer could not score the answer. Stored and counted, never part of a metric.
    Unscored,
    /// A boolean.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A float; never not-a-number.
    Float(f64),
    /// A string, often one of the grades `C`, `P`, `I`, `N`.
    Str(Arc<str>),
    /// Several values, by position.
    List(Vec<Leaf>),
    /// Several values, by name.
    Map(LeafMap),
}

impl Value {
    /// Builds a map value from pairs.
    pub fn map<K: Into<Arc<str>>, L: Into<Leaf>>(pairs: impl IntoIterator<Item = (K, L)>) -> Self {
        Value::Map(pairs.into_iter().map(|(k, v)| (k.into(), v.into())).collect())
    }

    /// Builds a list value.
    pub fn list<L: Into<Leaf>>(items: impl IntoIterator<Item = L>) -> Self {
        Value::List(items.into_iter().map(Into::into).collect())
    }

    /// Whether this is the unscored variant.
    pub fn is_unscored(&self) -> bool {
        self.view().is_unscored()
    }

    /// A borrowed view of the value.
    pub fn view(&self) -> ValueRef<'_> {
        match self {
            Value::Unscored => ValueRef::Leaf(LeafRef::Unscored),
            Value::Bool(b) => ValueRef::Leaf(LeafRef::Bool(*b)),
            Value::Int(i) => ValueRef::Leaf(LeafRef::Int(*i)),
            Value::Float(f) => ValueRef::Leaf(LeafRef::float(*f)),
            Value::Str(s) => ValueRef::Leaf(LeafRef::Str(s)),
            Value::List(items) => ValueRef::List(items),
            Value::Map(map) => ValueRef::Map(map),
        }
    }

    /// The value as a float: numbers and booleans as they are, strings that are numbers parsed.
    ///
    /// Strict on purpose: a grade such as `"C"` is an error here; [`Value::to_f64`] converts it.
    pub fn as_f64(&self) -> Result<f64> {
        self.view().as_f64()
    }

    /// The value as an integer; a float must be whole.
    pub fn as_i64(&self) -> Result<i64> {
        self.view().as_i64()
    }

    /// The value as a boolean: booleans, numbers (non-zero is true), and the strings `true`,
    /// `false`, `yes`, `no` in any case.
    pub fn as_bool(&self) -> Result<bool> {
        self.view().as_bool()
    }

    /// The value as a string, written the way the reference writes it (`True`, `1`, `0.5`).
    pub fn as_text(&self) -> Result<String> {
        self.view().as_text()
    }

    /// The value through the default conversion: grades, truth words and numbers; 0 for the rest.
    /// Unscored is not-a-number, never 0.
    pub fn to_f64(&self) -> f64 {
        if self.is_unscored() { f64::NAN } else { ValueToFloat::default().convert(self.view()).value }
    }
}

from_scalars!(Value);

impl<L: Into<Leaf>> From<Vec<L>> for Value {
    fn from(items: Vec<L>) -> Self {
        Value::list(items)
    }
}
impl From<Leaf> for Value {
    /// A null at the root, found in old logs, reads as unscored.
    fn from(leaf: Leaf) -> Self {
        match leaf {
            Leaf::Unscored | Leaf::Null => Value::Unscored,
            Leaf::Bool(b) => Value::Bool(b),
            Leaf::Int(i) => Value::Int(i),
            Leaf::Float(f) => Value::from(f),
            Leaf::Str(s) => Value::Str(s),
        }
    }
}

/// A borrowed [`Value`], as the columns lend it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ValueRef<'a> {
    /// A scalar, or unscored.
    Leaf(LeafRef<'a>),
    /// A list.
    List(&'a [Leaf]),
    /// A map.
    Map(&'a LeafMap),
}

impl<'a> ValueRef<'a> {
    /// Whether the value is the unscored variant.
    pub fn is_unscored(self) -> bool {
        matches!(self, ValueRef::Leaf(LeafRef::Unscored))
    }

    /// The scalar, or those of the list or map.
    pub(crate) fn leaves(self) -> impl Iterator<Item = LeafRef<'a>> {
        let (leaf, list, map) = match self {
            ValueRef::Leaf(leaf) => (Some(leaf), Default::default(), None),
            ValueRef::List(list) => (None, list, None),
            ValueRef::Map(map) => (None, Default::default(), Some(map)),
        };
        let of_map = map.into_iter().flat_map(|map| map.values());
        leaf.into_iter().chain(list.iter().chain(of_map).map(Leaf::view))
    }

    /// An owned copy.
    pub fn to_value(self) -> Value {
        match self {
            ValueRef::Leaf(leaf) => Value::from(leaf.to_leaf()),
            ValueRef::List(items) => Value::List(items.to_vec()),
            ValueRef::Map(map) => Value::Map(map.clone()),
        }
    }

    /// What kind of value this is, for messages: `a list`, `a string`, …
    pub fn kind(self) -> &'static str {
        match self {
            ValueRef::Leaf(leaf) => leaf.kind(),
            ValueRef::List(_) => "a list",
            ValueRef::Map(_) => "a map",
        }
    }

    fn scalar(self, wanted: &'static str) -> Result<LeafRef<'a>> {
        match self {
            ValueRef::Leaf(leaf) if !leaf.is_unscored() => Ok(leaf),
            other => Err(Error::Accessor { wanted, found: other.describe() }),
        }
    }

    /// See [`Value::as_f64`].
    pub fn as_f64(self) -> Result<f64> {
        let wanted = "a number";
        let leaf = self.scalar(wanted)?;
        match leaf {
            LeafRef::Str(s) => convert::parse_number(s),
            other => other.number(),
        }
        .ok_or_else(|| Error::Accessor { wanted, found: self.describe() })
    }

    /// See [`Value::as_i64`].
    pub fn as_i64(self) -> Result<i64> {
        let wanted = "an integer";
        let leaf = self.scalar(wanted)?;
        let whole = |f: f64| {
            // 2^63 is the first float that does not fit; every whole float below it does.
            (f.fract() == 0.0 && (-(2f64.powi(63))..2f64.powi(63)).contains(&f)).then_some(f as i64)
        };
        match leaf {
            LeafRef::Int(i) => Some(i),
            LeafRef::Bool(b) => Some(i64::from(b)),
            LeafRef::Float(f) => whole(f),
            LeafRef::Str(s) => s.trim().parse().ok(),
            LeafRef::Null | LeafRef::Unscored => None,
        }
        .ok_or_else(|| Error::Accessor { wanted, found: self.describe() })
    }

    /// See [`Value::as_bool`].
    pub fn as_bool(self) -> Result<bool> {
        let wanted = "a boolean";
        match self.scalar(wanted)? {
            LeafRef::Str(s) => match s.to_lowercase().as_str() {
                "true" | "yes" => Some(true),
                "false" | "no" => Some(false),
                _ => None,
            },
            other => other.number().map(|f| f != 0.0),
        }
        .ok_or_else(|| Error::Accessor { wanted, found: self.describe() })
    }

    /// See [`Value::as_text`].
    pub fn as_text(self) -> Result<String> {
        Ok(self.scalar("a string")?.text())
    }

    /// The value and its kind, shortened, for messages.
    pub fn describe(self) -> String {
        match self {
            ValueRef::Leaf(leaf @ (LeafRef::Unscored | LeafRef::Null)) => leaf.kind().to_owned(),
            ValueRef::Leaf(leaf) => {
                let text = leaf.text();
                let short: String = text.chars().take(40).collect();
                let cut = if short.len() < text.len() { "…" } else { "" };
                match leaf {
                    LeafRef::Str(_) => format!("the string {short:?}{cut}"),
                    _ => format!("{short}{cut}"),
                }
            }
            ValueRef::List(items) => format!("a list of {}", items.len()),
            ValueRef::Map(map) => {
                let keys: Vec<&str> = map.keys().take(4).map(AsRef::as_ref).collect();
                let more = if map.len() > 4 { ", …" } else { "" };
                format!("a map with keys {}{more}", keys.join(", "))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accessors_read_scalars() {
        assert_eq!(Value::from("0.5").as_f64().unwrap(), 0.5);
        assert_eq!(Value::from(true).as_f64().unwrap(), 1.0);
        assert_eq!(Value::from(3).as_text().unwrap(), "3");
        assert_eq!(Value::from(1.0).as_text().unwrap(), "1.0");
        assert_eq!(Value::from(4.0).as_i64().unwrap(), 4);
        assert!(Value::from("Yes").as_bool().unwrap());
        assert!(!Value::from(0).as_bool().unwrap());
    }

    #[test]
    fn accessors_refuse_what_they_would_have_to_guess() {
        for value in [Value::list([1, 2]), Value::map([("a", 1)]), Value::Unscored, "C".into()] {
            assert!(value.as_f64().is_err(), "{value:?}");
        }
        assert!(Value::from(0.5).as_i64().is_err());
        assert!(Value::from(9.3e18).as_i64().is_err(), "beyond i64");
        assert!(Value::from("maybe").as_bool().is_err());
        let found = "a map with keys a".to_owned();
        assert_eq!(Value::map([("a", 1)]).as_f64(), Err(Error::Accessor { wanted: "a number", found }));
    }
}
