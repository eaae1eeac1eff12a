//! Specs: everything that has a name can be written down.
//!
//! A [`Spec`] is a name with arguments, `stderr(cluster="category")`. Metrics, reducers, scorers, solvers and conversions
//! are all built from one, whether it came from the command line, a task file, Rust or a log. A spec is only text that
//! has been understood: the registry decides whether the name exists and what the arguments mean. That keeps
//! logs readable whose metrics are not registered.
//!
//! ```text
//! spec     = name [ "(" [ argument { "," argument } [ "," ] ] ")" ]      bare `name` means `name()`
//! name     = [ word "/" ] word                                           `stderr`, `inspect_ai/stderr`
//! argument = value | word "=" value                                      positional ones first
//! value    = string | number | "true" | "True" | "false" | "False" | "null" | "None"
//!          | integer ".." integer                                     both included: `1..8`
//!          | "[" values "]" | "{" string ":" value, … "}" | spec
//! string   = "…" | '…' | r"…" | r'…'                                     escapes as in Python; raw ones have none
//! word     = letter or "_", then letters, digits, "_", "-", "."          or anything at all in `backquotes`
//! ```
//!
//! Escapes are those of Python, and a backslash that starts none stays: `'(\d+)'` and `r'(\d+)'` are the same. `'\b'` is
//! not `r'\b'`, though: there is such an escape.
//!
//! Blanks and line breaks may stand between any two tokens, and a comma may follow the last of any list. Backquotes are
//! for names that only a log could have brought in (`pass@1`), so that every spec can be printed and read back.
//!
//! ```
//! use errorbar_core::spec::{Arg, Spec};
//!
//! let spec: Spec = "grouped(accuracy(), 'category', all=\"groups\")".parse()?;
//! assert_eq!(spec.name, "grouped");
//! assert_eq!(spec.args, [Arg::from(Spec::new("accuracy")), Arg::from("category")]);
//! assert_eq!(spec.to_string().parse::<Spec>()?, spec);
//!
//! let wrong = "stderr(cluster=)".parse::<Spec>().unwrap_err();
//! assert_eq!(wrong.to_string(), "expected a value, found ')' at column 16");
//! # Ok::<(), errorbar_core::spec::SpecError>(())
//! ```

mod error;
mod metrics;
mod parse;
#[cfg(test)]
mod tests;

pub use error::{SpecError, SpecErrorKind, expected};
pub(crate) use metrics::params_to_log;
pub use metrics::{MetricItem, MetricMap, MetricTree, MetricsSpec};
pub use parse::{Parser, SpecPlace, Word};

use std::borrow::Cow;
use std::fmt::{self, Display, Formatter, Write};

use indexmap::IndexMap;
use strsim::damerau_levenshtein;

use crate::python_text::is_printable;
use crate::scalars::from_scalars;

/// How deep lists, maps and specs may be nested, in text and in logs. In practice there are a few levels; the limit
/// keeps hostile input from exhausting the stack.
pub const MAX_DEPTH: usize = 64;

/// How many items the lists and maps among the arguments of a spec may have together in a log. Metrics have no use for as many, and each is
/// in memory several times: as JSON, in the spec, in the metric.
pub const MAX_ITEMS: usize = 250_000;

/// The argument that logs record beside the others: the seed of a random figure.
pub const SEED: &str = "seed";

/// The package whose name is left out where logs shorten names.
pub(crate) const REFERENCE_PACKAGE: &str = "inspect_ai";

/// The package under which the reference knows our metrics and reducers. Unlike its own, this name is not left out.
pub(crate) const OWN_PACKAGE: &str = "errorbar";

/// A name with arguments.
///
/// Equality looks at what was written: `k=1` and `k=1.0` differ, and so do `f(1)` and `f(k=1)`. The order of keyword
/// arguments does not matter.
///
/// ```
/// use errorbar_core::spec::Spec;
///
/// let built = Spec::new("bootstrap_stderr").kwarg("num_samples", 2000).kwarg("seed", 7);
/// assert_eq!(built, "bootstrap_stderr(num_samples=2000, seed=7)".parse()?);
/// # Ok::<(), errorbar_core::spec::SpecError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Spec {
    /// The package in front of the slash, if one was written.
    pub package: Option<String>,
    /// The name itself. Not empty.
    pub name: String,
    /// Positional arguments.
    pub args: Vec<Arg>,
    /// Keyword arguments, in the order written.
    pub kwargs: IndexMap<String, Arg>,
}

impl Spec {
    /// A spec without arguments. What stands before the first slash of `name` becomes the package.
    ///
    /// ```
    /// use errorbar_core::spec::Spec;
    ///
    /// assert_eq!(Spec::new("accuracy").package, None);
    /// assert_eq!(Spec::new("inspect_ai/accuracy").package.as_deref(), Some("inspect_ai"));
    /// ```
    pub fn new(name: impl AsRef<str>) -> Self {
        let name = name.as_ref();
        let (package, name) = match name.split_once('/') {
            Some((package, rest)) if !package.is_empty() && !rest.is_empty() => (Some(package), rest),
            _ => (None, name),
        };
        Self {
            package: package.map(str::to_owned),
            name: name.to_owned(),
            args: Vec::new(),
            kwargs: IndexMap::new(),
        }
    }

    /// Adds a positional argument.
    ///
    /// ```
    /// use errorbar_core::spec::Spec;
    ///
    /// assert_eq!(Spec::new("pass_at").arg(2).to_string(), "pass_at(2)");
    /// ```
    #[must_use]
    pub fn arg(mut self, value: impl Into<Arg>) -> Self {
        self.args.push(value.into());
        self
    }

    /// Adds a keyword argument, or replaces the one of that name.
    ///
    /// ```
    /// use errorbar_core::spec::Spec;
    ///
    /// assert_eq!(Spec::new("stderr").kwarg("cluster", "id").to_string(), r#"stderr(cluster="id")"#);
    /// ```
    #[must_use]
    pub fn kwarg(mut self, name: impl Into<String>, value: impl Into<Arg>) -> Self {
        self.kwargs.insert(name.into(), value.into());
        self
    }

    /// Adds a keyword argument if it was passed.
    ///
    /// ```
    /// use errorbar_core::spec::Spec;
    ///
    /// assert_eq!(Spec::new("match").kwarg_some("numeric", Some(true)).to_string(), "match(numeric=true)");
    /// assert_eq!(Spec::new("match").kwarg_some("numeric", None::<bool>).to_string(), "match");
    /// ```
    #[must_use]
    pub fn kwarg_some(self, name: impl Into<String>, value: Option<impl Into<Arg>>) -> Self {
        match value {
            Some(value) => self.kwarg(name, value),
            None => self,
        }
    }

    /// Whether the name says where to import it from: `module:function`.
    ///
    /// ```
    /// use errorbar_core::spec::Spec;
    ///
    /// assert!("my.metrics:best()".parse::<Spec>()?.is_import());
    /// assert!(!"my_package/best".parse::<Spec>()?.is_import());
    /// # Ok::<(), errorbar_core::spec::SpecError>(())
    /// ```
    pub fn is_import(&self) -> bool {
        self.package.is_none() && self.name.contains(':')
    }

    /// The name with its package, as logs record it: `inspect_ai/stderr`.
    ///
    /// ```
    /// use errorbar_core::spec::Spec;
    ///
    /// assert_eq!(Spec::new("my_package/f1").qualified_name(), "my_package/f1");
    /// assert_eq!(Spec::new("f1").qualified_name(), "f1");
    /// ```
    pub fn qualified_name(&self) -> Cow<'_, str> {
        match &self.package {
            Some(package) => Cow::Owned(format!("{package}/{}", self.name)),
            None => Cow::Borrowed(&self.name),
        }
    }

    /// The qualified name less `inspect_ai/`, as results and nested arguments show it.
    ///
    /// ```
    /// use errorbar_core::spec::Spec;
    ///
    /// assert_eq!(Spec::new("inspect_ai/stderr").log_name(), "stderr");
    /// assert_eq!(Spec::new("my_package/f1").log_name(), "my_package/f1");
    /// ```
    pub fn log_name(&self) -> Cow<'_, str> {
        match self.package.as_deref() {
            Some(REFERENCE_PACKAGE) => Cow::Borrowed(&self.name),
            _ => self.qualified_name(),
        }
    }

    /// The spec that is applied in the end, where an argument is a spec: `accuracy` of `grouped(accuracy(), "topic")`.
    pub fn innermost(&self) -> &Spec {
        let nested = self.args.iter().chain(self.kwargs.values()).find_map(|arg| match arg {
            Arg::Spec(nested) => Some(nested),
            _ => None,
        });
        nested.map_or(self, |nested| nested.innermost())
    }
}

// The arguments of a spec.

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

// What can be written down as a spec.

/// Something that has a spec: its name, and the arguments that were passed, as logs record them.
///
/// A type with [`Params`](crate::Params) has one. For others it is written by hand:
///
/// ```
/// use errorbar_core::{Spec, ToSpec};
///
/// #[derive(Debug)]
/// struct Longest;
///
/// impl ToSpec for Longest {
///     fn spec(&self) -> Spec {
///         Spec::new("longest")
///     }
/// }
/// ```
pub trait ToSpec {
    /// The name and the arguments that were passed.
    fn spec(&self) -> Spec;
}

// Names: which need no quotes, which one was meant, and the `name_k` shorthand.

/// The candidate that `name` was probably meant to be, for "did you mean".
///
/// Near enough is a distance of a third of the name's length (swapped neighbours count once, case not at all), or being
/// the only one that starts with the name or that the name starts with. On a tie the first candidate wins, so pass them in
/// the order you would list them.
///
/// ```
/// use errorbar_core::spec::nearest;
///
/// let known = ["accuracy", "bootstrap_stderr", "mean", "stderr"];
/// assert_eq!(nearest("acuracy", known), Some("accuracy"));
/// assert_eq!(nearest("sdterr", known), Some("stderr"));
/// assert_eq!(nearest("boot", known), Some("bootstrap_stderr"));
/// assert_eq!(nearest("perplexity", known), None);
/// ```
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let candidates: Vec<&str> = candidates.into_iter().collect();
    let wanted = name.to_lowercase();
    let length = wanted.chars().count();
    let limit = (length / 3).max(1);

    let close = candidates.iter().filter_map(|&candidate| {
        // Lengths first: the distance takes time and memory in proportion to their product, and names may be hostile.
        if candidate.chars().count().abs_diff(length) > limit {
            return None;
        }
        let distance = damerau_levenshtein(&wanted, &candidate.to_lowercase());
        // Less than the whole length: replacing every letter is no likeness.
        (distance <= limit && distance < length).then_some((distance, candidate))
    });
    if let Some((_, candidate)) = close.min_by_key(|(distance, _)| *distance) {
        return Some(candidate);
    }

    let mut related = candidates.into_iter().filter(|candidate| {
        let candidate = candidate.to_lowercase();
        let shorter = length.min(candidate.chars().count());
        shorter >= 3 && (candidate.starts_with(&wanted) || wanted.starts_with(&candidate))
    });
    // Several would be a guess.
    match (related.next(), related.next()) {
        (Some(only), None) => Some(only),
        _ => None,
    }
}

/// Takes `at_least_2` apart into `at_least` and 2, the shorthand for `at_least(2)`.
///
/// The registry decides whether a name is shorthand: a reducer of the literal name takes precedence.
///
/// ```
/// use errorbar_core::spec::split_k_suffix;
///
/// assert_eq!(split_k_suffix("at_least_2"), Some(("at_least", 2)));
/// assert_eq!(split_k_suffix("at_least"), None);
/// ```
pub fn split_k_suffix(name: &str) -> Option<(&str, u64)> {
    let (base, digits) = name.rsplit_once('_')?;
    // `parse` alone would also take a sign.
    let all_digits = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    if base.is_empty() || !all_digits {
        return None;
    }
    Some((base, digits.parse().ok()?))
}

/// The name of a metric or reducer without our own package, which logs record in front of it.
///
/// ```
/// use errorbar_core::spec::without_own_package;
///
/// assert_eq!(without_own_package("errorbar/accuracy"), "accuracy");
/// assert_eq!(without_own_package("accuracy"), "accuracy");
/// assert_eq!(without_own_package("their/accuracy"), "their/accuracy");
/// ```
pub fn without_own_package(name: &str) -> &str {
    match name.split_once('/') {
        Some((OWN_PACKAGE, bare)) => bare,
        _ => name,
    }
}

/// Whether a word may start with this character.
fn starts_word(c: char) -> bool {
    c.is_alphabetic() || c == '_'
}

/// Whether a word may continue with this character.
fn continues_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '.')
}

/// Whether the word is a literal rather than a name.
fn is_reserved(word: &str) -> bool {
    matches!(word, "true" | "True" | "false" | "False" | "null" | "None")
}

/// Whether the word can be written without backquotes.
fn is_plain(word: &str) -> bool {
    word.starts_with(starts_word) && word.chars().all(continues_word) && !is_reserved(word)
}

/// A reducer as papers write it, in our words: `pass@2` is `pass_at` of 2, `pass^2` is `pass_k` of 2. The number is
/// none if none was written.
///
/// ```
/// use errorbar_core::spec::reducer_of_papers;
///
/// assert_eq!(reducer_of_papers("pass@2"), Some(("pass_at", Some("2"))));
/// assert_eq!(reducer_of_papers("pass^k"), Some(("pass_k", None)));
/// assert_eq!(reducer_of_papers("mean"), None);
/// ```
pub fn reducer_of_papers(text: &str) -> Option<(&'static str, Option<&str>)> {
    let text = text.trim().strip_prefix("pass")?;
    let (name, k) = match text.strip_prefix('@') {
        Some(k) => ("pass_at", k),
        None => ("pass_k", text.strip_prefix('^')?),
    };
    let is_number = !k.is_empty() && k.bytes().all(|b| b.is_ascii_digit());
    Some((name, is_number.then_some(k)))
}

// From arguments as written to arguments by name.

/// What the name of a parameter begins with that takes every keyword which no other parameter has.
const ANY_KEYWORD: &str = "**";

impl Spec {
    /// Gives every argument its name, as a log records them: positional ones take the names in `parameters` in order, then
    /// come the keyword ones as written. Parameters that were not passed do not appear. A parameter `**name` stands for any
    /// keyword that is no other parameter.
    ///
    /// # Errors
    /// More positional arguments than parameters, a keyword that is no parameter, or an argument given twice. The message
    /// names the spec, the argument and the valid names; an unknown keyword comes with the nearest one as a hint.
    ///
    /// ```
    /// use errorbar_core::spec::{Arg, Spec};
    ///
    /// let spec: Spec = "pass_at(2, value=0.5)".parse()?;
    /// let bound = spec.bind(&["k", "value"])?;
    /// assert_eq!(bound["k"], Arg::Int(2));
    ///
    /// let wrong = "pass_at(2, vlaue=0.5)".parse::<Spec>()?.bind(&["k", "value"]).unwrap_err();
    /// assert_eq!(wrong.to_string(), "pass_at has no argument 'vlaue' (it takes k, value)");
    /// assert_eq!(wrong.hint(), Some("did you mean 'value'?"));
    /// # Ok::<(), errorbar_core::spec::SpecError>(())
    /// ```
    pub fn bind(&self, parameters: &[&str]) -> Result<IndexMap<String, Arg>, SpecError> {
        let spec = || self.qualified_name().into_owned();
        let owned = || parameters.iter().map(|&name| name.to_owned()).collect();
        let takes_any = parameters.iter().any(|name| name.starts_with(ANY_KEYWORD));
        let positional = || parameters.iter().filter(|name| !name.starts_with(ANY_KEYWORD));

        if self.args.len() > positional().count() {
            return Err(SpecErrorKind::TooManyArguments {
                spec: spec(),
                given: self.args.len(),
                parameters: owned(),
            }
            .into());
        }

        let mut bound: IndexMap<String, Arg> =
            positional().map(|&name| name.to_owned()).zip(self.args.iter().cloned()).collect();
        for (argument, value) in &self.kwargs {
            if !takes_any && !parameters.contains(&argument.as_str()) {
                let error = SpecError::from(SpecErrorKind::UnknownArgument {
                    spec: spec(),
                    argument: argument.clone(),
                    parameters: owned(),
                });
                return Err(match nearest(argument, parameters.iter().copied()) {
                    Some(meant) => error.with_hint(format!("did you mean '{meant}'?")),
                    None => error,
                });
            }
            if bound.insert(argument.clone(), value.clone()).is_some() {
                return Err(SpecErrorKind::ArgumentGivenTwice {
                    spec: spec(),
                    argument: argument.clone(),
                    parameters: owned(),
                }
                .into());
            }
        }
        Ok(bound)
    }
}

// From specs to text that reads back as the same spec.

/// Without arguments, the bare name; the parentheses appear where the spec is itself an argument.
impl Display for Spec {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if self.args.is_empty() && self.kwargs.is_empty() { write_name(f, self) } else { write_call(f, self) }
    }
}

impl Display for Arg {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Bool(value) => write!(f, "{value}"),
            Self::Int(value) => write!(f, "{value}"),
            // Debug, for it always writes a point or an exponent: without, 1.0 would return as an integer.
            Self::Float(value) => write!(f, "{value:?}"),
            Self::Str(value) => write_quoted(f, value, '"'),
            Self::List(items) => {
                f.write_char('[')?;
                write_separated(f, items, |f, item| write!(f, "{item}"))?;
                f.write_char(']')
            }
            Self::Map(entries) => write_map(f, entries, |f, item| write!(f, "{item}")),
            Self::Range(first, last) => write!(f, "{first}..{last}"),
            Self::Spec(spec) => write_call(f, spec),
        }
    }
}

impl Display for MetricsSpec {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Map(map) => write_metric_map(f, map),
            Self::List(items) => {
                f.write_char('[')?;
                write_separated(f, items, |f, item| match item {
                    MetricItem::Metric(spec) => write_call(f, spec),
                    MetricItem::Map(map) => write_metric_map(f, map),
                })?;
                f.write_char(']')
            }
        }
    }
}

fn write_metric_map(f: &mut Formatter<'_>, map: &MetricMap) -> fmt::Result {
    write_map(f, map, |f, specs| {
        f.write_char('[')?;
        write_separated(f, specs, write_call)?;
        f.write_char(']')
    })
}

fn write_call(f: &mut Formatter<'_>, spec: &Spec) -> fmt::Result {
    write_name(f, spec)?;
    f.write_char('(')?;
    write_separated(f, &spec.args, |f, value| write!(f, "{value}"))?;
    if !spec.args.is_empty() && !spec.kwargs.is_empty() {
        f.write_str(", ")?;
    }
    write_separated(f, &spec.kwargs, |f, (name, value)| {
        write_word(f, name)?;
        write!(f, "={value}")
    })?;
    f.write_char(')')
}

fn write_name(f: &mut Formatter<'_>, spec: &Spec) -> fmt::Result {
    if let Some(package) = &spec.package {
        write_word(f, package)?;
        f.write_char('/')?;
    }
    match spec.name.split_once(':') {
        Some((module, name)) if spec.package.is_none() && is_plain(module) && is_plain(name) => {
            f.write_str(&spec.name)
        }
        _ => write_word(f, &spec.name),
    }
}

pub(crate) fn write_word(f: &mut Formatter<'_>, word: &str) -> fmt::Result {
    if is_plain(word) { f.write_str(word) } else { write_quoted(f, word, '`') }
}

/// Escapes whatever a terminal or a reader's eye could stumble over, in a notation Python and JSON know too.
pub(crate) fn write_quoted(f: &mut Formatter<'_>, text: &str, quote: char) -> fmt::Result {
    f.write_char(quote)?;
    for c in text.chars() {
        match c {
            '\n' => f.write_str("\\n")?,
            '\r' => f.write_str("\\r")?,
            '\t' => f.write_str("\\t")?,
            c if c == quote || c == '\\' => write!(f, "\\{c}")?,
            c if is_printable(c) => f.write_char(c)?,
            c if c <= '\u{ffff}' => write!(f, "\\u{:04x}", u32::from(c))?,
            c => write!(f, "\\U{:08x}", u32::from(c))?,
        }
    }
    f.write_char(quote)
}

fn write_map<'a, T: 'a>(
    f: &mut Formatter<'_>,
    entries: impl IntoIterator<Item = (&'a String, &'a T)>,
    mut write_value: impl FnMut(&mut Formatter<'_>, &T) -> fmt::Result,
) -> fmt::Result {
    f.write_char('{')?;
    write_separated(f, entries, |f, (key, value)| {
        write_quoted(f, key, '"')?;
        f.write_str(": ")?;
        write_value(f, value)
    })?;
    f.write_char('}')
}

fn write_separated<T>(
    f: &mut Formatter<'_>,
    items: impl IntoIterator<Item = T>,
    mut write_item: impl FnMut(&mut Formatter<'_>, T) -> fmt::Result,
) -> fmt::Result {
    for (i, item) in items.into_iter().enumerate() {
        if i > 0 {
            f.write_str(", ")?;
        }
        write_item(f, item)?;
    }
    Ok(())
}
