//! The grade in a grader's answer.

use std::sync::Arc;

use errorbar_core::{Error, Result, Score, Value};

use crate::scorers::comparisons::search;
use crate::text::{Marker, PythonRegex, is_space, is_word, markers};

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
    /// An expression that tries too many ways to match, or takes too long.
    pub(super) async fn score(&self, text: &str) -> Result<Score> {
        let grade = match self {
            GradeReader::Number(reader) => return reader.score(text).await,
            GradeReader::Offered { partial } => offered(grades(text).next(), *partial),
            GradeReader::AnyLetter => grades(text).find_map(any_letter),
            GradeReader::Pattern(regex) => first_group(regex, text).await?,
        };
        Ok(match grade {
            Some(grade) => Score::new(grade).explanation(text),
            None => Score::unscored(GRADER_FAILED)
                .explanation(format!("no grade found in the grader's answer: {text}")),
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
    search(move |budget| {
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
    let is_separate =
        move |marker: &Marker| text.get(..marker.start).is_some_and(|before| !before.ends_with(is_word));
    let separate = markers(text, word, is_between).rev().filter(is_separate);
    separate.filter_map(move |marker| Some(text.get(marker.end..)?.trim_start_matches(is_between)))
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

// The number in a grader's answer.

/// The reason of a score whose grader gave no number, or one that is out of range.
const INVALID_FORMAT: &str = "invalid_response_format";

/// How a number is read: the last `SCORE: n` decides, or the first group of a regular expression.
#[derive(Clone, Debug)]
pub(in crate::scorers) struct NumberReader {
    min: f64,
    max: f64,
    pattern: Option<Arc<PythonRegex>>,
}

impl NumberReader {
    /// Reads numbers from `min` to `max`.
    ///
    /// # Errors
    /// A regular expression that cannot be read, or that has no group.
    pub(in crate::scorers) fn new((min, max): (f64, f64), pattern: Option<&str>) -> Result<Self> {
        let read = |pattern| read_pattern("score_pattern", pattern, "the number, as in \"SCORE: (\\d+)\"");
        Ok(NumberReader { min, max, pattern: pattern.map(read).transpose()? })
    }

    /// The number as a score; unscored if there is none from `min` to `max`.
    pub(super) async fn score(&self, text: &str) -> Result<Score> {
        let refused = |problem: String| {
            Score::unscored(INVALID_FORMAT).explanation(format!("{problem} in the grader's answer: {text}"))
        };
        let (found, nothing) = match &self.pattern {
            Some(pattern) => (first_group(pattern, text).await?, "nothing that the score_pattern matches"),
            None => {
                let behind = behind_markers(text, "score", is_decoration).next();
                let line = behind.map(|behind| behind.lines().next().unwrap_or_default().to_owned());
                (line, "no `SCORE: number`")
            }
        };
        let number = found.map_or_else(|| Err(nothing.to_owned()), |found| self.number(&found));
        Ok(number.map_or_else(refused, |value| Score::new(value).explanation(text)))
    }

    /// The number that a string begins with. `7/10` and `7 out of 10` are 7 if the highest score is 10.
    fn number(&self, text: &str) -> Result<Value, String> {
        let no_number = || format!("no number behind `SCORE:`, but {:?}", excerpt(text));
        let text = text.trim_start_matches(|c| is_decoration(c) || "[(\"'$".contains(c));
        let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
        let whole = digits(unsigned);
        let decimals = whole.1.strip_prefix('.').map(digits).filter(|(digits, _)| !digits.is_empty());
        let rest = decimals.map_or(whole.1, |(_, rest)| rest);
        let number = text.strip_suffix(rest).unwrap_or(text);
        if whole.0.is_empty() {
            return Err(no_number());
        }
        let value: f64 = number.parse().map_err(|_| no_number())?;
        if let Some(of) = out_of(rest) {
            let (digits_of, behind) = digits(of);
            let is_max = digits_of.parse::<f64>().is_ok_and(|of| of == self.max);
            if !is_max || is_continued(behind) {
                return Err(format!("a number out of others than {}, {:?},", self.max, excerpt(text)));
            }
        } else if is_continued(rest) {
            return Err(no_number());
        }
        if !(self.min..=self.max).contains(&value) {
            return Err(format!("{value}, which is not from {} to {},", self.min, self.max));
        }
        // A whole number is recorded as one.
        let whole = decimals.is_none().then(|| number.parse::<i64>().ok()).flatten();
        Ok(whole.map_or(Value::Float(value), Value::Int))
    }
}

/// Spacing, and what Markdown puts around words.
fn is_decoration(c: char) -> bool {
    is_spacing(c) || matches!(c, '*' | '_' | '`')
}

/// The digits that a string begins with, and what follows them.
fn digits(text: &str) -> (&str, &str) {
    text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()))
}

/// What stands behind `/` or `out of`.
fn out_of(rest: &str) -> Option<&str> {
    let rest = rest.trim_start_matches(is_decoration);
    let of = rest.strip_prefix('/').or_else(|| rest.strip_prefix("out of"))?;
    Some(of.trim_start_matches(is_decoration))
}

/// Whether what follows digits makes another number of them, or a word: `7,5`, `7-8`, `7%`, `7th`.
fn is_continued(rest: &str) -> bool {
    let mut chars = rest.chars();
    match chars.next() {
        Some('.' | ',' | '-' | '–' | ':' | '/') => chars.next().is_some_and(|c| c.is_ascii_digit()),
        Some(c) => c.is_alphanumeric() || matches!(c, '%' | '‰'),
        None => false,
    }
}

fn excerpt(text: &str) -> String {
    text.chars().take(40).collect()
}

#[cfg(test)]
mod grade_tests {
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
                let found = reading.score(text).await.unwrap();
                let wanted = if *wanted == "-" { Value::Unscored } else { (*wanted).into() };
                assert_eq!(found.value, wanted, "{text:?} {reading:?}");
            }
        }
    }

    #[tokio::test]
    async fn a_group_that_took_no_part_is_no_grade() {
        let reading = GradeReader::by_pattern("GRADE: (C)?(X)?").unwrap();
        assert_eq!(reading.score("GRADE: X").await.unwrap().value, Value::Unscored);
    }
}

#[cfg(test)]
mod number_tests {
    use super::*;

    async fn read(reader: &NumberReader, text: &str) -> Option<Value> {
        let score = reader.score(text).await.unwrap();
        assert_eq!(score.reason.as_deref(), score.is_unscored().then_some(INVALID_FORMAT), "{text}");
        (!score.is_unscored()).then_some(score.value)
    }

    #[tokio::test]
    async fn the_last_number_behind_a_marker_counts() {
        let reader = NumberReader::new((1.0, 10.0), None).unwrap();
        for (text, number) in [
            ("SCORE: 7", Some(Value::Int(7))),
            ("Good.\n\nscore : 7.5\n", Some(Value::Float(7.5))),
            ("**Score:** 8", Some(Value::Int(8))),
            ("**SCORE**: **8**.", Some(Value::Int(8))),
            ("SCORE: [[9]]", Some(Value::Int(9))),
            ("SCORE: 3, then SCORE: 4", Some(Value::Int(4))),
            ("SCORE: 7/10", Some(Value::Int(7))),
            ("SCORE: 7 out of 10.", Some(Value::Int(7))),
            ("SCORE: 10", Some(Value::Int(10))),
            ("SCORE: 7 because", Some(Value::Int(7))),
            ("SCORE: +7", Some(Value::Int(7))),
            // Neither a zero nor a guess.
            ("SCORE: 7/5", None),
            ("SCORE: 11", None),
            ("SCORE: 0", None),
            ("SCORE: -3", None),
            ("SCORE: 7,5", None),
            ("SCORE: 7-8", None),
            ("SCORE: 70%", None),
            ("SCORE: seven", None),
            ("SCORE:", None),
            ("SCORE: 3 SCORE: none", None),
            ("underscore: 5", None),
            ("7", None),
            ("SCORE: 99999999999999999999999", None),
            ("", None),
        ] {
            assert_eq!(read(&reader, text).await, number, "{text:?}");
        }
    }

    #[tokio::test]
    async fn a_pattern_finds_other_numbers() {
        let reader = NumberReader::new((0.0, 1.0), Some(r"rating=(\S+)")).unwrap();
        assert_eq!(read(&reader, "rating=0.25 SCORE: 1").await, Some(Value::Float(0.25)));
        assert_eq!(read(&reader, "rating=2").await, None);
        assert_eq!(read(&reader, "SCORE: 1").await, None);
        assert!(NumberReader::new((0.0, 1.0), Some("rating")).is_err());
    }
}
