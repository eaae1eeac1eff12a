//! Tests of the cache as a whole.

use std::process::{Command, Stdio};

use errorbar_core::Metadata;
use serde_json::json;

use super::*;
use crate::model::{GenerateConfig, ModelError};
use crate::{BoxFuture, Message, MessageRole};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// A model of a server, with a key that must stay secret.
#[derive(Debug)]
struct Server {
    name: &'static str,
    base_url: &'static str,
    _api_key: &'static str,
}

const SERVER: Server =
    Server { name: "server/one", base_url: "http://localhost:1/v1", _api_key: "sk-not-to-be-seen" };

impl Model for Server {
    fn name(&self) -> &str {
        self.name
    }

    fn args(&self) -> Metadata {
        Metadata::from_iter([("base_url".to_owned(), self.base_url.into())])
    }

    fn generate<'a>(&'a self, _: Request<'a>) -> BoxFuture<'a, Result<ModelOutput, ModelError>> {
        Box::pin(async { Ok(ModelOutput::default()) })
    }
}

/// The key of a request that is changed a little.
fn key_of(model: &Server, change: impl FnOnce(&mut RequestParts)) -> CacheKey {
    let mut request = RequestParts {
        id: "q1".into(),
        epoch: 1,
        call: 0,
        repeat: 0,
        messages: vec![Message::system("Be brief."), Message::user("6 × 7?")],
        config: GenerateConfig { temperature: Some(0.5), ..GenerateConfig::default() },
    };
    change(&mut request);
    let RequestParts { id, epoch, call, repeat, messages, config } = &request;
    let request = Request { sample_id: id, epoch: *epoch, call: *call, repeat: *repeat, messages, config };
    Cache::key(model, &request)
}

struct RequestParts {
    id: crate::SampleId,
    epoch: u32,
    call: u32,
    repeat: u32,
    messages: Vec<Message>,
    config: GenerateConfig,
}

fn key() -> CacheKey {
    key_of(&SERVER, |_| {})
}

fn temporary(expiry: Option<Duration>) -> (tempfile::TempDir, Cache) {
    let folder = tempfile::tempdir().unwrap();
    let cache = Cache::open(folder.path().join("answers"), expiry).unwrap();
    (folder, cache)
}

/// An answer with all that an answer can have.
fn answer() -> ModelOutput {
    let mut output = ModelOutput::from_text("server/one-2026", "forty-two \u{1f426}\n\0");
    output.choices[0].stop_reason = "max_tokens".to_owned();
    output.choices[0].message.id = Some("m1".to_owned());
    let mut usage = crate::Usage::new(9, 0);
    usage.total_cost = Some(0.1 + 0.2);
    output.usage = Some(usage);
    output.time = Some(0.1);
    output.metadata = Some(Metadata::from_iter([("z".to_owned(), json!({"b": 1e300, "a": [-0.5, null]}))]));
    output
}

/// Writes the file of an answer anew.
fn rewrite(cache: &Cache, key: &CacheKey, change: impl FnOnce(String) -> Vec<u8>) {
    let place = cache.place(key);
    let text = fs::read_to_string(&place).unwrap();
    fs::write(&place, change(text)).unwrap();
}

#[test]
fn an_answer_comes_back_as_it_was_given() {
    let (_folder, cache) = temporary(Some(DAY));
    assert_eq!(cache.get(&key()), None);
    cache.put(&key(), &answer()).unwrap();
    assert_eq!(cache.get(&key()), Some(answer()));
    let other = ModelOutput::from_text("server/one", "43");
    cache.put(&key(), &other).unwrap();
    assert_eq!(cache.get(&key()), Some(other), "the last one wins");
    assert_eq!(cache.answers().unwrap().len(), 1);
}

#[cfg(unix)]
#[test]
fn answers_are_for_their_owner_alone() {
    use std::os::unix::fs::MetadataExt;
    let folder = tempfile::tempdir().unwrap();
    let cache = Cache::open(folder.path().join("caches/errorbar"), None).unwrap();
    cache.put(&key(), &answer()).unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().mode() & 0o777;
    let place = cache.place(&key());
    assert_eq!(mode(&place), 0o600);
    for folder in place.ancestors().skip(1).take_while(|path| *path != folder.path()) {
        assert_eq!(mode(folder), 0o700, "{}", folder.display());
    }
}

#[test]
fn a_folder_that_goes_away_meanwhile_is_made_again() {
    let (_folder, cache) = temporary(None);
    cache.put(&key(), &answer()).unwrap();
    fs::remove_dir_all(&cache.folder).unwrap();
    assert_eq!(cache.get(&key()), None);
    cache.put(&key(), &answer()).unwrap();
    assert_eq!(cache.get(&key()), Some(answer()));
}

#[test]
fn all_that_an_answer_depends_on_is_in_the_key() {
    let extra = |text: &str| serde_json::from_str::<Metadata>(text).unwrap();
    let other_name = Server { name: "server/two", ..SERVER };
    let other_place = Server { base_url: "http://localhost:2/v1", ..SERVER };
    let keys = [
        key(),
        key_of(&other_name, |_| {}),
        key_of(&other_place, |_| {}),
        key_of(&SERVER, |request| request.epoch = 2),
        key_of(&SERVER, |request| request.repeat = 1),
        key_of(&SERVER, |request| request.messages.reverse()),
        key_of(&SERVER, |request| request.messages.truncate(1)),
        key_of(&SERVER, |request| request.messages[1].content.push(' ')),
        key_of(&SERVER, |request| request.messages[1].role = MessageRole::Assistant),
        key_of(&SERVER, |request| request.config.system_message = Some("Be long.".to_owned())),
        key_of(&SERVER, |request| request.config.max_tokens = Some(9)),
        key_of(&SERVER, |request| request.config.top_p = Some(0.5)),
        key_of(&SERVER, |request| request.config.temperature = None),
        key_of(&SERVER, |request| request.config.temperature = Some(0.0)),
        key_of(&SERVER, |request| request.config.stop_seqs = vec!["\n".to_owned()]),
        key_of(&SERVER, |request| request.config.frequency_penalty = Some(0.5)),
        key_of(&SERVER, |request| request.config.presence_penalty = Some(0.5)),
        key_of(&SERVER, |request| request.config.seed = Some(1)),
        key_of(&SERVER, |request| request.config.logprobs = Some(true)),
        key_of(&SERVER, |request| request.config.top_logprobs = Some(2)),
        key_of(&SERVER, |request| request.config.extra_body = extra(r#"{"a": [1, 2]}"#)),
        key_of(&SERVER, |request| request.config.extra_body = extra(r#"{"a": [2, 1]}"#)),
    ];
    let (_folder, cache) = temporary(None);
    for (at, key) in keys.iter().enumerate() {
        assert_eq!(cache.get(key), None, "{at}: {}", key.request);
        cache.put(key, &ModelOutput::from_text("m", at.to_string())).unwrap();
    }
    for (at, key) in keys.iter().enumerate() {
        assert_eq!(cache.get(key).unwrap().completion, at.to_string());
    }
}

#[test]
fn what_an_answer_does_not_depend_on_is_not_in_the_key() {
    let extra = |text: &str| serde_json::from_str::<Metadata>(text).unwrap();
    assert_eq!(key_of(&SERVER, |request| request.id = 7.into()), key());
    let noted = key_of(&SERVER, |request| {
        request.messages[1].id = Some("random".to_owned());
        request.messages[1].source = Some(errorbar_log::eval::MessageSource::Input);
        request.messages[1].model = Some("server/zero".to_owned());
    });
    assert_eq!(noted, key());
    let (one, other) = (r#"{"a": 1, "b": {"c": 2, "d": 3}}"#, r#"{"b": {"d": 3, "c": 2}, "a": 1}"#);
    assert_eq!(
        key_of(&SERVER, |request| request.config.extra_body = extra(one)).hash,
        key_of(&SERVER, |request| request.config.extra_body = extra(other)).hash,
    );
}

/// Keys that change with a version of errorbar throw away what people have paid for; then `VERSION` changes too.
#[test]
fn a_key_stays_what_it_is() {
    let text = r#"{"config":{"temperature":0.5},"epoch":1,"messages":[{"content":"Be brief.","role":"system"},{"content":"6 × 7?","role":"user"}],"model":"server/one","model_args":{"base_url":"http://localhost:1/v1"},"repeat":0,"version":1}"#;
    assert_eq!(key().request.to_string(), text);
    assert_eq!(key().hash, blake3::hash(text.as_bytes()).to_hex().as_str());
}

#[test]
fn a_file_is_for_people_too_and_holds_no_secret() {
    let (_folder, cache) = temporary(None);
    cache.put(&key(), &answer()).unwrap();
    let (hash, place) = (key().hash.to_owned(), cache.place(&key()));
    assert_eq!(place, cache.folder.join(&hash[..2]).join(format!("{hash}.json")));
    let text = fs::read_to_string(place).unwrap();
    assert!(text.starts_with("{\n  \"version\": 1,\n  \"created\": \"2"), "{text}");
    assert!(text.contains("\"model\": \"server/one\"") && text.contains("6 × 7?"), "{text}");
    assert!(!text.contains(SERVER._api_key), "{text}");
}

#[test]
fn how_long_answers_are_good_for_is_up_to_the_reader() {
    let (_folder, cache) = temporary(None);
    cache.put(&key(), &answer()).unwrap();
    let created = (Timestamp::now() - SignedDuration::from_hours(36)).to_string();
    rewrite(&cache, &key(), |text| {
        let mut entry: Json = serde_json::from_str(&text).unwrap();
        entry["created"] = created.into();
        entry.to_string().into_bytes()
    });
    let with = |expiry| Cache { expiry, ..cache.clone() }.get(&key());
    assert_eq!(with(None), Some(answer()));
    assert_eq!(with(Some(2 * DAY)), Some(answer()));
    assert_eq!(with(Some(Duration::MAX)), Some(answer()));
    assert_eq!(with(Some(DAY)), None);
    assert_eq!(with(Some(Duration::ZERO)), None);
    // A new one takes its place.
    cache.put(&key(), &answer()).unwrap();
    assert_eq!(with(Some(DAY)), Some(answer()));
    assert_eq!(with(Some(Duration::ZERO)), None);
}

#[test]
fn what_is_no_answer_to_this_is_none() {
    let (_folder, cache) = temporary(None);
    let mut changes: Vec<Box<dyn FnOnce(String) -> Vec<u8>>> = vec![
        Box::new(|_| Vec::new()),
        Box::new(|_| b"{}".to_vec()),
        Box::new(|_| vec![0xff; 100]),
        Box::new(|_| "[".repeat(100_000).into_bytes()),
        Box::new(|text| {
            text.replace("\"version\": 1,\n  \"created\"", "\"version\": 2,\n  \"created\"").into()
        }),
        Box::new(|text| text.replace("\"created\": \"2", "\"created\": \"in 2").into()),
        // As of two requests with one hash, or by an editor.
        Box::new(|text| text.replace("6 × 7?", "6 × 8?").into()),
        Box::new(|text| text.replace("localhost:1", "localhost:2").into()),
    ];
    for share in 1..20 {
        changes.push(Box::new(move |text| text.as_bytes()[..text.trim_end().len() * share / 20].to_vec()));
    }
    for (at, change) in changes.into_iter().enumerate() {
        cache.put(&key(), &answer()).unwrap();
        assert_eq!(cache.get(&key()), Some(answer()));
        let mut changed = false;
        rewrite(&cache, &key(), |text| {
            let new = change(text.clone());
            changed = new != text.as_bytes();
            new
        });
        assert!(changed, "{at}");
        assert_eq!(cache.get(&key()), None, "{at}");
    }
}

#[test]
fn what_is_no_file_is_no_answer_and_does_not_block() {
    let (_folder, cache) = temporary(None);
    fs::create_dir_all(cache.place(&key())).unwrap();
    assert_eq!(cache.get(&key()), None);
    assert!(cache.put(&key(), &answer()).is_err());
    assert!(cache.answers().unwrap().is_empty());
    let left: Vec<_> = fs::read_dir(cache.place(&key()).parent().unwrap()).unwrap().collect();
    assert_eq!(left.len(), 1, "nothing in the making is left behind: {left:?}");

    #[cfg(unix)]
    {
        let pipe = cache.place(&key());
        fs::remove_dir(&pipe).unwrap();
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        assert_eq!(cache.get(&key()), None);
        cache.put(&key(), &answer()).unwrap();
        assert_eq!(cache.get(&key()), Some(answer()));
    }
}

#[test]
fn a_file_is_read_up_to_a_size() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a");
    fs::write(&path, "12345678").unwrap();
    assert_eq!(read(&path, 8).unwrap(), b"12345678");
    assert_eq!(read(&path, 7), None);

    // Blanks behind it are JSON still.
    let (_folder, cache) = temporary(None);
    cache.put(&key(), &answer()).unwrap();
    rewrite(&cache, &key(), |text| (text + &" ".repeat(MAX_BYTES as usize)).into_bytes());
    assert_eq!(cache.get(&key()), None);
    let huge = ModelOutput::from_text("m", "x".repeat(MAX_BYTES as usize / 2));
    assert_eq!(cache.put(&key(), &huge).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
}

#[test]
fn what_was_filtered_or_is_an_error_is_not_cached() {
    let (_folder, cache) = temporary(None);
    let mut filtered = answer();
    filtered.choices[0].stop_reason = "content_filter".to_owned();
    cache.put(&key(), &filtered).unwrap();
    let mut failed = answer();
    failed.error = Some("no".to_owned());
    cache.put(&key(), &failed).unwrap();
    assert!(cache.answers().unwrap().is_empty());
}

#[test]
fn a_folder_that_cannot_be_made_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let error = Cache::open(file.join("answers"), None).unwrap_err();
    assert!(matches!(error, Error::CacheFolder { path: Some(path), .. } if path == file.join("answers")));
}

#[test]
fn the_default_folder() {
    let folder = |variables: &[(&str, &str)], home: Option<&str>| {
        let variable = |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, v)| v.into());
        default_folder(variable, home.map(PathBuf::from))
    };
    let (own, caches) = ("ERRORBAR_CACHE_DIR", "XDG_CACHE_HOME");
    let is = |path: &str| Some(PathBuf::from(path));
    assert_eq!(folder(&[(own, "own"), (caches, "/caches")], Some("/me")), is("own/answers"));
    assert_eq!(folder(&[(own, ""), (caches, "/caches")], Some("/me")), is("/caches/errorbar/answers"));
    assert_eq!(folder(&[(caches, "caches")], Some("/me")), is("/me/.cache/errorbar/answers"));
    assert_eq!(folder(&[], Some("/me")), is("/me/.cache/errorbar/answers"));
    assert_eq!(folder(&[], Some("")), None);
    assert_eq!(folder(&[], None), None);
}

/// Runs this very test in a second process, and several threads in each.
#[test]
fn processes_and_threads_at_once_see_whole_answers_only() {
    const FOLDER: &str = "ERRORBAR_TEST_CACHE";
    const NAME: &str = "model::cache::tests::processes_and_threads_at_once_see_whole_answers_only";
    let second = std::env::var_os(FOLDER);
    let folder = tempfile::tempdir().unwrap();
    let path = second.as_ref().map_or_else(|| folder.path().to_owned(), PathBuf::from);
    let cache = Cache::open(path.clone(), Some(DAY)).unwrap();
    let answers: Vec<ModelOutput> =
        (1..8).map(|size| ModelOutput::from_text("m", size.to_string().repeat(size * 9000))).collect();
    let keys = [key(), key_of(&SERVER, |request| request.epoch = 2)];
    for key in &keys {
        cache.put(key, &answers[0]).unwrap();
    }
    let child = second.is_none().then(|| {
        let exe = std::env::current_exe().unwrap();
        Command::new(exe).args([NAME, "--exact"]).env(FOLDER, &path).stdout(Stdio::piped()).spawn().unwrap()
    });
    std::thread::scope(|scope| {
        for thread in 0..6 {
            let (cache, answers, keys) = (&cache, &answers, &keys);
            scope.spawn(move || {
                for round in 0..60 {
                    let key = &keys[round % keys.len()];
                    cache.put(key, &answers[(thread + round) % answers.len()]).unwrap();
                    let found = cache.get(key).expect("an answer is there all the time");
                    assert!(answers.contains(&found), "an answer is whole");
                }
            });
        }
    });
    if let Some(child) = child {
        let output = child.wait_with_output().unwrap();
        let stdout = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && stdout.contains("1 passed"), "{stdout}");
    }
    let files = fs::read_dir(&path).unwrap().flat_map(|folder| fs::read_dir(folder.unwrap().path()).unwrap());
    let is_answer =
        |file: &fs::DirEntry| file.path().extension().is_some_and(|extension| extension == "json");
    if second.is_none() {
        assert!(files.map(Result::unwrap).all(|file| is_answer(&file)), "nothing is left in the making");
    }
}
