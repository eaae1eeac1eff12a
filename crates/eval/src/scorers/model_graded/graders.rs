//! Which models grade, as given in arguments.

use errorbar_core::{ArgProblem, ArgType, Registry, Result, spec::Arg};

/// The models that were named: one, or a panel, perhaps of one.
#[derive(Clone, Debug)]
pub(in crate::scorers) enum GraderModels {
    One(String),
    Panel(Vec<String>),
}

impl GraderModels {
    pub(in crate::scorers) fn names(&self) -> &[String] {
        match self {
            GraderModels::One(name) => std::slice::from_ref(name),
            GraderModels::Panel(names) => names,
        }
    }
}

impl ArgType for GraderModels {
    const EXPECTED: &'static str = "the name of a model, or a list of such names";

    fn from_arg(arg: &Arg, registry: &Registry) -> Result<Self, ArgProblem> {
        let wrong = |_| ArgProblem::Expected(Self::EXPECTED);
        match arg {
            Arg::List(_) => Vec::from_arg(arg, registry).map(GraderModels::Panel).map_err(wrong),
            arg => String::from_arg(arg, registry).map(GraderModels::One).map_err(wrong),
        }
    }

    fn to_arg(&self) -> Arg {
        match self {
            GraderModels::One(name) => name.to_arg(),
            GraderModels::Panel(names) => names.to_arg(),
        }
    }
}

/// The role whose models grade, or none: then the evaluated model does.
#[derive(Clone, Debug)]
pub(in crate::scorers) struct GraderRole(pub(in crate::scorers) Option<String>);

/// The role if none is given.
pub(in crate::scorers) const ROLE: &str = "grader";

impl Default for GraderRole {
    fn default() -> Self {
        GraderRole(Some(ROLE.to_owned()))
    }
}

impl ArgType for GraderRole {
    const EXPECTED: &'static str = String::EXPECTED;
    const TAKES_NULL: bool = true;

    fn from_arg(arg: &Arg, registry: &Registry) -> Result<Self, ArgProblem> {
        Option::from_arg(arg, registry).map(GraderRole)
    }

    fn to_arg(&self) -> Arg {
        self.0.to_arg()
    }
}
