//! One score per sample for each scorer and reducer: `reductions.json`.

use errorbar_core::{Reduction, ScoreColumns};

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
        let write = |json: &mut JsonWriter| {
            for reduction in reductions {
                json.object(|json| {
                    json.field("scorer", &reduction.scorer);
                    json.optional("reducer", reduction.reducer.as_ref());
                    json.key("samples").array(|json| {
                        for (id, score) in reduction.iter(columns) {
                            json.score(&score, Some(&Wire(&id)));
                        }
                    });
                });
            }
        };
        Reductions { json: Some(JsonWriter::bytes_of(|json| json.array(write))) }
    }
}
