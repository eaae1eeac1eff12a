//! Errors and intervals against figures that others printed, and against a brute-force computation with matrices in numpy.

use errorbar_core::{ErrorMethod, ErrorPlan, IntervalMethod, Undefined};
use errorbar_test_support::published::{Mice, Schools, WILSON};

use super::{assert_close, assert_interval, binary, clustered, estimate, of, plan, rows};

/// R's `survey` prints mean 644.17 and SE 23.542 for `svymean(~api00)` of apiclus1 with a finite population of 757 clusters. The
/// other figures: the definitions in exact arithmetic.
#[test]
fn schools_by_district() {
    let Schools { scores, districts } = Schools::read();
    for (method, se, df) in [
        ("CR0", 22.97270686720328, 14.0),
        ("CR1", Schools::CLUSTERED_STDERR, 14.0),
        ("CR2", 25.11684961429162, 7.504411337967325),
        ("CR3", 27.533319491979892, 7.504411337967325),
    ] {
        let schools = clustered(&format!(r#"{{"method": "{method}"}}"#), &scores, &districts);
        let error = schools.error.clone().unwrap();
        assert_close(error.se, se, 1e-14);
        assert_close(error.df, df, 1e-14);
        assert_eq!((error.method.name(), error.clusters, error.degenerate), (method, vec![15], false));
        assert_close(schools.value.clone().unwrap(), Schools::MEAN, 1e-15);
        let effect = se / Schools::STDERR;
        assert_close(schools.notes.design_effect.unwrap(), effect * effect, 1e-13);
        // The t quantile for 7.504411337967325 degrees of freedom is 2.332782758192434, for 14 it is 2.144786687917804.
        let margin = if df == 14.0 { 2.144786687917804 } else { 2.332782758192434 } * se;
        assert_interval(&schools, Schools::MEAN - margin, Schools::MEAN + margin, 1e-13);
    }
    let cr1 = clustered(r#"{"method": "CR1"}"#, &scores, &districts).stderr().unwrap();
    let finite = Schools::of_finite_population(cr1);
    assert!((finite - Schools::PRINTED_STDERR).abs() < 0.0005, "{finite}");
    assert_close(of(&ErrorPlan::new(), &scores).stderr().unwrap(), Schools::STDERR, 1e-15);
}

/// Newcombe (1998), Statistics in Medicine 17, table I (95 %), and rows at the edges.
#[test]
fn wilson_of_zeros_and_ones() {
    for (correct, n, lower, upper) in WILSON {
        let share = of(&ErrorPlan::new(), &binary(correct, n));
        assert_interval(&share, lower, upper, 1e-13);
        let interval = share.interval.unwrap();
        assert_eq!((interval.method, interval.df), (IntervalMethod::Wilson, None));
        assert_eq!(share.notes.reason.as_deref(), Some("auto: wilson (0/1 scores)"));
        assert_eq!((share.n, share.notes.effective_n), (n as u64, None));
        if n == 1 {
            assert_eq!(share.error, Err(Undefined::TooFewScores { n: 1 }));
        }
    }
}

/// Clusters of the sizes 1, 2, 9, 4, 3, 6, 1, 12.
pub(crate) fn clusters() -> Vec<i64> {
    let sizes = [1, 2, 9, 4, 3, 6, 1, 12];
    sizes.iter().enumerate().flat_map(|(g, n)| std::iter::repeat_n(g as i64, *n)).collect()
}

pub(crate) const BINARY: [u8; 38] = [
    1, 1, 1, 0, 0, 1, 1, 1, 1, 1, 0, 1, 1, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 1, 1, 1, 0, 0, 1, 0, 0, 0, 1,
    1, 0, 0,
];
pub(crate) const GRADED: [f64; 38] = [
    0.67, 0.77, 0.67, 1.0, 0.83, 0.21, 0.84, 0.78, 0.63, 0.8, 0.81, 0.58, 0.55, 0.31, 0.38, 0.42, 0.57, 0.42,
    0.43, 0.0, 0.0, 0.0, 0.0, 0.02, 0.0, 0.41, 0.5, 0.56, 0.48, 0.25, 0.46, 0.24, 0.16, 0.54, 0.48, 0.68,
    0.66, 0.25,
];
pub(crate) const UNBOUNDED: [f64; 38] = [
    14.064, 10.022, 14.205, 8.443, 13.145, 9.272, 12.323, 12.705, 9.374, 8.434, 9.629, 10.114, 8.899, 11.335,
    9.499, 7.221, 5.979, 8.732, 6.657, 1.481, 0.236, -0.28, 2.419, 2.779, 0.095, 8.331, 10.319, 8.332,
    10.362, 6.8, 7.549, 9.537, 12.626, 9.039, 9.443, 5.939, 8.756, 8.107,
];
/// The second way of clustering.
pub(crate) const OTHER: [i64; 38] = [
    1, 0, 1, 1, 2, 3, 1, 2, 3, 3, 0, 4, 1, 3, 4, 1, 0, 2, 3, 0, 3, 0, 3, 0, 2, 0, 4, 4, 1, 3, 4, 0, 4, 0, 0,
    3, 4, 1,
];
/// Bell and McCaffrey's degrees of freedom: (tr Ω)²/tr Ω² with the matrix Ω written out.
pub(crate) const DF: f64 = 4.021518380355636;

/// CR2 and CR3 from the matrices (I − H_gg)^(−½) and (I − H_gg)^(−1), by numpy.linalg.
#[test]
fn brute_force_with_matrices() {
    let binary: Vec<f64> = BINARY.iter().map(|x| f64::from(*x)).collect();
    for (values, errors) in [
        (&binary[..], [0.10746351657213753, 0.11488333159738351, 0.11791214978553777, 0.12990489747494088]),
        (&GRADED, [0.09639619547602556, 0.10305186767422166, 0.10718654926191058, 0.11936611491136885]),
        (&UNBOUNDED, [1.2845284777492427, 1.3732187049405546, 1.4121226524422328, 1.5550746262905586]),
    ] {
        for (method, se) in ["CR0", "CR1", "CR2", "CR3"].iter().zip(errors) {
            let error =
                clustered(&format!(r#"{{"method": "{method}"}}"#), values, &clusters()).error.unwrap();
            assert_close(error.se, se, 1e-12);
            assert_close(error.df, if *method < "CR2" { 7.0 } else { DF }, 1e-12);
        }
    }
    let share = clustered("{}", &binary, &clusters());
    assert_interval(&share, 0.24494095496585477, 0.7919137457706801, 1e-10);
    assert_close(share.notes.design_effect.unwrap(), 2.0634005007838665, 1e-12);
    // Wilson's own number, 17.93156490266627, is in the reason.
    assert_close(share.notes.effective_n.unwrap(), 38.0 / 2.0634005007838665, 1e-12);
    assert_eq!(share.notes.largest_cluster_share, Some(12.0 / 38.0));
    assert_eq!(share.notes.reason.as_deref(), Some("auto: wilson on effective n 17.9"));
    assert_eq!(share.error.unwrap().method.name(), "CR2", "the default with clusters");
    let mean = clustered("{}", &GRADED, &clusters());
    assert_interval(&mean, 0.21282735156986496, 0.723490423782424, 1e-10);
    assert_close(mean.notes.effective_n.unwrap(), 38.0 / mean.notes.design_effect.unwrap(), 1e-12);
    assert_eq!(mean.notes.reason.as_deref(), Some("auto: wilson on effective n 21.6"));
    let mean = clustered("{}", &UNBOUNDED, &clusters());
    assert_interval(&mean, 4.296052443908042, 12.120894924513006, 1e-10);
    assert_eq!(mean.notes.reason.as_deref(), Some("auto: t (range unknown)"));
    // Independent graded scores have more than their number: no cap.
    let mean = of(&ErrorPlan::new(), &GRADED);
    assert_interval(&mean, 0.36858496219536774, 0.547894621840012, 1e-10);
    assert_close(mean.notes.effective_n.unwrap(), 122.66317297123248, 1e-12);
    assert_eq!(mean.interval.unwrap().df, Some(37.0));
}

/// V_a + V_b − V_ab, each CR2 from matrices as above; the degrees of freedom are the smaller ones.
#[test]
fn two_ways_of_clustering() {
    let binary: Vec<f64> = BINARY.iter().map(|x| f64::from(*x)).collect();
    let both = ErrorPlan::new().cluster("a").cluster("b");
    for (values, se) in
        [(&binary[..], 0.08947483864473339), (&GRADED, 0.1022619645242672), (&UNBOUNDED, 1.4327330363588442)]
    {
        let mean = estimate(&both, &rows(values, &clusters(), &OTHER));
        let error = mean.error.unwrap();
        assert_close(error.se, se, 1e-12);
        assert_close(error.df, 3.670042333052027, 1e-12);
        assert_eq!((error.method.name(), error.clusters), ("CR2", vec![8, 5]));
        assert!(!mean.notes.reason.unwrap().contains("two-way"));
    }
    // Clustered by a key that distinguishes all scores as well, nothing changes: V_b = V_ab.
    let distinct: Vec<i64> = (0..38).collect();
    let two = estimate(&both, &rows(&UNBOUNDED, &clusters(), &distinct)).error.unwrap();
    assert_close(two.se, 1.4121226524422328, 1e-12);
}

/// Rows and columns of a checkerboard all have the same mean; the cells do not.
#[test]
fn a_two_way_variance_below_zero_is_replaced_with_a_note() {
    let cells = [(0, 0), (0, 1), (1, 0), (1, 1)].repeat(2);
    let values: Vec<f64> = cells.iter().map(|(a, b)| f64::from((a + b) % 2) * 10.0).chain([1.0]).collect();
    let (a, b): (Vec<i32>, Vec<i32>) = cells.into_iter().chain([(0, 0)]).unzip();
    let both = ErrorPlan::new().cluster("a").cluster("b");
    let mean = estimate(&both, &rows(&values, &a, &b));
    let first = estimate(&ErrorPlan::new().cluster("a"), &rows(&values, &a, &b));
    assert_close(mean.stderr().unwrap(), first.stderr().unwrap(), 1e-14);
    let reason = mean.notes.reason.unwrap();
    assert!(reason.contains("two-way variance is not positive"), "{reason}");
}

/// Independent scores: two million resamples in numpy, ends by the inverse of the distribution function.
#[test]
fn bootstraps() {
    let skewed = [0.1, 0.2, 0.25, 0.3, 0.5, 0.7, 1.1, 1.3, 2.2, 4.0, 9.5, 3.1];
    let auto = of(&ErrorPlan::new(), &skewed);
    assert_interval(&auto, 0.7429834379503155, 5.9960345590497495, 0.03);
    assert_eq!(auto.notes.reason.as_deref(), Some("auto: bootstrap_t (skewed, n < 50)"));
    assert_eq!(auto.interval.clone().unwrap().method, IntervalMethod::BootstrapT);
    let draws = auto.draws.unwrap();
    assert_eq!((draws.seed, draws.count), (7, 10_000));
    let explicit = of(&plan(r#"{"interval": "bootstrap_t"}"#), &skewed);
    assert_eq!(explicit.interval, auto.interval);
    let many = of(&plan(r#"{"interval": "bootstrap_t", "draws": 200000}"#), &skewed);
    assert_interval(&many, 0.7429834379503155, 5.9960345590497495, 0.01);
    let percentiles = of(&plan(r#"{"interval": "bootstrap", "draws": 200000}"#), &skewed);
    assert_interval(&percentiles, 0.74166667, 3.58333333, 0.01);
    let by_cluster = |interval: &str| {
        clustered(&format!(r#"{{"interval": "{interval}", "draws": 200000}}"#), &UNBOUNDED, &clusters())
    };
    // All 6,435 resamples of the eight clusters, with their chances.
    assert_interval(&by_cluster("bootstrap"), 5.107428571428571, 10.290173913043478, 0.015);
    assert_interval(&by_cluster("bootstrap_t"), 1.2577477747500563, 10.581515818226801, 0.04);
    let mice = of(&plan(r#"{"interval": "bootstrap"}"#), &Mice::DAYS);
    assert_interval(&mice, Mice::BOOTSTRAP.0, Mice::BOOTSTRAP.1, 0.02);
    assert_close(mice.stderr().unwrap(), Mice::STDERR, 1e-15);
    assert_eq!(mice.error.unwrap().method, ErrorMethod::Iid);
}

#[test]
fn quantiles_by_the_inverse_distribution_function() {
    use errorbar_stats::descriptive::quantile_inverse;
    let numbers: Vec<f64> = (1..=1000).map(f64::from).collect();
    // (1 − 0.95)/2 is 0.025000000000000022: the 25th of a thousand, not the 26th.
    assert_eq!(quantile_inverse(&numbers, (1.0 - 0.95) / 2.0), 25.0);
    assert_eq!(quantile_inverse(&numbers, 0.975), 975.0);
    assert_eq!(
        [0.0, 0.0001, 0.5, 0.5001, 1.0].map(|q| quantile_inverse(&numbers, q)),
        [1.0, 1.0, 500.0, 501.0, 1000.0]
    );
    assert!(quantile_inverse(&[], 0.5).is_nan());
}
