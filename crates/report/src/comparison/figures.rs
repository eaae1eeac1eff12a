//! The figures of a comparison, as text.

use std::fmt;

use errorbar_core::{Direction, Estimate, IntervalSide, Role, Undefined};
use errorbar_inference::{Comparison, ComparisonReport, Gate, GateOutcome};

use super::tables::is_whole;
use super::{correction_title, short_reason, why_no_error, why_no_interval};
use crate::figure::{BarSpan, EstimateText, shown_error, shown_interval};
use crate::notes::{self, by_key};
use crate::text::{counted, decimals, fixed, joined, percent, plain};

/// Fewer pairs than this are marked.
const FEW: u64 = 10;

/// The figures of a comparison.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Figures {
    pub(crate) base: EstimateText,
    pub(crate) other: EstimateText,
    pub(crate) difference: EstimateText,
    /// The p-value, corrected if there is a correction; `–` if there is none.
    pub(crate) p: String,
    pub(crate) verdict: Verdict,
    pub(crate) span: Option<BarSpan>,
}

/// What stands in the place of a number that does not exist; the reason is among the notes.
pub(crate) const NONE: &str = "–";

impl Figures {
    pub(crate) fn of(comparison: &Comparison, report: &ComparisonReport) -> Self {
        let difference = EstimateText::from(&comparison.difference).signed();
        let sets_scale = comparison.n >= FEW && matches!(comparison.role, Role::Location | Role::Share);
        Figures {
            base: EstimateText::from(&comparison.base_estimate),
            other: EstimateText::from(&comparison.other_estimate),
            span: BarSpan::of_difference(&difference, sets_scale),
            difference,
            p: shown_p(comparison).map_or_else(|| NONE.to_owned(), p_text),
            verdict: Verdict::of(comparison, report),
        }
    }
}

/// The p-value that is shown: the corrected one if there is one.
pub(crate) fn shown_p(comparison: &Comparison) -> Option<f64> {
    let raw = comparison.test.as_ref().ok().map(|test| test.p_value);
    comparison.p_adjusted.or(raw).filter(|p| !p.is_nan())
}

/// A p-value to two significant digits: `0.021`, `< 0.0001`.
pub(crate) fn p_text(p: f64) -> String {
    const LEAST: f64 = 1e-4;
    if p < LEAST {
        return format!("< {LEAST}");
    }
    if p >= 0.995 {
        return "1".to_owned();
    }
    decimals(p).map_or_else(|| plain(p), |decimals| fixed(p, decimals))
}

/// A number to two significant digits.
pub(crate) fn two_digits(number: f64) -> String {
    decimals(number).map_or_else(|| plain(number), |decimals| fixed(number, decimals))
}

/// What a comparison is about, besides its sides: `accuracy`, `accuracy (almanac)` of a task, `accuracy, category
/// geography`.
pub(crate) fn subject(comparison: &Comparison) -> String {
    let Comparison { metric, field, reducer, task, .. } = comparison;
    let metric = match joined([task, field, reducer].into_iter().flatten(), ", ") {
        Some(score) => format!("{metric} ({score})"),
        None => metric.clone(),
    };
    match (&comparison.group_key, &comparison.group) {
        (Some(key), Some(group)) => format!("{metric}, {key} {group}"),
        (Some(key), None) => format!("{metric}, mean over {key}"),
        (None, _) => metric,
    }
}

/// A comparison in lines for people, for where there is no table: sides, difference, verdict, notes.
pub(crate) fn lines(comparison: &Comparison, report: &ComparisonReport) -> Vec<String> {
    let figures = Figures::of(comparison, report);
    let level = comparison.difference.interval.as_ref().ok().filter(|_| figures.difference.ends().is_some());
    let interval =
        level.map(|interval| format!(" ({} interval)", percent(interval.level))).unwrap_or_default();
    let mut lines = vec![
        format!("{} (base): {}", comparison.base, figures.base),
        format!("{}: {}", comparison.other, figures.other),
        format!("difference: {}{interval}", figures.difference),
        format!("verdict: {}", figures.verdict),
    ];
    lines.extend(shown_p(comparison).map(|_| format!("p: {}", figures.p)));
    lines.extend(notes(comparison, report, true));
    lines
}

/// What is to be known about a comparison besides its figures. The number of pairs is among it if the title does not
/// have it.
pub(crate) fn notes(comparison: &Comparison, report: &ComparisonReport, shows_n: bool) -> Vec<String> {
    let mut notes = Vec::new();
    notes.extend(pairs(comparison, shows_n));
    notes.extend(clusters(comparison).filter(|_| shows_n || has_few_clusters(comparison)));
    notes.extend(won(comparison));
    notes.extend(removed(comparison));
    notes.extend(detectable(comparison, report));
    notes.extend(unmatched(comparison, report));
    let raw = comparison.test.as_ref().ok().filter(|_| comparison.p_adjusted.is_some());
    notes.extend(raw.map(|test| format!("p {} uncorrected", p_text(test.p_value))));
    notes.extend(comparison.p_tost.map(|p| format!("p {} for equivalence", p_text(p))));
    notes.extend(is_borderline(comparison).then(|| "borderline: p and the interval disagree".to_owned()));
    notes.extend(missing(comparison, &Verdict::of(comparison, report)));
    notes.extend(bounds(&comparison.difference));
    notes.extend(notes::remarks(&comparison.difference));
    let rule = report.options.gate.zip(comparison.gate);
    notes.extend(rule.map(|(rule, outcome)| short_reason(rule, outcome, comparison)));
    notes
}

fn pairs(comparison: &Comparison, shows_n: bool) -> Option<String> {
    let n = comparison.n;
    let thing = if comparison.is_paired { "pair" } else { "score" };
    match n {
        // Of recorded figures the number may not be known.
        0 if comparison.difference.value.is_ok() => None,
        0 => Some(format!("no common {}", if comparison.is_paired { "sample" } else { "score" })),
        n if n < FEW => Some(format!("only {}", counted(n, thing))),
        n if shows_n => Some(counted(n, thing)),
        _ => None,
    }
}

/// `48 clusters`; `only 8 clusters, df 7` of few.
pub(crate) fn clusters(comparison: &Comparison) -> Option<String> {
    notes::clusters(shown_error(&comparison.difference)?)
}

fn has_few_clusters(comparison: &Comparison) -> bool {
    shown_error(&comparison.difference).is_some_and(notes::has_few_clusters)
}

/// `12 wins, 23 losses, 109 ties`.
fn won(comparison: &Comparison) -> Option<String> {
    let ((wins, losses), ties) = comparison.wins.zip(comparison.losses).zip(comparison.ties)?;
    let (wins, ties) = (counted(wins, "win"), counted(ties, "tie"));
    let losses = format!("{losses} {}", if losses == 1 { "loss" } else { "losses" });
    match comparison.n {
        0 => None,
        _ if is_identical(comparison) => Some(ties),
        _ => Some(format!("{wins}, {losses}, {ties}")),
    }
}

/// What pairing was worth: `r 0.41, variance -41 %`. Without a difference in any pair there is nothing to remove.
fn removed(comparison: &Comparison) -> Option<String> {
    if is_identical(comparison) {
        return None;
    }
    let correlation = comparison.correlation.as_ref().ok().map(|r| format!("r {}", fixed(*r, 2)));
    let percents = comparison.variance_removed.as_ref().ok().map(|share| (share * 100.0).round());
    let share = percents.filter(|percents| *percents != 0.0).map(|percents| {
        let sign = if percents > 0.0 { "-" } else { "+" };
        format!("variance {sign}{}", percent(percents.abs() / 100.0))
    });
    joined(correlation.into_iter().chain(share), ", ")
}

/// What these samples can show. Where a difference was not shown, it is the first that a reader asks.
fn detectable(comparison: &Comparison, report: &ComparisonReport) -> Option<String> {
    let mde = comparison.mde.as_ref().ok().filter(|mde| **mde > 0.0 && mde.is_finite())?;
    let is_open = !Verdict::of(comparison, report).is_decided();
    let verb = if is_open { "could have detected" } else { "detects" };
    Some(format!("{verb} ± {}{}", two_digits(*mde), by_test(report)))
}

/// Which test a detectable difference is of, where a gate has another: it reads one end of the interval.
pub(crate) fn by_test(report: &ComparisonReport) -> &'static str {
    if report.options.gate.is_some() { " (two-sided at 5 %)" } else { "" }
}

/// Samples without a partner, unless a warning has them.
fn unmatched(comparison: &Comparison, report: &ComparisonReport) -> Option<String> {
    use errorbar_inference::ComparisonWarning::Unmatched;
    let Comparison { base, other, only_base, only_other, .. } = comparison;
    let is_warned = report.warnings.iter().any(|warning| match warning {
        Unmatched { base: warned_base, other: warned_other, .. } => {
            warned_base == base && warned_other == other
        }
        _ => false,
    });
    let only = |count: u64, side: &str| (count > 0).then(|| format!("{count} only in {side}"));
    let counts = [only(*only_base, base), only(*only_other, other)].into_iter().flatten();
    joined(counts, ", ").filter(|_| !is_warned && comparison.is_paired)
}

/// Why figures that a reader looks for do not exist; a reason that several share is named once.
fn missing(comparison: &Comparison, verdict: &Verdict) -> Vec<String> {
    const EQUAL: &str = "all differences are equal";
    let difference = &comparison.difference;
    if difference.value.is_err() || *verdict == Verdict::Identical {
        // The figure itself has the reason.
        return Vec::new();
    }
    let no_spread = |reason: String| if reason.starts_with("no spread") { EQUAL.to_owned() } else { reason };
    let interval = why_no_interval(difference);
    // With an interval, an error is not missing.
    let error = why_no_error(difference).filter(|_| interval.is_some());
    let test = comparison.test.as_ref().err().map(Undefined::to_string);
    let is_open = *verdict == Verdict::NotShown;
    let mde = comparison.mde.as_ref().err().filter(|_| is_open).map(Undefined::to_string);
    let is_expected = comparison.is_paired && comparison.n >= FEW && comparison.group_key.is_none();
    let correlation =
        comparison.correlation.as_ref().err().filter(|_| is_expected).and_then(|reason| match reason {
            Undefined::NoSpread { .. } => Some("all scores of a side are equal".to_owned()),
            // A mean over tasks and a figure of all samples together have none.
            Undefined::NotAvailable => None,
            reason => Some(reason.to_string()),
        });
    let parts = [
        ("error", error.map(no_spread)),
        ("interval", interval.map(no_spread)),
        ("p", test.map(no_spread)),
        ("detectable difference", mde.map(no_spread)),
        ("correlation", correlation),
    ];
    let reasons =
        notes::by_key(parts.into_iter().filter_map(|(part, reason)| Some((reason?, part.to_owned()))));
    let text = |(reason, parts): (String, Vec<String>)| format!("no {}: {reason}", listed(&parts, "or"));
    reasons.into_iter().map(text).collect()
}

fn listed(parts: &[String], last_by: &str) -> String {
    match parts {
        [first @ .., last] if !first.is_empty() => format!("{} {last_by} {last}", first.join(", ")),
        parts => parts.concat(),
    }
}

/// What the difference would be with the scores that are absent.
fn bounds(difference: &Estimate) -> Option<String> {
    let bounds = difference.bounds.filter(|bounds| difference.value.is_ok() && bounds.worst < bounds.best)?;
    let places = decimals((bounds.best - bounds.worst) / 2.0);
    let text = |value: f64| {
        let number = places.map_or_else(|| plain(value), |places| fixed(value, places));
        if value > 0.0 { format!("+{number}") } else { number }
    };
    let with = match (difference.absent, difference.notes.partly_absent) {
        (0, Some(partly)) => format!("the absent epochs of {}", counted(partly, "sample")),
        (0, None) => "the absent scores".to_owned(),
        (absent, _) => {
            format!("the {} absent scores", absent).replace("the 1 absent scores", "the absent score")
        }
    };
    Some(format!("with {with}: {} at worst, {} at best", text(bounds.worst), text(bounds.best)))
}

// The finding in one sentence.

/// A sentence in two parts: what was found, and the figures.
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
        Verdict::NotShown => format!("No difference shown between {base} and {other}"),
        Verdict::Equivalent(margin) => format!("{other} is the same as {base} within ± {}", plain(*margin)),
        Verdict::Identical => format!("No sample differs between {base} and {other}"),
        Verdict::Unknown => format!("{base} and {other} cannot be compared"),
        decided => format!("{other} is {decided} than {base}"),
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
        parts.extend((figures.p != NONE).then(|| format!("p {}", figures.p)));
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
    let names = listed(sides, "and");
    let are = if sides.len() == 1 { "is" } else { "are" };
    match verdict {
        Verdict::NotShown | Verdict::Identical => format!("{verdict} for {names}"),
        Verdict::Equivalent(_) => format!("{names} {are} the {verdict}"),
        Verdict::Unknown => format!("{names} cannot be compared"),
        decided => format!("{names} {are} {decided}"),
    }
}

/// The level of the interval: ` (95 % interval)`; empty without one.
fn level_note(c: &Comparison) -> String {
    let Some(interval) = shown_interval(&c.difference) else { return String::new() };
    let what = if interval.side == IntervalSide::TwoSided { "interval" } else { "bound" };
    format!(" ({} {what})", percent(interval.level))
}

// What a comparison says, in words for a reader in a hurry.

/// What a comparison says.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Verdict {
    /// The other side is better.
    Better,
    /// It is worse.
    Worse,
    /// It has the higher figure, and neither is better.
    Higher,
    /// It has the lower figure.
    Lower,
    /// The data do not show which is ahead.
    NotShown,
    /// The gate of equivalence shows that they are the same, within this.
    Equivalent(f64),
    /// No sample has another score.
    Identical,
    /// There is nothing to judge by.
    Unknown,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Verdict::Better => f.write_str("better"),
            Verdict::Worse => f.write_str("worse"),
            Verdict::Higher => f.write_str("higher"),
            Verdict::Lower => f.write_str("lower"),
            Verdict::NotShown => f.write_str("no difference shown"),
            Verdict::Equivalent(margin) => write!(f, "same within ± {}", plain(*margin)),
            Verdict::Identical => f.write_str("no sample differs"),
            Verdict::Unknown => f.write_str("unknown"),
        }
    }
}

impl Verdict {
    /// What a comparison says: by the corrected p-value if there is one, else by the interval that is shown, else by the
    /// p-value.
    pub(crate) fn of(comparison: &Comparison, report: &ComparisonReport) -> Self {
        let Some(difference) = comparison.difference.number() else { return Verdict::Unknown };
        if is_identical(comparison) {
            return Verdict::Identical;
        }
        match is_significant(comparison) {
            Some(true) if difference != 0.0 => match (comparison.direction, difference > 0.0) {
                (Direction::Higher, true) | (Direction::Lower, false) => Verdict::Better,
                (Direction::Higher, false) | (Direction::Lower, true) => Verdict::Worse,
                (_, true) => Verdict::Higher,
                (_, false) => Verdict::Lower,
            },
            Some(_) => match (report.options.gate, comparison.gate) {
                (Some(Gate::Equivalent(margin)), Some(GateOutcome::Passed)) => Verdict::Equivalent(margin),
                _ => Verdict::NotShown,
            },
            None => Verdict::Unknown,
        }
    }

    /// Whether it says which side is ahead.
    pub(crate) fn is_decided(&self) -> bool {
        matches!(self, Verdict::Better | Verdict::Worse | Verdict::Higher | Verdict::Lower)
    }
}

/// Whether no sample has another score on the other side.
pub(super) fn is_identical(comparison: &Comparison) -> bool {
    (comparison.wins, comparison.losses) == (Some(0), Some(0)) && comparison.ties.is_some_and(|ties| ties > 0)
}

/// The share of false alarms that the level of the interval allows.
pub(super) fn alpha(comparison: &Comparison) -> f64 {
    let level = comparison.difference.interval.as_ref().map_or(0.95, |interval| interval.level);
    // 1 − 0.95 is not 0.05 to the last bit.
    ((1.0 - level) * 1e9).round() / 1e9
}

/// Whether a difference is shown; none if there is nothing to judge by.
pub(super) fn is_significant(comparison: &Comparison) -> Option<bool> {
    if let Some(p) = comparison.p_adjusted.filter(|p| !p.is_nan()) {
        return Some(p < alpha(comparison));
    }
    excludes_zero(comparison).or_else(|| has_small_p(comparison))
}

/// Whether the interval excludes 0.
fn excludes_zero(comparison: &Comparison) -> Option<bool> {
    let interval = shown_interval(&comparison.difference)?;
    Some(match interval.side {
        IntervalSide::Lower => interval.lower > 0.0,
        IntervalSide::Upper => interval.upper < 0.0,
        _ => interval.lower > 0.0 || interval.upper < 0.0,
    })
}

/// Whether the p-value is below what the level allows.
fn has_small_p(comparison: &Comparison) -> Option<bool> {
    let test = comparison.test.as_ref().ok().filter(|test| !test.p_value.is_nan())?;
    Some(test.p_value < alpha(comparison))
}

/// Whether interval and p-value say different things: the case is close, and a reader should know which of them the verdict
/// is from.
pub(super) fn is_borderline(comparison: &Comparison) -> bool {
    let two_sided = shown_interval(&comparison.difference)
        .is_some_and(|interval| interval.side == IntervalSide::TwoSided);
    let both = excludes_zero(comparison).zip(has_small_p(comparison)).filter(|_| two_sided);
    comparison.p_adjusted.is_none() && both.is_some_and(|(excludes, small)| excludes != small)
}

// A comparison as people read it: the better side first.

/// A pair of runs with the better one first.
pub(crate) struct Pair<'c> {
    pub(crate) comparison: &'c Comparison,
    pub(crate) ahead: &'c str,
    pub(crate) behind: &'c str,
    /// Whether the first minus the second is other minus base.
    pub(crate) is_as_computed: bool,
    /// Whether the difference is shown by the corrected test.
    pub(crate) is_decided: bool,
}

impl<'c> Pair<'c> {
    pub(crate) fn of(comparison: &'c Comparison) -> Self {
        let difference = comparison.difference.number().unwrap_or(0.0);
        let is_other_better = match comparison.direction {
            Direction::Lower => difference < 0.0,
            _ => difference > 0.0,
        };
        let (ahead, behind) = match is_other_better {
            true => (&comparison.other, &comparison.base),
            false => (&comparison.base, &comparison.other),
        };
        let is_decided = difference != 0.0 && is_significant(comparison) == Some(true);
        Pair { comparison, ahead, behind, is_as_computed: is_other_better, is_decided }
    }

    /// Pairs in which the first is better, equal, worse.
    pub(crate) fn outcomes(&self) -> Option<(u64, u64, u64)> {
        let c = self.comparison;
        let (wins, ties, losses) = (c.wins?, c.ties?, c.losses?);
        Some(if self.is_as_computed { (wins, ties, losses) } else { (losses, ties, wins) })
    }

    /// The p-value that decides, and whether it is corrected.
    pub(crate) fn p(&self) -> Option<f64> {
        shown_p(self.comparison)
    }

    /// The difference of the first minus the second.
    pub(crate) fn difference(&self) -> Estimate {
        let estimate = &self.comparison.difference;
        if self.is_as_computed { estimate.clone() } else { estimate.negated() }
    }
}
