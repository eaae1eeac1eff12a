//! Which figure is shown first.

use errorbar_core::{Headline, HeadlineRequest, Warning};

use super::projection::ProjectedBlock;

/// The first figure that matches the request, else the first of the first block; and a warning if none matches.
pub(super) fn headline(
    blocks: &[ProjectedBlock<'_>],
    wanted: Option<&HeadlineRequest>,
) -> (Option<Headline>, Option<Warning>) {
    let fitting =
        wanted.and_then(|wanted| blocks.iter().find_map(|block| Some((block, find(wanted, block)?))));
    let first = || {
        // A block whose metrics all failed has nothing to show.
        let first = blocks.iter().find(|b| !b.entries.is_empty() || b.score.failures.is_empty())?;
        Some((first, first.entries.keys().next()?))
    };
    let has_fitting = fitting.is_some();
    let Some((block, metric)) = fitting.or_else(first) else { return (None, None) };
    let headline = Headline {
        scorer: block.score.scorer.clone(),
        score: block.score.name().to_owned(),
        metric: metric.clone(),
        reducer: block.reducer(),
    };
    let missed = wanted.filter(|_| !has_fitting);
    (Some(headline), missed.map(|wanted| Warning::NoHeadline { wanted: wanted.to_string() }))
}

/// The key of the first entry of a block that fits.
fn find<'b>(wanted: &HeadlineRequest, block: &'b ProjectedBlock<'_>) -> Option<&'b String> {
    let fits = |wanted: &Option<String>, found: Option<&str>| match wanted {
        Some(wanted) => found == Some(wanted.as_str()),
        None => true,
    };
    let block_fits = fits(&wanted.scorer, Some(&block.score.scorer))
        && fits(&wanted.score, Some(block.score.name()))
        && (fits(&wanted.reducer, block.score.reducer.as_deref())
            || fits(&wanted.reducer, block.reducer().as_deref()));
    block.entries.keys().find(|key| block_fits && fits(&wanted.metric, Some(key)))
}
