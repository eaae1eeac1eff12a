//! Whether a model grades its own answers, from what a log records.

use errorbar_core::spec::{Arg, Spec};
use errorbar_core::{Metadata, Params};
use errorbar_log::eval::{EvalInfo, ScorerInfo};
use serde_json::Value as Json;

use super::graders::ROLE;
use crate::model::ROLES;
use crate::scorers::{ModelGradedFact, ModelGradedQa, ModelGradedScore};

/// The evaluated model, if it also grades: it is the grader by name, or nothing names another one.
///
/// ```
/// use errorbar_eval::self_graded;
/// use errorbar_log::eval::{EvalInfo, ScorerInfo};
///
/// let mut eval = EvalInfo::new("quiz", "a/b");
/// eval.scorers = Some(vec![ScorerInfo::new("model_graded_qa")]);
/// assert_eq!(self_graded(&eval).as_deref(), Some("a/b"));
/// eval.extra.insert("model_roles", serde_json::json!({"grader": {"model": "c/d"}}));
/// assert_eq!(self_graded(&eval), None);
/// ```
pub fn self_graded(eval: &EvalInfo) -> Option<String> {
    let grades_itself = |scorer: &ScorerInfo| {
        let is_graded = [ModelGradedQa::NAME, ModelGradedFact::NAME, ModelGradedScore::NAME]
            .contains(&scorer.name.rsplit('/').next().unwrap_or_default());
        is_graded && graders(scorer, eval).is_some_and(|graders| graders.contains(&eval.model))
    };
    eval.scorers.iter().flatten().any(grades_itself).then(|| eval.model.clone())
}

/// Who grades: the models that are named, else those of the role, else the evaluated one. Nothing if that is not known.
fn graders(scorer: &ScorerInfo, eval: &EvalInfo) -> Option<Vec<String>> {
    let options = options(scorer)?;
    let named = options.get("model").filter(|model| !model.is_null());
    if let Some(named) = named {
        return names(named);
    }
    let role = match options.get("model_role") {
        None => Some(ROLE),
        Some(role) => role.as_str(),
    };
    let of_role = role.and_then(|role| eval.extra.get(ROLES)?.get(role));
    match of_role {
        Some(models) => names(models),
        None => Some(vec![eval.model.clone()]),
    }
}

/// The arguments by name. What was passed by position is recorded as a spec.
fn options(scorer: &ScorerInfo) -> Option<Metadata> {
    let mut options = scorer.options.clone().unwrap_or_default();
    let Some(text) = options.get("spec").and_then(Json::as_str) else { return Some(options) };
    let spec: Spec = text.parse().ok()?;
    let params = match scorer.name.rsplit('/').next() == Some(ModelGradedScore::NAME) {
        true => ModelGradedScore::params(),
        false => ModelGradedQa::params(),
    };
    let by_position = params.into_iter().map(|param| param.name).zip(&spec.args);
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
        eval.extra.insert(ROLES.to_owned(), roles);
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
