//! The figure that stands for a whole evaluation, out of those that a header records.

use super::node::Node;

/// A block of figures in the results of a log.
#[derive(Debug)]
pub(super) struct ScoreBlock<'a> {
    pub(super) name: &'a str,
    pub(super) scorer: &'a str,
    pub(super) reducer: Option<&'a str>,
    /// The values of metrics, by their keys.
    pub(super) metrics: Vec<(&'a str, &'a Node)>,
}

impl<'a> ScoreBlock<'a> {
    fn of(score: &'a Node, metrics: Option<&'a Node>) -> Self {
        let text = |name: &str| score.get(name).and_then(Node::as_text);
        let name = text("name").unwrap_or_default();
        let metrics = metrics.map(Node::as_map).unwrap_or_default();
        ScoreBlock {
            name,
            scorer: text("scorer").unwrap_or(name),
            reducer: text("reducer"),
            metrics: metrics
                .iter()
                .filter_map(|(key, metric)| {
                    Some((
                        key.as_str(),
                        metric
                            .as_map()
                            .iter()
                            .rev()
                            .find(|(name, _)| name == "value")
                            .map(|(_, value)| value)?,
                    ))
                })
                .collect(),
        }
    }

    /// The value of a metric.
    pub(super) fn value(&self, metric: &str) -> Option<&'a Node> {
        self.metrics.iter().rev().find(|(key, _)| *key == metric).map(|(_, value)| *value)
    }
}

/// The blocks of the results.
pub(super) fn scores(results: Option<&Node>) -> Vec<ScoreBlock<'_>> {
    let Some(results) = results else { return Vec::new() };
    if let Some(scorer) = results.get("scorer") {
        // Very old logs have one block, in two fields.
        let metrics = results.get("metrics").filter(|metrics| !metrics.as_map().is_empty());
        return vec![ScoreBlock::of(scorer, metrics.or_else(|| scorer.get("metrics")))];
    }
    let scores = results.get("scores").map(Node::as_list).unwrap_or_default();
    scores.iter().map(|score| ScoreBlock::of(score, score.get("metrics"))).collect()
}

/// The headline.
#[derive(Debug)]
pub(super) struct Headline<'s, 'a> {
    pub(super) score: &'s ScoreBlock<'a>,
    pub(super) metric: &'a str,
    pub(super) value: Option<&'a Node>,
}

/// What the header declares as the headline, if there is such a figure; else the first metric of the first block.
pub(super) fn of<'s, 'a>(header: &'a Node, scores: &'s [ScoreBlock<'a>]) -> Option<Headline<'s, 'a>> {
    let declared = header.at(&["results", "headline"]).or_else(|| header.at(&["eval", "headline_metric"]));
    declared.and_then(|declared| find(declared, scores)).or_else(|| first_metric(scores.first()?))
}

fn find<'s, 'a>(declared: &'a Node, scores: &'s [ScoreBlock<'a>]) -> Option<Headline<'s, 'a>> {
    let wanted = |name: &str| declared.get(name).and_then(Node::as_text);
    let is_wanted = |name: &str, found: Option<&str>| wanted(name).is_none_or(|wanted| found == Some(wanted));
    let mut candidates = scores.iter().filter(|score| {
        is_wanted("reducer", score.reducer)
            && is_wanted("scorer", Some(score.scorer))
            && is_wanted("score", Some(score.name))
    });
    match wanted("metric") {
        None => first_metric(candidates.next()?),
        Some(metric) => {
            let (score, value) = candidates.find_map(|score| Some((score, score.value(metric)?)))?;
            Some(Headline { score, metric, value: Some(value) })
        }
    }
}

fn first_metric<'s, 'a>(score: &'s ScoreBlock<'a>) -> Option<Headline<'s, 'a>> {
    let (metric, _) = score.metrics.first()?;
    Some(Headline { score, metric, value: score.value(metric) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headline(declared: &str) -> Option<String> {
        let header = format!(
            r#"{{"eval":{{}},"results":{{"headline":{declared},"scores":[
            {{"name":"a","scorer":"x","reducer":"mean","metrics":{{"acc":{{"value":1}},"se":{{"value":2}}}}}},
            {{"name":"b","scorer":"x","reducer":"max","metrics":{{"acc":{{"value":3}}}}}},
            {{"name":"b","scorer":"y","metrics":{{"std":{{"value":4}}}}}}]}}}}"#
        );
        let header = Node::parse(header.as_bytes()).unwrap();
        let scores = scores(header.get("results"));
        of(&header, &scores).and_then(|it| Some(format!("{} {}", it.metric, it.value?.python_text())))
    }

    #[test]
    fn a_declared_figure_counts_if_it_is_there() {
        for (declared, expected) in [
            ("null", "acc 1"),
            ("{}", "acc 1"),
            (r#"{"metric":"std"}"#, "std 4"),
            (r#"{"score":"b"}"#, "acc 3"),
            (r#"{"scorer":"y"}"#, "std 4"),
            (r#"{"reducer":"max","metric":"acc"}"#, "acc 3"),
            (r#"{"reducer":"max","metric":"se"}"#, "acc 1"),
            (r#"{"scorer":"none","metric":"std"}"#, "acc 1"),
        ] {
            assert_eq!(headline(declared).as_deref(), Some(expected), "{declared}");
        }
    }

    #[test]
    fn old_results_have_one_block() {
        let results =
            Node::parse(br#"{"scorer":{"name":"match"},"metrics":{"accuracy":{"value":1}}}"#).unwrap();
        let scores = scores(Some(&results));
        assert_eq!((scores[0].name, scores[0].scorer, scores[0].metrics.len()), ("match", "match", 1));
        assert!(super::scores(None).is_empty());
    }
}
