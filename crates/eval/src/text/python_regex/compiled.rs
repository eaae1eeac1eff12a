//! An expression that is ready to search.

use fancy_regex::{Captures, DebugRegex, Regex, RegexBuilder, RegexInput};

use super::budget::{BudgetError, SearchBudget};
use super::{global_flags, is_plain, translate};
use crate::text::TextError;

/// How many ways of matching are tried at one place before an expression is given up.
const STEPS: usize = 1_000_000;

/// The largest expression without groups, compiled; the default of the engine.
const MAX_SIZE: usize = 10 << 20;

/// An expression in the syntax of Python's `re` that is ready to search.
#[derive(Debug, Clone)]
pub(crate) struct PythonRegex {
    source: String,
    exact: Engine,
    on_plain_text: Option<Engine>,
}

/// An expression in the engine's syntax.
#[derive(Debug, Clone)]
struct Engine {
    regex: Regex,
    /// Whether the time of a search grows with the length of the text, and no faster.
    is_linear: bool,
}

impl Engine {
    fn new(pattern: &str) -> Result<Self, fancy_regex::Error> {
        // Every state of the engine may hold a place for each group, so with many groups fewer states fit.
        let groups = pattern.matches('(').count() - pattern.matches("(?:").count();
        let size = MAX_SIZE / (1 + groups / 10);
        let regex = RegexBuilder::new(pattern).backtrack_limit(STEPS).delegate_size_limit(size).build()?;
        // The engine hands expressions without look-around and back-references to one that is linear. It shows which
        // in no other way; a test holds it to this one.
        let is_linear = DebugRegex(&regex).to_string().starts_with("wrapped Regex");
        Ok(Engine { regex, is_linear })
    }

    /// The first match in a text.
    ///
    /// The engine counts the ways that it tries, but not how much of the text a single one reads, so an expression with
    /// look-around takes a time that is quadratic. It cannot be stopped; so it is run at one position after the other.
    fn search<'t>(
        &self,
        text: &'t str,
        from: usize,
        budget: &SearchBudget,
    ) -> Result<Option<Captures<'t, str>>, SearchFailure> {
        if self.is_linear {
            return self.regex.captures_from_pos(text, from).map_err(|_| SearchFailure::TooManySteps);
        }
        let places = text.char_indices().map(|(place, _)| place).chain([text.len()]);
        for place in places.filter(|place| *place >= from) {
            budget.check().map_err(SearchFailure::Budget)?;
            let input = RegexInput::new(text).from_pos(place).anchored(true);
            let found = self.regex.captures_input(input).map_err(|_| SearchFailure::TooManySteps)?;
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }
}

/// Why a search has no result.
enum SearchFailure {
    TooManySteps,
    Budget(BudgetError),
}

impl PythonRegex {
    /// Reads an expression.
    ///
    /// # Errors
    /// One that cannot be read.
    pub(crate) fn new(pattern: &str, ignore_case: bool) -> Result<Self, TextError> {
        let refused = |problem: String| TextError::Pattern { pattern: pattern.to_owned(), problem };
        let translated = translate(pattern, ignore_case).map_err(refused)?;
        let build = |regex: &str| Engine::new(regex).map_err(|error| refused(error.to_string()));
        let exact = build(&translated.exact)?;
        let on_plain_text = translated.on_plain_text.as_deref().map(build).transpose()?;
        Ok(PythonRegex { source: pattern.to_owned(), exact, on_plain_text })
    }

    fn engine(&self, text: &str) -> &Engine {
        self.on_plain_text.as_ref().filter(|_| is_plain(text)).unwrap_or(&self.exact)
    }

    /// Whether a search in this text takes a time that grows with its length, and no faster.
    pub(crate) fn is_linear(&self, text: &str) -> bool {
        self.engine(text).is_linear
    }

    /// The first match in a text.
    ///
    /// # Errors
    /// An expression that tries too many ways to match, or takes longer than the budget allows.
    pub(crate) fn search<'t>(
        &self,
        text: &'t str,
        budget: &SearchBudget,
    ) -> Result<Option<Captures<'t, str>>, TextError> {
        self.search_from(text, 0, budget)
    }

    /// The first match that starts at this place or behind it; what stands before the place counts as context.
    ///
    /// # Errors
    /// As [`search`](PythonRegex::search).
    pub(crate) fn search_from<'t>(
        &self,
        text: &'t str,
        from: usize,
        budget: &SearchBudget,
    ) -> Result<Option<Captures<'t, str>>, TextError> {
        let (pattern, bytes) = (|| self.source.clone(), text.len());
        self.engine(text).search(text, from, budget).map_err(|failure| match failure {
            SearchFailure::TooManySteps => TextError::TooManySteps { pattern: pattern(), bytes },
            SearchFailure::Budget(BudgetError::Time(limit)) => {
                TextError::TooSlow { pattern: pattern(), bytes, seconds: limit.as_secs_f64().to_string() }
            }
            SearchFailure::Budget(BudgetError::Stopped) => TextError::Stopped { pattern: pattern() },
        })
    }

    /// The same expression for whole texts; none if that cannot be known from the part that is searched: it looks at what
    /// stands around it.
    pub(crate) fn of_whole_text(&self, ignore_case: bool) -> Option<PythonRegex> {
        let (flags, rest) = global_flags(&self.source).ok()?;
        let looks_around = [r"\b", r"\B", "(?=", "(?!", "(?<"].iter().any(|part| self.source.contains(part));
        if looks_around || flags.contains('x') {
            return None;
        }
        let flags = if flags.is_empty() { String::new() } else { format!("(?{flags})") };
        PythonRegex::new(&format!(r"{flags}\A(?:{rest})\Z"), ignore_case).ok()
    }

    /// How many groups it has, the whole match not counted.
    pub(crate) fn groups(&self) -> usize {
        self.exact.regex.captures_len().saturating_sub(1)
    }

    /// Whether it has a group of this name.
    pub(crate) fn has_group(&self, name: &str) -> bool {
        self.exact.regex.capture_names().flatten().any(|known| known == name)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn only_expressions_that_look_around_are_searched_place_by_place() {
        for (pattern, is_linear) in [
            (r"ANSWER: (\w+)", true),
            (r"^(?:a|b)*?\b[^x]{2,5}$", true),
            (r"(?=.*foo)bar", false),
            (r"(?<!x)a.*", false),
            (r"(a)\1", false),
        ] {
            assert_eq!(PythonRegex::new(pattern, true).unwrap().is_linear("abc"), is_linear, "{pattern}");
        }
    }

    #[test]
    fn place_by_place_the_first_match_is_that_of_the_engine() {
        let texts =
            ["", "é", "aab", "xaab xab", "ANSWER: é\nANSWER: b\n", "foo bar\nbar foo", "日本 a\u{301}b"];
        for pattern in [
            r"(?=.*b)a",
            r"(?<!a)a(b?)",
            r"(.)\1",
            r"(?<=: )(\w)",
            r"(?!x)",
            r"(?=z)",
            r"\w+(?=\s*$)",
            r"(a|(b))(?!b)",
        ] {
            let searched = PythonRegex::new(pattern, false).unwrap();
            for text in texts {
                let whole = searched.engine(text).regex.captures(text).unwrap();
                let found = searched.search(text, &SearchBudget::default()).unwrap();
                let groups = |found: Option<Captures<'_, str>>| {
                    found.map(|found| {
                        found.iter().map(|group| group.map(|group| group.range())).collect::<Vec<_>>()
                    })
                };
                assert_eq!(groups(found), groups(whole), "{pattern} in {text:?}");
            }
        }
    }

    #[test]
    fn many_groups_leave_less_room() {
        PythonRegex::new(&"(a)?".repeat(100), false).unwrap();
        PythonRegex::new(&"(?:a)?".repeat(5_000), false).unwrap();
        assert!(PythonRegex::new(&"(a)?".repeat(5_000), false).is_err());
    }

    #[test]
    fn a_search_ends_with_its_time_or_when_it_is_stopped() {
        // All of it would take hours.
        let (regex, text) = (PythonRegex::new("(?=.*foo)bar", true).unwrap(), "a".repeat(4 << 20));
        let pattern = "(?=.*foo)bar".to_owned();
        assert_eq!(
            regex.search(&text, &SearchBudget::new(Duration::from_millis(20))).unwrap_err(),
            TextError::TooSlow { pattern, bytes: 4 << 20, seconds: "0.02".to_owned() }
        );
        let budget = SearchBudget::default();
        budget.stop();
        assert_eq!(
            regex.search(&text, &budget).unwrap_err(),
            TextError::Stopped { pattern: "(?=.*foo)bar".to_owned() }
        );
    }
}
