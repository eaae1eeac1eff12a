//! Decimal digits of every script, which the reference reads in numbers: `１２` is twelve.

/// The digit zero of each script (Unicode general category Nd; the other nine follow it).
const ZEROS: &[char] = &[
    '\u{30}',
    '\u{660}',
    '\u{6F0}',
    '\u{7C0}',
    '\u{966}',
    '\u{9E6}',
    '\u{A66}',
    '\u{AE6}',
    '\u{B66}',
    '\u{BE6}',
    '\u{C66}',
    '\u{CE6}',
    '\u{D66}',
    '\u{DE6}',
    '\u{E50}',
    '\u{ED0}',
    '\u{F20}',
    '\u{1040}',
    '\u{1090}',
    '\u{17E0}',
    '\u{1810}',
    '\u{1946}',
    '\u{19D0}',
    '\u{1A80}',
    '\u{1A90}',
    '\u{1B50}',
    '\u{1BB0}',
    '\u{1C40}',
    '\u{1C50}',
    '\u{A620}',
    '\u{A8D0}',
    '\u{A900}',
    '\u{A9D0}',
    '\u{A9F0}',
    '\u{AA50}',
    '\u{ABF0}',
    '\u{FF10}',
    '\u{104A0}',
    '\u{10D30}',
    '\u{11066}',
    '\u{110F0}',
    '\u{11136}',
    '\u{111D0}',
    '\u{112F0}',
    '\u{11450}',
    '\u{114D0}',
    '\u{11650}',
    '\u{116C0}',
    '\u{11730}',
    '\u{118E0}',
    '\u{11950}',
    '\u{11C50}',
    '\u{11D50}',
    '\u{11DA0}',
    '\u{16A60}',
    '\u{16AC0}',
    '\u{16B50}',
    '\u{1D7CE}',
    '\u{1D7D8}',
    '\u{1D7E2}',
    '\u{1D7EC}',
    '\u{1D7F6}',
    '\u{1E140}',
    '\u{1E2F0}',
    '\u{1E950}',
    '\u{1FBF0}',
];

/// The value of a decimal digit of any script.
pub(crate) fn decimal_digit(c: char) -> Option<u8> {
    if c.is_ascii() {
        return c.to_digit(10).map(|d| d as u8);
    }
    let zero = *ZEROS.get(ZEROS.partition_point(|zero| *zero <= c).checked_sub(1)?)?;
    u8::try_from(c as u32 - zero as u32).ok().filter(|digit| *digit < 10)
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
