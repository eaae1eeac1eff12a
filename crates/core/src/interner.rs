//! Distinct items, each stored once and numbered in order of first appearance.

use std::hash::Hash;

use foldhash::fast::RandomState;
use indexmap::{Equivalent, IndexSet};

/// Distinct items and their codes: 0 for the first that came, 1 for the next.
///
/// The hash is seeded per process, so that ids and strings in a hostile file cannot be chosen to collide. Nothing depends
/// on the order of hashes.
#[derive(Clone, Debug)]
pub struct Interner<T> {
    items: IndexSet<T, RandomState>,
}

impl<T> Default for Interner<T> {
    fn default() -> Self {
        Interner { items: IndexSet::default() }
    }
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
        self.items.capacity() * (size_of::<T>() + 8 + 5)
    }
}

impl<T: Eq + Hash> FromIterator<T> for Interner<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        Interner { items: items.into_iter().collect() }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn strings_have_the_number_of_their_first_appearance() {
        // Of any length, and again in another order.
        let texts: Vec<String> = (0..3000).map(|n| format!("{n}{}", "x".repeat(n % 150))).collect();
        let mut interner: Interner<Arc<str>> = Interner::default();
        let mut code = |text: &str| interner.intern_with(text, || text.into());
        for _ in 0..2 {
            assert!((0..).zip(&texts).all(|(number, text)| code(text) == number));
            assert!((0..3000).rev().all(|number| code(&texts[number]) == number as u32));
        }
        assert_eq!(code(""), 3000);
        assert_eq!(interner.len(), 3001);
    }
}
