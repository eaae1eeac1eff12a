//! What can be written down as a spec.

use super::Spec;

/// Something that has a spec: its name, and the arguments that were passed, as logs record them.
///
/// A type with [`Params`](crate::Params) has one. For others it is written by hand:
///
/// ```
/// use errorbar_core::{Spec, ToSpec};
///
/// #[derive(Debug)]
/// struct Longest;
///
/// impl ToSpec for Longest {
///     fn spec(&self) -> Spec {
///         Spec::new("longest")
///     }
/// }
/// ```
pub trait ToSpec {
    /// The name and the arguments that were passed.
    fn spec(&self) -> Spec;
}
