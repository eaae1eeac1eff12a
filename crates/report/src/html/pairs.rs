//! Differences of pairs of runs: the interval, what was better how often, p, and what could have been found.

use errorbar_core::{Defined, Direction, Estimate, IntervalMethod};
use errorbar_inference::{Comparison, ComparisonReport, CrossTable, Rank, Ranking};
use maud::{Markup, html};

use super::cells::{
    Attributes, NumberColumn, counted, drawing, drawn_head, drawn_table, head, minus, thousands,
};
use super::estimates::level_title;
use super::facts::range;
use super::section as page_section;
use super::task::{GroupComparison, Task, TaskComparison, run_name};
use crate::comparison::{Pair, p_text, test_title, two_digits};
use crate::notes::{common, most_frequent};
use crate::plot::{RunMarks, TieLine, tie_lines};
use crate::svg::{IntervalSize, IntervalStyle, Scale, Series, breakable, grid, interval, percent};
use crate::text::{grouped, percent_encoded, plain};

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
    keep_most_different(&mut pairs, MOST_LISTED, |(_, pair)| pair);
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
        (matrices(task, comparison, has_samples))
        (ranking_table(task, comparison))
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
            let shared = range(comparisons.iter().map(|c| c.n)).unwrap_or_default();
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
    common(comparisons.iter().map(df)).flatten()
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
    let heads = html! {
        (head("", what))
        (head("num", "difference ± error"))
        (head("num c3", &level))
        (drawn_head(&scale, None))
        @if has_outcomes { (head("wtlh", "better, equal, worse")) }
        (head("num", "p"))
        @if has_mde {
            (head("num", html! { abbr title="the least difference that is found 4 times in 5" { "MDE" } }))
        }
    };
    let rows = html! {
        tbody role="rowgroup" {
            @for ((group, pair), difference) in pairs.iter().zip(&differences) { (row(group, pair, difference)) }
        }
    };
    drawn_table(if is_wide { "t pairs bn" } else { "t pairs" }, &scale, label, &heads, &rows)
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
    let of_key = |of_key: &[GroupComparison]| {
        let GroupComparison { by, pairs: first, .. } = of_key.first()?;
        let comparisons = of_key.iter().flat_map(|group| {
            group.pairs.comparisons.iter().cloned().map(|mut c| {
                c.group = Some(group.group.clone());
                c
            })
        });
        let mut family = ComparisonReport::new(first.sides.clone(), first.options.clone());
        family.comparisons = comparisons.collect();
        let family = family.only(|_| true);
        let pairs: Vec<(String, Pair<'_>)> =
            family.comparisons.iter().map(|c| (c.group.clone().unwrap_or_default(), Pair::of(c))).collect();
        let number = counted(pairs.len() as u64, "group");
        (!pairs.is_empty()).then(|| {
            html! {
                h3.h3 { "Differences by " (breakable(by)) }
                p.note { "p is corrected by Holm’s method for " (number) "." }
                (table(task, &pairs, by, &format!("Differences by {by}")))
            }
        })
    };
    html! { @for of_key in groups.chunk_by(|a, b| a.by == b.by).filter_map(of_key) { (of_key) } }
}

// Where two runs part: samples by the scores of both.

/// The most matrices that are shown.
const MOST: usize = 6;

/// A matrix for each pair whose scores are few different ones.
pub(super) fn matrices(task: &Task<'_>, comparison: &TaskComparison, has_samples: bool) -> Markup {
    let mut pairs: Vec<(Pair<'_>, &CrossTable)> = comparison
        .pairs
        .comparisons
        .iter()
        .filter_map(|c| Some((Pair::of(c), c.cross_table.as_ref()?)))
        .collect();
    let all = pairs.len();
    keep_most_different(&mut pairs, MOST, |(pair, _)| pair);
    if pairs.is_empty() {
        return Markup::default();
    }
    html! {
        h3.h3 { "Where they part" }
        p.note {
            "Samples by the score of each run. Off the diagonal one run is ahead, in its colour."
            @if all > MOST {
                " These are the " (MOST) " pairs that differ most, of " (all) "; " (all - MOST) " are not shown."
            }
            @if has_samples { " " span.noprint { "A number opens its samples below." } }
        }
        div.mats { @for (pair, table) in &pairs { (score_matrix(task, pair, table, has_samples)) } }
    }
}

/// Of too many pairs, those that can be told apart first, then those that differ most.
fn keep_most_different<'c, T>(pairs: &mut Vec<T>, most: usize, pair: impl Fn(&T) -> &Pair<'c>) {
    if pairs.len() <= most {
        return;
    }
    let distance = |pair: &Pair<'_>| pair.comparison.difference.number().map_or(0.0, f64::abs);
    pairs.sort_by(|a, b| {
        let (a, b) = (pair(a), pair(b));
        b.is_decided.cmp(&a.is_decided).then(distance(b).total_cmp(&distance(a)))
    });
    pairs.truncate(most);
}

fn score_matrix(task: &Task<'_>, pair: &Pair<'_>, table: &CrossTable, has_samples: bool) -> Markup {
    let (ahead, behind) = (task.series(pair.ahead), task.series(pair.behind));
    let size = table.scores.len();
    let labels = labels(&table.scores);
    // Counts are by the base, then by the other side; rows are of the run that is ahead.
    let cell = |of_ahead: usize, of_behind: usize| {
        let (base, other) = if pair.is_as_computed { (of_behind, of_ahead) } else { (of_ahead, of_behind) };
        table.counts.get(base).and_then(|row| row.get(other)).copied().unwrap_or(0)
    };
    let is_lower_better = pair.comparison.direction == Direction::Lower;
    let label = |at: usize| labels.get(at).map_or("", String::as_str);
    let (ahead_name, behind_name) = (pair.ahead, pair.behind);
    let region = format!("{ahead_name} against {behind_name}{}", task.in_words());
    // The best scores are on top and at the right.
    let ascending: Vec<usize> = if is_lower_better { (0..size).rev().collect() } else { (0..size).collect() };
    let square = |row: usize, column: usize| {
        let number = cell(row, column);
        let better = if is_lower_better { row < column } else { row > column };
        let class = match (row == column, better) {
            (true, _) => "tie",
            (false, true) => ahead.class,
            (false, false) => behind.class,
        };
        let shade = match number {
            0 => "z",
            1..=4 => "q1",
            5..=11 => "q2",
            12..=24 => "q3",
            _ => "q4",
        };
        let samples = counted(number, "sample");
        let words = format!("{samples}: {ahead_name} {}, {behind_name} {}", label(row), label(column));
        html! {
            td.(class).(shade) {
                @if number == 0 { span { "0" } }
                @else if has_samples { a href=(link(pair, table, row, column)) aria-label=(words) { (grouped(number)) } }
                @else { span title=(words) { (grouped(number)) } }
            }
        }
    };
    html! {
        figure.keep {
            div.wide role="region" aria-label=(region) tabindex="0" {
                table.mat {
                    caption.vh { "Samples by score, " (ahead_name) " against " (behind_name) }
                    tbody {
                        @for (line, row) in ascending.iter().rev().enumerate() {
                            tr {
                                @if line == 0 {
                                    th.axn.side rowspan=(size) scope="rowgroup" { span title=(ahead_name) { (ahead_name) } }
                                }
                                th scope="row" { (label(*row)) }
                                @for column in &ascending { (square(*row, *column)) }
                            }
                        }
                    }
                    tfoot {
                        tr {
                            td.corner {}
                            td.corner {}
                            @for column in &ascending { th scope="col" { (label(*column)) } }
                        }
                        tr {
                            td.corner colspan="2" {}
                            th.axn colspan=(size) scope="colgroup" { span title=(behind_name) { (behind_name) } }
                        }
                    }
                }
            }
            @if let Some((better, equal, worse)) = pair.outcomes() {
                // Of many runs all have one mark, and only names tell them apart.
                @let class = if ahead == behind { "any" } else { "vh" };
                figcaption.mcap {
                    "ahead on " (ahead.dot()) span.(class) { (ahead_name) " " } (grouped(better)) ", "
                    (behind.dot()) span.(class) { (behind_name) " " } (grouped(worse)) "; equal on " (grouped(equal))
                }
            }
        }
    }
}

/// The link to the samples of a cell: the score of each run.
fn link(pair: &Pair<'_>, table: &CrossTable, row: usize, column: usize) -> String {
    let score = |at: usize| table.scores.get(at).map(|score| score.to_string()).unwrap_or_default();
    let part = |name: &str, at: usize| format!("{}:{}", encode(name), encode(&score(at)));
    format!("#samples?a={}&b={}", part(pair.ahead, row), part(pair.behind, column))
}

/// The text in a query.
pub(super) fn encode(text: &str) -> String {
    percent_encoded(text, b"-._~")
}

/// Scores as they are written: shares of a few epochs as fractions.
fn labels(scores: &[f64]) -> Vec<String> {
    let is_whole = |number: f64| (number - number.round()).abs() < 1e-6;
    let is_unit = scores.iter().all(|score| (0.0..=1.0).contains(score));
    let denominator = (1..=10_u32).find(|d| scores.iter().all(|score| is_whole(score * f64::from(*d))));
    match denominator.filter(|d| is_unit && *d > 1) {
        Some(d) => scores.iter().map(|score| format!("{}/{d}", (score * f64::from(d)).round())).collect(),
        None => scores.iter().map(|score| super::cells::minus(&plain(*score))).collect(),
    }
}

// The order of three or more runs, as far as the data support one.
//
// Few runs with short names are in a line, with lines under those that cannot be told apart; others are in a column, with
// letters for the same.

/// The most relations that are put into words.
const MOST_SAID: usize = 6;
/// The most runs that are in a line, and the most characters of their names together.
const MOST_IN_LINE: usize = 5;
const LONGEST_LINE: usize = 60;

/// The rankings over all samples and within groups.
pub(super) fn ranking_table(task: &Task<'_>, comparison: &TaskComparison) -> Markup {
    let Some(all) = &comparison.ranking else { return Markup::default() };
    let alpha = crate::text::plain(((1.0 - all.level) * 1e9).round() / 1e9);
    let pairs = all.ranks.len() * all.ranks.len().saturating_sub(1) / 2;
    let width: usize = all.ranks.iter().map(|rank| rank.side.chars().count()).sum();
    let is_line = all.ranks.len() <= MOST_IN_LINE && width <= LONGEST_LINE;
    let (what, within) = if is_line { ("line joins", "row") } else { ("letter is shared by", "column") };
    let label = format!("Ranking{}, scrolls sideways", task.in_words());
    html! {
        h3.h3 { "Ranking" }
        p.note {
            "In order of the estimate. A " (what) " runs that cannot be told apart (Holm’s p ≥ " (alpha) " for the "
            (pairs) " pairs of the " (within) "); the number is the range of ranks that the same tests leave."
        }
        div.wide role="region" aria-label=(label) tabindex="0" {
            @if is_line { (lines(task, all, &comparison.groups)) } @else { (columns(task, all, &comparison.groups)) }
        }
    }
}

/// The groups that have a ranking; with their key if there are several keys.
fn labelled(groups: &[GroupComparison]) -> impl Iterator<Item = (Markup, &Ranking)> {
    let has_several = groups.iter().any(|group| Some(&group.by) != groups.first().map(|g| &g.by));
    groups.iter().filter_map(move |group| {
        let label = html! {
            @if has_several { small { (group.by) } " " }
            span class="any clamp" dir="auto" { (breakable(&group.group)) }
        };
        Some((label, group.ranking.as_ref()?))
    })
}

/// A row for all samples and for each group, the runs from left to right.
fn lines(task: &Task<'_>, all: &Ranking, groups: &[GroupComparison]) -> Markup {
    html! {
        table class={ "t rank k" (all.ranks.len()) } {
            thead {
                tr {
                    th scope="col" { "samples" }
                    th scope="col" { "rank" }
                    th scope="col" { "what can be said" }
                }
            }
            tbody {
                (line(&html! { b { "all" } }, task, all))
                @for (label, ranking) in labelled(groups) { (line(&label, task, ranking)) }
            }
        }
    }
}

fn line(label: &Markup, task: &Task<'_>, ranking: &Ranking) -> Markup {
    html! {
        tr {
            th scope="row" { (label) }
            td.order {
                ol {
                    @for rank in &ranking.ranks {
                        li { small { (rank.range_text()) } " " (run_name(&rank.side, task.series(&rank.side))) }
                    }
                }
                (ties(&ranking.ranks))
            }
            td.say { (relations(&ranking.ranks)) }
        }
    }
}

/// A line under the runs that share a letter; runs that overlap are on different levels, and a run in between that is not
/// of them has a thin line.
fn ties(ranks: &[Rank]) -> Markup {
    let count = ranks.len().max(1) as f64;
    let lines = tie_lines(ranks);
    let levels = lines.iter().map(|line| line.level + 1).max().unwrap_or(0);
    let stroke = |class: &str, first: usize, last: usize, level: usize| {
        let from = percent(100.0 * first as f64 / count + 1.0);
        let to = percent(100.0 * (last + 1) as f64 / count - 2.0);
        let y = 2 + 5 * level;
        html! { line.(class) x1=(from) x2=(to) y1=(y) y2=(y) {} }
    };
    html! {
        svg.ties height=(5 + 5 * levels) aria-hidden="true" focusable="false" {
            @for TieLine { level, stretches } in &lines {
                @if let [(first, _), .., (_, last)] = stretches.as_slice() { (stroke("tiegap", *first, *last, *level)) }
                @for (first, last) in stretches { (stroke("tieline", *first, *last, *level)) }
            }
        }
    }
}

/// A row for each run, a column for all samples and for each group.
fn columns(task: &Task<'_>, all: &Ranking, groups: &[GroupComparison]) -> Markup {
    let of_groups: Vec<(Markup, &Ranking)> = labelled(groups).collect();
    html! {
        table.t.ranks {
            thead {
                tr {
                    th scope="col" { (super::estimates::run_word(task)) }
                    th scope="col" { "all" }
                    @for (label, _) in &of_groups { th scope="col" { span.clip { (label) } } }
                }
            }
            tbody {
                @for rank in &all.ranks {
                    tr {
                        th scope="row" { (run_name(&rank.side, task.series(&rank.side))) }
                        (place(Some(rank)))
                        @for (_, ranking) in &of_groups {
                            (place(ranking.ranks.iter().find(|other| other.side == rank.side)))
                        }
                    }
                }
            }
        }
    }
}

fn place(rank: Option<&Rank>) -> Markup {
    html! {
        td {
            @match rank {
                Some(rank) => span.nw {
                    (rank.range_text()) " " small { (rank.tie_letters().collect::<Vec<_>>().join(" ")) }
                },
                None => span.dim { "–" },
            }
        }
    }
}

/// What the tests support, in words.
fn relations(ranks: &[Rank]) -> Markup {
    if ranks.iter().any(|rank| rank.tie_groups.is_empty()) {
        return html! { "see the ranges" };
    }
    let differ =
        |a: &Rank, b: &Rank| !a.tie_letters().any(|letter| b.tie_letters().any(|other| other == letter));
    let pairs: Vec<(&Rank, &Rank)> = ranks
        .iter()
        .enumerate()
        .flat_map(|(at, a)| ranks.iter().skip(at + 1).filter(move |b| differ(a, b)).map(move |b| (a, b)))
        .collect();
    let name = |rank: &Rank| html! { span.any { (rank.side) } };
    let is_order = ranks.len() > 1 && pairs.len() == ranks.len() * (ranks.len() - 1) / 2;
    html! {
        @if is_order {
            @for (at, rank) in ranks.iter().enumerate() { @if at > 0 { " > " } (name(rank)) }
        } @else if pairs.is_empty() {
            "nothing can be told apart"
        } @else {
            @for (at, (a, b)) in pairs.iter().take(MOST_SAID).enumerate() {
                @if at > 0 { ", " }
                (name(a)) " > " (name(b))
            }
            @if pairs.len() > MOST_SAID { " and " (pairs.len() - MOST_SAID) " more" }
        }
    }
}

#[cfg(test)]
mod tests {
    use errorbar_core::Estimate;

    use super::*;

    #[test]
    fn shares_of_epochs_are_fractions() {
        assert_eq!(labels(&[0.0, 1.0 / 3.0, 2.0 / 3.0, 1.0]), ["0/3", "1/3", "2/3", "3/3"]);
        assert_eq!(labels(&[0.0, 1.0]), ["0", "1"]);
        assert_eq!(labels(&[-1.0, 2.5]), ["−1", "2.5"]);
    }

    #[test]
    fn names_do_not_leave_their_place_in_a_link() {
        assert_eq!(encode("a&b=c:\"<é"), "a%26b%3Dc%3A%22%3C%C3%A9");
    }

    fn said(ranks: &[Rank]) -> String {
        relations(ranks).into_string()
    }

    fn rank(side: &str, letters: &str) -> Rank {
        Rank::new(side, Estimate::new(0.5), 1, (1, 3), letters)
    }

    #[test]
    fn words_claim_no_more_than_the_letters() {
        assert_eq!(said(&[rank("a", "a"), rank("b", "a")]), "nothing can be told apart");
        let text = said(&[rank("a", "a"), rank("b", "ab"), rank("<c>", "b")]);
        assert_eq!(text, "<span class=\"any\">a</span> &gt; <span class=\"any\">&lt;c&gt;</span>");
        let text = said(&[rank("a", "a"), rank("b", "b"), rank("c", "c")]);
        assert_eq!(text.matches("&gt;").count(), 2, "{text}");
        // Neighbours differ, the ends do not: that is no order of three.
        let text = said(&[rank("a", "a"), rank("b", "b"), rank("c", "a")]);
        assert!(text.contains(", ") && text.matches("&gt;").count() == 2, "{text}");
        assert_eq!(said(&[rank("a", ""), rank("b", "")]), "see the ranges", "too many groups to name");
        // `a2` is another group than `a`.
        assert_ne!(said(&[rank("a", "a"), rank("b", "a2")]), "nothing can be told apart");
    }

    #[test]
    fn lines_that_overlap_have_levels() {
        let drawn = ties(&[rank("a", "a"), rank("b", "ab"), rank("c", "b")]).0;
        assert!(drawn.contains("y1=\"2\"") && drawn.contains("y1=\"7\""), "{drawn}");
        let apart = ties(&[rank("a", "a"), rank("b", "a"), rank("c", "b"), rank("d", "b")]).0;
        assert!(!apart.contains("y1=\"7\"") && apart.matches("<line").count() == 2, "{apart}");
    }

    /// A run between two that cannot be told apart, from which both can: a line under all three would deny that.
    #[test]
    fn a_line_does_not_join_what_is_told_apart() {
        let drawn = ties(&[rank("a", "a"), rank("b", "b"), rank("c", "a")]).0;
        assert_eq!((drawn.matches("tieline").count(), drawn.matches("tiegap").count()), (2, 1), "{drawn}");
    }
}
