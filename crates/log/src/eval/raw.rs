//! The records of a log as the JSON they are, with everything that this version does not know.

use std::io::Write;

use errorbar_core::MetadataKeys;
use jiter::{Jiter, Peek};

use super::container::{Container, LogLayout};
use super::error::{LogError, LogErrorKind, Result};
use super::header::Header;
use super::json::Validator;
use super::members::{HEADER, SAMPLES, START};
use super::reader::{EvalLog, SampleReader};
use super::stored::SampleFields;
use super::wire::decode::{fields, root_fields};

impl EvalLog {
    /// Writes the header as it is in the file; the record of the start, if the run has not ended. It passes through
    /// in pieces, so that a large one takes no more memory than a small one. May hold a bare `NaN`; see
    /// [`StrictWriter`](crate::export::StrictWriter).
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
    fn json_of_header(&self) -> Result<Vec<u8>> {
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

    /// What a list of logs shows of a header, without the time that the whole of it takes: version, status and
    /// results; of `eval` when it was made, the task, the model, and how many samples in how many epochs. The rest
    /// is empty, and is only checked to be JSON.
    pub fn short_header(&self) -> Result<Header> {
        let json = self.json_of_header()?;
        let header = shortened(&json).and_then(|json| Header::from_json(&json));
        let member = if self.has_header() { HEADER } else { START };
        header.map_err(|error| error.in_member(member).at(self.path()))
    }

    /// Writes the sample of this id and epoch as it is in the file, with its messages and events; false if it is
    /// not there. An id that is a number matches its digits.
    pub fn copy_sample(&self, id: &str, epoch: u32, out: &mut dyn Write) -> Result<bool> {
        let mut reader = SampleReader::new(self, SampleFields::scores(MetadataKeys::NONE));
        // Where every writer puts it; but what a name says is not believed.
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

/// The parts of a header that a list shows, as an object of their own.
fn shortened(header: &[u8]) -> Result<Vec<u8>> {
    let (mut root, mut eval, mut dataset) = (b"{".to_vec(), b"{".to_vec(), b"{".to_vec());
    let (mut has_eval, mut has_results, mut ids) = (false, false, None);
    root_fields(header, |key, json, peek| match key {
        "version" | "status" => copy(&mut root, key, json, peek),
        "results" => {
            has_results = peek != Peek::Null;
            copy(&mut root, key, json, peek)
        }
        "eval" if peek == Peek::Object => {
            has_eval = true;
            fields(json, |key, json, peek| match key {
                "created" | "task" | "model" => copy(&mut eval, key, json, peek),
                "dataset" if peek == Peek::Object => fields(json, |key, json, peek| match key {
                    "samples" => copy(&mut dataset, key, json, peek),
                    "sample_ids" => {
                        let start = json.current_index();
                        json.known_skip(peek)?;
                        ids = header.get(start..json.current_index());
                        Ok(())
                    }
                    _ => Ok(json.known_skip(peek)?),
                }),
                "config" if peek == Peek::Object => {
                    let mut config = b"{".to_vec();
                    fields(json, |key, json, peek| match key {
                        "epochs" => copy(&mut config, key, json, peek),
                        _ => Ok(json.known_skip(peek)?),
                    })?;
                    config.push(b'}');
                    push(&mut eval, "config", &config);
                    Ok(())
                }
                _ => Ok(json.known_skip(peek)?),
            })
        }
        _ => Ok(json.known_skip(peek)?),
    })?;
    // Results say how many samples there are; only without them the ids are worth their time.
    if let Some(ids) = ids.filter(|_| !has_results) {
        push(&mut dataset, "sample_ids", ids);
    }
    dataset.push(b'}');
    push(&mut eval, "dataset", &dataset);
    eval.push(b'}');
    if has_eval {
        push(&mut root, "eval", &eval);
    }
    root.push(b'}');
    Ok(root)
}

/// Copies a value under its key, which is one of ours and needs no escapes.
fn copy(object: &mut Vec<u8>, key: &str, json: &mut Jiter<'_>, peek: Peek) -> Result<()> {
    let start = json.current_index();
    json.known_skip(peek)?;
    push(object, key, json.slice_to_current(start));
    Ok(())
}

fn push(object: &mut Vec<u8>, key: &str, value: &[u8]) {
    if object.len() > 1 {
        object.push(b',');
    }
    object.push(b'"');
    object.extend_from_slice(key.as_bytes());
    object.extend_from_slice(b"\":");
    object.extend_from_slice(value);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_header_says_the_same() {
        let results = r#""results": {"total_samples": 2, "completed_samples": 1, "scores": [{"name": "s", "scorer": "s",
            "params": {}, "metrics": {"mean": {"name": "mean", "value": NaN, "params": {}}}}]}"#;
        let eval = r#""eval": {"run_id": "r", "created": "now", "task": "t\"x", "dataset": {"name": "d", "samples": 9,
            "sample_ids": [1, "b]"]}, "model": "m", "config": {"limit": 3, "epochs": 4}, "packages": {"p": "1"}}"#;
        for text in [
            format!(
                r#"{{"version": 2, "status": "error", {eval}, "plan": {{"name": "p"}}, {results}, "x": [1]}}"#
            ),
            format!(r#"{{"version": 2, {eval}}}"#),
            format!(r#"{{"status": "success", {results}, "eval": {{"task": "t"}}}}"#),
        ] {
            let whole = Header::from_json(text.as_bytes()).unwrap();
            let short = Header::from_json(&shortened(text.as_bytes()).unwrap()).unwrap();
            assert_eq!((short.version, short.status), (whole.version, whole.status));
            let figures = |header: &Header| {
                let results = header.results.as_ref();
                results.map(|r| (r.total_samples, r.completed_samples, format!("{:?}", r.scores)))
            };
            assert_eq!(figures(&short), figures(&whole));
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
            assert!(shortened(text.as_bytes()).is_err(), "{text}");
        }
        let none = shortened(br#"{"a": 1}"#).and_then(|json| Header::from_json(&json));
        assert!(matches!(none.unwrap_err().kind(), LogErrorKind::Missing("eval")));
    }
}
