//! Metrics other than means, with their errors and intervals, and bad input for each.

use crate::check;

fn with(name: &str, metrics: &[&str], options: &[&str]) {
    let labels = ["cat", "dog", "cow"];
    let row = |at: usize| {
        let (truth, predicted) = (labels[at % 3], labels[(at + usize::from(at.is_multiple_of(5))) % 3]);
        let (score, weight) = (at * 7 % 11 + 1, at % 4);
        format!("q{at:02},{score},{predicted},{truth},{weight},p{}\n", at / 3)
    };
    let header = "id,score,label,truth,weight,passage\n".to_owned();
    let table: String = std::iter::once(header).chain((0..24).map(row)).collect();
    let metrics = metrics.iter().flat_map(|metric| ["--metric", metric]);
    let args: Vec<&str> =
        ["score", "t.csv"].into_iter().chain(metrics).chain(options.iter().copied()).collect();
    check(&format!("any_metric_{name}"), &[("t.csv", &table)], &args);
}

const SCORE: [&str; 3] = ["--score-column", "score", "--quiet"];
const LABEL: [&str; 3] = ["--score-column", "label", "--quiet"];

#[test]
fn numbers() {
    let metrics = [
        "bootstrap(std())",
        "median()",
        "quantile(0.9)",
        "geometric_mean()",
        "weighted_mean('weight')",
        "count",
        "max",
    ];
    with("numbers", &metrics, &SCORE);
    let clustered: Vec<&str> = SCORE.into_iter().chain(["--cluster", "passage", "--format", "csv"]).collect();
    with("clusters", &["bootstrap(std(), 500)", "median()", "weighted_mean('weight')"], &clustered);
    with("where", &["where(mean(), 'truth=cat')", "where(mean(), ['weight>1', 'truth!=cat'])"], &SCORE);
}

#[test]
fn labels() {
    with(
        "labels",
        &["precision('truth')", "recall('truth', label='cat')", "f1_score('truth', average='none')"],
        &LABEL,
    );
}

#[test]
fn bad_input() {
    with("bad_arguments", &["quantile(90)"], &SCORE);
    with("bad_condition", &["where(mean(), 'truth')"], &SCORE);
    with(
        "bad_values",
        &["weighted_mean('truth')", "where(mean(), 'nothing=1')", "where(mean(), 'truth=bird')"],
        &SCORE,
    );
    with("bad_target", &["precision('target')", "recall('truth', label='bird')"], &LABEL);
}
