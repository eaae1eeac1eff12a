//! The random order in which the samples of a run are taken.

use crate::random::Stream;
use crate::random::purpose::SAMPLE_ORDER;

/// The numbers below `count` in a random order; the same for ever for a seed.
///
/// ```
/// use errorbar_stats::sequential::random_order;
/// assert_eq!(random_order(6, 0), random_order(6, 0));
/// assert_ne!(random_order(6, 0), random_order(6, 1));
/// ```
pub fn random_order(count: u32, seed: u64) -> Vec<u32> {
    let mut order: Vec<u32> = (0..count).collect();
    let mut stream = Stream::new(seed, SAMPLE_ORDER, 0);
    // Fisher and Yates, from the end.
    for last in (1..count).rev() {
        let other = below(u64::from(last) + 1, &mut stream);
        order.swap(last as usize, other as usize);
    }
    order
}

/// A number below a bound of at most 2³², each equally likely (Lemire 2019).
fn below(bound: u64, stream: &mut Stream) -> u64 {
    let unfair = (1 << 32) % bound;
    loop {
        let product = u64::from(stream.next_u32()) * bound;
        if product & 0xFFFF_FFFF >= unfair {
            return product >> 32;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_order_is_as_likely() {
        let mut counts = [0_u32; 24];
        for seed in 0..24_000 {
            let order = random_order(4, seed);
            let mut rest: Vec<u32> = (0..4).collect();
            let mut code = 0;
            for number in order {
                let at = rest.iter().position(|other| *other == number).unwrap();
                rest.remove(at);
                code = code * (rest.len() + 1) + at;
            }
            counts[code] += 1;
        }
        // χ² with 23 degrees of freedom: its 99.9 % quantile is 49.7.
        let chi: f64 = counts.iter().map(|count| (f64::from(*count) - 1000.0).powi(2) / 1000.0).sum();
        assert!(chi < 49.7, "{chi}: {counts:?}");
    }

    /// Logs record the seed, so an order must never change.
    #[test]
    fn orders_are_for_ever() {
        assert!(random_order(0, 7).is_empty());
        assert_eq!(random_order(1, 7), [0]);
        assert_eq!(random_order(10, 7), [0, 1, 4, 8, 3, 9, 5, 2, 7, 6]);
    }
}
