//! Case folding: texts that differ in case only become the same text.
//!
//! More than lower case: `ß`, `ẞ`, `SS` and `ss` are one, as are `ς` and `σ`. The standard library has no
//! case folding, but Unicode's is lower case of upper case for every character except the few below.

use std::borrow::Cow;

/// The text with every difference of case removed; the text itself where it has none.
pub(crate) fn casefold(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return match text.bytes().any(|b| b.is_ascii_uppercase()) {
            true => Cow::Owned(text.to_ascii_lowercase()),
            false => Cow::Borrowed(text),
        };
    }
    let mut folded = String::with_capacity(text.len());
    for c in text.chars() {
        fold_char(c, &mut folded);
    }
    Cow::Owned(folded)
}

fn fold_char(c: char, folded: &mut String) {
    match c {
        _ if c.is_ascii() => folded.push(c.to_ascii_lowercase()),
        'ẞ' => folded.push_str("ss"),
        // The dotless ı is a separate letter, though its capital is I.
        'ı' => folded.push(c),
        // Cherokee folds to capitals, which are the older letters.
        'Ꭰ'..='Ᏽ' => folded.push(c),
        'ᏸ'..='ᏽ' | 'ꭰ'..='ꮿ' => folded.extend(c.to_uppercase()),
        _ => folded.extend(c.to_uppercase().flat_map(char::to_lowercase)),
    }
}

/// `casefold` if the case is to be ignored, else the text itself.
pub(crate) fn fold_if(ignore_case: bool, text: &str) -> Cow<'_, str> {
    if ignore_case { casefold(text) } else { Cow::Borrowed(text) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folds_more_than_lower_case() {
        for (a, b) in [
            ("Straße", "STRASSE"),
            ("ẞ", "ß"),
            ("ΟΔΟΣ", "οδος"),
            ("ﬁ", "FI"),
            ("ſ", "S"),
            ("Ꭰ", "ꭰ"),
            ("ᏸ", "Ᏸ"),
        ] {
            assert_eq!(casefold(a), casefold(b), "{a} {b}");
        }
        assert_eq!(casefold("İ"), "i̇");
        assert_ne!(casefold("ı"), casefold("I"));
    }

    #[test]
    fn borrows_what_has_no_case() {
        assert!(matches!(casefold("abc 1"), Cow::Borrowed(_)));
    }
}
