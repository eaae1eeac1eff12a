//! Pairs by the scores of both sides.

/// The most different scores that a table has; more would not be read.
const MOST_SCORES: usize = 6;

/// Pairs counted by the score of both sides, where there are few different ones.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct CrossTable {
    /// The different scores of both sides, ascending.
    pub scores: Vec<f64>,
    /// The number of pairs, by the score of the base, then by that of the other side.
    pub counts: Vec<Vec<u64>>,
}

impl CrossTable {
    /// The pairs; none if there are too many different scores, or one that is not finite.
    pub(super) fn of(base: &[f64], other: &[f64]) -> Option<Self> {
        let mut scores: Vec<f64> = Vec::new();
        for score in base.iter().chain(other) {
            if !score.is_finite() {
                return None;
            }
            // Means of the same epochs in another order may differ in the last bit.
            if !scores.iter().any(|known| is_same(*known, *score)) {
                scores.push(*score);
            }
            if scores.len() > MOST_SCORES {
                return None;
            }
        }
        scores.sort_unstable_by(f64::total_cmp);
        let mut counts = vec![vec![0; scores.len()]; scores.len()];
        let place = |score: f64| scores.iter().position(|known| is_same(*known, score));
        for (base, other) in base.iter().zip(other) {
            let (row, column) = (place(*base)?, place(*other)?);
            *counts.get_mut(row)?.get_mut(column)? += 1;
        }
        Some(CrossTable { scores, counts })
    }
}

fn is_same(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * (1.0 + a.abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_counted_by_both_scores() {
        let third = 1.0 / 3.0;
        let table = CrossTable::of(&[0.0, third, 1.0, 1.0], &[0.0, 1.0, third + 1e-16, 1.0]).unwrap();
        assert_eq!(table.scores, [0.0, third, 1.0]);
        assert_eq!(table.counts, [[1, 0, 0], [0, 0, 1], [0, 1, 1]]);
    }

    #[test]
    fn many_scores_are_no_table() {
        let many: Vec<f64> = (0..7).map(f64::from).collect();
        assert_eq!(CrossTable::of(&many, &many), None);
        assert_eq!(CrossTable::of(&[f64::NAN], &[1.0]), None);
    }
}
