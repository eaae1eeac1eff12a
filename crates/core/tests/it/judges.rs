//! Agreement of raters and judge-corrected means: published figures, arithmetic by hand, and what has no figure.

use errorbar_core::{
    ClusterVariance, Error, ErrorMethod, ErrorPlan, Estimate, IntervalChoice, IntervalMethod, Plan, Registry,
    Score, ScoreColumns, Undefined, Value,
};

/// The only estimate of a metric, by its spec; or its failure.
fn compute_with(columns: &ScoreColumns, errors: ErrorPlan, metric: &str) -> Result<Estimate, Error> {
    let metric = Registry::built_in().metric(&metric.parse().unwrap())?;
    let plan = Plan::new().metrics([metric].into_iter().collect()).errors(errors);
    let results = plan.evaluate(columns)?.results;
    let failures = results.scores.iter().flat_map(|block| &block.failures);
    if let Some(failure) = failures.clone().next() {
        return Err(failure.error.clone());
    }
    let mut found = results.scores.iter().flat_map(|block| &block.metrics);
    let estimate = found.next().expect("a figure").value.estimate().unwrap().clone();
    assert!(found.next().is_none(), "one figure");
    Ok(estimate)
}

fn compute(columns: &ScoreColumns, metric: &str) -> Estimate {
    compute_with(columns, ErrorPlan::new(), metric).unwrap()
}

/// Two raters, with as many samples as are counted for each pair of labels.
fn pairs<L: Into<Value> + Clone>(counted: &[(L, L, usize)]) -> ScoreColumns {
    let mut columns = ScoreColumns::new(["a", "b"]);
    let all = counted.iter().flat_map(|(a, b, count)| std::iter::repeat_n((a, b), *count));
    for (at, (a, b)) in all.enumerate() {
        let row = columns.push(format!("{at:04}"), 1).score("a", Score::new(a.clone())).unwrap();
        row.score("b", Score::new(b.clone())).unwrap();
    }
    columns
}

#[track_caller]
fn close(estimate: &Estimate, expected: f64) {
    let found = estimate.number().unwrap();
    assert!((found - expected).abs() < 1e-12, "{found} {expected}");
}

#[test]
fn cohen_by_hand() {
    // Fifty proposals: p_o = 35/50, p_e = (25·30 + 25·20)/2500 = 1/2.
    let columns = pairs(&[("yes", "yes", 20), ("yes", "no", 5), ("no", "yes", 10), ("no", "no", 15)]);
    let kappa = compute(&columns, "cohen_kappa('a', 'b')");
    close(&kappa, 0.4);
    let interval = kappa.interval.as_ref().unwrap();
    assert_eq!((interval.method, kappa.n), (IntervalMethod::Bootstrap, 50));
    assert!(interval.lower < 0.4 && 0.4 < interval.upper);
    assert_eq!(kappa.notes.custom["agreement"], 0.7);
    // The other way round, from either scorer, and over grades.
    close(&compute(&columns, "cohen_kappa('b', 'a')"), 0.4);

    // Labels 1, 2, 4: distances count, so 2–4 is twice as bad as 1–2. Σ o·d = (1 + 2 + 2)/6; the counts of a are 2, 2, 2
    // and those of b 1, 3, 2, so Σ e·d = (2·3·1 + 2·2·3 + 2·1·1 + 2·2·2 + 2·1·3 + 2·3·2)/36 = 46/36.
    let columns = pairs(&[(1, 1, 1), (1, 2, 1), (2, 2, 1), (2, 4, 1), (4, 4, 1), (4, 2, 1)]);
    let linear = compute(&columns, "cohen_kappa('a', 'b', weights='linear')");
    close(&linear, 1.0 - (5.0 / 6.0) / (46.0 / 36.0));
    // By place, 2–4 is as bad as 1–2: Σ e·d = (2·3·1 + 2·2·2 + 2·1·1 + 2·2·1 + 2·1·2 + 2·3·1)/36.
    let placed = compute(&columns, "cohen_kappa('a', 'b', weights='linear', order=[1, 2, 4])");
    close(&placed, 1.0 - (3.0 / 6.0) / (30.0 / 36.0));
}

#[test]
fn grades_have_an_order_and_other_words_need_one() {
    let columns = pairs(&[("C", "C", 5), ("P", "I", 3), ("I", "I", 4), ("C", "P", 2)]);
    let worth = |grade: &str| {
        f64::from(match grade {
            "C" => 2,
            "P" => 1,
            _ => 0,
        })
    };
    let numbers = [("C", "C", 5), ("P", "I", 3), ("I", "I", 4), ("C", "P", 2)];
    let numbers = pairs(&numbers.map(|(a, b, count)| (worth(a), worth(b), count)));
    let weighted = "cohen_kappa('a', 'b', weights='quadratic')";
    assert_eq!(compute(&columns, weighted).value, compute(&numbers, weighted).value);
    let words = pairs(&[("good", "good", 5), ("fair", "bad", 3), ("bad", "bad", 4), ("good", "fair", 2)]);
    let failed = |metric: &str| compute_with(&words, ErrorPlan::new(), metric).unwrap_err();
    assert!(matches!(failed(weighted), Error::Argument { argument, .. } if argument == "weights"));
    let lacking = failed("cohen_kappa('a', 'b', weights='linear', order=['bad', 'good'])");
    assert!(matches!(&lacking, Error::Argument { argument, .. } if argument == "order"));
    assert_eq!(
        lacking.to_string(),
        "cohen_kappa: argument `order` lacks the label \"fair\" (sample \"0005\"); list every label, the lowest first"
    );
    let ordered =
        compute(&words, "cohen_kappa('a', 'b', weights='quadratic', order=['bad', 'fair', 'good'])");
    assert_eq!(ordered.value, compute(&numbers, weighted).value);
    // As numbers, a grade equals what it is worth.
    let mixed =
        pairs::<Value>(&[("C".into(), 1.into(), 3), ("I".into(), 0.into(), 3), ("C".into(), 0.into(), 1)]);
    close(&compute(&mixed, "cohen_kappa('a', 'b', to_float=value_to_float())"), 1.0 - 7.0 / 25.0);
}

#[test]
fn fleiss_published() {
    // Fleiss 1971 as it is reprinted: ten subjects, fourteen raters, five labels, κ = 0.210.
    let counts = [
        [0, 0, 0, 0, 14],
        [0, 2, 6, 4, 2],
        [0, 0, 3, 5, 6],
        [0, 3, 9, 2, 0],
        [2, 2, 8, 1, 1],
        [7, 7, 0, 0, 0],
        [3, 2, 6, 3, 0],
        [2, 5, 3, 2, 2],
        [6, 5, 2, 1, 0],
        [0, 2, 2, 3, 7],
    ];
    let mut columns = ScoreColumns::new(["s"]);
    for (at, subject) in counts.iter().enumerate() {
        let labels = (0..5_i64).flat_map(|label| vec![label; subject[label as usize]]).collect::<Vec<_>>();
        columns.push(at.to_string(), 1).score("s", Score::new(Value::list(labels))).unwrap();
    }
    let kappa = compute(&columns, "fleiss_kappa()");
    assert_eq!(format!("{:.3}", kappa.number().unwrap()), "0.210");
    // A subject with fewer ratings is left out and counted.
    columns.push("x", 1).score("s", Score::new(Value::list([1, 1, 1]))).unwrap();
    let again = compute(&columns, "fleiss_kappa()");
    assert_eq!(again.value, kappa.value);
    assert_eq!((again.n, &again.notes.custom["left_out_samples"]), (10, &1.into()));
    let scalar = compute_with(&pairs(&[(1, 1, 2)]), ErrorPlan::new(), "fleiss_kappa()");
    assert!(scalar.unwrap_err().to_string().contains("the score of sample"));
}

#[test]
fn gwet_published() {
    // Gwet 2008: one label prevails, κ = −0.0234 and AC1 = 0.9408.
    let columns = pairs(&[(1, 1, 118), (1, 2, 5), (2, 1, 2)]);
    let four = |metric: &str| format!("{:.4}", compute(&columns, metric).number().unwrap());
    assert_eq!(four("cohen_kappa('a', 'b')"), "-0.0234");
    assert_eq!(four("gwet_ac1(['a', 'b'])"), "0.9408");
    // A label that no rater gave lowers chance.
    let wider = compute(&columns, "gwet_ac1(['a', 'b'], order=[1, 2, 3])").number().unwrap();
    assert!(wider > 0.9408);
}

#[test]
fn clusters_are_the_units() {
    let counted = [(0, 0, 12), (0, 1, 4), (1, 0, 6), (1, 1, 18)];
    let once = pairs(&counted);
    let mut twice = ScoreColumns::new(["a", "b"]);
    for row in 0..once.len() {
        for copy in 0..2 {
            let at = twice.push(format!("{row:04}-{copy}"), 1).metadata("source", row);
            let at = at.score("a", once.score(row, "a").unwrap()).unwrap();
            at.score("b", once.score(row, "b").unwrap()).unwrap();
        }
    }
    let clustered = ErrorPlan::new().cluster("source");
    for metric in ["cohen_kappa('a', 'b')", "gwet_ac1(['a', 'b'])", "krippendorff_alpha(raters=['a', 'b'])"] {
        let error = |columns: &ScoreColumns, plan: ErrorPlan| {
            compute_with(columns, plan, metric).unwrap().error.unwrap()
        };
        let alone = error(&once, ErrorPlan::new());
        let by_source = error(&twice, clustered.clone());
        assert_eq!(by_source.clusters, [40]);
        // Two copies of a sample are one unit: the same resamples, so the same error (α aside, whose N differs).
        assert!((by_source.se / alone.se - 1.0).abs() < 0.02, "{metric}: {} {}", by_source.se, alone.se);
        let independent = error(&twice, ErrorPlan::new());
        assert!((independent.se * 2_f64.sqrt() / alone.se - 1.0).abs() < 0.06, "{metric}");
    }
}

/// An agreement of 0 between grades and numbers would look like a judge that is no good.
#[test]
fn raters_whose_labels_differ_are_refused() {
    let columns = |first: [&str; 2], second: [Value; 2]| {
        let mut columns = ScoreColumns::new(["a", "b"]);
        for at in 0..12_usize {
            let row = columns.push(at.to_string(), 1);
            let row = row.score("a", Score::new(first[at % 2])).unwrap();
            row.score("b", Score::new(second[usize::from(at % 3 == 0)].clone())).unwrap();
        }
        columns
    };
    let grades = columns(["C", "I"], [Value::from(1), Value::from(0)]);
    let one_label = columns(["yes", "yes"], [Value::from("no"), Value::from("no")]);
    for metric in ["cohen_kappa('a', 'b')", "gwet_ac1(['a', 'b'])", "fleiss_kappa(['a', 'b'])"] {
        let refused = compute_with(&grades, ErrorPlan::new(), metric);
        assert!(matches!(refused, Err(Error::Undefined { .. })), "{metric}: {refused:?}");
        let converted = metric.replace(')', ", to_float=value_to_float())");
        assert!(compute_with(&grades, ErrorPlan::new(), &converted).unwrap().value.is_ok(), "{converted}");
        // Each may have a label that the other never gives.
        assert!(compute_with(&one_label, ErrorPlan::new(), metric).is_ok(), "{metric}");
    }
}

/// A judge's scores and a human's labels.
fn judged(rows: &[(f64, Option<f64>)]) -> ScoreColumns {
    let mut columns = ScoreColumns::new(["judge", "human"]);
    for (at, (judge, human)) in rows.iter().enumerate() {
        let row = columns.push(format!("{at:04}"), 1).metadata("pair", at / 2);
        let row = row.score("judge", Score::new(*judge)).unwrap();
        if let Some(human) = human {
            row.score("human", Score::new(*human)).unwrap();
        }
    }
    columns
}

const EIGHT: [(f64, Option<f64>); 8] = [
    (1.0, Some(1.0)),
    (0.0, Some(0.0)),
    (0.0, Some(1.0)),
    (0.0, Some(0.0)),
    (1.0, None),
    (1.0, None),
    (0.0, None),
    (0.0, None),
];

#[test]
fn ppi_by_hand() {
    let columns = judged(&EIGHT);
    // ȳ = 1/2, f̄ = 1/4 with labels and 1/2 without.
    let one = compute(&columns, "ppi('human', lambda=1)");
    close(&one, 0.75);
    // y − f is 0, 0, 1, 0 with s² = 1/4; f without labels has s² = 1/3.
    assert!((one.stderr().unwrap() - (1.0 / 16.0 + 1.0 / 12.0_f64).sqrt()).abs() < 1e-15);
    assert_eq!(one.error.as_ref().unwrap().method, ErrorMethod::Delta);
    // Welch: (V₁ + V₂)²/(V₁²/3 + V₂²/3).
    let (labelled, others) = (1.0 / 16.0, 1.0 / 12.0_f64);
    let df = (labelled + others).powi(2) * 3.0 / (labelled * labelled + others * others);
    assert!((one.error.as_ref().unwrap().df - df).abs() < 1e-12);
    // The labels alone: s² = 1/3.
    let none = compute(&columns, "ppi('human', lambda=0)");
    close(&none, 0.5);
    assert!((none.stderr().unwrap() - (1.0 / 12.0_f64).sqrt()).abs() < 1e-15);
    // λ = (1/8)/(2 · 1.875/7).
    let tuned = compute(&columns, "ppi('human')");
    let lambda = 0.125 / (2.0 * 1.875 / 7.0);
    assert!((tuned.notes.custom["lambda"].as_f64().unwrap() - lambda).abs() < 1e-15);
    close(&tuned, 0.5 + lambda * 0.25);
    assert!(tuned.stderr() < none.stderr() && tuned.stderr() < one.stderr());
    assert_eq!((tuned.n, &tuned.notes.custom["labelled"]), (8, &4.into()));
    assert_eq!(tuned.notes.custom["naive"], 0.375);
    // Cut to the range of the scores.
    let interval = one.interval.unwrap();
    assert_eq!((interval.upper, interval.method), (1.0, IntervalMethod::T));
}

#[test]
fn ppi_at_its_edges() {
    // Every sample has a label: the mean of the labels.
    let all = EIGHT.map(|(judge, _)| (judge, Some(1.0 - judge)));
    let estimate = compute(&judged(&all), "ppi('human')");
    close(&estimate, 0.625);
    assert_eq!(estimate.notes.custom["lambda"], 0.0);
    let few = EIGHT.map(|(judge, _)| (judge, None));
    let mut few = few.to_vec();
    few[0].1 = Some(1.0);
    let estimate = compute(&judged(&few), "ppi('human')");
    assert_eq!(
        estimate.value,
        Err(Undefined::Other("1 of 8 samples have a label, and it takes two".to_owned()))
    );
    // A judge that always says the same is no help.
    let constant = EIGHT.map(|(_, human)| (1.0, human));
    let estimate = compute(&judged(&constant), "ppi('human')");
    close(&estimate, 0.5);
    assert_eq!(estimate.notes.custom["lambda"], 0.0);
    let outside = compute_with(&judged(&EIGHT), ErrorPlan::new(), "ppi('human', lambda=1.5)");
    assert!(matches!(outside, Err(Error::Argument { argument, .. }) if argument == "lambda"));
}

#[test]
fn corrected_means_of_clusters_and_by_resampling() {
    // A judge that is right in 9 of 10, on 400 samples of which half have a label.
    let row = |at: u32| {
        let truth = f64::from(u8::from(at % 5 < 3));
        let judge = if at % 10 == 7 { 1.0 - truth } else { truth };
        (judge, (at / 10).is_multiple_of(2).then_some(truth))
    };
    let rows: Vec<(f64, Option<f64>)> = (0..400).map(|at| row(at * 7)).collect();
    let columns = judged(&rows);
    for metric in ["ppi('human')", "rogan_gladen('human')"] {
        let plain = compute(&columns, metric).error.unwrap();
        let by_pair =
            compute_with(&columns, ErrorPlan::new().cluster("pair"), metric).unwrap().error.unwrap();
        assert_eq!(
            (by_pair.method, by_pair.clusters.as_slice()),
            (ErrorMethod::Cluster(ClusterVariance::Cr1), &[200][..])
        );
        assert!(by_pair.se != plain.se);
        let mut drawn = ErrorPlan::new();
        drawn.interval = IntervalChoice::Method(IntervalMethod::Bootstrap);
        let drawn = compute_with(&columns, drawn, metric).unwrap();
        assert_eq!(drawn.error.as_ref().unwrap().method, ErrorMethod::Bootstrap);
        assert!((drawn.stderr().unwrap() / plain.se - 1.0).abs() < 0.15, "{metric}: {drawn:?} {plain:?}");
    }
}

#[test]
fn a_corrected_mean_has_no_population() {
    let reason = |errors: &str, metric: &str| {
        let mut rows = EIGHT.to_vec();
        rows[2].0 = 1.0;
        let estimate = compute_with(&judged(&rows), errors.parse().unwrap(), metric).unwrap();
        assert!(estimate.value.is_ok());
        assert_eq!(estimate.error.as_ref().err(), estimate.interval.as_ref().err());
        estimate.error.unwrap_err()
    };
    for metric in ["ppi('human')", "rogan_gladen('human')"] {
        let closed = reason(r#"{"population": 5}"#, metric);
        assert!(matches!(closed, Undefined::Other(_)));
        for errors in [r#"{"population": 500}"#, r#"{"population": 500, "method": "bootstrap"}"#] {
            assert_eq!(reason(errors, metric), closed, "{metric} {errors}");
        }
    }
}

#[test]
fn a_range_that_scores_lie_outside_of_cuts_nothing() {
    let rows: Vec<(f64, Option<f64>)> =
        (18..=30).map(|at| (f64::from(at), (at % 2 == 0).then(|| f64::from(at + 1)))).collect();
    for errors in [r#"{"side": "upper"}"#, "{}"] {
        let errors: ErrorPlan = errors.parse().unwrap();
        let free = compute_with(&judged(&rows), errors.clone(), "ppi('human')").unwrap();
        let mut ranged = errors;
        ranged.range = Some((0.0, 10.0));
        let ranged = compute_with(&judged(&rows), ranged, "ppi('human')").unwrap();
        assert_eq!(ranged.interval, free.interval);
        assert!(free.number().unwrap() < free.interval.unwrap().upper);
    }
}

#[test]
fn clusters_of_corrected_means_without_a_spread() {
    let mut columns = ScoreColumns::new(["judge", "human"]);
    // Each value of both keys has the same labels; each pair of values has one.
    for at in 0..4 {
        let (row, column) = (at / 2, at % 2);
        let label = f64::from(u8::from(row == column));
        let at = columns.push(at.to_string(), 1).metadata("r", row).metadata("c", column);
        let at = at.score("judge", Score::new(label)).unwrap();
        at.score("human", Score::new(label)).unwrap();
    }
    let one = compute_with(&columns, ErrorPlan::new().cluster("r"), "ppi('human')").unwrap();
    assert_eq!((one.stderr(), one.interval), (Some(0.0), Err(Undefined::NoSpread { n: 4 })));
    // 0 + 0 − V is negative, and the larger of the first two is 0.
    let two = r#"{"cluster": ["r", "c"]}"#.parse().unwrap();
    let two = compute_with(&columns, two, "ppi('human')").unwrap();
    assert_eq!((two.stderr(), two.notes.is_caution), (Some(0.0), true));
    let huge: Vec<_> = [1.0, -1.0, 1.0, 0.5].map(|x| (x * 1e308, Some(x * 1e308))).into();
    let huge = compute_with(&judged(&huge), ErrorPlan::new().cluster("pair"), "ppi('human')").unwrap();
    assert!(huge.error.is_err() || huge.stderr().unwrap() > 1e300, "{huge:?}");
}

/// 5 of 20 samples have labels, and the judge agrees with all of them.
fn agreeing() -> Vec<(f64, Option<f64>)> {
    let score = |at: u8| f64::from(u8::from(at % 5 < 3));
    (0..20).map(|at| (score(at), (at < 5).then(|| score(at)))).collect()
}

#[test]
fn labels_without_a_disagreement_leave_some_open() {
    let columns = judged(&agreeing());
    let t = ErrorPlan::from_json(&serde_json::json!({"interval": "t"})).unwrap();
    for (metric, weight) in [("ppi('human', lambda=1)", 1.0), ("rogan_gladen('human')", 0.75)] {
        let (auto, plain) = (compute(&columns, metric), compute_with(&columns, t.clone(), metric).unwrap());
        assert!(auto.notes.is_caution && plain.notes.is_caution, "{metric}");
        let note = auto.notes.reason.clone().unwrap();
        assert!(note.starts_with("no disagreement in 5 labels: up to 52.2 % may be"), "{note}");
        // The two distances, as squares: that of t, and 1 − 0.025^(1/5) of the range.
        let unseen = weight * (1.0 - 0.025_f64.powf(0.2));
        let (value, plain, auto) = (auto.number().unwrap(), plain.interval.unwrap(), auto.interval.unwrap());
        assert!((auto.lower - (value - (value - plain.lower).hypot(unseen)).max(0.0)).abs() < 1e-12);
        assert!((auto.upper - (value + (plain.upper - value).hypot(unseen)).min(1.0)).abs() < 1e-12);
        assert!(auto.lower < plain.lower && plain.upper < auto.upper, "{metric} {auto:?} {plain:?}");
        // Five labels in three pairs are three.
        let by_pair = compute_with(&columns, ErrorPlan::new().cluster("pair"), metric).unwrap();
        assert!(by_pair.notes.reason.unwrap().contains("no disagreement in 5 labels: up to 70.8 % may be"));
        let mut rows = agreeing();
        rows[1].0 = 0.0;
        assert!(!compute(&judged(&rows), metric).notes.is_caution, "{metric}");
        // All have labels: the judge adds nothing.
        let all: Vec<_> = agreeing().into_iter().map(|(judge, _)| (judge, Some(judge))).collect();
        assert!(!compute(&judged(&all), metric).notes.is_caution, "{metric}");
    }
    // A range that is not known: only the note.
    let points: Vec<_> =
        agreeing().into_iter().map(|(judge, human)| (9.0 * judge, human.map(|human| 9.0 * human))).collect();
    let auto = compute(&judged(&points), "ppi('human', lambda=1)");
    let plain = compute_with(&judged(&points), t, "ppi('human', lambda=1)").unwrap();
    assert_eq!((auto.interval, auto.notes.is_caution), (plain.interval, true));
    let drawn: ErrorPlan = r#"{"interval": "bootstrap"}"#.parse().unwrap();
    assert!(compute_with(&columns, drawn, "ppi('human')").unwrap().notes.is_caution);
}

#[test]
fn equal_labels_have_the_interval_of_their_number() {
    // The judge varies, and five labels do not: 5/(5 + 1.96²) is Wilson's lower end for five of five.
    let rows: Vec<_> = agreeing().into_iter().map(|(judge, human)| (judge, human.map(|_| 1.0))).collect();
    let ppi = compute(&judged(&rows), "ppi('human')");
    assert_eq!(ppi.error, Err(Undefined::Other("no spread in 5 labels".to_owned())));
    let interval = ppi.interval.unwrap();
    assert!((interval.lower - 0.565_517_5).abs() < 1e-6 && interval.upper == 1.0, "{interval:?}");
    let points: Vec<_> = rows.iter().map(|(judge, human)| (9.0 * judge, *human)).collect();
    let ppi = compute(&judged(&points), "ppi('human')");
    assert_eq!(ppi.interval, Err(Undefined::Other("no spread in 5 labels".to_owned())));
}

#[test]
fn corrections_that_only_means_have_are_noted() {
    let error = |method: &str| {
        let errors = format!(r#"{{"cluster": "pair", "method": "{method}"}}"#).parse().unwrap();
        let estimate = compute_with(&judged(&EIGHT), errors, "ppi('human')").unwrap();
        (estimate.error.unwrap(), estimate.notes.is_caution)
    };
    let (cr1, cr0) = (error("CR1"), error("CR0"));
    assert_eq!((cr1.1, cr0.1), (false, false));
    // Four pairs: CR1 is CR0 times 4/3.
    assert!((cr1.0.se / cr0.0.se - (4.0 / 3.0_f64).sqrt()).abs() < 1e-12);
    assert_eq!(error("CR2"), (cr1.0, true));
}

#[test]
fn rogan_gladen_by_hand() {
    // Sensitivity 9/10, specificity 8/10, and 60 of 100 ones: (0.6 − 0.2)/0.7.
    let mut rows = vec![(1.0, Some(1.0)); 9];
    rows.push((0.0, Some(1.0)));
    rows.extend([(1.0, Some(0.0)); 2]);
    rows.extend([(0.0, Some(0.0)); 8]);
    rows.extend([(1.0, None); 49]);
    rows.extend([(0.0, None); 31]);
    let estimate = compute(&judged(&rows), "rogan_gladen('human')");
    close(&estimate, 4.0 / 7.0);
    assert_eq!(estimate.notes.custom["sensitivity"], 0.9);
    assert_eq!(estimate.notes.custom["naive"], 0.6);
    // The delta method: Var p + π² Var t + (1 − π)² Var u, less what labelled samples contribute to p, over 0.7².
    let apart: f64 = 0.24 / 100.0 + (16.0 * 0.09 + 9.0 * 0.16) / 49.0 / 10.0;
    let shared = 2.0 * (4.0 / 7.0 * 0.09 + 3.0 / 7.0 * 0.16) / 100.0;
    let expected = (apart - shared).sqrt() / 0.7;
    assert!((estimate.stderr().unwrap() - expected).abs() < 1e-12, "{estimate:?} {expected}");
    // All are labelled: the share of the human, whatever the judge says.
    let all = compute(&judged(&rows[..20]), "rogan_gladen('human')");
    close(&all, 0.5);
}

#[test]
fn a_corrected_share_is_one_in_any_range() {
    let rows = EIGHT.repeat(8);
    for interval in ["auto", "bootstrap", "wilson"] {
        for side in ["two-sided", "lower"] {
            let with = |range: &str| {
                let errors = format!(r#"{{"interval": "{interval}", "side": "{side}"{range}}}"#);
                let estimate = compute_with(&judged(&rows), errors.parse().unwrap(), "rogan_gladen('human')");
                estimate.unwrap().interval.unwrap()
            };
            let wide = with(r#", "range": [-1, 5]"#);
            assert!(wide.lower >= 0.0 && wide.upper <= 1.0, "{interval} {wide:?}");
            assert_eq!(wide, with(""), "{interval}");
        }
    }
}

#[test]
fn a_judge_that_cannot_be_corrected() {
    let reason = |rows: &[(f64, Option<f64>)]| match compute(&judged(rows), "rogan_gladen('human')").value {
        Err(Undefined::Other(reason)) => reason,
        other => panic!("{other:?}"),
    };
    let chance = [(1.0, Some(1.0)), (0.0, Some(1.0)), (1.0, Some(0.0)), (0.0, Some(0.0)), (1.0, None)];
    assert_eq!(reason(&chance), "sensitivity + specificity − 1 = 0.000: the judge is no better than chance");
    assert_eq!(reason(&[(1.0, Some(1.0)), (0.0, None)]), "no sample with the human label 0");
    assert_eq!(reason(&[(1.0, None), (0.0, None)]), "no sample with the human label 1");
    // More ones than a judge with these mistakes can give: 1, and what it was before.
    let mut many =
        vec![(1.0, Some(1.0)), (1.0, Some(1.0)), (0.0, Some(1.0)), (0.0, Some(0.0)), (0.0, Some(0.0))];
    many.extend([(1.0, None); 20]);
    let estimate = compute(&judged(&many), "rogan_gladen('human')");
    close(&estimate, 1.0);
    assert!(estimate.notes.custom["before_clamping"].as_f64().unwrap() > 1.0);
    assert!(estimate.interval.is_err() || estimate.interval.is_ok_and(|interval| interval.upper <= 1.0));
    let graded = compute_with(&judged(&[(0.5, Some(1.0))]), ErrorPlan::new(), "rogan_gladen('human')");
    assert!(matches!(graded, Err(Error::Undefined { .. })));
    let infinite = compute_with(&judged(&[(f64::INFINITY, Some(1.0))]), ErrorPlan::new(), "ppi('human')");
    assert!(infinite.unwrap_err().to_string().contains("is infinite"));
}

#[test]
fn labels_that_are_no_numbers() {
    let mut columns = ScoreColumns::new(["judge"]);
    columns.push("q1", 1).metadata("human", "maybe").score("judge", Score::new(1)).unwrap();
    columns.push("q2", 1).metadata("human", vec![1]).score("judge", Score::new(1)).unwrap();
    let nested = compute_with(&columns, ErrorPlan::new(), "ppi('human')").unwrap_err();
    assert_eq!(
        nested.to_string(),
        "the rating of sample \"q2\" by `metadata.human` is a list; ratings are strings, numbers or booleans; of maps \
         name a field"
    );
    columns.row_mut(1).unwrap().metadata("human", 1);
    let word = compute_with(&columns, ErrorPlan::new(), "ppi('human')").unwrap_err();
    assert!(word.to_string().starts_with("the rating of sample \"q1\" by `human` is"), "{word}");
    let negative = pairs(&[(1, -2, 1), (2, 2, 1)]);
    let ratio =
        compute_with(&negative, ErrorPlan::new(), "krippendorff_alpha(level='ratio', raters=['a', 'b'])");
    assert!(ratio.unwrap_err().to_string().contains("is for ratings of 0 or more"));
    let twice = compute_with(&negative, ErrorPlan::new(), "cohen_kappa('a', 'a')");
    assert!(matches!(twice, Err(Error::Argument { argument, .. }) if argument == "b"));
    let none = compute_with(&negative, ErrorPlan::new(), "gwet_ac1([])");
    assert!(matches!(none, Err(Error::Argument { argument, .. }) if argument == "raters"));
}
