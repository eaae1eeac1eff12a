//! Numbers in messages.

/// `1 sample`, `2 samples`.
pub fn counted(count: u64, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// A number with this number of significant digits.
pub fn significant(number: f64, digits: usize) -> String {
    let decimals = digits.saturating_sub(1);
    // Rounded first: 0.0996 with two digits is 0.10, not 0.100.
    let scientific = format!("{number:.decimals$e}");
    let exponent = scientific.rsplit('e').next().and_then(|power| power.parse::<i32>().ok());
    match exponent {
        Some(exponent @ -6..=15) => {
            let decimals = usize::try_from(decimals as i32 - exponent).unwrap_or(0);
            format!("{number:.decimals$}")
        }
        _ => scientific,
    }
}

/// A number with this number of significant digits, without zeros at its end.
pub fn short(number: f64, digits: usize) -> String {
    let text = significant(number, digits);
    match text.contains('.') && !text.contains('e') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::significant;

    #[test]
    fn errors_have_two_digits() {
        let shown = [0.0234567, 0.0996, 12.34, 456.7, 1.0, 3e-9, 2.5e20].map(|error| significant(error, 2));
        assert_eq!(shown, ["0.023", "0.10", "12", "457", "1.0", "3.0e-9", "2.5e20"]);
    }
}
