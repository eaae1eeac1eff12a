//! The environment of a program: ours without what looks like a secret.

/// Words in the name of a variable that holds a secret.
const SECRET_WORDS: [&str; 15] = [
    "APIKEY",
    "AUTH",
    "CREDENTIAL",
    "CREDENTIALS",
    "KEY",
    "KEYS",
    "PASSPHRASE",
    "PASSWD",
    "PASSWORD",
    "PAT",
    "PWD",
    "SECRET",
    "SECRETS",
    "TOKEN",
    "TOKENS",
];

/// Ends of such words, as in `PGPASSWORD` and `AUTHTOKEN`.
const SECRET_ENDS: [&str; 6] = ["CREDENTIALS", "KEY", "PASSWD", "PASSWORD", "SECRET", "TOKEN"];

/// Variables whose names have such a word and which hold no secret.
const NO_SECRETS: [&str; 2] = ["PWD", "OLDPWD"];

/// Whether a variable looks like a secret by its name: `OPENAI_API_KEY`, `HF_TOKEN`, `PGPASSWORD`.
pub(super) fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    let mut words = name.split(['_', '-', '.']);
    let is_secret_word =
        |word: &str| SECRET_WORDS.contains(&word) || SECRET_ENDS.iter().any(|end| word.ends_with(end));
    !NO_SECRETS.contains(&name.as_str()) && words.any(is_secret_word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_known_by_their_names() {
        for name in [
            "OPENAI_API_KEY",
            "HF_TOKEN",
            "aws_secret_access_key",
            "DB_PASSWORD",
            "GITHUB_PAT",
            "MYSQL_PWD",
            "PGPASSWORD",
            "MYSECRET",
            "NPM_AUTHTOKEN",
        ] {
            assert!(is_secret(name), "{name}");
        }
        for name in [
            "PATH",
            "HOME",
            "PWD",
            "OLDPWD",
            "KEYBOARD",
            "PYTHONPATH",
            "OPENAI_BASE_URL",
            "TOKENIZERS_PARALLELISM",
        ] {
            assert!(!is_secret(name), "{name}");
        }
    }
}
