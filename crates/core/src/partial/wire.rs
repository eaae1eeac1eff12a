//! Numbers and strings as bytes: short, one way to write each, and read with a check at every step.

use crate::error::{Error, Result};

/// The error of bytes that are no partial result.
pub(super) fn invalid(problem: &str) -> Error {
    Error::custom(format!("these bytes are no partial result: {problem}"))
}

fn ends_early() -> Error {
    invalid("they end early")
}

/// Appends a number, seven bits a byte, the lowest first.
pub(super) fn put_number(mut number: u64, out: &mut Vec<u8>) {
    while number > 0x7f {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Appends an integer: small ones of either sign are short.
pub(super) fn put_integer(integer: i64, out: &mut Vec<u8>) {
    put_number(((integer << 1) ^ (integer >> 63)).cast_unsigned(), out);
}

/// Appends a string with its length.
pub(super) fn put_text(text: &str, out: &mut Vec<u8>) {
    put_number(text.len() as u64, out);
    out.extend_from_slice(text.as_bytes());
}

/// Takes this number of bytes off the front.
pub(super) fn take<'b>(bytes: &mut &'b [u8], length: usize) -> Result<&'b [u8]> {
    let (front, rest) = bytes.split_at_checked(length).ok_or_else(ends_early)?;
    *bytes = rest;
    Ok(front)
}

pub(super) fn take_byte(bytes: &mut &[u8]) -> Result<u8> {
    take(bytes, 1)?.first().copied().ok_or_else(ends_early)
}

pub(super) fn take_array<const N: usize>(bytes: &mut &[u8]) -> Result<[u8; N]> {
    take(bytes, N)?.try_into().map_err(|_| ends_early())
}

pub(super) fn take_number(bytes: &mut &[u8]) -> Result<u64> {
    let mut number = 0_u64;
    for shift in (0..64).step_by(7) {
        let byte = take_byte(bytes)?;
        let bits = u64::from(byte & 0x7f);
        if bits > u64::MAX >> shift {
            break;
        }
        number |= bits << shift;
        if byte & 0x80 == 0 {
            return Ok(number);
        }
    }
    Err(invalid("a number beyond 64 bits"))
}

pub(super) fn take_integer(bytes: &mut &[u8]) -> Result<i64> {
    let number = take_number(bytes)?;
    Ok((number >> 1).cast_signed() ^ -(number & 1).cast_signed())
}

/// A number of things that take a byte each at least, so that nothing is allocated for more than there are.
pub(super) fn take_count(bytes: &mut &[u8]) -> Result<usize> {
    let count = take_number(bytes)?;
    usize::try_from(count).ok().filter(|count| *count <= bytes.len()).ok_or_else(ends_early)
}

pub(super) fn take_text<'b>(bytes: &mut &'b [u8]) -> Result<&'b str> {
    let length = take_count(bytes)?;
    std::str::from_utf8(take(bytes, length)?).map_err(|_| invalid("a string that is not UTF-8"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back() {
        for number in [0, 1, 127, 128, 300, 1 << 35, u64::MAX - 1, u64::MAX] {
            let mut bytes = Vec::new();
            put_number(number, &mut bytes);
            assert_eq!(take_number(&mut bytes.as_slice()).unwrap(), number);
            assert!(take_number(&mut bytes.get(..bytes.len() - 1).unwrap()).is_err());
        }
        for integer in [0, 1, -1, 63, -64, i64::MAX, i64::MIN] {
            let mut bytes = Vec::new();
            put_integer(integer, &mut bytes);
            assert_eq!(take_integer(&mut bytes.as_slice()).unwrap(), integer);
            assert!(!(-64..64).contains(&integer) || bytes.len() == 1);
        }
        assert!(take_number(&mut [0xff; 10].as_slice()).is_err());
    }

    #[test]
    fn a_length_beyond_the_bytes_is_refused_before_anything_is_allocated() {
        let mut bytes = Vec::new();
        put_number(1 << 60, &mut bytes);
        bytes.extend([b'x'; 9]);
        assert!(take_text(&mut bytes.as_slice()).is_err());
        assert!(take_text(&mut [2, 0xff, 0xff].as_slice()).is_err());
    }
}
