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
        // A grade of a school, whether there is another, and whether there is one of the reference.
        let (mut school, mut has_other, mut has_grade) = (None, false, false);
        for cell in cells.into_iter().filter(|cell| self.meaning(LeafRef::Str(cell)) != CellMeaning::Missing)
        {
            if is_school_grade(cell) {
                has_other |= *school.get_or_insert(cell.trim()) != cell.trim();
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
    is_school_grade(text) || is_grade(text)
}

/// Whether a cell is a grade as schools give them, in any case, and no grade of the reference.
fn is_school_grade(text: &str) -> bool {
    let text = text.trim();
    let letter = text.strip_suffix(['+', '-']).unwrap_or(text);
    matches!(letter.as_bytes(), [b'A'..=b'F' | b'a'..=b'f']) && text != "C"
}

/// Whether a cell is a grade of the reference, or the same in lower case; `n` means no.
fn is_grade(text: &str) -> bool {
    matches!(text.trim(), "C" | "P" | "I" | "N" | "p" | "i")
}
