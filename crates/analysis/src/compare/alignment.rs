//! Whether sides have the same samples: ids are matched, and the same id must be the same question.

use std::cell::OnceCell;
use std::collections::HashMap;

use errorbar_core::SampleId;
use errorbar_core::chat::{Input as Question, Targets};
use errorbar_core::{MetadataKeys, ScoreParts};
use errorbar_log::eval::SampleFields;

use super::SideRequest;
use super::sides::Side;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::run::{Provenance, Questions, Run};
use crate::text;
use crate::text::counted;

/// The number of characters of a question or target that a message shows.
const TEXT_SHOWN: usize = 200;

/// Which samples have no partner.
#[derive(Debug)]
pub struct Alignment {
    pairs: Vec<SidePair>,
}

/// The samples of a side and its base.
#[derive(Debug)]
struct SidePair {
    base: String,
    other: String,
    task: Option<String>,
    /// The ids that only one of them has.
    only_base: Vec<String>,
    only_other: Vec<String>,
}

impl Alignment {
    /// Matches the samples of each side with those of the base, the first of its task; sides are ordered by task.
    ///
    /// # Errors
    /// An id is another question on the other side, or ids are mere row numbers.
    pub fn check(
        sides: &[Side],
        request: &SideRequest<'_>,
        diagnostics: &mut Diagnostics,
    ) -> Result<Self, Diagnostics> {
        let mut pairs = Vec::new();
        for sides in sides.chunk_by(|a, b| a.task == b.task) {
            // Of a log without samples there is nothing to match.
            let mut sides = sides.iter().filter(|side| side.run.recorded().is_none());
            let (Some(base), others) = (sides.next(), sides) else { continue };
            let base = MatchedRun::new(&base.name, &base.run);
            for other in others {
                let of_other = MatchedRun::new(&other.name, &other.run);
                let (only_base, only_other) = base.unmatched(&of_other)?;
                if !request.trust_ids && request.runs.compared_scorers.is_empty() {
                    base.check_ids(&of_other, diagnostics)?;
                }
                let (base, task) = (base.name.to_owned(), other.task.clone());
                pairs.push(SidePair { base, other: other.name.clone(), task, only_base, only_other });
            }
        }
        Ok(Alignment { pairs })
    }

    /// Whether a sample has no partner.
    pub fn has_unmatched(&self) -> bool {
        self.pairs.iter().any(|pair| !pair.only_base.is_empty() || !pair.only_other.is_empty())
    }

    /// The samples without a partner, up to a number of each side.
    pub fn unmatched(&self, most: usize) -> Diagnostics {
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

/// A run whose samples are matched with those of another, and what shows that they are the same.
pub(crate) struct MatchedRun<'a> {
    name: &'a str,
    run: &'a Run,
    questions: Questions,
    /// The first row of each sample.
    rows: Vec<usize>,
    /// The places of samples among them, by id; seldom needed, because sides mostly have the same order.
    places: OnceCell<HashMap<&'a str, usize>>,
}

impl<'a> MatchedRun<'a> {
    pub(crate) fn new(name: &'a str, run: &'a Run) -> Self {
        let rows = run.scores.first_rows();
        MatchedRun { name, run, questions: run.questions(), rows, places: OnceCell::new() }
    }

    /// Checks that the ids which this run, the base, and another have in common are those of the same samples.
    ///
    /// # Errors
    /// An id is another question on the other side, or the ids are mere row numbers.
    pub(crate) fn check_questions(
        &self,
        other: &MatchedRun<'_>,
        diagnostics: &mut Diagnostics,
    ) -> Result<(), Diagnostic> {
        self.unmatched(other)?;
        self.check_ids(other, diagnostics)
    }

    fn id(&self, place: usize) -> Option<&'a str> {
        self.rows.get(place).map(|row| self.run.scores.id(*row))
    }

    /// The place of a sample; mostly it is that which it has on the other side.
    fn place(&self, id: &str, likely: usize) -> Option<usize> {
        if self.id(likely) == Some(id) {
            return Some(likely);
        }
        let columns = &self.run.scores;
        let places = || self.rows.iter().enumerate().map(|(place, row)| (columns.id(*row), place)).collect();
        self.places.get_or_init(places).get(id).copied()
    }

    /// The ids that only this side, the base, has, and those that only another has.
    ///
    /// # Errors
    /// An id is another question on the other side.
    fn unmatched(&self, other: &MatchedRun<'_>) -> Result<(Vec<String>, Vec<String>), Diagnostic> {
        let questions = CommonQuestions::of(&self.questions, &other.questions);
        let (mut only_other, mut changed) = (Vec::new(), Vec::new());
        let mut is_matched = vec![false; self.rows.len()];
        for (at, row) in other.rows.iter().enumerate() {
            let id = other.run.scores.id(*row);
            let Some(place) = self.place(id, at) else {
                only_other.push(id.to_owned());
                continue;
            };
            is_matched.get_mut(place).into_iter().for_each(|matched| *matched = true);
            if let Some(base_row) = self.rows.get(place)
                && questions.as_ref().is_some_and(|questions| questions.differ(*base_row, *row))
            {
                changed.push((*base_row, *row));
            }
        }
        if let Some(&(base_row, row)) = changed.first() {
            return Err(changed_question(self, other, base_row, row, changed.len()));
        }
        let unmatched = is_matched.iter().enumerate().filter(|(_, matched)| !**matched);
        let only_base = unmatched.filter_map(|(place, _)| self.id(place).map(str::to_owned)).collect();
        Ok((only_base, only_other))
    }

    /// Refuses row numbers, which are the ids of any two tables; and reports what cannot be checked.
    fn check_ids(&self, other: &MatchedRun<'_>, diagnostics: &mut Diagnostics) -> Result<(), Diagnostic> {
        // The parts of one table repeat its ids, which are then no row numbers.
        let is_confirmed = self.run.identity.path == other.run.identity.path
            || CommonQuestions::of(&self.questions, &other.questions)
                .is_some_and(|questions| questions.tell_apart(self.run.scores.len()));
        if !is_confirmed && self.are_row_numbers() && other.are_row_numbers() {
            return Err(row_numbers(self, other));
        }
        let (log, table) = match (self.run.table(), other.run.table()) {
            (Some(_), None) => (other.name, self.name),
            (None, Some(_)) => (self.name, other.name),
            _ => return Ok(()),
        };
        // The input of a log may be a conversation, and what a table has for it is up to the table: they are not compared.
        diagnostics.push(Diagnostic::note(format!(
            "{log} is a log and {table} a table: samples are matched by id alone, and whether an id is the same question on both \
             sides was not checked"
        )));
        Ok(())
    }

    /// Whether the ids of a table are 1, 2, 3 … or 0, 1, 2 …, in the order of its rows.
    fn are_row_numbers(&self) -> bool {
        let columns = &self.run.scores;
        // A column of another name than `id`, or one that the user names, is that of the questions.
        if !matches!(&self.run.provenance, Provenance::Table(table) if !table.has_named_ids)
            || columns.is_empty()
        {
            return false;
        }
        let Ok(first @ 0..=1) = columns.id(0).parse::<usize>() else { return false };
        let mut next = first;
        // A sample has a row for each epoch.
        (0..columns.len()).all(|row| match columns.id(row).parse::<usize>() {
            Ok(number) if number == next => {
                next += 1;
                true
            }
            Ok(number) => (first..next).contains(&number),
            Err(_) => false,
        })
    }
}

/// What two sides both show of their questions: of tables, the columns that both have.
struct CommonQuestions<'a> {
    base: &'a Questions,
    other: &'a Questions,
    /// The places of the digests of a row, on both sides.
    places: Vec<(usize, usize)>,
}

impl<'a> CommonQuestions<'a> {
    fn of(base: &'a Questions, other: &'a Questions) -> Option<Self> {
        if base.digests.is_empty() || other.digests.is_empty() {
            return None;
        }
        let places: Vec<(usize, usize)> = match base.columns.is_empty() && other.columns.is_empty() {
            // Of two logs.
            true => vec![(0, 0)],
            false => {
                let place = |name: &str| other.columns.iter().position(|known| *known == name);
                let columns = base.columns.iter().enumerate();
                columns.filter_map(|(at, name)| Some((at, place(name)?))).collect()
            }
        };
        (!places.is_empty()).then_some(CommonQuestions { base, other, places })
    }

    /// Whether the samples of the base differ in what is compared: a target that all have confirms nothing.
    fn tell_apart(&self, rows: usize) -> bool {
        let mut places = self.places.iter();
        places.any(|(at, _)| (1..rows).any(|row| self.base.digest(row, *at) != self.base.digest(0, *at)))
    }

    /// Whether a row of the base asks something else than one of the other side.
    fn differ(&self, base_row: usize, row: usize) -> bool {
        let mut places = self.places.iter();
        places.any(|(of_base, of_other)| {
            self.base.digest(base_row, *of_base) != self.other.digest(row, *of_other)
        })
    }
}

/// The error of an id that is another question on the other side.
fn changed_question(
    base: &MatchedRun<'_>,
    other: &MatchedRun<'_>,
    base_row: usize,
    row: usize,
    count: usize,
) -> Diagnostic {
    let id = other.run.scores.sample_id(row);
    let of_base = question(base, base_row).unwrap_or_default();
    let of_other = question(other, row).unwrap_or_default();
    let mut parts = of_base.iter().flat_map(|part| of_other.iter().map(move |other| (part, other)));
    let changed = parts.find(|((what, of_base), (other, of_other))| what == other && of_base != of_other);
    let more = match count - 1 {
        0 => String::new(),
        more => format!(" (and {more} more)"),
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
    Diagnostic::error(text).hint(text!(
        "compare runs on the same version of the dataset; {Unpaired} does not match samples, and \
         {TrustIds} matches them by their ids alone"
    ))
}

/// What a sample asks and expects, as text.
fn question(run: &MatchedRun<'_>, row: usize) -> Option<Vec<(&'static str, String)>> {
    let columns = &run.run.scores;
    let Some(source) = run.run.log() else {
        let metadata = columns.metadata_row(row);
        let text = |key: &&'static str| {
            (*key, metadata.get(key).map(errorbar_core::python_text::json_text).unwrap_or_default())
        };
        return Some(run.questions.columns.iter().map(text).collect());
    };
    let mut fields = SampleFields::scores(MetadataKeys::NONE).score_parts(ScoreParts::Value);
    fields.texts = true;
    let (id, epoch) = (columns.sample_id(row), columns.epoch(row));
    let is_wanted = |other: &SampleId, other_epoch: u32| *other == id && other_epoch == epoch;
    let sample = source.log.samples_of(fields, is_wanted).ok()?.next()?.ok()?;
    let choices = sample.choices.unwrap_or_default().join(" / ");
    Some(vec![("input", text_of(&sample.input)), ("choices", choices), ("target", target(&sample.target))])
}

/// An input as text: that of its messages.
pub fn text_of(input: &Question) -> String {
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

fn row_numbers(base: &MatchedRun<'_>, other: &MatchedRun<'_>) -> Diagnostic {
    let text = format!(
        "the ids of {} and {} are row numbers, and nothing shows that the same number is the same sample",
        base.name, other.name
    );
    Diagnostic::error(text).hint(text!(
        "{TrustIds} if a number is the same sample on both sides, {Unpaired} otherwise; or name the \
         column that identifies the samples with {IdColumn}, or give both tables a column `input`"
    ))
}
