//! Whether a model grades its own answers, from what a log records.

use errorbar_core::Metadata;
use errorbar_core::spec::{Arg, Spec};
use serde_json::Value as Json;

use super::{EvalInfo, ScorerInfo};

/// The role of the model that grades, unless a scorer names another.
pub const GRADER_ROLE: &str = "grader";
/// Where the models in roles are recorded.
pub const MODEL_ROLES: &str = "model_roles";
/// The scorers of the reference that ask a model, and the one of ours; with the arguments of each by position.
pub const GRADED_SCORERS: [(&str, &[&str]); 3] = [
    ("model_graded_qa", BY_POSITION),
    ("model_graded_fact", BY_POSITION),
    ("model_graded_score", SCORE_BY_POSITION),
];

const BY_POSITION: &[&str] = &[
    "template",
    "instructions",
    "grade_pattern",
    "include_history",
    "partial_credit",
    "model",
    "model_role",
    "reducer",
];
const SCORE_BY_POSITION: &[&str] = &[
    "min",
    "max",
    "template",
    "instructions",
    "score_pattern",
    "include_history",
    "model",
    "model_role",
    "reducer",
];

/// The evaluated model, if it also grades: it is the grader by name, or nothing names another one.
///
/// ```
/// use errorbar_log::eval::{EvalInfo, ScorerInfo, self_graded};
///
/// let mut eval = EvalInfo::new("quiz", "a/b");
/// eval.scorers = Some(vec![ScorerInfo::new("model_graded_qa")]);
/// assert_eq!(self_graded(&eval).as_deref(), Some("a/b"));
/// eval.extra.insert("model_roles", serde_json::json!({"grader": {"model": "c/d"}}));
/// assert_eq!(self_graded(&eval), None);
/// ```
pub fn self_graded(eval: &EvalInfo) -> Option<String> {
    let grades_itself = |scorer: &ScorerInfo| {
        let graders = by_position(&scorer.name).and_then(|names| graders(scorer, names, eval));
        graders.is_some_and(|graders| graders.contains(&eval.model))
    };
    eval.scorers.iter().flatten().any(grades_itself).then(|| eval.model.clone())
}

/// Who grades: the models that are named, else those of the role, else the evaluated one. Nothing if that is not known.
fn graders(scorer: &ScorerInfo, names_of_args: &[&str], eval: &EvalInfo) -> Option<Vec<String>> {
    let options = options(scorer, names_of_args)?;
    let named = options.get("model").filter(|model| !model.is_null());
    if let Some(named) = named {
        return names(named);
    }
    let role = match options.get("model_role") {
        None => Some(GRADER_ROLE),
        Some(role) => role.as_str(),
    };
    let of_role = role.and_then(|role| eval.extra.get(MODEL_ROLES)?.get(role));
    match of_role {
        Some(models) => names(models),
        None => Some(vec![eval.model.clone()]),
    }
}

/// The arguments of a scorer that asks a model, by position.
fn by_position(scorer: &str) -> Option<&'static [&'static str]> {
    let name = scorer.rsplit('/').next().unwrap_or_default();
    GRADED_SCORERS.iter().find(|(known, _)| *known == name).map(|(_, names)| *names)
}

/// The arguments by name. What was passed by position is recorded as a spec.
fn options(scorer: &ScorerInfo, names: &[&str]) -> Option<Metadata> {
    let mut options = scorer.options.clone().unwrap_or_default();
    let Some(text) = options.get("spec").and_then(Json::as_str) else { return Some(options) };
    let spec: Spec = text.parse().ok()?;
    let by_position = names.iter().copied().zip(&spec.args);
    let by_name = spec.kwargs.iter().map(|(name, arg)| (name.as_str(), arg));
    let passed =
        by_position.chain(by_name).map(|(name, arg): (&str, &Arg)| (name.to_owned(), arg.to_log_json(name)));
    options.extend(passed.collect::<Vec<_>>());
    Some(options)
}

/// The names of models: one or several, as strings or as the records of roles.
fn names(models: &Json) -> Option<Vec<String>> {
    let name = |model: &Json| model.as_str().or_else(|| model.get("model")?.as_str()).map(str::to_owned);
    match models {
        Json::Array(models) => models.iter().map(name).collect(),
        model => Some(vec![name(model)?]),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn graded(scorer: &str, options: Json, roles: Json) -> bool {
        let mut scorer = ScorerInfo::new(scorer);
        scorer.options = options.as_object().cloned().map(Metadata::from);
        let mut eval = EvalInfo::new("quiz", "a/b");
        eval.scorers = Some(vec![scorer]);
        eval.extra.insert(MODEL_ROLES.to_owned(), roles);
        self_graded(&eval).is_some()
    }

    #[test]
    fn who_grades() {
        let none = || json!({});
        assert!(graded("model_graded_qa", none(), none()));
        assert!(graded(
            "inspect_ai/model_graded_fact",
            json!({"model": null, "model_role": "grader"}),
            none()
        ));
        assert!(!graded("match", none(), none()));
        assert!(!graded("model_graded_qa", json!({"model": "c/d"}), none()));
        assert!(graded("model_graded_qa", json!({"model": "a/b"}), json!({"grader": {"model": "c/d"}})));
        assert!(graded("model_graded_qa", json!({"model": ["c/d", "a/b"]}), none()));
        let grader = || json!({"grader": {"model": "c/d"}, "judge": [{"model": "a/b"}, {"model": "e/f"}]});
        assert!(!graded("model_graded_qa", none(), grader()));
        assert!(graded("model_graded_qa", json!({"model_role": "judge"}), grader()));
        assert!(graded("model_graded_qa", json!({"model_role": null}), grader()));
        assert!(graded("model_graded_qa", json!({"model_role": "nobody"}), grader()));
        assert!(!graded(
            "model_graded_qa",
            json!({"spec": "model_graded_qa('T {answer}', model='c/d')"}),
            none()
        ));
        assert!(graded("model_graded_qa", json!({"spec": "model_graded_qa('T {answer}')"}), none()));
        // What is not understood is not known.
        assert!(!graded("model_graded_qa", json!({"model": 5}), none()));
    }
}
