//! `errorbar cache`: which answers of models are kept, and which ones go.

mod clear;
mod list;

use std::path::PathBuf;

use clap::{Args, Subcommand};
use errorbar_eval::{Cache, CacheFolder};

use super::common::GlobalArgs;
use super::diagnostics::Diagnostics;
use super::{Status, output};

#[derive(Debug, Args)]
pub(crate) struct CacheArgs {
    #[command(subcommand)]
    verb: CacheCommand,
    #[command(flatten)]
    place: CacheDirArgs,
}

#[derive(Debug, Subcommand)]
enum CacheCommand {
    /// Print the folder that answers are kept in
    Path,
    /// List how many answers of which models are kept
    List(list::CacheListArgs),
    /// Remove answers: all, those of a model, those that are old
    Clear(clear::ClearArgs),
}

/// Where answers are kept.
#[derive(Debug, Args)]
pub(crate) struct CacheDirArgs {
    /// The folder of the cache [default: the user's folder for caches]
    #[arg(long, global = true, value_name = "DIR", env = "ERRORBAR_CACHE_DIR")]
    cache_dir: Option<PathBuf>,
}

impl CacheDirArgs {
    /// The folder that answers are kept in.
    pub(crate) fn folder(&self) -> errorbar_eval::Result<PathBuf> {
        match &self.cache_dir {
            Some(folder) => Ok(Cache::folder_in(folder)),
            None => Cache::default_folder(),
        }
    }
}

pub(crate) fn run(args: &CacheArgs, global: &GlobalArgs) -> anyhow::Result<Status> {
    let mut diagnostics = Diagnostics::new(global.quiet);
    match args.place.folder().map(CacheFolder::new) {
        Ok(folder) => match &args.verb {
            CacheCommand::Path => {
                output::print(&[folder.path().as_os_str().as_encoded_bytes(), b"\n"].concat())?
            }
            CacheCommand::List(args) => list::run(args, &folder, &mut diagnostics)?,
            CacheCommand::Clear(args) => clear::run(args, &folder, &mut diagnostics),
        },
        Err(error) => diagnostics.error(error.to_string(), None),
    }
    Ok(diagnostics.print())
}

/// `1 answer`, `2 answers`.
fn count(answers: u64) -> String {
    format!("{answers} {}", if answers == 1 { "answer" } else { "answers" })
}
