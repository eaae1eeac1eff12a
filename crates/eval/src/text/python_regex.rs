//! Regular expressions in the syntax of Python's `re`, rewritten for the engine that runs them.
//!
//! The two agree on most of it. What differs: `$` and `\Z`, the words that `\w`, `\s` and `\b` know, brackets
//! and operators inside a class, braces that are no repetition, octal and Unicode escapes, comments, and how
//! flags are given.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use errorbar_core::Error;
use fancy_regex::{Captures, DebugRegex, Regex, RegexBuilder, RegexInput};

use super::words::is_word;

/// The members of the set that a letter stands for, and whether it stands for all others.
///
/// Letters, digits of every kind and the underscore make a word (the engine's own `\w` also has combining
/// marks); blanks are white space and the four separators of ASCII.
fn set(letter: char, ascii: bool) -> Option<(&'static str, bool)> {
    let members = match (letter.to_ascii_lowercase(), ascii) {
        ('d', false) => r"\d",
        ('d', true) => "0-9",
        ('w', false) => r"\p{L}\p{N}_",
        ('w', true) => "0-9A-Za-z_",
        ('s', false) => r"\s\x1c-\x1f",
        ('s', true) => r"\t-\r\x20",
        _ => return None,
    };
    Some((members, letter.is_ascii_uppercase()))
}

/// Whether the engine and Python agree on where the words of a text end, and `$` can only mean its very end.
/// They disagree about marks, joiners and some numbers; these are the letters and signs without any, in which
/// most texts are written.
fn is_plain(text: &str) -> bool {
    let plain = |c: char| {
        c.is_ascii()
            || matches!(c,
                'À'..='ɏ' | 'Α'..='ҁ' | '‐'..='‧' | '€' | 'ぁ'..='ゖ' | 'ァ'..='ヺ' | '一'..='鿿' | '가'..='힣')
    };
    !text.ends_with('\n') && (text.is_ascii() || text.chars().all(plain))
}

/// The expression in the engine's syntax, or what is wrong with it: one that means what Python means on every text, or one
/// that does so on plain text ([`is_plain`]) and needs no looking around for it, which is many times as fast.
fn translate(pattern: &str, ignore_case: bool, plain_text: bool) -> Result<String, String> {
    let mut flags = Flags { ignore_case, ..Flags::default() };
    let (given, rest) = global_flags(pattern);
    flags.apply(&given, true)?;
    let out = if flags.ignore_case { "(?i)" } else { "(?-i)" }.to_owned();
    let mut translator =
        Translator { rest, out, flags, open: Vec::new(), groups: 0, names: Vec::new(), plain_text };
    translator.all()?;
    Ok(translator.out)
}

/// What is on at some place of an expression.
#[derive(Clone, Copy, Default)]
struct Flags {
    ignore_case: bool,
    multi_line: bool,
    dot_all: bool,
    verbose: bool,
    ascii: bool,
}

impl Flags {
    fn apply(&mut self, letters: &str, on: bool) -> Result<(), String> {
        for letter in letters.chars() {
            match letter {
                'i' => self.ignore_case = on,
                'm' => self.multi_line = on,
                's' => self.dot_all = on,
                'x' => self.verbose = on,
                'a' => self.ascii = on,
                'u' => self.ascii = false,
                _ => return Err(format!("unknown flag {letter:?}")),
            }
        }
        Ok(())
    }
}

/// The letters of groups such as `(?im)` at the very begin, and what follows them.
fn global_flags(mut pattern: &str) -> (String, &str) {
    let mut letters = String::new();
    while let Some((given, rest)) = pattern.strip_prefix("(?").and_then(|flags| flags.split_once(')')) {
        if given.is_empty() || !given.bytes().all(|b| b.is_ascii_alphabetic()) {
            break;
        }
        letters.push_str(given);
        pattern = rest;
    }
    (letters, pattern)
}

struct Translator<'a> {
    /// What is not read yet.
    rest: &'a str,
    out: String,
    flags: Flags,
    /// The flags to return to when each open group closes.
    open: Vec<Flags>,
    /// How many groups capture so far.
    groups: u32,
    /// The names of groups so far.
    names: Vec<&'a str>,
    /// Only plain text will be searched.
    plain_text: bool,
}

impl<'a> Translator<'a> {
    fn all(&mut self) -> Result<(), String> {
        while let Some(c) = self.next() {
            match c {
                '\\' => self.escape()?,
                '[' => self.class()?,
                '(' => self.group()?,
                ')' => {
                    self.flags = self.open.pop().ok_or("a closing bracket without an opening one")?;
                    self.out.push(')');
                }
                '{' => self.brace()?,
                '}' => self.out.push_str(r"\}"),
                '.' => self.out.push_str(if self.flags.dot_all { "(?s:.)" } else { "." }),
                '^' => self.out.push_str(if self.flags.multi_line { "(?m:^)" } else { r"\A" }),
                '$' if self.flags.multi_line => self.out.push_str("(?m:$)"),
                // The end, or just before a line break that ends the text.
                '$' => self.out.push_str(if self.plain_text { r"\z" } else { r"(?=\n?\z)" }),
                _ if self.flags.verbose && c.is_ascii_whitespace() => {}
                '#' if self.flags.verbose => while self.next().is_some_and(|c| c != '\n') {},
                '*' | '+' | '?' | '|' => self.out.push(c),
                _ => self.literal(c),
            }
        }
        match self.open.is_empty() {
            true => Ok(()),
            false => Err("an opening bracket without a closing one".to_owned()),
        }
    }

    fn next(&mut self) -> Option<char> {
        self.next_if(|_| true)
    }

    fn next_if(&mut self, is_wanted: impl FnOnce(char) -> bool) -> Option<char> {
        let mut chars = self.rest.chars();
        let next = chars.next().filter(|c| is_wanted(*c))?;
        self.rest = chars.as_str();
        Some(next)
    }

    fn eat(&mut self, wanted: &str) -> bool {
        let rest = self.rest.strip_prefix(wanted);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    /// A character that stands for itself.
    fn literal(&mut self, c: char) {
        self.out.push_str(&fancy_regex::escape(c.encode_utf8(&mut [0; 4])));
    }

    fn escape(&mut self) -> Result<(), String> {
        let c = self.next().ok_or("a backslash at the end")?;
        if let Some((members, is_negated)) = set(c, self.flags.ascii) {
            self.out.push_str(&format!("[{}{members}]", if is_negated { "^" } else { "" }));
            return Ok(());
        }
        let (word, _) = set('w', self.flags.ascii).unwrap_or_default();
        match c {
            'A' => self.out.push_str(r"\A"),
            'Z' => self.out.push_str(r"\z"),
            'b' | 'B' if self.plain_text && !self.flags.ascii => self.out.extend(['\\', c]),
            'b' => self.out.push_str(&format!("(?:(?<=[{word}])(?![{word}])|(?<![{word}])(?=[{word}]))")),
            'B' => self.out.push_str(&format!("(?:(?<=[{word}])(?=[{word}])|(?<![{word}])(?![{word}]))")),
            '1'..='9' => self.reference(c)?,
            _ => {
                let escaped = self.escaped_char(c)?;
                self.literal(escaped);
            }
        }
        Ok(())
    }

    /// A reference to a group, or a character in octal: `\1`, `\12`, `\101`.
    fn reference(&mut self, first: char) -> Result<(), String> {
        let octal = self.rest.get(..2).and_then(|more| from_digits(&format!("{first}{more}"), 8));
        if let Some(c) = octal {
            self.rest = self.rest.get(2..).unwrap_or_default();
            self.literal(c);
            return Ok(());
        }
        let mut number = String::from(first);
        number.extend(self.next_if(|c| c.is_ascii_digit()));
        if number.parse::<u32>().is_ok_and(|number| number > self.groups) {
            return Err(format!("there is no group {number} before \\{number}"));
        }
        // In its own group, so that a digit behind it is not read as part of it.
        self.out.push_str(&format!("(?:\\{number})"));
        Ok(())
    }

    /// The one character that an escape stands for.
    fn escaped_char(&mut self, c: char) -> Result<char, String> {
        Ok(match c {
            'a' => '\x07',
            'f' => '\x0c',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'v' => '\x0b',
            'x' => self.hex(2)?,
            'u' => self.hex(4)?,
            'U' => self.hex(8)?,
            '0' => self.octal('0').unwrap_or('\0'),
            _ if c.is_ascii_alphanumeric() => return Err(format!("invalid escape sequence \\{c}")),
            _ => c,
        })
    }

    /// The character of up to three octal digits, the first of which is read.
    fn octal(&mut self, first: char) -> Option<char> {
        let mut digits = String::from(first);
        for _ in 0..2 {
            digits.extend(self.next_if(|c| c.is_digit(8)));
        }
        from_digits(&digits, 8)
    }

    fn hex(&mut self, length: usize) -> Result<char, String> {
        let c = self.rest.get(..length).and_then(|digits| from_digits(digits, 16));
        self.rest = self.rest.get(length..).unwrap_or_default();
        c.ok_or_else(|| format!("an escape that wants {length} hexadecimal digits"))
    }

    /// A repetition such as `{2,5}`, or a brace that stands for itself.
    fn brace(&mut self) -> Result<(), String> {
        let is_count = |c: char| c.is_ascii_digit() || c == ',';
        let counts = self.rest.split_once('}').filter(|(counts, _)| {
            !counts.is_empty() && counts.chars().all(is_count) && counts.matches(',').count() < 2
        });
        let Some((counts, rest)) = counts else {
            self.out.push_str(r"\{");
            return Ok(());
        };
        let (low, high) = counts.split_once(',').unwrap_or((counts, counts));
        let zero = if low.is_empty() { "0" } else { "" };
        let most = if high.is_empty() { Some(u32::MAX) } else { high.parse().ok() };
        if low.parse().ok() > most {
            return Err(format!("the repetition {{{counts}}} has a minimum above its maximum"));
        }
        self.out.push_str(&format!("{{{zero}{counts}}}"));
        self.rest = rest;
        Ok(())
    }

    /// What stands behind an opening bracket, which determines the kind of group.
    fn group(&mut self) -> Result<(), String> {
        const SAME: [&str; 6] = ["?:", "?=", "?!", "?>", "?<=", "?<!"];
        let flags = self.flags;
        if let Some(kind) = SAME.into_iter().find(|kind| self.eat(kind)) {
            self.out.extend(["(", kind]);
        } else if self.eat("?P<") {
            let name = self.new_name()?;
            self.out.push_str(&format!("(?P<{name}>"));
            self.names.push(name);
            self.groups += 1;
        } else if self.eat("?P=") {
            let name = self.until(')')?;
            if !self.names.contains(&name) {
                return Err(format!("there is no group {name:?} before (?P={name})"));
            }
            self.out.push_str(&format!("(?P={name})"));
            return Ok(());
        } else if self.eat("?(") {
            let group = self.until(')')?;
            self.out.push_str(&format!("(?({group})"));
        } else if self.eat("?#") {
            return self.until(')').map(drop).map_err(|_| "a comment that does not end".to_owned());
        } else if self.eat("?") {
            self.scoped_flags()?;
        } else {
            self.out.push('(');
            self.groups += 1;
        }
        self.open.push(flags);
        Ok(())
    }

    /// Flags for one group, behind its question mark: `(?i:…)`, `(?s-i:…)`.
    fn scoped_flags(&mut self) -> Result<(), String> {
        let is_flag = |c: char| c.is_ascii_alphabetic() || c == '-';
        let end = self.rest.char_indices().skip(1).find(|(_, c)| !is_flag(*c));
        let (letters, rest) = self.rest.split_at(end.map_or(self.rest.len(), |(end, _)| end));
        let problem = match (letters.chars().next(), rest.chars().next()) {
            (None, _) => Some("a group that ends after its question mark"),
            (Some('P'), _) => Some("a group that begins with (?P and is no name"),
            (Some('<'), _) => {
                Some("a group that begins with (?< and looks at nothing; names are written (?P<name>…)")
            }
            (_, Some(':')) => None,
            (_, Some(')')) => Some("flags for the whole expression must stand at its begin"),
            _ => return Err(format!("a group that begins with (?{letters}")),
        };
        problem.map_or(Ok(()), |problem| Err(problem.to_owned()))?;
        let (on, off) = letters.split_once('-').unwrap_or((letters, ""));
        self.flags.apply(on, true)?;
        self.flags.apply(off, false)?;
        self.out.push_str(if self.flags.ignore_case { "(?i:" } else { "(?-i:" });
        self.rest = rest.get(1..).unwrap_or_default();
        Ok(())
    }

    /// A name for a group: one word, not a number, and not given before.
    fn new_name(&mut self) -> Result<&'a str, String> {
        let name = self.until('>')?;
        let is_name = name.starts_with(|c: char| c == '_' || c.is_alphabetic()) && name.chars().all(is_word);
        match is_name {
            false => Err(format!("{name:?} cannot be the name of a group")),
            true if self.names.contains(&name) => Err(format!("two groups are named {name:?}")),
            true => Ok(name),
        }
    }

    /// The name before this character.
    fn until(&mut self, end: char) -> Result<&'a str, String> {
        let (name, rest) = self.rest.split_once(end).ok_or_else(|| format!("a group without its {end:?}"))?;
        self.rest = rest;
        Ok(name)
    }

    /// A class; its opening bracket is already read.
    fn class(&mut self) -> Result<(), String> {
        self.out.push('[');
        if self.eat("^") {
            self.out.push('^');
        }
        let mut is_first = true;
        loop {
            let c = self.next().ok_or("a class without its closing bracket")?;
            if c == ']' && !is_first {
                self.out.push(']');
                return Ok(());
            }
            is_first = false;
            let low = self.member(c)?;
            let begins_range = |after: &str| !after.is_empty() && !after.starts_with(']');
            if !self.rest.strip_prefix('-').is_some_and(begins_range) {
                if let Some(c) = low {
                    self.push_member(c);
                }
                continue;
            }
            let low = low.ok_or("a range that begins with a set")?;
            self.eat("-");
            let c = self.next().ok_or("a range that does not end")?;
            let high = self.member(c)?.ok_or("a range that ends with a set")?;
            if low > high {
                return Err(format!("the range {low}-{high} runs backwards"));
            }
            self.push_member(low);
            self.out.push('-');
            self.push_member(high);
        }
    }

    /// The member of a class that begins with this character; a set such as `\w` is written, and none.
    fn member(&mut self, c: char) -> Result<Option<char>, String> {
        if c != '\\' {
            return Ok(Some(c));
        }
        let c = self.next().ok_or("a backslash at the end")?;
        match (set(c, self.flags.ascii), c) {
            (Some((members, is_negated)), _) => {
                self.out.push_str(&if is_negated { format!("[^{members}]") } else { members.to_owned() });
                Ok(None)
            }
            (None, 'b') => Ok(Some('\x08')),
            (None, '1'..='7') => Ok(Some(self.octal(c).ok_or("an octal escape that is too large")?)),
            (None, _) => self.escaped_char(c).map(Some),
        }
    }

    /// A character of a class that stands for itself, whatever the engine would make of it.
    fn push_member(&mut self, c: char) {
        match c.is_ascii() && !c.is_ascii_alphanumeric() {
            true => self.out.push_str(&format!("\\x{:02x}", u32::from(c))),
            false => self.out.push(c),
        }
    }
}

fn from_digits(digits: &str, radix: u32) -> Option<char> {
    let value =
        digits.chars().try_fold(0_u32, |n, c| n.checked_mul(radix)?.checked_add(c.to_digit(radix)?))?;
    char::from_u32(value)
}

/// The default time limit of a search. An answer that takes longer was made for it, or the pattern was.
const LONGEST: Duration = Duration::from_secs(20);

/// How long a search may take. Clones are stopped together.
#[derive(Clone, Debug)]
pub(crate) struct SearchBudget {
    limit: Duration,
    started: Instant,
    stopped: Arc<AtomicBool>,
}

impl Default for SearchBudget {
    fn default() -> Self {
        SearchBudget::new(LONGEST)
    }
}

impl SearchBudget {
    /// From now on.
    pub(crate) fn new(limit: Duration) -> Self {
        SearchBudget { limit, started: Instant::now(), stopped: Arc::default() }
    }

    /// Ends the searches that have it.
    pub(crate) fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    /// Whether a search for a pattern may go on in a text of so many bytes.
    fn check(&self, pattern: &str, bytes: usize) -> Result<(), Error> {
        if self.stopped.load(Ordering::Relaxed) {
            return Err(Error::custom(format!("the search for the pattern {pattern:?} was stopped")));
        }
        if self.started.elapsed() <= self.limit {
            return Ok(());
        }
        Err(Error::custom(format!(
            "the pattern {pattern:?} did not end within {} s on an output of {bytes} bytes; look-around that reads far \
             ahead, as in (?=.*x), takes a time that is quadratic: anchor it, or do without",
            self.limit.as_secs_f64()
        )))
    }
}

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
}

impl PythonRegex {
    /// Reads an expression.
    ///
    /// # Errors
    /// One that cannot be read.
    pub(crate) fn new(pattern: &str, ignore_case: bool) -> Result<Self, Error> {
        let refused = |problem: String| {
            Error::custom(format!("the pattern {pattern:?} is no regular expression: {problem}"))
        };
        let exact = translate(pattern, ignore_case, false).map_err(refused)?;
        let plain = translate(pattern, ignore_case, true).map_err(refused)?;
        let build = |regex: &str| Engine::new(regex).map_err(|error| refused(error.to_string()));
        let engine = build(&exact)?;
        // Only where the two differ.
        let on_plain_text = Some(plain).filter(|plain| *plain != exact).as_deref().map(build).transpose()?;
        Ok(PythonRegex { source: pattern.to_owned(), exact: engine, on_plain_text })
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
    ) -> Result<Option<Captures<'t, str>>, Error> {
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
    ) -> Result<Option<Captures<'t, str>>, Error> {
        let (Engine { regex, is_linear }, bytes) = (self.engine(text), text.len());
        let too_many_steps = |_| {
            Error::custom(format!(
                "the pattern {:?} tried too many ways to match an output of {bytes} bytes; nested repetitions such as \
                 (a+)+ are the usual cause",
                self.source
            ))
        };
        if *is_linear {
            return regex.captures_from_pos(text, from).map_err(too_many_steps);
        }
        // The engine counts the ways that it tries, but not how much of the text a single one reads, so an expression with
        // look-around takes a time that is quadratic. It cannot be stopped; so it is run at one position after the other.
        let places = text.char_indices().map(|(place, _)| place).chain([bytes]);
        for place in places.filter(|place| *place >= from) {
            budget.check(&self.source, bytes)?;
            let input = RegexInput::new(text).from_pos(place).anchored(true);
            let found = regex.captures_input(input).map_err(too_many_steps)?;
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }

    /// The same expression for whole texts; none if that cannot be known from the part that is searched: it looks at what
    /// stands around it.
    pub(crate) fn of_whole_text(&self, ignore_case: bool) -> Option<PythonRegex> {
        let (flags, rest) = global_flags(&self.source);
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
mod pr_compiled_tests {
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
        let search = |budget: SearchBudget| regex.search(&text, &budget).unwrap_err().to_string();
        let slow = search(SearchBudget::new(Duration::from_millis(20)));
        let message =
            "the pattern \"(?=.*foo)bar\" did not end within 0.02 s on an output of 4194304 bytes; ";
        assert!(slow.starts_with(message), "{slow}");
        let budget = SearchBudget::default();
        budget.stop();
        assert_eq!(search(budget), "the search for the pattern \"(?=.*foo)bar\" was stopped");
    }
}
