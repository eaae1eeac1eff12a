//! The laws of merging, by bytes: equal partial results have equal bytes.

use errorbar_core::engine::{Recoded, RecodedKinds};
use errorbar_core::{LeafRef, metric_fn, metrics, reducer_fn, reducers};

use super::*;

/// Plans that see different things of samples.
fn plan_of(number: usize) -> Plan {
    match number {
        0 => plan("[accuracy(), stderr(), grouped(mean(), \"g\"), frequency()]", None, "{}"),
        1 => plan(
            "[mean(), ci_wilson(), weighted_mean(\"w\")]",
            Some(&["pass_at_2", "max"]),
            r#"{"cluster": "c"}"#,
        ),
        2 => plan("[median(), count(), perplexity_per_seq()]", Some(&[]), "{}"),
        3 => plan("{\"*\": [mean(), stderr()]}", Some(&["mode"]), "{}"),
        4 => plan("[bootstrap(accuracy(), num_samples=100), variance_components()]", None, "{}"),
        5 => plan(
            "[f1_score(\"human\", prediction=\"answer\"), mean()]",
            Some(&["majority"]),
            r#"{"draws": 100}"#,
        ),
        // Scorers that no plan names, in the order of their names.
        _ => Plan::new(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_split_gives_the_bytes_and_the_results_of_the_whole(
        samples in samples(14),
        shape in 0..SHAPES.len(),
        number in 0..7_usize,
        split in any::<u64>(),
        has_receipt in any::<bool>(),
    ) {
        let (plan, shape) = (plan_of(number), SHAPES[shape]);
        let all = columns(shape, &samples, |_| true);
        let part = |number: usize| {
            let is_here = |sample: usize| (split >> (2 * (sample % 32))) as usize % 4 == number;
            columns(shape, &samples, is_here)
        };
        let parts: Vec<ScoreColumns> = (0..4).map(part).collect();
        // Buckets that no two parts share, since the split is not by bucket.
        let of = |columns: &ScoreColumns, number: u16| {
            let partial = Partial::of(columns, &plan).unwrap();
            let buckets: Vec<u16> = vec![number; columns.len()];
            let stamped = if has_receipt { partial.with_buckets("g", &buckets) } else { Ok(partial) };
            stamped.unwrap().into_owned().unwrap()
        };
        let partials: Vec<Partial<'static>> = (0..).zip(&parts).map(|(at, part)| of(part, at)).collect();
        let bytes = |partial: &Partial<'_>| partial.to_bytes().unwrap();
        let get = |at: usize| partials[at].clone();

        // Commutative, associative, with an identity.
        let (ab, ba) = (get(0).merge(get(1)).unwrap(), get(1).merge(get(0)).unwrap());
        prop_assert_eq!(bytes(&ab), bytes(&ba));
        let left = ab.merge(get(2)).unwrap();
        let right = get(0).merge(get(1).merge(get(2)).unwrap()).unwrap();
        prop_assert_eq!(bytes(&left), bytes(&right));
        let empty = of(&columns(shape, &[], |_| true), 9);
        let alone = merged([of(&ScoreColumns::default(), 9), get(3)]);
        prop_assert_eq!(bytes(&alone), bytes(&get(3)));
        prop_assert_eq!(bytes(&merged([get(3), empty.clone()])), bytes(&merged([empty, get(3)])));

        // Any split, in any order, and through bytes.
        let split = merged([get(3), get(1), get(0), get(2)]);
        let sent = partials.iter().map(|partial| Partial::from_bytes(&bytes(partial), &plan).unwrap());
        prop_assert_eq!(bytes(&merged(sent)), bytes(&split));
        let of_all = Partial::of(&all, &plan).unwrap();
        if has_receipt {
            let receipt = of_all.with_receipt("g").unwrap().receipt().copied();
            prop_assert_eq!(split.receipt().copied(), receipt);
        } else {
            prop_assert_eq!(bytes(&of_all), bytes(&split));
        }
        let again = Partial::from_bytes(&bytes(&split), &plan).unwrap();
        prop_assert_eq!(bytes(&again), bytes(&split));
        prop_assert_eq!(shown(again.finish()), whole(&all, &plan));
        // Columns that nothing was merged with are finished in the same order.
        prop_assert_eq!(shown(Partial::of(&all, &plan).unwrap().finish()), whole(&all, &plan));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn the_order_of_rows_does_not_matter_in_key_order(samples in samples(14), shape in 0..SHAPES.len()) {
        let all = columns(SHAPES[shape], &samples, |_| true);
        let mut reversed = ScoreColumns::new(["s", "human"]);
        for row in (0..all.len()).rev() {
            let metadata = all.metadata_row(row);
            let entries = metadata.iter().map(|(key, value)| (key.as_str(), value));
            let mut copy = reversed.push_sample(&all.sample_id(row), all.epoch(row)).metadata_all(entries);
            if all.is_errored(row) {
                copy = copy.errored();
            }
            for scorer in ["human", "s"] {
                if let Some(score) = all.score(row, scorer) {
                    copy = copy.score(scorer, score).unwrap();
                }
            }
        }
        for number in 0..7 {
            prop_assert_eq!(whole(&all, &plan_of(number)), whole(&reversed, &plan_of(number)));
        }
    }
}

/// An integer id is the string of its digits: in one table they are one sample, in two partial results one of them is split.
#[test]
fn integer_ids_are_the_strings_of_their_digits() {
    let part = |rows: &[(SampleId, u32)]| {
        let mut columns = ScoreColumns::new(["s"]);
        for (id, epoch) in rows {
            columns.push_sample(id, *epoch).score("s", Score::new(1)).unwrap();
        }
        columns
    };
    let (number, text) = (SampleId::from(7), SampleId::from("7"));
    for number_of_plan in [0, 4] {
        let plan = plan_of(number_of_plan);
        let bytes = |rows: &[(SampleId, u32)]| {
            Partial::of(&part(rows), &plan).unwrap().with_receipt("g").unwrap().to_bytes().unwrap()
        };
        let whole = bytes(&[(number.clone(), 1), (text.clone(), 2)]);
        assert_eq!(whole, bytes(&[(text.clone(), 2), (text.clone(), 1)]));
        let sent = |rows: &[(SampleId, u32)]| Partial::from_bytes(&bytes(rows), &plan).unwrap();
        let split = sent(&[(number.clone(), 1)]).merge(sent(&[(text.clone(), 2)]));
        assert!(split.unwrap_err().to_string().contains("hash bucket"));
        let twice = part(&[(number.clone(), 1), (text.clone(), 1)]);
        assert!(Partial::of(&twice, &plan).unwrap().into_owned().is_err());
    }
}

#[test]
fn reduced_scores_in_key_order_are_those_of_their_samples() {
    let samples: Vec<u32> = (0..20).map(|at: u32| at.wrapping_mul(0x85eb_ca6b)).collect();
    let columns = columns(Shape::Grades, &samples, |_| true);
    for reducer in ["mean", "majority", "collect"] {
        let plan = plan("[accuracy()]", Some(&[reducer]), "{}");
        let by_appearance = plan.evaluate(&columns).unwrap();
        let by_key = plan.order(Order::Key).evaluate(&columns).unwrap();
        for reduction in &by_appearance.reductions {
            let same = by_key.reductions.iter().find(|other| other.scorer == reduction.scorer).unwrap();
            let sorted = |reduction: &errorbar_core::Reduction| -> Vec<(SampleId, Score)> {
                reduction.iter_by_key(&columns).collect()
            };
            assert_eq!(sorted(reduction), sorted(same), "{reducer}");
            let ids: Vec<String> = same.iter(&columns).map(|(id, _)| id.to_string()).collect();
            assert!(ids.is_sorted() && ids.len() > 10, "{ids:?}");
        }
    }
}

/// In a table `PASS` is 1 for most metrics, and `PASS` for those of labels. A part may have no such cell.
#[test]
fn labels_are_merged_with_scores_that_have_none() {
    let part = |ids: [&str; 2], is_written: bool| {
        let mut columns = ScoreColumns::new(["s"]);
        let values = if is_written { ["PASS", "FAIL"] } else { ["C", "I"] };
        for (id, value) in ids.into_iter().zip(values) {
            columns.push(id, 1).score("s", Score::new(value)).unwrap();
        }
        if is_written {
            columns.keep_labels();
            columns.recode_scores(RecodedKinds::Strings, |leaf| match leaf {
                LeafRef::Str("PASS") => Recoded::Value(1.into()),
                _ => Recoded::Value(0.into()),
            });
        }
        columns
    };
    let plan = plan("[accuracy(), frequency()]", None, "{}");
    let of = |columns: &ScoreColumns| Partial::of(columns, &plan).unwrap().into_owned().unwrap();
    let (with, without) = (of(&part(["b", "a"], true)), of(&part(["d", "c"], false)));
    let one = with.clone().merge(without.clone()).unwrap();
    let other = without.merge(with).unwrap();
    assert_eq!(one.to_bytes().unwrap(), other.to_bytes().unwrap());
    let sent = Partial::from_bytes(&one.to_bytes().unwrap(), &plan).unwrap();
    let results = sent.finish().unwrap();
    assert_eq!(results.estimate("accuracy").unwrap().number(), Some(0.5));
    let rows = results.rows();
    let keys: Vec<&str> = rows.iter().filter_map(|row| row.key).collect();
    assert_eq!(keys, ["C", "FAIL", "I", "PASS"]);
}

/// A custom metric and a custom reducer may read all of a score and its sample.
#[test]
fn custom_entries_see_all_that_there_is() {
    let seen = metric_fn("seen", |scores: &errorbar_core::Scores<'_>| {
        let mut seen: Vec<String> = scores.into_iter().map(|sample| format!("{sample:?}")).collect();
        seen.sort();
        let hash = blake3::hash(seen.join("\n").as_bytes());
        Ok(f64::from(u32::from_le_bytes(*hash.as_bytes().first_chunk().unwrap())))
    });
    let whole_scores = reducer_fn("whole", |scores: &[Score]| {
        let hash = blake3::hash(format!("{scores:?}").as_bytes());
        let first = scores.first().cloned().unwrap();
        Ok(Score { value: Value::from(i64::from(hash.as_bytes()[0])), ..first })
    });
    let mut plan = Plan::new().metrics(metrics![seen]);
    let samples: Vec<u32> = (0..24).map(|at: u32| (at % 9).wrapping_mul(0x85eb_ca6b)).collect();
    let mut all = columns(Shape::Mixed, &samples, |_| true);
    let mut edited = Score::new(0.5).answer("a").metadata("k", json!({"b": [1], "a": null}));
    edited.history.push(json!({"value": 1, "author": "x"}));
    all.push("edited", 1).score("s", edited).unwrap();
    for reducers in [Reducers::Implicit, Reducers::Disabled, reducers![whole_scores]] {
        plan.reducers = reducers;
        let partial = Partial::of(&all, &plan).unwrap().into_owned().unwrap();
        let sent = Partial::from_bytes(&partial.to_bytes().unwrap(), &plan).unwrap();
        assert_eq!(shown(sent.finish()), whole(&all, &plan));
    }
}
