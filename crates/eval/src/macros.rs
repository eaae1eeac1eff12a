//! Shared objects of a trait: a newtype around an `Arc` that any implementation converts into.

macro_rules! shared_object {
    ($any:ident, $object:ident) => {
        impl std::fmt::Debug for $any {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.0.fmt(f)
            }
        }

        impl std::ops::Deref for $any {
            type Target = dyn $object;
            fn deref(&self) -> &Self::Target {
                self.0.as_ref()
            }
        }

        impl<T: $object + 'static> From<T> for $any {
            fn from(object: T) -> Self {
                $any(std::sync::Arc::new(object))
            }
        }
    };
    // One that specs name.
    ($any:ident, $object:ident, $kind:literal, $expected:literal) => {
        shared_object!($any, $object);

        impl errorbar_core::registry::EntryKind for $any {
            const KIND: &'static str = $kind;
        }

        impl<T: $object + 'static> errorbar_core::registry::BuiltFrom<T> for $any {
            fn built_from(object: T) -> Self {
                object.into()
            }
        }

        impl errorbar_core::ArgType for $any {
            const EXPECTED: &'static str = $expected;

            fn from_arg(
                arg: &errorbar_core::spec::Arg,
                registry: &errorbar_core::Registry,
            ) -> Result<Self, errorbar_core::ArgProblem> {
                let expected = errorbar_core::ArgProblem::Expected(Self::EXPECTED);
                registry.build(arg.as_spec().ok_or(expected)?).map_err(errorbar_core::ArgProblem::Invalid)
            }

            fn to_arg(&self) -> errorbar_core::spec::Arg {
                errorbar_core::spec::Arg::Spec(self.spec())
            }
        }
    };
}

// Builder methods.

/// Builder methods that set a field each: `name: Type => value` sets the field `name` to the value, in which `name` is
/// the argument.
macro_rules! setters {
    ($($(#[$attribute:meta])* $field:ident: $argument:ty => $value:expr;)*) => {$(
        $(#[$attribute])*
        #[must_use]
        pub fn $field(mut self, $field: $argument) -> Self {
            self.$field = $value;
            self
        }
    )*};
}

pub(crate) use {setters, shared_object};
