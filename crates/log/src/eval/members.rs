//! The names of the members of a log.

/// What is known when a run starts.
pub(super) const START: &str = "_journal/start.json";
/// What is known when it has ended.
pub(super) const HEADER: &str = "header.json";
/// A short form of every sample.
pub(super) const SUMMARIES: &str = "summaries.json";
/// One score per sample, for each scorer and reducer.
pub(super) const REDUCTIONS: &str = "reductions.json";
/// Where samples are.
pub(super) const SAMPLES: &str = "samples/";

/// The short forms that were written with one flush.
pub(super) fn journal_summaries(number: usize) -> String {
    format!("_journal/summaries/{number}.json")
}

/// Whether a member is a journal of short forms.
pub(super) fn is_journal_summaries(name: &str) -> bool {
    name.starts_with("_journal/summaries/")
}

/// Whether a member is made of the samples when a run ends.
pub(super) fn is_derived(name: &str) -> bool {
    matches!(name, HEADER | SUMMARIES | REDUCTIONS)
}

/// What a member is to a sample, by its name. Only the content identifies the sample: an id may be any string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SampleName<'a> {
    /// `samples/{id}_epoch_{n}.json`: all of it.
    Whole,
    /// `samples/{id}_epoch_{n}/sample.json`: all but its long lists and its metadata, which are members in the
    /// same folder.
    Shell {
        /// `samples/{id}_epoch_{n}`
        folder: &'a str,
    },
    /// Something else among the samples.
    Other,
    /// It does not belong to a sample.
    No,
}

const SHELL: &str = "/sample.json";

pub(super) fn sample_name(name: &str) -> SampleName<'_> {
    // Folders, as general tools list them, are nothing; anything else in there might be a sample, and must not be
    // lost because a bit of its name is wrong.
    if !name.starts_with(SAMPLES) || name.ends_with('/') {
        return SampleName::No;
    }
    let ends_in_epoch = |text: &str| {
        text.rsplit_once("_epoch_")
            .is_some_and(|(_, n)| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
    };
    if name.strip_suffix(".json").is_some_and(ends_in_epoch) {
        return SampleName::Whole;
    }
    match name.strip_suffix(SHELL).filter(|folder| ends_in_epoch(folder)) {
        Some(folder) => SampleName::Shell { folder },
        None => SampleName::Other,
    }
}

/// The folders that a member is in, from the innermost, as far as one of them may be that of a sample.
pub(super) fn folders_of(name: &str) -> impl Iterator<Item = &str> {
    const PARTS: usize = 8;
    name.match_indices('/').rev().take(PARTS).map(|(end, _)| name.get(..end).unwrap_or_default())
}

/// The shell of the sample in this folder.
pub(super) fn shell_of(folder: &str) -> String {
    format!("{folder}{SHELL}")
}

/// The metadata of the sample in this folder.
pub(super) fn metadata_of(folder: &str) -> String {
    format!("{folder}/metadata.json")
}

/// Whether a name, were it a path, would lead out of the folder that it is decompressed in. The names of samples
/// hold their ids, which may be anything; they are never made a path.
pub(super) fn is_outside(name: &str) -> bool {
    if sample_name(name) == SampleName::Whole {
        return false;
    }
    let drive = name.as_bytes().get(1) == Some(&b':');
    drive || name.starts_with(['/', '\\']) || name.split(['/', '\\']).any(|part| part == "..")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_decides_what_a_member_is() {
        for name in
            ["samples/1_epoch_1.json", "samples/a/b_epoch_12.json", "samples/x_epoch_1/y_epoch_2.json"]
        {
            assert_eq!(sample_name(name), SampleName::Whole, "{name}");
        }
        let shell = SampleName::Shell { folder: "samples/a/b_epoch_3" };
        assert_eq!(sample_name("samples/a/b_epoch_3/sample.json"), shell);
        for name in ["samples/a_epoch_1/messages/0.json", "samples/a.json", "samples/x_epoch_.json"] {
            assert_eq!(sample_name(name), SampleName::Other, "{name}");
        }
        for name in ["header.json", "samples/", "samples/a_epoch_1/"] {
            assert_eq!(sample_name(name), SampleName::No, "{name}");
        }
    }

    #[test]
    fn names_that_lead_out_are_seen() {
        for name in ["../x.json", "/etc/passwd", "a/../../b", "\\\\host\\x", "c:\\x", "samples/../../x.json"]
        {
            assert!(is_outside(name), "{name}");
        }
        for name in ["header.json", "samples/../x_epoch_1.json", "a..b/c", "samples/a/b_epoch_1/sample.json"]
        {
            assert!(!is_outside(name), "{name}");
        }
    }
}
