//! Merging equals the whole, for every split and order; bytes come back and are canonical; other bytes are refused.

use errorbar_core::{ErrorPlan, Random, Summary};
use proptest::prelude::*;

use super::{Row, add, assert_close, estimate, of, plan, rows, summary};

fn bytes(summary: &Summary) -> Vec<u8> {
    let mut out = Vec::new();
    summary.write(&mut out);
    out
}

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
    fn parts_in_any_order_are_the_whole(
        table in table(),
        split in prop::collection::vec(0..5_usize, 90),
        order in Just(vec![0_usize, 1, 2, 3, 4]).prop_shuffle(),
        by_sample in any::<bool>(),
    ) {
        for plan in plans() {
            let empty = || Summary::for_plan(&plan, by_sample);
            let mut whole = empty();
            add(&mut whole, &plan, &table).unwrap();
            let mut parts = vec![empty(); 5];
            for (part, summary) in parts.iter_mut().enumerate() {
                let rows: Vec<Row> =
                    table.iter().zip(&split).filter(|(_, to)| **to == part).map(|(row, _)| row.clone()).collect();
                add(summary, &plan, &rows).unwrap();
            }
            let mut merged = empty();
            order.iter().for_each(|part| merged.merge(&parts[*part]).unwrap());
            prop_assert_eq!(bytes(&merged), bytes(&whole));
            // As a tree, through bytes, with the empty one in between.
            let mut pair = parts[order[0]].clone();
            pair.merge(&parts[order[1]]).unwrap();
            let mut rest = Summary::read(&mut bytes(&parts[order[2]]).as_slice()).unwrap();
            rest.merge(&empty()).unwrap();
            rest.merge(&parts[order[3]]).unwrap();
            rest.merge(&parts[order[4]]).unwrap();
            rest.merge(&pair).unwrap();
            prop_assert_eq!(bytes(&rest), bytes(&whole));
            let random = Random::new(3, None);
            let expected = whole.estimate(&plan, whole.kind(), &random);
            prop_assert_eq!(&merged.estimate(&plan, merged.kind(), &random), &expected);
            prop_assert_eq!(&rest.estimate(&plan, rest.kind(), &random), &expected);
            let mut reversed: Vec<Row> = table.clone();
            reversed.reverse();
            let mut backwards = empty();
            add(&mut backwards, &plan, &reversed).unwrap();
            prop_assert_eq!(bytes(&backwards), bytes(&whole));
        }
    }

    #[test]
    fn other_bytes_are_refused_or_are_a_summary(
        table in table(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        cut in any::<prop::sample::Index>(),
    ) {
        for plan in plans() {
            let good = bytes(&summary(&plan, &table));
            let cut = cut.index(good.len());
            prop_assert!(Summary::read(&mut &good[..cut]).is_err());
            let mut changed = good.clone();
            for (at, byte) in &changes {
                let at = at.index(changed.len());
                changed[at] = *byte;
            }
            let mut rest = changed.as_slice();
            if let Ok(mut summary) = Summary::read(&mut rest) {
                // What is read is canonical, and can be worked with.
                let read = &changed[..changed.len() - rest.len()];
                prop_assert_eq!(bytes(&summary), read);
                let _ = summary.estimate(&plan, summary.kind(), &Random::default());
                let same = summary.clone();
                let _ = summary.merge(&same);
                let _ = summary.estimate(&plan, summary.kind(), &Random::default());
            }
        }
    }

    #[test]
    fn noise_is_no_summary(noise in prop::collection::vec(any::<u8>(), 0..200), kind in 0..5_u8) {
        let bytes: Vec<u8> = std::iter::once(kind).chain(noise).collect();
        if let Ok(summary) = Summary::read(&mut bytes.as_slice()) {
            let _ = summary.estimate(&ErrorPlan::new(), summary.kind(), &Random::default());
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

#[test]
fn summaries_of_different_plans_do_not_merge() {
    let all: Vec<Summary> = plans().iter().map(|plan| Summary::for_plan(plan, false)).collect();
    for (a, first) in all.iter().enumerate() {
        for (b, second) in all.iter().enumerate() {
            assert_eq!(first.clone().merge(second).is_ok(), a == b);
        }
    }
    // Two keys into a summary for one.
    let mut one = all[1].clone();
    assert!(add(&mut one, &plans()[2], &rows(&[1.0], &[1], &[1])).is_err());
}

#[test]
fn more_scores_than_a_float_counts_are_refused() {
    // 60 ones; then the same bytes with the count, sum and sum of squares of 2^53 ones.
    let ones = rows(&[1.0; 60], &[] as &[i64], &[] as &[i64]);
    let small = bytes(&summary(&ErrorPlan::new(), &ones));
    let count = |n: u64| {
        let mut bytes = vec![1];
        bytes.extend(n.to_le_bytes());
        let (limbs, at): (Vec<u32>, u8) =
            if n < 1 << 32 { (vec![n as u32], 68) } else { (vec![(n >> 32) as u32], 69) };
        for _ in 0..2 {
            bytes.extend([0, at, 1]);
            bytes.extend(limbs[0].to_le_bytes());
        }
        bytes.extend(&small[small.len() - 18..]);
        bytes
    };
    assert_eq!(count(60), small);
    let mut most = Summary::read(&mut count(1 << 53).as_slice()).unwrap();
    assert!(Summary::read(&mut count(1 << 54).as_slice()).is_err());
    assert_eq!(most.n(), 1 << 53);
    assert_eq!(most.merge(&most.clone()).unwrap_err().to_string(), "summary: a count beyond 2^53");
}

/// Bytes that are valid one by one and contradict each other.
#[test]
fn bytes_that_contradict_themselves_are_refused() {
    let read = |bytes: &[u8]| Summary::read(&mut &*bytes).map(|summary| summary.n());
    // Two scores in one cluster: what is before the clusters, then their number, then id, count and sum of each.
    let plan = ErrorPlan::new().cluster("a");
    let good = bytes(&summary(&plan, &rows(&[1.0, 0.0], &[1, 1], &[1, 1])));
    let clusters = |all: &[(i64, u64, &[u8])]| {
        let mut out = good[..good.len() - (8 + 9 + 8 + 7)].to_vec();
        out.extend((all.len() as u64).to_le_bytes());
        for (id, n, sum) in all {
            out.push(1);
            out.extend(id.to_le_bytes());
            out.extend(n.to_le_bytes());
            out.extend(*sum);
        }
        out
    };
    let (zero, one, two): (&[u8], &[u8], &[u8]) =
        (&[0, 0, 0], &[0, 68, 1, 1, 0, 0, 0], &[0, 68, 1, 2, 0, 0, 0]);
    assert_eq!(clusters(&[(1, 2, one)]), good);
    assert_eq!(read(&clusters(&[(1, 1, one), (2, 1, zero)])), Ok(2));
    for wrong in [
        clusters(&[(1, 2, one), (2, 0, zero)]),
        clusters(&[(2, 1, one), (1, 1, zero)]),
        clusters(&[(1, 1, one), (1, 1, zero)]),
        clusters(&[(1, 3, one)]),
        clusters(&[(1, 2, two)]),
        clusters(&[]),
    ] {
        assert!(read(&wrong).is_err(), "{wrong:?}");
    }
    // The same sum with a zero limb below or above, as minus zero, beyond all sums, of an unknown sign.
    let wide = |low: u8, limbs: &[u32]| {
        let mut out = vec![0, low, limbs.len() as u8];
        limbs.iter().for_each(|limb| out.extend(limb.to_le_bytes()));
        out
    };
    assert_eq!(wide(68, &[1]), one);
    for sum in [&wide(67, &[0, 1])[..], &wide(68, &[1, 0]), &[3], &wide(255, &[1])] {
        assert!(read(&clusters(&[(1, 2, sum)])).is_err(), "{sum:?}");
    }
    for sum in [&[1, 0, 0][..], &[0, 68, 0]] {
        assert!(read(&clusters(&[(1, 1, one), (2, 1, sum)])).is_err(), "{sum:?}");
    }
    // 60 scores within 0 and 1 with the sum 61.
    let ones = bytes(&summary(&ErrorPlan::new(), &rows(&[1.0; 60], &[] as &[i64], &[] as &[i64])));
    let mut above = ones.clone();
    assert_eq!((read(&ones), above[12]), (Ok(60), 60));
    above[12] = 61;
    assert!(read(&above).is_err());
}
