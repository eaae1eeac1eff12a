//! Whether sides have the same samples: ids are matched, and the same id must be the same question.

use std::collections::{HashMap, HashSet};

use errorbar_core::SampleId;
use errorbar_core::chat::{Input as Question, Targets};
use errorbar_core::{MetadataKeys, ScoreParts};
use errorbar_log::eval::SampleFields;

use super::CompareArgs;
use super::read::Questions;
use super::sides::{Side, Sides};
use crate::commands::counted;
use crate::diagnostic::{Diagnostic, Diagnostics};

/// The number of ids that a message shows.
const IDS_SHOWN: usize = 3;
/// The number of characters of a question or target that a message shows.
const TEXT_SHOWN: usize = 200;

/// Which samples have no partner.
pub(super) struct Alignment {
    pairs: Vec<SidePair>,
}

/// The samples of a side and its base.
struct SidePair {
    base: String,
    other: String,
    task: Option<String>,
    /// The ids that only one of them has.
    only_base: Vec<String>,
    only_other: Vec<String>,
}

impl Alignment {
    /// Matches the samples of each side with those of the base.
    pub(super) fn check(
        sides: &Sides,
        args: &CompareArgs,
        diagnostics: &mut Diagnostics,
    ) -> Result<Self, Diagnostics> {
        let mut pairs = Vec::new();
        for sides in sides.by_task() {
            let Some((base, others)) = sides.split_first() else { continue };
            let rows = SampleRows::new(base);
            for other in others {
                pairs.push(rows.pair(other, args, diagnostics)?);
            }
        }
        Ok(Alignment { pairs })
    }

    /// The samples without a partner, up to a number of each side.
    pub(super) fn unmatched(&self, most: usize) -> Diagnostics {
        let mut notes = Diagnostics::default();
        for SidePair { base, other, task, only_base, only_other } in &self.pairs {
            let task = task.as_ref().map(|task| format!("{task}: ")).unwrap_or_default();
            for (ids, side, missing) in [(only_base, base, other), (only_other, other, base)] {
                if !ids.is_empty() {
                    let listed = listed(ids, most);
                    notes.push(Diagnostic::note(format!("{task}only in {side}, not in {missing}: {listed}")));
                }
            }
        }
        if notes.is_empty() {
            notes.push(Diagnostic::note("every sample has a partner"));
        }
        notes
    }
}

/// Some ids, and how many more there are.
fn listed(ids: &[String], most: usize) -> String {
    let shown = ids.iter().take(most).cloned().collect::<Vec<_>>().join(", ");
    match ids.len().saturating_sub(most) {
        0 => shown,
        more if shown.is_empty() => counted(more as u64, "sample"),
        more => format!("{shown} and {more} more"),
    }
}

/// The first row of each sample of a side.
struct SampleRows<'a> {
    side: &'a Side,
    rows: HashMap<&'a str, usize>,
}

impl<'a> SampleRows<'a> {
    fn new(side: &'a Side) -> Self {
        let columns = &side.input.columns;
        let mut rows = HashMap::with_capacity(columns.len());
        for row in 0..columns.len() {
            rows.entry(columns.id(row)).or_insert(row);
        }
        SampleRows { side, rows }
    }

    /// The row of a sample; mostly it is that which it has on the other side.
    fn row(&self, id: &str, likely: usize) -> Option<usize> {
        match self.side.input.columns.id(likely) == id && !id.is_empty() {
            true => Some(likely),
            false => self.rows.get(id).copied(),
        }
    }

    fn pair(
        &self,
        other: &Side,
        args: &CompareArgs,
        diagnostics: &mut Diagnostics,
    ) -> Result<SidePair, Diagnostics> {
        let (base, columns) = (self.side, &other.input.columns);
        let questions = comparable(&base.input.questions, &other.input.questions);
        let (mut only_other, mut changed) = (Vec::new(), Vec::new());
        let mut matched = HashSet::with_capacity(columns.len());
        for row in 0..columns.len() {
            let id = columns.id(row);
            let Some(base_row) = self.row(id, row) else {
                only_other.push(id.to_owned());
                continue;
            };
            if matched.insert(id)
                && let Some((of_base, of_other)) = questions
                && of_base.get(base_row) != of_other.get(row)
            {
                changed.push((base_row, row));
            }
        }
        only_other.dedup();
        let common = matched.len();
        let of_base = (0..base.input.columns.len()).map(|row| base.input.columns.id(row));
        let mut seen = HashSet::new();
        let only_base: Vec<String> = match common < self.rows.len() {
            true => {
                of_base.filter(|id| !matched.contains(id) && seen.insert(*id)).map(str::to_owned).collect()
            }
            false => Vec::new(),
        };
        if common < 2 {
            return Err(too_few(base, other, common).into());
        }
        if let Some(&(base_row, row)) = changed.first() {
            return Err(changed_question(base, other, base_row, row, changed.len()).into());
        }
        if questions.is_none() && !args.trust_ids && are_row_numbers(base) && are_row_numbers(other) {
            diagnostics.push(row_numbers(base, other));
        }
        let [base, other] = [base, other].map(|side| side.name.clone());
        Ok(SidePair { base, other, task: self.side.task.clone(), only_base, only_other })
    }
}

/// The digests of both sides, if they are of the same kind.
fn comparable<'a>(base: &'a Questions, other: &'a Questions) -> Option<(&'a [u64], &'a [u64])> {
    let are_known = !base.digests.is_empty() && !other.digests.is_empty();
    (are_known && base.columns == other.columns).then_some((&base.digests, &other.digests))
}

/// The error of sides with no sample in common, or with one.
fn too_few(base: &Side, other: &Side, common: usize) -> Diagnostic {
    if common == 1 {
        let problem = format!(
            "{} and {} have one sample in common, and the difference of one sample has no error",
            base.name, other.name
        );
        return Diagnostic::error(problem).hint(
            "run more samples on both sides; --unpaired compares all that they have, without matching them",
        );
    }
    let ids = |side: &Side| {
        let columns = &side.input.columns;
        let mut ids: Vec<String> = (0..columns.len()).map(|row| columns.id(row).to_owned()).collect();
        ids.dedup();
        listed(&ids, IDS_SHOWN)
    };
    let problem = format!(
        "{} and {} have no sample in common: the ids of {} are {}, those of {} {}",
        base.name,
        other.name,
        base.name,
        ids(base),
        other.name,
        ids(other)
    );
    let hint = match base.input.is_table || other.input.is_table {
        true => {
            "name the column that identifies the samples with --id; if they are different samples, give --unpaired"
        }
        false => "give logs of the same samples; if they are different ones on purpose, give --unpaired",
    };
    Diagnostic::error(problem).hint(hint)
}

/// The error of an id that is another question on the other side.
fn changed_question(base: &Side, other: &Side, base_row: usize, row: usize, count: usize) -> Diagnostic {
    let id = other.input.columns.sample_id(row);
    let [of_base, of_other] = [(base, base_row), (other, row)].map(|(side, row)| question(side, row));
    let changed = match (&of_base, &of_other) {
        (Some(of_base), Some(of_other)) => of_base.iter().zip(of_other).find(|(a, b)| a != b),
        _ => None,
    };
    let more = match count - 1 {
        0 => String::new(),
        more => format!(" ({} more too)", counted(more as u64, "sample")),
    };
    let text = match changed {
        Some(((what, of_base), (_, of_other))) => format!(
            "sample {id} has another {what} on each side{more}\n{}: {}\n{}: {}",
            base.name,
            excerpt(of_base, of_other),
            other.name,
            excerpt(of_other, of_base)
        ),
        None => format!("sample {id} is another one in {} than in {}{more}", other.name, base.name),
    };
    Diagnostic::error(text).hint(
        "compare runs on the same version of the dataset; --unpaired does not match samples, and --trust-ids matches \
         them by their ids alone",
    )
}

/// What a sample asks and expects, as text.
fn question(side: &Side, row: usize) -> Option<Vec<(&'static str, String)>> {
    let columns = &side.input.columns;
    let Some(log) = &side.input.log else {
        let metadata = columns.metadata_row(row);
        let text = |key: &&'static str| {
            (*key, metadata.get(*key).map(errorbar_core::python_text::json_text).unwrap_or_default())
        };
        return Some(side.input.questions.columns.iter().map(text).collect());
    };
    let mut fields = SampleFields::scores(MetadataKeys::NONE).score_parts(ScoreParts::Value);
    fields.texts = true;
    let (id, epoch) = (columns.sample_id(row), columns.epoch(row));
    let is_wanted = |other: &SampleId, other_epoch: u32| *other == id && other_epoch == epoch;
    let sample = log.samples_of(fields, is_wanted).ok()?.next()?.ok()?;
    let choices = sample.choices.unwrap_or_default().join(" / ");
    Some(vec![("input", text_of(&sample.input)), ("choices", choices), ("target", target(&sample.target))])
}

/// An input as text: that of its messages.
pub(super) fn text_of(input: &Question) -> String {
    match input {
        Question::Text(text) => text.clone(),
        Question::Messages(messages) => {
            let message = |message: &errorbar_core::chat::Message| match messages.len() {
                1 => message.content.clone(),
                _ => format!("{}: {}", message.role.name(), message.content),
            };
            messages.iter().map(message).collect::<Vec<_>>().join("\n")
        }
    }
}

fn target(target: &Targets) -> String {
    match target {
        Targets::One(target) => target.clone(),
        Targets::Many(targets) => targets.join(" / "),
    }
}

/// A part of a text from a little before the place where it differs from another.
fn excerpt(text: &str, other: &str) -> String {
    const BEFORE: usize = 40;
    let line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let (text, other) = (line(text), line(other));
    let same = text.chars().zip(other.chars()).take_while(|(a, b)| a == b).count();
    let start = if text.chars().count() <= TEXT_SHOWN { 0 } else { same.saturating_sub(BEFORE) };
    let shown: String = text.chars().skip(start).take(TEXT_SHOWN).collect();
    let is_cut = text.chars().count() > start + TEXT_SHOWN;
    format!("{:?}", format!("{}{shown}{}", if start > 0 { "…" } else { "" }, if is_cut { "…" } else { "" }))
}

/// Whether the ids of a table are 1, 2, 3 … or 0, 1, 2 …, in the order of its rows.
fn are_row_numbers(side: &Side) -> bool {
    let columns = &side.input.columns;
    if !side.input.is_table || columns.is_empty() {
        return false;
    }
    let Ok(first @ 0..=1) = columns.id(0).parse::<usize>() else { return false };
    (0..columns.len()).all(|row| columns.id(row).parse() == Ok(first + row))
}

fn row_numbers(base: &Side, other: &Side) -> Diagnostic {
    let text = format!(
        "the ids of {} and {} are row numbers, and nothing shows that the same number is the same sample",
        base.name, other.name
    );
    Diagnostic::warning(text).hint(
        "name the column that identifies the samples with --id, or give both tables a column `input`; --trust-ids if \
         the numbers are right",
    )
}
