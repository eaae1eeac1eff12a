//! Small integers as Parquet packs them: runs of one value, and groups of eight side by side.

/// Integers of so many bits each, decoded some at a time: a run of a few bytes can stand for millions.
#[derive(Debug)]
pub(super) struct RleDecoder<'a> {
    bytes: &'a [u8],
    width: u32,
    run: RleRun<'a>,
    /// Integers of a group of which others were given already.
    spare: Vec<u32>,
}

/// What is left of the run or the groups that are being decoded.
#[derive(Debug)]
enum RleRun<'a> {
    Same { value: u32, left: usize },
    Packed { bytes: &'a [u8], left: usize },
}

/// How many integers are packed side by side.
const GROUP: usize = 8;

impl<'a> RleDecoder<'a> {
    /// Nothing if integers cannot have so many bits.
    pub(super) fn new(bytes: &'a [u8], width: u32) -> Option<Self> {
        let run = RleRun::Same { value: 0, left: 0 };
        (width <= 32).then_some(RleDecoder { bytes, width, run, spare: Vec::new() })
    }

    /// Decodes so many integers; nothing if the bytes end too early or make no sense.
    pub(super) fn read(&mut self, count: usize, into: &mut Vec<u32>) -> Option<()> {
        let end = into.len().checked_add(count)?;
        into.extend(self.spare.drain(..count.min(self.spare.len())));
        while into.len() < end {
            let wanted = end - into.len();
            match &mut self.run {
                RleRun::Same { left: 0, .. } | RleRun::Packed { left: 0, .. } => self.next_run()?,
                RleRun::Same { value, left } => {
                    let length = wanted.min(*left);
                    *left -= length;
                    into.resize(into.len() + length, *value);
                }
                RleRun::Packed { bytes, left } => {
                    let length = wanted.min(*left);
                    // The last group may be cut off where its values are not wanted.
                    if bytes.len() < (length * self.width as usize).div_ceil(8) {
                        return None;
                    }
                    let whole = length / GROUP * GROUP;
                    let (groups, rest) = bytes.split_at_checked(whole / GROUP * self.width as usize)?;
                    unpack(groups, self.width, whole, into);
                    *bytes = rest;
                    *left -= whole;
                    let part = length - whole;
                    if part > 0 {
                        let group = GROUP.min(*left);
                        let complete = (rest.len() * 8).checked_div(self.width as usize).unwrap_or(GROUP);
                        unpack(rest, self.width, group.min(complete), &mut self.spare);
                        into.extend(self.spare.drain(..part));
                        *bytes = rest.get(self.width as usize..).unwrap_or_default();
                        *left -= group;
                    }
                }
            }
        }
        Some(())
    }

    fn next_run(&mut self) -> Option<()> {
        let header = varint(&mut self.bytes)?;
        let length = usize::try_from(header >> 1).ok()?;
        // A run of nothing would have no end.
        if length == 0 {
            return None;
        }
        self.run = if header & 1 == 0 {
            let (value, rest) = self.bytes.split_at_checked(self.width.div_ceil(8) as usize)?;
            self.bytes = rest;
            let value = value.iter().rev().fold(0, |value, byte| value << 8 | u32::from(*byte));
            RleRun::Same { value, left: length }
        } else {
            let packed = length.checked_mul(self.width as usize)?;
            let (bytes, rest) = self.bytes.split_at(packed.min(self.bytes.len()));
            self.bytes = rest;
            RleRun::Packed { bytes, left: length.checked_mul(GROUP)? }
        };
        Some(())
    }
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

    fn decode(bytes: &[u8], width: u32, count: usize, into: &mut Vec<u32>) -> Option<()> {
        RleDecoder::new(bytes, width)?.read(count, into)
    }

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
    fn some_at_a_time_gives_what_all_at_once_gives() {
        for width in [0, 1, 3, 7, 8, 13, 32] {
            let mask = ((1_u64 << width) - 1) as u32;
            let values: Vec<u32> = (0..61u32).map(|i| i.wrapping_mul(0x9E37_79B9) & mask).collect();
            let mut bytes = packed(&values[..40], width);
            bytes.push(9 << 1);
            bytes.extend_from_slice(&mask.to_le_bytes()[..width.div_ceil(8) as usize]);
            bytes.extend(packed(&values[40..], width));
            let count = 40 + 9 + 21;
            let mut whole = Vec::new();
            decode(&bytes, width, count, &mut whole).unwrap();
            for step in 1..count {
                let (mut found, mut decoder) = (Vec::new(), RleDecoder::new(&bytes, width).unwrap());
                while found.len() < count {
                    decoder.read(step.min(count - found.len()), &mut found).unwrap();
                }
                assert_eq!(found, whole, "{step} of {width} bits at a time");
            }
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
