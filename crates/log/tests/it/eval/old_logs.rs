//! Logs that old versions of the reference wrote; `conformance/old_logs` has them and how they were made.

use std::path::{Path, PathBuf};

use errorbar_core::Registry;
use errorbar_log::eval::*;
use errorbar_test_support::workspace;

/// A log with its header and the scores of its samples.
struct OldLog {
    /// `VERSION/CASE`.
    name: String,
    log: EvalLog,
    header: Header,
}

impl OldLog {
    fn open(path: &Path) -> Self {
        let version = path.parent().unwrap().file_name().unwrap().to_str().unwrap();
        let name = format!("{version}/{}", path.file_stem().unwrap().to_str().unwrap());
        let log = EvalLog::open(path).unwrap();
        let header = log.header().unwrap();
        OldLog { name, log, header }
    }

    fn named(name: &str) -> Self {
        all().into_iter().find(|log| log.name == name).unwrap_or_else(|| panic!("there is no {name}"))
    }

    fn verify(&self) -> Verification {
        self.verify_as(&self.header)
    }

    /// Checks the samples against another header.
    fn verify_as(&self, header: &Header) -> Verification {
        let verifier = Verifier::new(header, &Registry::built_in()).unwrap();
        let columns = self.log.score_columns(&verifier.plan().metadata_keys()).unwrap();
        verifier.verify(&columns).unwrap()
    }

    /// Whether scores were added or replaced when the run had ended.
    fn is_rescored(&self) -> bool {
        ["/appended", "/overwritten", "_append_"].iter().any(|part| self.name.contains(part))
    }
}

fn all() -> Vec<OldLog> {
    let mut paths: Vec<PathBuf> = Vec::new();
    for folder in std::fs::read_dir(workspace().join("conformance/old_logs/logs")).unwrap() {
        paths.extend(std::fs::read_dir(folder.unwrap().path()).unwrap().map(|file| file.unwrap().path()));
    }
    paths.sort();
    assert_eq!(paths.len(), 67);
    paths.iter().map(|path| OldLog::open(path)).collect()
}

/// The figures that are not checkable, each with the kind of its reason; the log itself if it has no figures.
fn unchecked(verification: &Verification) -> Vec<String> {
    let figures = verification.checks.iter().filter_map(|check| match &check.outcome {
        CheckOutcome::NotCheckable(reason) => {
            Some(format!("{}: {}", check.metric.as_deref().unwrap(), reason.code()))
        }
        _ => None,
    });
    let of_log = verification.reason.as_ref().filter(|_| verification.checks.is_empty());
    figures.chain(of_log.map(|reason| format!("log: {}", reason.code()))).collect()
}

#[test]
fn every_figure_agrees_or_cannot_be_known() {
    for log in all() {
        let verification = log.verify();
        assert_eq!(verification.differences().collect::<Vec<_>>(), [] as [&Check; 0], "{}", log.name);
        let expected: &[&str] = match log.name.as_str() {
            "0.3.40/custom" | "0.3.100/appended_custom" => &["largest: metric_not_recorded"],
            "0.3.60/custom_only" => {
                &["largest: metric_not_recorded", "first: metric_not_recorded", "last: metric_not_recorded"]
            }
            "0.3.100/custom_beside" | "0.3.120/task_metrics_custom" => &["largest: custom_metric"],
            "0.3.280/custom_epochs" => &["largest: custom_metric"; 2],
            // Of two figures of one name, one is that of the built-in metric.
            "0.3.140/custom_shadows_first" => &["std: custom_metric"],
            "0.3.200/custom_reducer" => &["mean: custom_reducer", "std: custom_reducer"],
            "0.3.240/conversion" => &["accuracy: unknown_conversion"],
            "0.3.285/custom_same_name" => &["largest: custom_metric"; 2],
            "0.3.285/conversion_of_groups" => &["all: unknown_conversion"],
            "0.3.285/conversion_by_name" => &[
                "accuracy: unknown_conversion",
                "t0: unknown_conversion",
                "t1: unknown_conversion",
                "t2: unknown_conversion",
                "all: unknown_conversion",
                "accuracy: unknown_conversion",
                "t0: unknown_conversion",
                "t1: unknown_conversion",
                "t2: unknown_conversion",
                "all: unknown_conversion",
            ],
            "0.3.40/not_a_number" | "0.3.120/not_a_number_epochs" => &["mean: old_unscored"],
            "0.3.40/without_samples" => &["accuracy: no_samples", "stderr: no_samples"],
            "0.3.240/without_samples_reducers" => {
                &["accuracy: no_samples", "stderr: no_samples", "mean: no_samples", "std: no_samples"]
            }
            "0.3.60/without_scores" => &["log: not_scored"],
            "0.3.70/no_reduction" => &["log: no_figures"],
            "0.3.280/failed_run" => &["log: no_results"],
            _ => &[],
        };
        assert_eq!(unchecked(&verification), expected, "{}", log.name);
        let counts = verification.counts();
        let figures = log.header.results.iter().flat_map(|results| &results.scores);
        let figures: usize = figures.map(|block| block.metrics.len()).sum();
        assert_eq!(counts.agree + counts.not_checkable, figures, "{}", log.name);
        match verification.outcome() {
            VerifyOutcome::Agrees => assert!(counts.agree > 0, "{}", log.name),
            VerifyOutcome::NotCheckable(_) => assert_eq!(counts.agree, 0, "{}", log.name),
            VerifyOutcome::Differs => panic!("{}", log.name),
        }
    }
}

#[test]
fn a_figure_that_was_changed_is_found_whatever_stands_beside_it() {
    let mut changed = 0;
    for log in all() {
        let verification = log.verify();
        let agreeing = verification.checks.iter().filter(|check| check.outcome == CheckOutcome::Agrees);
        for check in agreeing {
            let mut header = log.header.clone();
            let blocks = &mut header.results.as_mut().unwrap().scores;
            let block = blocks.iter_mut().find(|block| {
                Some(&block.name) == check.score.as_ref()
                    && Some(&block.scorer) == check.scorer.as_ref()
                    && block.reducer == check.reducer
            });
            let metric = check.metric.as_ref().unwrap();
            // More than two draws of a random figure are apart.
            block.unwrap().metrics[metric].value += 10.0;
            let found = log.verify_as(&header);
            let others = verification.counts();
            if log.name == "0.3.140/custom_shadows_first" {
                // Which of the two is the built-in metric is not known any more.
                assert_eq!(found.counts().not_checkable, 2);
                continue;
            }
            assert_eq!(found.outcome(), VerifyOutcome::Differs, "{} {metric}", log.name);
            let found_differences: Vec<&Check> = found.differences().collect();
            let [difference] = found_differences.as_slice() else {
                panic!("{} {metric}: {found_differences:?}", log.name)
            };
            assert_eq!(difference.outcome, CheckOutcome::Differs(DifferenceKind::Figure));
            assert!(difference.recorded.is_some() && difference.recomputed.is_some(), "{difference}");
            assert_eq!(difference.metric.as_ref(), Some(metric), "{}", log.name);
            assert_eq!(found.counts().agree, others.agree - 1, "{} {metric}", log.name);
            changed += 1;
        }
    }
    assert_eq!(changed, 219);
}

#[test]
fn a_block_that_was_removed_is_found_unless_scoring_anew_removes_them() {
    for log in all().into_iter().filter(|log| log.verify().outcome() == VerifyOutcome::Agrees) {
        let blocks = log.header.results.as_ref().unwrap().scores.len();
        for at in 0..blocks {
            let mut header = log.header.clone();
            let removed = header.results.as_mut().unwrap().scores.remove(at);
            let left = &header.results.as_ref().unwrap().scores;
            let mut of_scorer = left.iter().filter(|block| block.scorer == removed.scorer).peekable();
            // Later scorers may have been added under one reducer more.
            let is_explained = left.last().is_some_and(|last| last.scorer != removed.scorer)
                && of_scorer.peek().is_some()
                && of_scorer.all(|block| block.reducer != removed.reducer);
            let verification = log.verify_as(&header);
            let kinds: Vec<_> = verification.differences().map(|difference| &difference.outcome).collect();
            let is_found = kinds == [&CheckOutcome::Differs(DifferenceKind::BlockNotRecorded)];
            let is_known = match log.name.as_str() {
                // Where the header records no scorers, a key of a map-valued score is known by its block alone.
                "0.3.40/map_mixed" | "0.3.60/map_reducers" => continue,
                // Whether scoring anew removed it depends on what else is there.
                _ if log.is_rescored() => continue,
                _ if is_explained => false,
                // A block of a custom reducer is not recomputed.
                "0.3.200/custom_reducer" => at == 1,
                // Before 0.3.140 a log without any figure is one of a run without reduction.
                name if blocks == 1 => {
                    ["0.3.140/", "0.3.195/", "0.3.200/", "0.3.240/", "0.3.280/", "0.3.285/"]
                        .iter()
                        .any(|version| name.starts_with(version))
                }
                _ => true,
            };
            assert_eq!(is_found, is_known, "{} block {at}: {kinds:?}", log.name);
        }
    }
}

#[test]
fn a_block_under_another_reducer_than_it_claims_is_found() {
    let log = OldLog::named("0.3.140/appended_mode");
    let mut header = log.header.clone();
    let blocks = &mut header.results.as_mut().unwrap().scores;
    let reducers: Vec<Option<&str>> = blocks.iter().map(|block| block.reducer.as_deref()).collect();
    assert_eq!(reducers, [Some("mean"), Some("max"), Some("mode")]);
    blocks[1].reducer = Some("median".to_owned());
    let found = log.verify_as(&header);
    assert_eq!(found.counts().differ, 2);
    assert_eq!(found.differences().next().unwrap().title().unwrap(), "match (median)");
}

#[test]
fn no_reducer_is_the_mean_also_where_the_header_names_another_one_now() {
    let log = OldLog::named("0.3.140/appended");
    assert_eq!(log.header.eval.config.epochs_reducer.as_deref(), Some(&["max".to_owned()][..]));
    let mut header = log.header.clone();
    let block = &mut header.results.as_mut().unwrap().scores[0];
    assert_eq!((block.scorer.as_str(), &block.reducer), ("match", &None));
    block.reducer = Some("mean".to_owned());
    assert_eq!(log.verify_as(&header).counts(), log.verify().counts());

    // Or it is no reduction at all, which has a score for every epoch.
    let log = OldLog::named("0.3.140/no_reduction");
    let mut header = log.header.clone();
    header.eval.config.epochs_reducer = Some(vec!["max".to_owned()]);
    assert_eq!(log.verify_as(&header).counts(), log.verify().counts());
}

#[test]
fn the_plan_of_an_old_log_computes_what_it_records() {
    let registry = Registry::built_in();
    // Versions before it replaced results of scorers that the log still has.
    for log in all().into_iter().filter(|log| !log.is_rescored() || log.name.starts_with("0.3.285/")) {
        let verification = log.verify();
        if verification.outcome() != VerifyOutcome::Agrees || verification.counts().not_checkable > 0 {
            continue;
        }
        let (plan, warnings) = plan_from_header(&log.header, &registry).unwrap();
        assert_eq!(warnings, [], "{}", log.name);
        let columns = log.log.score_columns(&plan.metadata_keys()).unwrap();
        let results = plan.evaluate(&columns).unwrap().results;
        assert_eq!(compare(log.header.results.as_ref().unwrap(), &results), [], "{}", log.name);
    }
}

#[test]
fn a_sample_that_early_stopping_does_not_name_is_missed() {
    for name in ["0.3.285/early_stopping", "0.3.285/early_stopping_failed"] {
        let log = OldLog::named(name);
        let change = |stops: &dyn Fn(&mut Vec<serde_json::Value>)| {
            let mut header = log.header.clone();
            let summary = header.results.as_mut().unwrap().early_stopping.as_mut().unwrap();
            let mut named = summary.get("early_stops").unwrap().as_array().unwrap().clone();
            stops(&mut named);
            summary.insert("early_stops".to_owned(), named.into());
            log.verify_as(&header).differences().map(|difference| difference.to_string()).collect::<Vec<_>>()
        };
        assert_eq!(change(&|_| ()), [] as [String; 0]);
        let present = log.log.score_columns(&errorbar_core::MetadataKeys::NONE).unwrap();
        let (id, epoch) = (present.id(0).to_owned(), present.epoch(0));
        let missing = |found: Vec<String>| {
            assert_eq!(found, ["total samples: recorded 30, recomputed 29"], "{name}");
        };
        missing(change(&|stops| drop(stops.pop())));
        // One that is in the log, or one that is named twice, makes up for none.
        missing(change(&|stops| {
            stops.pop();
            stops.push(serde_json::json!({"id": id, "epoch": epoch}));
        }));
        missing(change(&|stops| *stops.last_mut().unwrap() = stops[0].clone()));
    }
}

/// Scoring again with `overwrite` counts the samples of the log, and leaves the summary of early stopping.
#[test]
fn a_total_of_the_samples_in_the_log_is_not_too_low() {
    for name in ["0.3.285/early_stopping", "0.3.285/early_stopping_failed"] {
        let log = OldLog::named(name);
        let present = log.log.score_columns(&errorbar_core::MetadataKeys::NONE).unwrap().len() as u64;
        let with = |total: u64| {
            let mut header = log.header.clone();
            header.results.as_mut().unwrap().total_samples = total;
            log.verify_as(&header).differences().map(|difference| difference.to_string()).collect::<Vec<_>>()
        };
        assert_eq!(with(present), [] as [String; 0], "{name}");
        assert_eq!(with(present - 1).len(), 1, "{name}");
        assert_eq!(with(present + 1).len(), 1, "{name}");
    }
}

#[test]
fn samples_that_a_log_says_it_lacks_are_not_missed() {
    let log = OldLog::named("0.3.280/two_epochs");
    let total = log.header.results.as_ref().unwrap().total_samples;
    let with = |change: &dyn Fn(&mut Header)| {
        let mut header = log.header.clone();
        header.results.as_mut().unwrap().total_samples += 5;
        change(&mut header);
        log.verify_as(&header).counts().differ
    };
    assert_eq!(with(&|_| ()), 1);
    // A run that was ended without the others.
    assert_eq!(with(&|header| header.results.as_mut().unwrap().logged_samples = Some(total)), 0);
    assert_eq!(with(&|header| header.results.as_mut().unwrap().logged_samples = Some(total + 1)), 1);
    // Shards that are not all merged, in the fields of the newest version and of the ones before it.
    let shards = |samples: u64, status| {
        move |header: &mut Header| {
            let ledger = serde_json::json!([
                {"shard": "0", "log": "a.eval", "samples": samples - 1, "status": "success"},
                {"shard": "1", "log": "b.eval", "samples": 1, "status": "started", "of_the_future": {}},
            ]);
            let shards = serde_json::json!({"location": "x.shards", "sample_ids": ["q1"], "ledger": ledger});
            header.eval.extra.insert("shards".to_owned(), shards);
            header.status = status;
        }
    };
    assert_eq!(with(&shards(total, Status::Started)), 0);
    assert_eq!(with(&shards(total, Status::Error)), 0);
    assert_eq!(with(&shards(total + 1, Status::Started)), 1, "a sample was lost since the merge");
    assert_eq!(with(&shards(total, Status::Success)), 1, "all are merged");
}

#[test]
fn figures_that_cannot_be_computed_are_undefined_and_keep_their_names() {
    let registry = Registry::built_in();
    for (name, undefined) in [
        ("0.3.285/custom_same_name", "not registered; the log records 7.15"),
        (
            "0.3.285/conversion_by_name",
            "`to_float` is recorded by a name only (halved); the log records 0.125 (mode), 0.125 (max)",
        ),
        (
            "0.3.285/conversion_of_groups",
            "`value_to_float` is recorded by a name only (halved); the log records 0.125",
        ),
    ] {
        let log = OldLog::named(name);
        let (plan, _) = plan_from_header(&log.header, &registry).unwrap();
        let columns = log.log.score_columns(&plan.metadata_keys()).unwrap();
        let results = plan.evaluate(&columns).unwrap().results;
        let recorded = RecordedResults::from(&results);
        let keys = |results: &RecordedResults| -> Vec<Vec<String>> {
            results.scores.iter().map(|block| block.metrics.keys().cloned().collect()).collect()
        };
        assert_eq!(keys(&recorded), keys(log.header.results.as_ref().unwrap()), "{name}");
        let reasons: Vec<String> = results
            .rows()
            .iter()
            .filter_map(|row| row.estimate.value.as_ref().err().map(|reason| reason.to_string()))
            .collect();
        assert_eq!(reasons.first().map(String::as_str), Some(undefined), "{name}");
        for difference in compare(log.header.results.as_ref().unwrap(), &results) {
            assert_eq!(
                difference.outcome,
                CheckOutcome::Differs(DifferenceKind::Figure),
                "{name}: {difference}"
            );
            assert!(difference.recomputed.unwrap().is_nan(), "{name}: another figure");
        }
    }
}

#[test]
fn what_cannot_be_computed_does_not_agree_with_what_is_not_a_number() {
    let log = OldLog::named("0.3.285/custom_same_name");
    let mut header = log.header.clone();
    for block in &mut header.results.as_mut().unwrap().scores {
        if let Some(figure) = block.metrics.get_mut("largest") {
            figure.value = f64::NAN;
        }
    }
    assert_eq!(log.verify_as(&header).counts(), log.verify().counts());
}

#[test]
fn the_implied_mean_has_no_name_in_the_plan() {
    let registry = Registry::built_in();
    let log = OldLog::named("0.3.70/two_epochs");
    assert_eq!(log.header.eval.config.epochs_reducer.as_deref(), Some(&["mean".to_owned()][..]));
    let (plan, _) = plan_from_header(&log.header, &registry).unwrap();
    assert_eq!(plan.reducers.log_names(), None);
    // If it was named, it has its name.
    let mut header = log.header.clone();
    for block in &mut header.results.as_mut().unwrap().scores {
        block.reducer = Some("mean".to_owned());
    }
    let (plan, _) = plan_from_header(&header, &registry).unwrap();
    assert_eq!(plan.reducers.log_names(), Some(vec!["mean".to_owned()]));
}

#[test]
fn a_run_without_its_samples_is_no_run_of_no_samples() {
    let log = OldLog::named("0.3.40/without_samples");
    let mut header = log.header.clone();
    let results = header.results.as_mut().unwrap();
    (results.total_samples, results.completed_samples) = (0, 0);
    header.eval.dataset.samples = Some(0);
    let found = log.verify_as(&header);
    assert_eq!(found.outcome(), VerifyOutcome::Differs);

    // The logs of May 2024 do not record how many there were.
    header.eval.dataset.samples = None;
    let found = log.verify_as(&header);
    assert_eq!(found.outcome(), VerifyOutcome::NotCheckable(&NotCheckable::NoSamples));
}

/// Without samples and without their number in the results, there is that of the header.
#[test]
fn recorded_figures_of_old_logs_know_how_many_scores_they_are_of() {
    let log = OldLog::named("0.3.40/without_samples");
    let recorded = log.header.results.as_ref().unwrap();
    assert_eq!(recorded.scores[0].scored_samples, None);
    let counted = |change: &dyn Fn(&mut EvalInfo, &mut RecordedResults)| {
        let (mut header, mut recorded) = (log.header.clone(), recorded.clone());
        change(&mut header.eval, &mut recorded);
        header.results = Some(recorded);
        let results = header.recorded_figures().unwrap();
        let n = results.estimate("accuracy").unwrap().n;
        assert_eq!(n, results.scores[0].counts.scored as u64);
        n
    };
    assert_eq!(counted(&|_, _| ()), 10);
    assert_eq!(counted(&|_, recorded| recorded.scores[0].scored_samples = Some(7)), 7);
    assert_eq!(counted(&|eval, _| eval.dataset.sample_ids = Some(vec![1.into(), 2.into()])), 2);
    assert_eq!(counted(&|eval, recorded| (eval.config.epochs, recorded.total_samples) = (Some(2), 12)), 6);
    assert_eq!(counted(&|_, recorded| recorded.total_samples = 0), 10);
    let without = |eval: &mut EvalInfo, recorded: &mut RecordedResults| {
        (eval.dataset.samples, recorded.total_samples) = (None, 0);
    };
    assert_eq!(counted(&without), 0, "it is not known");
}
