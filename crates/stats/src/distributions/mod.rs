//! Distribution functions, tails and quantiles, with the accuracy that the crate's README states.

mod beta;
mod binomial;
mod gamma;
mod incomplete_beta;
mod noncentral_t;
mod normal;
mod student_t;

pub use beta::{beta_cdf, beta_quantile, beta_survival, beta_survival_quantile};
pub use binomial::{binomial_cdf, binomial_pmf, binomial_survival};
pub use gamma::{ln_choose, ln_gamma};
pub use noncentral_t::noncentral_t_cdf;
pub use normal::{normal_cdf, normal_quantile, normal_survival};
pub use student_t::{t_cdf, t_quantile, t_survival};
