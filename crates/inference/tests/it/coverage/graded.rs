//! Graded scores: 0, ½, 1 and Likert scales from 1 to 5. Exact: only Σx and Σx² decide an interval, so each pair of them is
//! computed once, and all counts of values are enumerated.

use std::sync::LazyLock;

use errorbar_core::{ErrorPlan, ScoreKind, Summary};

use super::{Ends, ends, holds, log_factorials};

pub(super) const SIZES: [usize; 3] = [10, 30, 100];

/// A distribution of scores: the chance of each value, from the lowest to the highest.
pub(super) struct Distribution {
    pub(super) name: &'static str,
    pub(super) chances: &'static [f64],
    /// Whether the coverage must be within the bounds; else it is only printed.
    pub(super) is_bound: bool,
}

const fn bound(name: &'static str, chances: &'static [f64]) -> Distribution {
    Distribution { name, chances, is_bound: true }
}

const fn printed(name: &'static str, chances: &'static [f64]) -> Distribution {
    Distribution { name, chances, is_bound: false }
}

impl Distribution {
    fn mean(&self) -> f64 {
        let steps: f64 = self.chances.iter().enumerate().map(|(step, p)| step as f64 * p).sum();
        if self.chances.len() == 5 { 1.0 + steps } else { steps / 2.0 }
    }
}

pub(super) const DISTRIBUTIONS: [Distribution; 15] = [
    bound("graded, symmetric", &[0.25, 0.5, 0.25]),
    bound("graded, polarised", &[0.45, 0.1, 0.45]),
    bound("graded, 60 % at the top", &[0.1, 0.3, 0.6]),
    bound("graded, 80 % at the top", &[0.05, 0.15, 0.8]),
    bound("graded, 90 % at the top", &[0.03, 0.07, 0.9]),
    bound("Likert, symmetric", &[0.1, 0.2, 0.4, 0.2, 0.1]),
    bound("Likert, polarised", &[0.35, 0.1, 0.1, 0.1, 0.35]),
    bound("Likert, favourable", &[0.05, 0.1, 0.2, 0.35, 0.3]),
    bound("Likert, 80 % at the top", &[0.02, 0.03, 0.05, 0.1, 0.8]),
    bound("Likert, 90 % at the top", &[0.01, 0.02, 0.02, 0.05, 0.9]),
    printed("graded, 70 % at the top", &[0.1, 0.2, 0.7]),
    printed("graded, 95 % at the top", &[0.01, 0.04, 0.95]),
    printed("Likert, 90 % at the top, flat tail", &[0.02, 0.02, 0.02, 0.04, 0.9]),
    printed("Likert, 90 % at the top, thin tail", &[0.01, 0.01, 0.02, 0.06, 0.9]),
    printed("Likert, 95 % at the top", &[0.01, 0.01, 0.01, 0.02, 0.95]),
];

/// The intervals of `auto` for n scores of a scale, by Σ and Σ² of the numbers of their values from 0.
struct Intervals {
    n: usize,
    by_sums: Vec<Option<Ends>>,
    squares: usize,
}

impl Intervals {
    /// `top` is 2 for 0, ½, 1 and 4 for a Likert scale.
    fn new(n: usize, top: usize) -> Self {
        let squares = n * top * top + 1;
        let mut intervals = Intervals { n, by_sums: vec![None; (n * top + 1) * squares], squares };
        let (mut plan, mut whole) = (ErrorPlan::new(), ScoreKind::Unit);
        if top == 4 {
            (plan.range, whole) = (Some((1.0, 5.0)), ScoreKind::Unbounded);
        }
        let value = |step: usize| if top == 4 { 1.0 + step as f64 } else { step as f64 / 2.0 };
        for_counts(n, top, &mut |counts| {
            let (sum, square) = sums(counts);
            let interval = &mut intervals.by_sums[sum * squares + square];
            if interval.is_none() {
                let values: Vec<(f64, u64)> =
                    counts.iter().enumerate().map(|(step, count)| (value(step), *count as u64)).collect();
                *interval = Some(ends(&Summary::from_values(&plan, &values).unwrap(), &plan, whole));
            }
        });
        intervals
    }

    /// The coverage for each of some distributions over the values.
    fn coverage(&self, distributions: &[&Distribution]) -> Vec<f64> {
        let log = log_factorials(self.n);
        // By value and count: ln of p^k/k! for each distribution.
        let top = distributions[0].chances.len() - 1;
        let part = |value: usize, k: usize| -> Vec<f64> {
            distributions.iter().map(|one| k as f64 * one.chances[value].ln() - log[k]).collect()
        };
        let parts: Vec<Vec<Vec<f64>>> =
            (0..=top).map(|value| (0..=self.n).map(|k| part(value, k)).collect()).collect();
        let truths: Vec<f64> = distributions.iter().map(|one| one.mean()).collect();
        let is_held = |ends: &Option<Ends>| -> Vec<bool> {
            truths.iter().map(|truth| ends.is_some_and(|ends| holds(ends, *truth))).collect()
        };
        let is_held: Vec<Vec<bool>> = self.by_sums.iter().map(is_held).collect();
        let mut covered = vec![0.0; distributions.len()];
        for_counts(self.n, top, &mut |counts| {
            let (sum, square) = sums(counts);
            let is_held = &is_held[sum * self.squares + square];
            for (at, covered) in covered.iter_mut().enumerate() {
                if is_held[at] {
                    let mut chance = log[self.n];
                    for (count, of_value) in counts.iter().zip(&parts) {
                        chance += of_value[*count][at];
                    }
                    // What is rarer than that cannot be seen in the sum.
                    if chance > -50.0 {
                        *covered += chance.exp();
                    }
                }
            }
        });
        covered
    }
}

fn sums(counts: &[usize]) -> (usize, usize) {
    let (mut sum, mut square) = (0, 0);
    for (step, count) in counts.iter().enumerate() {
        sum += step * count;
        square += step * step * count;
    }
    (sum, square)
}

/// Calls `visit` with all counts of top + 1 values that add up to n.
pub(super) fn for_counts(n: usize, top: usize, visit: &mut dyn FnMut(&[usize])) {
    fn fill(counts: &mut Vec<usize>, left: usize, more: usize, visit: &mut dyn FnMut(&[usize])) {
        if more == 0 {
            counts.push(left);
            visit(counts);
            counts.pop();
            return;
        }
        for count in 0..=left {
            counts.push(count);
            fill(counts, left - count, more - 1, visit);
            counts.pop();
        }
    }
    fill(&mut Vec::with_capacity(top + 1), n, top, visit);
}

/// The coverage of `auto` by distribution and n.
pub(super) static COVERAGE: LazyLock<Vec<[f64; 3]>> = LazyLock::new(|| {
    let [graded, likert] = [3, 5].map(|values| {
        let found: Vec<&Distribution> =
            DISTRIBUTIONS.iter().filter(|one| one.chances.len() == values).collect();
        let by_size = SIZES.map(|n| Intervals::new(n, values - 1).coverage(&found));
        (0..found.len()).map(move |at| by_size.each_ref().map(|of_size| of_size[at])).collect::<Vec<_>>()
    });
    let (mut graded, mut likert) = (graded.into_iter(), likert.into_iter());
    let next = |one: &Distribution| if one.chances.len() == 3 { graded.next() } else { likert.next() };
    DISTRIBUTIONS.iter().map(next).map(Option::unwrap).collect()
});

#[test]
fn auto_covers_95_percent() {
    for (Distribution { name, is_bound, .. }, by_size) in DISTRIBUTIONS.iter().zip(COVERAGE.iter()) {
        for (n, coverage) in SIZES.iter().zip(by_size) {
            assert!(!is_bound || (0.935..=0.985).contains(coverage), "{name}, n = {n}: {coverage}");
        }
    }
}

/// Computed once more in Python, by a convolution over Σx and Σx².
#[test]
fn figures() {
    for (name, at_10, at_30) in [
        ("graded, symmetric", 0.975634, 0.96069),
        ("graded, 60 % at the top", 0.984688, 0.95656),
        ("graded, 80 % at the top", 0.983584, 0.946125),
        ("graded, 95 % at the top", 0.961628, 0.9567),
    ] {
        let at = DISTRIBUTIONS.iter().position(|distribution| distribution.name == name).unwrap();
        let [first, second, _] = COVERAGE[at];
        assert!((first - at_10).abs() < 1e-5 && (second - at_30).abs() < 1e-5, "{name}: {first}, {second}");
    }
}
