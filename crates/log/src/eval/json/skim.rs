//! The selected fields of an object, out of all that it holds.

use std::sync::Arc;

use super::{Descent, Outline, PartVisitor};
use crate::eval::error::{LogError, LogErrorKind, Result};
use crate::eval::limits::MemoryBudget;

/// The fields that are copied of an object, and what of each.
pub(crate) type FieldSelection = &'static [(&'static str, Selection)];

/// What is copied of a value. A value of another type than the one described is copied whole.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Selection {
    /// All of it.
    All,
    /// Of an object, these fields.
    Fields(FieldSelection),
    /// Of an object, all fields, and of those that are objects these fields.
    FieldsOfEach(FieldSelection),
    /// Of a list, all items, and of those that are objects these fields.
    FieldsOfItems(FieldSelection),
    /// Of a list, the number of its items.
    Count,
}

/// Takes an object in pieces and keeps only the selected fields, as a smaller object.
#[derive(Debug)]
pub(crate) struct Skimmer {
    outline: Outline,
    skimmed: SkimmedJson,
}

/// The smaller object.
#[derive(Debug)]
struct SkimmedJson {
    selected: Vec<(&'static str, Selection)>,
    json: Vec<u8>,
    /// The parts that were entered, below the object itself, with the number of parts that each has so far.
    levels: Vec<(Selection, u64)>,
    is_empty: bool,
    /// Whether the bytes of the current part are copied.
    is_copied: bool,
    /// The offset of each part in the smaller object, and in the whole one.
    offsets: Vec<(usize, u64)>,
    /// The most bytes that may be copied.
    limit: u64,
    memory: Arc<MemoryBudget>,
    /// What was taken out of the memory for it.
    taken: u64,
}

impl Skimmer {
    /// Keeps these fields, at most this number of bytes of them, which count as held in memory.
    pub(crate) fn new(
        selected: Vec<(&'static str, Selection)>,
        limit: u64,
        memory: Arc<MemoryBudget>,
    ) -> Self {
        let skimmed = SkimmedJson {
            selected,
            json: vec![b'{'],
            levels: Vec::new(),
            is_empty: true,
            is_copied: false,
            offsets: Vec::new(),
            limit,
            memory,
            taken: 0,
        };
        Skimmer { outline: Outline::of_object(), skimmed }
    }

    /// Forgets what it has, to take another object.
    pub(crate) fn reset(&mut self) {
        /// A buffer that is larger is not reused for the next object.
        const SMALL: usize = 1 << 20;
        self.outline = Outline::of_object();
        let skimmed = &mut self.skimmed;
        skimmed.json.truncate(1);
        skimmed.json.shrink_to(SMALL);
        skimmed.levels.clear();
        (skimmed.is_empty, skimmed.is_copied) = (true, false);
        skimmed.offsets.clear();
        skimmed.give_back();
    }

    /// Takes the next bytes.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Result<()> {
        self.outline.push(bytes, &mut self.skimmed)
    }

    /// The smaller object. An error of its reader is about bytes in it; [`Skimmer::relocate`] gives the offset in the
    /// whole.
    pub(crate) fn finish(&mut self) -> Result<&[u8]> {
        self.outline.finish()?;
        self.skimmed.json.push(b'}');
        self.skimmed.memory.check_tree(&self.skimmed.json)?;
        Ok(&self.skimmed.json)
    }

    /// What was copied so far.
    pub(crate) fn so_far(&self) -> &[u8] {
        &self.skimmed.json
    }

    /// An error about the smaller object as one about the whole.
    pub(crate) fn relocate(&self, error: LogError) -> LogError {
        let offsets = &self.skimmed.offsets;
        error.map_offset(|at| {
            let after = offsets.partition_point(|(kept, _)| *kept as u64 <= at);
            match after.checked_sub(1).and_then(|before| offsets.get(before)) {
                Some((kept, whole)) => whole + (at - *kept as u64),
                None => at,
            }
        })
    }
}

impl Drop for Skimmer {
    fn drop(&mut self) {
        self.skimmed.give_back();
    }
}

impl SkimmedJson {
    fn keep(&mut self, bytes: &[u8]) -> Result<()> {
        /// The memory is taken in steps, as all threads share it.
        const STEP: u64 = 1 << 20;
        let length = (self.json.len() + bytes.len()) as u64;
        if length > self.limit {
            return Err(LogErrorKind::TooLargeRecord { limit: self.limit }.into());
        }
        if length > self.taken + STEP {
            let more = (length - self.taken).next_multiple_of(STEP);
            self.memory.take(more)?;
            self.taken += more;
        }
        self.json.extend_from_slice(bytes);
        Ok(())
    }

    fn give_back(&mut self) {
        self.memory.give_back(std::mem::take(&mut self.taken));
    }

    /// Writes the key of a part that is copied.
    fn keep_key(&mut self, key: &[u8], at: u64) -> Result<()> {
        if key.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_') {
            self.json.push(b'"');
            self.keep(key)?;
            self.json.extend_from_slice(b"\":");
        } else {
            let not_utf8 = |_| LogErrorKind::Json { problem: "a key is not UTF-8".to_owned(), at };
            let key = str::from_utf8(key).map_err(not_utf8)?;
            self.keep(serde_json::Value::from(key).to_string().as_bytes())?;
            self.json.push(b':');
        }
        self.offsets.push((self.json.len(), at));
        Ok(())
    }
}

fn find(selected: &[(&'static str, Selection)], key: &[u8]) -> Option<Selection> {
    selected.iter().find(|(name, _)| name.as_bytes() == key).map(|(_, selection)| *selection)
}

impl PartVisitor for SkimmedJson {
    fn begin(&mut self, key: &[u8], first: u8, at: u64) -> Result<Descent> {
        let mut is_first = self.is_empty;
        let selection = match self.levels.last_mut() {
            None => find(&self.selected, key),
            Some((level, parts)) => {
                is_first = *parts == 0;
                let selection = match level {
                    Selection::Fields(fields) => find(fields, key),
                    Selection::FieldsOfEach(fields) | Selection::FieldsOfItems(fields) => {
                        Some(Selection::Fields(fields))
                    }
                    Selection::Count | Selection::All => None,
                };
                *parts += u64::from(selection.is_some() || matches!(level, Selection::Count));
                selection
            }
        };
        let Some(selection) = selection else { return Ok(Descent::Whole) };
        self.is_empty = false;
        if !is_first {
            self.json.push(b',');
        }
        match self.levels.last() {
            Some((Selection::FieldsOfItems(_), _)) => self.offsets.push((self.json.len(), at)),
            _ => self.keep_key(key, at)?,
        }
        match (selection, first) {
            (Selection::Fields(_) | Selection::FieldsOfEach(_), b'{') => self.keep(b"{")?,
            (Selection::FieldsOfItems(_), b'[') => self.keep(b"[")?,
            (Selection::Count, b'[') => {}
            _ => {
                self.is_copied = true;
                return Ok(Descent::Whole);
            }
        }
        self.levels.push((selection, 0));
        Ok(Descent::Enter)
    }

    fn bytes(&mut self, bytes: &[u8]) -> Result<()> {
        if self.is_copied { self.keep(bytes) } else { Ok(()) }
    }

    fn end(&mut self, _at: u64) -> Result<()> {
        self.is_copied = false;
        Ok(())
    }

    fn leave(&mut self, _at: u64) -> Result<()> {
        match self.levels.pop() {
            Some((Selection::Count, items)) => self.keep(items.to_string().as_bytes()),
            Some((Selection::FieldsOfItems(_), _)) => self.keep(b"]"),
            _ => self.keep(b"}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn skimmer() -> Skimmer {
        Skimmer::new(
            vec![("id", Selection::All), ("scores", Selection::All)],
            100,
            Arc::new(MemoryBudget::new(1 << 30)),
        )
    }

    #[test]
    fn of_objects_only_some_fields_are_kept_and_of_lists_their_length() {
        let wanted = vec![
            ("id", Selection::All),
            ("scores", Selection::FieldsOfEach(&[("value", Selection::All), ("reason", Selection::All)])),
            ("one", Selection::Fields(&[("value", Selection::All)])),
            ("messages", Selection::Count),
            ("parts", Selection::FieldsOfItems(&[("text", Selection::All)])),
        ];
        let mut skimmer = Skimmer::new(wanted, 1000, Arc::new(MemoryBudget::new(1 << 30)));
        for (whole, expected) in [
            (
                r#"{"id":1,"scores":{"a\"b":{"answer":"}x","value":[1,2],"reason":null},"c":{"d":1},"e":7},"x":2}"#,
                r#"{"id":1,"scores":{"a\"b":{"value":[1,2],"reason":null},"c":{},"e":7}}"#,
            ),
            (r#"{"scores":null,"messages":null,"one":3}"#, r#"{"scores":null,"messages":null,"one":3}"#),
            (
                r#"{"messages":[{"a":[1,2]},"]",3],"scores":{},"one":{"value":{"value":1},"x":1}}"#,
                r#"{"messages":3,"scores":{},"one":{"value":{"value":1}}}"#,
            ),
            (
                r#"{"messages": [ ], "scores" : { "s" : { "answer" : 1 } } }"#,
                r#"{"messages":0,"scores":{"s":{}}}"#,
            ),
            (
                r#"{"parts": [ {"x":[1], "text" : "a,]"}, "b", [1,2], {}, {"text":{"text":0}} ], "id":1}"#,
                r#"{"parts":[{"text":"a,]"},"b",[1,2],{},{"text":{"text":0}}],"id":1}"#,
            ),
            (r#"{"parts":[],"x":1,"id":2}"#, r#"{"parts":[],"id":2}"#),
        ] {
            for piece in 1..=whole.len() {
                skimmer.reset();
                whole.as_bytes().chunks(piece).for_each(|piece| skimmer.push(piece).unwrap());
                let kept = String::from_utf8(skimmer.finish().unwrap().to_vec()).unwrap();
                assert_eq!(kept, expected, "pieces of {piece}");
            }
        }
        for broken in [r#"{"scores":{"s":{"value" 1}}}"#, r#"{"scores":{"s":1,}}"#, r#"{"messages":[1 2]}"#] {
            skimmer.reset();
            assert!(skimmer.push(broken.as_bytes()).is_err(), "{broken}");
        }
        skimmer.reset();
        assert!(skimmer.push(b"{\"scores\":{\"\xff\":1}}").is_err());
    }

    #[test]
    fn the_memory_is_that_of_what_is_kept() {
        let memory = Arc::new(MemoryBudget::new(8 << 20));
        let mut skimmer = Skimmer::new(vec![("id", Selection::All)], u64::MAX, Arc::clone(&memory));
        let long = vec![b'x'; 1 << 20];
        // What is skipped takes none.
        skimmer.push(br#"{"messages":""#).unwrap();
        (0..64).for_each(|_| skimmer.push(&long).unwrap());
        skimmer.push(br#"","id":""#).unwrap();
        let refused = (0..64).find_map(|_| skimmer.push(&long).err()).unwrap();
        assert!(matches!(refused.kind(), LogErrorKind::TooMuchMemory { .. }), "{refused}");
        skimmer.reset();
        memory.take(8 << 20).unwrap();
    }

    #[test]
    fn only_what_is_wanted_is_kept() {
        let mut skimmer = skimmer();
        for _ in 0..2 {
            skimmer.reset();
            for piece in br#"{"messages":[{"id":7}],"id":1,"events":"x","scores":{"m":NaN}}"#.chunks(3) {
                skimmer.push(piece).unwrap();
            }
            assert_eq!(skimmer.finish().unwrap(), br#"{"id":1,"scores":{"m":NaN}}"#);
        }
        skimmer.reset();
        skimmer.push(b"{}").unwrap();
        assert_eq!(skimmer.finish().unwrap(), b"{}");
    }

    #[test]
    fn offsets_are_those_of_the_whole() {
        let relocated = |skimmer: &Skimmer, at: usize| {
            let error = LogErrorKind::Json { problem: String::new(), at: at as u64 };
            match skimmer.relocate(error.into()).kind() {
                LogErrorKind::Json { at, .. } => *at as usize,
                other => panic!("{other}"),
            }
        };
        let wrong = |json: &[u8]| json.windows(2).position(|pair| pair == b"oh").unwrap();
        let whole = br#"{"messages":[{"id":7}], "id" : 1,"events":"x","scores":{"m":oh}}"#;
        let mut skimmer = skimmer();
        skimmer.push(whole).unwrap();
        let at = wrong(skimmer.finish().unwrap());
        assert_eq!(relocated(&skimmer, at), wrong(whole));

        // Also those within what was entered.
        let whole = br#"{"x":1,"scores":{"m":{"answer":"long","value":oh}}}"#;
        let selected = vec![("scores", Selection::FieldsOfEach(&[("value", Selection::All)]))];
        let mut inner = Skimmer::new(selected, 100, Arc::new(MemoryBudget::new(1 << 30)));
        inner.push(whole).unwrap();
        let at = wrong(inner.finish().unwrap());
        assert_eq!(relocated(&inner, at), wrong(whole));

        // Those of the object before it are forgotten.
        skimmer.reset();
        skimmer.push(br#"{"x":[1,2,3],"id":1,"scores":{},"scores":{}}"#).unwrap();
        skimmer.reset();
        skimmer.push(br#"{"id":oh,"scores":{}}"#).unwrap();
        assert_eq!(relocated(&skimmer, 6), 6);
    }

    #[test]
    fn more_than_the_limit_is_refused() {
        let mut skimmer = skimmer();
        skimmer.push(br#"{"messages":""#).unwrap();
        skimmer.push(&[b'x'; 1000]).unwrap();
        skimmer.push(br#"","id":""#).unwrap();
        let error = skimmer.push(&[b'x'; 1000]).unwrap_err();
        assert!(matches!(error.kind(), LogErrorKind::TooLargeRecord { limit: 100 }), "{error}");

        // By small pieces, it is the sum that counts.
        skimmer.reset();
        let object = [br#"{"id":""#.as_slice(), &[b'x'; 1000], br#""}"#].concat();
        let pushed = object.chunks(7).try_for_each(|piece| skimmer.push(piece));
        assert!(matches!(pushed.unwrap_err().kind(), LogErrorKind::TooLargeRecord { limit: 100 }));
    }
}
