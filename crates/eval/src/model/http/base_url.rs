//! Where a server is.

use reqwest::Url;

use crate::{BaseUrlProblem, Error, Result};

/// Where a server is: what stands before the paths of its requests.
#[derive(Clone)]
pub(in crate::model) struct BaseUrl(Url);

impl BaseUrl {
    /// Reads it; `variable` names the environment variable that the string comes from, for the error.
    ///
    /// # Errors
    /// Anything but an address with http or https and a host, and one with a password, which would get into logs.
    pub(in crate::model) fn parse(text: &str, variable: Option<&str>) -> Result<Self> {
        // What has an `@` may hold a password, and what stands behind a `?` a key: neither is repeated.
        let without_query = text.split(['?', '#']).next().unwrap_or_default();
        let fail = |problem: BaseUrlProblem| Error::BaseUrl {
            url: (!text.contains('@')).then(|| without_query.escape_debug().to_string()),
            variable: variable.map(str::to_owned),
            problem,
        };
        let url = Url::parse(text.trim()).map_err(|error| fail(BaseUrlProblem::Syntax(error.to_string())))?;
        if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
            return Err(fail(BaseUrlProblem::Scheme));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(fail(BaseUrlProblem::Credentials));
        }
        if url.path().trim_end_matches('/').ends_with("/chat/completions") {
            return Err(fail(BaseUrlProblem::RequestPath));
        }
        Ok(BaseUrl(url))
    }

    /// The name of the host.
    pub(in crate::model) fn host(&self) -> &str {
        self.0.host_str().unwrap_or_default()
    }

    /// Whether requests to it use TLS.
    pub(super) fn is_https(&self) -> bool {
        self.0.scheme() == "https"
    }

    /// The address of this path beneath it; what stands behind a `?` stays there.
    pub(super) fn join(&self, path: &[&str]) -> Url {
        let mut url = self.0.clone();
        // Only an address without a host has no path, and those are refused.
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend(path);
        }
        url.set_fragment(None);
        url
    }

    /// What stands behind a `?`, where some servers take keys.
    pub(in crate::model) fn query(&self) -> &str {
        self.0.query().unwrap_or_default()
    }

    /// The string with a slash at its end, unless something stands behind a `?`.
    #[cfg(feature = "providers")]
    pub(in crate::model) fn without_query(&self) -> Option<String> {
        self.0.query().is_none().then(|| self.join(&[""]).to_string())
    }

    /// As errors and logs show it.
    pub(in crate::model) fn shown(&self) -> String {
        shown(&self.0).trim_end_matches('/').to_owned()
    }
}

/// An address without what stands behind a `?`, where some servers take keys.
pub(super) fn shown(url: &Url) -> String {
    let mut url = url.clone();
    url.set_query(None);
    url.set_fragment(None);
    url.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is wrong with a base URL, and the message.
    fn refused(text: &str) -> (BaseUrlProblem, String) {
        let error = BaseUrl::parse(text, Some("VARIABLE")).map(|_| ()).unwrap_err();
        let message = error.to_string();
        let Error::BaseUrl { problem, .. } = error else { panic!("{message}") };
        (problem, message)
    }

    #[test]
    fn a_path_goes_between_base_and_query_with_one_slash() {
        for base in ["http://h:1/v1", "http://h:1/v1/", " http://h:1/v1\n"] {
            let base = BaseUrl::parse(base, None).unwrap();
            assert_eq!(base.join(&["chat", "completions"]).as_str(), "http://h:1/v1/chat/completions");
            assert_eq!(base.shown(), "http://h:1/v1");
        }
        let azure = BaseUrl::parse("https://h/openai?api-version=7#x", None).unwrap();
        assert_eq!(azure.join(&["chat"]).as_str(), "https://h/openai/chat?api-version=7");
        assert_eq!(azure.shown(), "https://h/openai");
        assert_eq!(BaseUrl::parse("http://h", None).unwrap().join(&["chat"]).as_str(), "http://h/chat");
    }

    #[test]
    fn what_is_no_address_of_a_server_is_refused() {
        let syntax = |problem: &str| BaseUrlProblem::Syntax(problem.to_owned());
        for (text, problem) in [
            ("", syntax("relative URL without a base")),
            ("127.0.0.1:8080/v1", syntax("relative URL without a base")),
            ("localhost:8080", BaseUrlProblem::Scheme),
            ("ftp://h/v1", BaseUrlProblem::Scheme),
            ("http://", syntax("empty host")),
            ("file:///v1", BaseUrlProblem::Scheme),
            ("http://h/v1/chat/completions/", BaseUrlProblem::RequestPath),
        ] {
            let advice = "it is written as in http://127.0.0.1:8080/v1";
            let message = format!("the base URL `{text}` (VARIABLE) {problem}; {advice}");
            assert_eq!(refused(text), (problem, message));
        }
    }

    #[test]
    fn a_password_is_refused_and_not_repeated() {
        let message = "the base URL (VARIABLE) has a user or a password in it, which would get into logs; give the key \
                       in its own place, a file or the environment; it is written as in http://127.0.0.1:8080/v1";
        for text in ["http://me:hunter2@h/v1", "http://hunter2@h/v1"] {
            assert_eq!(refused(text), (BaseUrlProblem::Credentials, message.to_owned()));
        }
        let (problem, message) = refused("http//me:hunter2@h");
        assert!(matches!(problem, BaseUrlProblem::Syntax(_)) && !message.contains("hunter2"), "{message}");
    }

    #[test]
    fn a_query_is_not_repeated() {
        for text in [
            "http://h/v1/chat/completions?key=hunter2",
            "h/v1?key=hunter2",
            "http://h:x/?hunter2",
            "ftp://h#hunter2",
        ] {
            assert!(!refused(text).1.contains("hunter2"), "{text}");
        }
    }
}
