//! `krippendorff_alpha`: how far several ratings of the same samples agree.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::args::{ArgProblem, ArgType, passed, spec_of};
use crate::error::{Error, Result};
use crate::metric::{Figure, MetadataKeys, Metric, MetricValue};
use crate::registry::{MetricEntry, Param, Registry};
use crate::scores::Scores;
use crate::spec::{Arg, Spec};
use crate::stats::{ExactSum, Moments};
use crate::value::{Conversion, LeafRef, ValueRef};

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

impl ArgType for Level {
    const EXPECTED: &'static str = "\"nominal\", \"ordinal\" or \"interval\"";

    fn from_arg(arg: &Arg, _: &Registry) -> Result<Self, ArgProblem> {
        match arg.as_str() {
            Some("nominal") => Ok(Level::Nominal),
            Some("ordinal") => Ok(Level::Ordinal),
            Some("interval") => Ok(Level::Interval),
            _ => Err(ArgProblem::Expected(Self::EXPECTED)),
        }
    }

    fn to_arg(&self) -> Arg {
        let word = match self {
            Level::Nominal => "nominal",
            Level::Ordinal => "ordinal",
            Level::Interval => "interval",
        };
        Arg::Str(word.to_owned())
    }
}

/// Krippendorff's α over list-valued scores: each list holds the ratings of one sample.
#[derive(Clone, Debug, Default)]
pub struct KrippendorffAlpha {
    level: Option<Level>,
    to_float: Option<Conversion>,
}

/// Krippendorff's α over list-valued scores.
pub fn krippendorff_alpha() -> KrippendorffAlpha {
    KrippendorffAlpha::default()
}

impl KrippendorffAlpha {
    /// What the distance between two ratings is; nominal if not said.
    #[must_use]
    pub fn level(mut self, level: Level) -> Self {
        self.level = Some(level);
        self
    }

    /// Reads ratings by a conversion, such as one for grades.
    #[must_use]
    pub fn to_float(mut self, conversion: impl Into<Conversion>) -> Self {
        self.to_float = Some(conversion.into());
        self
    }
}

pub(super) const ENTRY: MetricEntry = MetricEntry {
    name: "krippendorff_alpha",
    doc: "Agreement between several ratings of the same samples (Krippendorff's α), over list-valued scores.",
    params: &[Param::optional("level", "\"nominal\""), Param::optional("to_float", "None")],
    build: |args| {
        Ok(Arc::new(KrippendorffAlpha { level: args.get("level")?, to_float: args.get("to_float")? }))
    },
    replaces: false,
};

/// A rating that can be told apart from others: a number (across number types) or a text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rating {
    /// By the bits of its float, in numeric order.
    Number(OrderedFloat),
    Text(String),
}

#[derive(Clone, Copy, Debug)]
struct OrderedFloat(f64);

impl PartialEq for OrderedFloat {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}
impl Eq for OrderedFloat {}
impl PartialOrd for OrderedFloat {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for OrderedFloat {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl Metric for KrippendorffAlpha {
    fn spec(&self) -> Spec {
        spec_of("krippendorff_alpha", [("level", passed(&self.level)), ("to_float", passed(&self.to_float))])
    }

    fn metadata_keys(&self) -> MetadataKeys {
        MetadataKeys::NONE
    }

    fn compute(&self, scores: &Scores<'_>) -> Result<MetricValue> {
        let mut units: Vec<Vec<Rating>> = Vec::new();
        for at in 0..scores.len() {
            if let ValueRef::List(list) = scores.value(at)
                && list.len() >= 2
            {
                let ratings = list.iter().filter_map(|leaf| self.rating(leaf.view(), scores, at).transpose());
                let ratings = ratings.collect::<Result<Vec<Rating>>>()?;
                if ratings.len() >= 2 {
                    units.push(ratings);
                }
            }
        }
        let skipped = scores.len() - units.len();
        let figure = match alpha(&units, self.level.unwrap_or_default()) {
            Some(alpha) => Figure::new(alpha),
            None => Figure::undefined(f64::NAN, "no sample with two ratings"),
        };
        let figure = if skipped == 0 { figure } else { figure.note("skipped_samples", skipped) };
        Ok(figure.note("units", units.len()).into())
    }
}

impl KrippendorffAlpha {
    fn rating(&self, leaf: LeafRef<'_>, scores: &Scores<'_>, at: usize) -> Result<Option<Rating>> {
        if matches!(leaf, LeafRef::Unscored | LeafRef::Null) {
            return Ok(None);
        }
        let level = self.level.unwrap_or_default();
        let number = match &self.to_float {
            Some(conversion) if level != Level::Nominal => Some(conversion.convert_leaf(leaf).value),
            _ => leaf.number(),
        };
        if level == Level::Interval && number.is_some_and(f64::is_infinite) {
            let (metric, sample) = ("krippendorff_alpha".to_owned(), scores.sample_id(at).to_owned());
            return Err(Error::InfiniteScore { metric, sample });
        }
        match (number, leaf) {
            // Adding zero makes −0 and 0 one rating.
            (Some(number), _) => Ok(Some(Rating::Number(OrderedFloat(number + 0.0)))),
            (None, LeafRef::Str(text)) if level == Level::Nominal => Ok(Some(Rating::Text(text.to_owned()))),
            _ => Err(Error::Shape {
                metric: "krippendorff_alpha".to_owned(),
                sample: scores.sample_id(at).to_owned(),
                found: format!("a list with {}", ValueRef::Leaf(leaf).describe()),
                wanted: "ordinal and interval need numbers; give to_float=value_to_float() for grades"
                    .to_owned(),
            }),
        }
    }
}

/// α = 1 − D_o/D_e (Krippendorff 2011); `None` without a unit, 1 if only one value occurs.
fn alpha(units: &[Vec<Rating>], level: Level) -> Option<f64> {
    if units.is_empty() {
        return None;
    }
    let mut totals: BTreeMap<&Rating, u64> = BTreeMap::new();
    for rating in units.iter().flatten() {
        *totals.entry(rating).or_insert(0) += 1;
    }
    if totals.len() < 2 {
        return Some(1.0);
    }
    Some(match level {
        Level::Nominal => nominal(units, &totals),
        Level::Ordinal => {
            // Interval distance on the middle of each value's ranks is the ordinal distance.
            let mut below = 0.0;
            let ranks: BTreeMap<&Rating, f64> = totals
                .iter()
                .map(|(rating, &count)| {
                    let rank = below + count as f64 / 2.0;
                    below += count as f64;
                    (*rating, rank)
                })
                .collect();
            interval(units, |rating| ranks.get(rating).copied().unwrap_or(0.0))
        }
        Level::Interval => interval(units, |rating| match rating {
            Rating::Number(number) => number.0,
            Rating::Text(_) => 0.0,
        }),
    })
}

/// 1 − (N−1)·Σ_u (m_u² − Σ_c m_uc²)/(m_u − 1) / (N² − Σ_c n_c²): pairs that differ, within units
/// against overall.
fn nominal(units: &[Vec<Rating>], totals: &BTreeMap<&Rating, u64>) -> f64 {
    let mut observed = ExactSum::new();
    for unit in units {
        let mut counts: BTreeMap<&Rating, u64> = BTreeMap::new();
        unit.iter().for_each(|rating| *counts.entry(rating).or_insert(0) += 1);
        let m = unit.len() as u64;
        let differing = m * m - counts.values().map(|c| c * c).sum::<u64>();
        observed.add(differing as f64 / (m - 1) as f64);
    }
    let n: u64 = totals.values().sum();
    let expected =
        n as u128 * n as u128 - totals.values().map(|c| u128::from(*c) * u128::from(*c)).sum::<u128>();
    1.0 - (n - 1) as f64 * observed.to_f64() / expected as f64
}

/// With squared distances Σ_pairs (x−y)² = m²·(m−1)/m·2·s², so α is one minus the mean variance
/// within units, weighted by their size, over the variance of all: 1 − Σ_u m_u·s_u² / (N·s²).
fn interval(units: &[Vec<Rating>], number: impl Fn(&Rating) -> f64) -> f64 {
    let mut within = ExactSum::new();
    let mut all = Moments::default();
    for unit in units {
        let mut moments = Moments::default();
        unit.iter().for_each(|rating| moments.push(number(rating)));
        within.add_times(moments.variance().unwrap_or(0.0), unit.len() as u64);
        all.merge(&moments);
    }
    1.0 - within.divide(all.count()) / all.variance().unwrap_or(f64::NAN)
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
        let units: Vec<Vec<Rating>> = (0..12)
            .map(|u| C.iter().filter_map(|row| row[u]).map(|x| Rating::Number(OrderedFloat(x))).collect())
            .filter(|unit: &Vec<Rating>| unit.len() >= 2)
            .collect();
        // Exact rationals from the coincidence matrix; printed as .743, .815 and .849.
        let close = |level, want: f64| assert!((alpha(&units, level).unwrap() - want).abs() < 1e-14);
        close(Level::Nominal, 113.0 / 152.0);
        close(Level::Ordinal, 108577.0 / 133160.0);
        close(Level::Interval, 951.0 / 1120.0);
    }
}
