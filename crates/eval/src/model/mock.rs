//! `mock/…`: scripted answers, for trying things out and for tests.

use std::fmt;
use std::future::Future;

use errorbar_core::{Error, IndexMap, Result};
use serde::Deserialize;

use super::{Model, ModelError, Provider, ProviderEntry, Request, provider};
use crate::{BoxFuture, ModelOutput};

pub(super) const PROVIDER: ProviderEntry = provider!(
    "mock",
    "Scripted answers: mock/TEXT answers TEXT to everything; a JSON list has one string per call, a JSON object those of each sample id.",
    Provider::local(|script, _| Ok(Mock::new(script)?.into()))
);

/// A model with scripted answers.
///
/// ```
/// use errorbar_eval::Mock;
/// Mock::new("ANSWER: B")?; // always the same
/// Mock::new(r#"["first try", "on reflection"]"#)?; // one string for each call about a sample
/// Mock::new(r#"{"q1": "ANSWER: A", "q2": ["x", "y"]}"#)?; // by sample
/// # Ok::<(), errorbar_core::Error>(())
/// ```
#[derive(Debug)]
pub struct Mock {
    name: String,
    script: Script,
}

#[derive(Debug)]
enum Script {
    Always(Answers),
    BySample(IndexMap<String, Answers>),
}

/// One string, or one for each call; the last one is repeated.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
pub(super) enum Answers {
    One(String),
    Each(Vec<String>),
}

impl Answers {
    /// About how many bytes the strings take.
    pub(super) fn bytes(&self) -> usize {
        match self {
            Answers::One(text) => text.len(),
            Answers::Each(texts) => texts.iter().map(|text| size_of::<String>() + text.len()).sum(),
        }
    }

    /// The answer to the call of this number; the last one answers whatever follows.
    pub(super) fn at(&self, call: u32) -> Option<&str> {
        match self {
            Answers::One(text) => Some(text),
            Answers::Each(texts) => texts.get(call as usize).or(texts.last()).map(String::as_str),
        }
    }
}

impl Mock {
    /// A model with this script.
    ///
    /// # Errors
    /// A script that begins as a JSON list or object and is none of strings.
    pub fn new(script: &str) -> Result<Self> {
        let name = format!("mock/{script}");
        let wrong = |error: serde_json::Error| {
            Error::custom(format!(
                "`{name}`: a script is a string, a JSON list of strings, or a JSON object from sample ids to those: {error}"
            ))
        };
        let script = if script.starts_with('[') {
            Script::Always(Answers::Each(serde_json::from_str(script).map_err(wrong)?))
        } else if script.starts_with('{') {
            Script::BySample(serde_json::from_str(script).map_err(wrong)?)
        } else {
            Script::Always(Answers::One(script.to_owned()))
        };
        Ok(Mock { name, script })
    }
}

impl Model for Mock {
    fn name(&self) -> &str {
        &self.name
    }

    fn generate<'a>(&'a self, request: Request<'a>) -> BoxFuture<'a, Result<ModelOutput, ModelError>> {
        Box::pin(async move {
            let answers = match &self.script {
                Script::Always(answers) => Some(answers),
                Script::BySample(samples) => samples.get(&request.sample_id.to_string()),
            };
            let text = answers.and_then(|answers| answers.at(request.call)).ok_or_else(|| {
                Error::custom(format!(
                    "the script of the mock model has no answer for sample {:?}; add one",
                    request.sample_id.to_string()
                ))
            })?;
            Ok(ModelOutput::from_text(self.name.as_str(), text))
        })
    }
}

/// A model made of a closure, for tests and custom models.
///
/// ```
/// use errorbar_eval::model_fn;
/// let shouting = model_fn("mine/shouting", |request| {
///     let text = request.messages.last().map(|message| message.content.to_uppercase());
///     async move { Ok(text.unwrap_or_default()) }
/// });
/// ```
pub fn model_fn<F, Fut>(name: impl Into<String>, answer: F) -> FnModel<F>
where
    F: Fn(Request<'_>) -> Fut + Send + Sync,
    Fut: Future<Output = Result<String>> + Send + 'static,
{
    FnModel { name: name.into(), answer }
}

/// A model made of a closure; see [`model_fn`].
pub struct FnModel<F> {
    name: String,
    answer: F,
}

impl<F> fmt::Debug for FnModel<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "model_fn({:?})", self.name)
    }
}

impl<F, Fut> Model for FnModel<F>
where
    F: Fn(Request<'_>) -> Fut + Send + Sync,
    Fut: Future<Output = Result<String>> + Send + 'static,
{
    fn name(&self) -> &str {
        &self.name
    }

    fn generate<'a>(&'a self, request: Request<'a>) -> BoxFuture<'a, Result<ModelOutput, ModelError>> {
        let answer = (self.answer)(request);
        Box::pin(async move { Ok(ModelOutput::from_text(self.name.as_str(), answer.await?)) })
    }
}
