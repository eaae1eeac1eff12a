//! Logs whose reducer was given a conversion, which they do not record.

use errorbar_core::metrics::{accuracy, stderr};
use errorbar_core::reducers::{max, mean};
use errorbar_core::{Metrics, Plan, Reducer, Reducers, Registry, Score, Undefined, metrics, value_to_float};
use errorbar_log::eval::*;
use errorbar_test_support::{TestFolder, assert_matches};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::eval::support::{Sample, start};

const GRADES: [[&str; 2]; 6] = [["C", "C"], ["C", "I"], ["I", "I"], ["C", "P"], ["P", "I"], ["C", "C"]];

fn samples() -> Vec<Sample> {
    let epochs = |epoch: usize| {
        GRADES.iter().enumerate().map(move |(at, grades)| {
            Sample::new(format!("q{at}"), epoch as u32 + 1, Score::new(grades[epoch]))
        })
    };
    epochs(0).chain(epochs(1)).collect()
}

/// A log of these samples whose results and reduced scores are those of other ones, under a reducer that it calls `name`.
fn write(path: &Path, samples: &[Sample], of: &[Sample], reducer: Arc<dyn Reducer>, name: &str) {
    let mut start = start();
    start.eval.config.epochs_reducer = Some(vec![name.to_owned()]);
    let write = |path: &Path, samples: &[Sample]| {
        let mut writer = LogWriter::create(path, &start).unwrap();
        for sample in samples {
            sample.record(|record| writer.append_sample(record)).unwrap();
        }
        writer
    };
    let computed = path.with_extension("computed.eval");
    drop(write(&computed, of));
    let log = EvalLog::open(&computed).unwrap();
    let header = log.header().unwrap();
    let (mut plan, _) = plan_from_header(&header, &Registry::built_in()).unwrap();
    plan.reducers = Reducers::explicit(vec![reducer]);
    let columns = log.score_columns(&plan.metadata_keys()).unwrap();
    let mut evaluation = plan.evaluate(&columns).unwrap();
    let mut results = RecordedResults::from(&evaluation.results);
    evaluation.reductions.iter_mut().for_each(|one| one.reducer = Some(name.to_owned()));
    results.scores.iter_mut().for_each(|block| block.reducer = Some(name.to_owned()));
    let header = header.status(Status::Success).results(results);
    write(path, samples).finish(&header, &Reductions::of(&evaluation.reductions, &columns)).unwrap();
}

fn swapped() -> Arc<dyn Reducer> {
    Arc::new(mean().value_to_float(value_to_float().correct("I").incorrect("C")))
}

fn log_of(folder: &TestFolder, reducer: Arc<dyn Reducer>, name: &str) -> PathBuf {
    let path = folder.path().join(format!("{name}.eval"));
    write(&path, &samples(), &samples(), reducer, name);
    path
}

fn verified(path: &Path) -> Verification {
    let log = EvalLog::open(path).unwrap();
    let header = log.header().unwrap();
    let verifier = Verifier::new(&header, &Registry::built_in()).unwrap();
    let columns = log.score_columns(&verifier.plan().metadata_keys()).unwrap();
    let conversions = ReducerConversion::find(&log, &header, verifier.plan(), &columns).unwrap();
    verifier.conversions(conversions).verify(&columns).unwrap()
}

/// The results as they are read again, with the warnings.
fn read(path: &Path, change: impl FnOnce(Plan) -> Plan) -> (errorbar_core::Results, Vec<LogWarning>) {
    let log = EvalLog::open(path).unwrap();
    let header = log.header().unwrap();
    let (plan, _) = plan_from_header(&header, &Registry::built_in()).unwrap();
    let mut plan = change(plan);
    let columns = log.score_columns(&plan.metadata_keys()).unwrap();
    let conversions = ReducerConversion::find(&log, &header, &plan, &columns).unwrap();
    let warnings = ReducerConversion::undefine(conversions, &header, &mut plan, &columns);
    (plan.evaluate(&columns).unwrap().results, warnings)
}

#[test]
fn figures_of_an_unknown_conversion_are_undefined() {
    let folder = TestFolder::new();
    let path = log_of(&folder, swapped(), "mean");
    let (results, warnings) = read(&path, |plan| plan);
    let expected = LogWarning::ReducerConversion { scorer: "match".to_owned(), reducer: "mean".to_owned() };
    assert_eq!(warnings, [expected]);
    let figure = results.estimate("accuracy").unwrap();
    assert_matches!(
        &figure.value,
        Err(Undefined::Other(reason))
            if reason == "the log does not record the conversion of the reducer mean; the log records 0.416667"
    );
    let verification = verified(&path);
    let reason = NotCheckable::ReducerConversion { reducer: "mean".to_owned() };
    assert_eq!(verification.outcome(), VerifyOutcome::NotCheckable(&reason));
    assert_eq!(verification.counts().not_checkable, 2);
    // Metrics of the task, and those that the user names, are read from the same reduced scores.
    let of_task = |metrics: Metrics| read(&path, |plan| Plan { task_metrics: Some(metrics), ..plan });
    let (results, warnings) = of_task(metrics![accuracy(), stderr()]);
    assert_eq!(warnings.len(), 1);
    assert!(results.estimate("accuracy").unwrap().value.is_err());
}

/// A reducer that the user names with its conversion is another one.
#[test]
fn a_conversion_that_is_named_is_computed() {
    let folder = TestFolder::new();
    let path = log_of(&folder, swapped(), "mean");
    let (results, warnings) = read(&path, |plan| plan.reducers(Reducers::explicit(vec![swapped()])));
    assert_eq!(warnings, []);
    // Of the samples 0, ½, 1, ¼, ¾ and 0: P is a half.
    assert_eq!(results.estimate("accuracy").unwrap().number(), Some(2.5 / 6.0));
}

#[test]
fn the_default_conversion_is_checked() {
    let folder = TestFolder::new();
    for (reducer, name) in [(Arc::new(mean()) as Arc<dyn Reducer>, "mean"), (Arc::new(max()), "max")] {
        let path = log_of(&folder, reducer, name);
        assert_eq!(read(&path, |plan| plan).1, []);
        assert_eq!(verified(&path).counts().agree, 2);
    }
}

/// A score that was changed after the run is no conversion.
#[test]
fn a_changed_sample_differs() {
    let folder = TestFolder::new();
    for (from, to) in [("C", "I"), ("I", "C"), ("C", "P")] {
        let path = folder.path().join("changed.eval");
        let mut changed = samples();
        let sample = changed.iter_mut().find(|sample| sample.scores[0].1.value == from.into()).unwrap();
        sample.scores[0].1 = Score::new(to);
        write(&path, &changed, &samples(), Arc::new(mean()), "mean");
        assert_eq!(read(&path, |plan| plan).1, []);
        assert_eq!(verified(&path).outcome(), VerifyOutcome::Differs, "{from} {to}");
        std::fs::remove_file(&path).unwrap();
        std::fs::remove_file(path.with_extension("computed.eval")).unwrap();
    }
}
