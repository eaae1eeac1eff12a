//! Which samples of two blocks are compared, and in which groups.

use super::side::{Block, Side};
use crate::error::Result;
use errorbar_core::Scores;
use errorbar_core::engine::Interner;
use errorbar_core::python_text::json_text;

/// The samples that both sides have.
#[derive(Clone, Debug, Default)]
pub(super) struct Pairing {
    /// Those with a score on both sides, in the order of the base.
    pub(super) samples: Vec<u32>,
    /// Those without, on one side at least.
    pub(super) absent: Vec<u32>,
}

impl Pairing {
    pub(super) fn new(base: &Block<'_>, other: &Block<'_>, common: &[u32]) -> Self {
        let (samples, absent) =
            common.iter().copied().partition(|sample| base.has(*sample) && other.has(*sample));
        Pairing { samples, absent }
    }

    /// All samples with a score in any case: those of a side that is compared without pairs.
    pub(super) fn of_side(side: &Side<'_>, block: &Block<'_>) -> Self {
        let (samples, absent) = side.samples.iter().copied().partition(|sample| block.has(*sample));
        Pairing { samples, absent }
    }

    /// The scores of one side; absent are the samples that it has no score of itself.
    pub(super) fn scores<'b>(&self, side: &Side<'_>, block: &'b Block<'_>) -> Scores<'b> {
        let positions = self.samples.iter().flat_map(|sample| block.positions(*sample)).copied().collect();
        let absent = self.absent.iter().filter(|sample| !block.has(**sample));
        let absent = absent.filter_map(|sample| side.first_row(*sample)).collect();
        block.scores().subset(positions, absent)
    }

    /// The samples by the value of a metadata key, in order of first appearance: the name of each group, and its samples.
    /// The sides are asked one after the other.
    ///
    /// # Errors
    /// A sample without the key.
    pub(super) fn by_group(&self, key: &str, sides: &[&Side<'_>]) -> Result<Vec<(String, Pairing)>> {
        let columns: Vec<_> =
            sides.iter().filter_map(|side| Some((side, side.columns.metadata_column(key)?))).collect();
        let mut names: Interner<String> = Interner::default();
        let mut groups: Vec<Pairing> = Vec::new();
        let is_scored = self.samples.iter().map(|sample| (sample, true));
        for (sample, is_scored) in is_scored.chain(self.absent.iter().map(|sample| (sample, false))) {
            let value = columns.iter().find_map(|(side, column)| {
                let code = column.code(side.first_row(*sample)? as usize)?;
                column.value(code as usize)
            });
            let Some(value) = value else {
                let Some(side) = sides.first() else { return Ok(Vec::new()) };
                return Err(side.missing_key("the comparison by group", key, side.id(*sample)).into());
            };
            let group = names.intern(json_text(value)) as usize;
            if groups.len() <= group {
                groups.resize_with(group + 1, Pairing::default);
            }
            if let Some(group) = groups.get_mut(group) {
                let samples = if is_scored { &mut group.samples } else { &mut group.absent };
                samples.push(*sample);
            }
        }
        Ok(names.iter().cloned().zip(groups).collect())
    }
}
