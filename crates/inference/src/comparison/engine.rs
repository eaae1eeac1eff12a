//! All sides of all tasks, and what belongs to the report as a whole.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use indexmap::IndexSet;
use rayon::prelude::*;

use super::pair::SidePair;
use super::side::{SampleNumbers, Side};
use super::{
    ComparedScores, Comparison, ComparisonOptions, ComparisonReport, ComparisonWarning, Correction, rankings,
    tasks, unpaired,
};
use crate::error::{ComparisonError, ComparisonErrorKind, Result};
use errorbar_core::engine::SampleIndex;
use errorbar_core::reducers::mean;
use errorbar_stats::multiple::{benjamini_hochberg, holm};

const MOST_RANKED: usize = ComparisonOptions::MOST_PAIRED;

pub(super) fn compare(
    inputs: &[ComparedScores<'_>],
    options: &ComparisonOptions,
) -> Result<ComparisonReport> {
    let names = names(inputs)?;
    if options.all_pairs && names.len() > MOST_RANKED {
        return Err(ComparisonError::too_many_sides(names.len(), MOST_RANKED).into());
    }
    let tasks = tasks_of(inputs);
    let mut report = ComparisonReport::new(names.iter().copied(), options.clone());
    let mean = mean();
    let mut rank_inputs = Vec::new();
    for (stream, task) in tasks.iter().enumerate() {
        let of_task: Vec<&ComparedScores<'_>> = inputs.iter().filter(|side| side.task == *task).collect();
        let indices: Vec<Arc<SampleIndex>> = of_task.iter().map(|side| side.columns.sample_index()).collect();
        let mut numbers = SampleNumbers::default();
        let mut sides = Vec::with_capacity(of_task.len());
        for (input, index) in of_task.into_iter().zip(&indices) {
            sides.push(Side::read(input, index, &mean, &mut numbers)?);
        }
        let warning = |side: &Side<'_>, text| ComparisonWarning::other(format!("{} {text}", side.name));
        let stopped = "was stopped early, and intervals and tests of differences do not allow for that";
        let recorded = "has no samples: its recorded figures are compared, unpaired";
        let of_stopped = sides.iter().filter(|side| side.is_stopped());
        report.warnings.extend(of_stopped.map(|side| warning(side, stopped)));
        let of_recorded = sides.iter().filter(|side| side.recorded.is_some());
        report.warnings.extend(of_recorded.map(|side| warning(side, recorded)));
        let compared = pairs(&sides, &names, options.all_pairs).into_par_iter().map(|(base, other)| {
            let mut warnings = Vec::new();
            if base.recorded.is_some() || other.recorded.is_some() {
                return unpaired::compare_recorded(base, other, *task)
                    .map(|comparisons| (comparisons, warnings));
            }
            let pair = SidePair { base, other, task: *task, options };
            pair.compare(&mut warnings).map(|comparisons| (comparisons, warnings))
        });
        // Of several errors the first one, not the one that came first.
        for compared in compared.collect::<Vec<_>>() {
            let (comparisons, warnings) = compared?;
            report.comparisons.extend(comparisons);
            report.warnings.extend(warnings);
        }
        sides.retain(|side| side.recorded.is_none());
        if sides.len() > MOST_RANKED && !options.unpaired {
            report.warnings.push(ComparisonWarning::other(format!(
                "the {} sides are not ranked: a ranking takes a test of every pair, and there is none of more than \
                 {MOST_RANKED}",
                sides.len()
            )));
        } else if sides.len() > 2 && !options.unpaired {
            let of_task: Vec<&Side<'_>> = sides.iter().collect();
            let inputs = rankings::rank_inputs(&of_task, stream as u64);
            report.rankings.extend(inputs.iter().map(|input| input.ranking(*task)));
            rank_inputs.push(inputs);
        }
    }
    if let ([_, _, ..], Some(first)) = (tasks.as_slice(), inputs.first()) {
        let averages = tasks::averages(&report.comparisons, &first.plan.errors);
        report.comparisons.extend(averages);
        if rank_inputs.len() == tasks.len() {
            report.rankings.extend(tasks::mean_rankings(&rank_inputs, &first.plan.errors));
        }
    }
    correct(&mut report.comparisons, options.correction);
    report.apply_gate();
    Ok(report)
}

/// The names of the sides, each once.
fn names<'a>(inputs: &[ComparedScores<'a>]) -> Result<Vec<&'a str>, ComparisonError> {
    let mut cells = HashSet::new();
    for input in inputs {
        if !cells.insert((input.name, input.task)) {
            let text = format!("two sides are called {}", input.name);
            return Err(ComparisonError::new(ComparisonErrorKind::SameName, text));
        }
    }
    let names: IndexSet<&str> = inputs.iter().map(|input| input.name).collect();
    let names: Vec<&str> = names.into_iter().collect();
    if names.len() > 1 {
        return Ok(names);
    }
    let text = format!("there is nothing to compare {} with", names.first().unwrap_or(&"nothing"));
    Err(ComparisonError::new(ComparisonErrorKind::OneSide, text))
}

/// The tasks, each once, in order.
fn tasks_of<'a>(inputs: &[ComparedScores<'a>]) -> Vec<Option<&'a str>> {
    let tasks: IndexSet<Option<&str>> = inputs.iter().map(|input| input.task).collect();
    tasks.into_iter().collect()
}

/// The pairs of sides of a task that are compared: each with the base, or every one with every other.
fn pairs<'s, 'a>(sides: &'s [Side<'a>], names: &[&str], all: bool) -> Vec<(&'s Side<'a>, &'s Side<'a>)> {
    let by_name: HashMap<&str, &Side<'a>> = sides.iter().map(|side| (side.name, side)).collect();
    let of_task: Vec<&Side<'a>> = names.iter().filter_map(|name| by_name.get(name).copied()).collect();
    let mut pairs = Vec::new();
    for (at, base) in of_task.iter().enumerate() {
        let is_base = names.first() == Some(&base.name);
        if is_base || all {
            pairs.extend(of_task.iter().skip(at + 1).map(|other| (*base, *other)));
        }
    }
    pairs
}

/// Corrects the p-values of all comparisons together.
pub(super) fn correct(comparisons: &mut [Comparison], correction: Option<Correction>) {
    let p_value = |comparison: &Comparison| comparison.test.as_ref().ok().map(|test| test.p_value);
    let p_values: Vec<Option<f64>> = comparisons.iter().map(p_value).collect();
    let adjusted = match correction {
        Some(Correction::Holm) => holm(&p_values),
        Some(Correction::Bh) => benjamini_hochberg(&p_values),
        None => return,
    };
    for (comparison, adjusted) in comparisons.iter_mut().zip(adjusted) {
        comparison.p_adjusted = adjusted;
    }
}
