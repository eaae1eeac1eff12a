//! When a run stops before its end.

use std::fmt;
use std::str::FromStr;

use errorbar_core::Relation;
use errorbar_core::spec::{Parser, SpecError, expected};

/// When a run stops before its end: as soon as the confidence sequence of a metric shows it.
///
/// ```
/// use errorbar_inference::{RuleMeasure, StopRule};
///
/// let rule: StopRule = "width(accuracy) < 0.04".parse()?;
/// assert_eq!(rule.measure, RuleMeasure::Width { metric: "accuracy".to_owned(), below: 0.04 });
/// let rule: StopRule = "better_than('logs/a, b.eval')".parse()?;
/// assert_eq!(rule.to_string(), r#"better_than("logs/a, b.eval")"#);
/// let error = "width(accuracy) > 0.04".parse::<StopRule>().unwrap_err();
/// assert_eq!(error.to_string(), "expected `<`, found `>` at column 17");
/// # Ok::<(), errorbar_core::spec::SpecError>(())
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

/// What rules look like.
const FORMS: &str = "width(METRIC) < W, decided(METRIC, VALUE), better_than(LOG) or worse_than(LOG)";

impl FromStr for StopRule {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        Parser::whole(text, rule)
    }
}

fn rule(parser: &mut Parser<'_>) -> Result<StopRule, SpecError> {
    let start = parser.skip_blanks();
    if !parser.at_word() {
        return Err(parser.expected(FORMS));
    }
    let word = parser.word()?.text;
    let read: fn(&mut Parser<'_>, &str) -> Result<RuleMeasure, SpecError> = match word.as_str() {
        "width" => width,
        "decided" => decided,
        "better_than" | "worse_than" => against,
        _ => return Err(parser.error_at(start, expected(FORMS, format!("the unknown rule `{word}`")))),
    };
    take(parser, '(')?;
    Ok(StopRule { measure: read(parser, &word)? })
}

fn width(parser: &mut Parser<'_>, _: &str) -> Result<RuleMeasure, SpecError> {
    let metric = metric(parser)?;
    take(parser, ')')?;
    let start = parser.skip_blanks();
    if parser.relation()? != Relation::Below {
        return Err(parser.error_at(start, expected("`<`", format!("`{}`", parser.since(start)))));
    }
    let start = parser.skip_blanks();
    match parser.limit()? {
        below if below > 0.0 => Ok(RuleMeasure::Width { metric, below }),
        below => Err(parser.error_at(start, expected("a width above 0", below.to_string()))),
    }
}

fn decided(parser: &mut Parser<'_>, _: &str) -> Result<RuleMeasure, SpecError> {
    let metric = metric(parser)?;
    take(parser, ',')?;
    let value = parser.limit()?;
    take(parser, ')')?;
    Ok(RuleMeasure::Decided { metric, value })
}

fn against(parser: &mut Parser<'_>, word: &str) -> Result<RuleMeasure, SpecError> {
    let log = log(parser)?;
    let metric = if parser.eat(',') { Some(metric(parser)?) } else { None };
    take(parser, ')')?;
    Ok(match word {
        "better_than" => RuleMeasure::BetterThan { log, metric },
        _ => RuleMeasure::WorseThan { log, metric },
    })
}

fn take(parser: &mut Parser<'_>, sign: char) -> Result<(), SpecError> {
    if parser.eat(sign) { Ok(()) } else { Err(parser.expected(&format!("'{sign}'"))) }
}

/// The name of a mean over all samples.
fn metric(parser: &mut Parser<'_>) -> Result<String, SpecError> {
    let start = parser.skip_blanks();
    let path = parser.figure_path()?;
    if !path.is_over_all_samples() {
        let found = format!("`{}`", parser.since(start));
        return Err(parser.error_at(start, expected("a metric over all samples, such as `accuracy`", found)));
    }
    Ok(path.names().join("/"))
}

/// A path, in quotes if it has a comma or a bracket.
fn log(parser: &mut Parser<'_>) -> Result<String, SpecError> {
    let start = parser.skip_blanks();
    let path = if matches!(parser.next_char(), Some('"' | '\'')) {
        parser.quoted("log")?
    } else {
        let rest = parser.rest();
        let path = rest.get(..rest.find([',', ')']).unwrap_or(rest.len())).unwrap_or_default();
        parser.advance(path.len());
        path.trim_end().to_owned()
    };
    if path.is_empty() {
        return Err(parser.error_at(start, expected("a log", "none".to_owned())));
    }
    Ok(path)
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
        let place = |text: &str| {
            let error = text.parse::<StopRule>().unwrap_err();
            text.get(error.offset().unwrap()..).unwrap().to_owned()
        };
        assert_eq!(place("widht(accuracy) < 1"), "widht(accuracy) < 1");
        assert_eq!(place("width accuracy"), "accuracy");
        assert_eq!(place("width() < 1"), ") < 1");
        assert_eq!(place("width(accuracy) <= 0.1"), "<= 0.1");
        assert_eq!(place("width(accuracy) < wide"), "wide");
        assert_eq!(place("width(accuracy) < -0.1"), "-0.1");
        assert_eq!(place("width(accuracy) < nan"), "nan");
        assert_eq!(place("width(accuracy[topic=law]) < 1"), "accuracy[topic=law]) < 1");
        assert_eq!(place("width(accuracy, 3) < 1"), ", 3) < 1");
        assert_eq!(place("decided(accuracy)"), ")");
        assert_eq!(place("decided(accuracy, inf)"), "inf)");
        assert_eq!(place("decided(accuracy, 0.5) or width(accuracy) < 1"), "or width(accuracy) < 1");
        assert_eq!(place("better_than('a.eval)"), "'a.eval)");
        assert_eq!(place("better_than('')"), "'')");
        assert_eq!(place("better_than("), "");
        let wrong = "width(é) < x".parse::<StopRule>().unwrap_err().to_string();
        assert!(wrong.ends_with(" at column 12"), "in characters: {wrong}");
        assert_eq!(
            "".parse::<StopRule>().unwrap_err().to_string(),
            format!("expected {FORMS}, found the end of the input at column 1")
        );
    }
}
