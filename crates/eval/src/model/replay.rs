//! `replay/FILE`: answers that were recorded before.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use errorbar_core::{Error, Metadata, Result};
use errorbar_log::eval::Wire;
use serde::Deserialize;
use serde_json::Value as Json;

use super::mock::Answers;
use super::{Model, ModelError, Provider, ProviderEntry, Request, provider, replay_log};
use crate::dataset::limits::{FileText, MemoryBudget, read_text, record};
use crate::{BoxFuture, ModelOutput, NamedSample, OutputChoice, SampleId, Usage};

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
        let probabilities = |choice: &OutputChoice| choice.logprobs.as_ref().map_or(0, json_bytes);
        let output = self.output.as_ref().map_or(0, |output| {
            let choices = output.choices.iter();
            size_of::<ModelOutput>()
                + output.completion.len()
                + choices.map(|choice| choice.message.content.len() + probabilities(choice)).sum::<usize>()
        });
        self.answers.bytes() + output
    }
}

/// About how many bytes a JSON value takes.
fn json_bytes(json: &Json) -> usize {
    const NODE: usize = 64;
    NODE + match json {
        Json::String(text) => text.len(),
        Json::Array(items) => items.iter().map(json_bytes).sum(),
        Json::Object(fields) => fields.iter().map(|(key, value)| key.len() + json_bytes(value)).sum(),
        _ => 0,
    }
}

#[derive(Deserialize)]
struct ReplayLine {
    id: Wire<SampleId>,
    #[serde(default)]
    epoch: Option<u32>,
    output: Answers,
    #[serde(default)]
    usage: Option<Wire<Usage>>,
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
        let is_log = replay_log::outputs(&path, |id, epoch, entry| {
            held.add((size_of::<((String, u32), ReplayEntry)>() + RECORDED_BYTES + entry.bytes()) as u64)?;
            answers.insert((id.to_string(), epoch), entry);
            Ok(())
        });
        if is_log.map_err(fail)? {
            return Ok(Replay { name: format!("replay/{file}"), path, answers });
        }
        let FileText { text, .. } = read_text(&path, false).map_err(fail)?;
        let lines = (1..).zip(text.strip_prefix('\u{feff}').unwrap_or(&text).lines());
        for (number, line) in lines.filter(|(_, line)| !line.trim().is_empty()) {
            let ReplayLine { id: Wire(id), epoch, output, usage } = record(line).map_err(|problem| {
                fail(format!(
                    "line {number}: {problem}; a line is {{\"id\": …, \"epoch\": 1, \"output\": \"…\"}}, the epoch \
                     is optional"
                ))
            })?;
            if output.at(0).is_none() {
                return Err(fail(format!("line {number}: `output` is an empty list")));
            }
            let usage = usage.map(|Wire(usage)| usage);
            let entry = ReplayEntry { answers: output, usage, output: None };
            let bytes = size_of::<((String, u32), ReplayEntry)>() + RECORDED_BYTES + entry.bytes();
            held.add(bytes as u64).map_err(|problem| fail(format!("line {number}: {problem}")))?;
            let key = (id.to_string(), epoch.unwrap_or(0));
            if answers.insert(key, entry).is_some() {
                let epoch = epoch.map(|epoch| format!(" in epoch {epoch}")).unwrap_or_default();
                return Err(fail(format!("line {number}: sample {:?} occurs twice{epoch}", id.to_string())));
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
