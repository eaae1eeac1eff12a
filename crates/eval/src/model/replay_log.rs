//! `replay/LOG.eval`: the outputs of an earlier run.

use std::path::Path;

use errorbar_core::chat::MessageSource;
use errorbar_log::eval::{AnsweredSample, EvalLog, LogErrorKind};

use super::mock::Answers;
use super::replay::ReplayEntry;
use crate::{MessageRole, SampleId};

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
    let mut reader = log.answers();
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
fn entry(sample: AnsweredSample) -> Option<ReplayEntry> {
    let AnsweredSample { messages, output, .. } = sample;
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
