//! The key that a server knows its customers by: sent in one header, and shown nowhere.

use std::ffi::OsString;
use std::fmt;
use std::fs::File;
use std::io::Read;
use std::ops::Range;
use std::path::Path;

use memchr::memmem;
use reqwest::header::{HeaderValue, InvalidHeaderValue};

use crate::{Error, Result};

/// No key is longer than this.
const MOST_BYTES: u64 = 16 * 1024;

/// A shorter key, such as `none` for a server that wants any, may be in an answer by chance.
const LEAST_BYTES_IN_ANSWERS: usize = 16;

/// The key that a server knows its customers by.
#[derive(Clone)]
pub(in crate::model) struct ApiKey(String);

/// Shows nothing of it.
impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ApiKey(***)")
    }
}

impl ApiKey {
    /// Takes a string; `origin` names where it comes from, for the error.
    ///
    /// # Errors
    /// A string that is empty or cannot stand in a header. The error never repeats it.
    pub(in crate::model) fn new(text: &str, origin: &str) -> Result<Self> {
        let text = text.trim();
        if text.is_empty() {
            return Err(Error::other(format!("{origin} holds no key: its first line is empty")));
        }
        if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(Error::other(format!(
                "{origin} holds no key: a key is one word of letters, digits and punctuation, and this has spaces, \
                 control characters or letters beyond ASCII in it"
            )));
        }
        Ok(ApiKey(text.to_owned()))
    }

    /// Reads the first line of a file.
    ///
    /// # Errors
    /// A file that cannot be read, and what is no key. The error names the file and repeats nothing of it.
    pub(in crate::model) fn read(path: &Path) -> Result<Self> {
        let mut bytes = Vec::new();
        let read = File::open(path).and_then(|file| file.take(MOST_BYTES).read_to_end(&mut bytes));
        read.map_err(|error| {
            Error::other(format!("cannot read the key from the file {}: {error}", path.display()))
        })?;
        let first = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
        // Bytes that are no UTF-8 become a character that no key has.
        ApiKey::new(&String::from_utf8_lossy(first), &format!("the file {}", path.display()))
    }

    /// The key for a model, from the file or else the environment. A custom server needs none until it requests one.
    ///
    /// # Errors
    /// No key where one is needed, and what [`read`](Self::read) refuses.
    pub(in crate::model) fn find(
        model: &str,
        variable: &str,
        file: Option<&Path>,
        is_own_server: bool,
        environment: impl Fn(&str) -> Option<OsString>,
    ) -> Result<Option<Self>> {
        let missing = || Error::MissingKey { model: model.to_owned(), variable: variable.to_owned() };
        match (file, environment(variable).filter(|text| !text.is_empty())) {
            (Some(file), _) => Ok(Some(ApiKey::read(file)?)),
            // Bytes that are no UTF-8 become a character that no key has.
            (None, Some(text)) => {
                Ok(Some(ApiKey::new(&text.to_string_lossy(), &format!("the variable {variable}"))?))
            }
            (None, None) if is_own_server => Ok(None),
            (None, None) => Err(missing()),
        }
    }

    /// The key itself, for callers that send it in another way.
    #[cfg(feature = "providers")]
    pub(in crate::model) fn reveal(&self) -> &str {
        &self.0
    }

    /// The header's value, marked as sensitive so that it is not shown.
    pub(super) fn header(&self) -> Result<HeaderValue, InvalidHeaderValue> {
        let mut value = HeaderValue::try_from(format!("Bearer {}", self.0))?;
        value.set_sensitive(true);
        Ok(value)
    }

    /// A string with the key taken out: a server may repeat what it was sent, in any escape sequences of JSON.
    pub(super) fn hide_in(&self, text: String) -> String {
        redact(&text, &self.0, true).unwrap_or(text)
    }

    /// The same for the body of an answer, which gets into logs: only a key that does not occur by chance is taken out.
    pub(in crate::model) fn hide_in_answer(&self, body: Vec<u8>) -> Vec<u8> {
        // What is no UTF-8 is no answer either.
        let hidden = std::str::from_utf8(&body).ok().filter(|_| self.is_unlikely());
        hidden.and_then(|text| redact(text, &self.0, false)).map_or(body, String::into_bytes)
    }

    /// The same for a string of an answer.
    #[cfg(feature = "providers")]
    pub(in crate::model) fn hide_in_answer_text(&self, text: String) -> String {
        let hidden = self.is_unlikely().then(|| redact(&text, &self.0, false)).flatten();
        hidden.unwrap_or(text)
    }

    /// Where the key occurs in a string of an answer.
    pub(in crate::model) fn places_in_answer(&self, text: &str) -> Vec<Range<usize>> {
        if self.is_unlikely() { find(text, &self.0, false) } else { Vec::new() }
    }

    /// Whether it is too long to occur in an answer by chance.
    fn is_unlikely(&self) -> bool {
        self.0.len() >= LEAST_BYTES_IN_ANSWERS
    }
}

// Finding a secret in a server's response, also where it is written with the escape sequences of JSON.
//
// A server may write any character of a string as `\u0073`, a slash as `\/`, and a JSON text within a string doubles
// the backslashes. What is searched is the string without backslashes and with such characters decoded, at any depth;
// what is found is a range of the original string. So nothing has to be parsed, and a truncated string will do.

/// Stands in the place of a secret.
const HIDDEN: &str = "***";

/// The beginning of a secret at the end of a string is taken for a truncated secret from this many characters on.
const LEAST_BEGINNING: usize = 8;

/// Where a secret, which is ASCII, occurs in a string, from left to right; with `may_be_cut`, its beginning at the end of
/// the string too.
fn find(text: &str, secret: &str, may_be_cut: bool) -> Vec<Range<usize>> {
    let secret: Vec<u8> = secret.bytes().filter(|byte| *byte != b'\\').collect();
    if secret.is_empty() {
        return Vec::new();
    }
    let decoded: Vec<u8> = Characters::of(text).map(|character| character.value).collect();
    // In linear time: a server must not be able to make this slow.
    let whole = memmem::find_iter(&decoded, &secret).map(|start| start..start + secret.len());
    let mut places: Vec<Range<usize>> = whole.collect();
    let rest = decoded.get(places.last().map_or(0, |last| last.end)..).unwrap_or_default();
    let is_at_end = |length: &usize| secret.get(..*length).is_some_and(|beginning| rest.ends_with(beginning));
    let cut_off = (LEAST_BEGINNING..secret.len()).rev().find(is_at_end).filter(|_| may_be_cut);
    places.extend(cut_off.map(|length| decoded.len() - length..decoded.len()));
    // From characters to where they are written.
    let mut characters = Characters::of(text).zip(0..);
    let written = places.into_iter().filter_map(|place| {
        let (first, _) = characters.find(|(_, at)| *at == place.start)?;
        let last = place.len().checked_sub(2).and_then(|more| characters.nth(more));
        Some(first.start..last.map_or(first.end, |(last, _)| last.end))
    });
    let mut written: Vec<Range<usize>> = written.collect();
    if let (Some(last), true) = (written.last_mut(), cut_off.is_some()) {
        // Half an escape sequence may follow.
        last.end = text.len();
    }
    written
}

/// A text without a secret; as it was if it is not there.
pub(super) fn redact(text: &str, secret: &str, may_be_cut: bool) -> Option<String> {
    let ranges = find(text, secret, may_be_cut);
    if ranges.is_empty() {
        return None;
    }
    let (mut hidden, mut from) = (String::with_capacity(text.len()), 0);
    for range in ranges {
        hidden.push_str(text.get(from..range.start).unwrap_or_default());
        hidden.push_str(HIDDEN);
        from = range.end;
    }
    hidden.push_str(text.get(from..).unwrap_or_default());
    Some(hidden)
}

/// A character of a string, and where it is written.
struct Character {
    /// The character if it is ASCII, else a byte that is not.
    value: u8,
    /// The backslashes before it included.
    start: usize,
    end: usize,
}

/// The characters of a string without backslashes, escape sequences decoded.
struct Characters<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Characters<'a> {
    fn of(text: &'a str) -> Self {
        Characters { bytes: text.as_bytes(), at: 0 }
    }

    /// The character that the four digits of `u0073` mean, if there are four.
    fn decoded(&self) -> Option<u16> {
        let digits = self.bytes.get(self.at + 1..self.at + 5)?;
        let digits =
            std::str::from_utf8(digits).ok().filter(|text| text.bytes().all(|b| b.is_ascii_hexdigit()))?;
        u16::from_str_radix(digits, 16).ok()
    }

    /// Whether the text ends in the middle of an escape sequence here.
    fn is_cut_off(&self) -> bool {
        let rest = self.bytes.get(self.at + 1..).unwrap_or_default();
        rest.len() < 4 && rest.iter().all(u8::is_ascii_hexdigit)
    }
}

impl Iterator for Characters<'_> {
    type Item = Character;

    fn next(&mut self) -> Option<Character> {
        let (start, mut is_escaped) = (self.at, false);
        loop {
            let byte = *self.bytes.get(self.at)?;
            let (value, length) = match byte {
                b'u' if is_escaped => match self.decoded() {
                    Some(code) => (u8::try_from(code).ok().filter(u8::is_ascii).unwrap_or(u8::MAX), 5),
                    None if self.is_cut_off() => return None,
                    None => (byte, 1),
                },
                _ => (byte, 1),
            };
            self.at += length;
            if value != b'\\' {
                return Some(Character { value, start, end: self.at });
            }
            // It may escape what follows, also a decoded one where the text is decoded twice.
            is_escaped = true;
        }
    }
}

#[cfg(test)]
mod key_tests {
    use super::*;

    fn read(content: &[u8]) -> Result<ApiKey> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), content).unwrap();
        ApiKey::read(file.path())
    }

    #[test]
    fn the_first_line_is_the_key() {
        for content in ["sk-1", "sk-1\n", " sk-1 \r\nsecond line \x07\n"] {
            assert_eq!(read(content.as_bytes()).unwrap().0, "sk-1");
        }
    }

    #[test]
    fn what_is_no_key_is_refused_without_repeating_it() {
        for content in [&b"sk-\x07secret"[..], b"sk secret", b"sk-\xffsecret", "sk-sécret".as_bytes()] {
            let error = read(content).unwrap_err();
            let shown = error.to_string();
            assert!(shown.starts_with("the file /") && shown.contains("a key is one word"), "{shown}");
            // The name of the file may have any two letters in it.
            assert!(!error.to_string().contains("cret"), "{error}");
        }
        let empty = read(b"\nsk-1").unwrap_err().to_string();
        assert!(empty.ends_with("its first line is empty"), "{empty}");
        assert_eq!(
            ApiKey::read(Path::new("/nowhere/key")).unwrap_err().to_string(),
            "cannot read the key from the file /nowhere/key: No such file or directory (os error 2)"
        );
        assert_eq!(
            ApiKey::new("a b", "the variable K").unwrap_err().to_string(),
            "the variable K holds no key: a key is one word of letters, digits and punctuation, and this has spaces, control \
             characters or letters beyond ASCII in it"
        );
    }

    #[test]
    fn it_shows_nowhere() {
        let key = ApiKey::new("sk-secret", "").unwrap();
        let header = key.header().unwrap();
        assert_eq!(header.as_bytes(), b"Bearer sk-secret");
        assert!(!format!("{key:?} {key:#?} {header:?}").contains("secret"));
        assert_eq!(key.hide_in("no sk-secret, sk-secrets!".to_owned()), "no ***, ***s!");
        for (key, answer) in [("sk-secret-0123456", "You sent ***."), ("none", "You sent none.")] {
            let body = format!("You sent {key}.").into_bytes();
            assert_eq!(ApiKey::new(key, "").unwrap().hide_in_answer(body), answer.as_bytes());
        }
    }
}

#[cfg(test)]
mod redact_tests {
    use super::*;

    const SECRET: &str = "sk-ab/cd+ef=0123";

    fn hidden(text: &str) -> String {
        redact(text, SECRET, false).unwrap_or_else(|| text.to_owned())
    }

    #[test]
    fn a_secret_is_found_in_whatever_way_json_writes_it() {
        let escaped = |byte: u8| format!("\\u{byte:04x}");
        let all: String = SECRET.bytes().map(escaped).collect();
        let upper: String = SECRET.bytes().map(|byte| format!("\\u{byte:04X}")).collect();
        let every_second: String = SECRET
            .bytes()
            .enumerate()
            .map(|(place, byte)| if place % 2 == 0 { escaped(byte) } else { char::from(byte).to_string() })
            .collect();
        let in_json = serde_json::to_string(&all).unwrap();
        let twice = serde_json::to_string(&in_json).unwrap();
        for written in [
            SECRET.to_owned(),
            SECRET.replace('/', r"\/"),
            SECRET.replace('/', r"\\\/"),
            SECRET.replace('s', r"\u0073"),
            SECRET.replace('s', r"\u005cu0073"),
            all,
            upper,
            every_second,
            in_json.trim_matches('"').to_owned(),
        ] {
            assert_eq!(hidden(&format!("é{written}, {written}")), "é***, ***", "{written}");
            let json = format!("{{\"a\": \"{written}\", \"{written}\": 1}}");
            let json: serde_json::Value = serde_json::from_str(&hidden(&json)).unwrap();
            assert_eq!(json, serde_json::json!({"a": "***", "***": 1}), "{written}");
        }
        assert!(!hidden(&twice).contains("0073"), "{twice}");
    }

    #[test]
    fn what_is_not_the_secret_stays() {
        for text in [
            "",
            "sk-ab/cd+ef=012",
            "xsk-ab/cd+ef=01 23",
            r"\",
            r"\u",
            r"\u00",
            r"\u007",
            r"\uzzzz",
            "日本\\u65e5",
        ] {
            assert_eq!(redact(text, SECRET, false), None, "{text}");
        }
        assert_eq!(redact("text", "", false), None);
        assert_eq!(redact("text", "\\", false), None);
    }

    #[test]
    fn beginnings_that_repeat_do_not_hide_a_secret() {
        assert_eq!(redact("aaab aab aaaab", "aab", false).unwrap(), "a*** *** aa***");
        assert_eq!(redact("ababababc", "ababc", false).unwrap(), "abab***");
    }

    #[test]
    fn a_secret_that_was_cut_off_is_hidden_too() {
        let cut = |text: &str| redact(text, SECRET, true).unwrap_or_else(|| text.to_owned());
        assert_eq!(cut("no sk-ab/cd+"), "no ***");
        assert_eq!(cut(r"no sk-ab\/\u0063d+\u00"), "no ***");
        assert_eq!(cut(r"sk-ab/cd+ef=0123 sk-ab\/\u0063d+\"), "*** ***");
        // Too little to be of use to anybody, and likely to be something else.
        assert_eq!(cut("no sk-ab/c"), "no sk-ab/c");
        assert_eq!(redact("no sk-ab/cd+", SECRET, false), None);
    }
}
