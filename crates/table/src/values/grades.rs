//! Letter grades: `C` is correct to the reference, and a middling grade at a school.

use std::collections::BTreeSet;

use errorbar_core::{IndexMap, LeafRef, ScoreColumns};

use super::{CellMeaning, CellReader, for_each_cell, is_word, verdict};

/// What ambiguous letter grades are likely to mean.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum GradeMeaning {
    /// This, which a user can say with the names of cells.
    Named(GradeProposal),
    /// Half of a score is among them, which cannot be named.
    Halves,
    /// It is not clear which of them pass.
    Unclear,
    /// The same column has numbers, beside which grades have to be numbers, too.
    BesideNumbers,
    /// The same column has words or, beside named cells, letters without a meaning.
    BesideWords,
    /// They are within lists or maps, where a letter may mean something else under each key.
    Nested,
}

/// The cells of a column with letter grades that have to be named, in alphabetical order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct GradeProposal {
    /// Those that count as 1.
    pub correct: Vec<String>,
    /// Those that count as 0.
    pub incorrect: Vec<String>,
    /// Those that mean that there is no score; none if the usual spellings are all that there are.
    pub missing: Vec<String>,
}

/// A scorer whose grades are ambiguous.
pub(super) struct GradedScorer<'t> {
    pub(super) name: &'t str,
    pub(super) meaning: GradeMeaning,
}

impl CellReader {
    /// Whether grades as schools give them are among the cells of a column, in any case, beside those of the reference
    /// (C, P, I, N) or one another, so that it is unclear what they mean; or `C` beside several letters that mean
    /// nothing. Once a letter is named, they are clear only if all are.
    pub fn are_ambiguous_grades<'t>(&self, cells: impl IntoIterator<Item = &'t str>) -> bool {
        if self.scale.is_some() {
            return false;
        }
        let mut cells = cells.into_iter().map(str::trim).filter(|cell| self.is_unclear_grade(cell));
        if self.has_named() {
            let mut names = self.correct.iter().chain(&self.incorrect);
            return names.any(|name| is_letter(name)) && cells.next().is_some();
        }
        let (mut school, mut reference, mut other) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        for cell in cells {
            match cell {
                cell if is_school_grade(cell) => school.insert(cell),
                cell if is_grade(cell) => reference.insert(cell),
                "Y" | "y" | "N" | "n" | "T" | "t" => false,
                cell => other.insert(cell),
            };
        }
        school.len() > 1
            || !school.is_empty() && !reference.is_empty()
            || other.len() > 1 && reference.contains("C") && !reference.contains("I")
    }

    /// Whether a cell is a letter that neither is named nor means that there is no score.
    pub(super) fn is_unclear_grade(&self, cell: &str) -> bool {
        is_letter(cell)
            && match self.meaning(LeafRef::Str(cell)) {
                CellMeaning::Missing => false,
                CellMeaning::NoScore(_) => true,
                CellMeaning::Score(_) | CellMeaning::Word(_) => !self.has_named(),
            }
    }

    /// Whether a cell is a number that neither is named nor means that there is no score.
    fn is_unnamed_number(&self, cell: LeafRef<'_>) -> bool {
        matches!(cell, LeafRef::Int(_) | LeafRef::Float(_))
            && self.meaning(cell) != CellMeaning::Missing
            && !(self.has_named() && self.may_name(cell))
    }

    /// What the letters among the cells of a column are likely to mean, whose grades are ambiguous.
    pub fn grade_meaning<'t>(&self, cells: impl IntoIterator<Item = LeafRef<'t>>) -> GradeMeaning {
        let (mut grades, mut usual, mut missing) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        let mut has_words = false;
        for cell in cells {
            if self.is_unnamed_number(cell) {
                return GradeMeaning::BesideNumbers;
            }
            let LeafRef::Str(text) = cell else { continue };
            let text = text.trim();
            match self.meaning(cell) {
                CellMeaning::Missing => _ = usual.insert(text),
                _ if is_letter(text) => _ = grades.insert(text),
                _ if self.has_named() && self.may_name(cell) => {}
                _ if text.contains(|c: char| c.is_ascii_digit()) => return GradeMeaning::BesideNumbers,
                _ if verdict(cell).is_some() && !self.names_verdicts() => {}
                _ if is_like_missing(text) => _ = missing.insert(text),
                _ => has_words = true,
            }
        }
        if has_words {
            return GradeMeaning::BesideWords;
        }
        match self.partition(&grades) {
            Ok((correct, incorrect)) => {
                // Names of missing cells replace the usual ones.
                if !missing.is_empty() {
                    missing.extend(usual.into_iter().filter(|text| !text.is_empty()));
                }
                let owned = |cells: Vec<&str>| cells.into_iter().map(str::to_owned).collect();
                let missing = owned(missing.into_iter().collect());
                GradeMeaning::Named(GradeProposal {
                    correct: owned(correct),
                    incorrect: owned(incorrect),
                    missing,
                })
            }
            Err(meaning) => meaning,
        }
    }

    /// The grades that pass and those that do not, of those that are not named.
    fn partition<'g>(
        &self,
        grades: &BTreeSet<&'g str>,
    ) -> Result<(Vec<&'g str>, Vec<&'g str>), GradeMeaning> {
        let has = |wanted: char| grades.iter().any(|grade| letter(grade) == wanted);
        if grades.iter().any(|grade| !matches!(letter(grade), 'A'..='F' | 'I' | 'N' | 'P')) {
            return Err(if self.has_named() { GradeMeaning::BesideWords } else { GradeMeaning::Unclear });
        }
        if has('C') && has('P') {
            return Err(GradeMeaning::Halves);
        }
        // Beside I and N, C means what it means in logs.
        let is_of_logs = has('I') || has('N');
        // What is better than a grade that is named as correct is correct.
        let named = |letter: char| {
            let mut names = self.correct.iter().filter(|name| is_school_grade(name) || *name == "C");
            letter <= 'F' && names.any(|name| letter <= self::letter(name))
        };
        let passes = |grade: &&str| match letter(grade) {
            'A' | 'B' | 'P' => true,
            'C' if is_of_logs => true,
            letter => named(letter),
        };
        let open = || grades.iter().copied().filter(|grade| self.is_unclear_grade(grade));
        let (mut correct, mut incorrect): (Vec<&str>, Vec<&str>) = open().partition(passes);
        if self.has_named() {
            return Ok((correct, incorrect));
        }
        if correct.is_empty() || incorrect.is_empty() {
            // The best letter passes, if it is certain that it is the best.
            let is_clear = |best: &char| !is_of_logs && !has('P') && *best < 'F';
            let best = open().map(letter).min().filter(is_clear);
            (correct, incorrect) = open().partition(|grade| Some(letter(grade)) == best);
        }
        if correct.is_empty() || incorrect.is_empty() {
            return Err(GradeMeaning::Unclear);
        }
        Ok((correct, incorrect))
    }

    /// The scorers whose grades are ambiguous; with `nested` also those whose grades are so within lists, or under a key
    /// of maps.
    pub(super) fn graded_scorers<'t>(
        &self,
        tables: &[&'t ScoreColumns],
        nested: bool,
    ) -> Vec<GradedScorer<'t>> {
        let graded = |name: &'t str| {
            let texts = || tables.iter().flat_map(|columns| columns.distinct_strings(name));
            let meaning = if self.are_ambiguous_grades(texts()) {
                let is_number = |leaf: LeafRef<'_>| self.is_unnamed_number(leaf);
                match tables.iter().any(|columns| columns.find_score(name, is_number).is_some()) {
                    true => GradeMeaning::BesideNumbers,
                    false => self.grade_meaning(texts().map(LeafRef::Str)),
                }
            } else if nested && self.has_nested_grades(tables, name) {
                GradeMeaning::Nested
            } else {
                return None;
            };
            Some(GradedScorer { name, meaning })
        };
        let names: BTreeSet<&str> = tables.iter().flat_map(|columns| columns.scorer_names()).collect();
        names.into_iter().filter_map(graded).collect()
    }

    /// Whether grades of a scorer are ambiguous within lists, or under a key of maps.
    fn has_nested_grades(&self, tables: &[&ScoreColumns], scorer: &str) -> bool {
        let mut found: IndexMap<Option<&str>, BTreeSet<&str>> = IndexMap::new();
        let mut note = |key, leaf| {
            if let LeafRef::Str(text) = leaf
                && is_letter(text)
            {
                found.entry(key).or_default().insert(text);
            }
        };
        tables.iter().for_each(|columns| for_each_cell(columns, scorer, &mut note));
        found.values().any(|texts| self.are_ambiguous_grades(texts.iter().copied()))
    }
}

/// Whether a cell is a letter, which may be a grade with a plus or a minus.
fn is_letter(text: &str) -> bool {
    let text = text.trim();
    let letter = text.strip_suffix(['+', '-']).unwrap_or(text);
    matches!(letter.as_bytes(), [byte] if byte.is_ascii_alphabetic())
}

/// The letter of a grade.
fn letter(grade: &str) -> char {
    grade.chars().next().unwrap_or_default().to_ascii_uppercase()
}

/// Whether a cell is a grade as schools give them, in any case, and no grade of the reference.
fn is_school_grade(text: &str) -> bool {
    is_letter(text) && letter(text) <= 'F' && text != "C"
}

/// Whether a cell is a grade of the reference, or the same in lower case; `n` means no.
fn is_grade(text: &str) -> bool {
    matches!(text, "C" | "P" | "I" | "N" | "p" | "i")
}

/// Whether a cell looks as if it meant that there is no score.
pub fn is_like_missing(text: &str) -> bool {
    const WORDS: &str = "absent, excused, exempt, withdrawn, skip, skipped, missing, pending, unscored, ungraded, \
        ignored, not run, not scored, not graded, not applicable, not available, n.a., n.a, no grade";
    is_word(text, WORDS) || text.chars().all(|c| matches!(c, '?' | '.' | '-' | '–' | '—'))
}
