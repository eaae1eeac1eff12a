//! Results as a part of a page: every row says what it is of.

use errorbar_core::{Estimate, IndexMap, MetricValue, Role};

use super::{comparison_fixtures, fixtures};
use crate::{Report, fragment};

#[test]
fn groups_are_named_and_the_key_is_in_the_title() {
    let html = fragment::reports(&[fixtures::ten_groups()]);
    for name in ["geography", "数学", "all"] {
        let row = format!("<td>accuracy by category · choice</td><td>{name}</td>");
        assert!(html.contains(&row), "{name}: {html}");
    }
    assert!(html.contains("<td>accuracy · choice</td><td>all</td>"), "{html}");
}

#[test]
fn the_keys_of_a_metric_are_named() {
    let parts = [("low", 0.1), ("high", 0.9)];
    let parts: IndexMap<String, Option<Estimate>> =
        parts.into_iter().map(|(key, value)| (key.to_owned(), Some(Estimate::new(value)))).collect();
    let metric = fixtures::metric("parts", Role::Location, MetricValue::Map(parts));
    let report =
        Report::new("scores.csv", fixtures::results(vec![fixtures::score("score", 2, vec![metric])]));
    let html = fragment::reports(&[report]);
    assert!(html.contains("<td>low</td>") && html.contains("<td>high</td>"), "{html}");
}

#[test]
fn comparisons_show_both_sides() {
    let html = fragment::comparisons(&comparison_fixtures::two_sides());
    assert!(html.contains("<th>base</th><th>other</th><th>other − base</th>"), "{html}");
    assert!(html.contains("<td>magpie − heron</td><td>23.1"), "{html}");
    assert!(html.contains("<td>+2.9"), "{html}");
}
