//! What is said about runs: their figures in words, and how they ended.

use super::*;

#[test]
fn a_run_without_its_end_is_not_final() {
    let mut fixtures = [fixture("slow", "task", ["a", "b"], |id| id < 30)];
    let estimates = |html: &str| {
        let table = html.split("<table class=\"t est").nth(1).unwrap();
        table.split("</table>").next().unwrap().to_owned()
    };
    let whole = Page::new(fixtures.iter().map(run).collect()).to_html();
    assert!(!lead(&whole).contains("so far") && !estimates(&whole).contains("ci far"), "{whole}");
    let total = fixtures[0].report.results.total_samples;
    fixtures[0].report.partial_run =
        Some(crate::PartialRun { status: "started".to_owned(), planned: Some(total + 114) });
    let html = Page::new(fixtures.iter().map(run).collect()).to_html();
    assert!(lead(&html).contains(" so far"), "{}", lead(&html));
    assert!(html.contains(&format!("Not finished, {total} of {} answers so far.", total + 114)), "{html}");
    assert!(html.contains("<span class=\"flag\">114 answers not run</span>"), "{html}");
    assert!(html.contains("may be easier than the rest"), "{html}");
    let row = estimates(&html);
    assert!(row.contains("ci far") && row.contains("mk hollow"), "{row}");
}

/// Whoever opens a log that failed wants to know why. A page without samples may be published, and an error may quote one.
#[test]
fn a_run_that_failed_has_its_reason() {
    let mut failed = fixture("slow", "task", ["a", "b"], |_| true);
    failed.report.partial_run = Some(crate::PartialRun { status: "error".to_owned(), planned: None });
    let mut run = run(&failed);
    run.facts.error = Some("the server refused <b>; does it run?".to_owned());
    let mut page = Page::new(vec![run]);
    let published = page.to_html();
    assert!(
        published.contains("did not reach its end (error)") && !published.contains("refused"),
        "{published}"
    );
    page.samples = Some(PageSamples { key: String::new(), data: Some(String::new()) });
    let html = page.to_html();
    assert!(
        html.contains("The reason: <span dir=\"auto\">the server refused &lt;b&gt;; does it run?</span>"),
        "{html}"
    );
}

#[test]
fn the_lead_names_its_error_once() {
    let html = page(&[
        fixture("heron", "task", ["a", "b"], |id| id < 30),
        fixture("wren", "task", ["a", "b"], |id| id < 12),
    ]);
    let said = lead(&html);
    assert!(
        said.starts_with("heron has an accuracy of 0.750 ± 0.069 (one standard error), wren 0.300 ± 0.073."),
        "{said}"
    );
    // Without an error there is nothing to name.
    let certain = page(&[fixture("heron", "task", ["a", "b"], |_| true)]);
    assert!(!lead(&certain).contains("standard error"), "{}", lead(&certain));
}
