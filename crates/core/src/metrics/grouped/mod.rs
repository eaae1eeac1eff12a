//! `grouped`: a metric for each group of samples, and one over all.

mod means;
mod name_template;

use std::borrow::Cow;
use std::collections::HashMap;

use self::means::{MacroMean, hold_together, shrink, simultaneous_level};
use self::name_template::{NameTemplate, recorded_names};
use super::{Bootstrap, Median, Quantile};
use crate::estimate::{Summary, error_across_groups};
use crate::evaluation::{AggregateBasis, GroupAggregate};
use crate::inputs::FigureNames;
use crate::metrics::prelude::*;
use crate::naming::CodeTable;
use crate::spec::Spec;

/// What the aggregate next to the groups is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum All {
    /// The metric over all samples.
    #[default]
    Samples,
    /// The plain mean of the groups' values.
    Groups,
    /// No aggregate.
    None,
}

impl ArgType for All {
    const EXPECTED: &'static str = "\"samples\", \"groups\" or False";

    fn from_arg(arg: &Arg, _: &Registry) -> Result<Self, ArgProblem> {
        match arg {
            Arg::Str(s) if s == "samples" => Ok(All::Samples),
            Arg::Str(s) if s == "groups" => Ok(All::Groups),
            Arg::Bool(false) => Ok(All::None),
            _ => Err(ArgProblem::Expected(Self::EXPECTED)),
        }
    }

    fn to_arg(&self) -> Arg {
        match self {
            All::Samples => Arg::Str("samples".to_owned()),
            All::Groups => Arg::Str("groups".to_owned()),
            All::None => Arg::Bool(false),
        }
    }
}

/// A metric for each value of a metadata key, and an aggregate over all samples or groups.
///
/// ```
/// use errorbar_core::ToSpec;
/// use errorbar_core::metrics::{All, accuracy, grouped};
/// let by_category = grouped(accuracy(), "category").all(All::Groups).name_template("category_{group_name}");
/// assert_eq!(
///     by_category.spec().to_string(),
///     r#"grouped(metric=accuracy(), group_key="category", all="groups", name_template="category_{group_name}")"#
/// );
/// ```
///
/// # Formula
/// ```text
/// v_g = metric over the samples of group g
/// all = metric over all samples; with all="groups": Σ w_g·v_g / Σ w_g, SE = √(Σ w_g²·SE_g²) / Σ w_g
/// ```
///
/// # When
/// Samples differ by subject, language or difficulty. `all="groups"` is the macro average, in which small groups
/// count as much as large ones. Groups drawn from many are clusters instead: `--cluster`.
///
/// # Example
/// ```console
/// $ printf '%s\n' id,subject,score 1,law,C 2,law,I 3,law,C 4,art,C 5,art,C 6,art,I > exam.csv
/// $ errorbar score exam.csv --metric 'grouped(accuracy(), "subject", all="groups")'
/// exam.csv · 6 rows
///
/// score · 6 scored
///                                    0                   1
///   accuracy by subject  only 3 scores
///     law  0.67 ± 0.33 [0.21, 0.94]      ├────────●────┤
///     art  0.67 ± 0.33 [0.21, 0.94]      ├────────●────┤
///     all  0.67 ± 0.24 [0.16, 0.95]     ├─────────●─────┤   only 6 scores · mean of the groups
///
/// ± one standard error · [95 % interval: wilson] · ├─●─┤ the interval
/// ```
///
/// # See also
/// `where`, `aggregate`, `weighted_mean`, `frequency`
///
/// # Source
/// Simultaneous intervals: Šidák 1967. Shrinkage: Morris 1983, "Parametric empirical Bayes inference".
#[derive(Clone, Debug, Params)]
#[params(crate = crate, name = "grouped", reference, check = Self::check_arguments)]
pub struct Grouped {
    /// The metric for each group.
    #[param(check = check_depth)]
    metric: Arc<dyn Metric>,
    /// The metadata key whose values are the groups.
    group_key: String,
    /// What the aggregate is: over all "samples", over the "groups", or False for none.
    #[param(default = All::Samples)]
    all: Option<All>,
    /// The name of the aggregate.
    #[param(default = "all")]
    all_label: Option<String>,
    /// How the values of groups become numbers for the mean over groups; scores are read as the metric reads them.
    #[param(default = Conversion::default())]
    value_to_float: Option<Conversion>,
    /// How groups are named; `{group_name}`, or `{group_name:>6}`, stands for the value of the key.
    #[param(default = "{group_name}")]
    name_template: Option<String>,
    /// The weights of the groups in the mean over them: a map such as {"law": 2, "art": 1}, or the metadata key that has
    /// the weight of a sample's group. Equal if unset.
    #[param(check = check_weights, own)]
    weights: Option<GroupWeights>,
    /// Whether the intervals of the groups hold all at once, at the level of the plan, by Šidák's inequality.
    #[param(default = false, own)]
    simultaneous: Option<bool>,
    /// Whether groups are shrunken toward their common mean (empirical Bayes): small groups more than large ones. Notes
    /// have the raw values.
    #[param(default = false, own)]
    shrink: Option<bool>,
}

impl Grouped {
    fn check_arguments(&self) -> Result<()> {
        if self.weights.is_some() && self.all_or_default() != All::Groups {
            return Err(Self::refuse("weights", "is for the mean over groups; set all=\"groups\""));
        }
        // A spread has no error but by resampling; an error and an interval have none.
        let has_error = match self.metric.role() {
            Role::Spread => self.metric.spec().name == Bootstrap::NAME,
            Role::ErrorOf | Role::IntervalOf => false,
            _ => self.metric.group_key().is_none(),
        };
        let metric = || self.metric.spec().log_name().into_owned();
        if self.simultaneous_or_default() && !has_error {
            let problem = format!(
                "needs a metric with an error of its own, such as accuracy or mean, found {}",
                metric()
            );
            return Err(Self::refuse("simultaneous", problem));
        }
        if self.shrink_or_default() && self.metric.role() != Role::Location {
            let problem = format!(
                "needs a metric that lies among the scores, such as accuracy or mean, found {}",
                metric()
            );
            return Err(Self::refuse("shrink", problem));
        }
        self.labels_of(std::iter::once("")).map(drop)
    }
}

/// Every level gives a figure for each group and one for all of them: sixteen levels are 65,536 figures at least.
fn check_depth(metric: &Arc<dyn Metric>) -> Result<(), String> {
    if depth(&metric.spec()) < MAX_DEPTH {
        return Ok(());
    }
    Err(format!("is grouped already, {MAX_DEPTH} levels deep, which is the most"))
}

/// How deep groups may be nested.
const MAX_DEPTH: usize = 4;

/// The number of metrics within each other.
fn depth(spec: &Spec) -> usize {
    let inner = spec.kwargs.values().map(|arg| match arg {
        Arg::Spec(inner) => depth(inner),
        _ => 0,
    });
    let within = inner.max().unwrap_or(0);
    within + usize::from(spec.name == Grouped::NAME)
}

impl Metric for Grouped {
    fn params(&self) -> Metadata {
        params_with_inner(self, "metric", self.metric.as_ref())
    }

    fn metadata_keys(&self) -> MetadataKeys {
        let weights = self.weights.as_ref().and_then(GroupWeights::key);
        let keys = MetadataKeys::one(&self.group_key).and(self.metric.metadata_keys());
        weights.map_or(keys.clone(), |key| keys.and(MetadataKeys::one(key)))
    }

    fn required_keys(&self) -> Vec<RequiredKey> {
        let group = RequiredKey::new(&self.group_key, KeyUsage::Group);
        let weights = self.weights.as_ref().and_then(GroupWeights::key);
        let weights = weights.map(|key| RequiredKey::new(key, KeyUsage::Weight));
        [group].into_iter().chain(weights).chain(self.metric.required_keys()).collect()
    }

    /// The reference groups reduced scores, whatever the metric wants. Those that only errorbar has get what they want.
    fn wants(&self) -> Wants {
        let mut innermost = self.metric.as_ref();
        while let Some(inner) = innermost.inner() {
            innermost = inner;
        }
        if innermost.spec().is_own_metric() { innermost.wants() } else { Wants::Auto }
    }

    fn inner(&self) -> Option<&dyn Metric> {
        Some(self.metric.as_ref())
    }

    fn group_key(&self) -> Option<&str> {
        Some(&self.group_key)
    }

    fn figure_names(&self) -> FigureNames {
        match self.metric.figure_names() {
            FigureNames::OfScores => FigureNames::OfScores,
            _ => FigureNames::OfMetadata,
        }
    }

    fn compute(&self, scores: &Scores<'_>) -> Result<MetricValue> {
        let mut estimation = scores.estimation().clone();
        // Groups are shrunk by their errors.
        estimation.value_only &= !self.shrink_or_default();
        let is_changed = estimation.value_only != scores.estimation().value_only;
        let rows = self.split(scores)?;
        let whole = scores.context();
        // Whether scores are zeros and ones is a question to all of them, not to each group; a number alone does not
        // depend on it.
        let of_all = || self.metric.score_kind(scores).ok().flatten();
        let kind = if estimation.value_only { None } else { whole.kind.or_else(of_all) };
        let estimates = whole.estimates.max(1).saturating_mul(rows.len() + 1);
        let whole = GroupContext { kind, n: whole.n.or(Some(scores.len() as u64)), estimates, ..whole };
        let scored = rows.iter().filter(|group| !group.positions.is_empty()).count();
        let level = self.level_of_groups(scored, &estimation.errors).filter(|_| !estimation.value_only);
        let mut of_groups = estimation.clone();
        of_groups.errors.level = level.or(of_groups.errors.level);
        let groups = under(scores, of_groups, is_changed || level.is_some(), |scores| {
            self.values_of(rows, &scores.in_context(GroupContext { is_group: true, ..whole }))
        })?;
        let all = match self.all_or_default() {
            All::Samples if !scores.is_empty() => {
                let compute = |scores: &Scores<'_>| self.metric.compute(&scores.in_context(whole));
                Some(under(scores, estimation.clone(), is_changed, compute)?)
            }
            _ => None,
        };
        self.assemble(groups, all, scores, &estimation, kind)
    }

    fn score_kind(&self, scores: &Scores<'_>) -> Result<Option<ScoreKind>> {
        self.metric.score_kind(scores)
    }
}

/// Reads scores, with estimates made in another way if they are.
fn under<T>(
    scores: &Scores<'_>,
    estimation: Estimation,
    is_changed: bool,
    read: impl FnOnce(&Scores<'_>) -> T,
) -> T {
    if is_changed { scores.under(estimation, read) } else { read(scores) }
}

/// How many groups there may be. Each has figures with names, so a key that is unique per sample would take
/// kilobytes for each of them, and the results would be too many to read.
const MAX_GROUPS: usize = 100_000;

/// The value of a group, and a sample of it for messages.
struct GroupValue {
    name: String,
    value: MetricValue,
    /// What the value is the mean of, where the error of the mean over groups may need it.
    summary: Option<Arc<Summary>>,
    sample: String,
    n: u64,
    weight: f64,
}

/// A group before it is computed: its name, the positions of its scores, the rows of its samples without a score, and a
/// sample of it.
struct GroupRows {
    name: String,
    positions: Vec<u32>,
    absent: Vec<u32>,
    sample: String,
    /// Its weight in the mean over groups; 1 if all are equal.
    weight: f64,
}

/// A group that has samples but no score.
fn no_scores(absent: usize) -> MetricValue {
    let mut estimate = Estimate::undefined(Undefined::NoScores);
    estimate.absent = absent as u64;
    estimate.into()
}

impl Grouped {
    /// The error for a key that distinguishes samples rather than groups.
    fn too_many_groups(&self) -> Error {
        let key = &self.group_key;
        let problem = format!(
            "`{key}` has more than {MAX_GROUPS} different values, and each would be a group; group by a key that has \
             fewer"
        );
        Error::undefined(Self::NAME, problem)
    }

    /// The groups in order of first appearance; those without a score come last.
    fn split(&self, scores: &Scores<'_>) -> Result<Vec<GroupRows>> {
        let column = scores.key(Self::NAME, &self.group_key);
        let codes = scores.codes(&column)?;
        let scored = codes.iter().enumerate().map(|(at, &code)| (code, at as u32, true));
        // A sample without a score may lack the key: it failed before anything was known of it.
        let absent =
            scores.absent_rows().iter().filter_map(|&row| Some((column.code_of_row(row)?, row, false)));
        let mut of_code = CodeTable::default();
        // Different values may share a string ("True" and true), and then they share a group.
        let mut groups: IndexMap<String, GroupRows> = IndexMap::new();
        for (code, at, is_scored) in scored.chain(absent) {
            let group = match of_code.get(&code).copied() {
                Some(group) => group,
                None => {
                    let name = column.value(code as usize).map(json_text).unwrap_or_default();
                    let entry = groups.entry(name.clone());
                    let group = entry.index();
                    if group >= MAX_GROUPS {
                        return Err(self.too_many_groups());
                    }
                    let sample =
                        if is_scored { scores.sample_id(at as usize).to_owned() } else { String::new() };
                    let (positions, absent) = (Vec::new(), Vec::new());
                    entry.or_insert(GroupRows { name, positions, absent, sample, weight: 1.0 });
                    of_code.insert(code, group as u32);
                    group as u32
                }
            };
            let Some((_, group)) = groups.get_index_mut(group as usize) else { continue };
            if is_scored { group.positions.push(at) } else { group.absent.push(at) }
        }
        let mut groups: Vec<GroupRows> = groups.into_values().collect();
        if let Some(weights) = &self.weights {
            weights.put(&mut groups, scores)?;
        }
        Ok(groups)
    }

    /// The range that shrunken groups lie in, if the metric lies among the scores for certain: those of summaries know it.
    fn range_of(&self, scores: &Scores<'_>) -> Option<(f64, f64)> {
        let spec = self.metric.spec();
        let is_among = matches!(spec.name.as_str(), Median::NAME | Quantile::NAME);
        let is_plain = !spec.kwargs.contains_key("to_float");
        if !(self.shrink_or_default() && is_among && is_plain) || scores.estimation().errors.range.is_some() {
            return None;
        }
        scores.floats().iter().all(|score| (0.0..=1.0).contains(score)).then_some((0.0, 1.0))
    }

    /// The value of each group.
    fn values_of(&self, groups: Vec<GroupRows>, scores: &Scores<'_>) -> Result<Vec<GroupValue>> {
        let has_mean = self.all_or_default() == All::Groups && !scores.estimation().value_only;
        let value = |GroupRows { name, positions, absent, sample, weight }: GroupRows| {
            let of_group = scores.subset(positions, absent);
            let value = match of_group.is_empty() {
                true => Ok(no_scores(of_group.absent())),
                false => self.metric.compute(&of_group).map_err(|error| error.in_group(&name)),
            };
            let summary = has_mean.then(|| self.metric.summary(&of_group)).flatten();
            Ok(GroupValue { name, value: value?, summary, sample, n: of_group.len() as u64, weight })
        };
        groups.into_iter().map(value).collect()
    }

    /// The error of the mean over groups, if clusters span groups.
    fn error_across(&self, groups: &[GroupValue], estimation: &Estimation) -> Option<ErrorFigure> {
        let scored = || groups.iter().filter(|group| group.n > 0);
        let total = means::total(scored().map(|group| group.weight));
        let part = |group: &GroupValue| group.weight / total;
        let parts: Option<Vec<_>> =
            scored().map(|group| Some((group.summary.as_deref()?, part(group)))).collect();
        error_across_groups(&parts?, &estimation.errors, &estimation.random)
    }

    /// The level of the intervals of this number of groups, if they are to hold all at once.
    fn level_of_groups(&self, groups: usize, errors: &ErrorPlan) -> Option<f64> {
        self.simultaneous_or_default().then(|| simultaneous_level(errors, groups))
    }

    /// The names of groups in the results.
    fn labels_of<'g>(&self, groups: impl Iterator<Item = &'g str>) -> Result<Vec<String>> {
        let template = self.name_template_or_default();
        let label = |group| {
            NameTemplate(&template).apply(group).map_err(|problem| Self::refuse("name_template", problem))
        };
        groups.map(label).collect()
    }

    fn assemble(
        &self,
        mut groups: Vec<GroupValue>,
        all: Option<MetricValue>,
        scores: &Scores<'_>,
        estimation: &Estimation,
        whole: Option<ScoreKind>,
    ) -> Result<MetricValue> {
        if estimation.order == Order::Key {
            // Those without a score come last in any order.
            groups.sort_by(|a, b| (a.n == 0, &a.name).cmp(&(b.n == 0, &b.name)));
        }
        let role = self.metric.role();
        let labels = self.labels_of(groups.iter().map(|group| group.name.as_str()))?;
        let owners = self.name_owners(&groups, &labels, role)?;
        let (over, value) = self.aggregate(&groups, all, estimation, whole);
        let all_label = self.all_label_or_default();
        if let Some(value) = &value {
            for name in recorded_names(&all_label, value, role) {
                if let Some(at) = owners.get(&name) {
                    return Err(name_taken(&groups, *at, &name));
                }
            }
        }
        let scored = groups.iter().filter(|group| group.n > 0).count();
        let level = self.level_of_groups(scored, &estimation.errors);
        let mut assembled = Vec::with_capacity(groups.len());
        for (GroupValue { name, value, n, .. }, label) in groups.into_iter().zip(labels) {
            // A custom metric does not count its scores.
            let counted = |estimate: Estimate| match estimate.n {
                0 if estimate.value.is_ok() => estimate.with_n(n),
                _ => estimate,
            };
            assembled.push(Group { name, label, n, value: value.map(counted) });
        }
        if let Some(level) = level {
            hold_together(&mut assembled, level, &estimation.errors);
        }
        if self.shrink_or_default() {
            let of_kind = whole.filter(|kind| *kind != ScoreKind::Unbounded).map(|_| (0.0, 1.0));
            let range = of_kind.or_else(|| self.range_of(scores));
            shrink(&mut assembled, level.unwrap_or(estimation.errors.level()), &estimation.errors, range);
        }
        let all = value.map(|value| GroupAggregate { label: all_label, over, value: Box::new(value) });
        Ok(Groups { key: self.group_key.clone(), groups: assembled, all }.into())
    }

    /// Who has each name in the results: the position of the group. Groups without a score are in no log, so their names
    /// cannot collide there.
    ///
    /// # Errors
    /// Two groups with the same name, or one with that of the aggregate.
    fn name_owners<'l>(
        &self,
        groups: &[GroupValue],
        labels: &'l [String],
        role: Role,
    ) -> Result<HashMap<Cow<'l, str>, usize>> {
        let mut owners: HashMap<Cow<'l, str>, usize> = HashMap::with_capacity(groups.len());
        let (wants_all, all_label) = (self.all_or_default() != All::None, self.all_label_or_default());
        for ((at, GroupValue { name: group, value, sample, n, .. }), label) in
            groups.iter().enumerate().zip(labels)
        {
            if *n == 0 {
                continue;
            }
            if wants_all && *label == all_label {
                return Err(name_taken(groups, at, label));
            }
            for name in recorded_names(label, value, role) {
                if let Some(other) = owners.get(&name).and_then(|other| groups.get(*other)) {
                    let (metric, first) = (Self::NAME, &other.name);
                    return Err(Error::SharedGroupName(
                        format!(
                            "{metric}: the groups {first:?} and {group:?} (of sample {sample:?}) both get the name {name:?}; put {{group_name}} into name_template"
                        )
                        .into(),
                    ));
                }
                owners.insert(name, at);
            }
        }
        Ok(owners)
    }

    /// The value over all groups, if there is to be one, and what it is over.
    fn aggregate(
        &self,
        groups: &[GroupValue],
        all: Option<MetricValue>,
        estimation: &Estimation,
        whole: Option<ScoreKind>,
    ) -> (AggregateBasis, Option<MetricValue>) {
        let scored: Vec<&GroupValue> = groups.iter().filter(|group| group.n > 0).collect();
        let undefined = || {
            let mut estimate = Estimate::undefined(Undefined::NoScores);
            let absent = |group: &GroupValue| group.value.estimate().map_or(0, |estimate| estimate.absent);
            estimate.absent = groups.iter().map(absent).sum();
            MetricValue::One(estimate)
        };
        match self.all_or_default() {
            All::None => (AggregateBasis::Samples, None),
            All::Samples if scored.is_empty() => (AggregateBasis::Samples, Some(undefined())),
            All::Samples => (AggregateBasis::Samples, Some(all.unwrap_or_else(undefined))),
            All::Groups if scored.is_empty() => (AggregateBasis::Groups, Some(undefined())),
            All::Groups => {
                let (role, conversion) = (self.metric.role(), self.value_to_float.as_ref());
                let weighted = self.weights.is_some();
                let across = self.error_across(groups, estimation);
                let (across, n) = (across.as_ref(), scored.iter().map(|group| group.n).sum());
                let mean = MacroMean { role, conversion, estimation, whole, weighted, across, n };
                let mut mean = mean.of_groups(&scored);
                if let (MetricValue::One(mean), Role::Location, None) = (&mut mean, role, conversion) {
                    means::add_bounds(mean, groups, estimation, whole, weighted);
                }
                (AggregateBasis::Groups, Some(mean))
            }
        }
    }
}

/// The error of a group whose name the aggregate has.
fn name_taken(groups: &[GroupValue], at: usize, name: &str) -> Error {
    let Some(GroupValue { name: group, sample, .. }) = groups.get(at) else {
        return Error::custom("a group was lost");
    };
    let metric = Grouped::NAME;
    Error::SharedGroupName(
        format!(
            "{metric}: the group {group:?} (of sample {sample:?}) gets the name {name:?}, which is taken by the aggregate; choose another all_label or name_template"
        )
        .into(),
    )
}

/// The weights of groups in the mean over them.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum GroupWeights {
    /// By the name of the group.
    Named(IndexMap<String, f64>),
    /// In this metadata key: the same for all samples of a group.
    Key(String),
}

impl From<&str> for GroupWeights {
    fn from(key: &str) -> Self {
        GroupWeights::Key(key.to_owned())
    }
}

impl<S: Into<String>, const N: usize> From<[(S, f64); N]> for GroupWeights {
    fn from(weights: [(S, f64); N]) -> Self {
        GroupWeights::Named(weights.into_iter().map(|(group, weight)| (group.into(), weight)).collect())
    }
}

impl ArgType for GroupWeights {
    const EXPECTED: &'static str =
        "a map from the names of groups to their weights, or the metadata key that has them";

    fn from_arg(arg: &Arg, _: &Registry) -> Result<Self, ArgProblem> {
        let expected = || ArgProblem::Expected(Self::EXPECTED);
        match arg {
            Arg::Str(key) => Ok(GroupWeights::Key(key.clone())),
            Arg::Map(map) => {
                let weight = |(group, weight): (&String, &Arg)| Some((group.clone(), weight.as_f64()?));
                let weights: Option<IndexMap<String, f64>> = map.iter().map(weight).collect();
                weights.map(GroupWeights::Named).ok_or_else(expected)
            }
            _ => Err(expected()),
        }
    }

    fn to_arg(&self) -> Arg {
        match self {
            GroupWeights::Key(key) => Arg::Str(key.clone()),
            GroupWeights::Named(map) => {
                let entries = map.iter().map(|(group, weight)| (group.clone(), Arg::Float(*weight)));
                Arg::Map(entries.collect())
            }
        }
    }
}

fn is_weight(weight: f64) -> bool {
    weight.is_finite() && weight >= 0.0
}

fn check_weights(weights: &GroupWeights) -> Result<(), String> {
    let GroupWeights::Named(map) = weights else { return Ok(()) };
    if let Some((group, weight)) = map.iter().find(|(_, weight)| !is_weight(**weight)) {
        return Err(format!("must be numbers that are not below 0, found {weight} for {group:?}"));
    }
    match map.values().any(|weight| *weight > 0.0) {
        true => Ok(()),
        false => Err("must have one above 0".to_owned()),
    }
}

impl GroupWeights {
    /// The metadata key that has them.
    fn key(&self) -> Option<&str> {
        match self {
            GroupWeights::Key(key) => Some(key),
            GroupWeights::Named(_) => None,
        }
    }

    /// Gives the groups that have scores their weights.
    fn put(&self, groups: &mut [GroupRows], scores: &Scores<'_>) -> Result<()> {
        match self {
            GroupWeights::Named(map) => {
                for group in groups.iter_mut().filter(|group| !group.positions.is_empty()) {
                    let weight = map.get(&group.name).copied();
                    group.weight = weight.ok_or_else(|| no_weight(&group.name, &group.sample))?;
                }
            }
            GroupWeights::Key(key) => {
                let column = scores.key(Grouped::NAME, key);
                let codes = scores.codes(&column)?;
                for group in groups.iter_mut() {
                    let mut weight: Option<(f64, u32)> = None;
                    for &at in &group.positions {
                        let code = codes.get(at as usize).copied().unwrap_or(u32::MAX);
                        if weight.is_some_and(|(_, known)| known == code) {
                            continue;
                        }
                        let sample = scores.sample_id(at as usize);
                        let found = column.value(code as usize);
                        let number = found.and_then(number).ok_or_else(|| no_number(key, sample, found))?;
                        match weight {
                            Some((known, _)) if known != number => {
                                return Err(differ(&group.name, &group.sample, sample));
                            }
                            _ => weight = Some((number, code)),
                        }
                    }
                    group.weight = weight.map_or(1.0, |(weight, _)| weight);
                }
            }
        }
        let mut scored = groups.iter().filter(|group| !group.positions.is_empty()).peekable();
        if scored.peek().is_some() && scored.all(|group| group.weight == 0.0) {
            return Err(undefined(
                "the weights of all groups with scores are 0; give one of them a weight".to_owned(),
            ));
        }
        Ok(())
    }
}

/// A weight in metadata.
fn number(json: &Json) -> Option<f64> {
    number_of(json).filter(|weight| is_weight(*weight))
}

fn undefined(problem: String) -> Error {
    Error::undefined(Grouped::NAME, problem)
}

fn no_weight(group: &str, sample: &str) -> Error {
    undefined(format!(
        "the group {group:?} (of sample {sample:?}) has no weight; give every group one in `weights`"
    ))
}

fn no_number(key: &str, sample: &str, found: Option<&Json>) -> Error {
    let found = found.map_or_else(|| "nothing".to_owned(), Json::to_string);
    undefined(format!(
        "sample {sample:?}: the weight in metadata key `{key}` must be a number from 0 on, found {found}"
    ))
}

/// The error of a group whose samples have different weights.
fn differ(group: &str, one: &str, other: &str) -> Error {
    undefined(format!(
        "the samples {one:?} and {other:?} of the group {group:?} have different weights; a group has one weight"
    ))
}
