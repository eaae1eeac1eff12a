//! The words of a text in a form in which `exact` and `f1` compare them: case folded, without punctuation and
//! articles, numbers by value.

use super::digits::decimal_digit;
use super::float::parse_decimal;
use super::space;

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
    let number = number_text(part).or_else(|| number_text(space::trim_punctuation(part)));
    number.or_else(|| number_text(&bare)).unwrap_or_else(|| without_articles(&bare))
}

/// The text that stands for a number; numbers of one value have one text.
fn number_text(text: &str) -> Option<String> {
    let text = space::trim(text);
    let begins = |c: char| matches!(c, '+' | '-' | '.') || decimal_digit(c).is_some();
    if !text.starts_with(begins) {
        return None;
    }
    Some(format!("{:?}", parse_decimal(&ascii_digits(text)?)?))
}

/// Digits of any script in ASCII, without underscores, which must stand between digits.
fn ascii_digits(text: &str) -> Option<String> {
    let mut plain = String::with_capacity(text.len());
    let mut before = '_';
    for c in text.chars().map(|c| decimal_digit(c).and_then(|d| char::from_digit(d, 10)).unwrap_or(c)) {
        if (before == '_' && !plain.is_empty() || c == '_')
            && !(if c == '_' { before } else { c }).is_ascii_digit()
        {
            return None;
        }
        if c != '_' {
            plain.push(c);
        }
        before = c;
    }
    (before != '_').then_some(plain)
}

/// Words separated by single spaces, without a, an and the wherever they stand between characters of no word.
fn without_articles(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        // Punctuation outside ASCII is still there and ends a word too: in "a’b" the "a" is an article.
        let end = if space::is_word(c) { rest.find(|c| !space::is_word(c)) } else { Some(c.len_utf8()) };
        let (run, after) = rest.split_at(end.unwrap_or(rest.len()));
        kept.push_str(if is_article(run) { " " } else { run });
        rest = after;
    }
    space::words(&kept).collect::<Vec<_>>().join(" ")
}

fn is_article(word: &str) -> bool {
    matches!(word, "a" | "an" | "the")
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
