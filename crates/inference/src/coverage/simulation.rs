//! The simulations of all methods.

use std::collections::{BTreeMap, HashMap};

use foldhash::fast::RandomState;
use rayon::prelude::*;

use super::population::Population;
use super::{Coverage, CoverageFigures, CoverageOptions, MethodCoverage, NoCoverage};
use errorbar_core::engine::SummaryKey;
use errorbar_core::{
    Defined, ErrorPlan, Interval, IntervalChoice, IntervalMethod, Random, Result, Summary, Undefined,
};
use errorbar_stats::exact::Moments;
use errorbar_stats::random::{Stream, purpose};

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
    let choices = IntervalMethod::CHOICES.iter().copied().map(IntervalChoice::Method);
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
