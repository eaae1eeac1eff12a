//! `epochs`: how often each sample is run, and how its scores are reduced.

use std::sync::Arc;

use errorbar_core::registry::EntryKind;
use errorbar_core::{Epochs, Error, Reducer, ReducerChoice};

use super::section::{Keys, TomlField, all};
use super::specs;

pub(super) const KEYS: Keys = &["count", "reducers", "reducer"];
const COUNT: &str = "an integer, 1 or more";

/// The epochs, and what results call the reducers that are named; `None` if none is.
pub(super) struct ReadEpochs {
    pub(super) epochs: Epochs,
    pub(super) reducers: Option<Vec<String>>,
}

pub(super) fn read(field: TomlField<'_>) -> Option<ReadEpochs> {
    let counted = |count: u32| ReadEpochs { epochs: Epochs::count(count), reducers: None };
    let Some(section) = field.as_section(KEYS) else {
        let wanted = format!("{COUNT}, or a table such as {{ count = 5, reducers = [\"mode\"] }}");
        return field.whole_number(1, &wanted).map(counted);
    };
    let mistakes = &field.file.mistakes;
    let count = match section.get("count") {
        Some(count) => count.whole_number(1, COUNT),
        None => {
            let hint = "set how often each sample runs: count = 5";
            mistakes.missing(field.place(), "`epochs` has no `count`", hint);
            None
        }
    };
    let reducers = match (section.get("reducer"), section.get("reducers")) {
        (Some(one), Some(_)) => {
            let hint = Some("keep one of them; a list goes under `reducers`".to_owned());
            one.report("`reducer` and `reducers` are both given", hint);
            return None;
        }
        (Some(field), None) | (None, Some(field)) => Some(reducers(field, count)?),
        (None, None) => None,
    };
    let Some(built) = reducers else { return count.map(counted) };
    let names = built.iter().map(|reducer| reducer.log_name()).collect();
    let choices: Vec<ReducerChoice> = built.into_iter().map(ReducerChoice::Built).collect();
    Some(ReadEpochs { epochs: Epochs::new(count?, choices), reducers: Some(names) })
}

fn reducers(field: TomlField<'_>, count: Option<u32>) -> Option<Vec<Arc<dyn Reducer>>> {
    let strings = field.strings("a reducer such as \"mode\", or a list of them")?;
    let check = |reducer: &Arc<dyn Reducer>| {
        reducer.check()?;
        match (reducer.needs_epochs(), count) {
            (Some(k), Some(epochs)) if k > epochs.into() => {
                Err(Error::TooFewEpochs { reducer: reducer.log_name(), k, epochs })
            }
            _ => Ok(()),
        }
    };
    let built: Vec<Vec<Arc<dyn Reducer>>> = all(strings.into_iter().map(|string| {
        specs::build_as(&string?, <Arc<dyn Reducer>>::KIND, |registry, spec| {
            let reducers = registry.reducers(spec)?;
            reducers.iter().try_for_each(check).map(|()| reducers)
        })
    }))?;
    Some(built.concat())
}
