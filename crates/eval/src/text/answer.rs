//! The answer after `ANSWER:`, as a letter, a word or a line.

use super::pattern::is_target;
use super::space::{is_space, is_word};
use super::{Judgement, Mark};

/// What is taken after `ANSWER:`, which may be in any case, with blanks around its colon.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// A single letter, whatever follows it that is not part of a word.
    Letter,
    /// A word that ends its line, without one punctuation mark at its end.
    Word,
    /// The rest of the line, which must be the last one that is not blank.
    Line,
}

impl Answer {
    /// Judges one completion: right when the answer is a target, without regard to case.
    pub fn judge<'a>(self, completion: &'a str, targets: &[impl AsRef<str>]) -> Judgement<'a> {
        match self.find(completion) {
            Some(answer) => {
                let right = !answer.is_empty() && is_target(answer, targets, true);
                Judgement::new(completion, Mark::of(right), Some(answer.into()))
            }
            None => Judgement::not_found(completion),
        }
    }

    /// The answer in a completion.
    fn find(self, completion: &str) -> Option<&str> {
        match self {
            Answer::Letter => letter(completion, markers(completion).last()?),
            Answer::Word => word(completion),
            Answer::Line => line(completion),
        }
    }
}

/// A place where `ANSWER:` stands.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Marker {
    /// Where it begins.
    pub(crate) start: usize,
    /// Where its colon ends.
    pub(crate) end: usize,
}

/// Where `ANSWER:` stands, from left to right.
pub(crate) fn markers(text: &str) -> impl Iterator<Item = Marker> {
    const WORD: &[u8] = b"answer";
    let mut from = 0;
    std::iter::from_fn(move || {
        loop {
            let rest = text.as_bytes().get(from..)?;
            let at = rest.windows(WORD.len()).position(|window| window.eq_ignore_ascii_case(WORD))?;
            let start = from + at;
            from = start + WORD.len();
            let after = text.get(from..)?;
            let colon = after.trim_start_matches(is_space);
            if colon.starts_with(':') {
                return Some(Marker { start, end: from + after.len() - colon.len() + 1 });
            }
        }
    })
}

fn letter(text: &str, marker: Marker) -> Option<&str> {
    let rest = text.get(marker.end..)?.trim_start_matches(is_space);
    let mut chars = rest.chars();
    let is_letter = chars.next()?.is_ascii_alphabetic();
    let ends = chars.next().is_none_or(|c| !is_word(c));
    rest.get(..1).filter(|_| is_letter && ends)
}

/// The word of the first marker behind whose word no further marker follows; it can hold one: `ANSWER:
/// ANSWER:x`.
fn word(text: &str) -> Option<&str> {
    let last = markers(text).last()?.start;
    markers(text).find_map(|marker| {
        let rest = text.get(marker.end..)?;
        let word = rest.trim_start_matches(is_space);
        let start = text.len() - word.len();
        let word = word.split(is_space).next().filter(|word| !word.is_empty())?;
        let after = text.get(start + word.len()..)?.trim_start_matches(|c| c != '\n' && is_space(c));
        let ends_line = after.is_empty() || after.starts_with('\n');
        if !ends_line || last >= start + word.len() {
            return None;
        }
        let bare = word.strip_suffix(['.', ',', '!', '?', ':', ';']);
        Some(bare.filter(|bare| !bare.is_empty()).unwrap_or(word))
    })
}

/// The line of the first marker whose line is the last one; a blank one if there is nothing but blanks.
fn line(text: &str) -> Option<&str> {
    let end = text.trim_end_matches(is_space).len();
    let last_line = text.get(..end)?.rfind('\n').map_or(0, |at| at + 1);
    markers(text).find_map(|marker| {
        let rest = text.get(marker.end..)?;
        let line = rest.trim_start_matches(is_space);
        if line.is_empty() {
            return rest
                .trim_end_matches('\n')
                .char_indices()
                .next_back()
                .and_then(|(at, c)| rest.get(at..at + c.len_utf8()));
        }
        let start = text.len() - line.len();
        (start >= last_line).then(|| line.split('\n').next())?
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_words_and_lines() {
        for (text, letter, word, line) in [
            ("ANSWER: A", Some("A"), Some("A"), Some("A")),
            ("answer : a.", Some("a"), Some("a"), Some("a.")),
            ("ANSWER: yes sir", None, None, Some("yes sir")),
            ("ANSWER: B\nmore", Some("B"), Some("B"), None),
            ("ANSWER: A\nANSWER: B", Some("B"), Some("B"), Some("B")),
            ("ANSWER: A\nANSWER: (B)", None, Some("(B)"), Some("(B)")),
            ("ANSWER: ANSWER:x", Some("x"), Some("ANSWER:x"), Some("ANSWER:x")),
            ("no answer", None, None, None),
            ("ANSWER: ", None, None, Some(" ")),
            ("", None, None, None),
        ] {
            let found = [Answer::Letter, Answer::Word, Answer::Line].map(|kind| kind.find(text));
            assert_eq!(found, [letter, word, line], "{text:?}");
        }
    }
}
