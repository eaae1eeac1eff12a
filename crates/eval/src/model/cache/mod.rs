//! Answers that were given before, on disk: the same request of the same model is not paid for twice.
//!
//! Each answer has its own file, named by a hash of the request. A file appears by a rename, when it is whole, so
//! any number of processes and threads read and write at once without a lock; the last one wins. A file holds the
//! request as well, and answers nothing else. A database in one file was rejected: those in pure Rust admit one
//! process at a time. How long answers are valid is up to the reader, so it is no part of their names.
//!
//! Everything here blocks on the disk: async callers go through `spawn_blocking`.

mod folder;
mod key;

use std::borrow::Cow;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

use errorbar_log::eval::Wire;
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::{Model, Request};
use crate::{Error, ModelOutput, Result};

pub use folder::{CacheFolder, CacheRemoval, CachedAnswer, ModelAnswers};
pub use key::CacheKey;

/// The version of the files.
const VERSION: u32 = 1;

/// The largest file that is an answer.
const MAX_BYTES: u64 = 64 << 20;

/// Answers that were given before, in a folder.
///
/// ```
/// use errorbar_eval::{Cache, GenerateConfig, Message, Mock, ModelOutput, Request};
/// # let temporary = tempfile::tempdir()?;
/// # let folder = temporary.path().join("answers");
/// let cache = Cache::open(folder, None)?;
/// let (model, messages) = (Mock::new("hello")?, [Message::user("Hi!")]);
/// let (sample_id, config) = (1.into(), GenerateConfig::default());
/// let request = Request { sample_id: &sample_id, epoch: 1, call: 0, repeat: 0, messages: &messages, config: &config };
/// let key = Cache::key(&model, &request);
/// assert_eq!(cache.get(&key), None);
/// let answer = ModelOutput::from_text("mock/hello", "hello");
/// cache.put(&key, &answer)?;
/// assert_eq!(cache.get(&key), Some(answer));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Cache {
    folder: CacheFolder,
    expiry: Option<Duration>,
}

/// A file of the cache.
#[derive(Serialize, Deserialize)]
struct CacheEntry<'a, Output> {
    version: u32,
    created: Cow<'a, str>,
    model: Cow<'a, str>,
    request: Cow<'a, Json>,
    output: Output,
}

impl Cache {
    /// Opens a folder, which is made if it is not there. Answers older than `expiry` are not given; without one
    /// they never expire.
    ///
    /// # Errors
    /// A folder that cannot be made.
    pub fn open(folder: PathBuf, expiry: Option<Duration>) -> Result<Self> {
        folder::create_private_folder(&folder).map_err(|error| unusable(&folder, &error))?;
        Ok(Cache { folder: CacheFolder::new(folder), expiry })
    }

    /// Opens the [default folder](Cache::default_folder). One that an older version made for everybody to read is closed
    /// to others: it was not shared on purpose, and questions and answers may be confidential.
    ///
    /// # Errors
    /// A folder that cannot be made or closed.
    pub fn open_default(expiry: Option<Duration>) -> Result<Self> {
        let cache = Cache::open(Cache::default_folder()?, expiry)?;
        let path = cache.folder.path();
        folder::make_private(path).map_err(|error| unusable(path, &error))?;
        Ok(cache)
    }

    /// The default folder of cached answers: in `$ERRORBAR_CACHE_DIR`, else in `errorbar` in the user's folder
    /// for caches.
    ///
    /// # Errors
    /// Neither is known.
    pub fn default_folder() -> Result<PathBuf> {
        let known = default_folder(|name| std::env::var_os(name), std::env::home_dir());
        let problem = format!("there is no home folder; set {CACHE_DIR}");
        known.ok_or(Error::CacheFolder { path: None, problem })
    }

    /// Where answers are cached in a folder for everything that errorbar caches.
    pub fn folder_in(cache_dir: &Path) -> PathBuf {
        cache_dir.join("answers")
    }

    /// What a request is known by: all that its answer depends on.
    ///
    /// That is the model with its arguments, the configuration, the epoch, the number of the call about the sample and
    /// the messages in their order. The sample is not; so a model that answers by it, such as `mock` and `replay`, must
    /// not be cached.
    pub fn key(model: &dyn Model, request: &Request<'_>) -> CacheKey {
        CacheKey::new(model, request)
    }

    /// The answer to a request, if there is one that has not expired. A file that is damaged or of something else is
    /// none, and the next answer takes its place.
    pub fn get(&self, key: &CacheKey) -> Option<ModelOutput> {
        let bytes = read(&self.folder.place(key), MAX_BYTES)?;
        let entry: CacheEntry<'_, Wire<ModelOutput>> = serde_json::from_slice(&bytes).ok()?;
        let created: Timestamp = entry.created.parse().ok()?;
        let is_expired = self.expiry.is_some_and(|expiry| is_older(created, expiry));
        let is_this = entry.version == VERSION && *entry.request == *key.request();
        (is_this && !is_expired).then_some(entry.output.0)
    }

    /// Caches an answer. One that was filtered, or is an error, may differ the next time and is not cached.
    ///
    /// # Errors
    /// A file that cannot be written, or would be too large to be read again.
    pub fn put(&self, key: &CacheKey, output: &ModelOutput) -> io::Result<()> {
        let is_filtered = output.choices.iter().any(|choice| choice.stop_reason == "content_filter");
        if is_filtered || output.error.is_some() {
            return Ok(());
        }
        let entry = CacheEntry {
            version: VERSION,
            created: Timestamp::now().to_string().into(),
            model: key.model().into(),
            request: Cow::Borrowed(key.request()),
            output: Wire(output),
        };
        let mut bytes = serde_json::to_vec_pretty(&entry)?;
        bytes.push(b'\n');
        if bytes.len() as u64 > MAX_BYTES {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.folder.write(key, &bytes)
    }
}

fn unusable(folder: &Path, error: &io::Error) -> Error {
    let problem = format!("{error}; name another one, or set {CACHE_DIR}");
    Error::CacheFolder { path: Some(folder.to_owned()), problem }
}

const CACHE_DIR: &str = "ERRORBAR_CACHE_DIR";

fn default_folder(variable: impl Fn(&str) -> Option<OsString>, home: Option<PathBuf>) -> Option<PathBuf> {
    let folder = |name| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    // The rule for this variable is that a relative path is as good as none.
    let caches = || folder("XDG_CACHE_HOME").filter(|folder| folder.is_absolute());
    let home = home.filter(|home| !home.as_os_str().is_empty());
    let caches = || caches().or_else(|| Some(home?.join(".cache")));
    let own = folder(CACHE_DIR).or_else(|| Some(caches()?.join("errorbar")))?;
    Some(Cache::folder_in(&own))
}

/// A file of a reasonable size, and of nothing that could keep a reader waiting, such as a pipe.
fn read(path: &Path, max_bytes: u64) -> Option<Vec<u8>> {
    fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
    let mut bytes = Vec::new();
    File::open(path).ok()?.take(max_bytes + 1).read_to_end(&mut bytes).ok()?;
    (bytes.len() as u64 <= max_bytes).then_some(bytes)
}

/// Whether something has got this old by now.
fn is_older(created: Timestamp, age: Duration) -> bool {
    // What is too long for the type is longer than anything has existed.
    SignedDuration::try_from(age).is_ok_and(|age| Timestamp::now().duration_since(created) >= age)
}

#[cfg(test)]
mod tests;
