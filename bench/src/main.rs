//! The engine's side of `bench/compare.py`: reads a case per line, answers nanoseconds and figures.
//!
//! Both sides make the same scores from the same formula, so the script can check that they agree on
//! the figures before it believes a ratio. Ids are text, columns are the engine's own; the clock runs
//! over `Plan::evaluate`, grouping by id included, or over one metric where the reference is timed so too.

use std::error::Error;
use std::hint::black_box;
use std::io::{BufRead, Write};
use std::time::{Duration, Instant};

use errorbar_core::metrics::{accuracy, bootstrap_stderr, grouped, mean, stderr};
use errorbar_core::{
    Estimate, Metric, MetricValue, Metrics, Partial, Plan, Reducers, Registry, Score, ScoreColumns, ScoreSet,
    Scores, metric_fn, metrics,
};
use errorbar_inference::{ComparedScores, ComparisonOptions, Correction, compare};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> Result<()> {
    let mut cases = Cases::default();
    #[allow(clippy::disallowed_methods, reason = "numbers for compare.py, no names from files")]
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let words: Vec<&str> = line.split_whitespace().collect();
        let (time, figures) = cases.run(&words)?;
        let figures: Vec<String> = figures.iter().map(f64::to_string).collect();
        writeln!(out, "{} {}", time.as_nanos(), figures.join(" "))?;
        out.flush()?;
    }
    Ok(())
}

/// The scores of each kind, made when first asked for.
#[derive(Default)]
struct Cases {
    made: Vec<((Kind, usize, u32), ScoreColumns)>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Grades,
    Binary,
    Continuous,
    /// Grades again, but ids in no order.
    Scattered,
    /// Continuous scores of one epoch in clusters of different sizes; the number of epochs is that of clusters.
    Clustered,
}

impl Kind {
    fn of(name: &str) -> Result<Self> {
        Ok(match name {
            "grades" => Kind::Grades,
            "binary" => Kind::Binary,
            "continuous" => Kind::Continuous,
            "scattered" => Kind::Scattered,
            "clustered" => Kind::Clustered,
            _ => return Err(format!("no such kind: {name}").into()),
        })
    }
}

impl Cases {
    fn run(&mut self, words: &[&str]) -> Result<(Duration, Vec<f64>)> {
        match *words {
            ["accuracy_stderr", n] => {
                let columns = self.columns(Kind::Grades, n.parse()?, 1);
                timed_results(columns, &Plan::new().metrics(metrics![accuracy(), stderr()]))
            }
            ["scattered", n] => {
                let columns = self.columns(Kind::Scattered, n.parse()?, 1);
                timed_results(columns, &Plan::new().metrics(metrics![accuracy(), stderr()]))
            }
            ["grouped", n] => {
                let columns = self.columns(Kind::Grades, n.parse()?, 1);
                timed_results(columns, &Plan::new().metrics(metrics![grouped(accuracy(), "category")]))
            }
            ["bootstrap", kind, n] => {
                let columns = self.columns(Kind::of(kind)?, n.parse()?, 1);
                let start = Instant::now();
                let set = ScoreSet::unreduced(columns, "s")?;
                let value = bootstrap_stderr().num_samples(1000).compute(&set.scores())?;
                let time = start.elapsed();
                Ok((time, vec![value.number().ok_or("a number")?]))
            }
            // An interval by resampling whole clusters.
            ["clusters", interval, n, clusters] => {
                let columns = self.columns(Kind::Clustered, n.parse()?, clusters.parse()?);
                let errors = format!(r#"{{"cluster": "passage", "interval": "{interval}"}}"#);
                let plan = Plan::new().metrics(metrics![mean()]).errors(errors.parse()?);
                let start = Instant::now();
                let results = black_box(plan.evaluate(black_box(columns))?).results;
                let time = start.elapsed();
                let interval = results.estimate("mean")?.interval.clone()?;
                Ok((time, vec![interval.lower, interval.upper]))
            }
            ["reducer", spec, n, epochs] => {
                let columns = self.columns(Kind::Grades, n.parse()?, epochs.parse()?);
                let reducer = Registry::built_in().reducer(&spec.parse()?)?;
                let plan = Plan::new().metrics(count()).reducers(Reducers::explicit(vec![reducer]));
                timed_results(columns, &plan)
            }
            // Scores of this kind counted, sent, read and finished: the time of each, and the bytes a sample.
            ["partial", kind, n, epochs] => {
                let columns = self.columns(Kind::of(kind)?, n.parse()?, epochs.parse()?);
                let plan = Plan::new().metrics(metrics![accuracy(), stderr()]);
                let start = Instant::now();
                let counted = Partial::of(columns, &plan)?.into_owned()?;
                let times = [start.elapsed()];
                let bytes = counted.to_bytes()?;
                let read = Partial::from_bytes(&bytes, &plan)?;
                let sent = start.elapsed();
                let results = black_box(read.finish()?);
                let finished = start.elapsed();
                let start = Instant::now();
                let receipt = Partial::of(columns, &plan)?.with_receipt("group")?;
                let stamped = start.elapsed();
                black_box(receipt);
                let samples = n.parse::<f64>()?;
                let [counted] = times;
                let parts = [counted, sent - counted, finished - sent, stamped];
                let mut figures: Vec<f64> = parts.map(|part| part.as_secs_f64() * 1e9 / samples).to_vec();
                figures.push(bytes.len() as f64 / samples);
                figures.extend(results.estimate("accuracy")?.number());
                Ok((finished, figures))
            }
            // Sides of this kind compared, with the first of them or `all` with each other, with 2,000 shared resamples.
            ["compare", kind, sides, n, pairs] => {
                let (kind, n) = (Kind::of(kind)?, n.parse()?);
                let sides: Vec<ScoreColumns> =
                    (0..sides.parse()?).map(|side| make(kind, n, 1, side)).collect();
                let cluster = if kind == Kind::Clustered { r#""cluster": "passage", "# } else { "" };
                let errors = format!(r#"{{{cluster}"draws": 2000}}"#).parse()?;
                let plan = Plan::new().metrics(metrics![mean(), stderr()]).errors(errors);
                let names: Vec<String> = (0..sides.len()).map(|at| format!("model {at}")).collect();
                let sides = names.iter().zip(&sides);
                let sides: Vec<_> =
                    sides.map(|(name, side)| ComparedScores::new(name, side, &plan)).collect();
                let mut options = ComparisonOptions::default();
                options.all_pairs = pairs == "all";
                options.correction = Some(Correction::Holm);
                let start = Instant::now();
                black_box(compare(&sides, &options)?);
                Ok((start.elapsed(), vec![]))
            }
            ["bytes", n] => {
                let columns = self.columns(Kind::Grades, n.parse()?, 1);
                Ok((Duration::ZERO, vec![columns.heap_bytes() as f64 / columns.len() as f64]))
            }
            ["forget"] => {
                self.made.clear();
                Ok((Duration::ZERO, vec![]))
            }
            _ => Err(format!("no such case: {words:?}").into()),
        }
    }

    fn columns(&mut self, kind: Kind, samples: usize, epochs: u32) -> &ScoreColumns {
        let key = (kind, samples, epochs);
        let at = match self.made.iter().position(|(made, _)| *made == key) {
            Some(at) => at,
            None => {
                self.made.push((key, make(kind, samples, epochs, 0)));
                self.made.len() - 1
            }
        };
        match self.made.get(at) {
            Some((_, columns)) => columns,
            None => unreachable!("pushed above"),
        }
    }
}

fn count() -> Metrics {
    metrics![metric_fn("count", |scores: &Scores<'_>| Ok(scores.len()))]
}

fn timed_results(columns: &ScoreColumns, plan: &Plan) -> Result<(Duration, Vec<f64>)> {
    let start = Instant::now();
    let results = black_box(plan.evaluate(black_box(columns))?).results;
    let time = start.elapsed();
    let mut figures = Vec::new();
    for metric in results.scores.iter().flat_map(|score| &score.metrics) {
        add_figures(&metric.value, &mut figures);
    }
    Ok((time, figures))
}

/// The numbers of a value, groups before their aggregate.
fn add_figures(value: &MetricValue, figures: &mut Vec<f64>) {
    match value {
        MetricValue::One(estimate) => figures.extend(estimate.number()),
        MetricValue::Groups(groups) => {
            groups.groups.iter().for_each(|group| add_figures(&group.value, figures));
            groups.all.iter().for_each(|all| add_figures(&all.value, figures));
        }
        MetricValue::Map(map) => figures.extend(map.values().flatten().filter_map(Estimate::number)),
        MetricValue::List(list) => figures.extend(list.iter().flatten().filter_map(Estimate::number)),
    }
}

/// Steele, Lea and Flood's mixer (SplitMix64) of a place: both sides compute it.
fn mix(place: u64) -> u64 {
    let mut z = place.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// The scores of a kind; those of another side of a comparison are others of the same samples.
fn make(kind: Kind, samples: usize, epochs: u32, side: u64) -> ScoreColumns {
    if kind == Kind::Clustered {
        return make_clustered(samples, epochs, side);
    }
    let mut columns = ScoreColumns::new(["s"]);
    for epoch in 1..=epochs {
        for sample in 0..samples {
            let place = u64::from(epoch - 1) * samples as u64 + sample as u64;
            let unit = (mix(place ^ side << 42) >> 11) as f64 / 2f64.powi(53);
            let score = match kind {
                Kind::Grades | Kind::Scattered => Score::new(if unit < 0.6 { "C" } else { "I" }),
                Kind::Binary => Score::new(if unit < 0.6 { 1.0 } else { 0.0 }),
                Kind::Continuous | Kind::Clustered => Score::new(unit),
            };
            let id = match kind {
                Kind::Scattered => format!("{:016x}", mix(sample as u64)),
                _ => format!("sample-{sample}"),
            };
            let row = columns.push(id, epoch);
            let row = row.metadata("category", format!("g{}", sample % 50));
            // The one scorer is declared and each row scored once, so this cannot fail.
            let _ = row.score("s", score);
        }
    }
    columns
}

/// Clusters of sizes that fall: the share of a cluster is that of a triangle.
fn make_clustered(samples: usize, clusters: u32, side: u64) -> ScoreColumns {
    let mut columns = ScoreColumns::new(["s"]);
    let unit = |place: u64| (mix(place) >> 11) as f64 / 2f64.powi(53);
    for sample in 0..samples as u64 {
        let passage = (unit(sample ^ (1 << 40)).sqrt() * f64::from(clusters)) as u64;
        let score = 0.5 * (unit(sample ^ side << 42) + unit(passage ^ (1 << 41)));
        let row = columns.push(format!("sample-{sample}"), 1).metadata("passage", passage);
        // The one scorer is declared and each row scored once, so this cannot fail.
        let _ = row.score("s", Score::new(score));
    }
    columns
}
