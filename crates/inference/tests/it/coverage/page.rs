//! The tables of the docs.

use std::fmt::Write as _;
use std::path::PathBuf;

use super::{binary, clusters, graded, pairs};

/// A share in percent.
fn percent(share: f64, digits: usize) -> String {
    format!("{:.digits$}", 100.0 * share)
}

fn wilson() -> String {
    let mut table = "| p | n = 5 | n = 10 | n = 30 | n = 100 |\n|---|---|---|---|---|\n".to_owned();
    for (at, p) in binary::SHARES.iter().enumerate() {
        let cells: Vec<String> = binary::WILSON.iter().map(|by_share| percent(by_share[at], 2)).collect();
        writeln!(table, "| {p} | {} |", cells.join(" | ")).unwrap();
    }
    table
}

fn means() -> String {
    let mut table = "| n |".to_owned();
    binary::METHODS.iter().for_each(|method| write!(table, " {method} |").unwrap());
    writeln!(table, "\n|---|{}", "---|".repeat(binary::METHODS.len())).unwrap();
    for (at, n) in binary::MEAN_SIZES.iter().enumerate() {
        let cells = binary::METHODS.map(|method| percent(binary::MEANS[method][at], 2));
        writeln!(table, "| {n} | {} |", cells.join(" | ")).unwrap();
    }
    table
}

fn graded() -> String {
    let mut table = "| scores | chances | n = 10 | n = 30 | n = 100 |\n|---|---|---|---|---|\n".to_owned();
    for (distribution, by_size) in graded::DISTRIBUTIONS.iter().zip(graded::COVERAGE.iter()) {
        let chances: Vec<String> = distribution.chances.iter().map(f64::to_string).collect();
        let cells = by_size.map(|coverage| percent(coverage, 2));
        let note = if distribution.is_bound { "" } else { " \\*" };
        writeln!(table, "| {}{note} | {} | {} |", distribution.name, chances.join(" "), cells.join(" | "))
            .unwrap();
    }
    table
}

fn clustered() -> String {
    let mut table =
        "| sizes | G | ICC | normal, CR2 and t | p = .5, auto | p = .8, auto | p = .9, auto \\* |\n\
                     |---|---|---|---|---|---|---|\n"
            .to_owned();
    for row in clusters::CELLS.chunks(clusters::SCORES.len()) {
        let (cell, _) = row[0];
        let sizes = if cell.lognormal { "lognormal" } else { "equal" };
        let cells: Vec<String> = row.iter().map(|(_, coverage)| percent(coverage.share(), 1)).collect();
        writeln!(table, "| {sizes} | {} | {} | {} |", cell.clusters, cell.icc, cells.join(" | ")).unwrap();
    }
    table
}

fn paired() -> String {
    let mut table =
        "| pairs that differ | 50 % lost | 60 % | 70 % | 80 % | all |\n|---|---|---|---|---|---|\n"
            .to_owned();
    for (discordant, by_lost) in pairs::DISCORDANT.iter().zip(pairs::COVERAGE.iter()) {
        let cells = by_lost.map(|coverage| percent(coverage, 2));
        writeln!(table, "| {} % | {} |", percent(*discordant, 0), cells.join(" | ")).unwrap();
    }
    table
}

fn gates() -> String {
    let sizes = pairs::SIZES.map(|n| format!(" n = {n} |")).concat();
    let mut table = format!("| pairs that differ |{sizes}\n|---|{}\n", "---|".repeat(pairs::SIZES.len()));
    for (at, discordant) in pairs::SHOWN.iter().enumerate() {
        let cells: Vec<String> = pairs::ALARMS.iter().map(|by_share| percent(by_share[at], 2)).collect();
        writeln!(table, "| {} % | {} |", percent(*discordant, 0), cells.join(" | ")).unwrap();
    }
    table
}

fn graded_gates() -> String {
    let sizes = pairs::GRADED_SIZES.map(|n| format!(" n = {n} |")).concat();
    let mut table = format!("| pairs that differ | of these by 1 |{sizes}\n|---|---|---|---|---|\n");
    for (whole, share, rates) in pairs::GRADED_ALARMS.iter() {
        let cells = rates.map(|rate| percent(rate, 2));
        writeln!(table, "| {} % | {} % | {} |", percent(*share, 0), percent(*whole, 0), cells.join(" | "))
            .unwrap();
    }
    table
}

/// Puts a table between its two marks.
fn put(page: &mut String, name: &str, table: &str) {
    let (start, end) = (format!("<!-- coverage: {name} -->\n"), "<!-- end of the table -->");
    let from = page.find(&start).unwrap_or_else(|| panic!("no mark for the table {name}")) + start.len();
    let to = from + page[from..].find(end).unwrap();
    page.replace_range(from..to, table);
}

#[test]
fn the_tables_of_the_docs_are_these_figures() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/coverage.md");
    let written = std::fs::read_to_string(&path).unwrap();
    let mut page = written.clone();
    for (name, table) in [
        ("wilson", wilson()),
        ("means", means()),
        ("graded", graded()),
        ("clusters", clustered()),
        ("pairs", paired()),
        ("gates", gates()),
        ("gates of graded scores", graded_gates()),
    ] {
        put(&mut page, name, &table);
    }
    if std::env::var_os("UPDATE_COVERAGE").is_some() {
        std::fs::write(&path, &page).unwrap();
    } else {
        assert!(written == page, "write the page with UPDATE_COVERAGE=1:\n{page}");
    }
}
