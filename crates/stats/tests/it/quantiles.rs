//! Quantiles against a table made with mpmath (`data/quantiles.py`), and against their own distribution functions.

use errorbar_stats::distributions::{normal_cdf, normal_quantile, normal_survival, t_cdf, t_quantile};
use serde_json::Value;

use crate::accuracy::{assert_stated, relative};

struct Row {
    df: f64,
    p: f64,
    quantile: f64,
}

fn table(name: &str) -> Vec<Row> {
    let table: Value = serde_json::from_str(include_str!("../data/quantiles.json")).expect("valid");
    let number = |row: &Value, key: &str| row[key].as_str().map(|s| s.parse::<f64>().expect(key));
    let rows = table[name].as_array().expect("rows");
    rows.iter()
        .map(|row| Row {
            df: number(row, "df").unwrap_or(f64::INFINITY),
            p: number(row, "p").expect("p"),
            quantile: number(row, "quantile").expect("quantile"),
        })
        .collect()
}

/// The largest error over the rows of a table.
fn worst(rows: &[Row], quantile: impl Fn(&Row) -> f64) -> f64 {
    rows.iter().map(|row| relative(quantile(row), row.quantile)).max_by(f64::total_cmp).expect("a row")
}

#[test]
fn quantiles_equal_the_table() {
    let (normal, t) = (table("normal"), table("t"));
    assert_stated("`normal_quantile`", normal.len(), worst(&normal, |row| normal_quantile(row.p)));
    assert_stated("`t_quantile`", t.len(), worst(&t, |row| t_quantile(row.p, row.df)));
}

#[test]
fn distribution_functions_return_the_probability() {
    for (name, rows) in [("normal", table("normal")), ("t", table("t"))] {
        for Row { df, p, quantile } in rows {
            let lower = |x: f64| if df.is_infinite() { normal_cdf(x) } else { t_cdf(x, df) };
            // Rounding t to an f64 changes a tail like the normal's by up to t²·ε ≈ −2·ln(p)·ε of itself.
            let tolerance = 1e-15 * (4.0 - 2.0 * p.ln());
            let error = relative(lower(quantile), p);
            assert!(error <= tolerance, "{name}, p {p:e}, df {df}: off by {error:e}");
        }
    }
}

#[test]
fn quantiles_and_distribution_functions_are_inverse() {
    // Between the points of the table, fractional degrees of freedom included.
    let degrees = [0.7, 1.0, 1.001, 2.0, 2.5, 6.0, 21.3, 22.0, 57.0, 1234.5, 8e6, 1e12, f64::INFINITY];
    // A tail of a twentieth may be what a central probability with an error of 5e-16 leaves of one half.
    const TOLERANCE: f64 = 1e-14;
    for df in degrees {
        for i in 1..400 {
            let p = f64::from(i) / 801.0;
            let t = t_quantile(p, df);
            assert!(relative(t_cdf(t, df), p) < TOLERANCE, "p {p}, df {df}");
            assert!(relative(t_cdf(-t, df), 1.0 - p) < TOLERANCE, "p {p}, df {df}");
        }
    }
}

#[test]
fn far_tails_of_the_normal() {
    // mpmath: erfc(z/√2)/2
    let expected = [
        (10.0, 7.619_853_024_160_526e-24),
        (-1.5, 0.933_192_798_731_141_9),
        (37.5, 4.605_353_009_581_955e-308),
        (39.0, 0.0),
    ];
    for (z, p) in expected {
        let actual = normal_survival(z);
        assert!(actual == p || relative(actual, p) < 1e-15, "{z}: {actual:e}");
        assert_eq!(normal_cdf(-z), actual);
    }
}

#[test]
fn ends_and_nonsense() {
    for df in [0.5, 1.0, 2.0, 7.0, f64::INFINITY] {
        assert_eq!(t_quantile(0.0, df), f64::NEG_INFINITY);
        assert_eq!(t_quantile(1.0, df), f64::INFINITY);
        assert_eq!(t_quantile(0.5, df), 0.0);
        assert_eq!(t_cdf(f64::INFINITY, df), 1.0);
        assert_eq!(t_cdf(f64::NEG_INFINITY, df), 0.0);
        assert_eq!(t_cdf(0.0, df), 0.5);
        for p in [-0.1, 1.1, f64::NAN] {
            assert!(t_quantile(p, df).is_nan() && normal_quantile(p).is_nan());
        }
        assert!(t_cdf(f64::NAN, df).is_nan());
    }
    for df in [0.0, -1.0, f64::NAN] {
        assert!(t_quantile(0.9, df).is_nan() && t_cdf(1.0, df).is_nan());
    }
}
