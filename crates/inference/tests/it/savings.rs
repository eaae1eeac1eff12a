//! How many samples rules take: the table of `docs/early-stopping.md`. `UPDATE_SAVINGS=1 cargo test -p errorbar-core
//! --test it savings` writes it.

use std::fmt::Write as _;
use std::path::PathBuf;

use errorbar_stats::sequential::{ConfidenceSequence, random_order};

const POPULATION: u32 = 1000;
/// Enough for a mean that is right to a few samples.
const RUNS: u64 = 40;

/// 1,000 scores with this mean: zeros and ones, or graded in tenths around it.
fn scores(mean: f64, is_graded: bool) -> Vec<f64> {
    let ones = (f64::from(POPULATION) * mean).round() as u32;
    let graded = |at: u32| (mean + (f64::from(at % 5) - 2.0) / 10.0).clamp(0.0, 1.0);
    (0..POPULATION).map(|at| if is_graded { graded(at) } else { f64::from(u8::from(at < ones)) }).collect()
}

/// The mean number of samples until the interval is narrower than each of these widths, and until it excludes ½.
fn samples_until(scores: &[f64], widths: [f64; 3]) -> [f64; 4] {
    let mut sums = [0.0; 4];
    for seed in 0..RUNS {
        let mut sequence = ConfidenceSequence::new(POPULATION.into(), (0.0, 1.0), 0.95).unwrap();
        sequence.watch(0.5);
        let mut until = [None; 4];
        for (taken, at) in (1..).zip(random_order(POPULATION, seed)) {
            sequence.push(scores[at as usize]).unwrap();
            let (lower, upper) = sequence.bounds();
            let holds = [
                upper - lower < widths[0],
                upper - lower < widths[1],
                upper - lower < widths[2],
                upper <= 0.5 || 0.5 <= lower,
            ];
            for (until, holds) in until.iter_mut().zip(holds) {
                if holds && until.is_none() {
                    *until = Some(f64::from(taken));
                }
            }
            if until.iter().all(Option::is_some) {
                break;
            }
        }
        sums.iter_mut().zip(until).for_each(|(sum, until)| *sum += until.unwrap_or(f64::from(POPULATION)));
    }
    sums.map(|sum| sum / RUNS as f64)
}

fn table() -> String {
    let mut table = "| scores | width < 0.2 | width < 0.1 | width < 0.06 | decided against 0.5 |\n|---|---|---|---|---|\n"
        .to_owned();
    let cells: [(&str, f64, bool); 6] = [
        ("right or wrong, 50 %", 0.5, false),
        ("right or wrong, 55 %", 0.55, false),
        ("right or wrong, 70 %", 0.7, false),
        ("right or wrong, 90 %", 0.9, false),
        ("right or wrong, 98 %", 0.98, false),
        ("graded, 0.5 to 0.9", 0.7, true),
    ];
    for (name, mean, is_graded) in cells {
        let samples = samples_until(&scores(mean, is_graded), [0.2, 0.1, 0.06]);
        let cells: Vec<String> = samples.iter().map(|samples| format!("{samples:.0}")).collect();
        writeln!(table, "| {name} | {} |", cells.join(" | ")).unwrap();
    }
    table
}

#[test]
fn the_table_of_the_docs_is_these_figures() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/early-stopping.md");
    let written = std::fs::read_to_string(&path).unwrap();
    let (start, end) = ("<!-- savings -->\n", "<!-- end of the table -->");
    let from = written.find(start).unwrap() + start.len();
    let to = from + written[from..].find(end).unwrap();
    let mut page = written.clone();
    page.replace_range(from..to, &table());
    if std::env::var_os("UPDATE_SAVINGS").is_some() {
        std::fs::write(&path, &page).unwrap();
    } else {
        assert!(written == page, "write the page with UPDATE_SAVINGS=1:\n{page}");
    }
}
