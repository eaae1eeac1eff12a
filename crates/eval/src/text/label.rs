//! The labels of choices: A to Z, then the numbers from 1 on.

use super::TextError;
use super::space::is_space;

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
pub fn choice_places(targets: &[impl AsRef<str>], choices: usize) -> Result<Vec<usize>, TextError> {
    let mut places = Vec::new();
    for target in targets {
        let target = target.as_ref();
        for part in target.split(|c| c == ',' || is_space(c)).filter(|part| !part.is_empty()) {
            if part.bytes().all(|b| b.is_ascii_digit()) {
                places.push(place_of(part.trim_start_matches('0'), part, target, choices)?);
                continue;
            }
            for (at, c) in part.char_indices() {
                let label = part.get(at..at + c.len_utf8()).unwrap_or(part);
                places.push(place_of(label, label, target, choices)?);
            }
        }
    }
    places.sort_unstable();
    Ok(places)
}

fn place_of(label: &str, written: &str, target: &str, choices: usize) -> Result<usize, TextError> {
    if let Some(place) = written_place(label, choices) {
        return Ok(place);
    }
    let (target, label) = (target.to_owned(), written.to_owned());
    match written_place(&label, usize::MAX) {
        None => Err(TextError::Label { target, label }),
        Some(_) => {
            let last = choice_label(choices.saturating_sub(1));
            Err(TextError::BeyondChoices { target, label, choices, last })
        }
    }
}

#[cfg(test)]
mod tests {
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
        assert!(matches!(choice_places(&["E"], 4), Err(TextError::BeyondChoices { choices: 4, .. })));
        assert!(matches!(choice_places(&["(A)"], 4), Err(TextError::Label { .. })));
        assert!(matches!(choice_places(&["0"], 40), Err(TextError::Label { .. })));
    }
}
