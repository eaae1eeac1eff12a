//! Tables that are no files, by name.

use std::path::Path;
#[cfg(feature = "arrow")]
use std::{collections::HashMap, path::PathBuf, sync::Arc};

#[cfg(feature = "arrow")]
use super::arrow::ArrowTable;
use super::input::TableInput;

/// Tables in memory, by the names that they have in place of a path. Without the feature `arrow` there are none.
#[derive(Clone, Debug, Default)]
pub struct MemoryTables {
    #[cfg(feature = "arrow")]
    tables: Arc<HashMap<PathBuf, Arc<ArrowTable>>>,
}

impl MemoryTables {
    /// Whether this is the name of one.
    pub fn contains(&self, name: &Path) -> bool {
        #[cfg(feature = "arrow")]
        return self.tables.contains_key(name);
        #[cfg(not(feature = "arrow"))]
        {
            let _ = name;
            false
        }
    }

    /// The table of this name.
    pub(super) fn open(&self, name: &Path) -> Option<TableInput> {
        #[cfg(feature = "arrow")]
        return self.tables.get(name).cloned().map(TableInput::of_arrow);
        #[cfg(not(feature = "arrow"))]
        {
            let _ = name;
            None
        }
    }
}

#[cfg(feature = "arrow")]
impl<N: Into<PathBuf>> FromIterator<(N, ArrowTable)> for MemoryTables {
    fn from_iter<T: IntoIterator<Item = (N, ArrowTable)>>(tables: T) -> Self {
        let named = tables.into_iter().map(|(name, table)| (name.into(), Arc::new(table)));
        MemoryTables { tables: Arc::new(named.collect()) }
    }
}
