//! The records of a log as the JSON they are, with everything that this version does not know.

use std::io::Write;
use std::sync::Arc;

use errorbar_core::MetadataKeys;

use super::container::{Container, LogLayout};
use super::early_stop::STOPPED_EARLY;
use super::error::{LogError, LogErrorKind, Result};
use super::header::Header;
use super::json::{FieldSelection, Selection, Skimmer, Validator};
use super::members::{HEADER, SAMPLES, START};
use super::reader::{EvalLog, SampleReader};
use super::stored::SampleFields;

impl EvalLog {
    /// Writes the header as it is in the file; the record of the start, if the run has not ended. It is copied
    /// in pieces, so that a large one takes no more memory than a small one. May hold a bare `NaN`; see
    /// [`StrictWriter`](crate::StrictWriter).
    pub fn copy_header(&self, out: &mut dyn Write) -> Result<()> {
        let Container { source, layout, .. } = &self.container;
        let mut validator = Validator::new();
        let mut write = |piece: &[u8]| {
            validator.push(piece)?;
            Ok(out.write_all(piece).map_err(LogErrorKind::Write)?)
        };
        let mut decompressor = self.container.decompressor();
        let name = if self.has_header() { HEADER } else { START };
        let copied = match layout {
            LogLayout::Json(log) => log.header_pieces(source, &mut decompressor, &mut write),
            LogLayout::Zip { members, .. } => match members.get(name) {
                Some(entry) => decompressor.pieces(source, name, entry, &mut write),
                None => Err(LogErrorKind::NoStart.into()),
            },
        };
        let copied = copied.and_then(|()| validator.finish());
        copied.map_err(|error| error.in_member(name).at(self.path()))
    }

    /// The header as it is in the file; the record of the start, if the run has not ended.
    pub(super) fn json_of_header(&self) -> Result<Vec<u8>> {
        if let Some(json) = self.raw(HEADER)? {
            return Ok(json);
        }
        self.raw(START)?.ok_or_else(|| LogError::from(LogErrorKind::NoStart).at(self.path()))
    }

    /// The header as it is in the file; that of a run which has not ended, if there is none.
    pub(super) fn header_or_started(&self) -> Result<Vec<u8>> {
        match self.raw(HEADER)? {
            Some(json) => Ok(json),
            None => Ok(self.header()?.to_json()),
        }
    }

    /// What a list of logs shows of a header, without the time that the whole of it takes: version, status,
    /// results, times and tokens; why it ended early; of `eval` when it was made, the task, the model, the number of samples
    /// and epochs, and the shards that it was merged from. The rest is empty and not checked.
    pub fn short_header(&self) -> Result<Header> {
        let json = self.json_of_header()?;
        let skimmer = |fields| {
            let Container { limits, memory, .. } = &self.container;
            Skimmer::new(fields, limits.max_record, Arc::clone(memory))
        };
        let member = if self.has_header() { HEADER } else { START };
        short_header(&json, skimmer).map_err(|error| error.in_member(member).at(self.path()))
    }

    /// Writes the sample of this id and epoch as it is in the file, with its messages and events; false if it is
    /// not there. An id that is a number matches its digits.
    pub fn copy_sample(&self, id: &str, epoch: u32, out: &mut dyn Write) -> Result<bool> {
        let mut reader = SampleReader::new(self, SampleFields::scores(MetadataKeys::NONE));
        // Where every writer puts it; but a name is not trusted.
        let usual = format!("{SAMPLES}{id}_epoch_{epoch}.json");
        let is_usual = |at: &usize| self.container.sample_member(*at).is_some_and(|(name, _)| name == usual);
        let (first, others): (Vec<usize>, Vec<usize>) = (0..self.sample_count()).partition(is_usual);
        for at in first.into_iter().chain(others) {
            let sample = reader.read(at)?;
            if sample.epoch != epoch || sample.id.to_string() != id {
                continue;
            }
            return reader.copy(at, out).map(|()| true);
        }
        Ok(false)
    }
}

/// The parts of a header that a list shows.
fn short_header(json: &[u8], skimmer: impl Fn(Vec<(&'static str, Selection)>) -> Skimmer) -> Result<Header> {
    use Selection::{All, Fields};
    const EVAL: FieldSelection = &[
        ("created", All),
        ("task", All),
        ("model", All),
        ("dataset", Fields(&[("samples", All)])),
        ("config", Fields(&[("epochs", All), (STOPPED_EARLY, All)])),
        ("shards", All),
    ];
    const IDS: FieldSelection = &[("dataset", Fields(&[("sample_ids", All)]))];
    let read = |fields| {
        let mut skimmer = skimmer(fields);
        skimmer.push(json)?;
        let header = Header::from_json(skimmer.finish()?);
        header.map_err(|error| skimmer.relocate(error))
    };
    let mut header = read(vec![
        ("version", All),
        ("status", All),
        ("results", All),
        ("stats", All),
        ("error", Fields(&[("message", All)])),
        ("eval", Fields(EVAL)),
    ])?;
    // Results have the number of samples; only without them the ids are worth their time.
    if header.results.is_none() {
        header.eval.dataset.sample_ids = read(vec![("eval", Fields(IDS))])?.eval.dataset.sample_ids;
    }
    Ok(header)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::memory_budget::MemoryBudget;

    #[test]
    fn a_short_header_holds_the_same() {
        let memory = Arc::new(MemoryBudget::new(1 << 20));
        let short = |text: &str| {
            short_header(text.as_bytes(), |fields| Skimmer::new(fields, 1 << 20, Arc::clone(&memory)))
        };
        let results = r#""results": {"total_samples": 2, "completed_samples": 1, "scores": [{"name": "s", "scorer": "s",
            "params": {}, "metrics": {"mean": {"name": "mean", "value": NaN, "params": {}}}}]}"#;
        let eval = r#""eval": {"run_id": "r", "created": "now", "task": "t\"x", "dataset": {"name": "d", "samples": 9,
            "sample_ids": [1, "b]"]}, "model": "m", "config": {"limit": 3, "epochs": 4}, "packages": {"p": "1"}}"#;
        for text in [
            format!(
                r#"{{"version": 2, "status": "error", {eval}, "plan": {{"name": "p"}}, {results}, "x": [1],
                    "stats": {{"started_at": "a", "completed_at": "b", "model_usage": {{"m": {{"total_tokens": 7}}}}}},
                    "error": {{"message": "boom", "traceback": "x", "traceback_ansi": ""}}}}"#
            ),
            format!(r#"{{"version": 2, {eval}}}"#),
            format!(r#"{{"status": "success", {results}, "eval": {{"task": "t"}}}}"#),
        ] {
            let whole = Header::from_json(text.as_bytes()).unwrap();
            let short = short(&text).unwrap();
            assert_eq!((short.version, short.status), (whole.version, whole.status));
            let figures = |header: &Header| {
                let results = header.results.as_ref();
                results.map(|r| (r.total_samples, r.completed_samples, format!("{:?}", r.scores)))
            };
            assert_eq!(figures(&short), figures(&whole));
            assert_eq!(short.stats, whole.stats);
            let message = |header: &Header| header.error.as_ref().map(|error| error.message.clone());
            assert_eq!(message(&short), message(&whole));
            let named = |header: &Header| {
                let eval = &header.eval;
                (
                    eval.created.clone(),
                    eval.task.clone(),
                    eval.model.clone(),
                    eval.config.epochs,
                    eval.dataset.samples,
                )
            };
            assert_eq!(named(&short), named(&whole));
            if whole.results.is_none() {
                assert_eq!(short.eval.dataset.sample_ids, whole.eval.dataset.sample_ids);
            }
        }
        for text in ["", "[]", r#"{"eval": {"task": }}"#, r#"{"eval": {}, "x": }"#] {
            assert!(short(text).is_err(), "{text}");
        }
        assert!(matches!(short(r#"{"a": 1}"#).unwrap_err().kind(), LogErrorKind::Missing("eval")));
    }
}
