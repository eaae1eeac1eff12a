//! Tables of several sides: models and tasks, all differences, ranks.

use errorbar_inference::{Comparison, ComparisonReport, Ranking};

use super::figures::NONE;
use super::legend::correction_title;
use super::verdict::{is_identical, is_significant};
use crate::figure::EstimateText;
use crate::notes::unique;
use crate::number::percent;
use crate::table::TextTable;

/// The values of all sides in all tasks, and the mean over tasks; only if there are several.
pub(super) fn tasks(name: &str, report: &ComparisonReport, comparisons: &[&Comparison]) -> Option<TextTable> {
    let mut tasks = unique(comparisons.iter().map(|c| c.task.as_deref()));
    if !tasks.iter().any(Option::is_some) || tasks.len() < 2 {
        return None;
    }
    // The mean comes last, wherever it was computed.
    tasks.sort_by_key(Option::is_none);
    let value = |side: &String, task: Option<&str>| {
        let of_task = || comparisons.iter().filter(|c| c.task.as_deref() == task);
        let as_other = of_task().find(|c| c.other == *side).map(|c| &c.other_estimate);
        let estimate = as_other.or_else(|| of_task().find(|c| c.base == *side).map(|c| &c.base_estimate));
        estimate.map_or_else(|| "not compared".to_owned(), |estimate| EstimateText::from(estimate).short())
    };
    let row = |side: &String| (side.clone(), tasks.iter().map(|task| value(side, *task)).collect());
    let columns = tasks.iter().map(|task| task.unwrap_or("mean over tasks").to_owned());
    Some(TextTable::labelled(format!("{name}, by task"), columns, report.sides.iter().map(row)))
}

/// The difference of each side to each other; only if all pairs were compared.
pub(super) fn differences(
    name: &str,
    report: &ComparisonReport,
    comparisons: &[&Comparison],
) -> Option<TextTable> {
    let has_tasks = comparisons.iter().any(|c| c.task.is_some());
    // Over all tasks if there are several, else over all samples.
    let shown: Vec<&&Comparison> = comparisons.iter().filter(|c| c.task.is_none() || !has_tasks).collect();
    let base = report.sides.first()?;
    if shown.iter().all(|c| c.base == *base) {
        return None;
    }
    let cell = |row: &String, column: &String| {
        if row == column {
            return "·".to_owned();
        }
        let forward = shown.iter().find(|c| c.other == *row && c.base == *column);
        let backward = shown.iter().find(|c| c.base == *row && c.other == *column);
        match (forward, backward) {
            (Some(c), _) => difference(c, 1.0),
            (None, Some(c)) => difference(c, -1.0),
            (None, None) => NONE.to_owned(),
        }
    };
    let row = |side: &String| (side.clone(), report.sides.iter().map(|column| cell(side, column)).collect());
    let by = match report.options.correction {
        Some(correction) if shown.iter().any(|c| c.p_adjusted.is_some()) => {
            format!("p corrected by {}", correction_title(correction))
        }
        _ => "each by its own interval, not corrected, so a ranking may distinguish less".to_owned(),
    };
    let legend = format!("row minus column; in brackets: no difference shown ({by})");
    let name = format!("{name}, all differences");
    let table = TextTable::labelled(name, report.sides.clone(), report.sides.iter().map(row));
    let details = if has_tasks { vec!["mean over tasks".to_owned()] } else { Vec::new() };
    Some(TextTable { details, legend: Some(legend), ..table })
}

/// A difference in a cell; in brackets if it is not shown.
fn difference(c: &Comparison, sign: f64) -> String {
    let Some(value) = c.difference.number() else { return NONE.to_owned() };
    let mut figure = EstimateText::new(sign * value).signed();
    // The interval only sets the decimals.
    if let Ok(error) = &c.difference.error {
        figure = figure.error(error.se);
    } else if let Ok(interval) = &c.difference.interval {
        figure = figure.interval(interval.lower, interval.upper);
    }
    let text = figure.texts().value;
    let is_shown = is_significant(c) == Some(true) && !is_identical(c);
    if is_shown { text } else { format!("({text})") }
}

/// The sides by rank.
pub(super) fn ranking(name: &str, ranking: &Ranking) -> TextTable {
    let has_ties = ranking.ranks.iter().any(|rank| !rank.tie_groups.is_empty());
    let row =
        |rank: &errorbar_inference::Rank| {
            let mut cells = vec![rank.rank.to_string(), rank.range_text()];
            cells.extend(
                has_ties.then(|| {
                    if rank.tie_groups.is_empty() { NONE.to_owned() } else { rank.tie_groups.clone() }
                }),
            );
            let figure = EstimateText::from(&rank.estimate);
            cells.extend([figure.short(), some(figure.interval_text())]);
            (rank.side.clone(), cells)
        };
    let mut columns = vec!["rank".to_owned(), "range".to_owned()];
    columns.extend(has_ties.then(|| "ties".to_owned()));
    columns.extend(["value".to_owned(), "interval".to_owned()]);
    let level = percent(ranking.level);
    let mut legend = format!(
        "range: the ranks that tests of all pairs leave, corrected by Holm ({level}, all sides at once)"
    );
    if has_ties {
        legend += "; ties: the same tests do not distinguish sides that share a letter";
    }
    let task = ranking.task.clone();
    TextTable {
        details: task.into_iter().chain([format!("{} samples that all sides have", ranking.n)]).collect(),
        legend: Some(legend),
        drops_last: true,
        ..TextTable::labelled(format!("{name}, ranking"), columns, ranking.ranks.iter().map(row))
    }
}

fn some(text: String) -> String {
    if text.is_empty() { NONE.to_owned() } else { text }
}
