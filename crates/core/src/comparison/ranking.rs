//! Several sides in order, with the places that the data support.
//!
//! A place is one plus the number of sides that are better. The interval of a side's place counts those that are better or
//! worse for sure: their differences from this side, taken together, exclude 0 at the level. The bound for all differences
//! of a side at once is a quantile of the largest |t| among them over shared resamples, so that the correlation of the sides
//! is used; the interval then holds the true place with at least the level. Mogstad, Romano, Shaikh & Wilhelm, "Inference
//! for ranks with applications to mobility across neighbourhoods and academic achievement across countries", 2024.
//!
//! Tie groups are letters: tests of all pairs, corrected by Holm's method, do not distinguish two sides that share one.
//! Piepho, "An algorithm for a letter-based representation of all-pairwise comparisons", 2004.

use super::paired::PairTest;
use super::{Rank, Ranking};
use crate::estimate::Estimate;
use crate::evaluation::Direction;
use crate::stats::{holm, normal_cdf, quantile_inverse, t_quantile};

/// What a ranking is made of.
#[derive(Clone, Debug)]
pub(super) struct RankInput {
    /// The names of the sides, and their figures.
    pub(super) sides: Vec<(String, Estimate)>,
    /// The difference of each pair of sides: (i, j) for i < j is j minus i. All of them, ordered by i, then by j.
    pub(super) tests: Vec<((usize, usize), PairTest)>,
    /// The figures of all sides in shared resamples.
    pub(super) resamples: Vec<Vec<f64>>,
    pub(super) n: u64,
    pub(super) level: f64,
    /// Which way figures are better; the highest one is first if neither is.
    pub(super) direction: Direction,
}

impl RankInput {
    /// The ranking; the caller names what it is of.
    pub(super) fn ranking(&self, scorer: &str, metric: &str) -> Ranking {
        let letters = self.letters();
        let intervals = self.intervals();
        let mut order: Vec<usize> = (0..self.sides.len()).collect();
        let key = |at: usize| self.merit(at);
        order.sort_by(|a, b| key(*b).total_cmp(&key(*a)));
        let place = |at: usize| 1 + order.iter().filter(|other| key(**other) > key(at)).count() as u32;
        let rank = |at: &usize| {
            let (name, estimate) = self.sides.get(*at)?;
            let interval = intervals.get(*at).copied()?;
            let letters = letters.get(*at).map_or("", String::as_str);
            Some(Rank::new(name, estimate.clone(), place(*at), interval, letters))
        };
        Ranking::new(scorer, metric, self.n, self.level, order.iter().filter_map(rank).collect())
    }

    /// −1 if lower figures are better.
    fn sign(&self) -> f64 {
        if self.direction == Direction::Lower { -1.0 } else { 1.0 }
    }

    /// What sides are ordered by: the higher, the better. Those without a figure are last.
    fn merit(&self, side: usize) -> f64 {
        let figure = self.sides.get(side).and_then(|(_, estimate)| estimate.number());
        figure.map_or(f64::NEG_INFINITY, |figure| self.sign() * figure)
    }

    /// The tests of one side with all others: the other, and other minus this.
    fn tests_of(&self, side: usize) -> impl Iterator<Item = (usize, PairTest)> {
        let count = self.sides.len();
        // Looking for them among all pairs would take the cube of the number of sides.
        (0..count).filter(move |other| *other != side).filter_map(move |other| {
            let (i, j) = (side.min(other), side.max(other));
            let (pair, test) = self.tests.get(i * (2 * count - i - 1) / 2 + j - i - 1)?;
            debug_assert_eq!(*pair, (i, j));
            Some((other, if i == side { *test } else { PairTest { value: -test.value, ..*test } }))
        })
    }

    /// The best and the worst place of each side.
    fn intervals(&self) -> Vec<(u32, u32)> {
        let count = self.sides.len() as u32;
        let of_side = |side: usize| {
            let bound = self.bound(side);
            let is_sure = |test: &PairTest| match bound {
                Some(bound) if test.se > 0.0 => test.value.abs() > bound * test.se,
                // All differences are equal: the signs decide, for all others at once.
                _ => {
                    let alpha = (1.0 - self.level) / f64::from(count.saturating_sub(1).max(1));
                    test.se == 0.0 && test.value != 0.0 && test.p_value.is_some_and(|p| p <= alpha)
                }
            };
            let sure: Vec<f64> =
                self.tests_of(side).filter(|(_, test)| is_sure(test)).map(|(_, test)| test.value).collect();
            let better = sure.iter().filter(|value| self.sign() * **value > 0.0).count() as u32;
            (1 + better, count - (sure.len() as u32 - better))
        };
        (0..self.sides.len()).map(of_side).collect()
    }

    /// How many errors a difference from this side must be from 0 so that all of them hold at once.
    fn bound(&self, side: usize) -> Option<f64> {
        let tests: Vec<(usize, PairTest)> = self.tests_of(side).filter(|(_, test)| test.se > 0.0).collect();
        let value = |at: usize| self.sides.get(at)?.1.number();
        let own = value(side)?;
        // Of u units a resample has (u − 1)/u of the variance; and t has heavier tails than what resamples show.
        let scale = |test: &PairTest| match test.units {
            units @ 2.. => (units as f64 / (units - 1) as f64).sqrt(),
            _ => 1.0,
        };
        let tests: Vec<(usize, f64, f64)> = tests
            .into_iter()
            .filter_map(|(other, test)| Some((other, value(other)? - own, scale(&test) / test.se)))
            .collect();
        let largest = |figures: &Vec<f64>| {
            let own = figures.get(side)?;
            let t = |(other, value, per_se): &(usize, f64, f64)| {
                Some(((figures.get(*other)? - own - value) * per_se).abs())
            };
            tests.iter().filter_map(t).reduce(f64::max).filter(|largest| largest.is_finite())
        };
        let mut largest: Vec<f64> = self.resamples.iter().filter_map(largest).collect();
        if largest.is_empty() {
            return None;
        }
        largest.sort_unstable_by(f64::total_cmp);
        let bound = quantile_inverse(&largest, self.level);
        let df = self.tests_of(side).map(|(_, test)| test.df).fold(f64::INFINITY, f64::min);
        if df.is_infinite() { Some(bound) } else { Some(t_quantile(normal_cdf(bound), df)) }
    }

    /// The letters of each side.
    fn letters(&self) -> Vec<String> {
        let p_values: Vec<Option<f64>> = self.tests.iter().map(|(_, test)| test.p_value).collect();
        let alpha = 1.0 - self.level;
        let is_different = |p: &Option<f64>| p.is_some_and(|p| p <= alpha);
        let adjusted = holm(&p_values);
        let different = self.tests.iter().zip(&adjusted).filter(|(_, p)| is_different(p));
        let pairs: Vec<(usize, usize)> = different.map(|((pair, _), _)| *pair).collect();
        let value = |at: usize| self.merit(at);
        tie_letters(self.sides.len(), &pairs, value)
    }
}

/// The most tie groups that are looked for; there are as many as sides, as a rule.
const MOST_GROUPS: usize = 2000;

/// The letters of each side: groups as large as possible without a pair that differs, the best first. Empty if there are
/// too many groups to name.
fn tie_letters(sides: usize, different: &[(usize, usize)], value: impl Fn(usize) -> f64) -> Vec<String> {
    let mut groups: Vec<Vec<usize>> = vec![(0..sides).collect()];
    for (i, j) in different {
        let (with_both, mut others): (Vec<_>, Vec<_>) =
            groups.into_iter().partition(|group| group.contains(i) && group.contains(j));
        for group in with_both {
            for left_out in [i, j] {
                let part: Vec<usize> = group.iter().copied().filter(|side| side != left_out).collect();
                // A group within another says nothing more.
                let is_within = |whole: &Vec<usize>| part.iter().all(|side| whole.contains(side));
                if !others.iter().any(is_within) {
                    others.retain(|small| !small.iter().all(|side| part.contains(side)));
                    others.push(part);
                }
            }
        }
        groups = others;
        if groups.len() > MOST_GROUPS {
            return vec![String::new(); sides];
        }
    }
    let top = |group: &Vec<usize>| group.iter().map(|side| value(*side)).fold(f64::NEG_INFINITY, f64::max);
    let bottom = |group: &Vec<usize>| group.iter().map(|side| value(*side)).fold(f64::INFINITY, f64::min);
    groups.sort_by(|a, b| {
        top(b).total_cmp(&top(a)).then(bottom(b).total_cmp(&bottom(a))).then_with(|| a.cmp(b))
    });
    let mut letters = vec![String::new(); sides];
    for (at, group) in groups.iter().enumerate() {
        for side in group {
            if let Some(letters) = letters.get_mut(*side) {
                letters.push_str(&letter(at));
            }
        }
    }
    letters
}

/// a to z, then a2 to z2.
fn letter(at: usize) -> String {
    let letter = char::from(b'a' + (at % 26) as u8);
    match at / 26 {
        0 => letter.to_string(),
        round => format!("{letter}{}", round + 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_of_groups() {
        let value = |side: usize| [4.0, 3.0, 2.0, 1.0][side];
        assert_eq!(tie_letters(4, &[], value), ["a", "a", "a", "a"]);
        // The ends differ, the middle is in both groups.
        assert_eq!(tie_letters(4, &[(0, 3)], value), ["a", "ab", "ab", "b"]);
        assert_eq!(tie_letters(4, &[(0, 3), (0, 2), (1, 3)], value), ["a", "ab", "bc", "c"]);
        let all: Vec<(usize, usize)> = (0..4).flat_map(|i| (i + 1..4).map(move |j| (i, j))).collect();
        assert_eq!(tie_letters(4, &all, value), ["a", "b", "c", "d"]);
        // Not in the order of the values: 0 and 1 differ, 2 is like both.
        assert_eq!(tie_letters(3, &[(0, 1)], value), ["a", "b", "ab"]);
        assert_eq!((letter(25), letter(26), letter(53)), ("z".to_owned(), "a2".to_owned(), "b3".to_owned()));
    }

    fn input(values: &[f64], se: f64) -> RankInput {
        let sides =
            values.iter().enumerate().map(|(at, value)| (at.to_string(), Estimate::new(*value))).collect();
        let mut tests = Vec::new();
        for i in 0..values.len() {
            for j in i + 1..values.len() {
                let value = values[j] - values[i];
                let p_value = Some(2.0 * (1.0 - normal_cdf((value / se).abs())));
                tests.push(((i, j), PairTest { value, se, df: f64::INFINITY, p_value, units: 1000 }));
            }
        }
        // The largest |t| of a resample goes evenly from 0 to 3.
        let resample = |b: usize| {
            let shift = se * 3.0 * b as f64 / 1000.0;
            values
                .iter()
                .enumerate()
                .map(|(at, value)| if at == 0 { value + shift } else { *value })
                .collect()
        };
        let resamples = (0..1000).map(resample).collect();
        RankInput { sides, tests, resamples, n: 1000, level: 0.95, direction: Direction::Higher }
    }

    /// The largest |t| of 95 % of the resamples is 2.85: a difference of 2.5 errors may be chance.
    #[test]
    fn differences_within_the_largest_of_resamples_leave_places_open() {
        let intervals = |t: f64| input(&[0.5, 0.5 + 0.02 * t], 0.02).intervals();
        assert_eq!(intervals(2.5), [(1, 2), (1, 2)]);
        assert_eq!(intervals(2.9), [(2, 2), (1, 1)]);
    }

    /// Neighbours differ by 2.1 errors, p = 0.036: twice that is above 0.05, by Holm's method.
    #[test]
    fn letters_are_of_corrected_tests() {
        assert_eq!(input(&[0.5, 0.542, 0.584], 0.02).letters(), ["b", "ab", "a"]);
    }

    #[test]
    fn places() {
        // Two sides at the top that the data do not distinguish, one far below.
        let ranking = input(&[0.5, 0.9, 0.89], 0.02).ranking("s", "m");
        let ranks: Vec<_> = ranking
            .ranks
            .iter()
            .map(|r| (r.side.as_str(), r.rank, r.interval, r.tie_groups.as_str()))
            .collect();
        assert_eq!(ranks[2], ("0", 3, (3, 3), "b"));
        assert_eq!((ranks[0].0, ranks[0].1, ranks[0].3), ("1", 1, "a"));
        assert_eq!((ranks[1].0, ranks[1].1, ranks[1].3), ("2", 2, "a"));
        // Of a loss the lowest is first.
        let losses = RankInput { direction: Direction::Lower, ..input(&[0.5, 0.9, 0.89], 0.02) };
        let ranks = losses.ranking("s", "m").ranks;
        let first = &ranks[0];
        assert_eq!((first.side.as_str(), first.rank, first.interval), ("0", 1, (1, 1)));
        assert_eq!(ranks.iter().map(|rank| rank.tie_groups.as_str()).collect::<Vec<_>>(), ["a", "b", "b"]);
        // Equal figures share a place.
        let tied = input(&[0.5, 0.5, 0.1], 0.5).ranking("s", "m");
        assert_eq!(tied.ranks.iter().map(|rank| rank.rank).collect::<Vec<_>>(), [1, 1, 3]);
        assert!(tied.ranks.iter().all(|rank| rank.interval == (1, 3)));
    }
}
