//! MD5, for stable ids: collections of evaluations name samples by the digest of their question.

use errorbar_core::python_text::json_text;
use serde_json::Value as Json;

use super::{Arguments, string};
use crate::expression::value::Outcome;

/// The digest of the values' strings, with a zero byte between them, in hexadecimal.
pub(super) fn md5<'v>(arguments: &Arguments<'_, 'v>) -> Outcome<'v> {
    let text = |at: usize| match arguments.value(at) {
        Json::String(text) => text.clone(),
        other => json_text(other),
    };
    let texts: Vec<String> = (0..arguments.values.len()).map(text).collect();
    string(digest(texts.join("\0").as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect::<String>())
}

/// How far each step of a round is rotated (RFC 1321).
const ROTATIONS: [[u32; 4]; 4] = [[7, 12, 17, 22], [5, 9, 14, 20], [4, 11, 16, 23], [6, 10, 15, 21]];

/// The whole part of 2³² |sin i| for i from 1 to 64 (RFC 1321); a table, because sines differ between platforms.
const SINES: [u32; 64] = [
    0xd76a_a478,
    0xe8c7_b756,
    0x2420_70db,
    0xc1bd_ceee,
    0xf57c_0faf,
    0x4787_c62a,
    0xa830_4613,
    0xfd46_9501,
    0x6980_98d8,
    0x8b44_f7af,
    0xffff_5bb1,
    0x895c_d7be,
    0x6b90_1122,
    0xfd98_7193,
    0xa679_438e,
    0x49b4_0821,
    0xf61e_2562,
    0xc040_b340,
    0x265e_5a51,
    0xe9b6_c7aa,
    0xd62f_105d,
    0x0244_1453,
    0xd8a1_e681,
    0xe7d3_fbc8,
    0x21e1_cde6,
    0xc337_07d6,
    0xf4d5_0d87,
    0x455a_14ed,
    0xa9e3_e905,
    0xfcef_a3f8,
    0x676f_02d9,
    0x8d2a_4c8a,
    0xfffa_3942,
    0x8771_f681,
    0x6d9d_6122,
    0xfde5_380c,
    0xa4be_ea44,
    0x4bde_cfa9,
    0xf6bb_4b60,
    0xbebf_bc70,
    0x289b_7ec6,
    0xeaa1_27fa,
    0xd4ef_3085,
    0x0488_1d05,
    0xd9d4_d039,
    0xe6db_99e5,
    0x1fa2_7cf8,
    0xc4ac_5665,
    0xf429_2244,
    0x432a_ff97,
    0xab94_23a7,
    0xfc93_a039,
    0x655b_59c3,
    0x8f0c_cc92,
    0xffef_f47d,
    0x8584_5dd1,
    0x6fa8_7e4f,
    0xfe2c_e6e0,
    0xa301_4314,
    0x4e08_11a1,
    0xf753_7e82,
    0xbd3a_f235,
    0x2ad7_d2bb,
    0xeb86_d391,
];

/// The MD5 digest (RFC 1321). Not for secrets.
fn digest(message: &[u8]) -> [u8; 16] {
    let mut padded = message.to_vec();
    padded.push(0x80);
    // Up to the last eight bytes of a block, which are the length.
    padded.resize((padded.len() + 8).next_multiple_of(64) - 8, 0);
    padded.extend((message.len() as u64).wrapping_mul(8).to_le_bytes());
    let mut state: [u32; 4] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476];
    let (blocks, _) = padded.as_chunks::<64>();
    for block in blocks {
        let (words, _) = block.as_chunks::<4>();
        let [mut a, mut b, mut c, mut d] = state;
        for (step, sine) in SINES.iter().enumerate() {
            let round = step / 16;
            let (mixed, word) = match round {
                0 => ((b & c) | (!b & d), step),
                1 => ((d & b) | (!d & c), 5 * step + 1),
                2 => (b ^ c ^ d, 3 * step + 5),
                _ => (c ^ (b | !d), 7 * step),
            };
            let word = words.get(word % 16).map_or(0, |bytes| u32::from_le_bytes(*bytes));
            let turn = ROTATIONS.get(round).and_then(|round| round.get(step % 4)).copied().unwrap_or(0);
            let sum = a.wrapping_add(mixed).wrapping_add(*sine).wrapping_add(word);
            (a, d, c, b) = (d, c, b, b.wrapping_add(sum.rotate_left(turn)));
        }
        for (sum, part) in state.iter_mut().zip([a, b, c, d]) {
            *sum = sum.wrapping_add(part);
        }
    }
    let mut out = [0; 16];
    for (bytes, word) in out.chunks_exact_mut(4).zip(state) {
        bytes.copy_from_slice(&word.to_le_bytes());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::digest;

    /// The digests of hashlib; lengths around the end of a block are where padding goes wrong.
    #[test]
    fn digests_are_those_of_the_standard() {
        let hex = |text: &str| digest(text.as_bytes()).iter().map(|b| format!("{b:02x}")).collect::<String>();
        for (text, digest) in [
            (String::new(), "d41d8cd98f00b204e9800998ecf8427e"),
            ("abc".to_owned(), "900150983cd24fb0d6963f7d28e17f72"),
            ("a".repeat(54), "eced9e0b81ef2bba605cbc5e2e76a1d0"),
            ("a".repeat(55), "ef1772b6dff9a122358552954ad0df65"),
            ("a".repeat(56), "3b0c8ac703f828b04c6c197006d17218"),
            ("a".repeat(57), "652b906d60af96844ebd21b674f35e93"),
            ("a".repeat(63), "b06521f39153d618550606be297466d5"),
            ("a".repeat(64), "014842d480b571495a4a0363793f7367"),
            ("a".repeat(65), "c743a45e0d2e6a95cb859adae0248435"),
            ("a".repeat(119), "8a7bd0732ed6a28ce75f6dabc90e1613"),
            ("a".repeat(120), "5f61c0ccad4cac44c75ff505e1f1e537"),
            ("a".repeat(1000), "cabe45dcc9ae5b66ba86600cca6b8ba8"),
            ("ü €".to_owned(), "4d9aae7a953ff3600ac3832546bc66df"),
        ] {
            assert_eq!(hex(&text), digest, "{} bytes", text.len());
        }
    }
}
