//! `errorbar completions`: scripts for shells, which call the program for what can stand at a place.
//!
//! The program is called with the variable `ERRORBAR_COMPLETE`. So completions know the entries, tasks, logs and models that
//! there are when the key is pressed, not those of the day on which the script was made.

use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::path::Path;
use std::{env, io};

use clap::{Arg, Args, Command, ValueEnum};
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate, PathCompleter, ValueCompleter as _};
use clap_complete::env::{Elvish, EnvCompleter, Fish, Powershell, Shells, Zsh};
use clap_complete::{CompleteEnv, Shell, engine};
use errorbar_analysis::{expand_folder, log_dir, newest_first};
use errorbar_core::Registry;
use errorbar_eval::{Provider, Task, outline_task_file};
use errorbar_log::eval::EvalLog;
use indexmap::IndexSet;

use super::{CommandResult, Context};
use crate::commands::list::EntryKind;
use crate::diagnostic::Diagnostic;
use crate::output::Output;

const EXAMPLES: &str = "\
Examples:
  errorbar completions bash > ~/.local/share/bash-completion/completions/errorbar
  errorbar completions zsh > ~/.zfunc/_errorbar
  errorbar completions fish > ~/.config/fish/completions/errorbar.fish";

/// The variable by which a script asks what can stand at a place.
const VARIABLE: &str = "ERRORBAR_COMPLETE";

const SHELLS: &[&dyn EnvCompleter] = &[&Bash, &Elvish, &Fish, &Powershell, &Zsh];

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

pub(crate) fn run(args: &CompletionsArgs, context: &Context<'_>) -> CommandResult {
    let (program, mut script) = (context.program, Vec::new());
    let shell = args.shell.to_string();
    let written = match Shells(SHELLS).completer(&shell) {
        Some(shell) => shell.write_registration(VARIABLE, program, program, program, &mut script),
        None => return Err(Diagnostic::error(format!("no completions for {shell}")).into()),
    };
    written.map_err(|error| Diagnostic::error(error.to_string()))?;
    if args.shell == Shell::Zsh {
        script.extend_from_slice(zsh_autoload(program).as_bytes());
    }
    Ok(Output::Data(script).into())
}

/// A script that zsh finds by the name of its file defines the function when a key is pressed first, and must call it then.
fn zsh_autoload(program: &str) -> String {
    let function = format!("_clap_dynamic_completer_{}", program.replace('-', "_"));
    format!("if [[ $funcstack[1] == _{program} ]]; then\n    {function} \"$@\"\nfi\n")
}

/// Answers the script of a shell, if one has called the program. Nothing else may be written then.
pub(crate) fn answer(program: &str, args: &[OsString], registry: &Registry) -> bool {
    if env::var_os(VARIABLE).is_none() {
        return false;
    }
    let command = || with_candidates(super::command(program), registry);
    let asked = CompleteEnv::with_factory(command)
        .var(VARIABLE)
        .shells(Shells(SHELLS))
        .bin(program)
        .completer(program);
    // A shell shows nothing of an error; without candidates it completes paths.
    asked.try_complete(args.to_vec(), env::current_dir().ok().as_deref()).unwrap_or(true)
}

/// The definitions, with candidates for the arguments that take names.
fn with_candidates(command: Command, registry: &Registry) -> Command {
    let path = command.get_name().to_owned();
    let command = command.mut_args(|arg| match of_argument(&path, &arg, registry) {
        Some(completer) => arg.add(completer),
        None => arg,
    });
    command.mut_subcommands(|command| with_candidates(command, registry))
}

/// The most logs that have a handle among the candidates.
const HANDLES: usize = 9;
/// The most logs whose models are candidates, and the most task files whose tasks are.
const FILES_READ: usize = 30;

/// What completes an argument of a command, if it takes names.
fn of_argument(command: &str, arg: &Arg, registry: &Registry) -> Option<ArgValueCompleter> {
    let value = arg.get_value_names().and_then(|names| names.first()).map(|name| name.as_str());
    let of_specs = |kind: EntryKind| {
        let names = names(kind, registry);
        Some(ArgValueCompleter::new(move |current: &OsStr| in_spec(&names, current)))
    };
    match (arg.get_long(), value) {
        (Some("metric"), _) => of_specs(EntryKind::Metrics),
        (Some("reducer"), _) => of_specs(EntryKind::Reducers),
        (Some("scorer" | "scorers" | "with"), _) => of_specs(EntryKind::Scorers),
        (Some("solver"), _) => of_specs(EntryKind::Solvers),
        (Some("model"), _) => {
            let providers: Vec<Named> = registry
                .list::<Provider>()
                .map(|entry| (format!("{}/", entry.name), entry.summary()))
                .collect();
            Some(ArgValueCompleter::new(move |current: &OsStr| models(&providers, current)))
        }
        (_, Some("LOG")) => Some(ArgValueCompleter::new(logs)),
        (None | Some("from"), Some("FILE")) => Some(ArgValueCompleter::new(tables_and_logs)),
        (None, Some("TASK")) => {
            let registry = registry.clone();
            Some(ArgValueCompleter::new(move |current: &OsStr| tasks(&registry, current)))
        }
        (None, Some("NAME")) if command == "help" => {
            let (commands, registry) = (commands(), registry.clone());
            Some(ArgValueCompleter::new(move |current: &OsStr| topics(&commands, &registry, current)))
        }
        (None, Some("COMMAND")) if command == "man" => {
            let commands = commands();
            Some(ArgValueCompleter::new(move |current: &OsStr| starting(&commands, current)))
        }
        _ => None,
    }
}

/// A name and a sentence about it.
type Named = (String, String);

fn names(kind: EntryKind, registry: &Registry) -> Vec<Named> {
    kind.entries(registry).into_iter().map(|entry| (entry.name.clone(), entry.summary())).collect()
}

fn commands() -> Vec<Named> {
    let command = super::command(super::NAME);
    let about = |verb: &clap::Command| verb.get_about().map(ToString::to_string).unwrap_or_default();
    command.get_subcommands().map(|verb| (verb.get_name().to_owned(), about(verb))).collect()
}

fn candidate((name, help): &Named) -> CompletionCandidate {
    CompletionCandidate::new(name).help((!help.is_empty()).then(|| help.clone().into()))
}

/// Those that start as the word does. Case matters, as it does in names.
fn starting(named: &[Named], current: &OsStr) -> Vec<CompletionCandidate> {
    let current = current.to_string_lossy();
    named.iter().filter(|(name, _)| name.starts_with(&*current)).map(candidate).collect()
}

/// Names at the end of a spec: `grouped(acc`, `bootstrap(metric=acc`.
fn in_spec(names: &[Named], current: &OsStr) -> Vec<CompletionCandidate> {
    let current = current.to_string_lossy();
    let begins = current.rfind(['(', '[', ',', ' ', '=']).map_or(0, |at| at + 1);
    let (before, name) = current.split_at(begins);
    starting(names, OsStr::new(name)).into_iter().map(|found| found.add_prefix(before)).collect()
}

/// Commands, entries and kinds of entries.
fn topics(commands: &[Named], registry: &Registry, current: &OsStr) -> Vec<CompletionCandidate> {
    let kinds = EntryKind::value_variants();
    let words = kinds.iter().map(|kind| (kind.plural(), format!("All {}", kind.plural())));
    let entries = kinds.iter().flat_map(|kind| names(*kind, registry));
    let mut seen = IndexSet::new();
    let all =
        commands.iter().cloned().chain(words).chain(entries).filter(|(name, _)| seen.insert(name.clone()));
    starting(&all.collect::<Vec<_>>(), current)
}

/// Whether a name from a file may be put on a command line.
fn is_plain(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || "_./:@+-".contains(c))
}

fn paths(ends: &'static [&'static str], current: &OsStr) -> Vec<CompletionCandidate> {
    let fits = |path: &Path| {
        let end = path.extension().and_then(OsStr::to_str).unwrap_or_default().to_lowercase();
        path.is_file() && (ends.is_empty() || ends.contains(&end.as_str()))
    };
    PathCompleter::any().filter(fits).complete(current)
}

/// Handles of the newest logs, and paths.
fn logs(current: &OsStr) -> Vec<CompletionCandidate> {
    handles(current).into_iter().chain(paths(&["eval", "json"], current)).collect()
}

/// Handles of the newest logs, and any files.
fn tables_and_logs(current: &OsStr) -> Vec<CompletionCandidate> {
    handles(current).into_iter().chain(paths(&[], current)).collect()
}

fn handles(current: &OsStr) -> Vec<CompletionCandidate> {
    let current_text = current.to_string_lossy();
    let is_asked =
        current_text.is_empty() || current_text.starts_with('@') || "latest".starts_with(&*current_text);
    if !is_asked {
        return Vec::new();
    }
    let logs = newest_first(expand_folder(&log_dir()).files);
    let about = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let numbered =
        logs.iter().take(HANDLES).enumerate().map(|(at, path)| (format!("@{}", at + 1), about(path)));
    let latest = logs.first().map(|path| ("latest".to_owned(), about(path)));
    starting(&numbered.chain(latest).collect::<Vec<_>>(), current)
}

/// Task files, folders, tasks of files (`FILE@NAME`) and those of this program.
fn tasks(registry: &Registry, current: &OsStr) -> Vec<CompletionCandidate> {
    let text = current.to_string_lossy();
    let registered: Vec<Named> =
        registry.list::<Task>().map(|entry| (entry.name.clone(), entry.summary())).collect();
    let mut found = starting(&registered, current);
    // The beginning of a name in a file is no path.
    let file = text.split_once(".toml@").map_or_else(|| text.to_string(), |(file, _)| format!("{file}.toml"));
    let files = paths(&["toml"], OsStr::new(&file));
    let is_file =
        |path: &OsStr| Path::new(path).extension().is_some_and(|end| end.eq_ignore_ascii_case("toml"));
    for path in files.iter().filter(|path| is_file(path.get_value())).take(FILES_READ) {
        let outlines = outline_task_file(Path::new(path.get_value()), registry).unwrap_or_default();
        let several = outlines.into_iter().filter(|task| task.key.is_some());
        let of_file: Vec<Named> = several.map(|task| (task.address(), String::new())).collect();
        let of_file: Vec<Named> = of_file.into_iter().filter(|(name, _)| is_plain(name)).collect();
        found.extend(starting(&of_file, current));
    }
    let whole = files.into_iter().filter(|path| path.get_value().to_string_lossy().starts_with(&*text));
    let mut all: Vec<CompletionCandidate> = whole.chain(found).collect();
    all.sort_by(|a, b| a.get_value().cmp(b.get_value()));
    all
}

/// The models of the newest logs, and what the names of models begin with; files of recorded answers.
fn models(providers: &[Named], current: &OsStr) -> Vec<CompletionCandidate> {
    let text = current.to_string_lossy();
    if let Some(path) = text.strip_prefix("replay/") {
        let found = logs(OsStr::new(path)).into_iter().chain(paths(&["jsonl"], OsStr::new(path)));
        let mut seen = IndexSet::new();
        let found = found.filter(|candidate| seen.insert(candidate.get_value().to_owned()));
        return found.map(|candidate| candidate.add_prefix("replay/")).collect();
    }
    let logs = newest_first(expand_folder(&log_dir()).files);
    let model = |path: &std::path::PathBuf| {
        EvalLog::open(path).and_then(|log| log.short_header()).ok().map(|header| header.eval.model)
    };
    let used: IndexSet<String> =
        logs.iter().take(FILES_READ).filter_map(model).filter(|model| is_plain(model)).collect();
    let used: Vec<Named> = used.into_iter().map(|model| (model, String::new())).collect();
    starting(&used, current).into_iter().chain(starting(providers, current)).collect()
}

/// What stands between candidates; no name has it.
const SEPARATOR: &str = "\u{b}";
/// The variable with the number of the word to complete.
const INDEX: &str = "_ERRORBAR_COMPLETE_INDEX";

const SCRIPT: &str = r#"_NAME_complete() {
    local rest=${COMP_LINE:0:COMP_POINT} word before quote= prefix candidate i
    local -a words=()
    for ((i = 0; i <= COMP_CWORD; i++)); do
        before=$rest
        rest=${rest#"${rest%%[![:space:]]*}"}
        word=${COMP_WORDS[i]}
        ((i == COMP_CWORD)) && word=$rest
        if ((i > 0)) && [[ $before == "$rest" ]]; then
            words[${#words[@]} - 1]+=$word
        else
            words+=("$word")
        fi
        rest=${rest#"$word"}
    done
    local last=$((${#words[@]} - 1))
    case ${words[last]} in
        [\"\']*) quote=${words[last]:0:1} words[last]=${words[last]:1} ;;
    esac
    prefix=${words[last]%"$2"}
    COMPREPLY=()
    while IFS= read -r -d $'\v' candidate; do
        [[ -n $candidate ]] || continue
        candidate=${candidate#"$prefix"}
        [[ -n $quote || $candidate == '~'* ]] || printf -v candidate %q "$candidate"
        COMPREPLY+=("$candidate")
    done < <(INDEX=$last VARIABLE=bash "$1" -- "${words[@]}" 2> /dev/null && printf '\v')
    if [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *[=/:] ]]; then
        compopt -o nospace 2> /dev/null
    fi
}
complete -o bashdefault -o nosort -F _NAME_complete BIN 2> /dev/null ||
    complete -o bashdefault -F _NAME_complete BIN
"#;

/// Completions in bash, also of words that it splits.
#[derive(Debug)]
struct Bash;

impl EnvCompleter for Bash {
    fn name(&self) -> &'static str {
        "bash"
    }

    fn is(&self, name: &str) -> bool {
        name == "bash"
    }

    fn write_registration(
        &self,
        variable: &str,
        name: &str,
        bin: &str,
        _: &str,
        to: &mut dyn Write,
    ) -> io::Result<()> {
        let identifier: String =
            name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
        let script = SCRIPT.replace("INDEX", INDEX).replace("VARIABLE", variable);
        to.write_all(script.replace("_NAME_", &format!("_{identifier}_")).replace("BIN", bin).as_bytes())
    }

    fn write_complete(
        &self,
        command: &mut Command,
        args: Vec<OsString>,
        folder: Option<&Path>,
        to: &mut dyn Write,
    ) -> io::Result<()> {
        let index = std::env::var(INDEX).ok().and_then(|index| index.parse().ok());
        let index = index.unwrap_or_else(|| args.len().saturating_sub(1));
        let found = engine::complete(command, args, index, folder)?;
        let values: Vec<_> = found.iter().map(|candidate| candidate.get_value().to_string_lossy()).collect();
        to.write_all(values.join(SEPARATOR).as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;

    use super::*;

    /// What can stand at the end of a command line.
    fn complete(line: &[&str]) -> Vec<String> {
        let registry = errorbar_eval::built_in_registry();
        let mut command = with_candidates(super::super::command("errorbar"), &registry);
        let args: Vec<OsString> = ["errorbar"].iter().chain(line).map(OsString::from).collect();
        let found = clap_complete::engine::complete(&mut command, args, line.len(), None).unwrap();
        found.iter().map(|candidate| candidate.get_value().to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn options_that_take_specs_complete_names() {
        assert_eq!(complete(&["score", "--metric", "kripp"]), ["krippendorff_alpha"]);
        assert_eq!(complete(&["eval", "--reducer", "pass_"]), ["pass_at", "pass_k"]);
        assert_eq!(complete(&["log", "export", "--scorer", "incl"]), ["includes"]);
        assert_eq!(complete(&["score", "--metric=kripp"]), ["--metric=krippendorff_alpha"]);
        assert_eq!(complete(&["score", "--score-column", "kripp"]), [""; 0]);
    }

    #[test]
    fn names_within_a_spec_are_completed_too() {
        assert_eq!(complete(&["score", "-m", "grouped(accur"]), ["grouped(accuracy"]);
        assert_eq!(complete(&["score", "-m", "bootstrap(metric=geo"]), ["bootstrap(metric=geometric_mean"]);
        assert_eq!(
            complete(&["score", "--with", "multi_scorer([includes(), exa"]),
            ["multi_scorer([includes(), exact"]
        );
    }

    #[test]
    fn help_and_man_complete_what_they_explain() {
        assert_eq!(complete(&["help", "kripp"]), ["krippendorff_alpha"]);
        assert_eq!(complete(&["help", "cov"]), ["coverage"]);
        assert_eq!(complete(&["help", "redu"]), ["reducers"]);
        assert_eq!(complete(&["man", "cov"]), ["coverage"]);
    }

    #[test]
    fn providers_are_the_beginnings_of_models() {
        assert_eq!(complete(&["eval", "x.toml", "--model", "rep"]), ["replay/"]);
    }

    #[test]
    fn every_shell_has_a_script_that_calls_the_program() {
        let registry = errorbar_eval::built_in_registry();
        let context = Context { program: "my-scores", registry: &registry, quiet: false };
        for shell in [Shell::Bash, Shell::Elvish, Shell::Fish, Shell::PowerShell, Shell::Zsh] {
            let Output::Data(script) = run(&CompletionsArgs { shell }, &context).ok().unwrap().output else {
                panic!("{shell}: no script");
            };
            let script = String::from_utf8(script).unwrap();
            assert!(script.contains("my-scores") && script.contains(VARIABLE), "{shell}: {script}");
        }
    }

    #[test]
    fn files_and_logs_are_completed_from_the_folder() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a.toml", "b.eval", "c.txt"] {
            std::fs::write(folder.path().join(name), "[task.one]\n[task.two]\n").unwrap();
        }
        let within = |path: &str| folder.path().join(path).display().to_string();
        let found = |line: &[&str], start: &str| complete(&[line, &[within(start).as_str()]].concat());
        assert_eq!(found(&["verify"], ""), [within("b.eval")]);
        assert_eq!(found(&["eval"], "a"), [within("a.toml"), within("a.toml@one"), within("a.toml@two")]);
        assert_eq!(found(&["eval"], "a.toml@t"), [within("a.toml@two")]);
        assert!(OsStr::new(&found(&["score"], "c")[0]) == OsStr::new(&within("c.txt")));
        let replayed = complete(&["eval", "a.toml", "--model", &format!("replay/{}", within("b"))]);
        assert_eq!(replayed, [format!("replay/{}", within("b.eval"))]);
    }
}
