//! Figures that others published or certified.

use errorbar_stats::differences::{
    Share, ShareDifference, bonett_price, mcnemar_exact, mcnemar_mid_p, sign_flip_exact, two_sided,
};
use errorbar_stats::distributions::normal_quantile;
use errorbar_stats::exact::Moments;
use errorbar_stats::multiple::{benjamini_hochberg, holm};

use super::close;

/// Heights of crossed less self-fertilised maize, in eighths of an inch: Darwin (1876), from Fisher, "The Design of
/// Experiments" (1935).
const MAIZE: [f64; 15] =
    [49.0, -67.0, 8.0, 16.0, 6.0, 23.0, 28.0, 41.0, 14.0, 29.0, 56.0, 24.0, 75.0, 60.0, -48.0];

/// The figures of vassarstats in the tests of statsmodels have six decimals; mid-p and further digits from scipy's binomial.
#[test]
fn mcnemar() {
    for (wins, losses, exact, mid_p, printed) in [
        (121, 59, 4.434_449_263_755_164_5e-6, 3.266_646_795_774_573_3e-6, 4e-6),
        (70, 59, 0.378_687_662_693_118_5, 0.334_687_758_736_927_24, 0.378_688),
        (80, 59, 0.089_452_314_994_469_25, 0.075_550_828_752_656_62, 0.089_452),
        (10, 10, 1.0, 0.911_901_473_999_023_5, 1.0),
    ] {
        for (wins, losses) in [(wins, losses), (losses, wins)] {
            close(mcnemar_exact(wins, losses), exact, 1e-12);
            close(mcnemar_mid_p(wins, losses), mid_p, 1e-12);
            assert!((mcnemar_exact(wins, losses) - printed).abs() < 5e-7);
        }
    }
}

/// Newcombe (1998), Table II, method 10: four decimals; further digits from the formula.
#[test]
fn newcombe_method_10() {
    let alone = 0.277_532_799_862_889_26;
    for (first, second, ends, printed) in [
        ((56, 70), (48, 80), (0.052_431_472_402_364_98, 0.333_872_654_036_906_1), (0.0524, 0.3339)),
        ((6, 7), (2, 7), (0.058_227_927_482_312_09, 0.806_249_637_524_227_8), (0.0582, 0.8062)),
        ((0, 10), (0, 20), (-0.161_125_158_052_819_4, alone), (-0.1611, 0.2775)),
        ((0, 10), (0, 10), (-alone, alone), (-0.2775, 0.2775)),
        ((10, 10), (0, 20), (0.679_086_037_141_914_5, 1.0), (0.6791, 1.0)),
        ((10, 10), (0, 10), (0.607_509_350_430_524, 1.0), (0.6075, 1.0)),
    ] {
        let share = |(successes, n)| Share::new(successes, n).unwrap();
        let difference = ShareDifference { first: share(first), second: share(second) };
        let (lower, upper) = difference.ends(0.025);
        close(lower, ends.0, 1e-12);
        close(upper, ends.1, 1e-12);
        assert!((lower - printed.0).abs() < 5.1e-5 && (upper - printed.1).abs() < 5.1e-5);
    }
}

/// From the formula of Bonett and Price (2012).
#[test]
fn bonett_and_price() {
    for (wins, losses, n, ends) in [
        (3, 0, 10, (-0.086_714_105_444_379_24, 0.586_714_105_444_379_2)),
        (0, 0, 10, (-0.230_983_970_724_946_3, 0.230_983_970_724_946_3)),
        (1, 1, 30, (-0.122_497_749_033_753_38, 0.122_497_749_033_753_38)),
    ] {
        let (lower, upper) = bonett_price(wins, losses, n, 0.95);
        close(lower, ends.0, 1e-12);
        close(upper, ends.1, 1e-12);
        let (lower, upper) = bonett_price(losses, wins, n, 0.95);
        close(lower, -ends.1, 1e-12);
        close(upper, -ends.0, 1e-12);
    }
}

/// Of the 2^15 sign patterns, 863 have a sum of at least 314; t is 2.148.
#[test]
fn darwins_maize() {
    assert_eq!(sign_flip_exact(&MAIZE), Some(2.0 * 863.0 / 32_768.0));
    let mut moments = Moments::new();
    moments.extend(&MAIZE);
    let (mean, stderr) = (moments.mean().unwrap(), moments.stderr().unwrap());
    close(mean, 20.933_333_333_333_334, 1e-15);
    close(stderr, 9.745_556_578_044_837, 1e-14);
    close(mean / stderr, 2.147_987_461_331_120_5, 1e-14);
    close(two_sided(mean / stderr, 14.0), 0.049_702_944_021_800_866, 1e-12);
}

/// The p-values of Benjamini and Hochberg (1995), adjusted by statsmodels.
#[test]
fn holm_and_benjamini_hochberg() {
    let p_values = [
        0.001, 0.008, 0.039, 0.041, 0.042, 0.06, 0.074, 0.205, 0.212, 0.216, 0.222, 0.251, 0.269, 0.275, 0.34,
    ];
    let p_values = p_values.map(Some);
    let by_holm = [0.015, 0.112, 0.507, 0.507, 0.507, 0.6, 0.666, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
    let screened = 0.294_642_857_142_857_15;
    let mut by_bh = [screened; 15];
    by_bh[..7].copy_from_slice(&[0.015, 0.06, 0.126, 0.126, 0.126, 0.15, 0.158_571_428_571_428_56]);
    by_bh[14] = 0.34;
    for (adjusted, expected) in [(holm(&p_values), by_holm), (benjamini_hochberg(&p_values), by_bh)] {
        for (actual, expected) in adjusted.into_iter().zip(expected) {
            close(actual.unwrap(), expected, 1e-12);
        }
    }
}

/// Miller (2024), Table 5, MATH: 65.5 % and 63.0 % of 5,000 with a correlation of 0.5 differ by 2.5 % ± 0.7 %, from +1.2 % to
/// +3.8 %. Pairs that have these shares, and the correlation to four digits, give the error of the differences themselves.
#[test]
fn millers_paired_error() {
    let n = 5_000.0_f64;
    let (first, second, correlation) = (0.655, 0.63, 0.5);
    let error = |share: f64| (share * (1.0 - share) / n).sqrt();
    let (a, b) = (error(first), error(second));
    let paired = (a * a + b * b - 2.0 * correlation * a * b).sqrt();
    close(paired, 0.006_775_915_396_023_163, 1e-9);

    let both = (n * (first * second + correlation * n * a * b)).round();
    let (wins, losses) = (first * n - both, second * n - both);
    let mut differences = Moments::new();
    differences.push_times(1.0, wins as u64);
    differences.push_times(-1.0, losses as u64);
    differences.push_times(0.0, (n - wins - losses) as u64);
    // His errors divide by n, ours by n − 1.
    close(differences.stderr().unwrap() * ((n - 1.0) / n).sqrt(), paired, 2e-4);
    close(differences.mean().unwrap(), 0.025, 1e-12);
    let margin = normal_quantile(0.975) * differences.stderr().unwrap();
    assert!((0.025 - margin - 0.012).abs() < 5e-4 && (0.025 + margin - 0.038).abs() < 5e-4);

    // Bonett–Price is the same but for terms of 1/n.
    let (lower, upper) = bonett_price(wins as u64, losses as u64, n as u64, 0.95);
    assert!((lower - 0.012).abs() < 5e-4 && (upper - 0.038).abs() < 5e-4);
}
