//! What the results of a log show about its plan, where the header does not record it or records something else.
//!
//! Versions of the reference differ in that: the first ones record no scorers at all, re-scoring adds blocks of scorers
//! that the header does not have, and up to 0.3.139 the metrics of a task stand beside those of the scorers, though only
//! the task's were computed.

use std::collections::HashSet;

use errorbar_core::Registry;
use serde_json::{Map, Value as Json, json};

use super::BUILT_IN;
use crate::eval::header::{EvalInfo, Header};
use crate::inspect::{has_groups, metric_name};
use crate::recorded::RecordedBlock;

/// The package of the reference, and ours.
const REFERENCE: &str = "inspect_ai";
const OWN: &str = "errorbar";
/// The first version that records with every scorer the metrics that were computed, that computes something where reduction
/// is disabled, and that treats unscored samples as we do. (Found with 0.3.120 and 0.3.140.)
const COMPUTED_METRICS: [u32; 3] = [0, 3, 140];

/// Whether the reference wrote a log.
pub(crate) fn is_of_reference(eval: &EvalInfo) -> bool {
    eval.packages.contains_key(REFERENCE) && !eval.packages.contains_key(OWN)
}

/// The version of the reference that wrote a log, if it is one that records other metrics with scorers than it computed.
pub(crate) fn version_before_computed_metrics(eval: &EvalInfo) -> Option<&str> {
    let version = eval.packages.get(REFERENCE).filter(|_| is_of_reference(eval))?;
    let mut numbers = version.split('.').map(|part| part.parse().unwrap_or(0));
    let numbers: [u32; 3] = [(); 3].map(|()| numbers.next().unwrap_or(0));
    (numbers < COMPUTED_METRICS).then_some(version)
}

fn blocks(header: &Header) -> &[RecordedBlock] {
    header.results.as_ref().map_or(&[], |results| results.scores.as_slice())
}

/// Whether the metrics of the task were computed, where those of a scorer are recorded and are others: whichever has more
/// of the recorded figures, else what the version of the reference did.
pub(super) fn task_metrics_were_computed(header: &Header, task: &Json) -> bool {
    let figures = blocks(header).iter().flat_map(|block| block.metrics.values());
    let recorded: HashSet<&str> = figures.map(|figure| without_package(metric_name(figure))).collect();
    let hits = |metrics: &Json| {
        let mut names = HashSet::new();
        collect_names(metrics, &mut names);
        recorded.intersection(&names).count()
    };
    let of_scorers = header.eval.scorers.iter().flatten().filter_map(|scorer| scorer.metrics.as_ref());
    let (of_task, of_scorers) = (hits(task), of_scorers.map(hits).max().unwrap_or(0));
    of_task > of_scorers || of_task == of_scorers && version_before_computed_metrics(&header.eval).is_some()
}

/// The names of logged metrics, without packages.
fn collect_names<'a>(metrics: &'a Json, names: &mut HashSet<&'a str>) {
    match metrics {
        Json::Array(items) => items.iter().for_each(|item| collect_names(item, names)),
        Json::Object(fields) => match fields.get("name") {
            Some(Json::String(name)) => drop(names.insert(without_package(name))),
            _ => fields.values().for_each(|items| collect_names(items, names)),
        },
        _ => {}
    }
}

/// The scorers that have results, in their order, and the arguments of each.
pub(super) fn scorers_with_results(header: &Header) -> Vec<&RecordedBlock> {
    let mut seen = HashSet::new();
    blocks(header).iter().filter(|block| seen.insert(block.scorer.as_str())).collect()
}

/// The metrics of a scorer as logs record them, by the names and arguments of its figures; none if it has no block.
///
/// A name is that of the built-in metric, if there is one: before 0.3.62 nothing else is recorded.
pub(super) fn metrics_by_name(header: &Header, scorer: &str, registry: &Registry) -> Option<Json> {
    let (mut list, mut by_key) = (Vec::new(), Map::new());
    let mut has_block = false;
    for block in blocks(header).iter().filter(|block| block.scorer == scorer) {
        has_block = true;
        if block.name != scorer {
            // The blocks of other reducers have the same metrics.
            by_key.entry(block.name.clone()).or_insert_with(|| Json::Array(calls(block, registry)));
        } else if list.is_empty() {
            list = calls(block, registry);
        }
    }
    if list.is_empty() && !by_key.is_empty() {
        return Some(Json::Object(by_key));
    }
    if !by_key.is_empty() {
        list.push(Json::Object(by_key));
    }
    has_block.then_some(Json::Array(list))
}

/// The metrics of a block. A metric of several figures, which are recorded one after the other, is one.
fn calls(block: &RecordedBlock, registry: &Registry) -> Vec<Json> {
    let mut calls: Vec<Json> = Vec::new();
    for figure in block.metrics.values() {
        let name = metric_name(figure);
        let is_built_in = registry.list_metrics().any(|listing| listing.built_in && listing.name == name);
        let name = if is_built_in { format!("{BUILT_IN}/{name}") } else { name.to_owned() };
        let call = json!({"name": name, "options": figure.params});
        let is_one_of_several = figure.group.is_some() || has_groups(figure);
        if !is_one_of_several || calls.last() != Some(&call) {
            calls.push(call);
        }
    }
    calls
}

/// A name without the package in front of it.
pub(crate) fn without_package(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}
