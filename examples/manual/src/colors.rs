//! "Example": a scorer that measures, with a metric of its own.

use errorbar::prelude::*;
use errorbar_manual::recorded;

/// Proportion of samples scoring at or above `threshold`.
#[metric]
fn pass_rate(scores: &Scores, #[default(0.5)] threshold: f64) -> Result<f64> {
    let mut passed = 0;
    for sample in scores {
        if sample.score.as_f64()? >= threshold {
            passed += 1;
        }
    }
    Ok(f64::from(passed) / scores.len().max(1) as f64)
}

/// The share of the target's words that the answer has.
#[scorer(metrics = [mean(), stderr(), pass_rate()])]
async fn word_overlap(state: &TaskState, target: &Target) -> Result<Score> {
    let output = state.output.completion.to_lowercase();
    let target = target.text().to_lowercase();
    let words: Vec<&str> = target.split_whitespace().collect();
    let hits = words.iter().filter(|word| output.contains(**word)).count();
    Ok(Score::new(if words.is_empty() { 0.0 } else { hits as f64 / words.len() as f64 }))
}

/// Three colours, judged by the words that were named.
#[task]
fn colors() -> Task {
    Task::new([Sample::new("Name three primary colors.").target("red green blue")])
        .solver(generate())
        .scorer(word_overlap())
        .model(recorded("colors.jsonl"))
}

/// The same with a metric of the task in place of those that the scorer brings.
#[task]
fn colors_strict() -> Task {
    colors().metrics(metrics![pass_rate().threshold(0.8)])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the scorer makes of an answer to the one question of `colors`.
    fn overlap(answer: &str, target: &str) -> Score {
        let sample = Sample::new("Name three primary colors.").target(target);
        let mut state = TaskState::new("mock/model", &sample, 1.into(), 1);
        state.output = ModelOutput::from_text("mock/model", answer);
        errorbar::eval::block_on(WordOverlap::body(&state, &sample.target)).unwrap().unwrap()
    }

    #[test]
    fn words_are_counted_in_any_case() {
        assert_eq!(overlap("Red, GREEN and blue!", "red green blue"), Score::new(1.0));
        assert_eq!(overlap("Green.", "red green blue"), Score::new(1.0 / 3.0));
        assert_eq!(overlap("Green.", ""), Score::new(0.0));
    }
}
