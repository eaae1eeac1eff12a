//! Decimal digits of every script, which the reference reads in numbers: `１２` is twelve.

/// The digit zero of each script (Unicode general category Nd; the other nine follow it).
const ZEROS: &[u32] = &[
    0x30, 0x660, 0x6F0, 0x7C0, 0x966, 0x9E6, 0xA66, 0xAE6, 0xB66, 0xBE6, 0xC66, 0xCE6, 0xD66, 0xDE6, 0xE50,
    0xED0, 0xF20, 0x1040, 0x1090, 0x17E0, 0x1810, 0x1946, 0x19D0, 0x1A80, 0x1A90, 0x1B50, 0x1BB0, 0x1C40,
    0x1C50, 0xA620, 0xA8D0, 0xA900, 0xA9D0, 0xA9F0, 0xAA50, 0xABF0, 0xFF10, 0x104A0, 0x10D30, 0x11066,
    0x110F0, 0x11136, 0x111D0, 0x112F0, 0x11450, 0x114D0, 0x11650, 0x116C0, 0x11730, 0x118E0, 0x11950,
    0x11C50, 0x11D50, 0x11DA0, 0x16A60, 0x16AC0, 0x16B50, 0x1D7CE, 0x1D7D8, 0x1D7E2, 0x1D7EC, 0x1D7F6,
    0x1E140, 0x1E2F0, 0x1E950, 0x1FBF0,
];

/// The value of a decimal digit of any script.
pub(crate) fn decimal_digit(c: char) -> Option<u8> {
    if c.is_ascii() {
        return c.to_digit(10).map(|d| d as u8);
    }
    let code = u32::from(c);
    let zero = *ZEROS.get(ZEROS.partition_point(|zero| *zero <= code).checked_sub(1)?)?;
    u8::try_from(code - zero).ok().filter(|digit| *digit < 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_of_other_scripts() {
        assert!(ZEROS.is_sorted());
        assert_eq!(decimal_digit('7'), Some(7));
        assert_eq!(decimal_digit('٣'), Some(3));
        assert_eq!(decimal_digit('９'), Some(9));
        assert_eq!(decimal_digit('²'), None);
        assert_eq!(decimal_digit('\u{66a}'), None, "right after the Arabic nine");
        assert_eq!(decimal_digit('a'), None);
    }
}
