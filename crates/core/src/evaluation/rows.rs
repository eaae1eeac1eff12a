//! Estimates in rows: flat, and with errors and intervals folded into the rows that they belong to.
//!
//! A metric such as `stderr` is the error of a location over the same numbers. It is put into the row of that location,
//! and has a separate row only where there is none, or where the row has an error already.

use std::borrow::Cow;
use std::collections::HashMap;

use super::{AggregateBasis, MetricResult, MetricValue, Results, Role, ScoreResult};
use crate::error_plan::{ErrorPlan, IntervalMethod};
use crate::estimate::{Estimate, Interval, Undefined};

/// One estimate, and which it is.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct EstimateRow<'a> {
    /// The position of its [`ScoreResult`] in [`Results::scores`].
    pub score: usize,
    /// The results that it is one of.
    pub of: &'a ScoreResult,
    /// The position of its metric in [`ScoreResult::metrics`].
    pub position: usize,
    /// The scorer.
    pub scorer: &'a str,
    /// The reducer, unless it is the implied mean or there is none.
    pub reducer: Option<&'a str>,
    /// Whether every epoch counts by itself.
    pub unreduced: bool,
    /// The field of map-valued scores.
    pub field: Option<&'a str>,
    /// The name of the innermost metric.
    pub metric: &'a str,
    /// What kind of figure it is.
    pub role: Role,
    /// The groups that it is of, the outermost first.
    pub scopes: Vec<Scope<'a>>,
    /// The metadata key of the groups; the innermost if there are several.
    pub group_key: Option<&'a str>,
    /// The group; none for all samples, and for the mean of the groups.
    pub group: Option<&'a str>,
    /// What results call the group or the aggregate.
    pub label: Option<&'a str>,
    /// The key, for a metric that returns a map.
    pub key: Option<&'a str>,
    /// The position from 1, for a metric that returns a list.
    pub index: Option<usize>,
    /// The estimate, with the error and the interval that belong to it.
    pub estimate: Cow<'a, Estimate>,
    /// The estimate as the metric returned it.
    pub source: &'a Estimate,
    /// The metric that the error is of, if it is not the row's own.
    pub error_metric: Option<&'a MetricResult>,
    /// The metric that the interval is of, if it is not the row's own.
    pub interval_metric: Option<&'a MetricResult>,
    /// The metric of the row.
    pub result: &'a MetricResult,
}

/// Which samples an estimate is of, where that is not all.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Scope<'a> {
    /// A group: the metadata key and its value.
    Group(&'a str, &'a str),
    /// The mean of the groups of a metadata key.
    MeanOfGroups(&'a str),
}

impl Results {
    /// All estimates, flat, in order, errors and intervals folded into the rows that they belong to.
    pub fn rows(&self) -> Vec<EstimateRow<'_>> {
        let rows = |(at, score)| fold(leaves(at, score), score, &self.errors);
        self.scores.iter().enumerate().flat_map(rows).collect()
    }

    /// The rows of one of [`Results::scores`].
    pub fn rows_of(&self, score: usize) -> Vec<EstimateRow<'_>> {
        let found = self.scores.get(score);
        found.map(|found| fold(leaves(score, found), found, &self.errors)).unwrap_or_default()
    }
}

/// Every estimate by itself.
fn leaves(score: usize, result: &ScoreResult) -> Vec<EstimateRow<'_>> {
    let mut rows = Vec::new();
    for (position, metric) in result.metrics.iter().enumerate() {
        let field = metric.subject.as_ref().and_then(|subject| subject.field.as_deref());
        let place = MetricRows { score, position, result, metric, field: field.or(result.field.as_deref()) };
        place.add(&metric.value, &mut Vec::new(), (None, None, None), &mut rows);
    }
    rows
}

/// The metric whose estimates are laid flat.
struct MetricRows<'a> {
    score: usize,
    position: usize,
    result: &'a ScoreResult,
    metric: &'a MetricResult,
    field: Option<&'a str>,
}

/// The metadata key of a group, its name and its label.
type GroupLabels<'a> = (Option<&'a str>, Option<&'a str>, Option<&'a str>);

impl<'a> MetricRows<'a> {
    fn add(
        &self,
        value: &'a MetricValue,
        scopes: &mut Vec<Scope<'a>>,
        labels: GroupLabels<'a>,
        rows: &mut Vec<EstimateRow<'a>>,
    ) {
        match value {
            MetricValue::One(estimate) => rows.push(self.row(estimate, scopes, labels)),
            MetricValue::Map(map) => {
                let found = map.iter().filter_map(|(key, estimate)| Some((key, estimate.as_ref()?)));
                rows.extend(found.map(|(key, estimate)| EstimateRow {
                    key: Some(key),
                    ..self.row(estimate, scopes, labels)
                }));
            }
            MetricValue::List(list) => {
                let found =
                    list.iter().enumerate().filter_map(|(at, estimate)| Some((at, estimate.as_ref()?)));
                rows.extend(found.map(|(at, estimate)| EstimateRow {
                    index: Some(at + 1),
                    ..self.row(estimate, scopes, labels)
                }));
            }
            MetricValue::Groups(groups) => {
                for group in &groups.groups {
                    scopes.push(Scope::Group(&groups.key, &group.name));
                    let labels =
                        (Some(groups.key.as_str()), Some(group.name.as_str()), Some(group.label.as_str()));
                    self.add(&group.value, scopes, labels, rows);
                    scopes.pop();
                }
                if let Some(all) = &groups.all {
                    let scope =
                        (all.over == AggregateBasis::Groups).then_some(Scope::MeanOfGroups(&groups.key));
                    let depth = scopes.len();
                    scopes.extend(scope);
                    self.add(&all.value, scopes, (Some(&groups.key), None, Some(&all.label)), rows);
                    scopes.truncate(depth);
                }
            }
        }
    }

    fn row(&self, estimate: &'a Estimate, scopes: &[Scope<'a>], labels: GroupLabels<'a>) -> EstimateRow<'a> {
        let (group_key, group, label) = labels;
        EstimateRow {
            score: self.score,
            of: self.result,
            position: self.position,
            scorer: &self.result.scorer,
            reducer: self.result.reducer.as_deref(),
            unreduced: self.result.unreduced,
            field: self.field,
            metric: &self.metric.metric,
            role: self.metric.role,
            scopes: scopes.to_vec(),
            group_key,
            group,
            label,
            key: None,
            index: None,
            estimate: Cow::Borrowed(estimate),
            source: estimate,
            error_metric: None,
            interval_metric: None,
            result: self.metric,
        }
    }
}

impl EstimateRow<'_> {
    /// Whether it is the mean of all scores as they are, each epoch counting the same: its expectation is that of one epoch.
    pub fn is_plain_mean(&self) -> bool {
        self.result.is_plain_mean && self.of.keeps_expectation
    }

    /// Whether it is the mean of groups, whose error is not the mean of their errors.
    pub fn is_mean_of_groups(&self) -> bool {
        self.scopes.iter().any(|scope| matches!(scope, Scope::MeanOfGroups(_)))
    }

    /// Whether another row is about the same numbers.
    fn is_about_the_same(&self, other: &EstimateRow<'_>) -> bool {
        self.result.subject.is_some()
            && self.result.subject == other.result.subject
            && self.scopes == other.scopes
            && !self.is_mean_of_groups()
    }
}

/// Puts errors and intervals into the rows that they belong to.
fn fold<'a>(leaves: Vec<EstimateRow<'a>>, result: &ScoreResult, errors: &ErrorPlan) -> Vec<EstimateRow<'a>> {
    // Metrics of errors and intervals take unreduced epochs as independent scores, unless they have a cluster key.
    let has_epochs = result.unreduced && result.counts.epochs > 1;
    let numbered = leaves.into_iter().enumerate();
    let (mut parts, mut rows): (Vec<_>, Vec<_>) = numbered.partition(|(_, row)| is_part(row));
    let mut by_scope: HashMap<Vec<Scope<'a>>, Vec<usize>> = HashMap::new();
    for (at, (_, row)) in rows.iter().enumerate().filter(|(_, (_, row))| row.role == Role::Location) {
        by_scope.entry(row.scopes.clone()).or_default().push(at);
    }
    parts.retain_mut(|(_, part)| {
        let mut is_folded = false;
        for at in by_scope.get(&part.scopes).into_iter().flatten() {
            let row = rows.get_mut(*at).map(|(_, row)| row).filter(|row| row.is_about_the_same(part));
            let Some(row) = row else { continue };
            let of_sequence = |interval: &Interval| interval.method == IntervalMethod::Betting;
            let is_of_epochs = has_epochs && part.result.cluster.is_none();
            is_folded |= match part.role {
                // A sequence has no standard error, and no other interval allows for the early stop.
                _ if row.estimate.interval.as_ref().is_ok_and(of_sequence) => is_bare(part),
                Role::ErrorOf if errors.sets_error() || is_of_epochs => is_bare(part),
                Role::ErrorOf => put_error(row, part),
                _ if errors.sets_interval() || is_of_epochs => is_bare(part),
                _ => put_interval(row, part),
            };
        }
        !is_folded
    });
    for (_, part) in parts.iter_mut().filter(|(_, part)| has_epochs && part.result.cluster.is_none()) {
        part.estimate.to_mut().notes.add_caution("takes epochs as independent");
    }
    // An error by itself is a figure without its own error.
    for (_, part) in parts.iter_mut().filter(|(_, part)| part.role == Role::ErrorOf) {
        let n = part.estimate.n;
        let estimate = part.estimate.to_mut();
        estimate.error = match &estimate.error {
            Ok(error) if error.degenerate => Err(Undefined::NoSpread { n }),
            _ => Err(Undefined::NotAvailable),
        };
    }
    rows.extend(parts);
    rows.sort_by_key(|(at, _)| *at);
    rows.into_iter().map(|(_, row)| row).collect()
}

fn is_part(row: &EstimateRow<'_>) -> bool {
    matches!(row.role, Role::ErrorOf | Role::IntervalOf) && row.key.is_none() && row.index.is_none()
}

/// Whether a metric only requests an error or interval and does not define how it is computed: the plan does.
fn is_bare(part: &EstimateRow<'_>) -> bool {
    let inner = &part.result.inner;
    inner.args.is_empty() && inner.kwargs.is_empty()
}

fn put_error<'a>(row: &mut EstimateRow<'a>, part: &EstimateRow<'a>) -> bool {
    if let Some(known) = row.error_metric {
        // The same error once more, such as that of all samples beside errors by group, adds no information.
        return known.inner == part.result.inner;
    }
    // An error that is undefined for a special reason carries no information.
    if matches!(part.estimate.error, Err(Undefined::Other(_))) && row.estimate.error.is_ok() {
        return true;
    }
    row.error_metric = Some(part.result);
    let estimate = row.estimate.to_mut();
    // The design effect is that of the error that is shown.
    let of_errors = part.estimate.stderr().zip(estimate.stderr().filter(|se| *se > 0.0));
    let factor = of_errors.map(|(shown, planned)| (shown / planned) * (shown / planned));
    estimate.notes.design_effect =
        estimate.notes.design_effect.zip(factor).map(|(effect, factor)| effect * factor);
    estimate.error = part.estimate.error.clone();
    estimate.draws = part.estimate.draws.or(estimate.draws);
    true
}

fn put_interval<'a>(row: &mut EstimateRow<'a>, part: &EstimateRow<'a>) -> bool {
    if let Some(known) = row.interval_metric {
        return known.inner == part.result.inner;
    }
    // One without width, or none at all, has no information: the plan's is what this number of scores supports.
    if !part.estimate.interval.as_ref().is_ok_and(|interval| interval.lower < interval.upper) {
        return true;
    }
    row.interval_metric = Some(part.result);
    let estimate = row.estimate.to_mut();
    let was_drawn = estimate.interval.as_ref().is_ok_and(|interval| interval.method.is_drawn());
    estimate.interval = part.estimate.interval.clone();
    // Draws of an interval that is not shown do not matter, nor does why it was chosen.
    let has_drawn_error = estimate.error.as_ref().is_ok_and(|error| error.method.is_drawn());
    let drawn = estimate.draws.filter(|_| !was_drawn || has_drawn_error || row.error_metric.is_some());
    estimate.draws = part.estimate.draws.or(drawn);
    (estimate.notes.reason, estimate.notes.is_caution) = (None, false);
    estimate.notes.effective_n = part.estimate.notes.effective_n;
    true
}
