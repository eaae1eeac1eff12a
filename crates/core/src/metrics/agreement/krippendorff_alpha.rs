//! `krippendorff_alpha`: how far several ratings of the same samples agree.

use super::alpha::{self, Alpha, Distance};
use super::{RatedItems, RaterComparison, RaterNames, is_no_rating, label_number, label_text};
use crate::metrics::prelude::*;

/// What the distance between two ratings is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Level {
    /// Equal or not.
    #[default]
    Nominal,
    /// By rank.
    Ordinal,
    /// By the squared difference.
    Interval,
    /// By the squared ratio of the difference to the sum.
    Ratio,
}

impl ArgWord for Level {
    const EXPECTED: &'static str = "\"nominal\", \"ordinal\", \"interval\" or \"ratio\"";
    const WORDS: &'static [(&'static str, Self)] = &[
        ("nominal", Level::Nominal),
        ("ordinal", Level::Ordinal),
        ("interval", Level::Interval),
        ("ratio", Level::Ratio),
    ];
}

/// Agreement between several ratings of the same samples (Krippendorff's α), with a bootstrap interval.
///
/// Each score is a list of the ratings of one sample, or the raters are named.
///
/// # Formula
/// ```text
/// α = 1 − (n−1)·Σ o(c,k)·δ²(c,k) / Σ n(c)·n(k)·δ²(c,k)
/// o the coincidences of ratings c and k within samples, δ their distance
/// ```
///
/// # When
/// Several raters, perhaps not all for every sample, and labels, ranks or numbers. 1 is agreement, 0 what chance
/// gives.
///
/// # Example
/// ```console
/// $ printf '%s\n' id,score,ben,cleo 1,a,a,a 2,b,b,a 3,b,b,b 4,a,a,a 5,b,a,b 6,a,a,a > raters.csv
/// $ errorbar score raters.csv --metric 'krippendorff_alpha(raters=["score", "ben", "cleo"])'
/// raters.csv · 6 rows
///
/// score · 6 scored
///                                                  0                   1
///   krippendorff_alpha  0.56 ± 0.25 [-0.06, 1.00]  ───────────●────────┤
///       only 6 scores · raters=["score", "ben", "cleo"] · 156 undefined resamples · 6 units
///
/// ± one standard error (bootstrap) · [95 % interval: bootstrap] · ├─●─┤ the interval
/// ```
///
/// # See also
/// `cohen_kappa`, `fleiss_kappa`, `gwet_ac1`, `collect`
///
/// # Source
/// Krippendorff 2011, "Computing Krippendorff's alpha-reliability".
#[derive(Clone, Debug, Default, Params)]
#[params(crate = crate, name = "krippendorff_alpha", reference)]
pub struct KrippendorffAlpha {
    /// What the distance between two ratings is: "nominal", "ordinal", "interval" or "ratio".
    #[param(default = Level::Nominal, reference = ["nominal", "ordinal", "interval"])]
    level: Option<Level>,
    /// How ratings become numbers; those that are numbers stay as they are.
    to_float: Option<Conversion>,
    /// The raters: scorers, fields of map-valued scores, or metadata keys; every epoch then counts by itself. One name is
    /// compared with the scorer itself; if unset, each score is a list of ratings.
    #[param(from = Vec<String>, map = RaterNames, check = RaterNames::check, own)]
    raters: Option<RaterNames>,
}

const NEEDS_NUMBERS: &str =
    "ordinal, interval and ratio need numbers; give to_float=value_to_float() for grades";

impl Metric for KrippendorffAlpha {
    metric_flags! { self:
        metadata_keys = self.raters().metadata_keys(), score_parts = Value, figure_names = OfMetric,
        reads_labels = self.to_float.is_none() && self.level_or_default() == Level::Nominal,
        raters = RaterNames::raters(self.raters.as_ref())
    }

    fn wants(&self) -> Wants {
        // What named raters give are labels, which reducers would make numbers of.
        if self.raters.is_some() { Wants::Unreduced } else { Wants::Auto }
    }

    fn compute(&self, scores: &Scores<'_>) -> Result<MetricValue> {
        let level = self.level_or_default();
        let (items, skipped) = match &self.raters {
            None => self.lists(scores)?,
            Some(RaterNames(names)) => self.named(scores, names)?,
        };
        let units = items.len();
        let categories = items.categories();
        if level == Level::Ratio && categories.len() > alpha::MAX_RATIO_VALUES {
            let problem = format!(
                "{} different ratings, and level=\"ratio\" takes at most {}; use level=\"interval\", or round them",
                categories.len(),
                alpha::MAX_RATIO_VALUES
            );
            return Err(Error::undefined(Self::NAME, problem));
        }
        let value = match level {
            Level::Nominal => alpha::nominal(items.labels()),
            level => {
                let number = |label: &LeafKey| label_number(label).unwrap_or(f64::NAN);
                let unit = |labels: &Vec<LeafKey>| labels.iter().map(number).collect();
                let numbers: Vec<Vec<f64>> = items.labels().iter().map(unit).collect();
                match level {
                    Level::Ordinal => alpha::ordinal(&numbers),
                    Level::Ratio => alpha::ratio(&numbers),
                    _ => alpha::interval(&numbers),
                }
            }
        };
        let has_distances = matches!(level, Level::Interval | Level::Ratio);
        let value = match value {
            // As the reference has it: a distance to what is not a number is none.
            Some(_) if has_distances && self.raters.is_none() && has_unscored_rating(scores) => {
                Err(Undefined::Other("a rating is not a number".to_owned()))
            }
            Some(alpha) => Ok(alpha),
            None => Err(Undefined::Other("no sample with two ratings".to_owned())),
        };
        let profiles = items.profiles(&categories, false);
        let places = categories.iter().map(|label| label_number(label).unwrap_or(0.0)).collect();
        let resampled = Alpha::new(&profiles, level.distance(), places);
        let mut estimate = match level {
            Level::Ratio if categories.len() > alpha::MAX_RESAMPLED_RATIO_VALUES => {
                let reason = format!("too many different ratings to resample: {}", categories.len());
                Estimate::of(value).without_error(&Undefined::Other(reason)).with_n(units as u64)
            }
            _ => items.estimate(Self::NAME, scores, value, &profiles, |counts| resampled.figure(counts))?,
        };
        if self.raters.is_none() {
            estimate.n = scores.len() as u64;
        }
        let skipped = (skipped > 0).then_some(skipped);
        Ok(estimate.note_some("skipped_samples", skipped).note("units", units).into())
    }
}

impl Level {
    fn distance(self) -> Distance {
        match self {
            Level::Nominal => Distance::Nominal,
            Level::Ordinal => Distance::Ordinal,
            Level::Interval => Distance::Interval,
            Level::Ratio => Distance::Ratio,
        }
    }
}

impl KrippendorffAlpha {
    /// The ratings of each sample whose list has at least two, and the number of the others. Null and unscored ones are no
    /// ratings; but see [`has_unscored_rating`].
    fn lists(&self, scores: &Scores<'_>) -> Result<(RatedItems, usize)> {
        let mut items = RatedItems::default();
        for at in 0..scores.len() {
            let ValueRef::List(list) = scores.value(at) else { continue };
            // Before the ratings are read: a lone string is skipped, not refused.
            if list.len() < 2 {
                continue;
            }
            let rated = list.iter().map(Leaf::view).filter(|leaf| !is_no_rating(*leaf));
            let labels = rated.filter_map(|leaf| self.label(leaf, scores, at).transpose());
            let labels: Vec<LeafKey> = labels.collect::<Result<_>>()?;
            if labels.len() >= 2 {
                items.push(scores.column_row(at), labels);
            }
        }
        let skipped = scores.len() - items.len();
        Ok((items, skipped))
    }

    fn label(&self, leaf: LeafRef<'_>, scores: &Scores<'_>, at: usize) -> Result<Option<LeafKey>> {
        if self.level_or_default() == Level::Nominal {
            return Ok(LeafKey::new(leaf));
        }
        let number = leaf.number().or_else(|| {
            let converted = self.to_float.as_ref()?.convert_leaf(leaf);
            if !converted.convertible {
                scores.note_unconvertible(1, at);
            }
            Some(converted.value)
        });
        let sample = scores.sample_id(at);
        match number {
            Some(number) if number.is_infinite() => Err(Error::infinite(Self::NAME, sample)),
            Some(number) => self.checked(number, scores.scorer(), sample),
            None => {
                let found = format!("a list with {}", ValueRef::Leaf(leaf).describe());
                Err(Error::shape(Self::NAME, sample, found, NEEDS_NUMBERS))
            }
        }
    }

    /// A number as a label, unless ratios to it have no meaning.
    fn checked(&self, number: f64, rater: &str, sample: &str) -> Result<Option<LeafKey>> {
        if number < 0.0 && self.level == Some(Level::Ratio) {
            let wanted = "level=\"ratio\" is for ratings of 0 or more; use level=\"interval\"";
            return Err(Error::rating(rater, sample, number, wanted));
        }
        Ok(LeafKey::new(LeafRef::float(number)))
    }

    /// The samples with two ratings by these raters, and the number of those with one.
    fn named(&self, scores: &Scores<'_>, names: &[String]) -> Result<(RatedItems, usize)> {
        let is_nominal = self.level_or_default() == Level::Nominal;
        let to_float = self.to_float.as_ref().filter(|_| !is_nominal);
        let comparison = RaterComparison { metric: Self::NAME, raters: Some(names), to_float };
        let (items, skipped) = comparison.items(scores)?.with(|ratings| ratings >= 2);
        for label in items.categories().iter().filter(|_| !is_nominal) {
            let sample = items.sample_with(scores, label);
            match label_number(label) {
                Some(number) => drop(self.checked(number, &names.join(", "), sample)?),
                None => {
                    return Err(Error::rating(&names.join(", "), sample, label_text(label), NEEDS_NUMBERS));
                }
            }
        }
        Ok((items, skipped))
    }
}

/// Whether one of several ratings of a sample is not a number.
fn has_unscored_rating(scores: &Scores<'_>) -> bool {
    let is_unscored = |leaf: &Leaf| matches!(leaf.view(), LeafRef::Unscored);
    (0..scores.len()).any(|at| match scores.value(at) {
        ValueRef::List(list) => list.len() > 1 && list.iter().any(is_unscored),
        _ => false,
    })
}
