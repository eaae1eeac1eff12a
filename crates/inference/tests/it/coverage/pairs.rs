//! How often intervals of paired differences hold the truth, and how often a gate that reads them raises a false alarm: exact
//! sums, no simulation.
//!
//! The gate fails if the upper end of the 90 % interval is below 0. Without a difference that should happen in 5 % of cases.

use std::sync::LazyLock;

use errorbar_stats::differences::bonett_price;
use errorbar_stats::distributions::{binomial_cdf, binomial_pmf, t_quantile};

/// Shares of pairs that differ.
pub(super) const DISCORDANT: [f64; 7] = [0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.6];

/// Shares of losses among them.
pub(super) const LOST: [f64; 5] = [0.5, 0.6, 0.7, 0.8, 1.0];

/// How often the 95 % interval of 30 pairs of zeros and ones holds the difference, by the shares of differing pairs and losses.
pub(super) static COVERAGE: LazyLock<[[f64; LOST.len()]; DISCORDANT.len()]> =
    LazyLock::new(|| DISCORDANT.map(|discordant| LOST.map(|lost| coverage(30, discordant, lost))));

/// P(wins, losses) of n pairs, of which a share differs, and a share of these are losses.
fn trinomial(n: u64, discordant: f64, lost: f64) -> impl Iterator<Item = (u64, u64, f64)> {
    (0..=n).flat_map(move |pairs| {
        let outer = binomial_pmf(pairs, n, discordant);
        (0..=pairs).map(move |losses| (pairs - losses, losses, outer * binomial_pmf(losses, pairs, lost)))
    })
}

/// How often the 95 % interval of n pairs holds the difference.
fn coverage(n: u64, discordant: f64, lost: f64) -> f64 {
    let truth = discordant * (1.0 - 2.0 * lost);
    trinomial(n, discordant, lost)
        .filter(|(wins, losses, _)| {
            let (lower, upper) = bonett_price(*wins, *losses, n, 0.95);
            lower <= truth + 1e-12 && truth - 1e-12 <= upper
        })
        .map(|(_, _, chance)| chance)
        .sum()
}

#[test]
fn bonett_price_keeps_its_level_at_thirty_pairs() {
    for (discordant, by_lost) in DISCORDANT.into_iter().zip(*COVERAGE) {
        for (lost, held) in LOST.into_iter().zip(by_lost) {
            assert!(held >= 0.945, "{discordant} {lost}: {held}");
            assert!(30.0 * discordant < 6.0 || held <= 0.976, "{discordant} {lost}: {held}");
        }
    }
}

/// Shares of differing pairs and numbers of pairs whose false alarms are shown.
pub(super) const SHOWN: [f64; 9] = [0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.6, 0.86, 1.0];
pub(super) const SIZES: [u64; 6] = [20, 30, 50, 100, 300, 1000];

/// How often a gate of zeros and ones raises a false alarm, by the number of pairs and the share that differs.
pub(super) static ALARMS: LazyLock<[[f64; SHOWN.len()]; SIZES.len()]> = LazyLock::new(|| {
    SIZES.map(|n| {
        let by_discordant = alarms_by_discordant(n);
        SHOWN.map(|discordant| false_alarms(&by_discordant, discordant))
    })
});

/// For each number of discordant pairs the chance that the gate fails: the losses are a coin's, and the upper end grows with
/// the wins.
fn alarms_by_discordant(n: u64) -> Vec<f64> {
    let fails = |wins: u64, pairs: u64| bonett_price(wins, pairs - wins, n, 0.9).1 < 0.0;
    (0..=n)
        .map(|pairs| {
            let (mut failing, mut passing) = (0, pairs / 2 + 1);
            while failing < passing {
                let middle = failing.midpoint(passing);
                if fails(middle, pairs) { failing = middle + 1 } else { passing = middle }
            }
            if failing == 0 { 0.0 } else { binomial_cdf(failing - 1, pairs, 0.5) }
        })
        .collect()
}

fn false_alarms(by_discordant: &[f64], discordant: f64) -> f64 {
    let n = by_discordant.len() as u64 - 1;
    (0..=n).zip(by_discordant).map(|(pairs, rate)| binomial_pmf(pairs, n, discordant) * rate).sum()
}

/// The worst is 5.34 %, at 25 pairs of which 86 % differ. The least with six differing pairs is 3.3 %, up to 183 pairs.
#[test]
fn a_gate_of_binary_pairs_is_wrong_about_five_percent_of_the_time() {
    for n in (20..=100).chain([120, 150, 183, 250, 350, 500]) {
        let by_discordant = alarms_by_discordant(n);
        for fiftieth in 1..=43 {
            let discordant = f64::from(fiftieth) / 50.0;
            let rate = false_alarms(&by_discordant, discordant);
            assert!(rate <= 0.0535, "n {n}, {discordant}: {rate}");
            let expected = n as f64 * discordant;
            let is_enough = expected >= if n <= 183 { 6.0 } else { 7.5 };
            assert!(!is_enough || rate >= 0.03, "n {n}, {discordant}: {rate}");
        }
    }
}

/// Where the steps of the counts are too coarse: without ties no test of 24 pairs has a rate between 3.2 % and 7.6 %, and of many
/// pairs four losses without a win are just not enough.
#[test]
fn a_gate_is_off_where_counts_are_coarse() {
    let rate = |n: u64, discordant: f64| false_alarms(&alarms_by_discordant(n), discordant);
    assert!((rate(24, 1.0) - 0.075_8).abs() < 5e-5);
    assert_eq!((bonett_price(0, 4, 183, 0.9).1 < 0.0, bonett_price(0, 4, 184, 0.9).1 < 0.0), (true, false));
    assert!((rate(300, 0.02) - 0.024_8).abs() < 5e-5);
}

/// The same for graded scores, whose differences are −1, −½, 0, ½ and 1: their interval is that of Student's t.
///
/// Of the differences that are not 0 these shares are 1 or −1.
pub(super) const WHOLE: [f64; 3] = [0.1, 0.5, 0.9];
pub(super) const GRADED_SHARES: [f64; 6] = [0.05, 0.1, 0.2, 0.3, 0.5, 0.8];
pub(super) const GRADED_SIZES: [u64; 3] = [20, 30, 60];

/// How often a gate of graded scores raises a false alarm, by the share of whole differences, of differing pairs, and n.
pub(super) static GRADED_ALARMS: LazyLock<Vec<(f64, f64, [f64; GRADED_SIZES.len()])>> = LazyLock::new(|| {
    let of_whole = |whole: f64| {
        GRADED_SHARES.map(|share| (whole, share, GRADED_SIZES.map(|n| graded_false_alarms(n, share, whole))))
    };
    WHOLE.into_iter().flat_map(of_whole).collect()
});

/// How often the upper end of the 90 % interval is below 0, if differences are symmetric about 0. In halves a sum is W − L + 2·(W' −
/// L') and the sum of squares K + 4·K': both follow from four counts, of which two are coins'.
fn graded_false_alarms(n: u64, differing: f64, whole: f64) -> f64 {
    let pairs_f = n as f64;
    let t = t_quantile(0.95, pairs_f - 1.0);
    let fails = |sum: f64, squares: f64| {
        let variance = (squares - sum * sum / pairs_f) / (pairs_f - 1.0);
        variance > 1e-9 && sum / pairs_f + t * (variance / pairs_f).sqrt() < 0.0
    };
    let mut rate = 0.0;
    for large in 0..=n {
        let of_large = binomial_pmf(large, n, differing * whole);
        for small in 0..=(n - large) {
            // Of the pairs that do not differ by 1.
            let of_small =
                binomial_pmf(small, n - large, differing * (1.0 - whole) / (1.0 - differing * whole));
            if of_large * of_small < 1e-9 {
                continue;
            }
            let squares = (small + 4 * large) as f64;
            for large_wins in 0..=large {
                // The lower the sum, the surer the failure: count the wins among the small ones up to which it fails.
                let (mut failing, mut passing) = (0, small + 1);
                while failing < passing {
                    let middle = failing.midpoint(passing);
                    let sum =
                        2.0 * middle as f64 - small as f64 + 4.0 * large_wins as f64 - 2.0 * large as f64;
                    if fails(sum, squares) { failing = middle + 1 } else { passing = middle }
                }
                if failing == 0 {
                    break;
                }
                rate += of_large
                    * of_small
                    * binomial_pmf(large_wins, large, 0.5)
                    * binomial_cdf(failing - 1, small, 0.5);
            }
        }
    }
    rate
}

#[test]
fn a_gate_of_graded_pairs_is_wrong_about_five_percent_of_the_time() {
    let assert_rate = |n: u64, differing: f64, whole: f64, rate: f64| {
        assert!(rate <= 0.055, "n {n}, {differing}, {whole}: {rate}");
        assert!(n as f64 * differing < 6.0 || rate >= 0.03, "n {n}, {differing}, {whole}: {rate}");
    };
    for (whole, differing, rates) in GRADED_ALARMS.iter() {
        for (n, rate) in GRADED_SIZES.into_iter().zip(rates) {
            assert_rate(n, *differing, *whole, *rate);
        }
    }
    // About the worst, 5.4 %.
    for n in 21..30 {
        assert_rate(n, 0.2, 0.9, graded_false_alarms(n, 0.2, 0.9));
    }
}
