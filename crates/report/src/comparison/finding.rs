//! The finding in one sentence.

use errorbar_core::IntervalSide;
use errorbar_inference::{Comparison, ComparisonReport};

use super::figures::{Figures, by_test, subject, two_digits};
use super::legend::correction_title;
use super::record::interval_of;
use super::tables::is_whole;
use super::verdict::{Verdict, alpha};
use crate::notes::by_key;
use crate::number::{counted, percent, plain};

/// A sentence in two parts: what was found, and the figures.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Finding {
    pub(crate) claim: String,
    pub(crate) figures: String,
}

/// What to say first: about the first comparison over all samples and tasks; of several sides, about each of them.
pub(crate) fn finding(report: &ComparisonReport) -> Option<Finding> {
    let first = report.comparisons.iter().find(|c| is_whole(c)).or_else(|| report.comparisons.first())?;
    if report.sides.len() > 2 { Some(of_sides(report, first)) } else { Some(of_pair(report, first)) }
}

fn of_pair(report: &ComparisonReport, c: &Comparison) -> Finding {
    let Comparison { base, other, .. } = c;
    let figures = Figures::of(c, report);
    let claim = match &figures.verdict {
        Verdict::Better => format!("{other} is better than {base}"),
        Verdict::Worse => format!("{other} is worse than {base}"),
        Verdict::Higher => format!("{other} is higher than {base}"),
        Verdict::Lower => format!("{other} is lower than {base}"),
        Verdict::NotShown => format!("No difference shown between {base} and {other}"),
        Verdict::Equivalent(margin) => format!("{other} is the same as {base} within ± {}", plain(*margin)),
        Verdict::Identical => format!("No sample differs between {base} and {other}"),
        Verdict::Unknown => format!("{base} and {other} cannot be compared"),
    };
    let mut parts = Vec::new();
    if figures.difference.value().is_some() {
        let (from, to) = (figures.base.texts().value, figures.other.texts().value);
        parts.push(format!("{} {from} → {to}", subject(c)));
        let interval = figures.difference.interval_text();
        let difference = figures.difference.texts().value;
        parts.push(match interval.is_empty() {
            true => format!("difference {}", figures.difference.short()),
            false => format!("difference {difference} {interval}{}", level_note(c)),
        });
        parts.extend((figures.p != super::figures::NONE).then(|| format!("p {}", figures.p)));
    } else {
        parts.push(format!("{}: {}", subject(c), figures.difference.short()));
    }
    parts.extend((c.n > 0).then(|| counted(c.n, if c.is_paired { "pair" } else { "score" })));
    let open = figures.verdict == Verdict::NotShown;
    let mde = c.mde.as_ref().ok().filter(|mde| open && **mde > 0.0 && mde.is_finite());
    let mde = mde.map(|mde| format!("; could have detected ± {}{}", two_digits(*mde), by_test(report)));
    let mde = mde.unwrap_or_default();
    Finding { claim, figures: parts.join(", ") + &mde }
}

fn of_sides(report: &ComparisonReport, first: &Comparison) -> Finding {
    let is_same = |c: &&Comparison| {
        c.base == first.base
            && (&c.scorer, &c.metric, &c.field, &c.reducer)
                == (&first.scorer, &first.metric, &first.field, &first.reducer)
            && (&c.task, &c.group_key, &c.group) == (&first.task, &first.group_key, &first.group)
    };
    let compared = report.comparisons.iter().filter(is_same);
    let verdicts = by_key(compared.map(|c| (Verdict::of(c, report), c.other.clone())));
    let groups: Vec<String> = verdicts.iter().map(|(verdict, sides)| of_verdict(verdict, sides)).collect();
    let sides = verdicts.iter().map(|(_, sides)| sides.len()).sum::<usize>();
    let basis = match report.options.correction.filter(|_| first.p_adjusted.is_some()) {
        Some(correction) => {
            format!(" (p < {}, corrected by {})", plain(alpha(first)), correction_title(correction))
        }
        None if sides > 1 => {
            level_note(first).replace("interval)", "intervals)").replace("bound)", "bounds)")
        }
        None => level_note(first),
    };
    Finding {
        claim: format!("Against {} by {}", first.base, subject(first)),
        figures: groups.join("; ") + &basis,
    }
}

/// `heron and magpie are better`.
fn of_verdict(verdict: &Verdict, sides: &[String]) -> String {
    let names = match sides {
        [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        sides => sides.concat(),
    };
    let are = if sides.len() == 1 { "is" } else { "are" };
    match verdict {
        Verdict::Better => format!("{names} {are} better"),
        Verdict::Worse => format!("{names} {are} worse"),
        Verdict::Higher => format!("{names} {are} higher"),
        Verdict::Lower => format!("{names} {are} lower"),
        Verdict::NotShown => format!("no difference shown for {names}"),
        Verdict::Equivalent(margin) => format!("{names} {are} the same within ± {}", plain(*margin)),
        Verdict::Identical => format!("no sample differs for {names}"),
        Verdict::Unknown => format!("{names} cannot be compared"),
    }
}

/// The level of the interval: ` (95 % interval)`; empty without one.
fn level_note(c: &Comparison) -> String {
    let Some(interval) = interval_of(&c.difference) else { return String::new() };
    let what = if interval.side == IntervalSide::TwoSided { "interval" } else { "bound" };
    format!(" ({} {what})", percent(interval.level))
}
