//! The arguments of a spec.

use indexmap::IndexMap;

use super::Spec;
use crate::scalars::from_scalars;

/// One argument: a literal, or a spec in its turn.
///
/// ```
/// use errorbar_core::spec::Arg;
///
/// let arg: Arg = "[1, 0.5, 'a', None]".parse()?;
/// assert_eq!(arg, Arg::from(vec![Arg::from(1), Arg::from(0.5), Arg::from("a"), Arg::Null]));
/// # Ok::<(), errorbar_core::spec::SpecError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub enum Arg {
    /// `null` or `None`.
    Null,
    /// `true` or `false`, in either spelling.
    Bool(bool),
    /// A whole number written without point and exponent.
    Int(i64),
    /// Any other number. Finite: infinities and NaN have no notation in a spec, nor in strict JSON.
    Float(f64),
    /// A string.
    Str(String),
    /// `[…]`
    List(Vec<Arg>),
    /// `{"key": …}`
    Map(IndexMap<String, Arg>),
    /// `1..8`: the integers from the first to the last, both included. A reducer with a range is one for each of them.
    Range(i64, i64),
    /// A nested spec, such as the metric in `grouped(mean(), "category")`.
    Spec(Spec),
}

impl Arg {
    /// What kind of value this is, in words for a message: "a string", "null".
    ///
    /// ```
    /// use errorbar_core::spec::Arg;
    ///
    /// assert_eq!(Arg::from("text").kind(), "a string");
    /// ```
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "a boolean",
            Self::Int(_) => "an integer",
            Self::Float(_) => "a float",
            Self::Str(_) => "a string",
            Self::List(_) => "a list",
            Self::Map(_) => "a map",
            Self::Range(..) => "a range",
            Self::Spec(_) => "a spec",
        }
    }

    /// The boolean, if it is one.
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Self::Bool(value) => Some(*value),
            _ => None,
        }
    }

    /// The integer, if it is one.
    pub fn as_i64(&self) -> Option<i64> {
        match self {
            Self::Int(value) => Some(*value),
            _ => None,
        }
    }

    /// The number, if it is one: an argument that is a float also accepts `1` for `1.0`.
    ///
    /// ```
    /// use errorbar_core::spec::Arg;
    ///
    /// assert_eq!(Arg::from(1).as_f64(), Some(1.0));
    /// assert_eq!(Arg::from("1").as_f64(), None);
    /// ```
    pub fn as_f64(&self) -> Option<f64> {
        match self {
            Self::Int(value) => Some(*value as f64),
            Self::Float(value) => Some(*value),
            _ => None,
        }
    }

    /// The string, if it is one.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::Str(value) => Some(value),
            _ => None,
        }
    }

    /// The nested spec, if it is one.
    pub fn as_spec(&self) -> Option<&Spec> {
        match self {
            Self::Spec(value) => Some(value),
            _ => None,
        }
    }
}

from_scalars!(Arg:
    bool => |value| Arg::Bool(value),
    i64 => |value| Arg::Int(value),
    i32 => |value| Arg::Int(value.into()),
    u32 => |value| Arg::Int(value.into()),
    f64 => |value| Arg::Float(value),
    &str => |value| Arg::Str(value.to_owned()),
    String => |value| Arg::Str(value),
    Spec => |value| Arg::Spec(value),
    IndexMap<String, Arg> => |value| Arg::Map(value),
);

impl<T: Into<Arg>> From<Vec<T>> for Arg {
    fn from(values: Vec<T>) -> Self {
        Self::List(values.into_iter().map(Into::into).collect())
    }
}

impl<T: Into<Arg>, const N: usize> From<[T; N]> for Arg {
    fn from(values: [T; N]) -> Self {
        Self::List(values.into_iter().map(Into::into).collect())
    }
}

impl<T: Into<Arg>> From<Option<T>> for Arg {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}
