//! `errorbar completions`: scripts for shells, which call the program for what can stand at a place.
//!
//! The program is called with the variable `ERRORBAR_COMPLETE`. So completions know the entries, tasks, logs and models that
//! there are when the key is pressed, not those of the day on which the script was made.

mod bash;
mod candidates;

use std::env;
use std::ffi::OsString;

use clap::{Args, Command};
use clap_complete::env::{Elvish, EnvCompleter, Fish, Powershell, Shells, Zsh};
use clap_complete::{CompleteEnv, Shell};
use errorbar_core::Registry;

use self::bash::Bash;
use super::{CommandResult, Context};
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
    let command = command.mut_args(|arg| match candidates::of_argument(&path, &arg, registry) {
        Some(completer) => arg.add(completer),
        None => arg,
    });
    command.mut_subcommands(|command| with_candidates(command, registry))
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
