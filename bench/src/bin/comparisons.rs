//! Times of comparisons, printed one per line: two sides of 100,000 samples, and thirty of 10,000 with 2,000 shared
//! resamples. Run it in release: `cargo run --release -p errorbar-bench --bin comparisons`.

use std::error::Error;
use std::hint::black_box;
use std::io::Write;
use std::time::{Duration, Instant};

use errorbar_core::metrics::{accuracy, mean, stderr};
use errorbar_core::{ErrorPlan, Plan, Score, ScoreColumns, metrics};
use errorbar_inference::{ComparedScores, ComparisonOptions, Correction, compare};
use errorbar_stats::random::Stream;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// What the scores of a case are.
#[derive(Clone, Copy)]
enum Kind {
    Binary,
    Graded,
    Clustered,
    /// Ids in another order on each side.
    Scattered,
}

fn main() -> Result<()> {
    #[allow(clippy::disallowed_methods, reason = "names and numbers of our own")]
    let mut out = std::io::stdout().lock();
    for (name, kind) in [
        ("binary", Kind::Binary),
        ("graded", Kind::Graded),
        ("clustered", Kind::Clustered),
        ("scattered ids", Kind::Scattered),
    ] {
        let sides = [columns(kind, 100_000, 0, 0.7)?, columns(kind, 100_000, 1, 0.71)?];
        let time = best_of(5, &sides, kind, &ComparisonOptions::default())?;
        writeln!(out, "2 sides x 100,000 samples, {name}: {:.1} ms", 1e3 * time.as_secs_f64())?;
    }
    for (name, kind) in [("binary", Kind::Binary), ("graded", Kind::Graded), ("clustered", Kind::Clustered)] {
        let side = |at: u64| columns(kind, 10_000, at, 0.5 + 0.01 * at as f64);
        let sides = (0..30).map(side).collect::<Result<Vec<_>>>()?;
        for all_pairs in [false, true] {
            let mut options = ComparisonOptions::default();
            options.all_pairs = all_pairs;
            options.correction = Some(Correction::Holm);
            let time = best_of(3, &sides, kind, &options)?;
            let pairs = if all_pairs { "all pairs" } else { "with the base" };
            let time = 1e3 * time.as_secs_f64();
            writeln!(out, "30 sides x 10,000 samples x 2,000 resamples, {name}, {pairs}: {time:.0} ms")?;
        }
    }
    Ok(())
}

fn best_of(
    times: usize,
    sides: &[ScoreColumns],
    kind: Kind,
    options: &ComparisonOptions,
) -> Result<Duration> {
    let mut errors = ErrorPlan::new();
    if matches!(kind, Kind::Clustered) {
        errors = errors.cluster("passage");
    }
    errors.draws = Some(2000);
    let metrics = match kind {
        Kind::Binary | Kind::Scattered => metrics![accuracy(), stderr()],
        Kind::Graded | Kind::Clustered => metrics![mean(), stderr()],
    };
    let plan = Plan::new().metrics(metrics).errors(errors);
    let names: Vec<String> = (0..sides.len()).map(|at| format!("model {at}")).collect();
    let mut best = Duration::MAX;
    for _ in 0..times {
        // A copy has no index of its samples yet: that is part of the time.
        let fresh = sides.to_vec();
        let compared: Vec<ComparedScores<'_>> = names
            .iter()
            .zip(&fresh)
            .map(|(name, columns)| ComparedScores::new(name, columns, &plan))
            .collect();
        let start = Instant::now();
        let report = compare(&compared, options)?;
        best = best.min(start.elapsed());
        black_box(report);
    }
    Ok(best)
}

/// Scores of a model that is right with this probability; samples are equally hard for all models.
fn columns(kind: Kind, n: usize, model: u64, ability: f64) -> Result<ScoreColumns> {
    let mut columns = ScoreColumns::new(["s"]);
    let uniform = |stream: u64, at: u64| {
        let word = Stream::new(7, 99, stream << 32 | at).next_u64();
        (word >> 11) as f64 / (1u64 << 53) as f64
    };
    for at in 0..n {
        let id = match kind {
            Kind::Scattered => (at * 7919 + 13 * model as usize) % n,
            _ => at,
        };
        let (hardness, luck) = (uniform(1000, id as u64), uniform(model, id as u64));
        let score = match kind {
            Kind::Binary | Kind::Scattered => f64::from(u8::from(0.7 * hardness + 0.3 * luck < ability)),
            Kind::Graded | Kind::Clustered => 0.5 * ability + 0.3 * hardness + 0.2 * luck,
        };
        let row = columns.push(format!("sample_{id}"), 1).metadata("passage", id / 7);
        row.score("s", Score::new(score))?;
    }
    Ok(columns)
}
