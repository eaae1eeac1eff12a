//! When a run stops before its end.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

/// When a run stops before its end: as soon as the confidence sequence of a metric shows it.
///
/// ```
/// use errorbar_core::{RuleMeasure, StopRule};
///
/// let rule: StopRule = "width(accuracy) < 0.04".parse()?;
/// assert_eq!(rule.measure, RuleMeasure::Width { metric: "accuracy".to_owned(), below: 0.04 });
/// let rule: StopRule = "better_than('logs/a, b.eval')".parse()?;
/// assert_eq!(rule.to_string(), r#"better_than("logs/a, b.eval")"#);
/// let error = "width(accuracy) > 0.04".parse::<StopRule>().unwrap_err();
/// assert_eq!(error.to_string(), "expected `<`, found `> 0.04` at column 17");
/// # Ok::<(), errorbar_core::RuleError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct StopRule {
    /// What is looked at.
    pub measure: RuleMeasure,
}

/// What a rule looks at.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum RuleMeasure {
    /// The interval is narrower than this.
    Width {
        /// The metric: `accuracy`, `scorer/accuracy` or `scorer/accuracy/reducer`.
        metric: String,
        /// The width.
        below: f64,
    },
    /// The interval lies on one side of a value.
    Decided {
        /// The metric.
        metric: String,
        /// The value.
        value: f64,
    },
    /// The interval of the difference to a finished log, sample by sample, lies above 0.
    BetterThan {
        /// The log.
        log: String,
        /// The metric; that of the headline if unset.
        metric: Option<String>,
    },
    /// The same below 0.
    WorseThan {
        /// The log.
        log: String,
        /// The metric; that of the headline if unset.
        metric: Option<String>,
    },
}

impl RuleMeasure {
    /// The metric that it names.
    pub fn metric(&self) -> Option<&str> {
        match self {
            RuleMeasure::Width { metric, .. } | RuleMeasure::Decided { metric, .. } => Some(metric),
            RuleMeasure::BetterThan { metric, .. } | RuleMeasure::WorseThan { metric, .. } => {
                metric.as_deref()
            }
        }
    }

    /// The log that it compares with.
    pub fn log(&self) -> Option<&str> {
        match self {
            RuleMeasure::BetterThan { log, .. } | RuleMeasure::WorseThan { log, .. } => Some(log),
            _ => None,
        }
    }
}

/// What is wrong with a rule, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RuleError {
    /// What is wrong.
    pub problem: String,
    /// The place in the text, in bytes.
    pub span: Range<usize>,
    /// The column, from 1, in characters.
    pub column: usize,
}

impl RuleError {
    /// What rules look like.
    pub const FORMS: &'static str =
        "width(METRIC) < W, decided(METRIC, VALUE), better_than(LOG) or worse_than(LOG)";
}

impl fmt::Display for RuleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at column {}", self.problem, self.column)
    }
}

impl std::error::Error for RuleError {}

/// Text that a rule is read from.
struct Reader<'t> {
    text: &'t str,
    at: usize,
}

/// The longest part of the text that an error shows.
const SHOWN: usize = 30;

impl<'t> Reader<'t> {
    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn skip_space(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    fn error(&self, problem: String, span: Range<usize>) -> RuleError {
        let column = self.text.get(..span.start).unwrap_or(self.text).chars().count() + 1;
        RuleError { problem, span, column }
    }

    /// Another thing was expected here.
    fn expected(&self, what: &str) -> RuleError {
        let found = self.rest().trim_end();
        let shown: String = found.chars().take(SHOWN).collect();
        let problem = match shown.is_empty() {
            true => format!("expected {what}, found the end"),
            false => format!("expected {what}, found `{shown}`"),
        };
        self.error(problem, self.at..self.at + found.len())
    }

    fn take(&mut self, sign: char) -> Result<(), RuleError> {
        self.skip_space();
        if !self.rest().starts_with(sign) {
            return Err(self.expected(&format!("`{sign}`")));
        }
        self.at += sign.len_utf8();
        Ok(())
    }

    /// The text up to one of these characters, without spaces around it; and where it is.
    fn until(&mut self, ends: &[char], what: &str) -> Result<(&'t str, Range<usize>), RuleError> {
        self.skip_space();
        let rest = self.rest();
        let text = rest.get(..rest.find(ends).unwrap_or(rest.len())).unwrap_or_default().trim_end();
        if text.is_empty() {
            return Err(self.expected(what));
        }
        let start = self.at;
        self.at += text.len();
        Ok((text, start..self.at))
    }

    fn number(&mut self, ends: &[char], what: &str) -> Result<(f64, Range<usize>), RuleError> {
        let (text, span) = self.until(ends, what)?;
        match text.parse::<f64>() {
            Ok(number) if number.is_finite() => Ok((number, span)),
            _ => Err(self.error(format!("expected {what}, found `{text}`"), span)),
        }
    }

    /// A path, in quotes if it has a comma or a bracket.
    fn path(&mut self) -> Result<&'t str, RuleError> {
        const WHAT: &str = "a log";
        self.skip_space();
        let Some(quote) = self.rest().chars().next().filter(|first| matches!(first, '"' | '\'')) else {
            return self.until(&[',', ')'], WHAT).map(|(path, _)| path);
        };
        let opening = self.at;
        self.at += 1;
        let rest = self.rest();
        let Some(end) = rest.find(quote) else {
            let problem = format!("the quote {quote} is not closed");
            return Err(self.error(problem, opening..self.text.len()));
        };
        self.at += end + 1;
        match rest.get(..end) {
            Some(path) if !path.is_empty() => Ok(path),
            _ => Err(self.error(format!("expected {WHAT}, found an empty string"), opening..self.at)),
        }
    }
}

const METRIC: &str = "a metric such as `accuracy`";

impl FromStr for StopRule {
    type Err = RuleError;

    fn from_str(text: &str) -> Result<Self, RuleError> {
        let mut reader = Reader { text, at: 0 };
        reader.skip_space();
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let start = reader.at;
        let word: &str = reader.rest().split(|c| !is_word(c)).next().unwrap_or_default();
        let is_known = ["width", "decided", "better_than", "worse_than"].contains(&word);
        if !is_known {
            return Err(match word.is_empty() {
                true => reader.expected(RuleError::FORMS),
                false => {
                    let problem = format!("expected {}, found the unknown rule `{word}`", RuleError::FORMS);
                    reader.error(problem, start..start + word.len())
                }
            });
        }
        reader.at += word.len();
        reader.take('(')?;
        let measure = match word {
            "width" => {
                let metric = reader.until(&[',', ')'], METRIC)?.0.to_owned();
                reader.take(')')?;
                reader.take('<')?;
                let (below, span) = reader.number(&[], "a number such as 0.04")?;
                if below <= 0.0 {
                    return Err(reader.error(format!("a width is above 0, found {below}"), span));
                }
                RuleMeasure::Width { metric, below }
            }
            "decided" => {
                let metric = reader.until(&[',', ')'], METRIC)?.0.to_owned();
                reader.take(',')?;
                let (value, _) = reader.number(&[')'], "a number such as 0.5")?;
                reader.take(')')?;
                RuleMeasure::Decided { metric, value }
            }
            word => {
                let log = reader.path()?.to_owned();
                reader.skip_space();
                let metric = match reader.rest().starts_with(',') {
                    true => {
                        reader.take(',')?;
                        Some(reader.until(&[')'], METRIC)?.0.to_owned())
                    }
                    false => None,
                };
                reader.take(')')?;
                match word {
                    "better_than" => RuleMeasure::BetterThan { log, metric },
                    _ => RuleMeasure::WorseThan { log, metric },
                }
            }
        };
        reader.skip_space();
        match reader.rest().is_empty() {
            true => Ok(StopRule { measure }),
            false => Err(reader.expected("the end of the rule")),
        }
    }
}

impl fmt::Display for StopRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, log, metric) = match &self.measure {
            RuleMeasure::Width { metric, below } => return write!(f, "width({metric}) < {below}"),
            RuleMeasure::Decided { metric, value } => return write!(f, "decided({metric}, {value})"),
            RuleMeasure::BetterThan { log, metric } => ("better_than", log, metric),
            RuleMeasure::WorseThan { log, metric } => ("worse_than", log, metric),
        };
        let is_plain = !log.starts_with(['"', '\'', ' ']) && !log.contains([',', ')']) && !log.ends_with(' ');
        write!(f, "{name}(")?;
        match (is_plain, log.contains('"')) {
            (true, _) => f.write_str(log)?,
            (false, true) => write!(f, "'{log}'")?,
            (false, false) => write!(f, "\"{log}\"")?,
        }
        if let Some(metric) = metric {
            write!(f, ", {metric}")?;
        }
        f.write_str(")")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> RuleMeasure {
        text.parse::<StopRule>().unwrap().measure
    }

    #[test]
    fn rules_are_read_and_written() {
        let written = |text: &str| text.parse::<StopRule>().unwrap().to_string();
        for text in [
            "width(accuracy) < 0.04",
            "width(match/mean/max) < 2",
            "decided(accuracy, 0.5)",
            "decided(mean, -1.5)",
            "better_than(logs/a.eval)",
            "worse_than(logs/a b.eval, accuracy)",
            "better_than(\"a,b.eval\", match/accuracy)",
            "better_than('a),\".eval')",
        ] {
            assert_eq!(written(text), text);
        }
        assert_eq!(written("  width ( accuracy )<0.04 "), "width(accuracy) < 0.04");
        assert_eq!(written("better_than( \"logs/a.eval\" )"), "better_than(logs/a.eval)");
        let log = || "it's.eval".to_owned();
        assert_eq!(parsed("better_than(it's.eval)"), RuleMeasure::BetterThan { log: log(), metric: None });
        assert_eq!(parsed("worse_than(\"it's.eval\")"), RuleMeasure::WorseThan { log: log(), metric: None });
    }

    #[test]
    fn mistakes_are_pointed_at() {
        let mistake = |text: &str| {
            let error = text.parse::<StopRule>().unwrap_err();
            (text.get(error.span.clone()).unwrap().to_owned(), error.problem)
        };
        let place = |text: &str| mistake(text).0;
        assert_eq!(place("widht(accuracy) < 1"), "widht");
        assert_eq!(place("width accuracy"), "accuracy");
        assert_eq!(place("width() < 1"), ") < 1");
        assert_eq!(place("width(accuracy) <= 0.1"), "= 0.1");
        assert_eq!(place("width(accuracy) < wide"), "wide");
        assert_eq!(place("width(accuracy) < -0.1"), "-0.1");
        assert_eq!(place("width(accuracy) < nan"), "nan");
        assert_eq!(place("width(accuracy, 3) < 1"), ", 3) < 1");
        assert_eq!(place("decided(accuracy)"), ")");
        assert_eq!(place("decided(accuracy, inf)"), "inf");
        assert_eq!(place("decided(accuracy, 0.5) or width(accuracy) < 1"), "or width(accuracy) < 1");
        assert_eq!(place("better_than('a.eval)"), "'a.eval)");
        assert_eq!(place("better_than('')"), "''");
        assert_eq!(place("better_than("), "");
        assert_eq!(mistake("").1, format!("expected {}, found the end", RuleError::FORMS));
        let error = "width(é) < x".parse::<StopRule>().unwrap_err();
        assert_eq!(error.column, 12, "in characters");
    }
}
