//! Ratios of two totals: what they share is their state.

use crate::estimate::RatioTotals;
use crate::metrics::prelude::*;

/// How a metric reads its terms.
trait RatioMetric: Params {
    /// What the ratio is reported as.
    const SCALE: RatioScale;

    /// The terms of scores, by position. Those that are left out do not count.
    ///
    /// # Errors
    /// Scores that cannot be read. A [`Problem`](RatioTerms::problem) leaves the figure undefined instead.
    fn terms(&self, scores: &Scores<'_>) -> Result<RatioTerms>;

    /// Why there is no ratio where the weights of this number of scores are 0 altogether.
    fn nothing(_n: u64) -> Undefined {
        Undefined::NoScores
    }
}

/// The terms of some scores.
#[derive(Debug, Default)]
struct RatioTerms {
    terms: Vec<(usize, RatioTerm)>,
    /// Scores that have no term, where that is to be noted.
    missing: usize,
    /// Why there is no figure.
    problem: Option<String>,
}

/// The ratio with its error and interval, or why there is none.
fn compute<M: RatioMetric>(metric: &M, scores: &Scores<'_>) -> Result<MetricValue> {
    let RatioTerms { terms, missing, problem } = metric.terms(scores)?;
    let totals = RatioTotals::new(M::NAME, scores, terms)?;
    let (estimation, whole) = (scores.estimation(), scores.context());
    let kind = whole.kind.unwrap_or_else(|| totals.kind());
    let mut estimate = match (problem, totals.ratio()) {
        (Some(problem), _) => Estimate::undefined(Undefined::Other(problem)),
        (None, None) => Estimate::undefined(M::nothing(scores.len() as u64)),
        (None, Some(ratio)) if ratio.is_nan() => Estimate::new(ratio),
        (None, Some(_)) => {
            let random = estimation.random.among(whole.estimates);
            totals.estimate(&estimation.errors, kind, &random, M::SCALE)
        }
    };
    (estimate.n, estimate.absent) = (totals.n(), scores.absent() as u64);
    Ok(estimate.note_some("missing_metadata", (missing > 0).then_some(missing)).into())
}

/// exp of the mean of the logarithms of the scores, which must be above 0.
///
/// The error is that of the mean of logarithms by the delta method, the interval that of the logarithms transformed.
///
/// # Formula
/// ```text
/// exp(Σ ln x / n)
/// ```
///
/// # When
/// Scores are ratios or times, where twice as much and half as much should cancel.
///
/// # Example
/// ```console
/// $ printf '%s\n' id,score 1,0.2 2,0.4 3,0.4 4,0.7 5,0.8 6,0.9 > marks.csv
/// $ errorbar score marks.csv --metric 'geometric_mean'
/// marks.csv · 6 rows
///
/// score · 6 scored
///                                             0                                       1
///   geometric_mean  0.50 ± 0.12 [0.28, 0.91]             ├────────●───────────────┤      only 6 scores
///
/// ± one standard error (delta) · [95 % interval: t] · ├─●─┤ the interval
/// ```
///
/// # See also
/// `mean`, `median`, `perplexity_per_seq`
///
/// # Source
/// Fleming & Wallace 1986, "How not to lie with statistics: the correct way to summarize benchmark results".
#[derive(Clone, Debug, Default, Params)]
#[params(crate = crate, name = "geometric_mean")]
pub struct GeometricMean {
    /// How values become numbers.
    #[param(default = Conversion::default())]
    to_float: Option<Conversion>,
}

impl Metric for GeometricMean {
    metric_flags! { self:
        metadata_keys = MetadataKeys::NONE, resample_cost = 2, depends_on_ids = false, score_parts = Value,
        role = Location
    }

    fn compute(&self, scores: &Scores<'_>) -> Result<MetricValue> {
        compute(self, scores)
    }
}

impl RatioMetric for GeometricMean {
    const SCALE: RatioScale = RatioScale::Exp;

    fn terms(&self, scores: &Scores<'_>) -> Result<RatioTerms> {
        let floats = scores.finite(Self::NAME, &self.to_float_or_default(), <[f64]>::to_vec)?;
        if let Some((at, score)) = floats.iter().enumerate().find(|(_, score)| **score <= 0.0) {
            let problem =
                format!("sample {:?} has the score {score}, and all must be above 0", scores.sample_id(at));
            return Ok(RatioTerms { problem: Some(problem), ..RatioTerms::default() });
        }
        let term = |score: &f64| RatioTerm { total: libm::log(*score), weight: 1.0 };
        Ok(RatioTerms { terms: floats.iter().map(term).enumerate().collect(), ..RatioTerms::default() })
    }
}

/// One score: its position, its tokens, and the sum of their log probabilities.
struct Sequence {
    at: usize,
    tokens: f64,
    log_probs: f64,
}

/// The position, the tokens and the sum of log probabilities of each score; metadata that is missing counts as
/// no tokens, and how often that was the case is returned too.
fn tokens(metric: &str, scores: &Scores<'_>) -> Result<(Vec<Sequence>, usize)> {
    let mut missing = 0;
    let mut read = Vec::with_capacity(scores.len());
    for at in 0..scores.len() {
        let number = |key: &str| -> Result<Option<f64>> {
            match scores.score_metadata(at).and_then(|m| m.get(key)) {
                None | Some(Json::Null) => Ok(None),
                Some(Json::Number(n)) => Ok(n.as_f64()),
                Some(other) => {
                    let sample = scores.sample_id(at);
                    let problem = format!(
                        "sample {sample:?}: the score's metadata key `{key}` is {other}, not a number"
                    );
                    Err(Error::undefined(metric, problem))
                }
            }
        };
        match (number("num_tokens")?, number("sum_log_probs")?) {
            (Some(tokens), Some(_)) if tokens.fract() != 0.0 => {
                let sample = scores.sample_id(at);
                let problem = format!("sample {sample:?}: num_tokens is {tokens}, which is not an integer");
                return Err(Error::undefined(metric, problem));
            }
            (Some(tokens), Some(log_probs)) => read.push(Sequence { at, tokens, log_probs }),
            _ => missing += 1,
        }
    }
    Ok((read, missing))
}

/// The metric is exp of a ratio of the terms that sequences have.
macro_rules! perplexity {
    ($type:ident, $term:expr) => {
        impl Metric for $type {
            metric_flags! { self:
                metadata_keys = MetadataKeys::NONE, resample_cost = 4, depends_on_ids = false,
                score_parts = Metadata, direction = Lower
            }

            fn compute(&self, scores: &Scores<'_>) -> Result<MetricValue> {
                compute(self, scores)
            }
        }

        impl RatioMetric for $type {
            const SCALE: RatioScale = RatioScale::Exp;

            fn terms(&self, scores: &Scores<'_>) -> Result<RatioTerms> {
                let (read, missing) = tokens(Self::NAME, scores)?;
                let term: fn(&Sequence) -> Option<RatioTerm> = $term;
                let terms = read.iter().filter_map(|read| Some((read.at, term(read)?))).collect();
                Ok(RatioTerms { terms, missing, problem: None })
            }

            fn nothing(_: u64) -> Undefined {
                Undefined::Other("no tokens".to_owned())
            }
        }
    };
}

/// exp(−Σ log p / Σ tokens), from the score metadata `sum_log_probs` and `num_tokens`.
///
/// The error is that of the ratio per token by the delta method, with samples as units; the interval that of the
/// logarithm transformed.
///
/// # Formula
/// ```text
/// exp(−Σ log p / Σ tokens)
/// ```
///
/// # When
/// Language modelling: long texts count by their length. Needs log probabilities in the metadata of scores.
///
/// # Example
/// ```console
/// $ printf '%s\n' id,input 1,one 2,two > texts.csv
/// $ printf '%s\n' '{"id":1,"score":1,"metadata":{"num_tokens":9,"sum_log_probs":-6}}' > probs.jsonl
/// $ printf '%s\n' '{"id":2,"score":1,"metadata":{"num_tokens":3,"sum_log_probs":-4}}' >> probs.jsonl
/// $ printf '%s\n' 'dataset = "texts.csv"' 'scorer = "precomputed(\"probs.jsonl\")"' > texts.toml
/// $ errorbar eval texts.toml --model mock/none --metric perplexity_per_token --quiet
/// logs/….eval
///       texts · mock/none · 2 samples
///
/// precomputed · 2 scored
///                                                    0                            60
///   perplexity_per_token  2.30 ± 0.58 [0.10, 55.14]  ├●─────────────────────────┤     only 2 scores
///
/// ± one standard error (delta) · [95 % interval: t] · ├─●─┤ the interval
/// ```
///
/// # See also
/// `perplexity_per_seq`, `log_loss`
///
/// # Source
/// As inspect_ai defines it. Jelinek, Mercer, Bahl & Baker 1977, "Perplexity: a measure of the difficulty of speech
/// recognition tasks".
#[derive(Clone, Debug, Default, Params)]
#[params(crate = crate, name = "perplexity_per_token", reference)]
pub struct PerplexityPerToken;

perplexity!(PerplexityPerToken, |read| Some(RatioTerm { total: -read.log_probs, weight: read.tokens }));

/// exp of the mean over sequences of −log p / tokens; sequences without tokens are skipped.
///
/// The error is that of the mean by the delta method; the interval that of the mean transformed.
///
/// # Formula
/// ```text
/// exp(Σ (−log p / tokens) / sequences)
/// ```
///
/// # When
/// Language modelling: every text counts the same, whatever its length. Needs log probabilities in the metadata of
/// scores.
///
/// # Example
/// ```console
/// $ printf '%s\n' id,input 1,one 2,two > texts.csv
/// $ printf '%s\n' '{"id":1,"score":1,"metadata":{"num_tokens":9,"sum_log_probs":-6}}' > probs.jsonl
/// $ printf '%s\n' '{"id":2,"score":1,"metadata":{"num_tokens":3,"sum_log_probs":-4}}' >> probs.jsonl
/// $ printf '%s\n' 'dataset = "texts.csv"' 'scorer = "precomputed(\"probs.jsonl\")"' > texts.toml
/// $ errorbar eval texts.toml --model mock/none --metric perplexity_per_seq --quiet
/// logs/….eval
///       texts · mock/none · 2 samples
///
/// precomputed · 2 scored
///                                                   0                           190
///   perplexity_per_seq  2.72 ± 0.91 [0.04, 187.80]  ●────────────────────────────┤   only 2 scores
///
/// ± one standard error (delta) · [95 % interval: t] · ├─●─┤ the interval
/// ```
///
/// # See also
/// `perplexity_per_token`, `log_loss`
///
/// # Source
/// As inspect_ai defines it. Jelinek, Mercer, Bahl & Baker 1977, "Perplexity: a measure of the difficulty of speech
/// recognition tasks".
#[derive(Clone, Debug, Default, Params)]
#[params(crate = crate, name = "perplexity_per_seq", reference)]
pub struct PerplexityPerSeq;

perplexity!(PerplexityPerSeq, |read| {
    let surprise = -read.log_probs / read.tokens;
    (read.tokens > 0.0).then_some(RatioTerm { total: surprise, weight: 1.0 })
});

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

    fn compute(&self, scores: &Scores<'_>) -> Result<MetricValue> {
        compute(self, scores)
    }

    fn score_kind(&self, scores: &Scores<'_>) -> Result<Option<ScoreKind>> {
        let totals = RatioTotals::new(Self::NAME, scores, self.terms(scores)?.terms)?;
        Ok((totals.n() > 0).then(|| totals.kind()))
    }
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
