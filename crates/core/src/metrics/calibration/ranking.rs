//! How well confidence ranks answers: `auroc`, `auprc`.

use super::{ConfidentAnswer, confidence_metric, one_class, reads_predictions, resampled, sorted};
use crate::estimate::ClusterCorrection;
use crate::metrics::prelude::*;
use errorbar_stats::distributions::{normal_quantile, t_quantile};

/// Right and wrong answers of each distinct confidence, in ascending order.
#[derive(Clone, Debug)]
pub(super) struct Ranking {
    /// Right, wrong.
    ties: Vec<(u64, u64)>,
    right: u64,
    wrong: u64,
}

/// The share of answers of the other kind that a right or a wrong answer of one confidence is ranked correctly against.
#[derive(Clone, Copy, Debug)]
pub(super) struct Placement {
    pub(super) of_right: f64,
    pub(super) of_wrong: f64,
}

impl Ranking {
    /// Of predictions in the order of their confidence, each counted as often as it is drawn.
    pub(super) fn new(predictions: &[ConfidentAnswer], draws: Option<&[u32]>) -> Self {
        let mut ranking = Ranking { ties: Vec::new(), right: 0, wrong: 0 };
        for tie in predictions.chunk_by(|a, b| a.confidence == b.confidence) {
            let (mut right, mut wrong) = (0, 0);
            for prediction in tie {
                let weight = prediction.weight(draws);
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

    pub(super) fn right(&self) -> u64 {
        self.right
    }

    pub(super) fn wrong(&self) -> u64 {
        self.wrong
    }

    /// The share of pairs of a right and a wrong answer where the right one has more confidence; equal ones count half. None
    /// without such a pair.
    pub(super) fn auroc(&self) -> Option<f64> {
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
    pub(super) fn average_precision(&self) -> Option<f64> {
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
    pub(super) fn placements(&self) -> Vec<Placement> {
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
    pub(super) fn delong(&self, auroc: f64) -> Option<f64> {
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

confidence_metric! {
    /// The chance that a right answer has more confidence than a wrong one (area under the ROC curve), with DeLong's error;
    /// works on unreduced scores.
    ///
    /// Equal confidences count half; 0.5 is what a confidence that says nothing gets. The interval is that of the logit; if
    /// every pair is ranked alike it is Newcombe's method 5. With clusters, or with several epochs, the error is
    /// Obuchowski's (1997): that of sums of DeLong's terms by cluster. An error or interval by resampling is used where the
    /// plan names one. A score must be right or wrong, 1 or 0.
    ///
    /// # Formula
    /// ```text
    /// P(c₁ > c₀) + ½·P(c₁ = c₀), c₁ and c₀ the confidences of a right and of a wrong answer
    /// ```
    ///
    /// # When
    /// Whether confidence distinguishes right from wrong answers, whatever its scale: for a threshold below which a model
    /// should not answer.
    ///
    /// # Example
    /// ```console
    /// $ printf '%s\n' id,score,confidence 1,1,0.9 2,1,0.8 3,0,0.7 4,1,0.6 5,0,0.4 6,0,0.2 > sure.csv
    /// $ errorbar score sure.csv --metric 'auroc'
    /// sure.csv · 6 rows
    ///
    /// score · 6 scored
    ///                                    0                                       1
    ///   auroc  0.89 ± 0.16 [0.26, 0.99]             ├────────────────────────●───┤  only 6 scores
    ///
    /// ± one standard error (delong) · [95 % interval: logit] · ├─●─┤ the interval
    /// ```
    ///
    /// # See also
    /// `auprc`, `brier`, `ece`
    ///
    /// # Source
    /// DeLong, DeLong & Clarke-Pearson 1988, "Comparing the areas under two or more correlated receiver operating
    /// characteristic curves". Clusters: Obuchowski 1997. Interval: Newcombe 2006.
    Auroc, "auroc"
}

impl Metric for Auroc {
    metric_flags! { self: direction = Higher, resample_cost = 4 }

    reads_predictions!();

    fn compute(&self, scores: &Scores<'_>) -> Result<MetricValue> {
        let source = self.source();
        let predictions = source.read(scores)?;
        let ranking = Ranking::new(&sorted(predictions.clone(), None), None);
        let value = match (one_class(&predictions), ranking.auroc()) {
            (Some(reason), _) => Err(reason),
            (None, area) => area.ok_or(Undefined::NoScores),
        };
        let estimation = scores.estimation();
        let plan = &estimation.errors;
        let is_resampled = estimation.value_only || plan.wants_resamples() || plan.wants_left_out();
        let Some(area) = value.clone().ok().filter(|_| !is_resampled) else {
            let figure =
                |sorted: &[ConfidentAnswer], draws: Option<&[u32]>| Ranking::new(sorted, draws).auroc();
            return resampled(Self::NAME, scores, predictions, value, figure).map(Into::into);
        };
        let mut estimate = Estimate::new(area).counted(scores.len() as u64, scores.absent() as u64);
        let figure = ScoreUnits::of_plan(Self::NAME, scores)?.and_then(|units| {
            let sampled = plan.sampled(units.samples() as f64)?;
            let error = error(&ranking, area, &sorted(predictions, Some(&units)), &units, plan)?;
            Ok(StdError { se: error.se * (1.0 - sampled).sqrt(), ..error })
        });
        let (interval, reason) = match &figure {
            Ok(error) => interval(&ranking, area, error, plan, scores.len() as u64),
            Err(reason) => (Err(reason.clone()), None),
        };
        (estimate.interval, estimate.notes.is_caution) = (interval, reason.is_some());
        estimate.notes.reason = reason;
        estimate.error = figure.and_then(|error| match error.se > 0.0 {
            true => Ok(error),
            false => Err(no_spread(area, &error, scores.len() as u64)),
        });
        Ok(estimate.into())
    }
}

/// DeLong's error; of sums by unit if a unit has several answers.
fn error(
    ranking: &Ranking,
    area: f64,
    predictions: &[ConfidentAnswer],
    units: &ScoreUnits,
    plan: &ErrorPlan,
) -> Defined<StdError> {
    let is_single = !units.is_clustered() && units.len() == predictions.len();
    if is_single || plan.method == Some(ErrorMethod::Iid) {
        let few = || {
            let (right, wrong) = (ranking.right(), ranking.wrong());
            Undefined::Other(format!(
                "it takes two right and two wrong answers; there are {right} and {wrong}"
            ))
        };
        let se = ranking.delong(area).ok_or_else(few)?;
        return Ok(StdError::new(se, ErrorMethod::DeLong));
    }
    let count = units.len();
    if count < 2 {
        return Err(Undefined::TooFewClusters { clusters: count as u64 });
    }
    let (mut sums, mut absolute) = (vec![0.0; count], 0.0);
    let ties = predictions.chunk_by(|a, b| a.confidence == b.confidence);
    for (tie, side) in ties.zip(ranking.placements()) {
        for prediction in tie {
            let term = match prediction.is_right {
                true => (side.of_right - area) / ranking.right() as f64,
                false => (side.of_wrong - area) / ranking.wrong() as f64,
            };
            if let Some(sum) = sums.get_mut(prediction.unit as usize) {
                *sum += term;
                absolute += term.abs();
            }
        }
    }
    let squares: f64 = sums.iter().map(|sum| sum * sum).sum();
    let method = match plan.method {
        Some(ErrorMethod::Cluster(ClusterVariance::Cr0)) => ClusterVariance::Cr0,
        _ => ClusterVariance::Cr1,
    };
    let se = (ClusterCorrection::new(method, count).factor() * squares).sqrt();
    let se = if se > ROUNDING * absolute { se } else { 0.0 };
    let error = StdError::new(se, ErrorMethod::Cluster(method));
    Ok(error.with_df((count - 1) as f64).with_clusters(vec![count as u64]))
}

/// Whether all pairs of a right and a wrong answer are ranked alike.
fn is_extreme(area: f64) -> bool {
    area == 0.0 || area == 1.0
}

/// Why there is no error.
fn no_spread(area: f64, error: &StdError, n: u64) -> Undefined {
    match error.clusters.is_empty() {
        _ if is_extreme(area) => {
            Undefined::Other("all pairs of a right and a wrong answer are ranked alike".to_owned())
        }
        true => Undefined::NoSpread { n },
        false => Undefined::Other("no spread between clusters".to_owned()),
    }
}

/// Sums of terms that cancel leave this share of them, by rounding.
const ROUNDING: f64 = 1e-14;

/// The interval of the plan; and why it is of another method, if it is.
fn interval(
    ranking: &Ranking,
    area: f64,
    error: &StdError,
    plan: &ErrorPlan,
    n: u64,
) -> (Defined<Interval>, Option<String>) {
    let (level, side) = (plan.level(), plan.side());
    let confidence = side.confidence_of_ends(level);
    let df = error.df.is_finite().then_some(error.df);
    let quantile = match df {
        Some(df) => t_quantile(confidence, df),
        None => normal_quantile(confidence),
    };
    let one_sided = |lower: f64, upper: f64, method: IntervalMethod| {
        Ok(Interval::new(lower, upper, level, method).with_df(df).one_sided(side, Some((0.0, 1.0))))
    };
    if error.se == 0.0 && !(is_extreme(area) && error.clusters.is_empty()) {
        return (Err(no_spread(area, error, n)), None);
    }
    if is_extreme(area) {
        let (lower, upper) = newcombe(area, ranking.right() as f64, ranking.wrong() as f64, quantile);
        let reason = "interval by Newcombe's method 5".to_owned();
        return (one_sided(lower, upper, IntervalMethod::Custom), Some(reason));
    }
    match plan.interval {
        IntervalChoice::Method(IntervalMethod::T) => {
            let half = quantile * error.se;
            (one_sided(area - half, area + half, IntervalMethod::T), None)
        }
        choice => {
            let logit = libm::log(area / (1.0 - area));
            let half = quantile * error.se / (area * (1.0 - area));
            let share = |logit: f64| 1.0 / (1.0 + libm::exp(-logit));
            let reason = match choice {
                IntervalChoice::Auto => None,
                IntervalChoice::Method(other) => {
                    Some(format!("logit in place of {other}, which is for means"))
                }
            };
            (one_sided(share(logit - half), share(logit + half), IntervalMethod::Logit), reason)
        }
    }
}

/// Newcombe, "Confidence intervals for an effect size measure based on the Mann-Whitney statistic. Part 2", Statistics in
/// Medicine 25, 2006, method 5: the areas that a test with the variance of Hanley & McNeil, the numbers of both kinds taken
/// as equal, does not reject.
fn newcombe(area: f64, right: f64, wrong: f64, quantile: f64) -> (f64, f64) {
    let others = (right + wrong) / 2.0 - 1.0;
    let rejects = |theta: f64| {
        let spread = 1.0 + others * ((1.0 - theta) / (2.0 - theta) + theta / (1.0 + theta));
        let variance = theta * (1.0 - theta) * spread / (right * wrong);
        (area - theta) * (area - theta) > quantile * quantile * variance
    };
    // From the area, which is not rejected, to the far end of the range, which is.
    let (mut inside, mut outside) = (area, 1.0 - area);
    for _ in 0..BISECTIONS {
        let middle = 0.5 * (inside + outside);
        // Next to the area both sides vanish, and the square does so faster.
        if middle != area && rejects(middle) {
            outside = middle;
        } else {
            inside = middle;
        }
    }
    if area == 1.0 { (inside, 1.0) } else { (0.0, inside) }
}

/// Halvings until a number between 0 and 1 has all its digits.
const BISECTIONS: u32 = 60;

confidence_metric! {
    /// The area under the curve of precision over recall of right answers, ranked by confidence (average precision), with a
    /// bootstrap interval; works on unreduced scores.
    ///
    /// Σ (Rₖ − Rₖ₋₁)·Pₖ over the distinct confidences, without interpolation. A confidence that says nothing gets the
    /// accuracy. A score must be right or wrong, 1 or 0.
    ///
    /// # Formula
    /// ```text
    /// Σ (Rₖ − Rₖ₋₁)·Pₖ over the distinct confidences, the greatest first
    /// ```
    ///
    /// # When
    /// As `auroc`, where right answers are rare.
    ///
    /// # Example
    /// ```console
    /// $ printf '%s\n' id,score,confidence 1,1,0.9 2,1,0.8 3,0,0.7 4,1,0.6 5,0,0.4 6,0,0.2 > sure.csv
    /// $ errorbar score sure.csv --metric 'auprc'
    /// sure.csv · 6 rows
    ///
    /// score · 6 scored
    ///                                    0                   1
    ///   auprc  0.92 ± 0.14 [0.50, 1.00]            ├───────●─┤  only 6 scores · 332 undefined resamples
    ///
    /// ± one standard error (bootstrap) · [95 % interval: bootstrap] · ├─●─┤ the interval
    /// ```
    ///
    /// # See also
    /// `auroc`, `precision`, `recall`
    ///
    /// # Source
    /// Why points of the curve are not joined by lines: Davis & Goadrich 2006, "The relationship between precision-
    /// recall and ROC curves".
    Auprc, "auprc"
}

impl Metric for Auprc {
    metric_flags! { self: direction = Higher, resample_cost = 4 }

    reads_predictions!();

    fn compute(&self, scores: &Scores<'_>) -> Result<MetricValue> {
        let source = self.source();
        let predictions = source.read(scores)?;
        let figure = |sorted: &[ConfidentAnswer], draws: Option<&[u32]>| {
            Ranking::new(sorted, draws).average_precision()
        };
        let value = match one_class(&predictions) {
            Some(reason) => Err(reason),
            None => figure(&sorted(predictions.clone(), None), None).ok_or(Undefined::NoScores),
        };
        resampled(source.metric, scores, predictions, value, figure).map(Into::into)
    }
}
