//! One score per sample for each scorer and reducer: `reductions.json`.

use std::collections::HashMap;

use errorbar_core::{Results, ScoreColumns};

use super::sample_id::SampleId;
use super::wire::JsonWriter;

/// The reduced scores of a run, ready to be written.
#[derive(Clone, Debug, Default)]
pub struct Reductions {
    pub(super) json: Option<Vec<u8>>,
}

impl Reductions {
    /// No reduced scores: the member is left out.
    pub fn none() -> Self {
        Reductions::default()
    }

    /// The reduced scores of these results; `columns` are those that they were computed from.
    ///
    /// Columns hold ids as text. `ids` says which of them are integers; it is the list of the dataset
    /// ([`DatasetInfo::sample_ids`](super::DatasetInfo::sample_ids)).
    pub fn of(results: &Results, columns: &ScoreColumns, ids: &[SampleId]) -> Self {
        let integers: HashMap<String, &SampleId> =
            ids.iter().filter(|id| matches!(id, SampleId::Int(_))).map(|id| (id.to_string(), id)).collect();
        let typed = |id: &str| match integers.get(id) {
            Some(integer) => (*integer).clone(),
            None => SampleId::from(id),
        };
        let mut json = JsonWriter::new();
        json.array(|json| {
            for reduction in &results.reductions {
                json.object(|json| {
                    json.field("scorer", &reduction.scorer);
                    json.optional("reducer", reduction.reducer.as_ref());
                    json.key("samples").array(|json| {
                        for (id, score) in reduction.iter(columns) {
                            json.score(&score, Some(&typed(id)));
                        }
                    });
                });
            }
        });
        Reductions { json: Some(json.into_bytes()) }
    }
}
