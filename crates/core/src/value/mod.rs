//! The values that a scorer may give an answer.
//!
//! A value is a string, an integer, a float, a boolean, a list of those, or a map from string to
//! those or null. "Not scored" is a separate variant: the not-a-number float that stands for
//! it in logs exists only on the wire, so that no sum can ever swallow one.

mod convert;

pub(crate) use convert::decimal_digit;
pub use convert::{Conversion, ConvertedNumber, ValueToFloat, value_to_float};

use std::sync::Arc;

use indexmap::IndexMap;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value as Json;

use crate::error::{Error, Result};
use crate::python_text::float_repr;
use crate::registry::{ArgProblem, ArgType, BuiltFrom, EntryInfo, EntryKind, Registry};
use crate::scalars::from_scalars;
use crate::spec::{Arg, Spec};

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
    pub fn leaves(self) -> impl Iterator<Item = LeafRef<'a>> {
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

    /// The error of a strict accessor that met another kind of value.
    fn no_such_value(self, wanted: &str) -> Error {
        let found = self.describe();
        let is_text = wanted == "a number" && found.starts_with("the string");
        let hint = if is_text { "; to_f64() reads grades as numbers" } else { "" };
        Error::custom(format!("expected {wanted}, found {found}{hint}"))
    }

    fn scalar(self, wanted: &'static str) -> Result<LeafRef<'a>> {
        match self {
            ValueRef::Leaf(leaf) if !leaf.is_unscored() => Ok(leaf),
            other => Err(other.no_such_value(wanted)),
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
        .ok_or_else(|| self.no_such_value(wanted))
    }

    /// See [`Value::as_i64`].
    pub fn as_i64(self) -> Result<i64> {
        let wanted = "an integer";
        let leaf = self.scalar(wanted)?;
        match leaf {
            LeafRef::Int(i) => Some(i),
            LeafRef::Bool(b) => Some(i64::from(b)),
            LeafRef::Float(f) => whole(f),
            LeafRef::Str(s) => s.trim().parse().ok(),
            LeafRef::Null | LeafRef::Unscored => None,
        }
        .ok_or_else(|| self.no_such_value(wanted))
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
        .ok_or_else(|| self.no_such_value(wanted))
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

// Scalars: what stands at the root of a simple score, and inside lists and maps.

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
                (Some(i), None) => b.number().and_then(whole) == Some(i),
                (None, Some(i)) => a.number().and_then(whole) == Some(i),
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
            LeafRef::Float(f) => Some(whole(f).map_or(LeafKey::Float(f.to_bits()), LeafKey::Int)),
            LeafRef::Str(s) => Some(LeafKey::Text(s.to_owned())),
        }
    }
}

/// A float as the integer that it is. Compared as integers, since above 2^53 a conversion of the integer would round.
fn whole(f: f64) -> Option<i64> {
    // 2^63 is the first float that does not fit; every whole float below it does.
    (f.fract() == 0.0 && (-(2f64.powi(63))..2f64.powi(63)).contains(&f)).then_some(f as i64)
}

// Values to and from JSON. Bare `NaN` never reaches this place: readers of logs and tables
// turn it into [`Value::Unscored`] themselves; here unscored is written as null.

impl Value {
    /// Reads a score value from JSON; null is unscored, lists and maps hold scalars only.
    pub fn from_json(json: &Json) -> Result<Value> {
        match json {
            Json::Array(items) => items.iter().map(Leaf::from_json).collect::<Result<_>>().map(Value::List),
            Json::Object(map) => map
                .iter()
                .map(|(k, v)| Ok((k.as_str().into(), Leaf::from_json(v)?)))
                .collect::<Result<_>>()
                .map(Value::Map),
            scalar => Leaf::from_json(scalar).map(Value::from),
        }
    }

    /// Writes the value as strict JSON; unscored and infinite floats become null.
    pub fn to_json(&self) -> Json {
        match self.view() {
            ValueRef::Leaf(leaf) => leaf.to_json(),
            ValueRef::List(items) => items.iter().map(Leaf::to_json).collect(),
            ValueRef::Map(map) => map.iter().map(|(k, v)| (k.to_string(), v.to_json())).collect(),
        }
    }
}

impl Leaf {
    /// Reads a scalar from JSON. An integer beyond 64 bits is read as a float.
    pub fn from_json(json: &Json) -> Result<Leaf> {
        match json {
            Json::Null => Ok(Leaf::Null),
            Json::Bool(b) => Ok(Leaf::Bool(*b)),
            Json::Number(n) => match (n.as_i64(), n.as_f64()) {
                (Some(i), _) => Ok(Leaf::Int(i)),
                (None, Some(f)) => Ok(Leaf::from(f)),
                (None, None) => Err(nested(&n.to_string())),
            },
            Json::String(s) => Ok(Leaf::Str(s.as_str().into())),
            Json::Array(_) => Err(nested("a list")),
            Json::Object(_) => Err(nested("a map")),
        }
    }

    /// Writes the scalar as strict JSON.
    pub fn to_json(&self) -> Json {
        self.view().to_json()
    }
}

impl LeafRef<'_> {
    fn to_json(self) -> Json {
        match self {
            LeafRef::Unscored | LeafRef::Null => Json::Null,
            LeafRef::Bool(b) => Json::Bool(b),
            LeafRef::Int(i) => Json::from(i),
            LeafRef::Float(f) => Json::from(f),
            LeafRef::Str(s) => Json::from(s),
        }
    }
}

/// The error of a score value nested deeper than a list or map of scalars.
fn nested(found: &str) -> Error {
    Error::custom(format!("a score is a scalar, a list of scalars or a map of scalars; found {found} inside"))
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        self.to_json().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        Value::from_json(&Json::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

// Leaves as arguments of specs, and conversions as a kind of entry.

impl ArgType for Leaf {
    const EXPECTED: &'static str = "a string, a number or a boolean";

    fn from_arg(arg: &Arg, _: &Registry) -> Result<Self, ArgProblem> {
        match arg {
            Arg::Bool(b) => Ok(Leaf::Bool(*b)),
            Arg::Int(i) => Ok(Leaf::Int(*i)),
            Arg::Float(f) => Ok(Leaf::Float(*f)),
            Arg::Str(s) => Ok(Leaf::from(s.as_str())),
            _ => Err(ArgProblem::Expected(Self::EXPECTED)),
        }
    }

    fn to_arg(&self) -> Arg {
        match self {
            Leaf::Unscored | Leaf::Null => Arg::Null,
            Leaf::Bool(b) => Arg::Bool(*b),
            Leaf::Int(i) => Arg::Int(*i),
            Leaf::Float(f) => Arg::Float(*f),
            Leaf::Str(s) => Arg::Str(s.to_string()),
        }
    }
}

impl ArgType for Conversion {
    const EXPECTED: &'static str = "a conversion such as value_to_float(correct=\"yes\")";

    fn from_arg(arg: &Arg, registry: &Registry) -> Result<Self, ArgProblem> {
        let spec = arg.as_spec().ok_or(ArgProblem::Expected(Self::EXPECTED))?;
        registry.conversion(spec).map_err(ArgProblem::Invalid)
    }

    fn to_arg(&self) -> Arg {
        Arg::Spec(self.spec())
    }
}

impl EntryKind for Conversion {
    const KIND: &'static str = "conversion";
}

impl<C: Into<Conversion>> BuiltFrom<C> for Conversion {
    fn built_from(conversion: C) -> Self {
        conversion.into()
    }
}

impl Registry {
    /// Adds a custom conversion under its name.
    pub fn add_conversion(&mut self, conversion: Conversion, doc: &str) -> Result<()> {
        self.add_object(conversion.spec(), doc, conversion)
    }

    /// Builds a conversion from its spec.
    pub fn conversion(&self, spec: &Spec) -> Result<Conversion> {
        self.build(spec)
    }

    /// All conversions, in order of registration.
    pub fn list_conversions(&self) -> impl Iterator<Item = &EntryInfo> {
        self.list::<Conversion>()
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
        let error = Value::map([("a", 1)]).as_f64().unwrap_err();
        assert_eq!(error.to_string(), "expected a number, found a map with keys a");
    }
}

#[cfg(test)]
mod leaf_tests {
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

#[cfg(test)]
mod json_tests {
    use super::*;

    #[test]
    fn json_keeps_the_number_types_apart() {
        let read = |s: &str| serde_json::from_str::<Value>(s);
        assert_eq!(read("1").unwrap(), Value::Int(1));
        assert_eq!(read("1.0").unwrap(), Value::Float(1.0));
        assert_eq!(read("null").unwrap(), Value::Unscored);
        assert_eq!(read("18446744073709551616").unwrap(), Value::Float(18446744073709551616.0));
        assert_eq!(read(r#"{"a": null}"#).unwrap(), Value::map([("a", None::<i64>)]));
        let nested = Value::from_json(&serde_json::json!([[1]]));
        assert!(nested.unwrap_err().to_string().ends_with("found a list inside"));
    }
}
