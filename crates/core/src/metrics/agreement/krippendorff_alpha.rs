//! `krippendorff_alpha`: how far several ratings of the same samples agree.

use std::collections::HashMap;

use super::{
    Profiles, RatedItems, RaterComparison, RaterNames, is_no_rating, label_text, number as label_number,
    squared_differences,
};
use crate::metrics::prelude::*;
use errorbar_stats::exact::{Moments, common_exponent};

/// What the distance between two ratings is.
#[derive(ArgWord, Clone, Copy, Debug, Default, PartialEq, Eq)]
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
        if level == Level::Ratio && categories.len() > MAX_RATIO_VALUES {
            let problem = format!(
                "{} different ratings, and level=\"ratio\" takes at most {}; use level=\"interval\", or round them",
                categories.len(),
                MAX_RATIO_VALUES
            );
            return Err(Error::undefined(Self::NAME, problem));
        }
        let value = match level {
            Level::Nominal => nominal(items.labels()),
            level => {
                let number = |label: &LeafKey| label_number(label).unwrap_or(f64::NAN);
                let unit = |labels: &Vec<LeafKey>| labels.iter().map(number).collect();
                let numbers: Vec<Vec<f64>> = items.labels().iter().map(unit).collect();
                match level {
                    Level::Ordinal => ordinal(&numbers),
                    Level::Ratio => ratio(&numbers),
                    _ => interval(&numbers),
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
        let resampled = Alpha::new(&profiles, level, places);
        let mut estimate = match level {
            Level::Ratio if categories.len() > MAX_RESAMPLED_RATIO_VALUES => {
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

/// The most distinct values for ratios, whose pairs are visited one by one: this number takes a
/// second.
const MAX_RATIO_VALUES: usize = 20_000;
/// The most of them that are resampled.
const MAX_RESAMPLED_RATIO_VALUES: usize = 200;

/// Squared ratios of differences to sums; ratings are not negative. `None` without a unit, 1 if only one value occurs.
fn ratio(units: &[Vec<f64>]) -> Option<f64> {
    let mut values: Vec<f64> = units.iter().flatten().copied().collect();
    values.sort_unstable_by(f64::total_cmp);
    values.dedup();
    if values.len() < 2 {
        return (!units.is_empty()).then_some(1.0);
    }
    let code = |value: &f64| values.partition_point(|other| other < value) as u32;
    let profiles = Profiles::new(units.iter().map(|unit| {
        let mut codes: Vec<u32> = unit.iter().map(code).collect();
        codes.sort_unstable();
        codes
    }));
    Alpha::new(&profiles, Level::Ratio, values).figure(&profiles.counts(|_| 1))
}

/// α of counts of profiles: 1 − (N−1)·Σ_u Σ_{i≠j} δ²/(m_u − 1) / Σ_ck n_c·n_k·δ².
#[derive(Debug)]
struct Alpha<'p> {
    profiles: &'p Profiles,
    distance: Level,
    /// The number that each code stands for; any for nominal ones.
    values: Vec<f64>,
    /// The codes by their number.
    by_value: Vec<usize>,
    /// The disagreement within each profile, unless it depends on all ratings, as ranks do.
    disagreement: Vec<f64>,
}

impl<'p> Alpha<'p> {
    fn new(profiles: &'p Profiles, distance: Level, values: Vec<f64>) -> Self {
        // α does not depend on the unit of the ratings; in this one their squares neither vanish nor overflow.
        let exponent = common_exponent(values.iter().copied());
        let values: Vec<f64> = values.into_iter().map(|value| libm::scalbn(value, -exponent)).collect();
        let mut by_value: Vec<usize> = (0..values.len()).collect();
        let value = |code: usize| values.get(code).copied().unwrap_or(0.0);
        by_value.sort_by(|a, b| value(*a).total_cmp(&value(*b)));
        let mut alpha = Alpha { profiles, distance, values, by_value, disagreement: Vec::new() };
        if distance != Level::Ordinal {
            let within = |profile: &Vec<u32>| alpha.within(profile, &alpha.values);
            alpha.disagreement = profiles.list.iter().map(within).collect();
        }
        alpha
    }

    /// The disagreement of the ordered pairs of a profile, over one less than its ratings.
    fn within(&self, profile: &[u32], places: &[f64]) -> f64 {
        let counted =
            profile.chunk_by(|a, b| a == b).filter_map(|same| Some((same.first()?, same.len() as f64)));
        let place = |code: u32| places.get(code as usize).copied().unwrap_or(0.0);
        let counted: Vec<(f64, f64)> = counted.map(|(code, count)| (count, place(*code))).collect();
        let ratings = profile.len() as f64;
        let pairs = match self.distance {
            Level::Nominal => ratings * ratings - counted.iter().map(|(count, _)| count * count).sum::<f64>(),
            Level::Ordinal | Level::Interval => squared_differences(&counted),
            Level::Ratio => squared_ratios(&counted),
        };
        pairs / (ratings - 1.0)
    }

    /// α, unless fewer than two values occur.
    fn figure(&self, counts: &[u64]) -> Option<f64> {
        let mut totals = vec![0_u64; self.values.len()];
        for (profile, count) in self.profiles.list.iter().zip(counts) {
            for code in profile {
                if let Some(total) = totals.get_mut(*code as usize) {
                    *total += count;
                }
            }
        }
        if totals.iter().filter(|total| **total > 0).count() < 2 {
            return None;
        }
        let n: u64 = totals.iter().sum();
        let counted = |totals: &[u64], places: &[f64]| -> Vec<(f64, f64)> {
            let used = totals.iter().zip(places).filter(|(total, _)| **total > 0);
            used.map(|(total, place)| (*total as f64, *place)).collect()
        };
        let (observed, expected) = match self.distance {
            Level::Ordinal => {
                let ranks = self.mid_ranks(&totals);
                let within = self.profiles.list.iter().zip(counts).filter(|(_, count)| **count > 0);
                let within = within.map(|(profile, count)| *count as f64 * self.within(profile, &ranks));
                (within.sum::<f64>(), squared_differences(&counted(&totals, &ranks)))
            }
            distance => {
                let observed = self.disagreement.iter().zip(counts).map(|(d, count)| d * *count as f64);
                let expected = match distance {
                    Level::Nominal => {
                        let square = |count: &u64| u128::from(*count) * u128::from(*count);
                        (square(&n) - totals.iter().map(square).sum::<u128>()) as f64
                    }
                    Level::Ratio => squared_ratios(&counted(&totals, &self.values)),
                    _ => squared_differences(&counted(&totals, &self.values)),
                };
                (observed.sum(), expected)
            }
        };
        (expected > 0.0).then(|| 1.0 - (n - 1) as f64 * observed / expected)
    }

    /// The middle of the ranks of each value.
    fn mid_ranks(&self, totals: &[u64]) -> Vec<f64> {
        let (mut ranks, mut below) = (vec![0.0; totals.len()], 0);
        for code in &self.by_value {
            let total = totals.get(*code).copied().unwrap_or(0);
            if let Some(rank) = ranks.get_mut(*code) {
                *rank = below as f64 + total as f64 / 2.0;
            }
            below += total;
        }
        ranks
    }
}

/// Σ_ck n_c·n_k·((x_c − x_k)/(x_c + x_k))², of counts and places; two zeros do not differ.
fn squared_ratios(counted: &[(f64, f64)]) -> f64 {
    let squared = |a: f64, b: f64| if a + b == 0.0 { 0.0 } else { ((a - b) / (a + b)) * ((a - b) / (a + b)) };
    let of = |(at, (count, place)): (usize, &(f64, f64))| {
        count * counted.iter().take(at).map(|(other, b)| other * squared(*place, *b)).sum::<f64>()
    };
    2.0 * counted.iter().enumerate().map(of).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::LeafRef;

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
        // Exact rationals from the coincidence matrix; printed as .743, .815, .849 and .797.
        let close =
            |got: Option<f64>, want: f64| assert!((got.unwrap() - want).abs() < 1e-14, "{got:?} {want}");
        close(nominal(&keys), 113.0 / 152.0);
        close(ordinal(&units), 108577.0 / 133160.0);
        close(interval(&units), 951.0 / 1120.0);
        close(ratio(&units), 18222619.0 / 22852465.0);

        // The figures of resamples are the same ones.
        let code = |x: &f64| *x as u32 - 1;
        let profiles = Profiles::new(units.iter().map(|unit| {
            let mut codes: Vec<u32> = unit.iter().map(code).collect();
            codes.sort_unstable();
            codes
        }));
        let values: Vec<f64> = (1..=5).map(f64::from).collect();
        let figure =
            |distance| Alpha::new(&profiles, distance, values.clone()).figure(&profiles.counts(|_| 1));
        close(figure(Level::Nominal), 113.0 / 152.0);
        close(figure(Level::Ordinal), 108577.0 / 133160.0);
        close(figure(Level::Interval), 951.0 / 1120.0);
    }

    #[test]
    fn ratios_of_zeros_and_of_one_value() {
        assert_eq!(ratio(&[]), None);
        assert_eq!(ratio(&[vec![0.0, 0.0]]), Some(1.0));
        // Two units {0, 0} and {0, 4}: δ² = 1 wherever the two differ, so α is that of two labels, 1 − 3·2/(16 − 10).
        assert_eq!(ratio(&[vec![0.0, 0.0], vec![0.0, 4.0]]), Some(0.0));
    }
}
