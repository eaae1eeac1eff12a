//! The number in a grader's answer.

use std::sync::Arc;

use errorbar_core::{Result, Score, Value};

use super::grade::{behind_markers, first_group, is_spacing, read_pattern};
use crate::text::PythonRegex;

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
        let Some(found) = self.found(text).await? else {
            let wanted = match self.pattern {
                None => "no `SCORE: number`",
                Some(_) => "nothing that the score_pattern matches",
            };
            return Ok(refused(wanted.to_owned()));
        };
        Ok(match self.number(&found) {
            Ok(value) => Score::new(value).explanation(text),
            Err(problem) => refused(problem),
        })
    }

    /// What stands where the number should.
    pub(super) async fn found(&self, text: &str) -> Result<Option<String>> {
        match &self.pattern {
            Some(pattern) => first_group(pattern, text).await,
            None => {
                let behind = behind_markers(text, "score", is_decoration).next();
                Ok(behind.map(|behind| behind.lines().next().unwrap_or_default().to_owned()))
            }
        }
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
mod tests {
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
