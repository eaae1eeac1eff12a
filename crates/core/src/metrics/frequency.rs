//! `frequency`: how often each value occurs.

use crate::estimate::{ShareVariances, estimate_of_share};
use crate::metrics::prelude::*;

/// Share of each value among all epochs, compared as strings; works on unreduced scores.
///
/// Declared categories come first.
///
/// # Formula
/// ```text
/// p(v) = #(x = v) / n
/// ```
///
/// # When
/// Scores are labels or grades, and their distribution matters rather than a mean: how many answers are refusals, how
/// many partly right.
///
/// # Example
/// ```console
/// $ printf '%s\n' id,subject,score 1,law,C 2,law,I 3,law,C 4,art,C 5,art,C 6,art,I > exam.csv
/// $ errorbar score exam.csv --metric 'frequency(["C", "P", "I"])'
/// exam.csv · 6 rows
///
/// score · 6 scored
///                                  0                                       1
///   frequency  categories=["C", "P", "I"]
///     C  0.67 ± 0.21 [0.30, 0.90]              ├──────────────●────────┤      only 6 scores
///     P  0.00        [0.00, 0.39]  ●───────────────┤                          no spread in 6 scores
///     I  0.33 ± 0.21 [0.10, 0.70]      ├────────●──────────────┤              only 6 scores
///
/// ± one standard error · [95 % interval: wilson] · ├─●─┤ the interval
/// ```
///
/// # See also
/// `count`, `grouped`, `consistency`, `precision`
///
/// # Source
/// As inspect_ai defines it.
#[derive(Clone, Debug, Default, Params)]
#[params(crate = crate, name = "frequency", reference)]
pub struct Frequency {
    /// Values to report even if they never occur, first and in this order.
    #[param(from = Vec<String>, map = Categories, check = Categories::check)]
    categories: Option<Categories>,
    /// Shares, or counts.
    #[param(default = true)]
    normalize: Option<bool>,
}

/// The strings of values. Values are compared by their string, so numbers may stand for theirs.
#[derive(Clone, Debug)]
struct Categories(Vec<String>);

/// The most categories that can be declared: every share records them.
const MAX_CATEGORIES: usize = 1000;

impl Categories {
    fn check(&self) -> Result<(), String> {
        match self.0.len() {
            0..=MAX_CATEGORIES => Ok(()),
            count => Err(format!("has {count} values, and at most {MAX_CATEGORIES} are allowed")),
        }
    }
}

impl ArgType for Categories {
    const EXPECTED: &'static str = Vec::<Leaf>::EXPECTED;

    fn from_arg(arg: &Arg, registry: &Registry) -> Result<Self, ArgProblem> {
        let values = Vec::<Leaf>::from_arg(arg, registry)?;
        Ok(Categories(values.iter().map(|value| value.view().text()).collect()))
    }

    fn to_arg(&self) -> Arg {
        self.0.to_arg()
    }
}

impl Frequency {
    fn prepared(&self, estimation: &Estimation, scores: &Scores<'_>) -> Result<PreparedValue> {
        let zero = |category: &String| (category.clone(), 0);
        let declared = self.categories.iter().flat_map(|Categories(texts)| texts);
        let mut counts: IndexMap<String, u64> = declared.map(zero).collect();
        let declared = counts.len();
        let mut categories = Vec::with_capacity(scores.len());
        for at in 0..scores.len() {
            let text = match scores.value(at) {
                ValueRef::Leaf(leaf) => leaf.text(),
                nested => {
                    let wanted = r#"frequency counts scalars; for maps give metrics by key, as in {"*": [frequency()]}"#;
                    return Err(Error::shape(Self::NAME, scores.sample_id(at), nested.describe(), wanted));
                }
            };
            let entry = counts.entry(text);
            categories.push(entry.index());
            *entry.or_insert(0) += 1;
        }
        let (normalize, estimation) = (self.normalize_or_default(), estimation.clone());
        let variances = match normalize {
            true => ShareVariances::of(&estimation, scores, &categories)?,
            false => None,
        };
        let (n, absent) = (scores.len() as u64, scores.absent() as u64);
        Ok(PreparedValue::new(None, move |whole| {
            let all = whole.n.unwrap_or(n);
            let random = estimation.random.among(whole.estimates.max(1).saturating_mul(counts.len()));
            // Shares lie between 0 and 1, whatever the range of scores is.
            let level = whole.level.or(estimation.errors.level);
            let errors = &ErrorPlan { range: None, level, ..estimation.errors };
            let estimate = |(at, &count): (usize, &u64)| {
                let mut estimate = match (normalize, n) {
                    (false, _) => Estimate::new(count as f64),
                    (true, 0) => Estimate::undefined(Undefined::NoScores),
                    (true, n) => {
                        let share = count as f64 / n as f64;
                        let corrected = |error| estimate_of_share(count, n, error, all, errors, &random);
                        match &variances {
                            None => corrected(share_error(share, n, errors.independent_method())),
                            Some(variances) => {
                                let iid = share_error(share, n, ErrorMethod::Iid).ok().map(|error| error.se);
                                let figure = variances.error(at, share);
                                let mut estimate = corrected(figure.error.clone());
                                figure.annotate(&mut estimate, iid, Some(variances.largest_share()));
                                estimate
                            }
                        }
                    }
                };
                (estimate.n, estimate.absent) = (n, absent);
                Some(estimate)
            };
            let texts = counts.keys().cloned();
            let mut shares: Vec<(String, Option<Estimate>)> =
                texts.zip(counts.values().enumerate().map(estimate)).collect();
            if estimation.order == Order::Key
                && let Some(found) = shares.get_mut(declared..)
            {
                found.sort_by(|(a, _), (b, _)| a.cmp(b));
            }
            Ok(MetricValue::Map(shares.into_iter().collect()))
        }))
    }
}

impl Metric for Frequency {
    metric_flags! { self:
        metadata_keys = MetadataKeys::NONE, depends_on_ids = false, score_parts = Value, wants = Unreduced,
        reads_labels = true, role = if self.normalize_or_default() { Share } else { Other }, resample_cost = 4
    }

    /// Both arguments are always recorded, as the reference does.
    fn params(&self) -> Metadata {
        let categories = self.categories.clone().map_or(Json::Null, |Categories(texts)| texts.into());
        [("categories", categories), ("normalize", self.normalize_or_default().into())]
            .map(|(name, value)| (name.to_owned(), value))
            .into_iter()
            .collect()
    }

    prepared_by!(Self::prepared);
}

/// The standard error of the mean of zeros and ones: √(p(1−p)/(n−1)), by the bootstrap √(p(1−p)/n).
fn share_error(share: f64, n: u64, method: ErrorMethod) -> Defined<StdError> {
    if n < 2 {
        return Err(Undefined::TooFewScores { n });
    }
    let df = (n - 1) as f64;
    let divisor = if method == ErrorMethod::Bootstrap { n as f64 } else { df };
    let se = (share * (1.0 - share) / divisor).sqrt();
    Ok(StdError::new(se, method).with_df(df))
}
