//! The wealth of a gambler who bets that the mean is above a candidate.
//!
//! Scores y₁, y₂, … in [0, 1] are drawn without replacement from N, whose mean is m. Given the first t − 1 of them, the
//! next has the mean μ = (N·m − Σy)/(N − t + 1), so that 1 + λ·(y − μ) is on average 1 for every stake λ that the past
//! decides, and the product of such factors is a fair game. By Ville's inequality, a fair game that never goes below 0
//! multiplies the first stake by 1/α with a probability of at most α, ever. Hence a test that rejects the candidates m at which
//! it does rejects the truth with a probability of at most α, however often it looks (Waudby-Smith & Ramdas, "Estimating
//! means of bounded random variables by betting", JRSS B 86, 2024).
//!
//! The stakes are a mixture: an equal part of the money is on each of a few constant λ, between what suits a few scores
//! and what suits all N. The paper's plug-in stakes needed half as many scores again for a width of a tenth where half are
//! right, and about as many or slightly fewer where few are; and stakes
//! that depend on the candidate may reject a set with holes. These do not: every factor falls as m rises, so the candidates
//! that are not rejected are all those above a bound, which bisection finds.

/// The largest stake; it suits a dozen scores.
const LARGEST: f64 = 2.0;
/// The smallest stake is this over √N: the best one for about N/2 scores of the largest variance.
const SMALLEST: f64 = 6.5;
/// The most stakes.
const MOST: usize = 16;
/// The largest part of the money that a score of 0 may cost.
const AT_RISK: f64 = 0.75;
/// Less money than this is none: it could not come back in any number of scores that fits into memory.
const NOTHING: f64 = 1e-250;
/// By how much sums of scores may be off because of rounding.
const ROUNDING: f64 = 1e-9;

/// How the money is put.
#[derive(Clone, Debug)]
pub(super) struct Stakes {
    /// N.
    population: f64,
    lambdas: Vec<f64>,
    /// What rejects a candidate: the number of stakes over α.
    goal: f64,
}

impl Stakes {
    /// Those for a benchmark of this size, to reject the truth with a probability of at most `alpha`.
    pub(super) fn new(population: u64, alpha: f64) -> Self {
        let smallest = SMALLEST / (population as f64).sqrt();
        let halves = std::iter::successors(Some(LARGEST), |lambda| Some(lambda / 2.0));
        let lambdas: Vec<f64> = halves
            .take(MOST)
            .enumerate()
            .take_while(|(at, l)| *at == 0 || *l >= smallest)
            .map(|(_, l)| l)
            .collect();
        let goal = lambdas.len() as f64 / alpha;
        Stakes { population: population as f64, lambdas, goal }
    }
}

/// The wealth at one candidate.
#[derive(Clone, Debug)]
pub(super) struct Wealth {
    pub(super) candidate: f64,
    /// The number of scores, and their sum.
    taken: f64,
    sum: f64,
    /// What each stake has come to.
    parts: Vec<f64>,
    pub(super) is_rejected: bool,
}

impl Wealth {
    pub(super) fn new(candidate: f64, stakes: &Stakes) -> Self {
        let parts = vec![1.0; stakes.lambdas.len()];
        Wealth { candidate, taken: 0.0, sum: 0.0, parts, is_rejected: false }
    }

    /// The wealth after these scores, or when it has rejected the candidate.
    pub(super) fn after(scores: &[f64], candidate: f64, stakes: &Stakes) -> Self {
        let mut wealth = Wealth::new(candidate, stakes);
        for score in scores {
            wealth.take(*score, stakes);
            if wealth.is_rejected {
                break;
            }
        }
        wealth
    }

    /// Takes in the next score. What is rejected stays so.
    pub(super) fn take(&mut self, score: f64, stakes: &Stakes) {
        if self.is_rejected {
            return;
        }
        let rest = stakes.population * self.candidate - self.sum;
        let mean = rest.max(0.0) / (stakes.population - self.taken);
        self.taken += 1.0;
        self.sum += score;
        // The scores so far add up to more than all of them should.
        if rest < -ROUNDING || rest <= 0.0 && score > ROUNDING {
            self.is_rejected = true;
            return;
        }
        if mean <= 0.0 {
            return;
        }
        let all_in = 1.0 + AT_RISK * (score / mean - 1.0);
        let mut wealth = 0.0;
        for (part, lambda) in self.parts.iter_mut().zip(&stakes.lambdas) {
            if *part < NOTHING {
                continue;
            }
            *part *= if lambda * mean < AT_RISK { 1.0 + lambda * (score - mean) } else { all_in };
            wealth += *part;
        }
        self.is_rejected = wealth >= stakes.goal;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stakes_suit_the_size_of_the_benchmark() {
        let lambdas = |population| Stakes::new(population, 0.025).lambdas;
        assert_eq!(lambdas(1), [2.0]);
        assert_eq!(lambdas(100), [2.0, 1.0]);
        assert_eq!(lambdas(1000), [2.0, 1.0, 0.5, 0.25]);
        assert_eq!(lambdas(100_000).len(), 7);
        assert_eq!(lambdas(u64::MAX).len(), MOST);
    }

    /// The game is fair: over all orders of a benchmark, the wealth at the true mean is 1 per stake on average at every
    /// time.
    #[test]
    fn the_game_is_fair_at_the_truth() {
        let scores = [0.0, 0.25, 1.0, 0.5, 1.0];
        let stakes = Stakes { population: 5.0, lambdas: vec![2.0, 0.5], goal: f64::INFINITY };
        for length in 1..=5 {
            let (mut sum, mut orders) = (0.0, 0.0);
            for code in 0..5_usize.pow(length) {
                let order: Vec<usize> = (0..length).map(|at| code / 5_usize.pow(at) % 5).collect();
                let is_order = (0..order.len()).all(|at| !order[..at].contains(&order[at]));
                if !is_order {
                    continue;
                }
                let drawn: Vec<f64> = order.iter().map(|at| scores[*at]).collect();
                sum += Wealth::after(&drawn, 0.55, &stakes).parts.iter().sum::<f64>();
                orders += 1.0;
            }
            assert!((sum / orders - 2.0).abs() < 1e-12, "after {length}: {}", sum / orders);
        }
    }

    #[test]
    fn what_the_sum_excludes_is_rejected_and_the_truth_is_not() {
        let stakes = Stakes::new(4, 0.025);
        // 0.7 and 0.1 of four: the mean is at least 0.2.
        let scores = [0.7, 0.1, 0.0, 0.0];
        assert!(Wealth::after(&scores, 0.199, &stakes).is_rejected);
        assert!(!Wealth::after(&scores, (0.7 + 0.1) / 4.0, &stakes).is_rejected);
        assert!(!Wealth::after(&scores, 0.3, &stakes).is_rejected);
    }
}
