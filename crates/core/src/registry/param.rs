//! One argument of an entry, as the registry lists it.

use crate::spec::Arg;

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
