//! Excerpts of server responses, for error messages.

/// The beginning of a string in one line, with nothing in it that a terminal would obey.
pub(super) fn excerpt(text: &str, most_characters: usize) -> String {
    let text = text.trim();
    let mut shown = String::new();
    for (count, character) in text.chars().enumerate() {
        if count == most_characters {
            shown.push('…');
            break;
        }
        // Not quotes, which `escape_debug` would escape as well, but all that is invisible or turns the direction.
        match character {
            '"' | '\'' | '\\' => shown.push(character),
            other => shown.extend(other.escape_debug()),
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_has_nothing_to_obey() {
        assert_eq!(excerpt(" a\"b'\\\n\x1b[31m\u{202e}é日 ", 99), r#"a"b'\\n\u{1b}[31m\u{202e}é日"#);
    }

    #[test]
    fn long_strings_are_cut_between_characters() {
        assert_eq!(excerpt("éééé", 4), "éééé");
        assert_eq!(excerpt("ééééé", 4), "éééé…");
    }
}
