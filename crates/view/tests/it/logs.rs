//! Logs to look at.

use std::path::Path;

use errorbar_core::metrics::{accuracy, stderr};
use errorbar_core::{MetadataKeys, Plan, Registry, Score, metrics};
use errorbar_log::eval::{
    EvalError, EvalInfo, EvalLog, Header, Input, LogWriter, Message, ModelOutput, PlanRecord,
    RecordedResults, Reductions, SampleId, SampleRecord, ScorerInfo, StartRecord, Status, Targets,
    metrics_to_log,
};

/// A run whose log is being written.
pub(crate) struct Run {
    start: StartRecord,
    writer: LogWriter,
    path: std::path::PathBuf,
}

impl Run {
    pub(crate) fn start(path: &Path, task: &str, model: &str, samples: u64) -> Self {
        let mut eval = EvalInfo::new(task, model);
        eval.created = "2026-11-15T19:38:31+00:00".to_owned();
        eval.dataset.samples = Some(samples);
        let mut scorer = ScorerInfo::new("match");
        let metrics = metrics![accuracy(), stderr()];
        scorer.metrics = Some(metrics_to_log(&metrics, &Registry::built_in()));
        eval.scorers = Some(vec![scorer]);
        let start = StartRecord::new(eval, PlanRecord::default());
        let writer = LogWriter::create(path, &start).unwrap();
        Run { start, writer, path: path.to_owned() }
    }

    pub(crate) fn add(&mut self, id: &str, epoch: u32, grade: &str) -> &mut Self {
        let (sample, input, target) = (SampleId::from(id), Input::from("6 × 7?"), Targets::from("42"));
        let messages = [Message::user("6 × 7?"), Message::assistant("it is 42")];
        let output = ModelOutput::from_text("mock", "it is 42");
        let scores = [("match".to_owned(), Score::new(grade))];
        let record = SampleRecord {
            input: Some(&input),
            target: Some(&target),
            messages: &messages,
            output: Some(&output),
            scores: &scores,
            ..SampleRecord::new(&sample, epoch)
        };
        self.writer.append_sample(&record).unwrap();
        self
    }

    /// A right answer, and why.
    pub(crate) fn explained(&mut self, id: &str, why: &str) -> &mut Self {
        let (sample, input) = (SampleId::from(id), Input::from("6 × 7?"));
        let output = ModelOutput::from_text("mock", "it is 42");
        let mut score = Score::new("C");
        score.explanation = Some(why.to_owned());
        let scores = [("match".to_owned(), score)];
        let record = SampleRecord {
            input: Some(&input),
            output: Some(&output),
            scores: &scores,
            ..SampleRecord::new(&sample, 1)
        };
        self.writer.append_sample(&record).unwrap();
        self
    }

    pub(crate) fn end(self, status: Status, error: Option<&str>) {
        let columns = EvalLog::open(&self.path).unwrap().score_columns(&MetadataKeys::All).unwrap();
        let plan = Plan::new();

        let evaluation = plan.evaluate(&columns).unwrap();
        let header = Header::started(self.start)
            .status(status)
            .results(RecordedResults::from(&evaluation.results))
            .error(error.map(EvalError::new));
        self.writer.finish(&header, &Reductions::of(&evaluation.reductions, &columns)).unwrap();
    }
}

/// A run of eight samples, five of them right, that reached its end.
pub(crate) fn finished(path: &Path, task: &str, model: &str) {
    let mut run = Run::start(path, task, model, 8);
    for at in 0..8 {
        run.add(&format!("q{at}"), 1, if at < 5 { "C" } else { "I" });
    }
    run.end(Status::Success, None);
}
