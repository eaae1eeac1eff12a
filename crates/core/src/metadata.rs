//! Free-form metadata of scores, samples, tasks and results.

use std::ops::{Deref, DerefMut, Index};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json, map};

/// A number, or a string that is one: tables such as CSV have numbers as strings.
pub(crate) fn number_of(json: &Json) -> Option<f64> {
    json.as_f64().or_else(|| json.as_str()?.trim().parse().ok())
}

/// Free-form metadata: JSON values by key, in insertion order.
///
/// ```
/// use errorbar_core::Metadata;
/// let metadata = Metadata::new().with("topic", "sums").with("difficulty", 3);
/// assert_eq!(metadata["topic"], "sums");
/// assert_eq!(metadata.keys().collect::<Vec<_>>(), ["topic", "difficulty"]);
/// assert!(metadata.get("author").is_none());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Metadata(Map<String, Json>);

impl Metadata {
    /// No entries.
    pub fn new() -> Self {
        Metadata::default()
    }

    /// No entries, and room for this many: one that grows has room for three at least.
    pub fn with_capacity(entries: usize) -> Self {
        Metadata(Map::with_capacity(entries))
    }

    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<&Json> {
        self.0.get(key)
    }

    /// Whether the key is there.
    pub fn contains_key(&self, key: &str) -> bool {
        self.0.contains_key(key)
    }

    /// Sets a value; the one that the key had before. A key keeps its position, a new one is the last.
    pub fn insert(&mut self, key: impl Into<String>, value: Json) -> Option<Json> {
        self.0.insert(key.into(), value)
    }

    /// The same metadata with one more entry.
    #[must_use]
    pub fn with(mut self, key: impl Into<String>, value: impl Into<Json>) -> Self {
        self.insert(key, value.into());
        self
    }

    /// Removes a key; its value. The others keep their order.
    pub fn remove(&mut self, key: &str) -> Option<Json> {
        self.0.shift_remove(key)
    }
}

/// The entries as a JSON object.
impl Deref for Metadata {
    type Target = Map<String, Json>;

    fn deref(&self) -> &Map<String, Json> {
        &self.0
    }
}

impl DerefMut for Metadata {
    fn deref_mut(&mut self) -> &mut Map<String, Json> {
        &mut self.0
    }
}

/// The value of a key, null if absent, as indexing JSON does.
impl Index<&str> for Metadata {
    type Output = Json;

    fn index(&self, key: &str) -> &Json {
        self.0.get(key).unwrap_or(&Json::Null)
    }
}

impl FromIterator<(String, Json)> for Metadata {
    fn from_iter<I: IntoIterator<Item = (String, Json)>>(entries: I) -> Self {
        Metadata(entries.into_iter().collect())
    }
}

impl Extend<(String, Json)> for Metadata {
    fn extend<I: IntoIterator<Item = (String, Json)>>(&mut self, entries: I) {
        self.0.extend(entries);
    }
}

impl IntoIterator for Metadata {
    type Item = (String, Json);
    type IntoIter = map::IntoIter;

    fn into_iter(self) -> map::IntoIter {
        self.0.into_iter()
    }
}

impl<'m> IntoIterator for &'m Metadata {
    type Item = (&'m String, &'m Json);
    type IntoIter = map::Iter<'m>;

    fn into_iter(self) -> map::Iter<'m> {
        self.iter()
    }
}

impl From<Map<String, Json>> for Metadata {
    fn from(object: Map<String, Json>) -> Self {
        Metadata(object)
    }
}

impl From<Metadata> for Map<String, Json> {
    fn from(metadata: Metadata) -> Self {
        metadata.0
    }
}

impl From<Metadata> for Json {
    fn from(metadata: Metadata) -> Self {
        Json::Object(metadata.0)
    }
}
