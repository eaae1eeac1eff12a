//! Scalars: what stands at the root of a simple score, and inside lists and maps.

use std::sync::Arc;

use crate::python_text::float_repr;
use crate::scalars::from_scalars;

/// A scalar inside a list or a map (or a whole simple score).
#[derive(Clone, Debug, PartialEq)]
pub enum Leaf {
    /// Not scored: not-a-number on the wire.
    Unscored,
    /// Null; found in maps. Not the same as unscored: conversion gives 0 with a warning.
    Null,
    /// A boolean.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A float.
    Float(f64),
    /// A string.
    Str(Arc<str>),
}

impl Leaf {
    /// A borrowed view.
    pub fn view(&self) -> LeafRef<'_> {
        match self {
            Leaf::Unscored => LeafRef::Unscored,
            Leaf::Null => LeafRef::Null,
            Leaf::Bool(b) => LeafRef::Bool(*b),
            Leaf::Int(i) => LeafRef::Int(*i),
            Leaf::Float(f) => LeafRef::float(*f),
            Leaf::Str(s) => LeafRef::Str(s),
        }
    }
}

from_scalars!(Leaf);
impl<L: Into<Leaf>> From<Option<L>> for Leaf {
    fn from(leaf: Option<L>) -> Self {
        leaf.map_or(Leaf::Null, Into::into)
    }
}

/// A borrowed [`Leaf`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LeafRef<'a> {
    /// See [`Leaf::Unscored`].
    Unscored,
    /// See [`Leaf::Null`].
    Null,
    /// A boolean.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A float, never not-a-number.
    Float(f64),
    /// A string.
    Str(&'a str),
}

impl<'a> LeafRef<'a> {
    /// A float leaf, or unscored for not-a-number.
    pub fn float(f: f64) -> Self {
        if f.is_nan() { LeafRef::Unscored } else { LeafRef::Float(f) }
    }

    /// Whether this is the unscored variant.
    pub fn is_unscored(self) -> bool {
        matches!(self, LeafRef::Unscored)
    }

    /// An owned copy.
    pub fn to_leaf(self) -> Leaf {
        match self {
            LeafRef::Unscored => Leaf::Unscored,
            LeafRef::Null => Leaf::Null,
            LeafRef::Bool(b) => Leaf::Bool(b),
            LeafRef::Int(i) => Leaf::Int(i),
            LeafRef::Float(f) => Leaf::Float(f),
            LeafRef::Str(s) => Leaf::Str(s.into()),
        }
    }

    /// Numbers and booleans as a float; `None` for strings, null and unscored.
    pub fn number(self) -> Option<f64> {
        match self {
            LeafRef::Bool(b) => Some(f64::from(u8::from(b))),
            LeafRef::Int(i) => Some(i as f64),
            LeafRef::Float(f) => Some(f),
            LeafRef::Unscored | LeafRef::Null | LeafRef::Str(_) => None,
        }
    }

    /// Equality across number types: true, 1 and 1.0 are one value; "1" is another.
    pub fn equals(self, other: LeafRef<'_>) -> bool {
        match (self, other) {
            (LeafRef::Str(a), LeafRef::Str(b)) => a == b,
            (LeafRef::Null, LeafRef::Null) => true,
            // Unscored is not-a-number on the wire, and that equals nothing.
            (LeafRef::Unscored, _) | (_, LeafRef::Unscored) => false,
            (a, b) => match (a.integer(), b.integer()) {
                (Some(x), Some(y)) => x == y,
                (Some(i), None) => b.number().is_some_and(|f| int_equals_float(i, f)),
                (None, Some(i)) => a.number().is_some_and(|f| int_equals_float(i, f)),
                (None, None) => a.number().is_some() && a.number() == b.number(),
            },
        }
    }

    fn integer(self) -> Option<i64> {
        match self {
            LeafRef::Bool(b) => Some(i64::from(b)),
            LeafRef::Int(i) => Some(i),
            _ => None,
        }
    }

    /// The value as a string, as Python writes it: `True`, `None`, `1`, `1.0`, `1e-05`.
    pub fn text(self) -> String {
        match self {
            LeafRef::Unscored => "nan".to_owned(),
            LeafRef::Null => "None".to_owned(),
            LeafRef::Bool(true) => "True".to_owned(),
            LeafRef::Bool(false) => "False".to_owned(),
            LeafRef::Int(i) => i.to_string(),
            LeafRef::Float(f) => float_repr(f),
            LeafRef::Str(s) => s.to_owned(),
        }
    }

    /// What kind of value this is, for messages.
    pub fn kind(self) -> &'static str {
        match self {
            LeafRef::Unscored => "unscored",
            LeafRef::Null => "null",
            LeafRef::Bool(_) => "a boolean",
            LeafRef::Int(_) => "an integer",
            LeafRef::Float(_) => "a float",
            LeafRef::Str(_) => "a string",
        }
    }
}

/// A scalar as a key of a table: equal where [`LeafRef::equals`] returns true.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum LeafKey {
    Null,
    Int(i64),
    /// An integer beyond `i64`, found in metadata.
    Big(u64),
    /// A float that is no 64-bit integer, by its bits.
    Float(u64),
    Text(String),
}

impl LeafKey {
    /// The key; nothing for unscored, which equals nothing.
    pub(crate) fn new(leaf: LeafRef<'_>) -> Option<Self> {
        match leaf {
            LeafRef::Unscored => None,
            LeafRef::Null => Some(LeafKey::Null),
            LeafRef::Bool(b) => Some(LeafKey::Int(i64::from(b))),
            LeafRef::Int(i) => Some(LeafKey::Int(i)),
            LeafRef::Float(f) if f.fract() == 0.0 && int_equals_float(f as i64, f) => {
                Some(LeafKey::Int(f as i64))
            }
            LeafRef::Float(f) => Some(LeafKey::Float(f.to_bits())),
            LeafRef::Str(s) => Some(LeafKey::Text(s.to_owned())),
        }
    }
}

/// Exact comparison: above 2^53 a conversion of the integer would round.
fn int_equals_float(i: i64, f: f64) -> bool {
    f.fract() == 0.0 && (-(2f64.powi(63))..2f64.powi(63)).contains(&f) && f as i64 == i
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equality_crosses_number_types() {
        let one = [LeafRef::Bool(true), LeafRef::Int(1), LeafRef::Float(1.0)];
        for a in one {
            for b in one {
                assert!(a.equals(b), "{a:?} {b:?}");
            }
            assert!(!a.equals(LeafRef::Str("1")));
            assert!(!a.equals(LeafRef::Null));
        }
        assert!(!LeafRef::Unscored.equals(LeafRef::Unscored));
        // 2^53 + 1 is no float; the nearest one is 2^53.
        assert!(!LeafRef::Int((1 << 53) + 1).equals(LeafRef::Float(9007199254740992.0)));
    }
}
