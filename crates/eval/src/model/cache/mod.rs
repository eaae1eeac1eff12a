//! Answers that were given before, on disk: the same request of the same model is not paid for twice.
//!
//! Each answer has its own file, named by a hash of the request. A file appears by a rename, when it is whole, so
//! any number of processes and threads read and write at once without a lock; the last one wins. A file holds the
//! request as well, and answers nothing else. A database in one file was rejected: those in pure Rust admit one
//! process at a time. How long answers are valid is up to the reader, so it is no part of their names.
//!
//! Everything here blocks on the disk: async callers go through `spawn_blocking`.

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};
use uuid::Uuid;

use super::{Model, Request};
use crate::{Error, Message, ModelOutput, Result};

/// The version of the files.
const VERSION: u32 = 1;

/// The largest file that is an answer.
const MAX_BYTES: u64 = 64 << 20;

/// Answers that were given before, in a folder: `ab/ab….json`, by the hash of the request. Other files in it are ignored,
/// and links are not followed.
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
    /// The folder.
    pub folder: PathBuf,
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
        create_private_folder(&folder).map_err(|error| unusable(&folder, &error))?;
        Ok(Cache { folder, expiry })
    }

    /// The cache in a folder that need not be there, for its list of answers.
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        Cache { folder: folder.into(), expiry: None }
    }

    /// Opens the [default folder](Cache::default_folder). One that an older version made for everybody to read is closed
    /// to others: it was not shared on purpose, and questions and answers may be confidential.
    ///
    /// # Errors
    /// A folder that cannot be made or closed.
    pub fn open_default(expiry: Option<Duration>) -> Result<Self> {
        let cache = Cache::open(Cache::default_folder()?, expiry)?;
        make_private(&cache.folder).map_err(|error| unusable(&cache.folder, &error))?;
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
        // A new field must be added here, if answers depend on it.
        let Request { sample_id: _, epoch, call: _, repeat, messages, config } = *request;
        let mut request = json!({
            "version": VERSION,
            "model": model.name(),
            "model_args": model.args(),
            "config": config.to_log(),
            "epoch": epoch,
            // A caller that repeats a request wants several answers: votes, the best of some.
            "repeat": repeat,
            "messages": messages.iter().map(as_sent).collect::<Vec<_>>(),
        });
        request.sort_all_objects();
        // What is hidden must not be in the file, and still distinguish requests.
        let hashed = format!("{request}{}", model.hidden_args());
        let hash = blake3::hash(hashed.as_bytes()).to_hex().to_string();
        CacheKey { model: model.name().to_owned(), request, hash }
    }

    /// The answer to a request, if there is one that has not expired. A file that is damaged or of something else is
    /// none, and the next answer takes its place.
    pub fn get(&self, key: &CacheKey) -> Option<ModelOutput> {
        let bytes = read(&self.place(key), MAX_BYTES)?;
        let entry: CacheEntry<'_, ModelOutput> = serde_json::from_slice(&bytes).ok()?;
        let created: Timestamp = entry.created.parse().ok()?;
        let is_expired = self.expiry.is_some_and(|expiry| is_older(created, expiry));
        let is_this = entry.version == VERSION && *entry.request == key.request;
        (is_this && !is_expired).then_some(entry.output)
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
            model: key.model.as_str().into(),
            request: Cow::Borrowed(&key.request),
            output,
        };
        let mut bytes = serde_json::to_vec_pretty(&entry)?;
        bytes.push(b'\n');
        if bytes.len() as u64 > MAX_BYTES {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.write(key, &bytes)
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

/// What a request is known by: all that its answer depends on, and the hash of that.
#[derive(Clone, Debug, PartialEq)]
pub struct CacheKey {
    /// The model that the request is for.
    pub model: String,
    /// The request, with the fields of all objects in alphabetical order.
    pub request: Json,
    /// Its hash: 64 hexadecimal digits.
    pub hash: String,
}

/// What a model gets to see of a message.
fn as_sent(message: &Message) -> Json {
    let Message { role, content, .. } = message;
    json!({"role": role.name(), "content": content})
}

/// How long a file may be in the making.
const LEFT_BEHIND: Duration = Duration::from_secs(60 * 60);

/// A file of the cache, as a list has it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CachedAnswer {
    /// The file.
    pub path: PathBuf,
    /// The model that the request was for; `None` if the file cannot be read.
    pub model: Option<String>,
    /// When it answered.
    pub created: Timestamp,
    /// The size of the file.
    pub bytes: u64,
}

/// The answers of one model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelAnswers {
    /// The model; none for files that cannot be read.
    pub model: Option<String>,
    /// How many there are.
    pub answers: u64,
    /// How large they are together.
    pub bytes: u64,
    /// When the first of them was given.
    pub oldest: Timestamp,
    /// When the last of them was given.
    pub newest: Timestamp,
}

/// What was removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CacheRemoval {
    /// How many answers.
    pub answers: u64,
    /// How large they were together.
    pub bytes: u64,
}

/// What a list needs to know of a file.
#[derive(Deserialize)]
struct EntryHead {
    created: String,
    model: String,
}

impl Cache {
    /// Where the answer to a request is.
    fn place(&self, key: &CacheKey) -> PathBuf {
        let hash = &key.hash;
        self.folder.join(hash.get(..2).unwrap_or_default()).join(format!("{hash}.json"))
    }

    /// Puts a whole file in its place.
    fn write(&self, key: &CacheKey, bytes: &[u8]) -> io::Result<()> {
        let place = self.place(key);
        let new = place.with_extension(format!("{}.new", Uuid::new_v4()));
        let written = write_new(&new, bytes).and_then(|()| fs::rename(&new, &place));
        if written.is_err() {
            // It is of no use; that it cannot be removed is not worth another error.
            let _ = fs::remove_file(&new);
        }
        written
    }

    /// All answers, by name of their files.
    ///
    /// # Errors
    /// A folder that cannot be read; one that is not there has no answers.
    pub fn answers(&self) -> Result<Vec<CachedAnswer>> {
        let answers = self.files()?.into_iter().filter(|(_, is_answer)| *is_answer);
        Ok(answers.map(|(answer, _)| answer.read()).collect())
    }

    /// Removes the answers that are chosen, and what writers that were killed have left behind.
    ///
    /// # Errors
    /// A folder that cannot be read, a file that cannot be removed.
    pub fn remove(&self, mut is_chosen: impl FnMut(&CachedAnswer) -> bool) -> Result<CacheRemoval> {
        let mut removed = CacheRemoval::default();
        for (file, is_answer) in self.files()? {
            if is_answer {
                let answer = file.read();
                if is_chosen(&answer) && remove_file(&answer.path)? {
                    removed.answers += 1;
                    removed.bytes += answer.bytes;
                }
            } else if file.is_older(LEFT_BEHIND) {
                remove_file(&file.path)?;
            }
        }
        Ok(removed)
    }

    /// The files that are ours, by name, and whether each is an answer, `ab….json`, and not `ab….UUID.new`: in the making,
    /// or left behind. What is in them is not read.
    fn files(&self) -> Result<Vec<(CachedAnswer, bool)>> {
        let mut files = Vec::new();
        for folder in entries(&self.folder)? {
            let name = folder.file_name();
            let Some(digits) = name.to_str().filter(|name| name.len() == 2 && is_hex(name)) else { continue };
            // This does not follow links: a link is reported as one.
            if !folder.file_type().is_ok_and(|kind| kind.is_dir()) {
                continue;
            }
            for file in entries(&folder.path())? {
                let Some(is_answer) = is_answer(&file.file_name(), digits) else { continue };
                // Another process may have removed it meanwhile.
                let Ok(metadata) = file.metadata() else { continue };
                if metadata.is_file() {
                    let changed = metadata.modified().ok().and_then(|time| Timestamp::try_from(time).ok());
                    let changed = changed.unwrap_or(Timestamp::UNIX_EPOCH);
                    let (path, bytes) = (file.path(), metadata.len());
                    files.push((CachedAnswer { path, model: None, created: changed, bytes }, is_answer));
                }
            }
        }
        files.sort_by(|(a, _), (b, _)| a.path.cmp(&b.path));
        Ok(files)
    }
}

/// Whether a file is an answer or will be one, if its name is one that we give.
fn is_answer(name: &OsStr, digits: &str) -> Option<bool> {
    let (hash, extension) = name.to_str()?.split_once('.')?;
    let is_hash = hash.len() == 64 && is_hex(hash) && hash.starts_with(digits);
    let is_new = || extension.strip_suffix(".new").is_some_and(|id| Uuid::try_parse(id).is_ok());
    (is_hash && (extension == "json" || is_new())).then_some(extension == "json")
}

impl CachedAnswer {
    /// The same with the model and the time that the file has, if it can be read.
    fn read(mut self) -> Self {
        let head =
            read(&self.path, MAX_BYTES).and_then(|bytes| serde_json::from_slice::<EntryHead>(&bytes).ok());
        if let Some(EntryHead { created, model }) = head
            && let Ok(created) = created.parse()
        {
            (self.created, self.model) = (created, Some(model));
        }
        self
    }

    /// Whether it has got this old by now.
    pub fn is_older(&self, age: Duration) -> bool {
        is_older(self.created, age)
    }
}

impl ModelAnswers {
    /// Counts the answers of each model, by name; files that cannot be read come first.
    pub fn count(answers: &[CachedAnswer]) -> Vec<Self> {
        let mut models: BTreeMap<Option<&str>, ModelAnswers> = BTreeMap::new();
        for CachedAnswer { model, created, bytes, .. } in answers {
            let counted = models.entry(model.as_deref()).or_insert_with(|| ModelAnswers {
                model: model.clone(),
                answers: 0,
                bytes: 0,
                oldest: *created,
                newest: *created,
            });
            counted.answers += 1;
            counted.bytes += bytes;
            counted.oldest = counted.oldest.min(*created);
            counted.newest = counted.newest.max(*created);
        }
        models.into_values().collect()
    }
}

fn is_hex(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// A new file and, if need be, the folder that it is in. It is not forced onto the disk: one that a crash tears is no
/// answer, and another one is requested.
fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let create = || private_file().open(path);
    let mut file = match (create(), path.parent()) {
        (Err(error), Some(folder)) if error.kind() == io::ErrorKind::NotFound => {
            create_private_folder(folder)?;
            create()?
        }
        (created, _) => created?,
    };
    file.write_all(bytes)
}

/// Makes a folder, and those that it is in, for this user alone: questions and answers may be confidential.
fn create_private_folder(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Takes the rights of others on a folder away.
fn make_private(path: &Path) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = fs::metadata(path)?.permissions().mode();
        if mode & 0o077 != 0 {
            fs::set_permissions(path, fs::Permissions::from_mode(mode & 0o700))?;
        }
    }
    #[cfg(not(unix))]
    let _ = path;
    Ok(())
}

/// A new file for this user alone.
fn private_file() -> fs::OpenOptions {
    let mut options = File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Removes a file, and returns whether it existed.
fn remove_file(path: &Path) -> Result<bool> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(Error::other(format!("cannot remove {}: {error}", path.display()))),
        Ok(()) => Ok(true),
    }
}

/// What is in a folder; nothing if it is not there.
fn entries(folder: &Path) -> Result<Vec<fs::DirEntry>> {
    let read = fs::read_dir(folder).and_then(Iterator::collect);
    match read {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        read => read.map_err(|error| unusable(folder, &error)),
    }
}

#[cfg(test)]
mod folder_tests {
    use std::time::SystemTime;

    use super::*;

    const HASH: &str = "ab00000000000000000000000000000000000000000000000000000000000000";

    /// Writes a file that was changed some time ago.
    fn write(folder: &Path, name: &str, content: &str, age: Duration) -> PathBuf {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        let file = File::options().write(true).open(&path).unwrap();
        file.set_modified(SystemTime::now() - age).unwrap();
        path
    }

    fn answer(folder: &Path, hash: &str, model: &str, created: &str) -> PathBuf {
        let content = format!(r#"{{"version":1,"created":"{created}","model":"{model}","output":{{}}}}"#);
        write(folder, &format!("{}/{hash}.json", &hash[..2]), &content, Duration::ZERO)
    }

    #[cfg(unix)]
    #[test]
    fn a_folder_that_others_can_read_is_closed() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let mode = || fs::metadata(folder.path()).unwrap().permissions().mode() & 0o777;
        for (before, after) in [(0o755, 0o700), (0o770, 0o700), (0o500, 0o500)] {
            fs::set_permissions(folder.path(), fs::Permissions::from_mode(before)).unwrap();
            make_private(folder.path()).unwrap();
            assert_eq!(mode(), after);
        }
    }

    #[test]
    fn answers_are_counted_by_model() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::at(folder.path());
        for (at, model, created) in [
            (1, "b", "2026-01-03T00:00:00Z"),
            (2, "a", "2026-01-01T00:00:00Z"),
            (3, "b", "2026-01-01T00:00:00Z"),
            (4, "b", "2026-01-02T00:00:00Z"),
        ] {
            answer(folder.path(), &HASH.replace("ab0", &format!("{at}b0")), model, created);
        }
        let size =
            fs::metadata(folder.path().join("1b").join(HASH.replace("ab0", "1b0") + ".json")).unwrap().len();
        let torn = write(folder.path(), &format!("ab/{HASH}.json"), "{", Duration::from_secs(1000));
        let answers = cache.answers().unwrap();
        assert_eq!(answers.len(), 5);
        assert!(answers[4].path == torn && answers[4].is_older(Duration::from_secs(1000)));
        assert!(!answers[4].is_older(Duration::from_secs(2000)), "the age of its file");
        let counts = ModelAnswers::count(&answers);
        let models: Vec<Option<&str>> = counts.iter().map(|count| count.model.as_deref()).collect();
        assert_eq!(models, [None, Some("a"), Some("b")]);
        assert_eq!((counts[2].answers, counts[2].bytes), (3, 3 * size));
        assert_eq!(counts[2].oldest.to_string(), "2026-01-01T00:00:00Z");
        assert_eq!(counts[2].newest.to_string(), "2026-01-03T00:00:00Z");
    }

    #[test]
    fn those_that_are_chosen_go() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::at(folder.path());
        let a = answer(folder.path(), HASH, "a", "2026-01-01T00:00:00Z");
        let b = answer(folder.path(), &HASH.replace("ab0", "ac0"), "b", "2026-01-01T00:00:00Z");
        let size = fs::metadata(&b).unwrap().len();
        let removed = cache.remove(|answer| answer.model.as_deref() == Some("b")).unwrap();
        assert_eq!(removed, CacheRemoval { answers: 1, bytes: size });
        assert!(a.exists() && !b.exists());
        // As if another process were faster.
        let removed = cache.remove(|answer| fs::remove_file(&answer.path).is_ok()).unwrap();
        assert_eq!(removed, CacheRemoval::default());
        assert_eq!(Cache::at(folder.path().join("none")).remove(|_| true).unwrap(), CacheRemoval::default());
    }

    #[test]
    fn what_killed_writers_left_behind_goes_too() {
        let folder = tempfile::tempdir().unwrap();
        let name = |id: &str| format!("ab/{HASH}.{id}.new");
        let (one, other) = (name(&Uuid::new_v4().to_string()), name(&Uuid::new_v4().to_string()));
        let old = write(folder.path(), &one, "{", LEFT_BEHIND + Duration::from_secs(1));
        let young = write(folder.path(), &other, "{", LEFT_BEHIND - Duration::from_secs(60));
        let foreign = write(folder.path(), &name("notes"), "{", 2 * LEFT_BEHIND);
        let cache = Cache::at(folder.path());
        assert!(cache.answers().unwrap().is_empty());
        assert_eq!(cache.remove(|_| false).unwrap(), CacheRemoval::default());
        assert!(!old.exists() && young.exists() && foreign.exists());
    }

    #[test]
    fn what_is_not_ours_stays() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("answers");
        let kept: Vec<PathBuf> = [
            format!("{HASH}.json"),
            format!("abc/{HASH}.json"),
            format!("AB/{HASH}.json"),
            format!("ac/{HASH}.json"),
            format!("ab/{}.json", &HASH[1..]),
            format!("ab/{}.json", HASH.replace("ab0", "abg")),
            format!("ab/{HASH}.txt"),
            format!("ab/{HASH}"),
            format!("ab/deeper/{HASH}.json"),
            "ab/notes.json".to_owned(),
        ]
        .iter()
        .map(|name| write(&root, name, "{}", Duration::ZERO))
        .collect();
        let ours = write(&root, &format!("ab/{HASH}.json"), "{}", Duration::ZERO);
        assert_eq!(Cache::at(&root).remove(|_| true).unwrap(), CacheRemoval { answers: 1, bytes: 2 });
        assert!(!ours.exists());
        kept.iter().for_each(|path| assert!(path.exists(), "{}", path.display()));
    }

    #[cfg(unix)]
    #[test]
    fn links_do_not_lead_out_of_the_folder() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().unwrap();
        let (root, outside) = (folder.path().join("answers"), folder.path().join("outside"));
        let by_folder = write(&outside, &format!("{HASH}.json"), "{}", Duration::ZERO);
        let by_file = write(&outside, "precious", "{}", Duration::ZERO);
        fs::create_dir_all(root.join("ac")).unwrap();
        symlink(&outside, root.join("ab")).unwrap();
        symlink(&by_file, root.join("ac").join(HASH.replace("ab0", "ac0") + ".json")).unwrap();
        let cache = Cache::at(&root);
        assert!(cache.answers().unwrap().is_empty());
        assert_eq!(cache.remove(|_| true).unwrap(), CacheRemoval::default());
        assert!(by_folder.exists() && by_file.exists() && root.join("ab").is_symlink());
    }
}
