//! `krippendorff_alpha`: how far several ratings of the same samples agree.

use std::collections::HashMap;

use crate::args::ArgWord;
use crate::error::{Error, Result};
use crate::estimate::{Estimate, Undefined};
use crate::evaluation::MetricValue;
use crate::metric::{FigureNames, MetadataKeys, Metric, ScoreParts};
use crate::params::Params;
use crate::scores::Scores;
use crate::stats::{ExactSum, Moments, common_exponent};
use crate::value::{Conversion, Leaf, LeafKey, LeafRef, ValueRef};

/// What the distance between two ratings is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Level {
    /// Equal or not.
    #[default]
    Nominal,
    /// By rank.
    Ordinal,
    /// By the squared difference.
    Interval,
}

impl ArgWord for Level {
    const EXPECTED: &'static str = "\"nominal\", \"ordinal\" or \"interval\"";
    const WORDS: &'static [(&'static str, Self)] =
        &[("nominal", Level::Nominal), ("ordinal", Level::Ordinal), ("interval", Level::Interval)];
}

/// Agreement between several ratings of the same samples (Krippendorff's α), over list-valued scores.
///
/// Each list holds the ratings of one sample.
#[derive(Clone, Debug, Default, Params)]
#[params(crate = crate, name = "krippendorff_alpha")]
pub struct KrippendorffAlpha {
    /// What the distance between two ratings is: "nominal", "ordinal" or "interval".
    #[param(default = Level::Nominal)]
    level: Option<Level>,
    /// How ratings become numbers; those that are numbers stay as they are.
    to_float: Option<Conversion>,
}

impl Metric for KrippendorffAlpha {
    fn metadata_keys(&self) -> MetadataKeys {
        MetadataKeys::NONE
    }

    fn score_parts(&self) -> ScoreParts {
        ScoreParts::Value
    }

    fn figure_names(&self) -> FigureNames {
        FigureNames::OfMetric
    }

    fn compute(&self, scores: &Scores<'_>) -> Result<MetricValue> {
        let (alpha, units) = match self.level_or_default() {
            Level::Nominal => {
                let units = self.units(scores, |leaf, _| Ok(LeafKey::new(leaf)))?;
                (nominal(&units), units.len())
            }
            level => {
                let units = self.units(scores, |leaf, at| self.number(leaf, scores, at).map(Some))?;
                let alpha = if level == Level::Ordinal { ordinal(&units) } else { interval(&units) };
                (alpha, units.len())
            }
        };
        let is_interval = self.level == Some(Level::Interval);
        let value = match alpha {
            // As the reference has it: a distance to what is not a number is none.
            Some(_) if is_interval && has_unscored_rating(scores) => {
                Err(Undefined::Other("a rating is not a number".to_owned()))
            }
            Some(alpha) => Ok(alpha),
            None => Err(Undefined::Other("no sample with two ratings".to_owned())),
        };
        let skipped = scores.len() - units;
        let skipped = (skipped > 0).then_some(skipped);
        let estimate = Estimate::of(value).with_n(scores.len() as u64);
        Ok(estimate.note_some("skipped_samples", skipped).note("units", units).into())
    }
}

impl KrippendorffAlpha {
    /// The ratings of each sample that has at least two. Null and unscored ones are no ratings; but see
    /// [`has_unscored_rating`].
    fn units<T>(
        &self,
        scores: &Scores<'_>,
        read: impl Fn(LeafRef<'_>, usize) -> Result<Option<T>>,
    ) -> Result<Vec<Vec<T>>> {
        let mut units = Vec::new();
        for at in 0..scores.len() {
            let ValueRef::List(list) = scores.value(at) else { continue };
            // Before the ratings are read: a lone string is skipped, not refused.
            if list.len() < 2 {
                continue;
            }
            let rated =
                list.iter().map(Leaf::view).filter(|l| !matches!(l, LeafRef::Unscored | LeafRef::Null));
            let ratings: Vec<T> =
                rated.filter_map(|leaf| read(leaf, at).transpose()).collect::<Result<_>>()?;
            if ratings.len() >= 2 {
                units.push(ratings);
            }
        }
        Ok(units)
    }

    fn number(&self, leaf: LeafRef<'_>, scores: &Scores<'_>, at: usize) -> Result<f64> {
        let number = leaf.number().or_else(|| {
            let converted = self.to_float.as_ref()?.convert_leaf(leaf);
            if !converted.convertible {
                scores.note_unconvertible(1, at);
            }
            Some(converted.value)
        });
        let (metric, sample) = (Self::NAME.to_owned(), scores.sample_id(at).to_owned());
        match number {
            Some(number) if number.is_infinite() => Err(Error::InfiniteScore { metric, sample }),
            Some(number) => Ok(number),
            None => Err(Error::Shape {
                metric,
                sample,
                found: format!("a list with {}", ValueRef::Leaf(leaf).describe()),
                wanted: "ordinal and interval need numbers; give to_float=value_to_float() for grades"
                    .to_owned(),
            }),
        }
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

/// Krippendorff 2011, with "equal or not" as the distance: pairs that differ within units against
/// pairs that differ overall, 1 − (N−1)·Σ_u (m_u² − Σ_c m_uc²)/(m_u − 1) / (N² − Σ_c n_c²).
/// `None` without a unit, 1 if only one value occurs.
fn nominal(units: &[Vec<LeafKey>]) -> Option<f64> {
    let mut totals: HashMap<&LeafKey, u64> = HashMap::new();
    let mut observed = ExactSum::new();
    for unit in units {
        let mut counts: HashMap<&LeafKey, u64> = HashMap::new();
        for rating in unit {
            *counts.entry(rating).or_insert(0) += 1;
            *totals.entry(rating).or_insert(0) += 1;
        }
        let m = unit.len() as u64;
        let differing = m * m - counts.values().map(|c| c * c).sum::<u64>();
        observed.add(differing as f64 / (m - 1) as f64);
    }
    if totals.len() < 2 {
        return (!units.is_empty()).then_some(1.0);
    }
    let n: u64 = totals.values().sum();
    let square = |c: u64| u128::from(c) * u128::from(c);
    let expected = square(n) - totals.values().map(|c| square(*c)).sum::<u128>();
    Some(1.0 - (n - 1) as f64 * observed.to_f64() / expected as f64)
}

/// The interval distance on the middle of each value's ranks is the ordinal distance.
fn ordinal(units: &[Vec<f64>]) -> Option<f64> {
    let mut all: Vec<f64> = units.iter().flatten().copied().collect();
    all.sort_unstable_by(f64::total_cmp);
    let rank = |value: &f64| {
        let below = all.partition_point(|v| v < value);
        let up_to = all.partition_point(|v| v <= value);
        (below + up_to) as f64 / 2.0
    };
    let ranked: Vec<Vec<f64>> = units.iter().map(|unit| unit.iter().map(rank).collect()).collect();
    interval(&ranked)
}

/// With squared distances the pairs of a unit add up to 2·m·(m−1)·s², so α is one minus the variance
/// within units, weighted by their size, over the variance of all: 1 − Σ_u m_u·s_u² / (N·s²).
fn interval(units: &[Vec<f64>]) -> Option<f64> {
    let first = units.iter().flatten().next()?;
    if units.iter().flatten().all(|rating| rating == first) {
        return Some(1.0);
    }
    // α does not depend on the unit of the ratings; in this one their squares neither vanish nor overflow.
    let exponent = common_exponent(units.iter().flatten().copied());
    let mut within = ExactSum::new();
    let mut all = Moments::default();
    for unit in units {
        let mut moments = Moments::default();
        unit.iter().for_each(|rating| moments.push(libm::scalbn(*rating, -exponent)));
        within.add_times(moments.variance().unwrap_or(0.0), moments.count());
        all.merge(&moments);
    }
    Some(1.0 - within.divide(all.count()) / all.variance()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Krippendorff 2011, example C: four observers, twelve units, some ratings missing.
    const C: [[Option<f64>; 12]; 4] = {
        const N: Option<f64> = None;
        const fn v(x: f64) -> Option<f64> {
            Some(x)
        }
        [
            [v(1.), v(2.), v(3.), v(3.), v(2.), v(1.), v(4.), v(1.), v(2.), N, N, N],
            [v(1.), v(2.), v(3.), v(3.), v(2.), v(2.), v(4.), v(1.), v(2.), v(5.), N, v(3.)],
            [N, v(3.), v(3.), v(3.), v(2.), v(3.), v(4.), v(2.), v(2.), v(5.), v(1.), N],
            [v(1.), v(2.), v(3.), v(3.), v(2.), v(4.), v(4.), v(1.), v(2.), v(5.), v(1.), N],
        ]
    };

    #[test]
    fn published_example() {
        let units: Vec<Vec<f64>> = (0..12)
            .map(|u| C.iter().filter_map(|row| row[u]).collect())
            .filter(|unit: &Vec<f64>| unit.len() >= 2)
            .collect();
        let keys: Vec<Vec<LeafKey>> = units
            .iter()
            .map(|unit| unit.iter().map(|x| LeafKey::new(LeafRef::Float(*x)).unwrap()).collect())
            .collect();
        // Exact rationals from the coincidence matrix; printed as .743, .815 and .849.
        let close =
            |got: Option<f64>, want: f64| assert!((got.unwrap() - want).abs() < 1e-14, "{got:?} {want}");
        close(nominal(&keys), 113.0 / 152.0);
        close(ordinal(&units), 108577.0 / 133160.0);
        close(interval(&units), 951.0 / 1120.0);
    }
}
