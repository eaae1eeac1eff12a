//! Changes of the bytes of a file, whatever they mean.

use crate::mutations::random::Random;

/// The numbers of a record: how far behind its start, and how many bytes.
type Numbers = &'static [(usize, usize)];

/// Signs in front of the records of a zip, with the numbers behind them.
const RECORDS: &[(&[u8], Numbers)] = &[
    (b"PK\x03\x04", &[(6, 2), (8, 2), (14, 4), (18, 4), (22, 4), (26, 2), (28, 2)]),
    (b"PK\x01\x02", &[(8, 2), (10, 2), (16, 4), (20, 4), (24, 4), (28, 2), (30, 2), (32, 2), (42, 4)]),
    (b"PK\x05\x06", &[(4, 2), (6, 2), (8, 2), (10, 2), (12, 4), (16, 4), (20, 2)]),
    (b"PK\x06\x06", &[(4, 8), (24, 8), (32, 8), (40, 8), (48, 8)]),
    (b"PK\x06\x07", &[(4, 4), (8, 8), (16, 4)]),
];

/// Changes the bytes, and describes the change.
pub(crate) fn change(bytes: &mut Vec<u8>, random: &mut Random) -> String {
    if bytes.is_empty() {
        bytes.push(b'P');
        return "one byte".to_owned();
    }
    let length = bytes.len();
    match random.below(10) {
        0..=2 => {
            let (at, bit) = (place(bytes, random), random.below(8));
            bytes[at] ^= 1 << bit;
            format!("bit {bit} of byte {at} flipped")
        }
        3 => {
            let range = random.range(length);
            let byte = *random.pick(&[0, 0xff, b' ', b'0', b'"']);
            bytes[range.clone()].fill(byte);
            format!("{range:?} filled with {byte}")
        }
        4 => {
            let range = random.range(length);
            bytes[range.clone()].iter_mut().for_each(|byte| *byte = random.next() as u8);
            format!("{range:?} overwritten")
        }
        5 => {
            // At the end more often than not: that is how files are torn.
            let range = random.range(length);
            let range = if random.below(2) == 0 { range.start..length } else { range };
            bytes.drain(range.clone());
            format!("{range:?} cut out")
        }
        6 => {
            let (range, at) = (random.range(length), random.below(length + 1));
            let copy = bytes[range.clone()].to_vec();
            bytes.splice(at..at, copy);
            format!("{range:?} once more at {at}")
        }
        7 => {
            let (one, other) = (random.range(length), random.range(length));
            let size = one.len().min(other.len());
            for offset in 0..size {
                bytes.swap(one.start + offset, other.start + offset);
            }
            format!("{size} bytes at {} and {} swapped", one.start, other.start)
        }
        _ => number(bytes, random),
    }
}

/// Any place, or one in the headers and names of the zip, which are a small part of it.
fn place(bytes: &[u8], random: &mut Random) -> usize {
    let records = records(bytes);
    match random.below(2) == 0 && !records.is_empty() {
        true => (random.pick(&records).0 + random.below(70)).min(bytes.len() - 1),
        false => random.below(bytes.len()),
    }
}

/// Where records start, and where they have their numbers.
fn records(bytes: &[u8]) -> Vec<(usize, Numbers)> {
    let numbers = |at: usize| {
        RECORDS.iter().find(|(sign, _)| bytes[at..].starts_with(sign)).map(|(_, numbers)| (at, *numbers))
    };
    memchr::memchr_iter(b'P', bytes).filter_map(numbers).collect()
}

/// Puts an extreme in the place of a number of the zip.
fn number(bytes: &mut [u8], random: &mut Random) -> String {
    let records = records(bytes);
    let length = bytes.len() as u64;
    let mut places: Vec<(usize, usize)> = match records.is_empty() {
        true => vec![(random.below(bytes.len()), 1)],
        false => {
            // The end of the directory, which holds most of the information, more often than the others.
            let last = records[records.len() - 1];
            let (at, numbers) = if random.below(3) == 0 { last } else { *random.pick(&records) };
            let places = |(offset, size): &(usize, usize)| (at + offset, *size);
            let end = numbers.iter().map(places).collect::<Vec<_>>();
            // The two counts at the end of the directory must be equal to be believed.
            match random.below(3) == 0 && numbers.contains(&(10, 2)) && numbers.contains(&(12, 4)) {
                true => vec![(at + 8, 2), (at + 10, 2)],
                false => vec![*random.pick(&end)],
            }
        }
    };
    places.retain(|(at, size)| at + size <= bytes.len());
    let near = (length + 40).saturating_sub(random.below(80) as u64);
    let choice = random.below(13);
    let mut changes = Vec::new();
    for (at, size) in places {
        let old =
            bytes[at..at + size].iter().rev().fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
        let extremes = [0, 1, 8, 93, 0xffff, 0x7fff_ffff, 0xffff_ffff, u64::MAX, length, near];
        let beside = [old.wrapping_add(1), old.wrapping_sub(1), old.wrapping_mul(2)];
        let new = extremes.into_iter().chain(beside).nth(choice).unwrap();
        bytes[at..at + size].copy_from_slice(&new.to_le_bytes()[..size]);
        changes.push(format!("the number {old} at {at} made {new}"));
    }
    changes.join(", ")
}
