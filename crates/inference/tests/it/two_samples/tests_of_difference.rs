//! McNemar at any size, Newcombe's test against its interval, Welch, equivalence, corrections.

use errorbar_stats::differences::{
    MeanError, Share, ShareDifference, Welch, bonett_price, mcnemar_exact, mcnemar_mid_p, tost_p_value,
};
use errorbar_stats::distributions::t_quantile;
use errorbar_stats::exact::Moments;
use errorbar_stats::multiple::{benjamini_hochberg, holm};
use proptest::prelude::*;

use super::close;

/// Sums of binomial coefficients with 60 digits (mpmath).
#[test]
fn mcnemar_of_large_counts() {
    for (wins, losses, exact, mid_p) in [
        (1_000, 900, 0.023_108_845_108_901_07, 0.021_791_499_253_713_426),
        (50_500, 49_500, 0.001_582_359_878_851_596, 0.001_565_359_754_848_414),
        (500_000, 499_000, 0.317_552_599_673_744_9, 0.317_068_658_264_954_2),
        (5_000_000, 5_010_000, 0.001_575_624_812_642_632_6, 0.001_573_917_080_465_938_6),
        (3, 200, 2.169_355_571_892_949_7e-55, 1.100_785_283_116_308_7e-55),
        (1, 1_000, 9.351_301_457_402_253e-299, 4.680_317_046_793_642_7e-299),
    ] {
        close(mcnemar_exact(wins, losses), exact, 1e-11);
        close(mcnemar_mid_p(wins, losses), mid_p, 1e-11);
    }
}

#[test]
fn mcnemar_at_its_edges() {
    assert_eq!((mcnemar_exact(0, 0), mcnemar_mid_p(0, 0)), (1.0, 1.0));
    // One pair: of two outcomes both are as extreme; half of the observed one is left out on each side.
    assert_eq!((mcnemar_exact(1, 0), mcnemar_mid_p(1, 0)), (1.0, 0.5));
    assert_eq!((mcnemar_exact(1, 1), mcnemar_mid_p(1, 1)), (1.0, 0.75));
    assert_eq!((mcnemar_exact(0, 5), mcnemar_mid_p(0, 5)), (0.0625, 0.03125));
    // Smaller than any number, not an error.
    assert_eq!((mcnemar_exact(0, 5_000), mcnemar_mid_p(0, 5_000)), (0.0, 0.0));
}

proptest! {
    #[test]
    fn bonett_price_is_antisymmetric_nested_and_within_one(
        wins in 0_u64..60, losses in 0_u64..60, ties in 0_u64..60, level in 0.5..0.99
    ) {
        let n = wins + losses + ties;
        let (lower, upper) = bonett_price(wins, losses, n, level);
        let (mirrored_lower, mirrored_upper) = bonett_price(losses, wins, n, level);
        prop_assert!((lower + mirrored_upper).abs() < 1e-12 && (upper + mirrored_lower).abs() < 1e-12);
        prop_assert!(-1.0 <= lower && lower < upper && upper <= 1.0);
        let (wider_lower, wider_upper) = bonett_price(wins, losses, n, level + 0.009);
        prop_assert!(wider_lower <= lower && upper <= wider_upper);
    }

    /// The p-value is the level at which an end of the interval is 0.
    #[test]
    fn newcombes_test_is_its_interval(
        first in 1_u64..200, second in 1_u64..200, a in 0.0..1.0, b in 0.0..1.0
    ) {
        let share = |n: u64, of: f64| Share::new((of * n as f64).round() as u64, n).unwrap();
        let (first, second) = (share(first, a), share(second, b));
        let difference = ShareDifference { first, second };
        let p = difference.p_value();
        prop_assert_eq!(ShareDifference { first: second, second: first }.p_value(), p);
        prop_assert!((0.0..=1.0).contains(&p));
        // Closer to 1, the level has lost the digits of p.
        if (1e-6..1.0).contains(&p) {
            let (lower, upper) = difference.ends(0.5 - (1.0 - p) / 2.0);
            prop_assert!(lower.abs().min(upper.abs()) < 1e-9, "p {} gives {} {}", p, lower, upper);
        }
    }

    /// Below α exactly where the interval at 1 − 2α lies within the margin.
    #[test]
    fn newcombes_equivalence_is_its_interval(
        first in 1_u64..200, second in 1_u64..200, a in 0.0..1.0, b in 0.0..1.0,
        margin in 0.01..1.5, alpha in 0.001_f64..0.49
    ) {
        let share = |n: u64, of: f64| Share::new((of * n as f64).round() as u64, n).unwrap();
        let (first, second) = (share(first, a), share(second, b));
        let difference = ShareDifference { first, second };
        let p = difference.tost(margin);
        let (lower, upper) = difference.ends(0.5 - (1.0 - 2.0 * alpha) / 2.0);
        prop_assert!((0.0..=1.0).contains(&p));
        prop_assume!((p - alpha).abs() > 1e-9);
        prop_assert_eq!(p < alpha, -margin < lower && upper < margin, "p {}, {} to {}", p, lower, upper);
    }

    /// Below α exactly where the interval at 1 − 2α lies within the margin.
    #[test]
    fn equivalence_is_read_off_the_interval(
        difference in -1.0..1.0, stderr in 0.01..1.0, df in 1.0..200.0, margin in 0.01..2.0, alpha in 0.001_f64..0.49
    ) {
        let p = tost_p_value(difference, stderr, df, margin).unwrap();
        let reach = t_quantile(1.0 - alpha, df) * stderr;
        let inside = -margin < difference - reach && difference + reach < margin;
        prop_assume!((p - alpha).abs() > 1e-12);
        prop_assert_eq!(p < alpha, inside);
    }

    #[test]
    fn corrections_keep_the_order_and_never_lower_a_p_value(
        p_values in prop::collection::vec(prop::option::of(0.0..=1.0), 0..20)
    ) {
        let (by_holm, by_bh) = (holm(&p_values), benjamini_hochberg(&p_values));
        for (index, p) in p_values.iter().enumerate() {
            prop_assert_eq!(p.is_some(), by_holm[index].is_some());
            prop_assert_eq!(p.is_some(), by_bh[index].is_some());
            let Some(p) = *p else { continue };
            // The false discovery rate is the weaker claim.
            let (strict, weak) = (by_holm[index].unwrap(), by_bh[index].unwrap());
            prop_assert!(p <= weak * (1.0 + 1e-15) && weak <= strict * (1.0 + 1e-15) && strict <= 1.0);
            for (other, q) in p_values.iter().enumerate().filter_map(|(other, q)| q.map(|q| (other, q))) {
                prop_assert!(p > q || (by_holm[index] <= by_holm[other] && by_bh[index] <= by_bh[other]));
            }
        }
    }
}

#[test]
fn shares_have_trials_and_far_ones_the_p_value_zero() {
    assert!(Share::new(0, 0).is_none() && Share::new(6, 5).is_none());
    let p_value = |first: (u64, u64), second: (u64, u64)| {
        let share = |(successes, n)| Share::new(successes, n).unwrap();
        ShareDifference { first: share(first), second: share(second) }.p_value()
    };
    assert_eq!(p_value((3, 5), (6, 10)), 1.0);
    // So far apart that no number is as small as the p-value.
    assert_eq!(p_value((0, 1_000_000), (1_000_000, 1_000_000)), 0.0);
}

fn mean_error(scores: &[f64]) -> MeanError {
    let mut moments = Moments::new();
    moments.extend(scores);
    MeanError::new(moments.mean().unwrap(), moments.stderr().unwrap(), scores.len() as f64 - 1.0)
}

/// scipy's `ttest_ind(equal_var=False)` and statsmodels' `ttost_ind(usevar="unequal")`.
#[test]
fn welch_of_ten_scores() {
    let test =
        Welch::new(mean_error(&[0.91, 0.45, 0.62, 0.78, 0.33, 0.85]), mean_error(&[0.52, 0.48, 0.51, 0.39]))
            .unwrap();
    close(test.difference / test.stderr, 1.835_787_032_750_166_2, 1e-12);
    close(test.df, 5.934_107_112_675_424, 1e-12);
    close(test.p_value, 0.116_598_920_159_769_79, 1e-11);
    let (lower, upper) = test.interval(0.95);
    // scipy's quantile has ten digits.
    close(lower, -0.061_129_235_5, 1e-8);
    close(upper, 0.424_462_568_9, 1e-8);
    close(tost_p_value(test.difference, test.stderr, test.df, 0.3).unwrap(), 0.138_682_990_334_186_3, 1e-11);
}

#[test]
fn welch_at_its_edges() {
    let plain = MeanError::new(1.0, 0.0, 4.0);
    let spread = MeanError::new(2.0, 0.5, 7.0);
    assert_eq!(Welch::new(plain, plain), None);
    // A mean without error leaves the other's degrees of freedom.
    assert_eq!(Welch::new(spread, plain).unwrap().df, 7.0);
    let infinite = MeanError::new(2.0, 0.5, f64::INFINITY);
    assert_eq!(Welch::new(infinite, infinite).unwrap().df, f64::INFINITY);
    // Squares that overflow or vanish.
    let scaled = |scale: f64| MeanError::new(scale, scale, 3.0);
    close(
        Welch::new(scaled(1e300), scaled(5e299)).unwrap().df,
        Welch::new(scaled(2.0), scaled(1.0)).unwrap().df,
        1e-12,
    );
    close(
        Welch::new(scaled(1e-300), scaled(5e-301)).unwrap().df,
        Welch::new(scaled(2.0), scaled(1.0)).unwrap().df,
        1e-12,
    );
    assert_eq!(tost_p_value(0.0, 0.0, 5.0, 0.1), None);
    assert_eq!(tost_p_value(0.0, 0.1, 5.0, 0.0), None);
    assert_eq!(tost_p_value(f64::NAN, 0.1, 5.0, 0.1), None);
}

#[test]
fn undefined_p_values_are_no_tests() {
    let some = [Some(0.04), None, Some(0.01), Some(f64::NAN)];
    assert_eq!(holm(&some), [Some(0.04), None, Some(0.02), None]);
    assert_eq!(benjamini_hochberg(&some), [Some(0.04), None, Some(0.02), None]);
    assert!(holm(&[]).is_empty() && benjamini_hochberg(&[None]) == [None]);
}
