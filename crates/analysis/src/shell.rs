//! Commands to paste into a shell. Their words may come from a log, and must not be commands themselves.

use std::path::Path;

/// A word of a command, in quotes where it needs some.
pub fn word(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-./:=@%+,".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// The same for a path, which must not be taken for an option.
pub fn path(path: &Path) -> String {
    let text = path.display().to_string();
    if text.starts_with('-') { word(&format!("./{text}")) } else { word(&text) }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{path, word};

    #[test]
    fn a_path_is_no_option() {
        assert_eq!(
            [path(Path::new("--view.toml")), path(Path::new("a b/-c"))],
            ["./--view.toml", "'a b/-c'"]
        );
    }

    #[test]
    fn what_a_shell_would_obey_is_in_quotes() {
        for (text, expected) in [
            ("logs/a_1.eval", "logs/a_1.eval"),
            ("http://127.0.0.1:8000/v1", "http://127.0.0.1:8000/v1"),
            ("", "''"),
            ("my logs/a.eval", "'my logs/a.eval'"),
            ("http://h/$(rm -rf ~)", "'http://h/$(rm -rf ~)'"),
            ("a'; rm x; '", r"'a'\''; rm x; '\'''"),
        ] {
            assert_eq!(word(text), expected);
        }
    }
}
