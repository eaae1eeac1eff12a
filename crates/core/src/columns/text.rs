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

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether the column is its first `period` rows again and again, to the end.
    pub(crate) fn repeats(&self, period: usize) -> bool {
        let Some((first, rest)) = self.ends.split_at_checked(period) else { return false };
        let Some(&length) = first.last() else { return false };
        let ends_repeat = rest.chunks(period).enumerate().all(|(pass, ends)| {
            let offset = (pass + 1) * length;
            ends.len() == period && ends.iter().zip(first).all(|(end, of_first)| *end == offset + of_first)
        });
        let bytes = self.text.as_bytes();
        ends_repeat && bytes.get(length..) == bytes.get(..bytes.len() - length)
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
