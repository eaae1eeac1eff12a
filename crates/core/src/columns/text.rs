//! A column of texts in one allocation: the sample ids.

/// Texts laid end to end, with the place where each one ends.
#[derive(Clone, Debug, Default)]
pub(crate) struct TextColumn {
    text: String,
    ends: Vec<usize>,
}

impl TextColumn {
    pub(crate) fn push(&mut self, text: &str) {
        self.text.push_str(text);
        self.ends.push(self.text.len());
    }

    /// The text of a row; empty beyond the end.
    pub(crate) fn get(&self, row: usize) -> &str {
        let start = row.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or(0);
        let end = self.ends.get(row).copied().unwrap_or(start);
        self.text.get(start..end).unwrap_or_default()
    }

    /// Row by row, faster than asking for each.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let bytes = self.text.as_bytes();
        let mut start = 0;
        self.ends.iter().map(move |&end| {
            let piece = bytes.get(start..end).unwrap_or_default();
            start = end;
            piece
        })
    }

    pub(crate) fn heap_bytes(&self) -> usize {
        self.text.capacity() + self.ends.capacity() * size_of::<usize>()
    }
}
