//! `epochs`: how often each sample is run, and how its scores are reduced.

use std::sync::Arc;

use errorbar_core::{Epochs, Error, Reducer, ReducerChoice, Registry};

use super::mistake::Mistakes;
use super::section::{Keys, TomlField, TomlSection, all};
use super::specs;

pub(super) const KEYS: Keys = &["count", "reducers", "reducer"];
const COUNT: &str = "a whole number, 1 or more";

/// The epochs, and what results call the reducers that are named; nothing if none is.
pub(super) struct ReadEpochs {
    pub(super) epochs: Epochs,
    pub(super) reducers: Option<Vec<String>>,
}

pub(super) fn read(field: TomlField<'_>, registry: &Registry, mistakes: &mut Mistakes) -> Option<ReadEpochs> {
    let Some(section) = TomlSection::of_field(field, KEYS, mistakes) else {
        let wanted = "a whole number, 1 or more, or a table such as { count = 5, reducers = [\"mode\"] }";
        let count = field.whole_number(1, wanted, mistakes)?;
        return Some(ReadEpochs { epochs: Epochs::count(count), reducers: None });
    };
    let count = match section.get("count") {
        Some(count) => count.whole_number(1, COUNT, mistakes),
        None => {
            mistakes.missing(
                field.place(),
                "`epochs` has no `count`",
                "say how often each sample runs: count = 5",
            );
            None
        }
    };
    let reducers = match (section.get("reducer"), section.get("reducers")) {
        (Some(one), Some(_)) => {
            let hint = Some("keep one of them; a list goes under `reducers`".to_owned());
            mistakes.add(one.place(), "`reducer` and `reducers` are both given", hint);
            return None;
        }
        (Some(field), None) | (None, Some(field)) => Some(reducers(field, count, registry, mistakes)?),
        (None, None) => None,
    };
    let count = count?;
    Some(match reducers {
        None => ReadEpochs { epochs: Epochs::count(count), reducers: None },
        Some(built) => {
            let names = built.iter().map(|reducer| reducer.log_name()).collect();
            let choices: Vec<ReducerChoice> = built.into_iter().map(ReducerChoice::Built).collect();
            ReadEpochs { epochs: Epochs::new(count, choices), reducers: Some(names) }
        }
    })
}

fn reducers(
    field: TomlField<'_>,
    count: Option<u32>,
    registry: &Registry,
    mistakes: &mut Mistakes,
) -> Option<Vec<Arc<dyn Reducer>>> {
    let texts = field.texts("a reducer such as \"mode\", or a list of them", mistakes)?;
    all(texts.into_iter().map(|text| {
        specs::build(&text?, registry, mistakes, |spec| {
            let reducer = registry.reducer(spec)?;
            reducer.check()?;
            match (reducer.needs_epochs(), count) {
                (Some(k), Some(epochs)) if k > epochs.into() => {
                    Err(Error::TooFewEpochs { reducer: reducer.log_name(), k, epochs })
                }
                _ => Ok(reducer),
            }
        })
    }))
}
