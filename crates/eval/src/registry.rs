//! Everything that can be called by name, scorers, solvers, tasks and models among it.

use errorbar_core::registry::{Entry, EntryKind};
use errorbar_core::{Registry, Result};

use crate::model::{MORE_PROVIDERS, PROVIDERS, Provider};
use crate::{AnyScorer, AnySolver, Task, scorers, solvers};

/// An entry that a macro defines, on its way to `inventory`, which collects types of this crate only.
#[doc(hidden)]
#[derive(Debug)]
pub struct SubmittedEntry<T: 'static>(pub Entry<T>);

inventory::collect!(SubmittedEntry<AnySolver>);
inventory::collect!(SubmittedEntry<AnyScorer>);
inventory::collect!(SubmittedEntry<Provider>);
inventory::collect!(SubmittedEntry<Task>);

/// What errorbar brings, and nothing else.
pub fn built_in_registry() -> Registry {
    with_built_in(Registry::built_in())
}

/// What errorbar brings and what `#[metric]`, `#[reducer]`, `#[scorer]`, `#[solver]` and `#[task]` define in
/// the program.
///
/// # Errors
/// A name that is taken.
pub fn collected_registry() -> Result<Registry> {
    let mut registry = with_built_in(Registry::collected()?);
    add_submitted::<AnySolver>(&mut registry)?;
    add_submitted::<AnyScorer>(&mut registry)?;
    add_submitted::<Provider>(&mut registry)?;
    add_submitted::<Task>(&mut registry)?;
    Ok(registry)
}

fn add_submitted<T: EntryKind>(registry: &mut Registry) -> Result<()>
where
    SubmittedEntry<T>: inventory::Collect,
{
    registry.add_all(
        inventory::iter::<SubmittedEntry<T>>.into_iter().map(|SubmittedEntry(entry)| entry).collect(),
    )
}

fn with_built_in(mut registry: Registry) -> Registry {
    registry.add_built_in(solvers::ENTRIES);
    registry.add_built_in(scorers::ENTRIES);
    registry.add_built_in(PROVIDERS);
    registry.add_built_in(MORE_PROVIDERS);
    registry
}
