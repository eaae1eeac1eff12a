//! Sample metadata by key, each distinct value stored once.
//!
//! Groups and clusters have few distinct values, so a row costs four bytes, and the string of a
//! group or the identity of a cluster is worked out once per distinct value, not per row.

use std::hash::{Hash, Hasher};

use indexmap::{Equivalent, IndexMap};
use serde_json::{Value as Json, json};

use super::{RowLists, ScorerColumn};
use crate::naming::Interner;
use crate::score::Score;
use crate::value::Value;

const ABSENT: u32 = u32::MAX;

/// The number of values that are retained for the next rows, however few rows had them, if they are short.
const KEPT: usize = 1 << 14;
const KEPT_BYTES: usize = 1 << 20;

/// One metadata key over all rows.
#[derive(Clone, Debug, Default)]
pub struct MetadataColumn {
    codes: Vec<u32>,
    values: Interner<MetadataValue>,
    /// The memory that the values take beside the tables.
    value_bytes: usize,
    /// Whether there may be values that no row has any more.
    has_kept: bool,
}

impl MetadataColumn {
    /// Appends the value of the next row.
    pub fn push(&mut self, value: &Json) {
        let code = self.intern(value);
        self.codes.push(code);
    }

    /// Appends a string, which is copied only when it is new.
    #[inline]
    pub fn push_text(&mut self, text: &str) {
        let code = self.intern_text(text);
        self.codes.push(code);
    }

    /// Appends a string per code: the one that it has among the strings. Each string is looked for once.
    pub fn extend_coded(&mut self, texts: &[&str], codes: &[u32]) {
        let mut own = std::mem::take(&mut self.codes);
        let of_text = |code: usize| texts.get(code).map_or(ABSENT, |text| self.intern_text(text));
        own.extend(recoded(codes, texts.len(), of_text));
        self.codes = own;
    }

    /// Sets the string of a row, which is copied only when it is new; rows before it that are not there yet lack the key.
    pub fn set_text(&mut self, row: usize, text: &str) {
        let code = self.intern_text(text);
        self.set_code(row, code);
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.codes.len()
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.codes.is_empty()
    }

    /// The string of a row, if its value is one.
    pub fn text(&self, row: usize) -> Option<&str> {
        self.get(row)?.as_str()
    }

    fn intern(&mut self, value: &Json) -> u32 {
        self.values.intern_with(&JsonText(value), || {
            self.value_bytes += bytes_within(value);
            MetadataValue(value.clone())
        })
    }

    #[inline]
    fn intern_text(&mut self, text: &str) -> u32 {
        self.values.intern_with(text, || {
            self.value_bytes += text.len();
            MetadataValue(Json::from(text))
        })
    }

    /// Reserves memory for more rows.
    pub(super) fn reserve(&mut self, rows: usize) {
        self.codes.reserve(rows);
    }

    /// Appends a row whose sample lacks the key.
    pub fn push_absent(&mut self) {
        self.codes.push(ABSENT);
    }

    /// Cuts off what is beyond this number of rows.
    pub(super) fn truncate(&mut self, rows: usize) {
        self.codes.truncate(rows);
    }

    /// Takes all rows out of another column, to follow row `rows`. The other keeps its values as long as
    /// they are few: the next rows mostly have the same.
    pub(super) fn append(&mut self, rows: usize, other: &mut MetadataColumn) {
        if rows == 0 && !other.has_kept && self.codes.capacity() < other.codes.capacity() {
            *self = std::mem::take(other);
            return;
        }
        self.adopt(rows, other, &other.codes);
        other.clear();
    }

    /// Copies some rows of another column, to follow row `rows`.
    pub(super) fn append_rows(&mut self, rows: usize, other: &MetadataColumn, wanted: &[u32]) {
        let code = |row: &u32| other.codes.get(*row as usize).copied().unwrap_or(ABSENT);
        self.adopt(rows, other, &wanted.iter().map(code).collect::<Vec<u32>>());
    }

    /// Appends values of another column by their codes there, to follow row `rows`.
    fn adopt(&mut self, rows: usize, other: &MetadataColumn, of_other: &[u32]) {
        let mut codes = std::mem::take(&mut self.codes);
        codes.resize(rows, ABSENT);
        let mut of_value = |code: usize| other.value(code).map_or(ABSENT, |value| self.intern(value));
        // A table of all values does not pay for a few rows.
        if of_other.len() < other.values.len() / 8 {
            codes.extend(of_other.iter().map(|code| of_value(*code as usize)));
        } else {
            codes.extend(recoded(of_other, other.values.len(), of_value));
        }
        self.codes = codes;
    }

    /// Appends what a row has that is there already, to follow row `rows`.
    pub(super) fn repeat_row(&mut self, rows: usize, row: usize) {
        // What is behind the last value is absent, and takes nothing.
        if let Some(code) = self.codes.get(row).copied().filter(|code| *code != ABSENT) {
            self.codes.resize(rows, ABSENT);
            self.codes.push(code);
        }
    }

    /// Takes all rows out, but keeps the values if they are few.
    pub(super) fn clear(&mut self) {
        let count = self.values.len();
        if count <= KEPT && self.value_bytes <= KEPT_BYTES || count <= self.codes.len() / 2 {
            self.has_kept |= count > 0;
            self.codes.clear();
        } else {
            *self = MetadataColumn::default();
        }
    }

    /// The code of a row's value; `None` where the sample lacks the key.
    #[inline]
    pub fn code(&self, row: usize) -> Option<u32> {
        self.codes.get(row).copied().filter(|code| *code != ABSENT)
    }

    /// The number of distinct values.
    pub fn distinct(&self) -> usize {
        self.values.len()
    }

    /// The value of a code.
    pub fn value(&self, code: usize) -> Option<&Json> {
        self.values.get(code).map(|MetadataValue(value)| value)
    }

    pub(super) fn get(&self, row: usize) -> Option<&Json> {
        self.value(self.code(row)? as usize)
    }

    /// Sets the value of a row; rows before it that are not there yet lack the key.
    pub fn set(&mut self, row: usize, value: &Json) {
        let code = self.intern(value);
        self.set_code(row, code);
    }

    fn set_code(&mut self, row: usize, code: u32) {
        if let Some(slot) = self.codes.get_mut(row) {
            *slot = code;
        } else {
            self.codes.resize(row, ABSENT);
            self.codes.push(code);
        }
    }

    /// About how many bytes the values hold on the heap.
    pub fn heap_bytes(&self) -> usize {
        // Short strings take more than their length.
        self.codes.capacity() * 4 + self.values.heap_bytes() + self.value_bytes + self.values.len() * 16
    }
}

/// Codes below `count` in other codes, each looked up once, in the order in which rows have them.
fn recoded(
    codes: &[u32],
    count: usize,
    mut other: impl FnMut(usize) -> u32,
) -> impl ExactSizeIterator<Item = u32> {
    let mut known = vec![ABSENT; count];
    codes.iter().map(move |&code| match known.get_mut(code as usize) {
        Some(own) => {
            if *own == ABSENT {
                *own = other(code as usize);
            }
            *own
        }
        None => ABSENT,
    })
}

/// A value as the interner knows it again. Equality of JSON is blind to the order of keys and the sign of a zero; the string
/// is not. An integer is the same as its string, and far faster to compare: a column of them has no other values.
#[derive(Clone, Debug)]
struct MetadataValue(Json);

/// The same, borrowed.
struct JsonText<'a>(&'a Json);

impl Hash for JsonText<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match (self.0, self.0.as_i64()) {
            (Json::String(text), _) => text.as_str().hash(state),
            (_, Some(integer)) => integer.hash(state),
            (other, None) => other.to_string().hash(state),
        }
    }
}

impl Hash for MetadataValue {
    fn hash<H: Hasher>(&self, state: &mut H) {
        JsonText(&self.0).hash(state);
    }
}

impl Equivalent<MetadataValue> for JsonText<'_> {
    fn equivalent(&self, known: &MetadataValue) -> bool {
        match (self.0, &known.0) {
            (Json::String(a), Json::String(b)) => a == b,
            (Json::String(_), _) | (_, Json::String(_)) => false,
            (a, b) => match (a.as_i64(), b.as_i64()) {
                (None, None) => format!("{a}") == format!("{b}"),
                (a, b) => a == b,
            },
        }
    }
}

impl Equivalent<MetadataValue> for str {
    fn equivalent(&self, known: &MetadataValue) -> bool {
        matches!(&known.0, Json::String(text) if text == self)
    }
}

impl PartialEq for MetadataValue {
    fn eq(&self, other: &Self) -> bool {
        JsonText(&self.0).equivalent(other)
    }
}

impl Eq for MetadataValue {}

/// About how many bytes a value holds on the heap.
fn bytes_within(value: &Json) -> usize {
    let node = size_of::<Json>();
    match value {
        Json::String(text) => text.len(),
        Json::Array(items) => items.iter().map(|item| node + bytes_within(item)).sum(),
        // A key is a string, with its hash and a place in a table.
        Json::Object(map) => map.iter().map(|(key, value)| 2 * node + key.len() + bytes_within(value)).sum(),
        Json::Null | Json::Bool(_) | Json::Number(_) => 0,
    }
}

// What is recorded with scores besides their values.

/// What is recorded with a score besides its value. Most scorers of a table record nothing, so the
/// column exists only from the first row that does.
#[derive(Clone, Debug, Default)]
pub(crate) struct ScoreDetails {
    pub(super) recorded: Vec<Option<Box<ScoreDetail>>>,
    /// What the strings of all that is recorded take.
    recorded_bytes: usize,
    /// For the scores of a vote: which rows voted. Ten thousand panels written as JSON would take
    /// longer than all the voting, so they are written on demand.
    pub(super) panels: Option<RowLists>,
}

/// What is recorded with a score besides its value: a score whose value is not looked at.
pub(crate) type ScoreDetail = Score;

impl ScoreDetail {
    /// Nothing recorded.
    pub(crate) fn no_detail() -> Self {
        Score::new(Value::Unscored)
    }

    /// Whether nothing is recorded; the value is taken out.
    pub(super) fn has_no_detail(&self) -> bool {
        *self == Self::no_detail()
    }

    /// About how many bytes it takes, what a scorer has recorded as metadata aside.
    fn detail_bytes(&self) -> usize {
        let texts = [&self.answer, &self.explanation, &self.reason];
        size_of::<Self>() + texts.into_iter().flatten().map(String::len).sum::<usize>()
    }

    /// Records how a vote went.
    pub(crate) fn add_panel(&mut self, panel: &Panel) {
        self.metadata.get_or_insert_default().insert("panel".to_owned(), panel.to_json());
    }

    /// The value, and what is recorded with it.
    pub(crate) fn into_parts(mut self) -> (Value, ScoreDetail) {
        (std::mem::replace(&mut self.value, Value::Unscored), self)
    }

    pub(crate) fn with_value(self, value: Value) -> Score {
        Score { value, ..self }
    }
}

impl ScoreDetails {
    /// What is recorded with a score, a panel not included.
    pub(crate) fn get(&self, row: usize) -> Option<&ScoreDetail> {
        self.recorded.get(row)?.as_deref()
    }

    /// How many scores have each reason, in order of first appearance.
    pub(crate) fn reasons(&self) -> IndexMap<String, usize> {
        /// Those beyond are counted together: a reason may be any string.
        const MOST: usize = 20;
        let mut reasons: IndexMap<String, usize> = IndexMap::new();
        for reason in self.recorded.iter().flatten().filter_map(|detail| detail.reason.as_deref()) {
            let is_known = reasons.contains_key(reason);
            let reason = if is_known || reasons.len() < MOST { reason } else { "other reasons" };
            *reasons.entry(reason.to_owned()).or_insert(0) += 1;
        }
        reasons
    }

    /// The bytes of what is recorded.
    pub(super) fn heap_bytes(&self) -> usize {
        self.recorded.capacity() * 8 + self.recorded_bytes
    }

    /// All that is recorded with a score; `voters` are the unreduced scores.
    pub(crate) fn to_detail(&self, row: usize, voters: Option<&ScorerColumn>) -> ScoreDetail {
        let mut detail = self.get(row).cloned().unwrap_or_else(ScoreDetail::no_detail);
        if let (Some(panels), Some(voters)) = (&self.panels, voters) {
            detail.add_panel(&Panel::of(panels.get(row).iter().filter_map(|row| {
                Some((voters.values.to_value(*row as usize)?, voters.details.get(*row as usize)))
            })));
        }
        detail
    }

    /// Whether nothing is recorded with any score.
    pub(crate) fn is_empty(&self) -> bool {
        self.recorded.is_empty() && self.panels.is_none()
    }

    pub(crate) fn set(&mut self, row: usize, detail: ScoreDetail) {
        if detail.has_no_detail() {
            return;
        }
        self.recorded_bytes += detail.detail_bytes();
        if let Some(slot) = self.recorded.get_mut(row) {
            *slot = Some(Box::new(detail));
        } else {
            self.recorded.resize(row, None);
            self.recorded.push(Some(Box::new(detail)));
        }
    }

    /// Remembers who voted on the next score.
    pub(crate) fn push_panel(&mut self, rows: &[u32]) {
        self.panels.get_or_insert_default().push(rows.iter().copied());
    }
}

/// How a vote went: recorded as `metadata.panel` of the reduced score.
#[derive(Clone, Debug, PartialEq)]
pub struct Panel {
    /// The value of each epoch, in order.
    pub votes: Vec<Value>,
    /// Reason and explanation of each unscored epoch, by its place.
    pub failures: Vec<(usize, Option<String>, Option<String>)>,
}

impl Panel {
    /// The panel as score metadata; an unscored vote is null.
    pub fn to_json(&self) -> serde_json::Value {
        let failure = |(index, reason, explanation): &(usize, Option<String>, Option<String>)| json!({ "index": index, "reason": reason, "explanation": explanation });
        json!({
            "votes": self.votes.iter().map(Value::to_json).collect::<Vec<_>>(),
            "size": self.votes.len(),
            "failures": self.failures.iter().map(failure).collect::<Vec<_>>(),
        })
    }

    pub(crate) fn of<'a>(epochs: impl Iterator<Item = (Value, Option<&'a ScoreDetail>)>) -> Self {
        let mut panel = Panel { votes: Vec::with_capacity(epochs.size_hint().0), failures: Vec::new() };
        for (value, detail) in epochs {
            if value.is_unscored() {
                let reason = detail.and_then(|detail| detail.reason.clone());
                let explanation = detail.and_then(|detail| detail.explanation.clone());
                panel.failures.push((panel.votes.len(), reason, explanation));
            }
            panel.votes.push(value);
        }
        panel
    }
}

/// What a reduced score keeps: answer, explanation and reason only where equal across all epochs,
/// the first epoch's metadata; unscored epochs take part in both.
pub(crate) fn merge_details<'a>(
    epochs: impl Iterator<Item = Option<&'a ScoreDetail>> + Clone,
) -> ScoreDetail {
    let first = epochs.clone().next().flatten();
    let same = |field: fn(&ScoreDetail) -> Option<&String>| {
        let wanted = field(first?)?;
        epochs.clone().all(|epoch| epoch.and_then(field) == Some(wanted)).then(|| wanted.clone())
    };
    ScoreDetail {
        answer: same(|d| d.answer.as_ref()),
        explanation: same(|d| d.explanation.as_ref()),
        reason: same(|d| d.reason.as_ref()),
        metadata: first.and_then(|first| first.metadata.clone()),
        ..ScoreDetail::no_detail()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_distinguished_as_their_strings_are() {
        let texts = [
            "0",
            "-0",
            "-0.0",
            "0.0",
            "1",
            "1.0",
            "-1",
            "18446744073709551615",
            "9223372036854775807",
            "\"1\"",
        ];
        let values: Vec<Json> = texts.iter().map(|text| serde_json::from_str(text).unwrap()).collect();
        let mut column = MetadataColumn::default();
        values.iter().chain(&values).for_each(|value| column.push(value));
        let strings: std::collections::HashSet<String> = values.iter().map(ToString::to_string).collect();
        assert_eq!(column.distinct(), strings.len());
        for (row, value) in values.iter().chain(&values).enumerate() {
            assert_eq!(column.get(row).map(ToString::to_string), Some(value.to_string()));
        }
    }

    #[test]
    fn strings_are_distinguished_whatever_their_length() {
        // All strings over two letters up to three long, and longer ones that differ in one place.
        let mut texts: Vec<String> = vec![String::new()];
        for _ in 0..3 {
            let longer = texts.iter().flat_map(|t| ["a", "b"].map(|c| format!("{t}{c}"))).collect::<Vec<_>>();
            texts.extend(longer);
        }
        for length in 4..=20 {
            for place in 0..length {
                let mut text = "x".repeat(length);
                text.replace_range(place..=place, "y");
                texts.push(text);
            }
        }
        let (mut column, mut slow) = (MetadataColumn::default(), MetadataColumn::default());
        for text in texts.iter().chain(&texts) {
            column.push_text(text);
            slow.push(&Json::from(text.as_str()));
        }
        assert_eq!(column.codes, slow.codes);
        assert!((0..column.distinct()).all(|code| column.value(code) == slow.value(code)));
    }
}
