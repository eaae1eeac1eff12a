//! One figure by group, for one run or several.

use errorbar_core::Estimate;

use super::estimates::{caption, chance_words};
use super::rows::{Row, Rows};
use super::text::{estimate_list, estimate_row, figure, interval_text, row_text, short, visible};
use super::{Plot, RunMarks};
use crate::chance::ChanceLevel;
use crate::listing::Listing;
use crate::number::grouped;
use crate::svg::{IntervalSize, Scale};

/// One figure by group.
#[derive(Clone, Debug, Default)]
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
pub struct ForestGroup {
    /// Its name.
    pub name: String,
    /// The estimate of each run; none where it does not have the group.
    pub estimates: Vec<Option<Estimate>>,
}

impl ForestGroup {
    /// The mean over the runs that have a figure.
    fn mean(&self) -> Option<f64> {
        let numbers: Vec<f64> = self.estimates.iter().flatten().filter_map(Estimate::number).collect();
        (!numbers.is_empty()).then(|| numbers.iter().sum::<f64>() / numbers.len() as f64)
    }
}

impl Forest {
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
        /// The most groups whose figures are in the text alternative; the table has all.
        const MOST: usize = 20;
        let Forest { metric, key, marks, .. } = self;
        let groups = self.ordered();
        let is_one = self.runs.len() == 1;
        let mut rows = Vec::new();
        let mut words = Vec::new();
        let mut table = Listing::new([key, "run", metric, "interval", "n"]);
        let mut data = estimate_list(["key", "group", "run", "metric"], ["absent"]);
        for group in &groups {
            let runs = self.runs.iter().zip(&group.estimates).enumerate();
            let known: Vec<(usize, &String, &Estimate)> =
                runs.filter_map(|(at, (run, estimate))| Some((at, run, estimate.as_ref()?))).collect();
            let mut ns: Vec<u64> = known.iter().map(|(.., estimate)| estimate.n).collect();
            ns.dedup();
            // Where the runs differ, each line has its own.
            let common = if let [n] = ns.as_slice() { Some(*n) } else { None };
            if !is_one {
                let n = common.map(|n| format!("n {}", grouped(n))).unwrap_or_default();
                rows.push(Row::heading(&group.name, n));
            }
            let mut figures = Vec::new();
            for (at, run, estimate) in known {
                let name = if is_one { &group.name } else { run };
                let series = marks.series(run, at, self.runs.len());
                let text = marks.figure(run, row_text(estimate, is_one || common.is_none()));
                let brief = marks.figure(run, short(estimate));
                rows.push(Row { has_mark: !is_one, ..Row::new(name, estimate, series, text, brief.clone()) });
                let n = estimate.n.to_string();
                table.push([group.name.clone(), run.clone(), brief, interval_text(estimate), n]);
                let named = [key, &group.name, run, metric].map(|text| text.as_str().into());
                data.push(estimate_row(named, estimate, [estimate.absent.into()]));
                figures.push(format!("{} {}", visible(run), marks.figure(run, figure(estimate))));
            }
            words.push(format!("{}: {}", visible(&group.name), figures.join(", ")));
        }
        let estimates = || groups.iter().flat_map(|group| group.estimates.iter().flatten());
        let rows = Rows {
            scale: Scale::of(estimates()),
            reference: self.chance.map(ChanceLevel::reference),
            rows,
            ties: Vec::new(),
            size: IntervalSize::Forest,
        };
        let more = groups.len().saturating_sub(MOST);
        words.truncate(MOST);
        let more = if more > 0 { format!("; and {more} more groups") } else { String::new() };
        let chance = chance_words(self.chance);
        let label = format!("{metric} by {}. {}{more}{chance}", visible(key), words.join("; "));
        rows.plot(label, (table, data), caption(estimates(), self.chance), marks)
    }
}
