//! Cells that a spreadsheet takes for text.

use std::borrow::Cow;

/// A cell of CSV for spreadsheets: one that begins as a formula does, and is no number, gets an apostrophe in front of it,
/// which makes it a text. A formula begins with `=`, `+`, `-` or `@`, also full-width and behind white space and characters
/// that are not shown, because spreadsheets may drop these; and a cell with a tab or the end of a line.
///
/// ```
/// use errorbar_table::write::spreadsheet_cell;
///
/// assert_eq!(spreadsheet_cell("=cmd|' /C calc'!A0"), "'=cmd|' /C calc'!A0");
/// assert_eq!(["-0.5", "+1e3", "a=b"].map(spreadsheet_cell), ["-0.5", "+1e3", "a=b"]);
/// ```
pub fn spreadsheet_cell(text: &str) -> Cow<'_, str> {
    let is_number = || text.trim().parse().is_ok_and(f64::is_finite);
    let shown = text.trim_start_matches(|c: char| c.is_whitespace() || is_hidden(c));
    let begins_formula = text.starts_with(['\t', '\r', '\n'])
        || shown.starts_with(['=', '+', '-', '@', '＝', '＋', '－', '＠']);
    match begins_formula && !is_number() {
        true => Cow::Owned(format!("'{text}")),
        false => Cow::Borrowed(text),
    }
}

/// Whether a character is a control or a format character (soft hyphens, joiners, marks of direction, the byte-order mark,
/// annotations, variation selectors, tags).
fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{180b}'..='\u{180e}' | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_formula_is_found_behind_what_spreadsheets_drop() {
        let begins =
            ["=1", "+a", "-a", "@SUM(1)", "＝1+1", "＋1+1", "－1+1", "＠SUM(1)", "\ta", "\ra", "\na"];
        let behind = [
            " ",
            "\n",
            "\u{a0}",
            "\u{feff}",
            "\u{b}",
            "\u{c}",
            "\u{85}",
            "\u{2028}",
            "\u{200b}",
            "\u{3000}",
            "\0",
            "\u{ad}",
            "\u{202e}",
            "\u{2060}",
            " \u{feff}\n",
        ];
        let hidden = behind.iter().map(|start| format!("{start}=1"));
        for cell in begins.map(str::to_owned).into_iter().chain(hidden) {
            assert_eq!(spreadsheet_cell(&cell), format!("'{cell}"));
        }
        for cell in [
            "",
            " ",
            "a=1",
            " a",
            "\u{a0}a",
            "é=1",
            "-1",
            " -1",
            "\u{2028}+1e3 ",
            "1-1",
            "(=1)",
            "'=1",
            "数=1",
        ] {
            assert_eq!(spreadsheet_cell(cell), cell);
        }
    }
}
