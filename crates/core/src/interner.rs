//! Distinct items, each stored once and numbered in order of first appearance.

use std::hash::Hash;

use foldhash::fast::RandomState;
use indexmap::{Equivalent, IndexSet};

/// Distinct items and their codes: 0 for the first that came, 1 for the next.
///
/// The hash is seeded per process, so that ids and strings in a hostile file cannot be chosen to collide. Nothing depends
/// on the order of hashes.
#[derive(Clone, Debug)]
pub(crate) struct Interner<T>(IndexSet<T, RandomState>);

impl<T> Default for Interner<T> {
    fn default() -> Self {
        Interner(IndexSet::default())
    }
}

impl<T: Eq + Hash> Interner<T> {
    /// The code of an item, which is added if it is new.
    #[inline]
    pub(crate) fn intern(&mut self, item: T) -> u32 {
        self.0.insert_full(item).0 as u32
    }

    /// The code of an item, which is made only if it is new.
    #[inline]
    pub(crate) fn intern_with<Q: Equivalent<T> + Hash + ?Sized>(
        &mut self,
        item: &Q,
        make: impl FnOnce() -> T,
    ) -> u32 {
        match self.0.get_index_of(item) {
            Some(code) => code as u32,
            None => self.intern(make()),
        }
    }

    /// The item of a code.
    #[inline]
    pub(crate) fn get(&self, code: usize) -> Option<&T> {
        self.0.get_index(code)
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// The items, by code.
    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = &T> {
        self.0.iter()
    }

    /// The bytes of the tables; what items hold elsewhere is not among them.
    pub(crate) fn heap_bytes(&self) -> usize {
        // An entry has its hash beside it, and a number and a byte in the table.
        self.0.capacity() * (size_of::<T>() + 8 + 5)
    }
}

impl<T: Eq + Hash> FromIterator<T> for Interner<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        Interner(items.into_iter().collect())
    }
}
