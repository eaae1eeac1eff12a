//! `auroc`: whether right answers have more confidence than wrong ones.

use super::calibration::{
    CONFIDENCE, ConfidentAnswer, PredictionSource, Ranking, once, one_class, reads_predictions, sorted,
    weight_in,
};
use crate::error::Result;
use crate::error_plan::{Cr, ErrorMethod, ErrorPlan, IntervalChoice, IntervalMethod};
use crate::estimate::{
    ClusterCorrection, Estimate, Interval, Maybe, ScoreUnits, StdError, Undefined, resampled_estimate,
};
use crate::evaluation::{Direction, MetricValue};
use crate::metric::Metric;
use crate::registry::Params;
use crate::scores::Scores;
use crate::value::Conversion;
use errorbar_stats::distributions::{normal_quantile, t_quantile};

/// The chance that a right answer has more confidence than a wrong one (area under the ROC curve), with DeLong's error;
/// works on unreduced scores.
///
/// Equal confidences count half; 0.5 is what a confidence that says nothing gets. The interval is that of the logit; if
/// every pair is ranked alike it is Newcombe's method 5. With clusters, or with several epochs, the error is
/// Obuchowski's (1997): that of sums of DeLong's terms by cluster. An error or interval by resampling is used where the
/// plan names one. It cannot be merged from parts. A score must be right or wrong, 1 or 0.
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
#[derive(Clone, Debug, Default, Params)]
#[params(crate = crate, name = "auroc")]
pub struct Auroc {
    /// The metadata key of the confidence, a number from 0 to 1: that of the score, or else of the sample.
    #[param(default = CONFIDENCE.to_owned())]
    confidence: Option<String>,
    /// How values become numbers.
    #[param(default = Conversion::default())]
    to_float: Option<Conversion>,
}

impl Metric for Auroc {
    reads_predictions!();

    fn direction(&self) -> Direction {
        Direction::Higher
    }

    fn resample_cost(&self) -> u64 {
        4
    }

    fn compute(&self, scores: &Scores<'_>) -> Result<MetricValue> {
        let source =
            PredictionSource::new(Self::NAME, self.confidence_or_default(), self.to_float_or_default());
        let predictions = source.read(scores)?;
        let ranking = Ranking::new(&sorted(predictions.clone(), None), once);
        let value = match (one_class(&predictions), ranking.auroc()) {
            (Some(reason), _) => Err(reason),
            (None, area) => area.ok_or(Undefined::NoScores),
        };
        let estimation = scores.estimation();
        let plan = &estimation.errors;
        let Ok(area) = value else { return self.resampled(scores, value, predictions) };
        let is_resampled = plan.wants_resamples() || plan.wants_left_out();
        if is_resampled && !estimation.value_only {
            return self.resampled(scores, value, predictions);
        }
        let mut estimate = Estimate::new(area);
        (estimate.n, estimate.absent) = (scores.len() as u64, scores.absent() as u64);
        if estimation.value_only {
            return Ok(estimate.into());
        }
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

impl Auroc {
    fn resampled(
        &self,
        scores: &Scores<'_>,
        value: Maybe<f64>,
        predictions: Vec<ConfidentAnswer>,
    ) -> Result<MetricValue> {
        let estimate = resampled_estimate(Self::NAME, scores, value, |units| {
            let sorted = sorted(predictions, Some(units));
            move |counts: &[u32]| Ranking::new(&sorted, weight_in(counts)).auroc()
        })?;
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
) -> Maybe<StdError> {
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
        Some(ErrorMethod::Cluster(Cr::Cr0)) => Cr::Cr0,
        _ => Cr::Cr1,
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
) -> (Maybe<Interval>, Option<String>) {
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
