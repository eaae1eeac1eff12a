//! The order of samples and of their choices, which a seed alone decides.

use errorbar_stats::random::Stream;

use crate::text::{choice_label, choice_places};
use crate::{Sample, Target, Targets};

/// Fisher and Yates, with the bits of (seed, stream).
pub(crate) fn shuffle<T>(items: &mut [T], seed: u64, stream: u64) {
    let mut random = Stream::new(seed, SHUFFLE, stream);
    for last in (1..items.len()).rev() {
        let at = below(&mut random, last as u64 + 1);
        items.swap(last, at as usize);
    }
}

/// What sets the draws of a shuffle apart from those of a bootstrap with the same seed.
const SHUFFLE: u32 = 0x5348_5546;

/// A number below `bound`, each equally likely: draws that would favour the small ones are thrown away.
fn below(random: &mut Stream, bound: u64) -> u64 {
    let fair = u64::MAX - u64::MAX % bound;
    loop {
        let draw = random.next_u64();
        if draw < fair {
            return draw % bound;
        }
    }
}

pub(super) fn with_shuffled_choices(sample: &Sample, seed: u64, stream: u64) -> Result<Sample, String> {
    let mut order: Vec<usize> = (0..sample.choices.len()).collect();
    shuffle(&mut order, seed, stream);
    let choices = order.iter().filter_map(|at| sample.choices.get(*at)).cloned().collect();
    // Where each choice has gone.
    let mut places = vec![0; order.len()];
    for (to, from) in order.iter().enumerate() {
        if let Some(place) = places.get_mut(*from) {
            *place = to;
        }
    }
    let moved = |target: &String| {
        if sample.choices.is_empty() {
            return Ok(target.clone());
        }
        let from = choice_places(&[target], order.len()).map_err(|error| error.to_string())?;
        let labels = from.iter().filter_map(|from| places.get(*from)).map(|to| choice_label(*to));
        Ok(labels.collect::<Vec<_>>().join(","))
    };
    let target = match sample.target.targets() {
        Targets::One(target) => Target::from(moved(target)?),
        Targets::Many(targets) => {
            Target::from(targets.iter().map(moved).collect::<Result<Vec<_>, String>>()?)
        }
    };
    Ok(Sample { choices, target, ..sample.clone() })
}
