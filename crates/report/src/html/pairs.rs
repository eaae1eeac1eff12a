//! Differences of pairs of runs: the interval, what was better how often, p, and what could have been found.

use std::fmt::Write as _;

use errorbar_core::{Direction, IntervalMethod, Maybe};
use errorbar_inference::{Comparison, ComparisonReport, ComparisonWarning};

use super::cells::{NumberColumn, axis_head, count, counted, data, minus, thousands};
use super::estimates::level_title;
use super::task::{GroupComparison, Pair, Task, TaskComparison, run_name};
use super::{flips, labels, ranking};
use crate::comparison::{p_text, test_title, two_digits};
use crate::notes::most_frequent;
use crate::number::plain;
use crate::svg::{IntervalSize, IntervalStyle, Scale, Series, breakable, escape, grid, interval, percent};

/// The most pairs that have a row each without being asked for; of more there is a matrix.
const MOST_ROWS: usize = 15;
/// The most pairs that have a row at all.
const MOST_LISTED: usize = 500;

/// The comparison of the runs of a task: a section.
pub(super) fn section(task: &Task<'_>, id: &str, has_samples: bool) -> Option<String> {
    let comparison = task.comparison.as_ref()?;
    let labels = labels(id);
    let mut html = format!(
        "<section id=\"{id}\" aria-labelledby=\"{labels}\"><div class=\"head\"><h2 id=\"h-{id}\">Comparison</h2>{}</div><p \
         class=\"sub\">{}</p>",
        mde_key(comparison),
        introduction(comparison),
    );
    let mut pairs: Vec<(String, Pair<'_>)> =
        comparison.pairs.comparisons.iter().map(|c| (String::new(), Pair::of(c))).collect();
    let all = pairs.len();
    if all > MOST_LISTED {
        flips::sort_by_distance(&mut pairs, |(_, pair)| pair);
        pairs.truncate(MOST_LISTED);
    }
    let rows = table(task, &pairs, "pair", "Differences of pairs of runs");
    // What is compared with one run alone is one row of a matrix.
    let matrix = if comparison.pairs.options.all_pairs { matrix(task, comparison) } else { String::new() };
    let summary = match all - pairs.len() {
        0 => format!("All {} pairs with their intervals", count(all as u64)),
        _ => {
            format!("The {MOST_LISTED} pairs of {} that differ most, with their intervals", count(all as u64))
        }
    };
    html += &match all > MOST_ROWS {
        true => format!("{matrix}<details class=\"more\"><summary>{summary}</summary>{rows}</details>"),
        false => rows,
    };
    html += &flips::matrices(task, comparison, has_samples);
    html += &ranking::table(task, comparison);
    if task.runs.len() == 2 {
        html += &by_group(task, &comparison.groups);
    }
    Some(html + "</section>")
}

/// Every run against every other, in the order of the estimates.
fn matrix(task: &Task<'_>, comparison: &TaskComparison) -> String {
    let runs: Vec<String> =
        task.order().iter().filter_map(|at| Some(task.runs.get(*at)?.0.name.clone())).collect();
    let plot = crate::plot::Pairs::new(&runs, comparison.pairs.comparisons.iter().collect()).draw();
    format!(
        "<p class=\"note\">{}</p><div class=\"wide mx\" role=\"region\" aria-label=\"Every two runs{}, scrolls sideways\" \
         tabindex=\"0\">{}</div>",
        escape(&plot.caption),
        task.in_words(),
        plot.to_html()
    )
}

fn mde_key(comparison: &TaskComparison) -> String {
    if comparison.pairs.comparisons.iter().all(|c| c.mde.is_err()) {
        return String::new();
    }
    "<p class=\"key\"><span><svg width=\"30\" height=\"14\" aria-hidden=\"true\"><rect class=\"hatch\" width=\"30\" \
     height=\"14\"/></svg>below the MDE, the least difference found 4 times in 5</span></p>"
        .to_owned()
}

/// How differences were computed, in words.
fn introduction(comparison: &TaskComparison) -> String {
    let comparisons = &comparison.pairs.comparisons;
    let Some(first) = comparisons.first() else { return String::new() };
    let is_unmatched = comparison
        .pairs
        .warnings
        .iter()
        .any(|warning| matches!(warning, ComparisonWarning::Unmatched { .. }));
    let mut words = vec![match first.is_paired {
        true if is_unmatched => {
            let least = comparisons.iter().map(|c| c.n).min().unwrap_or(0);
            let most = comparisons.iter().map(|c| c.n).max().unwrap_or(0);
            let shared =
                if least == most { count(most) } else { format!("{} to {}", count(least), count(most)) };
            format!("Differences are taken sample by sample, over the {shared} samples that two runs share.")
        }
        true => "The runs have the same samples, so differences are taken sample by sample.".to_owned(),
        false => "The runs have different samples, which are not matched.".to_owned(),
    }];
    if !first.cluster.is_empty() {
        words.push(format!("Their errors are clustered by {}.", escape(&first.cluster.join(" and "))));
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
        words.push(format!("p is two-sided, by {}{}{holm}.", escape(test), df.unwrap_or_default()));
    }
    if !comparison.pairs.options.all_pairs {
        let count = comparison.pairs.sides.len();
        words.push(format!("With {count} runs, each is compared with {} alone.", escape(&first.base)));
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
fn table(task: &Task<'_>, pairs: &[(String, Pair<'_>)], what: &str, label: &str) -> String {
    let differences: Vec<_> = pairs.iter().map(|(_, pair)| pair.difference()).collect();
    let ends = |e: &errorbar_core::Estimate| {
        let interval = e.interval.as_ref().ok().map(|i| [i.lower, i.upper]);
        interval.into_iter().flatten().chain(e.number()).collect::<Vec<f64>>()
    };
    let scale = Scale::differences(differences.iter().flat_map(ends));
    let column = NumberColumn::of(&differences, true);
    let level = level_title(&differences);
    let has_outcomes = pairs.iter().any(|(_, pair)| pair.outcomes().is_some());
    let has_mde = pairs.iter().any(|(_, pair)| pair.comparison.mde.is_ok());
    let mut html = format!(
        "<table class=\"t pairs{}\" data-scale=\"{}\" role=\"table\" aria-label=\"{}\"><thead role=\"rowgroup\"><tr \
         role=\"row\"><th role=\"columnheader\" scope=\"col\">{}</th><th role=\"columnheader\" scope=\"col\" \
         class=\"num\">difference ± error</th><th role=\"columnheader\" scope=\"col\" class=\"num c3\">{level}</th><th \
         role=\"columnheader\" scope=\"col\" class=\"pl\"><span class=\"vh\">drawn</span>{}</th>",
        if differences.iter().any(NumberColumn::is_wide) { " bn" } else { "" },
        scale.ends(),
        escape(label),
        escape(what),
        axis_head(&scale, None),
    );
    if has_outcomes {
        html += "<th role=\"columnheader\" scope=\"col\" class=\"wtlh\">better, equal, worse</th>";
    }
    html += "<th role=\"columnheader\" scope=\"col\" class=\"num\">p</th>";
    if has_mde {
        html += "<th role=\"columnheader\" scope=\"col\" class=\"num\"><abbr title=\"the least difference that is found 4 \
                 times in 5\">MDE</abbr></th>";
    }
    html += "</tr></thead><tbody role=\"rowgroup\">";
    for ((group, pair), difference) in pairs.iter().zip(&differences) {
        let (ahead, behind) = (task.series(pair.ahead), task.series(pair.behind));
        let names = format!(
            "{} <span class=\"minus\"><span class=\"dim\">−</span> {}</span>",
            run_name(pair.ahead, ahead),
            run_name(pair.behind, behind)
        );
        // Short names stay on a line.
        let is_short = pair.ahead.chars().count() + pair.behind.chars().count() <= 18;
        let lines = if is_short { "nw" } else { "below" };
        let heading = match group.is_empty() {
            true => format!("<span class=\"{lines}\">{names}</span>"),
            false => format!(
                "<b class=\"any clamp\" dir=\"auto\">{}</b><span class=\"full2 {lines}\">{names}</span>",
                breakable(group)
            ),
        };
        let series = if pair.is_decided { ahead } else { ahead.muted() };
        let series = Series { is_partial: ahead.is_partial || behind.is_partial, ..series };
        let drawn = interval(&scale, difference, &IntervalStyle::new(series, IntervalSize::Table));
        let _ = write!(
            html,
            "<tr role=\"row\" data-base=\"{}\" data-other=\"{}\"{}><th scope=\"row\" role=\"rowheader\">{heading}</th><td \
             role=\"cell\" class=\"num val\">{}</td><td role=\"cell\" class=\"num c3\" data-l=\"{}\">{}</td><td role=\"cell\" \
             class=\"pl\"><svg class=\"iv\" width=\"100%\" aria-hidden=\"true\" focusable=\"false\">{}{}{drawn}</svg></td>",
            // The value is what the first of the heading is better by, whichever of the two was the base.
            escape(pair.behind),
            escape(pair.ahead),
            data(difference),
            column.difference(difference),
            level.replace(" interval", ""),
            column.interval(difference, true),
            hatch(&scale, &pair.comparison.mde),
            grid(&scale, None),
        );
        if has_outcomes {
            html += &outcomes(pair, ahead.class, behind.class);
        }
        let p = pair.p().map_or_else(|| "<span class=\"dim\">–</span>".to_owned(), |p| escape(&p_text(p)));
        // Of many runs all have one colour, so a word says what colours say of few.
        let apart = match pair.is_decided && ahead == ahead.muted() {
            true => " <small class=\"apart\">told apart</small>",
            false => "",
        };
        let _ = write!(html, "<td role=\"cell\" class=\"num c6\" data-l=\"p\">{p}{apart}</td>");
        if has_mde {
            let mde = pair.comparison.mde.as_ref().ok().map(|mde| minus(&thousands(&two_digits(*mde))));
            let mde = mde.unwrap_or_else(|| "<span class=\"dim\">–</span>".to_owned());
            let _ = write!(html, "<td role=\"cell\" class=\"num c7\" data-l=\"MDE\">{mde}</td>");
        }
        html += "</tr>";
    }
    html + "</tbody></table>"
}

/// What is too small to be found, hatched.
fn hatch(scale: &Scale, mde: &Maybe<f64>) -> String {
    let Some(mde) = mde.as_ref().ok().filter(|mde| mde.is_finite()) else { return String::new() };
    let (from, to) = (scale.within(-mde), scale.within(*mde));
    format!(
        "<rect class=\"hatch\" x=\"{}\" y=\"0\" width=\"{}\" height=\"100%\"/>",
        percent(from),
        percent(to - from)
    )
}

/// Three numbers over a bar: in how many samples the first is better, equal, worse.
fn outcomes(pair: &Pair<'_>, ahead: &str, behind: &str) -> String {
    let Some((better, equal, worse)) = pair.outcomes() else {
        return "<td role=\"cell\" class=\"c5\"></td>".to_owned();
    };
    let total = (better + equal + worse).max(1) as f64;
    let share = |part: u64| 100.0 * part as f64 / total;
    let (first, second) = match pair.comparison.direction {
        Direction::Neither => (" higher, ", " lower"),
        _ => (" better, ", " worse"),
    };
    format!(
        "<td role=\"cell\" class=\"c5 wtl\" data-l=\"better, equal, worse\"><div class=\"nums\"><span>{}<span \
         class=\"vh\">{first}</span></span><span class=\"dim\">{}<span class=\"vh\"> equal, </span></span><span>{}<span \
         class=\"vh\">{second}</span></span></div><svg aria-hidden=\"true\" focusable=\"false\"><g class=\"{ahead}\"><rect \
         class=\"fillc\" x=\"0\" width=\"{}\" height=\"8\"/></g><rect class=\"fillt\" x=\"{}\" width=\"{}\" height=\"8\"/><g \
         class=\"{behind}\"><rect class=\"fillc\" x=\"{}\" width=\"{}\" height=\"8\"/></g></svg></td>",
        count(better),
        count(equal),
        count(worse),
        percent(share(better)),
        percent(share(better)),
        percent(share(equal)),
        percent(100.0 - share(worse)),
        percent(share(worse)),
    )
}

/// The differences of two runs within each group, a table for each metadata key.
fn by_group(task: &Task<'_>, groups: &[GroupComparison]) -> String {
    let mut html = String::new();
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
        let _ = write!(
            html,
            "<h3 class=\"h3\">Differences by {}</h3><p class=\"note\">p is corrected by Holm’s method for {}.</p>{}",
            breakable(by),
            counted(pairs.len() as u64, "group"),
            table(task, &pairs, by, &format!("Differences by {by}"))
        );
    }
    html
}
