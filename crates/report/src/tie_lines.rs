//! Lines that join what cannot be told apart, for rankings in pages and plots.

use errorbar_inference::Rank;

/// A line that joins the runs of a tie group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TieLine {
    /// Lines that overlap are on different levels, from 0.
    pub(crate) level: usize,
    /// The positions that it joins, as first and last of neighbours: more than one stretch if a run of another group is in
    /// between.
    pub(crate) stretches: Vec<(usize, usize)>,
}

/// The lines of runs in this order; a group of one run has none.
pub(crate) fn tie_lines(ranks: &[Rank]) -> Vec<TieLine> {
    let mut letters: Vec<&str> = Vec::new();
    for letter in ranks.iter().flat_map(Rank::tie_letters) {
        if !letters.contains(&letter) {
            letters.push(letter);
        }
    }
    let mut ends: Vec<usize> = Vec::new();
    let mut lines = Vec::new();
    for letter in letters {
        let has = |rank: &Rank| rank.tie_letters().any(|other| other == letter);
        let places: Vec<usize> =
            ranks.iter().enumerate().filter(|(_, rank)| has(rank)).map(|(at, _)| at).collect();
        let (Some(first), Some(last)) = (places.first(), places.last()) else { continue };
        if first == last {
            continue;
        }
        let level = ends.iter().position(|end| end < first).unwrap_or(ends.len());
        match ends.get_mut(level) {
            Some(end) => *end = *last,
            None => ends.push(*last),
        }
        let neighbours = places.chunk_by(|a, b| a + 1 == *b);
        let stretches = neighbours.filter_map(|chunk| Some((*chunk.first()?, *chunk.last()?))).collect();
        lines.push(TieLine { level, stretches });
    }
    lines
}

#[cfg(test)]
mod tests {
    use errorbar_core::Estimate;

    use super::*;

    fn lines(letters: &[&str]) -> Vec<(usize, Vec<(usize, usize)>)> {
        let ranks: Vec<Rank> =
            letters.iter().map(|letters| Rank::new("x", Estimate::new(0.5), 1, (1, 1), letters)).collect();
        tie_lines(&ranks).into_iter().map(|line| (line.level, line.stretches)).collect()
    }

    #[test]
    fn groups_of_neighbours_and_others() {
        assert_eq!(lines(&["a", "ab", "b"]), [(0, vec![(0, 1)]), (1, vec![(1, 2)])]);
        assert_eq!(lines(&["a", "a", "b", "b"]), [(0, vec![(0, 1)]), (0, vec![(2, 3)])]);
        assert_eq!(lines(&["a", "b", "a"]), [(0, vec![(0, 0), (2, 2)])], "b is none of them");
        assert_eq!(lines(&["a", "a2"]), [], "another group than a");
        assert_eq!(lines(&["", ""]), []);
    }
}
