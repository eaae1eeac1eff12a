//! Reading transcripts, one at a time.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

use errorbar_core::{MetadataKeys, SampleId};

use super::parts::NamedAttachments;
use super::{Transcript, TranscriptMessage, message, wanted};
use crate::eval::SampleRecord;
use crate::eval::container::Container;
use crate::eval::error::{LogError, Result};
use crate::eval::json::{FieldSelection, Outline, Selection, Skimmer};
use crate::eval::members::{SAMPLES, SUMMARIES};
use crate::eval::reader::{EvalLog, SampleReader};
use crate::eval::scores::DatasetOrder;
use crate::eval::stored::{NAMELESS, SampleFields};
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

impl EvalLog {
    /// The transcripts of some places in the file, up to [`EvalLog::sample_count`], in the order of the file: to read all
    /// samples in parts, without looking at the others first.
    pub fn transcripts_at(&self, places: Range<usize>) -> Transcripts<'_> {
        let order: Vec<usize> = (places.start..places.end.min(self.sample_count())).collect();
        let (decompressor, skimmer) = (self.container.decompressor(), skimmer(&self.container, wanted()));
        Transcripts { log: self, order: order.into_iter(), decompressor, skimmer }
    }

    /// The transcripts of all epochs of one sample, by the names of entries where they have the usual ones: then no other
    /// sample is looked at.
    pub fn transcripts_of(&self, id: &str) -> Result<Transcripts<'_>> {
        let is_it = |found: &SampleId, _| found.to_string() == id;
        let prefix = format!("{SAMPLES}{id}_epoch_");
        let is_usual =
            |at: &usize| self.container.sample_member(*at).is_some_and(|(name, _)| name.starts_with(&prefix));
        let named: Vec<usize> = (0..self.sample_count()).filter(is_usual).collect();
        // A name is not trusted, and other ids may begin the same.
        let mut reader = SampleReader::new(self, SampleFields::scores(MetadataKeys::NONE));
        let mut found = Vec::new();
        for at in named {
            let (sample, epoch) = reader.key(at)?;
            if is_it(&sample, epoch) {
                found.push((epoch, at));
            }
        }
        if found.is_empty() {
            return self.transcripts(is_it);
        }
        found.sort_unstable();
        let order: Vec<usize> = found.into_iter().map(|(_, at)| at).collect();
        let (decompressor, skimmer) = (self.container.decompressor(), skimmer(&self.container, wanted()));
        Ok(Transcripts { log: self, order: order.into_iter(), decompressor, skimmer })
    }

    /// The samples as the list at the end of a log has them, in the order of [`EvalLog::transcripts`]: without answers, and
    /// long strings are cut. None if the log has no such list, or one of other samples than it holds.
    ///
    /// The list is a second copy: it is for looking at, and no figure is computed from it.
    pub fn summaries(&self) -> Result<Option<Vec<Transcript>>> {
        let Some(json) = self.raw(SUMMARIES)?.filter(|_| !self.is_json()) else { return Ok(None) };
        let mut list =
            self.summary_list(&json).map_err(|error| error.in_member(SUMMARIES).at(self.path()))?;
        if list.len() != self.sample_count() {
            return Ok(None);
        }
        let header = self.header().ok();
        let order = DatasetOrder::new(header.as_ref());
        list.sort_by_cached_key(|summary| order.key(&summary.id, summary.epoch));
        Ok(Some(list))
    }

    fn summary_list(&self, bytes: &[u8]) -> Result<Vec<Transcript>> {
        let mut json = decode::parser(bytes);
        let mut list = Vec::new();
        let mut item = json.next_array()?;
        while let Some(peek) = item {
            let start = json.current_index();
            json.known_skip(peek)?;
            let mut summary = Transcript::from_json(json.slice_to_current(start))?;
            if let Some(score) = summary.scores.shift_remove(NAMELESS) {
                summary.scores.insert(self.old_scorer().to_owned(), score);
            }
            list.push(summary);
            item = json.array_step()?;
        }
        json.finish()?;
        Ok(list)
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

#[cfg(test)]
mod tests {
    use errorbar_core::{Metadata, Plan, Score};

    use super::*;
    use crate::eval::{
        EvalInfo, Header, LogWriter, PlanRecord, RecordedResults, Reductions, StartRecord, Status, compare,
    };

    /// A log of these samples that has ended.
    fn log(folder: &std::path::Path, samples: &[(&str, u32, &str)]) -> EvalLog {
        let path = folder.join("quiz.eval");
        let start = StartRecord::new(EvalInfo::new("quiz", "m"), PlanRecord::default());
        let mut writer = LogWriter::create(&path, &start).unwrap();
        for (id, epoch, grade) in samples {
            let (id, scores) = (SampleId::from(*id), [("match".to_owned(), Score::new(*grade))]);
            let metadata = Metadata::from_iter([("topic".to_owned(), "sums".into())]);
            writer
                .append_sample(&SampleRecord::new(&id, *epoch).scores(&scores).metadata(&metadata))
                .unwrap();
        }
        let columns = EvalLog::open(&path).unwrap().score_columns(&MetadataKeys::All).unwrap();
        let results = Plan::new().evaluate(&columns).unwrap().results;
        let header = Header::started(start).status(Status::Success).results(RecordedResults::from(&results));
        writer.finish(&header, &Reductions::none()).unwrap();
        EvalLog::open(&path).unwrap()
    }

    const SAMPLES: [(&str, u32, &str); 5] =
        [("b", 1, "C"), ("a", 2, "I"), ("a", 1, "C"), ("a_epoch_1", 1, "I"), ("x/../y", 1, "C")];

    #[test]
    fn one_sample_is_found_with_all_its_epochs() {
        let folder = tempfile::tempdir().unwrap();
        let log = log(folder.path(), &SAMPLES);
        let epochs = |id: &str| -> Vec<(String, u32)> {
            let found = log.transcripts_of(id).unwrap().map(Result::unwrap);
            found.map(|transcript| (transcript.id.to_string(), transcript.epoch)).collect()
        };
        assert_eq!(epochs("a"), [("a".to_owned(), 1), ("a".to_owned(), 2)]);
        assert_eq!(epochs("a_epoch_1"), [("a_epoch_1".to_owned(), 1)]);
        assert_eq!(epochs("x/../y"), [("x/../y".to_owned(), 1)]);
        assert_eq!(epochs("nobody"), []);
    }

    #[test]
    fn summaries_list_the_samples_in_their_order_and_give_the_same_figures() {
        let folder = tempfile::tempdir().unwrap();
        let log = log(folder.path(), &SAMPLES);
        let key = |transcript: &Transcript| (transcript.id.to_string(), transcript.epoch);
        let whole: Vec<_> =
            log.transcripts(|_, _| true).unwrap().map(|transcript| key(&transcript.unwrap())).collect();
        let summaries = log.summaries().unwrap().unwrap();
        assert_eq!(summaries.iter().map(key).collect::<Vec<_>>(), whole);
        let header = log.header().unwrap();
        let scores = log.summary_scores(&header, &MetadataKeys::one("topic")).unwrap().unwrap();
        let results = Plan::new().evaluate(&scores.columns).unwrap().results;
        assert!(compare(header.results.as_ref().unwrap(), &results).is_empty());
        assert_eq!(results.estimate("accuracy").unwrap().number(), Some(0.625), "(1 + 0.5 + 0 + 1) / 4");
    }

    #[test]
    fn a_run_in_progress_has_no_summaries() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("quiz.eval");
        let start = StartRecord::new(EvalInfo::new("quiz", "m"), PlanRecord::default());
        let mut writer = LogWriter::create(&path, &start).unwrap();
        let scores = [("match".to_owned(), Score::new("C"))];
        writer.append_sample(&SampleRecord::new(&SampleId::from("q"), 1).scores(&scores)).unwrap();
        assert_eq!(EvalLog::open(&path).unwrap().summaries().unwrap(), None);
        drop(writer);
    }
}
