//! Reading transcripts, one at a time.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use errorbar_core::SampleId;

use super::parts::NamedAttachments;
use super::{Transcript, TranscriptMessage, message, wanted};
use crate::eval::SampleRecord;
use crate::eval::container::Container;
use crate::eval::error::{LogError, Result};
use crate::eval::json::{FieldSelection, Outline, Selection, Skimmer};
use crate::eval::reader::EvalLog;
use crate::eval::stored::NAMELESS;
use crate::eval::wire::decode;
use crate::eval::zip::decompress::Decompressor;

/// What a string that stands for an attachment starts with.
const ATTACHMENT: &str = "attachment://";

/// The transcripts of a log, one after the other.
#[derive(Debug)]
pub struct Transcripts<'a> {
    log: &'a EvalLog,
    order: std::vec::IntoIter<usize>,
    decompressor: Decompressor,
    skimmer: Skimmer,
}

impl EvalLog {
    /// The transcripts of the samples of some ids and epochs, by epoch and then in the order of the dataset, each
    /// without its conversation; see [`Transcripts::complete`].
    pub fn transcripts(
        &self,
        is_wanted: impl Fn(&SampleId, u32) -> bool + Sync + Send,
    ) -> Result<Transcripts<'_>> {
        let order = self.sample_order_of(is_wanted)?.into_iter();
        let (decompressor, skimmer) = (self.container.decompressor(), skimmer(&self.container, wanted()));
        Ok(Transcripts { log: self, order, decompressor, skimmer })
    }
}

impl SampleRecord<'_> {
    /// The sample as people read it, with its conversation.
    ///
    /// # Errors
    /// A record that could not be read back.
    pub fn transcript(&self) -> Result<Transcript> {
        Transcript::of_record(&self.to_json())
    }
}

fn skimmer(container: &Container, selected: Vec<(&'static str, Selection)>) -> Skimmer {
    Skimmer::new(selected, most_bytes(container), Arc::clone(&container.memory))
}

/// The most that is held of a sample, of its conversation, or of its attachments. Each is held several times on its way
/// to the reader: as JSON, as a tree, as strings, in lines.
fn most_bytes(container: &Container) -> u64 {
    const COPIES: u64 = 4;
    container.limits.max_record.min(container.memory.limit() / COPIES)
}

impl Iterator for Transcripts<'_> {
    type Item = Result<Transcript>;

    fn next(&mut self) -> Option<Self::Item> {
        let at = self.order.next()?;
        Some(self.read(at).map_err(|error| self.in_sample(at, error)))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.order.size_hint()
    }
}

impl ExactSizeIterator for Transcripts<'_> {}

impl Transcripts<'_> {
    fn read(&mut self, at: usize) -> Result<Transcript> {
        let container = &self.log.container;
        self.skimmer.reset();
        container.sample_pieces(&mut self.decompressor, at, &mut |piece| self.skimmer.push(piece))?;
        let json = self.skimmer.finish()?;
        let mut transcript = Transcript::from_json(json).map_err(|error| self.skimmer.relocate(error))?;
        transcript.at = at;
        if let Some(score) = transcript.scores.shift_remove(NAMELESS) {
            transcript.scores.insert(self.log.old_scorer().to_owned(), score);
        }
        Ok(transcript)
    }

    /// Reads the conversation of a transcript of this log, if that is wanted, and the attachments that its strings
    /// stand for. One that is not in the log stays as it is.
    ///
    /// # Errors
    /// A conversation or attachments that cannot be read, or are beyond the limits.
    pub fn complete(&mut self, transcript: &mut Transcript, with_messages: bool) -> Result<()> {
        let at = transcript.at;
        self.complete_sample(transcript, with_messages).map_err(|error| self.in_sample(at, error))
    }

    fn complete_sample(&mut self, transcript: &mut Transcript, with_messages: bool) -> Result<()> {
        if with_messages {
            transcript.messages = self.messages(transcript.at)?;
        }
        let name = |text: &String| text.strip_prefix(ATTACHMENT).map(str::to_owned);
        let wanted: HashSet<String> = transcript.texts_mut().filter_map(|text| name(text)).collect();
        if wanted.is_empty() {
            return Ok(());
        }
        let found = self.attachments(transcript.at, &wanted)?;
        for text in transcript.texts_mut() {
            if let Some(content) = text.strip_prefix(ATTACHMENT).and_then(|name| found.get(name)) {
                text.clone_from(content);
            }
        }
        Ok(())
    }

    /// The conversation of a sample.
    fn messages(&mut self, at: usize) -> Result<Vec<TranscriptMessage>> {
        use Selection::{All, FieldsOfItems};
        const MESSAGE: FieldSelection = &[
            ("role", All),
            ("content", All),
            ("tool_calls", All),
            ("function", All),
            ("error", All),
            ("model", All),
        ];
        let container = &self.log.container;
        let mut skimmer = skimmer(container, vec![("messages", FieldsOfItems(MESSAGE))]);
        container.sample_pieces(&mut self.decompressor, at, &mut |piece| skimmer.push(piece))?;
        let mut messages = Vec::new();
        let read = decode::root_fields(skimmer.finish()?, |_, json, peek| {
            messages = message::messages(&decode::any(json, peek)?);
            Ok(())
        });
        read.map_err(|error| skimmer.relocate(error))?;
        Ok(messages)
    }

    fn attachments(&mut self, at: usize, wanted: &HashSet<String>) -> Result<HashMap<String, String>> {
        let container = &self.log.container;
        let mut attachments = NamedAttachments::new(wanted, most_bytes(&self.log.container));
        let mut outline = Outline::of_object();
        container
            .sample_pieces(&mut self.decompressor, at, &mut |piece| outline.push(piece, &mut attachments))?;
        outline.finish()?;
        Ok(attachments.found)
    }

    fn in_sample(&self, at: usize, error: LogError) -> LogError {
        error.in_member(&self.log.container.sample_name(at)).at(self.log.path())
    }
}
