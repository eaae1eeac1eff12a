//! Writing a log during a run.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use errorbar_files::is_named;

use super::container::{HEADER, REDUCTIONS, START, journal_summaries};
use super::error::{LogError, LogErrorKind, Result};
use super::header::{Header, StartRecord};
use super::limits::LogLimits;
use super::lock::{HeldLock, lock};
use super::sample::{SampleRecord, SummaryList};
use super::scores::Reductions;
use super::zip::{Decompressor, Encoder, LogFile, Member, Members, directory_bytes};

/// Writes a log. A sample that was appended is in the file, whatever happens to the process.
///
/// ```text
/// file   start │ sample │ sample │ journal │ sample │ … │ summaries │ reductions │ header │ directory
/// ```
///
/// The directory is rewritten together with a member when as many bytes were written since the last one as it
/// has itself, so that all directories together cost no more than the samples. In between the file may have
/// none; readers then find the members one by one.
///
/// See [the module](super) for an example.
#[derive(Debug)]
pub struct LogWriter {
    path: PathBuf,
    file: File,
    /// The same file, to read the journal back at the end: there may be no descriptor left then.
    reader: LogFile,
    encoder: Encoder,
    members: Members,
    journal: Journal,
    /// Where the next member goes.
    end: u64,
    /// How long the directory of the members is, about.
    directory_len: u64,
    /// Bytes of members since the last directory.
    since_directory: u64,
    /// Whether something stands behind the members that must go before one is written without a directory.
    has_tail: bool,
    /// All bytes ever written, to see that the cost is linear.
    bytes_written: u64,
    _lock: HeldLock,
}

/// A sample and its summary, encoded on whichever thread had the time.
#[derive(Debug)]
pub struct EncodedSample {
    member: Member,
    summary: Vec<u8>,
}

impl EncodedSample {
    /// The sample itself.
    pub fn member(&self) -> &Member {
        &self.member
    }
}

/// Encodes a sample, for [`LogWriter::append_encoded`].
pub fn encode_sample(encoder: &mut Encoder, record: &SampleRecord<'_>) -> Result<EncodedSample> {
    let member = encoder.encode(&record.member_name(), &record.to_json());
    let member = member.map_err(|error| error.of_sample(&record.id))?;
    Ok(EncodedSample { member, summary: record.summary_json() })
}

impl LogWriter {
    /// Starts a log. The folder is created if needed; an existing file is not overwritten.
    pub fn create(path: &Path, start: &StartRecord) -> Result<Self> {
        Self::create_new(path, start).map_err(|error| error.at(path))
    }

    fn create_new(path: &Path, start: &StartRecord) -> Result<Self> {
        if let Some(folder) = path.parent() {
            private_folder(folder).map_err(LogErrorKind::Folder)?;
        }
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true);
        // What people and models write may be confidential.
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(path).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => LogErrorKind::Exists,
            _ => LogErrorKind::Open(error),
        })?;
        let lock = lock(&file, path).inspect_err(|_| {
            // Whoever has locked it meanwhile finds nothing in it.
            if is_named(&file, path).unwrap_or(false) {
                let _ = fs::remove_file(path);
            }
        })?;
        let mut writer = Self::with_members(path, file, lock, Members::new(), 0)?;
        let member = writer.encoder.encode(START, &start.to_json())?;
        writer.write(vec![member], true)?;
        Ok(writer)
    }

    /// A writer that appends to these members of a log that is locked.
    pub(super) fn with_members(
        path: &Path,
        file: File,
        lock: HeldLock,
        members: Members,
        end: u64,
    ) -> Result<Self> {
        let reader = file.try_clone().and_then(LogFile::new).map_err(LogErrorKind::Open)?;
        Ok(LogWriter {
            path: path.to_owned(),
            file,
            reader,
            encoder: Encoder::new()?,
            journal: Journal::default(),
            end,
            directory_len: members.keys().map(|name| directory_share(name)).sum(),
            members,
            // The first member that is appended brings a directory.
            since_directory: end,
            has_tail: true,
            bytes_written: 0,
            _lock: lock,
        })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Appends a member. One of the same name before it no longer counts.
    pub fn append(&mut self, member: Member) -> Result<()> {
        let name = member.name.clone();
        self.append_member(member).map_err(|error| error.in_member(&name).at(&self.path))
    }

    /// Appends a sample. When this returns, the sample survives the end of the process.
    pub fn append_sample(&mut self, record: &SampleRecord<'_>) -> Result<()> {
        let encoded = encode_sample(&mut self.encoder, record).map_err(|error| error.at(&self.path))?;
        self.append_encoded(encoded).map_err(|error| error.of_sample(&record.id))
    }

    /// Appends a sample that was encoded elsewhere. When this returns, the sample survives the end of the
    /// process.
    pub fn append_encoded(&mut self, sample: EncodedSample) -> Result<()> {
        let name = sample.member.name.clone();
        self.append(sample.member)?;
        self.journal.push(&name, &sample.summary);
        Ok(())
    }

    /// Takes the summary of a sample that is in the file already.
    pub(super) fn push_summary(&mut self, name: &str, summary: &[u8]) -> Result<()> {
        self.journal.push(name, summary);
        match self.journal.is_large() {
            true => self.write_journal_only(),
            false => Ok(()),
        }
    }

    fn write_journal_only(&mut self) -> Result<()> {
        let Some(member) = self.journal.encode(&mut self.encoder)? else { return Ok(()) };
        self.write(vec![member], false)?;
        self.journal.written();
        Ok(())
    }

    fn append_member(&mut self, member: Member) -> Result<()> {
        let since = self.since_directory + member.len() as u64;
        let with_directory = since >= self.directory_len + directory_share(&member.name);
        let mut members = vec![member];
        let with_journal = self.journal.is_large() || with_directory && self.journal.is_due();
        if with_journal {
            members.extend(self.journal.encode(&mut self.encoder)?);
        }
        self.write(members, with_directory)?;
        if with_journal {
            self.journal.written();
        }
        Ok(())
    }

    /// Writes members, and a directory behind them, with a single call. If it fails the log is as before, but
    /// for its directory.
    fn write(&mut self, mut members: Vec<Member>, with_directory: bool) -> Result<()> {
        let mut bytes = Vec::new();
        let mut at = self.end;
        for member in &mut members {
            member.entry.offset = at;
            at += member.len() as u64;
            match bytes.is_empty() {
                // Nearly always there is one, which need not be copied.
                true => bytes = std::mem::take(&mut member.bytes),
                false => bytes.extend_from_slice(&member.bytes),
            }
        }
        if with_directory {
            // The few that are replaced are looked up, not all that stay.
            let replaced: Vec<usize> =
                members.iter().filter_map(|member| self.members.get_index_of(member.name())).collect();
            let old = self.members.iter().enumerate().filter(|(at, _)| !replaced.contains(at));
            let old = old.map(|(_, (name, entry))| (name.as_str(), entry));
            let all = old.chain(members.iter().map(|member| (member.name(), &member.entry)));
            bytes.extend_from_slice(&directory_bytes(all, at));
        }
        if let Err(error) = self.write_bytes(&bytes, with_directory) {
            // What was written of it is cut off again, if the disk lets us; readers would stop there anyway.
            let _ = self.file.set_len(self.end);
            self.has_tail = true;
            return Err(LogErrorKind::Write(error).into());
        }
        self.since_directory = if with_directory { 0 } else { self.since_directory + at - self.end };
        self.has_tail = with_directory;
        self.end = at;
        for Member { name, entry, .. } in members {
            self.journal.supersede(&name);
            let share = directory_share(&name);
            if self.members.insert(name, entry).is_none() {
                self.directory_len += share;
            }
        }
        Ok(())
    }

    fn write_bytes(&mut self, bytes: &[u8], with_directory: bool) -> io::Result<()> {
        // A new directory is written over the old one and is never shorter.
        if self.has_tail && !with_directory {
            self.file.set_len(self.end)?;
        }
        self.file.seek(SeekFrom::Start(self.end))?;
        self.file.write_all(bytes)?;
        self.bytes_written += bytes.len() as u64;
        Ok(())
    }

    /// Whether the log still has its name: who removes the file or its folder takes all that is written later.
    ///
    /// # Errors
    /// A log that was removed, or replaced by another file.
    pub fn check_place(&self) -> Result<()> {
        use io::ErrorKind::{NotADirectory, NotFound};
        let kind = match is_named(&self.file, &self.path) {
            Ok(true) => return Ok(()),
            Ok(false) if self.path.exists() => LogErrorKind::Displaced,
            Ok(false) => LogErrorKind::Gone,
            Err(error) if matches!(error.kind(), NotFound | NotADirectory) => LogErrorKind::Gone,
            // Whatever keeps us from looking need not keep us from writing.
            Err(_) => return Ok(()),
        };
        Err(LogError::from(kind).at(&self.path))
    }

    /// Ends the log: summaries, reductions, the header and the directory, brought to the disk.
    ///
    /// # Errors
    /// A log that cannot be written, or was removed.
    pub fn finish(mut self, header: &Header, reductions: &Reductions) -> Result<()> {
        self.write_end(header, reductions).map_err(|error| error.at(&self.path))?;
        self.check_place()
    }

    fn write_end(&mut self, header: &Header, reductions: &Reductions) -> Result<()> {
        let mut members = Vec::new();
        members.extend(self.journal.encode(&mut self.encoder)?);
        self.reader.refresh().map_err(LogErrorKind::Read)?;
        members.push(self.journal.all(&self.reader, &self.members, &mut self.encoder)?);
        if let Some(json) = &reductions.json {
            members.push(self.encoder.encode(REDUCTIONS, json)?);
        }
        members.push(self.encoder.encode(HEADER, &header.to_json())?);
        self.write(members, true)?;
        self.file.sync_all().map_err(LogErrorKind::Write)?;
        Ok(())
    }
}

/// How many bytes of the directory a member takes.
fn directory_share(name: &str) -> u64 {
    46 + name.len() as u64
}

/// Makes a folder, and those above it, for their owner alone; those that exist stay as they are.
fn private_folder(folder: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

// The summaries of samples on their way into the log.
//
// They go into the file in pieces and leave the memory; the member with all of them is made at the end by
// reading the pieces back, so that a long run does not hold a hundred thousand summaries.

/// A piece is written with a directory from this many summaries on.
const DUE: usize = 10;
/// A piece is written in any case from this many bytes on.
const LARGE: usize = 1 << 20;
/// Summaries are JSON on one line each, so a piece can be taken apart without parsing.
const BETWEEN: &[u8] = b",\n";

/// The summaries of a run.
#[derive(Debug, Default)]
struct Journal {
    /// Summaries that are not in the file.
    pending: Vec<u8>,
    pending_count: usize,
    /// How many pieces are in the file.
    pieces: usize,
    /// How many summaries there are, and which of them belongs to a member.
    count: u32,
    numbers: HashMap<String, u32>,
    /// Summaries of samples that were run again.
    superseded: HashSet<u32>,
}

impl Journal {
    pub(super) fn push(&mut self, member: &str, summary: &[u8]) {
        if self.pending_count > 0 {
            self.pending.extend_from_slice(BETWEEN);
        }
        self.pending.extend_from_slice(summary);
        self.pending_count += 1;
        self.numbers.insert(member.to_owned(), self.count);
        self.count += 1;
    }

    /// A member was written again: its summary no longer counts.
    fn supersede(&mut self, member: &str) {
        self.superseded.extend(self.numbers.remove(member));
    }

    /// Whether a piece is worth writing.
    fn is_due(&self) -> bool {
        self.pending_count >= DUE
    }

    /// Whether a piece must be written.
    pub(super) fn is_large(&self) -> bool {
        self.pending.len() >= LARGE
    }

    /// What is pending as a member, if there is something.
    pub(super) fn encode(&self, encoder: &mut Encoder) -> Result<Option<Member>> {
        if self.pending_count == 0 {
            return Ok(None);
        }
        let json = [b"[", self.pending.as_slice(), b"]"].concat();
        encoder.encode(&journal_summaries(self.pieces + 1), &json).map(Some)
    }

    /// What was pending is in the file.
    pub(super) fn written(&mut self) {
        self.pending.clear();
        self.pending_count = 0;
        self.pieces += 1;
    }

    /// All summaries that count, as one list.
    pub(super) fn all(&self, source: &LogFile, members: &Members, encoder: &mut Encoder) -> Result<Member> {
        let (mut list, mut number) = (SummaryList::new(encoder), 0);
        let mut add = |summaries: &[u8]| -> Result<()> {
            // No JSON on one line holds a line end, so every one of them stands between two summaries.
            for summary in summaries.split(|byte| *byte == b'\n').filter(|summary| !summary.is_empty()) {
                if !self.superseded.contains(&number) {
                    list.push(summary.strip_suffix(b",").unwrap_or(summary))?;
                }
                number += 1;
            }
            Ok(())
        };
        let mut decompressor = Decompressor::new(LogLimits::default());
        for piece in 1..=self.pieces {
            let name = journal_summaries(piece);
            let missing = || LogErrorKind::damaged("a journal that was written is missing");
            let entry = members.get(&name).ok_or_else(missing)?;
            let json = decompressor.decompress(source, &name, entry)?;
            let inside = json.strip_prefix(b"[").and_then(|json| json.strip_suffix(b"]"));
            add(inside.ok_or_else(missing)?)?;
        }
        add(&self.pending)?;
        list.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::super::container::SUMMARIES;
    use super::super::header::{EvalInfo, PlanRecord};
    use super::super::reader::EvalLog;
    use super::super::zip::tests::change_before_read;
    use super::*;

    fn writer(folder: &Path) -> LogWriter {
        let start = StartRecord::new(EvalInfo::default(), PlanRecord::default());
        LogWriter::create(&folder.join("log.eval"), &start).unwrap()
    }

    fn sample(encoder: &mut Encoder, id: usize, padding: usize) -> EncodedSample {
        // Noise, as a string that repeats compresses to nothing.
        let noise: String =
            (0..padding).map(|at| char::from(b'a' + ((id * 31 + at) * 7919 % 26) as u8)).collect();
        let json = format!("{{\"id\":{id},\"epoch\":1,\"noise\":\"{noise}\"}}");
        let member = encoder.encode(&format!("samples/{id}_epoch_1.json"), json.as_bytes()).unwrap();
        EncodedSample { member, summary: format!("{{\"id\":{id}}}").into_bytes() }
    }

    #[test]
    fn directories_cost_no_more_than_what_they_list() {
        for padding in [0, 400] {
            let folder = tempfile::tempdir().unwrap();
            let mut writer = writer(folder.path());
            let mut encoder = Encoder::new().unwrap();
            let mut directories = 0;
            for id in 0..3000 {
                writer.append_encoded(sample(&mut encoder, id, padding)).unwrap();
                directories += usize::from(writer.has_tail);
                let len = std::fs::metadata(&writer.path).unwrap().len();
                assert!(
                    len >= writer.end && (len > writer.end) == writer.has_tail,
                    "nothing stale is left behind"
                );
            }
            // Each directory is paid for by as many bytes of members; the factor holds at any length.
            assert!(writer.bytes_written < 3 * writer.end, "{} for {}", writer.bytes_written, writer.end);
            assert!(directories > 3, "{directories}");
            let pieces = writer.members.keys().filter(|name| name.starts_with("_journal/summaries/")).count();
            assert!((1..300).contains(&pieces), "{pieces}");
        }
    }

    #[test]
    fn the_directory_is_right_whenever_there_is_one() {
        let folder = tempfile::tempdir().unwrap();
        let mut writer = writer(folder.path());
        let mut encoder = Encoder::new().unwrap();
        for id in 0..60 {
            // Some are appended a second time.
            writer.append_encoded(sample(&mut encoder, id / 2 * 2, 50)).unwrap();
            let log = EvalLog::open(&writer.path).unwrap();
            assert_eq!(log.was_recovered(), !writer.has_tail);
            assert_eq!(log.sample_count(), id / 2 + 1);
        }
    }

    #[test]
    fn a_write_that_fails_leaves_what_was_there() {
        let folder = tempfile::tempdir().unwrap();
        let mut writer = writer(folder.path());
        let mut encoder = Encoder::new().unwrap();
        for id in 0..20 {
            writer.append_encoded(sample(&mut encoder, id, 10)).unwrap();
        }
        let path = writer.path.clone();
        // A file that is open for reading refuses to be written to.
        let good = std::mem::replace(&mut writer.file, File::open(&path).unwrap());
        let error = writer.append_encoded(sample(&mut encoder, 20, 10)).unwrap_err();
        assert!(matches!(error.kind(), LogErrorKind::Write(_)), "{error}");
        assert_eq!((error.path(), error.member()), (Some(path.as_path()), Some("samples/20_epoch_1.json")));
        assert_eq!(EvalLog::open(&path).unwrap().sample_count(), 20);
        writer.file = good;
        for id in 20..25 {
            writer.append_encoded(sample(&mut encoder, id, 10)).unwrap();
        }
        let start = StartRecord::new(EvalInfo::default(), PlanRecord::default());
        writer.finish(&Header::started(start), &Reductions::none()).unwrap();
        let log = EvalLog::open(&path).unwrap();
        assert!(!log.was_recovered());
        assert_eq!(log.sample_count(), 25);
        let summaries = log.raw(SUMMARIES).unwrap().unwrap();
        let summaries: Vec<serde_json::Value> = serde_json::from_slice(&summaries).unwrap();
        let ids: Vec<u64> = summaries.iter().map(|summary| summary["id"].as_u64().unwrap()).collect();
        assert_eq!(ids, (0..25).collect::<Vec<_>>());
    }

    #[test]
    fn a_large_journal_goes_into_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let mut writer = writer(folder.path());
        let mut encoder = Encoder::new().unwrap();
        for id in 0..40 {
            let mut sample = sample(&mut encoder, id, 0);
            sample.summary = format!("{{\"id\":{id},\"text\":\"{}\"}}", "x".repeat(100_000)).into_bytes();
            writer.append_encoded(sample).unwrap();
        }
        assert!(writer.journal.is_due() || writer.members.contains_key("_journal/summaries/3.json"));
        assert!(!writer.journal.is_large(), "memory stays bounded");
    }

    #[cfg(unix)]
    #[test]
    fn new_logs_and_their_folders_are_for_their_owner_alone() {
        use std::os::unix::fs::PermissionsExt;
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("of/runs");
        writer(&place)
            .finish(
                &Header::started(StartRecord::new(EvalInfo::default(), PlanRecord::default())),
                &Reductions::none(),
            )
            .unwrap();
        let log = place.join("log.eval");
        assert_eq!([mode(&place), mode(place.parent().unwrap()), mode(&log)], [0o700, 0o700, 0o600]);
        let json = place.join("log.json");
        super::super::convert(&EvalLog::open(&log).unwrap(), &json).unwrap();
        assert_eq!(mode(&json), 0o600);
    }

    #[test]
    fn a_log_whose_directory_goes_while_it_is_opened_is_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let mut writer = writer(folder.path());
        let path = writer.path.clone();
        let mut encoder = Encoder::new().unwrap();
        let mut count = 0;
        while count < 300 || !writer.has_tail {
            count += 1;
            writer.append_encoded(sample(&mut encoder, count, 0)).unwrap();
        }
        let len = std::fs::metadata(&path).unwrap().len();
        let shorter = path.clone();
        change_before_read(move || {
            writer.append_encoded(sample(&mut encoder, count + 1, 0)).unwrap();
            assert!(std::fs::metadata(&shorter).unwrap().len() < len);
        });
        assert_eq!(EvalLog::open(&path).unwrap().sample_count(), count + 1);
    }
}
