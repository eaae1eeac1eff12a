//! `precomputed`: scores that somebody has given already.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use errorbar_core::registry::Param;
use errorbar_core::{Args, Error, Metrics, Result, Score, Spec};
use errorbar_log::{TableOptions, read_table};

use super::of_grades;
use crate::{AnyScorer, BoxFuture, Scorer, ScorerEntry, Target, TaskState};

pub(super) const ENTRY: ScorerEntry = ScorerEntry {
    name: "precomputed",
    doc: "Scores from a table (.csv, .tsv, .jsonl) with the columns `id`, perhaps `epoch`, and `score` or the one named.",
    params: &[Param::required("file"), Param::optional("column", "\"score\"")],
    build,
    replaces: false,
};

fn build(args: &Args<'_>) -> Result<AnyScorer> {
    let (file, column) = (args.required::<String>("file")?, args.get::<String>("column")?);
    Ok(Precomputed::read(args.folder(), file, column)?.into())
}

/// Scores that somebody has given already; made by [`precomputed()`].
#[derive(Clone, Debug)]
pub struct Precomputed {
    file: String,
    column: Option<String>,
    /// By id as text and epoch.
    scores: Arc<HashMap<(String, u32), Score>>,
    /// Whether the table tells epochs apart; if not, a score is that of every epoch.
    has_epochs: bool,
}

/// Scores from a table with the columns `id`, perhaps `epoch`, and `score`. A table that has one epoch only is about
/// every epoch. A sample that the table has no score
/// for is missing from the metrics.
///
/// # Errors
/// A table that cannot be read.
pub fn precomputed(file: impl Into<String>) -> Result<Precomputed> {
    Precomputed::read(Path::new(""), file.into(), None)
}

impl Precomputed {
    fn read(folder: &Path, file: String, column: Option<String>) -> Result<Self> {
        let path = folder.join(&file);
        let options = TableOptions::new().score_columns(column.as_ref());
        let table =
            read_table(&path, &options).map_err(|error| Error::custom(format!("precomputed: {error}")))?;
        let columns = &table.columns;
        let Some(scorer) = columns.scorer_names().next() else {
            return Err(Error::custom(format!("precomputed: {} has no scores", path.display())));
        };
        let score =
            |row| Some(((columns.id(row).to_owned(), columns.epoch(row)), columns.score(row, scorer)?));
        let scores = (0..columns.len()).filter_map(score).collect();
        let has_epochs = (0..columns.len()).any(|row| columns.epoch(row) != 1);
        Ok(Precomputed { file, column, scores: Arc::new(scores), has_epochs })
    }
}

impl Scorer for Precomputed {
    fn spec(&self) -> Spec {
        Spec::new("precomputed").kwarg("file", self.file.as_str()).kwarg_some("column", self.column.clone())
    }

    fn metrics(&self) -> Metrics {
        of_grades()
    }

    fn score<'a>(&'a self, state: &'a TaskState, _: &'a Target) -> BoxFuture<'a, Result<Option<Score>>> {
        let epoch = if self.has_epochs { state.epoch } else { 1 };
        let key = (state.sample_id.to_string(), epoch);
        Box::pin(std::future::ready(Ok(self.scores.get(&key).cloned())))
    }
}
