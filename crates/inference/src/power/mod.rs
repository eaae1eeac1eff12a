//! How many samples does it take, and what can these samples show?
//!
//! A [`PowerPlan`] says what is measured and how it varies; of samples, difference and power it computes the third from
//! the other two. What varies comes from the user, or from scores that there are already ([`PilotScores`]).

mod methods;
mod pilot;
mod plan;
mod spread;

pub(crate) use methods::detectable_difference;
pub use pilot::{PilotScores, PilotSide};
pub use plan::{PowerDesign, PowerMethod, PowerPlan, least_samples};
pub use spread::{Flips, PowerError, ScoreSpread};
