//! The script and the stylesheet of pages.
//!
//! ES modules under `assets/` are written and checked as such; a page has one script, so that its policy allows one hash
//! and the file opens from disk, where browsers refuse imports. The modules are joined in order: each needs only those
//! before it, and names are unique over all of them (a test checks both).

use std::fmt::Write as _;
use std::sync::LazyLock;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};

/// The modules, each after those that it imports.
const MODULES: [(&str, &str); 14] = [
    ("dom.js", include_str!("../assets/dom.js")),
    ("text.js", include_str!("../assets/text.js")),
    ("diff.js", include_str!("../assets/diff.js")),
    ("source.js", include_str!("../assets/source.js")),
    ("samples.js", include_str!("../assets/samples.js")),
    ("filter.js", include_str!("../assets/filter.js")),
    ("link.js", include_str!("../assets/link.js")),
    ("list.js", include_str!("../assets/list.js")),
    ("conversation.js", include_str!("../assets/conversation.js")),
    ("compare.js", include_str!("../assets/compare.js")),
    ("detail.js", include_str!("../assets/detail.js")),
    ("csv.js", include_str!("../assets/csv.js")),
    ("browser.js", include_str!("../assets/browser.js")),
    ("page.js", include_str!("../assets/page.js")),
];

/// The script of every page, for one `<script type="module">`.
pub fn script() -> &'static str {
    static SCRIPT: LazyLock<String> = LazyLock::new(|| joined(&MODULES));
    &SCRIPT
}

/// The stylesheet of a page and its drawings: one file for each concern, joined at compile time.
pub fn style() -> &'static str {
    concat!(
        include_str!("../assets/base.css"),
        include_str!("../assets/page.css"),
        include_str!("../assets/plot.css"),
        include_str!("../assets/samples.css"),
        include_str!("../assets/browser.css"),
        // Last, because it changes what the others say for small screens and for paper.
        include_str!("../assets/narrow.css"),
    )
}

/// The source of an inline script or style in a content security policy: `'sha256-…'`.
///
/// ```
/// assert_eq!(errorbar_report::assets::policy_source(""), "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='");
/// ```
pub fn policy_source(text: &str) -> String {
    format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text.as_bytes())))
}

/// The modules as one, without the lines that join them, and without comments that start a line.
fn joined(modules: &[(&str, &str)]) -> String {
    let mut script = String::new();
    for (name, text) in modules {
        // Writing to memory does not fail.
        let _ = writeln!(script, "// {name}");
        let mut in_comment = false;
        for line in text.lines() {
            let start = line.trim_start();
            in_comment |= start.starts_with("/**");
            let is_left_out = in_comment
                || start.is_empty()
                || start.starts_with("//")
                || (line.starts_with("import ") && line.ends_with(".js';"));
            in_comment &= !start.ends_with("*/");
            if !is_left_out {
                script.push_str(line.strip_prefix("export ").unwrap_or(line).trim_end());
                script.push('\n');
            }
        }
    }
    script
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_module_needs_only_those_before_it() {
        let mut before = HashSet::new();
        for (name, text) in MODULES {
            for line in text.lines().filter(|line| line.starts_with("import ")) {
                let from = line.split("'./").nth(1).and_then(|rest| rest.strip_suffix("';"));
                assert!(from.is_some_and(|from| before.contains(from)), "{name}: {line}");
            }
            before.insert(name);
        }
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/assets");
        for entry in std::fs::read_dir(folder).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            let is_listed = before.contains(name.as_str()) || !name.ends_with(".js") || name == "types.js";
            assert!(is_listed, "{name} is in no page");
        }
    }

    #[test]
    fn names_are_unique_over_all_modules() {
        let mut names = HashSet::new();
        for (module, text) in MODULES {
            for line in text.lines() {
                let line = line.strip_prefix("export ").unwrap_or(line);
                let line = line.strip_prefix("async ").unwrap_or(line);
                let declared =
                    ["const ", "let ", "function ", "class "].iter().find_map(|kind| line.strip_prefix(kind));
                let Some(declared) = declared else { continue };
                let name: String =
                    declared.chars().take_while(|c| c.is_alphanumeric() || "_$".contains(*c)).collect();
                assert!(!name.is_empty(), "{module}: {line}");
                assert!(names.insert(name.clone()), "{module} declares {name} again");
            }
        }
        assert!(names.contains("SampleBrowser"), "{names:?}");
    }

    #[test]
    fn the_script_has_no_trace_of_modules() {
        for line in script().lines() {
            assert!(!line.starts_with("import ") && !line.starts_with("export "), "{line}");
        }
        // It stands in an HTML element.
        assert!(!script().to_lowercase().contains("</script"));
        assert!(!script().contains("<!--"));
    }
}
