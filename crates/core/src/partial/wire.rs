//! Numbers, strings and lists as bytes: one way to write each, and read with a check at every step.

use std::sync::Arc;

use serde_json::Value as Json;

use crate::error::{Error, Result};
use crate::metadata::Metadata;

/// What is written as bytes and read again.
pub(super) trait Wire: Sized {
    /// Appends it.
    fn put(&self, out: &mut Vec<u8>);

    /// Takes it off the front.
    fn take(bytes: &mut &[u8]) -> Result<Self>;
}

/// The error of bytes that are no partial result.
pub(super) fn invalid(problem: &str) -> Error {
    Error::custom(format!("these bytes are no partial result: {problem}"))
}

fn ends_early() -> Error {
    invalid("they end early")
}

/// Something as bytes by itself.
pub(super) fn encoded(value: &impl Wire) -> Vec<u8> {
    let mut out = Vec::new();
    value.put(&mut out);
    out
}

/// Takes this number of bytes off the front.
fn take_bytes<'b>(bytes: &mut &'b [u8], length: usize) -> Result<&'b [u8]> {
    let (front, rest) = bytes.split_at_checked(length).ok_or_else(ends_early)?;
    *bytes = rest;
    Ok(front)
}

pub(super) fn take_array<const N: usize>(bytes: &mut &[u8]) -> Result<[u8; N]> {
    take_bytes(bytes, N)?.try_into().map_err(|_| ends_early())
}

pub(super) fn take_byte(bytes: &mut &[u8]) -> Result<u8> {
    take_array(bytes).map(|[byte]| byte)
}

/// A number of things that take a byte each at least, so that nothing is allocated for more than there are.
pub(super) fn take_count(bytes: &mut &[u8]) -> Result<usize> {
    let count = u64::take(bytes)?;
    usize::try_from(count).ok().filter(|count| *count <= bytes.len()).ok_or_else(ends_early)
}

/// Appends the number of what follows.
pub(super) fn put_count(count: usize, out: &mut Vec<u8>) {
    (count as u64).put(out);
}

/// Appends a string with its length.
pub(super) fn put_text(text: &str, out: &mut Vec<u8>) {
    put_count(text.len(), out);
    out.extend_from_slice(text.as_bytes());
}

/// Seven bits a byte, the lowest first.
impl Wire for u64 {
    fn put(&self, out: &mut Vec<u8>) {
        let mut number = *self;
        while number > 0x7f {
            out.push(number as u8 | 0x80);
            number >>= 7;
        }
        out.push(number as u8);
    }

    fn take(bytes: &mut &[u8]) -> Result<Self> {
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
}

impl Wire for u32 {
    fn put(&self, out: &mut Vec<u8>) {
        u64::from(*self).put(out);
    }

    fn take(bytes: &mut &[u8]) -> Result<Self> {
        u32::try_from(u64::take(bytes)?).map_err(|_| invalid("a number beyond 32 bits"))
    }
}

/// Small ones of either sign are short.
impl Wire for i64 {
    fn put(&self, out: &mut Vec<u8>) {
        ((self << 1) ^ (self >> 63)).cast_unsigned().put(out);
    }

    fn take(bytes: &mut &[u8]) -> Result<Self> {
        let number = u64::take(bytes)?;
        Ok((number >> 1).cast_signed() ^ -(number & 1).cast_signed())
    }
}

impl Wire for bool {
    fn put(&self, out: &mut Vec<u8>) {
        out.push(u8::from(*self));
    }

    fn take(bytes: &mut &[u8]) -> Result<Self> {
        match take_byte(bytes)? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(invalid("neither yes nor no")),
        }
    }
}

impl Wire for String {
    fn put(&self, out: &mut Vec<u8>) {
        put_text(self, out);
    }

    fn take(bytes: &mut &[u8]) -> Result<Self> {
        let text = Box::<[u8]>::take(bytes)?.into_vec();
        String::from_utf8(text).map_err(|_| invalid("a string that is not UTF-8"))
    }
}

impl Wire for Arc<str> {
    fn put(&self, out: &mut Vec<u8>) {
        put_text(self, out);
    }

    fn take(bytes: &mut &[u8]) -> Result<Self> {
        String::take(bytes).map(Arc::from)
    }
}

impl Wire for Box<[u8]> {
    fn put(&self, out: &mut Vec<u8>) {
        put_count(self.len(), out);
        out.extend_from_slice(self);
    }

    fn take(bytes: &mut &[u8]) -> Result<Self> {
        let length = take_count(bytes)?;
        Ok(take_bytes(bytes, length)?.into())
    }
}

impl Wire for Json {
    fn put(&self, out: &mut Vec<u8>) {
        put_text(&self.to_string(), out);
    }

    fn take(bytes: &mut &[u8]) -> Result<Self> {
        let json = serde_json::from_str(&String::take(bytes)?);
        json.map_err(|_| invalid("metadata that is not JSON or nested too deeply"))
    }
}

impl Wire for Metadata {
    fn put(&self, out: &mut Vec<u8>) {
        Json::from(self.clone()).put(out);
    }

    fn take(bytes: &mut &[u8]) -> Result<Self> {
        match <Json as Wire>::take(bytes)? {
            Json::Object(object) => Ok(Metadata::from(object)),
            _ => Err(invalid("metadata that is not a map")),
        }
    }
}

impl<T: Wire> Wire for Option<T> {
    fn put(&self, out: &mut Vec<u8>) {
        self.is_some().put(out);
        self.iter().for_each(|value| value.put(out));
    }

    fn take(bytes: &mut &[u8]) -> Result<Self> {
        bool::take(bytes)?.then(|| T::take(bytes)).transpose()
    }
}

impl<T: Wire> Wire for Vec<T> {
    fn put(&self, out: &mut Vec<u8>) {
        put_count(self.len(), out);
        self.iter().for_each(|item| item.put(out));
    }

    fn take(bytes: &mut &[u8]) -> Result<Self> {
        (0..take_count(bytes)?).map(|_| T::take(bytes)).collect()
    }
}

impl<A: Wire, B: Wire> Wire for (A, B) {
    fn put(&self, out: &mut Vec<u8>) {
        self.0.put(out);
        self.1.put(out);
    }

    fn take(bytes: &mut &[u8]) -> Result<Self> {
        Ok((A::take(bytes)?, B::take(bytes)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back() {
        for number in [0, 1, 127, 128, 300, 1 << 35, u64::MAX - 1, u64::MAX] {
            let bytes = encoded(&number);
            assert_eq!(u64::take(&mut bytes.as_slice()).unwrap(), number);
            assert!(u64::take(&mut bytes.get(..bytes.len() - 1).unwrap()).is_err());
        }
        for integer in [0, 1, -1, 63, -64, i64::MAX, i64::MIN] {
            let bytes = encoded(&integer);
            assert_eq!(i64::take(&mut bytes.as_slice()).unwrap(), integer);
            assert!(!(-64..64).contains(&integer) || bytes.len() == 1);
        }
        assert!(u64::take(&mut [0xff; 10].as_slice()).is_err());
    }

    #[test]
    fn a_length_beyond_the_bytes_is_refused_before_anything_is_allocated() {
        let mut bytes = encoded(&(1_u64 << 60));
        bytes.extend([b'x'; 9]);
        assert!(String::take(&mut bytes.as_slice()).is_err());
        assert!(String::take(&mut [2, 0xff, 0xff].as_slice()).is_err());
    }
}
