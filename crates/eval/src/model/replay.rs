//! `replay/FILE`: answers that were recorded before.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::future::Future;
use std::path::{Path, PathBuf};

use errorbar_core::chat::MessageSource;
use errorbar_core::{Error, IndexMap, Metadata, Result};
use errorbar_log::eval::{EvalLog, LogErrorKind, SampleFields, StoredSample};
use serde::Deserialize;

use super::{Model, ModelError, Provider, ProviderEntry, Request, provider};
use crate::dataset::limits::{MemoryBudget, read_text, record};
use crate::expression::json_bytes;
use crate::{BoxFuture, MessageRole, ModelOutput, NamedSample, OutputChoice, SampleId, Usage};

pub(super) const PROVIDER: ProviderEntry = provider!(
    "replay",
    "Recorded answers: replay/FILE reads JSON lines {\"id\", \"epoch\", \"output\"}, without an epoch a line answers every epoch; replay/LOG.eval gives the outputs of a log.",
    Provider::local(|file, options| Ok(Replay::open(file, options.folder)?.into()))
);

/// A model that answers from a file: one JSON object a line, with `id`, perhaps `epoch`, and `output`, a
/// text or a list with one text for each call about the sample. A line without an epoch, or of epoch 0, is about every
/// epoch. Or from an eval log (`.eval`, `.json`), whose outputs are those of their samples and epochs.
#[derive(Debug)]
pub struct Replay {
    name: String,
    path: PathBuf,
    /// By id as text and epoch; epoch 0 answers every epoch.
    answers: HashMap<(String, u32), ReplayEntry>,
}

/// What an answer takes besides its strings: a place in the table, and its id on the heap.
const RECORDED_BYTES: usize = 64;

#[derive(Debug)]
pub(super) struct ReplayEntry {
    pub(super) answers: Answers,
    pub(super) usage: Option<Usage>,
    /// The last answer with all that was recorded of it.
    pub(super) output: Option<Box<ModelOutput>>,
}

impl ReplayEntry {
    /// About how many bytes it takes.
    fn bytes(&self) -> usize {
        let probabilities = |choice: &OutputChoice| choice.logprobs.as_ref().map_or(0, json_bytes) as usize;
        let output = self.output.as_ref().map_or(0, |output| {
            let choices = output.choices.iter();
            size_of::<ModelOutput>()
                + output.completion.len()
                + choices.map(|choice| choice.message.content.len() + probabilities(choice)).sum::<usize>()
        });
        self.answers.bytes() + output
    }
}

#[derive(Deserialize)]
struct ReplayLine {
    id: SampleId,
    #[serde(default)]
    epoch: Option<u32>,
    output: Answers,
    #[serde(default)]
    usage: Option<Usage>,
}

impl Replay {
    /// Reads the answers; a relative path starts at `folder`.
    ///
    /// # Errors
    /// A file that cannot be read, a line that is no such object, two lines for one sample and epoch.
    pub fn open(file: &str, folder: &Path) -> Result<Self> {
        let path = folder.join(file);
        let fail = |problem: String| {
            Error::custom(format!("cannot read the recorded outputs {}: {problem}", path.display()))
        };
        let mut held = MemoryBudget::of_file(&path);
        let mut answers: HashMap<(String, u32), ReplayEntry> = HashMap::new();
        let mut hold = |id: &SampleId, epoch: u32, entry: ReplayEntry| {
            held.add((size_of::<((String, u32), ReplayEntry)>() + RECORDED_BYTES + entry.bytes()) as u64)?;
            Ok::<bool, String>(answers.insert((id.to_string(), epoch), entry).is_none())
        };
        let is_log = outputs(&path, |id, epoch, entry| hold(&id, epoch, entry).map(drop)).map_err(fail)?;
        let text = if is_log { String::new() } else { read_text(&path, false).map_err(fail)? };
        let lines = (1..).zip(text.strip_prefix('\u{feff}').unwrap_or(&text).lines());
        for (number, line) in lines.filter(|(_, line)| !line.trim().is_empty()) {
            let fail = |problem: String| fail(format!("line {number}: {problem}"));
            let ReplayLine { id, epoch, output, usage } = record(line).map_err(|problem| {
                fail(format!(
                    "{problem}; a line is {{\"id\": …, \"epoch\": 1, \"output\": \"…\"}}, the epoch is optional"
                ))
            })?;
            if output.at(0).is_none() {
                return Err(fail("`output` is an empty list".to_owned()));
            }
            let entry = ReplayEntry { answers: output, usage, output: None };
            if !hold(&id, epoch.unwrap_or(0), entry).map_err(fail)? {
                let epoch = epoch.map(|epoch| format!(" in epoch {epoch}")).unwrap_or_default();
                return Err(fail(format!("sample {:?} occurs twice{epoch}", id.to_string())));
            }
        }
        Ok(Replay { name: format!("replay/{file}"), path, answers })
    }

    fn find(&self, id: &SampleId, epoch: u32) -> Option<&ReplayEntry> {
        let id = id.to_string();
        self.answers.get(&(id.clone(), epoch)).or_else(|| self.answers.get(&(id, 0)))
    }
}

impl Model for Replay {
    fn name(&self) -> &str {
        &self.name
    }

    fn args(&self) -> Metadata {
        Metadata::from_iter([("file".to_owned(), self.path.display().to_string().into())])
    }

    fn generate<'a>(&'a self, request: Request<'a>) -> BoxFuture<'a, Result<ModelOutput, ModelError>> {
        Box::pin(async move {
            let recorded = self.find(request.sample_id, request.epoch);
            let text = recorded.and_then(|recorded| recorded.answers.at(request.call));
            let (Some(recorded), Some(text)) = (recorded, text) else {
                return Err(ModelError::permanent(format!(
                    "{} has no output for sample {:?} in epoch {}; record one, or run fewer samples or epochs",
                    self.path.display(),
                    request.sample_id.to_string(),
                    request.epoch
                )));
            };
            let mut output = match &recorded.output {
                // The stop reason and the log probabilities are those of the last answer.
                Some(last) if last.completion == text => {
                    let mut output = last.as_ref().clone();
                    (output.model, output.time) = (self.name.clone(), None);
                    output
                }
                _ => ModelOutput::from_text(self.name.as_str(), text),
            };
            // What is recorded is the usage of all calls together.
            output.usage = recorded.usage.clone().filter(|_| request.call == 0);
            Ok(output)
        })
    }

    fn could_have_answered(&self, id: &SampleId, epoch: u32, answer: &str) -> bool {
        self.find(id, epoch).is_some_and(|recorded| recorded.answers.iter().any(|text| text == answer))
    }

    /// A file of another dataset would make every sample fail one by one.
    fn check(&self, samples: &[NamedSample]) -> Result<()> {
        let ids: HashSet<&str> = self.answers.keys().map(|(id, _)| id.as_str()).collect();
        let known = |(id, _): &NamedSample| ids.contains(id.to_string().as_str());
        match samples.first() {
            Some((first, _)) if !samples.iter().any(known) => Err(Error::custom(format!(
                "{} has no output for any sample of the dataset, such as {:?}; its ids must be those of the dataset",
                self.path.display(),
                first.to_string()
            ))),
            _ => Ok(()),
        }
    }
}

// `replay/LOG.eval`: the outputs of an earlier run.

/// The outputs of a log, by sample and epoch; nothing if the file is no eval log. A `.json` file may hold JSON lines.
///
/// # Errors
/// What is wrong with a log.
pub(super) fn outputs(
    path: &Path,
    mut take: impl FnMut(SampleId, u32, ReplayEntry) -> Result<(), String>,
) -> Result<bool, String> {
    let is = |name: &str| path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case(name));
    if !is("eval") && !is("json") {
        return Ok(false);
    }
    let opened = EvalLog::open(path).and_then(|log| log.header().map(|_| log));
    let log = match opened {
        Ok(log) => log,
        Err(error) if is("json") && !matches!(error.kind(), LogErrorKind::Open(_)) => return Ok(false),
        Err(error) => return Err(error.to_string()),
    };
    let mut reader = log.reader(SampleFields::answers());
    for at in 0..log.sample_count() {
        let sample = reader.read(at).map_err(|error| error.to_string())?;
        let (id, epoch) = (sample.id.clone(), sample.epoch);
        if let Some(entry) = entry(sample) {
            take(id, epoch, entry)?;
        }
    }
    Ok(true)
}

/// What the model said about a sample, call by call: the messages that it added to the conversation, and the output.
/// Nothing if it has no output, because it ended with an error.
fn entry(sample: StoredSample) -> Option<ReplayEntry> {
    let StoredSample { messages, output, .. } = sample;
    if output.choices.is_empty() && output.completion.is_empty() {
        return None;
    }
    let is_generated = |role, source| role == MessageRole::Assistant && source != Some(MessageSource::Input);
    let mut texts: Vec<String> = messages
        .into_iter()
        .filter(|message| is_generated(message.role, message.source))
        .map(|message| message.content)
        .collect();
    // Solvers may change the conversation; what they judged is the output.
    texts.pop();
    let answers = match texts.is_empty() {
        true => Answers::One(output.completion.clone()),
        false => {
            texts.push(output.completion.clone());
            Answers::Each(texts)
        }
    };
    Some(ReplayEntry { answers, usage: output.usage.clone(), output: Some(Box::new(output)) })
}

// `mock/…`: scripted answers, for trying things out and for tests.

pub(super) const MOCK: ProviderEntry = provider!(
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

    /// All of them.
    pub(super) fn iter(&self) -> impl Iterator<Item = &str> {
        let texts = match self {
            Answers::One(text) => std::slice::from_ref(text),
            Answers::Each(texts) => texts,
        };
        texts.iter().map(String::as_str)
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
