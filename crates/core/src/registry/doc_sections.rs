//! The sections of an entry's documentation that follow the description.

/// The sections of an entry's documentation, taken from its doc comment: `# Formula`, `# When`, `# Example`, `# See also` and
/// `# Source`. A section that is absent is empty.
///
/// ```
/// use errorbar_core::{Metric, MetricValue, Params, Result, Scores};
///
/// /// The share of scores from a threshold on.
/// ///
/// /// # Formula
/// /// #(x ≥ threshold) / n
/// ///
/// /// # When
/// /// A score counts from some value on, and how far above it is does not matter.
/// ///
/// /// # See also
/// /// `accuracy`, `mean`
/// #[derive(Clone, Debug, Params)]
/// #[params(crate = errorbar_core, name = "pass_rate")]
/// struct PassRate {
///     /// The lowest score that passes.
///     threshold: f64,
/// }
///
/// assert_eq!(PassRate::DOC, "The share of scores from a threshold on.");
/// assert_eq!(PassRate::SECTIONS.formula, "#(x ≥ threshold) / n");
/// assert_eq!(PassRate::SECTIONS.see_also, ["accuracy", "mean"]);
/// assert_eq!(PassRate::SECTIONS.example, "");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DocSections {
    /// How it is computed; its lines are kept.
    pub formula: &'static str,
    /// When to use it, in paragraphs.
    pub when: &'static str,
    /// Commands, each behind `$ `, and what they print: the first block ```` ```console ```` of the section.
    pub example: &'static str,
    /// The names of related entries, which stand in backticks.
    pub see_also: &'static [&'static str],
    /// Where it comes from, in paragraphs.
    pub source: &'static str,
}

impl DocSections {
    /// No section.
    pub const NONE: Self = DocSections { formula: "", when: "", example: "", see_also: &[], source: "" };
}
