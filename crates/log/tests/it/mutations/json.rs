//! Where the values of a JSON text are.

use std::ops::Range;

/// A value within a text.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub(crate) value: Range<usize>,
    /// The key with its quotes, of a field.
    pub(crate) key: Option<Range<usize>>,
}

impl Place {
    /// The field or the item.
    pub(crate) fn whole(&self) -> Range<usize> {
        self.key.as_ref().map_or(self.value.start, |key| key.start)..self.value.end
    }
}

/// Every value in a text, the whole first; those of what is no JSON end early.
pub(crate) fn places(json: &[u8]) -> Vec<Place> {
    let mut reader = Reader { json, at: 0, places: Vec::new() };
    reader.value(None);
    reader.places
}

struct Reader<'a> {
    json: &'a [u8],
    at: usize,
    places: Vec<Place>,
}

impl Reader<'_> {
    fn peek(&mut self) -> u8 {
        while self.json.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
        self.json.get(self.at).copied().unwrap_or(0)
    }

    fn text(&mut self) -> Range<usize> {
        let start = self.at;
        self.at += 1;
        while self.json.get(self.at).is_some_and(|byte| *byte != b'"') {
            self.at += if self.json[self.at] == b'\\' { 2 } else { 1 };
        }
        self.at = (self.at + 1).min(self.json.len());
        start..self.at
    }

    fn value(&mut self, key: Option<Range<usize>>) {
        let first = self.peek();
        let (start, number) = (self.at, self.places.len());
        self.places.push(Place { value: start..start, key });
        match first {
            b'"' => drop(self.text()),
            b'{' | b'[' => self.container(first + 2),
            _ => {
                let is_inside = |byte: &u8| !matches!(byte, b',' | b'}' | b']' | b':' | b' ' | b'\n');
                while self.json.get(self.at).is_some_and(is_inside) {
                    self.at += 1;
                }
            }
        }
        self.places[number].value.end = self.at;
    }

    fn container(&mut self, close: u8) {
        self.at += 1;
        // Deeper than that is what was put in to be deep.
        while self.places.len() < 5000 && self.at < self.json.len() {
            let first = self.peek();
            if first == close {
                self.at += 1;
                return;
            }
            let before = self.at;
            let key = (close == b'}' && first == b'"').then(|| self.text());
            if key.is_some() && self.peek() == b':' {
                self.at += 1;
            }
            self.value(key);
            if self.peek() == b',' {
                self.at += 1;
            }
            if self.at == before {
                return;
            }
        }
    }
}

#[test]
fn every_value_has_its_place() {
    let json = br#"{"a": [1, "x\"]", {}], "b":null}"#;
    let values: Vec<&[u8]> = places(json).into_iter().map(|place| &json[place.value]).collect();
    assert_eq!(values, [&json[..], br#"[1, "x\"]", {}]"#, b"1", br#""x\"]""#, b"{}", b"null"]);
    let whole: Vec<&[u8]> = places(json).into_iter().map(|place| &json[place.whole()]).collect();
    assert_eq!(whole[5], br#""b":null"#);
}
