//! What can be asked for: plain values, which the command line, Python and Rust build.
//!
//! An option is one field. Its doc comment is its help everywhere, its name in serde is its name in Python, and with the
//! feature `clap` it is an option of the command line; [`Opt`](crate::Opt) has its spelling on each of them.

pub(crate) mod errors;
pub(crate) mod specs;
pub(crate) mod tables;

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use errorbar_log::eval::{EvalLog, LogLimits};
use errorbar_macros::Setters;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::source;

pub use errors::{ErrorRequest, GateRequest};
pub use specs::{PlanChanges, Specs};
pub use tables::{TableRequest, UnconvertiblePolicy};

/// How logs are read.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Setters)]
#[setters(part)]
#[serde(default)]
#[non_exhaustive]
#[cfg_attr(feature = "clap", derive(clap::Args), command(next_help_heading = "Reading logs"))]
pub struct ReadRequest {
    /// Check all of a log: all checksums, that local headers of entries agree with the central
    /// directory, and that all of it is JSON. By default that is checked for what is computed with;
    /// messages and events are skipped by their quotes and brackets
    #[cfg_attr(feature = "clap", arg(long))]
    pub strict: bool,
    /// Limits for logs.
    #[serde(flatten)]
    #[cfg_attr(feature = "clap", command(flatten))]
    pub limits: LimitRequest,
}

/// Limits for logs, which may be hostile.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Setters)]
#[setters(part)]
#[serde(default)]
#[non_exhaustive]
#[cfg_attr(feature = "clap", derive(clap::Args), command(next_help_heading = "Limits for logs"))]
pub struct LimitRequest {
    /// The maximum decompressed size of one entry of a log
    #[cfg_attr(
        feature = "clap",
        arg(long, alias = "max-unpacked", value_name = "SIZE", default_value = "16G")
    )]
    pub max_decompressed: ByteSize,
    /// Entries of a log that decompress to more than N times their size count as dense; a log may
    /// have 192 MiB of them, decompressed
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", default_value_t = LogLimits::default().max_ratio))]
    pub max_ratio: u64,
    /// The maximum size of a header, and of what is read of one sample (scores and metadata)
    #[cfg_attr(feature = "clap", arg(long, value_name = "SIZE", default_value = "256M"))]
    pub max_record: ByteSize,
    /// The maximum memory for what is held of a log or a table [default: 256M or four times the size
    /// of the file, whichever is more; for rows of a table a quarter of the memory of the machine, at
    /// least 1G, but 256 times the size of the file or 128 bytes for each cell of Parquet at most]
    #[cfg_attr(feature = "clap", arg(long, value_name = "SIZE"))]
    pub max_memory: Option<ByteSize>,
}

impl Default for LimitRequest {
    fn default() -> Self {
        let LogLimits { max_decompressed, max_ratio, max_record, max_memory } = LogLimits::default();
        LimitRequest {
            max_decompressed: ByteSize(max_decompressed),
            max_ratio,
            max_record: ByteSize(max_record),
            max_memory: max_memory.map(ByteSize),
        }
    }
}

impl LimitRequest {
    /// As the reader of logs takes them.
    pub fn limits(&self) -> LogLimits {
        LogLimits {
            max_decompressed: self.max_decompressed.0,
            max_ratio: self.max_ratio,
            max_record: self.max_record.0,
            max_memory: self.max_memory.map(|size| size.0),
        }
    }
}

impl ReadRequest {
    /// Opens a log, and checks all of it if that is asked for.
    ///
    /// # Errors
    /// A file that is not a log, or that is damaged.
    pub fn open(&self, path: &Path) -> errorbar_log::eval::Result<EvalLog> {
        let log = EvalLog::open_with(path, self.limits())?;
        if self.strict {
            log.check()?;
        }
        Ok(log)
    }

    /// Opens the log that a path or a handle names.
    ///
    /// # Errors
    /// A folder, a handle without a log, or a file that is not a log.
    pub fn open_named(&self, named: &Path) -> Result<EvalLog, Diagnostics> {
        let path = source::resolve(named)?;
        if path.is_dir() {
            let hint = format!("name a log in it: {} is the newest", path.join("latest").display());
            let problem = Diagnostic::error("this is a folder, and one log is needed").about(path.display());
            return Err(problem.hint(hint).into());
        }
        Ok(self.open(&path)?)
    }

    /// The limits.
    pub fn limits(&self) -> LogLimits {
        self.limits.limits()
    }
}

/// A number of bytes: `4096`, `64K`, `512M`, `16G`, `1T`, with or without `B` or `iB`.
///
/// ```
/// use errorbar_analysis::ByteSize;
///
/// assert_eq!("64k".parse(), Ok(ByteSize(64 << 10)));
/// assert_eq!(ByteSize(512 << 20).to_string(), "512M");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct ByteSize(pub u64);

const UNITS: [(char, u64); 4] = [('K', 1 << 10), ('M', 1 << 20), ('G', 1 << 30), ('T', 1 << 40)];

impl FromStr for ByteSize {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.replace(' ', "").to_ascii_uppercase();
        let text = text.trim_end_matches("IB").trim_end_matches('B');
        let in_unit = || {
            let (number, size) =
                UNITS.iter().find_map(|(unit, size)| Some((text.strip_suffix(*unit)?, size)))?;
            number.parse::<u64>().ok()?.checked_mul(*size)
        };
        let bytes = in_unit().or_else(|| text.parse().ok());
        bytes.map(ByteSize).ok_or_else(|| "expected a number of bytes such as 512M or 16G".to_owned())
    }
}

impl fmt::Display for ByteSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whole = |(_, size): &&(char, u64)| self.0 >= *size && self.0.is_multiple_of(*size);
        match UNITS.iter().rev().find(whole) {
            Some((unit, size)) => write!(f, "{}{unit}", self.0 / size),
            None => self.0.fmt(f),
        }
    }
}

impl<'de> Deserialize<'de> for ByteSize {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(
            untagged,
            expecting = "expected a number of bytes such as 1073741824, or a string such as \"1G\""
        )]
        enum Form {
            Bytes(u64),
            Text(String),
        }
        match Form::deserialize(deserializer)? {
            Form::Bytes(bytes) => Ok(ByteSize(bytes)),
            Form::Text(text) => text.parse().map_err(serde::de::Error::custom),
        }
    }
}

/// A request from JSON, such as `{"metrics": ["accuracy"], "level": 0.9}`. Fields have the names that arguments have in
/// Python; what is left out has its default.
///
/// # Errors
/// Text that is not a JSON object, and values of another type than those of the request, by their name.
pub fn request_from_json<T: DeserializeOwned>(text: &str) -> Result<T, Diagnostic> {
    let error =
        |problem: &serde_json::Error| Diagnostic::error(format!("the request cannot be read: {problem}"));
    let fields: Map<String, Value> = serde_json::from_str(text).map_err(|problem| error(&problem))?;
    T::deserialize(Value::Object(fields.clone())).map_err(|whole| {
        // The error of a flattened request does not name the field.
        let of_field = |(name, value): (String, Value)| {
            let shown = value.to_string();
            let problem = T::deserialize(Value::Object(Map::from_iter([(name.clone(), value)]))).err()?;
            Some(Diagnostic::error(format!("{name}={shown}: {problem}")))
        };
        fields.into_iter().find_map(of_field).unwrap_or_else(|| error(&whole))
    })
}

/// One value, or a list of them.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged, expecting = "expected a value, or a list of them")]
pub enum OneOrMany<T> {
    /// One.
    One(T),
    /// Several.
    Many(Vec<T>),
}

impl<T> From<OneOrMany<T>> for Vec<T> {
    fn from(values: OneOrMany<T>) -> Self {
        match values {
            OneOrMany::One(value) => vec![value],
            OneOrMany::Many(values) => values,
        }
    }
}

impl<T, U: Into<T>> From<Vec<U>> for OneOrMany<T> {
    fn from(values: Vec<U>) -> Self {
        OneOrMany::Many(values.into_iter().map(Into::into).collect())
    }
}

impl<T, U: Into<T>, const N: usize> From<[U; N]> for OneOrMany<T> {
    fn from(values: [U; N]) -> Self {
        Vec::from(values).into()
    }
}

impl From<&str> for OneOrMany<String> {
    fn from(value: &str) -> Self {
        OneOrMany::One(value.to_owned())
    }
}

impl From<&str> for OneOrMany<PathBuf> {
    fn from(value: &str) -> Self {
        OneOrMany::One(value.into())
    }
}

impl From<f64> for OneOrMany<f64> {
    fn from(value: f64) -> Self {
        OneOrMany::One(value)
    }
}

/// A list that may be written as one value.
pub(crate) fn one_or_many<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<T>, D::Error> {
    OneOrMany::deserialize(deserializer).map(Vec::from)
}

/// The same, if there is one.
pub(crate) fn optional_list<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Vec<T>>, D::Error> {
    Ok(Option::<OneOrMany<T>>::deserialize(deserializer)?.map(Vec::from))
}

/// A value that is written as text, if there is one.
pub(crate) mod as_text {
    use super::{Deserialize, Deserializer, FromStr, Serialize, Serializer, fmt};

    pub(crate) fn serialize<T: fmt::Display, S: Serializer>(
        value: &Option<T>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        value.as_ref().map(ToString::to_string).serialize(serializer)
    }

    pub(crate) fn deserialize<'de, T, D>(deserializer: D) -> Result<Option<T>, D::Error>
    where
        T: FromStr<Err: fmt::Display>,
        D: Deserializer<'de>,
    {
        let text = Option::<String>::deserialize(deserializer)?;
        text.map(|text| text.parse().map_err(serde::de::Error::custom)).transpose()
    }
}

/// Parses the name of one of these values, for an option of the command line.
#[cfg(feature = "clap")]
pub fn one_of<T: Clone + Send + Sync + 'static>(
    values: impl IntoIterator<Item = (&'static str, T)>,
) -> impl clap::builder::TypedValueParser<Value = T> {
    use clap::builder::{PossibleValuesParser, TypedValueParser};

    let values: Vec<(&'static str, T)> = values.into_iter().collect();
    let names: Vec<&'static str> = values.iter().map(|(name, _)| *name).collect();
    PossibleValuesParser::new(names).try_map(move |chosen: String| {
        let value = values.iter().find(|(name, _)| name.eq_ignore_ascii_case(&chosen));
        value.map(|(_, value)| value.clone()).ok_or("unknown value")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_from_people() {
        for (text, bytes) in [
            ("0", 0),
            ("4096", 4096),
            ("64k", 64 << 10),
            ("512M", 512 << 20),
            ("1 GiB", 1 << 30),
            ("2TB", 2 << 40),
            ("500MB", 500 << 20),
            ("2GiB", 2 << 30),
        ] {
            assert_eq!(text.parse(), Ok(ByteSize(bytes)), "{text}");
            assert_eq!(ByteSize(bytes).to_string().parse(), Ok(ByteSize(bytes)), "{text}");
        }
        for text in ["", "x", "-1", "1.5G", "99999999999G", "G"] {
            assert!(text.parse::<ByteSize>().is_err(), "{text}");
        }
        let size = |json: &str| serde_json::from_str::<ByteSize>(json).ok().map(|size| size.0);
        assert_eq!(
            [size("4096"), size("\"4k\""), size("\"x\""), size("-1")],
            [Some(4096), Some(4096), None, None]
        );
    }
}
