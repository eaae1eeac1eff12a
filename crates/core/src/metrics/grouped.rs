//! `grouped`: a metric for each group of samples, and one over all.

mod state;
mod template;

use std::sync::Arc;

use indexmap::IndexMap;

use self::state::GroupedState;
use self::template::Template;
use crate::args::{ArgProblem, ArgType, Args, passed, spec_of};
use crate::error::{Error, Result};
use crate::metric::{
    Figure, MetadataKeys, Metric, MetricState, MetricValue, ScoreParts, compute_by_state, params_with_inner,
};
use crate::python_text::json_text;
use crate::registry::{MetricEntry, Param, Registry};
use crate::score::Metadata;
use crate::scores::Scores;
use crate::spec::{Arg, Spec};
use crate::stats::{ExactSum, root_of_squares};
use crate::value::{Conversion, LeafRef};

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

/// A metric for each value of a metadata key, and one over all.
///
/// ```
/// use errorbar_core::metrics::{All, accuracy, grouped};
/// use errorbar_core::Metric;
/// let by_category = grouped(accuracy(), "category").all(All::Groups).name_template("category_{group_name}");
/// assert_eq!(
///     by_category.spec().to_string(),
///     r#"grouped(metric=accuracy(), group_key="category", all="groups", name_template="category_{group_name}")"#
/// );
/// ```
#[derive(Clone, Debug)]
pub struct Grouped {
    metric: Arc<dyn Metric>,
    group_key: String,
    all: Option<All>,
    all_label: Option<String>,
    value_to_float: Option<Conversion>,
    name_template: Option<String>,
}

/// A metric for each value of a metadata key, and one over all.
pub fn grouped(metric: impl Metric + 'static, group_key: impl Into<String>) -> Grouped {
    Grouped {
        metric: Arc::new(metric),
        group_key: group_key.into(),
        all: None,
        all_label: None,
        value_to_float: None,
        name_template: None,
    }
}

impl Grouped {
    /// What the aggregate is: over all samples (the default), over the groups, or none.
    #[must_use]
    pub fn all(mut self, all: All) -> Self {
        self.all = Some(all);
        self
    }

    /// The name of the aggregate; `all` if not said.
    #[must_use]
    pub fn all_label(mut self, label: impl Into<String>) -> Self {
        self.all_label = Some(label.into());
        self
    }

    /// How groups are named; `{group_name}` stands for the value of the key.
    #[must_use]
    pub fn name_template(mut self, template: impl Into<String>) -> Self {
        self.name_template = Some(template.into());
        self
    }

    /// How the groups' values are read for the mean over groups; the scores are the metric's own affair.
    #[must_use]
    pub fn value_to_float(mut self, conversion: impl Into<Conversion>) -> Self {
        self.value_to_float = Some(conversion.into());
        self
    }

    fn label(&self) -> &str {
        self.all_label.as_deref().unwrap_or("all")
    }

    fn template(&self) -> Template<'_> {
        Template(self.name_template.as_deref().unwrap_or("{group_name}"))
    }
}

pub(super) const ENTRY: MetricEntry = MetricEntry {
    name: "grouped",
    doc: "A metric for each value of a metadata key, and an aggregate over all samples or groups.",
    params: &[
        Param::required("metric"),
        Param::required("group_key"),
        Param::optional("all", "\"samples\""),
        Param::optional("all_label", "\"all\""),
        Param::optional("value_to_float", "value_to_float()"),
        Param::optional("name_template", "\"{group_name}\""),
    ],
    build: |args| Ok(Arc::new(build(args)?)),
    replaces: false,
};

fn build(args: &Args<'_>) -> Result<Grouped> {
    let built = Grouped {
        metric: args.required("metric")?,
        group_key: args.required("group_key")?,
        all: args.get("all")?,
        all_label: args.get("all_label")?,
        value_to_float: args.get("value_to_float")?,
        name_template: args.get("name_template")?,
    };
    // Every level gives a figure for each group and one for all of them: sixteen levels are 65,536 figures at least.
    if depth(&built.metric.spec()) >= MAX_DEPTH {
        return Err(
            args.error("metric", format!("is grouped already, {MAX_DEPTH} levels deep, which is the most"))
        );
    }
    match built.template().apply("") {
        Ok(_) => Ok(built),
        Err(problem) => Err(args.error("name_template", problem)),
    }
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
    within + usize::from(spec.name == "grouped")
}

impl Metric for Grouped {
    fn spec(&self) -> Spec {
        spec_of(
            "grouped",
            [
                ("metric", Some(Arg::Spec(self.metric.spec()))),
                ("group_key", Some(Arg::Str(self.group_key.clone()))),
                ("all", passed(&self.all)),
                ("all_label", passed(&self.all_label)),
                ("value_to_float", passed(&self.value_to_float)),
                ("name_template", passed(&self.name_template)),
            ],
        )
    }

    fn params(&self) -> Metadata {
        params_with_inner(self, "metric", self.metric.as_ref())
    }

    fn metadata_keys(&self) -> MetadataKeys {
        MetadataKeys::one(&self.group_key).and(self.metric.metadata_keys())
    }

    fn score_parts(&self) -> ScoreParts {
        self.metric.score_parts()
    }

    fn compute(&self, scores: &Scores<'_>) -> Result<MetricValue> {
        if self.metric.state().is_some() {
            return compute_by_state(GroupedState::new(self.clone()), scores);
        }
        let mut groups: IndexMap<String, Group> = IndexMap::new();
        for (name, positions, sample) in self.split(scores)? {
            let of_group = scores.subset(&positions);
            let value = self.metric.compute(&of_group).map_err(|error| error.in_group(&name))?;
            groups.insert(name, Group { value, error: None, sample, n: of_group.len() });
        }
        let all = match self.all.unwrap_or_default() {
            All::Samples if !scores.is_empty() => Some(self.metric.compute(scores)?),
            _ => None,
        };
        self.assemble(groups, all)
    }

    fn state(&self) -> Option<Box<dyn MetricState>> {
        self.metric.state()?;
        Some(Box::new(GroupedState::new(self.clone())))
    }
}

/// How many groups there may be. Each has figures with names, so a key that tells samples apart would take
/// kilobytes for each of them, and nobody can read as many.
const MAX_GROUPS: usize = 100_000;

/// The value of a group, its standard error if the metric has one, and a sample of it for messages.
struct Group {
    value: MetricValue,
    error: Option<MetricValue>,
    sample: String,
    n: usize,
}

impl Grouped {
    /// The metric for the groups' standard errors, where the mean over groups is asked for.
    fn macro_error(&self) -> Option<Arc<dyn Metric>> {
        let wanted = self.all.unwrap_or_default() == All::Groups && self.value_to_float.is_none();
        self.metric.standard_error().filter(|_| wanted)
    }

    /// The problem of a key that tells samples apart rather than groups.
    fn too_many_groups(&self) -> Error {
        Error::Undefined {
            metric: "grouped".to_owned(),
            problem: format!(
                "`{}` has more than {MAX_GROUPS} different values, and each would be a group; group by a key \
                 that has fewer",
                self.group_key
            ),
        }
    }

    /// The groups in order of first appearance: name, positions, and a sample of each.
    fn split(&self, scores: &Scores<'_>) -> Result<Vec<(String, Vec<u32>, String)>> {
        let column = scores.key("grouped", &self.group_key);
        let codes = scores.codes(&column)?;
        // Different values may share a text ("True" and true), and then they share a group.
        let mut group_of_code: Vec<Option<usize>> = vec![None; column.values().len()];
        let mut by_text: IndexMap<String, (Vec<u32>, usize)> = IndexMap::new();
        for (at, &code) in codes.iter().enumerate() {
            let known = group_of_code.get(code as usize).copied().flatten();
            let group = known.unwrap_or_else(|| {
                let text = column.values().get(code as usize).map(json_text).unwrap_or_default();
                let entry = by_text.entry(text);
                let group = entry.index();
                entry.or_insert_with(|| (Vec::new(), at));
                group
            });
            if group >= MAX_GROUPS {
                return Err(self.too_many_groups());
            }
            if let Some(slot) = group_of_code.get_mut(code as usize) {
                *slot = Some(group);
            }
            if let Some((_, (positions, _))) = by_text.get_index_mut(group) {
                positions.push(at as u32);
            }
        }
        Ok(by_text
            .into_iter()
            .map(|(text, (positions, first))| (text, positions, scores.sample_id(first).to_owned()))
            .collect())
    }

    fn assemble(&self, groups: IndexMap<String, Group>, all: Option<MetricValue>) -> Result<MetricValue> {
        let mut entries: IndexMap<String, Option<Figure>> = IndexMap::new();
        let wants_all = self.all.unwrap_or_default() != All::None;
        let mut owner: IndexMap<String, String> = IndexMap::new();
        for (group, Group { value, sample, n, .. }) in &groups {
            let name = self.template().apply(group).map_err(|problem| Error::Argument {
                target: "grouped".to_owned(),
                argument: "name_template".to_owned(),
                problem,
            })?;
            if wants_all && name == self.label() {
                return Err(Error::GroupNameTaken {
                    metric: "grouped".to_owned(),
                    group: group.clone(),
                    sample: sample.clone(),
                    name,
                });
            }
            for (name, figure) in expand(&name, value) {
                if let Some(other) = owner.insert(name.clone(), group.clone()) {
                    return Err(Error::Undefined {
                        metric: "grouped".to_owned(),
                        problem: format!(
                            "the groups {other:?} and {group:?} (of sample {sample:?}) both get the name {name:?}; \
                             put {{group_name}} into name_template"
                        ),
                    });
                }
                entries.insert(name, figure.map(|figure| figure.note("n", *n)));
            }
        }
        let aggregate = match self.all.unwrap_or_default() {
            All::None => return Ok(MetricValue::Map(entries)),
            _ if groups.is_empty() => Figure::undefined(f64::NAN, "n = 0").into(),
            All::Samples => all.unwrap_or_else(|| Figure::undefined(f64::NAN, "n = 0").into()),
            All::Groups => {
                let mean = mean_of(groups.values().map(|g| &g.value), self.value_to_float.as_ref());
                with_macro_error(mean, groups.values().map(|g| g.error.as_ref()))
            }
        };
        for (name, figure) in expand(self.label(), &aggregate) {
            if let Some(group) = owner.get(&name) {
                let sample = groups.get(group).map(|g| g.sample.clone()).unwrap_or_default();
                let (metric, group) = ("grouped".to_owned(), group.clone());
                return Err(Error::GroupNameTaken { metric, group, sample, name });
            }
            entries.insert(name, figure);
        }
        Ok(MetricValue::Map(entries))
    }
}

/// The entries of a group: one under its name, or one per key of a metric that returns a map.
fn expand(name: &str, value: &MetricValue) -> Vec<(String, Option<Figure>)> {
    match value {
        MetricValue::Number(figure) => vec![(name.to_owned(), Some(figure.clone()))],
        MetricValue::Map(map) => map.iter().map(|(key, f)| (format!("{name}_{key}"), f.clone())).collect(),
        MetricValue::List(list) => {
            list.iter().enumerate().map(|(at, f)| (format!("{name}_{}", at + 1), f.clone())).collect()
        }
    }
}

/// The plain mean of the groups' values, key by key where they are maps.
fn mean_of<'a>(
    values: impl Iterator<Item = &'a MetricValue>,
    conversion: Option<&Conversion>,
) -> MetricValue {
    let float = |f: &Figure| match conversion {
        Some(conversion) if !f.value.is_nan() => conversion.convert_leaf(LeafRef::Float(f.value)).value,
        _ => f.value,
    };
    let mean = |figures: Vec<&Figure>| {
        let unknown = figures.iter().filter(|f| f.undefined_reason().is_some()).count();
        let floats: Vec<f64> = figures.iter().map(|f| float(f)).collect();
        let value = if floats.iter().all(|f| f.is_finite()) {
            let mut sum = ExactSum::new();
            sum.extend(&floats);
            sum.divide((floats.len() as u64).max(1))
        } else {
            floats.iter().sum::<f64>() / floats.len() as f64
        };
        Figure::new(value).note_some("undefined_groups", (unknown > 0).then_some(unknown))
    };
    let mut by_key: IndexMap<Option<String>, Vec<&Figure>> = IndexMap::new();
    for value in values {
        match value {
            MetricValue::Number(figure) => by_key.entry(None).or_default().push(figure),
            MetricValue::Map(map) => {
                for (key, figure) in map {
                    by_key.entry(Some(key.clone())).or_default().extend(figure);
                }
            }
            MetricValue::List(list) => {
                for (at, figure) in list.iter().enumerate() {
                    by_key.entry(Some((at + 1).to_string())).or_default().extend(figure);
                }
            }
        }
    }
    if by_key.len() == 1 && by_key.contains_key(&None) {
        let figures = by_key.swap_remove(&None).unwrap_or_default();
        return mean(figures).into();
    }
    let entry =
        |(key, figures): (Option<String>, Vec<&Figure>)| (key.unwrap_or_default(), Some(mean(figures)));
    MetricValue::Map(by_key.into_iter().map(entry).collect())
}

/// The mean over fixed groups with its own standard error, √(Σ SE_g²)/G: not the mean of their errors.
fn with_macro_error<'a>(
    mean: MetricValue,
    errors: impl Iterator<Item = Option<&'a MetricValue>>,
) -> MetricValue {
    let mut of_groups = Vec::new();
    for error in errors {
        match error {
            Some(MetricValue::Number(error)) if error.undefined_reason().is_none() => {
                of_groups.push(error.value);
            }
            // No error at all, or a group too small to have one: then the whole has none.
            _ => return mean,
        }
    }
    match mean {
        MetricValue::Number(figure) => {
            figure.note("stderr", root_of_squares(&of_groups, 1.0) / of_groups.len() as f64).into()
        }
        other => other,
    }
}
