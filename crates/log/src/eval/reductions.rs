//! One score per sample for each scorer and reducer: `reductions.json`.

use errorbar_core::{Reduction, Registry, SampleId, Score, ScoreColumns};

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
