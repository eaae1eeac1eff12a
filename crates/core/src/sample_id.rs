//! The id of a sample: an integer or a string, and the two are not the same in a log.

use std::fmt;

/// The id of a sample, as datasets and logs write it.
///
/// ```
/// use errorbar_core::SampleId;
/// assert_eq!(SampleId::from(7).to_string(), "7");
/// assert_eq!(SampleId::from(7).sort_key(), "00000000000000000007");
/// assert_ne!(SampleId::from(7), SampleId::from("7"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum SampleId {
    /// An integer.
    Int(i64),
    /// A string.
    Str(String),
}

impl SampleId {
    /// What samples of one epoch are sorted by when a log is read again: the string, integers padded with
    /// zeros to 20 places.
    pub fn sort_key(&self) -> String {
        match self {
            SampleId::Int(id) => format!("{id:020}"),
            SampleId::Str(id) => id.clone(),
        }
    }
}

impl Default for SampleId {
    fn default() -> Self {
        SampleId::Int(0)
    }
}

impl fmt::Display for SampleId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SampleId::Int(id) => id.fmt(f),
            SampleId::Str(id) => id.fmt(f),
        }
    }
}

impl From<i64> for SampleId {
    fn from(id: i64) -> Self {
        SampleId::Int(id)
    }
}
impl From<&str> for SampleId {
    fn from(id: &str) -> Self {
        SampleId::Str(id.to_owned())
    }
}
impl From<String> for SampleId {
    fn from(id: String) -> Self {
        SampleId::Str(id)
    }
}
