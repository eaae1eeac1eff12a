//! Prompts that are data: templates as arguments, and those of the reference, which are shipped with their source and
//! licence.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use errorbar_core::spec::Arg;
use errorbar_core::{ArgProblem, ArgType, Error, Registry};
use errorbar_files::read_small;

use crate::allowed_paths::is_within;
use crate::dataset::nearest_file;

/// The word that stands for the reference's prompt, in the template of an entry that has one.
pub(crate) const INSPECT: &str = "inspect";

/// A prompt: errorbar's, or the one that the reference has in its place.
pub(crate) fn prompt(name: &str, of_reference: bool) -> &'static str {
    static PROMPTS: OnceLock<[HashMap<String, String>; 2]> = OnceLock::new();
    // The files are a part of the program; a test reads them.
    let files = [include_str!("../prompts/errorbar.toml"), include_str!("../prompts/inspect.toml")];
    let [own, reference] = PROMPTS.get_or_init(|| files.map(|file| toml::from_str(file).unwrap_or_default()));
    let prompts = if of_reference { reference } else { own };
    prompts.get(name).map_or("", String::as_str)
}

/// The template of an entry that has a prompt of this name: the author's, the reference's if it is `inspect`, or ours.
pub(crate) fn template_or_prompt<'t>(template: Option<&'t TemplateText>, name: &str) -> &'t str {
    match template.filter(|template| !template.is_inspect()) {
        Some(template) => template.text(),
        None => prompt(name, template.is_some()),
    }
}

/// A template as an argument: the string itself; in a spec also the name of a file that holds it, relative to the task
/// file; and for entries that have a prompt of the reference, the word `inspect`.
///
/// ```
/// use errorbar_eval::{TemplateText, solvers::multiple_choice};
/// let _ = multiple_choice().template("{question}\n{choices}\nANSWER: ?");
/// let _ = multiple_choice().template("inspect");
/// assert_eq!(TemplateText::from("Be brief.").text(), "Be brief.");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TemplateText {
    /// As it was passed, for the record.
    given: String,
    /// What the file holds that it names.
    file: Option<Arc<str>>,
}

impl TemplateText {
    /// The string, or what the file holds that it names, relative to the folder of the registry, as in a spec.
    ///
    /// ```
    /// use errorbar_eval::{TemplateText, built_in_registry};
    /// assert_eq!(TemplateText::read("Be brief.", &built_in_registry())?.text(), "Be brief.");
    /// assert!(TemplateText::read("no_such_file.txt", &built_in_registry()).is_err());
    /// # Ok::<(), errorbar_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// A name of a file that cannot be read, or must not be.
    pub fn read(given: &str, registry: &Registry) -> Result<Self, Error> {
        TemplateText::from_arg(&Arg::from(given), registry).map_err(|problem| match problem {
            ArgProblem::Invalid(error) => error,
            ArgProblem::Wrong(problem) => Error::custom(problem),
            // A string has the right type.
            _ => Error::custom(format!("must be {}", Self::EXPECTED)),
        })
    }

    /// The template.
    pub fn text(&self) -> &str {
        self.file.as_deref().unwrap_or(&self.given)
    }

    /// As it was passed: the string or the name of the file.
    pub fn given(&self) -> &str {
        &self.given
    }

    /// Whether it is the word for the reference's prompt.
    pub(crate) fn is_inspect(&self) -> bool {
        self.file.is_none() && self.given == INSPECT
    }
}

impl From<&str> for TemplateText {
    fn from(text: &str) -> Self {
        TemplateText { given: text.to_owned(), file: None }
    }
}

impl From<String> for TemplateText {
    fn from(given: String) -> Self {
        TemplateText { given, file: None }
    }
}

impl ArgType for TemplateText {
    const EXPECTED: &'static str = String::EXPECTED;

    /// What has braces or several lines is no name of a file; what looks like one must be readable.
    fn from_arg(arg: &Arg, registry: &Registry) -> Result<Self, ArgProblem> {
        let mut template = TemplateText::from(String::from_arg(arg, registry)?);
        let path = registry.folder().join(&template.given);
        let may_be_file = !template.given.contains(['{', '\n']) && template.given != INSPECT;
        if may_be_file && (path.is_file() || looks_like_file(&template.given)) {
            if path.is_file() && !is_within(&path, registry.folder(), registry.allowed_paths()) {
                return Err(ArgProblem::Invalid(Error::OutsideFolder(path)));
            }
            let unreadable = |problem: String| {
                let near = nearest_file(&path).filter(|_| !path.exists());
                let near = near.map(|near| format!("did you mean {near:?}? ")).unwrap_or_default();
                ArgProblem::Wrong(format!(
                    "cannot be read from {}: {problem}; {near}to send the words themselves, end them with a space",
                    path.display()
                ))
            };
            let bytes = read_small(&path).map_err(|error| unreadable(error.to_string()))?;
            let text = String::from_utf8(bytes).map_err(|error| unreadable(error.to_string()))?;
            template.file = Some(text.into());
        }
        Ok(template)
    }

    fn to_arg(&self) -> Arg {
        self.given.to_arg()
    }
}

/// Whether a string is written as the name of a file: with an ending such as `.txt`, or with a slash between words, which
/// `C/I`, `yes/no` and the `/no_think` of some models have not. One with blanks, as a sentence has, ends in `.txt` or
/// `.md`, or starts with `./`.
fn looks_like_file(text: &str) -> bool {
    const LONGEST_ENDING: usize = 8;
    const LONGEST_LETTERS: usize = 3;
    let is_ending = |ending: &str| {
        ending.len() <= LONGEST_ENDING
            && ending.starts_with(|c: char| c.is_ascii_alphabetic())
            && ending.chars().all(|c| c.is_ascii_alphanumeric())
    };
    let ending = Path::new(text).extension().and_then(OsStr::to_str);
    if text.starts_with("./") || text.starts_with("../") {
        return true;
    }
    if text.contains(char::is_whitespace) {
        let is_of_text = |ending: &str| ["txt", "md"].iter().any(|known| ending.eq_ignore_ascii_case(known));
        return ending.is_some_and(is_of_text);
    }
    let names: Vec<&str> = text.split('/').filter(|name| !name.is_empty()).collect();
    let is_path = names.len() > 1 && names.iter().any(|name| name.len() > LONGEST_LETTERS);
    is_path || ending.is_some_and(is_ending)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_of_prompts_have_the_same_names() {
        let own: HashMap<String, String> = toml::from_str(include_str!("../prompts/errorbar.toml")).unwrap();
        let reference: HashMap<String, String> =
            toml::from_str(include_str!("../prompts/inspect.toml")).unwrap();
        assert!(reference.keys().all(|name| own.contains_key(name)));
        assert!(prompt("single_answer", true).ends_with("{question}\n\n{choices}"));
        assert!(prompt("chain_of_thought", true).starts_with("\n{prompt}\n"));
        assert!(prompt("critique", true).ends_with("Critique: "));
        assert!(prompt("critique", false).ends_with("[Your review]\n"));
    }
}
