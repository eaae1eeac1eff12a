//! How often the gates that the engine applies are wrong.
//!
//! Scores of zeros and ones: every outcome of n pairs is compared by the engine once, and its decisions are weighted with the
//! exact probabilities of the outcomes. Others are simulated with a fixed seed.

use errorbar_core::metrics::accuracy;
use errorbar_core::{ErrorPlan, Estimate, Plan, Score, ScoreColumns, metrics};
use errorbar_inference::{ComparisonOptions, Gate, GateOutcome};
use errorbar_stats::distributions::binomial_pmf;
use errorbar_stats::random::Stream;

use super::{columns, report};

/// A plan whose intervals a gate reads.
fn plan() -> Plan {
    let mut errors = ErrorPlan::new();
    errors.level = Some(Gate::level(Gate::ALPHA));
    Plan::new().metrics(metrics![accuracy()]).errors(errors)
}

/// The difference that is shown, and what the gate decides.
fn gated(base: &ScoreColumns, other: &ScoreColumns, plan: &Plan, gate: Gate) -> (Estimate, GateOutcome) {
    let mut options = ComparisonOptions::default();
    options.gate = Some(gate);
    let report = report(base, other, plan, &options);
    assert_eq!(report.comparisons.len(), 1);
    (report.comparisons[0].difference.clone(), report.comparisons[0].gate.unwrap())
}

/// Of n pairs, for each number of wins and losses what the engine shows, and what it decides about `NotWorse`.
fn comparisons(n: usize) -> Vec<(u64, u64, Estimate, GateOutcome)> {
    let plan = plan();
    let compared = |wins: usize, losses: usize| {
        let score = |at: usize, is_base: bool| match at {
            at if at < wins => f64::from(u8::from(!is_base)),
            at if at < wins + losses => f64::from(u8::from(is_base)),
            at => (at % 2) as f64,
        };
        let side = |is_base: bool| columns(&(0..n).map(|at| score(at, is_base)).collect::<Vec<_>>());
        let (difference, outcome) = gated(&side(true), &side(false), &plan, Gate::NotWorse);
        (wins as u64, losses as u64, difference, outcome)
    };
    let counts = (0..=n).flat_map(|wins| (0..=n - wins).map(move |losses| (wins, losses)));
    counts.map(|(wins, losses)| compared(wins, losses)).collect()
}

/// The chance of these wins and losses of n pairs.
fn chance(n: usize, wins: u64, losses: u64, win: f64, loss: f64) -> f64 {
    let n = n as u64;
    binomial_pmf(wins, n, win) * binomial_pmf(losses, n - wins, loss / (1.0 - win))
}

/// Without a difference, `NotWorse` fails in at most 5.5 % of runs; in at least 3 % where six or more pairs are expected to
/// differ. The figures are those of the table in `docs/coverage.md`.
#[test]
fn false_alarms_of_zeros_and_ones() {
    for (n, shown) in
        [(20, [(0.2, 2.53), (0.4, 3.85), (0.6, 4.65)]), (30, [(0.2, 3.44), (0.4, 4.59), (0.6, 4.92)])]
    {
        let comparisons = comparisons(n);
        let alarms = |discordant: f64| {
            let failed = comparisons.iter().filter(|(.., outcome)| *outcome == GateOutcome::Failed);
            let chance = |wins: u64, losses: u64| chance(n, wins, losses, 0.5 * discordant, 0.5 * discordant);
            100.0 * failed.map(|(wins, losses, ..)| chance(*wins, *losses)).sum::<f64>()
        };
        for (discordant, expected) in shown {
            let rate = alarms(discordant);
            assert!((rate - expected).abs() < 0.005, "{n} {discordant}: {rate}, expected {expected}");
        }
        for percent in 1..=86 {
            let discordant = f64::from(percent) / 100.0;
            let rate = alarms(discordant);
            assert!(rate <= 5.5, "{n} {discordant}: {rate}");
            assert!(rate >= 3.0 || discordant * (n as f64) < 6.0, "{n} {discordant}: {rate}");
        }
    }
}

/// Gates that claim something pass in at most 5.5 % of runs where the truth is just what they exclude.
#[test]
fn false_claims_of_zeros_and_ones() {
    let n = 30;
    let margin = 0.1;
    let comparisons = comparisons(n);
    for (gate, truth) in [
        (Gate::Margin(margin), -margin),
        (Gate::MinDifference(margin), margin),
        (Gate::Equivalent(margin), margin),
        (Gate::Equivalent(margin), -margin),
    ] {
        let passed = |difference: &Estimate| gate.outcome(difference) == GateOutcome::Passed;
        for discordant in [0.15, 0.2, 0.3, 0.4, 0.6] {
            let (win, loss) = (0.5 * (discordant + truth), 0.5 * (discordant - truth));
            let passed = comparisons.iter().filter(|(_, _, difference, _)| passed(difference));
            let chances = passed.map(|(wins, losses, ..)| chance(n, *wins, *losses, win, loss));
            let rate = 100.0 * chances.sum::<f64>();
            assert!(rate <= 5.5, "{gate:?} {truth} {discordant}: {rate}");
        }
    }
}

/// The share of simulated runs in which the gate fails, in percent. `draw` gives the scores of both sides by sample and epoch.
fn simulated(runs: u64, samples: usize, epochs: u32, draw: impl Fn(&mut Stream) -> Vec<(f64, f64)>) -> f64 {
    let plan = plan();
    let failed = (0..runs).filter(|run| {
        let mut random = Stream::new(20_261_116, 7, *run);
        let (mut base, mut other) = (ScoreColumns::new(["s"]), ScoreColumns::new(["s"]));
        for sample in 0..samples {
            for (epoch, (of_base, of_other)) in (1..=epochs).zip(draw(&mut random)) {
                base.push(format!("q{sample}"), epoch).score("s", Score::new(of_base)).unwrap();
                other.push(format!("q{sample}"), epoch).score("s", Score::new(of_other)).unwrap();
            }
        }
        gated(&base, &other, &plan, Gate::NotWorse).1 == GateOutcome::Failed
    });
    100.0 * failed.count() as f64 / runs as f64
}

fn uniform(random: &mut Stream) -> f64 {
    random.next_u32() as f64 / 4_294_967_296.0
}

/// Graded scores, symmetric differences: 5 % within 2.5 Monte-Carlo errors.
#[test]
fn false_alarms_of_graded_scores() {
    let rate = simulated(600, 30, 1, |random| vec![(uniform(random), uniform(random))]);
    assert!((2.7..=7.3).contains(&rate), "{rate}");
}

/// Pairs are samples: epochs of a sample are alike, and pairing epoch with epoch would count each sample several times.
#[test]
fn false_alarms_of_epochs() {
    let rate = simulated(600, 30, 4, |random| {
        // Each side answers each question as a rule right or wrong.
        let (base, other) = (uniform(random), uniform(random));
        let answer = |chance: f64, random: &mut Stream| f64::from(u8::from(uniform(random) < chance));
        (0..4).map(|_| (answer(base, random), answer(other, random))).collect()
    });
    assert!((2.7..=7.3).contains(&rate), "{rate}");
}
