//! More than two sides of a task: the samples that all of them have, and the tests of all pairs on those.

use rayon::prelude::*;

use super::figures::{FigureName, figures, is_compared, numbers};
use super::pair::name_among;
use super::paired::{PairKind, PairTest, PairedNumbers};
use super::pairing::Pairing;
use super::ranking::RankInput;
use super::side::{Block, Side};
use crate::error::Result;
use errorbar_core::engine::{MAX_FIGURES, Resampler, ScoreUnits, resample_cost};
use errorbar_core::{Error as ScoreError, ErrorPlan, Estimate, Metric, Scores};
use errorbar_stats::descriptive::standard_deviation;
use errorbar_stats::differences::two_sided;
use errorbar_stats::resampling::resampled;

/// The number of shared resamples if the plan names none.
const DRAWS: u32 = 2000;

/// What a ranking is of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RankedFigure {
    pub(super) scorer: String,
    pub(super) reducer: Option<String>,
    pub(super) field: Option<String>,
    pub(super) metric: String,
}

/// The rankings of all figures that all sides have. `stream` keeps the resamples of tasks apart.
pub(super) fn rank_inputs(sides: &[&Side<'_>], stream: u64) -> Vec<(RankedFigure, RankInput)> {
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
            // A metric that fails is reported by the comparisons of pairs.
            let Ok(Some(input)) = several.rank_input() else { continue };
            let figure = RankedFigure {
                scorer: block.scorer.clone(),
                reducer: block.reducer.clone(),
                field: block.field.clone(),
                metric: name_among(metric, metrics()),
            };
            inputs.push((figure, input));
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
    fn rank_input(&self) -> Result<Option<RankInput>> {
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
