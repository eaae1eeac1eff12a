//! A figure by group: one line per run, on a common scale.

use std::fmt::Write as _;

use errorbar_core::{Estimate, IndexMap, Role};

use super::cells::{NumberColumn, axis_head, count, data};
use super::estimates::{level_title, row_data, run_word};
use super::figures::{Figure, FigureCell, GroupFigure, Grouping};
use super::labels;
use super::task::Task;
use crate::chance::ChanceLevel;
use crate::svg::{IntervalSize, IntervalStyle, Reference, Scale, Y, breakable, escape, grid, interval};

/// The height of a line, and what a group has around its lines, in pixels.
const LINE: f64 = 24.0;
const MARGIN: f64 = 7.0;
/// More groups than this have one row each.
const MOST_TALL: usize = 12;
/// The most characters of a name that surely fits.
const LONG: usize = 40;
/// The attribute of longer ones, in the markup of a group.
const LONG_NAME: &str = " dir=\"auto\" title=";
/// The class of numbers that need a wider column, in the markup of a row.
const WIDE_NUMBER: &str = "pmv wide";
/// The most runs that one row has figures of.
const MOST_IN_ROW: usize = 4;

/// The figures of a task by the groups of its metadata keys: a section.
pub(super) fn section(task: &Task<'_>, id: &str) -> Option<String> {
    let groupings = &task.figures.groupings;
    let first = groupings.first()?;
    let mut keys: Vec<&str> = Vec::new();
    groupings.iter().map(|grouping| grouping.by.as_str()).for_each(|by| {
        if !keys.contains(&by) {
            keys.push(by);
        }
    });
    let title =
        if groupings.len() == 1 { format!("By {}", breakable(&first.by)) } else { "By group".to_owned() };
    let labels = labels(id);
    let mut html = format!(
        "<section id=\"{id}\" aria-labelledby=\"{labels}\"><div class=\"head\"><h2 id=\"h-{id}\">{title}</h2>{}</div>",
        legend(task)
    );
    // One control for all plots of the section; it needs script, and does nothing without.
    html += "<div class=\"tools noprint js\" hidden><label>Order <select class=\"forder\"><option value=\"mean\">by \
             mean</option><option value=\"gap\">by distance between runs</option><option value=\"pos\">as in the \
             data</option><option value=\"name\">by name</option></select></label></div>";
    for grouping in groupings {
        html += &grouped(task, grouping, groupings.len() > 1);
    }
    Some(html + "</section>")
}

/// The runs with their marks; buttons for a script that shows one alone.
pub(super) fn legend(task: &Task<'_>) -> String {
    if task.runs.len() < 2 {
        return String::new();
    }
    let mut html = format!(
        "<div class=\"legend\" role=\"group\" aria-label=\"{}s; press to see one alone\">",
        run_word(task)
    );
    for at in 0..task.runs.len() {
        let class = task.runs.get(at).map(|(_, series)| series.class).unwrap_or_default();
        let _ = write!(
            html,
            "<button type=\"button\" data-m=\"{}\" aria-pressed=\"false\">{}</button>",
            class.trim_start_matches('m'),
            task.name_of(at)
        );
    }
    html + "</div>"
}

fn grouped(task: &Task<'_>, grouping: &Grouping, has_title: bool) -> String {
    let all = grouping.all.iter();
    let scale = Scale::of(grouping.groups.iter().chain(all).flat_map(GroupFigure::estimates));
    let what = grouping.key.title();
    let headline = task.figures.headline.as_ref().map(|figure| &figure.key);
    let is_headline = headline == Some(&grouping.key);
    let title = match has_title {
        false => String::new(),
        true if is_headline => format!("<h3 class=\"h3\">By {}</h3>", breakable(&grouping.by)),
        true => format!("<h3 class=\"h3\">{} by {}</h3>", escape(&what), breakable(&grouping.by)),
    };
    // Groups may have other numbers of choices, and then another level each.
    let chance = task.chance.filter(|_| is_headline).and_then(ChanceLevel::of_part);
    let reference = chance.map(ChanceLevel::reference);
    let reference = reference.as_ref();
    let title = title + &omitted(grouping);
    let is_drawn = grouping.role != Role::ErrorOf;
    // The best mean first; groups without a figure are last, ties in the order of the data.
    let mut order: Vec<usize> = (0..grouping.groups.len()).collect();
    let mean = |at: usize| grouping.groups.get(at).and_then(GroupFigure::mean).unwrap_or(f64::NEG_INFINITY);
    order.sort_by(|a, b| mean(*b).total_cmp(&mean(*a)));
    let figure = Figure { key: grouping.key.clone(), role: grouping.role, cells: Vec::new() };
    let chance = reference.map(|chance| format!("; {}", chance.label)).unwrap_or_default();
    let label = format!("{what} by {} and {}{chance}", grouping.by, run_word(task));
    if grouping.groups.len() > MOST_TALL && task.runs.len() <= MOST_IN_ROW && is_drawn {
        return title
            + &ThinTable { task, scale: &scale, reference, grouping, figure: &figure, label: &label }
                .whole(&order);
    }
    let has_n = grouping.groups.iter().chain(&grouping.all).any(needs_n);
    let (by, scale) = (&grouping.by, &scale);
    let table =
        ForestTable { task, scale, reference, what: by, value: &what, label: &label, has_n, is_drawn };
    let attributes = |group: &str, at: usize| row_data(task, at, &figure, Some((&grouping.by, group)));
    let mut bodies = Vec::new();
    if let Some(all) = &grouping.all {
        let note = group_note(task, all);
        let note = if all.is_mean { format!("mean of the groups, {note}") } else { note };
        bodies.push(table.body(all, &note, &|at| attributes("", at), " class=\"all\" data-fixed"));
    }
    for at in order {
        let Some(group) = grouping.groups.get(at) else { continue };
        bodies.push(table.body(
            group,
            &group_note(task, group),
            &|run| attributes(&group.name, run),
            &sort_data(group, at),
        ));
    }
    title + &table.whole(&bodies)
}

/// How many groups are not shown, if there are too many for a page.
fn omitted(grouping: &Grouping) -> String {
    let (shown, all) = (grouping.groups.len(), grouping.count());
    if shown == all {
        return String::new();
    }
    format!(
        "<p class=\"note\">These are the first {} groups by {}, of {}.</p>",
        count(shown as u64),
        breakable(&grouping.by),
        count(all as u64)
    )
}

/// What scripts sort groups by.
fn sort_data(group: &GroupFigure, at: usize) -> String {
    format!(
        " data-name=\"{}\" data-pos=\"{at}\" data-mean=\"{}\" data-gap=\"{}\"",
        escape(&group.name),
        group.mean().map(|mean| mean.to_string()).unwrap_or_default(),
        group.gap()
    )
}

fn group_note(task: &Task<'_>, group: &GroupFigure) -> String {
    let n = common_n(group.cells.iter().flatten());
    let clusters = common(
        group
            .estimates()
            .map(|estimate| estimate.error.as_ref().ok().and_then(|error| error.clusters.first().copied())),
    );
    let clusters = clusters.flatten().map(|clusters| super::cells::counted(clusters, "cluster"));
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
        (n, 0) => Some(format!("n {}", count(n))),
        (n, absent) => Some(format!("n {} of {}", count(n), count(n + absent))),
    }
}

fn common<T: PartialEq>(mut found: impl Iterator<Item = T>) -> Option<T> {
    let first = found.next()?;
    found.all(|other| other == first).then_some(first)
}

/// A table with a group of lines for each thing: one line per run.
pub(super) struct ForestTable<'t> {
    pub(super) task: &'t Task<'t>,
    pub(super) scale: &'t Scale,
    /// A line to compare with.
    pub(super) reference: Option<&'t Reference>,
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

impl ForestTable<'_> {
    /// The table of these bodies.
    pub(super) fn whole(&self, bodies: &[String]) -> String {
        let level = self.level();
        let n = match self.has_n {
            true => "<th class=\"num c6\" role=\"columnheader\" scope=\"col\">n</th>",
            false => "",
        };
        let axis = if self.is_drawn { axis_head(self.scale, self.reference) } else { String::new() };
        format!(
            "<table class=\"forest r{}{}{}{}{}{}\" data-scale=\"{}\" role=\"table\" aria-label=\"{}\"><thead role=\"rowgroup\"><tr \
             role=\"row\"><th class=\"c1\" role=\"columnheader\" scope=\"col\">{}</th><th class=\"c2\" role=\"columnheader\" \
             scope=\"col\"><span>{}</span></th><th class=\"pl\" role=\"columnheader\" scope=\"col\"><span \
             class=\"vh\">drawn</span>{}</th><th class=\"num c4\" role=\"columnheader\" scope=\"col\">{}{}</th><th \
             class=\"num c5\" role=\"columnheader\" scope=\"col\">{level}</th>{n}</tr></thead>{}</table>",
            self.task.runs.len(),
            long_names(self.task.runs.iter().map(|(run, _)| run.name.as_str())),
            if bodies.iter().any(|body| body.contains(LONG_NAME)) { " lg" } else { "" },
            if self.has_n { " vn" } else { "" },
            if self.is_drawn { "" } else { " nd" },
            if bodies.iter().any(|body| body.contains(WIDE_NUMBER)) { " bn" } else { "" },
            self.scale.ends(),
            escape(self.label),
            breakable(self.what),
            run_word(self.task),
            axis,
            escape(self.value),
            if self.is_drawn { " ± error" } else { "" },
            bodies.concat(),
        )
    }

    fn level(&self) -> String {
        let figures = &self.task.figures;
        let groups = figures.groupings.iter().flat_map(|grouping| &grouping.groups);
        let cells =
            figures.headline.iter().chain(&figures.others).flat_map(|figure| figure.cells.iter().flatten());
        level_title(groups.flat_map(GroupFigure::estimates).chain(cells.map(|cell| &cell.estimate)))
    }

    /// The lines of one group.
    pub(super) fn body(
        &self,
        group: &GroupFigure,
        note: &str,
        attributes: &dyn Fn(usize) -> String,
        of_body: &str,
    ) -> String {
        let count = self.task.runs.len();
        let column = NumberColumn::of(group.estimates(), false);
        let mut drawn = if self.is_drawn { grid(self.scale, self.reference) } else { String::new() };
        for (at, (_, series)) in self.task.runs.iter().enumerate().filter(|_| self.is_drawn) {
            let y = Y::Pixels(MARGIN + LINE * (at as f64 + 0.5));
            let style = IntervalStyle::new(*series, IntervalSize::Forest).at(y);
            if let Some(Some(cell)) = group.cells.get(at) {
                drawn += &interval(self.scale, &cell.estimate, &style);
            }
        }
        let mut html = format!("<tbody role=\"rowgroup\"{of_body}>");
        for at in 0..count {
            let cell = group.cells.get(at).and_then(Option::as_ref);
            let numbers = cell.map(|cell| data(&cell.estimate)).unwrap_or_default();
            let _ = write!(html, "<tr role=\"row\"{}{numbers}>", attributes(at));
            if at == 0 {
                let name = breakable(&group.name);
                // A long name may be cut; the pointer shows the whole.
                let title = match group.name.chars().count() > LONG {
                    true => format!("{LONG_NAME}\"{}\"", escape(&group.name)),
                    false => " dir=\"auto\"".to_owned(),
                };
                let note =
                    if note.is_empty() { String::new() } else { format!(" <small>{}</small>", escape(note)) };
                let _ = write!(
                    html,
                    "<th class=\"c1\" role=\"rowheader\" scope=\"rowgroup\" rowspan=\"{count}\"><span \
                     class=\"any\"{title}>{name}</span>{note}</th>"
                );
            }
            let _ = write!(html, "<td class=\"c2\" role=\"cell\">{}</td>", self.task.name_of(at));
            if at == 0 {
                let _ = write!(
                    html,
                    "<td class=\"pl\" role=\"presentation\" rowspan=\"{count}\"><svg class=\"iv\" width=\"100%\" \
                     aria-hidden=\"true\" focusable=\"false\">{drawn}</svg></td>"
                );
            }
            let (value, interval) = match cell {
                Some(cell) => (titled(cell, column.value(cell)), column.interval(&cell.estimate, false)),
                None => ("<span class=\"undef\">no scores</span>".to_owned(), String::new()),
            };
            let n = cell.filter(|_| self.has_n).map(|cell| n_text(&cell.estimate));
            let n = n.or_else(|| self.has_n.then(String::new));
            let n = n.map(|n| format!("<td class=\"num c6\" role=\"cell\">{n}</td>")).unwrap_or_default();
            let _ = write!(
                html,
                "<td class=\"num c4\" role=\"cell\">{value}</td><td class=\"num c5\" role=\"cell\">{interval}</td>{n}</tr>"
            );
        }
        html + "</tbody>"
    }
}

/// The number of scores of a line, of all that there could be.
fn n_text(estimate: &Estimate) -> String {
    match estimate.absent {
        0 => count(estimate.n),
        absent => format!("{} of {}", count(estimate.n), count(estimate.n + absent)),
    }
}

/// The class of a table whose names need a wider column.
pub(super) fn long_names<'a>(mut names: impl Iterator<Item = &'a str>) -> &'static str {
    const SHORT: usize = 9;
    if names.any(|name| name.chars().count() > SHORT) { " ln" } else { "" }
}

/// A figure whose notes are shown by the pointer, too; the reason of a missing error is among them.
fn titled(cell: &FigureCell, text: String) -> String {
    match cell.notes.is_empty() {
        true => text,
        false => format!("<span title=\"{}\">{text}</span>", escape(&cell.notes.join(" · "))),
    }
}

/// A table with one row for each of many groups.
struct ThinTable<'t> {
    task: &'t Task<'t>,
    scale: &'t Scale,
    reference: Option<&'t Reference>,
    grouping: &'t Grouping,
    figure: &'t Figure,
    label: &'t str,
}

impl ThinTable<'_> {
    fn whole(&self, order: &[usize]) -> String {
        let runs = self.task.runs.len();
        let longest = self.grouping.groups.iter().map(|group| group.name.chars().count()).max().unwrap_or(0);
        let wide = if longest > 10 { " w2" } else { "" };
        let is_wide = |estimate: &Estimate| NumberColumn::is_wide(estimate);
        let numbers = (0..runs).any(|at| self.estimates(at).any(is_wide));
        let numbers = if numbers { " bn" } else { "" };
        let mut html = format!(
            "{}<table class=\"many r{runs}{wide}{numbers}\" data-scale=\"{}\" role=\"table\" aria-label=\"{}\"><thead \
             role=\"rowgroup\"><tr role=\"row\"><th role=\"columnheader\" scope=\"col\">{}</th><th class=\"pl\" \
             role=\"columnheader\" scope=\"col\"><span class=\"vh\">drawn</span>{}</th>",
            self.note(),
            self.scale.ends(),
            escape(self.label),
            breakable(&self.grouping.by),
            axis_head(self.scale, self.reference),
        );
        for at in 0..runs {
            let _ = write!(
                html,
                "<th class=\"num\" role=\"columnheader\" scope=\"col\">{}</th>",
                self.task.name_of(at)
            );
        }
        html += "</tr></thead><tbody role=\"rowgroup\">";
        let columns: Vec<NumberColumn> =
            (0..runs).map(|at| NumberColumn::of(self.estimates(at), false)).collect();
        for at in order {
            let Some(group) = self.grouping.groups.get(*at) else { continue };
            html += &self.row(group, *at, &columns);
        }
        html + "</tbody></table>"
    }

    fn estimates(&self, run: usize) -> impl Iterator<Item = &Estimate> {
        let of_run = move |group: &'_ GroupFigure| group.cells.get(run).is_some_and(Option::is_some);
        let groups = self.grouping.groups.iter().filter(move |group| of_run(group));
        groups.filter_map(move |group| group.cells.get(run)?.as_ref().map(|cell| &cell.estimate))
    }

    fn note(&self) -> String {
        let cells = || self.grouping.groups.iter().flat_map(|group| &group.cells).flatten();
        let without =
            cells().filter(|cell| cell.estimate.number().is_some() && !has_error(&cell.estimate)).count();
        let mut words = Vec::new();
        if cells().any(|cell| cell.estimate.n < 10) {
            words.push(
                "Where a group has fewer than 10 scores, only ± 1 standard error is drawn: an interval would span most of \
                 the scale."
                    .to_owned(),
            );
        }
        if without > 0 {
            words.push(format!(
                "A hollow mark {}means that the error cannot be estimated ({without} of {}): there is one score, or all are equal.",
                if self.task.runs.iter().any(|(run, _)| run.is_partial()) { "without a box " } else { "" },
                cells().count()
            ));
        }
        if words.is_empty() { String::new() } else { format!("<p class=\"note\">{}</p>", words.join(" ")) }
    }

    fn row(&self, group: &GroupFigure, position: usize, columns: &[NumberColumn]) -> String {
        let runs = self.task.runs.len();
        let mut drawn = grid(self.scale, self.reference);
        for (at, (_, series)) in self.task.runs.iter().enumerate() {
            let share = if runs == 1 { 50.0 } else { 22.0 + 56.0 * at as f64 / (runs - 1) as f64 };
            let style = IntervalStyle::new(*series, IntervalSize::Thin).at(Y::Percent(share));
            if let Some(Some(cell)) = group.cells.get(at) {
                drawn += &interval(self.scale, &cell.estimate, &style);
            }
        }
        let name = escape(&group.name);
        let n = common_n(group.cells.iter().flatten()).unwrap_or_else(|| {
            let each: Vec<String> = group.cells.iter().flatten().map(|cell| n_text(&cell.estimate)).collect();
            format!("n {}", each.join(", "))
        });
        let mut html = format!(
            "<tr role=\"row\"{}><th scope=\"row\" role=\"rowheader\"><span title=\"{name}\" dir=\"auto\">{name}</span> \
             <small>{n}</small></th><td \
             role=\"presentation\" class=\"pl\"><svg class=\"iv\" width=\"100%\" aria-hidden=\"true\" \
             focusable=\"false\">{drawn}</svg></td>",
            sort_data(group, position)
        );
        for (at, column) in columns.iter().enumerate() {
            // Narrow pages have the figures below the plot, and no heads of columns.
            let dot = self.task.runs.get(at).map(|(_, series)| (series.class, series.dot()));
            let dot = dot.map(|(class, dot)| format!("<span class=\"only-narrow {class}\">{dot}</span>"));
            let dot = dot.unwrap_or_default();
            let attributes = row_data(self.task, at, self.figure, Some((&self.grouping.by, &group.name)));
            let text = match group.cells.get(at).and_then(Option::as_ref) {
                Some(cell) => {
                    let numbers = data(&cell.estimate);
                    format!(
                        "<td role=\"cell\" class=\"num\"{attributes}{numbers}>{dot}{}</td>",
                        titled(cell, column.value(cell))
                    )
                }
                None => {
                    format!(
                        "<td role=\"cell\" class=\"num\">{dot}<span class=\"undef\">no scores</span></td>"
                    )
                }
            };
            html += &text;
        }
        html + "</tr>"
    }
}

fn has_error(estimate: &Estimate) -> bool {
    estimate.error.as_ref().is_ok_and(|error| !error.degenerate && error.se > 0.0)
}
