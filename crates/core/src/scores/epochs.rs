//! What the epochs behind reduced scores say about them: how far they scatter, and what those without a score could be.

use std::collections::HashMap;

use super::Scores;
use crate::value::Conversion;
use errorbar_stats::exact::ExactSum;

/// The epochs behind reduced scores. Rows are those of the score columns that the samples are known by.
#[derive(Clone, Debug, Default)]
pub struct EpochInfo {
    /// The variance of the reduced score of a sample over runs of that sample, and the same with one epoch, by row; none
    /// where they are unknown.
    pub variances: Vec<Option<(f64, f64)>>,
    /// What the reduced score of a sample with epochs without a score would be if all of those had the lowest score, the
    /// highest, or 0.
    pub gaps: HashMap<u32, [f64; 3]>,
}

/// The same, summed up over scores. Merges exactly.
#[derive(Clone, Debug, Default)]
pub(crate) struct EpochSums {
    variances: ExactSum,
    /// The same with one epoch.
    of_one: ExactSum,
    /// The scores with a variance, and those without.
    known: u64,
    unknown: u64,
    /// By how much the sum of the scores would change.
    changes: [ExactSum; 3],
    /// The scores with epochs without a score.
    pub(crate) gaps: u64,
}

impl EpochSums {
    pub(crate) fn update(&mut self, scores: &Scores<'_>, conversion: &Conversion) {
        match &scores.set.epochs {
            None => self.unknown += scores.len() as u64,
            Some(info) => scores.converted(conversion, |numbers| self.add(info, scores, numbers)),
        }
    }

    fn add(&mut self, info: &EpochInfo, scores: &Scores<'_>, numbers: &[f64]) {
        for at in 0..scores.len() {
            let row = scores.column_row(at);
            match info.variances.get(row) {
                Some(Some((variance, of_one))) => {
                    self.variances.add(*variance);
                    self.of_one.add(*of_one);
                    self.known += 1;
                }
                _ => self.unknown += 1,
            }
            if let Some(filled) = info.gaps.get(&(row as u32)) {
                self.gaps += 1;
                for (change, filled) in self.changes.iter_mut().zip(filled) {
                    change.add(*filled);
                    change.add(-numbers.get(at).copied().unwrap_or(f64::NAN));
                }
            }
        }
    }

    pub(crate) fn merge(&mut self, other: &EpochSums) {
        self.variances.merge(&other.variances);
        self.of_one.merge(&other.of_one);
        self.known += other.known;
        self.unknown += other.unknown;
        self.gaps += other.gaps;
        self.changes.iter_mut().zip(&other.changes).for_each(|(own, other)| own.merge(other));
    }

    /// By how much the sum of the scores would change if all epochs without a score had the lowest score, the highest,
    /// or 0.
    pub(crate) fn changes(&self) -> &[ExactSum; 3] {
        &self.changes
    }

    /// The standard error of the mean over runs of the same samples: √(Σ w_i/K_i)/n. A sample whose variance is unknown
    /// has one epoch; its w_i is the mean of the others. None if all are unknown.
    pub(crate) fn fixed_stderr(&self) -> Option<f64> {
        let n = (self.known + self.unknown) as f64;
        let of_one = (self.known > 0).then(|| self.of_one.divide(self.known))?;
        let sum = self.variances.to_f64() + of_one * self.unknown as f64;
        Some(sum.sqrt() / n).filter(|se| se.is_finite())
    }
}
