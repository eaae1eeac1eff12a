//! Confidence levels.

use crate::args::Args;
use crate::error::{Error, Result};

/// The level of an interval that says nothing else.
pub(super) const DEFAULT_LEVEL: f64 = 0.95;

/// A level argument, checked.
pub(super) fn level_arg(args: &Args<'_>) -> Result<Option<f64>> {
    let level: Option<f64> = args.get("level")?;
    match level {
        Some(level) if !in_range(level) => Err(args.error("level", problem(level))),
        level => Ok(level),
    }
}

/// The same check for a level given to a builder, when it is used.
pub(super) fn checked(metric: &str, level: Option<f64>) -> Result<f64> {
    let level = level.unwrap_or(DEFAULT_LEVEL);
    if in_range(level) {
        Ok(level)
    } else {
        Err(Error::Argument {
            target: metric.to_owned(),
            argument: "level".to_owned(),
            problem: problem(level),
        })
    }
}

fn in_range(level: f64) -> bool {
    level > 0.0 && level < 1.0
}

fn problem(level: f64) -> String {
    format!("must lie between 0 and 1 (both excluded), found {level}; for 95 % write level=0.95")
}
