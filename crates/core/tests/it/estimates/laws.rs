//! What clusters and the order of scores cannot change, for any scores.

use errorbar_core::{ErrorPlan, Random};
use proptest::prelude::*;

use super::{Row, assert_close, estimate, of, plan, rows, summary};

fn plans() -> Vec<ErrorPlan> {
    let plans = [
        r#"{"draws": 200}"#,
        r#"{"cluster": "a", "method": "bootstrap", "draws": 200}"#,
        r#"{"cluster": ["a", "b"]}"#,
        r#"{"interval": "bootstrap", "draws": 200}"#,
    ];
    plans.into_iter().map(plan).collect()
}

/// Scores of one of the kinds: zeros and ones, proportions, numbers of all sizes.
fn scores() -> impl Strategy<Value = Vec<f64>> {
    let value = prop_oneof![
        Just(vec![0.0, 1.0, -0.0]),
        Just(vec![0.0, 0.5, 1.0, 0.1, 1.0 / 3.0]),
        Just(vec![1e300, -1e300, 1.0, 1e-300, -7.25, 3.0, f64::MIN_POSITIVE / 4.0]),
    ];
    let many = (value, prop::collection::vec(any::<prop::sample::Index>(), 0..90));
    many.prop_map(|(values, picks)| picks.into_iter().map(|pick| *pick.get(&values)).collect())
}

/// Rows with cluster ids of all types.
fn table() -> impl Strategy<Value = Vec<Row>> {
    scores().prop_flat_map(|values| {
        let n = values.len();
        let ids = || prop::collection::vec(prop::sample::select(ids()), n);
        (Just(values), ids(), ids()).prop_map(|(values, a, b)| {
            let mut all = rows(&values, &a, &b);
            // Epochs of a few samples.
            all.iter_mut().enumerate().for_each(|(at, row)| row.sample = (at % 7).to_string());
            all
        })
    })
}

fn ids() -> Vec<serde_json::Value> {
    use serde_json::json;
    vec![json!(1), json!(1.0), json!(true), json!("1"), json!(2.5), json!(u64::MAX), json!("ü"), json!(-3)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn estimates_do_not_depend_on_the_order_of_scores(table in table()) {
        for plan in plans() {
            let mut reversed: Vec<Row> = table.clone();
            reversed.reverse();
            let (forwards, backwards) = (summary(&plan, &table), summary(&plan, &reversed));
            let random = Random::new(3, None);
            let expected = forwards.estimate(&plan, forwards.kind(), &random);
            prop_assert_eq!(backwards.estimate(&plan, backwards.kind(), &random), expected);
        }
    }

    #[test]
    fn clusters_of_one_are_independent_scores(values in prop::collection::vec(-5.0..5.0_f64, 2..40)) {
        let ids: Vec<usize> = (0..values.len()).collect();
        let iid = of(&ErrorPlan::new(), &values).error.unwrap();
        for method in ["CR1", "CR2", "jackknife"] {
            let plan = plan(&format!(r#"{{"method": "{method}", "cluster": "a"}}"#));
            let mean = estimate(&plan, &rows(&values, &ids, &[] as &[i64]));
            let error = mean.error.unwrap();
            assert_close(error.se, iid.se, 1e-13);
            assert_close(error.df, iid.df, 1e-13);
            if iid.se > 0.0 {
                assert_close(mean.notes.design_effect.unwrap(), 1.0, 1e-12);
            }
        }
    }

    #[test]
    fn clusters_of_one_size(values in prop::collection::vec(-5.0..5.0_f64, 1..12), g in 2..9_usize) {
        let all: Vec<f64> = values.iter().cycle().take(values.len() * g).enumerate()
            .map(|(at, x)| x * (at as f64 + 1.0).sqrt()).collect();
        let ids: Vec<usize> = (0..all.len()).map(|at| at % g).collect();
        let error = |method: &str| {
            let plan = plan(&format!(r#"{{"method": "{method}", "cluster": "a"}}"#));
            estimate(&plan, &rows(&all, &ids, &[] as &[i64])).error.unwrap()
        };
        let (cr0, cr1, cr2, cr3) = (error("CR0"), error("CR1"), error("CR2"), error("CR3"));
        let (jackknife, bootstrap) = (error("jackknife"), error("bootstrap"));
        assert_close(jackknife.se, cr1.se, 1e-13);
        assert_close(jackknife.df, (g - 1) as f64, 1e-13);
        // The ideal bootstrap, in closed form.
        assert_close(bootstrap.se, cr0.se, 1e-13);
        assert_close(cr2.se, cr1.se, 1e-13);
        assert_close(cr2.df, (g - 1) as f64, 1e-13);
        let factor = (g as f64 / (g - 1) as f64).sqrt();
        assert_close(cr1.se, cr0.se * factor, 1e-13);
        assert_close(cr3.se, cr1.se * factor, 1e-13);
    }
}
