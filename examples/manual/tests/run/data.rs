//! What the recorded answers come to, worked out without errorbar.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use serde_json::Value as Json;

/// A file of the crate.
pub(crate) fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// A question, and whether each of the five recorded answers to it is correct.
pub(crate) struct Question {
    pub(crate) category: String,
    pub(crate) correct: [bool; 5],
}

impl Question {
    /// 1 or 0 in the first epoch.
    pub(crate) fn first(&self) -> f64 {
        f64::from(u8::from(self.correct[0]))
    }

    /// In how many of the five epochs it is correct.
    pub(crate) fn count(&self) -> u32 {
        self.correct.iter().map(|correct| u32::from(*correct)).sum()
    }
}

/// All questions in their order. An answer is correct if it ends with the line `ANSWER: X`, X being the letter.
pub(crate) fn questions() -> Vec<Question> {
    let outputs = std::fs::read_to_string(file("outputs.jsonl")).expect("the recorded answers");
    let mut answers: HashMap<(u64, u64), String> = HashMap::new();
    for line in outputs.lines() {
        let line: Json = serde_json::from_str(line).expect("JSON");
        let number = |key: &str| line[key].as_u64().expect("a number");
        answers
            .insert((number("id"), number("epoch")), line["output"].as_str().expect("a string").to_owned());
    }
    let mut rows = csv::Reader::from_path(file("gpqa_main.csv")).expect("the questions");
    let question = |(id, row): (u64, csv::Result<HashMap<String, String>>)| {
        let row = row.expect("a row");
        let line = format!("ANSWER: {}", row["answer"]);
        let correct = [1, 2, 3, 4, 5].map(|epoch| answers[&(id, epoch)].lines().last() == Some(&line));
        Question { category: row["category"].clone(), correct }
    };
    (1..).zip(rows.deserialize()).map(question).collect()
}

/// 1 or 0 for each question in the first epoch.
pub(crate) fn first_epoch() -> Vec<f64> {
    questions().iter().map(Question::first).collect()
}

/// What `of` makes of each question.
pub(crate) fn of_each(of: impl Fn(&Question) -> f64) -> Vec<f64> {
    questions().iter().map(of).collect()
}

/// Those of the first epoch in a category.
pub(crate) fn first_epoch_of(category: &str) -> Vec<f64> {
    questions().iter().filter(|question| question.category == category).map(Question::first).collect()
}

pub(crate) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Σ(x − x̄)² / (n − 1)
pub(crate) fn var(values: &[f64]) -> f64 {
    let mean = mean(values);
    values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (values.len() - 1) as f64
}

/// s / √n
pub(crate) fn stderr(values: &[f64]) -> f64 {
    (var(values) / values.len() as f64).sqrt()
}

/// k of n without order.
pub(crate) fn choose(n: u32, k: u32) -> f64 {
    (0..k).map(|i| f64::from(n) - f64::from(i)).product::<f64>() / (1..=k).map(f64::from).product::<f64>()
}

/// The data is what the tests rely on: groups of different sizes, and no two figures alike by chance.
#[test]
fn the_recorded_answers_tell_figures_apart() {
    let questions = questions();
    let size = |category: &str| questions.iter().filter(|question| question.category == category).count();
    assert_eq!([size("physics"), size("chemistry"), size("biology")], [10, 8, 6]);
    let reduced = [1, 2, 3, 5].map(|k| of_each(|question| f64::from(u8::from(question.count() >= k))));
    let averaged = of_each(|question| f64::from(question.count()) / 5.0);
    let all: Vec<Vec<f64>> = reduced.into_iter().chain([averaged, first_epoch()]).collect();
    let groups = ["physics", "chemistry", "biology"].map(|category| mean(&first_epoch_of(category)));
    let mut accuracies: Vec<f64> = all.iter().map(|scores| mean(scores)).chain(groups).collect();
    accuracies.push(mean(&groups));
    differ(&accuracies);
    differ(&all.iter().map(|scores| stderr(scores)).collect::<Vec<f64>>());
}

fn differ(figures: &[f64]) {
    for (at, figure) in figures.iter().enumerate() {
        let alike = figures[..at].iter().any(|other| (other - figure).abs() < 1e-6);
        assert!(!alike, "{figure} twice in {figures:?}");
    }
}
