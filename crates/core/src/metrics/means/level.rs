//! Confidence levels.

/// The level of an interval for which none is given.
pub(super) const DEFAULT_LEVEL: f64 = 0.95;

/// What is wrong with a level.
pub(super) fn check_level(level: &f64) -> Result<(), String> {
    if *level > 0.0 && *level < 1.0 {
        return Ok(());
    }
    Err(format!("must lie between 0 and 1 (both excluded), found {level}; for 95 % write level=0.95"))
}
