//! A crate with every lint on that generated code could stumble over.
use errorbar::eval::{Generate, Sample, Target, Task, TaskState};
use errorbar::metrics::mean;
use errorbar::{Result, Score, Scores, metric, reducer, scorer, solver, task};

/// Never called from Rust: specs may.
#[metric]
fn pass_rate(scores: &Scores, #[default(0.5)] threshold: f64) -> Result<f64> {
    Ok(scores.floats().iter().filter(|score| **score >= threshold).count() as f64)
}

/// Never called from Rust either.
#[reducer]
fn best(scores: &[Score], #[default(2)] k: usize) -> Result<Score> {
    scores.get(k).cloned().ok_or_else(|| errorbar::Error::custom("too few epochs"))
}

/// Nor this solver.
#[solver]
async fn ask(state: &mut TaskState, generate: &Generate, #[default(1)] times: u32) -> Result<()> {
    for _ in 0..times {
        generate.run(state).await?;
    }
    Ok(())
}

/// Nor this scorer.
#[scorer(metrics = [mean()])]
async fn contains(state: &TaskState, target: &Target) -> Score {
    Score::new(state.output.completion.contains(&*target.text()))
}

/// Nor this task.
#[task]
fn quiz(#[default(2)] epochs: u32) -> Task {
    Task::new([Sample::new("?")]).epochs(epochs)
}

/// Public things have their documentation.
pub mod inner {
    /// A metric for others.
    #[errorbar::metric]
    pub fn of_others(_: &errorbar::Scores, least: f64, is_strict: Option<bool>) -> f64 {
        if is_strict == Some(true) { least } else { 0.0 }
    }

    /// A task for others.
    #[errorbar::task]
    pub fn task_of_others() -> errorbar::Result<errorbar::eval::Task> {
        Ok(super::quiz(1).scorer(super::contains()).solver(super::ask().times(2)))
    }
}

#[test]
fn it_compiles() {
    let metric = inner::of_others(1).is_strict(true);
    assert_eq!(errorbar::core::ToSpec::spec(&metric).to_string(), "of_others(least=1.0, is_strict=true)");
}
