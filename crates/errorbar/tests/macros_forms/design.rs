//! The example of the design: a metric, a reducer, a scorer and two tasks, as people write them.
use errorbar::prelude::*;

const SYSTEM_MESSAGE: &str = "Answer carefully.";

/// Proportion of samples scoring at or above `threshold`.
#[metric]
fn pass_rate(scores: &Scores, #[default(0.5)] threshold: f64) -> Result<f64> {
    let mut passed = 0;
    for sample in scores {
        if sample.score.as_f64()? >= threshold {
            passed += 1
        }
    }
    Ok(passed as f64 / scores.len().max(1) as f64)
}

#[scorer(metrics = [mean(), stderr(), pass_rate()])]
async fn word_overlap(state: &TaskState, target: &Target) -> Result<Score> {
    let output = state.output.completion.to_lowercase();
    let target = target.text().to_lowercase();
    let words: Vec<&str> = target.split_whitespace().collect();
    let hits = words.iter().filter(|word| output.contains(**word)).count();
    Ok(Score::new(hits as f64 / words.len() as f64))
}

#[reducer(name = "best_two")]
fn best_two(scores: &[Score]) -> Result<Score> {
    let mut values = scores.iter().map(Score::as_f64).collect::<Result<Vec<f64>>>()?;
    values.sort_by(|a, b| b.total_cmp(a));
    Ok(Score::new(values.iter().take(2).sum::<f64>() / 2.0))
}

#[task]
fn colors() -> Task {
    Task::new([Sample::new("Name three primary colors.").target("red green blue")])
        .solver(generate())
        .scorer(word_overlap())
}

#[task]
fn gpqa() -> Task {
    Task::new(csv_dataset("gpqa_main.csv", |row| {
        Sample::new(&row["question"])
            .choices([&row["a"], &row["b"], &row["c"], &row["d"]])
            .target(&row["answer"])
            .metadata("category", &row["category"])
    }))
    .solver(chain![system_message(SYSTEM_MESSAGE), multiple_choice()])
    .scorer(choice())
    .metrics(metrics![
        grouped(accuracy(), "category").all(All::Groups),
        stderr().cluster("category"),
        pass_rate().threshold(0.8)
    ])
    .epochs(Epochs::new(5, ["at_least_2", "at_least_5"]))
}

#[test]
fn it_compiles() {
    let _: (Task, Task) = (colors(), gpqa());
    let _: Epochs = Epochs::new(5, best_two());
    let _: fn() -> std::process::ExitCode = errorbar::main;
}
