//! What the page as a whole must hold: figures are those of the results, nothing that comes from outside is markup, and
//! claims follow the corrected tests.

use errorbar_core::metrics::{All, Grouped, accuracy, grouped, mean, stderr};
use errorbar_core::{HeadlineRequest, Plan, Score, ScoreColumns, Value, metrics};

use super::{Page, PageRun, PageSamples, RunFacts};
use crate::{Report, estimates};

mod runs;

/// A run whose first `right` of 40 samples are right, in two groups.
struct Fixture {
    name: String,
    report: Report,
    columns: ScoreColumns,
    plan: Plan,
}

fn fixture(name: &str, task: &str, groups: [&str; 2], is_right: impl Fn(u32) -> bool) -> Fixture {
    let plan = Plan::new().metrics(metrics![accuracy(), stderr(), grouped(accuracy(), "topic")]);
    let mut columns = ScoreColumns::new(["match"]);
    for id in 0..40_u32 {
        let grade = if is_right(id) { "C" } else { "I" };
        let group = groups[(id % 2) as usize];
        columns.push(format!("q{id}"), 1).metadata("topic", group).score("match", Score::new(grade)).unwrap();
    }
    of_columns(name, task, columns, plan)
}

fn of_columns(name: &str, task: &str, columns: ScoreColumns, plan: Plan) -> Fixture {
    let results = plan.evaluate(&columns).unwrap().results;
    let report = Report::new(format!("{name}.eval"), results).of_run(task, name);
    Fixture { name: name.to_owned(), report, columns, plan }
}

fn run(fixture: &Fixture) -> PageRun<'_> {
    let Fixture { name, report, columns, plan } = fixture;
    PageRun { name: name.clone(), report, columns, plan, facts: RunFacts::default() }
}

fn page(fixtures: &[Fixture]) -> String {
    Page::new(fixtures.iter().map(run).collect()).to_html()
}

/// The text of a part of the page, without markup.
fn words(html: &str, from: &str, to: &str) -> String {
    let part = html.split(from).nth(1).and_then(|rest| rest.split(to).next()).unwrap();
    let mut text = String::new();
    let mut in_tag = false;
    for c in part.chars() {
        match c {
            '<' => in_tag = true,
            '>' => in_tag = false,
            c if !in_tag => text.push(c),
            _ => {}
        }
    }
    text.replace("&lt;", "<").replace("&gt;", ">")
}

fn lead(html: &str) -> String {
    words(html, "<p class=\"lead\">", "</p>")
}

#[test]
fn one_run_has_its_figures_and_no_comparison() {
    let html = page(&[fixture("heron", "almanac", ["a", "b"], |id| id < 30)]);
    assert!(html.contains("<h1 id=\"h-top\" class=\"any\" dir=\"auto\">almanac</h1>"));
    assert_eq!(
        lead(&html),
        "heron has an accuracy of 0.750 ± 0.069 (one standard error); the 95 % interval is 0.598 to 0.858, over 40 samples."
    );
    assert!(html.contains("id=\"estimates\"") && html.contains("id=\"groups\""), "{html}");
    assert!(!html.contains("id=\"comparison\"") && !html.contains("id=\"samples\""));
}

#[test]
fn figures_at_full_precision_are_those_of_the_records() {
    let fixtures =
        [fixture("heron", "t", ["a", "b"], |id| id < 29), fixture("wren", "t", ["a", "b"], |id| id % 3 > 0)];
    let html = page(&fixtures);
    for Fixture { name, report, .. } in &fixtures {
        for record in estimates(&report.results).iter().filter(|record| record["metric"] == "accuracy") {
            let group = record["group"].as_str().map_or_else(String::new, |group| {
                format!(" data-group-key=\"topic\" data-group=\"{group}\"")
            });
            let [value, se, lower, upper] =
                ["value", "stderr", "lower", "upper"].map(|name| record[name].as_f64().unwrap());
            let row = format!(
                "data-run=\"{name}\" data-scorer=\"match\" data-metric=\"accuracy\"{group} data-value=\"{value}\" \
                 data-stderr=\"{se}\" data-lower=\"{lower}\" data-upper=\"{upper}\""
            );
            assert!(html.contains(&row), "{row}");
        }
    }
}

#[test]
fn what_is_said_follows_the_corrected_tests() {
    let same = |name: &str| fixture(name, "t", ["a", "b"], |id| id < 20);
    let html = page(&[same("heron"), same("wren")]);
    assert!(lead(&html).contains("they cannot be told apart"), "{}", lead(&html));
    let apart = [
        fixture("heron", "t", ["a", "b"], |id| id < 38),
        fixture("magpie", "t", ["a", "b"], |id| id < 22),
        fixture("wren", "t", ["a", "b"], |id| id < 6),
    ];
    let html = page(&apart);
    assert!(lead(&html).contains("all three can be told apart (Holm’s p < 0.0001)"), "{}", lead(&html));
    let close = [
        fixture("heron", "t", ["a", "b"], |id| id < 24),
        fixture("magpie", "t", ["a", "b"], |id| id < 22),
        fixture("wren", "t", ["a", "b"], |id| id < 4),
    ];
    let html = page(&close);
    let said = lead(&html);
    assert!(said.contains("2 of 3 pairs can be told apart: heron from wren, magpie from wren"), "{said}");
    let ranking = words(&html, "<h3 class=\"h3\">Ranking</h3>", "</section>");
    assert!(ranking.contains("heron > wren, magpie > wren"), "{ranking}");
}

#[test]
fn pairs_have_the_better_first_and_matrices_count_all_samples() {
    let html = page(&[
        fixture("wren", "t", ["a", "b"], |id| id < 10),
        fixture("heron", "t", ["a", "b"], |id| id < 35),
    ]);
    let pairs = words(&html, "Differences of pairs of runs", "</table>");
    assert!(pairs.contains("heron − wren") && pairs.contains("+0.625"), "{pairs}");
    assert!(html.contains("25<span class=\"vh\"> better, </span>"), "25 better, 15 equal, none worse");
    let matrix = words(&html, "<table class=\"mat\">", "</table>");
    assert!(matrix.contains("heron"), "{matrix}");
    assert!(html.contains("data-value=\"0.625\""), "the difference of the better minus the other");
    assert!(html.contains("Differences by topic"), "two runs are compared within groups");
}

#[test]
fn several_tasks_are_a_table_of_models_and_tasks() {
    let html = page(&[
        fixture("heron", "law", ["a", "b"], |id| id < 30),
        fixture("wren", "law", ["a", "b"], |id| id < 12),
        fixture("heron", "logic", ["a", "b"], |id| id < 20),
    ]);
    assert_eq!(
        lead(&html),
        "3 runs of 2 tasks by 2 models. In law: On the same samples heron is ahead by 0.450 ± 0.080 (p < 0.0001)."
    );
    let tasks = words(&html, "<h2 id=\"h-tasks\">", "</table>");
    assert!(tasks.contains("law") && tasks.contains("logic") && tasks.contains("no run"), "{tasks}");
    for id in ["t1-estimates", "t1-comparison", "t2-estimates"] {
        assert_eq!(html.matches(&format!("<section id=\"{id}\"")).count(), 1, "{id}");
    }
    assert!(!html.contains("t2-comparison"));
}

/// A run whose only metric is by group.
fn by_group(name: &str, task: &str, metric: Grouped) -> Fixture {
    let Fixture { columns, .. } = fixture(name, task, ["a", "b"], |id| id < 30);
    of_columns(name, task, columns, Plan::new().metrics(metrics![metric]))
}

#[test]
fn the_headline_of_groups_is_over_all_of_them() {
    let of_all = || by_group("heron", "law", grouped(accuracy(), "topic"));
    let html = page(&[of_all()]);
    assert!(lead(&html).starts_with("heron has an accuracy of 0.750 ± 0.069"), "{}", lead(&html));
    let without = || by_group("heron", "logic", grouped(accuracy(), "topic").all(All::None));
    let html = page(&[without()]);
    assert_eq!(lead(&html), "There are figures by topic only, none over all samples.");
    let html = page(&[of_all(), without()]);
    let tasks = words(&html, "<h2 id=\"h-tasks\">", "</table>");
    assert!(tasks.contains("0.750 ± 0.069") || tasks.contains("0.750±0.069"), "{tasks}");
    assert!(tasks.contains("no figure over all samples") && !tasks.contains("no run"), "{tasks}");
    // A task may name a group.
    let mut wanted = of_all();
    wanted.report.results.headline =
        Some(HeadlineRequest { metric: Some("a".to_owned()), ..HeadlineRequest::default() });
    let html = page(&[wanted]);
    assert!(lead(&html).starts_with("heron has an accuracy: a of 0.75"), "{}", lead(&html));
}

#[test]
fn ids_are_unique() {
    let html = page(&[
        fixture("heron", "law", ["a", "b"], |id| id < 30),
        fixture("heron", "logic", ["a", "b"], |id| id < 20),
    ]);
    let mut ids: Vec<&str> = html.split(" id=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    let all = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), all);
    for anchor in html.split("href=\"#").skip(1).filter_map(|rest| rest.split('"').next()) {
        assert!(ids.contains(&anchor), "#{anchor} leads nowhere");
    }
}

/// Names that would be markup, attributes, scripts or invisible.
const HOSTILE: [&str; 8] = [
    "<script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)>",
    "' onmouseover='alert(1)",
    "</style><script>alert(1)</script>",
    "</title><svg onload=alert(1)>",
    "javascript:alert(1)",
    "a\u{202e}b\u{0}c\u{1b}[31m",
    "<!--",
];

#[test]
fn names_are_never_markup() {
    for hostile in HOSTILE {
        let other = format!("{hostile}2");
        let mut fixtures = [
            fixture(hostile, hostile, [hostile, "b"], |id| id < 30),
            fixture(&other, hostile, [hostile, "b"], |id| id < 12),
            fixture("third", hostile, [hostile, "b"], |id| id % 4 == 0),
        ];
        for fixture in &mut fixtures {
            fixture.report.partial_run =
                Some(crate::PartialRun { status: hostile.to_owned(), planned: Some(99) });
            fixture.report.self_graded = Some(hostile.to_owned());
            fixture.report.limits.insert(hostile.to_owned(), 3);
        }
        let mut page = Page::new(fixtures.iter().map(run).collect());
        for run in &mut page.runs {
            (run.facts.file, run.facts.created) = (hostile.to_owned(), Some(hostile.to_owned()));
            (run.facts.version, run.facts.status) = (Some(hostile.to_owned()), Some(hostile.to_owned()));
        }
        page.title = hostile.to_owned();
        page.not_compared = None;
        page.samples = Some(PageSamples { key: String::new(), data: Some(String::new()) });
        let html = page.to_html();
        // The script of the page is ours, and the policy allows no other.
        let markup = html.split("<script type=\"module\">").next().unwrap();
        assert!(
            !markup.contains("<script") && !markup.contains("<img") && !markup.contains("<!--"),
            "{hostile}"
        );
        assert_eq!(markup.matches("</style>").count(), 1, "{hostile}");
        for attribute in ["onerror=", "onload=", "onmouseover="] {
            let raw = markup.match_indices(attribute).filter(|(at, _)| {
                let before = &markup[..*at];
                before.rfind('<') > before.rfind('>')
            });
            // Within a tag, the text is in a quoted attribute.
            for (at, _) in raw {
                let tag = &markup[markup[..at].rfind('<').unwrap()..at];
                assert_eq!(tag.matches('"').count() % 2, 1, "{hostile}: {tag}");
            }
        }
        assert!(!markup.contains("href=\"javascript:"), "{hostile}");
        assert!(!html.contains(['\u{202e}', '\u{0}', '\u{1b}']), "{hostile}");
    }
}

#[test]
fn the_policy_allows_one_style_and_one_script() {
    let html = page(&[fixture("heron", "t", ["a", "b"], |id| id < 30)]);
    let policy =
        html.split("Content-Security-Policy\" content=\"").nth(1).unwrap().split('"').next().unwrap();
    let style = html.split("<style>").nth(1).unwrap().split("</style>").next().unwrap();
    let script = html.split("<script type=\"module\">").nth(1).unwrap().split("</script>").next().unwrap();
    for block in [style, script] {
        assert!(policy.contains(&crate::assets::policy_source(block)), "{policy}");
    }
    assert!(policy.starts_with("default-src 'none'") && policy.contains("connect-src 'none'"), "{policy}");
    let markup = html.split("<body>").nth(1).unwrap().split("<script").next().unwrap();
    assert!(
        !markup.contains(" style=\"") && !markup.contains(" onclick"),
        "no inline style, no event attribute"
    );
    assert_eq!(html.matches("<h1").count(), 1);
}

#[test]
fn what_is_absent_or_unknown_is_said() {
    let plan = Plan::new().metrics(metrics![mean(), stderr()]);
    let mut columns = ScoreColumns::new(["grade"]);
    for id in 0..12_u32 {
        let value = if id < 9 { Value::from(3.5) } else { Value::from(f64::NAN) };
        columns.push(format!("q{id}"), 1).score("grade", Score::new(value)).unwrap();
    }
    let html = page(&[of_columns("heron", "t", columns, plan)]);
    assert!(html.contains("<strong>3 samples have no score.</strong>"), "{html}");
    assert!(html.contains("3 absent</span>") && html.contains("<span class=\"q0\">?</span>"), "no spread");
    assert!(!html.contains("± 0<"), "an unknown error is no 0");
    let none = page(&[of_columns(
        "wren",
        "t",
        ScoreColumns::new(["grade"]),
        Plan::new().metrics(metrics![mean(), stderr()]),
    )]);
    assert!(none.contains("class=\"undef\""), "no scores at all");
}

#[test]
fn runs_that_must_not_be_compared_are_not() {
    let fixtures =
        [fixture("heron", "t", ["a", "b"], |id| id < 38), fixture("wren", "t", ["a", "b"], |id| id < 6)];
    let mut page = Page::new(fixtures.iter().map(run).collect());
    page.not_compared = Some("their questions differ".to_owned());
    let html = page.to_html();
    assert!(html.contains("The runs are not compared.</strong> Their questions differ."));
    assert!(!html.contains("id=\"comparison\"") && !lead(&html).contains("told apart"));
}

#[test]
fn a_served_page_may_fetch_from_its_server_alone() {
    let fixtures = [fixture("heron", "t", ["a", "b"], |id| id < 38)];
    let mut page = Page::new(fixtures.iter().map(run).collect());
    page.samples = Some(PageSamples { key: String::new(), data: None });
    page.listed_in = Some(("../".to_owned(), "logs".to_owned()));
    let html = page.to_html();
    assert!(html.contains("connect-src 'self'") && html.contains("data-origin=\"server\""));
    assert!(html.contains("<a href=\"../\">logs</a> / t"));
}

/// A second scorer that has no score of some samples: the page counts them, though the headline has all.
#[test]
fn absent_samples_of_every_scorer_are_counted() {
    let plan = Plan::new().metrics(metrics![accuracy(), stderr()]);
    let mut columns = ScoreColumns::new(["exact", "judge"]);
    for id in 0..10_u32 {
        let row = columns.push(format!("q{id}"), 1).score("exact", Score::new("C")).unwrap();
        if id > 2 {
            row.score("judge", Score::new(if id > 5 { "C" } else { "I" })).unwrap();
        }
    }
    let html = page(&[of_columns("heron", "t", columns, plan)]);
    let notices = words(&html, "<ul class=\"notices\"", "</ul>");
    assert!(notices.contains("3 samples have no score by judge."), "{notices}");
    let facts = words(&html, "<dl class=\"facts\">", "</dl>");
    assert!(facts.contains("3 samples absent by judge; 0 errored"), "{facts}");
    assert!(!facts.contains("all scored"), "{facts}");
}

/// `stderr(cluster)` and `ci(cluster)` have rows of their own where the plan clusters by itself.
#[test]
fn explicit_errors_are_numbers_and_intervals_are_drawn() {
    use errorbar_core::ErrorPlan;
    use errorbar_core::metrics::ci;
    let plan = Plan::new()
        .metrics(metrics![accuracy(), stderr().cluster("topic"), ci().cluster("topic")])
        .errors(ErrorPlan::default().cluster("topic"));
    let mut columns = ScoreColumns::new(["match"]);
    for id in 0..40_u32 {
        let topic = format!("t{}", id % 10);
        let row = columns.push(format!("q{id}"), 1).metadata("topic", topic);
        row.score("match", Score::new(if id % 3 > 0 { "C" } else { "I" })).unwrap();
    }
    let html = page(&[of_columns("heron", "t", columns, plan)]);
    let estimates = html.split("id=\"estimates\"").nth(1).unwrap().split("</section>").next().unwrap();
    let (headline, others) = estimates.split_once("Other figures").unwrap();
    let body = headline.split("<tbody").nth(1).unwrap();
    assert!(body.contains("class=\"se\"") && body.contains("class=\"ci\""), "clustered error: {body}");
    assert!(!others.contains("hollow") && !others.contains("class=\"q0\""), "{others}");
    let of = |metric: &str| {
        let row = others.split(&format!("data-metric=\"{metric}\"")).nth(1).unwrap();
        row.split("</tbody>").next().unwrap().to_owned()
    };
    assert!(of("ci").contains("class=\"ci\"") && !of("ci").contains("± ?"), "{}", of("ci"));
    let stderr = of("stderr");
    let drawn = stderr.split("class=\"pl\"").nth(1).unwrap().split("</svg>").next().unwrap();
    assert!(!drawn.contains("<use"), "an error is no mark on the scale of its figure: {drawn}");
}

/// Every figure has its n in its row, and why it has no error.
#[test]
fn groups_have_their_n_and_the_reason_of_a_missing_error() {
    let same = fixture("heron", "t", ["a", "b"], |id| id % 2 == 0);
    let html = page(&[same, fixture("wren", "t", ["a", "b"], |id| id < 20)]);
    let groups = words(&html, "id=\"groups\"", "</section>");
    assert!(groups.contains("n 20, heron: no spread in 20 scores"), "{groups}");
    let plan = Plan::new().metrics(metrics![accuracy(), grouped(accuracy(), "topic")]);
    let few = |name: &str, n: u32| {
        let mut columns = ScoreColumns::new(["match"]);
        for id in 0..n {
            let row = columns.push(format!("q{id}"), 1).metadata("topic", "a");
            row.score("match", Score::new(if id % 3 > 0 { "C" } else { "I" })).unwrap();
        }
        of_columns(name, "t", columns, plan.clone())
    };
    let html = page(&[few("heron", 12), few("wren", 1)]);
    let groups = html.split("id=\"groups\"").nth(1).unwrap().split("</section>").next().unwrap();
    assert!(groups.contains("<td class=\"num c6\" role=\"cell\">12</td>"), "{groups}");
    assert!(groups.contains("wren: only 1 score"), "{groups}");
}

#[test]
fn confidence_that_is_there_is_shown() {
    let plan = Plan::new().metrics(metrics![accuracy(), stderr()]);
    let columns = |is_whole: bool| {
        let mut columns = ScoreColumns::new(["match"]);
        for id in 0..40_u32 {
            let mut row = columns.push(format!("q{id}"), 1);
            if is_whole || id > 0 {
                row = row.metadata("confidence", f64::from(id % 10) / 10.0);
            }
            row.score("match", Score::new(if id % 10 > 4 { "C" } else { "I" })).unwrap();
        }
        columns
    };
    let html = page(&[of_columns("heron", "t", columns(true), plan.clone())]);
    assert!(html.contains("id=\"calibration\"") && !html.contains("Calibration is not shown"));
    let html = page(&[of_columns("heron", "t", columns(false), plan)]);
    let notices = words(&html, "<ul class=\"notices\"", "</ul>");
    assert!(
        !html.contains("id=\"calibration\"") && notices.contains("Calibration is not shown."),
        "{notices}"
    );
}

/// Names that would widen a table, and numbers that would run into the next column.
#[test]
fn long_names_and_large_numbers_have_their_classes() {
    let plan = Plan::new().metrics(metrics![mean(), grouped(mean(), "topic")]);
    let of = |name: &str| {
        let mut columns = ScoreColumns::new(["tokens"]);
        for id in 0..30_u32 {
            let topic = if id % 2 == 0 { "x".repeat(200) } else { "short".to_owned() };
            let row = columns.push(format!("q{id}"), 1).metadata("topic", topic);
            row.score("tokens", Score::new(1e9 + 1e7 * f64::from(id * 7 % 11))).unwrap();
        }
        of_columns(name, "t", columns, plan.clone())
    };
    let html = page(&[of("heron"), of(&"m".repeat(80)), of("wren"), of("crow")]);
    assert!(html.contains("name m2 long\""), "long names may break anywhere");
    assert!(html.contains("class=\"t est bn\"") && html.contains("1,0"), "thousands have commas");
    let forest = html.split("<table class=\"forest ").nth(1).unwrap().split('"').next().unwrap();
    assert!(forest.contains(" lg") && forest.contains(" bn"), "{forest}");
    assert!(html.contains("<table class=\"t ranks\">"), "a ranking of long names is a column");
}

#[test]
fn a_run_without_scores_has_no_figure_and_no_bracket() {
    let plan = Plan::new().metrics(metrics![accuracy(), stderr()]);
    let mut columns = ScoreColumns::new(["match"]);
    for id in 0..5_u32 {
        columns.push(format!("q{id}"), 1);
    }
    let html = page(&[of_columns("heron", "t", columns, plan)]);
    assert_eq!(lead(&html), "heron has no accuracy: no scores.");
    assert!(html.contains("5 samples have no score.") && !html.contains("dotted bracket"));
}

/// A page of runs of a scorer with this number of choices in every sample, 0 if they are not known.
fn guessed(scorer: &str, choices: &[u32], is_right: impl Fn(u32) -> bool) -> String {
    let runs: Vec<(Fixture, u32)> = choices
        .iter()
        .enumerate()
        .map(|(at, count)| {
            let plain = fixture("match", "t", ["a", "b"], &is_right);
            let mut columns = plain.columns.only_scorer("match", scorer).unwrap();
            columns.set_picks_option("choice");
            (of_columns(&format!("run {at}"), "t", columns, plain.plan), *count)
        })
        .collect();
    let mut page = Page::new(runs.iter().map(|(fixture, _)| run(fixture)).collect());
    for (run, (_, count)) in page.runs.iter_mut().zip(&runs) {
        run.facts.chance = crate::ChanceLevel::of_rows(run.columns, &vec![*count; run.columns.len()]);
    }
    page.to_html()
}

#[test]
fn guessing_is_drawn_where_its_level_is_known() {
    let html = guessed("choice", &[4], |id| id < 30);
    assert_eq!(html.matches(">chance 0.25</text>").count(), 2, "estimates and groups");
    // On the axis and the row of the estimates, on the axis and the rows of all and two groups, and in the key.
    assert_eq!(html.matches("class=\"gl ref\"").count(), 7, "{html}");
    assert!(html.contains("chance: guessing one of 4 choices</span>"), "{html}");
    assert!(html.contains("; chance 0.25: guessing one of 4 choices\"><thead"), "in words: {html}");
    assert!(!html.contains("not told apart from guessing"), "{html}");
    for (scorer, choices) in [("match", &[4][..]), ("choice", &[0]), ("choice", &[4, 2]), ("choice", &[4, 0])]
    {
        let html = guessed(scorer, choices, |id| id < 30);
        assert!(!html.contains("chance") && !html.contains("gl ref"), "{scorer} {choices:?}");
    }
    let html = guessed("choice", &[4], |id| id < 11);
    assert!(
        html.contains("<strong>Not told apart from guessing.</strong> Chance 0.25 is in the interval."),
        "{html}"
    );
}

#[test]
fn groups_with_other_numbers_of_choices_have_no_line() {
    let fixture = {
        let plain = fixture("match", "t", ["a", "b"], |id| id < 30);
        let mut columns = plain.columns.only_scorer("match", "choice").unwrap();
        columns.set_picks_option("choice");
        of_columns("r", "t", columns, plain.plan)
    };
    let mut page = Page::new(vec![run(&fixture)]);
    let counts: Vec<u32> = (0..40).map(|id| if id % 2 == 0 { 2 } else { 4 }).collect();
    page.runs[0].facts.chance = crate::ChanceLevel::of_rows(&fixture.columns, &counts);
    let html = page.to_html();
    assert_eq!(html.matches(">chance 0.375</text>").count(), 1, "estimates alone");
    assert!(html.contains("chance: guessing one of the choices, the mean over samples"), "{html}");
}

#[test]
fn what_is_to_be_known_about_a_task_is_at_the_top_of_several() {
    let mut fixtures = [
        fixture("heron", "first", ["a", "b"], |id| id < 30),
        fixture("heron", "second", ["a", "b"], |id| id < 20),
    ];
    let top = |fixtures: &[Fixture]| {
        let html = page(fixtures);
        html.split("id=\"tasks\"").next().unwrap().to_owned()
    };
    assert!(!top(&fixtures).contains("Notices of all tasks"));
    fixtures[1].report.self_graded = Some("heron".to_owned());
    fixtures[1].report.skipped = 2;
    let html = top(&fixtures);
    let said = words(&html, "aria-label=\"Notices of all tasks\">", "</ul>");
    assert_eq!(said.trim(), "second: Graded by the model itself (heron). 2 answers could not be read.");
    assert!(html.contains("<a class=\"any\" href=\"#t2-top\">second</a>"), "{html}");
}

#[test]
fn answers_with_a_reason_are_explained() {
    let said = |reason: &str, value: Value| {
        let mut columns = ScoreColumns::new(["match"]);
        for id in 0..10_u32 {
            let mut score = Score::new("C");
            if id < 3 {
                (score.value, score.reason) = (value.clone(), Some(reason.to_owned()));
            }
            columns.push(format!("q{id}"), 1).score("match", score).unwrap();
        }
        let plan = Plan::new().metrics(metrics![accuracy(), stderr()]);
        let html = page(&[of_columns("heron", "t", columns, plan)]);
        words(&html, "3 of 10 answers: ", "</li>")
    };
    assert_eq!(
        said("invalid_response_format", Score::new("I").value),
        "invalid_response_format. No answer could be read from them; they count as wrong."
    );
    assert_eq!(
        said("tired", Score::new("I").value),
        "tired. The reason that match gives; they count as wrong."
    );
    let unscored = Score::unscored("no_response").value;
    assert_eq!(said("no_response", unscored), "no_response. They are empty; they have no score.");
}
