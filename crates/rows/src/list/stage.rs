//! Inputs in another form, of which a stage makes lines.
//!
//! **WARC, WAT and WET** become the target URIs of their captures ([`Targets`]), and sitemaps their
//! URLs ([`Sitemap`]).
//!
//! **Arrays of JSON** become their items ([`ItemLines`]): objects as JSON Lines, texts as plain lines, and
//! rows as a CDX server sends them. Several may follow each other, as the pages of an answer do.
//!
//! [`Targets`]: portcullis_captures::warc::Targets
//! [`Sitemap`]: crate::sitemap::Sitemap

use std::sync::{Arc, Mutex};
use std::{io, mem};

use memchr::memmem;

use super::cdx::is_row_of_names;
use super::{ListFormat, advice};
use crate::input::{InputError, Source};
use portcullis_files::input::{JsonItems, Stage};
use portcullis_files::limits::STAGE_READ_BYTES;

/// The damage of an input that was tolerated, told by the thread that reads it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Damages(Arc<Mutex<Vec<String>>>);

impl Damages {
    pub(crate) fn add(&self, error: &InputError) {
        self.0.lock().expect("no thread panics with it").push(error.to_string());
    }

    pub(super) fn take(&self) -> Vec<String> {
        mem::take(&mut self.0.lock().expect("no thread panics with it"))
    }
}

/// Whether all records at the start of a file are about robots.txt files, or the lookup of a host: it
/// is an archive to compile, and no list.
pub(super) fn is_of_robots_txt(text: &[u8]) -> bool {
    const NAME: &[u8] = b"\nWARC-Target-URI:";
    let targets = memmem::find_iter(text, NAME).map(|at| {
        let line = text[at + NAME.len()..].split(|&byte| byte == b'\n').next();
        line.unwrap_or_default().trim_ascii()
    });
    let pages = targets.filter(|target| !target.starts_with(b"dns:") && !target.is_empty());
    let mut are_robots_txt = pages.map(|page| page.ends_with(b"/robots.txt")).peekable();
    are_robots_txt.peek().is_some() && are_robots_txt.all(|it| it)
}

/// The items of JSON arrays as lines.
pub(super) struct ItemLines {
    items: JsonItems,
    /// The format of the lines.
    format: ListFormat,
    /// The first item of the first page of a CDX server's answer, with which other pages begin too.
    names: Vec<u8>,
    /// Whether an array of texts had several.
    is_wide: bool,
    /// Whether there are several arrays of texts, which may be rows of a table.
    has_rows: bool,
}

impl ItemLines {
    pub(super) fn new(stream: Source, format: ListFormat) -> ItemLines {
        ItemLines {
            items: JsonItems::new(stream),
            format,
            names: Vec::new(),
            is_wide: false,
            has_rows: false,
        }
    }
}

impl Stage for ItemLines {
    fn next_lines(&mut self, lines: &mut Vec<u8>) -> Result<(), InputError> {
        while lines.len() < STAGE_READ_BYTES
            && let Some(item) = self.items.next()?
        {
            if self.format == ListFormat::Cdx && item.number == 0 {
                match item.page {
                    0 => self.names = item.text.to_vec(),
                    _ if self.names == item.text => continue,
                    _ => {}
                }
            }
            self.is_wide |= item.number > 0;
            self.has_rows = self.format == ListFormat::Lines && item.page > 0 && self.is_wide;
            if self.has_rows {
                return Err(self.items.problem(advice::ARRAYS));
            }
            // An item that is no text, or has a line end, stays as it is written: it is no URL.
            let text = (self.format == ListFormat::Lines)
                .then(|| serde_json::from_slice::<String>(item.text).ok())
                .flatten()
                .filter(|text| !text.contains(['\r', '\n']));
            match text {
                Some(text) => {
                    lines.extend_from_slice(text.as_bytes());
                    lines.push(b'\n');
                }
                None => item.write_line(lines),
            }
        }
        Ok(())
    }
}

/// Returns the items in `text`, the beginning of an array of JSON, which is the whole list called `name` if
/// `is_whole`, as lines, and their format. `None` if it has none yet.
///
/// # Errors
///
/// If the text is no JSON.
pub(super) fn first_items(
    name: &str,
    text: &[u8],
    is_whole: bool,
) -> Result<Option<(ListFormat, Vec<u8>)>, InputError> {
    let first = text.trim_ascii_start().get(1..).unwrap_or_default().trim_ascii_start();
    let format = match first.first() {
        Some(b'"') => ListFormat::Lines,
        Some(b'[') => ListFormat::Cdx,
        _ => ListFormat::JsonLines,
    };
    let stream = Source::from_reader(name, io::Cursor::new(text.to_vec()));
    let (mut items, mut lines) = (ItemLines::new(stream, format), Vec::new());
    let mut block = Vec::new();
    let end = loop {
        block.clear();
        let end = items.next_lines(&mut block);
        lines.extend_from_slice(&block);
        if end.is_err() || block.is_empty() {
            break end;
        }
    };
    match end {
        Err(_) if lines.is_empty() && !is_whole => Ok(None),
        Err(error) if lines.is_empty() || items.has_rows => Err(error),
        _ if format == ListFormat::Cdx && !is_row_of_names(first_line(&lines)) => {
            Err(InputError::list(name, advice::JSON_ARRAY))
        }
        _ => Ok(Some((format, lines))),
    }
}

/// Returns the first line of a text that is not blank, without blanks around it.
pub(super) fn first_line(text: &[u8]) -> &[u8] {
    let line = text.split(|&byte| byte == b'\n').find(|line| !line.trim_ascii().is_empty());
    line.unwrap_or_default().trim_ascii()
}
