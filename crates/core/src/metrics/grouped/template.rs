//! The names of groups.

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
