//! Comparisons made by hand, with the numbers that core gives.

use errorbar_core::{
    Bounds, ClusterVariance, Direction, ErrorMethod, Estimate, Interval, IntervalMethod, Role, SampleId,
    StdError, Undefined,
};
use errorbar_inference::{
    Comparison, ComparisonOptions, ComparisonReport, ComparisonTest, ComparisonWarning, Correction,
    FlipTable, Gate, GateOutcome, Rank, Ranking, TestMethod,
};

use serde_json::Value as Json;

use super::fixtures::share;
use crate::{ComparisonView, Flip};

/// z of 95 %.
const Z: f64 = 1.959_963_984_540_054;

/// The chance of at most k heads in n throws of a coin, and of exactly k.
fn coin(k: u64, n: u64) -> (f64, f64) {
    let mut term = 0.5f64.powi(n as i32);
    let mut sum = term;
    for i in 1..=k {
        term *= (n - i + 1) as f64 / i as f64;
        sum += term;
    }
    (sum, term)
}

/// Pairs of zeros and ones: the base has `correct` right ones.
pub(super) fn pairs(other: &str, metric: &str, correct: u64, n: u64, wins: u64, losses: u64) -> Comparison {
    let mut c = Comparison::new("heron", other, "choice", metric);
    (c.role, c.n) = (Role::Location, n);
    let other_correct = correct + wins - losses;
    (c.base_estimate, c.other_estimate) = (share(correct, n, 0), share(other_correct, n, 0));
    (c.wins, c.losses, c.ties) = (Some(wins), Some(losses), Some(n - wins - losses));
    let (count, w, l) = (n as f64, wins as f64, losses as f64);
    let value = (w - l) / count;
    let variance = (w + l - (w - l) * (w - l) / count) / (count * (count - 1.0));
    let mut difference = Estimate::new(value).with_n(n);
    let (p1, p2) = ((w + 1.0) / (count + 2.0), (l + 1.0) / (count + 2.0));
    let half = Z * ((p1 + p2 - (p1 - p2) * (p1 - p2)) / (count + 2.0)).sqrt();
    let (lower, upper) = ((p1 - p2 - half).max(-1.0), (p1 - p2 + half).min(1.0));
    difference.interval = Ok(Interval::new(lower, upper, 0.95, IntervalMethod::Custom));
    difference.error = match n {
        0 | 1 => Err(Undefined::TooFewScores { n }),
        _ => Ok(StdError::new(variance.sqrt(), ErrorMethod::Iid).with_df(count - 1.0)),
    };
    c.difference = difference;
    let (tail, point) = coin(wins.min(losses), wins + losses);
    let exact = (2.0 * tail).min(1.0);
    let mid = if wins + losses == 0 {
        1.0
    } else if wins == losses {
        1.0 - point / 2.0
    } else {
        2.0 * tail - point
    };
    let both_right = correct - losses;
    c.flips = Some(FlipTable::new([both_right, losses, wins, n - both_right - losses - wins], exact, mid));
    c.test = Ok(ComparisonTest::new(TestMethod::McNemarMid, mid));
    let spread = |estimate: &Estimate| estimate.stderr().unwrap_or(0.0);
    let (a, b) = (spread(&c.base_estimate), spread(&c.other_estimate));
    let has_spread = a > 0.0 && b > 0.0;
    let no_spread = || Undefined::NoSpread { n };
    let unpaired = a * a + b * b;
    c.correlation = if has_spread { Ok((unpaired - variance) / (2.0 * a * b)) } else { Err(no_spread()) };
    c.variance_removed = if has_spread { Ok(1.0 - variance / unpaired) } else { Err(no_spread()) };
    c.mde = if variance > 0.0 { Ok((Z + 0.841_621) * variance.sqrt()) } else { Err(no_spread()) };
    c
}

fn in_group(mut c: Comparison, group: Option<&str>) -> Comparison {
    (c.group_key, c.group) = (Some("category".to_owned()), group.map(str::to_owned));
    c
}

/// Two models: groups of all kinds, a small one, one without a change, one without a sample.
pub(super) fn two_sides() -> ComparisonReport {
    let mut report = ComparisonReport::new(["heron", "magpie"], ComparisonOptions::default());
    let mut perplexity = Comparison::new("heron", "magpie", "choice", "perplexity");
    (perplexity.role, perplexity.direction, perplexity.n) = (Role::Other, Direction::Lower, 144);
    perplexity.base_estimate = Estimate::new(23.12).with_stderr(1.31).with_n(144);
    perplexity.other_estimate = Estimate::new(26.07).with_stderr(1.4).with_n(144);
    perplexity.difference = Estimate::new(2.95).with_stderr(0.91).with_interval(1.2, 4.8, 0.95).with_n(144);
    perplexity.test = Ok(ComparisonTest::new(TestMethod::Bootstrap, 0.0009995));
    (perplexity.wins, perplexity.losses, perplexity.ties) = (Some(80), Some(60), Some(4));
    perplexity.correlation = Ok(0.774);
    perplexity.variance_removed = Ok(0.775);
    perplexity.mde = Ok(2.55);
    let mut absent = pairs("magpie", "accuracy", 31, 36, 2, 6);
    absent.difference.bounds = Some(Bounds::new(-0.21, 0.05, -0.16));
    absent.difference.absent = 2;
    let mut empty = Comparison::new("heron", "magpie", "choice", "accuracy");
    (empty.role, empty.only_base) = (Role::Location, 3);
    report.comparisons = vec![
        pairs("magpie", "accuracy", 118, 144, 12, 23),
        perplexity,
        in_group(absent, Some("geography")),
        in_group(pairs("magpie", "accuracy", 30, 40, 0, 0), Some("history")),
        in_group(pairs("magpie", "accuracy", 57, 66, 8, 16), Some("science and nature")),
        in_group(pairs("magpie", "accuracy", 1, 2, 1, 0), Some("art")),
        in_group(empty, Some("music")),
        in_group(pairs("magpie", "accuracy", 118, 144, 12, 23), None),
    ];
    let (base, other) = ("heron".to_owned(), "magpie".to_owned());
    report.warnings = vec![
        ComparisonWarning::Unmatched {
            base,
            other,
            text: "3 samples of heron and 1 of magpie have no partner and are left out".to_owned(),
        },
        ComparisonWarning::other(
            "the numbers of epochs differ (heron: 3, magpie: 1); each sample is reduced to one score first",
        ),
    ];
    report
}

/// Clusters, a gate, an interval of 90 %, a borderline case, a figure without an interval.
pub(super) fn gated() -> ComparisonReport {
    let mut options = ComparisonOptions::default();
    options.gate = Some(Gate::Margin(0.05));
    let mut report = ComparisonReport::new(["heron", "magpie"], options);
    let mut clustered = pairs("magpie", "accuracy", 110, 144, 20, 15);
    clustered.cluster = vec!["passage".to_owned()];
    let error = StdError::new(0.041, ErrorMethod::Cluster(ClusterVariance::Cr2))
        .with_df(31.4)
        .with_clusters(vec![48]);
    clustered.difference.error = Ok(error);
    clustered.difference.interval =
        Ok(Interval::new(-0.0348, 0.1042, 0.9, IntervalMethod::T).with_df(Some(31.4)));
    clustered.test = Ok(ComparisonTest::new(TestMethod::T, 0.404));
    clustered.gate = Some(GateOutcome::Passed);
    let mut worse = clustered.clone();
    worse.metric = "f1".to_owned();
    worse.difference.value = Ok(-0.062);
    worse.difference.interval =
        Ok(Interval::new(-0.1315, 0.0075, 0.9, IntervalMethod::T).with_df(Some(31.4)));
    worse.test = Ok(ComparisonTest::new(TestMethod::T, 0.098));
    worse.gate = Some(GateOutcome::Undecided);
    report.comparisons = vec![clustered, worse];
    report
}

/// Different samples: no pairs.
pub(super) fn unpaired() -> ComparisonReport {
    let mut report = ComparisonReport::new(["run-1.csv", "run-2.csv"], ComparisonOptions::default());
    let mut c = pairs("run-2.csv", "accuracy", 56, 80, 10, 10);
    (c.base, c.is_paired, c.n) = ("run-1.csv".to_owned(), false, 150);
    (c.wins, c.losses, c.ties, c.flips) = (None, None, None, None);
    c.other_estimate = share(40, 70, 0);
    c.difference =
        Estimate::new(-0.1286).with_stderr(0.0783).with_interval(-0.2776, 0.0247, 0.95).with_n(150);
    c.test = Ok(ComparisonTest::new(TestMethod::Newcombe, 0.0999));
    let reason = || Undefined::Other("unpaired".to_owned());
    (c.correlation, c.variance_removed) = (Err(reason()), Err(reason()));
    c.mde = Ok(0.219);
    report.comparisons = vec![c];
    report
}

/// Four models, all pairs, corrected, ranked.
pub(super) fn four_sides() -> ComparisonReport {
    let mut options = ComparisonOptions::default();
    (options.correction, options.all_pairs) = (Some(Correction::Holm), true);
    let sides = ["heron", "magpie", "wren", "a-provider/a-model-with-a-long-name-2026-11-16"];
    let mut report = ComparisonReport::new(sides, options);
    let correct = [118, 107, 84, 119];
    let adjusted = [0.15, 0.0001, 1.0, 0.004, 0.11, 0.00003];
    let mut at = 0;
    for (i, base) in sides.iter().enumerate() {
        for (j, other) in sides.iter().enumerate().skip(i + 1) {
            let (from, to): (u64, u64) = (correct[i], correct[j]);
            let wins = 12 + to.saturating_sub(from);
            let losses = 12 + from.saturating_sub(to);
            let mut c = pairs(other, "accuracy", from, 144, wins, losses);
            c.base = (*base).to_owned();
            c.p_adjusted = Some(adjusted[at]);
            at += 1;
            report.comparisons.push(c);
        }
    }
    let rank = |side: usize, rank, interval, ties| {
        Rank::new(sides[side], share(correct[side], 144, 0), rank, interval, ties)
    };
    let ranks = vec![
        rank(3, 1, (1, 2), "a"),
        rank(0, 2, (1, 3), "ab"),
        rank(1, 3, (2, 3), "b"),
        rank(2, 4, (4, 4), ""),
    ];
    let (scorer, metric) = ("choice".to_owned(), "accuracy".to_owned());
    let (reducer, field, task) = (None, None, None);
    report.rankings = vec![Ranking { scorer, reducer, field, metric, task, n: 144, level: 0.95, ranks }];
    report
}

/// Three models on three tasks, and the mean over tasks.
pub(super) fn tasks() -> ComparisonReport {
    let sides = ["heron", "magpie", "wren"];
    let mut report = ComparisonReport::new(sides, ComparisonOptions::default());
    for (other, shift) in [("magpie", 4), ("wren", 11)] {
        for (task, correct, n) in
            [(Some("almanac"), 118, 144), (Some("arithmetic"), 60, 80), (Some("riddles"), 14, 30)]
        {
            let mut c = pairs(other, "accuracy", correct, n, 3, 3 + shift);
            c.task = task.map(str::to_owned);
            report.comparisons.push(c);
        }
        let mut mean = pairs(other, "accuracy", 172, 254, 9, 9 + 3 * shift);
        (mean.wins, mean.losses, mean.ties, mean.flips) = (None, None, None, None);
        report.comparisons.push(mean);
    }
    report
}

/// Nothing is known: no common sample, one sample, equal differences, an overflow.
pub(super) fn nothing_known() -> ComparisonReport {
    let mut report = ComparisonReport::new(["heron", "magpie"], ComparisonOptions::default());
    let none = Comparison::new("heron", "magpie", "choice", "accuracy");
    let mut one = pairs("magpie", "mean", 0, 1, 1, 0);
    one.difference.interval = Err(Undefined::TooFewScores { n: 1 });
    one.test = Err(Undefined::TooFewScores { n: 1 });
    let mut equal = pairs("magpie", "f1", 0, 12, 12, 0);
    equal.difference.error = Ok(StdError::new(0.0, ErrorMethod::Iid));
    equal.difference.interval = Err(Undefined::NoSpread { n: 12 });
    let mut other = Comparison::new("heron", "magpie", "choice", "custom");
    other.n = 20;
    let reason = Undefined::Other("the metric gives a map on one side and a number on the other".to_owned());
    other.difference = Estimate::undefined(reason.clone());
    other.base_estimate = Estimate::new(0.4).with_stderr(0.1);
    other.test = Err(reason);
    report.comparisons = vec![none, one, equal, other];
    report
}

/// Hostile names and answers.
pub(super) fn hostile() -> (ComparisonReport, Vec<Flip>) {
    let name = "=1+1|<b>\u{1b}[31m`x`\n\u{202e}&#1;";
    let mut report = ComparisonReport::new([name, "{\\bf ok}_%"], ComparisonOptions::default());
    let mut c = pairs("{\\bf ok}_%", "a|b*", 30, 40, 3, 9);
    (c.base, c.scorer) = (name.to_owned(), "sco\rrer".to_owned());
    // So that names are among the notes, too.
    c.only_base = 2;
    c = in_group(c, Some("]]>\u{0}"));
    report.comparisons = vec![c];
    let mut flip = flip("=HYPERLINK(\"x\")|\u{1b}", [1.0.into(), "I\n".into()], ["s|s", name, "{\\bf ok}_%"]);
    flip.input = Some("line one\nline <script>\u{7}".into());
    (flip.base_answer, flip.other_answer) = (Some("yes\u{1b}[2J".into()), Some("no | $x$".into()));
    (report, vec![flip])
}

/// A sample with both scores, the scorer and both sides.
fn flip(id: impl Into<SampleId>, scores: [Json; 2], names: [&str; 3]) -> Flip {
    let ([base_score, other_score], [scorer, base, other]) = (scores, names.map(str::to_owned));
    let (id, input, base_answer, other_answer, field, task) = (id.into(), None, None, None, None, None);
    Flip { id, input, base_answer, other_answer, base_score, other_score, scorer, field, base, other, task }
}

/// Samples that changed.
pub(super) fn flips() -> Vec<Flip> {
    const NAMES: [&str; 3] = ["choice", "heron", "magpie"];
    let answered = |id: &str, scores: [&str; 2], input: &str, answers: [&str; 2]| {
        let [base_answer, other_answer] = answers.map(|answer| Some(answer.to_owned()));
        let flip = flip(id, scores.map(Json::from), NAMES);
        Flip { input: Some(input.to_owned()), base_answer, other_answer, ..flip }
    };
    vec![
        answered(
            "geo-1-a",
            ["C", "I"],
            "Which river flows through the capital that was founded in the year in which the treaty was signed?",
            ["The Vistula", "I am not sure, but I believe\nit must be the Oder, because …"],
        ),
        answered("geo-12-b", ["I", "C"], "2 + 2", ["5", "4"]),
        flip(7, [0.25.into(), 1.0.into()], NAMES),
    ]
}

/// All of them.
pub(super) fn all() -> Vec<ComparisonReport> {
    let empty = ComparisonReport::new(["heron", "magpie"], ComparisonOptions::default());
    vec![two_sides(), gated(), unpaired(), four_sides(), tasks(), nothing_known(), hostile().0, empty]
}

/// Comparisons with the samples that changed.
pub(super) fn with_flips<'a>(report: &'a ComparisonReport, flips: &'a [Flip]) -> ComparisonView<'a> {
    ComparisonView { flips: Some(flips), ..ComparisonView::new(report) }
}
