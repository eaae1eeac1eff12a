//! Texts that repeat, each kept once: the grades of a column.

use std::sync::Arc;

use hashbrown::HashTable;

use super::hash_bytes;

/// Each distinct text once.
#[derive(Clone, Debug, Default)]
pub(super) struct TextPool {
    texts: Vec<Arc<str>>,
    /// How long they are together.
    bytes: usize,
    table: HashTable<u32>,
}

impl TextPool {
    pub(super) fn intern(&mut self, text: &Arc<str>) -> u32 {
        // Reduced grades come from another pool by reference: the first few are known by their address.
        if let Some(code) = self.texts.iter().take(4).position(|t| Arc::ptr_eq(t, text)) {
            return code as u32;
        }
        let hash = hash_bytes(text.as_bytes());
        self.find(hash, text).unwrap_or_else(|| self.add(hash, Arc::clone(text)))
    }

    /// Like [`TextPool::intern`], but the text is copied only when it is new.
    pub(super) fn intern_text(&mut self, text: &str) -> u32 {
        let hash = hash_bytes(text.as_bytes());
        self.find(hash, text).unwrap_or_else(|| self.add(hash, text.into()))
    }

    fn find(&self, hash: u64, text: &str) -> Option<u32> {
        let known = |&code: &u32| self.texts.get(code as usize).is_some_and(|t| &**t == text);
        self.table.find(hash, known).copied()
    }

    fn add(&mut self, hash: u64, text: Arc<str>) -> u32 {
        let code = u32::try_from(self.texts.len()).unwrap_or(u32::MAX);
        self.bytes += text.len();
        self.texts.push(text);
        let texts = &self.texts;
        self.table.insert_unique(hash, code, |&code| {
            texts.get(code as usize).map_or(0, |t| hash_bytes(t.as_bytes()))
        });
        code
    }

    pub(super) fn get(&self, code: u64) -> &Arc<str> {
        static EMPTY: std::sync::LazyLock<Arc<str>> = std::sync::LazyLock::new(|| "".into());
        self.texts.get(code as usize).unwrap_or(&EMPTY)
    }

    /// About how much memory the texts take.
    pub(super) fn heap_bytes(&self) -> usize {
        // A reference and two counters each, rounded up, and a place in the table.
        self.bytes + self.texts.capacity() * 16 + self.texts.len() * 24 + self.table.capacity() * 5
    }

    /// The texts, by code.
    pub(super) fn texts(&self) -> &[Arc<str>] {
        &self.texts
    }
}
