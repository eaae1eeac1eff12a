//! Which choices of a multiple choice question a completion marks, and whether they are the right ones.

use errorbar_core::{Error, Result, Score};

use super::matches::is_target;
use super::words::{is_blank, is_space, is_word, trim, words};
use super::{INVALID_RESPONSE_FORMAT, grade, not_found, scored};

/// The places, from 0 and sorted, of the choices that a completion marks after `ANSWER:`; none if it marks
/// none that can be read, or one that is not there.
///
/// The last `ANSWER:` that begins a line counts if nothing follows its labels on the line; otherwise the last
/// one at all. With `multiple`, labels may be separated by commas, "and" or blanks, or by nothing.
pub fn marked_choices(completion: &str, choices: usize, multiple: bool) -> Option<Vec<usize>> {
    let text = without_pairs(completion, "$");
    let text = without_pairs(&text, "**");
    let labels = labels_on_own_line(&text).or_else(|| labels_anywhere(&text))?;
    let mut places = if multiple { several(&labels, choices)? } else { vec![single(&labels, choices)?] };
    places.sort_unstable();
    places.dedup();
    Some(places)
}

/// Judges which choices were marked: right when they are exactly those that the targets name. The answer is
/// their labels.
///
/// # Errors
/// A target that names no choice of the question.
pub fn judge_choices(
    completion: &str,
    marked: &[usize],
    choices: usize,
    targets: &[impl AsRef<str>],
) -> Result<Score> {
    let is_right = choice_places(targets, choices)? == marked;
    let value = if !is_right && is_blank(completion) { "N" } else { grade(is_right) };
    let labels: Vec<String> = marked.iter().map(|place| choice_label(*place)).collect();
    let mut score = scored(completion, value, Some(labels.join(", ")));
    if is_right {
        // No choice was expected and none was marked.
        score.reason = None;
    } else if marked.is_empty() {
        score.reason.get_or_insert_with(|| INVALID_RESPONSE_FORMAT.to_owned());
    }
    Ok(score)
}

/// Whether a character can be part of a list of labels.
fn is_listed(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, ' ' | ',')
}

/// Without pairs of a markup sign around nothing but labels: `**A**`, `$B, C$`.
fn without_pairs(text: &str, sign: &str) -> String {
    let mut kept = String::new();
    let mut rest = text;
    let mut from = 0;
    while let Some(at) = rest.get(from..).and_then(|ahead| ahead.find(sign)).map(|at| from + at) {
        let inside = rest.get(at + sign.len()..).unwrap_or_default();
        let content = inside.trim_start_matches(is_space);
        let list = content.trim_start_matches(is_listed).trim_start_matches(is_space);
        if list.starts_with(sign) && content.starts_with(|c: char| c.is_ascii_alphanumeric()) {
            let content = content.get(..content.len() - list.len()).unwrap_or_default();
            kept.push_str(rest.get(..at).unwrap_or_default());
            kept.push_str(content.trim_end_matches(is_space));
            rest = list.get(sign.len()..).unwrap_or_default();
            from = 0;
        } else {
            from = at + 1;
        }
    }
    kept + rest
}

/// The labels after the last marker that begins a line and has nothing but labels behind it.
fn labels_on_own_line(text: &str) -> Option<String> {
    let begins_line =
        |marker: &Marker| marker.start == 0 || text.get(..marker.start).is_some_and(|t| t.ends_with('\n'));
    let labels = |marker: Marker| {
        let lists = LabelList::read(text.get(marker.end..)?);
        lists.into_iter().flatten().find(|list| ends_line(list.after)).map(|list| list.labels)
    };
    answers(text).filter(begins_line).filter_map(labels).next_back()
}

/// The labels after the last marker, as far as they go. A marker among the labels of the one before does not
/// count.
fn labels_anywhere(text: &str) -> Option<String> {
    let mut found = None;
    let mut from = 0;
    for marker in answers(text) {
        if marker.start < from {
            continue;
        }
        let lists = LabelList::read(text.get(marker.end..)?);
        if let Some(list) = lists.into_iter().flatten().find_map(LabelList::ending_with_a_word) {
            from = text.len() - list.after.len();
            found = Some(list.labels);
        }
    }
    found
}

/// Whether nothing, or a full stop, follows on the line.
fn ends_line(text: &str) -> bool {
    let rest = text.trim_start_matches(|c| is_space(c) && c != '\n');
    rest.is_empty() || rest.starts_with(['\n', '.'])
}

/// Labels and what separates them, and the text behind them.
struct LabelList<'a> {
    labels: String,
    after: &'a str,
}

impl<'a> LabelList<'a> {
    /// The list that begins a text, if there is one, and then the one of nothing but spaces, if there are
    /// spaces: an answer that cannot be read is not the same as none.
    fn read(text: &'a str) -> [Option<Self>; 2] {
        let mut after = text.trim_start_matches(is_space);
        let blanks = text.get(..text.len() - after.len()).unwrap_or_default();
        let mut labels = String::new();
        while let Some(c) = after.chars().next() {
            let begins_item = || labels.trim_end_matches(' ').chars().next_back().is_none_or(|c| c == ',');
            let (label, length) = match in_brackets(after) {
                Some(label) if begins_item() => (label, 3),
                _ if is_listed(c) => (c, 1),
                _ => break,
            };
            labels.push(label);
            after = after.get(length..).unwrap_or_default();
        }
        let spaces = blanks.find(' ').and_then(|at| text.get(at..)).map(|spaces| {
            let after = spaces.trim_start_matches(' ');
            LabelList { labels: " ".repeat(spaces.len() - after.len()), after }
        });
        [(!labels.is_empty()).then_some(LabelList { labels, after }), spaces]
    }

    /// The list up to its last whole word; nothing if it has none.
    fn ending_with_a_word(mut self) -> Option<Self> {
        if self.after.starts_with(is_word) {
            let end = self.labels.rfind([' ', ','])?;
            self.labels.truncate(end);
        }
        (!self.labels.is_empty()).then_some(self)
    }
}

/// The label in `(A)`, if its item of the list ends there.
fn in_brackets(text: &str) -> Option<char> {
    let [b'(', label, b')', ..] = text.as_bytes() else { return None };
    let after = text.get(3..)?;
    let ends_item = ends_line(after) || after.trim_start_matches(is_space).starts_with(',');
    (label.is_ascii_alphanumeric() && ends_item).then(|| char::from(*label))
}

fn single(labels: &str, choices: usize) -> Option<usize> {
    written_place(trim(labels).trim_matches(','), choices)
}

fn several(labels: &str, choices: usize) -> Option<Vec<usize>> {
    let separated = commas_for_and(labels);
    let joined = separated.replace(' ', "");
    let items: Vec<&str> = match separated.contains(',') {
        true => separated.split(',').map(trim).collect(),
        false if written_place(&joined, choices).is_some() => vec![&joined],
        false => joined.split("").collect(),
    };
    let items = items.into_iter().filter(|item| !item.is_empty());
    let places: Option<Vec<usize>> = items.map(|item| written_place(item, choices)).collect();
    places.filter(|places| !places.is_empty())
}

/// The word "and" between two labels separates them as a comma does.
fn commas_for_and(labels: &str) -> String {
    let mut list = String::with_capacity(labels.len());
    let mut parts = words(labels).peekable();
    let mut after_and = true;
    while let Some(word) = parts.next() {
        after_and = !after_and && parts.peek().is_some() && word.eq_ignore_ascii_case("and");
        if after_and {
            list.push(',');
            continue;
        }
        if !list.is_empty() && !list.ends_with(',') {
            list.push(' ');
        }
        list.push_str(word);
    }
    list
}

/// The label of the choice at this place, from 0.
pub fn choice_label(place: usize) -> String {
    match u8::try_from(place) {
        Ok(small) if small < 26 => char::from(b'A' + small).to_string(),
        _ => place.saturating_sub(25).to_string(),
    }
}

/// The place of a label that a model wrote, in either case, if there are that many choices.
pub(crate) fn written_place(label: &str, choices: usize) -> Option<usize> {
    let place = match label.as_bytes() {
        [letter] if letter.is_ascii_alphabetic() => usize::from(letter.to_ascii_uppercase() - b'A'),
        [b'1'..=b'9', rest @ ..] if rest.iter().all(u8::is_ascii_digit) => {
            label.parse::<usize>().ok()?.checked_add(25)?
        }
        _ => return None,
    };
    (place < choices).then_some(place)
}

/// The places that the targets of a multiple choice question name, sorted. A target holds one label or
/// several: `A`, `AC`, `A, C`, `12`.
///
/// # Errors
/// A part of a target that is no label, or names a choice that is not there.
pub fn choice_places(targets: &[impl AsRef<str>], choices: usize) -> Result<Vec<usize>> {
    let mut places = Vec::new();
    for target in targets {
        let target = target.as_ref();
        for part in target.split(|c| c == ',' || is_space(c)).filter(|part| !part.is_empty()) {
            if part.bytes().all(|b| b.is_ascii_digit()) {
                places.push(place_of(part.trim_start_matches('0'), part, target, choices)?);
                continue;
            }
            for label in part.split("").filter(|label| !label.is_empty()) {
                places.push(place_of(label, label, target, choices)?);
            }
        }
    }
    places.sort_unstable();
    Ok(places)
}

fn place_of(label: &str, written: &str, target: &str, choices: usize) -> Result<usize> {
    if let Some(place) = written_place(label, choices) {
        return Ok(place);
    }
    Err(Error::custom(match written_place(written, usize::MAX) {
        None => format!(
            "the target {target:?} names no choice: {written:?} is neither a letter nor a number from 1 on"
        ),
        Some(_) => {
            let last = choice_label(choices.saturating_sub(1));
            format!(
                "the target {target:?} names the choice {written}, but there are only {choices} choices, A to {last}"
            )
        }
    }))
}

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
    pub fn judge(self, completion: &str, targets: &[impl AsRef<str>]) -> Score {
        match self.find(completion) {
            Some(answer) => {
                let right = !answer.is_empty() && is_target(answer, targets, true);
                scored(completion, grade(right), Some(answer.to_owned()))
            }
            None => not_found(completion),
        }
    }

    /// The answer in a completion.
    fn find(self, completion: &str) -> Option<&str> {
        match self {
            Answer::Letter => letter(completion, answers(completion).next_back()?),
            Answer::Word => word(completion),
            Answer::Line => line(completion),
        }
    }
}

/// A place where a word such as `ANSWER:` stands.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Marker {
    /// Where it begins.
    pub(crate) start: usize,
    /// Where its colon ends.
    pub(crate) end: usize,
}

/// Where `ANSWER:` stands, from left to right.
fn answers(text: &str) -> impl DoubleEndedIterator<Item = Marker> {
    markers(text, "answer", is_space)
}

/// Where a word in any case stands before a colon, from left to right; what is between them is skipped.
pub(crate) fn markers(
    text: &str,
    word: &'static str,
    is_between: fn(char) -> bool,
) -> impl DoubleEndedIterator<Item = Marker> {
    let windows = text.as_bytes().windows(word.len()).enumerate();
    let found = windows.filter(move |(_, window)| window.eq_ignore_ascii_case(word.as_bytes()));
    found.filter_map(move |(start, _)| {
        let colon = text.get(start + word.len()..)?.trim_start_matches(is_between);
        colon.starts_with(':').then(|| Marker { start, end: text.len() - colon.len() + 1 })
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
    let last = answers(text).next_back()?.start;
    answers(text).find_map(|marker| {
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
    answers(text).find_map(|marker| {
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
mod label_tests {
    use super::*;

    #[test]
    fn labels_and_places_are_inverse() {
        for place in 0..300 {
            assert_eq!(written_place(&choice_label(place), 300), Some(place));
        }
        assert_eq!(choice_label(25), "Z");
        assert_eq!(choice_label(26), "1");
        assert_eq!(written_place("E", 4), None);
    }

    #[test]
    fn targets_name_places() {
        assert_eq!(choice_places(&["B", "A"], 4), Ok(vec![0, 1]));
        assert_eq!(choice_places(&["c,a"], 4), Ok(vec![0, 2]));
        assert_eq!(choice_places(&["A 10"], 40), Ok(vec![0, 35]));
        let refused = |target: &str, choices| choice_places(&[target], choices).unwrap_err().to_string();
        assert!(refused("E", 4).ends_with("there are only 4 choices, A to D"));
        assert!(refused("(A)", 4).contains("names no choice"));
        assert!(refused("0", 40).contains("names no choice"));
    }
}

#[cfg(test)]
mod answer_tests {
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
