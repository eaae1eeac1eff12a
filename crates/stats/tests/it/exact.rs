//! Exact sums and moments against rational arithmetic (`data/sums.py`), in any order and any split.

use errorbar_stats::exact::{ExactSum, Moments};
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::Value;

fn sum_of(values: &[f64]) -> ExactSum {
    let mut sum = ExactSum::new();
    sum.extend(values);
    sum
}

fn moments_of(values: &[f64]) -> Moments {
    let mut moments = Moments::new();
    moments.extend(values);
    moments
}

struct Case {
    name: String,
    values: Vec<f64>,
    figures: Value,
}

impl Case {
    /// All cases of the table. Numbers are strings there, because not every JSON reader rounds correctly.
    fn all() -> Vec<Self> {
        let table: Value = serde_json::from_str(include_str!("../data/sums.json")).expect("valid");
        let rows = table.as_array().expect("rows").clone();
        rows.into_iter()
            .map(|row| Self {
                name: row["name"].to_string(),
                values: row["values"].as_array().expect("values").iter().map(number).collect(),
                figures: row,
            })
            .collect()
    }

    fn figure(&self, key: &str) -> f64 {
        number(&self.figures[key])
    }
}

fn number(text: &Value) -> f64 {
    text.as_str().expect("text").parse().expect("number")
}

#[test]
fn sums_and_means_are_correctly_rounded() {
    let cases = Case::all();
    assert_eq!(cases.len(), 24);
    for case in cases {
        let sum = sum_of(&case.values);
        let name = &case.name;
        assert_eq!(sum.to_f64(), case.figure("sum"), "sum of {name}");
        let pair = (case.figure("sum"), case.figure("rest"));
        assert_eq!(sum.to_double_double(), pair, "pair of {name}");
        let n = case.values.len() as u64;
        assert_eq!(sum.divide(n), case.figure("mean"), "mean of {name}");
    }
}

#[test]
fn variances_are_correctly_rounded_and_roots_almost() {
    for case in Case::all() {
        let moments = moments_of(&case.values);
        let name = &case.name;
        assert_eq!(moments.mean(), Some(case.figure("mean")), "mean of {name}");
        assert_eq!(moments.variance(), Some(case.figure("variance")), "variance of {name}");
        for (key, actual) in [("std", moments.std()), ("stderr", moments.stderr())] {
            let (actual, expected) = (actual.expect("two or more"), case.figure(key));
            let ulps = actual.to_bits().abs_diff(expected.to_bits());
            assert!(ulps <= 1, "{key} of {name}: {actual:e}, not {expected:e}");
        }
    }
}

#[test]
fn a_product_keeps_all_its_bits() {
    // (2^27 + 1)² = 2^54 + 2^28 + 1 has 55 bits; less 2^54 + 2^28 leaves the 1 that f64 would drop.
    let x = f64::from((1 << 27) + 1);
    let mut sum = ExactSum::new();
    sum.add_product(x, x);
    sum.add(-(2_f64.powi(54) + 2_f64.powi(28)));
    assert_eq!(sum.to_f64(), 1.0);
    // The smallest possible square, 2^-2148, is not lost either: 2^1074 times over it is 2^-1074.
    let tiny = f64::from_bits(1);
    let mut small = ExactSum::new();
    small.add_product(tiny, tiny);
    assert!(!small.is_zero());
    assert_eq!(small.to_f64(), 0.0);
    small.add_product(-tiny, tiny);
    assert!(small.is_zero());
    // 1e200² less itself, plus 1.
    let mut large = ExactSum::new();
    large.add_product(1e200, 1e200);
    assert_eq!(large.to_f64(), f64::INFINITY);
    large.add_product(1e200, -1e200);
    large.add(1.0);
    assert_eq!(large.to_f64(), 1.0);
}

#[test]
fn a_multiple_is_so_many_additions() {
    for x in [0.1, -3e300, f64::from_bits(3), 0.0] {
        let mut repeated = ExactSum::new();
        repeated.extend(&[x; 1000]);
        let mut times = ExactSum::new();
        times.add_times(x, 1000);
        assert_eq!(repeated, times);
    }
    // 0.1·(2^64 − 1), divided by the same count.
    let mut many = ExactSum::new();
    many.add_times(0.1, u64::MAX);
    assert_eq!(many.divide(u64::MAX), 0.1);
}

#[test]
fn carries_move_before_they_are_lost() {
    // Each step doubles the sum by merging it with itself: 2^70 copies of 1.75, far more than one chunk's spare bits hold.
    let mut sum = sum_of(&[1.75, -1e-30]);
    for _ in 0..70 {
        let copy = sum.clone();
        sum.merge(&copy);
    }
    assert_eq!(sum.to_f64(), 1.75 * 2_f64.powi(70));
    sum.add_product(-1.75, 2_f64.powi(70));
    assert_eq!(sum.to_f64(), -1e-30 * 2_f64.powi(70));
}

#[test]
fn what_is_not_finite_makes_nan_for_good() {
    for x in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let mut sum = sum_of(&[1.0, x, 2.0]);
        assert!(sum.to_f64().is_nan() && !sum.is_zero());
        sum.add(-x);
        assert!(sum.divide(3).is_nan());
        let mut other = sum_of(&[1.0]);
        other.merge(&sum);
        assert!(other.to_f64().is_nan());
        assert!(moments_of(&[1.0, x]).std().is_some_and(f64::is_nan));
    }
}

#[test]
fn a_sum_is_small() {
    // One lives per cluster, of which there may be hundreds of thousands.
    assert!(size_of::<ExactSum>() <= 72);
}

/// NIST's generators NumAcc2 and NumAcc4. The figures are the exact standard deviations of the f64s nearest to the data, to 20
/// digits; the certified 0.1 is that of the decimals, which f64 cannot hold.
#[test]
#[expect(clippy::excessive_precision, reason = "figures as they were computed")]
fn nist_numerical_accuracy() {
    let series = |first: f64, a: f64, b: f64| {
        let mut values = vec![first];
        values.extend([a, b].repeat(500));
        moments_of(&values).std().expect("1001 values")
    };
    let close = |actual: f64, expected: f64| ((actual - expected) / expected).abs() < 2e-16;
    assert!(close(series(1.2, 1.1, 1.3), 0.099_999_999_999_999_977_796));
    let offset = series(10_000_000.2, 10_000_000.1, 10_000_000.3);
    assert!(close(offset, 0.100_000_000_558_793_544_77), "{offset}");
}

#[test]
fn few_observations() {
    let none = Moments::new();
    assert_eq!((none.mean(), none.variance(), none.stderr()), (None, None, None));
    let one = moments_of(&[0.3]);
    assert_eq!((one.mean(), one.variance(), one.population_std()), (Some(0.3), None, Some(0.0)));
    // [1, 2, 4]: Σx² = 21, (Σx)² = 49: variance (63 − 49)/6 = 7/3, over 3 for the squared standard error.
    let three = moments_of(&[1.0, 2.0, 4.0]);
    assert_eq!(three.variance(), Some(7.0 / 3.0));
    assert_eq!(three.stderr(), Some((7.0_f64 / 9.0).sqrt()));
    assert_eq!(three.population_std(), Some((14.0_f64 / 9.0).sqrt()));
}

#[test]
fn equal_values_have_no_variance_at_all() {
    for x in [0.1, 1.0, -1e300, 1e-310] {
        let moments = moments_of(&vec![x; 1234]);
        assert_eq!(moments.mean(), Some(x));
        assert_eq!(moments.variance(), Some(0.0));
        assert_eq!(moments.stderr(), Some(0.0));
    }
}

/// Any finite number: the bits are drawn, so that all exponents are equally likely.
fn any_finite() -> impl Strategy<Value = f64> {
    any::<u64>().prop_map(f64::from_bits).prop_filter("finite", |x| x.is_finite())
}

/// Numbers of all sizes, among them the plain scores that have a fast path.
fn numbers() -> impl Strategy<Value = Vec<f64>> {
    let plain = prop::sample::select(vec![0.0, -0.0, 1.0, 0.5, 4.0, -0.25, 0.1]);
    let edge = prop::sample::select(vec![f64::MAX, f64::MIN, 1e300, -1e300, 5e-324, -2e-310]);
    prop_oneof![
        vec(any_finite(), 0..60),
        vec(-1.0..1.0, 0..60),
        vec(plain.clone(), 0..600),
        vec(prop_oneof![any_finite(), plain, edge], 0..60),
    ]
}

proptest! {
    #[test]
    fn order_does_not_matter((values, shuffled) in numbers().prop_flat_map(|v| (Just(v.clone()), Just(v).prop_shuffle()))) {
        prop_assert_eq!(sum_of(&values), sum_of(&shuffled));
        prop_assert_eq!(sum_of(&values).to_f64().to_bits(), sum_of(&shuffled).to_f64().to_bits());
        prop_assert_eq!(moments_of(&values), moments_of(&shuffled));
        prop_assert_eq!(moments_of(&values).variance(), moments_of(&shuffled).variance());
    }

    #[test]
    fn merged_parts_equal_the_whole(values in numbers(), cut in any::<prop::sample::Index>()) {
        let (left, right) = values.split_at(cut.index(values.len() + 1));
        let mut moments = moments_of(left);
        moments.merge(&moments_of(right));
        prop_assert_eq!(&moments, &moments_of(&values));
        let mut one_by_one = Moments::new();
        values.iter().for_each(|&x| one_by_one.push(x));
        prop_assert_eq!(&moments, &one_by_one);
        // Nothing is the identity, on either side.
        let mut empty = Moments::new();
        empty.merge(&moments);
        prop_assert_eq!(&empty, &moments);
        moments.merge(&Moments::new());
        prop_assert_eq!(&empty, &moments);
    }

    #[test]
    fn what_is_added_can_be_taken_away(values in numbers()) {
        let mut sum = sum_of(&values);
        for value in values.iter().rev() {
            sum.add(-value);
        }
        prop_assert!(sum.is_zero());
        prop_assert_eq!(sum, ExactSum::new());
    }

    /// Multiples of 2^-40 up to 2^40 are integers of a common unit, whose sum an i128 holds exactly and rounds correctly.
    #[test]
    fn equals_integer_arithmetic(units in vec(-(1_i64 << 52)..(1_i64 << 52), 1..300)) {
        let unit = 2_f64.powi(-40);
        let values: Vec<f64> = units.iter().map(|&u| u as f64 * unit).collect();
        let total: i128 = units.iter().map(|&u| i128::from(u)).sum();
        prop_assert_eq!(sum_of(&values).to_f64(), total as f64 * unit);
        let mut squares = ExactSum::new();
        values.iter().for_each(|&x| squares.add_product(x, x));
        let total: i128 = units.iter().map(|&u| i128::from(u) * i128::from(u)).sum();
        prop_assert_eq!(squares.to_f64(), total as f64 * unit * unit);
    }

    #[test]
    fn a_repeated_observation_is_one_with_a_count(x in any_finite(), count in 0_u64..500) {
        let mut counted = Moments::new();
        counted.push_times(x, count);
        prop_assert_eq!(counted, moments_of(&vec![x; count as usize]));
    }
}
