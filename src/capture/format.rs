//! Which reader an input gets: by what it is, by its name, by its first octets.

use std::path::Path;

use crate::bytes::trim;
use crate::input::{OpenConfig, Source, Terminator};
use crate::limits::FORMAT_OCTETS_MAX;

use super::json_lines::{BYTE_ORDER_MARK, WHITE_SPACE};
use super::{BatchReader, CaptureError, ParquetColumns, folder, json_lines, warc};

/// How captures are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CaptureFormat {
    /// A folder of robots.txt files named by host.
    Folder,
    /// JSON Lines.
    JsonLines,
    /// WARC.
    Warc,
    /// Parquet; read if the crate is built with its feature `parquet`.
    Parquet,
}

impl CaptureFormat {
    /// Every format.
    pub const ALL: [CaptureFormat; 4] = [
        CaptureFormat::Folder,
        CaptureFormat::JsonLines,
        CaptureFormat::Warc,
        CaptureFormat::Parquet,
    ];

    /// What a file's name may end in, before what its compression adds.
    const ENDINGS: [(&'static [u8], CaptureFormat); 5] = [
        (b".jsonl", CaptureFormat::JsonLines),
        (b".ndjson", CaptureFormat::JsonLines),
        (b".json", CaptureFormat::JsonLines),
        (b".warc", CaptureFormat::Warc),
        (b".parquet", CaptureFormat::Parquet),
    ];

    /// The format's name, for command lines.
    pub fn as_str(self) -> &'static str {
        match self {
            CaptureFormat::Folder => "folder",
            CaptureFormat::JsonLines => "jsonl",
            CaptureFormat::Warc => "warc",
            CaptureFormat::Parquet => "parquet",
        }
    }

    /// What the name of a file promises, in any case and with `.gz` or `.zst` behind it.
    ///
    /// ```
    /// use std::path::Path;
    /// use portcullis::capture::CaptureFormat;
    ///
    /// let of_name = |name| CaptureFormat::of_name(Path::new(name));
    /// assert_eq!(of_name("crawl/00000.warc.gz"), Some(CaptureFormat::Warc));
    /// assert_eq!(of_name("robots.gz"), None);
    /// ```
    pub fn of_name(path: &Path) -> Option<CaptureFormat> {
        let name = path.file_name()?.as_encoded_bytes();
        let plain = [b".gz".as_slice(), b".zst"]
            .into_iter()
            .find_map(|ending| without_ending(name, ending))
            .unwrap_or(name);
        let promised = CaptureFormat::ENDINGS
            .into_iter()
            .find(|(ending, _)| without_ending(plain, ending).is_some());
        promised.map(|(_, format)| format)
    }

    /// What the first octets of a file say, after decompression.
    pub fn of_first_octets(first: &[u8]) -> Option<CaptureFormat> {
        if first.starts_with(b"WARC/") {
            return Some(CaptureFormat::Warc);
        }
        if first.starts_with(b"PAR1") {
            return Some(CaptureFormat::Parquet);
        }
        let text = first.strip_prefix(BYTE_ORDER_MARK).unwrap_or(first);
        trim(text, WHITE_SPACE).starts_with(b"{").then_some(CaptureFormat::JsonLines)
    }
}

/// `name` without `ending`, which it has in any case.
fn without_ending<'n>(name: &'n [u8], ending: &[u8]) -> Option<&'n [u8]> {
    let (rest, end) = name.split_at_checked(name.len().checked_sub(ending.len())?)?;
    end.eq_ignore_ascii_case(ending).then_some(rest)
}

/// How a file of captures is opened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CaptureConfig {
    /// How its octets are read; no matter for a folder and for Parquet.
    pub input: OpenConfig,
    /// The columns of a Parquet file.
    pub columns: ParquetColumns,
}

/// Opens the file or folder at `path`, or standard input if `path` is `-`.
///
/// Unless `format` says what it is, a folder is one; a file is what its name promises
/// ([`CaptureFormat::of_name`]), or else what its first octets say.
///
/// # Errors
///
/// [`CaptureError::Unreadable`] if it cannot be opened; [`CaptureError::NotThisFormat`] if nobody
/// says what it is, or it is Parquet that cannot be read: compressed as a whole, from a pipe,
/// without its columns, or in a build without the feature.
pub fn open(
    path: &Path,
    format: Option<CaptureFormat>,
    config: &CaptureConfig,
) -> Result<Box<dyn BatchReader>, CaptureError> {
    let known = format.or_else(|| {
        if path.is_dir() { Some(CaptureFormat::Folder) } else { CaptureFormat::of_name(path) }
    });
    if known == Some(CaptureFormat::Folder) {
        return Ok(Box::new(folder::open(path)?));
    }
    let mut source = Source::open(path, config.input)?;
    let format = match known {
        Some(format) => format,
        None => look(&mut source)?,
    };
    match format {
        CaptureFormat::Folder => Ok(Box::new(folder::open(path)?)),
        CaptureFormat::JsonLines => Ok(Box::new(json_lines::open(source))),
        CaptureFormat::Warc => Ok(Box::new(warc::open(source))),
        CaptureFormat::Parquet => open_parquet(path, source, &config.columns),
    }
}

fn not_this_format(source: &Source, problem: impl Into<String>) -> CaptureError {
    CaptureError::NotThisFormat { name: source.name().to_owned(), problem: problem.into() }
}

/// What the first octets of `source` say; none are consumed.
fn look(source: &mut Source) -> Result<CaptureFormat, CaptureError> {
    let first = source.peek(Terminator::LineFeed, FORMAT_OCTETS_MAX)?;
    CaptureFormat::of_first_octets(first).ok_or_else(|| {
        let names = CaptureFormat::ALL.map(CaptureFormat::as_str).join(", ");
        let problem = format!(
            "neither its name nor its first octets tell how it holds captures; say which it is: \
             {names}"
        );
        not_this_format(source, problem)
    })
}

#[cfg(feature = "parquet")]
fn open_parquet(
    path: &Path,
    mut source: Source,
    columns: &ParquetColumns,
) -> Result<Box<dyn BatchReader>, CaptureError> {
    use crate::input::Encoding;

    if path == Path::new("-") {
        let problem =
            "Parquet is read from its end, which a pipe hides; store it and name the file";
        return Err(not_this_format(&source, problem));
    }
    if source.encoding()? != Encoding::Identity {
        let problem =
            "Parquet is read from its end, which compression hides; decompress the file first";
        return Err(not_this_format(&source, problem));
    }
    Ok(Box::new(super::parquet::open(path, columns)?))
}

#[cfg(not(feature = "parquet"))]
fn open_parquet(
    _: &Path,
    source: Source,
    _: &ParquetColumns,
) -> Result<Box<dyn BatchReader>, CaptureError> {
    let problem = "Parquet is not built in; \
                   build with it: cargo install portcullis --features parquet";
    Err(not_this_format(&source, problem))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capture::testing::{Keeper, read_all};

    const LINE: &str = "{\"url\": \"u\", \"status\": 404}\n";

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
            assert_eq!(CaptureFormat::of_name(Path::new(name)), expected, "{name}");
        }
    }

    #[test]
    fn first_octets() {
        use CaptureFormat::{JsonLines, Parquet, Warc};
        let rows: &[(&[u8], Option<CaptureFormat>)] = &[
            (b"WARC/1.0\r\n", Some(Warc)),
            (b"PAR1\x15\0", Some(Parquet)),
            (b"{\"url\"", Some(JsonLines)),
            (b" \t\r\n{", Some(JsonLines)),
            (b"\xef\xbb\xbf{", Some(JsonLines)),
            (b"[{", None),
            (b"PARE", None),
            (b"User-agent: *", None),
            (b"", None),
        ];
        for &(first, expected) in rows {
            assert_eq!(CaptureFormat::of_first_octets(first), expected, "{first:?}");
        }
    }

    #[track_caller]
    fn read(path: &Path, format: Option<CaptureFormat>) -> Keeper {
        match open(path, format, &CaptureConfig::default()) {
            Ok(mut reader) => read_all(&mut *reader, None),
            Err(error) => panic!("{error}"),
        }
    }

    #[track_caller]
    fn problem(path: &Path, format: Option<CaptureFormat>) -> String {
        match open(path, format, &CaptureConfig::default()) {
            Err(CaptureError::NotThisFormat { problem, .. }) => problem,
            Err(error) => panic!("{error}"),
            Ok(_) => panic!("{path:?} was opened"),
        }
    }

    #[test]
    fn what_it_is_wins_over_its_name_and_its_name_over_its_octets() {
        let folder = tempfile::tempdir().unwrap();
        let hosts = folder.path().join("hosts.jsonl");
        std::fs::create_dir(&hosts).unwrap();
        std::fs::write(hosts.join("a.example"), "").unwrap();
        assert!(read(&hosts, None).captures[0].is_host);

        let file = |name: &str, octets: &[u8]| {
            let path = folder.path().join(name);
            std::fs::write(&path, octets).unwrap();
            path
        };
        assert_eq!(read(&file("a.jsonl", b"PAR1"), None).broken.len(), 1);
        assert_eq!(read(&file("empty.jsonl", b""), None).captures, []);
        assert_eq!(read(&file("a.json", LINE.as_bytes()), None).captures.len(), 1);
        assert_eq!(read(&file("dump", LINE.as_bytes()), None).captures.len(), 1);
        let zstd = zstd::encode_all(LINE.as_bytes(), 1).unwrap();
        assert_eq!(read(&file("b", &zstd), None).captures.len(), 1);
        assert_eq!(read(&file("c.zst", &zstd), None).captures.len(), 1);
        let named = file("d.warc", LINE.as_bytes());
        assert_eq!(read(&named, Some(CaptureFormat::JsonLines)).captures.len(), 1);

        let said = "neither its name nor its first octets tell how it holds captures; \
                    say which it is: folder, jsonl, warc, parquet";
        assert_eq!(problem(&file("empty", b""), None), said);
        assert_eq!(problem(&file("f", b"User-agent: *\n"), None), said);
        assert_eq!(
            read(&file("f", b"User-agent: *\n"), Some(CaptureFormat::JsonLines)).broken.len(),
            1
        );
    }

    #[test]
    fn what_cannot_be_opened_is_unreadable() {
        let folder = tempfile::tempdir().unwrap();
        let missing = folder.path().join("a.jsonl");
        let open = |path: &Path, format| open(path, format, &CaptureConfig::default()).err();
        for format in [None, Some(CaptureFormat::JsonLines), Some(CaptureFormat::Folder)] {
            let error = open(&missing, format);
            assert!(matches!(error, Some(CaptureError::Unreadable { .. })), "{error:?}");
        }
        let error = open(folder.path(), Some(CaptureFormat::JsonLines));
        assert!(matches!(error, Some(CaptureError::Unreadable { .. })), "{error:?}");
    }

    #[cfg(not(feature = "parquet"))]
    #[test]
    fn parquet_names_the_feature() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("dump");
        std::fs::write(&path, b"PAR1").unwrap();
        assert!(problem(&path, None).ends_with("--features parquet"));
    }

    #[cfg(feature = "parquet")]
    #[test]
    fn parquet_is_read_where_it_lies() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.parquet.zst");
        std::fs::write(&path, zstd::encode_all(&b"PAR1"[..], 1).unwrap()).unwrap();
        assert!(problem(&path, None).ends_with("decompress the file first"));
    }
}
