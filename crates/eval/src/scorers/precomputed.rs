//! `precomputed`: scores that are there already, in a table.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use errorbar_core::{Args, Error, Metrics, Params, Result, Score};
use errorbar_log::{TableOptions, read_table};

use super::of_grades;
use crate::{BoxFuture, Scorer, Target, TaskState};

/// Scores from a table (.csv, .tsv, .jsonl) with the columns `id`, perhaps `epoch`, and `score` or the one named.
///
/// A table that has one epoch only is about every epoch. A sample that the table has no score for is missing from the
/// metrics.
#[derive(Clone, Debug, Params)]
#[params(crate = errorbar_core, name = "precomputed", no_constructor, finish = Self::read_for_spec)]
pub struct Precomputed {
    /// The table.
    file: String,
    /// The column of the scores.
    #[param(default = "score", no_setter)]
    column: Option<String>,
    #[param(skip)]
    table: Arc<ScoreTable>,
}

/// What the table holds.
#[derive(Debug, Default)]
struct ScoreTable {
    /// By id as text and epoch.
    scores: HashMap<(String, u32), Score>,
    /// Whether the table distinguishes epochs; if not, a score is that of every epoch.
    has_epochs: bool,
}

/// Scores from a table with the columns `id`, perhaps `epoch`, and `score`.
///
/// # Errors
/// A table that cannot be read.
pub fn precomputed(file: impl Into<String>) -> Result<Precomputed> {
    Precomputed { file: file.into(), column: None, table: Arc::default() }.read(Path::new(""))
}

impl Precomputed {
    fn read_for_spec(self, args: &Args<'_>) -> Result<Self> {
        self.read(args.folder())
    }

    fn read(mut self, folder: &Path) -> Result<Self> {
        let path = folder.join(&self.file);
        let options = TableOptions::new().score_columns(self.column.as_ref());
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
        self.table = Arc::new(ScoreTable { scores, has_epochs });
        Ok(self)
    }
}

impl Scorer for Precomputed {
    fn metrics(&self) -> Metrics {
        of_grades()
    }

    fn score<'a>(&'a self, state: &'a TaskState, _: &'a Target) -> BoxFuture<'a, Result<Option<Score>>> {
        let epoch = if self.table.has_epochs { state.epoch } else { 1 };
        let key = (state.sample_id.to_string(), epoch);
        Box::pin(std::future::ready(Ok(self.table.scores.get(&key).cloned())))
    }
}
