//! Where records come from, for every format.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use errorbar_core::Metadata;
use errorbar_files::is_url;

use super::delimited::Dialect;
use super::error::DatasetError;
use super::files::{self, FileFormat};
use super::hub::{self, HubDataset};
use super::reading::{RecordSink, Stop, ToSample};
use super::record::{IntoSample, Record};
use super::{Dataset, Fields, Origin, ReadSamples, delimited, json};
use crate::allowed_paths::is_within;
use crate::macros::setters;

/// Files whose records become samples: one or several files, folders or patterns, or a dataset of the Hugging Face
/// hub that was downloaded.
///
/// ```no_run
/// use errorbar_eval::{Fields, RecordSource, Sample};
/// let files = RecordSource::new("data/part-*.tsv.gz").columns(["question", "answer"]);
/// let dataset = files.samples(|row| Sample::new(&row["question"]).target(&row["answer"]));
///
/// let test = RecordSource::new("hf:allenai/ai2_arc").subset("ARC-Challenge").split("test");
/// let dataset = test.fields(Fields::new().input("question").target("answerKey")).limit(100);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordSource {
    /// Files, folders, patterns and datasets of the hub, one after the other.
    paths: Vec<PathBuf>,
    /// What relative paths are relative to.
    folder: PathBuf,
    /// What files must be in beside the folder; none if they may be anywhere.
    allowed_paths: Option<Vec<PathBuf>>,
    format: Option<FileFormat>,
    header: Option<bool>,
    columns: Option<Vec<String>>,
    delimiter: Option<u8>,
    subset: Option<String>,
    split: Option<String>,
    hub_cache: Option<PathBuf>,
    /// The columns that samples are made of; all, if it is not known.
    needed: Option<Vec<String>>,
}

/// The files of a source, and what is recorded of them.
struct SourceFiles {
    files: Vec<(Arc<Path>, FileFormat)>,
    provenance: Metadata,
}

impl RecordSource {
    /// A file, a folder, a pattern such as `data/test-*.parquet`, or `hf:ORG/NAME[@REVISION]`.
    pub fn new(path: impl AsRef<Path>) -> Self {
        RecordSource { paths: vec![path.as_ref().to_owned()], ..RecordSource::default() }
    }

    /// Several of them, one after the other.
    pub fn several(paths: impl IntoIterator<Item = impl AsRef<Path>>) -> Self {
        let paths = paths.into_iter().map(|path| path.as_ref().to_owned()).collect();
        RecordSource { paths, ..RecordSource::default() }
    }

    setters! {
        /// What relative paths are relative to, in place of the working directory.
        folder: impl Into<PathBuf> => folder.into();

        /// The format of the files, in place of what their names end in.
        format: FileFormat => Some(format);

        /// Whether the first row of CSV and TSV files has the names of the columns. It has, unless
        /// [`columns`](RecordSource::columns) are named; columns without names are `column_1`, `column_2` and so on.
        header: bool => Some(header);

        /// The names of the columns of CSV and TSV files, which then have no header.
        columns: impl IntoIterator<Item = impl Into<String>> => Some(columns.into_iter().map(Into::into).collect());

        /// What is between the fields of a row of CSV files, in place of the comma.
        delimiter: u8 => Some(delimiter);

        /// The subset (configuration) of a dataset that has several: a folder, or the name of a file.
        subset: impl Into<String> => Some(subset.into());

        /// The split of a dataset that has several, such as `test`.
        split: impl Into<String> => Some(split.into());

        /// The folder of datasets of the hub, in place of that of the environment.
        hub_cache: impl Into<PathBuf> => Some(hub_cache.into());
    }

    /// The same, with files only in its folder and in these paths, wherever links lead.
    pub(crate) fn confined(self, allowed_paths: &[PathBuf]) -> Self {
        RecordSource { allowed_paths: Some(allowed_paths.to_vec()), ..self }
    }

    /// A dataset whose samples a closure makes.
    pub fn samples<S: IntoSample>(self, to_sample: impl Fn(&Record) -> S + Send + Sync + 'static) -> Dataset {
        self.dataset(Arc::new(move |record: &Record| to_sample(record).into_sample()))
    }

    /// A dataset whose samples are made of these fields. Of Parquet files no other columns are read.
    pub fn fields(mut self, fields: Fields) -> Dataset {
        self.needed = fields.columns();
        self.samples(fields.reader())
    }

    fn dataset(self, to_sample: Arc<ToSample>) -> Dataset {
        let (name, location) = (self.name(), self.location());
        Dataset::of(name, location, Origin::Files(Arc::new(self), to_sample))
    }

    /// The format of every file, where it is known from the options or the name.
    fn format_of(&self, path: &Path) -> Result<FileFormat, DatasetError> {
        let by_name = FileFormat::of(path);
        match (self.format, by_name) {
            (Some(format), Some(found)) if files::is_format(found, format) => Ok(found),
            (Some(format), _) => Ok(format),
            (None, Some(found)) => Ok(found),
            (None, None) => Err(match path.metadata() {
                Ok(_) => DatasetError::UnknownFormat { path: path.to_owned() },
                Err(error) => DatasetError::Read { path: path.to_owned(), problem: error.to_string() },
            }),
        }
    }

    /// All files, in order.
    fn files(&self) -> Result<SourceFiles, DatasetError> {
        let mut found = SourceFiles { files: Vec::new(), provenance: Metadata::new() };
        for path in &self.paths {
            if is_url(path) {
                return Err(DatasetError::Url { url: path.display().to_string() });
            }
            let paths = match HubDataset::parse(path) {
                Some(dataset) => {
                    let dataset = dataset?;
                    let chosen = hub::find(&dataset, self.hub_cache.as_deref(), self.choice())?;
                    found.provenance.extend(chosen.provenance);
                    chosen.files
                }
                None => {
                    let path = self.folder.join(path);
                    let is_choice = self.subset.is_some() || self.split.is_some();
                    let files = match is_choice {
                        true if path.is_dir() => hub::choose_in_folder(&path, self.choice())?,
                        true => hub::choose_among(&path, files::find(&path, self.format)?, self.choice())?,
                        false => {
                            let found = files::find(&path, self.format)?;
                            hub::check_whole(&path, &found)?;
                            found
                        }
                    };
                    let allowed = self.allowed_paths.as_deref();
                    let is_outside =
                        |path: &&PathBuf| path.exists() && !is_within(path, &self.folder, allowed);
                    if let Some(path) = files.iter().find(is_outside) {
                        return Err(DatasetError::OutsideFolder { path: path.clone() });
                    }
                    files
                }
            };
            for path in paths {
                let format = self.format_of(&path)?;
                found.files.push((path.into(), format));
            }
        }
        Ok(found)
    }

    fn choice(&self) -> hub::FileChoice<'_> {
        hub::FileChoice { subset: self.subset.as_deref(), split: self.split.as_deref(), format: self.format }
    }

    /// The samples of all files, `at_most` of them.
    pub(super) fn read(&self, to_sample: &ToSample, at_most: usize) -> ReadSamples {
        let mut sink = RecordSink::new(to_sample, at_most);
        let read = self.files().and_then(|found| {
            for (path, format) in &found.files {
                if self.read_file(path, *format, &mut sink)? == Stop::Early {
                    break;
                }
            }
            Ok(found.provenance)
        });
        let (samples, skipped, fields) = sink.finish();
        let (read, provenance) = match read {
            Ok(provenance) if samples.is_empty() && skipped > 0 => {
                let location = self.location().unwrap_or_default();
                (Err(DatasetError::AllSkipped { location, records: skipped }), provenance)
            }
            Ok(provenance) => (Ok(samples), provenance),
            Err(problem) => (Err(problem), Metadata::new()),
        };
        ReadSamples::new(read, fields, provenance)
    }

    fn read_file(
        &self,
        path: &Arc<Path>,
        format: FileFormat,
        sink: &mut RecordSink<'_>,
    ) -> Result<Stop, DatasetError> {
        let delimiter = match format {
            FileFormat::Csv => b',',
            FileFormat::Tsv => b'\t',
            FileFormat::Json => return json::read(path, sink),
            #[cfg(feature = "parquet")]
            FileFormat::Parquet => return super::parquet::read(path, self.needed.as_deref(), sink),
            #[cfg(not(feature = "parquet"))]
            FileFormat::Parquet => {
                let problem =
                    "this build of errorbar does not read Parquet; build it with the feature `parquet`";
                return Err(DatasetError::Read { path: path.to_path_buf(), problem: problem.to_owned() });
            }
        };
        let has_header = self.header.unwrap_or(self.columns.is_none());
        let dialect = Dialect {
            delimiter: self.delimiter.unwrap_or(delimiter),
            is_named: self.delimiter.is_some(),
            has_header,
            names: self.columns.clone(),
        };
        delimited::read(path, &dialect, sink)
    }

    /// What the dataset is called if nothing else is given: as its first file, folder or dataset of the hub.
    fn name(&self) -> Option<String> {
        let path = self.paths.first()?;
        if let Some(Ok(dataset)) = HubDataset::parse(path) {
            return Some(dataset.repository());
        }
        let path = self.folder.join(path);
        let file_name = |path: &Path| Some(path.file_name()?.to_string_lossy().into_owned());
        if path.is_dir() {
            return file_name(&path);
        }
        // Of a pattern, what comes before its first wildcard.
        let stem = files::stem(&path);
        match stem.split_once(['*', '?', '[']).filter(|_| !path.exists()) {
            None => Some(stem),
            Some((start, _)) => match start.trim_end_matches(['-', '_', '.']) {
                "" => file_name(path.parent()?).or_else(|| Some(stem.clone())),
                start => Some(start.to_owned()),
            },
        }
    }

    /// Where the dataset is, as logs record it: paths as they were given, and datasets of the hub by name.
    fn location(&self) -> Option<String> {
        let location = |path: &PathBuf| match HubDataset::parse(path) {
            Some(Ok(dataset)) => dataset.repository(),
            _ => self.folder.join(path).display().to_string(),
        };
        (!self.paths.is_empty()).then(|| self.paths.iter().map(location).collect::<Vec<_>>().join(", "))
    }
}

impl From<&str> for RecordSource {
    fn from(path: &str) -> Self {
        RecordSource::new(path)
    }
}

impl From<String> for RecordSource {
    fn from(path: String) -> Self {
        RecordSource::new(path)
    }
}

impl From<&String> for RecordSource {
    fn from(path: &String) -> Self {
        RecordSource::new(path)
    }
}

impl From<&Path> for RecordSource {
    fn from(path: &Path) -> Self {
        RecordSource::new(path)
    }
}

impl From<PathBuf> for RecordSource {
    fn from(path: PathBuf) -> Self {
        RecordSource::new(path)
    }
}

impl From<&PathBuf> for RecordSource {
    fn from(path: &PathBuf) -> Self {
        RecordSource::new(path)
    }
}
