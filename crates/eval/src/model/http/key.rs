//! The key that a server knows its customers by: sent in one header, and shown nowhere.

use std::ffi::OsString;
use std::fmt;
use std::fs::File;
use std::io::Read;
use std::ops::Range;
use std::path::Path;

use reqwest::header::{HeaderValue, InvalidHeaderValue};

use super::redact::{self, redact, redact_beginning};
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
            return Err(Error::EmptyKey { origin: origin.to_owned() });
        }
        if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(Error::InvalidKey { origin: origin.to_owned() });
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
        read.map_err(|error| Error::KeyFile { path: path.to_owned(), error })?;
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
        redact_beginning(&text, &self.0).unwrap_or(text)
    }

    /// The same for the body of an answer, which gets into logs: only a key that does not occur by chance is taken out.
    pub(in crate::model) fn hide_in_answer(&self, body: Vec<u8>) -> Vec<u8> {
        // What is no UTF-8 is no answer either.
        let hidden = std::str::from_utf8(&body).ok().filter(|_| self.is_unlikely());
        hidden.and_then(|text| redact(text, &self.0)).map_or(body, String::into_bytes)
    }

    /// The same for a string of an answer.
    #[cfg(feature = "providers")]
    pub(in crate::model) fn hide_in_answer_text(&self, text: String) -> String {
        let hidden = self.is_unlikely().then(|| redact(&text, &self.0)).flatten();
        hidden.unwrap_or(text)
    }

    /// Where the key occurs in a string of an answer.
    pub(in crate::model) fn places_in_answer(&self, text: &str) -> Vec<Range<usize>> {
        if self.is_unlikely() { redact::find(text, &self.0).whole } else { Vec::new() }
    }

    /// Whether it is too long to occur in an answer by chance.
    fn is_unlikely(&self) -> bool {
        self.0.len() >= LEAST_BYTES_IN_ANSWERS
    }
}

#[cfg(test)]
mod tests {
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
            assert!(
                matches!(&error, Error::InvalidKey { origin } if origin.starts_with("the file /")),
                "{error}"
            );
            // The name of the file may have any two letters in it.
            assert!(!error.to_string().contains("cret"), "{error}");
        }
        assert!(matches!(read(b"\nsk-1"), Err(Error::EmptyKey { .. })));
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
