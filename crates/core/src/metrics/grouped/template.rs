//! The names of groups.

use std::borrow::Cow;

use crate::evaluation::{MetricValue, Role};

/// A name with `{group_name}` in it; `{{` and `}}` stand for braces.
pub(super) struct NameTemplate<'a>(pub(super) &'a str);

impl NameTemplate<'_> {
    pub(super) fn apply(&self, group: &str) -> Result<String, String> {
        let mut name = String::with_capacity(self.0.len() + group.len());
        let mut rest = self.0;
        while let Some(at) = rest.find(['{', '}']) {
            let (before, brace) = rest.split_at(at);
            name.push_str(before);
            if let Some(after) = brace.strip_prefix("{{") {
                name.push('{');
                rest = after;
            } else if let Some(after) = brace.strip_prefix("}}") {
                name.push('}');
                rest = after;
            } else if let Some(after) = brace.strip_prefix("{group_name}") {
                name.push_str(group);
                rest = after;
            } else {
                let template = self.0;
                return Err(format!(
                    "knows only the placeholder {{group_name}} (a brace itself is written twice), found {template:?}"
                ));
            }
        }
        name.push_str(rest);
        Ok(name)
    }
}

/// The names that results have a value under: one, or one for each part of it.
pub(super) fn recorded_names<'l>(label: &'l str, value: &MetricValue, role: Role) -> Vec<Cow<'l, str>> {
    match value {
        MetricValue::One(_) if role == Role::IntervalOf => {
            vec![format!("{label}_lower").into(), format!("{label}_upper").into()]
        }
        MetricValue::One(_) => vec![label.into()],
        MetricValue::Map(map) if role == Role::IntervalOf => {
            let ends = ["lower", "upper"];
            map.keys().flat_map(|key| ends.map(|end| format!("{label}_{key}_{end}").into())).collect()
        }
        MetricValue::Map(map) => map.keys().map(|key| format!("{label}_{key}").into()).collect(),
        MetricValue::List(list) => (1..=list.len()).map(|at| format!("{label}_{at}").into()).collect(),
        MetricValue::Groups(groups) => {
            let inner = groups.groups.iter().filter(|group| group.n > 0);
            let inner = inner.map(|group| (group.label.as_str(), &group.value));
            let all = groups.all.iter().map(|all| (all.label.as_str(), all.value.as_ref()));
            let nested = |(of, value): (&str, &MetricValue)| {
                let label = format!("{label}_{of}");
                let names = recorded_names(&label, value, role);
                names.into_iter().map(|name| name.into_owned().into()).collect::<Vec<_>>()
            };
            inner.chain(all).flat_map(nested).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::NameTemplate;

    #[test]
    fn one_placeholder_and_doubled_braces() {
        assert_eq!(NameTemplate("{group_name}").apply("x").unwrap(), "x");
        assert_eq!(NameTemplate("a_{group_name}_{group_name}").apply("x").unwrap(), "a_x_x");
        assert_eq!(NameTemplate("{{{group_name}}}").apply("{y}").unwrap(), "{{y}}");
        for broken in ["{", "}", "{other}", "{}", "{group_name", "{group_name:>5}"] {
            assert!(NameTemplate(broken).apply("x").is_err(), "{broken}");
        }
    }
}
