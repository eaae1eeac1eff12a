//! The epochs of samples, for metrics over unreduced scores that look at each sample by itself.

use std::collections::{HashMap, HashSet};

use super::mean;
use crate::metrics::prelude::*;
use errorbar_stats::exact::Moments;
use errorbar_stats::resampling::jackknife_error;

/// The positions of the scored epochs of each sample, samples in order of first appearance.
pub struct SampleEpochs {
    samples: Vec<Vec<u32>>,
    /// The number of samples without any scored epoch.
    unscored: usize,
}

impl SampleEpochs {
    /// Those of unreduced scores.
    pub fn of(scores: &Scores<'_>) -> Self {
        let mut samples: IndexMap<&str, Vec<u32>> = IndexMap::new();
        for at in 0..scores.len() {
            samples.entry(scores.sample_id(at)).or_default().push(at as u32);
        }
        let columns = scores.set().columns;
        let absent = scores.absent_rows().iter().map(|row| columns.id(*row as usize));
        let unscored: HashSet<&str> = absent.filter(|id| !samples.contains_key(id)).collect();
        SampleEpochs { unscored: unscored.len(), samples: samples.into_values().collect() }
    }

    /// The number of samples with a scored epoch.
    fn len(&self) -> usize {
        self.samples.len()
    }

    /// The positions of each sample's epochs.
    pub fn iter(&self) -> impl Iterator<Item = &[u32]> {
        self.samples.iter().map(Vec::as_slice)
    }

    /// How many samples have how many epochs, if not all have the same number: `3 × 2, 47 × 4`, three
    /// samples with two epochs and 47 with four.
    fn unequal(&self) -> Option<String> {
        let mut counts: std::collections::BTreeMap<usize, usize> = std::collections::BTreeMap::new();
        self.samples.iter().for_each(|epochs| *counts.entry(epochs.len()).or_default() += 1);
        let texts = counts.iter().map(|(epochs, samples)| format!("{samples} × {epochs}"));
        (counts.len() > 1).then(|| texts.collect::<Vec<_>>().join(", "))
    }

    /// The mean of one number for each sample, with the error and the interval of the plan, of which `change_plan`
    /// changes what does not fit; samples without a number are counted as absent.
    fn mean(
        &self,
        scores: &Scores<'_>,
        change_plan: fn(&mut ErrorPlan),
        number: impl Fn(&[u32]) -> Option<f64>,
    ) -> Result<Estimate> {
        let (mut positions, mut values) = (Vec::with_capacity(self.len()), Vec::with_capacity(self.len()));
        for epochs in self.iter() {
            if let (Some(number), Some(first)) = (number(epochs), epochs.first()) {
                positions.push(*first as usize);
                values.push(number);
            }
        }
        let absent = self.unscored + self.len() - values.len();
        let mut set = scores.derive(positions.into_iter(), ValueColumn::from_floats(&values));
        // One score for each sample from here on.
        set.estimation.by_sample = false;
        set.absent = Vec::new();
        change_plan(&mut set.estimation.errors);
        Ok(Estimate { absent: absent as u64, ..mean().compute(&set.scores())?.into_estimate() })
    }
}

/// How far the epochs of a sample agree; works on unreduced scores.
///
/// `all_agree` is the share of samples whose epochs all have the same value; it falls with the number of epochs.
/// `agreement` is the chance that two epochs of a sample, picked at random, have the same value, which does not. Both
/// are means over samples with the plan's error and interval. Values are compared as they are, `C` with `C`; a sample
/// with fewer than two scored epochs is counted as absent.
///
/// # Formula
/// ```text
/// agreement = mean over samples of Σ_v m_v(m_v − 1) / (K(K − 1)), m_v the epochs with value v
/// ```
///
/// # When
/// Whether a model answers the same when it is called again, right or wrong.
///
/// # Example
/// ```console
/// $ printf '%s\n' id,epoch,score a,1,1 a,2,0 a,3,1 b,1,0 b,2,0 b,3,1 c,1,1 c,2,1 c,3,1 > runs.csv
/// $ errorbar score runs.csv --metric 'consistency'
/// runs.csv · 9 rows
///
/// score · 3 epochs, not reduced · 9 scored
///                                          0                                       1
///   consistency  only 3 scores
///     all_agree  0.33 ± 0.33 [0.06, 0.79]    ├──────────●─────────────────┤
///     agreement  0.56 ± 0.22 [0.07, 0.95]     ├──────────────────●───────────────┤
///
/// ± one standard error · [95 % interval: wilson] · ├─●─┤ the interval
/// ```
///
/// # See also
/// `variance_components`, `frequency`, `pass_k`, `fleiss_kappa`
///
/// # Source
/// Defined by errorbar; inspect_ai has no such metric. `agreement` of a sample is that of Fleiss 1971, "Measuring
/// nominal scale agreement among many raters", with epochs as raters.
#[derive(Clone, Debug, Default, Params)]
#[params(crate = crate, name = "consistency")]
pub struct Consistency;

impl Metric for Consistency {
    metric_flags! { self:
        metadata_keys = MetadataKeys::NONE, score_parts = Value, needs_epochs = true, role = Share,
        direction = Higher, resample_cost = 8
    }

    fn compute(&self, scores: &Scores<'_>) -> Result<MetricValue> {
        let mut keys = Vec::with_capacity(scores.len());
        for at in 0..scores.len() {
            keys.push(match scores.value(at) {
                ValueRef::Leaf(leaf) => LeafKey::new(leaf),
                nested => {
                    let wanted = r#"consistency compares scalars; for maps give metrics by key, as in {"*": [consistency()]}"#;
                    return Err(Error::shape(Self::NAME, scores.sample_id(at), nested.describe(), wanted));
                }
            });
        }
        let samples = SampleEpochs::of(scores);
        let key = |at: &u32| keys.get(*at as usize).and_then(Option::as_ref);
        let all_agree = |epochs: &[u32]| {
            let first = epochs.first().and_then(key);
            (epochs.len() > 1).then(|| f64::from(u8::from(epochs.iter().all(|at| key(at) == first))))
        };
        let agreement = |epochs: &[u32]| {
            let mut counts: HashMap<Option<&LeafKey>, u64> = HashMap::new();
            epochs.iter().for_each(|at| *counts.entry(key(at)).or_default() += 1);
            // Pairs of epochs with the same value, of all pairs.
            let pairs = |count: u64| count * count.saturating_sub(1);
            let equal: u64 = counts.values().map(|count| pairs(*count)).sum();
            (epochs.len() > 1).then(|| equal as f64 / pairs(epochs.len() as u64) as f64)
        };
        // A share lies between 0 and 1, whatever the range of the scores.
        let unequal = samples.unequal();
        let estimate = |number: &dyn Fn(&[u32]) -> Option<f64>| -> Result<Estimate> {
            let estimate = samples.mean(scores, share_plan, number)?;
            let reason =
                || Estimate::undefined(Undefined::Other("no sample has two scored epochs".to_owned()));
            let estimate = match estimate.value {
                Err(Undefined::NoScores) if samples.len() > 0 => {
                    Estimate { absent: estimate.absent, ..reason() }
                }
                _ => estimate,
            };
            Ok(estimate.note_some("samples_by_epochs", unequal.clone()))
        };
        let all = [("all_agree", estimate(&all_agree)?), ("agreement", estimate(&agreement)?)];
        let map: IndexMap<String, Estimate> =
            all.into_iter().map(|(name, estimate)| (name.to_owned(), estimate)).collect();
        Ok(map.into())
    }
}

/// The plan for shares.
fn share_plan(plan: &mut ErrorPlan) {
    plan.range = None;
}

/// How much of the error of a mean is due to samples and how much to epochs, and what more of either would buy.
///
/// Works on unreduced scores of samples with two epochs or more. `between` is the variance of the samples' true means,
/// `within` the variance of the epochs of a sample. `stderr` is the error for questions like these, `stderr_fixed` the
/// one for these same questions again. `epoch_share` is the share of the variance of the mean that comes from epochs,
/// `stderr_next_epoch` the error with one more epoch of each sample, `stderr_next_samples` the one if the same runs go
/// into more samples, `stderr_epochs_1` to `stderr_epochs_16` the one with that number of epochs, `stderr_limit` the one with
/// infinitely many. With clusters `stderr` is the clustered error, and a note has that of independent samples, which all
/// predictions are for.
///
/// # Formula
/// ```text
/// within  = mean of w_i, the variance of the epochs of sample i
/// between = max(0, var(q) − mean of w_i/K_i), q_i the mean of sample i
/// stderr = √(var(q)/n), stderr_fixed = √(Σ w_i/K_i) / n
/// ```
///
/// # When
/// Before buying more epochs or more samples: which of the two would make the error smaller.
///
/// # Example
/// ```console
/// $ printf '%s\n' id,epoch,score a,1,1 a,2,0 a,3,1 b,1,0 b,2,0 b,3,1 c,1,1 c,2,1 c,3,1 > runs.csv
/// $ errorbar score runs.csv --metric 'variance_components'
/// runs.csv · 9 rows
///
/// score · 3 epochs, not reduced · 9 scored
///                                       0                   1
///   variance_components
///     between              0.04 ± 0.13  ─●──┤                  only 3 scores
///     within               0.22 ± 0.11    ├─●─┤                only 3 scores · iid
///     stderr               0.1925                              n 3 · for questions like these
///     stderr_fixed         0.1571                              n 3 · for these same questions again
///     epoch_share          0.6667                              n 3
///     stderr_next_epoch    0.1757                              n 3 · for one more epoch of each
///                                                              sample, 3 more runs
///     stderr_next_samples  0.1667                              n 3 · for 1 more sample with as many
///                                                              epochs, 3 more runs
///     stderr_epochs_1      0.294                               n 3 · for 1 epoch
///     stderr_epochs_2      0.2222                              n 3 · for 2 epochs
///     stderr_epochs_4      0.1757                              n 3 · for 4 epochs
///     stderr_epochs_8      0.147                               n 3 · for 8 epochs
///     stderr_epochs_16     0.1303                              n 3 · for 16 epochs
///     stderr_limit         0.1111                              n 3 · for any number of epochs
///
/// ± one standard error (jackknife) · ├─●─┤ value ± error
/// ```
///
/// # See also
/// `stderr`, `consistency`, `var`
///
/// # Source
/// Miller 2024, "Adding error bars to evals", arXiv 2411.00640.
#[derive(Clone, Debug, Default, Params)]
#[params(crate = crate, name = "variance_components")]
pub struct VarianceComponents {
    /// How values become numbers.
    #[param(default = Conversion::default())]
    to_float: Option<Conversion>,
}

/// The numbers of epochs whose error is predicted.
const EPOCHS: [u32; 5] = [1, 2, 4, 8, 16];

impl Metric for VarianceComponents {
    metric_flags! { self:
        metadata_keys = MetadataKeys::NONE, score_parts = Value, needs_epochs = true, resample_cost = 12
    }

    fn compute(&self, scores: &Scores<'_>) -> Result<MetricValue> {
        let conversion = self.to_float_or_default();
        let floats = scores.finite(Self::NAME, &conversion, <[f64]>::to_vec)?;
        let samples = SampleEpochs::of(scores);
        let epochs = |epochs: &[u32]| -> Vec<f64> {
            epochs.iter().filter_map(|at| floats.get(*at as usize)).copied().collect()
        };
        let mean = samples.mean(scores, |_| {}, |of_sample| Some(ExactSum::mean(&epochs(of_sample))))?;
        let components = Components::new(samples.iter().map(epochs));
        let mut parts = components.estimates(&mean);
        if let Some(counts) = samples.unequal()
            && let Some(within) = parts.get_mut("within")
        {
            within.notes.custom.insert("samples_by_epochs".to_owned(), counts.into());
        }
        Ok(parts.into())
    }
}

/// A sample: its number of epochs, their mean, and their variance if there are two.
pub(crate) struct SampleVariance {
    epochs: f64,
    mean: f64,
    variance: Option<f64>,
}

/// The samples, and what is taken for the variance of those with one epoch: the mean of the others.
pub struct Components {
    samples: Vec<SampleVariance>,
    /// The mean variance within a sample.
    pub within: Defined<f64>,
}

impl Components {
    /// From the epochs of each sample.
    pub fn new(samples: impl Iterator<Item = Vec<f64>>) -> Self {
        let sample = |epochs: Vec<f64>| {
            let mut moments = Moments::new();
            moments.extend(&epochs);
            SampleVariance {
                epochs: epochs.len() as f64,
                mean: moments.mean().unwrap_or_default(),
                variance: moments.variance(),
            }
        };
        let samples: Vec<SampleVariance> = samples.map(sample).collect();
        let variances: Vec<f64> = samples.iter().filter_map(|sample| sample.variance).collect();
        let within = match (samples.is_empty(), variances.is_empty()) {
            (true, _) => Err(Undefined::NoScores),
            (_, true) => Err(Undefined::Other("every sample has one epoch".to_owned())),
            _ => finite(ExactSum::mean(&variances)),
        };
        Components { samples, within }
    }

    fn n(&self) -> f64 {
        self.samples.len() as f64
    }

    /// The mean over samples of w_i/(K_i + more): what epochs add to the variance of a sample's mean.
    pub fn of_epochs(&self, more: f64) -> Defined<f64> {
        let within = self.within.clone()?;
        let part = |sample: &SampleVariance| sample.variance.unwrap_or(within) / (sample.epochs + more);
        finite(ExactSum::mean(&self.samples.iter().map(part).collect::<Vec<_>>()))
    }

    /// The variance of the samples' means, which has in it what epochs add.
    pub fn of_means(&self) -> Defined<f64> {
        let mut moments = Moments::new();
        moments.extend(&self.samples.iter().map(|sample| sample.mean).collect::<Vec<_>>());
        let n = moments.count();
        moments.variance().ok_or(Undefined::TooFewScores { n }).and_then(finite)
    }

    /// The variance of the samples' true means, before it is cut off at 0.
    pub fn between(&self) -> Defined<f64> {
        let of_epochs = self.of_epochs(0.0)?;
        Ok(self.of_means()? - of_epochs)
    }

    /// By leaving out one sample at a time.
    fn error_of_between(&self) -> Defined<StdError> {
        let (n, within) = (self.n(), self.within.clone()?);
        if self.samples.len() < 3 {
            return Err(Undefined::Other("fewer than three samples".to_owned()));
        }
        let mean = ExactSum::mean(&self.samples.iter().map(|sample| sample.mean).collect::<Vec<_>>());
        let squares = self.of_means()? * (n - 1.0);
        let epochs = self.of_epochs(0.0)? * n;
        // Of n − 1 samples: Σ(q − q̄)² is less by (q_i − q̄)²·n/(n−1).
        let without = |sample: &SampleVariance| {
            let off = sample.mean - mean;
            let of_means = (squares - off * off * n / (n - 1.0)) / (n - 2.0);
            let own = sample.variance.unwrap_or(within) / sample.epochs;
            of_means - (epochs - own) / (n - 1.0)
        };
        let left_out: Vec<f64> = self.samples.iter().map(without).collect();
        let se = jackknife_error(&left_out).unwrap_or_default();
        let error = StdError::new(finite(se)?, ErrorMethod::Jackknife);
        Ok(error.with_df(n - 1.0))
    }

    /// Of the mean of the samples' variances.
    fn error_of_within(&self) -> Defined<StdError> {
        let mut moments = Moments::new();
        moments.extend(&self.samples.iter().filter_map(|sample| sample.variance).collect::<Vec<_>>());
        let n = moments.count();
        let se = moments.stderr().ok_or(Undefined::TooFewScores { n })?;
        Ok(StdError::new(finite(se)?, ErrorMethod::Iid).with_df((n - 1) as f64))
    }

    /// The standard error of the mean with these epochs of this number of samples.
    fn planned(&self, of_epochs: Defined<f64>, samples: f64) -> Defined<f64> {
        let between = self.between()?.max(0.0);
        finite(((between + of_epochs?) / samples).sqrt()).and_then(|se| self.above_0(se))
    }

    /// A figure that says nothing if it is 0.
    fn above_0(&self, figure: f64) -> Defined<f64> {
        if figure > 0.0 { Ok(figure) } else { Err(Undefined::NoSpread { n: self.samples.len() as u64 }) }
    }

    /// The variance of the samples' true means, where the epochs leave any of it: one that is cut off at 0 says that it
    /// is small, not that there is none.
    fn known_between(&self) -> Defined<f64> {
        let between = self.between()?;
        match (between > 0.0, self.of_epochs(0.0)? > 0.0) {
            (true, _) => Ok(between),
            (false, true) => Err(Undefined::Other(NO_BETWEEN.to_owned())),
            (false, false) => Err(Undefined::NoSpread { n: self.samples.len() as u64 }),
        }
    }

    fn estimates(&self, mean: &Estimate) -> IndexMap<String, Estimate> {
        let (n, runs) = (self.n(), self.samples.iter().map(|sample| sample.epochs).sum::<f64>());
        let mut parts: IndexMap<String, Estimate> = IndexMap::new();
        let mut add = |name: String, value: Defined<f64>, about: Option<String>| {
            let estimate = match value {
                Ok(value) => Estimate::new(value),
                Err(reason) => Estimate::undefined(reason),
            };
            // Without samples nothing can be planned.
            let about = about.filter(|_| !self.samples.is_empty());
            let mut estimate = estimate.with_n(self.samples.len() as u64).note_some(FOR, about);
            estimate.absent = mean.absent;
            parts.insert(name, estimate);
        };
        let between = self.between();
        add("between".to_owned(), between.clone().map(|between| between.max(0.0)), None);
        add("within".to_owned(), self.within.clone(), None);
        let stderr = mean.error.as_ref().map_err(Undefined::clone).and_then(|error| self.above_0(error.se));
        add("stderr".to_owned(), stderr, Some("questions like these".to_owned()));
        let fixed = self.of_epochs(0.0).map(|of_epochs| (of_epochs / n).sqrt());
        add("stderr_fixed".to_owned(), fixed, Some("these same questions again".to_owned()));
        add("epoch_share".to_owned(), self.epoch_share(), None);
        let next_epoch = self.planned(self.of_epochs(1.0), n);
        let about = format!("one more epoch of each sample, {}", more_of(n, "run"));
        add("stderr_next_epoch".to_owned(), next_epoch, Some(about));
        // As many runs as another epoch of all samples takes.
        let more = n / (runs / n);
        let next_samples = self.planned(self.of_epochs(0.0), n + more);
        let about = format!("{} with as many epochs, {}", more_of(more, "sample"), more_of(n, "run"));
        add("stderr_next_samples".to_owned(), next_samples, Some(about));
        for epochs in EPOCHS {
            let of_epochs = self.within.clone().map(|within| within / f64::from(epochs));
            let about = if epochs == 1 { "1 epoch".to_owned() } else { format!("{epochs} epochs") };
            add(format!("stderr_epochs_{epochs}"), self.planned(of_epochs, n), Some(about));
        }
        let limit = self.known_between().and_then(|_| self.planned(Ok(0.0), n));
        add("stderr_limit".to_owned(), limit, Some("any number of epochs".to_owned()));
        let errors = [("between", self.error_of_between()), ("within", self.error_of_within())];
        for (name, error) in errors {
            if let Some(estimate) = parts.get_mut(name).filter(|estimate| estimate.value.is_ok()) {
                estimate.error = error;
            }
        }
        // Predictions are from variances of independent samples: they compare with that error, not with a clustered one.
        if mean.error.as_ref().is_ok_and(|error| !error.clusters.is_empty()) {
            let of_independent = self.of_means().map(|variance| (variance / n).sqrt()).ok();
            for (name, estimate) in &mut parts {
                let custom = &mut estimate.notes.custom;
                match name.as_str() {
                    "between" | "within" | "stderr_fixed" => {}
                    "stderr" => {
                        custom.extend(of_independent.map(|se| (IF_INDEPENDENT.to_owned(), se.into())))
                    }
                    _ => drop(custom.insert(SAMPLES.to_owned(), "as independent".into())),
                }
            }
        }
        // The figure itself is no longer without bias.
        if let (Some(estimate), Ok(between)) = (parts.get_mut("between"), between)
            && between < 0.0
        {
            estimate.notes.custom.insert("estimated_below_0".to_owned(), between.into());
        }
        parts
    }

    /// The share of the variance of the mean that comes from epochs.
    fn epoch_share(&self) -> Defined<f64> {
        let (between, of_epochs) = (self.known_between()?, self.of_epochs(0.0)?);
        Ok(of_epochs / (between + of_epochs))
    }
}

/// What the clustered error would be, and what predictions take samples for, among the notes.
const IF_INDEPENDENT: &str = "if_independent";
const SAMPLES: &str = "samples";

/// Why there is no figure that needs the variance between samples.
const NO_BETWEEN: &str = "the variance between samples is estimated at 0 or below";

/// What a planned error is for, among the notes of its estimate.
const FOR: &str = "for";

/// `1 more run`, `4 more samples`.
fn more_of(count: f64, what: &str) -> String {
    match count.round() {
        0.0 => format!("less than one more {what}"),
        1.0 => format!("1 more {what}"),
        several => format!("{several} more {what}s"),
    }
}

fn finite(value: f64) -> Defined<f64> {
    if value.is_finite() { Ok(value) } else { Err(Undefined::Overflow) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Plan, Score, ScoreColumns, Value, metrics};

    fn estimates(rows: &[(&str, u32, Value)]) -> MetricValue {
        let mut columns = ScoreColumns::new(["s"]);
        for (id, epoch, value) in rows {
            columns.push(*id, *epoch).score("s", Score::new(value.clone())).unwrap();
        }
        let results = Plan::new().metrics(metrics![consistency()]).evaluate(&columns).unwrap().results;
        results.scores[0].metrics[0].value.clone()
    }

    #[test]
    fn samples_that_agree_and_pairs_that_do() {
        let grades = [("a", "CCC"), ("b", "CCI"), ("c", "III"), ("d", "CIP")];
        let rows: Vec<(&str, u32, Value)> = grades
            .iter()
            .flat_map(|(id, grades)| {
                grades
                    .chars()
                    .enumerate()
                    .map(move |(at, grade)| (*id, at as u32 + 1, Value::from(grade.to_string())))
            })
            .collect();
        let value = estimates(&rows);
        let all_agree = value.get("all_agree").unwrap();
        assert_eq!((all_agree.number(), all_agree.n), (Some(0.5), 4));
        // Pairs with the same value: 3 of 3, 1 of 3, 3 of 3, 0 of 3.
        let agreement = value.get("agreement").unwrap();
        assert!((agreement.number().unwrap() - 7.0 / 12.0).abs() < 1e-15);
        // The standard error of 1, 1/3, 1, 0 over four samples.
        assert!((agreement.stderr().unwrap() - 0.25).abs() < 1e-15, "{agreement:?}");
        assert!(agreement.interval.is_ok() && all_agree.interval.is_ok());
    }

    #[test]
    fn groups_of_it_see_every_epoch() {
        let mut columns = ScoreColumns::new(["s"]);
        for (id, epoch, score) in [("a", 1, 1), ("b", 1, 0), ("a", 2, 1), ("b", 2, 1)] {
            columns.push(id, epoch).metadata("g", id).score("s", Score::new(score)).unwrap();
        }
        let plan = Plan::new()
            .metrics(metrics![crate::metrics::grouped(consistency(), "g"), crate::metrics::mean()]);
        let results = plan.evaluate(&columns).unwrap().results;
        let MetricValue::Groups(groups) = &results.scores[1].metrics[0].value else { panic!("groups") };
        let agreement = |at: usize| groups.groups[at].value.get("agreement").unwrap().number();
        assert_eq!((agreement(0), agreement(1)), (Some(1.0), Some(0.0)));
    }

    #[test]
    fn a_sample_with_one_epoch_is_absent() {
        let rows = [
            ("a", 1, 1.into()),
            ("a", 2, true.into()),
            ("b", 1, 1.into()),
            ("c", 1, 0.into()),
            ("c", 2, 1.into()),
        ];
        let value = estimates(&rows);
        let all_agree = value.get("all_agree").unwrap();
        assert_eq!((all_agree.number(), all_agree.n, all_agree.absent), (Some(0.5), 2, 1), "true equals 1");
        assert_eq!(all_agree.notes.custom["samples_by_epochs"], "1 × 1, 2 × 2");
        let single = estimates(&[("a", 1, 1.into()), ("b", 1, 0.into())]);
        let unscored = [("d", 1, Value::Unscored), ("d", 2, Value::Unscored), ("a", 3, Value::Unscored)];
        let value = estimates(&[&rows[..], &unscored].concat());
        // b with one scored epoch, d with none.
        for key in ["all_agree", "agreement"] {
            let estimate = value.get(key).unwrap();
            assert_eq!((estimate.n, estimate.absent), (2, 2), "{key}");
        }
        let reason = Undefined::Other("no sample has two scored epochs".to_owned());
        assert_eq!(single.get("agreement").unwrap().value, Err(reason));
    }
}

#[cfg(test)]
mod variance_components_tests {
    use super::*;
    use crate::{Plan, Score, ScoreColumns, metrics};

    fn components(samples: &[&[f64]]) -> MetricValue {
        let mut columns = ScoreColumns::new(["s"]);
        for (id, epochs) in samples.iter().enumerate() {
            for (epoch, value) in epochs.iter().enumerate() {
                let row = columns.push(id.to_string(), epoch as u32 + 1);
                row.score("s", Score::new(*value)).unwrap();
            }
        }
        let plan = Plan::new().metrics(metrics![variance_components()]);
        plan.evaluate(&columns).unwrap().results.scores[0].metrics[0].value.clone()
    }

    fn assert_close(value: &MetricValue, key: &str, want: f64) {
        let got = value.get(key).unwrap().number().unwrap();
        assert!((got - want).abs() < 1e-12 * want.max(1e-3), "{key}: {got} {want}");
    }

    /// Four questions with three epochs each, by numpy.
    #[test]
    fn published_figures() {
        let value = components(&[&[1., 1., 0.], &[0., 0., 1.], &[1., 1., 1.], &[0., 0., 0.]]);
        assert_close(&value, "stderr", 0.21516574145596762);
        assert_close(&value, "stderr_fixed", 0.11785113019775792);
        assert_close(&value, "within", 0.16666666666666669);
        assert_close(&value, "between", 0.12962962962962965);
        // (7/54 + 1/6/K)/4
        assert_close(&value, "stderr_epochs_1", ((7.0 / 54.0 + 1.0 / 6.0) / 4.0_f64).sqrt());
        assert_close(&value, "stderr_next_epoch", ((7.0 / 54.0 + 1.0 / 24.0) / 4.0_f64).sqrt());
        // Four more runs are 4/3 samples of three epochs.
        assert_close(&value, "stderr_next_samples", ((5.0 / 27.0) / (4.0 + 4.0 / 3.0_f64)).sqrt());
        assert_close(&value, "stderr_limit", (7.0 / 54.0 / 4.0_f64).sqrt());
        assert_close(&value, "epoch_share", (1.0 / 18.0) / (5.0 / 27.0));
    }

    /// Miller 2024, section 3.1: with x ~ U(0, 1) and 0/1 scores, K epochs have (1 + 2/K)/3 of the variance of one.
    #[test]
    fn published_ratios() {
        // Means and variances of the epochs of U(0, 1): between 1/12, within 1/6.
        let off = (1.0_f64 / 12.0 + 1.0 / 12.0).sqrt() / 2.0_f64.sqrt();
        let half = (1.0_f64 / 12.0).sqrt();
        let value =
            components(&[&[0.5 - off + half, 0.5 - off - half], &[0.5 + off + half, 0.5 + off - half]]);
        assert_close(&value, "within", 1.0 / 6.0);
        assert_close(&value, "between", 1.0 / 12.0);
        let variance = |key: &str| value.get(key).unwrap().number().unwrap().powi(2);
        for (epochs, ratio) in [(1, 1.0), (2, 2.0 / 3.0), (4, 0.5), (8, 5.0 / 12.0)] {
            let got = variance(&format!("stderr_epochs_{epochs}")) / variance("stderr_epochs_1");
            assert!((got - ratio).abs() < 1e-12, "{epochs}: {got}");
        }
    }

    #[test]
    fn unequal_epochs_average_the_variances_of_means() {
        let value = components(&[&[1., 0.], &[1., 1., 0., 0.], &[0.5]]);
        // w = 1/2, 1/3, and for the last the mean of both, 5/12: w/K = 1/4, 1/12, 5/12.
        assert_close(&value, "stderr_fixed", ((0.25 + 1.0 / 12.0 + 5.0 / 12.0) / 9.0_f64).sqrt());
        let within = value.get("within").unwrap();
        assert_eq!(within.notes.custom["samples_by_epochs"], "1 × 1, 1 × 2, 1 × 4");
        let between = value.get("between").unwrap();
        assert_eq!(between.number(), Some(0.0), "all means are equal");
        assert!(between.notes.custom["estimated_below_0"].as_f64().unwrap() < 0.0);
        for key in ["stderr_limit", "epoch_share"] {
            assert_eq!(value.get(key).unwrap().value, Err(Undefined::Other(NO_BETWEEN.to_owned())), "{key}");
        }
        assert!(value.get("stderr_epochs_4").unwrap().value.is_ok());
        let same = components(&[&[1., 1.], &[1., 1.]]);
        for key in ["stderr", "stderr_limit", "epoch_share", "stderr_next_epoch", "stderr_epochs_4"] {
            assert_eq!(same.get(key).unwrap().value, Err(Undefined::NoSpread { n: 2 }), "{key}");
        }
    }

    #[test]
    fn predictions_are_of_independent_samples() {
        let scores = [(0, [1., 1., 0.]), (0, [1., 1., 1.]), (1, [0., 0., 1.]), (1, [0., 0., 0.])];
        let mut columns = ScoreColumns::new(["s"]);
        for (id, (cluster, epochs)) in scores.iter().enumerate() {
            for (epoch, value) in epochs.iter().enumerate() {
                let row = columns.push(id.to_string(), epoch as u32 + 1).metadata("c", *cluster);
                row.score("s", Score::new(*value)).unwrap();
            }
        }
        let plan = Plan::new().metrics(metrics![variance_components()]);
        let plan = plan.errors(crate::ErrorPlan::new().cluster("c"));
        let value = plan.evaluate(&columns).unwrap().results.scores[0].metrics[0].value.clone();
        let note = |key: &str, name: &str| value.get(key).unwrap().notes.custom.get(name).cloned();
        // Those of the published figures, where the samples are independent.
        let independent = note("stderr", IF_INDEPENDENT).unwrap().as_f64().unwrap();
        assert!((independent - 0.21516574145596762).abs() < 1e-15, "{independent}");
        assert!(value.get("stderr").unwrap().number().unwrap() > 0.3);
        assert_close(&value, "stderr_limit", (7.0 / 54.0 / 4.0_f64).sqrt());
        for key in ["stderr_next_epoch", "stderr_epochs_4", "stderr_limit", "epoch_share"] {
            assert_eq!(note(key, SAMPLES), Some("as independent".into()), "{key}");
        }
        assert_eq!((note("within", SAMPLES), note("stderr_fixed", SAMPLES)), (None, None));
    }

    #[test]
    fn one_epoch_has_no_components() {
        let value = components(&[&[1.], &[0.], &[1.]]);
        let reason = Undefined::Other("every sample has one epoch".to_owned());
        for key in
            ["between", "within", "stderr_fixed", "stderr_next_epoch", "stderr_epochs_4", "epoch_share"]
        {
            assert_eq!(value.get(key).unwrap().value, Err(reason.clone()), "{key}");
        }
        assert_close(&value, "stderr", 1.0 / 3.0);
        let one = components(&[&[1., 0., 1.]]);
        assert_eq!(one.get("between").unwrap().value, Err(Undefined::TooFewScores { n: 1 }));
        assert_close(&one, "stderr_fixed", (1.0_f64 / 9.0).sqrt());
    }

    #[test]
    fn plans_are_named_in_words() {
        let about = |samples: &[&[f64]], key: &str| {
            components(samples)
                .get(key)
                .unwrap()
                .notes
                .custom
                .get(FOR)
                .map(|note| note.as_str().unwrap().to_owned())
        };
        let [epoch, more] = ["stderr_next_epoch", "stderr_next_samples"];
        let text = |text: &str| Some(text.to_owned());
        let one: [&[f64]; 1] = [&[1., 0., 1.]];
        assert_eq!(about(&one, epoch), text("one more epoch of each sample, 1 more run"));
        assert_eq!(about(&one, more), text("less than one more sample with as many epochs, 1 more run"));
        let two: [&[f64]; 2] = [&[1., 0.], &[1., 1.]];
        assert_eq!(about(&two, more), text("1 more sample with as many epochs, 2 more runs"));
        for key in [epoch, more, "stderr_limit"] {
            assert_eq!(about(&[&[f64::NAN]], key), None);
        }
    }

    #[test]
    fn the_error_of_between_leaves_out_one_sample_at_a_time() {
        let samples: [&[f64]; 5] = [&[1., 1., 0.], &[0., 0., 1.], &[1., 1., 1.], &[0., 0., 0.], &[1., 0.]];
        let of = |left: Option<usize>| {
            let rest: Vec<Vec<f64>> = samples
                .iter()
                .enumerate()
                .filter(|(at, _)| Some(*at) != left)
                .map(|(_, epochs)| epochs.to_vec())
                .collect();
            Components::new(rest.into_iter()).between().unwrap()
        };
        let left_out: Vec<f64> = (0..5).map(|at| of(Some(at))).collect();
        let mean = left_out.iter().sum::<f64>() / 5.0;
        let want = (left_out.iter().map(|x| (x - mean).powi(2)).sum::<f64>() * 4.0 / 5.0).sqrt();
        let got = components(&samples).get("between").unwrap().stderr().unwrap();
        assert!((got - want).abs() < 1e-14, "{got} {want}");
    }
}
