//! The runs of one task: their figures, and what their differences support.

use errorbar_core::Direction;
use errorbar_inference::{
    ComparedScores, Comparison, ComparisonOptions, ComparisonReport, ComparisonWarning, Correction, Ranking,
    compare,
};

use maud::{Markup, html};

use super::figures::{Figures, Grouping, order};
use super::{Page, PageRun};
use crate::chance::ChanceLevel;
use crate::svg::{Series, breakable, name_length};

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
        match &self.figures.headline {
            Some(figure) if self.comparison.is_some() => order(figure, self.direction()),
            _ => (0..self.runs.len()).collect(),
        }
    }

    /// The series of the run of this name.
    pub(super) fn series(&self, name: &str) -> Series {
        let found = self.runs.iter().find(|(run, _)| run.name == name);
        found.map_or(Series::NEUTRAL, |(_, series)| *series)
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
    let scores: Vec<ComparedScores<'_>> =
        runs.iter().map(|run| ComparedScores::new(&run.name, run.columns, run.plan)).collect();
    if scores.len() < 2 {
        return Ok(None);
    }
    let report = compare(&scores, &options)?;
    let is_headline =
        |c: &Comparison| c.group_key.is_none() && c.group.is_none() && headline.key.is_compared_by(c);
    let pairs = report.only(is_headline);
    if pairs.comparisons.is_empty() {
        return Ok(None);
    }
    let ranking = pairs.rankings.iter().find(|ranking| headline.key.is_ranked_by(ranking)).cloned();
    let mut groups = Vec::new();
    let is_small =
        |grouping: &&Grouping| grouping.key == headline.key && (2..=MOST_GROUPS).contains(&grouping.count());
    for grouping in figures.groupings.iter().filter(is_small) {
        groups.extend(within_groups(&runs, &grouping.by, &options, &is_headline, &|ranking| {
            headline.key.is_ranked_by(ranking)
        }));
    }
    Ok(Some(TaskComparison { pairs, ranking, groups }))
}

/// The comparisons within each group of a metadata key, those of a group corrected among themselves.
fn within_groups(
    runs: &[&PageRun<'_>],
    by: &str,
    options: &ComparisonOptions,
    is_headline: &dyn Fn(&Comparison) -> bool,
    is_ranked: &dyn Fn(&Ranking) -> bool,
) -> Vec<GroupComparison> {
    let parts: Vec<_> = runs.iter().map(|run| run.columns.split_by(by).unwrap_or_default()).collect();
    let Some(first) = parts.first() else { return Vec::new() };
    let of_group = |group: &String| {
        let columns = parts.iter().map(|parts| parts.get(group)).collect::<Option<Vec<_>>>()?;
        let scores: Vec<ComparedScores<'_>> = runs
            .iter()
            .zip(columns)
            .map(|(run, columns)| ComparedScores::new(&run.name, columns, run.plan))
            .collect();
        // A group with too few pairs has no comparison, and the others stand.
        let report = compare(&scores, options).ok()?.only(|c| is_headline(c));
        let ranking = report.rankings.iter().find(|ranking| is_ranked(ranking)).cloned();
        Some(GroupComparison { by: by.to_owned(), group: group.clone(), pairs: report, ranking })
    };
    first.keys().filter_map(of_group).collect()
}
