//! What is made of scalars of Rust: score values, arguments of specs.

/// A `From` for each scalar; without a list, those that leaves and values have in common.
macro_rules! from_scalars {
    ($type:ident: $($scalar:ty => |$from:ident| $into:expr),+ $(,)?) => {
        $(impl From<$scalar> for $type {
            fn from($from: $scalar) -> Self {
                $into
            }
        })+
    };
    ($type:ident) => {
        from_scalars!($type:
            bool => |b| $type::Bool(b),
            i64 => |i| $type::Int(i),
            i32 => |i| $type::Int(i.into()),
            f64 => |f| if f.is_nan() { $type::Unscored } else { $type::Float(f) },
            &str => |s| $type::Str(s.into()),
            String => |s| $type::Str(s.into()),
        );
    };
}
pub(crate) use from_scalars;
