//! Metrics of labels: `precision`, `recall`, `f1_score`, `frequency`.

use std::collections::BTreeSet;

use crate::estimate::{RatioTotals, ShareVariances, estimate_of_share, times_of};
use crate::metrics::prelude::*;
use crate::naming::{Interner, ranks};

/// How the figures of labels become one.
#[derive(ArgWord, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Average {
    /// The plain mean of the labels' figures.
    #[default]
    Macro,
    /// One figure over the counts of all labels.
    Micro,
    /// The mean of the labels' figures, by how many samples have each.
    Weighted,
    /// None: a figure for each label.
    None,
}

/// Where the predicted label of a score is.
#[derive(ArgWord, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Prediction {
    /// The value of the score.
    #[default]
    Value,
    /// Its answer.
    Answer,
}

/// The most labels that have a figure each. More than that are no labels.
const MAX_LABELS: usize = 10_000;

/// Which figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LabelFigure {
    Precision,
    Recall,
    F1,
}

impl LabelFigure {
    /// What a score adds to the two totals that the figures of its predicted and its true label are ratios of: the weight
    /// is the number of those predicted as the label, of those that have it, or of both.
    fn terms(self, (predicted, truth): (u32, u32)) -> impl Iterator<Item = LabelTerm> {
        let is_right = predicted == truth;
        let term = |code: u32, is_predicted: bool, is_true: bool| {
            let weight = match self {
                LabelFigure::Precision => u64::from(is_predicted),
                LabelFigure::Recall => u64::from(is_true),
                LabelFigure::F1 => u64::from(is_predicted) + u64::from(is_true),
            };
            LabelTerm { code, right: if is_right { weight } else { 0 }, weight }
        };
        let of_truth = (!is_right).then(|| term(truth, false, true));
        std::iter::once(term(predicted, true, is_right)).chain(of_truth)
    }

    /// Why a label has no figure.
    fn undefined(self, label: &str) -> Undefined {
        Undefined::Other(match self {
            LabelFigure::Precision => format!("{label:?} is never predicted"),
            LabelFigure::Recall => format!("no sample has the target {label:?}"),
            LabelFigure::F1 => format!("{label:?} is neither predicted nor a target"),
        })
    }
}

/// What a metric of this family is called with.
pub(super) struct Classification<'m> {
    pub(super) metric: &'static str,
    pub(super) figure: LabelFigure,
    pub(super) target: &'m str,
    pub(super) label: Option<&'m Leaf>,
    pub(super) average: Average,
    pub(super) prediction: Prediction,
}

impl Classification<'_> {
    pub(super) fn compute(&self, scores: &Scores<'_>) -> Result<MetricValue> {
        let labels = self.read(scores, None)?;
        if labels.pairs.is_empty() {
            return Ok(Estimate::undefined(Undefined::NoScores).into());
        }
        let value = self.figures(scores, &labels)?;
        let Some(caution) = labels.nothing_in_common(self.target) else { return Ok(value) };
        Ok(value.map(|mut estimate| {
            estimate.notes.add_caution(&caution);
            estimate
        }))
    }

    fn figures(&self, scores: &Scores<'_>, labels: &Labels) -> Result<MetricValue> {
        match (self.label, self.average) {
            (Some(label), _) => {
                let text = label.view().text();
                let mut of_labels = labels.names.iter().zip(self.terms_of_labels(labels));
                let Some((name, terms)) = of_labels.find(|(name, _)| **name == text) else {
                    let reason =
                        Undefined::Other(format!("no sample has or is predicted the label {text:?}"));
                    return Ok(Estimate::undefined(reason).with_n(scores.len() as u64).into());
                };
                self.of_terms(scores, name, terms).map(Into::into)
            }
            (None, Average::None) if labels.names.len() > MAX_LABELS => {
                let count = labels.names.len();
                let problem = format!(
                    "there are {count} labels, and at most {MAX_LABELS} have a figure each; name one with label="
                );
                Err(Error::undefined(self.metric, problem))
            }
            (None, Average::None) => {
                let mut map = IndexMap::new();
                for (name, terms) in labels.names.iter().zip(self.terms_of_labels(labels)) {
                    map.insert(name.clone(), Some(self.of_terms(scores, name, terms)?));
                }
                if scores.estimation().order == Order::Key {
                    map.sort_unstable_keys();
                }
                Ok(MetricValue::Map(map))
            }
            (None, Average::Micro) => {
                // Over all labels every sample is predicted once and true once: the share that is right.
                let term = |(predicted, truth): &(u32, u32)| RatioTerm {
                    total: if predicted == truth { 1.0 } else { 0.0 },
                    weight: 1.0,
                };
                self.ratio(scores, labels.pairs.iter().map(term).enumerate().collect()).map(Into::into)
            }
            (None, average) => {
                let count = labels.names.len();
                let value = self.average(labels, count, average, |_| 1);
                let value = value
                    .map_err(|code| self.figure.undefined(labels.names.get(code).map_or("", String::as_str)));
                let prepare = |units: &ScoreUnits| {
                    let unit_of = units.of_positions();
                    move |draws: &[u32]| self.average(labels, count, average, times_of(&unit_of, draws)).ok()
                };
                resampled_estimate(self.metric, scores, value, prepare).map(Into::into)
            }
        }
    }

    /// The labels of all scores, as strings: in that form they are compared. An absent or empty answer has the label
    /// `without_answer`; without one, an absent answer is an error.
    fn read(&self, scores: &Scores<'_>, without_answer: Option<&str>) -> Result<Labels> {
        let targets = scores.ratings(self.target)?;
        let mut names: Interner<String> = Interner::default();
        let mut pairs = Vec::with_capacity(scores.len());
        for at in 0..scores.len() {
            let sample = scores.sample_id(at);
            let predicted = match self.prediction {
                Prediction::Value => match scores.value(at) {
                    ValueRef::Leaf(leaf) => leaf.text(),
                    nested => {
                        let wanted = "a prediction is one label; for maps give metrics by key";
                        return Err(Error::shape(self.metric, sample, nested.describe(), wanted));
                    }
                },
                Prediction::Answer => match (scores.answer(at), without_answer) {
                    (Some(answer), None) => answer,
                    (Some(answer), Some(_)) if !answer.is_empty() => answer,
                    (_, Some(label)) => label.to_owned(),
                    (None, None) => {
                        let problem =
                            format!("sample {sample:?} has no answer, which should be its predicted label");
                        return Err(Error::undefined(self.metric, problem));
                    }
                },
            };
            let truth = targets.get(at).map(|leaf| leaf.text()).ok_or_else(|| {
                Error::undefined(self.metric, format!("sample {sample:?} has no target `{}`", self.target))
            })?;
            pairs.push((names.intern(predicted), names.intern(truth)));
        }
        Ok(Labels::new(&names, pairs))
    }

    /// The terms of every label, in one pass: a score is about its predicted and its true label, and about no other.
    fn terms_of_labels(&self, labels: &Labels) -> Vec<Vec<(usize, RatioTerm)>> {
        let mut terms = vec![Vec::new(); labels.names.len()];
        for (at, pair) in labels.pairs.iter().enumerate() {
            for LabelTerm { code, right, weight } in self.figure.terms(*pair).filter(|term| term.weight > 0) {
                let term = RatioTerm { total: right as f64, weight: weight as f64 };
                terms.get_mut(code as usize).into_iter().for_each(|terms| terms.push((at, term)));
            }
        }
        terms
    }

    /// The figure of one label: a ratio of two counts, with its linearised error.
    fn of_terms(&self, scores: &Scores<'_>, name: &str, terms: Vec<(usize, RatioTerm)>) -> Result<Estimate> {
        if terms.is_empty() {
            return Ok(Estimate::undefined(self.figure.undefined(name)));
        }
        self.ratio(scores, terms)
    }

    fn ratio(&self, scores: &Scores<'_>, terms: Vec<(usize, RatioTerm)>) -> Result<Estimate> {
        let totals = RatioTotals::new(self.metric, scores, terms)?;
        let estimation = scores.estimation();
        // A share lies between 0 and 1, whatever the range of the scores.
        let mut errors = estimation.errors.clone();
        errors.range = None;
        let estimate = totals.estimate(&errors, ScoreKind::Binary, &estimation.random, RatioScale::Plain);
        Ok(Estimate { absent: scores.absent() as u64, ..estimate })
    }

    /// The mean of the labels' figures, each score counted with a weight; the error is a label without a figure.
    ///
    /// Labels that no score of positive weight has or is predicted do not count: over a resample those that are in it.
    fn average(
        &self,
        labels: &Labels,
        count: usize,
        average: Average,
        weight: impl Fn(usize) -> u32,
    ) -> std::result::Result<f64, usize> {
        let mut of_labels = vec![LabelTotals::default(); count];
        for (at, pair) in labels.pairs.iter().enumerate() {
            let times = u64::from(weight(at));
            for LabelTerm { code, right, weight } in self.figure.terms(*pair) {
                let Some(label) = of_labels.get_mut(code as usize) else { continue };
                label.scores += times;
                label.right += times * right;
                label.weight += times * weight;
                label.truth += if code == pair.1 { times } else { 0 };
            }
        }
        let (mut sum, mut weights) = (0.0, 0.0);
        for (code, label) in of_labels.iter().enumerate().filter(|(_, label)| label.scores > 0) {
            let of_average = if average == Average::Weighted { label.truth as f64 } else { 1.0 };
            if of_average == 0.0 {
                continue;
            }
            if label.weight == 0 {
                return Err(code);
            }
            sum += of_average * (label.right as f64 / label.weight as f64);
            weights += of_average;
        }
        Ok(sum / weights)
    }
}

/// Predicted and true labels.
struct Labels {
    /// In the order of their strings.
    names: Vec<String>,
    /// The codes of the predicted and of the true label of each score.
    pairs: Vec<(u32, u32)>,
}

impl Labels {
    fn new(names: &Interner<String>, pairs: Vec<(u32, u32)>) -> Self {
        let mut sorted: Vec<String> = names.iter().cloned().collect();
        let ranks = ranks(&sorted);
        sorted.sort_unstable();
        let rank = |code: u32| ranks.get(code as usize).copied().unwrap_or(u32::MAX);
        let pairs = pairs.into_iter().map(|(predicted, truth)| (rank(predicted), rank(truth))).collect();
        Labels { names: sorted, pairs }
    }
}

impl Labels {
    /// What to know if no predicted label is a true one, though there are several of both: they may be written in
    /// different ways.
    fn nothing_in_common(&self, target: &str) -> Option<String> {
        let mut sides = [BTreeSet::new(), BTreeSet::new()];
        for (predicted, truth) in &self.pairs {
            let [of_predicted, of_truth] = &mut sides;
            of_predicted.insert(*predicted);
            of_truth.insert(*truth);
        }
        let [predicted, truth] = &sides;
        if predicted.len() < 2 || truth.len() < 2 || !predicted.is_disjoint(truth) {
            return None;
        }
        let list = |codes: &BTreeSet<u32>| {
            let names = codes.iter().take(4).filter_map(|code| self.names.get(*code as usize));
            names.map(String::as_str).collect::<Vec<_>>().join(", ")
        };
        Some(format!(
            "no predicted label is a true one: predicted {}; `{target}` has {}",
            list(predicted),
            list(truth)
        ))
    }
}

/// What a score is for one of its labels.
struct LabelTerm {
    code: u32,
    right: u64,
    weight: u64,
}

/// What the figure of a label is computed from: the two totals, all scores that it is about, and those that it is true of.
#[derive(Clone, Copy, Debug, Default)]
struct LabelTotals {
    right: u64,
    weight: u64,
    scores: u64,
    truth: u64,
}

/// Every label with its figures, and how often each is taken for each.
pub(crate) struct LabelCounts {
    /// In the order of their strings.
    pub(crate) names: Vec<String>,
    /// By true label, then by predicted one.
    pub(crate) counts: Vec<Vec<u64>>,
    pub(crate) recall: Vec<Estimate>,
    pub(crate) precision: Vec<Estimate>,
    /// The share of answers with the true label.
    pub(crate) accuracy: Estimate,
}

/// The most labels that are counted against each other.
const MAX_COUNTED: usize = 1_000;

/// The label of answers that are absent or empty.
pub(crate) const WITHOUT_ANSWER: &str = "(no answer)";

/// Counts labels against each other.
pub(crate) fn label_counts(scores: &Scores<'_>, target: &str, prediction: Prediction) -> Result<LabelCounts> {
    let of =
        |metric, figure, average| Classification { metric, figure, target, label: None, average, prediction };
    let (recall, precision) = (
        of("recall", LabelFigure::Recall, Average::None),
        of("precision", LabelFigure::Precision, Average::None),
    );
    let labels = recall.read(scores, Some(WITHOUT_ANSWER))?;
    let count = labels.names.len();
    if count > MAX_COUNTED {
        let problem =
            format!("there are {count} labels, and at most {MAX_COUNTED} are counted against each other");
        return Err(Error::undefined("confusion", problem));
    }
    let mut counts = vec![vec![0; count]; count];
    for (predicted, truth) in &labels.pairs {
        if let Some(slot) = counts.get_mut(*truth as usize).and_then(|row| row.get_mut(*predicted as usize)) {
            *slot += 1;
        }
    }
    let figures = |of: &Classification<'_>| -> Result<Vec<Estimate>> {
        let terms = labels.names.iter().zip(of.terms_of_labels(&labels));
        terms.map(|(name, terms)| of.of_terms(scores, name, terms)).collect()
    };
    let (recall, precision) = (figures(&recall)?, figures(&precision)?);
    let micro = of("recall", LabelFigure::Recall, Average::Micro);
    let accuracy = match labels.pairs.is_empty() {
        true => Estimate::undefined(Undefined::NoScores),
        false => micro.figures(scores, &labels)?.into_estimate(),
    };
    Ok(LabelCounts { names: labels.names, counts, recall, precision, accuracy })
}

/// What is wrong with a label and an average together.
pub(super) fn check(label: Option<&Leaf>, average: Option<Average>) -> std::result::Result<(), &'static str> {
    match (label, average) {
        (Some(_), Some(_)) => Err("is of several labels, and `label` names one; leave out one of the two"),
        _ => Ok(()),
    }
}

/// A metric of labels.
macro_rules! label_metric {
    ($(#[$doc:meta])* $type:ident, $name:literal, $figure:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, $crate::Params)]
        #[params(crate = $crate, name = $name, check = Self::check_labels)]
        pub struct $type {
            /// Where the true label of a sample is: a metadata key, or another scorer.
            target: String,
            /// The label that it is about; all of them, averaged, if unset.
            label: Option<$crate::Leaf>,
            /// How the figures of labels become one: "macro", "micro" or "weighted"; "none" for a figure for each label.
            #[param(default = Average::Macro)]
            average: Option<Average>,
            /// Where the predicted label is: the "value" of the score, or its "answer".
            #[param(default = Prediction::Value)]
            prediction: Option<Prediction>,
        }

        impl $type {
            fn check_labels(&self) -> $crate::Result<()> {
                check(self.label.as_ref(), self.average)
                    .map_err(|problem| <Self as $crate::Params>::refuse("average", problem))
            }
        }

        impl $crate::Metric for $type {
            // Labels have no mean: every epoch counts, and a sample is a unit.
            metric_flags! { self:
                metadata_keys = self.raters().metadata_keys(),
                raters = $crate::Raters::beside([self.target.as_str()]), reads_labels = true,
                score_parts = if self.prediction_or_default() == Prediction::Value { Value } else { All },
                wants = Unreduced, role = Share, direction = Higher, resample_cost = 4
            }

            fn compute(&self, scores: &$crate::Scores<'_>) -> $crate::Result<$crate::MetricValue> {
                <Self as $crate::Params>::check(self)?;
                let classification = Classification {
                    metric: <Self as $crate::Params>::NAME,
                    figure: LabelFigure::$figure,
                    target: &self.target,
                    label: self.label.as_ref(),
                    average: self.average_or_default(),
                    prediction: self.prediction_or_default(),
                };
                classification.compute(scores)
            }
        }
    };
}

label_metric!(
    /// The share of the samples predicted as a label that have it, averaged over labels.
    ///
    /// Labels are compared as strings. A label that is never predicted has no precision, nor has an average over it. The error of
    /// one label is that of a ratio, that of an average comes from resampling samples; both by cluster if there are
    /// clusters. It works on unreduced scores.
    ///
    /// # Formula
    /// ```text
    /// right(label) / predicted(label)
    /// ```
    ///
    /// # When
    /// Scores are predicted labels, and a wrong alarm is what costs.
    ///
    /// # Example
    /// ```console
    /// $ printf '%s\n' id,score,topic 1,law,law 2,law,art 3,art,art 4,art,art 5,law,law 6,art,law > topics.csv
    /// $ errorbar score topics.csv --metric 'precision("topic")'
    /// topics.csv · 6 rows
    ///
    /// score · 6 scored
    ///                                        0                   1
    ///   precision  0.67 ± 0.21 [0.20, 1.00]      ├────────●──────┤  only 6 scores · target=topic ·
    ///                                                               279 undefined resamples
    ///
    /// ± one standard error (bootstrap) · [95 % interval: bootstrap] · ├─●─┤ the interval
    /// ```
    ///
    /// # See also
    /// `recall`, `f1_score`, `frequency`
    ///
    /// # Source
    /// Van Rijsbergen 1979, "Information Retrieval".
    Precision,
    "precision",
    Precision
);

label_metric!(
    /// The share of the samples of a label that are predicted as such, averaged over labels.
    ///
    /// Labels are compared as strings. A label that no sample has has no recall, nor has an average over it. The error of one label is
    /// that of a ratio, that of an average comes from resampling samples; both by cluster if there are clusters. It
    /// works on unreduced scores.
    ///
    /// # Formula
    /// ```text
    /// right(label) / true(label)
    /// ```
    ///
    /// # When
    /// Scores are predicted labels, and a miss is what costs.
    ///
    /// # Example
    /// ```console
    /// $ printf '%s\n' id,score,topic 1,law,law 2,law,art 3,art,art 4,art,art 5,law,law 6,art,law > topics.csv
    /// $ errorbar score topics.csv --metric 'recall("topic", label="law")'
    /// topics.csv · 6 rows
    ///
    /// score · 6 scored
    ///                                     0                   1
    ///   recall  0.67 ± 0.33 [0.21, 0.94]      ├────────●────┤    only 3 scores · target=topic · label=law
    ///
    /// ± one standard error · [95 % interval: wilson] · ├─●─┤ the interval
    /// ```
    ///
    /// # See also
    /// `precision`, `f1_score`, `frequency`
    ///
    /// # Source
    /// Van Rijsbergen 1979, "Information Retrieval".
    Recall,
    "recall",
    Recall
);

label_metric!(
    /// The harmonic mean of precision and recall of a label, 2·right/(predicted + true), averaged over labels.
    ///
    /// Labels are compared as strings. The error of one label is that of a ratio, that of an average comes from resampling
    /// samples; both by cluster if there are clusters. It works on unreduced scores.
    ///
    /// # Formula
    /// ```text
    /// 2·right(label) / (predicted(label) + true(label))
    /// ```
    ///
    /// # When
    /// Scores are predicted labels, misses and wrong alarms both cost, and labels are not equally frequent.
    ///
    /// # Example
    /// ```console
    /// $ printf '%s\n' id,score,topic 1,law,law 2,law,art 3,art,art 4,art,art 5,law,law 6,art,law > topics.csv
    /// $ errorbar score topics.csv --metric 'f1_score("topic")'
    /// topics.csv · 6 rows
    ///
    /// score · 6 scored
    ///                                       0                             1
    ///   f1_score  0.67 ± 0.21 [0.25, 1.00]          ├───────────●─────────┤  only 6 scores · target=topic
    ///
    /// ± one standard error (bootstrap) · [95 % interval: bootstrap] · ├─●─┤ the interval
    /// ```
    ///
    /// # See also
    /// `precision`, `recall`, `f1`
    ///
    /// # Source
    /// Van Rijsbergen 1979, "Information Retrieval".
    F1Score,
    "f1_score",
    F1
);

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

    fn compute(&self, scores: &Scores<'_>) -> Result<MetricValue> {
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
        let (normalize, estimation, whole) =
            (self.normalize_or_default(), scores.estimation(), scores.context());
        let variances = match normalize {
            true => ShareVariances::of(estimation, scores, &categories)?,
            false => None,
        };
        let (n, absent) = (scores.len() as u64, scores.absent() as u64);
        let all = whole.n.unwrap_or(n);
        let random = estimation.random.among(whole.estimates.max(1).saturating_mul(counts.len()));
        // Shares lie between 0 and 1, whatever the range of scores is.
        let errors = &ErrorPlan { range: None, ..estimation.errors.clone() };
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
    }
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
