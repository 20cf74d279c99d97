//! Format detection: chooses the reader for an input by its kind, its first bytes or its name.
//!
//! Use [`open`] unless the format is known. Cost: at most the first record is read, and no byte is
//! consumed. An input that is surely of another kind is an error that names the right flag.

use std::path::Path;

use crate::limits::FORMAT_BYTES_MAX;
use portcullis_dialect::words;
use portcullis_files::input::{InputError, Source, plain_extension};
use portcullis_files::kind::{FileKind, Wanted, is_robots_record};

use super::{BatchReader, FieldMap, csv, folder, json_lines, warc};

words! {
    /// A format of captures, with its name on command lines.
    pub enum CaptureFormat {
        /// A folder of robots.txt files named by host.
        Folder => "folder",
        /// JSON Lines.
        JsonLines => "jsonl",
        /// CSV.
        Csv => "csv",
        /// WARC.
        Warc => "warc",
        /// Parquet.
        Parquet => "parquet",
    }
}

impl CaptureFormat {
    /// Returns the format of a file name's extension, in any case and before `.gz` or `.zst`.
    ///
    /// ```
    /// use std::path::Path;
    /// use portcullis_captures::CaptureFormat;
    ///
    /// let of_name = |name| CaptureFormat::from_name(Path::new(name));
    /// assert_eq!(of_name("crawl/00000.warc.gz"), Some(CaptureFormat::Warc));
    /// assert_eq!(of_name("robots.gz"), None);
    /// ```
    pub fn from_name(path: &Path) -> Option<CaptureFormat> {
        match plain_extension(path)?.as_str() {
            "jsonl" | "ndjson" | "json" => Some(CaptureFormat::JsonLines),
            "csv" => Some(CaptureFormat::Csv),
            "warc" => Some(CaptureFormat::Warc),
            "parquet" => Some(CaptureFormat::Parquet),
            _ => None,
        }
    }
}

/// Opens the file or folder at `path`, or standard input if `path` is `-`.
///
/// `fields` are the names of fields in JSON Lines, CSV and Parquet. Without a `format`, the format is detected
/// by the first bytes of the file ([`FileKind::of`]), or else by its name ([`CaptureFormat::from_name`]).
///
/// # Errors
///
/// If the input cannot be opened or is surely of another kind. [`InputError::List`] if its format is unknown,
/// or if it is Parquet that cannot be read: compressed as a whole, from a pipe, or without the required
/// columns.
pub fn open(
    path: &Path,
    format: Option<CaptureFormat>,
    fields: &FieldMap,
) -> Result<Box<dyn BatchReader>, InputError> {
    match format {
        Some(CaptureFormat::Folder) => return Ok(Box::new(folder::open(path)?)),
        Some(_) if path.is_dir() => {
            return Err(InputError::list(path, "a folder; omit ‹input_format›"));
        }
        None if path.is_dir() => return Ok(Box::new(folder::open(path)?)),
        _ => {}
    }
    let mut source = Source::open(path)?.in_utf8();
    let format = format.map_or_else(|| look(path, &mut source), Ok)?;
    match format {
        CaptureFormat::Folder => unreachable!("a folder is no file"),
        CaptureFormat::JsonLines => Ok(Box::new(json_lines::open(utf8(source)?, fields))),
        CaptureFormat::Csv => Ok(Box::new(csv::open(utf8(source)?, fields)?)),
        CaptureFormat::Warc => Ok(Box::new(warc::open(source))),
        #[cfg(feature = "parquet")]
        CaptureFormat::Parquet => open_parquet(path, source, fields),
        #[cfg(not(feature = "parquet"))]
        CaptureFormat::Parquet => {
            Err(source.problem("this program is built without Parquet (the feature `parquet`)"))
        }
    }
}

/// Returns `source`, unless its text is in UTF-16 without a byte order mark.
fn utf8(mut source: Source) -> Result<Source, InputError> {
    source.fill(FORMAT_BYTES_MAX);
    match source.buffer() {
        [b'{', 0, ..] => {
            Err(source.problem("UTF-16; convert it first (iconv -f UTF-16LE -t UTF-8)"))
        }
        [0, b'{', ..] => {
            Err(source.problem("UTF-16; convert it first (iconv -f UTF-16BE -t UTF-8)"))
        }
        _ => Ok(source),
    }
}

const UNKNOWN: &str = "unknown format; pass ‹input_format› warc, jsonl, csv, parquet or folder (lists of URLs and \
                       logs go to classify)";

/// The problem of a text in which a body may have lines that begin another record.
const A_SEGMENT: &str = "the text that Nutch's readseg -dump writes, in which a robots.txt can pass for that of \
                         another host; export the segment as WARC (nutch commoncrawldump -outputDir FOLDER -segment \
                         SEGMENTS -warc), and compile FOLDER";

/// Detects the format by the first bytes of `source`, or by its name.
pub(super) fn look(path: &Path, source: &mut Source) -> Result<CaptureFormat, InputError> {
    // The records before a failure are read.
    if !source.fill(FORMAT_BYTES_MAX)
        && !source.buffer().contains(&b'\n')
        && let Some(error) = source.take_failure()
    {
        return Err(error);
    }
    let first = source.buffer();
    let kind = FileKind::of(first);
    let by_name = CaptureFormat::from_name(path);
    let found = match kind {
        FileKind::Warc => Some(CaptureFormat::Warc),
        FileKind::Parquet => Some(CaptureFormat::Parquet),
        FileKind::Captures => Some(CaptureFormat::JsonLines),
        // The first line may be too long to show that it is a capture.
        FileKind::Json => by_name.or(Some(CaptureFormat::JsonLines)),
        FileKind::Html | FileKind::Text | FileKind::Binary | FileKind::UrlList => by_name,
        FileKind::Empty if by_name.is_some() => by_name,
        _ => return Err(InputError::wrong_kind(source.name(), kind, Wanted::Captures)),
    };
    found.ok_or_else(|| match first.trim_ascii_start() {
        text if text.starts_with(b"Recno:: ") => source.problem(A_SEGMENT),
        text if matches!(kind, FileKind::UrlList | FileKind::Html | FileKind::Binary)
            || text.split(|byte| *byte == b'\n').any(is_robots_record) =>
        {
            InputError::wrong_kind(source.name(), kind, Wanted::Captures)
        }
        _ => source.problem(UNKNOWN),
    })
}

#[cfg(feature = "parquet")]
fn open_parquet(
    path: &Path,
    mut source: Source,
    fields: &FieldMap,
) -> Result<Box<dyn BatchReader>, InputError> {
    let fix = match () {
        () if path == Path::new("-") || path.metadata().is_ok_and(|it| !it.is_file()) => {
            ", so write it to a file and name that"
        }
        () if source.coding()?.is_some() => "; decompress the file first",
        () => return Ok(Box::new(super::parquet::open(path, fields)?)),
    };
    Err(source.problem(format!("Parquet is read from its end{fix}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{Keeper, read_all};
    use portcullis_files::kind::POLICY_SET;

    const LINE: &str = "{\"url\": \"http://a.example/robots.txt\", \"status\": 404}\n";

    #[test]
    fn names() {
        use CaptureFormat::{JsonLines, Parquet, Warc};
        let rows = [
            ("a.jsonl", Some(JsonLines)),
            ("a.ndjson.gz", Some(JsonLines)),
            ("A.JSON.ZST", Some(JsonLines)),
            ("a.warc", Some(Warc)),
            ("a.b.warc.gz", Some(Warc)),
            ("a.warc.zst", Some(Warc)),
            ("a.parquet", Some(Parquet)),
            ("a.snappy.parquet", Some(Parquet)),
            ("a.parquet.gz", Some(Parquet)),
            ("a.gz", None),
            ("a.warc.gz.gz", None),
            ("warc", None),
            ("json.txt", None),
            ("a.warc/b", None),
            ("", None),
            ("..", None),
            ("-", None),
        ];
        for (name, expected) in rows {
            assert_eq!(CaptureFormat::from_name(Path::new(name)), expected, "{name}");
        }
    }

    #[track_caller]
    fn read(path: &Path, format: Option<CaptureFormat>) -> Keeper {
        match open(path, format, &FieldMap::default()) {
            Ok(mut reader) => read_all(&mut *reader, None),
            Err(error) => panic!("{error}"),
        }
    }

    #[track_caller]
    fn problem(path: &Path, format: Option<CaptureFormat>) -> String {
        match open(path, format, &FieldMap::default()) {
            Err(InputError::List { problem, .. }) => problem,
            Err(error) => panic!("{error}"),
            Ok(_) => panic!("{path:?} was opened"),
        }
    }

    #[test]
    fn what_it_is_wins_over_its_first_bytes_and_these_over_its_name() {
        let folder = tempfile::tempdir().unwrap();
        let hosts = folder.path().join("hosts.jsonl");
        std::fs::create_dir(&hosts).unwrap();
        std::fs::write(hosts.join("a.example"), "").unwrap();
        assert!(read(&hosts, None).captures[0].is_host);

        let file = |name: &str, bytes: &[u8]| {
            let path = folder.path().join(name);
            std::fs::write(&path, bytes).unwrap();
            path
        };
        assert!(open(&file("a.jsonl", b"PAR1"), None, &FieldMap::default()).is_err());
        assert_eq!(read(&file("a.warc", LINE.as_bytes()), None).captures.len(), 1);
        assert!(open(&file("b.warc", POLICY_SET), None, &FieldMap::default()).is_err());
        assert_eq!(read(&file("empty.jsonl", b""), None).captures, []);
        assert_eq!(read(&file("a.json", LINE.as_bytes()), None).captures.len(), 1);
        assert_eq!(read(&file("dump", LINE.as_bytes()), None).captures.len(), 1);
        let zstd = zstd::encode_all(LINE.as_bytes(), 1).unwrap();
        assert_eq!(read(&file("b", &zstd), None).captures.len(), 1);
        assert_eq!(read(&file("c.zst", &zstd), None).captures.len(), 1);
        let named = file("d.warc", LINE.as_bytes());
        assert_eq!(read(&named, Some(CaptureFormat::JsonLines)).captures.len(), 1);

        let warc = b"WARC/1.0\r\nWARC-Type: warcinfo\r\nContent-Length: 0\r\n\r\n\r\n\r\n";
        assert_eq!(read(&file("e", warc), None).broken, []);
        let empty = open(&file("empty", b""), None, &FieldMap::default()).err().unwrap();
        assert!(empty.to_string().contains("empty: an empty file, not captures"), "{empty}");
        assert_eq!(problem(&file("f", b"nothing\n"), None), UNKNOWN);
        let urls =
            open(&file("f", b"https://a.example/\n"), None, &FieldMap::default()).err().unwrap();
        assert!(urls.to_string().contains("a list of URLs, not captures"), "{urls}");
        let arc = b"filedesc://a.arc 0.0.0.0 20100101000000 text/plain 76\nUser-agent: *\n";
        let arc = open(&file("f", arc), None, &FieldMap::default()).err().unwrap();
        assert!(
            arc.to_string().contains("an ARC file, not captures of robots.txt (convert it to WARC"),
            "{arc}"
        );
        let robots = open(&file("f", b"# x\nUser-agent: *\n"), None, &FieldMap::default());
        assert!(robots.err().unwrap().to_string().contains("(FOLDER/HOST)"));
        assert_eq!(
            read(&file("f", b"User-agent: *\n"), Some(CaptureFormat::JsonLines)).broken.len(),
            1
        );
    }

    #[test]
    fn what_cannot_be_opened_is_unreadable() {
        let folder = tempfile::tempdir().unwrap();
        let missing = folder.path().join("a.jsonl");
        let open = |path: &Path, format| open(path, format, &FieldMap::default()).err();
        for format in [None, Some(CaptureFormat::JsonLines), Some(CaptureFormat::Folder)] {
            let error = open(&missing, format).expect("there is nothing");
            assert!(error.to_string().ends_with("a.jsonl: no such file or directory"), "{error}");
        }
        let error = open(folder.path(), Some(CaptureFormat::JsonLines)).unwrap().to_string();
        assert!(error.ends_with(": a folder; omit ‹input_format›"), "{error}");
        std::fs::write(&missing, "").unwrap();
        let error = open(&missing, Some(CaptureFormat::Folder)).unwrap().to_string();
        assert!(error.ends_with("a file, not a folder; omit ‹input_format› folder"), "{error}");
    }

    #[test]
    fn parquet_is_read_where_it_lies() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.parquet.zst");
        std::fs::write(&path, zstd::encode_all(&b"PAR1"[..], 1).unwrap()).unwrap();
        assert!(problem(&path, None).ends_with("decompress the file first"));
    }
}
