//! Which interval fits: the one place where `auto` decides.

use super::independent::{FEW, MAX_DISTINCT};
use super::methods::wilson::{effective_n, is_plain};
use super::methods::{DrawSource, IntervalInput, binomial, bootstrap, interval as by};
use super::{Defined, Draws, Estimate, Interval, Undefined};
use crate::error_plan::{IntervalChoice, IntervalMethod, IntervalSide};
use crate::random::Random;

/// From this skewness on, Student's t misses too often on one side when scores are few.
const SKEWED: f64 = 1.0;

/// The estimate: value, error, interval and notes.
pub(super) fn estimate(input: &IntervalInput<'_>, random: &Random) -> Estimate {
    let mut estimate = Estimate::new(input.mean).with_n(input.n);
    estimate.error = input.error.clone();
    let decision = match input.plan.interval {
        IntervalChoice::Auto => choose(input, random),
        IntervalChoice::Method(method) => requested(input, method, random),
    };
    if let Ok(interval) = &decision.interval {
        if is_random(input, interval.method) {
            estimate.draws = Some(Draws { seed: input.seed, count: u64::from(input.plan.draws()) });
        }
        estimate.notes.effective_n = effective_n_of(input, interval.method);
    }
    // An interval that does not exist has its own reason.
    estimate.notes.reason = decision.reason.filter(|_| decision.interval.is_ok());
    estimate.notes.is_caution = decision.is_caution && estimate.notes.reason.is_some();
    estimate.interval = decision.interval;
    estimate
}

/// The number of independent scores that an interval of a share is computed from, unless that is n.
fn effective_n_of(input: &IntervalInput<'_>, method: IntervalMethod) -> Option<f64> {
    if is_plain(input) && input.sampled == 0.0 {
        return None;
    }
    match method {
        IntervalMethod::Wilson => effective_n(input).ok(),
        IntervalMethod::ModifiedWilson
        | IntervalMethod::ClopperPearson
        | IntervalMethod::Jeffreys
        | IntervalMethod::Beta(_) => binomial::effective_n(input, method),
        _ => None,
    }
}

/// The rule of three: if none of n scores is 1, the upper 95 % bound 1 − 0.05^(1/n) is about 3/n; and the same for 0. It is
/// the bound of Clopper and Pearson, for independent zeros and ones. Scores of a cluster may be equal for one reason, so that
/// with clusters n is their number.
fn rule_of_three(input: &IntervalInput<'_>) -> Option<String> {
    let (absent, bound) = match (input.plan.side(), input.mean) {
        (IntervalSide::Upper, 0.0) => (1, "at most"),
        (IntervalSide::Lower, 1.0) => (0, "at least 1 −"),
        _ => return None,
    };
    let is_clustered = input.error.as_ref().is_ok_and(|error| !error.clusters.is_empty());
    if !(input.is_binary() && (input.independent || is_clustered) && input.sampled == 0.0) {
        return None;
    }
    // −ln 0.05 = 2.996 is the three of the rule.
    let three = -libm::log1p(-input.plan.level());
    let n = input.units();
    let (scores, share) = (if is_clustered { "clusters" } else { "scores" }, three / n as f64);
    Some(format!(
        "rule of three: no {absent} among {n} {scores}, so {bound} about {three:.1}/{n} = {share:.2}"
    ))
}

/// Whether the interval of a method depends on the seed.
fn is_random(input: &IntervalInput<'_>, method: IntervalMethod) -> bool {
    match method {
        IntervalMethod::Wild(weights) => bootstrap::is_wild_drawn(input, weights),
        method => method.is_drawn(),
    }
}

/// An interval, and why it is this one.
struct IntervalDecision {
    interval: Defined<Interval>,
    reason: Option<String>,
    /// Whether it is not the one that was wanted.
    is_caution: bool,
}

impl IntervalDecision {
    /// The one that fits.
    fn new(input: &IntervalInput<'_>, method: IntervalMethod, reason: String) -> Self {
        let reason = Some(format!("auto: {method} {reason}"));
        IntervalDecision { interval: by(input, method), reason, is_caution: false }
    }

    /// The next best one.
    fn instead(input: &IntervalInput<'_>, method: IntervalMethod, reason: String) -> Self {
        IntervalDecision { is_caution: true, ..IntervalDecision::new(input, method, reason) }
    }
}

/// The interval that fits the scores.
fn choose(input: &IntervalInput<'_>, random: &Random) -> IntervalDecision {
    let range = input.range();
    if let Some(rule) = rule_of_three(input) {
        return IntervalDecision::new(input, IntervalMethod::ClopperPearson, format!("({rule})"));
    }
    if range.is_ok() {
        let why = match (is_plain(input), effective_n(input)) {
            (true, Ok(n)) if input.sampled > 0.0 => format!("(0/1 scores, on effective n {n:.1})"),
            (true, _) => "(0/1 scores)".to_owned(),
            (false, Ok(n)) => format!("on effective n {n:.1}"),
            (false, Err(_)) => "(range known)".to_owned(),
        };
        return IntervalDecision::new(input, IntervalMethod::Wilson, why);
    }
    let why = range.err().unwrap_or_default();
    let skewed = match &input.sample {
        DrawSource::Scores(plain) if input.n < FEW => plain.skewness().is_some_and(|g| g.abs() > SKEWED),
        _ => false,
    };
    if !skewed {
        let is_caution = input.plan.range.is_some();
        return IntervalDecision {
            is_caution,
            ..IntervalDecision::new(input, IntervalMethod::T, format!("({why})"))
        };
    }
    if !random.allows_draws(u64::from(input.plan.draws()), input.n) {
        let why = format!("({why}; skewed, but too many draws for bootstrap_t)");
        return IntervalDecision::instead(input, IntervalMethod::T, why);
    }
    // A range that was given and does not hold is to be known, whichever interval takes its place.
    let is_caution = input.plan.range.is_some();
    let skewed = format!("skewed, n < {FEW}");
    let reason = if is_caution { format!("({why}; {skewed})") } else { format!("({skewed})") };
    let decision = IntervalDecision::new(input, IntervalMethod::BootstrapT, reason);
    let decision = IntervalDecision { is_caution, ..decision };
    match decision.interval {
        Err(Undefined::Other(problem)) => {
            IntervalDecision::instead(input, IntervalMethod::T, format!("({why}; skewed, but {problem})"))
        }
        _ => decision,
    }
}

/// The interval that the plan names.
fn requested(input: &IntervalInput<'_>, name: IntervalMethod, random: &Random) -> IntervalDecision {
    if !name.is_resampled() {
        let reason = rule_of_three(input).filter(|_| name == IntervalMethod::ClopperPearson);
        return IntervalDecision { interval: by(input, name), reason, is_caution: false };
    }
    match &input.sample {
        // With this many scores the two are the same.
        DrawSource::Scores(plain) if plain.values.is_none() => {
            let reason = format!("t in place of {name}: more than {MAX_DISTINCT} distinct scores");
            let interval = by(input, IntervalMethod::T);
            return IntervalDecision { interval, reason: Some(reason), is_caution: true };
        }
        DrawSource::None => {
            let decision = choose(input, random);
            let reason = decision.reason.map(|reason| format!("nothing to resample; {reason}"));
            return IntervalDecision { reason, is_caution: true, ..decision };
        }
        _ if matches!(name, IntervalMethod::Wild(_)) && input.units() > bootstrap::MAX_WILD_CLUSTERS => {
            let reason = format!(
                "t in place of {name}: more than {} samples or clusters",
                bootstrap::MAX_WILD_CLUSTERS
            );
            let interval = by(input, IntervalMethod::T);
            return IntervalDecision { interval, reason: Some(reason), is_caution: true };
        }
        _ => {}
    }
    let draws = input.plan.draws() as usize;
    let interval = input.spread().and_then(|_| {
        if is_random(input, name) {
            let cost = match name {
                IntervalMethod::Wild(_) => bootstrap::wild_cost(input),
                _ => input.units(),
            };
            random.check_draws(draws as u64, cost).map_err(Undefined::Other)?;
        }
        by(input, name)
    });
    IntervalDecision { interval, reason: None, is_caution: false }
}
