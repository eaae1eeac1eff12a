//! Clusters of eight scores on average, equal or lognormal in size, that share their luck: simulated, with a fixed seed.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use errorbar_core::{ErrorPlan, ScoreKind, Summary};
use errorbar_stats::distributions::normal_quantile;
use errorbar_stats::random::Stream;

use super::{ends, holds, of_clusters};

/// Simulations of a cell at once.
const BATCH: usize = 4_000;
/// The most simulations of a cell. One that is far from its bounds takes fewer.
const MOST: usize = 32_000;
/// The mean size of clusters.
const SIZE: f64 = 8.0;

/// What scores are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Scores {
    /// Normal, with the interval t by CR2.
    Gaussian,
    /// Zeros and ones, this share of ones, with the interval of `auto`.
    Binary(f64),
}

/// A setting to simulate.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cell {
    pub(super) lognormal: bool,
    pub(super) clusters: usize,
    pub(super) icc: f64,
    pub(super) scores: Scores,
}

impl Cell {
    /// The lowest and the highest coverage that it may have; none if it is only printed.
    fn bounds(&self) -> Option<(f64, f64)> {
        match self.scores {
            Scores::Gaussian => Some((0.935, 0.98)),
            Scores::Binary(0.9) => None,
            Scores::Binary(_) if self.icc <= 0.2 => Some((0.935, 1.0)),
            Scores::Binary(_) => Some((0.925, 1.0)),
        }
    }

    /// Sizes are drawn anew in each simulation: 8·exp(z − ½), rounded, at least 1.
    fn size(&self, random: &mut Stream) -> u64 {
        match self.lognormal {
            true => (SIZE * (normal(random) - 0.5).exp()).round().max(1.0) as u64,
            false => SIZE as u64,
        }
    }

    /// One simulated set of scores.
    fn draw(&self, random: &mut Stream) -> Summary {
        let cluster = |_| {
            let n = self.size(random);
            match self.scores {
                // The sum of a cluster is all that its scores are needed for.
                Scores::Gaussian => {
                    let between = self.icc.sqrt() * normal(random);
                    vec![(between + ((1.0 - self.icc) / n as f64).sqrt() * normal(random), n)]
                }
                Scores::Binary(p) => {
                    let ones = urn(n, p, self.icc, random);
                    vec![(0.0, n - ones), (1.0, ones)]
                }
            }
        };
        let clusters: Vec<Vec<(f64, u64)>> = (0..self.clusters).map(cluster).collect();
        of_clusters(&clusters)
    }

    fn simulate(&self, seed: u64) -> Coverage {
        let mut plan = ErrorPlan::new();
        let (truth, whole) = match self.scores {
            Scores::Gaussian => {
                plan = r#"{"interval": "t"}"#.parse().unwrap();
                (0.0, ScoreKind::Unbounded)
            }
            Scores::Binary(p) => (p, ScoreKind::Binary),
        };
        let mut coverage = Coverage { held: 0, simulations: 0 };
        while coverage.simulations < MOST {
            for _ in 0..BATCH {
                let mut random = Stream::new(seed, 1, coverage.simulations as u64);
                coverage.held += usize::from(holds(ends(&self.draw(&mut random), &plan, whole), truth));
                coverage.simulations += 1;
            }
            let is_far = |bound: f64| (coverage.share() - bound).abs() > 4.0 * coverage.error();
            if self.bounds().is_none_or(|(low, high)| is_far(low) && is_far(high)) {
                break;
            }
        }
        coverage
    }
}

/// How many intervals hold the truth.
#[derive(Clone, Copy, Debug)]
pub(super) struct Coverage {
    held: usize,
    simulations: usize,
}

impl Coverage {
    pub(super) fn share(self) -> f64 {
        self.held as f64 / self.simulations as f64
    }

    fn error(self) -> f64 {
        (self.share() * (1.0 - self.share()) / self.simulations as f64).sqrt()
    }
}

fn uniform(random: &mut Stream) -> f64 {
    (f64::from(random.next_u32()) + 0.5) / 4_294_967_296.0
}

fn normal(random: &mut Stream) -> f64 {
    normal_quantile(uniform(random))
}

/// Ones among n scores of a cluster with this intraclass correlation: Pólya's urn, in which each score takes after those
/// before it, gives a beta-binomial number.
fn urn(n: u64, p: f64, icc: f64, random: &mut Stream) -> u64 {
    let (mut ones, mut all) = (0.0, 0.0);
    for _ in 0..n {
        // With a + b = 1/ICC − 1 balls at first.
        let chance = (p * (1.0 - icc) + icc * ones) / (1.0 - icc + icc * all);
        ones += f64::from(u8::from(uniform(random) < chance));
        all += 1.0;
    }
    ones as u64
}

pub(super) const SCORES: [Scores; 4] =
    [Scores::Gaussian, Scores::Binary(0.5), Scores::Binary(0.8), Scores::Binary(0.9)];

/// All cells, in the order of the table: a row of [`SCORES`] for each size, number of clusters and correlation.
pub(super) static CELLS: LazyLock<Vec<(Cell, Coverage)>> = LazyLock::new(|| {
    let mut cells = Vec::new();
    for lognormal in [false, true] {
        for clusters in [5, 10, 30] {
            for icc in [0.0, 0.2, 0.5] {
                cells.extend(SCORES.map(|scores| Cell { lognormal, clusters, icc, scores }));
            }
        }
    }
    let next = AtomicUsize::new(0);
    let work = || {
        let mut found = Vec::new();
        while let Some(at) = Some(next.fetch_add(1, Ordering::Relaxed)).filter(|at| *at < cells.len()) {
            found.push((at, cells[at].simulate(at as u64)));
        }
        found
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let mut found: Vec<(usize, Coverage)> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    });
    found.sort_by_key(|(at, _)| *at);
    found.into_iter().map(|(at, coverage)| (cells[at], coverage)).collect()
});

#[test]
fn clustered_intervals_cover_95_percent() {
    for (cell, coverage) in CELLS.iter() {
        if let Some((low, high)) = cell.bounds() {
            assert!((low..=high).contains(&coverage.share()), "{cell:?}: {coverage:?} {}", coverage.share());
        }
    }
}

/// x̄ ± 1.96·CR0, as textbooks have it, does much worse on the same scores, so they do need the care.
#[test]
fn the_textbook_does_not() {
    let cell = Cell { lognormal: true, clusters: 10, icc: 0.2, scores: Scores::Gaussian };
    let plan: ErrorPlan = r#"{"method": "CR0", "interval": "t"}"#.parse().unwrap();
    let mut held = 0;
    for simulation in 0..BATCH {
        let summary = cell.draw(&mut Stream::new(7, 1, simulation as u64));
        let stderr = summary.std_error(&plan).unwrap().se;
        held += usize::from(summary.mean().unwrap().abs() <= 1.96 * stderr);
    }
    let share = held as f64 / BATCH as f64;
    assert!((0.80..0.86).contains(&share), "{share}");
}
