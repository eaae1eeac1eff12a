//! A stored sample as the conversation that scorers judge.

use errorbar_log::eval::{AnsweredSample, PlanRecord, SampleLimit};

use crate::text::marked_choices;
use crate::{Sample, Target, TaskState};

/// How multiple-choice questions were answered.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ChoiceMode {
    /// Whether more than one choice may be marked.
    multiple: bool,
}

impl ChoiceMode {
    /// As the solvers of the log say.
    pub(super) fn of(plan: &PlanRecord) -> Self {
        let multiple = plan.steps.iter().any(|step| {
            step.solver.rsplit('/').next() == Some("multiple_choice")
                && step.params.get("multiple_correct").and_then(serde_json::Value::as_bool) == Some(true)
        });
        ChoiceMode { multiple }
    }
}

/// The question as a dataset has it, for what scorers check.
pub(super) fn question(answered: &AnsweredSample) -> Sample {
    Sample {
        input: answered.input.clone(),
        target: Target::from(answered.target.clone()),
        choices: answered.choices.clone(),
        id: Some(answered.id.clone()),
        metadata: answered.metadata.clone(),
    }
}

/// The conversation when it had ended.
pub(super) fn state(model: &str, answered: AnsweredSample, mode: ChoiceMode) -> TaskState {
    let sample = question(&answered);
    let mut state = TaskState::new(model, &sample, answered.id, answered.epoch);
    state.messages = answered.messages;
    state.output = answered.output;
    state.store = answered.store;
    state.completed = true;
    state.limit = answered.limit.map(|kind| SampleLimit::new(kind, 0.0, None));
    // Logs do not record which choices were marked, and a scorer that finds none would find every answer wrong; the
    // output names them.
    let marked = marked_choices(&state.output.completion, state.choices.len(), mode.multiple);
    let marked = marked.unwrap_or_default();
    for (place, choice) in state.choices.iter_mut().enumerate() {
        choice.marked = Some(marked.contains(&place));
    }
    state
}
