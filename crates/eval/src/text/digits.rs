//! Characters that stand for numbers, in the scripts and forms that models write.

/// The zeros of the decimal digits of every script (Unicode 14, general category Nd); each is followed by its
/// 1 to 9.
const ZEROS: [u32; 65] = [
    0x660, 0x6f0, 0x7c0, 0x966, 0x9e6, 0xa66, 0xae6, 0xb66, 0xbe6, 0xc66, 0xce6, 0xd66, 0xde6, 0xe50, 0xed0,
    0xf20, 0x1040, 0x1090, 0x17e0, 0x1810, 0x1946, 0x19d0, 0x1a80, 0x1a90, 0x1b50, 0x1bb0, 0x1c40, 0x1c50,
    0xa620, 0xa8d0, 0xa900, 0xa9d0, 0xa9f0, 0xaa50, 0xabf0, 0xff10, 0x104a0, 0x10d30, 0x11066, 0x110f0,
    0x11136, 0x111d0, 0x112f0, 0x11450, 0x114d0, 0x11650, 0x116c0, 0x11730, 0x118e0, 0x11950, 0x11c50,
    0x11d50, 0x11da0, 0x16a60, 0x16ac0, 0x16b50, 0x1d7ce, 0x1d7d8, 0x1d7e2, 0x1d7ec, 0x1d7f6, 0x1e140,
    0x1e2f0, 0x1e950, 0x1fbf0,
];

/// The value of a decimal digit of any script.
pub(crate) fn decimal_digit(c: char) -> Option<u32> {
    if c.is_ascii() {
        return c.to_digit(10);
    }
    let code = u32::from(c);
    let after = ZEROS.partition_point(|zero| *zero <= code);
    let zero = ZEROS.get(after.checked_sub(1)?)?;
    Some(code - zero).filter(|value| *value < 10)
}

/// The value of a character that stands for one digit within a number: also superscript, subscript, circled
/// and Chinese digits.
pub(crate) fn any_digit(c: char) -> Option<u32> {
    decimal_digit(c)
        .or_else(|| superscript_digit(c))
        .or_else(|| enclosed(c).filter(|value| *value < 10))
        .or_else(|| chinese_digit(c))
        .or_else(|| match c {
            '₀'..='₉' => Some(u32::from(c) - u32::from('₀')),
            _ => None,
        })
}

/// The value of a raised digit, as in 10⁶.
pub(crate) fn superscript_digit(c: char) -> Option<u32> {
    match c {
        '¹' => Some(1),
        '²' => Some(2),
        '³' => Some(3),
        '⁰' | '⁴'..='⁹' => Some(u32::from(c) - u32::from('⁰')),
        _ => None,
    }
}

/// The value of a character that is a fraction.
pub(crate) fn fraction(c: char) -> Option<f64> {
    const ABOVE: [u8; 19] = [1, 1, 2, 1, 3, 1, 2, 3, 4, 1, 5, 1, 1, 3, 5, 7, 1, 1, 0];
    const BELOW: [u8; 19] = [2, 3, 3, 4, 4, 5, 5, 5, 5, 6, 6, 7, 8, 8, 8, 8, 9, 10, 3];
    let at = "½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅐⅛⅜⅝⅞⅑⅒↉".chars().position(|fraction| fraction == c)?;
    Some(f64::from(*ABOVE.get(at)?) / f64::from(*BELOW.get(at)?))
}

/// The value of a character that is a whole number by itself: circled numbers, Roman numerals, Chinese units.
pub(crate) fn lone_number(c: char) -> Option<f64> {
    enclosed(c).or_else(|| roman(c)).or_else(|| chinese_unit(c)).map(f64::from).or_else(|| chinese_myriad(c))
}

/// Numbers in circles, in brackets, or with a full stop.
fn enclosed(c: char) -> Option<u32> {
    let (first, value) = match c {
        '①'..='⑳' => ('①', 1),
        '⑴'..='⒇' => ('⑴', 1),
        '⒈'..='⒛' => ('⒈', 1),
        '⓪' => ('⓪', 0),
        '⓫'..='⓴' => ('⓫', 11),
        '⓵'..='⓾' => ('⓵', 1),
        '⓿' => ('⓿', 0),
        '❶'..='❿' => ('❶', 1),
        '➀'..='➉' => ('➀', 1),
        '➊'..='➓' => ('➊', 1),
        '㉑'..='㉟' => ('㉑', 21),
        '㊱'..='㊿' => ('㊱', 36),
        _ => return None,
    };
    Some(u32::from(c) - u32::from(first) + value)
}

fn roman(c: char) -> Option<u32> {
    match c {
        'Ⅰ'..='Ⅻ' => Some(u32::from(c) - u32::from('Ⅰ') + 1),
        'ⅰ'..='ⅻ' => Some(u32::from(c) - u32::from('ⅰ') + 1),
        'Ⅼ' | 'ⅼ' => Some(50),
        'Ⅽ' | 'ⅽ' => Some(100),
        'Ⅾ' | 'ⅾ' => Some(500),
        'Ⅿ' | 'ⅿ' => Some(1000),
        _ => None,
    }
}

fn chinese_digit(c: char) -> Option<u32> {
    let forms =
        ["〇零", "一壹壱", "二两兩贰貳弐", "三叁參参", "四肆", "五伍", "六陆陸", "七柒", "八捌", "九玖"];
    forms.iter().position(|forms| forms.contains(c)).and_then(|digit| u32::try_from(digit).ok())
}

/// Tens, hundreds and thousands, which multiply the digit before them.
pub(crate) fn chinese_unit(c: char) -> Option<u32> {
    match c {
        '十' | '拾' => Some(10),
        '百' | '佰' => Some(100),
        '千' | '仟' => Some(1000),
        _ => None,
    }
}

/// The powers of ten thousand, which multiply all that stands before them.
pub(crate) fn chinese_myriad(c: char) -> Option<f64> {
    match c {
        '万' | '萬' => Some(1e4),
        '亿' | '億' => Some(1e8),
        '兆' => Some(1e12),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeros_are_sorted() {
        assert!(ZEROS.is_sorted());
    }

    #[test]
    fn digits_of_many_scripts() {
        for (c, value) in [
            ('7', 7),
            ('٣', 3),
            ('४', 4),
            ('９', 9),
            ('𝟓', 5),
            ('²', 2),
            ('⁷', 7),
            ('₅', 5),
            ('③', 3),
            ('五', 5),
        ] {
            assert_eq!(any_digit(c), Some(value), "{c}");
        }
        for c in ['a', 'é', '⑩', 'Ⅳ', '½', '十', '日', '\u{66a}'] {
            assert_eq!(any_digit(c), None, "{c}");
        }
    }

    #[test]
    fn lone_numbers() {
        for (c, value) in [('⑳', 20.0), ('Ⅻ', 12.0), ('㊿', 50.0), ('十', 10.0), ('億', 1e8), ('⓪', 0.0)]
        {
            assert_eq!(lone_number(c), Some(value), "{c}");
        }
    }
}
