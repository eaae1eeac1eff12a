//! Ids of samples, runs and messages that a log does not record, as the reference makes them up.

use blake2::Blake2s;
use blake2::digest::Digest;
use blake2::digest::consts::U16;
use md5::Md5;

/// The digits of shortuuid: no two look alike.
const DIGITS: &[u8; 57] = b"23456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
/// How many of them 128 bits take.
const LENGTH: usize = 22;

/// An id of a part, from that of the whole.
pub(super) fn derived(base: &str, part: &str) -> String {
    in_digits(Md5::digest(format!("{base}_{part}")).into())
}

/// The id of the evaluation in a log that records none.
pub(super) fn of_eval(run: &str, task: &str, created: &str) -> String {
    in_digits(Blake2s::<U16>::digest(format!("{run}{task}{created}")).into())
}

fn in_digits(bytes: [u8; 16]) -> String {
    let mut number = u128::from_be_bytes(bytes);
    let mut text = Vec::with_capacity(LENGTH);
    for _ in 0..LENGTH {
        text.extend(DIGITS.get((number % 57) as usize));
        number /= 57;
    }
    text.reverse();
    String::from_utf8_lossy(&text).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    // What the reference answers.
    #[test]
    fn ids_are_those_of_the_reference() {
        assert_eq!(derived("enoscore", "1_1"), "iejPDMn4qnmfW2pQaxAttp");
        assert_eq!(of_eval("r", "ti", "2025-12-31T22:00:00.123000+00:00"), "Xy2sHj7E7E98S8cC2UHtfC");
        assert_eq!(in_digits([0; 16]), "2".repeat(22));
    }
}
