//! Special functions against a table made with mpmath (`data/special.py`), and against each other.

use errorbar_stats::distributions::{
    beta_cdf, beta_quantile, beta_survival, beta_survival_quantile, binomial_cdf, binomial_pmf,
    binomial_survival, ln_gamma, noncentral_t_cdf, normal_cdf, normal_survival, t_cdf, t_quantile,
    t_survival,
};
use proptest::prelude::*;
use serde_json::Value;

use crate::accuracy::{assert_stated, relative};

fn rows(name: &str) -> Vec<Value> {
    let table: Value = serde_json::from_str(include_str!("../data/special.json")).expect("valid");
    table[name].as_array().expect("rows").clone()
}

fn number(row: &Value, key: &str) -> f64 {
    row[key].as_str().and_then(|text| text.parse().ok()).expect("a number as a string")
}

fn count(row: &Value, key: &str) -> u64 {
    row[key].as_u64().expect("a count")
}

/// Asserts that the largest error over the rows of a table is the one that the README states for these functions.
fn assert_worst(functions: &str, name: &str, error: impl Fn(&Value) -> f64) {
    let rows = rows(name);
    let worst = rows.iter().map(error).max_by(f64::total_cmp).expect("a row");
    assert_stated(functions, rows.len(), worst);
}

#[test]
fn beta_functions_equal_the_table() {
    assert_worst("`beta_cdf`, `beta_survival`", "beta", |row| {
        let (x, a, b) = (number(row, "x"), number(row, "a"), number(row, "b"));
        relative(beta_cdf(x, a, b), number(row, "cdf"))
            .max(relative(beta_survival(x, a, b), number(row, "survival")))
    });
}

#[test]
fn beta_quantiles_equal_the_table() {
    assert_worst("`beta_quantile`", "beta_quantile", |row| {
        relative(beta_quantile(number(row, "p"), number(row, "a"), number(row, "b")), number(row, "value"))
    });
}

#[test]
fn binomial_functions_equal_the_table() {
    assert_worst("`binomial_pmf`, `binomial_cdf`, `binomial_survival`", "binomial", |row| {
        let (k, n, p) = (count(row, "k"), count(row, "n"), number(row, "p"));
        relative(binomial_pmf(k, n, p), number(row, "pmf"))
            .max(relative(binomial_cdf(k, n, p), number(row, "cdf")))
            .max(relative(binomial_survival(k, n, p), number(row, "survival")))
    });
}

#[test]
fn student_t_equals_the_table() {
    assert_worst("`t_cdf`, `t_survival`", "t", |row| {
        let (t, df) = (number(row, "t"), number(row, "df"));
        let (cdf, survival) = (number(row, "cdf"), number(row, "survival"));
        relative(t_cdf(t, df), cdf)
            .max(relative(t_survival(t, df), survival))
            .max(relative(t_cdf(-t, df), survival))
    });
}

#[test]
fn published_quantiles_of_students_t() {
    let published = [
        (1.0, 12.706204736174694),
        (2.0, 4.302652729749462),
        (4.0, 2.7764451051977934),
        (9.0, 2.262157162798205),
        (14.0, 2.144786687917804),
        (29.0, 2.045229642132703),
    ];
    for (df, expected) in published {
        assert!(relative(t_quantile(0.975, df), expected) < 1e-10, "df {df}");
    }
}

#[test]
fn normal_equals_the_table() {
    assert_worst("`normal_cdf`, `normal_survival`", "normal", |row| {
        let z = number(row, "z");
        relative(normal_cdf(z), number(row, "cdf")).max(relative(normal_survival(z), number(row, "survival")))
    });
}

#[test]
fn ln_gamma_equals_the_table() {
    assert_worst("`ln_gamma`", "ln_gamma", |row| relative(ln_gamma(number(row, "x")), number(row, "value")));
}

#[test]
fn noncentral_t_equals_the_table() {
    assert_worst("`noncentral_t_cdf`", "noncentral_t", |row| {
        let (t, df, delta) = (number(row, "t"), number(row, "df"), number(row, "delta"));
        (noncentral_t_cdf(t, df, delta) - number(row, "cdf")).abs()
    });
}

#[test]
fn noncentral_t_without_noncentrality_is_students() {
    for df in [0.7, 3.0, 40.5, 1e5] {
        for t in [-30.0, -2.0, -0.1, 0.0, 0.4, 1.9, 8.0] {
            assert!((noncentral_t_cdf(t, df, 0.0) - t_cdf(t, df)).abs() < 1e-13, "t {t}, df {df}");
        }
    }
}

#[test]
fn probabilities_of_a_binomial_sum_to_its_distribution_function() {
    for (n, p) in [(1, 0.3), (17, 0.5), (40, 0.98), (100, 0.003)] {
        let mut sum = 0.0;
        for k in 0..=n {
            sum += binomial_pmf(k, n, p);
            assert!((sum - binomial_cdf(k, n, p)).abs() < 1e-14, "k {k}, n {n}, p {p}");
        }
    }
}

#[test]
fn ends_of_the_range_and_parameters_that_are_none() {
    for (a, b) in [(0.5, 0.5), (1.0, 1.0), (3.0, 1e6)] {
        assert_eq!((beta_cdf(0.0, a, b), beta_cdf(1.0, a, b)), (0.0, 1.0));
        assert_eq!((beta_survival(-1.0, a, b), beta_survival(2.0, a, b)), (1.0, 0.0));
        assert_eq!((beta_quantile(0.0, a, b), beta_quantile(1.0, a, b)), (0.0, 1.0));
        assert_eq!((beta_survival_quantile(0.0, a, b), beta_survival_quantile(1.0, a, b)), (1.0, 0.0));
        assert!(beta_cdf(f64::NAN, a, b).is_nan() && beta_quantile(1.5, a, b).is_nan());
    }
    for (a, b) in [(0.0, 1.0), (1.0, -1.0), (f64::NAN, 1.0), (1.0, f64::INFINITY)] {
        assert!(beta_cdf(0.5, a, b).is_nan() && beta_quantile(0.5, a, b).is_nan());
    }
    assert_eq!((binomial_pmf(0, 0, 0.4), binomial_cdf(0, 0, 0.4)), (1.0, 1.0));
    assert_eq!((binomial_pmf(0, 3, 0.0), binomial_pmf(3, 3, 1.0), binomial_pmf(4, 3, 0.5)), (1.0, 1.0, 0.0));
    assert_eq!((binomial_cdf(1, 3, 1.0), binomial_cdf(0, 3, 0.0)), (0.0, 1.0));
    assert!(binomial_cdf(1, 3, 1.5).is_nan() && binomial_pmf(1, 3, f64::NAN).is_nan());
    assert!(noncentral_t_cdf(1.0, 0.0, 1.0).is_nan() && noncentral_t_cdf(1.0, 3.0, f64::INFINITY).is_nan());
    assert_eq!(noncentral_t_cdf(f64::INFINITY, 3.0, 1.0), 1.0);
    assert_eq!(noncentral_t_cdf(1.0, f64::INFINITY, 1.0), 0.5);
}

/// A parameter from 0.5 to a million, as likely in each decade.
fn shape() -> impl Strategy<Value = f64> {
    (-0.3..6.0_f64).prop_map(power_of_ten)
}

fn power_of_ten(exponent: f64) -> f64 {
    10.0_f64.powf(exponent)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn beta_quantiles_return_through_the_distribution_function(
        a in shape(),
        b in shape(),
        exponent in 0.31..10.0_f64,
        upper in any::<bool>(),
    ) {
        let tail = power_of_ten(-exponent);
        let x = if upper { beta_survival_quantile(tail, a, b) } else { beta_quantile(tail, a, b) };
        prop_assert!((0.0..=1.0).contains(&x));
        let back = if upper { beta_survival(x, a, b) } else { beta_cdf(x, a, b) };
        // Rounding x to an f64 changes the tail by the slope of its logarithm times ε.
        let slope = (a.max(b) * 10.0).max(1.0) / (1.0 - x).clamp(f64::EPSILON, 1.0);
        prop_assert!(
            relative(back, tail) < 1e-11 + 4.0 * f64::EPSILON * slope,
            "a {a}, b {b}, tail {tail:e}: {x:e} has {back:e}",
        );
    }

    #[test]
    fn both_tails_of_a_beta_distribution_sum_to_one(a in shape(), b in shape(), x in 0.0..1.0_f64) {
        let (lower, upper) = (beta_cdf(x, a, b), beta_survival(x, a, b));
        prop_assert!((lower + upper - 1.0).abs() <= f64::EPSILON);
        // I_x(a, b) = 1 − I_{1−x}(b, a), where 1 − x is exact.
        if x >= 0.5 {
            prop_assert!(relative(beta_survival(1.0 - x, b, a), lower) < 1e-14 || lower < 1e-300);
        }
    }

    #[test]
    fn t_quantiles_return_through_the_distribution_function(
        exponent in -0.5..7.0_f64,
        p in 1e-10..0.5_f64,
    ) {
        let df = power_of_ten(exponent);
        let t = t_quantile(p, df);
        prop_assert!(relative(t_cdf(t, df), p) < 1e-12, "df {df}, p {p}");
        prop_assert!(relative(t_survival(-t, df), p) < 1e-12, "df {df}, p {p}");
    }
}
