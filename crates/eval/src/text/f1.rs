//! How much the words of the completion and of a target have in common.

use std::borrow::Cow;
use std::collections::HashMap;

use super::casefold::casefold;
use super::float::two_decimals;
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
        F1 { stop_words: stop_words.iter().map(|word| normal_part(&casefold(word.as_ref()))).collect() }
    }

    /// Judges one completion. The answer is the completion.
    pub fn judge<'a>(&self, completion: &'a str, targets: &[impl AsRef<str>]) -> Judgement<'a> {
        self.judge_answer(completion, Cow::Borrowed(completion), targets)
    }

    /// Judges an answer that was taken from a completion.
    pub fn judge_answer<'a>(
        &self,
        completion: &'a str,
        answer: Cow<'a, str>,
        targets: &[impl AsRef<str>],
    ) -> Judgement<'a> {
        let parts = self.parts(&answer);
        let share = |target: &_| self.share(&parts, AsRef::as_ref(target));
        let best = targets.iter().map(share).fold(0.0, f64::max);
        Judgement::new(completion, Mark::Share(two_decimals(best)), Some(answer)).unexplained()
    }

    fn parts(&self, text: &str) -> Vec<String> {
        normal_parts(&casefold(text)).filter(|part| !self.stop_words.contains(part)).collect()
    }

    fn share(&self, parts: &[String], target: &str) -> f64 {
        let target = self.parts(target);
        let mut left: HashMap<&str, usize> = HashMap::with_capacity(target.len());
        for word in words(&target) {
            *left.entry(word).or_default() += 1;
        }
        let mut common = 0;
        for word in words(parts) {
            if let Some(count @ 1..) = left.get_mut(word) {
                *count -= 1;
                common += 1;
            }
        }
        if common == 0 {
            return 0.0;
        }
        // Not 2c/(n+m), which is the same: the last bit decides how a half is rounded to two decimals.
        let precision = f64::from(common) / words(parts).count() as f64;
        let recall = f64::from(common) / words(&target).count() as f64;
        2.0 * precision * recall / (precision + recall)
    }
}

/// The words of all parts; a part has single spaces between its words.
fn words(parts: &[String]) -> impl Iterator<Item = &str> {
    parts.iter().flat_map(|part| part.split(' '))
}
