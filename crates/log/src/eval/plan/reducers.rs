//! How a log says that epochs were reduced.
//!
//! The header names the reducers of the last scoring. Scoring again with `append` leaves the blocks of earlier scorers as
//! they were, so the blocks of a scorer decide: which reducers they name, and, where they name none, how many scores they
//! are of.

use std::sync::Arc;

use errorbar_core::spec::Spec;
use errorbar_core::{Error, IndexMap, Plan, Reducer, Reducers, Registry};

use crate::eval::header::Header;
use crate::inspect::IMPLIED_REDUCER;
use crate::recorded::RecordedBlock;

/// A reducer by the name that logs have for it.
pub(crate) fn reducer(name: &str, registry: &Registry) -> Result<Arc<dyn Reducer>, Error> {
    registry.reducer(&name.parse::<Spec>().map_err(Error::from)?)
}

/// Sets the reducers that are registered; the others are returned.
pub(super) fn set_reducers(plan: &mut Plan, header: &Header, registry: &Registry) -> Vec<(String, Error)> {
    let mut unknown = Vec::new();
    let Some(names) = &header.eval.config.epochs_reducer else { return unknown };
    // Up to 0.3.240 the reference records the implied mean by name, but not with the results of the first scorer.
    let blocks = || header.results.iter().flat_map(|results| &results.scores);
    if matches!(names.as_slice(), [name] if name == IMPLIED_REDUCER)
        && blocks().any(|block| block.reducer.is_none())
    {
        return unknown;
    }
    let mut known = Vec::with_capacity(names.len());
    for name in names {
        match reducer(name, registry) {
            Ok(reducer) => known.push(reducer),
            Err(error) => unknown.push((name.clone(), error)),
        }
    }
    // Without any that is known, the default is better than none, which would be no reduction at all.
    if !known.is_empty() || names.is_empty() {
        plan.reducers = Reducers::explicit(known);
    }
    unknown
}

/// The reducers of scorers whose recorded results have others than the header.
pub(super) fn scorer_reducers(
    planned: &Reducers,
    header: &Header,
    registry: &Registry,
) -> IndexMap<String, Reducers> {
    let mut scorers: IndexMap<&str, Vec<&RecordedBlock>> = IndexMap::new();
    for block in header.results.iter().flat_map(|results| &results.scores) {
        scorers.entry(&block.scorer).or_default().push(block);
    }
    let last = scorers.keys().next_back().copied();
    let own = |(scorer, blocks): (&str, Vec<&RecordedBlock>)| {
        let mut names: Vec<&str> = Vec::new();
        for name in blocks.iter().filter_map(|block| block.reducer.as_deref()) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let built: Vec<_> = names.iter().filter_map(|name| reducer(name, registry).ok()).collect();
        let own = match names.is_empty() {
            true => unnamed(planned, header, &blocks),
            // What cannot be built is computed as the header has it.
            false if built.is_empty() => return None,
            false => Reducers::Explicit(built),
        };
        is_other(&own, planned, Some(scorer) == last).then(|| (scorer.to_owned(), own))
    };
    scorers.into_iter().filter_map(own).collect()
}

/// Whether a scorer was scored under other reducers than those of the header.
fn is_other(own: &Reducers, planned: &Reducers, is_last: bool) -> bool {
    let names = |reducers: &Reducers| match reducers {
        Reducers::Implicit => vec![IMPLIED_REDUCER.to_owned()],
        reducers => reducers.log_names().unwrap_or_default(),
    };
    // The mean that is named and the implied one are the same figure; each is shown as it is recorded.
    if matches!((own, planned), (Reducers::Explicit(_), Reducers::Implicit)) {
        return true;
    }
    let (own, planned) = (names(own), names(planned));
    if own.len() == planned.len() {
        // In another order, another one is first.
        return own != planned;
    }
    // The header names the reducers of the last scorer, so that one of its blocks is missing.
    let is_within = own.iter().all(|name| planned.contains(name));
    !(is_last && is_within && !own.is_empty())
}

/// Whether a block has a score for every epoch of a sample, and not one for the sample.
pub(crate) fn is_unreduced(header: &Header, block: &RecordedBlock) -> bool {
    let planned = match header.eval.config.epochs_reducer.as_deref() {
        Some([]) => Reducers::Disabled,
        _ => Reducers::Implicit,
    };
    let several = header.eval.config.epochs.is_some_and(|epochs| epochs > 1);
    several && block.reducer.is_none() && matches!(unnamed(&planned, header, &[block]), Reducers::Disabled)
}

/// How the blocks of a scorer were reduced that name no reducer: by the implied mean, or not at all. Then they have a
/// score for every epoch.
fn unnamed(planned: &Reducers, header: &Header, blocks: &[&RecordedBlock]) -> Reducers {
    let epochs = u64::from(header.eval.config.epochs.unwrap_or(1));
    let results = header.results.as_ref();
    let scores =
        blocks.iter().filter_map(|block| Some(block.scored_samples? + block.unscored_samples.unwrap_or(0)));
    let (Some(results), Some(scores), 2..) = (results, scores.max(), epochs) else {
        return match planned {
            Reducers::Disabled => Reducers::Disabled,
            _ => Reducers::Implicit,
        };
    };
    let ids = header.eval.dataset.sample_ids.as_ref().map(|ids| ids.len() as u64);
    let samples = ids.unwrap_or(results.total_samples / epochs);
    // If most epochs have failed, there may be fewer of them than samples.
    let is_every_epoch = scores > samples || scores == results.completed_samples;
    match planned {
        Reducers::Implicit if scores <= samples => Reducers::Implicit,
        _ if is_every_epoch => Reducers::Disabled,
        _ => Reducers::Implicit,
    }
}
