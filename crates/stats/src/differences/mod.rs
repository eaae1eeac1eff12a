//! Intervals and tests for the difference of two samples: paired and unpaired, means and shares.

mod bonett_price;
mod mcnemar;
mod newcombe;
mod sign_flip;
mod tost;
mod welch;

pub use bonett_price::{bonett_price, bonett_price_centre, bonett_price_of};
pub use mcnemar::{mcnemar_exact, mcnemar_mid_p};
pub use newcombe::{
    EffectiveShare, Share, ShareDifference, WilsonReach, newcombe, newcombe_p_value, newcombe_tost,
};
pub use sign_flip::sign_flip_exact;
pub use tost::tost_p_value;
pub use welch::{MeanError, Welch, satterthwaite, two_sided};
