//! Letter grades: `C` is correct to the reference, and a middling grade at a school.

use errorbar_core::{LeafRef, ScoreColumns};

use super::{CellMeaning, CellReader};

impl CellReader {
    /// Whether grades as schools give them are among the cells of a column beside those of the reference (C, P, I, N), so
    /// that it is unclear what the latter mean. Cells that are named are clear.
    pub fn are_ambiguous_grades<'t>(&self, cells: impl IntoIterator<Item = &'t str>) -> bool {
        if self.scale.is_some() || self.has_named() {
            return false;
        }
        let (mut has_school, mut has_grade) = (false, false);
        for cell in cells.into_iter().filter(|cell| self.meaning(LeafRef::Str(cell)) != CellMeaning::Missing)
        {
            has_school |= is_school_grade(cell);
            has_grade |= is_grade(cell);
        }
        has_school && has_grade
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

/// Whether a cell is a grade as schools give them, and no grade of the reference.
fn is_school_grade(text: &str) -> bool {
    let text = text.trim();
    let letter = text.strip_suffix(['+', '-']).unwrap_or(text);
    matches!(letter, "A" | "B" | "C" | "D" | "F") && text != "C"
}

/// Whether a cell is a grade of the reference.
fn is_grade(text: &str) -> bool {
    matches!(text.trim(), "C" | "P" | "I" | "N")
}
