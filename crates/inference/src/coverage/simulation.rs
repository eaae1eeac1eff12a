//! The simulations of all methods, and what is drawn: scores, or whole clusters of them.

use std::collections::{BTreeMap, HashMap};

use errorbar_core::engine::{RowClusters, SummaryKey, UnitScores};
use errorbar_core::{
    Conversion, Defined, ErrorPlan, Interval, IntervalChoice, IntervalMethod, Random, Result, ScoreKind,
    Scores, Summary, Undefined,
};
use errorbar_stats::exact::{Moments, tally};
use errorbar_stats::random::{Stream, purpose};
use foldhash::fast::RandomState;
use rayon::prelude::*;

use super::{Coverage, CoverageFigures, CoverageOptions, MethodCoverage, NoCoverage};

/// The most simulations if no number is requested, and the least.
const MOST: u64 = 10_000;
const LEAST: u64 = 100;
/// The units that the simulations draw together if no number of them is requested: about a second.
const UNITS: u64 = 10_000_000;
/// The values that all resamples of a method draw together if no number of simulations is requested: a few seconds.
const VALUES: u64 = 1_000_000_000;
/// The resamples of an interval, unless the plan has a number or outcomes are few. Their ends are less steady than those of
/// 10,000, which a single run can afford; over many simulations that evens out.
const DRAWS: u32 = 1_000;
/// An `exact` interval takes as long for each of its means as it takes to draw this number of values.
const VALUES_OF_EXACT_MEAN: u64 = 50;
/// With at most this number of kinds of units the same outcome comes up again and again, and is computed once.
const FEW_KINDS: usize = 16;

/// A method to simulate.
struct Method {
    /// The plan with this method.
    plan: ErrorPlan,
    takes: Option<IntervalMethod>,
    /// How often, or why not at all.
    simulations: Defined<u64>,
}

/// The ends of an interval; `None` if there is none.
type Ends = Option<(f64, f64)>;

/// How often the intervals of a method miss the truth, and how wide they are, over the simulations so far.
#[derive(Clone)]
struct MethodTally {
    below: u64,
    above: u64,
    undefined: u64,
    widths: Moments,
}

pub(super) fn simulate(
    population: &Population,
    errors: &ErrorPlan,
    seed: u64,
    options: CoverageOptions,
) -> Result<Coverage, NoCoverage> {
    let draws = if has_few_outcomes(population) { errors.draws() } else { errors.draws.unwrap_or(DRAWS) };
    let choices = IntervalMethod::choices().map(IntervalChoice::Method);
    let method = |choice: IntervalChoice| -> Result<Method> {
        let mut plan = errors.clone();
        (plan.interval, plan.draws) = (choice, Some(draws));
        // Units are drawn with replacement: of a population without end.
        plan.population = None;
        // What the method makes of the scores themselves shows whether it applies at all.
        let original = Summaries::new(population, &population.counts()).interval(&plan, seed)?;
        let takes = original.as_ref().ok().map(|interval| interval.method);
        let simulations = match original {
            Ok(interval) => {
                let values = match interval.method {
                    IntervalMethod::Exact => {
                        let means = population.summary(&plan, &population.counts())?.exact_means();
                        VALUES_OF_EXACT_MEAN * means.unwrap_or(0)
                    }
                    method if method.is_drawn() => u64::from(draws) * population.len(),
                    _ => 0,
                };
                count(population, values, options)
            }
            Err(reason) => Err(reason),
        };
        Ok(Method { plan, takes, simulations })
    };
    let choices: Vec<IntervalChoice> = match options.method {
        Some(only) => vec![only],
        None => std::iter::once(IntervalChoice::Auto).chain(choices).collect(),
    };
    let methods = choices.into_iter().map(method).collect::<Result<Vec<_>>>()?;
    let tallies = run(population, &methods, seed)?;
    let of_method = |(method, tally): (&Method, MethodTally)| MethodCoverage {
        method: method.plan.interval,
        takes: method.takes,
        figures: method.simulations.clone().map(|simulations| tally.figures(simulations)),
    };
    Ok(Coverage {
        n: population.n,
        clusters: population.clusters(),
        mean: population.mean,
        level: errors.level(),
        seed,
        draws,
        methods: methods.iter().zip(tallies).map(of_method).collect(),
    })
}

/// Of two kinds of units there are few outcomes, and each is computed once.
fn has_few_outcomes(population: &Population) -> bool {
    population.kinds() == 2 && population.clusters().is_none()
}

/// How often to simulate a method whose interval draws this number of values.
fn count(population: &Population, values: u64, options: CoverageOptions) -> Defined<u64> {
    if let Some(requested) = options.simulations {
        return Ok(u64::from(requested.clamp(1, CoverageOptions::MAX_SIMULATIONS)));
    }
    let by_units = (UNITS / population.len().max(1)).clamp(LEAST, MOST);
    if values == 0 || has_few_outcomes(population) {
        return Ok(by_units);
    }
    match VALUES / values {
        few @ 0..LEAST => Err(Undefined::Other(format!(
            "it could be simulated {few} times within a few seconds, too few to tell; request a number of simulations"
        ))),
        by_values => Ok(by_units.min(by_values)),
    }
}

/// Simulations that are held at once. What they come to is added up, so memory does not grow with their number.
const BLOCK: u64 = 1 << 14;
/// The most outcomes that are remembered. One that comes up again after that number of others is computed again, with other
/// resamples.
const REMEMBERED: usize = 1 << 17;

/// All simulations, on all threads. Each has its own random words, so it does not matter which thread it runs on.
fn run(population: &Population, methods: &[Method], seed: u64) -> Result<Vec<MethodTally>> {
    let wanted = |method: &Method| method.simulations.as_ref().copied().unwrap_or(0);
    let most = methods.iter().map(wanted).max().unwrap_or(0);
    // The intervals of an outcome that comes up for the first time in a simulation.
    let intervals = |counts: &[u32], first: u64| -> Result<Vec<Ends>> {
        let mut summaries = Summaries::new(population, counts);
        let ends = |method: &Method| -> Result<Ends> {
            if first >= wanted(method) {
                return Ok(None);
            }
            // A seed of its own: resamples that all simulations share would err in the same direction in all of them.
            let interval = summaries.interval(&method.plan, resampling_seed(seed, first))?;
            Ok(interval.ok().map(|interval| (interval.lower, interval.upper)))
        };
        methods.iter().map(ends).collect()
    };
    let empty = MethodTally { below: 0, above: 0, undefined: 0, widths: Moments::new() };
    let mut tallies = vec![empty; methods.len()];
    let mut add = |intervals: &[Ends], simulations: &[u64]| {
        for ((tally, method), ends) in tallies.iter_mut().zip(methods).zip(intervals) {
            let times = simulations.partition_point(|simulation| *simulation < wanted(method)) as u64;
            tally.add(*ends, times, population.mean);
        }
    };
    let mut known: HashMap<Vec<u32>, Vec<Ends>, RandomState> = HashMap::default();
    for start in (0..most).step_by(BLOCK as usize) {
        let block = start..most.min(start + BLOCK);
        if population.kinds() > FEW_KINDS {
            let simulated = |at: u64| Ok((at, intervals(&population.draw(seed, at), at)?));
            let simulated: Vec<(u64, Vec<Ends>)> =
                block.into_par_iter().map(simulated).collect::<Result<_>>()?;
            simulated.iter().for_each(|(at, intervals)| add(intervals, &[*at]));
            continue;
        }
        let drawn: Vec<Vec<u32>> =
            block.clone().into_par_iter().map(|at| population.draw(seed, at)).collect();
        let mut outcomes: BTreeMap<Vec<u32>, Vec<u64>> = BTreeMap::new();
        for (at, counts) in block.zip(drawn) {
            outcomes.entry(counts).or_default().push(at);
        }
        outcomes.retain(|counts, simulations| match known.get(counts) {
            Some(intervals) => {
                add(intervals, simulations);
                false
            }
            None => true,
        });
        let computed = |(counts, simulations): (Vec<u32>, Vec<u64>)| {
            let intervals = intervals(&counts, simulations.first().copied().unwrap_or(0))?;
            Ok((counts, simulations, intervals))
        };
        let computed: Vec<_> = outcomes.into_par_iter().map(computed).collect::<Result<_>>()?;
        for (counts, simulations, intervals) in computed {
            add(&intervals, &simulations);
            if known.len() < REMEMBERED {
                known.insert(counts, intervals);
            }
        }
    }
    Ok(tallies)
}

/// The seed of the resamples of an outcome, by the first simulation that it came up in.
fn resampling_seed(seed: u64, simulation: u64) -> u64 {
    Stream::new(seed, purpose::SIMULATED_RESAMPLES, simulation).next_u64()
}

/// What the intervals of one outcome are computed from. Methods that need the same share it.
struct Summaries<'a> {
    population: &'a Population,
    counts: &'a [u32],
    known: Vec<(SummaryKey, Summary)>,
}

impl<'a> Summaries<'a> {
    fn new(population: &'a Population, counts: &'a [u32]) -> Self {
        Summaries { population, counts, known: Vec::new() }
    }

    fn interval(&mut self, plan: &ErrorPlan, seed: u64) -> Result<Defined<Interval>> {
        let key = SummaryKey::of(plan, self.population.clusters().is_some());
        if !self.known.iter().any(|(known, _)| *known == key) {
            self.known.push((key.clone(), self.population.summary(plan, self.counts)?));
        }
        let summary = self.known.iter().find(|(known, _)| *known == key).map(|(_, summary)| summary);
        Ok(match summary {
            Some(summary) => summary.estimate(plan, self.population.kind, &Random::new(seed, None)).interval,
            None => Err(Undefined::NoScores),
        })
    }
}

impl MethodTally {
    /// Adds an interval, as often as it came up.
    fn add(&mut self, ends: Ends, times: u64, truth: f64) {
        match ends {
            _ if times == 0 => {}
            Some((lower, upper)) => {
                self.below += if upper < truth { times } else { 0 };
                self.above += if truth < lower { times } else { 0 };
                self.widths.push_times(upper - lower, times);
            }
            None => self.undefined += times,
        }
    }

    fn figures(self, simulations: u64) -> CoverageFigures {
        let MethodTally { below, above, undefined, widths } = self;
        let share = |count: u64| count as f64 / simulations as f64;
        let held = simulations - below - above - undefined;
        // Two more simulations, one on each side: the error of a share of 0 or 1 is not 0.
        let smoothed = (held + 1) as f64 / (simulations + 2) as f64;
        let width = widths.mean().filter(|width| width.is_finite());
        CoverageFigures {
            simulations,
            coverage: share(held),
            coverage_error: (smoothed * (1.0 - smoothed) / simulations as f64).sqrt(),
            below: share(below),
            above: share(above),
            undefined: share(undefined),
            width,
            width_error: width.and(widths.stderr()).filter(|error| error.is_finite()),
        }
    }
}

/// The least number of scores or clusters: fewer do not show how they vary.
pub(super) const LEAST_UNITS: u64 = 5;

/// Values with how often each occurs.
type Tally = Vec<(f64, u64)>;

/// What is drawn: units of a few kinds, those of one kind with the same scores.
pub(super) struct Population {
    kinds: Kinds,
    /// The kind of each unit, ascending: the order of the scores does not matter.
    units: Vec<u32>,
    pub(super) n: u64,
    pub(super) mean: f64,
    /// What all scores are.
    pub(super) kind: ScoreKind,
}

/// The kinds of units.
enum Kinds {
    /// Single scores, by value, ascending.
    Scores(Vec<f64>),
    Clusters(Vec<UnitScores>),
}

impl Population {
    pub(super) fn of(scores: &Scores<'_>) -> Result<Population, NoCoverage> {
        let estimation = scores.estimation();
        if scores.is_empty() {
            return Err(NoCoverage::no_scores());
        }
        let numbers = scores.finite(NAME, &Conversion::default(), <[f64]>::to_vec);
        let numbers = numbers?;
        let all = tally(&numbers);
        if let [(value, n)] = all.as_slice() {
            return Err(NoCoverage::NoSpread(match n {
                1 => format!("the only score is {value}: one does not show how scores vary"),
                n => format!("all {n} scores are {value}, so they do not show how scores vary"),
            }));
        }
        let whole = Summary::from_values(&ErrorPlan::new(), &all)?;
        let (n, kind) = (numbers.len() as u64, whole.kind());
        let mean = whole.mean().unwrap_or(f64::NAN);
        let clusters = match SummaryKey::of(&estimation.errors, estimation.by_sample) {
            SummaryKey::Moments | SummaryKey::Tally => None,
            SummaryKey::BySample => Some(RowClusters::by_sample(scores, 0..scores.len()).of_positions),
            SummaryKey::Clusters(keys) => match keys.as_slice() {
                [key] => Some(RowClusters::by_key(NAME, key, scores)?.of_positions),
                _ => return Err(NoCoverage::TwoWays),
            },
        };
        let (kinds, units) = match clusters {
            None => single(all),
            Some(clusters) => whole_clusters(&numbers, &clusters),
        };
        let population = Population { kinds, units, n, mean, kind };
        population.check()?;
        Ok(population)
    }

    fn check(&self) -> Result<(), NoCoverage> {
        let (found, clustered) = (self.units.len() as u64, self.clusters().is_some());
        if found < LEAST_UNITS {
            return Err(match clustered {
                true => NoCoverage::TooFewClusters(found),
                false => NoCoverage::NoSpread(format!(
                    "{found} scores are too few to draw from: it takes {LEAST_UNITS}"
                )),
            });
        }
        match &self.kinds {
            Kinds::Clusters(kinds) if kinds.len() < 2 => Err(NoCoverage::NoSpread(format!(
                "all {found} clusters have the same scores, so they do not show how clusters vary"
            ))),
            _ => Ok(()),
        }
    }

    /// The number of clusters, if it is those that are drawn.
    pub(super) fn clusters(&self) -> Option<u64> {
        matches!(self.kinds, Kinds::Clusters(_)).then_some(self.units.len() as u64)
    }

    /// The number of units.
    pub(super) fn len(&self) -> u64 {
        self.units.len() as u64
    }

    /// The number of kinds of units.
    pub(super) fn kinds(&self) -> usize {
        match &self.kinds {
            Kinds::Scores(values) => values.len(),
            Kinds::Clusters(units) => units.len(),
        }
    }

    /// How often each kind occurs in the population itself.
    pub(super) fn counts(&self) -> Vec<u32> {
        self.count(self.units.iter().copied())
    }

    /// How often each kind is drawn in a simulation: as many units as there are, with replacement.
    pub(super) fn draw(&self, seed: u64, simulation: u64) -> Vec<u32> {
        let mut random = Stream::new(seed, purpose::SIMULATIONS, simulation);
        // The high half of a product: as even as 2^64 words can be.
        let at = |word: u64| ((u128::from(word) * self.units.len() as u128) >> 64) as usize;
        self.count((0..self.units.len()).filter_map(|_| self.units.get(at(random.next_u64())).copied()))
    }

    fn count(&self, drawn: impl Iterator<Item = u32>) -> Vec<u32> {
        let mut counts = vec![0; self.kinds()];
        for kind in drawn {
            if let Some(count) = counts.get_mut(kind as usize) {
                *count += 1;
            }
        }
        counts
    }

    /// What an estimate of drawn units is made from under a plan.
    pub(super) fn summary(&self, plan: &ErrorPlan, counts: &[u32]) -> Result<Summary> {
        match &self.kinds {
            Kinds::Scores(values) => {
                let drawn = values.iter().zip(counts).filter(|(_, count)| **count > 0);
                Summary::of_sorted(plan, drawn.map(|(value, count)| (*value, u64::from(*count))).collect())
            }
            Kinds::Clusters(units) => {
                let drawn = units.iter().zip(counts);
                Ok(Summary::of_units(
                    drawn.flat_map(|(unit, count)| std::iter::repeat_n(unit, *count as usize)),
                ))
            }
        }
    }
}

/// The name in errors for what reads the scores.
const NAME: &str = "coverage";

/// Every score by itself.
fn single(all: Tally) -> (Kinds, Vec<u32>) {
    let mut units = Vec::new();
    for (kind, (_, count)) in all.iter().enumerate() {
        units.extend(std::iter::repeat_n(kind as u32, *count as usize));
    }
    (Kinds::Scores(all.into_iter().map(|(value, _)| value).collect()), units)
}

/// Clusters, those with the same scores as one kind.
fn whole_clusters(numbers: &[f64], clusters: &[u32]) -> (Kinds, Vec<u32>) {
    let distinct = clusters.iter().max().map_or(0, |most| *most as usize + 1);
    let mut scores: Vec<Vec<f64>> = vec![Vec::new(); distinct];
    for (number, cluster) in numbers.iter().zip(clusters) {
        if let Some(scores) = scores.get_mut(*cluster as usize) {
            scores.push(*number);
        }
    }
    let mut tallies: Vec<Tally> = scores.iter().map(|scores| tally(scores)).collect();
    let order = |a: &Tally, b: &Tally| {
        let bits = |tally: &Tally| tally.iter().map(|(value, n)| (value.to_bits(), *n)).collect::<Vec<_>>();
        bits(a).cmp(&bits(b))
    };
    tallies.sort_by(order);
    let (mut kinds, mut units) = (Vec::new(), Vec::with_capacity(tallies.len()));
    for same in tallies.chunk_by(|a, b| a == b) {
        units.extend(std::iter::repeat_n(kinds.len() as u32, same.len()));
        kinds.extend(same.first().map(|tally| UnitScores::new(tally)));
    }
    (Kinds::Clusters(kinds), units)
}
