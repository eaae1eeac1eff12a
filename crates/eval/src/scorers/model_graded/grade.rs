//! The grade in a grader's answer.

use std::sync::Arc;

use errorbar_core::{Error, Result, Score};

use super::super::background;
use super::number::NumberReader;
use crate::text::{PythonRegex, is_space, is_word};

/// How the grade is read.
#[derive(Clone, Debug)]
pub(in crate::scorers) enum GradeReader {
    /// The last `GRADE:` decides, by letter or word, and only what the built-in instructions offer is a grade.
    Offered {
        /// Whether P is offered.
        partial: bool,
    },
    /// The last `GRADE:` with a C, P or I behind it: what custom instructions offer is not known.
    AnyLetter,
    /// The first group of the first match.
    Pattern(Arc<PythonRegex>),
    /// A number.
    Number(NumberReader),
}

/// The reason of a score for which no grade was found.
const GRADER_FAILED: &str = "grader_failed";

impl GradeReader {
    /// By a custom regular expression.
    ///
    /// # Errors
    /// One that cannot be read, or that has no group.
    pub(super) fn by_pattern(pattern: &str) -> Result<Self> {
        read_pattern("grade_pattern", pattern, "the grade, as in \"GRADE: (\\w)\"").map(GradeReader::Pattern)
    }

    /// The score in a grader's answer; unscored if it has none.
    ///
    /// # Errors
    /// As [`grade`](Self::grade).
    pub(super) async fn score(&self, text: &str) -> Result<Score> {
        if let GradeReader::Number(reader) = self {
            return reader.score(text).await;
        }
        Ok(match self.grade(text).await? {
            Some(grade) => Score::new(grade).explanation(text),
            None => Score::unscored(GRADER_FAILED)
                .explanation(format!("no grade found in the grader's answer: {text}")),
        })
    }

    /// The grade, if there is one.
    ///
    /// # Errors
    /// An expression that tries too many ways to match, or takes too long.
    async fn grade(&self, text: &str) -> Result<Option<String>> {
        Ok(match self {
            GradeReader::Offered { partial } => offered(grades(text).next(), *partial),
            GradeReader::AnyLetter => grades(text).find_map(any_letter),
            GradeReader::Pattern(regex) => first_group(regex, text).await?,
            GradeReader::Number(reader) => reader.found(text).await?,
        })
    }
}

/// A regular expression with a group.
///
/// # Errors
/// One that cannot be read, or that has no group; `what` is what the group should hold.
pub(super) fn read_pattern(argument: &str, pattern: &str, what: &str) -> Result<Arc<PythonRegex>> {
    let regex =
        PythonRegex::new(pattern, false).map_err(|error| Error::custom(format!("{argument}: {error}")))?;
    if regex.groups() == 0 {
        return Err(Error::custom(format!(
            "{argument}: {pattern:?} has no group; put brackets around what is {what}"
        )));
    }
    Ok(Arc::new(regex))
}

/// What the first group of the first match holds.
pub(super) async fn first_group(regex: &Arc<PythonRegex>, text: &str) -> Result<Option<String>> {
    let (regex, text) = (Arc::clone(regex), text.to_owned());
    background::search(move |budget| {
        let found = regex.search(&text, budget)?;
        Ok(found.and_then(|found| found.get(1)).map(|group| group.as_str().to_owned()))
    })
    .await
}

/// What stands behind each `GRADE:`, the last one first.
fn grades(text: &str) -> impl Iterator<Item = &str> {
    behind_markers(text, "grade", is_spacing)
}

/// What stands behind each marker such as `GRADE:`, the last one first. It is a separate word in any case, and may have
/// spacing on both sides of its colon.
pub(super) fn behind_markers<'t>(
    text: &'t str,
    word: &'static str,
    is_between: fn(char) -> bool,
) -> impl Iterator<Item = &'t str> {
    let windows = text.as_bytes().windows(word.len()).enumerate().rev();
    windows.filter(|(_, window)| window.eq_ignore_ascii_case(word.as_bytes())).filter_map(
        move |(start, _)| {
            let (before, from) = (text.get(..start)?, text.get(start..)?);
            let after = from.get(word.len()..)?;
            let behind = after.trim_start_matches(is_between).strip_prefix(':')?;
            (!before.ends_with(is_word)).then(|| behind.trim_start_matches(is_between))
        },
    )
}

/// White space, and the marks without width that models put between words.
pub(super) fn is_spacing(c: char) -> bool {
    is_space(c) || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{2063}' | '\u{feff}')
}

fn offered(behind: Option<&str>, partial: bool) -> Option<String> {
    let word: String = behind?.chars().take_while(|c| is_word(*c)).collect();
    let grade = match word.to_lowercase().as_str() {
        "correct" => "C".to_owned(),
        "incorrect" => "I".to_owned(),
        "partial" => "P".to_owned(),
        _ => word.to_uppercase(),
    };
    (matches!(grade.as_str(), "C" | "I") || partial && grade == "P").then_some(grade)
}

fn any_letter(behind: &str) -> Option<String> {
    let letter: String = behind.chars().next()?.to_uppercase().collect();
    matches!(letter.as_str(), "C" | "P" | "I").then_some(letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the reference makes of a grader's answer: by default, with partial credit, with custom instructions,
    /// with the pattern `GRADE: (\w+)`. A dash is no grade.
    #[rustfmt::skip] // a table
    const GRADES: &[(&str, [&str; 4])] = &[
        ("GRADE: C", ["C", "C", "C", "C"]),
        ("grade: c", ["C", "C", "C", "-"]),
        ("GRADE:C", ["C", "C", "C", "-"]),
        ("GRADE : C", ["C", "C", "C", "-"]),
        ("Grade: Correct", ["C", "C", "C", "-"]),
        ("GRADE: incorrect", ["I", "I", "I", "incorrect"]),
        ("GRADE: Partial", ["-", "P", "P", "Partial"]),
        ("GRADE: CI", ["-", "-", "C", "CI"]),
        ("GRADE: C.", ["C", "C", "C", "C"]),
        ("GRADE: C or I", ["C", "C", "C", "C"]),
        ("GRADE: I then GRADE: C", ["C", "C", "C", "I"]),
        ("GRADE: C\nthen GRADE: maybe", ["-", "-", "C", "C"]),
        ("GRADE: C\nGRADE:", ["-", "-", "C", "C"]),
        ("downgrade: C", ["-", "-", "-", "-"]),
        ("GRADES: C", ["-", "-", "-", "-"]),
        ("**GRADE: C**", ["C", "C", "C", "C"]),
        ("GRADE: **C**", ["-", "-", "-", "-"]),
        ("GRADE: 'C'", ["-", "-", "-", "-"]),
        ("GRADE: $C", ["-", "-", "-", "-"]),
        ("GRADE:\nC", ["C", "C", "C", "-"]),
        ("GRADE\u{200b}:\u{200b}C", ["C", "C", "C", "-"]),
        ("GRADE: \u{a0}C", ["C", "C", "C", "-"]),
        ("GRADE: P", ["-", "P", "P", "P"]),
        ("GRADE: X", ["-", "-", "-", "X"]),
        ("_GRADE: C", ["-", "-", "-", "C"]),
        ("GRADE: C GRADE: P", ["-", "P", "P", "C"]),
        ("GRADE: Ç", ["-", "-", "-", "Ç"]),
        ("GRADE: I", ["I", "I", "I", "I"]),
        ("the GRADE: C is GRADE: I.", ["I", "I", "I", "C"]),
        ("GRADE=C", ["-", "-", "-", "-"]),
        ("GRADE：C", ["-", "-", "-", "-"]),
        ("[GRADE]: C", ["-", "-", "-", "-"]),
        ("GRADE: correct answer", ["C", "C", "C", "correct"]),
        // Beyond those of the first look: markers in each other, edges of words, letters of other scripts.
        ("GRADE: GRADE: C", ["C", "C", "C", "GRADE"]),
        ("GRADE:GRADE:C", ["C", "C", "C", "-"]),
        ("GRADE: C GRADE: GRADE", ["-", "-", "C", "C"]),
        ("GRADE: C GRADE: GRADE: I", ["I", "I", "I", "C"]),
        ("GRADE: CC GRADE: C", ["C", "C", "C", "CC"]),
        ("GRADE: C GRADE", ["C", "C", "C", "C"]),
        ("GRADE: C, GRADE:: I", ["-", "-", "C", "C"]),
        ("GRADE: C\u{301}", ["C", "C", "C", "C"]),
        ("GRADE: ß", ["-", "-", "-", "ß"]),
        ("GRADE: correctly", ["-", "-", "C", "correctly"]),
        ("GRADE: PARTIAL", ["-", "P", "P", "PARTIAL"]),
        ("GRADE: partially", ["-", "-", "P", "partially"]),
        ("GRADE: 1", ["-", "-", "-", "1"]),
        ("GRADE: ı", ["I", "I", "I", "ı"]),
        ("GRADE\u{2060}:\u{feff}I", ["I", "I", "I", "-"]),
        ("GRADE:\u{200e}\u{200f}I", ["I", "I", "I", "-"]),
        ("GRADE:\u{2063} I", ["I", "I", "I", "-"]),
        ("GRADE\u{2061}:C", ["-", "-", "-", "-"]),
        ("GRADE:\u{ad}C", ["-", "-", "-", "-"]),
        ("GRADE:\u{1c}C", ["C", "C", "C", "-"]),
        ("éGRADE: C", ["-", "-", "-", "C"]),
        ("GRADEé: C", ["-", "-", "-", "-"]),
        ("-GRADE: C", ["C", "C", "C", "C"]),
        ("GRADE\n\n:\n\nC", ["C", "C", "C", "-"]),
        ("GRADE: C_", ["-", "-", "C", "C_"]),
        ("GRADE: C2", ["-", "-", "C", "C2"]),
        ("GRADE: Ⅽ", ["-", "-", "-", "Ⅽ"]),
        ("GRADE\u{301}: C", ["-", "-", "-", "-"]),
        ("", ["-", "-", "-", "-"]),
    ];

    #[tokio::test]
    async fn grades_are_those_of_the_reference() {
        let readings = [
            GradeReader::Offered { partial: false },
            GradeReader::Offered { partial: true },
            GradeReader::AnyLetter,
            GradeReader::by_pattern(r"GRADE: (\w+)").unwrap(),
        ];
        for (text, grades) in GRADES {
            for (reading, wanted) in readings.iter().zip(grades) {
                let found = reading.grade(text).await.unwrap();
                assert_eq!(found.as_deref().unwrap_or("-"), *wanted, "{text:?} {reading:?}");
            }
        }
    }

    #[tokio::test]
    async fn a_group_that_took_no_part_is_no_grade() {
        let reading = GradeReader::by_pattern("GRADE: (C)?(X)?").unwrap();
        assert_eq!(reading.grade("GRADE: X").await.unwrap(), None);
    }
}
