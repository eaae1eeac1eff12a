//! Distinct items, each stored once and numbered in order of first appearance.

use std::hash::Hash;
use std::sync::Arc;

use foldhash::fast::RandomState;
use indexmap::{Equivalent, IndexSet};

/// Distinct items and their codes: 0 for the first that came, 1 for the next.
///
/// The hash is seeded per process, so that ids and strings in a hostile file cannot be chosen to collide. Nothing depends
/// on the order of hashes.
#[derive(Clone, Debug)]
pub struct Interner<T> {
    items: IndexSet<T, RandomState>,
    /// Codes of strings that came before, each where [`slot_of`] has it. Empty if no short string came.
    recent: Vec<u32>,
}

impl<T> Default for Interner<T> {
    fn default() -> Self {
        Interner { items: IndexSet::default(), recent: Vec::new() }
    }
}

/// Items that are strings, or may be.
pub trait TextItem {
    /// The string, if it is one.
    fn text(&self) -> Option<&str>;
}

impl TextItem for Arc<str> {
    fn text(&self) -> Option<&str> {
        Some(self)
    }
}

/// The number of strings whose codes are remembered.
const RECENT: usize = 1 << 10;
/// Longer strings are not remembered: a column of them seldom has the same again.
const RECENT_BYTES: usize = 128;

/// Whether two strings are the same. Short ones, as most are, are compared in words that may overlap, without a call.
#[inline]
fn is_same(a: &[u8], b: &[u8]) -> bool {
    fn words<const N: usize>(text: &[u8]) -> Option<(&[u8; N], &[u8; N])> {
        text.first_chunk().zip(text.last_chunk())
    }
    a.len() == b.len()
        && match a.len() {
            1..4 => {
                a.first() == b.first() && a.get(a.len() / 2) == b.get(a.len() / 2) && a.last() == b.last()
            }
            4..=8 => words::<4>(a) == words(b),
            9..=16 => words::<8>(a) == words(b),
            17..=32 => words::<16>(a) == words(b),
            _ => a == b,
        }
}

/// Where the code of a string is remembered: few steps for a short one. Strings may be chosen to share it; then their codes
/// are looked up.
#[inline]
fn slot_of(text: &str) -> usize {
    const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
    let (words, rest) = text.as_bytes().as_chunks();
    let rest = rest.iter().fold(text.len() as u64, |word, byte| word << 8 | u64::from(*byte));
    // Each word has its own factor, so that no product waits for another.
    let mut factor = ODD;
    let sum = words.iter().fold(rest.wrapping_mul(factor), |sum, word| {
        factor = factor.wrapping_add(ODD << 1);
        sum.wrapping_add(u64::from_le_bytes(*word).wrapping_mul(factor))
    });
    ((sum ^ sum >> 32).wrapping_mul(ODD) >> 48) as usize % RECENT
}

impl<T: Eq + Hash> Interner<T> {
    /// The code of an item, which is added if it is new.
    #[inline]
    pub fn intern(&mut self, item: T) -> u32 {
        self.items.insert_full(item).0 as u32
    }

    /// The code of an item, which is made only if it is new.
    #[inline]
    pub fn intern_with<Q: Equivalent<T> + Hash + ?Sized>(
        &mut self,
        item: &Q,
        make: impl FnOnce() -> T,
    ) -> u32 {
        match self.items.get_index_of(item) {
            Some(code) => code as u32,
            None => self.intern(make()),
        }
    }

    /// The code of a string, which is made an item only if it is new. Columns have few different strings as a rule, and most
    /// are found without a lookup in the general table. Takes memory for that: it is for strings of many rows.
    #[inline]
    pub fn intern_text(&mut self, text: &str, make: impl FnOnce() -> T) -> u32
    where
        T: TextItem,
        str: Equivalent<T>,
    {
        if text.len() > RECENT_BYTES {
            return self.intern_with(text, make);
        }
        let slot = slot_of(text);
        if let Some(&code) = self.recent.get(slot)
            && self
                .get(code as usize)
                .and_then(T::text)
                .is_some_and(|known| is_same(known.as_bytes(), text.as_bytes()))
        {
            return code;
        }
        let code = self.intern_with(text, make);
        self.recent.resize(RECENT, u32::MAX);
        if let Some(recent) = self.recent.get_mut(slot) {
            *recent = code;
        }
        code
    }

    /// The item of a code.
    #[inline]
    pub fn get(&self, code: usize) -> Option<&T> {
        self.items.get_index(code)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many distinct strings there are.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// The items, by code.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &T> {
        self.items.iter()
    }

    /// The bytes of the tables; what items hold elsewhere is not among them.
    pub fn heap_bytes(&self) -> usize {
        // An entry has its hash beside it, and a number and a byte in the table.
        self.items.capacity() * (size_of::<T>() + 8 + 5) + self.recent.capacity() * size_of::<u32>()
    }
}

impl<T: Eq + Hash> FromIterator<T> for Interner<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        Interner { items: items.into_iter().collect(), recent: Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_have_the_number_of_their_first_appearance_whatever_is_remembered() {
        // More than are remembered, of any length, and again in another order.
        let texts: Vec<String> = (0..3000).map(|n| format!("{n}{}", "x".repeat(n % 150))).collect();
        let mut interner: Interner<Arc<str>> = Interner::default();
        let mut code = |text: &str| interner.intern_text(text, || text.into());
        for _ in 0..2 {
            assert!((0..).zip(&texts).all(|(number, text)| code(text) == number));
            assert!((0..3000).rev().all(|number| code(&texts[number]) == number as u32));
        }
        assert_eq!(code(""), 3000);
        assert_eq!(interner.len(), 3001);
    }

    #[test]
    fn strings_are_the_same_if_all_bytes_are() {
        for length in 0..40 {
            let text: Vec<u8> = (0..length).collect();
            assert!(is_same(&text, &text.clone()));
            assert!(!is_same(&text, &[text.as_slice(), b"x"].concat()));
            for at in 0..text.len() {
                let mut other = text.clone();
                other[at] += 100;
                assert!(!is_same(&text, &other), "{length} {at}");
            }
        }
    }
}
