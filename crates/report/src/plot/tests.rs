//! Plots of what people really have, and of what they should not have.
//!
//! `ERRORBAR_GALLERY=FOLDER cargo test -p errorbar-report plot` writes all of them there, as files and in a page, to be
//! looked at.

use errorbar_core::metrics::{Prediction, ece};
use errorbar_core::{
    Confusion, Distribution, EpochSpread, Estimate, PassCurve, PassPoint, Plan, SampleSpread, Score,
    ScoreColumns, ScoreName, Undefined,
};
use errorbar_inference::{ComparedScores, ComparisonOptions, Correction, compare};

use super::*;

/// What a name may be.
const HOSTILE: &str = "<script>alert(1)</script>\u{202e}\u{0}\"&'\u{ffff}]]>";

fn estimate(value: f64, se: f64) -> Estimate {
    Estimate::new(value).with_stderr(se).with_interval(value - 2.0 * se, value + 2.0 * se, 0.95).with_n(144)
}

fn named(estimates: &[(&str, Estimate)]) -> Vec<NamedEstimate> {
    estimates.iter().map(|(name, estimate)| run(*name, estimate.clone())).collect()
}

fn run(name: impl Into<String>, estimate: Estimate) -> NamedEstimate {
    NamedEstimate { name: name.into(), estimate }
}

fn estimates(metric: &str, runs: Vec<NamedEstimate>) -> Estimates {
    Estimates { metric: metric.to_owned(), runs, ..Estimates::default() }
}

fn forest(key: &str, runs: Vec<String>, groups: Vec<ForestGroup>) -> Forest {
    Forest { metric: "accuracy".to_owned(), key: key.to_owned(), runs, groups, ..Forest::default() }
}

fn point(name: impl Into<String>, cost: Option<f64>, estimate: Estimate) -> CostPoint {
    CostPoint { name: name.into(), cost, estimate }
}

fn undefined() -> Estimate {
    Estimate::undefined(Undefined::NoScores)
}

/// A number between 0 and 1 that looks like chance and is always the same.
fn noise(at: u64) -> f64 {
    (at.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407) >> 33) as f64
        / (1_u64 << 31) as f64
}

fn columns(samples: u64, epochs: u32, skill: f64, run: u64) -> ScoreColumns {
    let mut columns = ScoreColumns::new(["match"]);
    for id in 0..samples {
        for epoch in 1..=epochs {
            let ease = noise(id * 7919 + 5);
            let luck = noise(id * 131 + u64::from(epoch) * 17 + run * 7919);
            let is_right = 0.6 * ease + 0.4 * luck < skill;
            let label = ["cat", "dog", "a long label, really"][(id % 3) as usize];
            let predicted = if is_right { label } else { "dog" };
            let row = columns.push(id.to_string(), epoch).metadata("confidence", 0.3 + 0.7 * luck);
            let score = Score::new(if is_right { "C" } else { "I" }).answer(predicted);
            row.metadata("target", label).score("match", score).unwrap();
        }
    }
    columns
}

fn long_name(at: usize) -> String {
    format!("provider/a-family-of-models-with-a-long-name-{at}-instruct-2026-11-{at:02}")
}

fn estimates_gallery() -> Vec<(&'static str, Plot)> {
    let almanac = [
        ("heron", estimate(0.847, 0.026)),
        ("magpie", estimate(0.731, 0.038)),
        ("wren", estimate(0.558, 0.036)),
    ];
    let odd = [
        ("beyond the scale", estimate(0.97, 0.03)),
        ("no error", Estimate::new(1.0).with_n(1)),
        ("undefined", undefined()),
        (HOSTILE, estimate(0.4, 0.1)),
    ];
    let negative = [("a", estimate(-12.5, 3.0)), ("b", estimate(41.0, 9.0)), ("c", estimate(-140.0, 20.0))];
    let many: Vec<NamedEstimate> =
        (0..30).map(|at| run(long_name(at), estimate(0.3 + 0.02 * at as f64, 0.03))).collect();
    let group = |at: usize, runs: usize| {
        let of_run = |run: usize| match (at, run) {
            (3, 1) => None,
            (4, _) => Some(undefined()),
            _ => Some(estimate(noise((at * 3 + run) as u64), 0.02 + 0.1 * noise(at as u64))),
        };
        ForestGroup {
            name: format!("high_school_european_history_{at}"),
            estimates: (0..runs).map(of_run).collect(),
        }
    };
    let runs = vec!["heron".to_owned(), HOSTILE.to_owned(), "wren".to_owned()];
    let by_category = forest("category", runs, (0..6).map(|at| group(at, 3)).collect());
    let one = vec!["heron".to_owned()];
    let tall = forest("subject", one.clone(), (0..57).map(|at| group(at, 1)).collect());
    let alone = forest(
        "topic",
        one,
        vec![ForestGroup { name: "only".to_owned(), estimates: vec![Some(estimate(0.5, 0.2))] }],
    );
    vec![
        ("estimates", estimates("accuracy", named(&almanac)).draw()),
        ("estimates-odd", estimates("accuracy", named(&odd)).draw()),
        ("estimates-negative", estimates("reward", named(&negative)).draw()),
        ("estimates-30", estimates("accuracy", many).draw()),
        ("forest", by_category.draw()),
        ("forest-57", tall.draw()),
        ("forest-1", alone.draw()),
    ]
}

fn spread(samples: usize, epochs: usize, run: u64) -> EpochSpread {
    let sample = |at: usize| {
        let score = |epoch: usize| {
            f64::from(u8::from(noise((at * 31 + epoch) as u64 + run * 977) + noise(at as u64 * 7) > 0.8))
        };
        SampleSpread { id: at.to_string(), scores: (0..epochs).map(score).collect() }
    };
    EpochSpread { name: ScoreName::default(), samples: (0..samples).map(sample).collect() }
}

fn heron<T>(one: T) -> [(String, T); 1] {
    [("heron".to_owned(), one)]
}

fn breakdown_gallery() -> Vec<(&'static str, Plot)> {
    let none = RunMarks::default();
    let scored = |scores: Vec<f64>| {
        let mean = scores.iter().sum::<f64>() / scores.len().max(1) as f64;
        Distribution::new(ScoreName::default(), scores, 2, estimate(mean, 0.02))
    };
    let few = scored([0.0, 1.0 / 3.0, 1.0, 1.0, 2.0 / 3.0, 1.0].repeat(20));
    let dots = scored((0..150).map(|at| noise(at) * noise(at + 9)).collect());
    let many = scored((0..10_000).map(|at| 100.0 * noise(at) - 50.0 * noise(at + 1)).collect());
    let one = scored(vec![1.0]);
    let three = [("heron".to_owned(), few.clone()), (HOSTILE.to_owned(), few.clone()), (long_name(1), few)];
    let (a, b, big) = (spread(144, 3, 1), spread(140, 3, 2), spread(10_000, 4, 3));
    let curve = |epochs: u64, base: f64| {
        let point = |k: u64| {
            let any = 1.0 - (1.0 - base).powi(k as i32);
            let all = if k == 5 { undefined() } else { estimate(base.powi(k as i32), 0.03) };
            PassPoint { k, any: estimate(any, 0.03), all }
        };
        PassCurve { name: ScoreName::default(), points: (1..=epochs).map(point).collect() }
    };
    let curves = [("heron", curve(3, 0.8)), (HOSTILE, curve(2, 0.99)), ("wren", curve(20, 0.5))]
        .map(|(name, curve)| (name.to_owned(), curve));
    let columns = columns(200, 1, 0.6, 1);
    let calibrations = ["heron", HOSTILE]
        .map(|name| (name.to_owned(), Plan::new().calibration(&columns, &ece()).unwrap().remove(0)));
    let by_answer = Plan::new().confusions(&columns, "target", Prediction::Answer).unwrap().remove(0);
    let labels = |n: usize| -> Confusion {
        let mut columns = ScoreColumns::new(["s"]);
        for at in 0..n * 9 {
            let shift = if at % 5 == 0 { 1 } else { 0 };
            let row = columns.push(at.to_string(), 1).metadata("target", format!("label {}", at % n));
            row.score("s", Score::new(format!("label {}", (at + shift) % n))).unwrap();
        }
        Plan::new().confusions(&columns, "target", Prediction::Value).unwrap().remove(0)
    };
    let costs = |plan: Vec<(&str, Option<f64>, Estimate)>| -> Vec<CostPoint> {
        plan.into_iter().map(|(name, cost, estimate)| point(name, cost, estimate)).collect()
    };
    let few_costs = costs(vec![
        ("heron", Some(2.31), estimate(0.847, 0.026)),
        (HOSTILE, Some(0.4), estimate(0.731, 0.038)),
        ("wren", Some(0.35), estimate(0.74, 0.036)),
        ("unknown", None, estimate(0.9, 0.01)),
        ("undefined", Some(1.0), undefined()),
    ]);
    let many_costs: Vec<CostPoint> = (0..30)
        .map(|at| {
            point(
                long_name(at),
                Some(1e4 * 1.3_f64.powi(at as i32)),
                estimate(0.4 + 0.3 * noise(at as u64), 0.02),
            )
        })
        .collect();
    vec![
        ("distribution", distribution(&three, &none)),
        ("distribution-dots", distribution(&heron(dots), &none)),
        ("distribution-10000", distribution(&heron(many), &none)),
        ("distribution-1", distribution(&heron(one), &none)),
        ("epochs", epochs(&[("heron".to_owned(), a), (HOSTILE.to_owned(), b)], &none)),
        ("epochs-10000", epochs(&heron(big), &none)),
        ("pass", pass(&curves, &none)),
        ("calibration", calibration(&calibrations, &none)),
        ("confusion", confusion(&heron(by_answer), &none)),
        ("confusion-16", confusion(&heron(labels(16)), &none)),
        ("confusion-40", confusion(&heron(labels(40)), &none)),
        ("cost", cost("accuracy", CostAxis::Dollars, &few_costs, &none)),
        ("cost-30", cost("accuracy", CostAxis::Tokens, &many_costs, &none)),
    ]
}

fn comparison_gallery() -> Vec<(&'static str, Plot)> {
    let drawn = |count: u64, name: &dyn Fn(u64) -> String| {
        let names: Vec<String> = (0..count).map(name).collect();
        let all: Vec<ScoreColumns> =
            (0..count).map(|run| columns(60, 1, 0.35 + 0.4 * run as f64 / count as f64, run)).collect();
        let plan = Plan::new();
        let sides: Vec<ComparedScores<'_>> =
            names.iter().zip(&all).map(|(name, columns)| ComparedScores::new(name, columns, &plan)).collect();
        let mut options = ComparisonOptions::default();
        (options.all_pairs, options.correction) = (true, Some(Correction::Holm));
        let report = compare(&sides, &options).unwrap();
        let none = RunMarks::default();
        let pairs = super::pairs(&report.sides, &report.comparisons, &none);
        let ranking = report.rankings.first().map(|one| super::ranking(one, &report.sides, &none));
        (pairs, ranking)
    };
    let short = |at: u64| ["heron", HOSTILE, "wren", "kite"][at as usize].to_owned();
    let (pairs, ranking) = drawn(4, &short);
    let (matrix, _) = drawn(8, &|at| long_name(at as usize));
    let (large, long) = drawn(18, &|at| long_name(at as usize));
    let mut plots = vec![("pairs", pairs), ("pairs-8", matrix), ("pairs-18", large)];
    plots.extend(ranking.map(|plot| ("ranking", plot)));
    plots.extend(long.map(|plot| ("ranking-18", plot)));
    plots
}

fn gallery() -> Vec<(&'static str, Plot)> {
    let mut plots = estimates_gallery();
    plots.extend(breakdown_gallery());
    plots.extend(comparison_gallery());
    plots
}

/// A page of plots with the stylesheet of reports.
fn page(plots: &[(&str, Plot)]) -> String {
    let mut html = format!(
        "<!doctype html><meta charset=\"utf-8\"><style>{}{}{} body{{padding:16px}}</style><svg width=\"0\" \
         height=\"0\">{}</svg>",
        include_str!("../../assets/base.css"),
        include_str!("../../assets/plot.css"),
        include_str!("../../assets/page.css"),
        crate::svg::defs().0
    );
    for (name, plot) in plots {
        html += &format!("<h3>{name}</h3>{}", plot.to_html().0);
    }
    html
}

#[test]
fn every_plot_is_well_formed_and_has_its_figures_in_words() {
    let plots = gallery();
    if let Some(folder) = std::env::var_os("ERRORBAR_GALLERY") {
        let folder = std::path::PathBuf::from(folder);
        for (name, plot) in &plots {
            std::fs::write(folder.join(format!("{name}.svg")), plot.standalone(&format!("quiz: {name}")))
                .unwrap();
        }
        std::fs::write(folder.join("page.html"), page(&plots)).unwrap();
    }
    for (name, plot) in &plots {
        let text = plot.standalone(HOSTILE);
        let document =
            roxmltree::Document::parse(&text).unwrap_or_else(|error| panic!("{name}: {error}\n{text}"));
        let root = document.root_element();
        assert_eq!(root.attribute("viewBox").map(|view| view.starts_with("0 0 720 ")), Some(true), "{name}");
        for element in document.descendants().filter(roxmltree::Node::is_element) {
            let tag = element.tag_name().name();
            assert!(!["script", "foreignObject", "image", "a"].contains(&tag), "{name}: {tag}");
            let is_event = |attribute: roxmltree::Attribute<'_, '_>| attribute.name().starts_with("on");
            assert!(!element.attributes().any(is_event), "{name}: {tag}");
            for attribute in element.attributes() {
                assert!(
                    !attribute.value().contains("NaN") && !attribute.value().contains("inf"),
                    "{name}: {attribute:?}"
                );
            }
            // Everything that is used is defined.
            if let Some(id) = element.attribute("href").and_then(|href| href.strip_prefix('#')) {
                assert!(
                    document.descendants().any(|other| other.attribute("id") == Some(id)),
                    "{name}: {id}"
                );
            }
        }
        assert!(!text.contains('\u{202e}') && !text.contains('\u{0}'), "{name}");
        assert!(plot.label.len() > 10 && !plot.table.rows().is_empty(), "{name}");
        let of_page = format!("<div>{}</div>", plot.to_html().0);
        roxmltree::Document::parse(&of_page).unwrap_or_else(|error| panic!("{name}: {error}\n{of_page}"));
        assert!(!of_page.contains(" style=\""), "{name}: the page allows no inline styles");
        assert!(text.len() < 200_000, "{name}: {} bytes", text.len());
    }
}

#[test]
fn the_same_figures_give_the_same_bytes() {
    for ((name, first), (_, second)) in gallery().iter().zip(&gallery()) {
        assert_eq!(first.standalone("t"), second.standalone("t"), "{name}");
        assert_eq!(first.to_html().0, second.to_html().0, "{name}");
    }
}

#[test]
fn what_is_unknown_is_never_drawn_as_a_number() {
    let plot = estimates("accuracy", named(&[("a", undefined())])).draw();
    let text = plot.standalone("t");
    assert!(text.contains("no scores") && text.contains("class=\"gl ref\""), "{text}");
    // The only mark is the one beside the name.
    assert_eq!(text.matches("<use class=\"mk").count(), 1, "{text}");
    let points = vec![point("a", None, estimate(0.5, 0.1)), point("b", Some(3.0), undefined())];
    let none = RunMarks::default();
    let plot = cost("accuracy", CostAxis::Dollars, &points, &none);
    assert_eq!(plot.parts[0].body.matches("<use class=\"mk").count(), 0);
    assert!(plot.caption.contains("not drawn: 2"), "{}", plot.caption);
    let absent = EpochSpread {
        name: ScoreName::default(),
        samples: vec![SampleSpread { id: "only here".to_owned(), scores: vec![1.0] }],
    };
    let other = EpochSpread {
        name: ScoreName::default(),
        samples: vec![SampleSpread { id: "only there".to_owned(), scores: vec![0.0] }],
    };
    let plot = epochs(&[("a".to_owned(), absent), ("b".to_owned(), other)], &none);
    assert!(plot.caption.contains("blank: no score"), "{}", plot.caption);
}

#[test]
fn an_interval_beyond_the_scale_has_a_chevron_and_keeps_its_number() {
    let plot = estimates("accuracy", named(&[("a", estimate(0.97, 0.03))])).draw();
    assert!(plot.standalone("t").contains("href=\"#over-r\""));
    assert!(plot.label.contains("[0.910, 1.030]"), "{}", plot.label);
}

#[test]
fn the_better_run_is_first() {
    let mut plot = estimates("loss", named(&[("a", estimate(0.9, 0.1)), ("b", estimate(0.2, 0.1))]));
    assert!(plot.draw().label.starts_with("loss. a:"));
    plot.lower_is_better = true;
    assert!(plot.draw().label.starts_with("loss. b:"));
}

#[test]
fn a_small_file() {
    insta::assert_snapshot!(
        estimates("accuracy", named(&[("heron", estimate(0.847, 0.026))])).draw().standalone("almanac")
    );
}

#[test]
fn guessing_is_a_line_with_a_name_in_words_too() {
    let mut plot = estimates("accuracy", named(&[("heron", estimate(0.847, 0.026))]));
    assert!(!plot.draw().standalone("t").contains("chance"));
    let counts = [4, 4, 2];
    let mut columns = ScoreColumns::new(["choice"]);
    for id in ["a", "b", "c"] {
        columns.push(id, 1);
    }
    plot.chance = crate::ChanceLevel::of_rows(&columns, &counts);
    let drawn = plot.draw();
    assert!(drawn.label.ends_with("n 144. chance 0.333: guessing one of the choices, the mean over samples"));
    assert!(drawn.caption.ends_with("dashed line: guessing one of the choices, the mean over samples"));
    let file = drawn.standalone("t");
    assert!(file.contains(">chance 0.333</text>") && file.matches("class=\"gl ref\"").count() == 2, "{file}");
}

/// The plot, its file and its data as CSV.
fn shown(plot: &Plot) -> (String, String) {
    (plot.standalone("t"), crate::Render::listing_text(&crate::Csv::default(), &plot.data))
}

#[test]
fn a_run_without_its_end_is_final_in_no_plot() {
    let partial = || {
        let hollow = Series { is_partial: true, ..Series::of(0, 2) };
        RunMarks::new([("heron".to_owned(), hollow)])
    };
    let (a, b) = (columns(60, 2, 0.6, 1), columns(60, 2, 0.4, 2));
    let plan = Plan::new();
    let results = [&a, &b].map(|columns| plan.evaluate(columns).unwrap().results);
    let names = || ["heron", "wren"].map(str::to_owned);
    macro_rules! of_runs {
        ($kind:ident, $breakdown:expr) => {{
            let found = [&a, &b].into_iter().zip(&results).map($breakdown);
            $kind(&names().into_iter().zip(found).collect::<Vec<_>>(), &partial())
        }};
    }
    let two = || named(&[("heron", estimate(0.8, 0.03)), ("wren", estimate(0.6, 0.03))]);
    let by_run = Estimates { marks: partial(), ..estimates("accuracy", two()) };
    let law = two().into_iter().map(|run| Some(run.estimate)).collect();
    let groups = vec![ForestGroup { name: "law".to_owned(), estimates: law }];
    let by_topic = Forest { marks: partial(), ..forest("topic", names().to_vec(), groups) };
    let points: Vec<CostPoint> =
        two().into_iter().map(|run| point(run.name, Some(2.0), run.estimate)).collect();
    let sides = [ComparedScores::new("heron", &a, &plan), ComparedScores::new("wren", &b, &plan)];
    let report = compare(&sides, &ComparisonOptions::default()).unwrap();
    let intervals = [
        ("estimates", by_run.draw()),
        ("forest", by_topic.draw()),
        ("cost", cost("accuracy", CostAxis::Dollars, &points, &partial())),
        ("pairs", pairs(&report.sides, &report.comparisons, &partial())),
        (
            "distribution",
            of_runs!(distribution, |(columns, results)| plan
                .distributions(columns, results)
                .unwrap()
                .remove(0)),
        ),
        (
            "calibration",
            of_runs!(calibration, |(columns, _)| plan.calibration(columns, &ece()).unwrap().remove(0)),
        ),
    ];
    for (name, plot) in &intervals {
        let (file, _) = shown(plot);
        // The other run is final.
        let is_hollow = |class: &str| {
            let start = format!("<g class=\"{class}\"");
            let groups = file.split(&start).skip(1);
            groups
                .map(|group| group.split("</g>").next().unwrap_or_default())
                .any(|group| group.contains("ci far") && group.contains("mk hollow"))
        };
        assert!(is_hollow("m1") || is_hollow("m0"), "{name}: {file}");
        assert!(!is_hollow("m2"), "{name}: {file}");
    }
    let panels = [
        ("pass", of_runs!(pass, |(columns, _)| plan.pass_curves(columns, 1.0).unwrap().remove(0))),
        ("epochs", of_runs!(epochs, |(columns, _)| plan.epoch_spreads(columns).unwrap().remove(0))),
        (
            "confusion",
            of_runs!(confusion, |(columns, _)| plan
                .confusions(columns, "target", Prediction::Answer)
                .unwrap()
                .remove(0)),
        ),
    ];
    for (name, plot) in intervals.iter().chain(&panels) {
        let (file, data) = shown(plot);
        assert!(plot.label.contains("so far") && plot.caption.contains("has not reached its end"), "{name}");
        assert!(file.contains("so far") && plot.to_html().0.contains("so far"), "{name}: {file}");
        let rows = |run: &str, partial: &str| {
            data.lines().filter(|line| line.contains(run) && line.ends_with(partial)).count()
        };
        assert!(data.lines().next().is_some_and(|titles| titles.ends_with(",partial")), "{name}: {data}");
        assert!(rows("heron", ",true") > 0 && rows("heron", ",false") == 0, "{name}: {data}");
        assert_eq!(rows("wren", ",true"), if *name == "pairs" { 1 } else { 0 }, "{name}: {data}");
    }
    let whole = estimates("accuracy", two()).draw();
    let (file, data) = shown(&whole);
    assert!(!file.contains("so far") && !file.contains("ci far") && !data.contains("partial"), "{file}");
}
