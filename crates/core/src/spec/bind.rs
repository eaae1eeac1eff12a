//! From arguments as written to arguments by name.

use indexmap::IndexMap;

use super::{Arg, Spec, SpecError, SpecErrorKind, nearest};

/// What the name of a parameter begins with that takes every keyword which no other parameter has.
const ANY_KEYWORD: &str = "**";

impl Spec {
    /// Gives every argument its name, as a log records them: positional ones take the names in `parameters` in order, then
    /// come the keyword ones as written. Parameters that were not passed do not appear. A parameter `**name` stands for any
    /// keyword that is no other parameter.
    ///
    /// # Errors
    /// More positional arguments than parameters, a keyword that is no parameter, or an argument given twice. The message
    /// names the spec, the argument and the valid names; an unknown keyword comes with the nearest one as a hint.
    ///
    /// ```
    /// use errorbar_core::spec::{Arg, Spec};
    ///
    /// let spec: Spec = "pass_at(2, value=0.5)".parse()?;
    /// let bound = spec.bind(&["k", "value"])?;
    /// assert_eq!(bound["k"], Arg::Int(2));
    ///
    /// let wrong = "pass_at(2, vlaue=0.5)".parse::<Spec>()?.bind(&["k", "value"]).unwrap_err();
    /// assert_eq!(wrong.to_string(), "pass_at has no argument 'vlaue' (it takes k, value)");
    /// assert_eq!(wrong.hint(), Some("did you mean 'value'?"));
    /// # Ok::<(), errorbar_core::spec::SpecError>(())
    /// ```
    pub fn bind(&self, parameters: &[&str]) -> Result<IndexMap<String, Arg>, SpecError> {
        let spec = || self.qualified_name().into_owned();
        let owned = || parameters.iter().map(|&name| name.to_owned()).collect();
        let takes_any = parameters.iter().any(|name| name.starts_with(ANY_KEYWORD));
        let positional = || parameters.iter().filter(|name| !name.starts_with(ANY_KEYWORD));

        if self.args.len() > positional().count() {
            return Err(SpecErrorKind::TooManyArguments {
                spec: spec(),
                given: self.args.len(),
                parameters: owned(),
            }
            .into());
        }

        let mut bound: IndexMap<String, Arg> =
            positional().map(|&name| name.to_owned()).zip(self.args.iter().cloned()).collect();
        for (argument, value) in &self.kwargs {
            if !takes_any && !parameters.contains(&argument.as_str()) {
                let error = SpecError::from(SpecErrorKind::UnknownArgument {
                    spec: spec(),
                    argument: argument.clone(),
                    parameters: owned(),
                });
                return Err(match nearest(argument, parameters.iter().copied()) {
                    Some(meant) => error.with_hint(format!("did you mean '{meant}'?")),
                    None => error,
                });
            }
            if bound.insert(argument.clone(), value.clone()).is_some() {
                return Err(SpecErrorKind::ArgumentGivenTwice {
                    spec: spec(),
                    argument: argument.clone(),
                    parameters: owned(),
                }
                .into());
            }
        }
        Ok(bound)
    }
}
