//! `ppi`: the mean of human labels, estimated with the help of a judge that has scored every sample.

use super::{CorrectedMean, JudgedScores, mean, sum};
use crate::metrics::prelude::*;

/// Mean of human labels from a labelled subset and a judge's scores of all samples (prediction-powered inference, PPI++).
///
/// Unbiased whatever the judge is worth, if the labelled samples were chosen at random; the better the judge, the smaller
/// the error.
///
/// # Formula
/// ```text
/// θ = ȳ + λ·(f̄_u − f̄_l)
/// y the labels, f the judge's scores of samples with labels (l) and without (u)
/// ```
///
/// # When
/// A model grades everything, people graded a random part of it, and the figure should be what people would say.
///
/// # Example
/// ```console
/// $ printf '%s\n' id,score,human 1,1,1 2,1,0 3,0,0 4,1,1 5,0,0 6,1, 7,1, 8,0, 9,1, 10,0, > judged.csv
/// $ errorbar score judged.csv --metric 'ppi("human")'
/// judged.csv · 10 rows
///
/// score · 10 scored
///                                  0                   1
///   ppi  0.40 ± 0.22 [0.00, 0.96]  ├───────●──────────┤   human · labelled 5 · unlabelled 5 ·
///                                                         naive 0.6 · labelled mean 0.4 · lambda 0.3
///
/// ± one standard error (delta) · [95 % interval: t] · ├─●─┤ the interval
/// ```
///
/// # See also
/// `rogan_gladen`, `cohen_kappa`, `mean`
///
/// # Source
/// Angelopoulos, Duchi & Zrnic 2023, "PPI++: Efficient prediction-powered inference".
#[derive(Clone, Debug, Params)]
#[params(crate = crate, name = "ppi")]
pub struct Ppi {
    /// Who labelled some of the samples: a scorer, a field of map-valued scores, or a metadata key.
    human: String,
    /// How much the judge counts: 0 not at all, 1 fully; if unset, the value that makes the variance smallest.
    #[param(check = check_lambda)]
    lambda: Option<f64>,
    /// How scores and labels become numbers.
    #[param(default = Conversion::default())]
    to_float: Option<Conversion>,
}

fn check_lambda(lambda: &f64) -> Result<(), String> {
    if (0.0..=1.0).contains(lambda) {
        Ok(())
    } else {
        Err(format!("must lie between 0 and 1, found {lambda}"))
    }
}

impl Metric for Ppi {
    metric_flags! { self:
        metadata_keys = self.raters().metadata_keys(), score_parts = Value, role = Location,
        raters = Raters::beside([&self.human]), resample_cost = 4
    }

    fn compute(&self, scores: &Scores<'_>) -> Result<MetricValue> {
        let judged = JudgedScores::read(Self::NAME, scores, &self.human, &self.to_float_or_default())?;
        let once = vec![1; scores.len()];
        let powered = PpiFit::of(&judged, &once, self.lambda);
        let corrected = powered.as_ref().map(PpiFit::corrected).map_err(Undefined::clone);
        let estimate = judged.estimate(scores, corrected, |times| {
            PpiFit::of(&judged, times, self.lambda).ok().map(|powered| powered.value())
        })?;
        let estimate = judged.annotate(estimate);
        let powered = powered.ok();
        let estimate = estimate.note_some("labelled_mean", powered.as_ref().map(|powered| powered.label));
        Ok(estimate.note_some("lambda", powered.as_ref().map(|powered| powered.lambda)).into())
    }
}

/// Angelopoulos, Duchi & Zrnic, "PPI++", 2023: θ = ȳ + λ(f̄_u − f̄_l), y the n labels, f the judge's scores of the samples
/// with labels (l) and of the N without (u). λ = Cov(y, f)/((1 + n/N)·Var f), kept between 0 and 1, the covariance with the
/// divisor n and the variance over all samples with one less than their number.
struct PpiFit<'j> {
    judged: &'j JudgedScores,
    times: &'j [u32],
    n: u64,
    others: u64,
    label: f64,
    judge_labelled: f64,
    judge_others: f64,
    lambda: f64,
}

impl<'j> PpiFit<'j> {
    /// The parts of the estimate, each sample as often as it is drawn.
    fn of(judged: &'j JudgedScores, times: &'j [u32], lambda: Option<f64>) -> Defined<Self> {
        let rows =
            || judged.rows.iter().zip(times).map(|((f, label), times)| (*f, *label, u64::from(*times)));
        let labelled = || rows().filter_map(|(f, label, times)| Some((f, label?, times)));
        let unlabelled = || rows().filter(|(_, label, _)| label.is_none()).map(|(f, _, times)| (f, times));
        let n: u64 = labelled().map(|(_, _, times)| times).sum();
        let others: u64 = unlabelled().map(|(_, times)| times).sum();
        let means = mean(labelled().map(|(_, label, times)| (label, times)))
            .zip(mean(labelled().map(|(f, _, times)| (f, times))));
        let Some((label, judge_labelled)) = means.filter(|_| n > 1) else {
            let problem = format!("{n} of {} samples have a label, and it takes two", judged.rows.len());
            return Err(Undefined::Other(problem));
        };
        let mut powered = PpiFit {
            judged,
            times,
            n,
            others,
            label,
            judge_labelled,
            judge_others: mean(unlabelled()).unwrap_or(judge_labelled),
            lambda: 0.0,
        };
        // The variance of one score is unknown.
        if others > 1 {
            powered.lambda = lambda.unwrap_or_else(|| {
                let covariance =
                    sum(labelled().map(|(f, y, times)| ((y - label) * (f - judge_labelled), times)));
                let all = mean(rows().map(|(f, _, times)| (f, times))).unwrap_or(0.0);
                let squares = sum(rows().map(|(f, _, times)| ((f - all) * (f - all), times)));
                let variance = squares / (n + others - 1) as f64;
                let best = covariance / n as f64 / ((1.0 + n as f64 / others as f64) * variance);
                // Without a spread of the judge's scores there is nothing to gain.
                if best.is_nan() { 0.0 } else { best.clamp(0.0, 1.0) }
            });
        }
        Ok(powered)
    }

    fn value(&self) -> f64 {
        self.label + self.lambda * (self.judge_others - self.judge_labelled)
    }

    /// The value with its influence values: (y − λf) less its mean over n where there is a label, and λf less its mean over N
    /// elsewhere. The variance is that of the two means.
    fn corrected(&self) -> CorrectedMean {
        let (n, others) = (self.n as f64, self.others as f64);
        let centre = self.label - self.lambda * self.judge_labelled;
        let influence = |(f, label): &(f64, Option<f64>)| match label {
            Some(label) => (label - self.lambda * f - centre) / n,
            None => self.lambda * (f - self.judge_others) / others,
        };
        let influence: Vec<f64> = self.judged.rows.iter().map(influence).collect();
        let part = |is_labelled: bool| {
            let rows = self.judged.rows.iter().zip(&influence).zip(self.times);
            let of_part = rows.filter(|(((_, label), _), _)| label.is_some() == is_labelled);
            sum(of_part.map(|((_, influence), times)| (influence * influence, u64::from(*times))))
        };
        let unbiased = |n: f64| if n > 1.0 { n / (n - 1.0) } else { 0.0 };
        let parts = [part(true) * unbiased(n), part(false) * unbiased(others)];
        let variance = parts.iter().sum();
        CorrectedMean { value: self.value(), influence, variance, parts, judge_weight: self.lambda }
    }
}
