//! The sign-flip test against all patterns one by one.

use errorbar_stats::differences::{mcnemar_exact, sign_flip_exact};
use proptest::prelude::*;

/// The share of patterns at least as extreme, in whole numbers.
fn one_by_one(differences: &[i64]) -> f64 {
    let observed = differences.iter().sum::<i64>().abs();
    let patterns = 1_u32 << differences.len();
    let extreme = (0..patterns).filter(|pattern| {
        let signed = |(index, d): (usize, &i64)| if pattern >> index & 1 == 1 { -d } else { *d };
        differences.iter().enumerate().map(signed).sum::<i64>().abs() >= observed
    });
    extreme.count() as f64 / f64::from(patterns)
}

fn scaled(differences: &[i64], step: f64) -> Vec<f64> {
    differences.iter().map(|d| *d as f64 * step).collect()
}

proptest! {
    /// Steps that are not binary fractions, and differences that are off by their rounding.
    #[test]
    fn counting_equals_one_by_one(
        differences in prop::collection::vec(-9_i64..=9, 0..11),
        step in prop::sample::select(vec![1.0, 0.5, 0.1, 1.0 / 3.0, 1.0 / 7.0, 1e-200, 1e200]),
        offset in prop::sample::select(vec![0.0, 0.7, 3.3]),
    ) {
        // As differences of scores are computed.
        let scores: Vec<f64> = differences.iter().map(|d| {
            if (0.01..100.0).contains(&step) { (offset + *d as f64 * step) - offset } else { *d as f64 * step }
        }).collect();
        prop_assert_eq!(sign_flip_exact(&scores), Some(one_by_one(&differences)));
    }

    /// A step beyond those that are looked for: whole numbers up to a billion.
    #[test]
    fn enumerating_equals_one_by_one(differences in prop::collection::vec(-1_000_000_007_i64..1_000_000_007, 0..11)) {
        prop_assert_eq!(sign_flip_exact(&scaled(&differences, 1.0)), Some(one_by_one(&differences)));
    }

    #[test]
    fn of_wins_and_losses_it_is_mcnemars_test(wins in 0_usize..400, losses in 0_usize..400, ties in 0_usize..5) {
        let differences = [vec![0.25; wins], vec![-0.25; losses], vec![0.0; ties]].concat();
        prop_assert_eq!(sign_flip_exact(&differences), Some(mcnemar_exact(wins as u64, losses as u64)));
    }

    /// Signs, order and zeros do not matter.
    #[test]
    fn it_is_symmetric(differences in prop::collection::vec(-4_i64..=4, 1..30)) {
        let values = scaled(&differences, 0.5);
        let mut mirrored: Vec<f64> = values.iter().rev().map(|d| -d).collect();
        mirrored.push(0.0);
        prop_assert_eq!(sign_flip_exact(&values), sign_flip_exact(&mirrored));
    }
}

#[test]
fn equal_differences_give_two_patterns() {
    for n in [1, 2, 5, 40, 500] {
        assert_eq!(sign_flip_exact(&vec![-0.3; n]), Some(2.0_f64.powi(1 - n as i32)));
    }
    // Unequal ones of the same sign too, with and without a step.
    assert_eq!(sign_flip_exact(&[0.5, 1.0, 0.5]), Some(0.25));
    assert_eq!(sign_flip_exact(&[std::f64::consts::PI, 1.0, 0.5]), Some(0.25));
}

#[test]
fn nothing_to_flip() {
    assert_eq!(sign_flip_exact(&[]), Some(1.0));
    assert_eq!(sign_flip_exact(&[0.0, -0.0]), Some(1.0));
    assert_eq!(sign_flip_exact(&[0.1 + 0.2, -0.3]), Some(1.0));
    for wrong in [f64::NAN, f64::INFINITY] {
        assert_eq!(sign_flip_exact(&[1.0, wrong]), None);
    }
    assert_eq!(sign_flip_exact(&[f64::MAX, f64::MAX]), None);
}

/// Likert scores of 2,000 pairs are counted; 40 numbers without a step are too many to enumerate, 36 are not.
#[test]
fn the_work_is_bounded() {
    let likert: Vec<f64> = (0..2_000).map(|index| f64::from(index * 7 % 9) - 3.9_f64.round()).collect();
    assert!(sign_flip_exact(&likert).is_some());
    let irregular: Vec<f64> =
        (1..=40).map(|index| (f64::from(index)).sqrt() * if index % 3 == 0 { -1.0 } else { 1.0 }).collect();
    assert!(sign_flip_exact(&irregular[..36]).is_some());
    assert_eq!(sign_flip_exact(&irregular), None);
    let ones_and_one_other = [vec![1.0; 100_000], vec![std::f64::consts::E]].concat();
    assert_eq!(sign_flip_exact(&ones_and_one_other), None);
}
