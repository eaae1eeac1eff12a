//! Small integers as Parquet packs them: runs of one value, and groups of eight side by side.

/// Decodes so many integers of so many bits each; nothing if the bytes end too early or make no sense.
pub(super) fn decode(mut bytes: &[u8], width: u32, count: usize, into: &mut Vec<u32>) -> Option<()> {
    if width > 32 {
        return None;
    }
    let end = into.len() + count;
    while into.len() < end {
        let header = varint(&mut bytes)?;
        let left = end - into.len();
        if header & 1 == 0 {
            let length = usize::try_from(header >> 1).ok()?.min(left);
            let (value, rest) = bytes.split_at_checked(width.div_ceil(8) as usize)?;
            bytes = rest;
            let value = value.iter().rev().fold(0, |value, byte| value << 8 | u32::from(*byte));
            // A run of nothing would have no end.
            if length == 0 {
                return None;
            }
            into.resize(into.len() + length, value);
        } else {
            let groups = usize::try_from(header >> 1).ok()?;
            let packed = groups.checked_mul(width as usize)?;
            // The last group may be cut off where its values are not wanted.
            let (packed, rest) = bytes.split_at(packed.min(bytes.len()));
            bytes = rest;
            let length = groups.checked_mul(8)?.min(left);
            if length == 0 || packed.len() < (length * width as usize).div_ceil(8) {
                return None;
            }
            unpack(packed, width, length, into);
        }
    }
    Some(())
}

/// Whether the packed integers are nothing but one run of at least so many ones, of one bit each.
pub(super) fn is_run_of_ones(mut bytes: &[u8], count: usize) -> bool {
    let length = varint(&mut bytes).filter(|header| header & 1 == 0).map(|header| header >> 1);
    length.is_some_and(|length| length >= count as u64) && bytes.first() == Some(&1)
}

/// Integers side by side, the first in the lowest bits.
fn unpack(packed: &[u8], width: u32, count: usize, into: &mut Vec<u32>) {
    let mask = (1_u64 << width) - 1;
    let bytes = width as usize;
    into.reserve(count);
    // Eight at once, which take as many bytes as one takes bits, while a whole word lies ahead.
    let mut done = 0;
    while bytes <= 8 && done + 8 <= count {
        let Some(word) = packed.get(done / 8 * bytes..).and_then(|ahead| ahead.first_chunk()) else { break };
        let word = u64::from_le_bytes(*word);
        into.extend_from_slice(&[0, 1, 2, 3, 4, 5, 6, 7].map(|at| ((word >> (at * width)) & mask) as u32));
        done += 8;
    }
    let mut bit = done * bytes;
    into.extend((done..count).map(|_| {
        let ahead = packed.get(bit / 8..).unwrap_or_default();
        let word = match ahead.first_chunk() {
            Some(word) => u64::from_le_bytes(*word),
            None => ahead.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte)),
        };
        let value = (word >> (bit % 8)) & mask;
        bit += bytes;
        value as u32
    }));
}

fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..35).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packed(values: &[u32], width: u32) -> Vec<u8> {
        let groups = values.len().div_ceil(8);
        let mut bytes = vec![(groups << 1 | 1) as u8];
        let mut bits: Vec<bool> =
            values.iter().flat_map(|v| (0..width).map(move |b| v >> b & 1 == 1)).collect();
        bits.resize(groups * 8 * width as usize, false);
        bytes.extend(
            bits.chunks(8).map(|byte| byte.iter().rev().fold(0, |sum, bit| sum << 1 | u8::from(*bit))),
        );
        bytes
    }

    #[test]
    fn runs_and_groups_of_every_width() {
        for width in 0..=32 {
            let mask = ((1_u64 << width) - 1) as u32;
            let values: Vec<u32> = (0..40u32).map(|i| i.wrapping_mul(0x9E37_79B9) & mask).collect();
            let mut bytes = packed(&values, width);
            bytes.push(7 << 1);
            bytes.extend_from_slice(&mask.to_le_bytes()[..width.div_ceil(8) as usize]);
            let mut found = Vec::new();
            decode(&bytes, width, 45, &mut found).unwrap();
            assert_eq!(found[..40], values);
            assert_eq!(found[40..], [mask; 5]);
        }
    }

    #[test]
    fn bytes_that_make_no_sense_are_nothing() {
        let mut into = Vec::new();
        for bytes in [&[][..], &[0x80], &[0, 1], &[1], &[2 << 1], &[3, 1], &[0xff; 9]] {
            assert_eq!(decode(bytes, 9, 4, &mut into), None, "{bytes:?}");
        }
        assert_eq!(decode(&[8, 1, 0, 0, 0], 33, 4, &mut into), None);
        assert!(is_run_of_ones(&[8, 1], 4) && !is_run_of_ones(&[8, 1], 5));
        assert!(!is_run_of_ones(&[8, 0], 4) && !is_run_of_ones(&[3, 0xff], 4) && !is_run_of_ones(&[], 0));
    }
}
