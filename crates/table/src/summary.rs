//! Rows that sum up others, as spreadsheets have them.

/// How many rows at the end of a table are looked at.
pub(super) const LAST_ROWS: usize = 5;

const NAMES: [&str; 43] = [
    "total",
    "totals",
    "grand total",
    "subtotal",
    "sum",
    "average",
    "avg",
    "avg.",
    "mean",
    "overall",
    "median",
    "summary",
    "std",
    "sd",
    "stdev",
    "std dev",
    "stderr",
    "min",
    "max",
    "count",
    "macro",
    "micro",
    "weighted",
    "macro avg",
    "micro avg",
    "weighted avg",
    "accuracy",
    "durchschnitt",
    "summe",
    "gesamt",
    "gesamtergebnis",
    "ergebnis",
    "insgesamt",
    "mittelwert",
    "all",
    "moyenne",
    "somme",
    "media",
    "média",
    "promedio",
    "suma",
    "totale",
    "gemiddelde",
];

/// Whether a name is that of a row which sums up others, such as `Total`, `Mean:` or `TOTAL (2)`.
pub(super) fn is_summary(name: &str) -> bool {
    let name = name.trim();
    let bare = match name.strip_suffix(')').and_then(|name| name.rsplit_once('(')) {
        Some((bare, _)) => bare.trim_end(),
        None => name,
    };
    let bare = bare.strip_suffix(':').unwrap_or(bare).trim_end().to_lowercase();
    NAMES.contains(&bare.as_str())
}

/// The rows, of this many, that may sum up the others: the first, and a few at the end.
pub(super) fn candidates(rows: usize) -> impl Iterator<Item = usize> {
    let last = rows.saturating_sub(LAST_ROWS).max(1);
    std::iter::once(0).chain(last..rows)
}

/// The lines of a text that are not blank.
pub(super) fn lines(text: &[u8]) -> Vec<&[u8]> {
    text.split(|byte| matches!(byte, b'\n' | b'\r')).filter(|line| !line.trim_ascii().is_empty()).collect()
}

/// The first cell of a line, if it names a row that sums up others.
pub(super) fn of_line(line: &[u8]) -> Option<&str> {
    let mut cells = line.split(|byte| matches!(byte, b',' | b';' | b'\t' | b'|')).map(<[u8]>::trim_ascii);
    let first = cells.find(|cell| !cell.is_empty())?;
    let first = first.strip_prefix(b"\"").and_then(|first| first.strip_suffix(b"\"")).unwrap_or(first);
    str::from_utf8(first).ok().filter(|name| is_summary(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_places() {
        for name in [
            "Total",
            "MEAN:",
            "TOTAL (2)",
            "Std",
            " Durchschnitt ",
            "Macro avg",
            "ALL",
            "Moyenne",
            "Media",
            "Ergebnis",
        ] {
            assert!(is_summary(name), "{name}");
        }
        assert!(!is_summary("max_depth") && !is_summary("") && !is_summary("(2)"));
        assert_eq!(candidates(1).collect::<Vec<_>>(), [0]);
        assert_eq!(candidates(3).collect::<Vec<_>>(), [0, 1, 2]);
        assert_eq!(candidates(9).collect::<Vec<_>>(), [0, 4, 5, 6, 7, 8]);
        assert_eq!(of_line(b",\"Average\",0.5"), Some("Average"));
    }
}
