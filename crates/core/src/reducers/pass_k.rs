//! `pass_k_{k}`: the chance that all of k epochs succeed.

use super::hypergeometric::at_least_of;
use super::threshold::threshold_reducer;
use crate::value::Leaf;

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
    PassK, "pass_k", [is_probability], |n, successes, k| at_least_of(n, successes, k, k).map_or(Leaf::Unscored, Leaf::from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reducers::test_support::assert_close;

    #[test]
    fn published_figures() {
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
}
