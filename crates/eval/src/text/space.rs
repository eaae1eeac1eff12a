//! Blanks and punctuation, as the reference's language counts them.

/// Whether a character is a blank: white space, and the four separators of ASCII that Unicode calls controls.
pub(crate) fn is_space(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\u{1c}'..='\u{1f}')
}

/// Whether a text has nothing but blanks in it.
pub fn is_blank(text: &str) -> bool {
    text.chars().all(is_space)
}

/// Without blanks at both ends.
pub(crate) fn trim(text: &str) -> &str {
    text.trim_matches(is_space)
}

/// The parts between blanks.
pub(crate) fn words(text: &str) -> impl DoubleEndedIterator<Item = &str> {
    text.split(is_space).filter(|word| !word.is_empty())
}

/// Without blanks, and then without ASCII blanks and punctuation, at both ends.
pub(crate) fn trim_punctuation(text: &str) -> &str {
    let outside = |c: char| c.is_ascii_punctuation() || matches!(c, ' ' | '\t'..='\r');
    trim(text).trim_matches(outside)
}

/// Whether a character is part of a word: a letter, a digit or the underscore.
pub(crate) fn is_word(c: char) -> bool {
    c == '_' || c.is_alphanumeric()
}
