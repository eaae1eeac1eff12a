//! One score per sample for each scorer and reducer: `reductions.json`.

use errorbar_core::{Reduction, Registry, SampleId, Score, ScoreColumns, Value};
use errorbar_files::json_value;
use jiter::{Jiter, Peek};

use super::error::Result;
use super::members::REDUCTIONS;
use super::reader::EvalLog;
use super::wire::decode::{fields, list, parser, sample_id, text, unexpected};
use super::wire::{JsonWriter, Wire};

/// The reduced scores of a run, ready to be written.
#[derive(Clone, Debug, Default)]
pub struct Reductions {
    pub(super) json: Option<Vec<u8>>,
}

impl Reductions {
    /// No reduced scores: the member is not written.
    pub fn none() -> Self {
        Reductions::default()
    }

    /// These reduced scores; `columns` are those that they were computed from.
    pub fn of(reductions: &[Reduction], columns: &ScoreColumns) -> Self {
        Reductions::write(reductions, |reduction| reduction.iter(columns))
    }

    /// The same in the order in which the reference reads samples back: what it computes of a log again, it writes in
    /// that order.
    pub(super) fn by_key(reductions: &[Reduction], columns: &ScoreColumns) -> Self {
        Reductions::write(reductions, |reduction| reduction.iter_by_key(columns))
    }

    fn write<'a, I>(reductions: &'a [Reduction], samples: impl Fn(&'a Reduction) -> I) -> Self
    where
        I: Iterator<Item = (SampleId, Score)>,
    {
        let write = |json: &mut JsonWriter| {
            for reduction in reductions {
                json.object(|json| {
                    json.field("scorer", &reduction.scorer);
                    let reducer = reduction
                        .reducer
                        .as_deref()
                        .map(|name| Registry::recorded_reducer(name).into_owned());
                    json.optional("reducer", reducer.as_ref());
                    json.key("samples").array(|json| {
                        for (id, score) in samples(reduction) {
                            json.score(&score, Some(&Wire(&id)));
                        }
                    });
                });
            }
        };
        Reductions { json: Some(JsonWriter::bytes_of(|json| json.array(write))) }
    }
}

/// The reduced scores of one scorer and reducer that a log records.
#[derive(Debug, Default)]
pub(super) struct RecordedReduction {
    pub(super) scorer: String,
    pub(super) reducer: Option<String>,
    /// The value of each sample.
    pub(super) values: Vec<(SampleId, Value)>,
}

/// The reduced scores that a log records; none if they cannot be understood, as figures do not need them.
pub(super) fn recorded_reductions(log: &EvalLog) -> Result<Vec<RecordedReduction>> {
    let Some(json) = log.raw(REDUCTIONS)? else { return Ok(Vec::new()) };
    let mut json = parser(&json);
    let read = json.peek().map_err(Into::into).and_then(|peek| match peek {
        Peek::Null => Ok(Vec::new()),
        peek => list("reductions", &mut json, peek, read_reduction),
    });
    Ok(read.unwrap_or_default())
}

fn read_reduction(json: &mut Jiter<'_>, peek: Peek) -> Result<RecordedReduction> {
    if peek != Peek::Object {
        return Err(unexpected("reductions", peek, "an object"));
    }
    let mut reduction = RecordedReduction::default();
    fields(json, |key, json, peek| {
        match key {
            "scorer" => reduction.scorer = text(key, json, peek)?.unwrap_or_default(),
            "reducer" => reduction.reducer = text(key, json, peek)?,
            "samples" => {
                let samples = list(key, json, peek, read_sample)?;
                reduction.values = samples.into_iter().flatten().collect();
            }
            _ => json.known_skip(peek)?,
        }
        Ok(())
    })?;
    Ok(reduction)
}

fn read_sample(json: &mut Jiter<'_>, peek: Peek) -> Result<Option<(SampleId, Value)>> {
    if peek != Peek::Object {
        return Err(unexpected("samples", peek, "an object"));
    }
    let (mut id, mut value) = (None, None);
    fields(json, |key, json, peek| {
        match key {
            "sample_id" if peek != Peek::Null => id = Some(sample_id(json, peek)?),
            "value" => value = json_value::score(json, peek)?.ok(),
            _ => json.known_skip(peek)?,
        }
        Ok(())
    })?;
    Ok(id.zip(value))
}
