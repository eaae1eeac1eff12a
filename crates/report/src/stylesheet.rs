//! The stylesheet of pages and drawings: one file for each concern, joined at compile time.

/// The stylesheet of a page.
pub fn style() -> &'static str {
    concat!(
        include_str!("../assets/base.css"),
        include_str!("../assets/page.css"),
        include_str!("../assets/plot.css"),
        include_str!("../assets/samples.css"),
        include_str!("../assets/browser.css"),
        // Last, because it changes what the others say for small screens and for paper.
        include_str!("../assets/narrow.css"),
    )
}
