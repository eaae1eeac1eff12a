use super::*;
use crate::random::Stream;

/// 0 and 1, 70 of a hundred.
fn binary(n: u32) -> Vec<(f64, f64)> {
    (0..n).map(|at| f64::from(u8::from(at * 37 % 100 < 70))).map(|score| (score, score)).collect()
}

/// 0, 0.1, … 1.
fn graded(n: u32) -> Vec<(f64, f64)> {
    (0..n).map(|at| f64::from(at * 53 % 11) / 10.0).map(|score| (score, score)).collect()
}

fn sequence(
    scores: &[(f64, f64)],
    population: u64,
    range: (f64, f64),
    level: f64,
    is_lower_bound: bool,
) -> ConfidenceSequence {
    let new = if is_lower_bound { ConfidenceSequence::lower_bound } else { ConfidenceSequence::new };
    let mut sequence = new(population, range, level).unwrap();
    for (least, greatest) in scores {
        sequence.push_between(*least, *greatest).unwrap();
    }
    sequence
}

fn ends(sequence: &ConfidenceSequence) -> (f64, f64) {
    sequence.interval()
}

/// The figures are those of a program in Python that tries every candidate of a grid of 1/20,000 (1/5,000 for the second),
/// so that they are too wide by up to a step at each end.
#[test]
fn intervals_are_those_of_brute_force() {
    let unit = (0.0, 1.0);
    let mut with_absent = binary(40);
    for at in [3, 17, 29] {
        with_absent[at] = unit;
    }
    let differences: Vec<(f64, f64)> = graded(80)
        .iter()
        .enumerate()
        .map(|(at, (score, _))| if at % 3 == 0 { 0.0 } else { 2.0 * score - 1.0 })
        .map(|difference| (difference, difference))
        .collect();
    type Case = (Vec<(f64, f64)>, u64, (f64, f64), f64, bool, (f64, f64), f64);
    let cases: [Case; 7] = [
        (binary(40), 100, unit, 0.95, false, (0.51375, 0.82295), 5e-5),
        (binary(400), 1000, unit, 0.95, false, (0.6396, 0.752), 2e-4),
        (vec![(1.0, 1.0); 30], 100, unit, 0.95, false, (0.8744, 1.0), 5e-5),
        (graded(60), 200, unit, 0.9, false, (0.4048, 0.59275), 5e-5),
        (with_absent, 100, unit, 0.95, false, (0.4571, 0.83965), 5e-5),
        (differences, 120, (-1.0, 1.0), 0.95, false, (-0.1028, 0.1005), 1e-4),
        (binary(40), 100, unit, 0.95, true, (0.52705, 1.0), 5e-5),
    ];
    for (at, (scores, population, range, level, is_lower_bound, (low, high), step)) in
        cases.into_iter().enumerate()
    {
        let (lower, upper) = ends(&sequence(&scores, population, range, level, is_lower_bound));
        assert!((0.0..step + 1e-9).contains(&(lower - low)), "case {at}: {lower}, expected {low}");
        assert!((-1e-9..step + 1e-9).contains(&(high - upper)), "case {at}: {upper}, expected {high}");
    }
}

#[test]
fn the_running_bounds_hold_the_interval_and_are_hardly_wider() {
    for scores in [binary(300), graded(300), vec![(1.0, 1.0); 300], vec![(0.0, 1.0); 300]] {
        let mut running = ConfidenceSequence::new(400, (0.0, 1.0), 0.95).unwrap();
        let mut before = (0.0, 1.0);
        for (at, (least, greatest)) in scores.iter().enumerate() {
            running.push_between(*least, *greatest).unwrap();
            let bounds = running.bounds();
            assert!(before.0 <= bounds.0 && bounds.1 <= before.1, "what is excluded stays so");
            before = bounds;
            if at % 60 == 5 || at == 299 {
                let (lower, upper) = ends(&running);
                assert!(
                    bounds.0 <= lower + 1e-12 && upper <= bounds.1 + 1e-12,
                    "{bounds:?}, {lower} to {upper}"
                );
                let (width, wider) = (upper - lower, bounds.1 - bounds.0);
                assert!(wider <= 1.02 * width + 1e-9, "after {at}: {wider} for {width}");
            }
        }
    }
}

/// What was excluded at any time stays so: the interval after more scores is within the one before.
#[test]
fn intervals_only_shrink_and_hold_what_is_certain() {
    let scores = graded(100);
    let mut sequence = ConfidenceSequence::new(100, (0.0, 1.0), 0.95).unwrap();
    let (mut before, mut sum) = ((0.0, 1.0), 0.0);
    for (at, (score, _)) in scores.iter().enumerate() {
        sequence.push(*score).unwrap();
        sum += score;
        let taken = at as f64 + 1.0;
        let (lower, upper) = ends(&sequence);
        assert!(before.0 <= lower + 1e-12 && upper <= before.1 + 1e-12);
        assert!(sum / 100.0 <= lower + 1e-12 && upper <= (sum + 100.0 - taken) / 100.0 + 1e-12);
        before = (lower, upper);
    }
    // With all scores there is nothing left to estimate.
    assert!((before.0 - sum / 100.0).abs() < 1e-12 && (before.1 - sum / 100.0).abs() < 1e-12, "{before:?}");
    let error = sequence.push(0.5).unwrap_err();
    assert_eq!(error.to_string(), "there are more scores than the 100 samples of the benchmark");
}

#[test]
fn a_watched_value_is_excluded_when_the_interval_excludes_it() {
    let mut sequence = ConfidenceSequence::new(1000, (0.0, 10.0), 0.95).unwrap();
    sequence.watch(6.0);
    sequence.watch(60.0);
    let mut decided = None;
    for (at, (score, _)) in binary(500).into_iter().enumerate() {
        sequence.push(10.0 * score).unwrap();
        if sequence.bounds().0 >= 6.0 && decided.is_none() {
            decided = Some(at);
            assert!(sequence.interval().0 >= 6.0 - 1e-9);
            let before = sequence.taken() - 1;
            let mut shorter = ConfidenceSequence::new(1000, (0.0, 10.0), 0.95).unwrap();
            binary(before as u32).into_iter().for_each(|(score, _)| shorter.push(10.0 * score).unwrap());
            assert!(shorter.interval().0 < 6.0);
        }
    }
    assert!(decided.is_some());
}

#[test]
fn what_is_no_sequence_is_refused() {
    let new = |population, range, level| ConfidenceSequence::new(population, range, level);
    let refused = |population, range, level| new(population, range, level).unwrap_err().to_string();
    assert_eq!(refused(0, (0.0, 1.0), 0.95), "a sequence is about 1 to 100000000 samples, found 0");
    assert!(refused(9, (1.0, 1.0), 0.95).ends_with("the lower one first, found 1 and 1"));
    assert!(refused(9, (f64::NAN, 1.0), 0.95).starts_with("the range must be"));
    assert!(refused(9, (f64::MIN, f64::MAX), 0.95).starts_with("the range must be"));
    assert_eq!(refused(9, (0.0, 1.0), 1.0), "the level must lie between 0 and 1 (both excluded), found 1");
    let mut sequence = new(9, (0.0, 1.0), 0.95).unwrap();
    for score in [1.5, -0.1, f64::INFINITY, f64::NAN] {
        let expected = format!("the score {score} lies outside the range 0 to 1");
        assert_eq!(sequence.push(score).unwrap_err().to_string(), expected);
    }
    assert_eq!(sequence.taken(), 0, "as before");
    assert_eq!(ends(&sequence), (0.0, 1.0));
}

/// Whether a run misses: the sequence excludes the true mean at any time. `absent`: one sample in this many has no score.
fn misses(scores: &[f64], truth: f64, seed: u64, absent: Option<u32>) -> bool {
    let count = scores.len() as u32;
    let stakes = Stakes::new(u64::from(count), 0.025);
    let (mut lower, mut upper) = (Wealth::new(truth, &stakes), Wealth::new(1.0 - truth, &stakes));
    for at in random_order(count, seed) {
        let score = scores[at as usize];
        let is_absent = absent.is_some_and(|every| at % every == 0);
        let (least, greatest) = if is_absent { (0.0, 1.0) } else { (score, score) };
        lower.take(least, &stakes);
        upper.take(1.0 - greatest, &stakes);
    }
    lower.is_rejected || upper.is_rejected
}

/// The share of 2,000 runs that miss.
fn miss_share(scores: &[f64], first_seed: u64, absent: Option<u32>) -> f64 {
    const RUNS: u64 = 2000;
    let truth = scores.iter().sum::<f64>() / scores.len() as f64;
    let missed = (0..RUNS).filter(|run| misses(scores, truth, first_seed + run, absent)).count();
    missed as f64 / RUNS as f64
}

/// 5 % and two standard errors of 2,000 runs.
const MOST_MISSES: f64 = 0.05 + 2.0 * 0.004_873;

#[test]
fn looking_after_every_sample_misses_in_few_runs() {
    let mut cell = 0;
    for population in [100_usize, 1000] {
        for percent in [2, 10, 50, 70, 90] {
            let ones = population * percent / 100;
            let scores: Vec<f64> = (0..population).map(|at| f64::from(u8::from(at < ones))).collect();
            cell += 1;
            let share = miss_share(&scores, cell * 1_000_000, None);
            assert!(share <= MOST_MISSES, "{percent} % of {population}: {share}");
            // Too few misses would be an interval that is too wide.
            assert!(share >= 0.002 || percent == 2, "{percent} % of {population}: {share}");
        }
        let mut stream = Stream::new(5, 1, population as u64);
        let mut uniform = || f64::from(stream.next_u32() % 11) / 10.0;
        let flat: Vec<f64> = (0..population).map(|_| uniform()).collect();
        let skewed: Vec<f64> = (0..population).map(|_| uniform() * uniform() * uniform()).collect();
        for scores in [flat, skewed] {
            cell += 1;
            let share = miss_share(&scores, cell * 1_000_000, None);
            assert!(share <= MOST_MISSES, "graded scores of {population}: {share}");
        }
    }
    let scores: Vec<f64> = (0..300).map(|at| f64::from(u8::from(at % 10 < 7))).collect();
    let share = miss_share(&scores, 99_000_000, Some(20));
    assert!(share <= MOST_MISSES, "with absent samples: {share}");
}
