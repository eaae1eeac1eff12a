//! Long strings of events, stored once per sample.

use indexmap::IndexMap;

use super::writer::JsonWriter;

/// Strings of more characters than this are stored apart, as the reference does.
const INLINE: usize = 100;

/// The long strings of a sample's events, by their hash.
#[derive(Debug, Default)]
pub(in crate::eval) struct Attachments<'a>(IndexMap<u128, &'a str>);

impl<'a> Attachments<'a> {
    /// Writes a string, or a reference to it if it is long.
    pub(super) fn write_text(&mut self, json: &mut JsonWriter, text: &'a str) {
        if !is_long(text) {
            return json.text(text);
        }
        let hash = murmur3(text.as_bytes());
        // The hash is easy to forge: another string of the same hash is stored inline.
        if *self.0.entry(hash).or_insert(text) == text {
            json.text(&format!("attachment://{hash:032x}"));
        } else {
            json.text(text);
        }
    }

    /// Writes all that were referred to.
    pub(in crate::eval) fn write(&self, json: &mut JsonWriter) {
        json.object(|json| {
            for (hash, text) in &self.0 {
                json.key(&format!("{hash:032x}")).text(text);
            }
        });
    }
}

fn is_long(text: &str) -> bool {
    // A character has up to four bytes; few strings need counting.
    match text.len() {
        0..=INLINE => false,
        length if length > 4 * INLINE => true,
        _ => text.chars().count() > INLINE,
    }
}

/// MurmurHash3 for 64-bit machines, 128 bits, seed 0, by Austin Appleby: what the reference names attachments by, so that
/// it finds its own names when it writes a log of ours again. The first half is the upper one.
pub(in crate::eval) fn murmur3(bytes: &[u8]) -> u128 {
    const C1: u64 = 0x87c3_7b91_1142_53d5;
    const C2: u64 = 0x4cf5_ad43_2745_937f;
    let mix1 = |k: u64| k.wrapping_mul(C1).rotate_left(31).wrapping_mul(C2);
    let mix2 = |k: u64| k.wrapping_mul(C2).rotate_left(33).wrapping_mul(C1);
    let (mut h1, mut h2) = (0_u64, 0_u64);
    let (blocks, tail) = bytes.as_chunks::<16>();
    for block in blocks {
        let (k1, k2) = halves(block);
        h1 = (h1 ^ mix1(k1)).rotate_left(27).wrapping_add(h2).wrapping_mul(5).wrapping_add(0x52dc_e729);
        h2 = (h2 ^ mix2(k2)).rotate_left(31).wrapping_add(h1).wrapping_mul(5).wrapping_add(0x3849_5ab5);
    }
    // A tail that ends early is filled with zeros, which mix to zero.
    let mut rest = [0; 16];
    rest.iter_mut().zip(tail).for_each(|(to, from)| *to = *from);
    let (k1, k2) = halves(&rest);
    let length = bytes.len() as u64;
    h1 ^= mix1(k1) ^ length;
    h2 ^= mix2(k2) ^ length;
    h1 = h1.wrapping_add(h2);
    h2 = h2.wrapping_add(h1);
    h1 = avalanche(h1);
    h2 = avalanche(h2);
    h1 = h1.wrapping_add(h2);
    h2 = h2.wrapping_add(h1);
    u128::from(h1) << 64 | u128::from(h2)
}

fn halves(block: &[u8; 16]) -> (u64, u64) {
    let both = u128::from_le_bytes(*block);
    (both as u64, (both >> 64) as u64)
}

fn avalanche(mut k: u64) -> u64 {
    k = (k ^ k >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd);
    k = (k ^ k >> 33).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    k ^ k >> 33
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_those_of_the_reference() {
        // Made with mm3_hash of inspect_ai 0.3.285.
        for (text, hash) in HASHES {
            assert_eq!(format!("{:032x}", murmur3(text.repeat(40).as_bytes())), hash, "{text}");
        }
        // A tail of every length.
        assert_eq!(murmur3(b""), 0);
        let all: Vec<u128> =
            (1..=33).map(|length| murmur3(&b"0123456789abcdef0123456789abcdef0"[..length])).collect();
        assert_eq!(
            format!("{:032x}", all.iter().fold(0, |sum, hash| sum ^ hash)),
            "8bfca460c63ee766bcbe6cdca706d581"
        );
    }

    /// Each string forty times, and its hash.
    const HASHES: [(&str, &str); 6] = [
        ("a", "32a6cead6b7128db69761b69791778f4"),
        ("abc", "efd42a090af244ab452f159edd7c5b66"),
        ("Grüße, ", "0db61cff362554fae50825a00ea9b18c"),
        ("eight by", "58f3b8fc6d672f74c0dd95ad780ebb15"),
        ("0123456789abcde", "7f7583132f3a5808fbd005d76617cd16"),
        ("0123456789abcdef", "6e6e9e1e7a87e8d74f809633e46482ee"),
    ];

    #[test]
    fn only_long_strings_are_stored_apart_and_each_once() {
        let (short, long) = ("é".repeat(100), "é".repeat(101));
        let mut attachments = Attachments::default();
        let mut write =
            |text| String::from_utf8(JsonWriter::bytes_of(|json| attachments.write_text(json, text)));
        assert_eq!(write(&short).unwrap(), format!("\"{short}\""));
        let reference = write(&long).unwrap();
        assert!(reference.starts_with("\"attachment://") && reference.len() == 32 + 15, "{reference}");
        assert_eq!(write(&long).unwrap(), reference);
        assert_eq!(attachments.0.len(), 1);
    }

    #[test]
    fn a_string_whose_hash_is_taken_stays_inline() {
        let long = "x".repeat(200);
        let mut attachments = Attachments(IndexMap::from([(murmur3(long.as_bytes()), "another")]));
        let bytes = JsonWriter::bytes_of(|json| attachments.write_text(json, &long));
        assert_eq!(bytes, format!("\"{long}\"").into_bytes());
    }
}
