//! `weighted_mean`: the mean with weights from the metadata.

use super::{RatioMetric, RatioTerms, computed_as_ratio};
use crate::metrics::prelude::*;

/// The mean of the scores, each with the weight that its sample has in the metadata: Σwx / Σw.
///
/// The error is that of the linearised ratio, by cluster if there are clusters. A weight must be a number, 0 or more; a
/// sample of weight 0 does not count.
///
/// # Formula
/// ```text
/// Σwx / Σw
/// ```
///
/// # When
/// Samples stand for different numbers of cases, or were drawn with different probabilities.
///
/// # Example
/// ```console
/// $ printf '%s\n' id,weight,score 1,3,1 2,1,0 3,1,1 4,2,0 > weighted.csv
/// $ errorbar score weighted.csv --metric 'weighted_mean("weight")'
/// weighted.csv · 4 rows
///
/// score · 4 scored
///                                            0                             1
///   weighted_mean  0.57 ± 0.31 [0.07, 0.96]    ├──────────────●───────────┤   only 4 scores · weight
///
/// ± one standard error (delta) · [95 % interval: wilson] · ├─●─┤ the interval
/// ```
///
/// # See also
/// `mean`, `grouped`
///
/// # Source
/// Error of the ratio: Cochran 1977, "Sampling Techniques".
#[derive(Clone, Debug, Params)]
#[params(crate = crate, name = "weighted_mean")]
pub struct WeightedMean {
    /// The metadata key of the weights.
    weight: String,
    /// How values become numbers.
    #[param(default = Conversion::default())]
    to_float: Option<Conversion>,
}

impl Metric for WeightedMean {
    metric_flags! { self:
        metadata_keys = MetadataKeys::one(&self.weight), resample_cost = 4, depends_on_ids = false,
        score_parts = Value, role = Location
    }

    fn required_keys(&self) -> Vec<RequiredKey> {
        vec![RequiredKey::new(&self.weight, KeyUsage::Weight)]
    }

    computed_as_ratio!();
}

impl WeightedMean {
    /// The weight of each score.
    fn weights(&self, scores: &Scores<'_>) -> Result<Vec<f64>> {
        let column = scores.key(Self::NAME, &self.weight);
        let codes = scores.codes(&column)?;
        // Weights repeat, and a column has each distinct one once.
        let mut known: Vec<Option<f64>> = vec![None; column.distinct()];
        let mut weights = Vec::with_capacity(codes.len());
        for (at, code) in codes.iter().enumerate() {
            let slot = known.get_mut(*code as usize);
            let weight = match slot.as_deref() {
                Some(Some(weight)) => *weight,
                _ => {
                    let found = column.value(*code as usize).unwrap_or(&Json::Null);
                    let weight = number_of(found).filter(|weight| *weight >= 0.0 && weight.is_finite());
                    weight.ok_or_else(|| self.bad_weight(scores.sample_id(at), found))?
                }
            };
            if let Some(slot) = slot {
                *slot = Some(weight);
            }
            weights.push(weight);
        }
        Ok(weights)
    }

    fn bad_weight(&self, sample: &str, found: &Json) -> Error {
        let found: String = json_text(found).chars().take(60).collect();
        let key = &self.weight;
        let problem =
            format!("sample {sample:?}: the weight `{key}` must be a number, 0 or more, found {found}");
        Error::undefined(Self::NAME, problem)
    }
}

impl RatioMetric for WeightedMean {
    const SCALE: RatioScale = RatioScale::Plain;

    fn terms(&self, scores: &Scores<'_>) -> Result<RatioTerms> {
        let weights = self.weights(scores)?;
        let conversion = self.to_float_or_default();
        let floats = scores.finite(Self::NAME, &conversion, <[f64]>::to_vec)?;
        let term = |(score, weight): (f64, f64)| RatioTerm { total: score * weight, weight };
        let terms = floats.into_iter().zip(weights).map(term).enumerate();
        Ok(RatioTerms {
            terms: terms.filter(|(_, term)| term.weight > 0.0).collect(),
            ..RatioTerms::default()
        })
    }

    fn nothing(n: u64) -> Undefined {
        if n == 0 { Undefined::NoScores } else { Undefined::Other("all weights are 0".to_owned()) }
    }
}
