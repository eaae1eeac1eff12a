//! Which figures a page has: the same figure of all runs side by side, over all samples and by group.

use errorbar_core::{Direction, Estimate, EstimateRow, IndexMap, Role, Scope};

use super::PageRun;
use crate::notes::{self, CommonMethods};
use crate::rows;

/// What makes the figures of several runs the same figure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FigureKey {
    pub(super) scorer: String,
    reducer: Option<String>,
    unreduced: bool,
    field: Option<String>,
    pub(super) metric: String,
    /// The metric with its arguments.
    spec: String,
    /// The part of a metric that gives several numbers.
    part: Option<String>,
    /// The arguments of the metric, as people read them.
    arguments: Vec<String>,
}

impl FigureKey {
    fn of(row: &EstimateRow<'_>) -> Self {
        FigureKey {
            scorer: row.scorer.to_owned(),
            reducer: row.reducer.map(str::to_owned),
            unreduced: row.unreduced,
            field: row.field.map(str::to_owned),
            metric: row.metric.to_owned(),
            spec: row.result.inner.to_string(),
            part: row.key.map(str::to_owned).or_else(|| row.index.map(|index| index.to_string())),
            arguments: notes::arguments(row),
        }
    }

    /// The scorer, with the key of map-valued scores: whose samples may be absent.
    pub(super) fn scores(&self) -> String {
        let field = self.field.as_ref().map(|field| format!(", {field}")).unwrap_or_default();
        format!("{}{field}", self.scorer)
    }

    /// `accuracy`, `recall: yes`, `accuracy of f1`.
    pub(super) fn title(&self) -> String {
        let of = self.field.as_ref().map(|field| format!(" of {field}")).unwrap_or_default();
        let part = self.part.as_ref().map(|part| format!(": {part}")).unwrap_or_default();
        format!("{}{of}{part}", self.metric)
    }

    /// The arguments of the metric, as people read them.
    pub(super) fn arguments(&self) -> impl Iterator<Item = String> {
        self.arguments.iter().cloned()
    }

    /// Where it comes from: the scorer, and how epochs are reduced.
    pub(super) fn source(&self) -> String {
        let reducer = self.reducer.as_ref().map(|reducer| format!(", {reducer}"));
        let every = self.unreduced.then(|| ", every epoch".to_owned());
        format!("{}{}", self.scorer, reducer.or(every).unwrap_or_default())
    }

    /// Whether a comparison is of this figure.
    pub(super) fn is_compared_by(&self, c: &errorbar_inference::Comparison) -> bool {
        let is_metric = c.metric == self.metric || c.metric == self.spec;
        is_metric && c.scorer == self.scorer && c.reducer == self.reducer && c.field == self.field
    }

    /// Whether these are the scores that it is of.
    pub(super) fn is_of(&self, name: &errorbar_core::ScoreName) -> bool {
        let is_reducer = name.reducer.is_none() || name.reducer == self.reducer;
        name.scorer == self.scorer && name.field == self.field && is_reducer
    }

    /// Whether a ranking is of this figure.
    pub(super) fn is_ranked_by(&self, ranking: &errorbar_inference::Ranking) -> bool {
        let is_metric = ranking.metric == self.metric || ranking.metric == self.spec;
        is_metric
            && ranking.scorer == self.scorer
            && ranking.reducer == self.reducer
            && ranking.field == self.field
    }
}

/// A figure of one run, with what is to be known about it.
#[derive(Clone, Debug)]
pub(super) struct FigureCell {
    pub(super) estimate: Estimate,
    pub(super) notes: Vec<String>,
    /// Whether it is meant to have an error.
    pub(super) is_estimate: bool,
    /// Why it has none, where one is expected.
    pub(super) no_error: Option<String>,
}

/// One figure of all runs of a task.
#[derive(Clone, Debug)]
pub(super) struct Figure {
    pub(super) key: FigureKey,
    pub(super) role: Role,
    /// By run.
    pub(super) cells: Vec<Option<FigureCell>>,
}

impl Figure {
    /// Whether it is drawn. The error of another figure is a number: a mark on the scale of that figure would be nowhere.
    pub(super) fn is_drawn(&self) -> bool {
        self.role != Role::ErrorOf
    }
}

/// A figure by the groups of a metadata key.
#[derive(Clone, Debug)]
pub(super) struct Grouping {
    /// The metadata key, or several with ` / ` between them.
    pub(super) by: String,
    pub(super) key: FigureKey,
    pub(super) role: Role,
    /// Over all groups, if the metric has that.
    pub(super) all: Option<GroupFigure>,
    /// Those that are shown: the first ones.
    pub(super) groups: Vec<GroupFigure>,
    /// All names of groups, with their positions.
    names: IndexMap<String, ()>,
}

impl Grouping {
    /// The number of groups, of which the first are shown.
    pub(super) fn count(&self) -> usize {
        self.names.len()
    }
}

/// One group, by run.
#[derive(Clone, Debug)]
pub(super) struct GroupFigure {
    pub(super) name: String,
    pub(super) cells: Vec<Option<FigureCell>>,
    /// Whether it is a mean of the groups' figures.
    pub(super) is_mean: bool,
}

impl GroupFigure {
    /// The mean over runs, for the order of groups.
    pub(super) fn mean(&self) -> Option<f64> {
        let numbers: Vec<f64> = self.numbers().collect();
        (!numbers.is_empty()).then(|| numbers.iter().sum::<f64>() / numbers.len() as f64)
    }

    /// The distance between the highest and the lowest run.
    pub(super) fn gap(&self) -> f64 {
        let most = self.numbers().fold(f64::NEG_INFINITY, f64::max);
        let least = self.numbers().fold(f64::INFINITY, f64::min);
        if most >= least { most - least } else { 0.0 }
    }

    fn numbers(&self) -> impl Iterator<Item = f64> {
        self.cells.iter().flatten().filter_map(|cell| cell.estimate.number()).filter(|n| n.is_finite())
    }

    /// The estimates that there are.
    pub(super) fn estimates(&self) -> impl Iterator<Item = &Estimate> {
        self.cells.iter().flatten().map(|cell| &cell.estimate)
    }
}

/// All figures of the runs of one task.
#[derive(Clone, Debug, Default)]
pub(super) struct Figures {
    pub(super) headline: Option<Figure>,
    /// The others over all samples.
    pub(super) others: Vec<Figure>,
    pub(super) groupings: Vec<Grouping>,
    /// The most groups of a key that are shown.
    most_groups: usize,
    /// By which keys a run has no figures, and why.
    pub(super) failed_groups: Vec<(usize, String, String)>,
}

impl Figures {
    /// The absent samples of every scorer, by run: those of the figure that lacks the most, that of the headline first.
    /// Scorers without absent samples are left out.
    pub(super) fn absences(&self) -> IndexMap<String, Vec<u64>> {
        let mut found: IndexMap<String, Vec<u64>> = IndexMap::new();
        for figure in self.headline.iter().chain(&self.others) {
            let of_scorer = found.entry(figure.key.scores()).or_insert_with(|| vec![0; figure.cells.len()]);
            for (most, cell) in of_scorer.iter_mut().zip(&figure.cells) {
                *most = (*most).max(cell.as_ref().map_or(0, |cell| cell.estimate.absent));
            }
        }
        found.retain(|_, absent| absent.iter().any(|absent| *absent > 0));
        found
    }

    /// Whether there are figures of several scorers, or of several keys of map-valued scores.
    pub(super) fn has_several_scorers(&self) -> bool {
        let all = || self.headline.iter().chain(&self.others).map(|figure| figure.key.scores());
        all().any(|scores| all().next().as_ref() != Some(&scores))
    }

    /// The figures of the runs. Those of groups are in the results if a metric is by group; for these keys, and others
    /// that the plan names, they are computed by the same plan.
    /// There are at most `group_cells` figures of a key, over all runs.
    pub(super) fn of(runs: &[&PageRun<'_>], groups: &[String], group_cells: usize) -> Self {
        let most_groups = (group_cells / runs.len().max(1)).max(1);
        let mut figures = Figures { most_groups, ..Figures::default() };
        let wanted_row = runs.iter().find_map(|run| run.report.results.headline_row().ok());
        let wanted = wanted_row.as_ref().map(FigureKey::of);
        for (at, run) in runs.iter().enumerate() {
            figures.add(at, run, runs.len());
        }
        if let Some(position) = figures.others.iter().position(|figure| Some(&figure.key) == wanted.as_ref())
        {
            figures.headline = Some(figures.others.remove(position));
        } else {
            figures.headline = wanted_row.as_ref().and_then(|row| figures.of_groups(row));
        }
        if let Some(key) = figures.headline.as_ref().map(|figure| figure.key.clone()) {
            figures.add_groups(runs, groups, &key);
            // The headline by group comes first.
            figures.groupings.sort_by_key(|grouping| grouping.key != key);
        }
        figures.groupings.retain(|grouping| !grouping.groups.is_empty());
        figures
    }

    /// The headline of runs whose metrics are all by group: what is over all groups, or the group that the plan names.
    fn of_groups(&self, row: &EstimateRow<'_>) -> Option<Figure> {
        let (mut key, by) = (FigureKey::of(row), rows::keys(row).join(" / "));
        let grouping = self.groupings.iter().find(|known| known.by == by && known.key == key)?;
        let name = rows::groups(row).join(" / ");
        let group = match row.group {
            None => grouping.all.as_ref()?,
            Some(_) => grouping.groups.iter().find(|group| group.name == name)?,
        };
        if row.group.is_some() {
            key.part = Some(name);
        }
        Some(Figure { key, role: row.role, cells: group.cells.clone() })
    }

    fn add(&mut self, at: usize, run: &PageRun<'_>, count: usize) {
        let results = &run.report.results;
        let rows = results.rows();
        let common = |is_group: bool| {
            let of_kind = || rows.iter().filter(move |row| row.group_key.is_some() == is_group);
            // Twice, because what a row has alone would be repeated beside it, though the facts of the page have it.
            let twice = of_kind().chain(of_kind());
            CommonMethods::of_rows(twice.map(|row| (row, notes::keys_of(results, row))))
        };
        let (of_all, of_groups) = (common(false), common(true));
        for row in &rows {
            let common = if row.group_key.is_some() { &of_groups } else { &of_all };
            let cell = cell(row, notes::keys_of(results, row), common);
            let key = FigureKey::of(row);
            let cells = match row.group_key {
                None if row.scopes.is_empty() => {
                    let found =
                        self.others.iter().position(|figure| figure.key == key).unwrap_or_else(|| {
                            self.others.push(Figure { key, role: row.role, cells: vec![None; count] });
                            self.others.len() - 1
                        });
                    self.others.get_mut(found).map(|figure| &mut figure.cells)
                }
                _ => self.group_cells(row, key, count),
            };
            if let Some(slot) = cells.and_then(|cells| cells.get_mut(at)) {
                *slot = Some(cell);
            }
        }
    }

    /// The cells of the group that a row is of.
    fn group_cells(
        &mut self,
        row: &EstimateRow<'_>,
        key: FigureKey,
        count: usize,
    ) -> Option<&mut Vec<Option<FigureCell>>> {
        let by = rows::keys(row).join(" / ");
        let found = self.groupings.iter().position(|known| known.by == by && known.key == key);
        let found = found.unwrap_or_else(|| {
            let (groups, names) = (Vec::new(), IndexMap::new());
            self.groupings.push(Grouping { by, key, role: row.role, all: None, groups, names });
            self.groupings.len() - 1
        });
        let grouping = self.groupings.get_mut(found)?;
        let is_mean = matches!(row.scopes.last(), Some(Scope::MeanOfGroups(_)));
        let name = rows::groups(row).join(" / ");
        if row.group.is_none() && name.is_empty() {
            let name = row.label.unwrap_or("all").to_owned();
            let empty = || GroupFigure { name, cells: vec![None; count], is_mean };
            return Some(&mut grouping.all.get_or_insert_with(empty).cells);
        }
        let name = if row.group.is_none() { format!("{name} / all") } else { name };
        let (found, known) = grouping.names.insert_full(name.clone(), ());
        if known.is_none() && found < self.most_groups {
            grouping.groups.push(GroupFigure { name, cells: vec![None; count], is_mean });
        }
        grouping.groups.get_mut(found).map(|group| &mut group.cells)
    }

    /// The headline by these metadata keys, and by those that its errors are clustered by, where no metric is by them:
    /// the same figures that `grouped` of the headline has.
    fn add_groups(&mut self, runs: &[&PageRun<'_>], groups: &[String], headline: &FigureKey) {
        /// More clusters than this are not shown one by one.
        const MOST_GROUPS: usize = 240;
        let mut keys: Vec<String> = Vec::new();
        let clusters =
            runs.iter().flat_map(|run| run.report.results.scores.iter().flat_map(|score| &score.cluster));
        for key in groups.iter().chain(clusters) {
            // A metric by this key is enough, whatever its arguments are.
            let is_there = |known: &Grouping| {
                known.by == *key && known.key.metric == headline.metric && known.key.scorer == headline.scorer
            };
            if !keys.contains(key) && !self.groupings.iter().any(is_there) {
                keys.push(key.clone());
            }
        }
        for key in &keys {
            let before = self.groupings.len();
            for (at, run) in runs.iter().enumerate() {
                let samples = run.columns.first_rows().len();
                let distinct = run.columns.distinct_values(key);
                let is_wanted = groups.contains(key);
                if !is_wanted && (!(2..=MOST_GROUPS).contains(&distinct) || 2 * distinct > samples) {
                    continue;
                }
                let plan = run
                    .plan
                    .with_groups(run.columns, key, |metric| metric.spec().to_string() == headline.spec);
                let results = match plan.evaluate(run.columns) {
                    Ok(evaluation) => evaluation.results,
                    Err(error) => {
                        self.failed_groups.push((at, key.clone(), error.to_string()));
                        continue;
                    }
                };
                let known = &run.report.results;
                let is_new = |metric: &str| {
                    !known.scores.iter().any(|s| s.failures.iter().any(|f| f.metric == metric))
                };
                let failures = results.scores.iter().filter(|score| score.scorer == headline.scorer);
                let failures =
                    failures.flat_map(|score| &score.failures).filter(|failure| is_new(&failure.metric));
                self.failed_groups.extend(failures.map(|f| (at, key.clone(), f.error.to_string())));
                let rows = results.rows();
                let of_groups = || {
                    rows.iter().filter(|row| row.group_key == Some(key) && FigureKey::of(row) == *headline)
                };
                let common = CommonMethods::of_rows(
                    of_groups().chain(of_groups()).map(|row| (row, notes::keys_of(&results, row))),
                );
                for row in of_groups() {
                    let cell = cell(row, notes::keys_of(&results, row), &common);
                    let cells = self.group_cells(row, headline.clone(), runs.len());
                    if let Some(slot) = cells.and_then(|cells| cells.get_mut(at)) {
                        *slot = Some(cell);
                    }
                }
            }
            // Groups that are the clusters themselves have no error: there is one cluster in each.
            let has_error = |cell: &FigureCell| cell.estimate.error.is_ok() || cell.estimate.interval.is_ok();
            let is_shown = |grouping: &Grouping| {
                groups.contains(key)
                    || grouping.groups.iter().flat_map(|group| &group.cells).flatten().any(has_error)
            };
            let added = self.groupings.split_off(before);
            self.groupings.extend(added.into_iter().filter(is_shown));
        }
    }
}

/// A figure with its notes.
fn cell(row: &EstimateRow<'_>, keys: &[String], common: &CommonMethods) -> FigureCell {
    let mut all = Vec::new();
    all.extend(notes::few(row, true));
    all.extend(notes::methods(row, keys, common));
    all.extend(notes::bounds(&row.estimate));
    all.extend(notes::remarks(&row.estimate));
    // An interval metric is an interval, and asks for no error.
    let is_estimate = notes::is_estimate(row) && row.role != Role::IntervalOf;
    let no_error = notes::no_error(&row.estimate).filter(|_| is_estimate);
    FigureCell { estimate: row.estimate.as_ref().clone(), notes: all, is_estimate, no_error }
}

/// The runs in the order of a figure, the best first; as they are if neither way is better.
pub(super) fn order(figure: &Figure, direction: Direction) -> Vec<usize> {
    let sign = match direction {
        Direction::Higher => 1.0,
        Direction::Lower => -1.0,
        _ => 0.0,
    };
    let merit = |at: &usize| {
        let number = figure.cells.get(*at).and_then(|cell| cell.as_ref()?.estimate.number());
        number.map_or(f64::NEG_INFINITY, |number| sign * number)
    };
    let mut order: Vec<usize> = (0..figure.cells.len()).collect();
    order.sort_by(|a, b| merit(b).total_cmp(&merit(a)));
    order
}
