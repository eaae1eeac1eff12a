//! Zeros and ones: exact sums over the binomial distribution.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use errorbar_core::{ErrorPlan, ScoreKind, Summary};
use errorbar_stats::distributions::normal_quantile;

use super::{Ends, ends, holds, log_factorials};

/// The intervals of all outcomes of n zeros and ones under a method.
pub(super) fn intervals(method: &str, n: usize) -> Vec<Ends> {
    let plan = plan(method);
    (0..=n).map(|k| interval(&plan, n, k)).collect()
}

fn plan(method: &str) -> ErrorPlan {
    format!(r#"{{"interval": "{method}"}}"#).parse().unwrap()
}

/// The interval of k ones among n scores.
fn interval(plan: &ErrorPlan, n: usize, k: usize) -> Ends {
    let values = [(0.0, (n - k) as u64), (1.0, k as u64)];
    ends(&Summary::from_values(plan, &values).unwrap(), plan, ScoreKind::Binary)
}

/// p ± 1.96·√(p(1−p)/n), the interval of textbooks, which no plan offers.
fn wald(n: usize) -> Vec<Ends> {
    let of_outcome = |k: usize| {
        let p = k as f64 / n as f64;
        let margin = normal_quantile(0.975) * (p * (1.0 - p) / n as f64).sqrt();
        Some((p - margin, p + margin))
    };
    (0..=n).map(of_outcome).collect()
}

/// The chance of each outcome.
pub(super) fn binomial(n: usize, p: f64) -> Vec<f64> {
    let log = log_factorials(n);
    let chance = |k: usize| {
        let powers = k as f64 * p.ln() + (n - k) as f64 * (-p).ln_1p();
        (log[n] - log[k] - log[n - k] + powers).exp()
    };
    (0..=n).map(chance).collect()
}

/// How often the intervals of n zeros and ones hold p.
pub(super) fn coverage(intervals: &[Ends], p: f64) -> f64 {
    let chances = binomial(intervals.len() - 1, p);
    intervals.iter().zip(chances).filter(|(ends, _)| holds(**ends, p)).map(|(_, chance)| chance).sum()
}

/// The mean of that over all p: ∫ C(n, k) p^k (1−p)^(n−k) dp over the interval of k is a difference of tails of
/// Bin(n + 1), over n + 1.
fn mean_coverage(intervals: &[Ends]) -> f64 {
    let n = intervals.len() - 1;
    let tail = |p: f64, k: usize| match p {
        p if p <= 0.0 => 0.0,
        p if p >= 1.0 => 1.0,
        p => binomial(n + 1, p)[k + 1..].iter().sum::<f64>(),
    };
    let of_outcome =
        |(k, ends): (usize, &Ends)| ends.map_or(0.0, |(lower, upper)| tail(upper, k) - tail(lower, k));
    intervals.iter().enumerate().map(of_outcome).sum::<f64>() / (n + 1) as f64
}

pub(super) const SHARES: [f64; 4] = [0.02, 0.1, 0.5, 0.9];
pub(super) const SIZES: [usize; 4] = [5, 10, 30, 100];

/// Wilson's coverage by n and p.
pub(super) static WILSON: LazyLock<Vec<[f64; 4]>> = LazyLock::new(|| {
    let of_size = |n: usize| {
        let intervals = intervals("wilson", n);
        SHARES.map(|p| coverage(&intervals, p))
    };
    SIZES.into_iter().map(of_size).collect()
});

/// The methods of the table of mean coverages, and those of the plan.
pub(super) const METHODS: [&str; 7] =
    ["wald", "t", "exact", "wilson", "jeffreys", "beta(prior=[1, 1])", "clopper_pearson"];
pub(super) const MEAN_SIZES: [usize; 6] = [3, 10, 30, 100, 300, 1000];

/// The mean coverage of each method over all p, by n.
pub(super) static MEANS: LazyLock<BTreeMap<&str, Vec<f64>>> = LazyLock::new(|| {
    let of_method = |method: &'static str| {
        let of_size = |n: usize| match method {
            "wald" => mean_coverage(&wald(n)),
            method => mean_coverage(&intervals(method, n)),
        };
        (method, MEAN_SIZES.map(of_size).to_vec())
    };
    METHODS.into_iter().map(of_method).collect()
});

/// Other cells no interval of one outcome each can satisfy: at p = .02 and n = 10 eight of ten runs have no success at all.
#[test]
fn wilson_covers_95_percent() {
    for (n, of_size) in SIZES.iter().zip(WILSON.iter()) {
        for (p, coverage) in SHARES.iter().zip(of_size) {
            let is_bound = *n >= 30 || *p == 0.5;
            assert!(!is_bound || (0.935..=0.98).contains(coverage), "n = {n}, p = {p}: {coverage}");
        }
    }
    for (n, mean) in MEAN_SIZES.iter().zip(&MEANS["wilson"]).skip(1) {
        assert!((0.950..=0.956).contains(mean), "n = {n}: {mean}");
    }
}

/// Brown, Cai & DasGupta, "Interval estimation for a binomial proportion", Statistical Science 16 (2001), section 2: Wald's
/// interval to three digits. The other figures are exact sums too.
#[test]
fn published_cells() {
    for (n, p, published, by_wald, by_wilson, by_clopper_pearson, by_jeffreys) in [
        (17, 0.5, 0.951, 0.950958, 0.950958, 0.950958, 0.950958),
        (40, 0.5, 0.919, 0.91931, 0.961523, 0.961523, 0.961523),
        (30, 0.2, 0.946, 0.946328, 0.963861, 0.979984, 0.930205),
        (98, 0.2, 0.928, 0.9281, 0.957596, 0.968998, 0.942185),
        (592, 0.005, 0.792, 0.792155, 0.968836, 0.989143, 0.9174),
        (954, 0.005, 0.852, 0.851554, 0.967703, 0.967703, 0.927532),
        (1279, 0.005, 0.875, 0.875257, 0.957604, 0.973789, 0.957604),
        (1583, 0.005, 0.889, 0.888638, 0.9541, 0.96985, 0.9541),
        (1876, 0.005, 0.898, 0.898303, 0.953935, 0.968313, 0.953935),
    ] {
        let got = coverage(&wald(n), p);
        assert!((got - published).abs() < 5e-4 && (got - by_wald).abs() < 1e-5, "n = {n}, p = {p}: {got}");
        for (method, expected) in
            [("wilson", by_wilson), ("clopper_pearson", by_clopper_pearson), ("jeffreys", by_jeffreys)]
        {
            let got = coverage(&likely_intervals(method, n, p), p);
            assert!((got - expected).abs() < 1e-5, "{method}, n = {n}, p = {p}: {got}");
        }
    }
}

/// The intervals of the outcomes that p can have; what is rarer than 1e-12 cannot be seen in the sum.
fn likely_intervals(method: &str, n: usize, p: f64) -> Vec<Ends> {
    let plan = plan(method);
    let of_outcome = |(k, chance): (usize, f64)| (chance > 1e-12).then(|| interval(&plan, n, k)).flatten();
    binomial(n, p).into_iter().enumerate().map(of_outcome).collect()
}

/// The setting of Bowyer, Aitchison & Ivanova, "Don't use the CLT in LLM evals with fewer than a few hundred datapoints"
/// (2025): p uniform. Exact sums.
#[test]
fn published_means() {
    for (n, figures) in [
        (3, [0.49574, 0.95596, 0.99458, 0.96289, 0.95, 0.5, 0.5]),
        (10, [0.76926, 0.95408, 0.98375, 0.95325, 0.95, 0.79399, 0.77982]),
        (30, [0.87491, 0.9524, 0.97339, 0.95054, 0.95, 0.88605, 0.87905]),
        (100, [0.92225, 0.95114, 0.96457, 0.94995, 0.95, 0.92596, 0.92587]),
        (300, [0.9391, 0.95052, 0.95909, 0.94991, 0.95, 0.94038, 0.94101]),
        (1000, [0.94618, 0.9502, 0.95527, 0.94995, 0.95, 0.94657, 0.947]),
    ] {
        let at = MEAN_SIZES.iter().position(|size| *size == n).unwrap();
        let methods = ["wald", "wilson", "clopper_pearson", "jeffreys", "beta(prior=[1, 1])", "t", "exact"];
        for (method, expected) in methods.into_iter().zip(figures) {
            let got = MEANS[method][at];
            assert!((got - expected).abs() < 2e-5, "{method}, n = {n}: {got}, published {expected}");
        }
    }
}

/// Agresti & Coull, "Approximate is better than exact", 1998, which no plan offers: it shows that the sums are right.
#[test]
fn published_means_of_another_method() {
    let z2 = normal_quantile(0.975).powi(2);
    for (n, published) in
        [(3, 0.96642), (10, 0.96452), (30, 0.96014), (100, 0.95551), (300, 0.95271), (1000, 0.95112)]
    {
        let of_outcome = |k: usize| {
            let n = n as f64 + z2;
            let p = (k as f64 + z2 / 2.0) / n;
            let margin = (z2 * p * (1.0 - p) / n).sqrt();
            Some((p - margin, p + margin))
        };
        let intervals: Vec<Ends> = (0..=n).map(of_outcome).collect();
        assert!((mean_coverage(&intervals) - published).abs() < 2e-5, "n = {n}");
    }
}
