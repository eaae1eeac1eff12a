//! MD5, for stable ids: collections of evaluations name samples by the digest of their question.

use errorbar_core::python_text::json_text;
use md5::{Digest, Md5};
use serde_json::Value as Json;

use super::{Arguments, string};
use crate::expression::value::Outcome;

/// The digest of the values' strings, with a zero byte between them, in hexadecimal.
pub(super) fn md5<'v>(arguments: &Arguments<'_, 'v>) -> Outcome<'v> {
    let text = |at: usize| match arguments.value(at) {
        Json::String(text) => text.clone(),
        other => json_text(other),
    };
    let texts: Vec<String> = (0..arguments.values.len()).map(text).collect();
    string(hex_digest(&texts.join("\0")))
}

fn hex_digest(text: &str) -> String {
    Md5::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::hex_digest;

    /// The digests of Python's hashlib.
    #[test]
    fn digests_are_those_of_the_standard() {
        for (text, digest) in [
            (String::new(), "d41d8cd98f00b204e9800998ecf8427e"),
            ("abc".to_owned(), "900150983cd24fb0d6963f7d28e17f72"),
            ("a".repeat(1000), "cabe45dcc9ae5b66ba86600cca6b8ba8"),
            ("ü €".to_owned(), "4d9aae7a953ff3600ac3832546bc66df"),
        ] {
            assert_eq!(hex_digest(&text), digest, "{} bytes", text.len());
        }
    }
}
