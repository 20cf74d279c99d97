//! Sitemaps as lists: a stage like decompression, which makes one line of each URL.
//!
//! The stage reads the XML of the sitemap protocol (sitemaps.org) and delivers the values of
//! `<url><loc>`, decoded, one per line. Feeds are sitemaps too: of RSS the `<item><link>`, of Atom the
//! `<entry><link href>`. What follows it in [`input`](crate::input) and
//! [`list`](crate::list) is as for plain lines. An entry without a URL is an empty line, so it is
//! an invalid record in its place.
//!
//! The entries of an index are sitemaps, not pages. Each is read from the folder of the index, under
//! the last segment of the path of its URL. Nothing is fetched: if any is missing, the index is an
//! error that names them, before the first page is read. An index in an index is an error, as in the
//! protocol.
//!
//! A sitemap that is damaged delivers nothing if it has at most [`SITEMAP_HELD_BYTES`] of URLs, and the
//! URLs before the damage if it has more. If damage is to be tolerated, it ends there with a note, and
//! the next sitemap of the index is read.
//!
//! Memory: a document holds one value; an index holds the names of its sitemaps, up to
//! [`SITEMAPS_PER_INDEX_MAX`]. The numbers of the protocol (50,000 URLs, 50 MiB, 2,048 characters)
//! bound servers; longer files are read.

mod document;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, VecDeque};
use std::path::{Path, PathBuf};

use portcullis_robots::syntax::BYTE_ORDER_MARK;

use crate::input::{InputError, STANDARD_INPUT, Source};
use crate::limits::{SITEMAP_HELD_BYTES, SITEMAPS_NAMED_MAX, SITEMAPS_PER_INDEX_MAX};
use crate::list::stage::Damages;
pub(crate) use document::root_of;
use document::{Document, Found, Root};
use portcullis_files::input::Stage;
use portcullis_files::limits::STAGE_READ_BYTES;

/// The URLs of a sitemap, or of the sitemaps of an index.
pub(crate) struct Sitemap {
    /// The sitemap that is being read, until all were read.
    document: Option<Document>,
    /// The sitemaps of an index that come after it.
    waiting: VecDeque<PathBuf>,
    /// Whether the root was an index.
    is_index: bool,
    /// Where damage is noted if it is to be tolerated.
    tolerated: Option<Damages>,
}

impl Sitemap {
    /// Returns the lines of the sitemap or index in `stream`. Nothing is read yet.
    pub(crate) fn new(stream: Source, tolerated: Option<Damages>) -> Sitemap {
        let (document, waiting) = (Some(Document::new(stream)), VecDeque::new());
        Sitemap { document, waiting, is_index: false, tolerated }
    }

    /// Opens the next sitemap of an index.
    fn open_next(&mut self) -> Result<(), InputError> {
        let next = self.waiting.pop_front().map(|path| Source::open(&path)).transpose()?;
        self.document = next.map(Document::new);
        Ok(())
    }
}

impl Stage for Sitemap {
    fn next_lines(&mut self, lines: &mut Vec<u8>) -> Result<(), InputError> {
        // Where a sitemap of which nothing was delivered begins.
        let mut start = None;
        let is_full = |lines: &[u8], is_whole: bool| {
            lines.len() >= SITEMAP_HELD_BYTES || is_whole && lines.len() >= STAGE_READ_BYTES
        };
        while let Some(document) = &mut self.document {
            let found = match (document.next(), &self.tolerated) {
                (Ok(found), _) => found,
                (Err(error), Some(damages)) if document.has_root() && error.is_damage() => {
                    damages.add(&error);
                    Found::End
                }
                (Err(error), _) => {
                    if let Some(start) = start {
                        lines.truncate(start);
                    }
                    let is_other = self.is_index && !document.has_root() && error.is_damage();
                    return Err(if is_other { not_xml(&document.name) } else { error });
                }
            };
            match found {
                Found::Value => {
                    lines.extend_from_slice(&document.value);
                    lines.push(b'\n');
                }
                Found::Root(Root::Sitemaps) if self.is_index => {
                    let problem = "an index of sitemaps in another one, which the protocol excludes; \
                                   name its sitemaps";
                    return Err(InputError::list(&document.name, problem));
                }
                Found::Root(Root::Sitemaps) => {
                    self.waiting = sitemaps_of(document)?;
                    self.is_index = true;
                    self.open_next()?;
                }
                Found::Root(_) => start = Some(lines.len()),
                Found::End => self.open_next()?,
            }
            if is_full(lines, found == Found::End) {
                break;
            }
        }
        Ok(())
    }
}

/// Returns the error that a sitemap of an index is a text, or something else.
fn not_xml(name: &str) -> InputError {
    let problem = "named by an index of sitemaps, and not XML; name its sitemaps instead of the index, and \
                   those that are a text in a run of their own";
    InputError::list(name, problem)
}

/// Returns the files that are read with a file because it is an index: the sitemaps that it lists, in
/// its order. There are none if `source` is not the index of a regular file, or cannot be read as one;
/// reading it as a list reports why.
#[must_use]
pub fn files_of_index(mut source: Source) -> Vec<PathBuf> {
    source.fill(1);
    let begin = source.buffer();
    let begin = begin.strip_prefix(BYTE_ORDER_MARK).unwrap_or(begin);
    // Without XML, there is no document to look for.
    if !begin.trim_ascii_start().starts_with(b"<") {
        return Vec::new();
    }
    let mut document = Document::new(source);
    match document.next() {
        Ok(Found::Root(Root::Sitemaps)) => sitemaps_of(&mut document).unwrap_or_default().into(),
        _ => Vec::new(),
    }
}

/// Returns the files of the sitemaps that an index lists, in its order.
fn sitemaps_of(index: &mut Document) -> Result<VecDeque<PathBuf>, InputError> {
    let name = index.name.clone();
    // A pipe is read once, and its sitemaps would not be known when paths are checked.
    if name == STANDARD_INPUT || !Path::new(&name).is_file() {
        let problem = "an index of sitemaps, whose sitemaps lie in no folder; name the files";
        return Err(InputError::list(&name, problem));
    }
    let folder = Path::new(&name).parent().unwrap_or(Path::new(""));
    let fail = |problem: String| InputError::list(&name, problem);
    let mut paths = VecDeque::new();
    // The URL of each file.
    let mut urls: HashMap<String, Vec<u8>> = HashMap::new();
    // The URLs without a file: the first ones, and the number of all.
    let (mut named, mut missing) = (Vec::new(), 0);
    while index.next()? == Found::Value {
        let url = &*index.value;
        let shown = String::from_utf8_lossy(url);
        let Some(file) = file_name(url).filter(|file| folder.join(file).is_file()) else {
            missing += 1;
            named.extend((missing <= SITEMAPS_NAMED_MAX).then(|| shown.into_owned()));
            continue;
        };
        match urls.get(file) {
            // The same sitemap, listed twice.
            Some(other) if other == url => continue,
            Some(other) => {
                return Err(fail(format!(
                    "an index of sitemaps, of which {} and {shown} have the same file name; name the \
                     files instead of the index",
                    String::from_utf8_lossy(other)
                )));
            }
            None => {}
        }
        if paths.len() == SITEMAPS_PER_INDEX_MAX {
            return Err(fail(format!("an index of more than {SITEMAPS_PER_INDEX_MAX} sitemaps")));
        }
        paths.push_back(folder.join(file));
        urls.insert(file.to_owned(), url.to_vec());
    }
    let more = match missing - named.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    match missing {
        0 => Ok(paths),
        missing => Err(fail(format!(
            "an index of sitemaps, of which {missing} {} not next to it: {}{more}; fetch them into its \
             folder, or name the sitemaps to read instead of the index",
            if missing == 1 { "is" } else { "are" },
            named.join(", ")
        ))),
    }
}

/// Returns the last segment of a URL's path if it is the plain name of a file.
fn file_name(url: &[u8]) -> Option<&str> {
    let url = str::from_utf8(url).ok()?;
    let (_, rest) = url.split_once("://")?;
    // A query may have slashes too.
    let (_, path) = rest.split(['?', '#']).next()?.split_once('/')?;
    let name = path.rsplit('/').next()?;
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~+=,@".contains(&byte);
    let is_safe = !name.is_empty() && !name.starts_with('.') && name.bytes().all(is_plain);
    is_safe.then_some(name)
}
