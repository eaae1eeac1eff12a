//! The fields of an object that are wanted, out of all that it holds.

use std::sync::Arc;

use super::outline::{Outline, PartVisitor};
use crate::eval::error::{LogError, LogErrorKind, Result};
use crate::eval::memory_budget::MemoryBudget;

/// The fields that are kept of an object, and what of each.
pub(in crate::eval) type FieldSelection = &'static [(&'static str, Selection)];

/// What is kept of a value.
#[derive(Clone, Copy, Debug)]
pub(in crate::eval) enum Selection {
    /// All of it.
    All,
    /// Of an object, these fields.
    Fields(FieldSelection),
    /// Of an object, all fields, and of those that are objects these fields.
    FieldsOfEach(FieldSelection),
    /// Of a list, the number of its items.
    Count,
}

/// Takes an object in pieces and keeps only the fields that are wanted, as a smaller object.
#[derive(Debug)]
pub(in crate::eval) struct Skimmer {
    wanted: Vec<(&'static str, Selection)>,
    level: Level,
    kept: SkimmedJson,
}

/// The smaller object.
#[derive(Debug)]
struct SkimmedJson {
    json: Vec<u8>,
    /// Where each part stands in the smaller object, and where it stood in the whole one.
    places: Vec<(usize, u64)>,
    /// The most that may be kept.
    limit: u64,
    memory: Arc<MemoryBudget>,
    /// What was taken out of the memory for it.
    taken: u64,
}

/// An object or a list that is being taken.
#[derive(Debug)]
struct Level {
    outline: Outline,
    kind: LevelKind,
    part: PartAction,
    is_empty: bool,
}

#[derive(Clone, Copy, Debug)]
enum LevelKind {
    /// The object itself, whose fields the skimmer knows.
    Root,
    Fields(FieldSelection),
    FieldsOfEach(FieldSelection),
    Count(u64),
}

/// What becomes of the part that is being taken.
#[derive(Debug)]
enum PartAction {
    Skipped,
    Copied,
    /// Copied, unless it begins, at this place, as what can be taken apart.
    Undecided(Selection, u64),
    Inner(Box<Level>),
}

impl Level {
    fn new(kind: LevelKind, at: u64) -> Self {
        let outline = match kind {
            LevelKind::Count(_) => Outline::of_list(at),
            _ => Outline::of_object(at),
        };
        Level { outline, kind, part: PartAction::Skipped, is_empty: true }
    }

    fn push(
        &mut self,
        bytes: &[u8],
        wanted: &[(&'static str, Selection)],
        kept: &mut SkimmedJson,
    ) -> Result<()> {
        let Level { outline, kind, part, is_empty } = self;
        outline.push(bytes, &mut LevelVisitor { kind, part, is_empty, wanted, kept })
    }

    /// What the inner level leaves of its value.
    fn finish(&self, kept: &mut SkimmedJson) -> Result<()> {
        self.outline.finish()?;
        match self.kind {
            LevelKind::Count(count) => kept.keep(count.to_string().as_bytes()),
            _ => kept.keep(b"}"),
        }
    }
}

impl Skimmer {
    /// Keeps these fields, at most this number of bytes of them, which count as held in memory.
    pub(in crate::eval) fn new(
        wanted: Vec<(&'static str, Selection)>,
        limit: u64,
        memory: Arc<MemoryBudget>,
    ) -> Self {
        let kept = SkimmedJson { json: vec![b'{'], places: Vec::new(), limit, memory, taken: 0 };
        Skimmer { wanted, level: Level::new(LevelKind::Root, 0), kept }
    }

    /// Forgets what it has, to take another object.
    pub(in crate::eval) fn reset(&mut self) {
        /// A buffer that is larger is not kept for the next object.
        const SMALL: usize = 1 << 20;
        self.level = Level::new(LevelKind::Root, 0);
        self.kept.json.truncate(1);
        self.kept.json.shrink_to(SMALL);
        self.kept.places.clear();
        self.kept.give_back();
    }

    /// Takes the next bytes.
    pub(in crate::eval) fn push(&mut self, bytes: &[u8]) -> Result<()> {
        self.level.push(bytes, &self.wanted, &mut self.kept)
    }

    /// The smaller object. An error of its reader is about bytes in it; [`Skimmer::place`] says where they were.
    pub(in crate::eval) fn finish(&mut self) -> Result<&[u8]> {
        self.level.outline.finish()?;
        self.kept.json.push(b'}');
        self.kept.memory.check_tree(&self.kept.json)?;
        Ok(&self.kept.json)
    }

    /// What was kept so far.
    pub(in crate::eval) fn so_far(&self) -> &[u8] {
        &self.kept.json
    }

    /// An error about the smaller object as one about the whole.
    pub(in crate::eval) fn place(&self, error: LogError) -> LogError {
        error.map_place(|at| {
            let after = self.kept.places.partition_point(|(kept, _)| *kept as u64 <= at);
            match after.checked_sub(1).and_then(|before| self.kept.places.get(before)) {
                Some((kept, whole)) => whole + (at - *kept as u64),
                None => at,
            }
        })
    }
}

impl Drop for Skimmer {
    fn drop(&mut self) {
        self.kept.give_back();
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

    /// Writes the key of a part that is kept.
    fn begin(&mut self, key: &[u8], at: u64, is_first: bool) -> Result<()> {
        if !is_first {
            self.json.push(b',');
        }
        if key.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_') {
            self.json.push(b'"');
            self.keep(key)?;
            self.json.extend_from_slice(b"\":");
        } else {
            let not_text = |_| LogErrorKind::Json { problem: "a key is not UTF-8".to_owned(), at };
            let key = str::from_utf8(key).map_err(not_text)?;
            self.keep(serde_json::Value::from(key).to_string().as_bytes())?;
            self.json.push(b':');
        }
        self.places.push((self.json.len(), at));
        Ok(())
    }
}

/// A level with what its parts need.
struct LevelVisitor<'a> {
    kind: &'a mut LevelKind,
    part: &'a mut PartAction,
    is_empty: &'a mut bool,
    wanted: &'a [(&'static str, Selection)],
    kept: &'a mut SkimmedJson,
}

fn find(wanted: &[(&'static str, Selection)], key: &[u8]) -> Option<Selection> {
    wanted.iter().find(|(name, _)| name.as_bytes() == key).map(|(_, keep)| *keep)
}

impl PartVisitor for LevelVisitor<'_> {
    fn begin(&mut self, key: &[u8], at: u64) -> Result<()> {
        let keep = match self.kind {
            LevelKind::Count(count) => {
                *count += 1;
                None
            }
            LevelKind::Root => find(self.wanted, key),
            LevelKind::Fields(wanted) => find(wanted, key),
            LevelKind::FieldsOfEach(wanted) => Some(Selection::Fields(wanted)),
        };
        *self.part = match keep {
            None => PartAction::Skipped,
            Some(keep) => {
                let is_first = std::mem::take(self.is_empty);
                self.kept.begin(key, at, is_first)?;
                match keep {
                    Selection::All => PartAction::Copied,
                    keep => PartAction::Undecided(keep, at),
                }
            }
        };
        Ok(())
    }

    fn bytes(&mut self, bytes: &[u8], _at: u64) -> Result<()> {
        if let (PartAction::Undecided(keep, at), Some(first)) = (&self.part, bytes.first()) {
            let at = *at;
            let kind = match (*keep, first) {
                (Selection::Fields(wanted), b'{') => Some(LevelKind::Fields(wanted)),
                (Selection::FieldsOfEach(wanted), b'{') => Some(LevelKind::FieldsOfEach(wanted)),
                (Selection::Count, b'[') => Some(LevelKind::Count(0)),
                _ => None,
            };
            *self.part = match kind {
                None => PartAction::Copied,
                Some(kind) => {
                    if !matches!(kind, LevelKind::Count(_)) {
                        self.kept.keep(b"{")?;
                    }
                    PartAction::Inner(Box::new(Level::new(kind, at)))
                }
            };
        }
        match self.part {
            PartAction::Skipped | PartAction::Undecided(..) => Ok(()),
            PartAction::Copied => self.kept.keep(bytes),
            PartAction::Inner(level) => level.push(bytes, &[], self.kept),
        }
    }

    fn end(&mut self, _at: u64) -> Result<()> {
        match std::mem::replace(self.part, PartAction::Skipped) {
            PartAction::Inner(level) => level.finish(self.kept),
            _ => Ok(()),
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
    fn places_are_those_of_the_whole() {
        let whole = br#"{"messages":[{"id":7}], "id" : 1,"events":"x","scores":{"m":oh}}"#;
        let mut skimmer = skimmer();
        skimmer.push(whole).unwrap();
        let kept = skimmer.finish().unwrap();
        let wrong = kept.windows(2).position(|pair| pair == b"oh").unwrap();
        let error = LogErrorKind::Json { problem: String::new(), at: wrong as u64 };
        let expected = whole.windows(2).position(|pair| pair == b"oh").unwrap();
        let text = skimmer.place(error.into()).to_string();
        assert!(text.contains(&format!("at byte {expected}")), "{text}");

        // Also those within what was taken apart.
        let whole = br#"{"x":1,"scores":{"m":{"answer":"long","value":oh}}}"#;
        let wanted = vec![("scores", Selection::FieldsOfEach(&[("value", Selection::All)]))];
        let mut inner = Skimmer::new(wanted, 100, Arc::new(MemoryBudget::new(1 << 30)));
        inner.push(whole).unwrap();
        let wrong = inner.finish().unwrap().windows(2).position(|pair| pair == b"oh").unwrap();
        let error = LogErrorKind::Json { problem: String::new(), at: wrong as u64 };
        let expected = whole.windows(2).position(|pair| pair == b"oh").unwrap();
        let text = inner.place(error.into()).to_string();
        assert!(text.contains(&format!("at byte {expected}")), "{text}");

        // Those of the object before it are forgotten.
        skimmer.reset();
        skimmer.push(br#"{"x":[1,2,3],"id":1,"scores":{},"scores":{}}"#).unwrap();
        skimmer.reset();
        skimmer.push(br#"{"id":oh,"scores":{}}"#).unwrap();
        let error = LogErrorKind::Json { problem: String::new(), at: 6 };
        let text = skimmer.place(error.into()).to_string();
        assert!(text.contains("at byte 6"), "{text}");
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
