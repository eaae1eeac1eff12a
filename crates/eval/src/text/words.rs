//! The words of a text in a form in which `exact` and `f1` compare them: case folded, without punctuation and
//! articles, numbers by value.

use std::borrow::Cow;
use std::collections::HashMap;

use errorbar_core::{Score, Value};

use super::number::decimal_digit;
use super::number::{parse_decimal, two_decimals};
use super::{grade, scored};

/// The parts of a case folded text between spaces and hyphens, normalised one by one; none is empty. A part
/// with another blank in it, such as a line break, holds several words.
pub(crate) fn normal_parts(folded: &str) -> impl Iterator<Item = String> {
    folded.split([' ', '-']).map(normal_part).filter(|part| !part.is_empty())
}

/// One part: a number in the one way that its value is written, or words without punctuation and articles.
pub(crate) fn normal_part(part: &str) -> String {
    let bare = part.replace(|c: char| c.is_ascii_punctuation(), "");
    // As it stands, because a point may begin a number; then without what is around it; then without all
    // punctuation.
    let number = number_text(part).or_else(|| number_text(trim_punctuation(part)));
    number.or_else(|| number_text(&bare)).unwrap_or_else(|| without_articles(&bare))
}

/// The text that stands for a number; numbers of one value have one text.
fn number_text(text: &str) -> Option<String> {
    let text = trim(text);
    let begins = |c: char| matches!(c, '+' | '-' | '.') || decimal_digit(c).is_some();
    if !text.starts_with(begins) {
        return None;
    }
    Some(format!("{:?}", parse_decimal(&ascii_digits(text)?)?))
}

/// Digits of any script in ASCII, without underscores, which must stand between digits.
fn ascii_digits(text: &str) -> Option<String> {
    let ascii = |c| decimal_digit(c).and_then(|digit| char::from_digit(digit, 10)).unwrap_or(c);
    let plain: String = text.chars().map(ascii).collect();
    let parts: Vec<&str> = plain.split('_').collect();
    let is_digit = |c: char| c.is_ascii_digit();
    let is_between =
        |pair: &[&str]| matches!(pair, [a, b] if a.ends_with(is_digit) && b.starts_with(is_digit));
    parts.windows(2).all(is_between).then(|| parts.concat())
}

/// Words separated by single spaces, without a, an and the wherever they stand between characters of no word.
fn without_articles(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        // Punctuation outside ASCII is still there and ends a word too: in "a’b" the "a" is an article.
        let end = if is_word(c) { rest.find(|c| !is_word(c)) } else { Some(c.len_utf8()) };
        let (run, after) = rest.split_at(end.unwrap_or(rest.len()));
        kept.push_str(if is_article(run) { " " } else { run });
        rest = after;
    }
    words(&kept).collect::<Vec<_>>().join(" ")
}

fn is_article(word: &str) -> bool {
    matches!(word, "a" | "an" | "the")
}

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

/// Right when the completion and any target have the same words. The answer is the completion.
pub fn judge_exact(completion: &str, targets: &[impl AsRef<str>]) -> Score {
    let words = normal_words(completion);
    // Nothing is left of a text of articles and punctuation, and nothing is no answer.
    let right = !words.is_empty() && targets.iter().any(|target| normal_words(target.as_ref()) == words);
    unexplained(completion, grade(right), completion)
}

/// A score that needs no explanation: the answer shows what was compared.
fn unexplained(completion: &str, value: impl Into<Value>, answer: &str) -> Score {
    let mut score = scored(completion, value, Some(answer.to_owned()));
    score.explanation = None;
    score
}

fn normal_words(text: &str) -> String {
    normal_parts(&casefold(text)).collect::<Vec<_>>().join(" ")
}

/// The harmonic mean of precision and recall over words, the best of all targets, to two decimals.
#[derive(Debug, Clone, Default)]
pub struct F1 {
    stop_words: Vec<String>,
}

impl F1 {
    /// A scorer that leaves these words out, in whatever case and punctuation they occur.
    pub fn new(stop_words: &[impl AsRef<str>]) -> Self {
        F1 { stop_words: stop_words.iter().map(|word| normal_part(&casefold(word.as_ref()))).collect() }
    }

    /// Judges an answer that was taken from a completion; it may be all of it.
    pub fn judge(&self, completion: &str, answer: &str, targets: &[impl AsRef<str>]) -> Score {
        let parts = self.parts(answer);
        let share = |target: &_| self.share(&parts, AsRef::as_ref(target));
        let best = targets.iter().map(share).fold(0.0, f64::max);
        unexplained(completion, two_decimals(best), answer)
    }

    fn parts(&self, text: &str) -> Vec<String> {
        normal_parts(&casefold(text)).filter(|part| !self.stop_words.contains(part)).collect()
    }

    fn share(&self, parts: &[String], target: &str) -> f64 {
        let target = self.parts(target);
        let mut left: HashMap<&str, usize> = HashMap::with_capacity(target.len());
        for word in words_of(&target) {
            *left.entry(word).or_default() += 1;
        }
        let mut common = 0;
        for word in words_of(parts) {
            if let Some(count @ 1..) = left.get_mut(word) {
                *count -= 1;
                common += 1;
            }
        }
        if common == 0 {
            return 0.0;
        }
        // Not 2c/(n+m), which is the same: the last bit decides how a half is rounded to two decimals.
        let precision = f64::from(common) / words_of(parts).count() as f64;
        let recall = f64::from(common) / words_of(&target).count() as f64;
        2.0 * precision * recall / (precision + recall)
    }
}

/// The words of all parts; a part has single spaces between its words.
fn words_of(parts: &[String]) -> impl Iterator<Item = &str> {
    parts.iter().flat_map(|part| part.split(' '))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_normalised() {
        for (text, parts) in [
            ("the  quick-brown fox!", vec!["quick", "brown", "fox"]),
            ("$5.0 (5) 05 5.", vec!["5.0", "5.0", "5.0", "5.0"]),
            ("1,000 1_000.5", vec!["1000.0", "1000.5"]),
            (".5 x.y", vec!["0.5", "xy"]),
            ("a’b", vec!["’b"]),
            ("p\nq the", vec!["p q"]),
            ("the - !", vec![]),
        ] {
            assert_eq!(normal_parts(text).collect::<Vec<_>>(), parts, "{text}");
        }
    }

    #[test]
    fn underscores_stand_between_digits() {
        assert_eq!(ascii_digits("1_0").as_deref(), Some("10"));
        for text in ["_1", "1_", "1__0", "1_.5", "1._5"] {
            assert_eq!(ascii_digits(text), None, "{text}");
        }
    }
}

#[cfg(test)]
mod casefold_tests {
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
