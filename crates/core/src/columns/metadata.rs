//! Sample metadata by key, each distinct value kept once.
//!
//! Groups and clusters have few distinct values, so a row costs four bytes, and the text of a
//! group or the identity of a cluster is worked out once per distinct value, not per row.

use hashbrown::HashTable;
use indexmap::IndexMap;
use serde_json::Value as Json;

use super::hash_bytes;
use crate::score::Metadata;

const ABSENT: u32 = u32::MAX;

/// One metadata key over all rows.
#[derive(Clone, Debug, Default)]
pub(crate) struct MetadataColumn {
    codes: Vec<u32>,
    values: Vec<Json>,
    table: HashTable<u32>,
}

impl MetadataColumn {
    /// The code of a row's value; `None` where the sample lacks the key.
    pub(crate) fn code(&self, row: usize) -> Option<u32> {
        self.codes.get(row).copied().filter(|code| *code != ABSENT)
    }

    /// The distinct values, by code.
    pub(crate) fn values(&self) -> &[Json] {
        &self.values
    }

    fn get(&self, row: usize) -> Option<&Json> {
        self.values.get(self.code(row)? as usize)
    }

    fn set(&mut self, row: usize, value: &Json) {
        let code = self.intern(value);
        self.codes.resize(row, ABSENT);
        self.codes.push(code);
    }

    fn intern(&mut self, value: &Json) -> u32 {
        let hash = hash_json(value);
        let values = &self.values;
        // Equality of JSON is blind to the order of keys and the sign of a zero; the text is not.
        let same = |&code: &u32| match (values.get(code as usize), value) {
            (Some(Json::String(a)), Json::String(b)) => a == b,
            (Some(Json::String(_)), _) | (_, Json::String(_)) | (None, _) => false,
            (Some(known), value) => format!("{known}") == format!("{value}"),
        };
        if let Some(code) = self.table.find(hash, same) {
            return *code;
        }
        let code = u32::try_from(self.values.len()).unwrap_or(ABSENT);
        self.values.push(value.clone());
        let values = &self.values;
        self.table.insert_unique(hash, code, |&code| values.get(code as usize).map_or(0, hash_json));
        code
    }

    fn heap_bytes(&self) -> usize {
        self.codes.capacity() * 4 + self.values.capacity() * (size_of::<Json>() + 8)
    }
}

fn hash_json(value: &Json) -> u64 {
    match value {
        Json::String(text) => hash_bytes(text.as_bytes()),
        other => hash_bytes(other.to_string().as_bytes()),
    }
}

/// The metadata of all rows: a column per key.
#[derive(Clone, Debug, Default)]
pub(crate) struct MetadataColumns {
    columns: IndexMap<String, MetadataColumn>,
}

impl MetadataColumns {
    pub(crate) fn set<'a>(&mut self, row: usize, pairs: impl IntoIterator<Item = (&'a str, &'a Json)>) {
        for (key, value) in pairs {
            if let Some(column) = self.columns.get_mut(key) {
                column.set(row, value);
            } else {
                let mut column = MetadataColumn::default();
                column.set(row, value);
                self.columns.insert(key.to_owned(), column);
            }
        }
    }

    pub(crate) fn column(&self, key: &str) -> Option<&MetadataColumn> {
        self.columns.get(key)
    }

    pub(crate) fn keys(&self) -> impl Iterator<Item = &str> {
        self.columns.keys().map(String::as_str)
    }

    pub(crate) fn row(&self, row: usize) -> Metadata {
        let pairs = self.columns.iter().filter_map(|(key, c)| Some((key.clone(), c.get(row)?.clone())));
        pairs.collect()
    }

    pub(crate) fn heap_bytes(&self) -> usize {
        self.columns.values().map(MetadataColumn::heap_bytes).sum()
    }
}
