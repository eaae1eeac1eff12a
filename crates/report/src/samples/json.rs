//! The JSON of samples: the index of all, and everything about one.

use std::collections::HashMap;

use errorbar_core::IndexMap;
use serde::Serialize;
use serde_json::{Value as Json, json};

use super::epoch_record::PageMessage;
use super::{AlignedSample, EpochRecord, Outcome, OutcomeVerdict, SampleRun, SampleSet, SampleTexts};

/// The number that says how the JSON is laid out.
const VERSION: u32 = 1;

impl Outcome {
    fn without_value(verdict: OutcomeVerdict) -> Self {
        Outcome { verdict, value: None, number: None, reason: None }
    }
}

/// Gives every sample the numbers of its outcomes.
pub(super) fn add_outcomes(set: &mut SampleSet) {
    let mut known: HashMap<String, u32> = HashMap::new();
    let mut outcomes = Vec::new();
    let mut code = |outcome: &Outcome| {
        let Outcome { verdict, value, number, reason } = outcome;
        let key = format!("{verdict:?}\0{value:?}\0{number:?}\0{reason:?}");
        *known.entry(key).or_insert_with(|| {
            outcomes.push(outcome.clone());
            u32::try_from(outcomes.len() - 1).unwrap_or(u32::MAX)
        })
    };
    let (errored, absent) = (OutcomeVerdict::Errored, OutcomeVerdict::Absent);
    for sample in set.samples.values_mut() {
        let mut cells = Vec::new();
        for column in &set.columns {
            for record in sample.records.iter().flatten() {
                let of_scorer = record.iter().flat_map(EpochRecord::outcomes);
                let mut found = of_scorer.filter(|(scorer, field, _)| {
                    // What a scorer says without fields is about all of them.
                    *scorer == column.scorer && (field.is_none() || *field == column.field.as_deref())
                });
                cells.push(match (found.next(), record) {
                    (Some((_, _, outcome)), _) => code(outcome),
                    (None, Some(record)) if record.error.is_some() => code(&Outcome::without_value(errored)),
                    (None, _) => code(&Outcome::without_value(absent)),
                });
            }
        }
        sample.cells = cells;
    }
    set.outcomes = outcomes;
}

impl SampleSet {
    /// The index as JSON; its fields are documented in `assets/types.js`.
    pub fn index_json(&self) -> Json {
        let mut answers: IndexMap<String, ()> = IndexMap::new();
        let (mut limits, mut answers_of_samples) = (Vec::new(), Vec::new());
        for (at, sample) in self.samples.values().enumerate() {
            let found = sample.records.iter().flatten().map(|record| {
                let answer = record.as_ref()?.short_answer()?;
                Some(answers.insert_full(answer, ()).0)
            });
            answers_of_samples.push(found.collect::<Vec<_>>());
            for (run, (SampleRun { epochs, .. }, records)) in
                self.runs.iter().zip(&sample.records).enumerate()
            {
                for (epoch, record) in epochs.iter().zip(records) {
                    let limit = record.as_ref().and_then(|record| record.limit.as_ref());
                    limits
                        .extend(limit.map(
                            |limit| json!({ "sample": at, "run": run, "epoch": epoch, "limit": limit }),
                        ));
                }
            }
        }
        let samples = || self.samples.values();
        json!({
            "version": VERSION,
            "tasks": self.has_tasks,
            "runs": self.runs,
            "columns": self.columns,
            "outcomes": self.outcomes,
            "groups": self.groups,
            "answers": answers.keys().collect::<Vec<_>>(),
            "limits": limits,
            "omissions": self.omissions.iter().map(ToString::to_string).collect::<Vec<_>>(),
            // Columns over samples.
            "samples": {
                "id": self.ids().collect::<Vec<_>>(),
                "preview": samples().map(|sample| &sample.preview).collect::<Vec<_>>(),
                // Score columns × runs × epochs of the run, an index into `outcomes`.
                "cells": samples().map(|sample| &sample.cells).collect::<Vec<_>>(),
                // Of each group key, an index into its values.
                "groups": samples().map(|sample| &sample.groups).collect::<Vec<_>>(),
                // Runs × epochs, an index into `answers`.
                "answers": answers_of_samples,
            },
        })
    }

    /// Everything about one sample, as a server sends it: `detail`, and `messages` if they were read.
    pub fn sample_json(&self, id: &str) -> Option<Json> {
        let sample = self.samples.get(id)?;
        let messages = self.has_messages.then(|| sample.messages());
        Some(json!({ "detail": sample.detail(), "messages": messages }))
    }
}

/// A sample with everything but its conversations.
#[derive(Serialize)]
pub(super) struct SampleDetail<'a> {
    #[serde(flatten)]
    texts: &'a SampleTexts,
    /// Per run, per epoch.
    runs: &'a [Vec<Option<EpochRecord>>],
}

/// The conversations of a sample: per run, per epoch.
#[derive(Serialize)]
pub(super) struct SampleMessages<'a> {
    runs: Vec<Vec<Option<&'a [PageMessage]>>>,
}

impl AlignedSample {
    pub(super) fn detail(&self) -> SampleDetail<'_> {
        SampleDetail { texts: &self.texts, runs: &self.records }
    }

    pub(super) fn messages(&self) -> SampleMessages<'_> {
        SampleMessages {
            runs: self.records.iter().map(|records| records.iter().map(messages).collect()).collect(),
        }
    }
}

fn messages(record: &Option<EpochRecord>) -> Option<&[PageMessage]> {
    record.as_ref().map(|record| record.messages.as_slice())
}
