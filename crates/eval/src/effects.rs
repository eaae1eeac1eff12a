//! What is known of solvers and scorers before they run, so that parts that do not fit together are found then.

/// What a solver is known to do. Of a custom solver nothing is known, unless it says so.
///
/// ```
/// use errorbar_eval::{Solver, SolverEffects, chain, solvers::{chain_of_thought, generate}};
/// assert!(!chain_of_thought().effects().calls_model());
/// assert!(chain![chain_of_thought(), generate()].effects().calls_model());
/// assert!(SolverEffects::unknown().is_unknown());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SolverEffects {
    unknown: bool,
    generates: bool,
    marks_choices: bool,
    templates: Vec<Template>,
}

impl SolverEffects {
    /// It may do anything: call the model, mark choices, add metadata.
    pub fn unknown() -> Self {
        SolverEffects { unknown: true, ..SolverEffects::default() }
    }

    /// It changes messages, and nothing else.
    pub fn messages() -> Self {
        SolverEffects::default()
    }

    /// It calls the model, whose answer becomes the output.
    #[must_use]
    pub fn generates(mut self) -> Self {
        self.generates = true;
        self
    }

    /// It marks the choices that the model has named.
    #[must_use]
    pub fn marks_choices(mut self) -> Self {
        self.marks_choices = true;
        self
    }

    /// It fills in a template.
    #[must_use]
    pub fn template(mut self, template: Template) -> Self {
        self.templates.push(template);
        self
    }

    /// Whether it may do more than is known.
    pub fn is_unknown(&self) -> bool {
        self.unknown
    }

    /// Whether it is known to call the model.
    pub fn calls_model(&self) -> bool {
        self.generates
    }

    pub(crate) fn marks(&self) -> bool {
        self.marks_choices
    }

    pub(crate) fn templates(&self) -> &[Template] {
        &self.templates
    }

    /// What this solver and then another one do. What an unknown one has added may be in the templates behind it.
    #[must_use]
    pub(crate) fn then(mut self, next: SolverEffects) -> Self {
        let is_open = self.unknown;
        let opened = next
            .templates
            .into_iter()
            .map(|template| Template { is_open: template.is_open || is_open, ..template });
        self.templates.extend(opened);
        self.unknown |= next.unknown;
        self.generates |= next.generates;
        self.marks_choices |= next.marks_choices;
        self
    }
}

/// A template of a solver: a text with `{names}`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Template {
    pub(crate) solver: &'static str,
    pub(crate) text: String,
    /// The names that the solver itself fills in.
    pub(crate) names: &'static [&'static str],
    /// The names that its arguments fill in.
    pub(crate) params: Vec<String>,
    /// Whether the reference fails for an unknown name; otherwise it leaves it as it is.
    pub(crate) is_strict: bool,
    /// Whether a solver before it may have added names.
    pub(crate) is_open: bool,
}

impl Template {
    /// A template in which the solver fills in these names, beside those of metadata. Others stay as they are.
    pub fn new(solver: &'static str, text: impl Into<String>, names: &'static [&'static str]) -> Self {
        Template { solver, text: text.into(), names, params: Vec::new(), is_strict: false, is_open: false }
    }

    /// These names are filled in too, by arguments of the solver.
    #[must_use]
    pub fn filled(mut self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.params.extend(names.into_iter().map(Into::into));
        self
    }

    /// Unknown names are a mistake.
    #[must_use]
    pub fn strict(mut self) -> Self {
        self.is_strict = true;
        self
    }
}

/// What a scorer needs of the solver and the samples. Of a custom scorer nothing is known, unless it says so.
///
/// ```
/// use errorbar_eval::{Scorer, ScorerNeeds, scorers::includes};
/// assert_eq!(includes().needs(), ScorerNeeds::output().with_target());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ScorerNeeds {
    output: bool,
    marked_choices: bool,
    target: bool,
}

impl ScorerNeeds {
    /// Nothing that is known.
    pub fn unknown() -> Self {
        ScorerNeeds::default()
    }

    /// The answer of the model.
    pub fn output() -> Self {
        ScorerNeeds { output: true, ..ScorerNeeds::default() }
    }

    /// Choices that the solver has marked.
    pub fn marked_choices() -> Self {
        ScorerNeeds { marked_choices: true, ..ScorerNeeds::default() }
    }

    /// Targets of samples too: without any, every answer would be right, or none.
    #[must_use]
    pub fn with_target(self) -> Self {
        ScorerNeeds { target: true, ..self }
    }

    /// What both need.
    #[must_use]
    pub fn and(self, other: ScorerNeeds) -> Self {
        ScorerNeeds {
            output: self.output || other.output,
            marked_choices: self.marked_choices || other.marked_choices,
            target: self.target || other.target,
        }
    }

    /// Whether it needs the answer of the model.
    pub fn needs_output(self) -> bool {
        self.output
    }

    /// Whether it needs marked choices.
    pub fn needs_marked_choices(self) -> bool {
        self.marked_choices
    }

    /// Whether it needs targets.
    pub fn needs_target(self) -> bool {
        self.target
    }
}

/// The needs of scorers that compare the answer with the target, whatever their arguments.
pub(crate) fn of_comparison<S>(_: &S) -> ScorerNeeds {
    ScorerNeeds::output().with_target()
}
