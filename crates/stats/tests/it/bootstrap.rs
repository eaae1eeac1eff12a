//! Resampled means: their distribution, and that nothing but the seed and the data decides them.

use errorbar_stats::descriptive::{quantile_linear, standard_deviation};
use errorbar_stats::exact::ExactSum;
use errorbar_stats::resampling::{ClusterTotal, ResampledMeans, resampled_means};

fn clustered_resampled_means(clusters: &[ClusterTotal], num_samples: usize, seed: u64) -> Vec<f64> {
    ResampledMeans::of_clusters(clusters).map(|means| means.all(num_samples, seed)).unwrap_or_default()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// √Σ(x − x̄)²/n, which the standard deviation of infinitely many resampled means would be.
fn ideal_stderr(values: &[f64]) -> f64 {
    standard_deviation(values) / (values.len() as f64).sqrt()
}

/// A fixed sequence of numbers between 0 and 1 that look random: multiples of the golden ratio, folded.
fn scattered(n: usize) -> Vec<f64> {
    let fraction = |i: usize| (i as f64 * 0.618_033_988_749_894_9).fract();
    (1..=n).map(fraction).map(|x| x * x).collect()
}

/// Binary, three-valued with long runs, three-valued with short ones, continuous in one block, in several, and a mixture.
fn data_sets() -> Vec<(&'static str, Vec<f64>)> {
    let pick = |n: usize, values: &[f64]| -> Vec<f64> {
        let index = |x: f64| (x.sqrt() * values.len() as f64) as usize;
        scattered(n).into_iter().map(|x| values[index(x)]).collect()
    };
    let mut mixture = scattered(700);
    mixture.extend([0.0; 900]);
    vec![
        ("binary", pick(1000, &[0.0, 1.0, 0.0])),
        ("two values", pick(90, &[-3.7, 1e4])),
        ("three long runs", pick(2000, &[0.0, 0.5, 1.0])),
        ("three short runs", pick(60, &[0.0, 0.5, 1.0])),
        ("one block", scattered(100)),
        ("several blocks", scattered(1500)),
        ("runs and blocks", mixture),
    ]
}

fn thread_pool(threads: usize) -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads")
}

/// Σ (observed − expected)²/expected.
fn chi_square(observed: &[u64], probabilities: &[f64]) -> f64 {
    let total: u64 = observed.iter().sum();
    let expected = probabilities.iter().map(|p| p * total as f64);
    observed.iter().zip(expected).map(|(&o, e)| (o as f64 - e).powi(2) / e).sum()
}

/// Binomial probabilities by the recurrence from k = 0, for a p at which (1 − p)^n does not underflow.
fn binomial(n: u64, p: f64) -> Vec<f64> {
    let mut probability = (1.0 - p).powi(n as i32);
    let mut all = Vec::new();
    for k in 0..=n {
        all.push(probability);
        probability *= (n - k) as f64 / (k + 1) as f64 * p / (1.0 - p);
    }
    all
}

/// Counts outcomes in bins around the middle, the tails lumped together, and compares with the probabilities. The limit is about
/// the 1e-6 quantile: chi-square with f degrees of freedom has mean f and standard deviation √(2f), and a heavy right tail.
fn assert_distributed(outcomes: impl Iterator<Item = u64>, probabilities: &[f64], what: &str) {
    let wide: Vec<usize> = (0..probabilities.len()).filter(|&k| probabilities[k] > 1e-3).collect();
    let (low, high) = (wide[0], wide[wide.len() - 1]);
    let bins = high - low + 1;
    let bin = |k: usize| k.clamp(low, high) - low;
    let mut observed = vec![0; bins];
    let mut expected = vec![0.0; bins];
    outcomes.for_each(|k| observed[bin(k as usize)] += 1);
    probabilities.iter().enumerate().for_each(|(k, p)| expected[bin(k)] += p);
    let freedom = (bins - 1) as f64;
    let statistic = chi_square(&observed, &expected);
    let limit = freedom + 6.0 * (2.0 * freedom).sqrt() + 10.0;
    assert!(statistic < limit, "{what}: {statistic} for {freedom} degrees of freedom");
}

#[test]
fn mean_and_spread_are_those_of_the_ideal_bootstrap() {
    const B: usize = 10_000;
    for (name, values) in data_sets() {
        let means = resampled_means(&values, B, 11);
        let (center, ideal) = (mean(&values), ideal_stderr(&values));
        let bias = (mean(&means) - center) / (ideal / (B as f64).sqrt());
        assert!(bias.abs() < 5.0, "{name}: mean off by {bias} standard errors");
        // The relative standard error of a standard deviation is 1/√(2B) for means that are nearly normal.
        let error = (standard_deviation(&means) / ideal - 1.0) * (2.0 * B as f64).sqrt();
        assert!(error.abs() < 5.0, "{name}: spread off by {error} standard errors");
    }
}

#[test]
fn published_small_cases() {
    // [1, 2, 4]: Σ(x − 7/3)² = 14/3, √(14/3)/3 = 0.72008. The mouse times of Efron & Tibshirani: 23.36.
    let small: &[f64] = &[1.0, 2.0, 4.0];
    let mouse: &[f64] = &[94.0, 197.0, 16.0, 38.0, 99.0, 141.0, 23.0];
    for (values, ideal) in [(small, 0.720_082_299_823_095_6), (mouse, 23.3635)] {
        assert!((ideal_stderr(values) / ideal - 1.0).abs() < 1e-5);
        let simulated = standard_deviation(&resampled_means(values, 200_000, 1));
        // 5/√(2·200,000) = 0.8 %
        assert!((simulated / ideal - 1.0).abs() < 0.008, "{simulated}");
    }
}

#[test]
fn all_outcomes_of_three_values_have_their_probability() {
    // The sum of three draws from [1, 2, 4] determines which were drawn: 27 equally likely triples
    // fall on these nine sums.
    let sums = [3, 4, 5, 6, 7, 8, 9, 10, 12];
    let ways = [1.0, 3.0, 3.0, 4.0, 6.0, 3.0, 3.0, 3.0, 1.0];
    let means = resampled_means(&[1.0, 2.0, 4.0], 100_000, 5);
    let observed = sums.map(|s| means.iter().filter(|m| (**m * 3.0).round() as i32 == s).count() as u64);
    assert_eq!(observed.iter().sum::<u64>(), 100_000);
    let statistic = chi_square(&observed, &ways.map(|w| w / 27.0));
    assert!(statistic < 45.0, "{statistic} for 8 degrees of freedom");
}

#[test]
fn binary_counts_are_binomial() {
    let mut values = vec![0.0; 140];
    values.extend([1.0; 60]);
    let means = resampled_means(&values, 100_000, 3);
    let counts = means.iter().map(|mean| (mean * 200.0).round() as u64);
    assert_distributed(counts, &binomial(200, 0.3), "ones of 200");
    // The mean is k/n to the last bit.
    assert!(means.iter().all(|m| *m == (m * 200.0).round() / 200.0));
}

#[test]
fn runs_share_the_draws_as_a_multinomial_does() {
    // 400 zeros, 300 ones and 300 of 2^20: the sum of 1000 draws shows both counts, c₁ + 2^20·c₂.
    let large = f64::from(1 << 20);
    let mut values = vec![0.0; 400];
    values.extend([1.0; 300]);
    values.extend([large; 300]);
    const B: usize = 40_000;
    let sums = resampled_means(&values, B, 8).into_iter().map(|mean| (mean * 1000.0).round() as u64);
    let counts: Vec<(u64, u64)> = sums.map(|sum| (sum % (1 << 20), sum >> 20)).collect();
    let probabilities = binomial(1000, 0.3);
    assert_distributed(counts.iter().map(|c| c.0), &probabilities, "ones");
    assert_distributed(counts.iter().map(|c| c.1), &probabilities, "large ones");
    // Cov(c₁, c₂) = −n·p₁·p₂ = −90; its standard error is about √((210² + 90²)/B) = 1.14.
    let product = |c: &(u64, u64)| (c.0 as f64 - 300.0) * (c.1 as f64 - 300.0);
    let covariance = counts.iter().map(product).sum::<f64>() / B as f64;
    assert!((covariance + 90.0).abs() < 5.7, "{covariance}");
}

#[test]
fn each_thing_of_a_block_is_drawn_as_often_as_any_other() {
    // 300 different multiples of 2^20, one of them plus 1: the sum modulo 2^20 is how often that one was drawn. The first
    // 256 make a full block, which takes bytes, and the other 44 a part of one, which takes indices.
    let unit = f64::from(1 << 20);
    for marked in [0, 17, 255, 256, 299] {
        let values: Vec<f64> =
            (0..300).map(|i| f64::from(i) * unit + f64::from(u8::from(i == marked))).collect();
        let sums = resampled_means(&values, 6_000, 2).into_iter().map(|mean| (mean * 300.0).round() as u64);
        let counts = sums.map(|sum| sum % (1 << 20));
        assert_distributed(counts, &binomial(300, 1.0 / 300.0), &format!("thing {marked}"));
    }
}

#[test]
fn order_does_not_matter() {
    for (name, values) in data_sets() {
        let mut reversed = values.clone();
        reversed.reverse();
        reversed.rotate_left(values.len() / 3);
        assert_eq!(resampled_means(&values, 50, 4), resampled_means(&reversed, 50, 4), "{name}");
    }
}

#[test]
fn threads_do_not_matter() {
    // Enough work for threads to be used at all.
    let values = scattered(30_000);
    let run = |threads| thread_pool(threads).install(|| resampled_means(&values, 200, 4));
    assert_eq!(run(1), run(4));
}

#[test]
fn a_replicate_does_not_depend_on_how_many_there_are() {
    for (name, values) in data_sets() {
        let many = resampled_means(&values, 3000, 4);
        assert_eq!(resampled_means(&values, 7, 4), many[..7], "{name}");
    }
}

#[test]
fn seeds_and_only_seeds_change_the_draws() {
    for (name, values) in data_sets() {
        assert_eq!(resampled_means(&values, 20, 1), resampled_means(&values, 20, 1), "{name}");
        for other in [2, 1 << 40] {
            assert_ne!(resampled_means(&values, 20, 1), resampled_means(&values, 20, other), "{name}");
        }
    }
}

#[test]
fn without_variance_there_is_no_spread() {
    for (value, n) in [(0.1, 7), (0.1, 1000), (1.0, 3), (-1e300, 20)] {
        let means = resampled_means(&vec![value; n], 100, 1);
        assert_eq!(means, vec![value; 100]);
        assert_eq!(standard_deviation(&means), 0.0);
    }
    assert!(resampled_means(&[], 10, 1).is_empty());
    assert!(standard_deviation(&[]).is_nan());
}

#[test]
fn offsets_and_extremes_keep_their_digits() {
    // About a million, deviations of a tenth keep nine digits; about zero, all. The draws are the same.
    let values = scattered(500);
    let shifted: Vec<f64> = values.iter().map(|x| x + 1e6).collect();
    let (near, far) = (resampled_means(&values, 100, 9), resampled_means(&shifted, 100, 9));
    for (near, far) in near.iter().zip(&far) {
        assert!((far - 1e6 - near).abs() < 3e-10, "{near} {far}");
    }
    let largest = [f64::MAX, -f64::MAX, f64::MAX / 3.0, 1.0];
    assert!(resampled_means(&largest, 100, 9).iter().all(|m| m.is_finite()));
    assert!(resampled_means(&[1.0, f64::NAN, 3.0], 5, 9).iter().all(|m| m.is_nan()));
}

/// The totals of clusters, made as a caller would.
fn totals(clusters: &[Vec<f64>]) -> Vec<ClusterTotal> {
    let total = |values: &Vec<f64>| {
        let mut sum = ExactSum::new();
        sum.extend(values);
        ClusterTotal::new(values.len() as u64, sum.to_double_double())
    };
    clusters.iter().map(total).collect()
}

#[test]
fn clusters_are_drawn_whole_and_pooled() {
    // Sizes 1, 2, 3 with sums 1, 0, 6. Three draws: (a, a, a) has mean 1/1, (a, b, c) 7/6, and so on: ten outcomes.
    let clusters = totals(&[vec![1.0], vec![0.0, 0.0], vec![1.0, 2.0, 3.0]]);
    let means = clustered_resampled_means(&clusters, 100_000, 6);
    let mut expected: Vec<(f64, f64)> = Vec::new();
    for triple in 0..27 {
        let drawn = [triple % 3, triple / 3 % 3, triple / 9].map(|i| clusters[i]);
        let sum: f64 = drawn.iter().map(|c| c.sum.0).sum();
        let size: u64 = drawn.iter().map(|c| c.size).sum();
        let mean = sum / size as f64;
        match expected.iter_mut().find(|(other, _)| (other - mean).abs() < 1e-9) {
            Some((_, ways)) => *ways += 1.0,
            None => expected.push((mean, 1.0)),
        }
    }
    let near = |value: f64| means.iter().filter(|m| (**m - value).abs() < 1e-9).count() as u64;
    let observed: Vec<u64> = expected.iter().map(|(mean, _)| near(*mean)).collect();
    assert_eq!(observed.iter().sum::<u64>(), 100_000);
    let probabilities: Vec<f64> = expected.iter().map(|(_, ways)| ways / 27.0).collect();
    let statistic = chi_square(&observed, &probabilities);
    assert!(statistic < 50.0, "{statistic}");
}

#[test]
fn clusters_of_one_are_plain_observations() {
    let values = scattered(400);
    let singles: Vec<Vec<f64>> = values.iter().map(|x| vec![*x]).collect();
    let means = clustered_resampled_means(&totals(&singles), 10_000, 6);
    let error = (standard_deviation(&means) / ideal_stderr(&values) - 1.0) * 20_000_f64.sqrt();
    assert!(error.abs() < 5.0, "spread off by {error} standard errors");
}

#[test]
fn clusters_in_any_order_and_on_any_threads() {
    let data = scattered(9000);
    let mut clusters = totals(&data.chunks(3).map(<[f64]>::to_vec).collect::<Vec<_>>());
    clusters.extend(totals(&vec![vec![0.5, 1.0]; 300]));
    let run = |clusters: &[ClusterTotal], threads| {
        thread_pool(threads).install(|| clustered_resampled_means(clusters, 1500, 2))
    };
    let means = run(&clusters, 1);
    clusters.reverse();
    assert_eq!(run(&clusters, 4), means);
    // Fixed as in `golden_draws`.
    assert_eq!(means[0].to_bits(), 0x3fd7_15b2_28b2_8a96);
    assert_ne!(clustered_resampled_means(&clusters, 1500, 3), means);
}

#[test]
fn equal_observations_in_unequal_clusters_have_no_spread() {
    // 0.1·n is rarely an f64, but always two of them.
    let clusters: Vec<Vec<f64>> = (1..60).map(|n| vec![0.1; n]).collect();
    let means = clustered_resampled_means(&totals(&clusters), 200, 2);
    assert_eq!(means, vec![0.1; 200]);
    // Zeros and ones: k of n pooled observations give k/n to the last bit, not k/n by way of a pivot.
    let clusters: Vec<Vec<f64>> = (1..20).map(|n| (0..n).map(|i| f64::from(i % 2)).collect()).collect();
    for mean in clustered_resampled_means(&totals(&clusters), 200, 2) {
        let is_ratio = (1..400).any(|n| (mean * f64::from(n)).round() / f64::from(n) == mean);
        assert!(is_ratio, "{mean}");
    }
    assert!(clustered_resampled_means(&[], 5, 2).is_empty());
}

#[test]
fn linear_quantiles_are_numpy_s() {
    let sorted = [0.1, 0.15, 0.2, 0.35, 0.55, 0.7, 0.9];
    // numpy.percentile(sorted, 100·q)
    let expected = [
        (0.0, 0.1),
        (0.025, 0.10750000000000001),
        (0.1, 0.13),
        (0.14, 0.142),
        (0.375, 0.2375),
        (0.5, 0.35),
        (0.83, 0.6969999999999998),
        (0.975, 0.8699999999999999),
        (1.0, 0.9),
    ];
    for (q, value) in expected {
        assert_eq!(quantile_linear(&sorted, q), value, "{q}");
    }
    assert_eq!(quantile_linear(&[3.0], 0.3), 3.0);
    assert!(quantile_linear(&[], 0.5).is_nan());
}

/// Fixes the draws themselves: if this changes, every published figure with a seed changes, and that needs a good reason.
#[test]
fn golden_draws() {
    let expected = [
        ("binary", [0x3fd5_4fdf_3b64_5a1d, 0x3fd6_0418_9374_bc6a, 0x3fd4_5a1c_ac08_3127]),
        ("two values", [0x40b3_8626_6666_6667, 0x40b5_42c2_468a_cf14, 0x40b1_5a63_8e38_e38e]),
        ("three long runs", [0x3fe0_28f5_c28f_5c29, 0x3fe0_0000_0000_0000, 0x3fdf_2f1a_9fbe_76c9]),
        ("three short runs", [0x3fe1_1111_1111_1111, 0x3fe1_dddd_dddd_ddde, 0x3fe0_0000_0000_0000]),
        ("one block", [0x3fd4_15c4_aecc_311a, 0x3fd5_d855_9b89_0c12, 0x3fd6_3044_63bc_0da1]),
        ("several blocks", [0x3fd5_42b2_07d3_25c2, 0x3fd5_d54e_2b16_e0a3, 0x3fd4_e823_5231_2db4]),
        ("runs and blocks", [0x3fc3_418e_3724_634c, 0x3fc2_79f5_0232_3fbd, 0x3fc3_411a_6ea2_c4c2]),
    ];
    let data = data_sets();
    assert_eq!(data.len(), expected.len());
    for ((name, values), (_, bits)) in data.iter().zip(expected) {
        let means = resampled_means(values, 3, 42);
        let actual: Vec<u64> = means.iter().map(|mean| mean.to_bits()).collect();
        assert_eq!(actual, bits, "{name}");
    }
}
