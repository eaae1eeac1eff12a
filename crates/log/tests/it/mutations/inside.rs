//! Changes of the JSON in a log, which the zip around it knows nothing of.

use crate::mutations::json::{Place, places};
use crate::mutations::random::Random;

/// What may stand in the place of a value.
const VALUES: &[&str] = &[
    "NaN",
    "Infinity",
    "-Infinity",
    "null",
    "true",
    "false",
    "0",
    "-0.0",
    "1",
    "-1",
    "0.1",
    "1e999",
    "-1e999",
    "1e-999",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775808",
    "123456789012345678901234567890",
    "0.30000000000000000000000000000000000004",
    "\"\"",
    "\"C\"",
    "\"NaN\"",
    "\"1\"",
    "\"\\u0000\\u001b[31m\\n\"",
    "\"\\ud83d\"",
    "\"\\ud83d\\ude00\"",
    "\"../x\"",
    "[]",
    "[[]]",
    "[null,1,\"x\",NaN]",
    "{}",
    "{\"\":null}",
    "{\"value\":1,\"value\":\"C\"}",
    "{\"name\":\"x\",\"options\":{}}",
    "[{\"value\":[1,2]}]",
    "{\"a\":{\"b\":{}}}",
    " 1 ",
    "01",
    "nul",
    "-",
    "'x'",
    "",
    "]",
    "}",
    ",",
    "\"",
    "\\",
];

/// Changes a value, its field or some bytes, and describes the change. `at` selects the value, around and around, so
/// that each of them has its turn.
pub(crate) fn change(json: &mut Vec<u8>, at: usize, random: &mut Random) -> String {
    let all = places(json);
    let place = all[at % all.len()].clone();
    let text = |range: std::ops::Range<usize>| {
        String::from_utf8_lossy(&json[range.start..range.end.min(range.start + 60)]).into_owned()
    };
    let what = text(place.whole());
    match random.below(12) {
        0..=5 => {
            let new = value(random);
            let change_made = format!("`{what}`: the value made `{}`", short(&new));
            json.splice(place.value, new);
            change_made
        }
        6 => {
            let other = random.pick(&all).value.clone();
            let change_made = format!("`{what}`: the value made `{}`", text(other.clone()));
            let new = json[other].to_vec();
            json.splice(place.value, new);
            change_made
        }
        7 => {
            json.drain(with_comma(json, &place));
            format!("`{what}` taken out")
        }
        8 => {
            let mut copy = json[place.whole()].to_vec();
            if random.below(2) == 0 {
                let behind_key = place.value.start - place.whole().start;
                copy.splice(behind_key.., value(random));
            }
            let change_made = format!("`{what}`: once more in front of it as `{}`", short(&copy));
            copy.push(b',');
            let start = place.whole().start;
            json.splice(start..start, copy);
            change_made
        }
        9 => match &place.key {
            Some(key) => {
                let new = other_key(&json[key.clone()], &all, json, random);
                let change_made = format!("`{what}`: the key made `{}`", short(&new));
                json.splice(key.clone(), new);
                change_made
            }
            None => bytes(json, random),
        },
        _ => bytes(json, random),
    }
}

fn short(bytes: &[u8]) -> String {
    String::from_utf8_lossy(&bytes[..bytes.len().min(60)]).into_owned()
}

fn value(random: &mut Random) -> Vec<u8> {
    match random.below(VALUES.len() + 3) {
        0 => nested("[", "]", random),
        1 => nested("{\"a\":", "}", random),
        2 => format!("\"{}\"", "é".repeat(3000)).into_bytes(),
        other => VALUES[other - 3].as_bytes().to_vec(),
    }
}

/// As deep as a reader may go, or deeper than any stack.
fn nested(open: &str, close: &str, random: &mut Random) -> Vec<u8> {
    let depth = *random.pick(&[63, 99, 101, 200, 30_000]);
    format!("{}1{}", open.repeat(depth), close.repeat(depth)).into_bytes()
}

/// The key of another field, none, or the same written otherwise.
fn other_key(key: &[u8], all: &[Place], json: &[u8], random: &mut Random) -> Vec<u8> {
    match random.below(4) {
        0 => b"\"\"".to_vec(),
        1 => b"\"\\q\"".to_vec(),
        2 if key.len() > 2 && key[1].is_ascii_alphabetic() => {
            [format!("\"\\u{:04x}", key[1]).as_bytes(), &key[2..]].concat()
        }
        _ => {
            let keys: Vec<_> = all.iter().filter_map(|place| place.key.clone()).collect();
            json[random.pick(&keys).clone()].to_vec()
        }
    }
}

/// A field or an item with the comma behind it, or else before it.
fn with_comma(json: &[u8], place: &Place) -> std::ops::Range<usize> {
    let whole = place.whole();
    if json.get(whole.end) == Some(&b',') {
        return whole.start..whole.end + 1;
    }
    let before = whole.start.checked_sub(1).filter(|before| json[*before] == b',');
    before.unwrap_or(whole.start)..whole.end
}

fn bytes(json: &mut Vec<u8>, random: &mut Random) -> String {
    if json.is_empty() {
        json.push(b' ');
    }
    let at = random.below(json.len());
    match random.below(4) {
        0 => {
            json[at] = *random.pick(b"\"\\{}[],:0-eN.\x00\x1b\xff\xc3 \n");
            format!("byte {at} made {:?}", char::from(json[at]))
        }
        1 => {
            json.insert(at, *random.pick(b"\"\\{}[],:0-eN.\x00\xff \n"));
            format!("{:?} put in at byte {at}", char::from(json[at]))
        }
        2 => {
            let end = (at + 1 + random.below(8)).min(json.len());
            json.drain(at..end);
            format!("bytes {at}..{end} taken out")
        }
        _ => {
            json.truncate(at);
            format!("cut at {at}")
        }
    }
}
