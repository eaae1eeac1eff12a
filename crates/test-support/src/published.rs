//! Data and figures that others published or certified. Sources stand beside the numbers.

use serde_json::Value as Json;

/// A data set of `data/published.json`.
pub fn data(key: &str) -> Json {
    let json: Json = serde_json::from_str(include_str!("../data/published.json")).unwrap();
    json[key].clone()
}

/// A data set of numbers.
pub fn floats(key: &str) -> Vec<f64> {
    data(key).as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
}

/// Zeros and ones: `correct` ones, then zeros.
pub fn binary(correct: usize, n: usize) -> Vec<f64> {
    (0..n).map(|at| f64::from(u8::from(at < correct))).collect()
}

/// Panics unless two figures differ by at most a tolerance, relative to the expected one if that is large.
#[track_caller]
pub fn assert_close(got: f64, expected: f64, tolerance: f64) {
    assert!((got - expected).abs() <= tolerance * expected.abs().max(1.0), "{got}, expected {expected}");
}

/// Wilson intervals at 95 %: correct, n, lower end, upper end.
pub const WILSON: [(usize, usize, f64, f64); 12] = [
    // Newcombe (1998), Statistics in Medicine 17, table I: .2553–.3662, .0624–.1605, 0–.1611, .0061–.1718.
    (81, 263, 0.2552885198782742, 0.36620957698280004),
    (15, 148, 0.06238639953073628, 0.16048724172330803),
    (0, 20, 0.0, 0.1611251580528194),
    (1, 29, 0.006113214292762667, 0.17175521879320294),
    // Computed by statsmodels and scipy.
    (0, 1, 0.0, 0.7934506856227627),
    (1, 1, 0.2065493143772374, 1.0),
    (0, 10, 0.0, 0.27753279986288926),
    (10, 10, 0.7224672001371106, 1.0),
    (1, 10, 0.017876213095072924, 0.40415002679523854),
    (5, 10, 0.23659309051256394, 0.7634069094874361),
    (8, 10, 0.49016247153664183, 0.9433178485456247),
    (38, 38, 0.9081901317744162, 1.0),
];

/// Schools in 15 districts (apiclus1 of the R package survey), with figures in exact arithmetic.
#[derive(Debug)]
pub struct Schools {
    /// The score of each school.
    pub scores: Vec<f64>,
    /// Its district.
    pub districts: Vec<i64>,
}

impl Schools {
    /// The number of districts.
    pub const DISTRICTS: u64 = 15;
    /// The mean of the scores.
    pub const MEAN: f64 = 644.1693989071039;
    /// The standard error of the mean of independent scores.
    pub const STDERR: f64 = 7.817181159629602;
    /// The standard error clustered by district, CR1.
    pub const CLUSTERED_STDERR: f64 = 23.77901072088686;
    /// What `svymean(~api00)` prints as SE, with a finite population of 757 clusters.
    pub const PRINTED_STDERR: f64 = 23.542;
    /// The same with the replicate weights JK1, which leave out one district at a time.
    pub const PRINTED_JACKKNIFE: f64 = 26.335;

    /// The data.
    pub fn read() -> Self {
        let districts =
            data("apiclus1_cluster").as_array().unwrap().iter().map(|x| x.as_i64().unwrap()).collect();
        Schools { scores: floats("apiclus1_score"), districts }
    }

    /// A clustered error as `svymean` prints it, for a finite population.
    pub fn of_finite_population(stderr: f64) -> f64 {
        stderr * (1.0 - Self::DISTRICTS as f64 / 757.0).sqrt()
    }
}

/// Lifetimes of mice: Efron and Tibshirani (1993), table 2.1.
#[derive(Debug)]
pub struct Mice;

impl Mice {
    /// The lifetimes.
    pub const DAYS: [f64; 7] = [94.0, 197.0, 16.0, 38.0, 99.0, 141.0, 23.0];
    /// The standard error of their mean.
    pub const STDERR: f64 = 25.235489533052238;
    /// The percentiles 2.5 and 97.5 of the means of all resamples; printed as 43.43 and 134.43.
    pub const BOOTSTRAP: (f64, f64) = (43.42857142857143, 134.42857142857142);
}
