//! The estimates over all samples: the headline in a large table, the others below.

use errorbar_core::{Estimate, IndexMap, Role};
use maud::{Markup, html};

use super::cells::{Attributes, NumberColumn, axis_head, counted, drawing, drawn_head, drawn_table, head};
use super::task::{Figure, FigureCell, FigureKey, GroupFigure, Grouping, Task};
use super::{PageRun, section as page_section};
use crate::figure::{ChanceLevel, shown_error};
use crate::notes::{best_first, common, most_frequent};
use crate::svg::{self, IntervalSize, IntervalStyle, Scale, breakable, grid, interval, px};
use crate::text::{grouped, percent};

/// The headline of the runs of a task: a row for each, the best first.
pub(super) fn table(task: &Task<'_>) -> Markup {
    let Some(figure) = &task.figures.headline else { return Markup::default() };
    let estimates = || figure.cells.iter().flatten().map(|cell| &cell.estimate);
    let scale = Scale::of(estimates());
    let (column, level) = (NumberColumn::of(estimates(), false), level_title(estimates()));
    let title = figure.key.title();
    let chance =
        task.chance.map(|chance| format!("; {}: {}", chance.label(), chance.meaning())).unwrap_or_default();
    let label = format!("{title} of each run with its standard error and {level}{chance}");
    let row = |at: usize| {
        let (name, run) = (task.name_of(at), task.runs.get(at));
        let Some(cell) = figure.cells.get(at).and_then(Option::as_ref) else {
            return html! {
                tr role="row" {
                    th scope="row" role="rowheader" { (name) }
                    td role="cell" class="num val" { span.undef { "not computed" } }
                    td role="cell" class="num c3" {}
                    td role="cell" class="pl" {}
                    td role="cell" class="num c5" {}
                }
            };
        };
        let estimate = &cell.estimate;
        let drawn = html! {
            (grid(&scale, task.chance))
            @if let Some((_, series)) = run {
                (interval(&scale, estimate, &IntervalStyle::new(*series, IntervalSize::Headline)))
            }
        };
        let cells = html! {
            th scope="row" role="rowheader" { (name) (remark(cell)) }
            td role="cell" class="num val" { (column.value(cell)) }
            td role="cell" class="num c3" data-l=(level.replace(" interval", "")) {
                (column.interval(estimate, false))
            }
            td role="cell" class="pl" { (drawing(&drawn)) }
            td role="cell" class="num c5" data-l="n" {
                (n_cell(estimate))
                @if let Some((run, _)) = run { (not_run(run)) }
            }
        };
        let of_row = Attributes::default().with("role", "row");
        row_data(of_row, task, at, &figure.key, None).with_estimate(estimate).element("tr", &cells)
    };
    let heads = html! {
        (head("", run_word(task)))
        (head("num", format!("{title} ± error")))
        (head("num", &level))
        (drawn_head(&scale, task.chance))
        (head("num", "n"))
    };
    let rows = html! { tbody role="rowgroup" { @for at in task.order() { (row(at)) } } };
    let class = if estimates().any(NumberColumn::is_wide) { "t est bn" } else { "t est" };
    drawn_table(class, &scale, &label, &heads, &rows)
}

/// The other figures over all samples, if there are any: those on one scale in one plot.
pub(super) fn others(task: &Task<'_>) -> Markup {
    let (drawn, numbers): (Vec<&Figure>, Vec<&Figure>) =
        task.figures.others.iter().partition(|figure| figure.is_drawn());
    let (unit, wide): (Vec<&Figure>, Vec<&Figure>) = drawn
        .into_iter()
        .partition(|figure| Scale::of(estimates_of(figure)) == Scale::unit() && is_unit(figure));
    let mut tables = vec![(unit, true)];
    tables.extend(wide.into_iter().map(|figure| (vec![figure], true)));
    tables.push((numbers, false));
    tables.retain(|(figures, _)| !figures.is_empty());
    html! {
        @if !tables.is_empty() { h3.h3 { "Other figures" } }
        @for (figures, is_drawn) in tables { (other_table(task, &figures, is_drawn)) }
    }
}

fn other_table(task: &Task<'_>, figures: &[&Figure], is_drawn: bool) -> Markup {
    let group = |figure: &&Figure| GroupFigure {
        name: figure.key.title(),
        cells: figure.cells.clone(),
        is_mean: false,
    };
    let groups: Vec<GroupFigure> = figures.iter().map(group).collect();
    let scale = Scale::of(groups.iter().flat_map(GroupFigure::estimates));
    let table = ForestTable {
        task,
        scale: &scale,
        chance: None,
        what: "figure",
        value: "value",
        label: "Other figures of each run",
        has_n: groups.iter().any(needs_n),
        is_drawn,
    };
    let body = |(figure, group): (&&'_ Figure, _)| {
        let (note, attributes) = (forest_note(figure, task), Attributes::default());
        table.body(&figure.key, &ForestBody { group, of: None, note, attributes })
    };
    let bodies: Vec<Markup> = figures.iter().zip(&groups).map(body).collect();
    table.to_html(&groups, &bodies)
}

/// Whether a figure from 0 to 1 is one of those that are shares or means, and not another number that happens to be small.
fn is_unit(figure: &Figure) -> bool {
    matches!(figure.role, Role::Location | Role::Share)
        || figure.cells.iter().flatten().any(|cell| cell.is_estimate)
}

fn estimates_of(figure: &Figure) -> impl Iterator<Item = &Estimate> {
    figure.cells.iter().flatten().map(|cell| &cell.estimate)
}

/// The scorer, and what all runs have in common.
fn forest_note(figure: &Figure, task: &Task<'_>) -> String {
    let headline = task.figures.headline.as_ref().map(|figure| figure.key.source());
    let source = Some(figure.key.source()).filter(|source| Some(source) != headline.as_ref());
    let n = common_n(figure.cells.iter().flatten());
    let reasons = no_errors(task, &figure.cells);
    source.into_iter().chain(figure.key.arguments()).chain(n).chain(reasons).collect::<Vec<_>>().join(", ")
}

/// `95 % interval`, by the level that most of them have.
pub(super) fn level_title<'a>(estimates: impl IntoIterator<Item = &'a Estimate>) -> String {
    let level = |estimate: &Estimate| estimate.interval.as_ref().ok().map(|interval| interval.level);
    let levels: Vec<f64> = estimates.into_iter().filter_map(level).collect();
    most_frequent(&levels)
        .map_or_else(|| "interval".to_owned(), |level| format!("{} interval", percent(level)))
}

/// What a row is called: a model if all runs have one, else a run.
pub(super) fn run_word(task: &Task<'_>) -> &'static str {
    let has_model = task.runs.iter().all(|(run, _)| run.report.model.is_some());
    if has_model { "model" } else { "run" }
}

/// What is to be known about a figure, below the name.
fn remark(cell: &FigureCell) -> Markup {
    // The notes explain a missing error as a rule.
    let own = cell.no_error.iter().filter(|reason| !cell.notes.iter().any(|note| note.starts_with(*reason)));
    let all = own.chain(&cell.notes).map(String::as_str);
    // The facts of the page say what clusters do to the error of each run.
    let all: Vec<&str> = all.filter(|note| !note.starts_with("design effect")).collect();
    html! { @if !all.is_empty() { span.full { (all.join(" · ")) } } }
}

/// The number of scores; with what is absent in the colour of notices.
fn n_cell(estimate: &Estimate) -> Markup {
    html! {
        (n_text(estimate))
        @if estimate.absent > 0 { br; span.flag { (grouped(estimate.absent)) " absent" } }
    }
}

/// How much of a run without its end has not run, if that is known.
fn not_run(run: &PageRun<'_>) -> Markup {
    let planned = run.report.partial_run.as_ref().and_then(|partial| partial.planned);
    let left = planned.map_or(0, |planned| planned.saturating_sub(run.report.results.total_samples));
    // Those that are counted beside it are samples, and how many epochs were planned is not known here.
    html! { @if left > 0 { br; span.flag { (counted(left as u64, "answer")) " not run" } } }
}

/// What a row is of, for programs.
pub(super) fn row_data(
    attributes: Attributes,
    task: &Task<'_>,
    at: usize,
    key: &FigureKey,
    group: Option<(&str, &str)>,
) -> Attributes {
    let run = task.runs.get(at).map(|(run, _)| run.name.as_str()).unwrap_or_default();
    let of_run =
        attributes.with("data-run", run).with("data-scorer", &key.scorer).with("data-metric", key.title());
    match group {
        Some((by, group)) => of_run.with("data-group-key", by).with("data-group", group),
        None => of_run,
    }
}

// A figure by group: one line per run, on a common scale.

/// The height of a line, and what a group has around its lines, in pixels.
const LINE: f64 = 24.0;
const MARGIN: f64 = 7.0;
/// More groups than this have one row each.
const MOST_TALL: usize = 12;
/// The most characters of a name that surely fits.
const LONG: usize = 40;
/// The most runs that one row has figures of.
const MOST_IN_ROW: usize = 4;

/// The figures of a task by the groups of its metadata keys: a section.
pub(super) fn section(task: &Task<'_>, id: &str) -> Option<Markup> {
    let groupings = &task.figures.groupings;
    let first = groupings.first()?;
    let heading = html! {
        h2 id={ "h-" (id) } { @if groupings.len() == 1 { "By " (breakable(&first.by)) } @else { "By group" } }
        (legend(task))
    };
    let content = html! {
        // One control for all plots of the section; it needs script, and does nothing without.
        div.tools.noprint.js hidden {
            label {
                "Order "
                select.forder {
                    option value="mean" { "by mean" }
                    option value="gap" { "by distance between runs" }
                    option value="pos" { "as in the data" }
                    option value="name" { "by name" }
                }
            }
        }
        @for grouping in groupings { (of_grouping(task, grouping, groupings.len() > 1)) }
    };
    Some(page_section(id, &heading, &content))
}

/// The runs with their marks; buttons for a script that shows one alone.
fn legend(task: &Task<'_>) -> Markup {
    if task.runs.len() < 2 {
        return Markup::default();
    }
    html! {
        div.legend role="group" aria-label={ (run_word(task)) "s; press to see one alone" } {
            @for (at, (_, series)) in task.runs.iter().enumerate() {
                button type="button" data-m=(series.class.trim_start_matches('m')) aria-pressed="false" {
                    (task.name_of(at))
                }
            }
        }
    }
}

fn of_grouping(task: &Task<'_>, grouping: &Grouping, has_title: bool) -> Markup {
    let all = grouping.all.iter();
    let scale = Scale::of(grouping.groups.iter().chain(all).flat_map(GroupFigure::estimates));
    let what = grouping.key.title();
    let headline = task.figures.headline.as_ref().map(|figure| &figure.key);
    let is_headline = headline == Some(&grouping.key);
    // Groups may have other numbers of choices, and then another level each.
    let chance = task.chance.filter(|_| is_headline).and_then(ChanceLevel::of_part);
    let is_drawn = grouping.role != Role::ErrorOf;
    // The best mean first; groups without a figure are last, ties in the order of the data.
    let order = best_first(grouping.groups.iter().map(GroupFigure::mean), false);
    let with_chance = chance.map(|chance| format!("; {}", chance.label())).unwrap_or_default();
    let label = format!("{what} by {} and {}{with_chance}", grouping.by, run_word(task));
    let is_thin = grouping.groups.len() > MOST_TALL && task.runs.len() <= MOST_IN_ROW && is_drawn;
    let has_n = grouping.groups.iter().chain(&grouping.all).any(needs_n);
    let (by, scale) = (&grouping.by, &scale);
    let table = ForestTable { task, scale, chance, what: by, value: &what, label: &label, has_n, is_drawn };
    let table = if is_thin { table.thin(grouping, &order) } else { table.of_grouping(grouping, &order) };
    let (shown, all) = (grouping.groups.len() as u64, grouping.count() as u64);
    html! {
        @if has_title {
            h3.h3 { @if is_headline { "By " } @else { (what) " by " } (breakable(&grouping.by)) }
        }
        @if shown < all {
            p.note {
                "These are the first " (grouped(shown)) " groups by " (breakable(&grouping.by)) ", of " (grouped(all)) "."
            }
        }
        (table)
    }
}

/// What scripts sort groups by.
fn sort_data(group: &GroupFigure, at: usize) -> Attributes {
    Attributes::default()
        .with("data-name", &group.name)
        .with("data-pos", at)
        .with("data-mean", group.mean().map(|mean| mean.to_string()).unwrap_or_default())
        .with("data-gap", group.gap())
}

fn group_note(task: &Task<'_>, group: &GroupFigure) -> String {
    let n = common_n(group.cells.iter().flatten());
    let clusters = common(
        group
            .estimates()
            .map(|estimate| estimate.error.as_ref().ok().and_then(|error| error.clusters.first().copied())),
    );
    let clusters = clusters.flatten().map(|clusters| counted(clusters, "cluster"));
    n.into_iter().chain(clusters).chain(no_errors(task, &group.cells)).collect::<Vec<_>>().join(", ")
}

/// Whether the runs of a group have different numbers of scores, so that each line must name its own.
pub(super) fn needs_n(group: &GroupFigure) -> bool {
    common(group.cells.iter().flatten().map(|cell| (cell.estimate.n, cell.estimate.absent))).is_none()
}

/// Why figures have no error, each reason once, with the runs unless it is that of all.
pub(super) fn no_errors(task: &Task<'_>, cells: &[Option<FigureCell>]) -> Vec<String> {
    let mut reasons: IndexMap<&str, Vec<&str>> = IndexMap::new();
    for (cell, (run, _)) in cells.iter().zip(&task.runs) {
        if let Some(reason) = cell.as_ref().and_then(|cell| cell.no_error.as_deref()) {
            reasons.entry(reason).or_default().push(&run.name);
        }
    }
    let all = cells.iter().flatten().count();
    let words = |(reason, runs): (&str, Vec<&str>)| match runs.len() == all {
        true => reason.to_owned(),
        false => format!("{}: {reason}", runs.join(", ")),
    };
    reasons.into_iter().map(words).collect()
}

/// `n 24`, if all runs have the same number of scores.
pub(super) fn common_n<'a>(cells: impl Iterator<Item = &'a FigureCell>) -> Option<String> {
    let n = common(cells.map(|cell| (cell.estimate.n, cell.estimate.absent)))?;
    match n {
        (0, 0) => None,
        (n, 0) => Some(format!("n {}", grouped(n))),
        (n, absent) => Some(format!("n {} of {}", grouped(n), grouped(n + absent))),
    }
}

/// A table with a group of lines for each thing: one line per run.
pub(super) struct ForestTable<'t> {
    pub(super) task: &'t Task<'t>,
    pub(super) scale: &'t Scale,
    /// A line to compare with.
    pub(super) chance: Option<ChanceLevel>,
    /// What the groups are called.
    pub(super) what: &'t str,
    /// What the figure is called.
    pub(super) value: &'t str,
    pub(super) label: &'t str,
    /// Whether each line has its number of scores; else they are the same in each group.
    pub(super) has_n: bool,
    /// Whether there is a plot, or numbers alone.
    pub(super) is_drawn: bool,
}

/// The lines of one group.
pub(super) struct ForestBody<'b> {
    pub(super) group: &'b GroupFigure,
    /// The metadata key and the name of the group, for programs.
    pub(super) of: Option<(&'b str, &'b str)>,
    pub(super) note: String,
    pub(super) attributes: Attributes,
}

impl ForestTable<'_> {
    /// The figures of a grouping: first that of all samples, then its groups in this order.
    fn of_grouping(&self, grouping: &Grouping, order: &[usize]) -> Markup {
        let all = grouping.all.iter().map(|group| {
            let note = group_note(self.task, group);
            let note = if group.is_mean { format!("mean of the groups, {note}") } else { note };
            let attributes = Attributes::default().with("class", "all").with("data-fixed", "");
            ForestBody { group, of: Some((&grouping.by, "")), note, attributes }
        });
        let groups = order.iter().filter_map(|at| {
            let group = grouping.groups.get(*at)?;
            let (note, attributes) = (group_note(self.task, group), sort_data(group, *at));
            Some(ForestBody { group, of: Some((&grouping.by, &group.name)), note, attributes })
        });
        let bodies: Vec<Markup> = all.chain(groups).map(|body| self.body(&grouping.key, &body)).collect();
        self.to_html(grouping.all.iter().chain(&grouping.groups), &bodies)
    }

    /// The table of these bodies.
    fn to_html<'g>(&self, groups: impl IntoIterator<Item = &'g GroupFigure>, bodies: &[Markup]) -> Markup {
        let groups: Vec<&GroupFigure> = groups.into_iter().collect();
        let names = self.task.runs.iter().map(|(run, _)| run.name.as_str());
        let is_long = groups.iter().any(|group| is_long(&group.name));
        let is_wide = groups.iter().flat_map(|group| group.estimates()).any(NumberColumn::is_wide);
        let mut class = format!("forest r{}{}", self.task.runs.len(), long_names(names));
        let has = [(is_long, " lg"), (self.has_n, " vn"), (!self.is_drawn, " nd"), (is_wide, " bn")];
        has.iter().filter(|(has, _)| *has).for_each(|(_, suffix)| class += suffix);
        let axis = html! { @if self.is_drawn { (axis_head(self.scale, self.chance)) } };
        let value = html! { (self.value) @if self.is_drawn { " ± error" } };
        let heads = forest_heads(self.what, run_word(self.task), &axis, &value, &self.level(), self.has_n);
        drawn_table(&class, self.scale, self.label, &heads, &html! { @for body in bodies { (body) } })
    }

    fn level(&self) -> String {
        level_title(self.task.group_cells().chain(self.task.cells()).map(|cell| &cell.estimate))
    }

    fn body(&self, key: &FigureKey, body: &ForestBody<'_>) -> Markup {
        let count = self.task.runs.len();
        let ForestBody { group, of, note, .. } = body;
        let column = NumberColumn::of(group.estimates(), false);
        let heading = html! {
            th.c1 role="rowheader" scope="rowgroup" rowspan=(count) {
                // A long name may be cut; the pointer shows the whole.
                span.any dir="auto" title=[is_long(&group.name).then_some(&group.name)] { (breakable(&group.name)) }
                @if !note.is_empty() { " " small { (note) } }
            }
        };
        let y = |at: usize| px(MARGIN + LINE * (at as f64 + 0.5));
        let drawn =
            if self.is_drawn { self.drawn(group, IntervalSize::Forest, y) } else { Markup::default() };
        let row = |at: usize| {
            let cell = group.cells.get(at).and_then(Option::as_ref);
            let cells = html! {
                @if at == 0 { (heading) }
                td.c2 role="cell" { (self.task.name_of(at)) }
                @if at == 0 { td.pl role="presentation" rowspan=(count) { (drawing(&drawn)) } }
                td.num.c4 role="cell" { (value(cell, &column)) }
                td.num.c5 role="cell" { @if let Some(cell) = cell { (column.interval(&cell.estimate, false)) } }
                @if self.has_n { td.num.c6 role="cell" { @if let Some(cell) = cell { (n_text(&cell.estimate)) } } }
            };
            let data = row_data(Attributes::default().with("role", "row"), self.task, at, key, *of);
            with_cell(data, cell).element("tr", &cells)
        };
        let rows = html! { @for at in 0..count { (row(at)) } };
        body.attributes.clone().with("role", "rowgroup").element("tbody", &rows)
    }

    fn drawn(&self, group: &GroupFigure, size: IntervalSize, y: impl Fn(usize) -> String) -> Markup {
        html! {
            (grid(self.scale, self.chance))
            @for (at, ((_, series), cell)) in self.task.runs.iter().zip(&group.cells).enumerate() {
                @let style = IntervalStyle::new(*series, size).at(y(at));
                @if let Some(cell) = cell { (interval(self.scale, &cell.estimate, &style)) }
            }
        }
    }

    /// A table with one row for each of many groups, for few runs.
    fn thin(&self, grouping: &Grouping, order: &[usize]) -> Markup {
        let runs = self.task.runs.len();
        let longest = grouping.groups.iter().map(|group| group.name.chars().count()).max().unwrap_or(0);
        let is_wide = grouping.groups.iter().flat_map(GroupFigure::estimates).any(NumberColumn::is_wide);
        let of_run = |at: usize| {
            let cells = grouping.groups.iter().filter_map(move |group| group.cells.get(at)?.as_ref());
            NumberColumn::of(cells.map(|cell| &cell.estimate), false)
        };
        let columns: Vec<NumberColumn> = (0..runs).map(of_run).collect();
        let heads = html! {
            (head("", breakable(&grouping.by)))
            (drawn_head(self.scale, self.chance))
            @for at in 0..runs { (head("num", self.task.name_of(at))) }
        };
        let rows = html! {
            tbody role="rowgroup" {
                @for at in order {
                    @if let Some(group) = grouping.groups.get(*at) { (self.thin_row(grouping, group, *at, &columns)) }
                }
            }
        };
        let (wide_names, wide) = (if longest > 10 { " w2" } else { "" }, if is_wide { " bn" } else { "" });
        let class = format!("many r{runs}{wide_names}{wide}");
        html! { (self.note(grouping)) (drawn_table(&class, self.scale, self.label, &heads, &rows)) }
    }

    fn note(&self, grouping: &Grouping) -> Markup {
        let cells = || grouping.groups.iter().flat_map(|group| &group.cells).flatten();
        let without = cells()
            .filter(|cell| cell.estimate.number().is_some() && shown_error(&cell.estimate).is_none())
            .count();
        let has_few = cells().any(|cell| cell.estimate.n < 10);
        let is_partial = self.task.runs.iter().any(|(run, _)| run.is_partial());
        html! {
            @if has_few || without > 0 {
                p.note {
                    @if has_few {
                        "Where a group has fewer than 10 scores, only ± 1 standard error is drawn: an interval would span most \
                         of the scale. "
                    }
                    @if without > 0 {
                        "A hollow mark " @if is_partial { "without a box " } "means that the error cannot be estimated ("
                        (without) " of " (cells().count()) "): there is one score, or all are equal."
                    }
                }
            }
        }
    }

    fn thin_row(
        &self,
        Grouping { by, key, .. }: &Grouping,
        group: &GroupFigure,
        position: usize,
        columns: &[NumberColumn],
    ) -> Markup {
        let n = common_n(group.cells.iter().flatten()).unwrap_or_else(|| {
            let each: Vec<String> = group.cells.iter().flatten().map(|cell| n_text(&cell.estimate)).collect();
            format!("n {}", each.join(", "))
        });
        let number = |(at, column): (usize, &NumberColumn)| {
            let cell = group.cells.get(at).and_then(Option::as_ref);
            let content = html! {
                // Narrow pages have the figures below the plot, and no heads of columns.
                @if let Some((_, series)) = self.task.runs.get(at) {
                    span class={ "only-narrow " (series.class) } { (series.dot()) }
                }
                (value(cell, column))
            };
            let of_cell = Attributes::default().with("role", "cell").with("class", "num");
            let data = match cell {
                Some(_) => row_data(of_cell, self.task, at, key, Some((by, &group.name))),
                None => of_cell,
            };
            with_cell(data, cell).element("td", &content)
        };
        let last = (self.task.runs.len().max(2) - 1) as f64;
        let share = |at: usize| if self.task.runs.len() == 1 { 50.0 } else { 22.0 + 56.0 * at as f64 / last };
        let drawn = self.drawn(group, IntervalSize::Thin, |at| svg::percent(share(at)));
        let cells = html! {
            th scope="row" role="rowheader" { span title=(group.name) dir="auto" { (group.name) } " " small { (n) } }
                    td role="presentation" class="pl" { (drawing(&drawn)) }
            @for column in columns.iter().enumerate() { (number(column)) }
        };
        sort_data(group, position).with("role", "row").element("tr", &cells)
    }
}

/// The titles of a table with a group of lines for each thing.
pub(super) fn forest_heads(
    what: &str,
    line: &str,
    axis: &Markup,
    value: &Markup,
    level: &str,
    has_n: bool,
) -> Markup {
    html! {
        (head("c1", breakable(what)))
        (head("c2", html! { span { (line) } }))
        (head("pl", html! { span.vh { "drawn" } (axis) }))
        (head("num c4", value))
        (head("num c5", level))
        @if has_n { (head("num c6", "n")) }
    }
}

fn is_long(name: &str) -> bool {
    name.chars().count() > LONG
}

/// What programs read of a figure, if there is one.
fn with_cell(attributes: Attributes, cell: Option<&FigureCell>) -> Attributes {
    match cell {
        Some(cell) => attributes.with_estimate(&cell.estimate),
        None => attributes,
    }
}

/// The number of scores of a line, of all that there could be.
pub(super) fn n_text(estimate: &Estimate) -> String {
    match estimate.absent {
        0 => grouped(estimate.n),
        absent => format!("{} of {}", grouped(estimate.n), grouped(estimate.n + absent)),
    }
}

/// The class of a table whose names need a wider column.
pub(super) fn long_names<'a>(mut names: impl Iterator<Item = &'a str>) -> &'static str {
    const SHORT: usize = 9;
    if names.any(|name| name.chars().count() > SHORT) { " ln" } else { "" }
}

/// A figure whose notes are shown by the pointer, too; the reason of a missing error is among them.
fn value(cell: Option<&FigureCell>, column: &NumberColumn) -> Markup {
    html! {
        @match cell {
            Some(cell) if cell.notes.is_empty() => (column.value(cell)),
            Some(cell) => { span title=(cell.notes.join(" · ")) { (column.value(cell)) } }
            None => { span.undef { "no scores" } }
        }
    }
}
