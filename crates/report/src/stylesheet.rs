//! The stylesheet of pages and drawings: one file for each concern, joined at compile time.

/// Colours, type, the top bar, names of models, numbers, notices.
pub(crate) const BASE: &str = include_str!("../assets/base.css");
/// Intervals, forest plots, comparisons, curves and columns.
pub(crate) const PLOT: &str = include_str!("../assets/plot.css");

/// The stylesheet of a page.
pub fn style() -> &'static str {
    concat!(
        include_str!("../assets/base.css"),
        include_str!("../assets/page.css"),
        include_str!("../assets/plot.css"),
        include_str!("../assets/samples.css"),
        // Last, because it changes what the others say for small screens and for paper.
        include_str!("../assets/narrow.css"),
    )
}
