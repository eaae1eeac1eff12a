use super::*;

fn mean(between: f64, within: f64) -> PowerPlan {
    PowerPlan::new(PowerDesign::Mean(ScoreSpread::new(between, within)))
}

fn pairs(p10: f64, p01: f64) -> PowerPlan {
    PowerPlan::new(PowerDesign::Pairs(Flips::Shares { p10, p01 }))
}

fn assert_close(got: f64, want: f64, tolerance: f64) {
    assert!((got - want).abs() <= tolerance * want.abs(), "{got} {want}");
}

/// Miller 2024, section 5: 969 by the normal distribution, 971 by t.
#[test]
fn published_samples() {
    let plan = mean(1.0 / 9.0, 0.0);
    assert_eq!(plan.samples(1, 0.03, 0.8), Ok(971));
    assert!(plan.power(970, 1, 0.03).unwrap() < 0.8);
    let normal = plan.method(PowerMethod::Normal);
    assert_eq!(normal.samples(1, 0.03, 0.8), Ok(969));
    // As a real number it is 968.9974980677888.
    let difference = normal.difference(1, 1, 0.8).unwrap();
    assert_close((difference / 0.03).powi(2), 968.9974980677888, 1e-9);
}

/// Miller 2024, section 5: n = 198, ω² = 1/9, σ² = 1/6, 13.2 % with one epoch and 7.5 % with ten (both truncated).
#[test]
fn published_differences() {
    let plan = mean(1.0 / 9.0, 2.0 / 6.0).method(PowerMethod::Normal);
    assert_close(plan.difference(198, 1, 0.8).unwrap(), 0.13273, 1e-4);
    assert_close(plan.difference(198, 10, 0.8).unwrap(), 0.07567, 1e-4);
}

/// Miller 2024, section 3.1: with x ~ U(0, 1) and 0/1 scores (1/12 between, 1/6 within), K epochs have (1 + 2/K)/3 of the
/// variance of one, and so of the samples.
#[test]
fn published_ratios() {
    let spread = ScoreSpread::new(1.0 / 12.0, 1.0 / 6.0);
    for (epochs, ratio) in [(1, 1.0), (2, 2.0 / 3.0), (4, 0.5), (6, 4.0 / 9.0)] {
        assert_close(spread.variance(epochs) / spread.variance(1), ratio, 1e-12);
    }
    let plan = PowerPlan::new(PowerDesign::Mean(spread)).method(PowerMethod::Normal);
    let [once, twice] = [1, 2].map(|epochs| plan.samples(epochs, 0.001, 0.8).unwrap() as f64);
    assert_close(twice / once, 2.0 / 3.0, 1e-6);
}

/// Miller 2024, table 5, MATH: 65.5 % and 63 % of 5,000 with a correlation of 0.5, ± 0.7 %, (+1.2 %, +3.8 %).
#[test]
fn published_error_from_a_correlation() {
    let spread = ScoreSpread::of_paired_shares(0.63, 0.655, 0.5).unwrap();
    assert_close((spread.variance(1) / 5000.0).sqrt(), 0.006775915396023163, 1e-12);
    let plan = PowerPlan::new(PowerDesign::Mean(spread)).method(PowerMethod::Normal);
    assert_close(plan.width(5000, 1, None).unwrap(), 0.0382808 - 0.0117192, 1e-4);
}

/// 0.95 against 0.91 varies more than against 0.99, by v₁ + v₂ − 2ρ√(v₁v₂): 0.06703 and 0.03571. It was that of 0.95 twice.
/// By the normal formula it takes 7.8489 · v / 0.04² samples, 328.81 and 175.20.
#[test]
fn the_variance_of_paired_shares_follows_the_difference() {
    let plan = PowerPlan::new(PowerDesign::PairedShares { base: 0.95, correlation: 0.5 });
    let normal = plan.method(PowerMethod::Normal);
    for (difference, samples) in [(-0.04, 329), (0.04, 176)] {
        assert_eq!(normal.samples(1, difference, 0.8), Ok(samples), "{difference}");
        let least = plan.samples(1, difference, 0.8).unwrap();
        assert!(plan.power(least, 1, difference).unwrap() >= 0.8, "{difference}");
        assert!(plan.power(least - 1, 1, difference).unwrap() < 0.8, "{difference}");
    }
    // Miller 2024, table 5, MATH: an error of 0.006776 over 5,000.
    let plan = PowerPlan::new(PowerDesign::PairedShares { base: 0.63, correlation: 0.5 });
    assert_close(plan.sd(1, Some(0.025)), 0.006775915396023163 * 5000_f64.sqrt(), 1e-12);
    assert_close(plan.sd(1, None), (0.63_f64 * 0.37).sqrt(), 1e-12);
    // The variance vanishes if both vary alike, and one share of 1 has none: what differs from it still has.
    let alike = PowerPlan::new(PowerDesign::PairedShares { base: 0.25, correlation: 1.0 });
    assert_eq!(alike.power(100, 1, 0.5), Err(PowerError::NoSpread));
    assert_eq!(alike.width(100, 1, None), Err(PowerError::NoSpread));
    let certain = PowerPlan::new(PowerDesign::PairedShares { base: 1.0, correlation: 0.0 });
    assert_close(certain.sd(1, Some(-0.5)), 0.5, 1e-12);
}

/// What is computed from two leads back to them.
#[test]
fn the_third_leads_back() {
    let designs = [
        mean(0.2, 0.3),
        mean(0.2, 0.0).design_effect(2.5),
        PowerPlan::new(PowerDesign::TwoMeans(ScoreSpread::new(0.2, 0.0))),
        PowerPlan::new(PowerDesign::TwoShares(0.4)),
        PowerPlan::new(PowerDesign::PairedShares { base: 0.3, correlation: 0.5 }),
        PowerPlan::new(PowerDesign::PairedShares { base: 0.6, correlation: 0.2 }).method(PowerMethod::Normal),
        PowerPlan::new(PowerDesign::Pairs(Flips::Discordant(0.3))),
        PowerPlan::new(PowerDesign::Pairs(Flips::P10(0.1))).method(PowerMethod::McNemarExact),
        PowerPlan::new(PowerDesign::Pairs(Flips::P01(0.4))).method(PowerMethod::Normal),
        PowerPlan::new(PowerDesign::Pairs(Flips::P01(0.4))).method(PowerMethod::T).alpha(0.01),
    ];
    for plan in designs {
        for samples in [60, 400] {
            let difference = plan.difference(samples, 1, 0.7).unwrap();
            assert_close(plan.power(samples, 1, difference).unwrap(), 0.7, 1e-9);
            let least = plan.samples(1, difference * (1.0 + 1e-9), 0.7).unwrap();
            // Pairs are a bit off, for the power takes steps back.
            assert!(least <= samples + 8 && least + 8 >= samples, "{plan:?}: {least} {samples}");
            let width = plan.width(samples, 1, None).unwrap();
            assert_eq!(plan.samples_for_width(1, width, None), Ok(samples), "{plan:?}");
        }
    }
}

/// Cohen, "Statistical Power Analysis for the Behavioral Sciences", 1988, table 2.4.1: of each of two independent sides
/// 64 for half a standard deviation and 26 for 0.8. Five of each have 8 degrees of freedom: by quadrature of the noncentral
/// t distribution with δ = 1.5/√(2/5).
#[test]
fn two_sides_have_twice_the_variance_and_two_means() {
    let plan = PowerPlan::new(PowerDesign::TwoMeans(ScoreSpread::new(1.0, 0.0)));
    assert_eq!(plan.samples(1, 0.5, 0.8), Ok(64));
    assert_eq!(plan.samples(1, 0.8, 0.8), Ok(26));
    assert_close(plan.power(5, 1, 1.5).unwrap(), 0.549_385_597_762_4, 1e-10);
}

/// A design effect multiplies the samples.
#[test]
fn clusters_multiply_samples() {
    assert_eq!(mean(1.0 / 9.0, 0.0).design_effect(2.0).samples(1, 0.03, 0.8), Ok(1942));
    let once = pairs(0.05, 0.1).samples(1, 0.05, 0.8).unwrap();
    assert_eq!(pairs(0.05, 0.1).design_effect(2.0).samples(1, 0.05, 0.8), Ok(2 * once));
}

/// One share: Wilson's interval; 0.04 wide at one half takes 2398 (Wald: 2401).
#[test]
fn a_share_has_a_width() {
    let plan = PowerPlan::new(PowerDesign::Share(0.5));
    assert_eq!(plan.samples_for_width(1, 0.04, None), Ok(2398));
    assert_eq!(plan.samples(1, 0.1, 0.8), Err(PowerError::NoComparison));
    assert_eq!(plan.difference(100, 1, 0.8), Err(PowerError::NoComparison));
    assert_eq!(plan.power(100, 1, 0.1), Err(PowerError::NoComparison));
}

#[test]
fn few_samples_and_large_differences() {
    // So large a difference that two samples show it.
    assert_eq!(mean(1e-20, 0.0).samples(1, 1.0, 0.8), Ok(2));
    assert_eq!(mean(1.0, 0.0).samples(1, 20.0, 0.8), Ok(2));
    assert_eq!(mean(1.0, 0.0).power(1, 1, 1.0), Err(PowerError::TooFewSamples { samples: 1, least: 2 }));
    assert_eq!(mean(1.0, 0.0).width(1, 1, None), Err(PowerError::TooFewSamples { samples: 1, least: 2 }));
    assert_eq!(mean(1.0, 0.0).power(0, 1, 1.0), Err(PowerError::TooFewSamples { samples: 0, least: 2 }));
    assert!(matches!(mean(1.0, 0.0).samples(1, 1e-9, 0.8), Err(PowerError::TooManySamples { .. })));
    assert!(matches!(pairs(0.1, 0.1 + 1e-9).samples(1, 1e-9, 0.8), Err(PowerError::TooManySamples { .. })));
    // Three flips in one direction are never significant.
    assert!(matches!(
        PowerPlan::new(PowerDesign::Pairs(Flips::P01(0.3))).difference(3, 1, 0.8),
        Err(PowerError::NotDetected { .. })
    ));
}

#[test]
fn what_makes_no_sense() {
    let plan = mean(1.0, 0.0);
    assert_eq!(plan.samples(1, 0.0, 0.8), Err(PowerError::Difference(0.0)));
    assert_eq!(plan.samples(0, 0.1, 0.8), Err(PowerError::NoEpochs));
    assert_eq!(plan.samples(1, 0.1, 1.0), Err(PowerError::Power(1.0)));
    assert_eq!(plan.samples(1, 0.1, 0.05), Err(PowerError::PowerWithinAlpha { power: 0.05, alpha: 0.05 }));
    assert_eq!(plan.alpha(0.0).samples(1, 0.1, 0.8), Err(PowerError::Alpha(0.0)));
    assert_eq!(plan.alpha(1.0).samples(1, 0.1, 0.8), Err(PowerError::Alpha(1.0)));
    assert_eq!(plan.design_effect(0.0).samples(1, 0.1, 0.8), Err(PowerError::DesignEffect(0.0)));
    assert_eq!(plan.samples_for_width(1, 0.0, None), Err(PowerError::Width(0.0)));
    assert_eq!(mean(0.0, 0.0).samples(1, 0.1, 0.8), Err(PowerError::NoSpread));
    assert!(matches!(mean(-1.0, 0.0).samples(1, 0.1, 0.8), Err(PowerError::Sd { .. })));
    assert_eq!(pairs(0.7, 0.4).samples(1, -0.3, 0.8), Err(PowerError::FlipShares { p10: 0.7, p01: 0.4 }));
    assert!(matches!(pairs(1.2, 0.0).samples(1, -1.2, 0.8), Err(PowerError::Share { .. })));
    assert!(matches!(pairs(0.1, 0.2).samples(1, 0.2, 0.8), Err(PowerError::DifferenceOutside { .. })));
    assert_eq!(pairs(0.1, 0.2).samples(2, 0.1, 0.8), Err(PowerError::EpochsOfShares(2)));
    let wrong = plan.method(PowerMethod::McNemarMid).samples(1, 0.1, 0.8);
    assert!(matches!(wrong, Err(PowerError::Method { .. })));
    assert_eq!(ScoreSpread::of_paired_shares(0.5, 0.5, 1.5), Err(PowerError::Correlation(1.5)));
}

/// The number of samples that is given for a power has it, whatever the design effect: 60 · 1.1 / 1.1 is below 60.
#[test]
fn samples_have_the_power_that_they_are_for() {
    for (difference, design_effect) in [(0.085, 2.2), (0.12, 2.2), (0.185, 1.1), (0.195, 2.2)] {
        let plan = PowerPlan::new(PowerDesign::Pairs(Flips::P10(0.05))).design_effect(design_effect);
        let samples = plan.samples(1, difference, 0.8).unwrap();
        let power = plan.power(samples, 1, difference).unwrap();
        assert!(power >= 0.8, "{difference} {design_effect}: {samples} samples have {power}");
    }
}

/// 0.8 + 0.3 is no share.
#[test]
fn shares_limit_the_difference() {
    let plan = PowerPlan::new(PowerDesign::PairedShares { base: 0.8, correlation: 0.5 });
    for difference in [3.0, 0.3, -0.9] {
        let outside = PowerError::DifferenceOutside { difference, least: -0.8, most: 1.0 - 0.8 };
        assert_eq!(plan.samples(1, difference, 0.8), Err(outside.clone()));
        assert_eq!(plan.power(100, 1, difference), Err(outside));
    }
    assert!(plan.samples(1, 0.2, 0.8).is_ok() && plan.samples(1, -0.8, 0.8).is_ok());
    assert_eq!(plan.difference(4, 1, 0.8), Err(PowerError::NotDetected { samples: 4, power: 0.8 }));
    assert!(plan.difference(400, 1, 0.8).is_ok());
}
