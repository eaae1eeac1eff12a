//! What is recorded with scores besides their values.

use indexmap::IndexMap;
use serde_json::{Value as Json, json};

use super::ScorerColumn;
use crate::metadata::Metadata;
use crate::score::Score;
use crate::value::Value;

/// What is recorded with a score besides its value. Most scorers of a table record nothing, so the
/// column exists only from the first row that does.
#[derive(Clone, Debug, Default)]
pub(crate) struct ScoreDetails {
    pub(super) recorded: Vec<Option<Box<ScoreDetail>>>,
    /// What the strings of all that is recorded take.
    recorded_bytes: usize,
    /// For the scores of a vote: which rows voted. Ten thousand panels written as JSON would take
    /// longer than all the voting, so they are written on demand.
    pub(super) panels: Option<PanelRows>,
}

/// The rows that voted on each reduced score.
#[derive(Clone, Debug, Default)]
pub(super) struct PanelRows {
    pub(super) rows: Vec<u32>,
    ends: Vec<usize>,
}

/// The fields of a score besides its value.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ScoreDetail {
    pub(crate) answer: Option<String>,
    pub(crate) explanation: Option<String>,
    pub(crate) reason: Option<String>,
    pub(crate) metadata: Option<Metadata>,
    pub(crate) history: Vec<Json>,
}

impl ScoreDetail {
    pub(super) fn is_empty(&self) -> bool {
        *self == ScoreDetail::default()
    }

    /// About how many bytes it takes, what a scorer has recorded as metadata aside.
    fn heap_bytes(&self) -> usize {
        let texts = [&self.answer, &self.explanation, &self.reason];
        size_of::<Self>() + texts.into_iter().flatten().map(String::len).sum::<usize>()
    }

    /// Records how a vote went.
    pub(crate) fn add_panel(&mut self, panel: &Panel) {
        self.metadata.get_or_insert_default().insert("panel".to_owned(), panel.to_json());
    }

    /// A score taken apart.
    pub(crate) fn of_score(score: Score) -> (Value, ScoreDetail) {
        let Score { value, answer, explanation, reason, metadata, history } = score;
        (value, ScoreDetail { answer, explanation, reason, metadata, history })
    }

    pub(crate) fn into_score(self, value: Value) -> Score {
        let ScoreDetail { answer, explanation, reason, metadata, history } = self;
        Score { value, answer, explanation, reason, metadata, history }
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
        let mut detail = self.get(row).cloned().unwrap_or_default();
        if let (Some(panels), Some(voters)) = (&self.panels, voters) {
            detail.add_panel(&Panel::of(panels.rows_of(row).iter().filter_map(|row| {
                let view = voters.details.get(*row as usize).map(DetailView::from).unwrap_or_default();
                Some((voters.values.to_value(*row as usize)?, view))
            })));
        }
        detail
    }

    /// Whether nothing is recorded with any score.
    pub(crate) fn is_empty(&self) -> bool {
        self.recorded.is_empty() && self.panels.is_none()
    }

    pub(crate) fn set(&mut self, row: usize, detail: ScoreDetail) {
        if detail.is_empty() {
            return;
        }
        self.recorded_bytes += detail.heap_bytes();
        if let Some(slot) = self.recorded.get_mut(row) {
            *slot = Some(Box::new(detail));
        } else {
            self.recorded.resize(row, None);
            self.recorded.push(Some(Box::new(detail)));
        }
    }

    /// Remembers who voted on the next score.
    pub(crate) fn push_panel(&mut self, rows: &[u32]) {
        let panels = self.panels.get_or_insert_default();
        panels.rows.extend_from_slice(rows);
        panels.ends.push(panels.rows.len());
    }
}

impl PanelRows {
    fn rows_of(&self, score: usize) -> &[u32] {
        let start = score.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or(0);
        self.ends.get(score).and_then(|end| self.rows.get(start..*end)).unwrap_or_default()
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

    pub(crate) fn of<'a>(epochs: impl Iterator<Item = (Value, DetailView<'a>)>) -> Self {
        let mut panel = Panel { votes: Vec::with_capacity(epochs.size_hint().0), failures: Vec::new() };
        for (value, detail) in epochs {
            if value.is_unscored() {
                let text = |t: Option<&str>| t.map(str::to_owned);
                panel.failures.push((panel.votes.len(), text(detail.reason), text(detail.explanation)));
            }
            panel.votes.push(value);
        }
        panel
    }
}

/// What is recorded with one epoch's score besides its value.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DetailView<'a> {
    pub(crate) answer: Option<&'a str>,
    pub(crate) explanation: Option<&'a str>,
    pub(crate) reason: Option<&'a str>,
    pub(crate) metadata: Option<&'a Metadata>,
}

impl<'a> From<&'a Score> for DetailView<'a> {
    fn from(score: &'a Score) -> Self {
        DetailView {
            answer: score.answer.as_deref(),
            explanation: score.explanation.as_deref(),
            reason: score.reason.as_deref(),
            metadata: score.metadata.as_ref(),
        }
    }
}

impl<'a> From<&'a ScoreDetail> for DetailView<'a> {
    fn from(detail: &'a ScoreDetail) -> Self {
        DetailView {
            answer: detail.answer.as_deref(),
            explanation: detail.explanation.as_deref(),
            reason: detail.reason.as_deref(),
            metadata: detail.metadata.as_ref(),
        }
    }
}

/// What a reduced score keeps: answer, explanation and reason only where equal across all epochs,
/// the first epoch's metadata; unscored epochs take part in both.
pub(crate) fn merge_details<'a>(epochs: impl Iterator<Item = DetailView<'a>> + Clone) -> ScoreDetail {
    let first = epochs.clone().next().unwrap_or_default();
    let same = |field: fn(&DetailView<'a>) -> Option<&'a str>| {
        let wanted = field(&first)?;
        epochs.clone().all(|epoch| field(&epoch) == Some(wanted)).then(|| wanted.to_owned())
    };
    ScoreDetail {
        answer: same(|d| d.answer),
        explanation: same(|d| d.explanation),
        reason: same(|d| d.reason),
        metadata: first.metadata.cloned(),
        history: Vec::new(),
    }
}
