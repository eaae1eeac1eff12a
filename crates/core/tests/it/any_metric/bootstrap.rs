//! `bootstrap`: what is drawn, what comes out, and what is refused.

use std::collections::HashSet;

use errorbar_core::metrics::{accuracy, aggregate, bootstrap, frequency, grouped, mean, median, std, stderr};
use errorbar_core::{
    Error, ErrorMethod, ErrorPlan, Estimate, IntervalMethod, Metric, MetricValue, Plan, Reducers, Registry,
    Role, Score, ScoreColumns, Scores, ToSpec, Undefined, Value, Wants, metric_fn, metrics,
};
use errorbar_test_support::assert_matches;

use super::{close, computed, estimate, evaluated, plan, scores, table};

const MICE: [f64; 7] = [94.0, 197.0, 16.0, 38.0, 99.0, 141.0, 23.0];

/// Efron and Tibshirani's mice: the ideal errors are 23.36 (mean) and 37.83 (median). 10,000 resamples have a relative
/// Monte-Carlo error of 1/√20,000; 3.5 % are five of them.
#[test]
fn published_errors_of_a_mean_and_of_a_median() {
    let columns = scores(&MICE);
    for (metric, value, error) in
        [(bootstrap(mean()).spec(), 608.0 / 7.0, 23.36), (bootstrap(median()).spec(), 94.0, 37.83)]
    {
        let metric = Registry::built_in().metric(&metric).unwrap();
        let found = estimate(&columns, metric.as_ref(), ErrorPlan::new());
        assert_eq!((found.number(), found.n), (Some(value), 7));
        close(found.stderr().unwrap(), error, 0.035);
        let method = found.error.as_ref().unwrap().method;
        assert_eq!(
            (method, found.interval.as_ref().unwrap().method),
            (ErrorMethod::Bootstrap, IntervalMethod::Bootstrap)
        );
        assert_eq!(found.draws.map(|draws| (draws.seed, draws.count)), Some((5, 10_000)));
    }
}

#[test]
fn it_keeps_the_value_the_path_and_the_name() {
    let columns = scores(&[1.0, 0.0, 1.0, 1.0, 0.0, 1.0]);
    let results =
        evaluated(&columns, metrics![accuracy(), stderr(), bootstrap(accuracy())], ErrorPlan::new());
    let rows = results.rows();
    assert_eq!(rows.iter().map(|row| row.metric).collect::<Vec<_>>(), ["accuracy", "accuracy"]);
    assert_eq!(rows[0].estimate.number(), rows[1].estimate.number());
    // The error of `stderr` belongs to the first one, which has no own.
    assert!(rows[0].error_metric.is_some() && rows[1].error_metric.is_none());
    assert_eq!(rows[1].estimate.error.as_ref().unwrap().method, ErrorMethod::Bootstrap);
    assert_eq!(rows[1].result.spec.recorded_name(), "errorbar/bootstrap");
    assert_eq!(rows[1].role, Role::Location);
}

/// Six samples of four equal epochs: as rows they would have half of the error.
#[test]
fn a_sample_with_all_its_epochs_is_a_unit() {
    let values = [1.0, 0.0, 1.0, 1.0, 0.0, 0.0];
    let rows = |epochs: u32| {
        let of = |(at, value): (usize, &f64)| {
            (1..=epochs)
                .map(move |epoch| (format!("q{at}"), epoch, (*value).into(), vec![]))
                .collect::<Vec<_>>()
        };
        table(values.iter().enumerate().flat_map(of).collect())
    };
    let average = metric_fn("average", |scores: &Scores<'_>| {
        let floats = scores.floats();
        Ok(floats.iter().sum::<f64>() / floats.len() as f64)
    });
    let average = std::sync::Arc::new(average.wants(Wants::Unreduced)) as std::sync::Arc<dyn Metric>;
    let one = estimate(&rows(1), &bootstrap(average.clone()), ErrorPlan::new());
    let four = estimate(&rows(4), &bootstrap(average), ErrorPlan::new());
    assert_eq!((one.stderr(), &one.interval), (four.stderr(), &four.interval));
    close(one.stderr().unwrap(), (0.25_f64 / 6.0).sqrt(), 0.035);
    // Reduced scores are one number per sample, whatever was drawn.
    let reduced = evaluated(&rows(4), metrics![bootstrap(mean())], ErrorPlan::new());
    close(reduced.estimate("mean").unwrap().stderr().unwrap(), one.stderr().unwrap(), 1e-12);
    // And so they are where reduction is disabled.
    let all = Plan::new().metrics(metrics![bootstrap(mean())]).reducers(Reducers::Disabled).seed(5);
    let all = all.evaluate(&rows(4)).unwrap().results.estimate("mean").unwrap();
    close(all.stderr().unwrap(), one.stderr().unwrap(), 1e-12);
}

#[test]
fn clusters_are_drawn_whole() {
    // Both scores of a cluster are equal: four independent numbers.
    let columns = scores(&[1.0, 1.0, 0.0, 0.0, 3.0, 3.0, 2.0, 2.0]);
    let by_argument = estimate(&columns, &bootstrap(mean()).cluster("c"), ErrorPlan::new());
    close(by_argument.stderr().unwrap(), (1.25_f64 / 4.0).sqrt(), 0.035);
    assert_eq!(by_argument.error.as_ref().unwrap().clusters, [4]);
    let by_plan = estimate(&columns, &bootstrap(mean()), plan(r#"{"cluster": "c"}"#));
    assert_eq!(by_plan, by_argument);
    // A key that is not there: an error if the metric named it, a reason if the plan did.
    assert_matches!(
        computed(&columns, &bootstrap(mean()).cluster("x"), ErrorPlan::new()),
        Err(Error::MissingKey { key, .. }) if key == "x"
    );
    let without = estimate(&columns, &bootstrap(mean()), plan(r#"{"cluster": "x"}"#));
    assert_eq!(without.number(), Some(1.5));
    assert_matches!(without.error, Err(Undefined::Other(_)));
    let two = estimate(&columns, &bootstrap(mean()), plan(r#"{"cluster": ["c", "d"]}"#));
    assert_eq!(two.interval, Err(Undefined::Other("no bootstrap with two cluster keys".to_owned())));
}

#[test]
fn the_order_of_rows_and_the_number_of_threads_change_no_bit() {
    let values: Vec<f64> = (0..40).map(|at| f64::from(at * at % 17) / 7.0).collect();
    let forward = scores(&values);
    let mut rows: Vec<super::Row<'_>> = Vec::new();
    for (at, value) in values.iter().enumerate().rev() {
        rows.push((format!("q{at:03}"), 1, (*value).into(), vec![("c", (at / 2).to_string().into())]));
    }
    let backward = table(rows);
    let metric = bootstrap(std()).num_samples(500_usize);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    for errors in [ErrorPlan::new(), plan(r#"{"cluster": "c"}"#), plan(r#"{"interval": "bca"}"#)] {
        let expected = estimate(&forward, &metric, errors.clone());
        assert!(expected.interval.is_ok());
        assert_eq!(estimate(&backward, &metric, errors.clone()), expected);
        assert_eq!(pool.install(|| estimate(&forward, &metric, errors.clone())), expected);
    }
}

#[test]
fn copies_of_a_sample_have_their_own_ids() {
    let distinct = metric_fn("distinct", |scores: &Scores<'_>| {
        let by_row: HashSet<String> = scores.into_iter().map(|sample| sample.sample_id).collect();
        let by_id: HashSet<&str> = (0..scores.len()).map(|at| scores.sample_id(at)).collect();
        assert_eq!(by_row.len(), by_id.len());
        Ok(by_id.len())
    });
    let found = estimate(&scores(&MICE), &bootstrap(distinct).num_samples(200_usize), ErrorPlan::new());
    // Always seven: a resample is of seven samples.
    assert_eq!(found.number(), Some(7.0));
    assert_eq!(found.error, Err(Undefined::Other("the same in all 200 resamples".to_owned())));
}

#[test]
fn keys_positions_and_groups_have_their_own_errors() {
    let rows = (0..24).map(|at| {
        let metadata = vec![("g", ["a", "b", "c"][at % 3].into())];
        (format!("q{at}"), 1, f64::from((at / 3 + at % 3) as u32 % 2).into(), metadata)
    });
    let columns = table(rows.collect());
    let map = computed(&columns, &bootstrap(frequency()), ErrorPlan::new()).unwrap();
    assert!(map.get("0.0").or(map.get("0")).unwrap().error.is_ok(), "{map:?}");
    let list = metric_fn("ends", |scores: &Scores<'_>| {
        let floats = scores.floats();
        Ok(vec![floats.iter().sum::<f64>(), floats.len() as f64])
    });
    let MetricValue::List(list) = computed(&columns, &bootstrap(list), ErrorPlan::new()).unwrap() else {
        panic!("a list")
    };
    let errors: Vec<bool> = list.iter().map(|estimate| estimate.as_ref().unwrap().error.is_ok()).collect();
    assert_eq!(errors, [true, false]);
    let grouped = computed(&columns, &bootstrap(grouped(accuracy(), "g")), ErrorPlan::new()).unwrap();
    for label in ["a", "b", "c", "all"] {
        let error = grouped.get(label).unwrap().error.as_ref().unwrap();
        assert_eq!(error.method, ErrorMethod::Bootstrap, "{label}");
    }
    // √(p(1−p)/8) of a group, with its random size.
    close(grouped.get("a").unwrap().stderr().unwrap(), 0.1768, 0.12);
    // Groups that hold a bootstrap resample each by itself.
    let within =
        computed(&columns, &errorbar_core::metrics::grouped(bootstrap(accuracy()), "g"), ErrorPlan::new());
    close(within.unwrap().get("a").unwrap().stderr().unwrap(), 0.1768, 0.035);
}

#[test]
fn undefined_resamples_are_dropped_and_too_many_are_a_reason() {
    // Undefined unless the best score is in the resample, which 37 % miss.
    let needs_best = metric_fn("needs_best", |scores: &Scores<'_>| match scores.floats().contains(&197.0) {
        true => Ok(Estimate::new(scores.floats().iter().sum())),
        false => Ok(Estimate::undefined(Undefined::Other("no best".to_owned()))),
    });
    let found = estimate(&scores(&MICE), &bootstrap(needs_best), ErrorPlan::new());
    assert_eq!(found.number(), Some(608.0));
    assert_matches!(&found.error, Err(Undefined::Other(reason)) if reason.starts_with("undefined in "));
    let dropped = found.notes.custom.get("undefined_resamples").unwrap().as_u64().unwrap();
    // (6/7)⁷ = 33.99 %; five standard deviations of 10,000 draws are 237.
    assert!(dropped.abs_diff(3399) < 237, "{dropped}");
    // A metric that fails there is undefined there, too; few of them are noted.
    let fails = metric_fn("fails", |scores: &Scores<'_>| {
        let floats = scores.floats();
        match floats.windows(2).all(|pair| pair[0] == pair[1]) {
            true => Err(Error::custom("all equal")),
            false => Ok(floats.iter().sum::<f64>()),
        }
    });
    let found = estimate(&scores(&MICE[..5]), &bootstrap(fails), ErrorPlan::new());
    assert!(found.error.is_ok() && found.notes.custom.contains_key("undefined_resamples"), "{found:?}");
}

#[test]
fn what_is_refused() {
    let columns = scores(&MICE);
    let failing =
        metric_fn("failing", |_: &Scores<'_>| -> errorbar_core::Result<f64> { Err(Error::custom("no")) });
    assert_eq!(computed(&columns, &bootstrap(failing), ErrorPlan::new()).unwrap_err().to_string(), "no");
    let registry = Registry::built_in();
    for spec in [
        "bootstrap(bootstrap(mean()))",
        "bootstrap(ci())",
        "bootstrap(ci_wilson())",
        r#"bootstrap(grouped(mean(), "g", simultaneous=true))"#,
    ] {
        let error = registry.metric(&spec.parse().unwrap()).unwrap_err();
        assert_matches!(error, Error::Argument { argument, .. } if argument == "metric");
    }
    for spec in [
        "bootstrap(mean(), 0)",
        "bootstrap(mean(), 99)",
        "bootstrap(mean(), num_samples=-1)",
        "bootstrap(mean(), 1000000000)",
    ] {
        let error = registry.metric(&spec.parse().unwrap()).unwrap_err();
        assert_matches!(error, Error::Argument { argument, .. } if argument == "num_samples");
    }
    // A plan that may draw little, as one from a log of others.
    let mut limited = Plan::new().metrics(metrics![bootstrap(mean()).num_samples(1000_usize), mean()]);
    limited.max_draws = Some(6_999);
    let results = limited.evaluate(&columns).unwrap().results;
    assert_matches!(
        &results.scores[0].failures[0].error,
        Error::TooManyDraws { spec, left: 6_999, .. } if spec.name == "bootstrap"
    );
    assert_eq!(results.scores[0].metrics.len(), 1);
}

/// Ten seconds were charged as one: every metric counted as a median.
#[test]
fn a_resample_costs_what_its_metric_takes() {
    let mut columns = ScoreColumns::new(["s"]);
    for id in 0..100_i64 {
        let row = columns.push(id.to_string(), 1).metadata("a", id % 3).metadata("b", id % 2);
        let row = row.metadata("confidence", 0.01 * id as f64);
        row.score("s", Score::new(id % 2)).unwrap();
    }
    let found = |metric: &str, most: Option<u64>| {
        let metric = Registry::built_in().metric(&metric.parse().unwrap()).unwrap();
        let mut plan = Plan::new().metrics(metrics![metric]);
        plan.max_draws = most;
        let mut scores = plan.evaluate(&columns).unwrap().results.scores;
        scores.remove(0)
    };
    let draws = |metric: &str| match &found(metric, Some(0)).failures[..] {
        [failure] => match &failure.error {
            Error::TooManyDraws { draws, .. } => *draws,
            error => panic!("{metric}: {error}"),
        },
        failures => panic!("{metric}: {failures:?}"),
    };
    let median = draws("bootstrap(median(), 1000)");
    assert_eq!(draws("bootstrap(mean(), 1000)"), median);
    assert_eq!(draws("bootstrap(auroc(), 1000)"), 4 * median);
    assert_eq!(draws(r#"bootstrap(krippendorff_alpha(raters=["a", "b"]), 1000)"#), 20 * median);
    assert!(draws(r#"bootstrap(grouped(mean(), "a"), 1000)"#) > 2 * median);
    // The default number of resamples is lower where it would take too long, and never for the user.
    let default = r#"bootstrap(krippendorff_alpha(raters=["a", "b"]))"#;
    let resamples = |most| {
        let scores = found(default, most);
        let value = scores.metrics[0].value.clone();
        value.estimate().and_then(|estimate| estimate.draws).map(|draws| draws.count)
    };
    assert_eq!((resamples(Some(50_000_000)), resamples(None)), (Some(1_000), Some(10_000)));
}

#[test]
fn scores_that_have_no_error() {
    let one = estimate(&scores(&[1.0]), &bootstrap(mean()), ErrorPlan::new());
    assert_eq!((one.number(), one.error), (Some(1.0), Err(Undefined::TooFewScores { n: 1 })));
    let equal = estimate(&scores(&[0.5; 9]), &bootstrap(mean()), ErrorPlan::new());
    assert_eq!(equal.error, Err(Undefined::Other("the same in all 10000 resamples".to_owned())));
    let cluster = estimate(&scores(&[1.0, 2.0]), &bootstrap(mean()), plan(r#"{"cluster": "c"}"#));
    assert_eq!(cluster.error, Err(Undefined::TooFewClusters { clusters: 1 }));
}

#[test]
fn an_error_becomes_a_figure_with_its_own() {
    let columns = scores(&MICE);
    let results = evaluated(&columns, metrics![mean(), bootstrap(stderr())], ErrorPlan::new());
    let rows = results.rows();
    assert_eq!(rows.len(), 2);
    assert_eq!((rows[1].metric, rows[1].role), ("stderr", Role::Other));
    assert!(rows[1].estimate.error.is_ok() && rows[0].error_metric.is_none());
    assert_eq!(
        rows[1].estimate.number(),
        evaluated(&columns, metrics![stderr()], ErrorPlan::new()).rows()[0].estimate.number()
    );
}

#[test]
fn jackknife_and_bca_leave_units_out() {
    let columns = scores(&MICE);
    let jackknife = estimate(&columns, &bootstrap(mean()), plan(r#"{"method": "jackknife"}"#));
    let error = jackknife.error.unwrap();
    // That of a mean is s/√n.
    close(error.se, 25.235489533052238, 1e-12);
    assert_eq!(error.method, ErrorMethod::Jackknife);
    let bca = estimate(&columns, &bootstrap(mean()), plan(r#"{"interval": "bca"}"#)).interval.unwrap();
    let percentile = estimate(&columns, &bootstrap(mean()), ErrorPlan::new()).interval.unwrap();
    assert_eq!(bca.method, IntervalMethod::Bca);
    // The scores are skewed upwards.
    assert!(bca.lower > percentile.lower && bca.upper > percentile.upper, "{bca:?} {percentile:?}");
}

/// A metric over a field of maps, by custom names.
#[test]
fn fields_of_maps() {
    let mut columns = ScoreColumns::new(["s"]);
    for at in 0..12_u32 {
        columns
            .push(format!("q{at}"), 1)
            .score("s", Score::new(Value::map([("x", f64::from(at % 4))])))
            .unwrap();
    }
    let found = estimate(&columns, &bootstrap(aggregate("x", std())), ErrorPlan::new());
    assert!(found.error.is_ok(), "{found:?}");
}
