//! Strings of the file, and where in the file each of their characters stands.

use std::ops::Range;

use errorbar_core::spec::SpecError;

use super::section::TaskFile;

/// A string: its value, and where it is written.
#[derive(Clone, Debug)]
pub(super) struct TomlString<'d> {
    /// Its value, escape sequences resolved.
    pub(super) value: &'d str,
    /// Where it stands, quotes and all.
    pub(super) span: Range<usize>,
    pub(super) file: &'d TaskFile<'d>,
}

impl<'d> TomlString<'d> {
    pub(super) fn new(file: &'d TaskFile<'d>, span: Range<usize>, value: &'d str) -> Self {
        TomlString { value, span, file }
    }

    /// Reports a mistake in a part of the value.
    pub(super) fn report(&self, part: Range<usize>, message: impl Into<String>, hint: Option<String>) {
        self.file.mistakes.add(self.place(part), message, hint);
    }

    /// Reports what is wrong with the value as a spec.
    pub(super) fn report_spec(&self, error: &SpecError) {
        let hint = error.hint().map(str::to_owned);
        self.report(error.span().unwrap_or(0..self.value.len()), error.kind().to_string(), hint);
    }

    /// Where in the file a part of the value stands; all of it, if that is not known.
    ///
    /// The place behind the last character is that of the closing quote.
    pub(super) fn place(&self, part: Range<usize>) -> Range<usize> {
        let raw = self.file.text.get(self.span.clone()).unwrap_or_default();
        let Some(part) = place_in(raw, self.value, part) else { return self.span.clone() };
        self.span.start + part.start..self.span.start + part.end
    }
}

/// Where a part of the value stands in the string as written.
fn place_in(raw: &str, value: &str, part: Range<usize>) -> Option<Range<usize>> {
    let pieces = StringPieces::of(raw)?;
    let close = pieces.rest.end;
    let mut start = None;
    let mut end = None;
    let mut at = 0;
    for (c, written) in pieces {
        // Should TOML ever read it otherwise than this does, no place is better than a wrong one.
        if !value.get(at..)?.starts_with(c) {
            return None;
        }
        if at == part.start {
            start = Some(written.start);
        }
        at += c.len_utf8();
        if at == part.end {
            end = Some(written.end);
        }
    }
    if at != value.len() {
        return None;
    }
    if part.start >= value.len() {
        return Some(close..close + 1);
    }
    let start = start?;
    Some(start..end.filter(|end| *end >= start).unwrap_or(start))
}

/// The characters of a string with their places, one after the other.
struct StringPieces<'r> {
    raw: &'r str,
    rest: Range<usize>,
    has_escapes: bool,
    is_multi_line: bool,
}

impl<'r> StringPieces<'r> {
    /// Takes off the quotes, and the line break that may follow three of them.
    fn of(raw: &'r str) -> Option<Self> {
        let quotes = [("\"\"\"", true), ("'''", false), ("\"", true), ("'", false)];
        let is_between =
            |quote: &str| raw.len() >= 2 * quote.len() && raw.starts_with(quote) && raw.ends_with(quote);
        let (quote, has_escapes) = quotes.into_iter().find(|(quote, _)| is_between(quote))?;
        let is_multi_line = quote.len() == 3;
        let body = raw.get(quote.len()..)?;
        let line_break = match body {
            _ if !is_multi_line => 0,
            body if body.starts_with("\r\n") => 2,
            body => usize::from(body.starts_with('\n')),
        };
        let rest = quote.len() + line_break..raw.len() - quote.len();
        Some(StringPieces { raw, rest, has_escapes, is_multi_line })
    }

    /// The backslash at the end of a line, which takes all blanks behind it with it.
    fn skip_line_end(&mut self) -> Option<()> {
        let behind = self.raw.get(self.rest.clone())?.strip_prefix('\\')?;
        let blank = |c: char| matches!(c, ' ' | '\t');
        let is_line_end = behind.trim_start_matches(blank).starts_with(['\r', '\n']);
        let kept = behind.trim_start_matches([' ', '\t', '\r', '\n']);
        (self.is_multi_line && is_line_end).then(|| self.rest.start = self.rest.end - kept.len())
    }
}

impl Iterator for StringPieces<'_> {
    type Item = (char, Range<usize>);

    fn next(&mut self) -> Option<Self::Item> {
        while self.has_escapes && self.skip_line_end().is_some() {}
        let start = self.rest.start;
        let rest = self.raw.get(self.rest.clone())?;
        let mut chars = rest.chars();
        let first = chars.next()?;
        let (c, length) = match first {
            '\\' if self.has_escapes => escape(chars.as_str())?,
            c => (c, c.len_utf8()),
        };
        self.rest.start += length;
        Some((c, start..self.rest.start))
    }
}

/// What stands behind a backslash: the character it means, and the length of all of it.
fn escape(behind: &str) -> Option<(char, usize)> {
    let code = |digits: usize| {
        let code = u32::from_str_radix(behind.get(1..=digits)?, 16).ok()?;
        Some((char::from_u32(code)?, 2 + digits))
    };
    let plain = |c: char| Some((c, 2));
    match behind.chars().next()? {
        'b' => plain('\u{8}'),
        'e' => plain('\u{1b}'),
        'f' => plain('\u{c}'),
        'n' => plain('\n'),
        'r' => plain('\r'),
        't' => plain('\t'),
        c @ ('\\' | '"') => plain(c),
        'x' => code(2),
        'u' => code(4),
        'U' => code(8),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use errorbar_core::Registry;

    use super::super::mistake::Mistakes;
    use super::*;

    /// Where a part of a string of the file stands.
    fn place(text: &str, span: Range<usize>, value: &str, part: Range<usize>) -> Range<usize> {
        let registry = Registry::built_in();
        let file = TaskFile {
            text,
            registry: &registry,
            mistakes: Mistakes::default(),
            limit: None,
            is_of_log: false,
        };
        TomlString::new(&file, span, value).place(part)
    }

    /// What stands in the file at the place of `wanted` in the string.
    fn written<'f>(file: &'f str, wanted: &str) -> &'f str {
        let table = toml::de::DeTable::parse(file).unwrap();
        let value = table.get_ref().get("a").unwrap();
        let decoded = value.get_ref().as_str().unwrap();
        let start = decoded.find(wanted).unwrap();
        &file[place(file, value.span(), decoded, start..start + wanted.len())]
    }

    #[test]
    fn every_kind_of_string() {
        assert_eq!(written(r#"a = "mean(x)""#, "x"), "x");
        assert_eq!(written("a = 'mean(x)'", "x"), "x");
        assert_eq!(written(r#"a = "é\t\u0061\U0001F600\x41 mean(x)""#, "mean"), "mean");
        assert_eq!(written(r#"a = "ab\u0063d""#, "bc"), r"b\u0063");
        assert_eq!(written(r#"a = "say(\"x\")""#, "\"x\""), r#"\"x\""#);
        assert_eq!(written(r"a = '\d\n'", r"\n"), r"\n");
        assert_eq!(written("a = \"\"\"\nmean(\n  x)\"\"\"", "x"), "x");
        assert_eq!(written("a = \"\"\"\r\nmean(\\\r\n\r\n  x)\"\"\"", "(x"), "(\\\r\n\r\n  x");
        assert_eq!(written("a = \"\"\"a \\  \n  \\\n x\"\"\"\"", "x\""), "x\"");
        assert_eq!(written("a = '''\r\nmean('x')\\\n'''", "x"), "x");
        assert_eq!(written("a = ''", ""), "'");
    }

    #[test]
    fn the_end_is_the_closing_quote() {
        let file = "a = \"\"\"mean(\"\"\"";
        let place = |part: Range<usize>| place(file, 4..file.len(), "mean(", part);
        assert_eq!(place(5..5), 12..13);
        assert_eq!(place(99..100), 12..13);
    }

    #[test]
    fn what_cannot_be_located_is_the_whole_string() {
        assert_eq!(place("a = \"x\\qy\"", 4..10, "x\\qy", 1..2), 4..10);
        assert_eq!(place("a = 'xy'", 4..8, "other", 1..2), 4..8);
        assert_eq!(place("a = xy", 4..6, "xy", 0..1), 4..6);
        assert_eq!(place("a = 'é'", 4..8, "é", 1..2), 4..8);
    }
}
