//! Letter grades: `C` is correct to the reference, and a middling grade at a school.

use errorbar_core::{LeafRef, ScoreColumns};

use super::{CellMeaning, CellReader};

impl CellReader {
    /// Whether grades as schools give them are among the cells of a column, in any case, beside those of the reference
    /// (C, P, I, N) or one another, so that it is unclear what they mean. Cells that are named are clear.
    pub fn are_ambiguous_grades<'t>(&self, cells: impl IntoIterator<Item = &'t str>) -> bool {
        if self.scale.is_some() || self.has_named() {
            return false;
        }
        // The letter of one grade of a school, and whether there is another letter.
        let (mut school, mut has_other) = (None, false);
        let mut has_grade = false;
        for cell in cells.into_iter().filter(|cell| self.meaning(LeafRef::Str(cell)) != CellMeaning::Missing)
        {
            if let Some(letter) = school_grade(cell) {
                has_other |= *school.get_or_insert(letter) != letter;
            }
            has_grade |= is_grade(cell);
        }
        school.is_some() && (has_other || has_grade)
    }

    /// The scorers whose grades are ambiguous.
    pub(super) fn graded_scorers<'t>(&self, tables: &[&'t ScoreColumns]) -> Vec<&'t str> {
        let is_graded = |scorer: &&str| {
            self.are_ambiguous_grades(tables.iter().flat_map(|columns| columns.distinct_strings(scorer)))
        };
        tables.iter().flat_map(|columns| columns.scorer_names()).filter(is_graded).collect()
    }
}

/// Whether a cell is a grade of a school or of the reference.
pub(crate) fn is_either(text: &str) -> bool {
    school_grade(text).is_some() || is_grade(text)
}

/// The letter, in upper case, of a grade as schools give them that is no grade of the reference.
fn school_grade(text: &str) -> Option<char> {
    let text = text.trim();
    let mut letters = text.strip_suffix(['+', '-']).unwrap_or(text).chars();
    let letter = letters.next().filter(|letter| matches!(letter.to_ascii_uppercase(), 'A'..='F'))?;
    (letters.next().is_none() && text != "C").then(|| letter.to_ascii_uppercase())
}

/// Whether a cell is a grade of the reference, or the same in lower case; `n` means no.
fn is_grade(text: &str) -> bool {
    matches!(text.trim(), "C" | "P" | "I" | "N" | "p" | "i")
}
