//! Samples whose score changed, as text.

use errorbar_analysis::Flip;
use serde_json::Value as Json;

use crate::notes::by_key;
use crate::number::plain;
use crate::table::TextTable;
use crate::text::truncate;

/// `C → I`.
pub(crate) fn scores(flip: &Flip) -> String {
    format!("{} → {}", score(&flip.base_score), score(&flip.other_score))
}

/// A score as people read it.
fn score(score: &Json) -> String {
    match score {
        Json::Null => "absent".to_owned(),
        Json::String(grade) => grade.clone(),
        other => other.as_f64().map_or_else(|| other.to_string(), plain),
    }
}

/// A text on one line, blanks and line breaks as one blank each.
pub(crate) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The start of a text, on one line, for a cell of a table.
fn shortened(text: &str) -> String {
    const MOST: usize = 120;
    truncate(&one_line(text), MOST, "…")
}

/// How many samples changed, and how many of them are listed.
pub(crate) fn title(listed: usize, changed: usize) -> String {
    match changed {
        0 => "no sample changed".to_owned(),
        changed if listed < changed => format!("{listed} of {changed} samples that changed"),
        1 => "1 sample changed".to_owned(),
        changed => format!("{changed} samples changed"),
    }
}

/// The samples by sides, scorer and task, under a heading each.
pub(crate) fn by_pair(flips: &[Flip]) -> Vec<(String, Vec<&Flip>)> {
    let heading = |flip: &Flip| {
        let scorer = match &flip.field {
            Some(field) => format!("{}: {field}", flip.scorer),
            None => flip.scorer.clone(),
        };
        let parts = [Some(format!("{} → {}", flip.base, flip.other)), Some(scorer), flip.task.clone()];
        let parts: Vec<String> = parts.into_iter().flatten().filter(|part| !part.is_empty()).collect();
        parts.join(" · ")
    };
    by_key(flips.iter().map(|flip| (heading(flip), flip)))
}

/// The same as tables, each with this many samples at most.
pub(crate) fn tables(flips: &[Flip], most: usize) -> Vec<TextTable> {
    let cut = |text: &Option<String>| text.as_deref().map(shortened).unwrap_or_default();
    let row = |flip: &&Flip| {
        let (base, other) = (cut(&flip.base_answer), cut(&flip.other_answer));
        vec![flip.id.to_string(), scores(flip), cut(&flip.input), base, other]
    };
    let table = |(name, flips): (String, Vec<&Flip>)| TextTable {
        name,
        titles: ["id", "score", "input", "base", "other"].map(str::to_owned).to_vec(),
        rows: flips.iter().take(most).map(row).collect(),
        ..TextTable::default()
    };
    by_pair(flips).into_iter().map(table).collect()
}
