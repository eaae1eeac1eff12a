//! `errorbar cache`: the cached answers of models.

mod clear;
mod list;

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use errorbar_eval::{Cache, CacheFolder};

use super::CommandResult;
use crate::output::Output;

#[derive(Debug, Args)]
pub(crate) struct CacheArgs {
    #[command(subcommand)]
    command: CacheCommand,
    /// The folder of the cache [default: the user's folder for caches]
    #[arg(long, global = true, value_name = "DIR", env = "ERRORBAR_CACHE_DIR")]
    cache_dir: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
enum CacheCommand {
    /// Print the folder of the cache
    Path,
    /// List the models with cached answers, and how many
    List(list::CacheListArgs),
    /// Remove answers: all, those of a model, those that are old
    Clear(clear::ClearArgs),
}

/// The folder of the cache: this one, or the user's.
pub(super) fn cache_folder(named: Option<&Path>) -> errorbar_eval::Result<PathBuf> {
    named.map_or_else(Cache::default_folder, |folder| Ok(Cache::folder_in(folder)))
}

pub(crate) fn run(args: &CacheArgs) -> CommandResult {
    let folder = CacheFolder::new(cache_folder(args.cache_dir.as_deref())?);
    match &args.command {
        CacheCommand::Path => {
            let path = folder.path().as_os_str().as_encoded_bytes();
            Ok(Output::Data([path, b"\n"].concat()).into())
        }
        CacheCommand::List(args) => list::run(args, &folder),
        CacheCommand::Clear(args) => clear::run(args, &folder),
    }
}
