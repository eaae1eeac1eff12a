//! Options of commands that read tables.

use clap::Args;
use errorbar_log::{TableLimits, TableOptions};

use super::common::parse_bytes;

/// How tables are read, which may be hostile.
#[derive(Debug, Args)]
#[command(next_help_heading = "Reading tables")]
pub(super) struct TableArgs {
    /// The column of a table that identifies the samples; may be repeated, and of each table the first that it
    /// has is taken
    #[arg(long = "id", value_name = "COLUMN", default_value = "id")]
    id_columns: Vec<String>,
    /// The maximum length of a line of a table; for Parquet, the maximum decompressed size of a page
    #[arg(long, value_name = "SIZE", default_value = "64M", value_parser = parse_bytes)]
    max_line: u64,
    /// The maximum number of columns of a table
    #[arg(long, value_name = "N", default_value_t = TableLimits::default().max_columns)]
    max_columns: usize,
}

impl TableArgs {
    /// The columns of ids and the limits, with that of memory, which logs have too.
    pub(super) fn options(&self, max_memory: Option<u64>) -> TableOptions {
        let mut limits = TableLimits::default();
        (limits.max_line, limits.max_columns, limits.max_memory) =
            (self.max_line, self.max_columns, max_memory);
        TableOptions::new().id_columns(&self.id_columns).limits(limits)
    }
}
