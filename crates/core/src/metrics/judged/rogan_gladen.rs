//! `rogan_gladen`: the share of right answers, corrected for the mistakes of the judge that counted them.

use super::{CorrectedMean, JudgedScores, sum};
use crate::metrics::prelude::*;

/// Share of ones, corrected for the sensitivity and the specificity of a judge on a human-labelled subset (Rogan–Gladen);
/// works on unreduced scores, which must be zeros and ones.
///
/// Right if the judge errs as often on the labelled samples of each kind as on all others; unlike `ppi` it needs no random
/// choice of the labelled samples.
///
/// # Formula
/// ```text
/// (p − u) / (t − u)
/// p the judge's share of ones, t its sensitivity, u one less its specificity
/// ```
///
/// # When
/// A model grades right or wrong, and the samples that people graded were not chosen at random.
///
/// # Example
/// ```console
/// $ printf '%s\n' id,score,human 1,1,1 2,1,0 3,0,0 4,1,1 5,0,0 6,1, 7,1, 8,0, 9,1, 10,0, > judged.csv
/// $ errorbar score judged.csv --metric 'rogan_gladen("human")'
/// judged.csv · 10 rows
///
/// score · 10 scored
///                                           0                   1
///   rogan_gladen  0.40 ± 0.23 [0.00, 0.94]  ├───────●──────────┤
///       human · labelled 5 · unlabelled 5 · naive 0.6 · sensitivity 1 · specificity 0.6667
///
/// ± one standard error (delta) · [95 % interval: t] · ├─●─┤ the interval
/// ```
///
/// # See also
/// `ppi`, `cohen_kappa`, `accuracy`
///
/// # Source
/// Rogan & Gladen 1978, "Estimating prevalence from the results of a screening test".
#[derive(Clone, Debug, Params)]
#[params(crate = crate, name = "rogan_gladen")]
pub struct RoganGladen {
    /// Who labelled some of the samples: a scorer, a field of map-valued scores, or a metadata key.
    human: String,
    /// How scores and labels become zeros and ones.
    #[param(default = Conversion::default())]
    to_float: Option<Conversion>,
}

impl Metric for RoganGladen {
    metric_flags! { self:
        metadata_keys = self.raters().metadata_keys(), score_parts = Value, role = Location,
        raters = Raters::beside([&self.human]), resample_cost = 4
    }

    fn wants(&self) -> Wants {
        // A mean of epochs is neither 0 nor 1.
        Wants::Unreduced
    }

    fn compute(&self, scores: &Scores<'_>) -> Result<MetricValue> {
        let judged = JudgedScores::read(Self::NAME, scores, &self.human, &self.to_float_or_default())?;
        let is_binary = |number: f64| number == 0.0 || number == 1.0;
        for (at, (judge, label)) in judged.rows.iter().enumerate() {
            let wrong = [Some(*judge), *label].into_iter().flatten().find(|number| !is_binary(*number));
            if let Some(number) = wrong {
                let problem = format!(
                    "sample {:?} has the score or label {number}, and it takes zeros and ones; use ppi() for others",
                    scores.sample_id(at)
                );
                return Err(Error::undefined(Self::NAME, problem));
            }
        }
        let judged = judged.into_shares();
        let rates = Rates::of(&judged, &vec![1; scores.len()]);
        let raw = rates.prevalence();
        let corrected = raw.clone().map(|raw| rates.corrected(&judged, raw));
        let mut estimate =
            judged.estimate(scores, corrected, |times| Rates::of(&judged, times).prevalence().ok())?;
        estimate.value = estimate.value.map(|raw| raw.clamp(0.0, 1.0));
        let estimate = judged.annotate(estimate);
        let estimate = estimate.note_some("sensitivity", rates.sensitivity());
        let estimate = estimate.note_some("specificity", rates.false_alarms().map(|rate| 1.0 - rate));
        let clamped = raw.ok().filter(|raw| !(0.0..=1.0).contains(raw));
        Ok(estimate.note_some("before_clamping", clamped).into())
    }
}

/// How often the judge says 1: of all, of the samples labelled 1 and of those labelled 0.
#[derive(Clone, Copy, Debug)]
struct Rates {
    all: Rate,
    ones: Rate,
    zeros: Rate,
}

/// A number of ones among some scores.
#[derive(Clone, Copy, Debug, Default)]
struct Rate {
    hits: u64,
    n: u64,
}

impl Rate {
    fn add(&mut self, judge: f64, times: u64) {
        self.n += times;
        self.hits += if judge == 1.0 { times } else { 0 };
    }

    fn share(self) -> Option<f64> {
        (self.n > 0).then(|| self.hits as f64 / self.n as f64)
    }
}

impl Rates {
    fn of(judged: &JudgedScores, times: &[u32]) -> Self {
        let mut rates = Rates { all: Rate::default(), ones: Rate::default(), zeros: Rate::default() };
        for ((judge, label), times) in judged.rows.iter().zip(times) {
            let times = u64::from(*times);
            rates.all.add(*judge, times);
            match label {
                Some(label) if *label == 1.0 => rates.ones.add(*judge, times),
                Some(_) => rates.zeros.add(*judge, times),
                None => {}
            }
        }
        rates
    }

    fn sensitivity(&self) -> Option<f64> {
        self.ones.share()
    }

    /// One less the specificity.
    fn false_alarms(&self) -> Option<f64> {
        self.zeros.share()
    }

    /// Rogan & Gladen 1978: (p − u)/(t − u), p the share of ones, t the sensitivity, u one less the specificity.
    fn prevalence(&self) -> Defined<f64> {
        let missing = |label| Undefined::Other(format!("no sample with the human label {label}"));
        let p = self.all.share().ok_or(Undefined::NoScores)?;
        let t = self.sensitivity().ok_or_else(|| missing(1))?;
        let u = self.false_alarms().ok_or_else(|| missing(0))?;
        if t <= u {
            return Err(Undefined::Other(format!(
                "sensitivity + specificity − 1 = {:.3}: the judge is no better than chance",
                t - u
            )));
        }
        Ok((p - u) / (t - u))
    }

    /// The delta method, by influence values: ((f − p)/N − π·[y = 1](f − t)/n₁ − (1 − π)·[y = 0](f − u)/n₀)/(t − u). They
    /// include that the labelled samples count in p as well.
    fn corrected(&self, judged: &JudgedScores, raw: f64) -> CorrectedMean {
        let share = |rate: Rate| rate.share().unwrap_or(0.0);
        let (p, t, u) = (share(self.all), share(self.ones), share(self.zeros));
        let influence = |(f, label): &(f64, Option<f64>)| {
            let all = (f - p) / self.all.n as f64;
            let of_label = match label {
                Some(label) if *label == 1.0 => raw * (f - t) / self.ones.n as f64,
                Some(_) => (1.0 - raw) * (f - u) / self.zeros.n as f64,
                None => 0.0,
            };
            (all - of_label) / (t - u)
        };
        let influence: Vec<f64> = judged.rows.iter().map(influence).collect();
        let part = |is_labelled: bool| {
            let rows = judged.rows.iter().zip(&influence);
            let of_part = rows.filter(|((_, label), _)| label.is_some() == is_labelled);
            sum(of_part.map(|(_, influence)| (influence * influence, 1)))
        };
        let parts = [part(true), part(false)];
        let judge_weight = 1.0 - judged.labelled() as f64 / judged.rows.len() as f64;
        CorrectedMean { value: raw, influence, variance: parts.iter().sum(), parts, judge_weight }
    }
}
