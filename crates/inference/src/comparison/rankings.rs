//! More than two sides of a task in order: the samples that all of them have, the tests of all pairs on those, and the places
//! that the data support.
//!
//! One family of tests decides everything: all pairs, corrected by Holm's method. A place is one plus the number of sides
//! that are better; the range of a side's place counts those that the tests show to be better or worse. As the chance of
//! any false alarm among all pairs is bounded, the ranges of all sides hold together. That is wider than ranges that hold
//! for one side at a time (the largest |t| over shared resamples: Mogstad, Romano, Shaikh & Wilhelm, "Inference for ranks",
//! 2024), but those can disagree with the tests that are shown beside them.
//!
//! Tie groups are letters for the same tests: they do not distinguish two sides that share one. Piepho, "An algorithm for a
//! letter-based representation of all-pairwise comparisons", 2004.

use errorbar_core::engine::{MAX_FIGURES, Resampler, ScoreUnits, resample_cost};
use errorbar_core::{Direction, Error as ScoreError, ErrorPlan, Estimate, Metric, Scores};
use errorbar_stats::descriptive::standard_deviation;
use errorbar_stats::differences::two_sided;
use errorbar_stats::multiple::holm;
use errorbar_stats::resampling::resampled;
use rayon::prelude::*;

use super::figures::{FigureName, figures, is_compared, numbers};
use super::pair::name_among;
use super::paired::{PairKind, PairTest, PairedNumbers};
use super::pairing::Pairing;
use super::side::{Block, Side};
use super::{Rank, Ranking};
use crate::error::Result;

/// The number of shared resamples if the plan names none.
const DRAWS: u32 = 2000;

/// What a ranking is of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct RankedFigure {
    pub(super) scorer: String,
    pub(super) reducer: Option<String>,
    pub(super) field: Option<String>,
    pub(super) metric: String,
}

/// The rankings of all figures that all sides have. `stream` keeps the resamples of tasks apart.
pub(super) fn rank_inputs(sides: &[&Side<'_>], stream: u64) -> Vec<RankInput> {
    let Some((first, others)) = sides.split_first() else { return Vec::new() };
    // Plans that are about one scorer each compare these.
    let across = sides.iter().all(|side| side.only_scorer().is_some());
    let mut inputs = Vec::new();
    for block in first.blocks.iter().filter(|block| !block.is_unreduced) {
        let like = others.iter().map(|side| side.block_like(block, across)).collect::<Option<Vec<_>>>();
        let Some(like) = like else { continue };
        let blocks: Vec<&Block<'_>> = std::iter::once(block).chain(like).collect();
        let has_score = |sample: &u32| blocks.iter().all(|block| block.has(*sample));
        let samples: Vec<u32> = first.samples.iter().copied().filter(has_score).collect();
        if samples.len() < 2 {
            continue;
        }
        let pairing = Pairing { samples, absent: Vec::new() };
        let scores: Vec<Scores<'_>> =
            sides.iter().zip(&blocks).map(|(side, block)| pairing.scores(side, block)).collect();
        let has = |metric: &dyn Metric, block: &&Block<'_>| {
            block.metrics.iter().any(|other| other.spec() == metric.spec())
        };
        let common =
            |metric: &&dyn Metric| is_compared(*metric) && blocks.iter().all(|block| has(*metric, block));
        let metrics = || block.metrics.iter().map(AsRef::as_ref).filter(common);
        for metric in metrics().filter(|metric| metric.group_key().is_none()) {
            let several = SeveralScores { sides, metric, scores: &scores, stream };
            let figure = RankedFigure {
                scorer: block.scorer.clone(),
                reducer: block.reducer.clone(),
                field: block.field.clone(),
                metric: name_among(metric, metrics()),
            };
            // A metric that fails is reported by the comparisons of pairs.
            inputs.extend(several.rank_input(figure).ok().flatten());
        }
    }
    inputs
}

/// The scores of several sides over the same samples, in the same order.
struct SeveralScores<'s> {
    sides: &'s [&'s Side<'s>],
    metric: &'s dyn Metric,
    scores: &'s [Scores<'s>],
    stream: u64,
}

impl SeveralScores<'_> {
    fn rank_input(&self, figure: RankedFigure) -> Result<Option<RankInput>> {
        let Some(first) = self.scores.first() else { return Ok(None) };
        let mut estimates = Vec::with_capacity(self.scores.len());
        for scores in self.scores {
            let figures = figures(self.metric, scores)?;
            let Some((_, estimate)) = figures.into_iter().find(|(name, _)| *name == FigureName::default())
            else {
                return Ok(None);
            };
            estimates.push(estimate);
        }
        let mut errors = first.estimation().errors.clone();
        // Intervals are not looked at.
        errors.interval = "t".parse().unwrap_or_default();
        let name = self.metric.spec().log_name().into_owned();
        let Ok(units) = ScoreUnits::of_keys(&name, first, &errors.cluster)? else { return Ok(None) };
        let numbers = self.scores.iter().map(|scores| self.metric.sample_numbers(scores));
        let numbers = numbers.collect::<Option<Result<Vec<_>, ScoreError>>>().transpose()?;
        let tests = match numbers {
            Some(numbers) => self.tests(&numbers, &name, &errors)?,
            None => tests_of(&self.resampled_figures(&units, &errors), &estimates, units.len()),
        };
        let names = self.sides.iter().map(|side| side.name.to_owned());
        let (n, level) = (first.len() as u64, errors.level());
        Ok(Some(RankInput {
            figure,
            sides: names.zip(estimates).collect(),
            tests,
            n,
            level,
            direction: self.metric.direction(),
        }))
    }

    /// The tests of all pairs.
    fn tests(
        &self,
        numbers: &[Vec<f64>],
        name: &str,
        errors: &ErrorPlan,
    ) -> Result<Vec<((usize, usize), PairTest)>> {
        let sides = || numbers.iter().zip(self.scores).enumerate();
        let pairs: Vec<_> =
            sides().flat_map(|(i, one)| sides().skip(i + 1).map(move |(j, two)| (i, j, one, two))).collect();
        let test = |(i, j, (base, base_scores), (other, other_scores))| {
            let (base, other): (&Vec<f64>, &Vec<f64>) = (base, other);
            let scores: [&Scores<'_>; 2] = [base_scores, other_scores];
            let kind = PairKind::of([base, other], errors.range);
            let random = &base_scores.estimation().random;
            let pair = PairedNumbers { base, other, scores, metric: name, errors, kind, random };
            pair.tested().map(|test| ((i, j), test))
        };
        pairs.into_par_iter().map(test).collect::<Vec<_>>().into_iter().collect()
    }

    fn seed(&self) -> u64 {
        let seed = self.scores.first().map_or(0, Scores::seed);
        seed.wrapping_add(self.stream.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    /// The figures of all sides in shared resamples, for a metric without per-sample numbers.
    fn resampled_figures(&self, units: &ScoreUnits, errors: &ErrorPlan) -> Vec<Vec<f64>> {
        let resamplers: Vec<Resampler<'_>> = self.scores.iter().map(Resampler::new).collect();
        let rows: Vec<_> = resamplers.iter().map(|resampler| resampler.rows_of(units.iter())).collect();
        let name = [FigureName::default()];
        resampled(units.len(), self.draws(errors), self.seed(), |counts: &[u32]| {
            let one = |(resampler, rows): (&Resampler<'_>, _)| {
                let figures = resampler.resample(rows, counts, |scores| numbers(self.metric, scores, &name));
                figures.first().copied().unwrap_or(f64::NAN)
            };
            resamplers.iter().zip(&rows).map(one).collect()
        })
    }

    /// As many resamples as the plan names, or the usual ones, but fewer of very many scores, or where a plan of others
    /// would take too long, and no more than can be held: a resample is drawn once for all sides.
    fn draws(&self, errors: &ErrorPlan) -> usize {
        let Some(first) = self.scores.first() else { return 0 };
        let (n, sides) = (first.len() as u64, self.scores.len());
        let wanted = u64::from(errors.draws.unwrap_or(DRAWS));
        let cost = resample_cost(self.metric, n, 1).saturating_mul(sides as u64);
        let affordable = first.estimation().random.affordable_draws(wanted, n, cost);
        (affordable.max(FEWEST.min(wanted)) as usize).min(MAX_FIGURES / sides)
    }
}

/// The fewest resamples that give an error to two digits or so.
const FEWEST: u64 = 200;

/// The tests of all pairs, from resamples.
fn tests_of(resamples: &[Vec<f64>], estimates: &[Estimate], units: usize) -> Vec<((usize, usize), PairTest)> {
    let mut tests = Vec::new();
    for (i, base) in estimates.iter().enumerate() {
        for (j, other) in estimates.iter().enumerate().skip(i + 1) {
            let (Some(base), Some(other)) = (base.number(), other.number()) else {
                tests.push(((i, j), PairTest::UNKNOWN));
                continue;
            };
            let differences: Vec<f64> = resamples
                .iter()
                .filter_map(|figures| Some(figures.get(j)? - figures.get(i)?))
                .filter(|difference| difference.is_finite())
                .collect();
            let (value, se, df) = (other - base, standard_deviation(&differences), units as f64 - 1.0);
            let p_value = (se > 0.0).then(|| two_sided(value / se, df)).filter(|p| !p.is_nan());
            let se = if se.is_finite() { se } else { 0.0 };
            tests.push(((i, j), PairTest { value, se, df, p_value, units: units as u64 }));
        }
    }
    tests
}

/// What a ranking is made of.
#[derive(Clone, Debug)]
pub(super) struct RankInput {
    pub(super) figure: RankedFigure,
    /// The names of the sides, and their figures.
    pub(super) sides: Vec<(String, Estimate)>,
    /// The difference of each pair of sides: (i, j) for i < j is j minus i. All of them, ordered by i, then by j.
    pub(super) tests: Vec<((usize, usize), PairTest)>,
    pub(super) n: u64,
    pub(super) level: f64,
    /// Which way figures are better; the highest one is first if neither is.
    pub(super) direction: Direction,
}

impl RankInput {
    /// The ranking in a task.
    pub(super) fn ranking(&self, task: Option<&str>) -> Ranking {
        let different = self.different();
        let letters = tie_letters(self.sides.len(), &different, |at| self.merit(at));
        let intervals = self.intervals(&different);
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
        let RankedFigure { scorer, reducer, field, metric } = self.figure.clone();
        let (task, ranks) = (task.map(str::to_owned), order.iter().filter_map(rank).collect());
        Ranking { scorer, reducer, field, metric, task, n: self.n, level: self.level, ranks }
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

    /// The pairs that tests of all pairs distinguish, corrected by Holm's method: the better side first.
    fn different(&self) -> Vec<(usize, usize)> {
        let p_values: Vec<Option<f64>> = self.tests.iter().map(|(_, test)| test.p_value).collect();
        let alpha = 1.0 - self.level;
        let adjusted = holm(&p_values);
        let is_different = |p: &Option<f64>| p.is_some_and(|p| p <= alpha);
        let found =
            self.tests.iter().zip(&adjusted).filter(|((_, test), p)| test.value != 0.0 && is_different(p));
        let better_first = |((i, j), test): &((usize, usize), PairTest)| match self.sign() * test.value > 0.0
        {
            true => (*j, *i),
            false => (*i, *j),
        };
        found.map(|(test, _)| better_first(test)).collect()
    }

    /// The best and the worst place of each side.
    fn intervals(&self, different: &[(usize, usize)]) -> Vec<(u32, u32)> {
        let count = self.sides.len() as u32;
        let mut intervals = vec![(1, count); self.sides.len()];
        for (better, worse) in different {
            if let Some((best, _)) = intervals.get_mut(*worse) {
                *best += 1;
            }
            if let Some((_, worst)) = intervals.get_mut(*better) {
                *worst -= 1;
            }
        }
        intervals
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
    use errorbar_stats::distributions::normal_cdf;

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
        RankInput {
            figure: RankedFigure::default(),
            sides,
            tests,
            n: 1000,
            level: 0.95,
            direction: Direction::Higher,
        }
    }

    /// By side: the range of places and the letters.
    fn ranges(input: &RankInput) -> Vec<((u32, u32), String)> {
        let ranking = input.ranking(None);
        let of = |(name, _): &(String, Estimate)| {
            let rank = ranking.ranks.iter().find(|rank| rank.side == *name).unwrap();
            (rank.interval, rank.tie_groups.clone())
        };
        input.sides.iter().map(of).collect()
    }

    /// Neighbours differ by 2.1 errors, p = 0.036: twice that is above 0.05, by Holm's method, for ranges and letters alike.
    #[test]
    fn ranges_and_letters_are_of_the_same_corrected_tests() {
        let found = ranges(&input(&[0.5, 0.542, 0.584], 0.02));
        assert_eq!(found, [((2, 3), "b".into()), ((1, 3), "ab".into()), ((1, 2), "a".into())]);
    }

    /// Sides 0 and 1 differ; side 2, between or below them with a large error, is like both: it may be anywhere.
    #[test]
    fn a_side_that_is_like_all_others_may_have_any_place() {
        let mut rough = input(&[0.9, 0.5, 0.4], 0.02);
        for (pair, test) in &mut rough.tests {
            if pair.1 == 2 {
                test.p_value = Some(0.5);
            }
        }
        let found = ranges(&rough);
        assert_eq!(found, [((1, 2), "a".into()), ((2, 3), "b".into()), ((1, 3), "ab".into())]);
    }

    #[test]
    fn places() {
        // Two sides at the top that the data do not distinguish, one far below.
        let ranking = input(&[0.5, 0.9, 0.89], 0.02).ranking(None);
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
        let ranks = losses.ranking(None).ranks;
        let first = &ranks[0];
        assert_eq!((first.side.as_str(), first.rank, first.interval), ("0", 1, (1, 1)));
        assert_eq!(ranks.iter().map(|rank| rank.tie_groups.as_str()).collect::<Vec<_>>(), ["a", "b", "b"]);
        // Equal figures share a place.
        let tied = input(&[0.5, 0.5, 0.1], 0.5).ranking(None);
        assert_eq!(tied.ranks.iter().map(|rank| rank.rank).collect::<Vec<_>>(), [1, 1, 3]);
        assert!(tied.ranks.iter().all(|rank| rank.interval == (1, 3)));
    }
}
