//! The question, and the expected answer.

use std::borrow::Cow;
use std::ops::Deref;

use errorbar_core::Metadata;
use errorbar_log::eval::StoredSample;
use serde_json::Value as Json;

use crate::macros::setters;
use crate::{Input, SampleId, Targets};

/// One question of a dataset.
///
/// ```
/// use errorbar_eval::Sample;
/// let sample = Sample::new("Which is a prime?")
///     .choices(["4", "7"])
///     .target("B")
///     .id("primes-1")
///     .metadata("category", "arithmetic");
/// assert_eq!(sample.target.text(), "B");
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// The question, as a string or as a conversation.
    pub input: Input,
    /// What would be right.
    pub target: Target,
    /// The choices of a multiple-choice question; none otherwise.
    pub choices: Vec<String>,
    /// Its name; samples without one are numbered from 1.
    pub id: Option<SampleId>,
    /// What metrics group and cluster by, what templates fill in, and anything else.
    pub metadata: Metadata,
}

impl Sample {
    /// A question as a string, or as messages.
    pub fn new(input: impl Into<Input>) -> Self {
        Sample {
            input: input.into(),
            target: Target::default(),
            choices: Vec::new(),
            id: None,
            metadata: Metadata::new(),
        }
    }

    /// Adds an entry of metadata.
    #[must_use]
    pub fn metadata(mut self, key: impl Into<String>, value: impl Into<Json>) -> Self {
        self.metadata.insert(key.into(), value.into());
        self
    }

    /// Whether a sample of a log is the same question.
    pub(crate) fn is_question_of(&self, stored: &StoredSample) -> bool {
        self.input == stored.input
            && *self.target.targets() == stored.target
            && self.choices == stored.choices.as_deref().unwrap_or_default()
    }

    setters! {
        /// What would be right: one string, or several that are each right.
        target: impl Into<Target> => target.into();

        /// The choices, which letters from A on stand for.
        choices: impl IntoIterator<Item = impl Into<String>> => choices.into_iter().map(Into::into).collect();

        /// Its name.
        id: impl Into<SampleId> => Some(id.into());
    }
}

impl From<&str> for Sample {
    fn from(input: &str) -> Self {
        Sample::new(input)
    }
}

/// What would be right: one string or several.
///
/// ```
/// use errorbar_eval::Target;
/// let target = Target::from(["red", "crimson"]);
/// assert_eq!(target.iter().count(), 2);
/// assert_eq!(target.text(), "redcrimson");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Target(Targets);

impl Target {
    /// The string; several are joined without anything between, as the reference does.
    pub fn text(&self) -> Cow<'_, str> {
        match self.as_slice() {
            [one] => Cow::Borrowed(one),
            several => Cow::Owned(several.concat()),
        }
    }

    /// All strings.
    pub fn as_slice(&self) -> &[String] {
        match &self.0 {
            Targets::One(text) => std::slice::from_ref(text),
            Targets::Many(texts) => texts,
        }
    }

    /// As logs record it.
    pub fn targets(&self) -> &Targets {
        &self.0
    }
}

impl Deref for Target {
    type Target = [String];
    fn deref(&self) -> &[String] {
        self.as_slice()
    }
}

impl From<Targets> for Target {
    fn from(targets: Targets) -> Self {
        Target(targets)
    }
}
macro_rules! from_one {
    ($($type:ty),*) => {$(
        impl From<$type> for Target {
            fn from(text: $type) -> Self {
                Target(Targets::One(text.into()))
            }
        }
    )*};
}
from_one!(&str, &String, String);
impl<T: Into<String>> From<Vec<T>> for Target {
    fn from(texts: Vec<T>) -> Self {
        Target(Targets::Many(texts.into_iter().map(Into::into).collect()))
    }
}
impl<T: Into<String>, const N: usize> From<[T; N]> for Target {
    fn from(texts: [T; N]) -> Self {
        Target::from(Vec::from(texts))
    }
}
