//! The index of samples: what a list, its filters and its orders need.

use std::collections::HashMap;

use errorbar_core::IndexMap;
use serde::Serialize;
use serde_json::{Value as Json, json};

use super::{AlignedSample, EpochRecord, Outcome, OutcomeVerdict, SampleSet};

/// The number that says how the JSON is laid out.
const VERSION: u32 = 1;

/// The fields of the index, each a column over samples.
#[derive(Serialize)]
struct IndexColumns<'a> {
    id: Vec<&'a str>,
    preview: Vec<&'a str>,
    /// Per sample: score columns × runs × epochs of the run, an index into `outcomes`.
    cells: Vec<&'a [u32]>,
    /// Per sample and group key, an index into its values.
    groups: Vec<&'a [Option<u32>]>,
    /// Per sample: runs × epochs, an index into `answers`.
    answers: Vec<Vec<Option<usize>>>,
}

/// A limit that ended a sample.
#[derive(Serialize)]
struct ReachedLimit<'a> {
    sample: usize,
    run: usize,
    epoch: u32,
    limit: &'a str,
}

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
        let mut limits = Vec::new();
        let mut columns = IndexColumns {
            id: Vec::with_capacity(self.len()),
            preview: Vec::with_capacity(self.len()),
            cells: Vec::with_capacity(self.len()),
            groups: Vec::with_capacity(self.len()),
            answers: Vec::with_capacity(self.len()),
        };
        for (at, (id, sample)) in self.samples.iter().enumerate() {
            columns.id.push(id);
            columns.preview.push(&sample.preview);
            columns.cells.push(&sample.cells);
            columns.groups.push(&sample.groups);
            let found = sample.records.iter().flatten().map(|record| {
                let answer = record.as_ref()?.short_answer()?;
                Some(answers.insert_full(answer, ()).0)
            });
            columns.answers.push(found.collect());
            limits.extend(self.limits_of(at, sample));
        }
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
            "samples": columns,
        })
    }

    /// The limits that ended a sample.
    fn limits_of<'a>(
        &'a self,
        at: usize,
        sample: &'a AlignedSample,
    ) -> impl Iterator<Item = ReachedLimit<'a>> {
        let runs = self.runs.iter().zip(&sample.records).enumerate();
        runs.flat_map(move |(run, (names, records))| {
            let epochs = names.epochs.iter().zip(records);
            epochs.filter_map(move |(epoch, record)| {
                let limit = record.as_ref()?.limit.as_deref()?;
                Some(ReachedLimit { sample: at, run, epoch: *epoch, limit })
            })
        })
    }
}
