//! A report as one page of HTML that needs nothing else: no network, no other file, no script for its figures and tables.
//!
//! `Page` is the input; `task.rs` asks core for the figures of the runs of a task, side by side, and for their comparison;
//! a file for each part of the page puts that into markup. The templates escape every string that comes from a log, a table
//! or a user, and `document.rs` shows what is invisible in it. Styles and script are allowed by their hashes alone, so there
//! is no `style` and no event attribute anywhere.

mod cells;
mod estimates;
mod facts;
mod notices;
mod pairs;
mod task;
mod tasks;
#[cfg(test)]
mod tests;

use errorbar_core::{IndexMap, Plan, ScoreColumns};
use maud::{Markup, PreEscaped, html};
use task::Task;

use crate::assets::{self, policy_source};
use crate::samples::section_html;
use crate::svg::{Series, brand, breakable, defs, visible};
use crate::{ChanceLevel, Report};

pub use cells::{NumberColumn, counted, date_parts};
pub use task::MOST_PAIRED;

/// The most figures of groups on a page, over all tasks and runs, and those of a key of one task: markup takes about a
/// kilobyte for each.
const GROUP_CELLS: usize = 30_000;
const GROUP_CELLS_OF_TASK: usize = 7_000;

/// What a page is made of.
#[derive(Debug, Clone, Default)]
pub struct Page<'a> {
    /// The heading; the task if it is empty.
    pub title: String,
    /// The runs, in the order of their colours.
    pub runs: Vec<PageRun<'a>>,
    /// Metadata keys to show the headline by, besides those that the plans name.
    pub groups: Vec<String>,
    /// Whether every pair of runs is tested, though there are more than [`MOST_PAIRED`] in a task.
    pub all_pairs: bool,
    /// Why runs of a task are not compared, if they must not be: their samples have the same ids and are different ones.
    pub not_compared: Option<String>,
    /// The samples; none leaves out the browser.
    pub samples: Option<PageSamples>,
    /// Where the page is listed, as a link and its title.
    pub listed_in: Option<(String, String)>,
}

/// The sample browser of a page.
#[derive(Debug, Clone)]
pub struct PageSamples {
    /// What the squares of samples mean: [`SampleSet::key_html`](crate::samples::SampleSet::key_html).
    pub key: String,
    /// The data in the page: [`EncodedSamples::to_html`](crate::samples::EncodedSamples::to_html); none if the server of the
    /// page has it, as `samples.json` and `sample.json` beside it.
    pub data: Option<String>,
}

/// One log, one table, or a part of one.
#[derive(Debug, Clone)]
pub struct PageRun<'a> {
    /// The shortest name that is unambiguous among the runs of its task.
    pub name: String,
    /// Its results, and what is to be known about the run.
    pub report: &'a Report,
    /// The scores that they are of.
    pub columns: &'a ScoreColumns,
    /// How they were computed.
    pub plan: &'a Plan,
    /// What a log records besides.
    pub facts: RunFacts,
}

impl PageRun<'_> {
    /// Whether its figures are those so far: the run is in progress, or ended before its end.
    fn is_partial(&self) -> bool {
        self.report.partial_run.is_some()
    }
}

/// What a log records about its run, as far as it is known; all empty for a table.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct RunFacts {
    /// The file.
    pub file: String,
    /// When the run was made, by RFC 3339.
    pub created: Option<String>,
    /// What made the log, with its version: `errorbar 0.1.0`.
    pub version: Option<String>,
    /// The version of the task.
    pub task_version: Option<String>,
    /// `success`, `cancelled`, `error`, `started`.
    pub status: Option<String>,
    /// Why the run ended before its end.
    pub error: Option<String>,
    /// Tokens read and written by the model.
    pub tokens: Option<u64>,
    /// What the run cost, in US dollars.
    pub cost: Option<f64>,
    /// The score of guessing, if every sample has choices.
    pub chance: Option<ChanceLevel>,
}

impl<'a> Page<'a> {
    /// A page of these runs.
    pub fn new(runs: Vec<PageRun<'a>>) -> Self {
        Page { runs, ..Page::default() }
    }

    /// The page.
    pub fn to_html(&self) -> String {
        let tasks = self.tasks();
        let title = self.heading(&tasks);
        let has_samples = self.samples.is_some();
        let mut contents = vec![("top".to_owned(), "Summary".to_owned())];
        let mut main = match tasks.as_slice() {
            [task] => html! {
                (self.introduction(&title, &facts::sentences(task), &tasks))
                (task_sections(task, "", has_samples, &mut contents))
            },
            several => html! {
                (self.introduction(&title, &tasks::overview(several), several))
                (tasks::section(several, &mut contents))
                @for (at, task) in several.iter().enumerate() {
                    (of_several(task, &format!("t{}-", at + 1), has_samples, &mut contents))
                }
            },
        };
        if let Some(samples) = &self.samples {
            contents.push(("samples".to_owned(), "Samples".to_owned()));
            let heading = html! { h2 id="h-samples" { "Samples" } (PreEscaped(&samples.key)) };
            main.0 += &section("samples", &heading, &section_html(samples.data.is_none())).0;
        }
        let runs = self.runs.len();
        let trail = html! {
            @if let Some((link, list)) = &self.listed_in { a href=(link) { (list) } " / " }
            (title)
            @if runs != 1 { ", " (runs) " runs" }
        };
        let body = body(&trail, &contents, &main, &footer(&tasks));
        self.document(&title, &self.style(&tasks), &body)
    }

    /// The whole document. It may run its own style and script and nothing else.
    fn document(&self, title: &str, style: &str, body: &Markup) -> String {
        let is_served = self.samples.as_ref().is_some_and(|samples| samples.data.is_none());
        let policy = format!(
            "default-src 'none'; style-src {}; script-src {}; connect-src {}; base-uri 'none'; form-action 'none'",
            policy_source(style),
            policy_source(assets::script()),
            if is_served { "'self'" } else { "'none'" }
        );
        let description = format!("{title}: {} runs", self.runs.len());
        let page = html! {
            (PreEscaped("<!doctype html>"))
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta http-equiv="Content-Security-Policy" content=(policy);
                    meta name="viewport" content="width=device-width,initial-scale=1";
                    meta name="referrer" content="no-referrer";
                    meta name="generator" content={ "errorbar " (env!("CARGO_PKG_VERSION")) };
                    title { (visible(title)) ": errorbar report" }
                    meta name="description" content=(visible(&description));
                    style { (PreEscaped(style)) }
                }
                body {
                    (PreEscaped(visible(&body.0)))
                    @if let Some(data) = self.samples.as_ref().and_then(|samples| samples.data.as_ref()) { (PreEscaped(data)) }
                    script type="module" { (PreEscaped(assets::script())) }
                }
            }
        };
        page.into_string() + "\n"
    }

    /// The runs by task, in order of appearance; colours are by name, the same in all tasks.
    fn tasks(&self) -> Vec<Task<'_>> {
        let mut names: IndexMap<&str, ()> = IndexMap::new();
        let mut by_task: IndexMap<Option<&str>, Vec<&PageRun<'_>>> = IndexMap::new();
        for run in &self.runs {
            names.insert(&run.name, ());
            by_task.entry(run.report.task.as_deref()).or_default().push(run);
        }
        let series = |run: &PageRun<'_>| {
            let position = names.get_index_of(run.name.as_str()).unwrap_or(0);
            Series { is_partial: run.is_partial(), ..Series::of(position, names.len()) }
        };
        let are_several = by_task.len() > 1;
        let group_cells = GROUP_CELLS_OF_TASK.min(GROUP_CELLS / by_task.len().max(1));
        by_task
            .into_iter()
            .map(|(task, runs)| {
                let runs = runs.into_iter().map(|run| (run, series(run))).collect();
                let task = Task::new(task.map(str::to_owned), runs, self, group_cells);
                Task { is_one_of_several: are_several, ..task }
            })
            .collect()
    }

    fn heading(&self, tasks: &[Task<'_>]) -> String {
        if !self.title.is_empty() {
            return self.title.clone();
        }
        match tasks {
            [task] => task.name.clone().unwrap_or_else(|| {
                // A page may be published, so it is not headed by a path of this machine.
                let log = self.runs.first().map_or("report", |run| run.report.log.as_str());
                log.rsplit(['/', '\\']).next().unwrap_or(log).to_owned()
            }),
            several => format!("{} tasks", several.len()),
        }
    }

    fn introduction(&self, title: &str, lead: &Markup, tasks: &[Task<'_>]) -> Markup {
        html! {
            section.intro id="top" aria-labelledby="h-top" {
                h1 id="h-top" class="any" dir="auto" { (breakable(title)) }
                p.lead { (lead) }
                @match tasks {
                    [task] => { (facts::list(task)) (notices::list(task, "Notices", self.samples.is_some())) }
                    several => (notices::summary(several)),
                }
                (facts::files(tasks))
            }
        }
    }

    /// The stylesheet, with the numbers of lines that plots of this page have.
    fn style(&self, tasks: &[Task<'_>]) -> String {
        let mut counts: Vec<usize> = tasks.iter().map(|task| task.runs.len()).collect();
        counts.push(tasks::run_names(tasks).len());
        counts.sort_unstable();
        counts.dedup();
        let mut style = assets::style().to_owned();
        for count in counts {
            style += &format!(".r{count},.k{count}{{--runs:{count}}}\n");
        }
        style
    }
}

/// A section of a task: its heading with what stands beside it, and its content.
fn section(id: &str, heading: &Markup, content: &Markup) -> Markup {
    // A section of one of several tasks is named by its task too.
    let labels =
        id.split_once('-').map_or_else(|| format!("h-{id}"), |(task, _)| format!("h-{task}-top h-{id}"));
    html! {
        section id=(id) aria-labelledby=(labels) {
            div.head { (heading) }
            (content)
        }
    }
}

/// A task on a page of several: what it shows, and its sections.
fn of_several(
    task: &Task<'_>,
    prefix: &str,
    has_samples: bool,
    contents: &mut Vec<(String, String)>,
) -> Markup {
    let name = task.title();
    contents.push((format!("{prefix}top"), name.to_owned()));
    html! {
        section id={ (prefix) "top" } class="task" aria-labelledby={ "h-" (prefix) "top" } {
            h2.th id={ "h-" (prefix) "top" } { (breakable(name)) }
            p.lead { (facts::sentences(task)) }
            (facts::list(task))
            (notices::list(task, &format!("Notices about {name}"), has_samples))
        }
        (task_sections(task, prefix, has_samples, &mut Vec::new()))
    }
}

/// The sections of a task.
fn task_sections(
    task: &Task<'_>,
    prefix: &str,
    has_samples: bool,
    contents: &mut Vec<(String, String)>,
) -> Markup {
    let mut sections = vec![(format!("{prefix}estimates"), "Estimates".to_owned(), estimates(task, prefix))];
    let id = format!("{prefix}groups");
    if let Some(section) = estimates::section(task, &id) {
        let title = match task.figures.groupings.as_slice() {
            [only] => format!("By {}", only.by),
            _ => "By group".to_owned(),
        };
        sections.push((id, title, section));
    }
    let id = format!("{prefix}comparison");
    if let Some(section) = pairs::section(task, &id, has_samples) {
        sections.push((id, "Comparison".to_owned(), section));
    }
    sections.extend(tasks::sections(task, prefix, has_samples));
    let markup = html! { @for (_, _, section) in &sections { (section) } };
    contents.extend(sections.into_iter().map(|(id, title, _)| (id, title)));
    markup
}

/// The estimates over all samples, with the key of all drawings.
fn estimates(task: &Task<'_>, prefix: &str) -> Markup {
    let id = format!("{prefix}estimates");
    let heading = html! {
        h2 id={ "h-" (id) } { "Estimates" }
        p.key {
            span {
                svg.m0 width="52" height="16" viewBox="0 -8 52 16" aria-hidden="true" {
                    line.ci x1="2" x2="50" y1="0" y2="0" {}
                    use.cap href="#cap" x="2" y="0" {}
                    use.cap href="#cap" x="50" y="0" {}
                }
                "interval"
            }
            span {
                svg.m0 width="22" height="16" viewBox="0 -8 22 16" aria-hidden="true" {
                    rect.se x="1" y="-7" width="20" height="14" {}
                }
                "± 1 standard error"
            }
            span {
                svg.m0 width="14" height="16" viewBox="0 -8 14 16" aria-hidden="true" {
                    use.mk href="#Kc" x="7" y="0" {}
                }
                "estimate"
            }
            // What the dashed line is, if there is one.
            @if let Some(chance) = task.chance {
                span {
                    svg.m0 width="10" height="16" viewBox="0 -8 10 16" aria-hidden="true" {
                        line.gl.ref x1="5" x2="5" y1="-8" y2="8" {}
                    }
                    "chance: " (chance.meaning())
                }
            }
        }
    };
    section(&id, &heading, &html! { (estimates::table(task)) (estimates::others(task)) })
}

fn footer(tasks: &[Task<'_>]) -> Markup {
    let legends: IndexMap<String, ()> =
        tasks.iter().filter_map(facts::legend).map(|legend| (legend, ())).collect();
    html! {
        @for legend in legends.keys() { p { (legend) } }
        p {
            "Two significant digits of the error set the decimals of a figure; " span.nw { "± ?" }
            " means that the error cannot be estimated. Made by errorbar " (env!("CARGO_PKG_VERSION")) "."
        }
    }
}

// The frame of a page: head with its content security policy, top bar, contents, footer.

/// What is shown, without the data and the script.
fn body(trail: &Markup, contents: &[(String, String)], main: &Markup, footer: &Markup) -> Markup {
    let skip = contents.get(1).map_or("top", |(anchor, _)| anchor.as_str());
    html! {
        svg.vh width="0" height="0" aria-hidden="true" focusable="false" { (defs()) }
        a.skip href={ "#" (skip) } { "Skip to the figures" }
        header.bar {
            div.in {
                span.brand { (brand()) "errorbar" }
                span.crumbs { (trail) }
                span.push {}
                button.btn.js type="button" id="theme" hidden { "Theme: system" }
            }
        }
        div.page {
            nav.toc aria-label="Sections" {
                ul { @for (anchor, title) in contents { li { a href={ "#" (anchor) } { (title) } } } }
            }
            main { (main) }
        }
        footer { div.in { (footer) } }
    }
}
