//! What is started: a program with its arguments, in a folder, without a shell.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::{env, io};

use errorbar_core::spec::nearest;

use super::CommandError;
use super::group::{GroupMark, limit_memory};

/// How much of a command is shown in errors: it may hold a whole script.
const SHOWN: usize = 120;

/// The largest file that is part of a digest; larger ones are data.
const LARGEST_DIGESTED: u64 = 16 << 20;

/// A program with its arguments, and where it runs.
#[derive(Clone, Debug, Default)]
pub(in crate::scorers) struct Program {
    pub(in crate::scorers) name: String,
    pub(in crate::scorers) arguments: Vec<String>,
    pub(in crate::scorers) folder: PathBuf,
    /// Variables that are passed on beside those that every program gets.
    pub(in crate::scorers) passed: Vec<String>,
    pub(in crate::scorers) memory: Option<u64>,
}

impl Program {
    /// The command as people write it, but for the end of a long one.
    pub(in crate::scorers) fn shown(&self) -> String {
        let command = self.command();
        match command.char_indices().nth(SHOWN) {
            Some((end, _)) => format!("{}…", command.get(..end).unwrap_or_default()),
            None => command,
        }
    }

    /// The command as people write it.
    pub(in crate::scorers) fn command(&self) -> String {
        let words = std::iter::once(&self.name).chain(&self.arguments);
        let shown = words.map(|word| match word.is_empty() || word.contains(char::is_whitespace) {
            true => format!("{word:?}"),
            false => word.clone(),
        });
        shown.collect::<Vec<_>>().join(" ")
    }

    /// Refuses a folder that is not there.
    pub(in crate::scorers) fn check_folder(&self) -> Result<(), String> {
        match self.folder.as_os_str().is_empty() || self.folder.is_dir() {
            true => Ok(()),
            false => Err(format!("names {}, which is no folder", self.folder.display())),
        }
    }

    /// Where the program is. A bare name is looked up in `PATH`; a path is relative to the folder.
    ///
    /// # Errors
    /// It is not there, with what may have been meant.
    pub(in crate::scorers) fn find(&self) -> Result<PathBuf, String> {
        let (name, in_folder) = (&self.name, self.folder.join(&self.name));
        if name.trim().is_empty() {
            return Err("names no program".to_owned());
        }
        if name.contains(['/', '\\']) {
            let shown = in_folder.display();
            if !in_folder.is_file() {
                return Err(format!("names the program {shown}, which is not there"));
            }
            if !is_executable(&in_folder) {
                let other = match interpreter(name) {
                    Some(interpreter) => format!(", or name its interpreter: [{interpreter:?}, {name:?}]"),
                    None => String::new(),
                };
                return Err(format!(
                    "names the program {shown}, which is not executable; make it so (chmod +x){other}"
                ));
            }
            // Where the program is must not depend on the folder that it runs in.
            return Ok(std::path::absolute(&in_folder).unwrap_or(in_folder));
        }
        let folders: Vec<PathBuf> =
            env::var_os("PATH").map(|path| env::split_paths(&path).collect()).unwrap_or_default();
        let names = [name.clone(), format!("{name}{}", env::consts::EXE_SUFFIX)];
        let candidates = folders.iter().flat_map(|folder| names.iter().map(|name| folder.join(name)));
        if let Some(found) = candidates.into_iter().find(|path| path.is_file() && is_executable(path)) {
            return Ok(found);
        }
        let words: Vec<&str> = name.split_whitespace().collect();
        let advice = if words.len() > 1 {
            format!("there is no shell, so write program and arguments as a list: {words:?}")
        } else if in_folder.is_file() {
            match interpreter(name) {
                Some(interpreter) => format!("name its interpreter: [{interpreter:?}, {name:?}]"),
                None => format!("a program of the folder is written \"./{name}\""),
            }
        } else {
            let near = near_in(&folders, name).map(|near| format!("did you mean `{near}`?"));
            near.unwrap_or_else(|| "install it, or write the path of the program".to_owned())
        };
        Err(format!("names the program `{name}`, which is in no folder of PATH; {advice}"))
    }

    /// Refuses a script that is not there: its interpreter would report it for each sample, after the model has answered.
    pub(in crate::scorers) fn check_script(&self) -> Result<(), String> {
        let script = self.arguments.iter().find(|word| !word.starts_with('-'));
        let Some(script) = script.filter(|word| interpreter(word).is_some()) else { return Ok(()) };
        let path = self.folder.join(script);
        if path.is_file() {
            return Ok(());
        }
        let folder = path.parent().map(Path::to_owned).unwrap_or_default();
        let folder = if folder.as_os_str().is_empty() { PathBuf::from(".") } else { folder };
        let near = path.file_name().and_then(|name| near_in(&[folder], &name.to_string_lossy()));
        let advice = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
        Err(format!("names the script {}, which is not there{advice}", path.display()))
    }

    /// A digest of its words that are files of the folder: the program itself, its script, its data. What these read in
    /// turn is not known.
    pub(in crate::scorers) fn digest(&self) -> Option<String> {
        let words =
            std::iter::once(&self.name).filter(|name| name.contains(['/', '\\'])).chain(&self.arguments);
        let mut digest = blake3::Hasher::new();
        for word in words.filter(|word| Path::new(word).is_relative()) {
            let path = self.folder.join(word);
            let is_small = path.metadata().is_ok_and(|file| file.is_file() && file.len() <= LARGEST_DIGESTED);
            let Some(content) = is_small.then(|| std::fs::read(&path).ok()).flatten() else { continue };
            for part in [word.as_bytes(), &content] {
                digest.update(&(part.len() as u64).to_le_bytes());
                digest.update(part);
            }
        }
        (digest.count() > 0).then(|| digest.finalize().to_hex().chars().take(16).collect())
    }

    /// Starts it in a group of its own, with pipes to all three streams.
    pub(super) fn start(&self) -> Result<(Child, GroupMark), CommandError> {
        let refused = CommandError::not_started;
        let path = self.find().map_err(|problem| refused(format!("it {problem}")))?;
        let mut command = Command::new(&path);
        command.args(&self.arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        if !self.folder.as_os_str().is_empty() {
            command.current_dir(&self.folder);
        }
        command.env_clear().envs(variables(&self.passed));
        let mark = GroupMark::new(&mut command);
        let mut child = command.spawn().map_err(|error| {
            let advice = match error.kind() {
                io::ErrorKind::PermissionDenied => {
                    "; make it executable, or name its interpreter, as in [\"python3\", \"score.py\"]"
                }
                _ => "",
            };
            refused(format!("{}: {error}{advice}", path.display()))
        })?;
        if let Some(bytes) = self.memory
            && let Err(error) = limit_memory(&child, bytes)
        {
            let _ = child.kill();
            let _ = child.wait();
            return Err(refused(error.to_string()));
        }
        Ok((child, mark))
    }
}

/// Whether a file may be executed.
#[cfg(unix)]
fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|file| file.permissions().mode() & 0o111 != 0)
}

/// Whether a file may be executed, which its name decides.
#[cfg(not(unix))]
fn is_executable(_: &Path) -> bool {
    true
}

/// What runs a script of this name.
fn interpreter(name: &str) -> Option<&'static str> {
    Some(match Path::new(name).extension()?.to_str()? {
        "py" => "python3",
        "js" | "mjs" => "node",
        "sh" => "sh",
        "rb" => "ruby",
        "pl" => "perl",
        "R" | "r" => "Rscript",
        "jl" => "julia",
        _ => return None,
    })
}

/// The program in these folders whose name is nearest.
fn near_in(folders: &[PathBuf], name: &str) -> Option<String> {
    /// Folders of programs have thousands.
    const MOST: usize = 20_000;
    let files = folders.iter().filter_map(|folder| std::fs::read_dir(folder).ok()).flatten().flatten();
    let names: Vec<String> =
        files.take(MOST).filter_map(|file| file.file_name().into_string().ok()).collect();
    nearest(name, names.iter().map(String::as_str)).map(str::to_owned)
}

// The environment of a program: a short list of our variables, and those that the task names.

/// What a program needs to be found, to start, and to read and write text. Secrets are in none of these.
const LISTED: [&str; 11] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "TZ",
    "TMPDIR",
    // A Python that was started by another name than that of its environment finds its packages by these.
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
];

/// Without these no program starts on Windows.
#[cfg(windows)]
const OF_SYSTEM: [&str; 7] =
    ["SYSTEMROOT", "SYSTEMDRIVE", "COMSPEC", "PATHEXT", "TEMP", "TMP", "USERPROFILE"];
#[cfg(not(windows))]
const OF_SYSTEM: [&str; 0] = [];

/// Python would hold its answers back, and read and write other encodings than UTF-8 on some systems.
const FOR_PYTHON: [&str; 2] = ["PYTHONUNBUFFERED", "PYTHONUTF8"];

/// The variables of a program, of which these are named by its task.
pub(super) fn variables(named: &[String]) -> impl Iterator<Item = (OsString, OsString)> {
    let for_python = FOR_PYTHON.iter().map(|name| (OsString::from(name), OsString::from("1")));
    for_python.chain(env::vars_os().filter(|(name, _)| is_passed(&name.to_string_lossy(), named)))
}

fn is_passed(name: &str, named: &[String]) -> bool {
    let listed = || LISTED.iter().chain(&OF_SYSTEM).chain(&FOR_PYTHON);
    let is_same = |other: &str| match cfg!(windows) {
        true => other.eq_ignore_ascii_case(name),
        false => other == name,
    };
    name.starts_with("LC_")
        || listed().any(|listed| is_same(listed))
        || named.iter().any(|named| is_same(named))
}

#[cfg(test)]
#[cfg(unix)]
mod program_tests {
    use super::*;

    fn problem(words: &[&str], folder: &Path) -> Option<String> {
        let mut words = words.iter().map(ToString::to_string);
        let (name, arguments) = (words.next().unwrap_or_default(), words.collect());
        Program { name, arguments, folder: folder.to_owned(), ..Program::default() }.find().err()
    }

    #[test]
    fn what_is_not_there_is_named_with_what_may_be_meant() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("score.py"), "").unwrap();
        std::fs::write(folder.path().join("score"), "").unwrap();
        let not_found = |name: &str, advice: &str| {
            Some(format!("names the program `{name}`, which is in no folder of PATH; {advice}"))
        };
        assert_eq!(problem(&["sh"], folder.path()), None);
        let program = folder.path().join("./score");
        let not_executable = |shown: &Path, other: &str| {
            let shown = shown.display();
            Some(format!("names the program {shown}, which is not executable; make it so (chmod +x){other}"))
        };
        assert_eq!(problem(&["./score"], folder.path()), not_executable(&program, ""));
        assert_eq!(
            problem(&["./score.py"], folder.path()),
            not_executable(
                &folder.path().join("./score.py"),
                r#", or name its interpreter: ["python3", "./score.py"]"#
            )
        );
        std::fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        assert_eq!(problem(&["./score"], folder.path()), None);
        assert_eq!(
            problem(&["sh -c x"], folder.path()),
            not_found(
                "sh -c x",
                r#"there is no shell, so write program and arguments as a list: ["sh", "-c", "x"]"#
            )
        );
        assert_eq!(
            problem(&["score.py"], folder.path()),
            not_found("score.py", r#"name its interpreter: ["python3", "score.py"]"#)
        );
        assert_eq!(
            problem(&["score"], folder.path()),
            not_found("score", r#"a program of the folder is written "./score""#)
        );
        assert_eq!(problem(&[], folder.path()).as_deref(), Some("names no program"));
        let missing = folder.path().join("./x");
        assert_eq!(
            problem(&["./x"], folder.path()),
            Some(format!("names the program {}, which is not there", missing.display()))
        );
    }
}

#[cfg(test)]
mod environment_tests {
    use super::*;

    #[test]
    fn variables_are_passed_by_name_alone() {
        for name in ["PATH", "HOME", "LC_ALL", "LC_TIME", "TZ", "TMPDIR", "VIRTUAL_ENV", "PYTHONUTF8"] {
            assert!(is_passed(name, &[]), "{name}");
        }
        for name in ["OPENAI_API_KEY", "DB_PASS", "SSHPASS", "MY_CREDS", "JWT", "LD_PRELOAD", "path", "LC"] {
            assert!(!is_passed(name, &[]), "{name}");
            assert!(is_passed(name, &[name.to_owned()]), "{name}");
        }
    }
}
