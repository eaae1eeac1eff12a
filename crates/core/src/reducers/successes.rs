//! Epochs succeed from a value on: `pass_at`, `pass_k`, `at_least`, `g_pass`.

use crate::error::Result;
use crate::registry::{Count, Params};
use crate::value::{Conversion, Leaf};
use errorbar_stats::exact::ExactSum;

/// What is wrong with a number of epochs: 0 requires nothing.
pub(super) fn check_k(k: &Count<u64>) -> Result<(), String> {
    if k.0 > 0 { Ok(()) } else { Err("must be 1 or more: it counts epochs".to_owned()) }
}

/// A reducer that makes a value of the number of epochs, the number of successes, and k. Of the properties that reducers
/// may have it has those that are named.
macro_rules! threshold_reducer {
    ($(#[$doc:meta])* $type:ident, $name:literal, [$($property:ident),*], $value:expr) => {
        $(#[$doc])*
        #[derive(Clone, Debug, $crate::Params)]
        #[params(crate = $crate, name = $name, reference)]
        pub struct $type {
            /// The number of epochs.
            #[param(from = u64, map = $crate::registry::Count, check = check_k)]
            k: $crate::registry::Count<u64>,
            /// An epoch is a success from this value on.
            #[param(default = 1.0)]
            value: Option<f64>,
            /// How values become numbers.
            #[param(default = $crate::Conversion::default())]
            value_to_float: $crate::Conversion,
        }

        threshold_reducer!(impl $type, [$($property),*], $value);
    };
    (impl $type:ident, [$($property:ident),*], $value:expr) => {
        impl $crate::EpochReducer for $type {
            fn conversion(&self) -> Option<&$crate::Conversion> {
                Some(&self.value_to_float)
            }

            fn check(&self) -> $crate::Result<()> {
                $crate::Params::check(self)
            }

            fn needs_epochs(&self) -> Option<u64> {
                Some(self.k.0)
            }

            fn default_threshold(&self) -> Option<f64> {
                self.value.is_none().then(|| self.value_or_default())
            }

            $(
                fn $property(&self) -> bool {
                    true
                }
            )*

            fn reduce_epochs(&self, epochs: &$crate::EpochValues<'_>) -> $crate::ReducedValue {
                let least = self.value_or_default();
                let successes = epochs.floats().iter().filter(|float| **float >= least).count();
                let value: fn(&$type, u64, u64) -> Leaf = $value;
                $crate::ReducedValue::Leaf(value(self, epochs.len() as u64, successes as u64))
            }
        }
    };
}

threshold_reducer! {
    /// Probability that at least one of k epochs succeeds (Chen et al. 2021).
    ///
    /// Estimated without bias from all epochs. A range of k, `pass_at(1..8)`, is a reducer for each k: a curve.
    ///
    /// # Formula
    /// ```text
    /// pass@k = 1 − C(n−c, k) / C(n, k)
    /// n epochs, c of them successes
    /// ```
    ///
    /// # When
    /// One success among k attempts suffices, as with code that tests select. Run more epochs than k: the estimate
    /// then has less variance.
    ///
    /// # Example
    /// ```console
    /// $ printf '%s\n' id,epoch,score a,1,1 a,2,0 a,3,1 b,1,0 b,2,0 b,3,1 c,1,1 c,2,1 c,3,1 > runs.csv
    /// $ errorbar score runs.csv --reducer 'pass_at(1..3)'
    /// runs.csv · 9 rows
    ///
    /// score: accuracy · 3 epochs · 3 scored
    ///                                        0                             1
    ///   pass_at_1  0.67 ± 0.19 [0.11, 0.97]     ├────────────────●────────┤   only 3 scores
    ///   pass_at_2  0.89 ± 0.11 [0.24, 1.00]          ├──────────────────●──┤  only 3 scores
    ///   pass_at_3  1.00        [0.44, 1.00]               ├────────────────●  no spread in 3 scores
    ///
    /// ± one standard error · [95 % interval: wilson] · ├─●─┤ the interval
    /// ```
    ///
    /// # See also
    /// `pass_k`, `g_pass`, `at_least`, `best_of`
    ///
    /// # Source
    /// Chen et al. 2021, "Evaluating large language models trained on code", arXiv 2107.03374.
    PassAt, "pass_at", [is_probability], |reducer, n, successes| at_least_of(n, successes, reducer.k.0, 1).map_or(Leaf::Unscored, Leaf::from)
}

threshold_reducer! {
    /// Probability that all of k epochs succeed (Yao et al. 2024).
    ///
    /// Estimated without bias from all epochs. A range of k, `pass_k(1..8)`, is a reducer for each k: a curve.
    ///
    /// # Formula
    /// ```text
    /// pass^k = C(c, k) / C(n, k)
    /// n epochs, c of them successes
    /// ```
    ///
    /// # When
    /// Every one of k attempts must succeed, as for an agent that customers rely on.
    ///
    /// # Example
    /// ```console
    /// $ printf '%s\n' id,epoch,score a,1,1 a,2,0 a,3,1 b,1,0 b,2,0 b,3,1 c,1,1 c,2,1 c,3,1 > runs.csv
    /// $ errorbar score runs.csv --reducer 'pass_k(1..3)'
    /// runs.csv · 9 rows
    ///
    /// score: accuracy · 3 epochs · 3 scored · only 3 scores
    ///                                       0                                       1
    ///   pass_k_1  0.67 ± 0.19 [0.11, 0.97]       ├─────────────────────●───────────┤
    ///   pass_k_2  0.44 ± 0.29 [0.03, 0.96]   ├────────────────●────────────────────┤
    ///   pass_k_3  0.33 ± 0.33 [0.06, 0.79]    ├──────────●─────────────────┤
    ///
    /// ± one standard error · [95 % interval: wilson] · ├─●─┤ the interval
    /// ```
    ///
    /// # See also
    /// `pass_at`, `g_pass`, `consistency`
    ///
    /// # Source
    /// Yao et al. 2024, "τ-bench: A benchmark for tool-agent-user interaction in real-world domains", arXiv
    /// 2406.12045.
    PassK, "pass_k", [is_probability], |reducer, n, successes| at_least_of(n, successes, reducer.k.0, reducer.k.0).map_or(Leaf::Unscored, Leaf::from)
}

threshold_reducer! {
    /// 1 if at least k epochs succeed, else 0.
    ///
    /// # Formula
    /// ```text
    /// 1 if c ≥ k, else 0
    /// ```
    ///
    /// # When
    /// A fixed number of epochs, of which k must succeed. It depends on how many there are; `g_pass` does not.
    ///
    /// # Example
    /// ```console
    /// $ printf '%s\n' id,epoch,score a,1,1 a,2,0 a,3,1 b,1,0 b,2,0 b,3,1 c,1,1 c,2,1 c,3,1 > runs.csv
    /// $ errorbar score runs.csv --reducer 'at_least(2)'
    /// runs.csv · 9 rows
    ///
    /// score · reduced by at_least_2 · 3 epochs · 3 scored
    ///                                       0                                       1
    ///   accuracy  0.67 ± 0.33 [0.21, 0.94]           ├─────────────────●──────────┤    only 3 scores
    ///
    /// ± one standard error · [95 % interval: wilson] · ├─●─┤ the interval
    /// ```
    ///
    /// # See also
    /// `g_pass`, `pass_at`, `majority`
    ///
    /// # Source
    /// As inspect_ai defines it.
    AtLeast, "at_least", [depends_on_epochs, is_probability], |reducer, _, successes| Leaf::Int(i64::from(successes >= reducer.k.0))
}

/// Probability that at least j of k epochs succeed (G-Pass@k).
///
/// Estimated without bias from all epochs. With j = 1 it is pass_at, with j = k it is pass_k. A range, as in
/// `g_pass(8, 1..8)`, is a reducer for each number: a curve.
///
/// # Formula
/// ```text
/// Σ_{i≥j} C(c, i)·C(n−c, k−i) / C(n, k)
/// n epochs, c of them successes
/// ```
///
/// # When
/// Between `pass_at` and `pass_k`: some failures are fine.
///
/// # Example
/// ```console
/// $ printf '%s\n' id,epoch,score a,1,1 a,2,0 a,3,1 b,1,0 b,2,0 b,3,1 c,1,1 c,2,1 c,3,1 > runs.csv
/// $ errorbar score runs.csv --reducer 'g_pass(3, 2)'
/// runs.csv · 9 rows
///
/// score · reduced by g_pass(k=3, j=2) · 3 epochs · 3 scored
///                                       0                                       1
///   accuracy  0.67 ± 0.33 [0.21, 0.94]           ├─────────────────●──────────┤    only 3 scores
///
/// ± one standard error · [95 % interval: wilson] · ├─●─┤ the interval
/// ```
///
/// # See also
/// `pass_at`, `pass_k`, `at_least`
///
/// # Source
/// Liu et al. 2024, "Are your LLMs capable of stable reasoning?", arXiv 2412.13147.
#[derive(Clone, Debug, Params)]
#[params(crate = crate, name = "g_pass", check = Self::check_j)]
pub struct GPass {
    /// The number of epochs.
    #[param(from = u64, map = Count, check = check_k)]
    k: Count<u64>,
    /// How many of them have to succeed.
    #[param(from = u64, map = Count, check = check_k)]
    j: Count<u64>,
    /// An epoch is a success from this value on.
    #[param(default = 1.0)]
    value: Option<f64>,
    /// How values become numbers.
    #[param(default = Conversion::default())]
    value_to_float: Conversion,
}

impl GPass {
    fn check_j(&self) -> Result<()> {
        let (Count(k), Count(j)) = (self.k, self.j);
        match j > k {
            true => Err(Self::refuse("j", format!("must be at most k: {j} of {k} epochs cannot succeed"))),
            false => Ok(()),
        }
    }
}

threshold_reducer!(impl GPass, [is_probability], |reducer, n, successes| {
    at_least_of(n, successes, reducer.k.0, reducer.j.0).map_or(Leaf::Unscored, Leaf::from)
});

/// The probability of at least `j` successes among `k` epochs that are drawn, without replacement, from `n` epochs with
/// `c` successes: Σ_{i≥j} C(c, i)·C(n−c, k−i)/C(n, k). None if k > n.
///
/// j = 1 is pass@k (Chen et al. 2021, arXiv 2107.03374), j = k is pass^k (Yao et al. 2024, arXiv 2406.12045). The
/// terms are taken relative to the largest one, each from its neighbour. All are positive, so that neither a small nor
/// a large probability loses digits, and no binomial coefficient overflows.
pub(crate) fn at_least_of(n: u64, c: u64, k: u64, j: u64) -> Option<f64> {
    if k > n || c > n {
        return None;
    }
    // The successes that k draws can have.
    let (least, most) = (k.saturating_sub(n - c), c.min(k));
    if j <= least {
        return Some(1.0);
    }
    if j > most {
        return Some(0.0);
    }
    // Numbers of epochs are far below 2^53.
    let float = |count: u64| count as f64;
    let mode = (float(k + 1) * float(c + 1) / float(n + 2)) as u64;
    let mode = mode.clamp(least, most);
    let (mut tail, mut all) = (ExactSum::new(), ExactSum::new());
    let mut add = |i: u64, term: f64| {
        all.add(term);
        if i >= j {
            tail.add(term);
        }
    };
    add(mode, 1.0);
    let mut term = 1.0;
    for i in mode + 1..=most {
        term *= float(c - i + 1) * float(k - i + 1) / (float(i) * float((n - c) + i - k));
        if term == 0.0 {
            break;
        }
        add(i, term);
    }
    term = 1.0;
    for i in (least..mode).rev() {
        term *= float(i + 1) * float((n - c) + i + 1 - k) / (float(c - i) * float(k - i));
        if term == 0.0 {
            break;
        }
        add(i, term);
    }
    Some(tail.to_f64() / all.to_f64())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reducer::Reducer;
    use crate::reducers::test_support::{assert_close, reduce};
    use crate::reducers::{pass_at, pass_k};
    use crate::{Error, Score, Value};

    #[test]
    fn published_figures_of_pass_at() {
        let close = |n, c, k, want| assert_close(at_least_of(n, c, k, 1), want);
        close(6, 3, 1, 0.5); // the example of the human-eval README
        close(5, 1, 3, 3.0 / 5.0);
        close(10, 3, 5, 11.0 / 12.0);
        close(200, 1, 100, 0.5);
        close(200, 10, 10, 0.40854786608141713);
        close(2000, 20, 1000, 0.9999991335665414);
        close(4, 2, 2, 5.0 / 6.0); // 1 − C(2,2)/C(4,2) = 1 − 1/6
        close(10, 8, 3, 1.0);
        close(20, 1, 20, 1.0);
        close(1_000_000_000, 1, 1, 1e-9); // 1 − ratio alone would keep seven digits
        assert_eq!(at_least_of(3, 0, 2, 1), Some(0.0));
        assert_eq!(at_least_of(3, 3, 4, 1), None);
    }

    #[test]
    fn published_figures_of_pass_k() {
        let close = |n, c, k, want| assert_close(at_least_of(n, c, k, k), want);
        close(10, 8, 3, 56.0 / 120.0); // C(8,3)/C(10,3)
        close(200, 10, 10, 4.4541437266507297e-17);
        close(4, 2, 2, 1.0 / 6.0);
        close(8, 6, 4, 15.0 / 70.0); // C(6,4)/C(8,4)
        close(200, 1, 100, 0.0);
        close(5, 5, 5, 1.0);
        assert_eq!(at_least_of(3, 3, 4, 4), None);
    }

    /// τ-bench (sierra-research/tau-bench), gpt-4o on airline: successes of four trials for each of 50 tasks, and the
    /// published pass^1 to pass^4: .420, .273, .220, .200.
    #[test]
    fn published_curve() {
        const SUCCESSES: [u64; 50] = [
            0, 1, 1, 0, 0, 1, 1, 1, 0, 0, 0, 1, 4, 2, 0, 2, 1, 1, 4, 0, 4, 3, 0, 0, 4, 0, 2, 2, 0, 1, 2, 2,
            0, 0, 3, 4, 4, 3, 4, 1, 3, 2, 4, 1, 2, 2, 2, 1, 4, 4,
        ];
        let curve = |j: fn(u64) -> u64| {
            [1, 2, 3, 4].map(|k| {
                let of_tasks = SUCCESSES.iter().map(|c| at_least_of(4, *c, k, j(k)).unwrap());
                of_tasks.sum::<f64>() / 50.0
            })
        };
        let close = |got: [f64; 4], want: [f64; 4]| {
            got.iter().zip(want).for_each(|(got, want)| assert!((got - want).abs() < 1e-12, "{got} {want}"));
        };
        close(curve(|k| k), [0.42, 0.273_333_333_333_333_3, 0.22, 0.2]);
        close(curve(|_| 1), [0.42, 0.566_666_666_666_666_5, 0.66, 0.72]);
    }

    #[test]
    fn counts_successes_from_the_threshold_on() {
        let scores: Vec<Score> = [1.0, 0.5, 0.4].map(Score::new).into();
        assert_eq!(at_least(1).reduce(&scores).unwrap().value, Value::Int(1));
        assert_eq!(at_least(2).reduce(&scores).unwrap().value, Value::Int(0));
        assert_eq!(at_least(2).value(0.5).reduce(&scores).unwrap().value, Value::Int(1));
        assert_eq!(at_least(9).reduce(&scores).unwrap().value, Value::Int(0), "never unscored");
        assert_eq!(at_least(2).log_name(), "at_least_2");
        assert_eq!(at_least(2).value(0.5).log_name(), "at_least(k=2, value=0.5)");
    }

    #[test]
    fn one_and_all_are_the_other_two() {
        let epochs = || [1, 0, 1, 1, 0].map(Value::from);
        for k in 1..=5 {
            assert_eq!(reduce(&g_pass(k, 1), epochs()).value, reduce(&pass_at(k), epochs()).value);
            assert_eq!(reduce(&g_pass(k, k), epochs()).value, reduce(&pass_k(k), epochs()).value);
        }
        assert_eq!(reduce(&g_pass(6, 2), epochs()).value, Value::Unscored, "more than there are");
        assert_eq!(g_pass(4, 2).log_name(), "g_pass(k=4, j=2)");
    }

    #[test]
    fn more_successes_than_epochs_are_refused() {
        for (k, j) in [(2, 3), (0, 1), (2, 0)] {
            let refused = g_pass(k, j).reduce(&[]);
            assert!(matches!(refused, Err(Error::Argument { .. })), "{k} {j}: {refused:?}");
        }
    }
}

#[cfg(test)]
mod hypergeometric_tests {
    use super::*;
    use crate::reducers::test_support::assert_close;

    /// C(n, k), exactly.
    fn binomial(n: u64, k: u64) -> u128 {
        (0..u128::from(k)).fold(1, |product, i| product * (u128::from(n) - i) / (i + 1))
    }

    #[test]
    fn published_figures() {
        // G-Pass@k, exact rationals.
        assert_close(at_least_of(16, 10, 8, 4), 269.0 / 286.0);
        assert_close(at_least_of(10, 5, 4, 2), 31.0 / 42.0);
        assert_eq!(at_least_of(3, 3, 4, 1), None);
    }

    #[test]
    fn every_small_case_is_the_sum_of_its_terms() {
        for n in 1..=12_u64 {
            for c in 0..=n {
                for k in 1..=n {
                    for j in 1..=k {
                        let terms = (j..=k).filter(|i| *i <= c && k - i <= n - c);
                        let favourable: u128 = terms.map(|i| binomial(c, i) * binomial(n - c, k - i)).sum();
                        let want = favourable as f64 / binomial(n, k) as f64;
                        let got = at_least_of(n, c, k, j).unwrap();
                        assert!((got - want).abs() <= 1e-15 * want, "{n} {c} {k} {j}: {got} {want}");
                    }
                }
            }
        }
    }

    #[test]
    fn many_epochs_lose_no_digits() {
        // 1 − C(n−1, 1)/C(n, 1) = 1/n, which 1 minus a ratio would give to seven digits.
        assert_close(at_least_of(1_000_000_000, 1, 1, 1), 1e-9);
        // Both tails of a symmetric case: 1 − P(≥ 501) = P(≥ 500).
        let (upper, lower) = (at_least_of(2000, 1000, 1000, 501), at_least_of(2000, 1000, 1000, 500));
        assert_close(lower, 1.0 - upper.unwrap());
        // 1/C(200, 100), from exact integers.
        assert_close(at_least_of(200, 100, 100, 100), 1.104_380_346_599_751_4e-59);
    }
}
