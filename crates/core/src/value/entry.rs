//! Leaves as arguments of specs, and conversions as a kind of entry.

use super::{Conversion, Leaf};
use crate::error::Result;
use crate::registry::{ArgProblem, ArgType, BuiltFrom, EntryInfo, EntryKind, Registry};
use crate::spec::{Arg, Spec};

impl ArgType for Leaf {
    const EXPECTED: &'static str = "a string, a number or a boolean";

    fn from_arg(arg: &Arg, _: &Registry) -> Result<Self, ArgProblem> {
        match arg {
            Arg::Bool(b) => Ok(Leaf::Bool(*b)),
            Arg::Int(i) => Ok(Leaf::Int(*i)),
            Arg::Float(f) => Ok(Leaf::Float(*f)),
            Arg::Str(s) => Ok(Leaf::from(s.as_str())),
            _ => Err(ArgProblem::Expected(Self::EXPECTED)),
        }
    }

    fn to_arg(&self) -> Arg {
        match self {
            Leaf::Unscored | Leaf::Null => Arg::Null,
            Leaf::Bool(b) => Arg::Bool(*b),
            Leaf::Int(i) => Arg::Int(*i),
            Leaf::Float(f) => Arg::Float(*f),
            Leaf::Str(s) => Arg::Str(s.to_string()),
        }
    }
}

impl ArgType for Conversion {
    const EXPECTED: &'static str = "a conversion such as value_to_float(correct=\"yes\")";

    fn from_arg(arg: &Arg, registry: &Registry) -> Result<Self, ArgProblem> {
        let spec = arg.as_spec().ok_or(ArgProblem::Expected(Self::EXPECTED))?;
        registry.conversion(spec).map_err(ArgProblem::Invalid)
    }

    fn to_arg(&self) -> Arg {
        Arg::Spec(self.spec())
    }
}

impl EntryKind for Conversion {
    const KIND: &'static str = "conversion";
}

impl<C: Into<Conversion>> BuiltFrom<C> for Conversion {
    fn built_from(conversion: C) -> Self {
        conversion.into()
    }
}

impl Registry {
    /// Adds a custom conversion under its name.
    pub fn add_conversion(&mut self, conversion: Conversion, doc: &str) -> Result<()> {
        self.add_object(conversion.spec(), doc, conversion)
    }

    /// Builds a conversion from its spec.
    pub fn conversion(&self, spec: &Spec) -> Result<Conversion> {
        self.build(spec)
    }

    /// All conversions, in order of registration.
    pub fn list_conversions(&self) -> impl Iterator<Item = &EntryInfo> {
        self.list::<Conversion>()
    }
}
