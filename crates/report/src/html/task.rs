//! The runs of one task: their figures, and what their differences support.

use errorbar_core::{Direction, Estimate, EstimateRow, IndexMap, Results, Role, Scope, ScoreColumns};
use errorbar_inference::{
    ComparedScores, Comparison, ComparisonOptions, ComparisonReport, ComparisonWarning, Correction, Ranking,
    compare,
};
use maud::{Markup, html};

use super::{Page, PageRun};
use crate::figure::ChanceLevel;
use crate::notes::{self, CommonMethods};
use crate::svg::{Series, breakable, name_length};
use crate::table;

/// The most runs of which every pair is tested without being asked for: 435 pairs.
pub const MOST_PAIRED: usize = 30;
/// The most groups that runs are compared within.
const MOST_GROUPS: usize = 12;

/// The runs of one task.
pub(super) struct Task<'p> {
    /// The task, where it is known.
    pub(super) name: Option<String>,
    /// The runs, with their positions among all runs of the page.
    pub(super) runs: Vec<(&'p PageRun<'p>, Series)>,
    pub(super) figures: Figures,
    pub(super) comparison: Option<TaskComparison>,
    /// The level of guessing of the headline, if it is known.
    pub(super) chance: Option<ChanceLevel>,
    /// Why the runs are not compared, if they could not be.
    pub(super) not_compared: Option<String>,
    /// Whether the page has other tasks too.
    pub(super) is_one_of_several: bool,
}

/// What the differences of the runs of a task support, for the headline.
pub(super) struct TaskComparison {
    /// All pairs, or all others with the first run if there are many; corrected by Holm among themselves.
    pub(super) pairs: ComparisonReport,
    /// The order of three or more runs.
    pub(super) ranking: Option<Ranking>,
    /// The same within the groups of a metadata key: the key, and for each group its comparisons and its ranking.
    pub(super) groups: Vec<GroupComparison>,
}

impl TaskComparison {
    /// Whether runs have samples without a partner.
    pub(super) fn is_unmatched(&self) -> bool {
        self.pairs.warnings.iter().any(|warning| matches!(warning, ComparisonWarning::Unmatched { .. }))
    }
}

/// Comparisons within one group, corrected among themselves.
pub(super) struct GroupComparison {
    pub(super) by: String,
    pub(super) group: String,
    pub(super) pairs: ComparisonReport,
    pub(super) ranking: Option<Ranking>,
}

impl<'p> Task<'p> {
    /// A task of a page. At most `group_cells` figures by the groups of a key are shown, over all runs.
    pub(super) fn new(
        name: Option<String>,
        runs: Vec<(&'p PageRun<'p>, Series)>,
        page: &Page<'_>,
        group_cells: usize,
    ) -> Self {
        let of_runs: Vec<&PageRun<'_>> = runs.iter().map(|(run, _)| *run).collect();
        let figures = Figures::of(&of_runs, &page.groups, group_cells);
        let (comparison, not_compared) = match &page.not_compared {
            _ if runs.len() < 2 => (None, None),
            Some(reason) => (None, Some(reason.clone())),
            None => match compared(&of_runs, &figures, page.all_pairs) {
                Ok(comparison) => (comparison, None),
                Err(error) => (None, Some(error.to_string())),
            },
        };
        let chance = chance(&of_runs, &figures);
        Task { name, runs, figures, comparison, chance, not_compared, is_one_of_several: false }
    }

    /// What it is called where there are others.
    pub(super) fn title(&self) -> &str {
        self.name.as_deref().unwrap_or("other runs")
    }

    /// `, in the task x`, where the page has several: names of regions are unique.
    pub(super) fn in_words(&self) -> String {
        let name = self.name.as_deref().filter(|_| self.is_one_of_several);
        name.map(|name| format!(", in {name}")).unwrap_or_default()
    }

    /// Which way the headline is better, if that is known.
    pub(super) fn direction(&self) -> Direction {
        let first = self.comparison.as_ref().and_then(|comparison| comparison.pairs.comparisons.first());
        first.map_or(Direction::Higher, |comparison| comparison.direction)
    }

    /// The runs in the order of the headline, the best first.
    pub(super) fn order(&self) -> Vec<usize> {
        let sign = match self.direction() {
            Direction::Higher => 1.0,
            Direction::Lower => -1.0,
            _ => 0.0,
        };
        let merit = |cell: &Option<FigureCell>| Some(sign * cell.as_ref()?.estimate.number()?);
        match &self.figures.headline {
            Some(figure) if self.comparison.is_some() => {
                notes::best_first(figure.cells.iter().map(merit), false)
            }
            _ => (0..self.runs.len()).collect(),
        }
    }

    /// The series of the run of this name.
    pub(super) fn series(&self, name: &str) -> Series {
        let found = self.runs.iter().find(|(run, _)| run.name == name);
        found.map_or(Series::NEUTRAL, |(_, series)| *series)
    }

    /// The headline of each run that has one.
    pub(super) fn headline_cells(&self) -> impl Iterator<Item = &FigureCell> {
        self.figures.headline.iter().flat_map(|figure| figure.cells.iter().flatten())
    }

    /// All figures over all samples.
    pub(super) fn cells(&self) -> impl Iterator<Item = &FigureCell> {
        self.headline_cells()
            .chain(self.figures.others.iter().flat_map(|figure| figure.cells.iter().flatten()))
    }

    /// The figures of all groups.
    pub(super) fn group_cells(&self) -> impl Iterator<Item = &FigureCell> {
        let groups = self.figures.groupings.iter().flat_map(|grouping| &grouping.groups);
        groups.flat_map(|group| group.cells.iter().flatten())
    }

    /// The name of a run with its mark.
    pub(super) fn name_of(&self, at: usize) -> Markup {
        self.runs.get(at).map(|(run, series)| run_name(&run.name, *series)).unwrap_or_default()
    }
}

/// The level of guessing of the headline, if it is that of all runs.
fn chance(runs: &[&PageRun<'_>], figures: &Figures) -> Option<ChanceLevel> {
    let headline = figures.headline.as_ref()?;
    let row = runs.iter().find_map(|run| run.report.results.headline_row().ok())?;
    if row.group.is_some() || !ChanceLevel::is_of(&row) {
        return None;
    }
    let level = ChanceLevel::common(runs.iter().map(|run| run.facts.chance))?;
    // The mean of groups has another weight for each sample.
    let is_mean = |grouping: &Grouping| {
        grouping.key == headline.key && grouping.all.as_ref().is_some_and(|all| all.is_mean)
    };
    if figures.groupings.iter().any(is_mean) { level.of_part() } else { Some(level) }
}

/// The name of a run with its mark.
pub(super) fn run_name(name: &str, series: Series) -> Markup {
    // A long name may be cut where there is no room for it; the pointer shows the whole.
    let title = (name.chars().count() > 9).then_some(name);
    html! {
        span class={ "name " (series.class) (name_length(name)) } title=[title] {
            (series.dot()) span.any { (breakable(name)) }
        }
    }
}

fn compared(
    runs: &[&PageRun<'_>],
    figures: &Figures,
    all_pairs: bool,
) -> errorbar_inference::Result<Option<TaskComparison>> {
    let Some(headline) = &figures.headline else { return Ok(None) };
    let mut options = ComparisonOptions::default();
    options.all_pairs = all_pairs || runs.len() <= MOST_PAIRED;
    options.correction = Some(Correction::Holm);
    // A run without scores does not keep the others from being compared.
    let runs: Vec<&PageRun<'_>> =
        runs.iter().copied().filter(|run| !run.report.recorded && run.columns.has_scores()).collect();
    if runs.len() < 2 {
        return Ok(None);
    }
    let columns = runs.iter().map(|run| run.columns);
    let (pairs, ranking) = compare_headlines(&runs, columns, &options, &headline.key)?;
    if pairs.comparisons.is_empty() {
        return Ok(None);
    }
    let is_small =
        |grouping: &&Grouping| grouping.key == headline.key && (2..=MOST_GROUPS).contains(&grouping.count());
    let groupings = figures.groupings.iter().filter(is_small);
    let groups = groupings.flat_map(|grouping| within_groups(&runs, grouping, &options)).collect();
    Ok(Some(TaskComparison { pairs, ranking, groups }))
}

/// Compares these scores of runs: the pairs of the headline over all samples, and their ranking.
fn compare_headlines<'c>(
    runs: &[&PageRun<'_>],
    columns: impl IntoIterator<Item = &'c ScoreColumns>,
    options: &ComparisonOptions,
    key: &FigureKey,
) -> errorbar_inference::Result<(ComparisonReport, Option<Ranking>)> {
    let scores = runs.iter().zip(columns);
    let scores: Vec<ComparedScores<'_>> =
        scores.map(|(run, columns)| ComparedScores::new(&run.name, columns, run.plan)).collect();
    let is_whole = |c: &Comparison| c.group_key.is_none() && c.group.is_none();
    let pairs = compare(&scores, options)?
        .only(|c| is_whole(c) && key.is_of_metric(&c.scorer, &c.reducer, &c.field, &c.metric));
    let is_of = |r: &&Ranking| key.is_of_metric(&r.scorer, &r.reducer, &r.field, &r.metric);
    let ranking = pairs.rankings.iter().find(is_of).cloned();
    Ok((pairs, ranking))
}

/// The comparisons within each group of a metadata key, those of a group corrected among themselves.
fn within_groups(
    runs: &[&PageRun<'_>],
    Grouping { by, key, .. }: &Grouping,
    options: &ComparisonOptions,
) -> Vec<GroupComparison> {
    let parts: Vec<_> = runs.iter().map(|run| run.columns.split_by(by)).collect();
    let Some(first) = parts.first() else { return Vec::new() };
    let of_group = |group: &String| {
        let columns = parts.iter().map(|parts| parts.get(group)).collect::<Option<Vec<_>>>()?;
        // A group with too few pairs has no comparison, and the others stand.
        let (pairs, ranking) = compare_headlines(runs, columns, options, key).ok()?;
        Some(GroupComparison { by: by.clone(), group: group.clone(), pairs, ranking })
    };
    first.keys().filter_map(of_group).collect()
}

// Which figures a page has: the same figure of all runs side by side, over all samples and by group.

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
    pub(super) fn is_of_metric(
        &self,
        scorer: &str,
        reducer: &Option<String>,
        field: &Option<String>,
        metric: &str,
    ) -> bool {
        let is_metric = metric == self.metric || metric == self.spec;
        is_metric && scorer == self.scorer && *reducer == self.reducer && *field == self.field
    }

    /// Whether these are the scores that it is of.
    pub(super) fn is_of(&self, name: &errorbar_core::ScoreName) -> bool {
        let is_reducer = name.reducer.is_none() || name.reducer == self.reducer;
        name.scorer == self.scorer && name.field == self.field && is_reducer
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
        notes::mean(self.numbers())
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
        let (mut key, by) = (FigureKey::of(row), table::keys(row).join(" / "));
        let grouping = self.groupings.iter().find(|known| known.by == by && known.key == key)?;
        let name = table::groups(row).join(" / ");
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
        let of_kind = |is_group: bool| rows.iter().filter(move |row| row.group_key.is_some() == is_group);
        let (of_all, of_groups) = (common(results, of_kind(false)), common(results, of_kind(true)));
        for row in &rows {
            let common = if row.group_key.is_some() { &of_groups } else { &of_all };
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
            put(cells, at, FigureCell::of(row, notes::keys_of(results, row), common));
        }
    }

    /// The cells of the group that a row is of.
    fn group_cells(
        &mut self,
        row: &EstimateRow<'_>,
        key: FigureKey,
        count: usize,
    ) -> Option<&mut Vec<Option<FigureCell>>> {
        let by = table::keys(row).join(" / ");
        let found = self.groupings.iter().position(|known| known.by == by && known.key == key);
        let found = found.unwrap_or_else(|| {
            let (groups, names) = (Vec::new(), IndexMap::new());
            self.groupings.push(Grouping { by, key, role: row.role, all: None, groups, names });
            self.groupings.len() - 1
        });
        let grouping = self.groupings.get_mut(found)?;
        let is_mean = matches!(row.scopes.last(), Some(Scope::MeanOfGroups(_)));
        let name = table::groups(row).join(" / ");
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
                let is_of =
                    |row: &&EstimateRow<'_>| row.group_key == Some(key) && FigureKey::of(row) == *headline;
                let of_groups = rows.iter().filter(is_of);
                let common = common(&results, of_groups.clone());
                for row in of_groups {
                    let cells = self.group_cells(row, headline.clone(), runs.len());
                    put(cells, at, FigureCell::of(row, notes::keys_of(&results, row), &common));
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

/// What the figures of a run have in common.
fn common<'a, 'r: 'a>(
    results: &'a Results,
    rows: impl Iterator<Item = &'a EstimateRow<'r>> + Clone,
) -> CommonMethods {
    // Twice, because what a row has alone would be repeated beside it, though the facts of the page have it.
    CommonMethods::of_rows(rows.clone().chain(rows).map(|row| (row, notes::keys_of(results, row))))
}

/// Puts the figure of a run among those of all.
fn put(cells: Option<&mut Vec<Option<FigureCell>>>, at: usize, cell: FigureCell) {
    if let Some(slot) = cells.and_then(|cells| cells.get_mut(at)) {
        *slot = Some(cell);
    }
}

impl FigureCell {
    /// A figure with its notes.
    fn of(row: &EstimateRow<'_>, keys: &[String], common: &CommonMethods) -> Self {
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
}
