//! `grouped`: a metric for each group of samples, and one over all.

mod macro_mean;
mod name_template;
mod shrinkage;
mod simultaneous;
mod state;
mod weights;

use std::borrow::Cow;
use std::collections::HashMap;

use self::macro_mean::MacroMean;
use self::name_template::{NameTemplate, recorded_names};
use self::shrinkage::{cut_off, shrink};
use self::simultaneous::hold_together;
use self::state::GroupedState;
pub use self::weights::GroupWeights;
use super::{Bootstrap, Median, Quantile};
use crate::evaluation::{AggregateBasis, GroupAggregate};
use crate::inputs::FigureNames;
use crate::metrics::prelude::*;
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
    #[param(check = weights::check, own)]
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
        // A number alone depends on no other group, so there is nothing to keep until all of them are read.
        let is_alone = scores.estimation().value_only && !self.shrink_or_default();
        let state = (!is_alone).then(|| GroupedState::new(self.clone(), scores.estimation())).flatten();
        if let Some(state) = state {
            return compute_by_state(state, scores);
        }
        let (rows, estimation) = (self.split(scores)?, scores.estimation());
        let scored = rows.iter().filter(|group| !group.positions.is_empty()).count();
        let level = self.level_of_groups(scored, &estimation.errors).filter(|_| !estimation.value_only);
        let groups = match level {
            Some(level) => scores.at_level(level, |scores| self.values_of(rows, scores))?,
            None => self.values_of(rows, scores)?,
        };
        let all = match self.all_or_default() {
            All::Samples if !scores.is_empty() => Some(self.metric.compute(scores)?),
            _ => None,
        };
        let mut value = self.assemble(groups, all, estimation, None, None)?;
        if let (MetricValue::Groups(groups), Some(range)) = (&mut value, self.range_of(scores)) {
            cut_off(&mut groups.groups, range);
        }
        Ok(value)
    }

    fn state(&self, estimation: &Estimation) -> Option<Box<dyn MetricState>> {
        Some(Box::new(GroupedState::new(self.clone(), estimation)?))
    }
}

/// How many groups there may be. Each has figures with names, so a key that is unique per sample would take
/// kilobytes for each of them, and the results would be too many to read.
const MAX_GROUPS: usize = 100_000;

/// The value of a group, and a sample of it for messages.
struct GroupValue {
    name: String,
    value: MetricValue,
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

/// The groups met so far.
struct GroupIndex<'g> {
    grouped: &'g Grouped,
    groups: Vec<GroupRows>,
    /// The group of each distinct metadata value.
    of_code: CodeGroups,
    /// Different values may share a string ("True" and true), and then they share a group.
    of_text: HashMap<String, u32>,
}

impl GroupIndex<'_> {
    fn new(grouped: &Grouped, distinct: usize, scores: usize) -> GroupIndex<'_> {
        // A small group of many values has no use for a table of all of them.
        let of_code = match distinct / 4 > scores {
            true => CodeGroups::Few(HashMap::new()),
            false => CodeGroups::All(vec![None; distinct]),
        };
        GroupIndex { grouped, groups: Vec::new(), of_code, of_text: HashMap::new() }
    }

    /// The group of a metadata value.
    #[inline]
    fn of<'s>(
        &mut self,
        code: u32,
        text: impl FnOnce() -> String,
        sample: impl FnOnce() -> &'s str,
    ) -> Result<&mut GroupRows> {
        let known = match &self.of_code {
            CodeGroups::All(groups) => groups.get(code as usize).copied().flatten(),
            CodeGroups::Few(groups) => groups.get(&code).copied(),
        };
        let group = match known {
            Some(group) => group,
            None => self.meet(code, text(), sample())?,
        };
        self.groups.get_mut(group as usize).ok_or_else(|| Error::custom("a group was lost"))
    }

    /// The group of a metadata value that is met for the first time.
    fn meet(&mut self, code: u32, text: String, sample: &str) -> Result<u32> {
        let group = match self.of_text.get(&text) {
            Some(group) => *group,
            None if self.groups.len() >= MAX_GROUPS => return Err(self.grouped.too_many_groups()),
            None => {
                let group = self.groups.len() as u32;
                self.of_text.insert(text.clone(), group);
                let sample = sample.to_owned();
                let (positions, absent) = (Vec::new(), Vec::new());
                self.groups.push(GroupRows { name: text, positions, absent, sample, weight: 1.0 });
                group
            }
        };
        match &mut self.of_code {
            CodeGroups::All(groups) => {
                if let Some(slot) = groups.get_mut(code as usize) {
                    *slot = Some(group);
                }
            }
            CodeGroups::Few(groups) => drop(groups.insert(code, group)),
        }
        Ok(group)
    }
}

/// The group of each distinct metadata value that was met.
enum CodeGroups {
    All(Vec<Option<u32>>),
    Few(HashMap<u32, u32>),
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
        let mut splits = GroupIndex::new(self, column.distinct(), codes.len());
        for (at, &code) in codes.iter().enumerate() {
            let text = || column.value(code as usize).map(json_text).unwrap_or_default();
            splits.of(code, text, || scores.sample_id(at))?.positions.push(at as u32);
        }
        for &row in scores.absent_rows() {
            // A sample without a score may lack the key: it failed before anything was known of it.
            let Some(code) = column.code_of_row(row) else { continue };
            let text = || column.value(code as usize).map(json_text).unwrap_or_default();
            splits.of(code, text, || "")?.absent.push(row);
        }
        let mut groups = splits.groups;
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
        let value = |GroupRows { name, positions, absent, sample, weight }: GroupRows| {
            let of_group = scores.subset(positions, absent);
            let value = match of_group.is_empty() {
                true => no_scores(of_group.absent()),
                false => self.metric.compute(&of_group).map_err(|error| error.in_group(&name))?,
            };
            Ok(GroupValue { name, value, sample, n: of_group.len() as u64, weight })
        };
        groups.into_iter().map(value).collect()
    }

    /// The level of the intervals of this number of groups, if they are to hold all at once.
    fn level_of_groups(&self, groups: usize, errors: &ErrorPlan) -> Option<f64> {
        self.simultaneous_or_default().then(|| simultaneous::level(errors, groups))
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
        estimation: &Estimation,
        whole: Option<ScoreKind>,
        across: Option<ErrorFigure>,
    ) -> Result<MetricValue> {
        if estimation.order == Order::Key {
            // Those without a score come last in any order.
            groups.sort_by(|a, b| (a.n == 0, &a.name).cmp(&(b.n == 0, &b.name)));
        }
        let role = self.metric.role();
        let labels = self.labels_of(groups.iter().map(|group| group.name.as_str()))?;
        let owners = self.name_owners(&groups, &labels, role)?;
        let (over, value) = self.aggregate(&groups, all, estimation, whole, across.as_ref());
        let all_label = self.all_label_or_default();
        if let Some(value) = &value {
            for name in recorded_names(&all_label, value, role) {
                if let Some(at) = owners.get(&name) {
                    return Err(name_taken(&groups, *at, name.into_owned()));
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
            shrink(&mut assembled, level.unwrap_or(estimation.errors.level()), &estimation.errors, whole);
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
                return Err(name_taken(groups, at, label.clone()));
            }
            for name in recorded_names(label, value, role) {
                if let Some(other) = owners.get(&name).and_then(|other| groups.get(*other)) {
                    return Err(Error::SharedGroupName {
                        metric: Self::NAME.into(),
                        first: other.name.as_str().into(),
                        group: group.as_str().into(),
                        sample: sample.as_str().into(),
                        name: name.as_ref().into(),
                    });
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
        across: Option<&ErrorFigure>,
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
                let mean = MacroMean { role, conversion, estimation, whole, weighted };
                let mut mean = mean.of_groups(&scored, across);
                if let (MetricValue::One(mean), Role::Location, None) = (&mut mean, role, conversion) {
                    macro_mean::add_bounds(mean, groups, estimation, whole, weighted);
                }
                (AggregateBasis::Groups, Some(mean))
            }
        }
    }
}

/// The error of a group whose name the aggregate has.
fn name_taken(groups: &[GroupValue], at: usize, name: String) -> Error {
    let Some(GroupValue { name: group, sample, .. }) = groups.get(at) else {
        return Error::custom("a group was lost");
    };
    let (metric, group, sample) = (Grouped::NAME.to_owned(), group.clone(), sample.clone());
    Error::GroupNameTaken { metric, group, sample, name }
}
