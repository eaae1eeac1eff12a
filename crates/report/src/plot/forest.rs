//! One figure by group, for one run or several.

use errorbar_core::Estimate;

use super::estimates::{caption, chance_words, plot_of_rows};
use super::rows::{Row, Rows};
use super::text::{estimate_list, estimate_row, figure, interval_text, row_text, short, visible};
use super::{Plot, RunMarks};
use crate::chance::ChanceLevel;
use crate::listing::Listing;
use crate::number::grouped;
use crate::svg::{IntervalSize, Scale};

/// One figure by group.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Forest {
    /// What the figure is.
    pub metric: String,
    /// The metadata key of the groups.
    pub key: String,
    /// The runs, in the order of their colours.
    pub runs: Vec<String>,
    /// The figures over all samples, if they are to be compared with.
    pub all: Option<ForestGroup>,
    /// The groups, in the order of the data.
    pub groups: Vec<ForestGroup>,
    /// Whether lower figures are better.
    pub lower_is_better: bool,
    /// A line to compare with: the score of guessing, which is that of every group.
    pub chance: Option<ChanceLevel>,
    /// Their marks; by position if unset.
    pub marks: RunMarks,
}

/// A group.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ForestGroup {
    /// Its name.
    pub name: String,
    /// The estimate of each run; none where it does not have the group.
    pub estimates: Vec<Option<Estimate>>,
}

impl ForestGroup {
    /// A group with the estimate of each run.
    pub fn new(name: impl Into<String>, estimates: Vec<Option<Estimate>>) -> Self {
        ForestGroup { name: name.into(), estimates }
    }

    /// The mean over the runs that have a figure.
    fn mean(&self) -> Option<f64> {
        let numbers: Vec<f64> = self.estimates.iter().flatten().filter_map(Estimate::number).collect();
        (!numbers.is_empty()).then(|| numbers.iter().sum::<f64>() / numbers.len() as f64)
    }
}

impl Forest {
    /// A figure by the groups of a key, higher figures being better.
    pub fn new(metric: &str, key: &str, runs: Vec<String>, groups: Vec<ForestGroup>) -> Self {
        let (metric, key, marks) = (metric.to_owned(), key.to_owned(), RunMarks::default());
        Forest { metric, key, runs, all: None, groups, lower_is_better: false, chance: None, marks }
    }

    /// The groups, the best first; ties in the order of the data.
    fn ordered(&self) -> Vec<&ForestGroup> {
        let merit = |group: &ForestGroup| {
            let sign = if self.lower_is_better { -1.0 } else { 1.0 };
            group.mean().map_or(f64::NEG_INFINITY, |mean| sign * mean)
        };
        let mut groups: Vec<&ForestGroup> = self.groups.iter().collect();
        groups.sort_by(|a, b| merit(b).total_cmp(&merit(a)));
        self.all.iter().chain(groups).collect()
    }

    /// Draws it.
    pub fn draw(&self) -> Plot {
        let groups = self.ordered();
        let (runs, is_one) = (self.runs.len(), self.runs.len() == 1);
        let mut rows = Vec::new();
        for group in &groups {
            let known: Vec<(usize, &Estimate)> = group
                .estimates
                .iter()
                .enumerate()
                .filter_map(|(at, estimate)| Some((at, estimate.as_ref()?)))
                .collect();
            let mut ns: Vec<u64> = known.iter().map(|(_, estimate)| estimate.n).collect();
            ns.dedup();
            // Where the runs differ, each line has its own.
            let common = if let [n] = ns.as_slice() { Some(*n) } else { None };
            if !is_one {
                let n = common.map(|n| format!("n {}", grouped(n))).unwrap_or_default();
                rows.push(Row::heading(&group.name, n));
            }
            for (at, estimate) in known {
                let name = if is_one { &group.name } else { self.runs.get(at).unwrap_or(&group.name) };
                let run = self.runs.get(at).map(String::as_str).unwrap_or_default();
                let series = self.marks.series(run, at, runs);
                let text = self.marks.figure(run, row_text(estimate, is_one || common.is_none()));
                let brief = self.marks.figure(run, short(estimate));
                let mut row = Row::new(name, estimate, series, text, brief);
                row.has_mark = !is_one;
                rows.push(row);
            }
        }
        let estimates = || groups.iter().flat_map(|group| group.estimates.iter().flatten());
        let rows = Rows {
            scale: Scale::of(estimates()),
            reference: self.chance.map(ChanceLevel::reference),
            rows,
            ties: Vec::new(),
            size: IntervalSize::Forest,
        };
        let (label, table) = self.words(&groups);
        let caption = caption(estimates(), self.chance);
        let plot = plot_of_rows(&rows, label, table).with_data(self.data(&groups)).with_caption(caption);
        self.marks.explain(plot)
    }

    fn data(&self, groups: &[&ForestGroup]) -> Listing {
        let mut data = estimate_list(["key", "group", "run", "metric"], ["absent"]);
        for group in groups {
            for (run, estimate) in self.runs.iter().zip(&group.estimates) {
                let Some(estimate) = estimate else { continue };
                let named = [&self.key, &group.name, run, &self.metric].map(|text| text.clone().into());
                data.push(estimate_row(named, estimate, [estimate.absent.into()]));
            }
        }
        data
    }

    fn words(&self, groups: &[&ForestGroup]) -> (String, Listing) {
        /// The most groups whose figures are in the text alternative; the table has all.
        const MOST: usize = 20;
        let mut table = Listing::new([&self.key, "run", &self.metric, "interval", "n"].map(str::to_owned));
        let mut parts = Vec::new();
        for group in groups {
            let known = self.runs.iter().zip(&group.estimates);
            let known = known.filter_map(|(run, estimate)| Some((run, estimate.as_ref()?)));
            let mut figures = Vec::new();
            for (run, estimate) in known {
                table.push([
                    group.name.clone(),
                    run.clone(),
                    self.marks.figure(run, short(estimate)),
                    interval_text(estimate),
                    estimate.n.to_string(),
                ]);
                figures.push(format!("{} {}", visible(run), self.marks.figure(run, figure(estimate))));
            }
            parts.push(format!("{}: {}", visible(&group.name), figures.join(", ")));
        }
        let more = groups.len().saturating_sub(MOST);
        parts.truncate(MOST);
        let more = if more > 0 { format!("; and {more} more groups") } else { String::new() };
        let chance = chance_words(self.chance);
        let label = format!("{} by {}. {}{more}{chance}", self.metric, visible(&self.key), parts.join("; "));
        (label, table)
    }
}
