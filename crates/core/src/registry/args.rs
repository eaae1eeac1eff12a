//! The arguments of a spec, by name and by type.

pub use errorbar_macros::{ArgWord, Params};

use std::path::Path;
use std::sync::Arc;

use indexmap::IndexMap;

use super::Registry;
use crate::error::{Error, Result};
use crate::metadata::Metadata;
use crate::metric::Metric;
use crate::reducer::Reducer;
use crate::spec::{Arg, Spec, ToSpec};

/// The arguments that were passed to whatever a spec names, bound to their names.
#[derive(Debug)]
pub struct Args<'a> {
    target: String,
    values: IndexMap<String, Arg>,
    registry: &'a Registry,
}

impl<'a> Args<'a> {
    pub(crate) fn bind(spec: &Spec, parameters: &[&str], registry: &'a Registry) -> Result<Self> {
        let values = spec.bind(parameters)?;
        Ok(Args { target: spec.log_name().into_owned(), values, registry })
    }

    /// The argument, if it was passed (an explicit null counts as not passed).
    pub fn get<T: ArgType>(&self, name: &str) -> Result<Option<T>> {
        match self.values.get(name) {
            None => Ok(None),
            Some(Arg::Null) if !T::TAKES_NULL => Ok(None),
            Some(arg) => T::from_arg(arg, self.registry)
                .map_err(|problem| problem.into_error(&self.target, name, arg))
                .map(Some),
        }
    }

    /// The argument, which must be passed.
    pub fn required<T: ArgType>(&self, name: &str) -> Result<T> {
        self.get(name)?.ok_or_else(|| self.error(name, format!("is missing; it is {}", T::EXPECTED)))
    }

    /// The arguments that were passed, by name, as logs record them; an explicit null counts as not passed.
    ///
    /// ```
    /// use errorbar_core::registry::{DocSections, Entry, EntryKind, Param};
    /// use errorbar_core::{Metadata, Registry};
    ///
    /// #[derive(Clone)]
    /// struct Recorded(Metadata);
    /// impl EntryKind for Recorded {
    ///     const KIND: &'static str = "recorded thing";
    /// }
    ///
    /// let mut registry = Registry::built_in();
    /// registry.add(&Entry {
    ///     name: "quiz",
    ///     doc: "",
    ///     sections: DocSections::NONE,
    ///     params: || ["level", "seed"].map(|name| Param { name, ..Param::default() }).to_vec(),
    ///     build: |args| Ok(Recorded(args.to_log())),
    ///     replaces: false,
    ///     in_reference: false,
    /// })?;
    /// let Recorded(args) = registry.build(&"quiz('hard', seed=None)".parse()?)?;
    /// assert_eq!(serde_json::to_string(&args).unwrap(), r#"{"level":"hard"}"#);
    /// # Ok::<(), errorbar_core::Error>(())
    /// ```
    pub fn to_log(&self) -> Metadata {
        let passed = self.values.iter().filter(|(_, arg)| **arg != Arg::Null);
        passed.map(|(name, arg)| (name.clone(), arg.to_log_json(name))).collect()
    }

    /// The keyword arguments that are none of the named parameters, of an entry that takes any.
    ///
    /// # Errors
    /// One that is no literal: a spec or a range is no value of a template.
    pub fn keywords(&self, others: &[&str]) -> Result<KeywordArgs> {
        let rest = self.values.iter().filter(|(name, _)| !others.contains(&name.as_str()));
        let literal = |(name, arg): (&String, &Arg)| match KeywordArgs::is_literal(arg) {
            true => Ok((name.clone(), arg.clone())),
            false => {
                Err(self.error(name, format!("must be a string, a number, a list or a map, found {arg}")))
            }
        };
        Ok(KeywordArgs(rest.map(literal).collect::<Result<_>>()?))
    }

    /// The folder that files among the arguments are relative to.
    pub fn folder(&self) -> &Path {
        self.registry.folder()
    }

    /// An error about an argument.
    pub fn error(&self, name: &str, problem: impl Into<String>) -> Error {
        Error::Argument { target: self.target.clone(), argument: name.to_owned(), problem: problem.into() }
    }
}

/// Keyword arguments of any name, for entries whose templates have custom names: `prompt_template("{x}", x="y")`.
///
/// In a struct with [`Params`](crate::Params) it is the type of a field with `#[param(keywords)]`.
///
/// ```
/// use errorbar_core::KeywordArgs;
/// let params = KeywordArgs::default().with("tone", "formal");
/// assert_eq!(params.to_json()["tone"], "formal");
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KeywordArgs(IndexMap<String, Arg>);

impl KeywordArgs {
    /// With one more.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, value: impl Into<Arg>) -> Self {
        self.0.insert(name.into(), value.into());
        self
    }

    /// Their names.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// Their values by name, as templates fill them in.
    pub fn to_json(&self) -> Metadata {
        self.0.iter().map(|(name, arg)| (name.clone(), arg.to_log_json(name))).collect()
    }

    /// The spec with these arguments.
    #[must_use]
    pub fn add_to(&self, spec: Spec) -> Spec {
        self.0.iter().fold(spec, |spec, (name, arg)| spec.kwarg(name, arg.clone()))
    }

    fn is_literal(arg: &Arg) -> bool {
        match arg {
            Arg::Spec(_) | Arg::Range(..) => false,
            Arg::List(items) => items.iter().all(KeywordArgs::is_literal),
            Arg::Map(entries) => entries.values().all(KeywordArgs::is_literal),
            Arg::Null | Arg::Bool(_) | Arg::Int(_) | Arg::Float(_) | Arg::Str(_) => true,
        }
    }
}

/// Why an argument was refused.
#[derive(Debug)]
#[non_exhaustive]
pub enum ArgProblem {
    /// It is of another type than this.
    Expected(&'static str),
    /// It is of the right type, and wrong for this reason, which follows its name: `cannot be read from x.txt`.
    Wrong(String),
    /// It could not be built.
    Invalid(Error),
}

impl ArgProblem {
    fn into_error(self, target: &str, argument: &str, found: &Arg) -> Error {
        let problem = match self {
            ArgProblem::Invalid(error) => return error,
            ArgProblem::Wrong(problem) => problem,
            ArgProblem::Expected(expected) => format!("must be {expected}, found {found}"),
        };
        Error::Argument { target: target.to_owned(), argument: argument.to_owned(), problem }
    }
}

/// A type that arguments may have: those of metrics and reducers, scorers, solvers and tasks.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an argument, for specs have no way to write it",
    label = "not an argument type",
    note = "arguments are of type bool, f64, i64, u64, u32, usize, String, Leaf, Conversion, Arc<dyn Metric>, Arc<dyn Reducer>, AnyScorer, AnySolver, or Vec<T> and Option<T> of these"
)]
pub trait ArgType: Sized {
    /// The type in words, for messages: `a number`.
    const EXPECTED: &'static str;

    /// Whether null is a value of it. To other types a null is an argument that was not passed.
    const TAKES_NULL: bool = false;

    /// Reads the argument.
    fn from_arg(arg: &Arg, registry: &Registry) -> Result<Self, ArgProblem>;

    /// Writes the argument.
    fn to_arg(&self) -> Arg;
}

/// Specs have 64-bit signed integers; what is beyond them is written as the largest.
fn saturate(i: impl TryInto<i64>) -> i64 {
    i.try_into().unwrap_or(i64::MAX)
}

macro_rules! simple_arg {
    ($type:ty, $expected:literal, $read:expr, $write:expr) => {
        impl ArgType for $type {
            const EXPECTED: &'static str = $expected;
            fn from_arg(arg: &Arg, _: &Registry) -> Result<Self, ArgProblem> {
                let read: fn(&Arg) -> Option<$type> = $read;
                read(arg).ok_or(ArgProblem::Expected(Self::EXPECTED))
            }
            fn to_arg(&self) -> Arg {
                let write: fn(&$type) -> Arg = $write;
                write(self)
            }
        }
    };
}

simple_arg!(bool, "true or false", Arg::as_bool, |b| Arg::Bool(*b));
simple_arg!(f64, "a number", Arg::as_f64, |f| Arg::Float(*f));
simple_arg!(i64, "an integer", Arg::as_i64, |i| Arg::Int(*i));
simple_arg!(u64, "an integer, 0 or more", |a| a.as_i64()?.try_into().ok(), |i| Arg::Int(saturate(*i)));
simple_arg!(u32, "an integer, 0 or more", |a| a.as_i64()?.try_into().ok(), |i| Arg::Int((*i).into()));
simple_arg!(usize, "an integer, 0 or more", |a| a.as_i64()?.try_into().ok(), |i| Arg::Int(saturate(*i)));
simple_arg!(String, "a string in quotes", |a| a.as_str().map(str::to_owned), |s| Arg::Str(s.clone()));

/// A number that counts something: specs write it from 1 on. That it is not 0 is checked where Rust code can pass it, too.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Count<T>(pub(crate) T);

simple_arg!(Count<u64>, "an integer, 1 or more", |a| a.as_i64()?.try_into().ok().map(Count), |c| c
    .0
    .to_arg());
simple_arg!(Count<usize>, "an integer, 1 or more", |a| a.as_i64()?.try_into().ok().map(Count), |c| c
    .0
    .to_arg());

impl<T: ArgType> ArgType for Vec<T> {
    const EXPECTED: &'static str = "a list";

    fn from_arg(arg: &Arg, registry: &Registry) -> Result<Self, ArgProblem> {
        match arg {
            Arg::List(items) => items.iter().map(|item| T::from_arg(item, registry)).collect(),
            _ => Err(ArgProblem::Expected(Self::EXPECTED)),
        }
    }

    fn to_arg(&self) -> Arg {
        Arg::List(self.iter().map(ArgType::to_arg).collect())
    }
}

/// A type with a few values, each of which specs write as a word. For an enum it is derived.
pub trait ArgWord: Copy + PartialEq + 'static {
    /// The words in a sentence, for messages: `"t" or "bootstrap"`.
    const EXPECTED: &'static str;

    /// Each word, and what it stands for.
    const WORDS: &'static [(&'static str, Self)];
}

#[diagnostic::do_not_recommend]
impl<T: ArgWord> ArgType for T {
    const EXPECTED: &'static str = <T as ArgWord>::EXPECTED;

    fn from_arg(arg: &Arg, _: &Registry) -> Result<Self, ArgProblem> {
        let known = T::WORDS.iter().find(|(word, _)| arg.as_str() == Some(word));
        known.map(|(_, value)| *value).ok_or(ArgProblem::Expected(<T as ArgWord>::EXPECTED))
    }

    fn to_arg(&self) -> Arg {
        let known = T::WORDS.iter().find(|(_, value)| value == self);
        known.map_or(Arg::Null, |(word, _)| Arg::Str((*word).to_owned()))
    }
}

impl<T: ArgType> ArgType for Option<T> {
    const EXPECTED: &'static str = T::EXPECTED;
    const TAKES_NULL: bool = true;

    fn from_arg(arg: &Arg, registry: &Registry) -> Result<Self, ArgProblem> {
        match arg {
            Arg::Null => Ok(None),
            arg => T::from_arg(arg, registry).map(Some),
        }
    }

    fn to_arg(&self) -> Arg {
        self.as_ref().map_or(Arg::Null, ArgType::to_arg)
    }
}

impl ArgType for Arc<dyn Metric> {
    const EXPECTED: &'static str = "a metric such as accuracy()";

    fn from_arg(arg: &Arg, registry: &Registry) -> Result<Self, ArgProblem> {
        let spec = arg.as_spec().ok_or(ArgProblem::Expected(Self::EXPECTED))?;
        registry.metric(spec).map_err(ArgProblem::Invalid)
    }

    fn to_arg(&self) -> Arg {
        Arg::Spec(self.spec())
    }
}

impl ArgType for Arc<dyn Reducer> {
    const EXPECTED: &'static str = "a reducer such as mode or \"at_least_2\"";

    /// Logs record reducers by the string of their spec, so that is read too.
    fn from_arg(arg: &Arg, registry: &Registry) -> Result<Self, ArgProblem> {
        let built = match arg {
            Arg::Spec(spec) => registry.reducer(spec),
            Arg::Str(text) => text.parse().map_err(Error::from).and_then(|spec| registry.reducer(&spec)),
            _ => return Err(ArgProblem::Expected(Self::EXPECTED)),
        };
        built.map_err(ArgProblem::Invalid)
    }

    fn to_arg(&self) -> Arg {
        Arg::Str(self.log_name())
    }
}

// What every entry is: a name, a documentation and arguments, declared once as a struct.

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
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Param {
    /// Its name, as in logs; one that stands for keyword arguments of any name begins with two asterisks.
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
