//! Completions in bash.
//!
//! Bash splits a command line at `@`, `=`, `:` and `(`, which stand in tasks, handles, models and specs. The script joins such
//! words again, and returns of each candidate the part that bash replaces.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::Path;

use clap::Command;
use clap_complete::engine;
use clap_complete::env::EnvCompleter;

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
pub(super) struct Bash;

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
