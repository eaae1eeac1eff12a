//! How well confidence ranks right answers above wrong ones.

use super::ConfidentAnswer;

/// Right and wrong answers of each distinct confidence, in ascending order.
#[derive(Clone, Debug)]
pub(in crate::metrics) struct Ranking {
    /// Right, wrong.
    ties: Vec<(u64, u64)>,
    right: u64,
    wrong: u64,
}

/// The share of answers of the other kind that a right or a wrong answer of one confidence is ranked correctly against.
#[derive(Clone, Copy, Debug)]
pub(in crate::metrics) struct Placement {
    pub(in crate::metrics) of_right: f64,
    pub(in crate::metrics) of_wrong: f64,
}

impl Ranking {
    /// Of predictions in the order of their confidence, each counted as often as `weight` has it.
    pub(in crate::metrics) fn new(
        predictions: &[ConfidentAnswer],
        weight: impl Fn(&ConfidentAnswer) -> u32,
    ) -> Self {
        let mut ranking = Ranking { ties: Vec::new(), right: 0, wrong: 0 };
        for tie in predictions.chunk_by(|a, b| a.confidence == b.confidence) {
            let (mut right, mut wrong) = (0, 0);
            for prediction in tie {
                let weight = u64::from(weight(prediction));
                if prediction.is_right {
                    right += weight;
                } else {
                    wrong += weight;
                }
            }
            (ranking.right, ranking.wrong) = (ranking.right + right, ranking.wrong + wrong);
            ranking.ties.push((right, wrong));
        }
        ranking
    }

    pub(in crate::metrics) fn right(&self) -> u64 {
        self.right
    }

    pub(in crate::metrics) fn wrong(&self) -> u64 {
        self.wrong
    }

    /// The share of pairs of a right and a wrong answer where the right one has more confidence; equal ones count half. None
    /// without such a pair.
    pub(in crate::metrics) fn auroc(&self) -> Option<f64> {
        let mut below: u128 = 0;
        let mut twice: u128 = 0;
        for (right, wrong) in &self.ties {
            let (right, wrong) = (u128::from(*right), u128::from(*wrong));
            twice += right * (2 * below + wrong);
            below += wrong;
        }
        let pairs = u128::from(self.right) * u128::from(self.wrong);
        (pairs > 0).then(|| twice as f64 / (2 * pairs) as f64)
    }

    /// The average precision: Σ (Rₖ − Rₖ₋₁)·Pₖ over the distinct confidences in descending order. None without a right and a
    /// wrong answer.
    pub(in crate::metrics) fn average_precision(&self) -> Option<f64> {
        if self.right == 0 || self.wrong == 0 {
            return None;
        }
        let (mut right, mut all) = (0, 0);
        let mut sum = 0.0;
        for (more_right, more_wrong) in self.ties.iter().rev() {
            right += more_right;
            all += more_right + more_wrong;
            if *more_right > 0 {
                sum += *more_right as f64 * (right as f64 / all as f64);
            }
        }
        Some(sum / self.right as f64)
    }

    /// The placements of DeLong, DeLong & Clarke-Pearson, "Comparing the areas under two or more correlated receiver operating
    /// characteristic curves", Biometrics 44, 1988: for each distinct confidence.
    pub(in crate::metrics) fn placements(&self) -> Vec<Placement> {
        let (mut right_below, mut wrong_below) = (0, 0);
        let (all_right, all_wrong) = (self.right as f64, self.wrong as f64);
        let placement = |(right, wrong): &(u64, u64)| {
            let right_above = self.right - right_below - right;
            let side = Placement {
                of_right: (wrong_below as f64 + 0.5 * *wrong as f64) / all_wrong,
                of_wrong: (right_above as f64 + 0.5 * *right as f64) / all_right,
            };
            right_below += right;
            wrong_below += wrong;
            side
        };
        self.ties.iter().map(placement).collect()
    }

    /// DeLong's standard error of the area; none with fewer than two right and two wrong answers.
    pub(in crate::metrics) fn delong(&self, auroc: f64) -> Option<f64> {
        if self.right < 2 || self.wrong < 2 {
            return None;
        }
        let (mut of_right, mut of_wrong) = (0.0, 0.0);
        for ((right, wrong), side) in self.ties.iter().zip(self.placements()) {
            let (off_right, off_wrong) = (side.of_right - auroc, side.of_wrong - auroc);
            of_right += *right as f64 * (off_right * off_right);
            of_wrong += *wrong as f64 * (off_wrong * off_wrong);
        }
        let mean_square = |sum: f64, n: u64| sum / (n as f64 - 1.0) / n as f64;
        Some((mean_square(of_right, self.right) + mean_square(of_wrong, self.wrong)).sqrt())
    }
}
