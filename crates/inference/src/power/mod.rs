//! How many samples does it take, and what can these samples show?
//!
//! A [`PowerPlan`] says what is measured and how it varies; of samples, difference and power it computes the third from
//! the other two. What varies comes from the user, or from scores that there are already ([`PilotScores`]).

mod clusters;
mod error;
mod flips;
mod mcnemar;
mod pilot;
mod plan;
mod shares;
mod spread;
mod t_test;

pub use error::PowerError;
pub use flips::Flips;
pub use pilot::{PilotScores, PilotSide};
pub use plan::{PowerDesign, PowerMethod, PowerPlan};
pub use spread::ScoreSpread;
pub(crate) use t_test::detectable_difference;
