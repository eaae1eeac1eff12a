//! Differences of pairs of runs: the interval, what was better how often, p, and what could have been found.

use errorbar_core::{Defined, Direction, Estimate, IntervalMethod};
use errorbar_inference::{Comparison, ComparisonReport};
use maud::{Markup, html};

use super::cells::{Attributes, NumberColumn, axis_head, counted, drawing, minus, thousands};
use super::estimates::level_title;
use super::task::{GroupComparison, Task, TaskComparison, run_name};
use super::{flips, ranking, section as page_section};
use crate::comparison::{Pair, p_text, test_title, two_digits};
use crate::notes::most_frequent;
use crate::number::{grouped, plain};
use crate::plot::RunMarks;
use crate::svg::{IntervalSize, IntervalStyle, Scale, Series, breakable, grid, interval, percent};

/// The most pairs that have a row each without being asked for; of more there is a matrix.
const MOST_ROWS: usize = 15;
/// The most pairs that have a row at all.
const MOST_LISTED: usize = 500;

/// The comparison of the runs of a task: a section.
pub(super) fn section(task: &Task<'_>, id: &str, has_samples: bool) -> Option<Markup> {
    let comparison = task.comparison.as_ref()?;
    let mut pairs: Vec<(String, Pair<'_>)> =
        comparison.pairs.comparisons.iter().map(|c| (String::new(), Pair::of(c))).collect();
    let all = pairs.len();
    if all > MOST_LISTED {
        flips::sort_by_distance(&mut pairs, |(_, pair)| pair);
        pairs.truncate(MOST_LISTED);
    }
    let rows = table(task, &pairs, "pair", "Differences of pairs of runs");
    let has_mde = comparison.pairs.comparisons.iter().any(|c| c.mde.is_ok());
    let heading = html! {
        h2 id={ "h-" (id) } { "Comparison" }
        @if has_mde {
            p.key {
                span {
                    svg width="30" height="14" aria-hidden="true" { rect.hatch width="30" height="14" {} }
                    "below the MDE, the least difference found 4 times in 5"
                }
            }
        }
    };
    let content = html! {
        p.sub { (introduction(comparison)) }
        @if all > MOST_ROWS {
            // What is compared with one run alone is one row of a matrix.
            @if comparison.pairs.options.all_pairs { (matrix(task, comparison)) }
            details.more {
                summary {
                    @if all > pairs.len() {
                        "The " (MOST_LISTED) " pairs of " (grouped(all as u64)) " that differ most, with their intervals"
                    } @else {
                        "All " (grouped(all as u64)) " pairs with their intervals"
                    }
                }
                (rows)
            }
        } @else {
            (rows)
        }
        (flips::matrices(task, comparison, has_samples))
        (ranking::table(task, comparison))
        @if task.runs.len() == 2 { (by_group(task, &comparison.groups)) }
    };
    Some(page_section(id, &heading, &content))
}

/// Every run against every other, in the order of the estimates.
fn matrix(task: &Task<'_>, comparison: &TaskComparison) -> Markup {
    let runs: Vec<String> =
        task.order().iter().filter_map(|at| Some(task.runs.get(*at)?.0.name.clone())).collect();
    let plot = crate::plot::pairs(&runs, &comparison.pairs.comparisons, &RunMarks::default());
    let label = format!("Every two runs{}, scrolls sideways", task.in_words());
    html! {
        p.note { (plot.caption) }
        div.wide.mx role="region" aria-label=(label) tabindex="0" { (plot.to_html()) }
    }
}

/// How differences were computed, in words.
fn introduction(comparison: &TaskComparison) -> String {
    let comparisons = &comparison.pairs.comparisons;
    let Some(first) = comparisons.first() else { return String::new() };
    let is_unmatched = comparison.is_unmatched();
    let mut words = vec![match first.is_paired {
        true if is_unmatched => {
            let least = comparisons.iter().map(|c| c.n).min().unwrap_or(0);
            let most = comparisons.iter().map(|c| c.n).max().unwrap_or(0);
            let shared = if least == most {
                grouped(most)
            } else {
                format!("{} to {}", grouped(least), grouped(most))
            };
            format!("Differences are taken sample by sample, over the {shared} samples that two runs share.")
        }
        true => "The runs have the same samples, so differences are taken sample by sample.".to_owned(),
        false => "The runs have different samples, which are not matched.".to_owned(),
    }];
    if !first.cluster.is_empty() {
        words.push(format!("Their errors are clustered by {}.", first.cluster.join(" and ")));
    }
    let tests: Vec<&str> =
        comparisons.iter().filter_map(|c| Some(test_title(c.test.as_ref().ok()?.method))).collect();
    if let Some(test) = most_frequent(&tests) {
        let df = common_df(comparisons).map(|df| format!(" with {} degrees of freedom", plain(df)));
        let tested = comparisons.iter().filter(|c| c.p_adjusted.is_some()).count();
        let holm = match tested {
            0 | 1 => String::new(),
            tested => format!(", and corrected by Holm’s method for {tested} pairs"),
        };
        words.push(format!("p is two-sided, by {}{}{holm}.", test, df.unwrap_or_default()));
    }
    if !comparison.pairs.options.all_pairs {
        let count = comparison.pairs.sides.len();
        words.push(format!("With {count} runs, each is compared with {} alone.", first.base));
    }
    words.join(" ")
}

/// The degrees of freedom of the intervals, if they are the same.
fn common_df(comparisons: &[Comparison]) -> Option<f64> {
    let df = |c: &Comparison| {
        let interval = c.difference.interval.as_ref().ok().filter(|i| i.method == IntervalMethod::T)?;
        interval.df.map(|df| (df * 10.0).round() / 10.0)
    };
    let first = comparisons.first().and_then(df)?;
    comparisons.iter().all(|c| df(c) == Some(first)).then_some(first)
}

/// Rows of pairs, each with a label if they are of groups.
fn table(task: &Task<'_>, pairs: &[(String, Pair<'_>)], what: &str, label: &str) -> Markup {
    let differences: Vec<Estimate> = pairs.iter().map(|(_, pair)| pair.difference()).collect();
    let ends = |e: &Estimate| {
        let interval = e.interval.as_ref().ok().map(|i| [i.lower, i.upper]);
        interval.into_iter().flatten().chain(e.number()).collect::<Vec<f64>>()
    };
    let scale = Scale::differences(differences.iter().flat_map(ends));
    let (column, level) = (NumberColumn::of(&differences, true), level_title(&differences));
    let has_outcomes = pairs.iter().any(|(_, pair)| pair.outcomes().is_some());
    let has_mde = pairs.iter().any(|(_, pair)| pair.comparison.mde.is_ok());
    let row = |group: &str, pair: &Pair<'_>, difference: &Estimate| {
        let (ahead, behind) = (task.series(pair.ahead), task.series(pair.behind));
        let names = html! {
            (run_name(pair.ahead, ahead)) " "
            span.minus { span.dim { "−" } " " (run_name(pair.behind, behind)) }
        };
        // Short names stay on a line.
        let is_short = pair.ahead.chars().count() + pair.behind.chars().count() <= 18;
        let lines = if is_short { "nw" } else { "below" };
        let series = if pair.is_decided { ahead } else { ahead.muted() };
        let series = Series { is_partial: ahead.is_partial || behind.is_partial, ..series };
        let drawn = html! {
            (hatch(&scale, &pair.comparison.mde))
            (grid(&scale, None))
            (interval(&scale, difference, &IntervalStyle::new(series, IntervalSize::Table)))
        };
        let cells = html! {
            th scope="row" role="rowheader" {
                @if group.is_empty() {
                    span.(lines) { (names) }
                } @else {
                    b class="any clamp" dir="auto" { (breakable(group)) }
                    span.full2.(lines) { (names) }
                }
            }
            td role="cell" class="num val" { (column.difference(difference)) }
            td role="cell" class="num c3" data-l=(level.replace(" interval", "")) {
                (column.interval(difference, true))
            }
            td role="cell" class="pl" { (drawing(&drawn)) }
            @if has_outcomes { (outcomes(pair, ahead.class, behind.class)) }
            td role="cell" class="num c6" data-l="p" {
                @if let Some(p) = pair.p() { (p_text(p)) } @else { span.dim { "–" } }
                // Of many runs all have one colour, so a word says what colours say of few.
                @if pair.is_decided && ahead == ahead.muted() { " " small.apart { "told apart" } }
            }
            @if has_mde {
                td role="cell" class="num c7" data-l="MDE" {
                    @if let Ok(mde) = &pair.comparison.mde { (minus(&thousands(&two_digits(*mde)))) }
                    @else { span.dim { "–" } }
                }
            }
        };
        // The value is what the first of the heading is better by, whichever of the two was the base.
        let of_pair = Attributes::default().with("role", "row").with("data-base", pair.behind);
        of_pair.with("data-other", pair.ahead).with_estimate(difference).element("tr", &cells)
    };
    let is_wide = differences.iter().any(NumberColumn::is_wide);
    html! {
        table.t.pairs.bn[is_wide] data-scale=(scale.ends()) role="table" aria-label=(label) {
            thead role="rowgroup" {
                tr role="row" {
                    th role="columnheader" scope="col" { (what) }
                    th role="columnheader" scope="col" class="num" { "difference ± error" }
                    th role="columnheader" scope="col" class="num c3" { (level) }
                    th role="columnheader" scope="col" class="pl" {
                        span.vh { "drawn" } (axis_head(&scale, None))
                    }
                    @if has_outcomes {
                        th role="columnheader" scope="col" class="wtlh" { "better, equal, worse" }
                    }
                    th role="columnheader" scope="col" class="num" { "p" }
                    @if has_mde {
                        th role="columnheader" scope="col" class="num" {
                            abbr title="the least difference that is found 4 times in 5" { "MDE" }
                        }
                    }
                }
            }
            tbody role="rowgroup" {
                @for ((group, pair), difference) in pairs.iter().zip(&differences) {
                    (row(group, pair, difference))
                }
            }
        }
    }
}

/// What is too small to be found, hatched.
fn hatch(scale: &Scale, mde: &Defined<f64>) -> Markup {
    let Some(mde) = mde.as_ref().ok().filter(|mde| mde.is_finite()) else { return Markup::default() };
    let (from, to) = (scale.within(-mde), scale.within(*mde));
    html! { rect.hatch x=(percent(from)) y="0" width=(percent(to - from)) height="100%" {} }
}

/// Three numbers over a bar: in how many samples the first is better, equal, worse.
fn outcomes(pair: &Pair<'_>, ahead: &str, behind: &str) -> Markup {
    let Some((better, equal, worse)) = pair.outcomes() else {
        return html! { td role="cell" class="c5" {} };
    };
    let total = (better + equal + worse).max(1) as f64;
    let share = |part: u64| 100.0 * part as f64 / total;
    let (first, second) = match pair.comparison.direction {
        Direction::Neither => (" higher, ", " lower"),
        _ => (" better, ", " worse"),
    };
    html! {
        td role="cell" class="c5 wtl" data-l="better, equal, worse" {
            div.nums {
                span { (grouped(better)) span.vh { (first) } }
                span.dim { (grouped(equal)) span.vh { " equal, " } }
                span { (grouped(worse)) span.vh { (second) } }
            }
            svg aria-hidden="true" focusable="false" {
                g.(ahead) { rect.fillc x="0" width=(percent(share(better))) height="8" {} }
                rect.fillt x=(percent(share(better))) width=(percent(share(equal))) height="8" {}
                g.(behind) { rect.fillc x=(percent(100.0 - share(worse))) width=(percent(share(worse))) height="8" {} }
            }
        }
    }
}

/// The differences of two runs within each group, a table for each metadata key.
fn by_group(task: &Task<'_>, groups: &[GroupComparison]) -> Markup {
    let mut all = Vec::new();
    for of_key in groups.chunk_by(|a, b| a.by == b.by) {
        let Some(by) = of_key.first().map(|group| group.by.as_str()) else { continue };
        // The groups of a key are shown together, so their tests are one family.
        let comparisons = of_key.iter().flat_map(|group| {
            group.pairs.comparisons.iter().cloned().map(|mut c| {
                c.group = Some(group.group.clone());
                c
            })
        });
        let Some(first) = of_key.first() else { continue };
        let mut family = ComparisonReport::new(first.pairs.sides.clone(), first.pairs.options.clone());
        family.comparisons = comparisons.collect();
        let family = family.only(|_| true);
        if family.comparisons.is_empty() {
            continue;
        }
        let pairs: Vec<(String, Pair<'_>)> =
            family.comparisons.iter().map(|c| (c.group.clone().unwrap_or_default(), Pair::of(c))).collect();
        let number = counted(pairs.len() as u64, "group");
        all.push(html! {
            h3.h3 { "Differences by " (breakable(by)) }
            p.note { "p is corrected by Holm’s method for " (number) "." }
            (table(task, &pairs, by, &format!("Differences by {by}")))
        });
    }
    html! { @for of_key in all { (of_key) } }
}
