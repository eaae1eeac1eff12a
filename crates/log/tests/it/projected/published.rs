//! Figures that others printed or certified, and exact ones, through the public interface.
//! Sources stand beside the numbers.

use crate::projected::recorded::{Results, results};
use errorbar_core::{Plan, Reducers, Registry, Score, ScoreColumns, Value};
use errorbar_stats::distributions::normal_quantile;
use errorbar_stats::exact::Moments;
use errorbar_test_support::published::{Mice, Schools, WILSON, assert_close, binary, data, floats};
use serde_json::Value as Json;

/// The results of metrics over values, one sample each, with a cluster each where given.
fn compute(values: &[Value], clusters: &[Json], metrics: &str) -> Results {
    let mut columns = ScoreColumns::new(["s"]);
    for (at, value) in values.iter().enumerate() {
        let row = columns.push(at.to_string(), 1);
        let row = match clusters.get(at) {
            Some(cluster) => row.metadata("c", cluster.clone()),
            None => row,
        };
        row.score("s", Score::new(value.clone())).unwrap();
    }
    let plan = Plan::new().metrics(Registry::built_in().metrics(&metrics.parse().unwrap()).unwrap());
    let results = results(&columns, &plan.reducers(Reducers::Disabled)).unwrap();
    let failures: Vec<_> = results.scores.iter().flat_map(|b| &b.failures).collect();
    assert!(failures.is_empty(), "{failures:?}");
    results
}

fn figures(values: &[f64], metrics: &str) -> Vec<f64> {
    let values: Vec<Value> = values.iter().map(|v| Value::from(*v)).collect();
    compute(&values, &[], metrics).scores[0].metrics.values().map(|m| m.value).collect()
}

/// Correct digits: the log relative error of NIST.
fn digits(got: f64, want: f64) -> f64 {
    if got == want { 16.0 } else { -((got - want) / want).abs().log10() }
}

fn assert_digits(what: &str, got: f64, want: f64, at_least: f64) {
    assert!(digits(got, want) >= at_least, "{what}: {got} has {:.1} digits of {want}", digits(got, want));
}

#[test]
fn nist_univariate() {
    let alternating = |first: f64, low: f64, high: f64| {
        let mut values = vec![first];
        (0..500).for_each(|_| values.extend([low, high]));
        values
    };
    let pi: Vec<f64> =
        data("pi_digits").as_str().unwrap().bytes().map(|digit| f64::from(digit - b'0')).collect();
    assert_eq!(pi.len(), 5000);
    // (data, certified mean, certified sd, sd of the inputs as rounded to floats, exact, digits of the certified sd that
    // rounding the inputs leaves)
    for (name, values, mean, certified, of_floats, reachable) in [
        ("Lew", floats("lew"), -177.435, 277.332168044316, 277.33216804431613576, 14.0),
        ("Michelso", floats("michelso"), 299.8524, 0.0790105478190518, 0.079010547819050667151, 13.7),
        ("NumAcc1", vec![10000001.0, 10000003.0, 10000002.0], 10000002.0, 1.0, 1.0, 14.0),
        ("NumAcc2", alternating(1.2, 1.1, 1.3), 1.2, 0.1, 0.099999999999999977796, 14.0),
        // Certified 0.1; the deviation of the floats nearest to these decimals, by rational arithmetic, is a little more.
        (
            "NumAcc4",
            alternating(10000000.2, 10000000.1, 10000000.3),
            10000000.2,
            0.1,
            0.10000000055879354477,
            8.2,
        ),
        ("PiDigits", pi, 4.5348, 2.86733906028871, 2.86733906028871, 14.0),
    ] {
        let figures = figures(&values, "[mean, std]");
        assert_digits(&format!("{name} mean"), figures[0], mean, 14.0);
        assert_digits(&format!("{name} sd of the floats"), figures[1], of_floats, 14.0);
        assert_digits(&format!("{name} certified sd"), figures[1], certified, reachable);
    }
}

#[test]
fn clustered_standard_errors() {
    let Schools { scores, districts } = Schools::read();
    let scores: Vec<Value> = scores.into_iter().map(Value::from).collect();
    let districts: Vec<Json> = districts.into_iter().map(Json::from).collect();
    let schools = compute(&scores, &districts, "[mean, stderr, stderr(cluster='c')]");
    let metrics = &schools.scores[0].metrics;
    assert_close(metrics["mean"].value, Schools::MEAN, 1e-12);
    assert_close(metrics["stderr"].value, Schools::STDERR, 1e-12);
    assert_close(metrics["stderr2"].value, Schools::CLUSTERED_STDERR, 1e-12);
    let finite = Schools::of_finite_population(metrics["stderr2"].value);
    assert_close(finite, Schools::PRINTED_STDERR, 5e-4 / 23.0);
    assert_eq!(metrics["stderr2"].metadata.as_ref().unwrap()["clusters"], Schools::DISTRICTS);

    // 0 … 19 in four clusters by remainder: deviations −7.5, −2.5, 2.5, 7.5 per cluster; √(125·4/3)/20 = 0.6455.
    let values: Vec<Value> = (0..20).map(Value::from).collect();
    let clusters: Vec<Json> = (0..20).map(|i| Json::from(i % 4)).collect();
    let remainders = compute(&values, &clusters, "[stderr(cluster='c'), stderr]");
    assert_close(remainders.scores[0].metrics["stderr"].value, 0.6454972243679028, 1e-14);
    assert_close(remainders.scores[0].metrics["stderr2"].value, 1.3228756555322954, 1e-14);

    // All correct: no variance between clusters.
    let ones = vec![Value::from(1); 30];
    let clusters: Vec<Json> = (0..30).map(|i| Json::from(i / 5)).collect();
    assert_eq!(compute(&ones, &clusters, "stderr(cluster='c')").scores[0].metrics["stderr"].value, 0.0);
}

#[test]
fn wilson_intervals() {
    for (correct, n, lower, upper) in WILSON {
        let interval = figures(&binary(correct, n), "ci_wilson");
        assert_close(interval[0], lower, 1e-12);
        assert_close(interval[1], upper, 1e-12);
    }
}

/// The chance that the interval covers p, by exact sums over the binomial distribution.
fn coverage(n: u32, p: f64, interval: impl Fn(u32) -> (f64, f64)) -> f64 {
    let mut log_probability = f64::from(n) * (-p).ln_1p();
    let mut covered = 0.0;
    for x in 0..=n {
        let (lower, upper) = interval(x);
        if (lower..=upper).contains(&p) {
            covered += log_probability.exp();
        }
        log_probability += (f64::from(n - x) / f64::from(x + 1)).ln() + p.ln() - (-p).ln_1p();
    }
    covered
}

#[test]
fn coverage_of_the_intervals() {
    // Brown, Cai and DasGupta 2001, section 2: the textbook interval covers .951, .919, .946 and .928 of the time here.
    for (n, p, wald, wilson) in [
        (17, 0.5, 0.950958, 0.950958),
        (40, 0.5, 0.91931, 0.961523),
        (30, 0.2, 0.946328, 0.963861),
        (98, 0.2, 0.9281, 0.957596),
    ] {
        let z = normal_quantile(0.975);
        let textbook = coverage(n, p, |x| {
            let mean = f64::from(x) / f64::from(n);
            let margin = z * (mean * (1.0 - mean) / f64::from(n)).sqrt();
            (mean - margin, mean + margin)
        });
        assert_close(textbook, wald, 1e-5);
        let ours = coverage(n, p, |x| {
            let interval = figures(&binary(x as usize, n as usize), "ci_wilson");
            (interval[0], interval[1])
        });
        assert_close(ours, wilson, 1e-5);
    }
}

/// The mean over one sample's epochs, reduced.
fn reduced(epochs: &[Vec<f64>], reducer: &str, metrics: &str) -> Vec<f64> {
    let mut columns = ScoreColumns::new(["s"]);
    for (id, scores) in epochs.iter().enumerate() {
        for (epoch, score) in scores.iter().enumerate() {
            columns.push(id.to_string(), epoch as u32 + 1).score("s", Score::new(*score)).unwrap();
        }
    }
    let registry = Registry::built_in();
    let reducers = Reducers::explicit(vec![registry.reducer(&reducer.parse().unwrap()).unwrap()]);
    let plan = Plan::new().metrics(registry.metrics(&metrics.parse().unwrap()).unwrap()).reducers(reducers);
    results(&columns, &plan).unwrap().scores[0].metrics.values().map(|m| m.value).collect()
}

#[test]
fn pass_at_k_and_pass_hat_k() {
    // Chen et al. 2021 and Yao et al. 2024, by exact binomials; (6, 3, 1) is the example of the human-eval README.
    for (n, c, k, at, hat) in [
        (6, 3, 1, 0.5, 0.5),
        (5, 1, 3, 0.6, 0.0),
        (10, 3, 5, 11.0 / 12.0, 0.0),
        (10, 0, 1, 0.0, 0.0),
        (10, 10, 1, 1.0, 1.0),
        (10, 8, 3, 1.0, 0.4666666666666667),
        (200, 1, 100, 0.5, 0.0),
        (200, 10, 10, 0.40854786608141713, 4.4541437266507297e-17),
        (2000, 20, 1000, 0.9999991335665414, 0.0),
        (20, 1, 20, 1.0, 0.0),
        (4, 2, 2, 5.0 / 6.0, 1.0 / 6.0),
        (4, 3, 4, 1.0, 0.0),
        (8, 6, 4, 1.0, 0.21428571428571427),
    ] {
        let sample = [binary(c, n)];
        let close =
            |got: f64, want: f64| assert!((got - want).abs() <= 1e-14 * want, "{n} {c} {k}: {got} {want}");
        close(reduced(&sample, &format!("pass_at_{k}"), "mean")[0], at);
        close(reduced(&sample, &format!("pass_k_{k}"), "mean")[0], hat);
    }
}

#[test]
fn tau_bench_airline() {
    // Successes of gpt-4o in four trials on each of 50 tasks (tau-bench, airline); the README prints .420 .273 .220 .200.
    let successes = [
        0, 1, 1, 0, 0, 1, 1, 1, 0, 0, 0, 1, 4, 2, 0, 2, 1, 1, 4, 0, 4, 3, 0, 0, 4, 0, 2, 2, 0, 1, 2, 2, 0, 0,
        3, 4, 4, 3, 4, 1, 3, 2, 4, 1, 2, 2, 2, 1, 4, 4,
    ];
    let epochs: Vec<Vec<f64>> = successes.iter().map(|c| binary(*c, 4)).collect();
    let hat = [(0.42, 0.05221619109284876), (0.2733333333333333, 0.055483853956683836)];
    let hat_rest = [(0.22, 0.05653245410688394), (0.2, 0.057142857142857155)];
    for (k, (mean, error)) in hat.into_iter().chain(hat_rest).enumerate() {
        let figures = reduced(&epochs, &format!("pass_k_{}", k + 1), "[mean, stderr]");
        assert_close(figures[0], mean, 1e-14);
        assert_close(figures[1], error, 1e-13);
    }
    for (k, mean) in [0.42, 0.5666666666666665, 0.66, 0.72].into_iter().enumerate() {
        assert_close(reduced(&epochs, &format!("pass_at_{}", k + 1), "mean")[0], mean, 1e-14);
    }
}

#[test]
fn epochs_are_reduced_before_the_error_is_taken() {
    // Question means 2/3, 1/3, 1, 0: variance 0.185, over 4 questions; pooling all 12 answers would give 0.1508.
    let epochs = [[1.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 1.0, 1.0], [0.0, 0.0, 0.0]].map(Vec::from);
    let figures = reduced(&epochs, "mean", "[mean, stderr]");
    assert_eq!(figures[0], 0.5);
    assert_close(figures[1], 0.21516574145596762, 1e-14);
}

#[test]
fn krippendorff_of_the_wikipedia_example() {
    let n: Option<i64> = None;
    let raters = [
        [n, n, n, n, n, Some(3), Some(4), Some(1), Some(2), Some(1), Some(1), Some(3), Some(3), n, Some(3)],
        [Some(1), n, Some(2), Some(1), Some(3), Some(3), Some(4), Some(3), n, n, n, n, n, n, n],
        [
            n,
            n,
            Some(2),
            Some(1),
            Some(3),
            Some(4),
            Some(4),
            n,
            Some(2),
            Some(1),
            Some(1),
            Some(3),
            Some(3),
            n,
            Some(4),
        ],
    ];
    let units: Vec<Value> = (0..15).map(|u| Value::list(raters.iter().filter_map(|r| r[u]))).collect();
    let alpha = |spec: &str| compute(&units, &[], spec).scores[0].metrics["krippendorff_alpha"].value;
    // Exact rationals 56/81 and 643/793; printed as .691358 and .810845.
    assert_close(alpha("krippendorff_alpha"), 56.0 / 81.0, 1e-14);
    assert_close(alpha("krippendorff_alpha('interval')"), 643.0 / 793.0, 1e-14);
}

#[test]
fn bootstrap_of_the_mouse_data() {
    // Efron and Tibshirani 1993, Table 2.1: the ideal bootstrap error of the mean is 23.36; 20,000 draws come within 3 %.
    let figures = figures(
        &Mice::DAYS,
        "[mean, stderr, bootstrap_stderr(num_samples=20000), ci(method='bootstrap', num_samples=20000)]",
    );
    assert_close(figures[0], 86.85714285714286, 1e-15);
    assert_close(figures[1], Mice::STDERR, 1e-14);
    assert_close(figures[2], 23.3635234372996, 0.03);
    assert_close(figures[3], Mice::BOOTSTRAP.0, 0.03);
    assert_close(figures[4], Mice::BOOTSTRAP.1, 0.03);
}

#[test]
fn macro_average() {
    // Groups {1, 1, 4} and {2, 6}: means 2 and 4, their mean 3.
    let values: Vec<Value> = [1, 1, 4, 2, 6].map(Value::from).into();
    let groups: Vec<Json> = ["a", "a", "a", "b", "b"].map(Json::from).into();
    let results = compute(&values, &groups, "grouped(mean(), 'c', all='groups')");
    let got: Vec<f64> = results.scores[0].metrics.values().map(|m| m.value).collect();
    assert_eq!(got, [2.0, 4.0, 3.0]);
}

#[test]
fn merged_moments() {
    // Pébay 2008: 1, 2, 4, 8 and 3, 9, 27 merged have mean 54/7 and M2 = 3412/7.
    let mut moments = Moments::default();
    moments.extend(&[1.0, 2.0, 4.0, 8.0]);
    let mut more = Moments::default();
    more.extend(&[3.0, 9.0, 27.0]);
    moments.merge(&more);
    assert_eq!(moments.mean(), Some(54.0 / 7.0));
    assert_eq!(moments.variance(), Some(3412.0 / 42.0));
}

#[test]
fn darwins_maize() {
    let differences =
        [49.0, -67.0, 8.0, 16.0, 6.0, 23.0, 28.0, 41.0, 14.0, 29.0, 56.0, 24.0, 75.0, 60.0, -48.0];
    let figures = figures(&differences, "[mean, stderr, ci]");
    assert_close(figures[0], 20.933333333333334, 1e-15);
    assert_close(figures[1], 9.745556578044837, 1e-14);
    // t = 2.148 (Fisher 1935), just beyond the quantile 2.1447866879 of 14 degrees of freedom: the interval leaves 0 out.
    assert_close(figures[2], 20.933333333333334 - 2.144786687917804 * 9.745556578044837, 1e-12);
    assert!(figures[2] > 0.0);
}
