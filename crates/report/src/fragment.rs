//! Results as a part of somebody else's page, such as a notebook: the error bars drawn, and the same as numbers.
//!
//! Drawings are images in the page's own text, so that their styles and ids stay theirs; everything else is escaped.

use errorbar_core::{Estimate, EstimateRow, IndexMap, Role};
use errorbar_inference::ComparisonReport;
use maud::{Markup, html};

use crate::plot::{Estimates, NamedEstimate, Plot};
use crate::record::Listing;
use crate::svg::visible;
use crate::table::{groups, keys};
use crate::text::{joined, percent_encoded};
use crate::{EstimateText, Report};

/// The most plots, and the most rows of one, that are drawn; the numbers are all there.
const MOST_PLOTS: usize = 12;
const MOST_ROWS: usize = 60;

/// Results: a plot for each figure, and a table of all.
pub fn reports(reports: &[Report]) -> String {
    let mut figures: IndexMap<String, Vec<NamedEstimate>> = IndexMap::new();
    let mut table = Listing::new(["figure", "of", "estimate", "n"]);
    for report in reports {
        let run = match reports {
            [_] => String::new(),
            _ => report.model.clone().unwrap_or_else(|| report.log.clone()),
        };
        for row in report.results.rows() {
            let title = title(&row);
            let parts = Some(run.clone()).into_iter().chain(names(&row)).filter(|part| !part.is_empty());
            let name = joined(parts, " / ").unwrap_or_else(|| "all".to_owned());
            let estimate = row.estimate.as_ref();
            let text = EstimateText::from(estimate).to_string();
            table.push([title.clone(), name.clone(), text, estimate.n.to_string()]);
            if matches!(row.role, Role::Location | Role::Share) {
                figures.entry(title).or_default().push(NamedEstimate { name, estimate: estimate.clone() });
            }
        }
    }
    drawn(figures, false, &table)
}

/// Comparisons: a plot of the differences, and a table.
pub fn comparisons(report: &ComparisonReport) -> String {
    let mut figures: IndexMap<String, Vec<NamedEstimate>> = IndexMap::new();
    let mut table = Listing::new(["figure", "difference", "base", "other", "other − base", "p", "n"]);
    for comparison in &report.comparisons {
        let title = format!("{} · {}", comparison.metric, comparison.scorer);
        let group = comparison.group.as_ref().map(|group| format!(" / {group}")).unwrap_or_default();
        let name = format!("{} − {}{group}", comparison.other, comparison.base);
        let difference: &Estimate = &comparison.difference;
        let p = comparison.test.as_ref().map(|test| format!("{:.3}", test.p_value)).unwrap_or_default();
        let text = EstimateText::from(difference).signed().to_string();
        let [base, other] = [&comparison.base_estimate, &comparison.other_estimate]
            .map(|estimate| EstimateText::from(estimate).short());
        table.push([title.clone(), name.clone(), base, other, text, p, comparison.n.to_string()]);
        figures.entry(title).or_default().push(NamedEstimate { name, estimate: difference.clone() });
    }
    drawn(figures, true, &table)
}

/// The plots of figures, and the table.
fn drawn(figures: IndexMap<String, Vec<NamedEstimate>>, are_differences: bool, table: &Listing) -> String {
    let plot = |title: String, runs| {
        let metric = if are_differences { format!("difference of {title}") } else { title };
        Estimates { metric, runs, are_differences, ..Estimates::default() }
    };
    let few = figures.into_iter().filter(|(_, estimates)| estimates.len() <= MOST_ROWS).take(MOST_PLOTS);
    shown(html! {
        div {
            @for (title, estimates) in few {
                @let plot = plot(title, estimates);
                (image(&plot.draw(), &plot.metric))
            }
            (rows(table))
        }
    })
}

/// A list as a table.
pub fn listing(listing: &Listing) -> String {
    shown(rows(listing))
}

fn rows(listing: &Listing) -> Markup {
    html! {
        table {
            thead { tr { @for title in listing.titles() { th { (title) } } } }
            tbody {
                @for row in listing.rows() { tr { @for cell in row { td { (cell.text()) } } } }
            }
        }
    }
}

/// Text of a terminal.
pub fn text(text: &str) -> String {
    // The ends of lines stay, and are not shown as signs.
    let lines: Vec<_> = text.lines().map(visible).collect();
    html! { pre { (lines.join("\n")) } }.into_string()
}

/// Markup in which nothing is invisible.
fn shown(markup: Markup) -> String {
    visible(&markup.0).into_owned()
}

/// What a figure is: `accuracy by topic · choice`.
fn title(row: &EstimateRow<'_>) -> String {
    let by = joined(keys(row), " / ").map(|keys| format!(" by {keys}")).unwrap_or_default();
    let metric = format!("{}{by}", row.metric);
    let parts = [Some(metric.as_str()), Some(row.scorer), row.field, row.reducer];
    joined(parts.into_iter().flatten(), " · ").unwrap_or_default()
}

/// What an estimate is of: its groups, and the key or position among several that a metric returns.
fn names(row: &EstimateRow<'_>) -> Vec<String> {
    let groups = groups(row).into_iter().map(str::to_owned);
    // An aggregate such as `all` has a label and no group.
    let aggregate = row.label.filter(|_| row.group.is_none()).map(str::to_owned);
    let part = row.key.map(str::to_owned).or_else(|| row.index.map(|index| index.to_string()));
    groups.chain(aggregate).chain(part).collect()
}

fn image(plot: &Plot, title: &str) -> Markup {
    let source = format!("data:image/svg+xml,{}", percent_encoded(&plot.standalone(title), b"-_./:=,;"));
    html! { img style="max-width:100%" alt=(plot.label) src=(source); }
}
