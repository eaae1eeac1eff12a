//! How much the words of the completion and of a target have in common.

use std::borrow::Cow;
use std::collections::HashMap;

use super::casefold::casefold;
use super::float::two_decimals;
use super::space;
use super::words::{normal_part, normal_parts};
use super::{Judgement, Mark};

/// The harmonic mean of precision and recall over words, the best of all targets, to two decimals.
#[derive(Debug, Clone, Default)]
pub struct F1 {
    stop_words: Vec<String>,
}

impl F1 {
    /// A scorer that leaves these words out, in whatever case and punctuation they occur.
    pub fn new(stop_words: &[impl AsRef<str>]) -> Self {
        let stop_words = stop_words.iter().map(|word| normal_part(&casefold(word.as_ref()))).collect();
        F1 { stop_words }
    }

    /// Judges one completion. The answer is the completion.
    pub fn judge<'a>(&self, completion: &'a str, targets: &[impl AsRef<str>]) -> Judgement<'a> {
        self.judge_answer(completion, Cow::Borrowed(completion), targets)
    }

    /// Judges an answer that was taken from a completion.
    pub fn judge_answer<'a>(&self, completion: &'a str, answer: Cow<'a, str>, targets: &[impl AsRef<str>]) -> Judgement<'a> {
        let words = self.words(&answer);
        let best = targets.iter().map(|target| share(&words, &self.words(target.as_ref()))).fold(0.0, f64::max);
        Judgement::new(completion, Mark::Share(two_decimals(best)), Some(answer)).unexplained()
    }

    fn words(&self, text: &str) -> Vec<String> {
        let mut parts = normal_parts(text);
        parts.retain(|part| !self.stop_words.contains(part));
        if parts.iter().any(|part| part.contains(' ')) {
            return parts.iter().flat_map(|part| space::words(part)).map(str::to_owned).collect();
        }
        parts
    }
}

fn share(words: &[String], target: &[String]) -> f64 {
    let mut left: HashMap<&str, usize> = HashMap::with_capacity(target.len());
    for word in target {
        *left.entry(word).or_default() += 1;
    }
    let mut common = 0;
    for word in words {
        if let Some(count @ 1..) = left.get_mut(word.as_str()) {
            *count -= 1;
            common += 1;
        }
    }
    // With precision c/n and recall c/m the harmonic mean is 2c/(n+m); 0 when nothing is common, also when both are empty.
    if common == 0 { 0.0 } else { 2.0 * f64::from(common) / (words.len() + target.len()) as f64 }
}
