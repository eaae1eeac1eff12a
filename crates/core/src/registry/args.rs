//! The arguments of a spec, by name and by type.

use std::path::Path;
use std::sync::Arc;

use indexmap::IndexMap;

use super::Registry;
use crate::error::{Error, Result};
use crate::metadata::Metadata;
use crate::metric::Metric;
use crate::reducer::Reducer;
use crate::spec::{Arg, Spec};

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
    ///     params: || vec![Param::required("level", "How hard."), Param::optional("seed", "", "None")],
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
        match self {
            ArgProblem::Invalid(error) => error,
            ArgProblem::Wrong(problem) => {
                Error::Argument { target: target.to_owned(), argument: argument.to_owned(), problem }
            }
            ArgProblem::Expected(expected) => ArgProblem::Wrong(format!("must be {expected}, found {found}"))
                .into_error(target, argument, found),
        }
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

/// A type with a few values, each of which specs write as a word.
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
