//! The bytes of a summary: canonical, so that equal summaries have equal bytes, and read with a check at every step.

use crate::error::{Error, Result};
use crate::value::{LeafKey, LeafRef};
use errorbar_stats::exact::{ExactSum, Moments};

/// The largest number of scores. Above it a count is no longer exact as a float.
pub(super) const MAX_COUNT: u64 = 1 << 53;

/// Something that has bytes.
pub(crate) trait Encode: Sized {
    fn put(&self, out: &mut Vec<u8>);
    /// Takes its bytes off the front.
    fn get(bytes: &mut &[u8]) -> Result<Self>;
}

/// The error of bytes that are truncated or invalid.
pub(super) fn invalid(problem: &str) -> Error {
    Error::custom(format!("summary: {problem}"))
}

pub(super) fn take<'b>(bytes: &mut &'b [u8], length: usize) -> Result<&'b [u8]> {
    let (front, rest) = bytes.split_at_checked(length).ok_or_else(|| invalid("the bytes end early"))?;
    *bytes = rest;
    Ok(front)
}

pub(super) fn byte(bytes: &mut &[u8]) -> Result<u8> {
    Ok(take(bytes, 1)?.first().copied().unwrap_or(0))
}

fn word<const N: usize>(bytes: &mut &[u8]) -> Result<[u8; N]> {
    take(bytes, N)?.try_into().map_err(|_| invalid("the bytes end early"))
}

/// A number of scores, values or clusters.
pub(super) fn count(bytes: &mut &[u8]) -> Result<u64> {
    let count = u64::get(bytes)?;
    if count > MAX_COUNT {
        return Err(invalid("a count beyond 2^53"));
    }
    Ok(count)
}

pub(super) fn put_count(count: u64, out: &mut Vec<u8>) {
    count.put(out);
}

impl Encode for u64 {
    fn put(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.to_le_bytes());
    }

    fn get(bytes: &mut &[u8]) -> Result<Self> {
        Ok(u64::from_le_bytes(word(bytes)?))
    }
}

impl Encode for f64 {
    fn put(&self, out: &mut Vec<u8>) {
        self.to_bits().put(out);
    }

    fn get(bytes: &mut &[u8]) -> Result<Self> {
        Ok(f64::from_bits(u64::get(bytes)?))
    }
}

impl Encode for ExactSum {
    fn put(&self, out: &mut Vec<u8>) {
        let Some((negative, limbs, scale)) = self.limbs() else {
            return out.push(2);
        };
        out.push(u8::from(negative));
        out.push(scale as u8);
        out.push(limbs.len() as u8);
        limbs.iter().for_each(|limb| out.extend_from_slice(&limb.to_le_bytes()));
    }

    fn get(bytes: &mut &[u8]) -> Result<Self> {
        let negative = match byte(bytes)? {
            0 => false,
            1 => true,
            2 => return Ok(ExactSum::not_finite()),
            _ => return Err(invalid("a sum with an unknown sign")),
        };
        let scale = byte(bytes)?;
        let length = byte(bytes)?;
        let limbs = take(bytes, 4 * usize::from(length))?.as_chunks::<4>().0;
        let limbs: Vec<u32> = limbs.iter().map(|limb| u32::from_le_bytes(*limb)).collect();
        ExactSum::from_limbs(negative, &limbs, scale).ok_or_else(|| invalid("a sum that is not canonical"))
    }
}

impl Encode for Moments {
    fn put(&self, out: &mut Vec<u8>) {
        put_count(self.count(), out);
        self.sum().put(out);
        self.sum_of_squares().put(out);
    }

    fn get(bytes: &mut &[u8]) -> Result<Self> {
        Ok(Moments::from_sums(count(bytes)?, ExactSum::get(bytes)?, ExactSum::get(bytes)?))
    }
}

impl Encode for LeafKey {
    fn put(&self, out: &mut Vec<u8>) {
        match self {
            LeafKey::Null => out.push(0),
            LeafKey::Int(int) => {
                out.push(1);
                int.cast_unsigned().put(out);
            }
            LeafKey::Big(big) => {
                out.push(2);
                big.put(out);
            }
            LeafKey::Float(bits) => {
                out.push(3);
                bits.put(out);
            }
            LeafKey::Text(text) => {
                out.push(4);
                put_count(text.len() as u64, out);
                out.extend_from_slice(text.as_bytes());
            }
        }
    }

    fn get(bytes: &mut &[u8]) -> Result<Self> {
        let not_canonical = || invalid("an id that is not canonical");
        Ok(match byte(bytes)? {
            1 => LeafKey::Int(u64::get(bytes)?.cast_signed()),
            2 => {
                let big = u64::get(bytes)?;
                Some(LeafKey::Big(big))
                    .filter(|_| big > i64::MAX.cast_unsigned())
                    .ok_or_else(not_canonical)?
            }
            3 => {
                let key = LeafKey::new(LeafRef::float(f64::get(bytes)?));
                key.filter(|key| matches!(key, LeafKey::Float(_))).ok_or_else(not_canonical)?
            }
            4 => {
                let length = usize::try_from(count(bytes)?).map_err(|_| invalid("the bytes end early"))?;
                let text = std::str::from_utf8(take(bytes, length)?);
                LeafKey::Text(text.map_err(|_| invalid("an id that is not UTF-8"))?.to_owned())
            }
            _ => return Err(invalid("an unknown type of id")),
        })
    }
}

impl<A: Encode, B: Encode> Encode for (A, B) {
    fn put(&self, out: &mut Vec<u8>) {
        self.0.put(out);
        self.1.put(out);
    }

    fn get(bytes: &mut &[u8]) -> Result<Self> {
        Ok((A::get(bytes)?, B::get(bytes)?))
    }
}
