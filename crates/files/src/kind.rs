//! File kinds by first bytes: the one table of magic numbers.
//!
//! Readers call [`FileKind::of`], and reject a file of another kind with [`WrongKind`], whose
//! message names the right flag. Text of no other kind is [`FileKind::Text`]. Nothing here reads
//! files or fails.
//!
//! ```
//! use portcullis_files::kind::FileKind;
//!
//! assert_eq!(FileKind::of(b"WARC/1.0\r\n"), FileKind::Warc);
//! assert_eq!(FileKind::of(b"https://a.example/\n"), FileKind::UrlList);
//! assert_eq!(FileKind::of(b"User-agent: *\n"), FileKind::Text);
//! ```

use std::fmt;

use memchr::{memmem, memrchr};

use portcullis_dialect::words;
use portcullis_robots::syntax::{NoteKind, appearance, behind_space, markup};
use portcullis_text::shell::word;

use crate::error::STANDARD_INPUT;

/// A gzip member (RFC 1952, section 2.3.1).
pub const GZIP: &[u8] = &[0x1f, 0x8b];
/// A zstd frame (RFC 8878, section 3.1.1).
pub const ZSTD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];
/// The skippable zstd frame that holds a dictionary (IIPC, Zstandard Compression of WARC Files
/// 1.0).
pub const ZSTD_DICTIONARY_FRAME: &[u8] = &[0x5d, 0x2a, 0x4d, 0x18];
/// A zstd dictionary (RFC 8878, section 5).
pub const ZSTD_DICTIONARY: &[u8] = &[0x37, 0xa4, 0x30, 0xec];
/// A policy set (`crates/set/src/FORMAT.md`, section 2).
pub const POLICY_SET: &[u8; 8] = b"\xDBPCS\r\n\x1A\n";
/// A WARC record.
pub const WARC: &[u8] = b"WARC/";
/// A Parquet file.
pub const PARQUET: &[u8] = b"PAR1";
/// A tar archive; the magic follows the first file's name and attributes (POSIX, ustar interchange
/// format).
const TAR: &[u8] = b"ustar";
const TAR_AT: usize = 257;
/// A Parquet file whose metadata is encrypted.
pub const PARQUET_ENCRYPTED: &[u8] = b"PARE";

/// Bytes that are looked at for binary data: 1 KiB. To look at all of a list would cost a pass.
const BINARY_BYTES_SEEN: usize = 1024;

/// A text has at most one byte that is no text in this many. In compressed data and numbers it is one in
/// two.
const TEXT_BYTES_PER_OTHER: usize = 16;

/// Kinds with a magic number.
const MAGICS: [(&[u8], FileKind); 10] = [
    (GZIP, FileKind::Gzip),
    (ZSTD, FileKind::Zstd),
    (POLICY_SET, FileKind::PolicySet),
    (WARC, FileKind::Warc),
    (b"filedesc:", FileKind::Arc),
    (PARQUET, FileKind::Parquet),
    (PARQUET_ENCRYPTED, FileKind::Parquet),
    (b"PK\x03\x04", FileKind::Zip),
    (b"BZh", FileKind::Bzip2),
    (b"\xfd7zXZ\0", FileKind::Xz),
];

words! {
    /// The kind of a file.
    pub enum FileKind {
        /// A folder; never returned by [`FileKind::of`].
        Folder => "a folder",
        /// A pipe or a device; never returned by [`FileKind::of`].
        Special => "a pipe or a device",
        /// A compiled policy set.
        PolicySet => "a policy set",
        /// WARC.
        Warc => "a WARC file",
        /// The format of archives before WARC.
        Arc => "an ARC file",
        /// Parquet.
        Parquet => "a Parquet file",
        /// A response with its status line and its headers.
        HttpResponse => "a saved HTTP response",
        /// Captures of robots.txt as JSON Lines.
        Captures => "captures as JSON Lines",
        /// A list of URLs.
        UrlList => "a list of URLs",
        /// gzip.
        Gzip => "gzip data",
        /// zstd.
        Zstd => "zstd data",
        /// A zip archive.
        Zip => "a zip archive",
        /// bzip2.
        Bzip2 => "bzip2 data",
        /// xz.
        Xz => "xz data",
        /// HTML or XML.
        Html => "HTML",
        /// JSON other than captures.
        Json => "JSON",
        /// A tar archive.
        Tar => "a tar archive",
        /// A file without bytes.
        Empty => "an empty file",
        /// Bytes that are no text, and of no other kind: a damaged file, perhaps.
        Binary => "binary data",
        /// Anything else.
        Text => "text",
    }
}

impl FileKind {
    /// Returns the kind of a file that begins with `first`. Lists of URLs and captures are only
    /// distinguished from a robots.txt reliably if `first` is the whole file.
    pub fn of(first: &[u8]) -> FileKind {
        match FileKind::from_list(first) {
            FileKind::Text if is_url_list(behind_space(first)) => FileKind::UrlList,
            kind => kind,
        }
    }

    /// Like [`FileKind::of`], but a list of URLs is [`FileKind::Text`]: reads the first line at most.
    pub fn from_list(first: &[u8]) -> FileKind {
        if first.is_empty() {
            return FileKind::Empty;
        }
        if first.get(TAR_AT..).is_some_and(|behind| behind.starts_with(TAR)) {
            return FileKind::Tar;
        }
        if let Some(&(_, kind)) = MAGICS.iter().find(|(magic, _)| first.starts_with(magic)) {
            // "BZh" is text unless the rest of the magic number follows.
            let is_text = kind == FileKind::Bzip2 && first.get(4..10) != Some(b"1AY&SY");
            return if is_text { FileKind::Text } else { kind };
        }
        // A skippable zstd frame, with which parallel compressors begin.
        if matches!(first, [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..]) {
            return FileKind::Zstd;
        }
        let text = behind_space(first);
        match markup(text) {
            _ if text.starts_with(b"{") && is_capture(text) => FileKind::Captures,
            _ if is_response(text) => FileKind::HttpResponse,
            Some(NoteKind::LooksLikeHtml) => FileKind::Html,
            Some(_) => FileKind::Json,
            None => match appearance(&first[..first.len().min(BINARY_BYTES_SEEN)]) {
                Some(NoteKind::LooksBinary) => FileKind::Binary,
                _ => FileKind::Text,
            },
        }
    }

    /// Returns whether a file of this kind is certainly not a robots.txt. Servers also answer with
    /// HTML, JSON and other bytes, which are read as a robots.txt, with a note.
    pub fn is_no_robots_txt(self) -> bool {
        use FileKind::{Binary, Empty, Html, Json, Text};
        !matches!(self, Text | Html | Json | Empty | Binary)
    }

    /// Returns whether a file of this kind is certainly not a list of URLs. Any text may be one,
    /// because a line that is not a URL is still a record.
    pub fn is_no_url_list(self) -> bool {
        self.is_no_robots_txt() && self != FileKind::UrlList
    }
}

/// Returns whether binary data is a text with a few stray bytes, and not what is left of a policy set. A
/// set has numbers, whose zeros are adjacent.
pub fn is_mostly_text(bytes: &[u8]) -> bool {
    let is_text = |letter: char| !letter.is_control() || letter.is_ascii_whitespace();
    let chunks = bytes.utf8_chunks();
    let others = chunks.map(|chunk| {
        chunk.invalid().len() + chunk.valid().chars().filter(|&letter| !is_text(letter)).count()
    });
    others.sum::<usize>() * TEXT_BYTES_PER_OTHER <= bytes.len()
        && memmem::find(bytes, b"\0\0").is_none()
}

/// Returns whether the first line of `text`, which may be truncated, is a capture: an object with
/// an absolute `url` and the result of the request, or with a host and a body.
fn is_capture(text: &[u8]) -> bool {
    let line = text.split(|&byte| byte == b'\n').next().unwrap_or(text);
    let has = |name: &[u8]| memmem::find(line, name).is_some();
    let url = memmem::find(line, b"\"url\"").and_then(|at| {
        let value = line[at + b"\"url\"".len()..].trim_ascii_start().strip_prefix(b":")?;
        value.trim_ascii_start().strip_prefix(b"\"")
    });
    let any = |names: &[&[u8]]| names.iter().any(|name| has(name));
    let has_body = any(&[b"\"body\"", b"\"body_base64\"", b"\"content\"", b"\"robots_txt\""]);
    let has_url = url.is_some_and(begins_with_scheme);
    has_url && (has_body || any(&[b"\"status\"", b"\"error\""]))
        || has_body && any(&[b"\"host\"", b"\"domain\"", b"\"hostname\""])
}

/// Returns whether `text` begins with a status line (RFC 9112, section 4), of any version.
fn is_response(text: &[u8]) -> bool {
    text.strip_prefix(b"HTTP/").is_some_and(|line| {
        let mut words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
        matches!(words.next(), Some([b'0'..=b'9', ..]))
            && matches!(words.next(), Some([b'0'..=b'9', b'0'..=b'9', b'0'..=b'9']))
    })
}

/// Returns whether a line is a record that most robots.txt files have.
pub fn is_robots_record(line: &[u8]) -> bool {
    let fields: [&[u8]; 4] = [b"user-agent", b"disallow", b"allow", b"sitemap"];
    let name = line.split(|&byte| byte == b':').next().filter(|name| name.len() < line.len());
    name.is_some_and(|name| fields.iter().any(|it| name.trim_ascii().eq_ignore_ascii_case(it)))
}

/// Returns whether most lines of `text` are absolute http or https URLs, which are never records of a
/// robots.txt, and no other line may be a record or a comment. A size limit may have cut the last line
/// within its scheme.
fn is_url_list(text: &[u8]) -> bool {
    let whole = memrchr(b'\n', text).map_or(0, |end| end + 1);
    let is_cut_scheme = whole > 0 && b"https:".starts_with(&text[whole..].to_ascii_lowercase());
    let text = if is_cut_scheme { &text[..whole] } else { text };
    let is_url = |line: &[u8]| begins_with_scheme(line) && !line.contains(&b' ');
    let (mut urls, mut others) = (0_usize, 0);
    for line in text.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii) {
        match line {
            [] => {}
            _ if is_url(line) => urls += 1,
            _ if line.iter().any(|byte| b":# \t".contains(byte)) => return false,
            _ => others += 1,
        }
    }
    urls > others
}

fn begins_with_scheme(text: &[u8]) -> bool {
    let begins = |scheme: &[u8]| {
        text.get(..scheme.len()).is_some_and(|first| first.eq_ignore_ascii_case(scheme))
    };
    begins(b"http:") || begins(b"https:")
}

words! {
    /// The kind of file that a reader expects.
    pub enum Wanted {
        /// A robots.txt.
        RobotsTxt => "a robots.txt",
        /// A list of URLs.
        UrlList => "a list of URLs",
        /// A compiled policy set.
        PolicySet => "a policy set",
        /// Captures of robots.txt, in any supported format.
        Captures => "captures of robots.txt",
    }
}

/// An error: a file is certainly not of the expected kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrongKind {
    /// The name of the file.
    pub name: String,
    /// Its kind.
    pub kind: FileKind,
    /// The expected kind.
    pub wanted: Wanted,
}

impl WrongKind {
    /// Returns a clause with the flag or command that reads the file.
    pub fn advice(&self) -> String {
        use FileKind::*;
        let (name, is_compressed) = (word(&self.name), self.stem() != self.name);
        let advice = match (self.kind, self.wanted) {
            (PolicySet, Wanted::UrlList) => "‹policies› names the set, and FILE a list",
            (PolicySet, Wanted::RobotsTxt) if is_compressed => {
                return format!("decompress it, then use ‹policies› {}", word(self.stem()));
            }
            (PolicySet | Parquet, _) if is_compressed => "decompress it first",
            (Warc, Wanted::UrlList) => {
                return format!(
                    "it has robots.txt files alone: portcullis compile -o SET {name} makes a set of it"
                );
            }
            (Folder, Wanted::PolicySet) | (Warc | Parquet | Captures, _) => {
                return format!("portcullis compile -o SET {name} makes a set of it");
            }
            (Folder, _) => return format!("use ‹robots› {name}"),
            (PolicySet, Wanted::Captures) => {
                "a set is mapped, so write it to a file first, and omit ‹input_format›"
            }
            (PolicySet, _) => return format!("use ‹policies› {name}"),
            (UrlList, _) => "pass it as FILE to classify, filter or audit",
            (Special, Wanted::PolicySet) => "a set is mapped, so write it to a file first",
            (Special, _) => "write it to a file first",
            (Arc, _) => {
                "convert it to WARC first, as `warcio recompress FILE.arc.gz FILE.warc.gz` does"
            }
            (Tar | Zip, _) => "unpack it first",
            (HttpResponse, _) => {
                "download it without its headers (curl without -i), or compile JSON Lines with url, status and body"
            }
            (Empty, Wanted::Captures) => "name the files that hold the captures",
            (Empty, _) => "make one with portcullis compile",
            (Text, Wanted::Captures) => {
                let name = if self.name == STANDARD_INPUT { "-".into() } else { name };
                return format!(
                    "if it is a robots.txt, compile the folder in which it has the name of its host \
                     (FOLDER/HOST); or skip compile: classify ‹robots› {name}; if it is a table of captures, pass \
                     ‹input_format› csv"
                );
            }
            (Html, Wanted::Captures) => {
                "if a host answered with it, compile the folder in which it has the name of that host (FOLDER/HOST)"
            }
            (Html | Json | Text, _) => {
                "make one with portcullis compile; ‹robots› reads a robots.txt"
            }
            (Binary, Wanted::UrlList | Wanted::Captures) => "decompress or export it first",
            (Binary, _) => {
                "if it was a set, it is damaged: fetch it again, or run portcullis compile again"
            }
            (Gzip | Zstd | Bzip2 | Xz, _) => "decompress it first",
        };
        advice.to_owned()
    }

    /// Returns the name without the extension of a compression.
    fn stem(&self) -> &str {
        let stem = [".gz", ".zst"].into_iter().find_map(|ending| self.name.strip_suffix(ending));
        stem.unwrap_or(&self.name)
    }
}

impl fmt::Display for WrongKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}, not {} ({})", self.name, self.kind, self.wanted, self.advice())
    }
}

impl std::error::Error for WrongKind {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_bytes() {
        let rows: &[(&[u8], FileKind)] = &[
            (b"\x1f\x8b\x08", FileKind::Gzip),
            (b"\x28\xb5\x2f\xfd", FileKind::Zstd),
            (b"\x5d\x2a\x4d\x18", FileKind::Zstd),
            (b"\xDBPCS\r\n\x1A\n", FileKind::PolicySet),
            (b"WARC/1.0\r\n", FileKind::Warc),
            (b"filedesc://a.arc 0.0.0.0 ", FileKind::Arc),
            (b"PAR1\x15\0", FileKind::Parquet),
            (b"PK\x03\x04", FileKind::Zip),
            (b"BZh91AY&SY", FileKind::Bzip2),
            (b"BZh: a\n", FileKind::Text),
            (b"\xfd7zXZ\0", FileKind::Xz),
            (b"\n <!DOCTYPE html>", FileKind::Html),
            (b"\xef\xbb\xbf<?xml?>", FileKind::Html),
            (b"{\"url\": \"https://a.example/robots.txt\", \"status\": 404}", FileKind::Captures),
            (b" {\"status\":200,\"url\":\"http://a.example/robots.txt\",\"bo", FileKind::Captures),
            (b"{\"url\": \"/robots.txt\", \"status\": 404}", FileKind::Json),
            (b"{}", FileKind::Json),
            (b"[ {", FileKind::Json),
            (b"[robots]\n", FileKind::Text),
            (b"https://a.example/\r\n\r\nHTTP://b.example/x", FileKind::UrlList),
            (b"https://a.example/\nhtt", FileKind::UrlList),
            (b"https://a.example/\nb.example/x\nhttps://c.example/\n", FileKind::UrlList),
            (b"htt", FileKind::Text),
            (b"User-agent: *\n", FileKind::Text),
            (b"", FileKind::Empty),
            (b"{\"domain\": \"a.example\", \"content\": \"Disallow:\"}", FileKind::Captures),
            (b"{\"status\": 404, \"host\": \"a.example\"}", FileKind::Json),
            (b"HTTP/1.0  301 Moved", FileKind::HttpResponse),
            (b"HTTP/2.0 200\r\n", FileKind::HttpResponse),
            (b"HTTP/2\t503\n", FileKind::HttpResponse),
            (b"\xef\xbb\xbf\r\nHTTP/3 503\r\n", FileKind::HttpResponse),
            (b"HTTP/1.1 is no status\n", FileKind::Text),
            (b"User-agent: *\nHTTP/1.1 503 X\n", FileKind::Text),
            (&[[b'a'; 257].as_slice(), b"ustar\0"].concat(), FileKind::Tar),
        ];
        for &(first, kind) in rows {
            assert_eq!(FileKind::of(first), kind, "{first:?}");
        }
    }

    #[test]
    fn a_text_may_have_stray_bytes() {
        let text = "User-agent: *\nDisallow: /x\u{1}y\u{e9}\n".as_bytes();
        let nul = [text, b"\0\xe9 # and more text\n"].concat();
        for mostly in [text, &nul] {
            assert_eq!(FileKind::of(mostly), FileKind::Binary);
            assert!(is_mostly_text(mostly), "{mostly:?}");
        }
        let padded = [text, b"\0\0"].concat();
        let begun = [text, &[0xdb; 9]].concat();
        for other in [&padded[..], &begun, b"PCS\r\n\x1a\n", b"a: \x01"] {
            assert!(!is_mostly_text(other), "{other:?}");
        }
    }

    #[test]
    fn possible_robots_txt_files_are_not_lists() {
        let rows = [
            "https://a.example/sitemap.xml\nUser-agent: *\nDisallow: /\n",
            "https://a.example/\n# a list?\n",
            "https://a.example/ and more\n",
            "https://a.example/\nhttps://b.example/\nDisalow: /\n",
            "https://a.example/\n/private\n",
            "https://a.example/\nhttps://b.example/\nDisallow /private\n",
            "ftp://a.example/\n",
            "Sitemap: https://a.example/\n",
        ];
        for text in rows {
            assert_eq!(FileKind::of(text.as_bytes()), FileKind::Text, "{text}");
        }
    }
}
