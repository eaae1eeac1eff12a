//! What every entry is: a name, a documentation and arguments, declared once as a struct.

pub use errorbar_macros::Params;

use super::Args;
use crate::error::{Error, Result};
use crate::spec::{Arg, Spec, ToSpec};

impl<P: Params> ToSpec for P {
    fn spec(&self) -> Spec {
        self.to_spec()
    }
}

/// The arguments of an entry, declared once: `#[derive(Params)]` on the struct that holds them gives everything here,
/// a setter for each argument that may be left out, and the function that makes one in Rust.
///
/// ```
/// use errorbar_core::registry::{Entry, MetricEntry};
/// use errorbar_core::{Metric, MetricValue, Params, Registry, Result, Scores, ToSpec};
///
/// /// The share of scores from a threshold on.
/// #[derive(Clone, Debug, Params)]
/// #[params(crate = errorbar_core, name = "pass_rate")]
/// struct PassRate {
///     /// The lowest score that passes.
///     #[param(default = 0.5)]
///     threshold: Option<f64>,
/// }
///
/// impl Metric for PassRate {
///     fn compute(&self, scores: &Scores<'_>) -> Result<MetricValue> {
///         let passed = scores.floats().iter().filter(|score| **score >= self.threshold_or_default()).count();
///         Ok((passed as f64 / scores.len() as f64).into())
///     }
/// }
///
/// let mut registry = Registry::built_in();
/// registry.add(&MetricEntry::of::<PassRate>())?;
/// let by_spec = registry.metric(&"pass_rate(0.8)".parse()?)?;
/// assert_eq!(by_spec.spec(), pass_rate().threshold(0.8).spec());
/// let info = registry.list_metrics().last().ok_or("listed")?;
/// assert_eq!(info.signature(), "pass_rate(threshold=0.5)");
/// assert_eq!(info.params[0].doc, "The lowest score that passes.");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// A field is an argument. `T` must be passed; `Option<T>` may be, and is recorded if it was; `T` with a default may be,
/// and is recorded if it differs from the default.
///
/// | on the struct | means |
/// |---|---|
/// | `name = "ci"` | the name in specs and logs; a constant too |
/// | `crate = errorbar_core` | the crate that has this trait, `errorbar` if unset |
/// | `doc = DOC` | the documentation; that of the struct, up to its first example or heading, if unset |
/// | `sections = SECTIONS` | the [`DocSections`]; those of the struct's documentation if unset |
/// | `constructor = ci` | the function that makes one, named as the entry if unset; `no_constructor` for none |
/// | `check = Self::validate` | `fn(&Self) -> Result<()>` over all arguments, as [`Params::check`] |
/// | `reference` | the reference has an entry of this name, which takes all arguments that are not `own` |
/// | `finish = Self::read` | `fn(Self, &Args) -> Result<Self>`, the last step of building from a spec |
///
/// | on a field | means |
/// |---|---|
/// | `default = 0.95` | what it is if it is not passed; `self.FIELD_or_default()` is what is in force |
/// | `check = in_range` | `fn(&T) -> Result<(), String>`: what is wrong with a value |
/// | `from = Choice`, `map = pick` | the setter takes `impl Into<Choice>` and stores `pick(choice)` |
/// | `keywords` | [`KeywordArgs`](crate::KeywordArgs): every keyword argument that no other field names |
/// | `no_setter` | the setter is written by hand |
/// | `own` | the reference's entry of this name has no such argument |
/// | `reference = ["t"]` | the strings that the reference's argument takes, where this one takes more |
/// | `skip` | not an argument, but derived from them: setters reset it to its `Default` |
pub trait Params: Sized {
    /// The name in specs and logs.
    const NAME: &'static str;

    /// What it is: paragraphs, the first of which is a sentence that stands alone.
    const DOC: &'static str;

    /// What follows in the documentation: formula, example and so on.
    const SECTIONS: DocSections = DocSections::NONE;

    /// Whether the reference has an entry of this name. What it does not have, logs record under our package.
    const IN_REFERENCE: bool = false;

    /// The arguments, in order.
    fn params() -> Vec<Param>;

    /// Built from the arguments of a spec, and checked.
    fn from_args(args: &Args<'_>) -> Result<Self>;

    /// The name and the arguments that were passed.
    fn to_spec(&self) -> Spec;

    /// Whether the arguments make sense. Specs are checked when they are built, builders when they are used.
    fn check(&self) -> Result<()>;

    /// The error about one of the arguments.
    fn refuse(argument: &str, problem: impl Into<String>) -> Error {
        let (target, argument) = (Self::NAME.to_owned(), argument.to_owned());
        Error::Argument { target, argument, problem: problem.into() }
    }
}

/// One argument of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Param {
    /// Its name, as in logs.
    pub name: &'static str,
    /// What it is, in a sentence.
    pub doc: &'static str,
    /// The type in words: `a number`; empty if it is not declared.
    pub expected: &'static str,
    /// What it is when it is not passed, as a spec would write it; `None` if it must be passed.
    pub default: Option<String>,
    /// Whether the reference's entry of the same name has no such argument.
    pub is_own: bool,
    /// The strings that the reference's argument takes, where this one takes more; `None` if both take the same.
    pub reference_values: Option<&'static [&'static str]>,
}

impl Param {
    /// An argument that must be passed.
    pub fn required(name: &'static str, doc: &'static str) -> Self {
        Param { name, doc, expected: "", default: None, is_own: false, reference_values: None }
    }

    /// Keyword arguments of any name; the name begins with two asterisks.
    pub fn keywords(name: &'static str, doc: &'static str) -> Self {
        Param::required(name, doc)
    }

    /// An argument with a default.
    pub fn optional(name: &'static str, doc: &'static str, default: impl ToString) -> Self {
        Param { default: Some(default.to_string()), ..Param::required(name, doc) }
    }

    /// The same, with its type in words.
    #[must_use]
    pub fn of_type(self, expected: &'static str) -> Self {
        Param { expected, ..self }
    }

    /// The same, as an argument that the reference's entry of the same name does not have.
    #[must_use]
    pub fn own(self) -> Self {
        Param { is_own: true, ..self }
    }

    /// The same, as an argument that takes only these strings in the reference.
    #[must_use]
    pub fn with_reference_values(self, values: &'static [&'static str]) -> Self {
        Param { reference_values: Some(values), ..self }
    }

    /// Whether the reference's entry of the same name would refuse this value.
    pub(crate) fn is_own_value(&self, value: &Arg) -> bool {
        let is_other = |values: &[&str]| !value.as_str().is_some_and(|value| values.contains(&value));
        self.is_own || (*value != Arg::Null && self.reference_values.is_some_and(is_other))
    }
}

/// The sections of an entry's documentation, taken from its doc comment: `# Formula`, `# When`, `# Example`, `# See also` and
/// `# Source`. A section that is absent is empty.
///
/// ```
/// use errorbar_core::{Metric, MetricValue, Params, Result, Scores};
///
/// /// The share of scores from a threshold on.
/// ///
/// /// # Formula
/// /// #(x ≥ threshold) / n
/// ///
/// /// # When
/// /// A score counts from some value on, and how far above it is does not matter.
/// ///
/// /// # See also
/// /// `accuracy`, `mean`
/// #[derive(Clone, Debug, Params)]
/// #[params(crate = errorbar_core, name = "pass_rate")]
/// struct PassRate {
///     /// The lowest score that passes.
///     threshold: f64,
/// }
///
/// assert_eq!(PassRate::DOC, "The share of scores from a threshold on.");
/// assert_eq!(PassRate::SECTIONS.formula, "#(x ≥ threshold) / n");
/// assert_eq!(PassRate::SECTIONS.see_also, ["accuracy", "mean"]);
/// assert_eq!(PassRate::SECTIONS.example, "");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DocSections {
    /// How it is computed; its lines are kept.
    pub formula: &'static str,
    /// When to use it, in paragraphs.
    pub when: &'static str,
    /// Commands, each behind `$ `, and what they print: the first block ```` ```console ```` of the section.
    pub example: &'static str,
    /// The names of related entries, which stand in backticks.
    pub see_also: &'static [&'static str],
    /// Where it comes from, in paragraphs.
    pub source: &'static str,
}

impl DocSections {
    /// No section.
    pub const NONE: Self = DocSections { formula: "", when: "", example: "", see_also: &[], source: "" };
}
