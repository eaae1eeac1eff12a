//! How often the interval of `auto` holds the mean, exactly or by simulation with a fixed seed.

use errorbar_core::stats::Stream;
use errorbar_core::{ErrorPlan, Random, ScoreKind};

use super::{binary, clustered, of, rows, summary};

/// n!/(a!·b!·c!) · p^a · q^b · r^c, with logarithms.
fn multinomial(counts: [usize; 3], chances: [f64; 3]) -> f64 {
    let factorial = |n: usize| (1..=n).map(|k| (k as f64).ln()).sum::<f64>();
    let parts = counts.iter().zip(chances).map(|(n, p)| *n as f64 * p.ln() - factorial(*n));
    (factorial(counts.iter().sum()) + parts.sum::<f64>()).exp()
}

/// Exact: all counts of 0, ½ and 1. A cap of n* at n would give 0.9996 and 0.9973 for the first distribution, the normal quantile
/// in place of t 0.9473 and 0.9447, and 0.9334 for the second at n = 10.
#[test]
fn graded_scores() {
    for (chances, at_10, at_30) in [
        ([0.25, 0.5, 0.25], 0.975634, 0.96069),
        ([0.1, 0.3, 0.6], 0.984688, 0.95656),
        ([0.05, 0.15, 0.8], 0.983584, 0.946125),
        ([0.01, 0.04, 0.95], 0.961628, 0.9567),
    ] {
        for (n, expected) in [(10, at_10), (30, at_30)] {
            let mean = 0.5 * chances[1] + chances[2];
            let mut covered = 0.0;
            for wrong in 0..=n {
                for half in 0..=n - wrong {
                    let right = n - wrong - half;
                    let values: Vec<f64> = [(0.0, wrong), (0.5, half), (1.0, right)]
                        .iter()
                        .flat_map(|(x, k)| vec![*x; *k])
                        .collect();
                    let plan = ErrorPlan::new();
                    let group = summary(&plan, &rows(&values, &[] as &[i64], &[] as &[i64]));
                    let interval =
                        group.estimate(&plan, ScoreKind::Unit, &Random::default()).interval.unwrap();
                    if (interval.lower..=interval.upper).contains(&mean) {
                        covered += multinomial([wrong, half, right], chances);
                    }
                }
            }
            assert!((covered - expected).abs() < 1e-5, "{chances:?}, n = {n}: {covered}");
            assert!((0.94..=0.99).contains(&covered));
        }
    }
}

/// Exact, averaged over all shares: Wilson has 0.95408 at n = 10 and 0.9524 at n = 30.
#[test]
fn zeros_and_ones() {
    for (n, expected) in [(10, 0.95408), (30, 0.9524)] {
        // ∫ C(n, k) p^k (1−p)^(n−k) dp over the interval of k, by Simpson's rule.
        let choose = |k: usize| (1..=k).fold(1.0, |c, i| c * (n - k + i) as f64 / i as f64);
        let covered: f64 = (0..=n)
            .map(|k| {
                let interval = of(&ErrorPlan::new(), &binary(k, n)).interval.unwrap();
                let density = |p: f64| choose(k) * p.powi(k as i32) * (1.0 - p).powi((n - k) as i32);
                let steps = 200;
                let h = (interval.upper - interval.lower) / f64::from(steps);
                let at = |i: i32| density(interval.lower + h * f64::from(i));
                let inner = (1..steps).map(|i| at(i) * if i % 2 == 1 { 4.0 } else { 2.0 }).sum::<f64>();
                (at(0) + inner + at(steps)) * h / 3.0
            })
            .sum();
        assert!((covered - expected).abs() < 1e-5, "n = {n}: {covered}");
    }
}

/// Ten clusters of very different sizes that share their luck: x̄ of beta-binomial scores, ICC ⅕, 80 % right.
#[test]
fn clustered_zeros_and_ones() {
    let sizes = [1, 2, 2, 3, 4, 5, 7, 9, 14, 23];
    let ids: Vec<i64> =
        sizes.iter().enumerate().flat_map(|(g, n)| std::iter::repeat_n(g as i64, *n)).collect();
    let mut random = Stream::new(20, 99, 0);
    let mut uniform = || (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
    let (runs, mut covered, mut by_normal) = (1500, 0, 0);
    for _ in 0..runs {
        // Pólya's urn: each score takes after those before it in its cluster. a + b = 1/ICC − 1 = 4.
        let mut values = Vec::with_capacity(ids.len());
        for n in sizes {
            let (mut right, mut all) = (0.8 * 4.0, 4.0);
            for _ in 0..n {
                let score = f64::from(u8::from(uniform() * all < right));
                (right, all) = (right + score, all + 1.0);
                values.push(score);
            }
        }
        let mean = clustered("{}", &values, &ids);
        let interval = mean.interval.unwrap();
        covered += i32::from((interval.lower..=interval.upper).contains(&0.8));
        let cr0 = clustered(r#"{"method": "CR0", "interval": "t"}"#, &values, &ids);
        let margin = 1.96 * cr0.stderr().unwrap();
        by_normal += i32::from((cr0.value.unwrap() - 0.8).abs() <= margin);
    }
    let share = f64::from(covered) / f64::from(runs);
    assert!((0.92..=0.985).contains(&share), "{share}");
    // The textbook's x̄ ± 1.96·CR0 does much worse on the same scores, so the scores do need the care.
    let textbook = f64::from(by_normal) / f64::from(runs);
    assert!(textbook < 0.88, "{textbook}");
}
