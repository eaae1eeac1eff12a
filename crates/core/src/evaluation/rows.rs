//! Estimates as rows, errors and intervals in the rows that they belong to; the row to show first; rows by name.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::str::FromStr;

use indexmap::{IndexMap, IndexSet};

use super::{AggregateBasis, Groups, MetricResult, MetricValue, Results, Role, ScoreResult};
use crate::error::{Error, Result};
use crate::error_plan::{ErrorPlan, IntervalMethod};
use crate::estimate::{Estimate, Interval, Undefined};
use crate::plan::HeadlineRequest;
use crate::spec::{Parser, SpecError, nearest, write_quoted, write_word};

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
fn leaves(score: usize, of: &ScoreResult) -> Vec<EstimateRow<'_>> {
    let mut rows = Vec::new();
    for (position, result) in of.metrics.iter().enumerate() {
        let field = result.subject.as_ref().and_then(|subject| subject.field.as_deref());
        let mut found = Vec::new();
        add_estimates(&result.value, &RowPlace::default(), &mut found);
        rows.extend(found.into_iter().map(|(place, estimate)| EstimateRow {
            score,
            of,
            position,
            scorer: &of.scorer,
            reducer: of.reducer.as_deref(),
            unreduced: of.unreduced,
            field: field.or(of.field.as_deref()),
            metric: &result.metric,
            role: result.role,
            scopes: place.scopes,
            group_key: place.group_key,
            group: place.group,
            label: place.label,
            key: place.key,
            index: place.index,
            estimate: Cow::Borrowed(estimate),
            source: estimate,
            error_metric: None,
            interval_metric: None,
            result,
        }));
    }
    rows
}

/// Which of the estimates of a metric a row is: see the fields of [`EstimateRow`].
#[derive(Clone, Default)]
struct RowPlace<'a> {
    scopes: Vec<Scope<'a>>,
    group_key: Option<&'a str>,
    group: Option<&'a str>,
    label: Option<&'a str>,
    key: Option<&'a str>,
    index: Option<usize>,
}

fn add_estimates<'a>(
    value: &'a MetricValue,
    place: &RowPlace<'a>,
    found: &mut Vec<(RowPlace<'a>, &'a Estimate)>,
) {
    match value {
        MetricValue::One(estimate) => found.push((place.clone(), estimate)),
        MetricValue::Map(map) => found.extend(map.iter().filter_map(|(key, estimate)| {
            Some((RowPlace { key: Some(key), ..place.clone() }, estimate.as_ref()?))
        })),
        MetricValue::List(list) => found.extend((1..).zip(list).filter_map(|(index, estimate)| {
            Some((RowPlace { index: Some(index), ..place.clone() }, estimate.as_ref()?))
        })),
        MetricValue::Groups(Groups { key, groups, all }) => {
            let within = |group: Option<&'a str>, label: &'a str, scope: Option<Scope<'a>>| {
                let scopes = place.scopes.iter().cloned().chain(scope).collect();
                RowPlace { scopes, group_key: Some(key), group, label: Some(label), ..place.clone() }
            };
            for group in groups {
                let scope = Scope::Group(key, &group.name);
                add_estimates(&group.value, &within(Some(&group.name), &group.label, Some(scope)), found);
            }
            if let Some(all) = all {
                let scope = (all.over == AggregateBasis::Groups).then_some(Scope::MeanOfGroups(key));
                add_estimates(&all.value, &within(None, &all.label, scope), found);
            }
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

impl Results {
    /// The estimate to show first: the one that the plan wants, else the first location or share over all samples, else
    /// the one over all groups, else the first of any other kind over all samples, but no error of another figure.
    ///
    /// The metric that the plan wants is looked for under the keys of the log that results were read from, then among the
    /// rows of all samples, the names of groups and aggregates, and the rows of groups.
    ///
    /// # Errors
    /// There is none, for instance because there are groups alone.
    pub fn headline_row(&self) -> Result<EstimateRow<'_>, NoHeadline> {
        let rows = self.rows();
        self.requested_row(&rows).or_else(|| default(&rows)).ok_or_else(|| NoHeadline::of(&rows))
    }

    /// The figure that plots of parts are of: the headline, or what there is by group where nothing is over all samples.
    pub fn main_row(&self) -> Option<EstimateRow<'_>> {
        self.headline_row().ok().or_else(|| {
            let rows = self.rows();
            rows.iter().find(is_main).or(rows.first()).cloned()
        })
    }

    fn requested_row<'a>(&self, rows: &[EstimateRow<'a>]) -> Option<EstimateRow<'a>> {
        let wanted = self.headline.as_ref()?;
        let of_score: Vec<EstimateRow<'a>> =
            rows.iter().filter(|row| is_of_score(wanted, row)).cloned().collect();
        match &wanted.metric {
            Some(metric) => named(metric, &of_score),
            None => default(&of_score),
        }
    }
}

/// Why no figure is shown first.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NoHeadline {
    /// The results have no figures.
    #[error("no figures")]
    NoFigures,
    /// Standard errors of figures that are not there.
    #[error("of errors only, no estimate")]
    OnlyErrors,
    /// Figures of groups alone; these are the metadata keys.
    #[error("by {} only, none over all samples", .0.join(", "))]
    OnlyGroups(Vec<String>),
}

impl NoHeadline {
    fn of(rows: &[EstimateRow<'_>]) -> Self {
        let mut keys: Vec<String> = Vec::new();
        for key in rows.iter().filter_map(|row| row.group_key) {
            if !keys.iter().any(|known| known == key) {
                keys.push(key.to_owned());
            }
        }
        match () {
            () if !keys.is_empty() => NoHeadline::OnlyGroups(keys),
            () if rows.is_empty() => NoHeadline::NoFigures,
            () => NoHeadline::OnlyErrors,
        }
    }

    /// What there is instead, in words; none if there is nothing at all.
    pub fn in_words(&self) -> Option<String> {
        (*self != NoHeadline::NoFigures).then(|| self.to_string())
    }
}

fn default<'a>(rows: &[EstimateRow<'a>]) -> Option<EstimateRow<'a>> {
    // An error by itself says nothing of how good a model is.
    let figures = || rows.iter().filter(|row| row.role != Role::ErrorOf);
    let over_samples = || figures().filter(|row| row.group_key.is_none());
    let aggregates = || figures().filter(|row| is_aggregate(row));
    let whole = over_samples().filter(|row| is_whole(row)).find(is_main);
    whole
        .or_else(|| aggregates().filter(|row| is_whole(row)).find(is_main))
        .or_else(|| over_samples().find(is_main))
        .or_else(|| over_samples().next())
        .or_else(|| aggregates().next())
        .cloned()
}

fn is_main(row: &&EstimateRow<'_>) -> bool {
    matches!(row.role, Role::Location | Role::Share)
}

/// Whether a row is over all groups of a metric by group.
fn is_aggregate(row: &EstimateRow<'_>) -> bool {
    let is_of_group = row.scopes.iter().any(|scope| matches!(scope, Scope::Group(..)));
    row.group_key.is_some() && row.group.is_none() && !is_of_group
}

/// The row that a user named.
fn named<'a>(wanted: &str, rows: &[EstimateRow<'a>]) -> Option<EstimateRow<'a>> {
    let is_metric = |row: &&EstimateRow<'_>| row.metric == wanted || row.result.spec.to_string() == wanted;
    let is_part = |row: &&EstimateRow<'_>| row.key == Some(wanted);
    let of_all = || rows.iter().filter(|row| row.group_key.is_none());
    let of_groups = || rows.iter().filter(|row| row.group_key.is_some());
    let found = rows.iter().find(|row| row.estimate.notes.log_key.as_deref() == Some(wanted));
    let found = found.or_else(|| of_all().filter(is_metric).find(|row| is_whole(row)));
    let found = found.or_else(|| of_all().find(|row| is_metric(row) || is_part(row)));
    let found = found.or_else(|| rows.iter().find(|row| row.label == Some(wanted)));
    let found = found.or_else(|| of_groups().filter(is_metric).find(|row| row.group.is_none()));
    found.or_else(|| of_groups().find(|row| is_metric(row) || is_part(row))).cloned()
}

/// Whether a row is the only number of its metric for its samples, not one of several.
fn is_whole(row: &EstimateRow<'_>) -> bool {
    row.key.is_none() && row.index.is_none()
}

/// Whether a row is of the scorer, the score and the reducer that a user named.
fn is_of_score(wanted: &HeadlineRequest, row: &EstimateRow<'_>) -> bool {
    let fits = |wanted: &Option<String>, found: Option<&str>| {
        wanted.as_ref().is_none_or(|wanted| found == Some(wanted.as_str()))
    };
    fits(&wanted.scorer, Some(row.scorer))
        && fits(&wanted.score, Some(row.of.name()))
        && fits(&wanted.reducer, row.reducer)
}

/// The name of an estimate: of a metric, with its scorer and reducer where several have it, of a group where it is not
/// of all samples.
///
/// Names are `metric`, `scorer/metric` or `scorer/metric/reducer`, with the key of map-valued scores before the metric;
/// also `key/metric` and `metric/reducer`. In brackets stand groups (`[category=law]`), the key of a metric that has
/// several figures (`[C]`), its position from 1 (`[2]`), or the metadata key alone for the mean of its groups
/// (`[category]`).
///
/// ```
/// use errorbar_core::FigurePath;
///
/// let path: FigurePath = "match/accuracy[category=law]".parse()?;
/// assert_eq!(path.to_string(), "match/accuracy[category=law]");
/// # Ok::<(), errorbar_core::spec::SpecError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FigurePath {
    /// At least one.
    pub(crate) names: Vec<String>,
    pub(crate) selectors: Vec<Selector>,
}

/// What stands in brackets: which of the figures of a metric it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Selector {
    pub(crate) key: String,
    /// The group.
    pub(crate) value: Option<String>,
}

impl FigurePath {
    /// The full name of a row.
    pub fn of(row: &EstimateRow<'_>) -> Self {
        let names = [Some(row.scorer), row.field, Some(row.metric), row.reducer];
        let names = names.into_iter().flatten().map(str::to_owned).collect();
        FigurePath { names, selectors: selectors(row) }
    }

    /// The name of a metric over all samples.
    fn of_metric(metric: &str) -> Self {
        FigurePath { names: metric.split('/').map(str::to_owned).collect(), selectors: Vec::new() }
    }

    /// Whether it is no group of a figure, nor one of several figures of a metric.
    pub fn is_over_all_samples(&self) -> bool {
        self.selectors.is_empty()
    }

    /// The parts of the name.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Whether it may be the name of a figure of these.
    pub fn fits(&self, scorer: &str, field: Option<&str>, metric: &str, reducer: Option<&str>) -> bool {
        let joined = self.names.join("/");
        let is_name = |parts: &[Option<&str>]| {
            let parts: Option<Vec<&str>> = parts.iter().copied().collect();
            parts.is_some_and(|parts| parts.join("/") == joined)
        };
        let (scorer, metric) = (Some(scorer), Some(metric));
        let is_full = match field {
            Some(_) => is_name(&[scorer, field, metric]) || is_name(&[scorer, field, metric, reducer]),
            None => is_name(&[scorer, metric]) || is_name(&[scorer, metric, reducer]),
        };
        is_full || is_name(&[metric]) || is_name(&[metric, reducer]) || is_name(&[field, metric])
    }

    fn selects_row(&self, row: &EstimateRow<'_>) -> bool {
        let needed = selectors(row);
        needed.len() == self.selectors.len() && needed.iter().all(|one| self.selectors.contains(one))
    }
}

/// What tells a row from the other rows of its metric.
fn selectors(row: &EstimateRow<'_>) -> Vec<Selector> {
    let selector =
        |key: &str, value: Option<&str>| Selector { key: key.to_owned(), value: value.map(str::to_owned) };
    let scopes = row.scopes.iter().map(|scope| match scope {
        Scope::Group(key, group) => selector(key, Some(group)),
        Scope::MeanOfGroups(key) => selector(key, None),
    });
    let key = row.key.map(|key| selector(key, None));
    let index = row.index.map(|index| selector(&index.to_string(), None));
    scopes.chain(key).chain(index).collect()
}

impl fmt::Display for FigurePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, name) in self.names.iter().enumerate() {
            f.write_str(if at > 0 { "/" } else { "" })?;
            write_word(f, name)?;
        }
        for (at, Selector { key, value }) in self.selectors.iter().enumerate() {
            f.write_str(if at > 0 { ", " } else { "[" })?;
            write_label(f, key)?;
            if let Some(value) = value {
                f.write_str("=")?;
                write_label(f, value)?;
            }
        }
        f.write_str(if self.selectors.is_empty() { "" } else { "]" })
    }
}

/// Writes a key or a group so that it can be read back: as it is, or in quotes.
fn write_label(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    let is_plain = !text.is_empty()
        && text.trim() == text
        && !text.starts_with(['"', '\''])
        && !text.contains(|c: char| matches!(c, '=' | ',' | ']' | '\\') || c.is_control());
    if is_plain { f.write_str(text) } else { write_quoted(f, text, '"') }
}

impl FromStr for FigurePath {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        Parser::whole(text, Parser::figure_path)
    }
}

impl Parser<'_> {
    /// The name of an estimate: metric, scorer/metric, metric[key=group].
    ///
    /// # Errors
    /// Something else comes next.
    pub fn figure_path(&mut self) -> Result<FigurePath, SpecError> {
        let mut names = Vec::new();
        loop {
            // A slash belongs to the name: no blanks around it.
            let is_first = names.is_empty();
            if is_first {
                self.skip_blanks();
            }
            if !self.at_word() {
                return Err(self.expected(if is_first {
                    "the name of a metric"
                } else {
                    "a name after '/'"
                }));
            }
            names.push(self.word()?.text);
            if !self.rest().starts_with('/') {
                break;
            }
            self.advance(1);
        }
        let mut selectors = Vec::new();
        if self.eat('[') {
            self.items(']', "a group", |parser| {
                selectors.push(parser.selector()?);
                Ok(())
            })?;
        }
        Ok(FigurePath { names, selectors })
    }

    fn selector(&mut self) -> Result<Selector, SpecError> {
        let key = self.label("a metadata key")?;
        if !self.eat('=') {
            return Ok(Selector { key, value: None });
        }
        // As in other languages; a group whose name starts with it needs quotes.
        if self.rest().starts_with('=') {
            self.advance(1);
        }
        Ok(Selector { key, value: Some(self.label("a group after '='")?) })
    }

    /// A string, or everything up to the next delimiter.
    fn label(&mut self, wanted: &str) -> Result<String, SpecError> {
        self.skip_blanks();
        if matches!(self.next_char(), Some('"' | '\'')) {
            return self.string();
        }
        let rest = self.rest();
        let end = rest.find(['=', ',', ']']).unwrap_or(rest.len());
        let label = rest.get(..end).unwrap_or_default().trim_end();
        if label.is_empty() {
            return Err(self.expected(wanted));
        }
        self.advance(end);
        Ok(label.to_owned())
    }
}

/// How many names an error lists.
const LISTED: usize = 20;

impl Results {
    /// The estimate of a metric over all samples. If several scorers or reducers have it, `scorer/metric` or
    /// `scorer/metric/reducer` names one of them.
    ///
    /// # Errors
    /// [`Error::UnknownMetric`], or [`Error::AmbiguousMetric`] if there are several.
    pub fn estimate(&self, metric: &str) -> Result<Estimate> {
        self.find(&FigurePath::of_metric(metric))
    }

    /// The estimate of this name.
    ///
    /// # Errors
    /// [`Error::UnknownMetric`], or [`Error::AmbiguousMetric`] if there are several.
    pub fn find(&self, path: &FigurePath) -> Result<Estimate> {
        let rows = self.rows();
        let is_named = |row: &&EstimateRow<'_>| path.fits(row.scorer, row.field, row.metric, row.reducer);
        let named: Vec<&EstimateRow<'_>> = rows.iter().filter(is_named).collect();
        let mut found: IndexMap<(usize, Option<&str>), &EstimateRow<'_>> = IndexMap::new();
        for row in named.iter().filter(|row| path.selects_row(row)) {
            let first = found.entry((row.score, row.field)).or_insert(row);
            // The metric itself, rather than the aggregate beside groups.
            if first.group_key.is_some() && row.group_key.is_none() && row.scopes.is_empty() {
                *first = row;
            }
        }
        match found.into_values().collect::<Vec<_>>().as_slice() {
            [row] => Ok(row.estimate.clone().into_owned()),
            [] => {
                let figures: IndexSet<String> = match named.as_slice() {
                    [] if path.names.len() < 2 => rows.iter().map(|row| row.metric.to_owned()).collect(),
                    [] => rows.iter().map(|row| FigurePath::of(row).to_string()).collect(),
                    named => named.iter().map(|row| FigurePath::of(row).to_string()).collect(),
                };
                Err(unknown(path, figures))
            }
            several => {
                let candidates = several.iter().map(|row| FigurePath::of(row).to_string()).collect();
                Err(Error::AmbiguousMetric { metric: path.to_string(), candidates })
            }
        }
    }
}

/// There is no estimate of this name, and these are there.
pub fn unknown(path: &FigurePath, known: IndexSet<String>) -> Error {
    let metric = path.to_string();
    let near = nearest(&metric, known.iter().map(String::as_str)).map(str::to_owned);
    let hidden = known.len().saturating_sub(LISTED);
    let mut known: Vec<String> = known.into_iter().take(LISTED).collect();
    known.extend((hidden > 0).then(|| format!("and {hidden} more")));
    Error::UnknownMetric { metric, nearest: near, known }
}
