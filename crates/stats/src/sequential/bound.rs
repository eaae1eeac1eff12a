//! The lower bound of a mean, after each score.

use super::wealth::{Stakes, Wealth};

/// How fine the running bound is: this part of its distance to the mean so far.
const STEPS: f64 = 200.0;
/// The finest step.
const FINEST: f64 = 1e-9;
/// The bisections of the exact bound: 2⁻⁴⁴ of the range, which is beyond what anyone reads.
const BISECTIONS: usize = 44;

/// The lower bound of the mean of N scores in [0, 1], of which some have been drawn.
///
/// The bound of all times so far is the highest candidate that was ever rejected. Following it exactly after each score
/// would take a bisection over all scores each time. A wealth that is a small step above the bound takes a few products;
/// only if it is rejected too has the bound moved, and the next one is computed from all scores. That happens
/// about 70 times while the number of scores doubles, so that N looks take O(N) in all. The bound is too low
/// by a step at most, which is never invalid.
#[derive(Clone, Debug)]
pub(super) struct LowerBound {
    stakes: Stakes,
    population: f64,
    scores: Vec<f64>,
    sum: f64,
    /// The highest candidate that is known to be rejected.
    floor: f64,
    step: f64,
    probe: Wealth,
    /// Candidates that are looked at exactly.
    watched: Vec<Wealth>,
}

impl LowerBound {
    pub(super) fn new(population: u64, alpha: f64) -> Self {
        let stakes = Stakes::new(population, alpha);
        let step = 1.0 / STEPS;
        let probe = Wealth::new(step, &stakes);
        let population = population as f64;
        LowerBound {
            stakes,
            population,
            scores: Vec::new(),
            sum: 0.0,
            floor: 0.0,
            step,
            probe,
            watched: Vec::new(),
        }
    }

    /// Looks at a candidate exactly: the bound is above it as soon as it is rejected.
    pub(super) fn watch(&mut self, candidate: f64) {
        self.watched.push(Wealth::after(&self.scores, candidate, &self.stakes));
    }

    /// Takes in the next score.
    pub(super) fn push(&mut self, score: f64) {
        self.scores.push(score);
        self.sum += score;
        for wealth in &mut self.watched {
            wealth.take(score, &self.stakes);
            if wealth.is_rejected {
                self.floor = self.floor.max(wealth.candidate);
            }
        }
        self.probe.take(score, &self.stakes);
        // What the scores so far add up to is a bound for certain.
        self.floor = self.floor.max(self.certain());
        while self.probe.is_rejected || self.probe.candidate <= self.floor {
            if self.probe.is_rejected {
                self.floor = self.floor.max(self.probe.candidate);
            }
            if self.floor >= 1.0 {
                return;
            }
            self.move_probe();
        }
        // As the bound comes closer to the mean, steps must become smaller.
        if self.step > 2.0 * self.wanted_step() {
            self.move_probe();
        }
    }

    /// Whether the mean is above a candidate that is watched. What the scores so far add up to is a bound, but one that the mean
    /// may have; only a bound beyond it, and beyond the rounding of a sum, excludes it.
    pub(super) fn excludes(&self, candidate: f64) -> bool {
        let is_rejected = |wealth: &Wealth| wealth.candidate == candidate && wealth.is_rejected;
        self.watched.iter().any(is_rejected) || self.floor > candidate + FINEST
    }

    fn certain(&self) -> f64 {
        (self.sum / self.population).min(1.0)
    }

    fn wanted_step(&self) -> f64 {
        let mean = self.sum / (self.scores.len().max(1) as f64);
        ((mean - self.floor) / STEPS).max(FINEST)
    }

    fn move_probe(&mut self) {
        self.step = self.wanted_step();
        self.probe = Wealth::after(&self.scores, self.floor + self.step, &self.stakes);
    }

    /// The bound, too low by a step at most.
    pub(super) fn running(&self) -> f64 {
        self.floor
    }

    /// The bound.
    pub(super) fn exact(&self) -> f64 {
        let (mut rejected, mut open) = (self.certain(), 1.0);
        for _ in 0..BISECTIONS {
            let middle = rejected + (open - rejected) / 2.0;
            if Wealth::after(&self.scores, middle, &self.stakes).is_rejected {
                rejected = middle;
            } else {
                open = middle;
            }
        }
        rejected
    }
}
