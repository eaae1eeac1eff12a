//! What is recorded with scores besides their values.

use indexmap::IndexMap;
use serde_json::Value as Json;

use super::ScorerColumn;
use crate::metadata::Metadata;
use crate::reducer::{DetailView, Panel};
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
        self.answer.is_none()
            && self.explanation.is_none()
            && self.reason.is_none()
            && self.metadata.is_none()
            && self.history.is_empty()
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
