//! What the measures of agreement have in common: the ratings of each item, and an interval over units.
//!
//! An item is what several raters rate: an answer, so a sample in one epoch. Its ratings come from raters that the metric
//! names, or are the parts of a list-valued score. Figures see items only as counts of profiles, the distinct sets of
//! ratings, so they depend neither on the order of samples nor on that of raters.

mod kappas;
mod krippendorff_alpha;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

pub use kappas::*;
pub use krippendorff_alpha::*;

use crate::estimate::times_of;
use crate::metrics::prelude::*;
use crate::scores::{Ratings, ScoreSet};

/// The names of raters: a string, or a list of strings.
#[derive(Clone, Debug, PartialEq)]
struct RaterNames(Vec<String>);

impl RaterNames {
    /// What is wrong with them.
    fn check(&self) -> Result<(), String> {
        if self.0.is_empty() {
            return Err("names no rater; leave it out for ratings in lists".to_owned());
        }
        let twice = self.0.iter().enumerate().find(|(at, name)| self.0.iter().take(*at).any(|n| n == *name));
        match twice {
            Some((_, name)) => Err(format!("names {name:?} twice")),
            None => Ok(()),
        }
    }

    /// One name stands beside the scorer itself; several are all.
    fn raters(names: Option<&Self>) -> Raters {
        match names {
            Some(RaterNames(names)) if names.len() > 1 => Raters::all(names),
            Some(RaterNames(names)) => Raters::beside(names),
            None => Raters::default(),
        }
    }
}

impl ArgType for RaterNames {
    const EXPECTED: &'static str = "the name of a rater, or a list of names";

    fn from_arg(arg: &Arg, registry: &Registry) -> Result<Self, ArgProblem> {
        match arg {
            Arg::Str(name) => Ok(RaterNames(vec![name.clone()])),
            Arg::List(_) => Vec::from_arg(arg, registry).map(RaterNames),
            _ => Err(ArgProblem::Expected(Self::EXPECTED)),
        }
    }

    fn to_arg(&self) -> Arg {
        self.0.to_arg()
    }
}

/// Which ratings a metric compares, and how it reads them.
struct RaterComparison<'m> {
    metric: &'static str,
    /// All raters, or the one beside the scorer itself; ratings in lists if unset.
    raters: Option<&'m [String]>,
    to_float: Option<&'m Conversion>,
}

/// What is compared: rows of the score columns, each with its ratings.
#[derive(Debug, Default)]
struct RatedItems {
    rows: Vec<u32>,
    /// The labels of each item, in the order of raters; those that have none are left out.
    labels: Vec<Vec<LeafKey>>,
}

impl RaterComparison<'_> {
    /// The items that have a rating.
    fn items(&self, scores: &Scores<'_>) -> Result<RatedItems> {
        match self.raters {
            None => self.lists(scores),
            Some([other]) => {
                let items = self.beside(scores, &scores.ratings(other)?)?;
                self.check_labels(&items, &[scores.scorer(), other])?;
                Ok(items)
            }
            Some(names) => {
                let raters = names.iter().map(|name| scores.ratings(name)).collect::<Result<Vec<_>>>()?;
                let mut items = RatedItems::default();
                let rows = (0..scores.len()).map(|at| scores.column_row(at));
                // The others may have rated what the scorer has not.
                for row in rows.chain(scores.absent_rows().iter().map(|row| *row as usize)) {
                    let labels = raters.iter().filter_map(|rater| Some((rater.of_row(row)?, rater.name())));
                    let sample = scores.set().columns.id(row);
                    let labels = labels.map(|(leaf, rater)| self.label(leaf, rater, sample));
                    items.push(row, labels.collect::<Result<_>>()?);
                }
                self.check_labels(&items, names)?;
                Ok(items)
            }
        }
    }

    /// Refuses a rater whose labels no other rater has: they speak of something else, and an agreement of 0 would hide it.
    /// One label alone may well be one that the others never give.
    fn check_labels(&self, items: &RatedItems, raters: &[impl AsRef<str>]) -> Result<()> {
        let mut of_raters: Vec<BTreeSet<&LeafKey>> = vec![BTreeSet::new(); raters.len()];
        for labels in items.labels.iter().filter(|labels| labels.len() == raters.len()) {
            of_raters.iter_mut().zip(labels).for_each(|(of_rater, label)| {
                of_rater.insert(label);
            });
        }
        for (at, own) in of_raters.iter().enumerate() {
            let mut others: BTreeSet<&LeafKey> = BTreeSet::new();
            of_raters
                .iter()
                .enumerate()
                .filter(|(other, _)| *other != at)
                .for_each(|(_, set)| others.extend(set));
            let is_text = |label: &&&LeafKey| matches!(label, LeafKey::Text(_));
            let of_text = |set: &BTreeSet<&LeafKey>| set.iter().filter(is_text).count();
            let differ = (of_text(own) == 0) != (of_text(&others) == 0);
            let fewest = own.len().min(others.len());
            if own.is_disjoint(&others) && (fewest > 1 || differ && fewest > 0) {
                let rater = raters.get(at).map_or("", AsRef::as_ref);
                let hint = match self.to_float {
                    None if differ => "; to_float=value_to_float() compares grades with numbers",
                    _ => "",
                };
                let (own, others) = (label_list(own), label_list(&others));
                let problem = format!(
                    "`{rater}` shares no label with the others: it has {own}, they have {others}{hint}"
                );
                return Err(Error::undefined(self.metric, problem));
            }
        }
        Ok(())
    }

    /// The scores themselves, and the ratings of another.
    fn beside(&self, scores: &Scores<'_>, other: &Ratings<'_>) -> Result<RatedItems> {
        other.check_other()?;
        let mut items = RatedItems::default();
        for at in 0..scores.len() {
            let sample = scores.sample_id(at);
            let own = match scores.value(at) {
                ValueRef::Leaf(LeafRef::Null) => None,
                ValueRef::Leaf(leaf) => Some(self.label(leaf, scores.scorer(), sample)?),
                nested => {
                    let wanted = "ratings are strings, numbers or booleans; of maps name a field";
                    return Err(Error::shape(self.metric, sample, nested.describe(), wanted));
                }
            };
            let other = other.get(at).map(|leaf| self.label(leaf, other.name(), sample)).transpose()?;
            items.push(scores.column_row(at), [own, other].into_iter().flatten().collect());
        }
        Ok(items)
    }

    fn lists(&self, scores: &Scores<'_>) -> Result<RatedItems> {
        let mut items = RatedItems::default();
        for at in 0..scores.len() {
            let sample = scores.sample_id(at);
            let ValueRef::List(list) = scores.value(at) else {
                let wanted = "without raters it compares the ratings in lists; name the raters to compare";
                return Err(Error::shape(self.metric, sample, scores.value(at).describe(), wanted));
            };
            let rated = list.iter().map(Leaf::view).filter(|leaf| !is_no_rating(*leaf));
            let labels = rated.map(|leaf| self.label(leaf, scores.scorer(), sample));
            items.push(scores.column_row(at), labels.collect::<Result<_>>()?);
        }
        Ok(items)
    }

    fn label(&self, leaf: LeafRef<'_>, rater: &str, sample: &str) -> Result<LeafKey> {
        let Some(conversion) = self.to_float else { return Ok(label_of(leaf)) };
        let number = conversion.convert_leaf(leaf);
        let key = LeafKey::new(LeafRef::float(number.value)).filter(|_| number.convertible);
        key.ok_or_else(|| {
            let wanted =
                "to_float has no number for it; define what it means, as in value_to_float(correct=…)";
            Error::rating(rater, sample, ValueRef::Leaf(leaf).describe(), wanted)
        })
    }
}

fn is_no_rating(leaf: LeafRef<'_>) -> bool {
    matches!(leaf, LeafRef::Unscored | LeafRef::Null)
}

/// A leaf as a label. Tables have no types for metadata, so a string that reads as a number or as a boolean is that.
fn label_of(leaf: LeafRef<'_>) -> LeafKey {
    let typed = match leaf {
        LeafRef::Str(text) => match text.trim() {
            text if text.eq_ignore_ascii_case("true") => LeafRef::Bool(true),
            text if text.eq_ignore_ascii_case("false") => LeafRef::Bool(false),
            number => number.parse().ok().filter(|f: &f64| f.is_finite()).map_or(leaf, LeafRef::Float),
        },
        other => other,
    };
    LeafKey::new(typed).unwrap_or(LeafKey::Null)
}

/// The first few of some labels.
fn label_list(labels: &BTreeSet<&LeafKey>) -> String {
    const SHOWN: usize = 4;
    let texts: Vec<String> = labels.iter().take(SHOWN).map(|label| label_text(label)).collect();
    let more = if labels.len() > SHOWN { ", …" } else { "" };
    format!("{}{more}", texts.join(", "))
}

/// A label as people write it.
fn label_text(label: &LeafKey) -> String {
    match label {
        LeafKey::Null => LeafRef::Null.text(),
        LeafKey::Int(i) => i.to_string(),
        LeafKey::Big(big) => big.to_string(),
        LeafKey::Float(bits) => LeafRef::Float(f64::from_bits(*bits)).text(),
        LeafKey::Text(text) => format!("{text:?}"),
    }
}

impl RatedItems {
    fn push(&mut self, row: usize, labels: Vec<LeafKey>) {
        if !labels.is_empty() {
            self.rows.push(row as u32);
            self.labels.push(labels);
        }
    }

    /// The number of items.
    fn len(&self) -> usize {
        self.rows.len()
    }

    /// Only the items with this number of ratings; and how many others there are.
    fn with(self, fits: impl Fn(usize) -> bool) -> (Self, usize) {
        let all = self.len();
        let pairs = self.rows.into_iter().zip(self.labels).filter(|(_, labels)| fits(labels.len()));
        let (rows, labels): (Vec<_>, Vec<_>) = pairs.unzip();
        let others = all - rows.len();
        (RatedItems { rows, labels }, others)
    }

    /// The number of ratings that most items with several have; the larger one of two.
    fn usual_number(&self) -> Option<usize> {
        let mut numbers: BTreeMap<usize, usize> = BTreeMap::new();
        for labels in self.labels.iter().filter(|labels| labels.len() > 1) {
            *numbers.entry(labels.len()).or_default() += 1;
        }
        numbers.into_iter().max_by_key(|(number, items)| (*items, *number)).map(|(number, _)| number)
    }

    /// The labels of each item.
    fn labels(&self) -> &[Vec<LeafKey>] {
        &self.labels
    }

    /// The distinct labels, in a canonical order.
    fn categories(&self) -> Vec<LeafKey> {
        let mut all: Vec<&LeafKey> = self.labels.iter().flatten().collect();
        all.sort_unstable();
        all.dedup();
        all.into_iter().cloned().collect()
    }

    /// The items as profiles of codes of these categories, the ratings of each in order unless raters are distinguished.
    fn profiles(&self, categories: &[LeafKey], distinguishes_raters: bool) -> Profiles {
        let code = |label: &LeafKey| categories.binary_search(label).unwrap_or(usize::MAX) as u32;
        Profiles::new(self.labels.iter().map(|labels| {
            let mut codes: Vec<u32> = labels.iter().map(code).collect();
            if !distinguishes_raters {
                codes.sort_unstable();
            }
            codes
        }))
    }

    /// A sample with this label.
    fn sample_with<'s>(&self, scores: &Scores<'s>, label: &LeafKey) -> &'s str {
        let row =
            self.labels.iter().position(|labels| labels.contains(label)).and_then(|at| self.rows.get(at));
        scores.set().columns.id(row.map_or(usize::MAX, |row| *row as usize))
    }

    /// The estimate of a figure of profiles, with error and interval from resamples of the units of the plan.
    ///
    /// # Errors
    /// Those of reading scores.
    fn estimate(
        self,
        metric: &str,
        scores: &Scores<'_>,
        value: Defined<f64>,
        profiles: &Profiles,
        figure: impl Fn(&[u64]) -> Option<f64> + Sync,
    ) -> Result<Estimate> {
        let count = self.len();
        let items = scores.of_rows(self.rows);
        let prepare = |units: &ScoreUnits| {
            let unit_of = units.of_positions();
            move |draws: &[u32]| figure(&profiles.counts(times_of(&unit_of, draws)))
        };
        let mut estimate = resampled_estimate(metric, &items.scores(), value, prepare)?;
        (estimate.n, estimate.absent) = (count as u64, 0);
        Ok(estimate)
    }
}

impl<'a> Scores<'a> {
    /// The samples of these rows of the score columns, with no scores to speak of: what a figure of several raters is
    /// resampled over.
    fn of_rows(&self, rows: Vec<u32>) -> ScoreSet<'a> {
        let ScoreSet { columns, scorer, estimation, .. } = self.set();
        let values = ValueColumn::from_floats(&vec![0.0; rows.len()]);
        ScoreSet::derived(columns, scorer, Cow::Owned(values), Some(rows), estimation.clone())
    }
}

/// Why there is no figure of these items.
fn no_figure(items: usize, labels: usize) -> Undefined {
    match (items, labels) {
        (0, _) => Undefined::Other("no sample with two ratings".to_owned()),
        (_, 0 | 1) => Undefined::Other("only one label occurs, so all agree by chance".to_owned()),
        _ => Undefined::Other("chance alone explains every agreement".to_owned()),
    }
}

/// How much two labels that differ disagree.
#[derive(ArgWord, Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Weights {
    /// By their distance.
    Linear,
    /// By the square of their distance.
    Quadratic,
}

impl Weights {
    /// The disagreement of two labels at these places between 0 and 1, between 0 and 1.
    fn disagreement(self, a: f64, b: f64) -> f64 {
        match self {
            Weights::Linear => (a - b).abs(),
            Weights::Quadratic => (a - b) * (a - b),
        }
    }

    /// Σ_ab n_a·n_b·d(a, b) over all ordered pairs of places with their counts, without visiting the pairs.
    fn disagreement_of_pairs(self, mut counted: Vec<(f64, f64)>) -> f64 {
        counted.sort_by(|a, b| a.1.total_cmp(&b.1));
        match self {
            // From place to place, each pair that it lies between grows by the gap.
            Weights::Linear => {
                let all: f64 = counted.iter().map(|(count, _)| count).sum();
                let (mut below, mut before, mut sum) = (0.0, 0.0, 0.0);
                for (count, place) in counted {
                    sum += (place - before) * below * (all - below);
                    below += count;
                    before = place;
                }
                2.0 * sum
            }
            Weights::Quadratic => squared_differences(&counted),
        }
    }
}

/// Σ_ck n_c·n_k·(x_c − x_k)² = 2·N·Σ n·(x − x̄)², of counts and places.
fn squared_differences(counted: &[(f64, f64)]) -> f64 {
    let n: f64 = counted.iter().map(|(count, _)| count).sum();
    let mean = counted.iter().map(|(count, place)| count * place).sum::<f64>() / n;
    2.0 * n * counted.iter().map(|(count, place)| count * (place - mean) * (place - mean)).sum::<f64>()
}

impl RaterComparison<'_> {
    /// The labels that there may be, in canonical order: those of the items, and those of a declared order. And the place
    /// of each between 0 and 1: by the declared order, by its number, or by what grades are worth; without weights all
    /// have the same.
    ///
    /// # Errors
    /// A label that is not among those declared, or labels without an order.
    fn places(
        &self,
        scores: &Scores<'_>,
        items: &RatedItems,
        order: Option<&[Leaf]>,
        weights: Option<Weights>,
    ) -> Result<(Vec<LeafKey>, Vec<f64>)> {
        let refuse = |argument: &str, problem: String| {
            let (target, argument) = (self.metric.to_owned(), argument.to_owned());
            Err(Error::Argument { target, argument, problem })
        };
        let found = items.categories();
        let order: Option<Vec<LeafKey>> =
            order.map(|order| order.iter().map(|leaf| label_of(leaf.view())).collect());
        let mut categories = order.clone().unwrap_or_else(|| found.clone());
        categories.sort_unstable();
        categories.dedup();
        if let Some(label) = found.iter().find(|label| categories.binary_search(label).is_err()) {
            let (text, sample) = (label_text(label), items.sample_with(scores, label));
            let problem =
                format!("lacks the label {text} (sample {sample:?}); list every label, the lowest first");
            return refuse("order", problem);
        }
        if weights.is_none() {
            let places = vec![0.0; categories.len()];
            return Ok((categories, places));
        }
        let declared = order.and_then(|order| {
            let place = |label| order.iter().position(|other| other == label).map(|place| place as f64);
            categories.iter().map(place).collect::<Option<Vec<f64>>>()
        });
        let numbers = declared
            .or_else(|| categories.iter().map(number).collect())
            .or_else(|| categories.iter().map(grade).collect());
        let Some(numbers) = numbers else {
            let labels: Vec<String> = categories.iter().take(5).map(label_text).collect();
            let labels = labels.join(", ");
            let problem = format!(
                "needs an order, and the labels {labels} have none; give order=[…], the lowest first"
            );
            return refuse("weights", problem);
        };
        Ok((categories, scaled(&numbers)))
    }
}

/// The number that a label is.
fn number(label: &LeafKey) -> Option<f64> {
    match label {
        LeafKey::Int(i) => Some(*i as f64),
        LeafKey::Big(big) => Some(*big as f64),
        LeafKey::Float(bits) => Some(f64::from_bits(*bits)).filter(|number| number.is_finite()),
        LeafKey::Null | LeafKey::Text(_) => None,
    }
}

/// What a grade is worth.
fn grade(label: &LeafKey) -> Option<f64> {
    match label {
        LeafKey::Text(text) if matches!(text.as_str(), "C" | "P" | "I" | "N") => {
            Some(Conversion::default().convert_leaf(LeafRef::Str(text)).value)
        }
        _ => None,
    }
}

/// Numbers moved to 0 … 1; halves, because the range of all numbers is beyond the largest.
fn scaled(numbers: &[f64]) -> Vec<f64> {
    let low = numbers.iter().copied().fold(f64::INFINITY, f64::min) / 2.0;
    let high = numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max) / 2.0;
    let range = high - low;
    let place = |number: &f64| if range > 0.0 { (number / 2.0 - low) / range } else { 0.0 };
    numbers.iter().map(place).collect()
}

/// The codes of the ratings of an item.
type Profile = Vec<u32>;

/// The distinct profiles in a canonical order, and that of each item.
#[derive(Debug)]
struct Profiles {
    list: Vec<Profile>,
    of_item: Vec<u32>,
}

impl Profiles {
    fn new(items: impl Iterator<Item = Profile>) -> Self {
        let items: Vec<Profile> = items.collect();
        let mut numbers: BTreeMap<&Profile, u32> = items.iter().map(|profile| (profile, 0)).collect();
        numbers.values_mut().zip(0..).for_each(|(number, at)| *number = at);
        let of_item = items.iter().map(|profile| numbers.get(profile).copied().unwrap_or(0)).collect();
        Profiles { list: numbers.into_keys().cloned().collect(), of_item }
    }

    /// How many items have each profile, if each is there so many times.
    fn counts(&self, times: impl Fn(usize) -> u32) -> Vec<u64> {
        let mut counts = vec![0; self.list.len()];
        for (item, profile) in self.of_item.iter().enumerate() {
            counts.get_mut(*profile as usize).into_iter().for_each(|count| *count += u64::from(times(item)));
        }
        counts
    }
}
