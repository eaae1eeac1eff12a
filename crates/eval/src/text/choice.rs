//! Which choices of a multiple choice question a completion marks, and whether they are the right ones.

use super::answer::{Marker, markers};
use super::label::{choice_label, choice_places, written_place};
use super::space::{is_blank, is_space, is_word, trim, words};
use super::{INVALID_RESPONSE_FORMAT, Judgement, Mark, TextError};

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
pub fn judge_choices<'a>(
    completion: &'a str,
    marked: &[usize],
    choices: usize,
    targets: &[impl AsRef<str>],
) -> Result<Judgement<'a>, TextError> {
    let right = choice_places(targets, choices)? == marked;
    let mark = match is_blank(completion) {
        _ if right => Mark::Correct,
        true => Mark::NoAnswer,
        false => Mark::Incorrect,
    };
    let labels: Vec<String> = marked.iter().map(|place| choice_label(*place)).collect();
    let mut judgement = Judgement::new(completion, mark, Some(labels.join(", ").into()));
    if mark == Mark::Correct {
        // No choice was expected and none was marked.
        judgement.reason = None;
    } else if marked.is_empty() {
        judgement.reason.get_or_insert(INVALID_RESPONSE_FORMAT);
    }
    Ok(judgement)
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
    markers(text).filter(begins_line).filter_map(labels).last()
}

/// The labels after the last marker, as far as they go. A marker among the labels of the one before does not
/// count.
fn labels_anywhere(text: &str) -> Option<String> {
    let mut found = None;
    let mut from = 0;
    for marker in markers(text) {
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
    if separated.contains(',') {
        let items: Vec<&str> = separated.split(',').map(trim).filter(|item| !item.is_empty()).collect();
        return items
            .into_iter()
            .map(|item| written_place(item, choices))
            .collect::<Option<Vec<_>>>()
            .filter(|p| !p.is_empty());
    }
    let joined = separated.replace(' ', "");
    if let Some(place) = written_place(&joined, choices) {
        return Some(vec![place]);
    }
    let letters =
        joined.char_indices().map(|(at, c)| written_place(joined.get(at..at + c.len_utf8())?, choices));
    letters.collect::<Option<Vec<_>>>().filter(|places| !places.is_empty())
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
