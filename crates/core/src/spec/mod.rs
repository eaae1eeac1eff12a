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

use std::borrow::Cow;

use indexmap::IndexMap;

mod arg;
mod bind;
mod cursor;
mod display;
mod error;
mod literal;
mod log;
mod metrics;
mod names;
mod parse;
mod predicate;
mod to_spec;

#[cfg(test)]
mod tests;

pub use arg::Arg;
pub use cursor::{Parser, Word, expected};
pub(crate) use display::{write_quoted, write_word};
pub use error::{SpecError, SpecErrorKind};
pub(crate) use log::params_to_log;
pub use metrics::{MetricItem, MetricMap, MetricTree, MetricsSpec};
pub use names::{nearest, reducer_of_papers, split_k_suffix, without_own_package};
pub use to_spec::ToSpec;

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
