//! Logs whose scores were appended or replaced when the run had ended, under any reducers before and after.

use errorbar_core::metrics;
use errorbar_core::metrics::{accuracy, stderr};
use errorbar_core::{Plan, Reducers, Registry, Score, ScoreColumns, ScorerPlan};
use errorbar_log::eval::*;

/// Epochs without a reducer that is named, without reduction, and with one or two reducers.
const REDUCERS: [Option<&[&str]>; 7] = [
    None,
    Some(&[]),
    Some(&["mean"]),
    Some(&["mode"]),
    Some(&["mean", "mode"]),
    Some(&["mode", "mean"]),
    Some(&["max", "mean"]),
];

fn reducers(names: Option<&[&str]>) -> Reducers {
    let registry = Registry::built_in();
    let built =
        |names: &[&str]| names.iter().map(|name| registry.reducer(&name.parse().unwrap()).unwrap()).collect();
    names.map_or(Reducers::Implicit, |names| Reducers::explicit(built(names)))
}

/// The scores of two scorers over four samples and three epochs; without the last of them, where epochs have failed.
fn columns(rows: usize) -> ScoreColumns {
    let mut columns = ScoreColumns::new(["match", "includes"]);
    for at in 0..rows {
        let grade = |of: usize| if (at * of + at / 3) % of < 2 { "C" } else { "I" };
        let id = format!("q{}", at % 4);
        let row = columns.push(id, (at / 4 + 1) as u32).score("match", Score::new(grade(3))).unwrap();
        row.score("includes", Score::new(grade(5))).unwrap();
    }
    columns
}

fn blocks(scorer: &str, names: Option<&[&str]>, columns: &ScoreColumns) -> Vec<RecordedBlock> {
    let mut plan = Plan::new().reducers(reducers(names));
    plan.scorers = vec![ScorerPlan {
        name: scorer.to_owned(),
        metrics: metrics![accuracy(), stderr()],
        params: Default::default(),
    }];
    plan.only = vec![scorer.to_owned()];
    RecordedResults::from(&plan.evaluate(columns).unwrap().results).scores
}

/// The header of a run under one list of reducers that was scored again under another.
fn header(before: Option<&[&str]>, after: Option<&[&str]>, appends: bool, columns: &ScoreColumns) -> Header {
    let scorer = |name: &str| {
        let mut scorer = ScorerInfo::new(name);
        scorer.metrics = Some(metrics_to_log(&metrics![accuracy(), stderr()], &Registry::built_in()));
        scorer
    };
    // None is the reducers that the log has.
    let last = after.or(before);
    let mut eval = EvalInfo::new("quiz", "mockllm/model");
    eval.config.epochs = Some(3);
    eval.config.epochs_reducer = last.map(|names| names.iter().map(|name| (*name).to_owned()).collect());
    eval.dataset.sample_ids = Some((0..4).map(|at| format!("q{at}").into()).collect());
    eval.packages.insert("inspect_ai".to_owned(), "0.3.285".to_owned());
    let mut recorded = RecordedResults::from(&Plan::new().evaluate(columns).unwrap().results);
    recorded.scores = blocks("includes", last, columns);
    eval.scorers = Some(vec![scorer("includes")]);
    if appends {
        recorded.scores.splice(0..0, blocks("match", before, columns));
        eval.scorers = Some(vec![scorer("match"), scorer("includes")]);
    }
    let start = StartRecord::new(eval, PlanRecord::default());
    Header::started(start).status(Status::Success).results(recorded)
}

/// The columns of a log whose scores were replaced.
fn only_new(all: ScoreColumns) -> ScoreColumns {
    let mut columns = ScoreColumns::new(["includes"]);
    for row in 0..all.len() {
        let score = all.score(row, "includes").unwrap();
        columns.push(all.id(row), all.epoch(row)).score("includes", score).unwrap();
    }
    columns
}

#[test]
fn logs_that_were_scored_again_agree_under_any_reducers() {
    let registry = Registry::built_in();
    for rows in [12, 9, 7] {
        for (before, after) in REDUCERS.iter().flat_map(|before| REDUCERS.map(|after| (*before, after))) {
            for appends in [true, false] {
                let name = format!("{before:?} {after:?} {appends} {rows}");
                let columns = if appends { columns(rows) } else { only_new(columns(rows)) };
                let header = header(before, after, appends, &columns);
                let verifier = Verifier::new(&header, &registry).unwrap();
                let verification = verifier.verify(&columns).unwrap();
                assert_eq!(verification.differences().collect::<Vec<_>>(), [] as [&Check; 0], "{name}");
                assert_eq!(verification.counts().not_checkable, 0, "{name}");

                // What is computed again is the same.
                let (plan, _) = plan_from_header(&header, &registry).unwrap();
                let results = plan.evaluate(&columns).unwrap().results;
                assert_eq!(compare(header.results.as_ref().unwrap(), &results), [], "{name}");
                let of_log: Vec<_> =
                    header.results.as_ref().unwrap().scores.iter().map(|block| &block.reducer).collect();
                let found: Vec<_> = results.scores.iter().map(|score| &score.reducer).collect();
                assert_eq!(found, of_log, "{name}");

                // And any figure that was changed is found.
                for at in 0..header.results.as_ref().unwrap().scores.len() {
                    for metric in ["accuracy", "stderr"] {
                        let mut header = header.clone();
                        header.results.as_mut().unwrap().scores[at].metrics[metric].value += 0.01;
                        let found = Verifier::new(&header, &registry).unwrap().verify(&columns).unwrap();
                        assert_eq!(found.counts().differ, 1, "{name}: {metric} of block {at}");
                    }
                }
            }
        }
    }
}

#[test]
fn a_block_of_the_last_scorer_is_missed() {
    let (columns, registry) = (columns(12), Registry::built_in());
    let mut header = header(Some(&["mode"]), Some(&["mean", "mode"]), true, &columns);
    let removed = header.results.as_mut().unwrap().scores.pop().unwrap();
    assert_eq!((removed.scorer.as_str(), removed.reducer.as_deref()), ("includes", Some("mode")));
    let found = Verifier::new(&header, &registry).unwrap().verify(&columns).unwrap();
    let kinds: Vec<_> = found.differences().map(|difference| &difference.outcome).collect();
    assert_eq!(kinds, [&CheckOutcome::Differs(DifferenceKind::BlockNotRecorded)]);
}
