//! The line of a question that tells it from others.

/// The number of characters of a preview.
const LENGTH: usize = 120;

/// One line of a text: of several, the last one that asks something, because a passage often stands before its question;
/// else the first.
pub(super) fn preview(text: &str) -> String {
    // Of a very long text only both ends are looked at.
    const LOOKED_AT: usize = 20_000;
    let end = text.floor_char_boundary(LOOKED_AT.min(text.len()));
    let start = text.ceil_char_boundary(text.len().saturating_sub(LOOKED_AT));
    let last = text.get(start..).unwrap_or_default().lines().rev().map(str::trim);
    let question = last.filter(|line| !line.is_empty()).take(12).find(|line| line.ends_with('?'));
    let mut first =
        text.get(..end).unwrap_or_default().lines().map(str::trim).filter(|line| !line.is_empty());
    let line = question.or_else(|| first.next()).unwrap_or_default();
    match line.char_indices().nth(LENGTH) {
        Some((at, _)) => format!("{}…", line.get(..at).unwrap_or_default()),
        None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::preview;

    #[test]
    fn a_question_after_a_passage_is_found() {
        assert_eq!(preview("The lake is green.\n\nWhat makes it green?\n\n"), "What makes it green?");
        assert_eq!(preview("What is it?\nA) one\nB) two"), "What is it?");
        assert_eq!(preview("\n Add 2 and 2.\nAnswer:"), "Add 2 and 2.");
        assert_eq!(preview(""), "");
        assert_eq!(preview(&"é".repeat(30_000)).chars().count(), 121);
    }
}
