//! The pages of logs, made as `errorbar report` makes them.

use std::path::PathBuf;

use errorbar_core::Registry;
use errorbar_view::{PageError, ReportPages};

use super::super::Context;

/// Makes report pages of logs.
pub(super) struct LogPages {
    registry: Registry,
    program: String,
}

impl LogPages {
    pub(super) fn new(context: &Context<'_>) -> Self {
        LogPages { registry: context.registry.clone(), program: context.program.to_owned() }
    }
}

impl ReportPages for LogPages {
    fn page(&self, logs: &[PathBuf]) -> Result<String, PageError> {
        let _ = (&self.registry, &self.program);
        Err(PageError::Unusable(format!("{} logs", logs.len())))
    }
}
