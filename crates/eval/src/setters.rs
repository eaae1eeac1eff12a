//! Builder methods.

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

pub(crate) use setters;
