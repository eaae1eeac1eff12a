//! Which ids are integers.

/// The rows whose id is an integer: a bit per row, up to the last that has one. Tables have none, and then it is empty.
#[derive(Clone, Debug, Default)]
pub(super) struct IntegerIds {
    words: Vec<u64>,
}

impl IntegerIds {
    pub(super) fn add(&mut self, row: usize) {
        let at = row / 64;
        if at >= self.words.len() {
            self.words.resize(at + 1, 0);
        }
        if let Some(word) = self.words.get_mut(at) {
            *word |= 1 << (row % 64);
        }
    }

    pub(super) fn contains(&self, row: usize) -> bool {
        self.words.get(row / 64).is_some_and(|word| word >> (row % 64) & 1 == 1)
    }

    pub(super) fn heap_bytes(&self) -> usize {
        self.words.capacity() * size_of::<u64>()
    }
}

#[cfg(test)]
mod tests {
    use crate::{ColumnBlock, SampleId, ScoreColumns};

    #[test]
    fn ids_come_back_as_they_were_given() {
        let ids: Vec<SampleId> = (0..200)
            .map(|at: i64| match at % 3 {
                0 => SampleId::from(at - 100),
                1 => SampleId::from(format!("{at}")),
                _ => SampleId::from("q"),
            })
            .chain([i64::MIN, i64::MAX].map(SampleId::from))
            .collect();
        let mut columns = ScoreColumns::new(["s"]);
        for (at, id) in ids.iter().enumerate() {
            columns.push_sample(id, at as u32 + 1);
        }
        let mut block = ColumnBlock::new(1, 0);
        block.ids.push("7");
        columns.append([], &mut block);
        columns.push("8", 1);
        let found: Vec<SampleId> = (0..columns.len()).map(|row| columns.sample_id(row)).collect();
        assert_eq!(found[..ids.len()], ids);
        assert_eq!(found[ids.len()..], [SampleId::from("7"), SampleId::from("8")]);
        assert_eq!(columns.id(0), "-100");
    }
}
