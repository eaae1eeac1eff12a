//! The reducer that makes one score of those of several scorers or graders.

use std::sync::Arc;

use errorbar_core::spec::Arg;
use errorbar_core::{ArgProblem, ArgType, Reducer, ReducerChoice, Registry, Result, reducers};

use crate::collected_registry;

/// A reducer, or why there is none, which is reported when the task is checked.
#[derive(Clone, Debug)]
pub(super) struct PanelReducer(Result<Arc<dyn Reducer>>);

impl PanelReducer {
    pub(super) fn choose(choice: ReducerChoice) -> Self {
        PanelReducer(collected_registry().and_then(|registry| choice.build(&registry)))
    }

    /// The value that more than half of them hold.
    pub(super) fn majority() -> Self {
        PanelReducer(Ok(Arc::new(reducers::majority())))
    }

    /// The mean of their scores.
    pub(super) fn mean() -> Self {
        PanelReducer(Ok(Arc::new(reducers::mean())))
    }

    pub(super) fn get(&self) -> Result<&dyn Reducer> {
        self.0.as_deref().map_err(Clone::clone)
    }
}

impl ArgType for PanelReducer {
    const EXPECTED: &'static str = <Arc<dyn Reducer>>::EXPECTED;

    fn from_arg(arg: &Arg, registry: &Registry) -> Result<Self, ArgProblem> {
        ArgType::from_arg(arg, registry).map(|reducer| PanelReducer(Ok(reducer)))
    }

    fn to_arg(&self) -> Arg {
        self.0.as_ref().map_or(Arg::Null, ArgType::to_arg)
    }
}
