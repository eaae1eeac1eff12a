//! Every method of an interval: published figures, bounds, populations, and what each refuses.
//!
//! Figures without a source were computed with mpmath or scipy.stats from the formulas of the methods.

use errorbar_core::{
    BetaPrior, ErrorPlan, Estimate, Interval, IntervalChoice, IntervalMethod, IntervalSide, Registry, Score,
    ScoreColumns, ScoreSet, Undefined, WildWeights,
};
use errorbar_test_support::published::Mice;

use super::{assert_close, binary, clustered, estimate, of, plan, rows};

fn with(interval: &str) -> ErrorPlan {
    let mut plan = ErrorPlan::new();
    plan.interval = interval.parse().unwrap();
    plan
}

fn bound(interval: &str, side: IntervalSide) -> ErrorPlan {
    let mut plan = with(interval);
    plan.side = Some(side);
    plan
}

fn interval(estimate: &Estimate) -> &Interval {
    estimate.interval.as_ref().unwrap()
}

#[track_caller]
fn assert_ends(estimate: &Estimate, lower: f64, upper: f64) {
    let found = interval(estimate);
    assert!((found.lower - lower).abs() < 1e-11, "{} is not {lower}", found.lower);
    assert!((found.upper - upper).abs() < 1e-11, "{} is not {upper}", found.upper);
}

/// Correct, n, and the 95 % intervals of Clopper and Pearson, of Jeffreys and of the uniform prior.
type Shares = (usize, usize, [f64; 2], [f64; 2], Option<[f64; 2]>);

/// The first four: Newcombe (1998), Statistics in Medicine 17, table I, prints .2527–.3676, .0578–.1617, 0–.1684, .0009–.1776.
const SHARES: [Shares; 12] = [
    (81, 263, [0.25273674558527126, 0.3676219226013514], [0.2545219349910236, 0.36564749917408246], None),
    (15, 148, [0.05784401008344857, 0.161650490349479], [0.060448517009296425, 0.15764314347874112], None),
    (0, 20, [0.0, 0.16843347098308534], [0.0, 0.11663898290487539], None),
    (1, 29, [0.000872646883579922, 0.17764429548872293], [0.003746173649057073, 0.15007768600223173], None),
    (0, 1, [0.0, 0.975], [0.0, 0.8532536836904248], Some([0.01257911709342505, 0.841886116991581])),
    (1, 1, [0.025, 1.0], [0.14674631630957513, 1.0], Some([0.15811388300841897, 0.9874208829065749])),
    (
        0,
        10,
        [0.0, 0.30849710781876083],
        [0.0, 0.21719626750921053],
        Some([0.002298972213814267, 0.28491415291815436]),
    ),
    (
        10,
        10,
        [0.6915028921812392, 1.0],
        [0.7828037324907894, 1.0],
        Some([0.7150858470818455, 0.9977010277861857]),
    ),
    (
        1,
        10,
        [0.0025285785444617848, 0.4450161170281953],
        [0.011011673763161133, 0.3813147710666164],
        Some([0.02283119829995966, 0.4127799169883827]),
    ),
    (
        5,
        10,
        [0.18708602844739855, 0.8129139715526015],
        [0.22352867025270517, 0.7764713297472947],
        Some([0.23379359765934518, 0.7662064023406548]),
    ),
    (
        8,
        10,
        [0.4439045376923585, 0.9747892736731666],
        [0.4972255035600069, 0.9559405864473692],
        Some([0.4822441476398273, 0.9397822658270933]),
    ),
    (
        38,
        38,
        [0.9074872385841217, 1.0],
        [0.9364417450297795, 1.0],
        Some([0.9097488990396657, 0.999351036104518]),
    ),
];

#[test]
fn shares_by_the_binomial_distribution() {
    for (correct, n, clopper_pearson, jeffreys, uniform) in SHARES {
        let scores = binary(correct, n);
        let cases =
            [("clopper_pearson", Some(clopper_pearson)), ("jeffreys", Some(jeffreys)), ("beta", uniform)];
        for (method, expected) in cases {
            let share = of(&with(method), &scores);
            if let Some([lower, upper]) = expected {
                assert_ends(&share, lower, upper);
            }
            let found = interval(&share);
            assert_eq!((found.method.name(), found.side, found.df), (method, IntervalSide::TwoSided, None));
            assert_eq!((share.notes.effective_n, share.draws, share.notes.reason), (None, None, None));
        }
    }
    assert_ends(&of(&with("beta(prior=[2, 3])"), &binary(7, 30)), 0.1288173915835082, 0.4117078419071668);
}

#[test]
fn clustered_shares_have_an_effective_n() {
    let (scores, clusters) =
        ([1., 1., 0., 1., 1., 0., 0., 1., 0., 1., 0., 1.], [0, 0, 0, 1, 1, 2, 2, 2, 2, 3, 4, 4]);
    let by = |method: &str| clustered(&format!(r#"{{"interval": "{method}"}}"#), &scores, &clusters);
    let clopper_pearson = by("clopper_pearson");
    assert_ends(&clopper_pearson, 0.13231494848058856, 0.9439060567838149);
    // It is computed from p(1−p)/V = 9.195859872611464, times (t(11)/t(3.286852589641435))²; the field is n over the
    // design effect.
    let effect = clopper_pearson.notes.design_effect.unwrap();
    assert_close(clopper_pearson.notes.effective_n.unwrap(), 12.0 / effect, 1e-12);
    assert_close(interval(&clopper_pearson).df.unwrap(), 3.286852589641435, 1e-12);
    assert_ends(&by("jeffreys"), 0.19407885227094595, 0.9002013712350663);
    // All correct: as many as there are clusters. 0.025^(1/6).
    let all = clustered(r#"{"interval": "clopper_pearson"}"#, &[1.0; 30], &[0, 1, 2, 3, 4, 5].repeat(5));
    assert_ends(&all, 0.025_f64.powf(1.0 / 6.0), 1.0);
    assert_eq!(all.notes.effective_n, Some(6.0));
}

#[test]
fn the_interval_of_surveys() {
    let scores = [1, 1, 1, 0, 1, 1, 1, 0, 0, 1, 1, 1, 1, 1, 0, 1, 0, 1, 0, 0, 1, 1, 1].map(f64::from);
    let clusters = [0, 0, 0, 0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 3, 3, 3, 4, 4, 4, 4, 4];
    let plan = r#"{"interval": "modified_wilson", "method": "CR1"}"#;
    let share = clustered(plan, &scores, &clusters);
    assert_close(share.stderr().unwrap(), 0.0835829526254599, 1e-12);
    assert_ends(&share, 0.45816717315826694, 0.8606957325510538);
    // Without any variance, Wilson's own of as many as there are clusters.
    let all = clustered(plan, &[1.0; 30], &[0, 1, 2, 3, 4, 5].repeat(5));
    assert_ends(&all, 0.6096657120978346, 1.0);
    assert_eq!(all.notes.effective_n, Some(6.0));
    // Independent scores are their own effective n.
    let (own, wilson) = (of(&with("modified_wilson"), &binary(7, 30)), of(&with("wilson"), &binary(7, 30)));
    assert_ends(&own, interval(&wilson).lower, interval(&wilson).upper);
}

#[test]
fn what_is_for_zeros_and_ones_refuses_other_scores() {
    for method in ["modified_wilson", "clopper_pearson", "jeffreys", "beta(prior=[1, 1])"] {
        let graded = of(&with(method), &[0.0, 0.5, 1.0]);
        let name = method.split('(').next().unwrap();
        let reason =
            format!("{name} is for scores of 0 and 1, and there are others; wilson, t and bca are for those");
        assert_eq!(graded.interval, Err(Undefined::Other(reason)));
        assert!(graded.error.is_ok());
        let mut ten = with(method);
        ten.range = Some((0.0, 10.0));
        let reason = format!("{name} is for scores of 0 and 1, not for a range of 0 to 10");
        assert_eq!(of(&ten, &[0.0, 1.0, 1.0]).interval, Err(Undefined::Other(reason)));
    }
}

#[test]
fn bounds_have_one_end() {
    let share = binary(7, 30);
    let upper = |method: &str| of(&bound(method, IntervalSide::Upper), &share);
    let lower = |method: &str| of(&bound(method, IntervalSide::Lower), &share);
    for (method, low, high) in [
        ("clopper_pearson", 0.11498689556973872, 0.3939474225223633),
        ("wilson", 0.13176024453803764, 0.37902605312868204),
        ("auto", 0.13176024453803764, 0.37902605312868204),
    ] {
        assert_ends(&upper(method), 0.0, high);
        assert_ends(&lower(method), low, 1.0);
        assert_eq!(
            (interval(&upper(method)).side, interval(&lower(method)).side),
            (IntervalSide::Upper, IntervalSide::Lower)
        );
        assert_eq!(interval(&upper(method)).level, 0.95);
    }
    // Every method: the bound of level 0.95 is the end of the interval of level 0.9.
    let graded: Vec<f64> = (0..20).map(|at| f64::from(at * at % 7) / 2.0).collect();
    for method in ["t", "bootstrap", "bca", "bootstrap_t", "exact"] {
        let mut two = with(method);
        two.level = Some(0.9);
        let two = of(&two, &graded);
        let (below, above) = (
            of(&bound(method, IntervalSide::Lower), &graded),
            of(&bound(method, IntervalSide::Upper), &graded),
        );
        assert_eq!(interval(&below).lower, interval(&two).lower, "{method}");
        assert_eq!(interval(&above).upper, interval(&two).upper, "{method}");
        // The range is unknown: the other end is nowhere.
        assert_eq!((interval(&below).upper, interval(&above).lower), (f64::INFINITY, f64::NEG_INFINITY));
        let mut ranged = bound(method, IntervalSide::Lower);
        ranged.range = Some((0.0, 4.0));
        assert_eq!(interval(&of(&ranged, &graded)).upper, 4.0);
    }
    assert_close(
        interval(&of(&bound("t", IntervalSide::Upper), &Mice::DAYS)).upper,
        135.8942484869203,
        1e-13,
    );
}

#[test]
fn the_rule_of_three() {
    for method in ["auto", "clopper_pearson"] {
        let none = of(&bound(method, IntervalSide::Upper), &binary(0, 30));
        // 1 − 0.05^(1/30), about 3/30.
        assert_ends(&none, 0.0, 0.09503385285530411);
        assert_eq!(interval(&none).method, IntervalMethod::ClopperPearson);
        let reason = none.notes.reason.unwrap();
        assert!(
            reason.contains("rule of three: no 1 among 30 scores, so at most about 3.0/30 = 0.10"),
            "{reason}"
        );
        let all = of(&bound(method, IntervalSide::Lower), &binary(30, 30));
        assert_ends(&all, 0.9049661471446959, 1.0);
        assert!(
            all.notes.reason.unwrap().contains("no 0 among 30 scores, so at least 1 − about 3.0/30 = 0.10")
        );
    }
    // The other bound of such scores says nothing, and two-sided intervals are as they were.
    assert_eq!(
        interval(&of(&bound("auto", IntervalSide::Lower), &binary(0, 30))).method,
        IntervalMethod::Wilson
    );
    assert_eq!(interval(&of(&with("auto"), &binary(0, 30))).method, IntervalMethod::Wilson);
}

#[test]
fn the_rule_of_three_counts_clusters() {
    // Thirty failures in six clusters are six: 1 − 0.05^(1/6).
    for method in ["auto", "clopper_pearson"] {
        let errors = format!(r#"{{"interval": "{method}", "side": "upper"}}"#);
        let none = clustered(&errors, &[0.0; 30], &[0, 1, 2, 3, 4, 5].repeat(5));
        assert_ends(&none, 0.0, 0.39303776899708276);
        let reason = none.notes.reason.unwrap();
        assert!(reason.contains("no 1 among 6 clusters, so at most about 3.0/6 = 0.50"), "{reason}");
    }
}

#[test]
fn a_part_of_a_population() {
    let of_population = |interval: &str, population: u64, scores: &[f64]| {
        let mut plan = with(interval);
        plan.population = Some(population);
        of(&plan, scores)
    };
    let share = of_population("auto", 120, &binary(7, 30));
    // s/√n = 0.07854032324531729, times √(1 − 30/120).
    assert_close(share.stderr().unwrap(), 0.06801791515188624, 1e-13);
    assert_ends(&share, 0.12933940758144433, 0.3840587797237752);
    assert_eq!(share.notes.effective_n, Some(40.0));
    assert_ends(
        &of_population("clopper_pearson", 120, &binary(7, 30)),
        0.11450155212466769,
        0.3937236368420011,
    );
    // All others: half the distances from the mean if three quarters are scored.
    let scores: Vec<f64> = (0..30).map(|at| f64::from(at * at % 11)).collect();
    for method in ["t", "bootstrap", "bca", "bootstrap_t", "exact"] {
        let (whole, part) = (of(&with(method), &scores), of_population(method, 40, &scores));
        let mean = whole.number().unwrap();
        assert_close(interval(&part).lower - mean, 0.5 * (interval(&whole).lower - mean), 1e-12);
        assert_close(interval(&part).upper - mean, 0.5 * (interval(&whole).upper - mean), 1e-12);
    }
    for (population, reason) in [
        (30, "all 30 samples of the population have scores, so nothing is left to estimate"),
        (29, "the population has 29 samples, and 30 have scores"),
    ] {
        let none = of_population("auto", population, &scores);
        let reason = Undefined::Other(reason.to_owned());
        assert_eq!((none.error, none.interval), (Err(reason.clone()), Err(reason)));
        assert!(none.value.is_ok() && none.draws.is_none() && none.notes.reason.is_none());
    }
}

#[test]
fn the_ideal_bootstrap_of_the_mice() {
    let exact = of(&with("exact"), &Mice::DAYS);
    assert_ends(&exact, Mice::BOOTSTRAP.0, Mice::BOOTSTRAP.1);
    assert_eq!(exact.draws, None, "nothing is drawn");
    // BCa of all resamples: 46.285714285714285 to 138.28571428571428; means of resamples are sevenths.
    let mut many = with("bca");
    many.draws = Some(200_000);
    let bca = of(&many, &Mice::DAYS);
    assert!((interval(&bca).lower - 46.285714285714285).abs() < 0.3, "{bca:?}");
    assert!((interval(&bca).upper - 138.28571428571428).abs() < 0.5, "{bca:?}");
    assert_eq!(bca.draws.unwrap().count, 200_000);
}

#[test]
fn what_exact_refuses() {
    let roots: Vec<f64> = (1..60).map(|at| f64::from(at).sqrt()).collect();
    let reason = "exact is for scores with a common step, such as 0, ½ and 1, or very few scores";
    assert_eq!(of(&with("exact"), &roots).interval, Err(Undefined::Other(reason.to_owned())));
    let unequal: Vec<i64> = (0..59).map(|at: i64| at.isqrt() * 3 + at % 2).collect();
    let reason = "exact is for clusters of one size, or very few clusters";
    let found = clustered(r#"{"interval": "exact"}"#, &roots, &unequal).interval;
    assert_eq!(found, Err(Undefined::Other(reason.to_owned())));
}

#[test]
fn clusters_of_one_size_are_resampled_as_their_means() {
    let scores: Vec<f64> = (0..60).map(|at| f64::from(at * at % 13 % 2)).collect();
    let clusters: Vec<i64> = (0..60).map(|at| at / 4).collect();
    let means: Vec<f64> = scores.chunks(4).map(|cluster| cluster.iter().sum::<f64>() / 4.0).collect();
    let (whole, reduced) =
        (clustered(r#"{"interval": "exact"}"#, &scores, &clusters), of(&with("exact"), &means));
    assert_eq!(
        (interval(&whole).lower, interval(&whole).upper),
        (interval(&reduced).lower, interval(&reduced).upper)
    );
    // BCa leaves out whole clusters: near to that of their means, whose draws are others.
    let (whole, reduced) =
        (clustered(r#"{"interval": "bca"}"#, &scores, &clusters), of(&with("bca"), &means));
    assert!((interval(&whole).lower - interval(&reduced).lower).abs() < 0.02);
    assert!((interval(&whole).upper - interval(&reduced).upper).abs() < 0.02);
}

#[test]
fn bca_is_the_same_on_any_number_of_threads() {
    let scores: Vec<f64> = (0..5000).map(|at| f64::from(at).sqrt().sin()).collect();
    let mut plan = with("bca");
    plan.draws = Some(2000);
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| of(&plan, &scores))
    };
    let one = on(1);
    assert_eq!((on(2), on(5)), (one.clone(), one.clone()));
    let reversed: Vec<f64> = scores.iter().rev().copied().collect();
    assert_eq!(of(&plan, &reversed), one);
}

#[test]
fn nothing_to_estimate_from() {
    for method in IntervalMethod::choices().map(|method| method.to_string()) {
        let plan = with(&method);
        assert_eq!(of(&plan, &[]).interval, Err(Undefined::NoScores), "{method}");
        if !method.starts_with("wild") {
            let one = of(&plan, &[17.0]).interval.unwrap_err();
            let is_reason = matches!(one, Undefined::TooFewScores { n: 1 } | Undefined::Other(_));
            assert!(is_reason, "{method}: {one:?}");
            let same = of(&plan, &[3.5; 4]).interval.unwrap_err();
            assert!(matches!(same, Undefined::NoSpread { n: 4 } | Undefined::Other(_)), "{method}: {same:?}");
        }
        let mut by_a = plan.clone().cluster("a");
        by_a.draws = Some(100);
        let one = estimate(&by_a, &rows(&binary(1, 3), &[5, 5, 5], &[] as &[i64]));
        assert_eq!(one.interval, Err(Undefined::TooFewClusters { clusters: 1 }), "{method}");
    }
}

#[test]
fn methods_are_specs() {
    for (text, method) in [
        ("beta", IntervalMethod::Beta(BetaPrior::UNIFORM)),
        ("beta([0.5, 2])", IntervalMethod::Beta(BetaPrior::new(0.5, 2.0))),
        ("beta(prior=[1, 1])", IntervalMethod::Beta(BetaPrior::UNIFORM)),
        ("wild", IntervalMethod::Wild(WildWeights::Webb)),
        ("wild(weights=\"rademacher\")", IntervalMethod::Wild(WildWeights::Rademacher)),
        ("wild('webb')", IntervalMethod::Wild(WildWeights::Webb)),
    ] {
        assert_eq!(text.parse(), Ok(method));
        assert_eq!(method.to_string().parse(), Ok(method));
        let mut set = ErrorPlan::new();
        (set.interval, set.side) = (IntervalChoice::Method(method), Some(IntervalSide::Upper));
        set.population = Some(1319);
        assert_eq!(set.to_string().parse(), Ok(set.clone()));
        assert!(set.sets_interval() && set.sets_error());
    }
    for method in IntervalMethod::choices() {
        assert_eq!(method.to_string().parse(), Ok(method));
    }
    for (text, problem) in [
        ("beta(prior=[1])", "the prior of beta must be two numbers above 0, such as [1, 1], found [1]"),
        ("beta(prior=[0, 1])", "the prior of beta must be two numbers above 0, such as [1, 1], found [0, 1]"),
        ("beta(prior=1)", "the prior of beta must be two numbers above 0, such as [1, 1], found 1"),
        ("beta(a=1)", "beta has no argument 'a' (it takes prior)"),
        (
            "wild(weights=\"mammen\")",
            "the weights of wild must be \"webb\" or \"rademacher\", found \"mammen\"",
        ),
        ("t(3)", "t has no arguments"),
        (
            "wald",
            "expected one of auto, wilson, modified_wilson, clopper_pearson, jeffreys, beta, t, bootstrap, bca, bootstrap_t, exact, wild, \
             found \"wald\"",
        ),
    ] {
        assert_eq!(text.parse::<IntervalChoice>(), Err(problem.to_owned()));
    }
    let wrong = |json: &str| json.parse::<ErrorPlan>().unwrap_err();
    assert_eq!(
        wrong(r#"{"side": "above"}"#),
        "`side`: expected one of two-sided, lower, upper, found \"above\""
    );
    assert_eq!(wrong(r#"{"population": 1.5}"#), "`population`: expected a number of samples, found 1.5");
    assert_eq!(
        wrong(r#"{"population": 0}"#),
        "the population must be the number of samples of the whole benchmark, found 0"
    );
    assert_eq!(plan("{}").side(), IntervalSide::TwoSided);
    // At 0.5 a bound is the value itself, and below it is on the wrong side of it.
    assert_eq!(
        wrong(r#"{"side": "upper", "level": 0.5}"#),
        "the level of a bound must be above 0.5, found 0.5"
    );
    assert_eq!(plan(r#"{"level": 0.5}"#).level(), 0.5);
    let metric = "ci(level=0.3, side='lower')";
    for metric in
        [metric, &metric.replace(')', ", method='bootstrap')"), &metric.replace(')', ", method='bca')")]
    {
        let refused = of_metric(metric, &[1.0, 2.0, 4.0, 3.0, 7.5]).interval;
        assert_eq!(
            refused,
            Err(Undefined::Other("the level of a bound must be above 0.5, found 0.3".to_owned())),
            "{metric}"
        );
    }
}

/// The estimate of a metric over independent scores.
fn of_metric(metric: &str, scores: &[f64]) -> Estimate {
    let mut columns = ScoreColumns::new(["scorer"]);
    for (at, score) in scores.iter().enumerate() {
        columns.push(at.to_string(), 1).score("scorer", Score::new(*score)).unwrap();
    }
    let metric = Registry::built_in().metric(&metric.parse().unwrap()).unwrap();
    metric
        .compute(&ScoreSet::unreduced(&columns, "scorer").unwrap().scores())
        .unwrap()
        .estimate()
        .unwrap()
        .clone()
}
