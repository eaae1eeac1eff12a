//! `consistency`: how far the epochs of a sample agree.

use std::collections::HashMap;

use super::SampleEpochs;
use crate::metrics::prelude::*;

/// How far the epochs of a sample agree; works on unreduced scores.
///
/// `all_agree` is the share of samples whose epochs all have the same value; it falls with the number of epochs.
/// `agreement` is the chance that two epochs of a sample, picked at random, have the same value, which does not. Both
/// are means over samples with the plan's error and interval. Values are compared as they are, `C` with `C`; a sample
/// with fewer than two scored epochs is counted as absent. It cannot be merged from parts.
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
