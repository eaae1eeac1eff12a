//! `precomputed`: scores that are there already, in a file.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use errorbar_core::spec::Arg;
use errorbar_core::{
    ArgProblem, ArgType, Args, Error, Metadata, Metrics, Params, Registry, Result, Score, Value,
};
use errorbar_table::{CellUse, ScoreRecord, TableOptions, read_score_records, read_table};

use super::{detail, of_grades};
use crate::dataset::limits::read_text;
use crate::{BoxFuture, Scorer, Target, TaskState};

/// Scores from a file (.csv, .tsv, .jsonl, .json, .parquet) with `id`, perhaps `epoch`, and `score` or the column named.
///
/// A record without an epoch is about every epoch, and so is a table that has one epoch only. `answer`, `explanation`,
/// `reason` and, in JSON, `metadata` belong to the score. `PASS`, `28%` or `NA` mean what they mean in tables of
/// scores. A sample that the file has no score for is missing from the metrics, unless `on_missing` is "unscored",
/// "error", or a number to count in its place.
///
/// # When
/// Another program, or people, have scored the answers already.
///
/// # Example
/// ```console
/// $ printf '%s\n' id,input,target '1,2 + 2?,4' '2,2 + 3?,5' > sums.csv
/// $ printf '%s\n' id,score 1,1 2,0.5 > marks.csv
/// $ printf '%s\n' 'dataset = "sums.csv"' 'scorer = "precomputed(\"marks.csv\")"' > sums.toml
/// $ errorbar eval sums.toml --model mock/4 --quiet
/// logs/….eval
///       sums · mock/4 · 2 samples
///
/// precomputed · 2 scored
///                                       0                                       1
///   accuracy  0.75 ± 0.25 [0.01, 1.00]  ├─────────────────────────────●─────────┤  only 2 scores
///
/// ± one standard error · [95 % interval: wilson] · ├─●─┤ the interval
/// ```
///
/// # See also
/// `command`, `includes`
///
/// # Source
/// Defined by errorbar.
#[derive(Clone, Debug, Params)]
#[params(crate = errorbar_core, name = "precomputed", no_constructor, finish = Self::read_for_spec)]
pub struct Precomputed {
    /// The file: a table, JSON lines, or a JSON list of objects.
    file: String,
    /// The column of the scores.
    #[param(default = "score", no_setter)]
    column: Option<String>,
    /// What a sample without a score gets: "missing", "unscored", "error", or a number.
    #[param(default = OnMissing::Missing)]
    on_missing: Option<OnMissing>,
    #[param(skip)]
    table: Arc<ScoreTable>,
}

/// What becomes of a sample that a file of scores has no score for.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum OnMissing {
    /// It has no score, and is counted as missing.
    #[default]
    Missing,
    /// It is unscored.
    Unscored,
    /// It is an error of the sample.
    Error,
    /// It has this score.
    Value(f64),
}

impl ArgType for OnMissing {
    const EXPECTED: &'static str = "\"missing\", \"unscored\", \"error\" or a number";

    fn from_arg(arg: &Arg, _: &Registry) -> Result<Self, ArgProblem> {
        match arg {
            Arg::Int(number) => Some(OnMissing::Value(*number as f64)),
            Arg::Float(number) => Some(OnMissing::Value(*number)),
            arg => WORDS.iter().find(|(word, _)| arg.as_str() == Some(word)).map(|(_, of_word)| *of_word),
        }
        .ok_or(ArgProblem::Expected(Self::EXPECTED))
    }

    fn to_arg(&self) -> Arg {
        match (self, WORDS.iter().find(|(_, of_word)| of_word == self)) {
            (_, Some((word, _))) => Arg::Str((*word).to_owned()),
            (OnMissing::Value(number), _) => Arg::Float(*number),
            (_, None) => Arg::Null,
        }
    }
}

const WORDS: [(&str, OnMissing); 3] =
    [("missing", OnMissing::Missing), ("unscored", OnMissing::Unscored), ("error", OnMissing::Error)];

/// Scores by id and epoch; the epoch 0 is every epoch.
type ScoreTable = HashMap<(String, u32), Score>;

/// Stands for every epoch.
const EVERY: u32 = 0;

/// Scores from a file with `id`, perhaps `epoch`, and `score`.
///
/// # Errors
/// A file that cannot be read.
pub fn precomputed(file: impl Into<String>) -> Result<Precomputed> {
    Precomputed { file: file.into(), column: None, on_missing: None, table: Arc::default() }
        .read(Path::new(""))
}

impl Precomputed {
    fn read_for_spec(self, args: &Args<'_>) -> Result<Self> {
        self.read(args.folder())
    }

    fn read(mut self, folder: &Path) -> Result<Self> {
        let path = folder.join(&self.file);
        let extension = path.extension().map(|extension| extension.to_ascii_lowercase());
        let is_json = extension.is_some_and(|name| name == "json" || name == "jsonl" || name == "ndjson");
        let table = if is_json { self.read_json(&path)? } else { self.read_table(&path)? };
        self.table = Arc::new(table);
        Ok(self)
    }

    fn read_json(&self, path: &Path) -> Result<ScoreTable> {
        let wrong = |problem: String| Error::custom(format!("precomputed: {}: {problem}", path.display()));
        let text = read_text(path, true).map_err(wrong)?;
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
        let records = read_score_records(text, self.column.as_deref()).map_err(wrong)?;
        if records.is_empty() {
            let column = self.column.as_deref().unwrap_or("score");
            return Err(wrong(format!("no record has a score in `{column}`")));
        }
        let mut table = ScoreTable::new();
        for ScoreRecord { id, epoch, score, .. } in records {
            if table.insert((id.clone(), epoch.unwrap_or(EVERY)), score).is_some() {
                let epoch = epoch.map(|epoch| format!(" in epoch {epoch}")).unwrap_or_default();
                return Err(wrong(format!("sample {id:?} occurs twice{epoch}")));
            }
        }
        Ok(table)
    }

    fn read_table(&self, path: &Path) -> Result<ScoreTable> {
        // Metrics may read what has no meaning as labels.
        let options = TableOptions::new().score_columns(self.column.as_ref()).cells(CellUse::Converted);
        let table =
            read_table(path, &options).map_err(|error| Error::custom(format!("precomputed: {error}")))?;
        let columns = &table.columns;
        let Some(scorer) = columns.scorer_names().next() else {
            return Err(Error::custom(format!("precomputed: {} has no scores", path.display())));
        };
        let has_epochs = (0..columns.len()).any(|row| columns.epoch(row) != 1);
        let score = |row| {
            let epoch = if has_epochs { columns.epoch(row) } else { EVERY };
            let score = with_details(columns.score(row, scorer)?, &columns.metadata_row(row));
            Some(((columns.id(row).to_owned(), epoch), score))
        };
        Ok((0..columns.len()).filter_map(score).collect())
    }

    fn find(&self, state: &TaskState) -> Result<Option<Score>> {
        let id = state.sample_id.to_string();
        let scores = &self.table;
        let found = scores.get(&(id.clone(), state.epoch)).or_else(|| scores.get(&(id.clone(), EVERY)));
        Ok(match (found, self.on_missing_or_default()) {
            (Some(score), _) => Some(score.clone()),
            (None, OnMissing::Missing) => None,
            (None, OnMissing::Unscored) => Some(Score::new(Value::Unscored)),
            (None, OnMissing::Value(number)) => Some(Score::new(number)),
            (None, OnMissing::Error) => {
                let (file, epoch) = (&self.file, state.epoch);
                return Err(Error::custom(format!("{file} has no score for sample {id:?} in epoch {epoch}")));
            }
        })
    }
}

/// The score with what columns of its row say about it.
fn with_details(mut score: Score, row: &Metadata) -> Score {
    let text = |key: &str| row.get(key).and_then(detail);
    score.answer = score.answer.or_else(|| text("answer"));
    score.explanation = score.explanation.or_else(|| text("explanation"));
    score.reason = score.reason.or_else(|| text("reason"));
    score
}

impl Scorer for Precomputed {
    fn metrics(&self) -> Metrics {
        of_grades()
    }

    fn score<'a>(&'a self, state: &'a TaskState, _: &'a Target) -> BoxFuture<'a, Result<Option<Score>>> {
        Box::pin(std::future::ready(self.find(state)))
    }
}
