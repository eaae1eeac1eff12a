//! Draws without replacement: what pass@k, pass^k and G-Pass@k estimate from all epochs of a sample.

use errorbar_stats::exact::ExactSum;

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
